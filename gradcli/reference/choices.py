"""Operations that take the tangent of one of their operands: `where`, `maximum`, `minimum`, `amax`, `amin`.

What is not taken adds nothing, whatever it is.  Where two meet, the function is smooth if their tangents are the same:
for f = g at a point, max(f, g) has a derivative there exactly if f' = g'.

A tangent of None is that of a value that does not move at all near the point, as behind a `floor` between its jumps:
no kink, jump or infinite slope matters to it.  A tangent of 0 says less, as x**2 has at 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from flint import arb

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.reference.balls import Ball
from gradcli.reference.rules import Outcome, Undefined

Tangent = Outcome | None


def is_choice(op: Op) -> bool:
    """Whether an elementwise operation takes one of its operands."""
    return op.kind is Kind.ELEMENTWISE and (op.is_branch or op.is_extreme)


def plus(a: Tangent, b: Tangent) -> Tangent:
    """The sum of two tangents; a kink, which a slope of 0 undoes, hides nothing that it does not undo."""
    if isinstance(a, Undefined) and isinstance(b, Undefined):
        return a if b.kind == "kink" else b
    if a is None or isinstance(b, Undefined):
        return b
    return a if b is None or isinstance(a, Undefined) else a + b


def times(a: Tangent, b: Outcome | None) -> Tangent:
    """The product of a tangent and a slope, None for 1.

    An exact zero undoes a kink on either side: |x|**2 is smooth at 0, and |g| is where g and its derivative are 0, as
    the slopes of a kink are bounded.  A jump or an infinite slope is not undone.
    """
    if b is None:
        return a
    if a is None:
        return b if isinstance(b, Undefined) and b.kind == "domain" else None
    if isinstance(a, Undefined) and isinstance(b, Undefined):
        return b if a.kind == "kink" else a
    if isinstance(a, Undefined):
        return arb(0) if a.kind == "kink" and not isinstance(b, Undefined) and b == 0 else a
    if isinstance(b, Undefined):
        return arb(0) if b.kind == "kink" and a == 0 else b
    return a * b


def flat(a: Tangent, b: Outcome) -> Tangent:
    """The product with the slope of a step: behind it nothing moves, but where it or its operand jumps."""
    if isinstance(a, Undefined) and a.kind != "kink":
        return a
    return times(a, b) if isinstance(b, Undefined) else None


def absolute(a: Tangent, slope: Outcome | None) -> Tangent:
    """The tangent of an absolute value on one side: from 0 it can only grow."""
    is_at_zero = isinstance(slope, Undefined) and slope.kind == "kink" and slope.decided
    return times(a, slope) if not is_at_zero or a is None or isinstance(a, Undefined) else abs(a)


def branch(condition: Outcome, first: Outcome, second: Outcome) -> Outcome:
    """The value of the branch that is taken, whatever the other one is."""
    if isinstance(condition, Undefined):
        return condition
    if condition in (0, 1):
        return first if condition == 1 else second
    if isinstance(first, Undefined):
        return Undefined(first.kind, first.reason, False)
    if isinstance(second, Undefined):
        return Undefined(second.kind, second.reason, False)
    return first.union(second)


def branch_tangent(operands: tuple[Outcome, ...], entering: Sequence[Tangent], shown: str) -> Tangent:
    """The tangent of the branch that is taken; where the condition changes, that of both if they agree."""
    condition, first, second = operands
    change, of_first, of_second = entering
    if isinstance(condition, Undefined):
        return condition
    if isinstance(change, Undefined) and change.after is not None and condition in (0, 1):
        return _branch_behind(condition == 1, change.after, (first, second), (of_first, of_second), shown)
    if not isinstance(change, Undefined) and condition in (0, 1):
        return of_first if condition == 1 else of_second
    if isinstance(change, Undefined) and change.kind not in ("jump", "kink"):
        return change
    is_decided = isinstance(change, Undefined) and change.decided
    missing = next((o for o in (first, second, of_first, of_second) if isinstance(o, Undefined)), None)
    if missing is not None:
        # a branch without a value at this very point may have a limit, as sin(x)/x has at 0
        is_decided = is_decided and missing.decided and missing.kind != "domain"
        return Undefined("jump", f"{shown} changes its branch here: {missing.reason}", is_decided)
    return _where_branches_meet((first, second), (of_first, of_second), shown, is_decided=is_decided)


def _branch_behind(
    now: bool, after: bool, values: tuple[Outcome, Outcome], tangents: tuple[Tangent, Tangent], shown: str
) -> Tangent:
    """The tangent of the branch that is taken just behind the point, if that goes on from the value at the point."""
    here, there = (values[0 if taken else 1] for taken in (now, after))
    if isinstance(there, Undefined) or isinstance(here, Undefined):
        return there if isinstance(there, Undefined) else here
    if here == there:
        return tangents[0 if after else 1]
    return Undefined("jump", f"{shown} jumps here", bool(here != there))


def change_of(sense: Sequence[int], now: bool, tangents: tuple[Tangent, Tangent], missing: Undefined) -> Tangent:
    """What becomes of a comparison of two equal numbers behind the point: what it is there, if it changes."""
    first, second = (arb(0) if tangent is None else tangent for tangent in tangents)
    if isinstance(first, Undefined) or isinstance(second, Undefined):
        return missing
    step = first - second
    if not (step > 0 or step < 0):
        return missing
    after = (1 if step > 0 else -1) in sense
    return None if after == now else replace(missing, after=after)


def _where_branches_meet(
    values: tuple[Ball, Ball], tangents: tuple[Ball | None, Ball | None], shown: str, *, is_decided: bool
) -> Tangent:
    """The tangent where two branches meet: their common one, or that it is undefined at a kink or a jump."""
    first, second = values
    of_first, of_second = (arb(0) if tangent is None else tangent for tangent in tangents)
    if first == second and of_first == of_second:
        return tangents[0] if tangents[1] is None else tangents[1]
    is_decided = is_decided and (bool(first != second) or (bool(first == second) and bool(of_first != of_second)))
    if first.overlaps(second):
        reason = f"{shown} has a kink here: its branches meet with different slopes"
        return Undefined("kink", reason, is_decided)
    return Undefined("jump", f"{shown} jumps here", is_decided)


def jump_of(tangents: Iterable[Tangent]) -> Undefined | None:
    """A jump of an operand of an extreme, or an edge of its domain, where all slopes are infinite or on one side.

    Also what is not taken at the point may be taken behind it, or have no value there, and then the extreme has none.
    """
    found = [t for t in tangents if isinstance(t, Undefined) and t.kind in ("jump", "slope")]
    return Undefined(found[0].kind, found[0].reason, False) if found else None


def slope_of_choice(op: Op, k: int, operands: Sequence[Outcome]) -> Outcome:
    """1 for the operand that is taken, 0 for the other and for a condition."""
    if op.is_branch:
        condition = operands[0]
        if k == 0 or isinstance(condition, Undefined):
            return arb(0) if k == 0 else condition
        if condition in (0, 1):
            return arb(int(condition == (1 if k == 1 else 0)))
        return Undefined("jump", "it cannot be told which branch is taken", False)
    missing = next((operand for operand in operands if isinstance(operand, Undefined)), None)
    return missing or Extreme(list(operands), largest=op.monoid is Monoid.LARGEST).slope(k)


class Extreme:
    """Which of some values may be the largest (or smallest), and which certainly are."""

    def __init__(self, values: Sequence[Ball], *, largest: bool, forms: Sequence[Hashable] | None = None) -> None:
        self.largest = largest
        own = [value if largest else -value for value in values]
        best = own[0]
        for value in own[1:]:
            best = best.max(value)
        self.possible = [n for n, value in enumerate(own) if not value < best]
        same = range(len(own)) if forms is None else forms  # what has the same form is certainly the same number
        self.certain = {n for n in self.possible if all(own[n] >= own[k] or same[n] == same[k] for k in self.possible)}

    def slope(self, n: int) -> Outcome:
        """Whether value n is the extreme; of a tie there is no slope."""
        if n not in self.possible:
            return arb(0)
        return arb(1) if len(self.possible) == 1 else Undefined("kink", "they tie", False)

    def tangent(self, of: Sequence[Tangent], reason: str, *, is_one_sided: bool = False) -> Tangent:
        """The tangent of the extreme from those of its possible places, in their order; a kink where they differ.

        On one side of the point, what grows fastest from a tie becomes the extreme.
        """
        known = dict(zip(self.possible, of, strict=True))
        if len(known) == 1 or all(tangent is None for tangent in known.values()):
            return of[0]
        undefined = [tangent for tangent in known.values() if isinstance(tangent, Undefined)]
        if undefined:
            missing = next((one for one in undefined if one.kind != "kink"), undefined[0])
            return Undefined(missing.kind, f"{reason}, and there {missing.reason}", False)
        balls = {n: arb(0) if tangent is None else tangent for n, tangent in known.items()}
        first = balls[self.possible[0]]
        if all(ball == first for ball in balls.values()):
            return first
        tied: list[Ball] = [ball for n, ball in balls.items() if n in self.certain]
        if is_one_sided and len(tied) == len(balls):
            best = tied[0]
            for ball in tied[1:]:
                best = best.max(ball) if self.largest else best.min(ball)
            return best
        return Undefined("kink", reason, any(bool(ball != tied[0]) for ball in tied))
