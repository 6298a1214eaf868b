"""Functions that have a name in every textbook: the softmax, and the logistic function.

A symbol, or an element of a base, stands for each: `S[i]` for exp(x[i])/Σ[k] exp(x[k]), so that S[i]·S[j] is seen in
exp(x[i])·exp(x[j])/(Σ[k] exp(x[k]))².
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy import Expr
from sympy.core.traversal import bottom_up

from gradcli.language.program.meaning import Total
from gradcli.symbolic.printing.templates import free_indices, generic_of, placeholders, rebuilt

StandIns = dict[Expr, Expr]
"""What stands for expressions with placeholders for their indices: an element with such indices, or a symbol."""


def with_wholes(expression: Expr, known: StandIns) -> Expr:
    """With these in the place of what they are made of; what stands for them is added to those that are known.

    >>> x = sympy.Symbol("x", real=True)
    >>> with_wholes(1/(1 + sympy.exp(-x)), known := {}) in known.values(), list(known)
    (True, [1/(1 + exp(-x))])
    """
    for total in sorted(expression.atoms(sympy.Sum), key=sympy.default_sort_key):
        if isinstance(total.function, sympy.exp) and len(total.limits) == 1:
            expression = _with_softmaxes(expression, total, known)
    return _with_logistics(expression, known)


def _standing_in(generic: Expr, index: Sequence[Expr], known: StandIns) -> Expr:
    places, symbol = placeholders(len(index)), sympy.Dummy("whole", real=True)
    element = known.setdefault(generic, sympy.IndexedBase(symbol)[tuple(places)] if index else symbol)
    return element.xreplace(dict(zip(places, index, strict=True)))


def _with_softmaxes(expression: Expr, total: Expr, known: StandIns) -> Expr:
    """With exp(f(i)) as that over the sum of exp(f(k)) times the sum, if the sum cancels somewhere."""
    whole = sympy.Dummy("total", positive=True)
    before = expression.xreplace({total: whole})
    parts = {one: _times_total(one, total, whole, known) for one in before.atoms(sympy.exp)}

    def taken_out(part: Expr) -> Expr:
        if not isinstance(part, sympy.Sum) or set(part.variables) & total.free_symbols:
            return part
        outside, inside = part.function.as_independent(*part.variables, as_Add=False)
        return outside * Total(inside, *part.limits)

    found = bottom_up(before.xreplace(parts), taken_out)
    return found.xreplace({whole: total}) if found.count(whole) < before.count(whole) else expression


def _times_total(one: Expr, total: Expr, whole: Expr, known: StandIns) -> Expr:
    """The exponential of an element, or a power of it, as the softmax times the sum; else as it is."""
    (k, *_), (f,), (g,) = total.limits[0], one.args, total.function.args
    for t in [*free_indices(f), *(a for x in f.atoms(sympy.Indexed) for a in x.indices if a.is_Integer)]:
        here = g.xreplace({k: t})
        power = f / here
        if power.is_Integer and power > 0:
            met = (a for x in sympy.preorder_traversal(here) if isinstance(x, sympy.Indexed) for a in x.indices)
            index = [a for a in dict.fromkeys(met) if a == t or a in free_indices(g)]
            places = dict(zip(index, placeholders(len(index)), strict=True))
            others = {a: p for a, p in places.items() if a != t}
            above = total.function.xreplace({k: places[t]}).xreplace(others)
            return (_standing_in(above / generic_of(total.xreplace(others), []), index, known) * whole) ** power
    return one


def _with_logistics(expression: Expr, known: StandIns) -> Expr:
    if isinstance(expression, sympy.Mul | sympy.Pow) and (found := _logistic(expression, known)) is not None:
        return _with_logistics(found, known)
    return rebuilt(expression, lambda part: _with_logistics(part, known))


def _logistic(product: Expr, known: StandIns) -> Expr | None:
    """Over 1 + exp(u): s = 1/(1 + exp(-u)), of which 1 - s is the rest."""
    for base, exponent in product.as_powers_dict().items():
        above = base - 1
        if not (isinstance(base, sympy.Add) and isinstance(above, sympy.exp) and exponent.is_Integer and exponent < 0):
            continue
        (u,) = above.args
        factors = sympy.Mul.make_args(product)
        times = max((n for n in range(1, -int(exponent) + 1) if sympy.exp(n * u) in factors), default=0)
        is_falling = bool(u.could_extract_minus_sign())
        whole = 1 / (1 + (above if is_falling else sympy.exp(-u)))
        index = free_indices(whole)
        s = _standing_in(generic_of(whole, index), index, known)
        parts = (s, 1 - s) if is_falling else (1 - s, s)
        rest = product / base**exponent / sympy.exp(times * u)
        return rest * parts[0] ** (-exponent - times) * parts[1] ** times
    return None
