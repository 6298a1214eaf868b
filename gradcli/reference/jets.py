"""Jets: what a function is just beside a point, as a series in a small step, or in two of which one is far smaller.

    level 0    a number
    level 1    a series in t > 0
    level 2    a series in s > 0, its coefficients of level 0 or 1: s is smaller than any power of t

A series is a sum of terms, which are exact, and of rests, of which only the order is known.  Exponents may be negative
or fractions, as 1/t and sqrt(t) have them.  The sign of a jet is that of its first term, so every condition is decided
just beside the point, on one side of it.  A rest has a name that says how it arose, so that equal ones cancel, and a
jet without rests is known to be what its terms are: 0 is 0 all around, not only to some order.

Below stand the one-sided slopes of jets and their derivatives: which exist, and which are the same on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from operator import itemgetter
from typing import Literal, TypeAlias

from flint import fmpq

from gradcli.reference.exact_numbers import WHOLE, Atoms, Exponent, Monomial, Number, UndecidedError
from gradcli.reference.rules import Undefined

MOST: Mapping[int, int] = {1: 8, 2: 3}
"""Terms that are kept, by level."""

MOST_RESTS = 4
"""More rests become one."""

Rest = tuple[int, Exponent, Monomial]
"""The name of a germ that is only known to its order, the power of the step and the atoms that it is multiplied by."""

Jet: TypeAlias = "Number | Series"

Taylor = Callable[[int, Number], Number]
"""The n-th derivative of a function at a number."""


@dataclass(frozen=True, slots=True)
class Series:
    """A jet that moves: terms by exponent, rising, none of them 0, and rests with their factors."""

    level: int
    atoms: Atoms
    terms: tuple[tuple[Exponent, Jet], ...]
    rests: tuple[tuple[Rest, fmpq], ...] = ()

    @property
    def order(self) -> Exponent | None:
        """Terms from here on are not known; None if all are."""
        return min((self.atoms.orders[r[0]] + r[1] for r, _ in self.rests), default=None)

    @property
    def first(self) -> Exponent:
        """The smallest exponent that a term or a rest may have."""
        known = [self.terms[0][0]] if self.terms else []
        return min(known if self.order is None else [*known, self.order])

    def lead(self) -> tuple[Exponent, Jet]:
        """The first term.

        Raises:
            UndecidedError: it is beyond what is known.
        """
        order = self.order
        if not self.terms or (order is not None and order <= self.terms[0][0]):
            raise UndecidedError("what matters is of too high an order")
        return self.terms[0]

    def __neg__(self) -> Jet:
        return scaled(self, fmpq(-1))


def level_of(jet: Jet) -> int:
    """How many steps move it, the smaller one counted first."""
    return jet.level if isinstance(jet, Series) else 0


def is_zero(jet: Jet) -> bool:
    """Whether it is exactly 0 in a neighbourhood of the point."""
    return isinstance(jet, Number) and jet.is_zero


def series(level: int, atoms: Atoms, terms: Mapping[Exponent, Jet], rests: Mapping[Rest, fmpq]) -> Jet:
    """The jet of these terms and rests; one of a lower level if the step does not move it."""
    # Every series is made here, so that this one place bounds the work of all operations.
    atoms.spend(1 + len(terms) + len(rests))
    kept = sorted(((e, c) for e, c in terms.items() if not is_zero(c)), key=itemgetter(0))
    own = {r: q for r, q in rests.items() if q != 0}
    if len(kept) > MOST[level]:
        cut = kept[MOST[level] :]
        # Named up to its sign: f and -f must have one name for what is cut, so that it cancels in their sum.
        sign = _leading_sign(cut[0][1])
        name = atoms.name(("cut", level, tuple((e, key_of(scaled(c, sign))) for e, c in cut)))
        atoms.orders[name] = cut[0][0]
        kept = kept[: MOST[level]]
        own[name, 0, ()] = own.get((name, 0, ()), fmpq(0)) + sign
    if len(own) > MOST_RESTS:
        own = _joined(level, atoms, own)
    # Without rests a lone constant is exact: drop the level, so that a jet that is 0 all around is recognised.
    if not own and all(e == 0 for e, _ in kept):
        return kept[0][1] if kept else atoms.rational(0)
    return Series(level, atoms, tuple(kept), tuple(sorted(own.items(), key=_place)))


def _place(rest: tuple[Rest, fmpq]) -> tuple[int, float, Monomial]:
    (name, shift, monomial), _ = rest
    return name, float(shift), monomial


def _joined(level: int, atoms: Atoms, rests: Mapping[Rest, fmpq]) -> dict[Rest, fmpq]:
    """One rest, of the least order, in place of many."""
    ordered = sorted(rests.items(), key=_place)
    # Named relative to the first factor: multiples of the same rests get the same name, and cancel.
    scale = ordered[0][1]
    name = atoms.name(("rests", level, tuple((r, q / scale) for r, q in ordered)))
    atoms.orders[name] = min(atoms.orders[r[0]] + r[1] for r in rests)
    return {(name, 0, ()): scale}


def key_of(jet: Jet) -> Hashable:
    """A key that two jets share exactly if their terms and rests are the same."""
    if isinstance(jet, Number):
        return jet.key
    return jet.level, tuple((e, key_of(c)) for e, c in jet.terms), jet.rests


def step(level: int, atoms: Atoms, here: Jet, weight: fmpq) -> Jet:
    """A number that moves by a step, times a weight."""
    return plus(here, series(level, atoms, {1: atoms.rational(weight)}, {}))


def scaled(jet: Jet, factor: fmpq) -> Jet:
    """The jet times a rational, exactly."""
    if isinstance(jet, Number):
        return jet.scaled(factor)
    terms = {e: scaled(c, factor) for e, c in jet.terms}
    return series(jet.level, jet.atoms, terms, {r: q * factor for r, q in jet.rests})


def _lifted(jet: Jet, level: int) -> tuple[dict[Exponent, Jet], dict[Rest, fmpq]]:
    if isinstance(jet, Series) and jet.level == level:
        return dict(jet.terms), dict(jet.rests)
    return {0: jet}, {}


def plus(a: Jet, b: Jet) -> Jet:
    """The sum of two jets, at the higher of their levels."""
    level = max(level_of(a), level_of(b))
    if isinstance(a, Number) and isinstance(b, Number):
        return a + b
    (terms, rests), (more_terms, more_rests) = _lifted(a, level), _lifted(b, level)
    for e, c in more_terms.items():
        terms[e] = plus(terms[e], c) if e in terms else c
    for r, q in more_rests.items():
        rests[r] = rests.get(r, fmpq(0)) + q
    return series(level, a.atoms, terms, rests)


def minus(a: Jet, b: Jet) -> Jet:
    """The difference of two jets; rests of one name cancel."""
    return plus(a, scaled(b, fmpq(-1)))


def times(a: Jet, b: Jet) -> Jet:
    """The product of two jets, at the higher of their levels."""
    if isinstance(a, Number) and isinstance(b, Number):
        return a * b
    # An exact 0 takes the rests of the other factor away, however large they are.
    if is_zero(a) or is_zero(b):
        return a.atoms.rational(0)
    level, atoms = max(level_of(a), level_of(b)), a.atoms
    (terms_a, rests_a), (terms_b, rests_b) = _lifted(a, level), _lifted(b, level)
    terms: dict[Exponent, Jet] = {}
    for e, c in terms_a.items():
        for f, d in terms_b.items():
            product = times(c, d)
            terms[e + f] = plus(terms[e + f], product) if e + f in terms else product
    rests: dict[Rest, fmpq] = {}
    for some, others in ((terms_a, rests_b), (terms_b, rests_a)):
        for e, c in some.items():
            _add_multiples(atoms, rests, others, e, c)
    for r, p in rests_a.items():
        for s, q in rests_b.items():
            _add(rests, _product(atoms, r, s), p * q)
    return series(level, atoms, terms, rests)


def _add(rests: dict[Rest, fmpq], rest: Rest, factor: fmpq) -> None:
    rests[rest] = rests.get(rest, fmpq(0)) + factor


def _add_multiples(atoms: Atoms, rests: dict[Rest, fmpq], of: Mapping[Rest, fmpq], shift: Exponent, by: Jet) -> None:
    """Add rests times the term `by*step**shift` to others."""
    for (name, e, monomial), q in of.items():
        if isinstance(by, Number):
            for other, p in by.terms.items():
                _add(rests, (name, e + shift, tuple(sorted(monomial + other))), p * q)
        else:
            sign = _leading_sign(by)
            product = atoms.name(("times", name, key_of(scaled(by, sign))))
            atoms.orders[product] = atoms.orders[name]
            _add(rests, (product, e + shift, monomial), q * sign)


def _product(atoms: Atoms, a: Rest, b: Rest) -> Rest:
    # Sorted, as a*b and b*a must have one name to cancel.
    name = atoms.name(("product", *sorted((a[0], b[0]))))
    atoms.orders[name] = atoms.orders[a[0]] + atoms.orders[b[0]]
    return name, a[1] + b[1], tuple(sorted(a[2] + b[2]))


def _leading_sign(jet: Jet) -> fmpq:
    """1 or -1, so that a jet and its negative are the same times it."""
    while isinstance(jet, Series):
        if not jet.terms:
            return fmpq(1) if jet.rests[0][1] > 0 else fmpq(-1)
        jet = jet.terms[0][1]
    return fmpq(1) if jet.leading > 0 else fmpq(-1)


def sign_of(jet: Jet) -> int | None:
    """-1, 0 or 1 just beside the point, 0 only where it is 0 all around; None where that is not known."""
    if isinstance(jet, Number):
        return jet.sign
    try:
        return sign_of(jet.lead()[1])
    except UndecidedError:
        return None


def bottom(jet: Jet) -> Number:
    """The limit of the jet at the point: the coefficient of the power 0 at every level.

    Raises:
        UndecidedError: it is not bounded there, or not known.
    """
    if isinstance(jet, Number):
        return jet
    # A rest of order 0 hides what the constant term is.
    if jet.first < 0 or jet.order == 0:
        raise UndecidedError("an operand is not bounded beside the point")
    return bottom(coefficient(jet, 0))


def coefficient(jet: Jet, exponent: Exponent) -> Jet:
    """The coefficient of a power of the jet's own step; a number has one of the power 0 alone."""
    if isinstance(jet, Number):
        return jet if exponent == 0 else jet.atoms.rational(0)
    return dict(jet.terms).get(exponent, jet.atoms.rational(0))


