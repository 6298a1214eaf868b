"""What a box may hold: kinks, jumps, poles, edges of a domain; and what one operation may have on its operands."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from functools import reduce

import numpy as np
import numpy.typing as npt

from gradcli.language.program.wengert import Atom, Call
from gradcli.parts.everywhere.interval_functions import compile_interval
from gradcli.parts.everywhere.intervals import Interval, add, point
from gradcli.reference.bounds import Mask
from gradcli.reference.rules import Rule

Kinds = npt.NDArray[np.int64]


class BoxKind(IntFlag):
    """What a box may hold."""

    KINK = 1
    JUMP = 2
    POLE = 4
    EDGE = 8
    OUTSIDE = 16
    OVERFLOW = 32


BROKEN = int(BoxKind.JUMP | BoxKind.POLE | BoxKind.EDGE | BoxKind.OUTSIDE)
"""What a function is not continuous at, or has no value."""

ROUGH = BROKEN | int(BoxKind.KINK)
"""What it has no derivative at."""


def kinds_of(call: Call, rule: Rule, inside: Sequence[Interval], value: Interval) -> Kinds:
    """Find what an operation itself may hold on its operands."""
    environment = rule.environment(inside)
    found = np.zeros(value.low.shape, np.int64)
    for kink in rule.kinks:
        found = found | compile_interval(kink)(environment).has_zero * int(
            BoxKind.JUMP if rule.is_step else BoxKind.KINK
        )
    is_bounded = reduce(np.logical_and, (one.is_bounded for one in inside), np.asarray(True))
    for low, is_open in domain_of(call, inside):
        is_outside = ((low.high <= 0) if is_open else (low.high < 0)) & ~_may_be_whole(call, inside)
        found = found | np.where(is_outside, int(BoxKind.OUTSIDE), (low.low <= 0) * int(BoxKind.EDGE))
    if call.op.name == "atan2":  # of one operand twice, the rule has no kinks
        y, x = inside
        found = found | ~((x.low > 0) | (y.low > 0) | (y.high < 0)) * int(BoxKind.JUMP | BoxKind.EDGE)
    poles = _poles(call, inside, value)
    found = found | (poles & is_bounded) * int(BoxKind.POLE)
    is_missing = value.is_unknown & is_bounded & (found == 0)
    found = found | is_missing * int(BoxKind.POLE)
    is_over = ~value.is_bounded & is_bounded & (found & BROKEN == 0)
    return np.asarray(found | is_over * int(BoxKind.OVERFLOW))


def _may_be_whole(call: Call, inside: Sequence[Interval]) -> Mask:
    """Tell where an exponent that moves may be whole, of which negative numbers have powers."""
    if call.op.name != "pow":
        return np.asarray(False)
    return np.asarray(np.floor(inside[1].high) >= inside[1].low)


def _poles(call: Call, inside: Sequence[Interval], value: Interval) -> Mask:
    """Tell where an operation may have a pole."""
    divisor = divisor_of(call)
    if divisor is not None:
        return inside[call.operands.index(divisor)].has_zero
    return np.asarray(~value.is_bounded if call.op.name == "tan" else False)


def divisor_of(call: Call) -> Atom | None:
    """Return what an operation divides by, if it does."""
    match call.op.name:
        case "div":
            return call.operands[1]
        case "pow" if _is_whole(call.operands[1]) and call.operands[1] < 0:
            return call.operands[0]
    return None


def _is_whole(atom: Atom) -> bool:
    return bool(atom.is_number and (atom.is_Integer or (atom.is_Float and float(atom).is_integer())))


def domain_of(call: Call, inside: Sequence[Interval]) -> list[tuple[Interval, bool]]:
    """List what is to be positive, and whether 0 is outside of the domain."""
    one = point(1.0)
    match call.op.name:
        case "log":
            return [(inside[0], True)]
        case "sqrt":
            return [(inside[0], False)]
        case "asin" | "acos":
            return [(add(one, inside[0]), False), (add(one, -inside[0]), False)]
        case "atanh" | "erfinv":
            return [(add(one, inside[0]), True), (add(one, -inside[0]), True)]
        case "acosh":
            return [(add(inside[0], -one), False)]
        case "pow" if not _is_whole(call.operands[1]):
            return [(inside[0], False)]
        case "zeta":
            return [(add(inside[0], -one), True)]
        case "gammaincc":
            return [(inside[0], True), (inside[1], False)]
    return []
