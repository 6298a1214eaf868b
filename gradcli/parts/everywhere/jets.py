"""A Program of numbers on boxes: bounds of values, slopes and second slopes, and what each box may hold.

A jet is a value with its derivatives by the variables that move, each an interval; a derivative that is missing is 0.
Slopes are those of points that have one, and at kinks all between those of both sides, so that a function without a
jump changes by no more than they say.  Where a kink may be, the second slopes are unknown, so that no form of second
order spans it; where a value may jump or be missing, the jet says so.
Source: A. Griewank, A. Walther, "Evaluating Derivatives", 2008, chapter 13; for generalised slopes, F. Clarke,
"Optimization and Nonsmooth Analysis", 1983, theorem 2.3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations_with_replacement

import numpy as np
import sympy

from gradcli.language.program.wengert import Atom, Call, Line, needed
from gradcli.parts.everywhere.box_kinds import BROKEN, ROUGH, BoxKind, Kinds, kinds_of
from gradcli.parts.everywhere.box_sets import AT_ONCE
from gradcli.parts.everywhere.interval_functions import compile_interval
from gradcli.parts.everywhere.intervals import (
    Interval,
    absolute,
    add,
    chosen,
    compared,
    hull,
    larger,
    multiply,
    point,
    smaller,
    unknown,
    whole_power,
)
from gradcli.parts.everywhere.joining_choices import has_row_rule, joins
from gradcli.parts.everywhere.scalars import ScalarProgram
from gradcli.parts.everywhere.wholes import whole_of
from gradcli.reference.bounds import Mask
from gradcli.reference.deadline import require_time
from gradcli.reference.rules import Rule, rule_of, second_slope

_NOTHING: Kinds = np.zeros((), np.int64)

Second = Mapping[tuple[int, int], Interval]


@dataclass(frozen=True)
class Jet:
    """Bounds of a value and its derivatives.

    Attributes:
        value: The value.
        slopes: The derivatives by the variables, by their places.
        second: The second derivatives, by two places, the first not after the second; None if not asked for.
        kinds: What each box may hold, as bits of `BoxKind`.
    """

    value: Interval
    slopes: Mapping[int, Interval]
    second: Second | None
    kinds: Kinds

    @property
    def is_continuous(self) -> Mask:
        """Mask of the boxes in which it has values everywhere, without a jump."""
        return np.asarray((self.kinds & BROKEN) == 0)

    @property
    def is_smooth(self) -> Mask:
        """Mask of the boxes in which it has a derivative everywhere."""
        return np.asarray((self.kinds & ROUGH) == 0)

    def slope(self, place: int) -> Interval:
        """Return the derivative by a variable."""
        return self.slopes.get(place, point(0.0))

    def second_slope(self, i: int, j: int) -> Interval:
        """Return a second derivative."""
        return (self.second or {}).get((min(i, j), max(i, j)), point(0.0))


def constant(value: Interval, *, is_second: bool = True) -> Jet:
    """Make the jet of a number that does not move."""
    return Jet(value, {}, {} if is_second else None, _NOTHING)


def variable(value: Interval, place: int, *, is_second: bool = True) -> Jet:
    """Make the jet of a variable."""
    return Jet(value, {place: point(1.0)}, {} if is_second else None, _NOTHING)


class Evaluator:
    """Evaluator of some lines of a Program of numbers.

    Args:
        program: The Program.
        outputs: The values that are asked for; by default the elements of y.

    Raises:
        NoRuleError: An operation has no rule.
    """

    is_of_numbers = True
    """Whether each line is a number."""

    at_once = AT_ONCE
    """Boxes to evaluate at once."""

    def __init__(self, program: ScalarProgram, outputs: Sequence[Atom] | None = None) -> None:
        self.program = program
        self.outputs = tuple(program.outputs.ravel()) if outputs is None else tuple(outputs)
        self.lines = needed(program.lines, *self.outputs)
        self.constants = {symbol: constant(point(number)) for symbol, number in program.constants.items()}
        self.continuous = {line.symbol for line in self.lines if joins(line, self.lines, program.constants)}
        self.rules = {line.symbol: rule_of(line.call) for line in self.lines if has_row_rule(line.call)}
        for rule in self.rules.values():
            _ = compile_interval(rule.expression)

    def run(self, boxes: Interval, *, is_second: bool = True) -> list[Jet]:
        """Evaluate on boxes, of shape (variables, boxes)."""
        return self.of_jets(self.seeds(boxes, is_second=is_second), is_second=is_second)

    def seeds(self, boxes: Interval, *, is_second: bool = True) -> dict[Atom, Jet]:
        """Return the jets of the variables on boxes."""
        return {s: variable(boxes.row(n), n, is_second=is_second) for n, s in enumerate(self.program.moving)}

    def of_jets(self, seeds: Mapping[Atom, Jet], *, is_second: bool) -> list[Jet]:
        """Evaluate on jets of the variables."""
        known = self.known(seeds, is_second=is_second)
        return [self.jet_of(known, a) for a in self.outputs]

    def known(self, seeds: Mapping[Atom, Jet], *, is_second: bool) -> dict[Atom, Jet]:
        """Evaluate all lines on jets of the variables."""
        known: dict[Atom, Jet] = {**self.constants, **seeds}
        with np.errstate(all="ignore"):
            for line in self.lines:
                require_time()
                known[line.symbol] = self.computed(line, known, is_second=is_second)
        return known

    def operands_of(self, line: Line, known: Mapping[Atom, Jet]) -> list[Jet]:
        """Return what a line is computed of."""
        return [self.jet_of(known, a) for a in line.call.operands]

    def computed(self, line: Line, known: Mapping[Atom, Jet], *, is_second: bool) -> Jet:
        """Compute a line."""
        return self.jet_of_line(line, self.operands_of(line, known), is_second=is_second)

    def values(self, boxes: Interval) -> list[Interval]:
        """Evaluate values alone."""
        seeds = {s: constant(boxes.row(n)) for n, s in enumerate(self.program.moving)}
        return [jet.value for jet in self.of_jets(seeds, is_second=False)]

    @staticmethod
    def jet_of(known: Mapping[Atom, Jet], atom: Atom) -> Jet:
        """Return the jet of a line, a variable or a number."""
        if atom in known:
            return known[atom]
        found = constant(compile_interval(atom)({}))
        if atom.is_finite is False or atom is sympy.nan:  # there is no number to compute with
            kind = BoxKind.OUTSIDE if atom is sympy.nan else BoxKind.EDGE
            return Jet(found.value, {}, {}, np.asarray(int(kind)))
        return found

    def jet_of_line(self, line: Line, operands: Sequence[Jet], *, is_second: bool = True) -> Jet:
        """Apply the operation of a line to jets."""
        call = line.call
        inside = [one.value for one in operands]
        if call.op.sense:
            return _compared(call, operands)
        if call.op.is_branch:
            return _branch(operands, is_continuous=line.symbol in self.continuous, is_second=is_second)
        if call.op.is_extreme and call.operands[0] != call.operands[1]:
            return _extreme(call, operands, is_second=is_second)
        whole = whole_of(call)
        if whole is not None:
            kinks = _NOTHING if whole.has_kink is None else whole.has_kink(*inside) * int(BoxKind.KINK)
            parts = _Operation(
                whole.value(*inside),
                [lambda s=s: s(*inside) for s in whole.slopes],  # type: ignore[misc]
                {k: (lambda s=s: s(*inside)) for k, s in whole.second.items()},  # type: ignore[misc]
                np.asarray(kinks),
            )
            return _through(parts, operands, is_second=is_second)
        if call.op.name == "abs":
            return _absolute(operands[0], is_second=is_second)
        if call.op.name == "mul" and call.operands[0] == call.operands[1]:
            return _squared(operands[0], is_second=is_second)
        parts = _by_rule(call, self.rules[line.symbol], inside)
        if call.op.name == "mul":
            operands = _next_to_zero(*operands)
        return _through(parts, operands, is_second=is_second)


@dataclass(frozen=True)
class _Operation:
    """An operation on boxes: its value, its slopes and second slopes where they are needed, and what it may hold."""

    value: Interval
    slopes: Sequence[Callable[[], Interval] | None]
    second: Mapping[tuple[int, int], Callable[[], Interval]]
    kinds: Kinds


def _by_rule(call: Call, rule: Rule, inside: Sequence[Interval]) -> _Operation:
    """Take value, slopes and second slopes from the rule that the operation has for balls."""
    environment = rule.environment(inside)
    value = compile_interval(rule.expression)(environment)
    count, is_flat = len(rule.slopes), rule.is_step and rule.is_flat
    second = {
        (k, m): (lambda e=e: compile_interval(e)(environment))
        for k, m in combinations_with_replacement(range(count), 2)
        if not is_flat and (e := second_slope(rule, k, m)) != 0
    }
    slopes = [
        None if is_flat or s is None or s == 0 else (lambda s=s: compile_interval(s)(environment)) for s in rule.slopes
    ]
    return _Operation(value, slopes, second, kinds_of(call, rule, inside, value))


# -- how derivatives pass


def _plus(a: Interval | None, b: Interval) -> Interval:
    return b if a is None else add(a, b)


def _times(a: Interval, b: Interval) -> Interval:
    """Multiply; by 1 nothing is rounded."""
    if _is_one(a) or _is_one(b):
        return b if _is_one(a) else a
    return multiply(a, b)


def _is_one(a: Interval) -> bool:
    return a.low is a.high and not a.low.ndim and bool(a.low == 1)


def _next_to_zero(a: Jet, b: Jet) -> tuple[Jet, Jet]:
    """Drop kinks and jumps of a factor where the other one is 0 with its slopes: what is bounded times o(h) is o(h).

    Of what is dropped none is needed for the slopes of the product, which are 0 as well.
    """

    def beside(one: Jet, other: Jet) -> Jet:
        is_zero = other.value.is_zero & other.is_continuous
        is_flat = reduce(np.logical_and, (slope.is_zero for slope in other.slopes.values()), is_zero)
        dropped = (is_flat & one.value.is_bounded) * int(BoxKind.KINK | BoxKind.JUMP)
        return replace(one, kinds=np.asarray(one.kinds & ~dropped)) if np.any(dropped) else one

    return beside(a, b), beside(b, a)


def _through(parts: _Operation, operands: Sequence[Jet], *, is_second: bool) -> Jet:
    """Apply the chain rule to an operation on jets."""
    kinds = reduce(np.bitwise_or, (one.kinds for one in operands), parts.kinds)
    moving = [k for k, one in enumerate(operands) if one.slopes and k < len(parts.slopes) and parts.slopes[k]]
    own = {k: slope() for k in moving if (slope := parts.slopes[k]) is not None}
    slopes: dict[int, Interval] = {}
    for k in moving:
        for i, inner in operands[k].slopes.items():
            slopes[i] = _plus(slopes.get(i), _times(own[k], inner))
    if not is_second:
        return Jet(parts.value, slopes, None, kinds)
    second: dict[tuple[int, int], Interval] = {}
    for k in moving:
        for pair, curved in (operands[k].second or {}).items():
            second[pair] = _plus(second.get(pair), _times(own[k], curved))
    for (k, m), compute in parts.second.items():
        if k in moving and m in moving:
            _add_curvature(second, compute(), operands[k].slopes, operands[m].slopes, is_same=k == m)
    return Jet(parts.value, slopes, _without_kinks(second, slopes, parts.kinds), kinds)


def _add_curvature(
    second: dict[tuple[int, int], Interval],
    curvature: Interval,
    first: Mapping[int, Interval],
    other: Mapping[int, Interval],
    *,
    is_same: bool,
) -> None:
    """Add the second slope of an operation by two operands, times the slopes of these."""
    for i, j in combinations_with_replacement(sorted({*first, *other}), 2):
        if is_same:
            is_square = i == j and not _is_one(first[i])
            term = whole_power(first[i], 2) if is_square else _times(first[i], first[j])
        else:
            terms = [
                _times(a[p], b[q]) for a, b, p, q in ((first, other, i, j), (first, other, j, i)) if p in a and q in b
            ]
            if not terms:
                continue
            term = reduce(add, terms)
        second[i, j] = _plus(second.get((i, j)), _times(curvature, term))


def _without_kinks(
    second: Mapping[tuple[int, int], Interval], slopes: Mapping[int, Interval], kinds: Kinds
) -> Mapping[tuple[int, int], Interval]:
    """Leave second slopes unknown where a kink or a jump may be."""
    is_rough = (kinds & ROUGH) != 0
    if not is_rough.any():
        return second
    pairs = combinations_with_replacement(sorted(slopes), 2)
    return {pair: unknown().where(is_rough, second.get(pair, point(0.0))) for pair in pairs}


def _squared(a: Jet, *, is_second: bool) -> Jet:
    double = multiply(point(2.0), a.value)
    parts = _Operation(whole_power(a.value, 2), [lambda: double], {(0, 0): lambda: point(2.0)}, _NOTHING)
    return _through(parts, [a], is_second=is_second)


def _absolute(a: Jet, *, is_second: bool) -> Jet:
    """Take the absolute value, whose slope at 0 is any from -1 to 1."""
    sign = Interval(np.where(a.value.low > 0, 1.0, -1.0), np.where(a.value.high < 0, -1.0, 1.0))
    parts = _Operation(absolute(a.value), [lambda: sign], {}, np.asarray(a.value.has_zero * int(BoxKind.KINK)))
    return _through(parts, [a], is_second=is_second)


def _compared(call: Call, operands: Sequence[Jet]) -> Jet:
    """Compare: the result jumps where the two may be equal and one of them moves."""
    a, b = operands
    found = compared(a.value, b.value, call.op.sense)
    lost = int(BoxKind.KINK | BoxKind.JUMP)
    with_infinity = lost | int(BoxKind.EDGE)  # which numbers may be compared with
    kinds = a.kinds & ~(lost if a.slopes else with_infinity) | b.kinds & ~(lost if b.slopes else with_infinity)
    if call.operands[0] == call.operands[1]:
        return Jet(point(float(0 in call.op.sense)), {}, {}, kinds)
    may_be_equal = (a.value.low <= b.value.high) & (b.value.low <= a.value.high)
    is_undecided = np.asarray(found.low != found.high)
    is_moving = bool(a.slopes or b.slopes) or bool(((a.kinds | b.kinds) & int(BoxKind.JUMP)).any())
    changes = (may_be_equal | is_undecided) if is_moving else np.asarray(False)
    return Jet(found, {}, {}, np.asarray(kinds | changes * int(BoxKind.JUMP)))


def _branch(operands: Sequence[Jet], *, is_continuous: bool, is_second: bool) -> Jet:
    """Choose between two jets; where the condition changes, between their slopes too."""
    condition, first, second = operands
    holds, fails = condition.value.low > 0, condition.value.high < 1
    changes = (condition.kinds & int(BoxKind.JUMP)) != 0
    value = chosen(condition.value, first.value, second.value)
    own = condition.kinds & ~int(BoxKind.JUMP) | changes * int(BoxKind.KINK if is_continuous else BoxKind.JUMP)
    first_kinds, second_kinds = (np.where(changes, _in_part(one.kinds), one.kinds) for one in (first, second))
    taken = np.where(fails & ~changes, 0, first_kinds) | np.where(holds & ~changes, 0, second_kinds)
    return _either(value, holds, fails, changes, (first, second), np.asarray(own | taken), is_second=is_second)


def _in_part(kinds: Kinds) -> Kinds:
    """Return what a box may hold of which a part alone is taken: what is nowhere defined may end there."""
    is_outside = (kinds & int(BoxKind.OUTSIDE)) != 0
    return np.where(is_outside, kinds & ~int(BoxKind.OUTSIDE) | int(BoxKind.EDGE), kinds)


def _extreme(call: Call, operands: Sequence[Jet], *, is_second: bool) -> Jet:
    """Take the larger or the smaller of two jets, with a kink where they may be equal."""
    a, b = operands
    is_largest = call.op.name == "maximum"
    value = (larger if is_largest else smaller)(a.value, b.value)
    first_is_larger, second_is_larger = a.value.low > b.value.high, b.value.low > a.value.high
    holds, fails = (first_is_larger, second_is_larger) if is_largest else (second_is_larger, first_is_larger)
    changes = ~(holds | fails)
    of_slopes = int(BoxKind.KINK | BoxKind.JUMP)  # what is not taken must have a value all the same
    lost = np.where(fails, a.kinds & ~of_slopes, a.kinds) | np.where(holds, b.kinds & ~of_slopes, b.kinds)
    kinds = lost | changes * int(BoxKind.KINK)
    return _either(value, holds, fails, changes, (a, b), np.asarray(kinds), is_second=is_second)


def _either(
    value: Interval,
    holds: Mask,
    fails: Mask,
    changes: Mask,
    parts: tuple[Jet, Jet],
    kinds: Kinds,
    *,
    is_second: bool,
) -> Jet:
    """Join the derivatives of two jets: those of the first where a condition holds, of both where it changes."""
    first, second = parts
    holds, fails = holds & ~changes, fails & ~changes
    slopes = {
        i: _either_of(holds, fails, first.slope(i), second.slope(i)) for i in sorted({*first.slopes, *second.slopes})
    }
    if not is_second:
        return Jet(value, slopes, None, kinds)
    pairs = sorted({*(first.second or {}), *(second.second or {})})
    curved = {p: _either_of(holds, fails, first.second_slope(*p), second.second_slope(*p)) for p in pairs}
    return Jet(value, slopes, _without_kinks(curved, slopes, np.asarray(changes * int(BoxKind.KINK))), kinds)


def _either_of(holds: Mask, fails: Mask, a: Interval, b: Interval) -> Interval:
    return a.where(holds, b.where(fails, hull(a, b)))