def derivative(jet: Jet) -> Jet:
    """The derivative of a jet by its own step, term by term."""
    if isinstance(jet, Number):
        return jet.atoms.rational(0)
    atoms = jet.atoms
    terms = {e - 1: scaled(c, fmpq(Fraction(e).numerator, Fraction(e).denominator)) for e, c in jet.terms if e != 0}
    rests: dict[Rest, fmpq] = {}
    for rest, q in jet.rests:
        name = atoms.name(("derivative", jet.level, rest))
        atoms.orders[name] = atoms.orders[rest[0]] + rest[1] - 1
        rests[name, 0, ()] = q
    return series(jet.level, atoms, terms, rests)


def _terms(atoms: Atoms, level: int) -> int:
    """How many terms of a Taylor series are taken; of the smaller step, half as many."""
    return 1 + atoms.terms // level


def _split(jet: Series) -> tuple[Exponent, Jet, Jet]:
    """c*s**e*(1 + h) for a jet that is not 0: e, c, h."""
    e, c = jet.lead()
    if sign_of(c) is None:
        raise UndecidedError("a divisor may be 0")
    front = series(jet.level, jet.atoms, {-e: inverse(c)}, {})
    rest = series(jet.level, jet.atoms, {f: d for f, d in jet.terms if f != e}, dict(jet.rests))
    return e, c, times(rest, front)


