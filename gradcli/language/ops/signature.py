"""Parameters of an operation, as its row declares them: operands with marks, and constants with defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Required(Enum):
    """Mark of a parameter without a default."""

    REQUIRED = "required"


REQUIRED = Required.REQUIRED

Default = int | float | bool | str | None | tuple[int, ...] | Required

Constants = Mapping[str, Any]
"""Constant arguments by name."""

Shapes = tuple[tuple[int, ...], ...]
"""Shape of each operand."""


@dataclass(frozen=True)
class Operand:
    """Parameter that takes an expression; one without marks is written as its name alone.

    >>> Operand("weight", default=1, tensor_or_none=True).default
    1

    Attributes:
        name: Torch's name of it.
        default: The number that stands for it where it is left out; without one it is required.
        number_only: Torch's function takes it as a plain number only; where it is none, the meaning is run.
        tensor_or_none: Torch's function takes it as a tensor or not at all.
        no_derivative: It has no derivative by it; where one is asked for, the meaning is run; torch refuses that of a
            primitive.
        buffer: It is no parameter of a model: not differentiated by unless that is asked for.
        symmetric: It must be a symmetric matrix, of which torch reads one triangle and derives by both.
        whole_number: It is a whole number, as a position is, and has no derivative.
        whole_if_fewer_dimensions: The same only where it has fewer dimensions than the first operand.
        condition: It must be true or false, as a comparison is.
        repeats: More may follow, which are folded from the left, two at a time.
    """

    name: str
    default: Default = REQUIRED
    number_only: bool = False
    tensor_or_none: bool = False
    no_derivative: bool = False
    buffer: bool = False
    symmetric: bool = False
    whole_number: bool = False
    whole_if_fewer_dimensions: bool = False
    condition: bool = False
    repeats: bool = False


@dataclass(frozen=True)
class Constant:
    """Parameter that takes a constant, such as the dimensions of a sum.

    >>> Constant("keepdim", False).default, Constant("shape").default
    (False, <Required.REQUIRED: 'required'>)

    Attributes:
        name: Torch's name of it.
        default: The constant where it is left out; without one it is required.
    """

    name: str
    default: Default = REQUIRED
