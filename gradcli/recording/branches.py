"""The branches that Python took while a function ran: which, and whether their conditions are at a boundary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from flint import arb

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.crosscheck.boundaries import BITS, Boundary, boundary
from gradcli.crosscheck.point import Point
from gradcli.errors import GradcliError
from gradcli.language.program.shapes import infer
from gradcli.language.snippets import read
from gradcli.recording.call_kinds import called
from gradcli.recording.recorder import Recorder
from gradcli.recording.spelling import last
from gradcli.recording.values import Guard, Leaf, Ref, Step, numbers_of, replaced, within
from gradcli.recording.writing import Written, written
from gradcli.reference.balls import precision
from gradcli.reference.critical import Estimate, steps
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import OverBudgetError
from gradcli.results import Array

if TYPE_CHECKING:
    from gradcli.recording.recorded import Recorded

_COMPARISONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    **dict.fromkeys(("lt", "less"), lambda sign: sign < 0),
    **dict.fromkeys(("le", "less_equal"), lambda sign: sign <= 0),
    **dict.fromkeys(("gt", "greater"), lambda sign: sign > 0),
    **dict.fromkeys(("ge", "greater_equal"), lambda sign: sign >= 0),
    "eq": lambda sign: sign == 0,
    **dict.fromkeys(("ne", "not_equal"), lambda sign: sign != 0),
}
"""Whether each holds, by the sign of the difference of its sides."""

_NEGATIONS = frozenset("invert logical_not bitwise_not".split())

_KEEP_ORDER = frozenset(
    "and or any all logical_and logical_or bitwise_and bitwise_or __getitem__ reshape view flatten squeeze unsqueeze "
    "expand".split()
)
"""What gives no less truth if it is given no less."""

Ends = tuple[Tensor, Tensor]
"""A condition where comparisons of equal numbers are all false, and all true."""


def remarks(recorder: Recorder, text: Written) -> Iterator[str]:
    """Which branches were taken, each condition of a line once."""
    for said in dict.fromkeys(_said(guard, text) for guard in recorder.guards):
        yield f"{said}; the answer is of that branch"


def _said(guard: Guard, text: Written) -> str:
    condition = text.texts[guard.ref.number]
    return f"the branch {condition if guard.holds else f'not ({condition})'} was taken{_at(guard)}"


def _at(guard: Guard) -> str:
    return "" if guard.where is None else f" ({guard.where})"


def boundaries(recorded: Recorded, wrt: Sequence[str]) -> Iterator[Boundary]:
    """What to say of each condition, or mask, that the least step in some variables, or rounding, decides otherwise."""
    for text, decided, changes in _conditions(recorded):
        moving = [guard for guard in decided if not _variables(recorded, guard.ref).isdisjoint(wrt)]
        try:
            signs = _Signs(recorded, text, [guard.ref for guard in moving])
        except OverBudgetError:
            yield from (boundary("unchecked", _shown(guard, text), changes) for guard in moving)
            continue
        for guard in moving:
            least, most = signs.ends(guard.ref)
            if not torch.equal(least, most):
                yield boundary("kink", _shown(guard, text), changes)
            elif not torch.equal(least, recorded.recorder.values[guard.ref.number].value):
                yield boundary("inaccurate", _shown(guard, text), changes)


def _shown(guard: Guard, text: Written) -> str:
    shown = guard.shown or text.texts[guard.ref.number]
    return (shown if shown not in text.names.values() else text.text.splitlines()[-1].partition(" = ")[2]) + _at(guard)


def _conditions(recorded: Recorded) -> Iterator[tuple[Written, Sequence[Guard], str]]:
    """Texts, which conditions are in each, and what changes with them."""
    guards, masks = (list(dict.fromkeys(one)) for one in (recorded.recorder.guards, recorded.recorder.masks))
    if guards:
        yield recorded.written, guards, "another branch is taken"
    for mask in masks:
        yield written(recorded.recorder, mask.ref), [mask], "other elements are taken"


def _variables(recorded: Recorded, ref: Ref) -> set[str]:
    """The names of what a value is made of."""
    values, found, waiting = recorded.recorder.values, set[int](), [ref.number]
    while waiting:
        n = waiting.pop()
        value = values[n]
        if n not in found and isinstance(value, Step):
            waiting += [one.number for one in within((value.arguments, dict(value.keywords)), Ref)]
        found.add(n)
    return {value.name for value in (values[n] for n in found) if isinstance(value, Leaf)}


class _Signs:
    """The signs of the differences that conditions of one text compare: 0 where both sides are one number.

    Each is that of the floats where rounding cannot move it, by running error bounds; of the others balls tell.

    Raises:
        OverBudgetError: There is too much to compute.
    """

    def __init__(self, recorded: Recorded, text: Written, conditions: Sequence[Ref]) -> None:
        self.values = recorded.recorder.values
        dtype = getattr(torch, recorded.call.dtype)
        self.text, self.rounding = text, torch.finfo(dtype).eps / torch.finfo(torch.float64).eps
        leaves = {leaf.name: numbers_of(leaf.value) for _, leaf in recorded.recorder.leaves()}
        self._leaves, self._found = leaves, dict[int, Tensor]()
        compared = list(dict.fromkeys(number for one in conditions for number in self._compared(one)))
        if not self._add(compared):
            for number in compared:
                self._add([number])

    def ends(self, ref: Ref) -> Ends:
        """A condition where equal numbers are told apart, either way; what is not known is as it was."""
        step = self.values[ref.number]
        if not isinstance(step, Step) or step.value.dtype is not torch.bool:
            return step.value, step.value
        name, inputs = last(step.path), self._inputs(step)
        if ref.number in self._found:
            sign = self._found[ref.number].view(step.value.shape)
            holds = torch.where(sign.isnan(), step.value, _COMPARISONS[name](sign))
            return holds & (sign != 0), holds | (sign == 0)
        if name in _NEGATIONS and len(inputs) == 1:
            least, most = self.ends(inputs[0])
            return ~most, ~least
        if self._keeps_order(step):
            ends = {one: self.ends(one) for one in inputs}
            least, most = (
                called(
                    step.path,
                    replaced(step.arguments, Ref, {k: pair[n] for k, pair in ends.items()}.__getitem__),
                    step.keywords,
                )
                for n in range(2)
            )
            return least, most
        return step.value, step.value

    def _compared(self, ref: Ref) -> Iterator[int]:
        """The comparisons that a condition is made of."""
        step = self.values[ref.number]
        if isinstance(step, Step) and step.value.dtype is torch.bool:
            if last(step.path) in _COMPARISONS and len(step.arguments) == 2:
                if step.arguments[0] != step.arguments[1]:  # as `x == x`, which finds NaN
                    yield ref.number
            elif last(step.path) in _NEGATIONS or self._keeps_order(step):
                for one in self._inputs(step):
                    yield from self._compared(one)

    @staticmethod
    def _inputs(step: Step) -> list[Ref]:
        return list(within((step.arguments, dict(step.keywords)), Ref))

    @staticmethod
    def _keeps_order(step: Step) -> bool:
        name = last(step.path)
        return (name in _KEEP_ORDER or name == "getitem") and step.part is None

    def _add(self, compared: Sequence[int]) -> bool:
        """Compute the signs of some; whether the language reads them."""
        if not compared:
            return True
        shapes = {name: array.shape for name, array in self._leaves.items()}
        whole = f"{self.text.text}\ncat([{', '.join(map(self._difference, compared))}])"
        try:
            program = read(whole, given=frozenset(shapes), shapes=shapes).program
            known = infer(program, {symbol: shapes[str(symbol)] for symbol in program.variables})
        except GradcliError:
            return False
        point = Point.of(program, known, {name: self._leaves[name] for name in program.names})
        ends = np.cumsum([self.values[number].value.numel() for number in compared])
        parts = np.split(self._signs_of(point), ends[:-1])
        self._found |= zip(compared, map(torch.from_numpy, parts), strict=True)
        return True

    def _difference(self, number: int) -> str:
        arguments = cast("Step", self.values[number]).arguments
        first, second = (self.text.texts[one.number] if isinstance(one, Ref) else repr(one) for one in arguments)
        shape = tuple(self.values[number].value.shape)
        return f"(({first}) - ({second})){'' if shape else '.reshape(1)'}{'.reshape(-1)' if len(shape) > 1 else ''}"

    def _signs_of(self, point: Point) -> Array:
        """The sign of each element, which is NaN where it is not known."""
        *_, whole = steps(point.program, point.shapes, point.inputs)
        found = Estimate(np.full(1, np.nan)) if whole.result is None else whole.result
        error = 0.0 if found.error is None else found.error * self.rounding
        signs = np.where(np.abs(found.value) > error, np.sign(found.value), np.nan)
        signs = np.array(np.broadcast_to(signs, (1, *point.shapes[point.program.output]))).ravel()
        if np.isnan(signs).any():
            run = Reference(point.program, point.shapes, point.inputs).plan([]).run(BITS)
            with precision(BITS):
                for flat, ball in run.values.items():
                    if np.isnan(signs[flat]) and isinstance(ball, arb) and ball.is_finite():
                        signs[flat] = 0.0 if ball.contains(0) else float(ball.sgn())
        return signs