def _expanded(h: Jet, level: int, coefficients: Iterable[Jet], name: Hashable) -> Jet:
    """A power series in h, which is small, with a rest of this name."""
    first, *others = coefficients
    if is_zero(h):
        return first
    # A power series may be cut only where h tends to 0 with the step that it is a series in.
    if not isinstance(h, Series) or h.level != level or h.first <= 0:
        raise UndecidedError("a series does not converge")
    total: Jet = first
    raised: Jet = h.atoms.rational(1)
    for c in others:
        raised = times(raised, h)
        total = plus(total, times(c, raised))
    atoms = h.atoms
    rest = atoms.name((name, level))
    atoms.orders[rest] = (len(others) + 1) * h.first
    return plus(total, series(level, atoms, {}, {(rest, 0, ()): fmpq(1)}))


def inverse(jet: Jet) -> Jet:
    """1 over a jet.

    Raises:
        UndecidedError: it may be 0.
    """
    if isinstance(jet, Number):
        return jet.inverse()
    return power(jet, Fraction(-1))


def power(jet: Jet, exponent: Fraction) -> Jet:
    """A power of a positive jet, or a whole one of one that is not 0.

    Raises:
        UndecidedError: it may be 0.
    """
    if isinstance(jet, Number):
        return jet.power(fmpq(exponent.numerator, exponent.denominator))
    # A small whole power by products: it needs no first term that is certainly not 0.
    if exponent.denominator == 1 and 0 < exponent <= WHOLE:
        result: Jet = jet
        for _ in range(int(exponent) - 1):
            result = times(result, jet)
        return result
    e, c, h = _split(jet)
    atoms, level = jet.atoms, jet.level
    coefficients, binomial = [], Fraction(1)
    for n in range(_terms(atoms, level)):
        coefficients.append(atoms.rational(fmpq(binomial.numerator, binomial.denominator)))
        binomial *= (exponent - n) / Fraction(n + 1)
    whole = _expanded(h, level, coefficients, ("power", exponent, key_of(h)))
    shift = Fraction(e) * exponent
    front = {int(shift) if shift.denominator == 1 else shift: power(c, exponent)}
    return times(series(level, atoms, front, {}), whole)


