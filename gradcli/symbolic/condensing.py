"""What is one in a textbook: a product of conditions, and a sum of fractions that is a shorter fraction.

    {1 if x ≥ 0; 0 otherwise}·{1 if max(x, 0) ≤ 1; 0 otherwise}  =  {1 if x ≥ 0 and x ≤ 1; 0 otherwise}
    x/(1 - x)² + 1/(1 - x)                                       =  1/(1 - x)²

Each is the same number wherever the first has a value.
"""

from __future__ import annotations

import sympy
from sympy import Expr, KroneckerDelta
from sympy.core.traversal import bottom_up

from gradcli.language.program.meaning import ge, le, maximum, minimum, where

LONGEST_SUM = 100
"""Nodes of a sum that is tried: what a page of fractions has in common is found in minutes, and read by nobody."""


def joined(expression: Expr) -> Expr:
    """With conditions and fractions joined where that is shorter.

    >>> x = sympy.Symbol("x", real=True)
    >>> joined(x/(1 - x)**2 + 1/(1 - x))
    (1 - x)**(-2)
    >>> joined(where(ge(x, 0), 1, 0) * where(le(maximum(x, 0), 1), 1, 0))
    where(where(ge(x, 0), le(x, 1), 0), 1, 0)
    """
    has_choices = sum(1 for one in expression.atoms(where) if one.args[2] == 0) > 1
    has_fractions = any(one.exp.is_negative and one.has(sympy.Symbol) for one in expression.atoms(sympy.Pow))
    if not (has_choices or has_fractions):
        return expression
    return bottom_up(expression, _joined)


def _joined(part: Expr) -> Expr:
    if isinstance(part, sympy.Mul):
        return _of_choices(part)
    return _of_fractions(part) if isinstance(part, sympy.Add) else part


def _of_choices(product: Expr) -> Expr:
    """Factors that are 0 unless something holds are one that is 0 unless all of it does."""
    choices = [f for f in product.args if isinstance(f, where) and f.args[2] == 0]
    if len(choices) < 2:
        return product
    # What an extreme is known to be is the condition of another: the plainest conditions come first.
    choices.sort(key=lambda one: (one.args[0].has(maximum, minimum), sympy.default_sort_key(one)))
    condition, value, _ = choices[0].args
    for choice in choices[1:]:
        further, factor, _ = (_where_it_holds(condition, part) for part in choice.args)
        condition, value = where(condition, further, 0), value * factor
    return sympy.Mul(*(f for f in product.args if f not in choices)) * where(condition, value, 0)


def _where_it_holds(condition: Expr, part: Expr) -> Expr:
    """An expression where a condition holds, which may say what an extreme is."""
    known: dict[Expr, Expr] = {}
    for one in [condition, *condition.atoms(ge, le)] if _is_all_of(condition) else []:
        if isinstance(one, ge | le):
            a, b = one.args
            extreme = maximum if isinstance(one, ge) else minimum
            known |= {extreme(a, b): a, extreme(b, a): a}
    return part.xreplace(known) if known else part


def _is_all_of(condition: Expr) -> bool:
    """Whether each comparison in it has to hold."""
    if isinstance(condition, where):
        a, b, other = condition.args
        return bool(other == 0) and _is_all_of(a) and _is_all_of(b)
    return isinstance(condition, ge | le)


def _of_fractions(total: Expr) -> Expr:
    """Over their common denominator, if that leaves fewer terms above it."""
    if total.has(KroneckerDelta) or sum(1 for _ in sympy.preorder_traversal(total)) > LONGEST_SUM:
        return total
    above, below = sympy.fraction(sympy.together(total))
    above = sympy.expand(above)
    is_shorter = below.has(sympy.Symbol) and len(sympy.Add.make_args(above)) < len(total.args)
    return above / below if is_shorter else total
