"""Abbreviated formulas with their definitions put back, and whether they are the formulas that were abbreviated."""

from __future__ import annotations

from dataclasses import dataclass

import sympy
from sympy import Expr

from gradcli.language.program.meaning import Total
from gradcli.symbolic.linear import tidied
from gradcli.symbolic.printing.templates import bound_in, generic_of, rebuilt


@dataclass(frozen=True)
class Definition:
    """What a name stands for, with the indices of its elements."""

    name: Expr
    meaning: Expr


Abbreviated = tuple[tuple[Expr, ...], tuple[Definition, ...]]
"""Formulas, and what the names in them stand for."""


def put_back(found: Abbreviated) -> list[Expr]:
    """The formulas with the definitions in the place of the names."""
    formulas, definitions = found
    whole = list(formulas)
    for one in definitions:
        whole = [_defined(formula, one) for formula in whole]
    return whole


def _defined(expression: Expr, definition: Definition) -> Expr:
    name, meaning = definition.name, definition.meaning
    fresh = {k: sympy.Dummy(str(k), integer=True, nonnegative=True) for k in bound_in(meaning)}
    meaning = meaning.xreplace(fresh)
    if not isinstance(name, sympy.Indexed):
        return expression.xreplace({name: meaning})
    places = {x for x in expression.atoms(sympy.Indexed) if x.base == name.base}
    return expression.xreplace({x: meaning.xreplace(dict(zip(name.indices, x.indices, strict=True))) for x in places})


MOST_EXPANDED = 32
"""Exponents up to which a power is written out to compare it."""


class _Normal:
    """Expressions as rational functions of opaque parts, and sums as sums of their terms.

    Args:
        is_one_fraction: Whether what is summed is one fraction before it is taken apart into terms.
    """

    def __init__(self, *, is_one_fraction: bool) -> None:
        self.is_one_fraction = is_one_fraction
        self.symbols: dict[Expr, sympy.Dummy] = {}

    def of(self, expression: Expr) -> Expr:
        """The same for all expressions that are equal by the rules of arithmetic."""
        return sympy.cancel(self._rational(tidied(expression)))

    def _rational(self, part: Expr) -> Expr:
        is_power = isinstance(part, sympy.Pow) and part.exp.is_Integer and abs(part.exp) <= MOST_EXPANDED
        if isinstance(part, sympy.Add | sympy.Mul) or is_power:
            return part.func(*map(self._rational, part.args))
        if isinstance(part, sympy.Rational | sympy.Symbol):
            return part
        if isinstance(part, sympy.Sum):
            return self._sum(part)
        if isinstance(part, sympy.exp):  # exp(-u) is 1/exp(u)
            exponent = self._written_out(part.args[0])
            falls = bool(exponent.could_extract_minus_sign())
            base = self._opaque(sympy.exp(-exponent if falls else exponent))
            return 1 / base if falls else base
        return self._opaque(rebuilt(part, self._written_out))

    def _sum(self, total: Expr) -> Expr:
        found = sympy.S.Zero
        for term in self._terms(self._rational(total.function)):
            outside, inside = self._back(term).as_independent(*total.variables, as_Add=False)
            found += self._rational(outside) * self._opaque(Total(inside, *total.limits))
        return found

    def _terms(self, body: Expr) -> list[Expr]:
        if self.is_one_fraction:
            above, below = sympy.fraction(sympy.cancel(body))
            return [term / below for term in sympy.Add.make_args(sympy.expand(above))]
        return [sympy.cancel(term) for term in sympy.Add.make_args(sympy.expand(body))]

    def _written_out(self, part: Expr) -> Expr:
        return self._back(sympy.cancel(self._rational(part))) if isinstance(part, Expr) else part

    def _back(self, expression: Expr) -> Expr:
        return expression.xreplace({symbol: part for part, symbol in self.symbols.items()})

    def _opaque(self, part: Expr) -> Expr:
        return self.symbols.setdefault(generic_of(part, []), sympy.Dummy(real=True))


def is_same(one: Expr, other: Expr) -> bool:
    """Whether two formulas are equal by the rules of arithmetic, their sums term by term."""
    ways = (_Normal(is_one_fraction=True), _Normal(is_one_fraction=False))
    return any(bool(normal.of(one) == normal.of(other)) for normal in ways)
