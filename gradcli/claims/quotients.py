"""Rational functions of some symbols as fractions of polynomials with exact coefficients, by FLINT.

Bounded: whoever asks for more terms than `MOST_TERMS` gets `TooManyError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

import sympy
from flint import fmpq, fmpq_mpoly_ctx
from sympy import Expr

MOST_TERMS = 20_000
"""Terms of one polynomial."""

HIGHEST_POWER = 200

Polynomial = Any
"""FLINT's, which has no types."""

Quotient = tuple[Polynomial, Polynomial]
"""Above and below."""


class TooManyError(Exception):
    """A bound of a proof was met."""


class Quotients:
    """Rational functions of these symbols.

    Args:
        symbols: What they are of.
        defined: Rational functions that other symbols stand for.
    """

    def __init__(self, symbols: Iterable[sympy.Symbol], defined: Mapping[sympy.Symbol, Expr]) -> None:
        ordered = sorted(set(symbols) - set(defined), key=sympy.default_sort_key)
        context = fmpq_mpoly_ctx.get([f"s{n}" for n in range(len(ordered))] or ["s0"], "degrevlex")
        self.context, self.defined = context, defined
        self.place = {symbol: n for n, symbol in enumerate(ordered)}
        one = context.constant(1)
        self._known: dict[Expr, Quotient] = {s: (g, one) for s, g in zip(ordered, context.gens(), strict=False)}

    def of(self, expression: Expr) -> Quotient:
        """A rational function as a fraction.

        Raises:
            TooManyError: It has too many terms.
        """
        known = self._known.get(expression)
        if known is None:
            known = self._known[expression] = self._of(expression)
        return known

    def with_power(self, numerator: Polynomial, symbol: sympy.Symbol, power: int, value: Expr) -> Polynomial:
        """A numerator with symbol**power replaced by a rational function, as often as it goes, without denominators."""
        place = self.place.get(symbol)
        if place is None or numerator.degrees()[place] < power:
            return numerator
        above, below = self.of(value)
        by_power: dict[int, dict[tuple[int, ...], Any]] = {}
        for exponents, coefficient in numerator.terms():
            rest = (*exponents[:place], exponents[place] % power, *exponents[place + 1 :])
            by_power.setdefault(int(exponents[place]) // power, {})[rest] = coefficient
        most = max(by_power)
        total = self.context.constant(0)
        for n, terms in by_power.items():
            factors = (self.context.from_dict(terms), self._power(above, n), self._power(below, most - n))
            total += reduce(self._product, factors)
        return total

    def _of(self, expression: Expr) -> Quotient:
        one = self.context.constant(1)
        match expression:
            case sympy.Rational():
                return self.context.constant(fmpq(int(expression.p), int(expression.q))), one
            case sympy.Add():
                return reduce(self._sum, map(self.of, expression.args))
            case sympy.Mul():
                parts = [self.of(factor) for factor in expression.args]
                return reduce(lambda a, b: (self._product(a[0], b[0]), self._product(a[1], b[1])), parts)
            case sympy.Pow(exp=sympy.Integer()):
                above, below = self.of(expression.base)
                n = int(expression.exp)
                above, below = (above, below) if n >= 0 else (below, above)
                if below == 0:
                    raise TooManyError
                return self._power(above, abs(n)), self._power(below, abs(n))
            case sympy.Symbol() if expression in self.defined:
                return self.of(self.defined[expression])
        raise TooManyError

    def _sum(self, a: Quotient, b: Quotient) -> Quotient:
        if a[1] == b[1]:
            return a[0] + b[0], a[1]
        common = a[1].gcd(b[1])
        left, right = b[1] / common, a[1] / common
        return self._product(a[0], left) + self._product(b[0], right), self._product(a[1], left)

    def _product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        if len(a) * len(b) > MOST_TERMS * 100:
            raise TooManyError
        found = a * b
        if len(found) > MOST_TERMS:
            raise TooManyError
        return found

    def _power(self, polynomial: Polynomial, n: int) -> Polynomial:
        if n > HIGHEST_POWER:
            raise TooManyError
        return reduce(self._product, [polynomial] * n, self.context.constant(1))
