"""Records: classes that are frozen dataclasses as they are declared; and when two of them are equal.

Those that may hold arrays are equal in all of their fields, where NaN is NaN, and arrays have one shape and one dtype.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

import numpy as np


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """A frozen dataclass, as is each class below it."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        """Make it one; with `kw_only` its fields are named where it is made."""
        super().__init_subclass__()
        dataclass(frozen=True, eq=not issubclass(cls, Comparable), kw_only=kw_only)(cls)


class Comparable:
    """What a record is whose fields may be arrays, or hold some: of its own class, it is equal field by field."""

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __eq__(self, other: object) -> bool:
        return _are_fields_same(self, other) if type(self) is type(other) else NotImplemented


def are_same(one: Any, other: Any) -> bool:
    """Whether values are equal, where NaN is NaN; of arrays, of one shape and dtype.

    >>> are_same({"x": (np.array([1, np.nan]),)}, {"x": (np.array([1, np.nan]),)})
    True
    >>> are_same(np.array([1.0]), np.array([1.0], dtype=np.float32)), are_same(np.ones(1), np.ones((1, 1)))
    (False, False)
    """
    if one is other:
        return True
    match one, other:
        case np.ndarray(), np.ndarray():
            return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
        case Mapping(), Mapping():
            return one.keys() == other.keys() and all(are_same(value, other[key]) for key, value in one.items())
        case (tuple(), tuple()) | (list(), list()):
            return len(one) == len(other) and all(map(are_same, one, other))
        case float(), float():
            return one == other or (math.isnan(one) and math.isnan(other))
    if type(one) is type(other) and is_dataclass(one) and not isinstance(one, Comparable):
        return _are_fields_same(one, other)
    return bool(one == other)


def _are_fields_same(one: Any, other: Any) -> bool:
    return all(are_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare)
