"""Formulas of derivatives under an assumption, written shorter by what is assumed.

The formula of f((A + Aᵀ)/2) has A[i,j]/2 + A[j,i]/2 where that of f has A[i,j], which is the same of a symmetric A.
Formulas are confirmed before, as they stand, for all values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import sympy
from sympy import Expr

from gradcli.crosscheck.formulas import Formulas
from gradcli.language.program import sympy_functions
from gradcli.language.program.wengert import Program
from gradcli.parts.claims.structures import Assumed
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.linear import tidied
from gradcli.symbolic.printing import formula, with_names


def shortened(formulas: Formulas, program: Program, assumed: Assumed) -> Formulas:
    """Write the formulas that hold shorter by what is assumed; leave out those that are no formulas of members."""
    shown, omitted = {}, dict(formulas.omitted)
    for block, one in formulas.shown.items():
        derivative = formulas.derivatives[block]
        inexact = [name for name, structure in assumed.items() if not structure.is_exact and _names(derivative, name)]
        if inexact:
            omitted[block] = f"it would be that of a matrix next to {inexact[0]}, which is {assumed[inexact[0]].called}"
            continue
        short = _shortened(derivative, assumed)
        shown[block] = replace(formula(short, program, one.note, one.structure), holds_here=one.holds_here)
    return replace(formulas, shown=with_names(shown, program), omitted=omitted)


def _names(derivative: Derivative, name: str) -> bool:
    symbols = {symbol.name for _, expression in derivative.cases for symbol in expression.free_symbols}
    return derivative.variable == name or name in symbols


def _shortened(derivative: Derivative, assumed: Assumed) -> Derivative:
    cases = [expression for _, expression in derivative.cases]
    element = derivative.element
    for name, structure in assumed.items():
        shorter = _by_sign if structure.is_of_positives else _SHORTER.get(structure.name)
        if shorter is not None:
            cases = [tidied(shorter(one, name)) for one in cases]
            element = None if element is None else tidied(shorter(element, name))
    return replace(
        derivative,
        cases=tuple((chosen, one) for (chosen, _), one in zip(derivative.cases, cases, strict=True)),
        element=element,
    )


def _is_element(expression: Expr, name: str) -> bool:
    return isinstance(expression, sympy.Indexed) and str(expression.base) == name


def _by_sorted_indices(expression: Expr, name: str) -> Expr:
    """Write the elements of a symmetric matrix with sorted indices."""

    def write(element: Expr) -> Expr:
        *batch, row, column = element.indices
        first, second = sorted((row, column), key=sympy.default_sort_key)
        return element.base[(*batch, first, second)]

    return expression.replace(lambda one: _is_element(one, name), write)


def _by_sum(expression: Expr, name: str) -> Expr:
    """Replace the sum of numbers on the simplex by 1, and sums of ones by their length."""

    def is_whole(one: Expr) -> bool:
        if not isinstance(one, sympy.Sum) or len(one.limits) != 1:
            return False
        return one.function.is_number or (
            _is_element(one.function, name) and one.function.indices[-1] == one.limits[0][0]
        )

    def write(one: Expr) -> Expr:
        _, first, last = one.limits[0]
        return one.function * (last - first + 1) if one.function.is_number else sympy.S.One

    return expression.replace(is_whole, write)


def _by_sign(expression: Expr, name: str) -> Expr:
    """Simplify by the sign of positive numbers: |x| is x, and a branch for x < 0 is never taken.

    >>> x = sympy.Symbol("x", real=True)
    >>> _by_sign(sympy.sqrt(x**2) + sympy_functions.abs(x), "x")
    2*x
    """
    real = [sympy.IndexedBase(name, real=True), sympy.Symbol(name, real=True)]
    positive = [type(one)(name, positive=True) for one in real]
    there, back = (dict(zip(*ends, strict=True)) for ends in ((real, positive), (positive, real)))
    return expression.xreplace(there).replace(_has_sign, _of_known_sign).xreplace(back)


_WITH_SIGN = (
    sympy_functions.abs,
    sympy_functions.sign,
    sympy_functions.maximum,
    sympy_functions.minimum,
    sympy_functions.Comparison,
)
"""Functions that are simpler where the sign of their operand is known, or that of a difference of two."""


def _has_sign(one: Expr) -> bool:
    return isinstance(one, _WITH_SIGN)


def _of_known_sign(one: Expr) -> Expr:
    """Simplify a function of a number whose sign is known; any other stays."""
    first, *rest = one.args
    number = first - rest[0] if rest else first
    sign = next((sign for sign, is_so in ((1, number.is_positive), (-1, number.is_negative)) if is_so), 0)
    if not sign:
        return one
    match one:
        case sympy_functions.Comparison():
            return type(one)(sympy.Integer(sign), sympy.S.Zero)
        case sympy_functions.abs():
            return sign * first
        case sympy_functions.sign():
            return sympy.Integer(sign)
    is_first = (sign > 0) is isinstance(one, sympy_functions.maximum)
    return first if is_first else rest[0]


_SHORTER: Mapping[str, Callable[[Expr, str], Expr]] = {
    "symmetric": _by_sorted_indices,
    "spd": _by_sorted_indices,
    "simplex": _by_sum,
}
