"""Parts of a function by their series near 0, where they are a difference or a quotient of what vanishes there.

`where(abs(u) < 1/8, u/3 + u**3/45, 1/z - 1/tan(z))` with `z = where(abs(u) < 1/8, 1/8, u)`, which keeps the branch that
is not taken away from 0.  What is left out of the series is enclosed for all u in reach, of the part and of its
derivative, and is below the rounding of both: so the two are one function to float64, though not beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from gradcli.diagnose.occurrences import Reading, exact, within
from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom
from gradcli.language.text.tokens import tokenize
from gradcli.reference.taylor_models import (
    Dual,
    Model,
    NoModelError,
    combined,
    modelling,
    relative_error,
    whole_power,
)

RADII = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 32), Fraction(1, 128), Fraction(1, 1024))
"""Of the intervals around 0 on which a series is tried."""

MOST_TERMS = 8
"""Terms of a series that is written down."""

ERROR = arb(2) ** -54
"""How far a series and its derivative may be from the truth, relatively: half of a rounding."""

LARGEST = 2**53
"""Of the whole numbers in coefficients."""

MOST_PARTS = 8
"""Parts of one function that are looked at, the outermost first."""

MOST_OPERATIONS = 60
"""Of such a part."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A text with a series in it, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Series:
    """The terms of a series: coefficients by power, on an interval."""

    radius: Fraction
    terms: tuple[tuple[int, Fraction], ...]


Known = dict[tuple[str, str], tuple[_Series, ...]]
"""The series of parts that were looked at, by their texts."""


def expansions(reading: Reading, known: Known | None = None) -> Iterator[Expansion]:
    """The texts with one part in a series of what it is made of, on larger and on smaller intervals.

    Args:
        reading: The function.
        known: The series of parts of other forms, which is added to.

    >>> from gradcli.diagnose.occurrences import read_places
    >>> [found.text for found in expansions(read_places("(1 - cos(x))/x"))][-1]
    'z = where(abs(x) < 1/1024, 1/1024, x); where(abs(x) < 1/1024, x/2 - x**3/24 + x**5/720, (1 - cos(z))/z)'
    """
    if "#" in reading.text or "\n" in reading.text:
        return
    parts = [atom for atom in reversed(reading.nodes) if _is_quotient_or_sum(reading, atom)]
    for atom in parts[:MOST_PARTS]:
        u = _made_of(reading, atom)
        if u is not None:
            yield from _written(reading, atom, u, {} if known is None else known)


def _is_quotient_or_sum(reading: Reading, atom: Atom) -> bool:
    op = reading.nodes[atom].op
    return op.adds_terms or bool(op.guarded)


def _made_of(reading: Reading, atom: Atom) -> Atom | None:
    """The one value that a part is made of, with constants; the largest such value."""
    orders = {symbol: n for n, symbol in enumerate([*reading.program.variables, *reading.nodes])}
    waiting = {a for a in reading.nodes[atom].operands if a in orders}
    for _ in range(MOST_OPERATIONS):
        if not waiting:
            return None
        latest = max(waiting, key=orders.__getitem__)
        if len(waiting) == 1 and _is_used_again(reading, atom, latest):
            return latest
        if latest not in reading.nodes or reading.nodes[latest].op.kind is not Kind.ELEMENTWISE:
            return None
        waiting |= {a for a in reading.nodes[latest].operands if a in orders}
        waiting.discard(latest)
    return None


def _is_used_again(reading: Reading, atom: Atom, u: Atom) -> bool:
    """Whether a part is more than a function of u that cannot cancel: it has u in two places."""
    count, waiting = 0, [atom]
    while waiting:
        for operand in reading.nodes[waiting.pop()].operands:
            count += operand == u
            if operand != u and operand in reading.nodes:
                waiting.append(operand)
    return count > 1


def _written(reading: Reading, atom: Atom, u: Atom, known: Known) -> Iterator[Expansion]:
    """The texts with a part in series of u, each of fewer terms than the one before."""
    place = next(iter(reading.places(atom)), None)
    if place is None or (shown := reading.shown(u, place)) is None:
        return
    key = reading.clean(place), shown
    if key not in known:
        known[key] = tuple(_all(reading, atom, u))
    for series in known[key]:
        found = _text(reading, atom, u, series)
        if found is not None:
            yield found


def _all(reading: Reading, atom: Atom, u: Atom) -> Iterator[_Series]:
    """The series of a part on smaller and smaller intervals, each of fewer terms than the one before."""
    fewest = MOST_TERMS + 1
    for radius in RADII:
        series = _series(reading, atom, u, radius)
        if series is not None and len(series.terms) < fewest:
            fewest = len(series.terms)
            yield series


