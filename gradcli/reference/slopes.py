"""One-sided slopes of jets and their derivatives: which exist, and which are the same on both sides.

Knows no Program; `gradcli.reference.beside` says what moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from flint import fmpq

from gradcli.reference.exact_numbers import Number
from gradcli.reference.jets import Jet, Series, coefficient, derivative, is_zero, minus, scaled, sign_of
from gradcli.reference.rules import Undefined

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
