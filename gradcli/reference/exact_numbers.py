"""Real numbers that know whether they are the same: polynomials in enclosed numbers, with rational coefficients.

What is rational stays exact.  Anything else, such as exp(1/3), is an atom: a ball and a name, which says how it was
computed.  The same computation has the same name, so that what cancels is exactly 0, which no ball alone can show.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from functools import cached_property

from flint import arb, fmpq

from gradcli.reference.balls import Ball, exists, integer_power

MOST_TERMS, MOST_FACTORS, MOST_BITS = 8, 6, 8_192
"""A longer polynomial, a longer product, and a rational of more bits become atoms themselves."""

MOST_WORK = 40_000
"""Products of terms that one look may take, about half a second."""

WHOLE = 20
"""Whole powers up to this one are products."""

Exponent = int | Fraction

Monomial = tuple[int, ...]
"""The numbers of its atoms, in their order."""


class UndecidedError(Exception):
    """What the balls, or the terms that are kept of a series, cannot tell; the message says why."""


class Atoms:
    """The names of one computation, and the balls of those that are numbers, all at one precision."""

    def __init__(self, terms: int = 4) -> None:
        """No atoms yet; `terms` are those of a Taylor series beyond its first."""
        self.terms, self.work = terms, 0
        self.balls: dict[int, Ball] = {}
        self.orders: dict[int, Exponent] = {}
        self._named: dict[Hashable, int] = {}

    def spend(self, work: int) -> None:
        """Count some work.

        Raises:
            UndecidedError: it is too much.
        """
        self.work += work
        if self.work > MOST_WORK:
            raise UndecidedError("to follow it around the point would take too long")

    def name(self, key: Hashable) -> int:
        """The number of a name, which is that of everything computed in the same way."""
        return self._named.setdefault(key, len(self._named))

    def rational(self, value: fmpq | int) -> Number:
        """A rational as a `Number` of these atoms."""
        exact = fmpq(value)
        return Number(self, {(): exact} if exact != 0 else {})

    def enclosed(self, key: Hashable, ball: Ball) -> Number:
        """The number in a ball, by its name; a rational where the ball is a point.

        Raises:
            UndecidedError: the ball is not finite.
        """
        if not exists(ball):
            raise UndecidedError("there is no finite enclosure")
        if ball.is_exact():
            mantissa, exponent = ball.man_exp()
            if abs(int(exponent)) < MOST_BITS:
                return self.rational(fmpq(mantissa) * fmpq(2) ** int(exponent))
        atom = self.name(key)
        self.balls[atom] = ball
        return Number(self, {(atom,): fmpq(1)})

    def between(self, low: int, high: int) -> Number:
        """Some number of an interval, which is no other one."""
        middle, radius = fmpq(low + high, 2), fmpq(high - low, 2)
        return self.enclosed(("undecided", len(self._named)), arb(middle) + arb(0, arb(radius)))


class Number:
    """One number: the coefficient of each of its monomials, none of them 0.

    >>> from gradcli.reference.balls import precision
    >>> atoms = Atoms()
    >>> third, e = atoms.rational(1) * atoms.rational(3).inverse(), atoms.enclosed("e", arb.const_e())
    >>> ((e + third) * (e - third) - e * e).rational
    -1/9
    """

    def __init__(self, atoms: Atoms, terms: dict[Monomial, fmpq]) -> None:
        self.atoms, self.terms = atoms, terms

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 exactly; a ball that holds 0 is not enough."""
        return not self.terms

    @property
    def rational(self) -> fmpq | None:
        """Its value if it is known to be rational."""
        if not self.terms:
            return fmpq(0)
        return self.terms.get(()) if len(self.terms) == 1 else None

    @cached_property
    def key(self) -> int:
        """What tells it from others of the same atoms."""
        return self.atoms.name(("number", *sorted((m, int(q.p), int(q.q)) for m, q in self.terms.items())))

    @cached_property
    def ball(self) -> Ball:
        """The ball that encloses the number at the current precision."""
        total = arb(0)
        for monomial, coefficient in self.terms.items():
            product = arb(coefficient)
            for atom in monomial:
                product *= self.atoms.balls[atom]
            total += product
        return total

    @property
    def sign(self) -> int | None:
        """-1, 0 or 1; None where the ball cannot tell."""
        if self.is_zero:
            return 0
        return 1 if self.ball > 0 else -1 if self.ball < 0 else None

    @property
    def leading(self) -> fmpq:
        """The coefficient of its first monomial, 1 of 0."""
        return self.terms[min(self.terms)] if self.terms else fmpq(1)

    def __neg__(self) -> Number:
        return self.scaled(fmpq(-1))

    def __add__(self, other: Number) -> Number:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, fmpq(0)) + coefficient
            if total == 0:
                del terms[monomial]
            else:
                terms[monomial] = total
        return Number(self.atoms, terms)._bounded()

    def __sub__(self, other: Number) -> Number:
        return self + -other

    def __mul__(self, other: Number) -> Number:
        self.atoms.spend(len(self.terms) * len(other.terms))
        terms: dict[Monomial, fmpq] = {}
        for m, p in self.terms.items():
            for n, q in other.terms.items():
                monomial = tuple(sorted(m + n)) if m and n else m or n
                terms[monomial] = terms.get(monomial, fmpq(0)) + p * q
        return Number(self.atoms, {m: q for m, q in terms.items() if q != 0})._bounded()

    def scaled(self, factor: fmpq) -> Number:
        """The number times a rational, exactly."""
        return Number(self.atoms, {m: q * factor for m, q in self.terms.items()} if factor != 0 else {})

    def inverse(self) -> Number:
        """1 over it.

        Raises:
            UndecidedError: it may be 0.
        """
        if not self.sign:
            raise UndecidedError("a divisor may be 0")
        exact = self.rational
        if exact is not None:
            return self.atoms.rational(1 / exact)
        # Named up to a rational factor: 1/(2*a) and 1/a are multiples of one atom, and can cancel.
        whole = self.scaled(1 / self.leading)
        return self.atoms.enclosed(("inverse", whole.key), 1 / whole.ball).scaled(1 / self.leading)

    def power(self, exponent: fmpq) -> Number:
        """A power of a positive number, or a whole one of any but 0.

        Raises:
            UndecidedError: it may be 0.
        """
        exact = self.rational
        if exponent.q == 1 and abs(int(exponent.p)) <= WHOLE:
            base, result = self if exponent > 0 else self.inverse(), self.atoms.rational(1)
            for _ in range(abs(int(exponent.p))):
                result = result * base
            return result
        # The root of a square stays rational, so that sqrt(4) - 2 is 0 and not a ball around it.
        if exact is not None and exponent == fmpq(1, 2):
            p, q = math.isqrt(int(exact.p)), math.isqrt(int(exact.q))
            if p * p == exact.p and q * q == exact.q:
                return self.atoms.rational(fmpq(p, q))
        is_whole = exponent.q == 1
        ball = integer_power(self.ball, int(exponent.p)) if is_whole else self.ball ** arb(exponent)
        return self.atoms.enclosed(("power", exponent, self.key), ball)

    def _bounded(self) -> Number:
        """The same number; one with too many terms, factors or digits becomes a multiple of one new atom."""
        is_small = len(self.terms) <= MOST_TERMS and all(
            len(m) <= MOST_FACTORS and max(q.p.bit_length(), q.q.bit_length()) <= MOST_BITS
            for m, q in self.terms.items()
        )
        if is_small:
            return self
        scale = self.leading
        # Named up to a rational factor, as in `inverse`, so that multiples still cancel.
        whole = self.scaled(1 / scale)
        return self.atoms.enclosed(("whole", whole.key), whole.ball).scaled(scale)
