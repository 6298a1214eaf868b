"""Join a product of conditions into one condition, and a sum of fractions into a shorter fraction, as textbooks do.

    {1 if x ≥ 0; 0 otherwise}·{1 if max(x, 0) ≤ 1; 0 otherwise}  =  {1 if x ≥ 0 and x ≤ 1; 0 otherwise}
    x/(1 - x)² + 1/(1 - x)                                       =  1/(1 - x)²

Both sides are the same number wherever the left one has a value.
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
    """Over their common denominator, if that leaves fewer terms above it."""
    if total.has(KroneckerDelta) or sum(1 for _ in sympy.preorder_traversal(total)) > LONGEST_SUM:
        return total
    above, below = sympy.fraction(sympy.together(total))
    above = sympy.expand(above)
    is_shorter = below.has(sympy.Symbol) and len(sympy.Add.make_args(above)) < len(total.args)
    return above / below if is_shorter else total
