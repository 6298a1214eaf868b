"""Derivatives as linear forms in Kronecker deltas, and the sums that deltas collapse.

A derivative with respect to x[j] is linear in the deltas that `x[i].diff(x[j])` introduces.  Written as
{deltas: coefficient}, a sum over k meets a delta that fixes k and drops out:

    Sum over k of f(k)*delta(k + a, j)  =  f(j - a)   where 0 <= j - a <= n - 1, else 0

The condition is dropped only if it is proved: a bare index over a range of the same size, or a constant inside it.
Only unit coefficients of k collapse; `x[::2].sum()` (delta(2*k, j)) stays an honest sum.  SymPy's `deltasummation`
loses the condition.

Then a product of conditions is joined into one condition, and a sum of fractions into a shorter fraction:

    {1 if x ≥ 0; 0 otherwise}·{1 if max(x, 0) ≤ 1; 0 otherwise}  =  {1 if x ≥ 0 and x ≤ 1; 0 otherwise}
    x/(1 - x)² + 1/(1 - x)                                       =  1/(1 - x)²

Both sides are the same number wherever the left one has a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

import sympy
from sympy import Expr, KroneckerDelta, S
from sympy.core.traversal import bottom_up

from gradcli.language.program.sympy_functions import Aggregate, Limit, Total, ge, le, maximum, minimum, quotient, where
from gradcli.symbolic.origins import LARGE

Deltas = frozenset[Expr]
DeltaForm = dict[Deltas, Expr]
Ranges = Mapping[sympy.Symbol, Expr]

LONGEST_SUM = 100
"""Most nodes of a sum of fractions to put over a common denominator: a longer one takes minutes."""


def linear(expression: Expr, ranges: Ranges) -> DeltaForm:
    """Write an expression as {product of deltas: coefficient free of deltas}, its sums collapsed where that is sound.

    Args:
        expression: Linear in its deltas, as every derivative is.
        ranges: For each index symbol n, the index running from 0 to n - 1; for a tensor of positions, its numbers.
    """
    if not expression.has(KroneckerDelta):
        return {frozenset(): expression}
    match expression:
        case KroneckerDelta():
            return {frozenset([expression]): S.One}
        case sympy.Add():
            return _added(linear(term, ranges) for term in expression.args)
        case sympy.Mul():
            product: DeltaForm = {frozenset(): S.One}
            for factor in expression.args:
                product = _multiplied(product, linear(factor, ranges), ranges)
            return product
        case sympy.Piecewise():
            values, conditions = zip(*expression.args, strict=True)
            return _by_cases(values, lambda *v: sympy.Piecewise(*zip(v, conditions, strict=True)), ranges)
        case where():
            condition, *values = expression.args
            return _by_cases(values, lambda *v: where(condition, *v), ranges)
        case sympy.Sum():
            form = linear(expression.function, ranges)
            # Inner limits first, as SymPy lists them: a delta of an inner index may leave one of an outer.
            for limit in expression.limits:
                form = _added(_summed(deltas, c, limit, ranges) for deltas, c in form.items())
            return form
        case _:
            return {frozenset(): expression}


def assemble(form: DeltaForm) -> Expr:
    """Build the expression of a linear form."""
    return sympy.Add(*(sympy.Mul(coefficient, *deltas) for deltas, coefficient in form.items()))


@lru_cache(maxsize=64)
def _bound_index(level: int, number: int) -> sympy.Symbol:
    """Return the bound index of a level of sums inside one another, by its number among those of one sum."""
    return sympy.Dummy(f"k{level, number}", dummy_index=0, integer=True, nonnegative=True)


def tidied(expression: Expr) -> Expr:
    """Use one bound index for each level of sums inside one another, so that equal sums cancel.

    Only for a finished derivative: before, every bound index must be its own.
    """
    levels: dict[Expr, int] = {}
    renamed: dict[Expr, Expr] = {}
    for part in sympy.postorder_traversal(expression):
        if part in renamed or not isinstance(part, sympy.Basic):
            continue
        args = tuple(renamed[a] for a in part.args)
        level = max((levels[a] for a in part.args), default=0)
        new = part.func(*args) if args != part.args else part
        if isinstance(new, sympy.Sum | Aggregate):  # what it was may have become 0
            keys = {k: (level, n) for n, (k, *_) in enumerate(new.limits)}
            new, level = new.xreplace({k: _bound_index(*key) for k, key in keys.items()}), level + 1
        renamed[part], levels[part] = new, level
    return renamed[expression]


def _added(forms: Iterable[DeltaForm]) -> DeltaForm:
    total: DeltaForm = {}
    for form in forms:
        for deltas, coefficient in form.items():
            total[deltas] = total.get(deltas, S.Zero) + coefficient
    return {deltas: c for deltas, c in total.items() if c != 0}


def _multiplied(a: DeltaForm, b: DeltaForm, ranges: Ranges) -> DeltaForm:
    return _added({_rejoined(p | q, ranges): c * d} for p, c in a.items() for q, d in b.items())


def _rejoined(deltas: Deltas, ranges: Ranges) -> Deltas:
    """Join the two deltas of a row and a column of a flattened matrix to the one of their position.

    With q = quotient(p, n), delta(a, q)*delta(b, p - n*q) is delta(n*a + b, p) for a column b from 0 to n - 1.
    """
    for delta in sorted((d for d in deltas if d.has(quotient)), key=sympy.default_sort_key):
        for row, a in (delta.args, reversed(delta.args)):
            if not isinstance(row, quotient):
                continue
            p, n = row.args
            rest = sympy.expand(p - n * row)
            for other in deltas - {delta}:
                for column, b in (other.args, reversed(other.args)):
                    if sympy.expand(column - rest) == 0 and ranges.get(b) == n:
                        joined = KroneckerDelta(sympy.expand(n * a + b), p)
                        return _rejoined(deltas - {delta, other} | {joined}, ranges)
    return deltas


def _by_cases(values: Iterable[Expr], choose: Callable[..., Expr], ranges: Ranges) -> DeltaForm:
    """Write a choice among linear forms as, delta by delta, a choice among coefficients."""
    forms = [linear(value, ranges) for value in values]
    keys = dict.fromkeys(deltas for form in forms for deltas in form)
    return _added({key: choose(*(form.get(key, S.Zero) for form in forms))} for key in keys)


def _summed(deltas: Deltas, coefficient: Expr, limit: Limit, ranges: Ranges) -> DeltaForm:
    """Sum one term with deltas over an index."""
    k, first, last = limit
    for delta in sorted(deltas, key=sympy.default_sort_key):
        if (root := _root(delta, k)) is not None:
            # The other deltas may become numbers or new deltas once k is fixed: they are taken apart again.
            rest = sympy.Mul(*(d for d in deltas if d != delta)).xreplace({k: root})
            condition = sympy.And(_at_least(root, first, ranges), _at_most(root, last, ranges))
            value = _with_known_quotients(coefficient.xreplace({k: root}), ranges)
            guarded = value if condition == sympy.true else sympy.Piecewise((value, condition), (0, True))
            return _multiplied({frozenset(): guarded}, linear(rest, ranges), ranges)
    free = frozenset(d for d in deltas if k not in d.free_symbols)
    # A sum over k of a factor without k is that factor times the sum: kept outside, equal sums cancel.
    outside, inside = coefficient.as_independent(k, as_Add=False)
    body = sympy.Mul(inside, *(deltas - free))
    terms = body.args if isinstance(body, sympy.Add) else (body,)
    return {free: outside * sympy.Add(*(summed(term, limit) for term in terms))}


def _with_known_quotients(expression: Expr, ranges: Ranges) -> Expr:
    """Replace quotient(n*a + b, n) by a, for a column b from 0 to n - 1."""
    known: dict[Expr, Expr] = {}
    for row in expression.atoms(quotient):
        p, n = row.args
        for b in (b for b in p.free_symbols if ranges.get(b) == n):
            a = sympy.expand((p - b) / n)
            if b not in a.free_symbols and sympy.denom(sympy.together(a)) == 1:
                known[row] = a
    return expression.xreplace(known) if known else expression


def summed(term: Expr, limit: Limit) -> Expr:
    """Sum one term over an index, with the factors that lack the index before the sum."""
    k, first, last = limit
    outside, inside = term.as_independent(k, as_Add=False)
    return term * (last - first + 1) if k not in term.free_symbols else outside * Total(inside, limit)


def _root(delta: KroneckerDelta, k: sympy.Symbol) -> Expr | None:
    """Return the k at which a delta is 1, if the delta has k once, with the coefficient 1 or -1."""
    difference = sympy.expand(delta.args[0] - delta.args[1])
    slope = difference.coeff(k, 1)
    rest = sympy.expand(difference - slope * k)
    if slope not in (S.One, S.NegativeOne) or k in rest.free_symbols:
        return None
    return sympy.expand(-rest / slope)


def _at_least(index: Expr, first: Expr, ranges: Ranges) -> Expr:
    return sympy.true if first == 0 and _range_of(index, ranges) is not None else sympy.Ge(index, first)


def _range_of(index: Expr, ranges: Ranges) -> Expr | None:
    """Return the size that an index runs over, or that a tensor of positions is within; None of another."""
    return ranges.get(index.base.label if isinstance(index, sympy.Indexed) else index)


def _at_most(index: Expr, last: Expr, ranges: Ranges) -> Expr:
    if _range_of(index, ranges) == last + 1:
        return sympy.true
    if index.is_Integer and index < LARGE and not last.is_Integer and last.free_symbols.isdisjoint(ranges):
        return sympy.true  # a size that is a symbol is larger than LARGE
    return sympy.Le(index, last)


# -- conditions and fractions


def condensed(expression: Expr) -> Expr:
    """Join conditions and fractions where that is shorter.

    >>> x = sympy.Symbol("x", real=True)
    >>> condensed(x/(1 - x)**2 + 1/(1 - x))
    (1 - x)**(-2)
    >>> condensed(where(ge(x, 0), 1, 0) * where(le(maximum(x, 0), 1), 1, 0))
    where(where(ge(x, 0), le(x, 1), 0), 1, 0)
    """
    has_choices = sum(1 for one in expression.atoms(where) if one.args[2] == 0) > 1
    has_fractions = any(one.exp.is_negative and one.has(sympy.Symbol) for one in expression.atoms(sympy.Pow))
    if not (has_choices or has_fractions):
        return expression
    return bottom_up(expression, _condensed)


def _condensed(part: Expr) -> Expr:
    if isinstance(part, sympy.Add):
        return _of_fractions(part)
    choices = [f for f in part.args if isinstance(f, where) and f.args[2] == 0] if isinstance(part, sympy.Mul) else []
    if len(choices) < 2:
        return part
    # What an extreme is known to be is the condition of another: the plainest conditions come first.
    choices.sort(key=lambda one: (one.args[0].has(maximum, minimum), sympy.default_sort_key(one)))
    condition, value, known = sympy.S.One, sympy.S.One, dict[Expr, Expr]()
    for choice in choices:
        further, factor, _ = (one.xreplace(known) for one in choice.args)
        condition, value = where(condition, further, 0), value * factor
        if isinstance(further, ge | le):
            a, b = further.args
            extreme = maximum if isinstance(further, ge) else minimum
            known |= {extreme(a, b): a, extreme(b, a): a}
    return sympy.Mul(*(f for f in part.args if f not in choices)) * where(condition, value, 0)


def _of_fractions(total: Expr) -> Expr:
    """Put a sum over its common denominator, if that leaves fewer terms above it."""
    if total.has(KroneckerDelta) or sum(1 for _ in sympy.preorder_traversal(total)) > LONGEST_SUM:
        return total
    above, below = sympy.fraction(sympy.together(total))
    expanded = sympy.expand(above)
    # The exponential of a sum would become a product, of which nothing has a rule.
    above = sympy.expand(above, power_exp=False) if expanded.has(sympy.Product) else expanded
    is_shorter = below.has(sympy.Symbol) and len(sympy.Add.make_args(above)) < len(total.args)
    return above / below if is_shorter else total
