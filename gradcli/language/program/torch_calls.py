"""How torch is asked for the operations of the table: which it has, and what it calls their constant arguments.

Facts alone, which `autodiff` acts on and `source` writes down; imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from gradcli.language.ops import Along
from gradcli.language.program.indexing import Shape
from gradcli.language.program.movement import axes_of
from gradcli.language.program.shapes import axis_of_scan
from gradcli.language.program.wengert import Atom, Call, number

OPERATORS = frozenset("neg add sub mul div pow matmul gt ge lt le eq ne".split())
"""Operations that Python spells with an operator; they take plain numbers beside a tensor."""

BY_DIMENSIONS = frozenset(["sum", "mean", "amax", "amin", "logsumexp", "var", "std", "norm"])
"""Reductions whose dim is a tuple; torch has no None for it in all of them."""

EXTREMES = frozenset(["max", "min", "prod"])
"""Reductions over one dimension at a time."""

_KEYWORDS: Mapping[str, Mapping[str, str]] = {
    "norm": {"p": "ord"},
    "expand": {"shape": "size"},
    "reshape": {"shape": "shape"},
}
"""Static parameters that torch calls something else."""

_EXACT_INTEGERS = 2**53
"""Integers beyond this are passed as floats: torch takes no more than 64 bits."""


def is_in_torch(call: Call) -> bool:
    """Whether torch has this operation; else its meaning is run."""
    op = call.op
    plain = zip(op.operands, call.operands, strict=False)
    has_numbers = all(not isinstance(a, sympy.Symbol) for parameter, a in plain if parameter in op.numbers)
    return op.is_primitive or (bool(op.torch) and has_numbers)


def keywords_over(call: Call, shape: Shape) -> dict[str, Any]:
    """The constant arguments of a reduction, a scan or a loss as torch's keywords.

    Args:
        call: The operation.
        shape: Of its first operand.
    """
    op = call.op
    named = {_KEYWORDS.get(op.name, {}).get(k, k): v for k, v in zip(op.statics, call.statics, strict=True)}
    if op.name in BY_DIMENSIONS:
        named["dim"] = axes_of(shape, named["dim"])
    elif op.along is Along.ONE and len(op.operands) == 1:  # of two, it is one of what they broadcast to
        axis = axis_of_scan(call, shape)
        named["dim"] = 0 if axis is None else axis
    return named


def axes_one_by_one(call: Call, shape: Shape) -> tuple[int, ...] | None:
    """The dimensions that `max`, `min` or `prod` is taken along, one after the other; None for all elements at once.

    Args:
        call: The operation.
        shape: Of its operand.
    """
    dim, keepdim = call.statics
    return None if dim is None and not keepdim else tuple(sorted(axes_of(shape, dim), reverse=True))


def plain(constant: Atom) -> int | float:
    """A Python number, an integer where it is exactly one, as the user would pass to torch."""
    if isinstance(constant, sympy.Integer) and abs(int(constant)) <= _EXACT_INTEGERS:
        return int(constant)
    return number(constant)
