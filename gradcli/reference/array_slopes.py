"""What flows through one operation on whole arrays, forward or back: its slopes, and which operand a choice takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from gradcli.language.ops import Monoid
from gradcli.language.program.movement import axes_of
from gradcli.language.program.wengert import Line, Shape
from gradcli.reference.array_values import (
    MOST_FACTORS,
    NoSweepError,
    Values,
    compiled,
    decided,
    one_of,
    winners,
)
from gradcli.reference.bounds import (
    Bounds,
    Mask,
    add,
    bounded,
    exact,
    multiply,
    negative,
    unknown,
)
from gradcli.reference.rules import rule_of


@dataclass(frozen=True, slots=True)
class Flow:
    """An adjoint: its bounds, of shape (rows, *shape), and where something reaches it at all; elsewhere it is 0."""

    bounds: Bounds
    reached: Mask

    def mapped(self, change: Callable[[Any], Any]) -> Flow:
        """With the elements elsewhere."""
        return Flow(self.bounds.mapped(change), change(self.reached))

    def plus(self, other: Flow) -> Flow:
        """The sum of two."""
        return Flow(add(self.bounds, other.bounds), self.reached | other.reached)


class Slopes:
    """The slopes of the operations of a Program at its values."""

    def __init__(self, values: Values) -> None:
        self.known = values

    def scaled(self, line: Line, k: int, flow: Flow) -> Flow:
        """The adjoint times the slope by one operand, in the shape of the line."""
        call, shape = line.call, self.known.shapes[line.symbol]
        if call.op.coefficients:
            factor = call.op.coefficients[k]
            return flow if factor == 1 else Flow(multiply(flow.bounds, exact(float(factor))), flow.reached)
        operands = [self.known.of(a).spread(shape) for a in call.operands]
        if call.op.is_branch or call.op.is_extreme:
            taken, refused = self._choice(line, k, operands)
            known = taken | refused
            middle = np.where(taken, flow.bounds.middle, 0.0)
            lost = flow.reached & ~known
            return Flow(
                bounded(middle, np.where(lost, np.inf, np.where(taken, flow.bounds.radius, 0.0))),
                flow.reached & ~refused,
            )
        rule = rule_of(call)
        if rule.slopes[k] == 0:
            return self._of_step(rule, operands, flow)
        slope = self._slope(rule, k, operands, shape)
        through = multiply(flow.bounds, slope)
        nothing = exact(np.zeros_like(through.middle))
        return Flow(through.where(np.broadcast_to(flow.reached, through.middle.shape), nothing), flow.reached)

    def _of_step(self, rule: Any, operands: list[Bounds], flow: Flow) -> Flow:
        """Nothing flows through a step, but at its jumps nothing is known."""
        named = _named(rule, operands)
        lost = np.zeros(operands[0].middle.shape, dtype=bool)
        for distance in dict.fromkeys(d for own in rule.distances for d in own):
            lost |= ~_is_apart(compiled(distance)(named))
        radius = np.where(flow.reached & lost, np.inf, 0.0)
        return Flow(bounded(np.zeros_like(radius), radius), flow.reached & lost)

    def _slope(self, rule: Any, k: int, operands: list[Bounds], shape: Shape) -> Bounds:
        named = _named(rule, operands)
        slope = compiled(rule.slopes[k])(named).spread(shape)
        for distance in rule.distances[k]:
            apart = np.broadcast_to(_is_apart(compiled(distance)(named)), shape)
            slope = slope.where(apart, unknown(slope.middle))
        return slope

    def _choice(self, line: Line, k: int, operands: list[Bounds]) -> tuple[Mask, Mask]:
        """Where a choice certainly takes operand k, and where it certainly does not."""
        op = line.call.op
        if op.is_branch:
            first, second = decided(operands[0])
            nothing = np.zeros_like(first)
            if k == 0:
                return nothing, ~nothing
            if line.call.operands[1] == line.call.operands[2]:  # whichever it is: all by one of them
                return (~nothing, nothing) if k == 1 else (nothing, ~nothing)
            return (first, second) if k == 1 else (second, first)
        a, b = operands if k == 0 else reversed(operands)
        if line.call.operands[0] == line.call.operands[1]:
            everywhere = np.ones_like(a.middle, dtype=bool)
            return (everywhere, ~everywhere) if k == 0 else (~everywhere, everywhere)
        is_larger, is_less = a.low > b.high, a.high < b.low
        return (is_larger, is_less) if op.monoid is Monoid.LARGEST else (is_less, is_larger)

    def folded(self, line: Line, flow: Flow) -> Flow:
        """What flows by each element of a fold, times the slope of the fold by that."""
        operand = self.known.of(line.call.operands[0])
        axes = axes_of(operand.middle.shape, line.call.statics[0])
        bounds, reached = flow.bounds, flow.reached
        match line.call.op.folds_by:
            case Monoid.SUM:
                return flow
            case Monoid.LARGEST | Monoid.SMALLEST as fold:
                won, lost = winners(operand if fold is Monoid.LARGEST else negative(operand), axes)
                tied = reached & ~(won | lost)
                radius = np.where(tied, np.inf, np.where(won, bounds.radius, 0.0))
                return Flow(bounded(np.where(won, bounds.middle, 0.0), radius), reached & ~lost)
            case Monoid.PRODUCT:
                return Flow(multiply(bounds, self._others(operand, axes).mapped(lambda x: x[None])), reached)
        raise NoSweepError

    def _others(self, a: Bounds, axes: tuple[int, ...]) -> Bounds:
        """For each factor the product of the others."""
        front, count = self.known.in_front(a, axes)
        if count > MOST_FACTORS:
            raise NoSweepError
        one = exact(np.ones(front.middle.shape[1:]))
        before, after = [one], [one]
        for n in range(count - 1):
            before.append(multiply(before[-1], one_of(front, n)))
            after.append(multiply(after[-1], one_of(front, count - 1 - n)))
        found = [multiply(b, c) for b, c in zip(before, reversed(after), strict=True)]
        rest = [d for d in range(a.middle.ndim) if d not in axes]
        order = np.argsort([*axes, *rest])
        own = (*(a.middle.shape[d] for d in axes), *(a.middle.shape[d] for d in rest))
        whole = Bounds(np.stack([f.middle for f in found]), np.stack([f.radius for f in found]))
        return whole.mapped(lambda x: np.transpose(x.reshape(own), order))


def _named(rule: Any, operands: Sequence[Bounds]) -> dict[sympy.Symbol, Bounds]:
    return {p: operand for p, operand in zip(rule.parameters, operands, strict=True) if p is not None}


def _is_apart(distance: Bounds) -> Mask:
    """Where a distance is certainly not 0."""
    return np.asarray((distance.low > 0) | (distance.high < 0))
