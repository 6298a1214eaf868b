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
    one_of,
    winners,
)
from gradcli.reference.bounds import (
    Bounds,
    Mask,
    add,
    bounded,
    decided,
    exact,
    inverse,
    multiply,
    negative,
    stacked,
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

    def times(self, slope: Bounds) -> Flow:
        """The product with slopes, where it is not 0 anyway."""
        bounds = multiply(self.bounds, slope)
        reached = np.broadcast_to(self.reached, bounds.middle.shape)
        return Flow(bounds.where(reached, exact(np.zeros_like(bounds.middle))), reached)


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
        return flow.times(self._slope(rule, k, operands, shape))

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

    def scanned_back(self, line: Line, flow: Flow, axis: int) -> Flow:
        """The adjoint of what a scan runs along: step by step from the end, y[k] = f(y[k - 1], x[k])."""
        steps = self._steps(line, axis)
        entering = [_at(flow, axis, n) for n in range(flow.reached.shape[axis + 1])]
        found: list[Flow] = []
        for own, before in reversed(steps):
            whole = entering.pop()
            found.append(_through(whole, own))
            entering[-1] = entering[-1].plus(_through(whole, before))
        return _joined([*entering, *reversed(found)], flow, axis)

    def scanned_on(self, line: Line, flow: Flow, axis: int) -> Flow:
        """The tangent of a scan: step by step from the start."""
        parts = [_at(flow, axis, n) for n in range(flow.reached.shape[axis + 1])]
        for n, (own, before) in enumerate(self._steps(line, axis), 1):
            parts[n] = _through(parts[n - 1], before).plus(_through(parts[n], own))
        return _joined(parts, flow, axis)

    def _steps(self, line: Line, axis: int) -> list[tuple[_Slope, _Slope]]:
        """The slopes of each step of a scan but the first: by its own element, and by the result before it."""
        operand, result = (
            self.known.of(a).mapped(lambda x: np.moveaxis(x, axis, 0)) for a in (line.call.operands[0], line.symbol)
        )
        count, fold = len(operand.middle), line.call.op.folds_by
        if count > MOST_FACTORS:
            raise NoSweepError
        pairs = [(one_of(operand, n), one_of(result, n - 1)) for n in range(1, count)]
        match fold:
            case Monoid.PRODUCT:
                return [(_Slope(before), _Slope(own)) for own, before in pairs]
            case Monoid.LARGEST | Monoid.SMALLEST:
                found = []
                for own, before in pairs:
                    is_more, is_less = own.low > before.high, own.high < before.low
                    first, second = (is_more, is_less) if fold is Monoid.LARGEST else (is_less, is_more)
                    found.append((_taken(first, second), _taken(second, first)))
                return found
        raise NoSweepError

    def of_determinant(self, line: Line) -> Bounds:
        """The slopes of a determinant by the elements of its matrix, where that is certainly regular: Jacobi's formula.

        det(A)*inv(A), transposed.
        """
        turned = inverse(self.known.of(line.call.operands[0])).mapped(lambda x: np.swapaxes(x, -1, -2))
        return multiply(self.known.of(line.symbol).mapped(lambda x: np.asarray(x)[..., None, None]), turned)

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
        return stacked(found, 0).mapped(lambda x: np.transpose(x.reshape(own), order))


@dataclass(frozen=True, slots=True)
class _Slope:
    """The slopes of one step, and where nothing flows whatever comes."""

    bounds: Bounds
    refused: Mask | None = None


def _taken(is_taken: Mask, is_refused: Mask) -> _Slope:
    """1 where a choice certainly takes an operand, and unknown where that is open."""
    is_open = ~(is_taken | is_refused)
    return _Slope(bounded(np.where(is_taken, 1.0, 0.0), np.where(is_open, np.inf, 0.0)), is_refused)


def _through(flow: Flow, slope: _Slope) -> Flow:
    reached = flow.reached if slope.refused is None else flow.reached & ~slope.refused
    return Flow(flow.bounds, reached).times(slope.bounds)


def _at(flow: Flow, axis: int, n: int) -> Flow:
    """What is at a place of a dimension, behind that of the rows."""
    return flow.mapped(lambda x: np.take(x, n, axis + 1))


def _joined(parts: Sequence[Flow], flow: Flow, axis: int) -> Flow:
    if not parts:
        return flow
    return Flow(stacked([p.bounds for p in parts], axis + 1), np.stack([p.reached for p in parts], axis + 1))


def _named(rule: Any, operands: Sequence[Bounds]) -> dict[sympy.Symbol, Bounds]:
    return {p: operand for p, operand in zip(rule.parameters, operands, strict=True) if p is not None}


def _is_apart(distance: Bounds) -> Mask:
    """Where a distance is certainly not 0."""
    return np.asarray((distance.low > 0) | (distance.high < 0))
