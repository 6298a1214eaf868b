"""What has a name in every textbook: the softmax, and the logistic function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy
from sympy import Expr

from gradcli.language.program.meaning import Total
from gradcli.symbolic.printing.templates import Whole, free_indices, generic_of, placeholders, rebuilt


def with_wholes(expression: Expr) -> Expr:
    """With all of these in the place of what they are made of.

    >>> x = sympy.Symbol("x", real=True)
    >>> with_wholes(1/(1 + sympy.exp(-x))).generic
    1/(1 + exp(-x))
    """
    if isinstance(expression, sympy.Mul | sympy.Pow):
        found = _softmax(expression) or _logistic(expression)
        if found is not None:
            return with_wholes(found)
    return rebuilt(expression, with_wholes)


def _powers(expression: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The factors of a product as bases and exponents; exp(x) is a base."""
    for factor in sympy.Mul.make_args(expression):
        yield factor.args if isinstance(factor, sympy.Pow) else (factor, sympy.S.One)


def _softmax(product: Expr) -> Expr | None:
    """A product with exp(f(i)) over the sum of exp(f(k)), also where the exponential is inside of a sum."""
    for base, exponent in _powers(product):
        if not (isinstance(base, sympy.Sum) and exponent.is_Integer and exponent < 0):
            continue
        if isinstance(base.function, sympy.exp) and len(base.limits) == 1:
            for factor in sympy.Mul.make_args(product):
                found = _over(factor, base)
                if found is not None:
                    return product / factor * base * found
    return None


def _over(factor: Expr, total: Expr) -> Expr | None:
    """A factor over a sum of exponentials, if that is a softmax or a sum of some."""
    k = total.limits[0][0]
    if isinstance(factor, sympy.exp):
        f, g = factor.args[0], total.function.args[0]
        places = [*free_indices(f), *(a for x in f.atoms(sympy.Indexed) for a in x.indices if a.is_Integer)]
        for t in places:
            one = g.xreplace({k: t})
            power = f / one
            if power.is_Integer and power > 0:
                at = [t, *(i for i in free_indices(g) if i not in (k, t))]
                at = sorted(at, key=lambda i: _first_place(one, i))
                return Whole(_generic_softmax(total, at, t), sympy.Tuple(*at)) * sympy.exp((power - 1) * one)
    if isinstance(factor, sympy.Sum) and not set(factor.variables) & total.free_symbols:
        found = _softmax(factor.function / total)
        if found is not None and not found.has(total):
            return Total(found, *factor.limits)
    return None


def _first_place(expression: Expr, index: Expr) -> int:
    parts = (a for x in sympy.preorder_traversal(expression) if isinstance(x, sympy.Indexed) for a in x.indices)
    return next((n for n, a in enumerate(parts) if a == index), 0)


def _generic_softmax(total: Expr, at: Sequence[Expr], t: Expr) -> Expr:
    """exp(f(t)) over the sum, with placeholders; t may be a number, which the sum may have too."""
    k = total.limits[0][0]
    places = dict(zip(at, placeholders(len(at)), strict=True))
    others = {i: p for i, p in places.items() if i != t}
    above = total.function.xreplace({k: places[t]}).xreplace(others)
    return above / generic_of(total.xreplace(others), [])


def _logistic(product: Expr) -> Expr | None:
    """Over 1 + exp(u): s = 1/(1 + exp(-u)), of which 1 - s is the rest."""
    for base, exponent in _powers(product):
        above = base - 1
        if not (isinstance(base, sympy.Add) and isinstance(above, sympy.exp) and exponent.is_Integer and exponent < 0):
            continue
        (u,) = above.args
        factors = sympy.Mul.make_args(product)
        times = max((n for n in range(1, -int(exponent) + 1) if sympy.exp(n * u) in factors), default=0)
        is_falling = bool(u.could_extract_minus_sign())
        s = Whole.of(1 / (1 + (above if is_falling else sympy.exp(-u))))
        parts = (s, 1 - s) if is_falling else (1 - s, s)
        rest = product / base**exponent / sympy.exp(times * u)
        return rest * parts[0] ** (-exponent - times) * parts[1] ** times
    return None
