"""SymPy's functions on whole arrays with bounds, element by element.

Source of the functions: NumPy, of which `bounds.LOSS` is assumed; and balls for those that it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from gradcli.language.program import meaning
from gradcli.language.program.library_calls import NUMPY
from gradcli.reference.bounds import (
    LOSS,
    Bounds,
    absolute,
    angle,
    as_bounds,
    compared,
    divide,
    error_function,
    larger,
    monotone,
    of_angle,
    smaller,
    steps,
    truth,
)
from gradcli.reference.special_functions import ball_by_ball, erfc

_MONOTONE = "exp log asin acos atan sinh tanh asinh acosh atanh".split()

_SENSES: Mapping[Any, Sequence[int]] = {
    **{"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)},
    **{meaning.eq: (0,), meaning.ne: (-1, 1), meaning.lt: (-1,), meaning.le: (-1, 0), meaning.gt: (1,)},
    meaning.ge: (0, 1),
}

_FUNCTIONS: Mapping[Any, Callable[..., Bounds]] = {
    **{getattr(sympy, name): monotone(getattr(np, NUMPY[name])) for name in _MONOTONE},
    **{getattr(meaning, name): steps(getattr(np, name)) for name in ("sign", "floor", "ceil", "trunc", "round")},
    sympy.sin: of_angle(np.sin),
    sympy.cos: of_angle(np.cos),
    sympy.tan: lambda a: divide(of_angle(np.sin)(a), of_angle(np.cos)(a)),
    sympy.atan2: angle,
    sympy.cosh: lambda a: monotone(np.cosh)(absolute(a)),  # which rises by more than it falls
    sympy.erf: monotone(error_function, LOSS * 2**11),
    sympy.erfc: erfc,
    sympy.Abs: absolute,
    meaning.abs: absolute,
    sympy.sign: steps(np.sign),
    meaning.maximum: larger,
    meaning.minimum: smaller,
    meaning.detach: lambda a: a,
}
"""The functions that meanings and their derivatives are made of, with rules for arrays."""


def applied(function: Any, head: Callable[..., Any], values: Sequence[Any]) -> Bounds:
    """A function of arrays, or a comparison; `head` is that of balls, which is taken of each element if need be.

    Raises:
        NoRuleError: It is of balls, and there are too many elements.
    """
    kind = next(value.kind for value in values if isinstance(value, Bounds))
    operands = [as_bounds(value, kind) for value in values]
    if function in _SENSES:
        return truth(*compared(operands[0], operands[1], _SENSES[function]))
    rule = _FUNCTIONS.get(function)
    return ball_by_ball(head, operands) if rule is None else rule(*operands)
