"""Derivatives as linear forms in Kronecker deltas, and the sums that deltas collapse.

A derivative with respect to x[j] is linear in the deltas that `x[i].diff(x[j])` introduces.  Written as
{deltas: coefficient}, a sum over k meets a delta that fixes k and drops out:

    Sum over k of f(k)*delta(k + a, j)  =  f(j - a)   where 0 <= j - a <= n - 1, else 0

The condition is dropped only if it is proved: a bare index over a range of the same size, or a constant inside it.
Only unit coefficients of k collapse; `x[::2].sum()` (delta(2*k, j)) stays an honest sum.  SymPy's `deltasummation`
loses the condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy
from sympy import Expr, KroneckerDelta, S

from gradcli.symbolic.entry import LARGE
from gradcli.symbolic.total import Total

Deltas = frozenset[Expr]
Form = dict[Deltas, Expr]
Ranges = Mapping[sympy.Symbol, Expr]


def linear(expression: Expr, ranges: Ranges) -> Form:
    """`expression` as {product of deltas: coefficient free of deltas}, its sums collapsed where that is sound.

    Args:
        expression: Linear in its deltas, as every derivative is.
        ranges: For each index symbol n, the index running from 0 to n - 1.
    """
    if not expression.has(KroneckerDelta):
        return {frozenset(): expression}
    match expression:
        case KroneckerDelta():
            return {frozenset([expression]): S.One}
        case sympy.Add():
            return _added(linear(term, ranges) for term in expression.args)
        case sympy.Mul():
            product: Form = {frozenset(): S.One}
            for factor in expression.args:
                product = _multiplied(product, linear(factor, ranges))
            return product
        case sympy.Piecewise():
            return _by_cases(expression, ranges)
        case sympy.Sum():
            form = linear(expression.function, ranges)
            for k, _, last in expression.limits:
                form = _added(_summed(deltas, c, k, last, ranges) for deltas, c in form.items())
            return form
        case _:
            return {frozenset(): expression}


def assemble(form: Form) -> Expr:
    """The expression that a linear form stands for."""
    return sympy.Add(*(sympy.Mul(coefficient, *deltas) for deltas, coefficient in form.items()))


def _added(forms: Iterable[Form]) -> Form:
    total: Form = {}
    for form in forms:
        for deltas, coefficient in form.items():
            total[deltas] = total.get(deltas, S.Zero) + coefficient
    return {deltas: c for deltas, c in total.items() if c != 0}


def _multiplied(a: Form, b: Form) -> Form:
    return _added({p | q: c * d} for p, c in a.items() for q, d in b.items())


def _by_cases(expression: sympy.Piecewise, ranges: Ranges) -> Form:
    """A choice among linear forms is, delta by delta, a choice among coefficients."""
    branches = [(linear(value, ranges), condition) for value, condition in expression.args]
    keys = dict.fromkeys(deltas for form, _ in branches for deltas in form)
    return _added({key: sympy.Piecewise(*((f.get(key, S.Zero), c) for f, c in branches))} for key in keys)


def _summed(deltas: Deltas, coefficient: Expr, k: sympy.Symbol, last: Expr, ranges: Ranges) -> Form:
    """The sum of one term over k from 0 to `last`."""
    for delta in sorted(deltas, key=sympy.default_sort_key):
        if (root := _root(delta, k)) is not None:
            rest = sympy.Mul(*(d for d in deltas if d != delta)).xreplace({k: root})
            condition = sympy.And(_at_least(root, ranges), _at_most(root, last, ranges))
            value = coefficient.xreplace({k: root})
            guarded = value if condition == sympy.true else sympy.Piecewise((value, condition), (0, True))
            return _multiplied({frozenset(): guarded}, linear(rest, ranges))
    free = frozenset(d for d in deltas if k not in d.free_symbols)
    outside, inside = coefficient.as_independent(k, as_Add=False)
    body = sympy.Mul(inside, *(deltas - free))
    total = body * (last + 1) if k not in body.free_symbols else Total(body, (k, 0, last))
    return {free: outside * total}


def _root(delta: KroneckerDelta, k: sympy.Symbol) -> Expr | None:
    """The k at which a delta is 1, if k stands in it once and with the coefficient 1 or -1."""
    difference = sympy.expand(delta.args[0] - delta.args[1])
    slope = difference.coeff(k, 1)
    rest = sympy.expand(difference - slope * k)
    if slope not in (S.One, S.NegativeOne) or k in rest.free_symbols:
        return None
    return sympy.expand(-rest / slope)


def _at_least(index: Expr, ranges: Ranges) -> Expr:
    return sympy.true if index in ranges else sympy.Ge(index, 0)


def _at_most(index: Expr, last: Expr, ranges: Ranges) -> Expr:
    if index in ranges and ranges[index] == last + 1:
        return sympy.true
    if index.is_Integer and index < LARGE and not last.is_Integer:
        return sympy.true  # a size that is a symbol is larger than LARGE
    return sympy.Le(index, last)
