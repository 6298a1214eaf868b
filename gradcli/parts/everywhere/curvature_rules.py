"""Convexity by composition: lines of a Program that are convex, concave or affine in a box, or whose logarithm is.

A function of convex functions is convex where it is convex itself, and rises with each of them.  Second slopes tell
where an operation is convex on the range of its operands, first slopes where it rises.  Logarithms of exponentials,
of products, quotients and powers are told by theirs; a sum of numbers with convex logarithms has one too, by Hölder's
inequality.  Powers over powers are told by the perspective.  What is singular, as the Hessian of log(exp(x) + exp(y))
is, or has kinks, is told here alone.  A value that is made of one number, as x*log(x) and x where x > 0, else x/100, is
one operation on that number.
Of an array, all elements are told together.
Source: S. Boyd, L. Vandenberghe, "Convex Optimization", 2004, sections 3.2.4 and 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Flag
from functools import reduce
from operator import and_

import numpy as np

from gradcli.arrays import Array
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.wengert import Atom, Line, needed
from gradcli.parts.everywhere.box_kinds import BROKEN
from gradcli.parts.everywhere.intervals import Interval, logarithm, unknown
from gradcli.parts.everywhere.jets import Evaluator, Jet, variable
from gradcli.parts.everywhere.moving_box import MovingBox
from gradcli.parts.everywhere.one_number import Bend, bend_of
from gradcli.parts.everywhere.scalars import is_length
from gradcli.parts.everywhere.wholes import whole_of


class Curving(Flag):
    """How a value curves: affine is both."""

    NONE = 0
    CONVEX = 1
    CONCAVE = 2
    AFFINE = 3


@dataclass(frozen=True)
class Curved:
    """How a line curves.

    Attributes:
        own: How it curves itself.
        log: How its logarithm does, where it is nowhere negative; that of 0 is -inf.
        convex_root: The largest known p >= 1 for which the p-th root of its size is convex, where it has one sign; 0 of
            none.
        concave_root: The least known q for which its q-th root is concave, where it is positive; inf of none.
    """

    own: Curving
    log: Curving = Curving.NONE
    convex_root: float = 0.0
    concave_root: float = math.inf


JOINTLY_CONVEX = frozenset(["maximum", "hypot", "logaddexp"])
"""Operations of two numbers that are convex in both together; the minimum is concave."""


def curving(box: MovingBox) -> Curving:
    """Tell whether y is convex or concave in a box, by the rules of composition."""
    return curving_of(box.function, box.low, box.high)


def curving_of(function: Evaluator, low: Array, high: Array) -> Curving:
    """Tell whether a function is convex or concave between the ends of its variables."""
    sides = Interval(low[:, None], high[:, None])
    known = function.known(function.seeds(sides), is_second=True)
    found: dict[Atom, Curved] = {}
    single = _OfOneNumber(function, known, found)
    with np.errstate(all="ignore"):
        for line in function.lines:
            operands = function.operands_of(line, known)
            inside = [_of_operand(a, one, found) for a, one in zip(line.call.operands, operands, strict=True)]
            curved = _with_roots(_of_line(function, line, operands, inside), line, operands, inside)
            if single.follow(line) and not curved.own:
                curved = replace(curved, own=single.own(line))
            found[line.symbol] = _with_other(curved, known[line.symbol])
    (output,) = function.outputs
    whole = function.jet_of(known, output)
    is_whole = bool((whole.kinds & BROKEN == 0).all())
    return _of_operand(output, whole, found).own if is_whole else Curving.NONE


MOST_LINES, MOST_NUMBERS = 600, 8
"""Most lines of a function whose values are looked at as functions of one number, and most such numbers of one."""


class _OfOneNumber:
    """Values that are made of one number, each by operations on elements, and how they curve by that.

    Args:
        function: The function.
        known: The jets of its values in the whole box.
        found: How the values before this one curve; it is added to.
    """

    def __init__(self, function: Evaluator, known: Mapping[Atom, Jet], found: Mapping[Atom, Curved]) -> None:
        self.function, self.known, self.found = function, known, found
        self.constants = {
            a: float(one.value.low.item()) for a, one in function.constants.items() if one.value.low.size == 1
        }
        self.numbers: dict[Atom, tuple[Atom, ...]] = {}
        self.bends: dict[object, Bend | None] = {}

    def follow(self, line: Line) -> bool:
        """Note the numbers that a value is made of alone, the nearest first; tell whether there are some."""
        if len(self.function.lines) > MOST_LINES:
            return False
        moving = [a for a in line.call.operands if a in self.numbers or self._is_variable(a)]
        if not moving:
            return False
        common = [self.numbers.get(a, (a,)) for a in moving] if self._is_plain(line) else []
        shared = [a for a in common[0] if all(a in one for one in common[1:])] if common else []
        self.numbers[line.symbol] = (line.symbol, *shared)[:MOST_NUMBERS]
        return bool(shared)

    def _is_variable(self, atom: Atom) -> bool:
        """Tell whether it is a variable that moves; of lines, `numbers` tells."""
        return atom in self.known and atom not in self.found and bool(self.known[atom].slopes)

    def _is_plain(self, line: Line) -> bool:
        """Tell whether a value is made by an operation on elements, with numbers that stand in no array."""
        is_elementwise = line.call.op.kind is Kind.ELEMENTWISE or whole_of(line.call) is not None
        return is_elementwise and all(a in self.known or a.is_number for a in line.call.operands)

    def own(self, line: Line) -> Curving:
        """Tell how a value curves by the nearest number that is affine, else by the nearest that curves one way."""
        of = [(a, self.found.get(a, Curved(Curving.AFFINE)).own) for a in self.numbers[line.symbol][1:]]
        chosen = next((one for one in of if one[1] == Curving.AFFINE), next((one for one in of if one[1]), None))
        bend = None if chosen is None else self._bend(line, chosen[0])
        if chosen is None or bend is None:
            return Curving.NONE
        own = Curving(int(bend.is_convex) + 2 * int(bend.is_concave))
        return _kept(own, [chosen[1]], [bend.slopes])

    def _bend(self, line: Line, of: Atom) -> Bend | None:
        lines = needed([one for one in self.function.lines if one.symbol != of], line.symbol)
        held = {a: self.constants.get(a) for one in lines for a in one.call.operands if a in self.function.constants}
        if None in held.values():
            return None
        value = self.known[of].value
        low, high = float(value.low.min()), float(value.high.max())
        order = {of: "u", **{one.symbol: f"l{n}" for n, one in enumerate(lines)}}
        calls = [
            (one.call.op.name, one.call.statics, *(order.get(a, held.get(a, a)) for a in one.call.operands))
            for one in lines
        ]
        key = (*calls, low, high)
        if key not in self.bends:
            constants = {a: number for a, number in held.items() if number is not None}
            self.bends[key] = bend_of(lines, line.symbol, of, constants, low, high)
        return self.bends[key]


def _of_operand(atom: Atom, jet: Jet, known: Mapping[Atom, Curved]) -> Curved:
    """Return what is known of a line, a variable or a number."""
    return known[atom] if atom in known else _with_other(Curved(Curving.AFFINE), jet)


def _with_other(found: Curved, jet: Jet) -> Curved:
    """Conclude from the number to its logarithm, which is concave where the number is, and back."""
    if (jet.value.high <= 0).all() and jet.slopes:
        return Curved(found.own, convex_root=max(found.convex_root, float(bool(found.own & Curving.CONCAVE))))
    if not (jet.value.low >= 0).all():
        return Curved(found.own)
    log = Curving.AFFINE if not jet.slopes else found.log | (found.own & Curving.CONCAVE)
    own = found.own | (log & Curving.CONVEX)
    convex_root = math.inf if log & Curving.CONVEX else max(found.convex_root, float(bool(own & Curving.CONVEX)))
    concave_root = min(found.concave_root, 1.0) if own & Curving.CONCAVE else found.concave_root
    concave_root = concave_root if jet.slopes else 0.0
    is_positive = bool((jet.value.low > 0).all())
    return Curved(own, log, convex_root, concave_root if is_positive else math.inf)


def _of_line(function: Evaluator, line: Line, operands: Sequence[Jet], inside: Sequence[Curved]) -> Curved:
    call = line.call
    if not any(one.slopes for one in operands):
        return Curved(Curving.AFFINE)
    if call.op.kind is Kind.ELEMENTWISE or whole_of(call) is not None:
        own = _of_elements(function, line, operands, inside)
        log = inside[0].log if call.op.name == "log" else Curving.NONE
        return Curved(own | log, _log_of_elements(call.op.name, operands, inside))
    match call.op.kind:
        case Kind.MOVEMENT | Kind.LIST:
            return Curved(reduce(and_, (one.own for one in inside)), reduce(and_, (one.log for one in inside)))
        case Kind.REDUCTION | Kind.SCAN:
            return _folded(call.op.folds_by, inside[0])
        case Kind.CONTRACTION:
            return _multiplied(operands, inside)
    if is_length(call):
        return Curved(_kept(Curving.CONVEX, [inside[0].own], [operands[0].value]))  # it rises where this is positive
    return Curved(Curving.NONE)


def _of_elements(function: Evaluator, line: Line, operands: Sequence[Jet], inside: Sequence[Curved]) -> Curving:
    """Tell how an elementwise operation curves."""
    call, name = line.call, line.call.op.name
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
    return _kept(own, [one.own for one in inside], _own_slopes(function, line, operands))


def _log_of_elements(name: str, operands: Sequence[Jet], inside: Sequence[Curved]) -> Curving:
    """Tell how the logarithm of an elementwise operation curves, where its operands are nowhere negative."""
    first, *others = [one.log for one in inside]
    match name:
        case "exp":
            return inside[0].own
        case "sigmoid":  # whose logarithm is concave, and rises
            return inside[0].own & Curving.CONCAVE
        case "add" | "maximum":
            return _of_sum([first, *others])
        case "minimum":
            return reduce(and_, others, first & Curving.CONCAVE)
        case "mul":
            return reduce(and_, others, first)
        case "div":
            return first & _opposite(others[0])
        case "sqrt" | "abs":
            return first
        case "pow":
            base, exponent = operands
            if not exponent.slopes:
                return _times(first, exponent.value)
            if not base.slopes and (base.value.low > 0).all():
                return _times(inside[1].own, logarithm(base.value))
    return Curving.NONE


def _with_roots(found: Curved, line: Line, operands: Sequence[Jet], inside: Sequence[Curved]) -> Curved:
    """Add the roots of a line: s**p/t**q is convex where s is convex, t concave and positive, and p >= q + 1.

    That is the perspective of a power, as x**2/y is; sums of p-th powers have a convex p-th root, which is a norm.
    """
    call = line.call
    powers, concave = [one.convex_root for one in inside], [one.concave_root for one in inside]
    signs = {1 if (one.value.low >= 0).all() else -1 if (one.value.high <= 0).all() else 0 for one in operands}
    match call.op.name, call.op.kind:
        case (("mul" | "dot" | "square"), _) if len(set(call.operands)) == 1:
            return replace(found, convex_root=2 * _size_root(operands[0], inside[0]))
        case "sqrt", _:
            return _with_roots_of_power(found, 0.5, operands[0], inside[0])
        case "pow", _ if not operands[1].slopes:
            low, high = float(operands[1].value.low.min()), float(operands[1].value.high.max())
            return _with_roots_of_power(found, low, operands[0], inside[0]) if low == high else found
        case "neg", _:
            return replace(found, convex_root=powers[0])
        case "mul", _:
            fixed = [n for n, one in enumerate(operands) if not one.slopes]
            return replace(found, convex_root=powers[1 - fixed[0]] if fixed else 0.0, concave_root=sum(concave))
        case "div", _ if math.isfinite(concave[1]) and powers[0] >= concave[1] + 1:
            is_positive = bool((operands[0].value.low >= 0).all())
            return replace(found, own=found.own | (Curving.CONVEX if is_positive else Curving.CONCAVE))
        case "add", _ if signs in ({1}, {-1}):
            return replace(found, convex_root=min(powers))
        case "maximum", _ if signs == {1}:
            return replace(found, convex_root=min(powers))
        case _, (Kind.MOVEMENT | Kind.LIST):
            return replace(found, convex_root=min(powers), concave_root=max(concave))
        case _, (Kind.REDUCTION | Kind.SCAN) if call.op.folds_by is Monoid.SUM and signs in ({1}, {-1}):
            return replace(found, convex_root=powers[0])
    return found


def _with_roots_of_power(found: Curved, exponent: float, base: Jet, inside: Curved) -> Curved:
    """Add the roots of a power with an exponent that is a number."""
    if not exponent > 0:
        return found
    size = _size_root(base, inside) if exponent % 2 == 0 else inside.convex_root
    convex = exponent * size
    return replace(found, convex_root=convex if convex >= 1 else 0.0, concave_root=exponent * inside.concave_root)


def _size_root(operand: Jet, inside: Curved) -> float:
    """Return the largest known p for which the p-th root of the size of a number is convex."""
    if inside.own == Curving.AFFINE or (inside.own & Curving.CONCAVE and (operand.value.high <= 0).all()):
        return max(inside.convex_root, 1.0)
    return inside.convex_root


def _of_sum(logs: Sequence[Curving]) -> Curving:
    """Tell how the logarithm of a sum curves, or of a maximum: it is convex where all are."""
    return reduce(and_, logs, Curving.CONVEX)


def _opposite(curving: Curving) -> Curving:
    """Tell how the opposite number curves."""
    found = Curving.CONCAVE if curving & Curving.CONVEX else Curving.NONE
    return found | (Curving.CONVEX if curving & Curving.CONCAVE else Curving.NONE)


def _times(curving: Curving, factor: Interval) -> Curving:
    """Tell how a product with a number curves, of which an interval is known."""
    if (factor.low >= 0).all():
        return curving
    return _opposite(curving) if (factor.high <= 0).all() else curving & _opposite(curving)


def _folded(fold: Monoid, inside: Curved) -> Curved:
    """Tell how a sum, product, maximum or minimum of elements curves, or all those of the first ones."""
    match fold:
        case Monoid.SUM:
            return Curved(inside.own, _of_sum([inside.log]))
        case Monoid.LARGEST:
            return Curved(inside.own & Curving.CONVEX, _of_sum([inside.log]))
        case Monoid.SMALLEST:
            return Curved(inside.own & Curving.CONCAVE, inside.log & Curving.CONCAVE)
        case Monoid.PRODUCT:
            return Curved(Curving.NONE, inside.log)


def _multiplied(operands: Sequence[Jet], inside: Sequence[Curved]) -> Curved:
    """Tell how a product of matrices curves: sums of products, where one matrix does not move or all are positive."""
    log = _of_sum([one.log for one in inside])
    moving = [n for n, one in enumerate(operands) if one.slopes]
    if len(moving) == 2:
        return Curved(Curving.NONE, log)
    return Curved(_times(inside[moving[0]].own, operands[1 - moving[0]].value), log)


def _kept(own: Curving, inside: Sequence[Curving], slopes: Sequence[Interval]) -> Curving:
    """Tell how an operation curves on its operands, by how it curves itself and where it rises."""
    found = Curving.NONE
    for kind in (Curving.CONVEX, Curving.CONCAVE):
        if kind & own and all(_passes(kind, one, slope) for one, slope in zip(inside, slopes, strict=True)):
            found |= kind
    return found


def _passes(kind: Curving, operand: Curving, slope: Interval) -> bool:
    """Tell whether an operand keeps an operation convex (or concave) that is so itself."""
    if operand == Curving.AFFINE:
        return True
    rises, falls = bool((slope.low >= 0).all()), bool((slope.high <= 0).all())
    return (rises and bool(kind & operand)) or (falls and bool(kind & _opposite(operand)))


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
