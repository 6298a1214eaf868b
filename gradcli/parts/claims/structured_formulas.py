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
        if structure.name in _SHORTER:
            shorter = _SHORTER[structure.name]
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


_SHORTER: Mapping[str, Callable[[Expr, str], Expr]] = {
    "symmetric": _by_sorted_indices,
    "spd": _by_sorted_indices,
    "simplex": _by_sum,
}