def _series(reading: Reading, atom: Atom, u: Atom, radius: Fraction) -> _Series | None:
    """The terms that are enough on an interval; None if there is no such series, or it takes too many."""
    with modelling():
        try:
            value, slope = _modelled(reading, atom, u, arb(fmpq(radius.numerator, radius.denominator)))
        except NoModelError:
            return None
        if value.shift < 0 or slope is None:
            return None
        for terms in range(1, value.order):
            kept = value.shift + terms - 1 - slope.shift
            if not 1 <= kept <= slope.order:
                continue
            if relative_error(value, terms) <= ERROR and relative_error(slope, kept) <= ERROR:
                coefficients = [value.coefficient(n) for n in range(terms)]
                found = [(value.shift + n, Fraction(int(c.p), int(c.q))) for n, c in enumerate(coefficients) if c != 0]
                return _Series(radius, tuple(found)) if _is_short(found) else None
    return None


def _is_short(terms: list[tuple[int, Fraction]]) -> bool:
    return len(terms) <= MOST_TERMS and all(max(abs(c.numerator), c.denominator) < LARGEST for _, c in terms)


def _modelled(reading: Reading, atom: Atom, u: Atom, radius: arb) -> Dual:
    """A part as a function of u.

    Raises:
        NoModelError: There is an operation without a model, or no model at 0.
    """
    known: dict[Atom, Dual] = {u: (Model.identity(radius), Model.constant(fmpq(1), radius))}

    def of(one: Atom) -> Dual:
        if one in known:
            return known[one]
        if one not in reading.nodes:
            number = exact(one)
            if number is None:
                raise NoModelError
            known[one] = Model.constant(fmpq(number.numerator, number.denominator), radius), None
            return known[one]
        call = reading.nodes[one]
        exponent = exact(call.operands[1]) if call.op.name == "pow" else None
        if exponent is not None and exponent.denominator == 1:
            known[one] = whole_power(of(call.operands[0]), int(exponent))
        elif exponent == Fraction(1, 2):
            known[one] = combined("sqrt", [of(call.operands[0])])
        else:
            known[one] = combined(call.op.name, [of(operand) for operand in call.operands])
        return known[one]

    return of(atom)


def _text(reading: Reading, atom: Atom, u: Atom, series: _Series) -> Expansion | None:
    """The function with a part in series where u is small; None if it cannot be written so."""
    places = reading.places(atom)
    name = _fresh(reading)
    assigned = {statement.name for statement in reading.statements if statement.name}
    edits: dict[Span, str] = {}
    shown = ""
    for place in places:
        text = reading.shown(u, place)
        inner = [span for span, value in (*reading.inside(place), *reading.inside(place, leaves=True)) if value == u]
        if text is None or not inner or assigned & {token.text for token in tokenize(reading.clean(place))}:
            return None
        shown = text
        near = f"abs({text}) < {series.radius}"
        edits[place] = f"where({near}, {_polynomial(series, text)}, {_replaced(reading, place, inner, name)})"
    if not edits:
        return None
    near = f"abs({shown}) < {series.radius}"
    text = f"{name} = where({near}, {series.radius}, {shown}); {reading.edited(edits).lstrip()}"
    part = reading.clean(places[0])
    reason = (
        f"{part} cancels near {shown} = 0, where its series is taken: "
        f"for {near} what that leaves out is less than a rounding of value and derivative"
    )
    return Expansion(text, reason)


def _replaced(reading: Reading, place: Span, inner: list[Span], name: str) -> str:
    """The text of a part with a name for u."""
    pieces, done = [], place.start
    for span in sorted(inner, key=lambda s: (s.start, -s.stop)):
        if span.start >= done and within(span, place):
            pieces += [reading.text[done : span.start], name]
            done = span.stop
    return "".join([*pieces, reading.text[done : place.stop]])


def _fresh(reading: Reading) -> str:
    taken = {token.text for token in reading.tokens}
    return next(name for name in ("z", "w", *(f"z{n}" for n in range(1, len(taken) + 2))) if name not in taken)


def _polynomial(series: _Series, u: str) -> str:
    """A series as text.

    >>> _polynomial(_Series(Fraction(1), ((0, Fraction(-1, 2)), (1, Fraction(1)), (4, Fraction(-3, 40)))), "x")
    '-1/2 + x - 3*x**4/40'
    """
    base = u if u.isidentifier() else f"({u})"
    pieces = []
    for power, coefficient in series.terms:
        size = abs(coefficient)
        symbol = "" if power == 0 else base if power == 1 else f"{base}**{power}"
        above = "*".join(str(p) for p in (size.numerator, symbol) if p and not (p == 1 and symbol))
        sign = "-" if coefficient < 0 else "+"
        pieces.append((sign, above if size.denominator == 1 else f"{above}/{size.denominator}"))
    (sign, first), *others = pieces
    return "".join([sign.strip("+") + first, *(f" {sign} {text}" for sign, text in others)])
