"""Series for parts of a function near a number, where they are a difference or quotient of values that vanish there.

`where(abs(u) < 1/8, u/3 + u**3/45, 1/z - 1/tan(z))` with `z = where(abs(u) < 1/8, 1/8, u)`, which keeps the branch that
is not taken away from 0.  The remainder of the series is enclosed for all u in reach, for the part and for its
derivative, and is below the rounding of both: so the two are one function to float64, though not beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import sympy
from flint import arb, fmpq

from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import definition
from gradcli.language.program.wengert import Atom, Call, needed
from gradcli.parts.improve.forms import Edit, Form, FormWriter
from gradcli.parts.improve.matching import exact
from gradcli.reference.deadline import require_time
from gradcli.reference.power_series import NoSeriesError, PowerSeries, combined, has_rule, series_precision
from gradcli.results import Array

RADII = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 32), Fraction(1, 128), Fraction(1, 1024))
"""Half-widths of the intervals around 0 on which a series is tried; around another number they are scaled by it."""

CIRCLES = (Fraction(2), Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 16), Fraction(1, 64), Fraction(1, 256))
"""Radii of circles on which a function is enclosed, to bound the remainder of a series inside; on the same scale."""

MOST_EXPANSION_TERMS = 8
"""Most terms of a series that is written down."""

ERROR = arb(2) ** -54
"""Largest relative error of a series and of its derivative: half of a rounding."""

LARGEST = 2**53
"""Bound of the whole numbers in coefficients."""

MOST_PARTS = 8
"""Most parts of one function that are looked at, the outermost first."""

MOST_OPERATIONS = 60
"""Most operations of such a part."""

MOST_POINTS = 4
"""Most values of a variable at which a part may be 0/0."""


@dataclass(frozen=True, slots=True)
class _Series:
    """The terms of a series in u - center: coefficients by power, on an interval, and whether the part is 0/0 there."""

    center: Fraction
    radius: Fraction
    terms: tuple[tuple[int, Fraction], ...]
    is_singular: bool

    @property
    def distance(self) -> str:
        """The distance of u from the center, as text."""
        sign = "-" if self.center > 0 else "+"
        return f"u {sign} {abs(self.center)}" if self.center else "u"

    @property
    def text(self) -> str:
        """The terms, as text.

        >>> zero, one = Fraction(0), Fraction(1)
        >>> _Series(zero, one, ((0, Fraction(-1, 2)), (1, one), (4, Fraction(-3, 40))), False).text
        '-1/2 + u - 3*u**4/40'
        >>> _Series(one / 2, one, ((1, 2 * one),), False).text
        '2*(u - 1/2)'
        """
        u = sympy.Symbol(f"({self.distance})" if self.center else "u")
        return str(sympy.sstr(sympy.Add(*(sympy.Rational(c) * u**power for power, c in self.terms)), order="rev-lex"))


Known = dict[tuple[str, str], tuple[_Series, ...]]
"""The series of parts that were looked at, by their texts."""


def expansions(form: Form, known: Known | None = None) -> Iterator[Form]:
    """Yield the forms with one part in a series of the value in it, on larger and on smaller intervals.

    Args:
        form: The function.
        known: The series of parts of other forms, which is added to.

    >>> from gradcli.language.parsing import parse
    >>> [found.text for found in expansions(Form(parse("(1 - cos(x))/x")))][-1]
    'z = where(abs(x) < 1/1024, 1/1024, x); where(abs(x) < 1/1024, x/2 - x**3/24 + x**5/720, (1 - cos(z))/z)'
    """
    known = {} if known is None else known
    for atom, u in _parts(form):
        part, shown = form.text_of(atom), form.text_of(u)
        if (part, shown) not in known:
            known[part, shown] = tuple(_all(form, atom, u, Fraction(0)))
        for series in known[part, shown]:
            why = f"{part} cancels near {shown} = 0, where its series is taken: for abs({shown}) < {series.radius} "
            why += "what that leaves out is less than a rounding of value and derivative"
            found = form.rewritten({atom: _edit(form, atom, u, series)}, why)
            if found is not None:
                yield replace(found, basis=form.same)


def with_series(original: Form, inputs: Mapping[str, Array]) -> Form | None:
    """Put in a series for each part that is 0/0 at a value of its variable; None if no part is.

    Args:
        original: The function.
        inputs: Values of its variables.

    >>> from gradcli.language.parsing import parse
    >>> found = with_series(Form(parse("(x**2 - 1)/(x - 1)*y")), {"x": np.array(1.0), "y": np.array(2.0)})
    >>> found.text
    'z = where(abs(x - 1) < 1/2, 3/2, x); where(abs(x - 1) < 1/2, 2 + (x - 1), (z**2 - 1)/(z - 1))*y'
    """
    form = original
    for n in range(MOST_POINTS):
        reasons: list[str] = []
        edits: dict[Atom, Edit] = {}
        inside: set[Atom] = set()
        for atom, u in _parts(form):
            points = np.unique(inputs[str(u)].astype(np.float64)) if u in form.program.variables else np.zeros(1)
            if atom in inside or n >= len(points) or not np.isfinite(points[n]):
                continue
            series = [one for one in _all(form, atom, u, Fraction(float(points[n]))) if one.is_singular][-1:]
            for one in series:
                edits[atom] = _edit(form, atom, u, one)
                inside |= {line.symbol for line in needed(form.program.lines, atom)}
                reasons.append(
                    f"{form.text_of(atom)} is 0/0 at {form.text_of(u)} = {one.center}, and its series is taken"
                )
        form = (form.rewritten(edits, "; ".join(reasons)) if edits else None) or form
    return None if form is original else replace(form, basis=original)


def _parts(form: Form) -> Iterator[tuple[Atom, Atom]]:
    """Yield parts that may cancel, the outermost first, each with the value that it is made of."""
    parts = [atom for atom, call in reversed(form.nodes.items()) if call.op.adds_terms or call.op.guarded]
    for atom in parts[:MOST_PARTS]:
        u = _made_of(form, atom)
        if u is not None and not (u in form.nodes and form.nodes[u].op.is_branch):  # u is kept away from it already
            yield atom, u


def _made_of(form: Form, atom: Atom) -> Atom | None:
    """Find the one value that a part is made of, with constants, in two places or more; the largest such value."""
    lines = needed(form.program.lines, atom)
    orders = {symbol: n for n, symbol in enumerate([*form.program.variables, *form.nodes])}
    waiting = {a for a in form.nodes[atom].operands if a in orders}
    for _ in range(MOST_OPERATIONS):
        if not waiting:
            return None
        latest = max(waiting, key=orders.__getitem__)
        if len(waiting) == 1 and sum(line.call.operands.count(latest) for line in lines) > 1:
            return latest
        if latest not in form.nodes or form.nodes[latest].op.kind is not Kind.ELEMENTWISE:
            return None
        waiting |= {a for a in form.nodes[latest].operands if a in orders}
        waiting.discard(latest)
    return None


def _all(form: Form, atom: Atom, u: Atom, center: Fraction) -> Iterator[_Series]:
    """Yield the series of a part on smaller and smaller intervals, each of fewer terms than the one before."""
    fewest, scale = MOST_EXPANSION_TERMS + 1, Fraction(2) ** (math.frexp(center)[1] - 1 if center else 0)
    require_time()
    with series_precision():
        known = _known(form, atom, u, center, scale)
        found = [_series(known, form, atom, center, radius * scale) for radius in RADII] if known else []
    for series in found:
        if series is not None and len(series.terms) < fewest:
            fewest = len(series.terms)
            yield series


def _known(form: Form, atom: Atom, u: Atom, center: Fraction, scale: Fraction) -> Mapping[Atom, PowerSeries]:
    """Expand a part and the values in it in series on the largest circle on which they have some; empty if none."""
    for radius in CIRCLES:
        with suppress(NoSeriesError):
            return _on_circle(form, atom, u, center, _rational(radius * scale))
    return {}


def _series(
    known: Mapping[Atom, PowerSeries], form: Form, atom: Atom, center: Fraction, radius: Fraction
) -> _Series | None:
    """Cut a series to the terms that are enough on an interval; None if it takes too many."""
    value, reach = known[atom], _rational(radius)
    for terms in range(1, len(value.coefficients) if value.shift >= 0 and reach < value.radius else 0):
        if all(value.relative_error(terms, reach, order) <= ERROR for order in (0, 1)):
            coefficients = value.coefficients[:terms]
            found = [(value.shift + n, Fraction(int(c.p), int(c.q))) for n, c in enumerate(coefficients) if c != 0]
            divisors = [call.operands[1] for a, call in form.nodes.items() if a in known and call.op.name == "div"]
            is_singular = any(known[a].shift > 0 for a in divisors if a in known) or any(
                one.shift < 0 for one in known.values()
            )
            is_short = all(max(abs(c.numerator), c.denominator) < LARGEST for _, c in found)
            return _Series(center, radius, tuple(found), is_singular) if is_short else None
    return None


def _rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _on_circle(form: Form, atom: Atom, u: Atom, center: Fraction, radius: fmpq) -> dict[Atom, PowerSeries]:
    """Expand a part and the values in it as functions of u - center.

    Raises:
        NoSeriesError: There is an operation without a series, or none on this circle.
    """
    identity = PowerSeries.identity(radius)
    known = {u: identity + PowerSeries.constant(_rational(center), radius) if center else identity}
    _expand(atom, form.nodes, known, radius)
    return known


def _expand(one: Atom, nodes: Mapping[Atom, Call], known: dict[Atom, PowerSeries], radius: fmpq) -> PowerSeries:
    """Expand a value, and what it is made of, in series, which are noted.

    Raises:
        NoSeriesError: There is an operation without a series, or none on this circle.
    """
    if one not in known:
        value, call = exact(one), nodes.get(one)
        if value is not None:
            known[one] = PowerSeries.constant(_rational(value), radius)
        elif call is None:
            raise NoSeriesError
        elif call.op.name == "pow" and (exponent := exact(call.operands[1])) and exponent.denominator == 1:
            known[one] = _expand(call.operands[0], nodes, known, radius).power(int(exponent))
        elif call.op.name == "pow" and exact(call.operands[1]) == Fraction(1, 2):
            known[one] = combined("sqrt", [_expand(call.operands[0], nodes, known, radius)])
        else:
            known[one] = _applied(call, [_expand(operand, nodes, known, radius) for operand in call.operands], radius)
    return known[one]


def _applied(call: Call, operands: list[PowerSeries], radius: fmpq) -> PowerSeries:
    """Apply an operation to series: by its rule, or by what it is defined as, `coth(x)` as `1/tanh(x)`.

    Raises:
        NoSeriesError: The result has none, or there is no rule.
    """
    if call.op.is_primitive or call.op.kind is not Kind.ELEMENTWISE or has_rule(call.op.name):
        return combined(call.op.name, operands)
    try:
        meaning = definition(call.op.name, call.statics, len(operands))
    except GradcliError as error:  # it depends on shapes
        raise NoSeriesError from error
    inside = dict(zip(meaning.variables, operands, strict=True))
    return _expand(meaning.output, {line.symbol: line.call for line in meaning.lines}, inside, radius)


def _edit(form: Form, atom: Atom, u: Atom, series: _Series) -> Edit:
    """Make the edit that writes a part in series where u is near the center, and as it is elsewhere."""

    def write(writer: FormWriter) -> Atom:
        near = f"abs({series.distance}) < {series.radius}"
        kept = f"z = where({near}, {series.center + series.radius}, u)"
        inside = {**writer.values, u: writer.fill(kept, {"u": u})}
        own = {line.symbol for line in needed(form.program.lines, u)}
        writer.copy([line for line in needed(form.program.lines, atom) if line.symbol not in own], inside)
        small = writer.fill(series.text, {"u": u})
        return writer.fill(f"where({near}, s, w)", {"u": u, "s": small, "w": inside[atom]})

    return write
