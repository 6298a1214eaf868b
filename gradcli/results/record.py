"""Records: classes that are frozen dataclasses as they are declared, and equality of those that hold arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

import numpy as np


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Record:
    """A frozen dataclass, as is each of its subclasses: one of the same class is equal field by field."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        """Make the subclass a frozen dataclass; with `kw_only` its fields are keyword arguments."""
        super().__init_subclass__()
        dataclass(frozen=True, eq=False, kw_only=kw_only)(cls)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(are_same(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__dataclass_fields__))


def are_same(one: Any, other: Any) -> bool:
    """Tell whether values are equal, where NaN is NaN, and arrays have one shape and one dtype.

    >>> are_same({"x": (np.array([1, np.nan]),)}, {"x": (np.array([1, np.nan]),)})
    True
    >>> are_same(np.array([1.0]), np.array([1.0], dtype=np.float32)), are_same(np.ones(1), np.ones((1, 1)))
    (False, False)
    """
    match one, other:
        case np.ndarray(), np.ndarray():
            return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
        case Mapping(), Mapping():
            return one.keys() == other.keys() and all(are_same(value, other[key]) for key, value in one.items())
        case (tuple(), tuple()) | (list(), list()):
            return len(one) == len(other) and all(map(are_same, one, other))
        case float(), float():
            return one == other or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
