"""Convexity by composition: lines of a Program of numbers that are convex, concave or affine in a box.

A function of convex functions is convex where it is convex itself, and rises with each of them.  Second slopes tell
where an operation is convex on the range of its operands, first slopes where it rises.  What is singular, as the
Hessian of log(exp(x) + exp(y)) is, or has kinks, is told here alone.
Source: S. Boyd, L. Vandenberghe, "Convex Optimization", 2004, section 3.2.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Flag

import numpy as np

from gradcli.language.program.wengert import Atom, Line
from gradcli.parts.everywhere.box_kinds import BROKEN
from gradcli.parts.everywhere.intervals import Interval, unknown
from gradcli.parts.everywhere.jets import Evaluator, Jet, variable
from gradcli.parts.everywhere.moving_box import MovingBox


class Curving(Flag):
    """How a value curves: affine is both."""

    NONE = 0
    CONVEX = 1
    CONCAVE = 2
    AFFINE = 3


JOINTLY_CONVEX = frozenset(["maximum", "hypot", "logaddexp"])
"""Operations of two numbers that are convex in both together; the minimum is concave."""


def curving(box: MovingBox) -> Curving:
    """Tell whether y is convex or concave in a box, by the rules of composition."""
    function = box.function
    if not function.is_of_numbers:
        return Curving.NONE
    sides = Interval(box.low[:, None], box.high[:, None])
    known: dict[Atom, Jet] = {**function.constants}
    known |= {symbol: variable(sides.row(n), n) for n, symbol in enumerate(function.program.moving)}
    found: dict[Atom, Curving] = dict.fromkeys(function.program.moving, Curving.AFFINE)
    with np.errstate(all="ignore"):
        for line in function.lines:
            operands = [function.jet_of(known, a) for a in line.call.operands]
            known[line.symbol] = function.jet_of_line(line, operands)
            found[line.symbol] = _of_line(function, line, operands, found)
    (output,) = function.outputs
    whole = function.jet_of(known, output)
    is_whole = bool((whole.kinds & BROKEN == 0).all())
    return found.get(output, Curving.AFFINE) if is_whole else Curving.NONE


def _of_line(function: Evaluator, line: Line, operands: Sequence[Jet], known: Mapping[Atom, Curving]) -> Curving:
    call = line.call
    inside = [known.get(a, Curving.AFFINE) for a in call.operands]
    if not any(one.slopes for one in operands):
        return Curving.AFFINE
    name = call.op.name
    if name in ("add", "neg", "sub") or (name == "mul" and not all(one.slopes for one in operands)):
        own = Curving.AFFINE
    elif name in JOINTLY_CONVEX:
        own = Curving.CONVEX
    elif name == "minimum":
        own = Curving.CONCAVE
    elif len(set(call.operands)) == 1 or sum(bool(one.slopes) for one in operands) == 1:
        own = _own_curving(function, line, operands)
    else:
        return Curving.NONE
    slopes = _own_slopes(function, line, operands)
    found = Curving.NONE
    for kind in (Curving.CONVEX, Curving.CONCAVE):
        if kind & own and all(_passes(kind, one, slope) for one, slope in zip(inside, slopes, strict=True)):
            found |= kind
    return found


def _passes(kind: Curving, operand: Curving, slope: Interval) -> bool:
    """Tell whether an operand keeps an operation convex (or concave) that is so itself."""
    if operand == Curving.AFFINE:
        return True
    other = Curving.CONCAVE if kind == Curving.CONVEX else Curving.CONVEX
    rises, falls = bool((slope.low >= 0).all()), bool((slope.high <= 0).all())
    return (rises and bool(kind & operand)) or (falls and bool(other & operand))


def _alone(function: Evaluator, line: Line, operands: Sequence[Jet]) -> tuple[Jet, dict[Atom, int]]:
    """Evaluate a line as a function of its own operands."""
    places: dict[Atom, int] = {}
    for a, one in zip(line.call.operands, operands, strict=True):
        if one.slopes:
            places.setdefault(a, len(places))
    own = [
        variable(one.value, places[a]) if a in places else one
        for a, one in zip(line.call.operands, operands, strict=True)
    ]
    return function.jet_of_line(line, own), places


def _own_slopes(function: Evaluator, line: Line, operands: Sequence[Jet]) -> list[Interval]:
    jet, places = _alone(function, line, operands)
    return [jet.slope(places[a]) if a in places else jet.slope(-1) for a in line.call.operands]


def _own_curving(function: Evaluator, line: Line, operands: Sequence[Jet]) -> Curving:
    """Tell how an operation of one number curves on the range of that number."""
    if line.call.op.name == "abs":
        return Curving.CONVEX
    jet, _ = _alone(function, line, operands)
    second = jet.second_slope(0, 0) if bool(jet.is_smooth.all()) else unknown()
    found = Curving.CONVEX if bool((second.low >= 0).all()) else Curving.NONE
    return found | (Curving.CONCAVE if bool((second.high <= 0).all()) else Curving.NONE)
