"""Expressions with placeholders for their indices, to find parts of formulas that differ only in their indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy
from sympy import Expr, KroneckerDelta

from gradcli.language.program.meaning import Aggregate, Chosen


def placeholders(count: int) -> list[sympy.Symbol]:
    """Symbols that stand in the places of `count` indices."""
    return [sympy.Symbol(f"index {n}", integer=True, nonnegative=True) for n in range(count)]


def is_index(part: Expr) -> bool:
    """Tell whether it is the letter of an index; sizes are positive."""
    return isinstance(part, sympy.Symbol) and bool(part.is_nonnegative) and not part.is_positive


def free_indices(expression: Expr) -> list[Expr]:
    """In the order in which they are met."""
    free = expression.free_symbols
    return list(dict.fromkeys(p for p in sympy.preorder_traversal(expression) if p in free and is_index(p)))


def _bound(part: Expr) -> Sequence[sympy.Symbol]:
    return part.bound if isinstance(part, Aggregate) else part.variables


def generic_of(expression: Expr, index: Sequence[Expr]) -> Expr:
    """With placeholders for these indices, and bound ones called by their order."""
    bound = enumerate(bound_in(expression))
    renamed = {k: sympy.Symbol(f"bound {n}", integer=True, nonnegative=True) for n, k in bound}
    return expression.xreplace({**renamed, **dict(zip(index, placeholders(len(index)), strict=True))})


def rebuilt(expression: Expr, rewrite: Callable[[Expr], Expr]) -> Expr:
    """With its parts rewritten, but for what stands in an index or a limit."""
    if not expression.args or isinstance(expression, sympy.Indexed | KroneckerDelta | Chosen):
        return expression
    args = tuple(a if isinstance(a, sympy.Tuple) else rewrite(a) for a in expression.args)
    return expression if args == expression.args else expression.func(*args)


def bound_in(expression: Expr) -> list[sympy.Symbol]:
    """The bound indices of all sums and products in it, in the order in which they are met."""
    sums = [part for part in sympy.preorder_traversal(expression) if isinstance(part, sympy.Sum | Aggregate)]
    return list(dict.fromkeys(k for part in sums for k in _bound(part)))
