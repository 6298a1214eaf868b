"""Expressions with placeholders for their indices: which parts of formulas are the same but for those."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy
from sympy import Expr, KroneckerDelta

from gradcli.language.program.meaning import Aggregate


class Whole(Expr):  # type: ignore[misc]
    """Something with a name of its own: its expression with placeholders, and the indices in their places."""

    is_commutative = True
    is_real = True

    @classmethod
    def of(cls, expression: Expr) -> Whole:
        """An expression that stands at its free indices."""
        index = free_indices(expression)
        return cls(generic_of(expression, index), sympy.Tuple(*index))

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Those of the expression."""
        return self.expression.free_symbols  # type: ignore[no-any-return]

    @property
    def generic(self) -> Expr:
        """The expression with placeholders for its indices."""
        return self.args[0]

    @property
    def index(self) -> tuple[Expr, ...]:
        """Where."""
        return self.args[1].args  # type: ignore[no-any-return]

    @property
    def expression(self) -> Expr:
        """The expression itself."""
        return self.generic.xreplace(dict(zip(placeholders(len(self.index)), self.index, strict=True)))


def placeholders(count: int) -> list[sympy.Symbol]:
    """What stands in the places of so many indices."""
    return [sympy.Symbol(f"index {n}", integer=True, nonnegative=True) for n in range(count)]


def is_index(part: Expr) -> bool:
    """Whether it is the letter of an index; sizes are positive."""
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
    if not expression.args or isinstance(expression, sympy.Indexed | KroneckerDelta | Whole):
        return expression
    args = tuple(a if isinstance(a, sympy.Tuple) else rewrite(a) for a in expression.args)
    return expression if args == expression.args else expression.func(*args)


def bound_in(expression: Expr) -> list[sympy.Symbol]:
    """The bound indices of all sums and products in it, in the order in which they are met."""
    sums = [part for part in sympy.preorder_traversal(expression) if isinstance(part, sympy.Sum | Aggregate)]
    return list(dict.fromkeys(k for part in sums for k in _bound(part)))