def composed(taylor: Taylor, name: Hashable, jet: Jet, n: int = 0) -> Jet:
    """The n-th derivative of a function of one operand, at a jet.

    Args:
        taylor: The derivatives at a number.
        name: Of the function.
        jet: The operand.
        n: Which derivative.

    Raises:
        UndecidedError: the function has no Taylor series there.
    """
    if isinstance(jet, Number):
        return taylor(n, jet)
    bottom(jet)
    here = coefficient(jet, 0)
    coefficients = (
        scaled(composed(taylor, name, here, n + k), fmpq(1, factorial(k))) for k in range(_terms(jet.atoms, jet.level))
    )
    return _expanded(minus(jet, here), jet.level, coefficients, ("of", name, n, key_of(jet)))


Status = Literal["finite", "kink", "jump", "infinite", "none", "unknown"]


@dataclass(frozen=True, slots=True)
class Side:
    """What becomes of a derivative on one side, or on both.

    Attributes:
        kind: It is `finite`; what it is the derivative of has a `kink` all along, or a `jump` at the point; it is
            `infinite`, or there is `none`; or that is `unknown`.
        number: The derivative; of a jump, how far it is.
        reason: Why what it is the derivative of does not exist beside the point; empty if that does.
    """

    kind: Status
    number: Number | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Bend:
    """The slope at the point, from the left and from the right, and its derivative on either side.

    Two numbers are the same where their difference is 0 for certain.
    """

    slope: tuple[Side, Side]
    sides: tuple[Side, Side]


def slope_of(value: Jet | Undefined, on_line: Jet | Undefined, s: int) -> Jet | Undefined:
    """The term of s, where y goes on from what it is without that step."""
    if isinstance(value, Undefined) or isinstance(on_line, Undefined):
        return value if isinstance(value, Undefined) else on_line
    steep = _steep(value, 2)
    if steep is not None:
        return steep
    jump = minus(_term(value, 2, 0), on_line)
    if not is_zero(jump):
        return Undefined("jump", "the function jumps", decided=sign_of(jump) is not None)
    return scaled(_term(value, 2, 1), fmpq(s))


def _term(jet: Jet, level: int, exponent: int) -> Jet:
    """The coefficient of a power of a step, which may not move the jet."""
    if isinstance(jet, Series) and jet.level == level:
        return coefficient(jet, exponent)
    return jet if exponent == 0 else jet.atoms.rational(0)


def _steep(jet: Jet, level: int) -> Undefined | None:
    """Why there is no slope, if a power between 0 and 1, or below, is among the terms."""
    if not isinstance(jet, Series) or jet.level != level:
        return None
    first = next(((e, c) for e, c in jet.terms if e < 1 and e != 0), None)
    order = jet.order
    if first is not None and (order is None or first[0] < order) and sign_of(first[1]):
        return Undefined("slope", "its slope is infinite", decided=True)
    if first is not None or (order is not None and order <= 1):
        return Undefined("slope", "its slope is not known", decided=False)
    return None


def own_slope(value: Jet | Undefined, t: int) -> Jet | Undefined:
    """The slope along the line itself, which is smooth beside the point."""
    return value if isinstance(value, Undefined) else scaled(derivative(value), fmpq(t))


def both(*sides: Jet | Undefined) -> Jet | Undefined:
    """The slope, if it is the same on both sides."""
    troubles = [one for one in sides if isinstance(one, Undefined)]
    if troubles:
        return next((one for one in troubles if one.decided), troubles[0])
    slopes = [one for one in sides if not isinstance(one, Undefined)]
    difference = minus(slopes[0], slopes[-1])
    if is_zero(difference):
        return slopes[0]
    return Undefined("kink", "its left and right slopes differ", decided=sign_of(difference) is not None)


def at_point(slope: Jet | Undefined) -> Side:
    """A slope at the point itself."""
    if isinstance(slope, Undefined):
        return Side(_KINDS[slope.kind] if slope.decided else "unknown", reason=slope.reason)
    return _number(slope)


_KINDS: Mapping[str, Status] = {"kink": "kink", "jump": "jump", "slope": "infinite", "domain": "none"}


def _number(jet: Jet, kind: Status = "finite") -> Side:
    return Side(kind, jet) if isinstance(jet, Number) else Side("unknown")


def derivative_of(slope: Jet | Undefined, center: Jet | Undefined, t: int) -> Side:
    """The derivative by t on one side of a slope that goes on from that at the point, if there is one."""
    if isinstance(slope, Undefined):
        return at_point(slope)
    steep = _steep(slope, 1)
    if steep is not None:
        return Side("infinite") if steep.decided else Side("unknown", reason=steep.reason)
    if not isinstance(center, Undefined):
        jump = minus(_term(slope, 1, 0), center)
        if not is_zero(jump):
            return _number(jump, "jump") if sign_of(jump) is not None else Side("unknown")
    return _number(scaled(_term(slope, 1, 1), fmpq(t)))
