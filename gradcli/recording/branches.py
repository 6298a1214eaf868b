"""The branches that Python took while a function ran: which, and whether their conditions are at a boundary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from flint import arb

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.crosscheck.boundaries import BITS, Boundary, with_boundaries
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
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import OverBudgetError
from gradcli.results import Check

if TYPE_CHECKING:
    from gradcli.recording.recorded import Recorded

_COMPARISONS = frozenset("lt le gt ge eq ne less less_equal greater greater_equal not_equal".split())

_NEGATIONS = frozenset("invert logical_not bitwise_not".split())

_KEEP_ORDER = frozenset(
    "and or any all logical_and logical_or bitwise_and bitwise_or __getitem__ reshape view flatten squeeze unsqueeze "
    "expand".split()
)
"""What gives no less truth if it is given no less."""

NEAR = 1e-6
"""Relative difference of two floats below which balls are asked whether they are one number."""


def remarks(recorder: Recorder, text: Written) -> Iterator[str]:
    """Which branches were taken, each condition of a line once."""
    for said in dict.fromkeys(_said(guard, text) for guard in recorder.guards):
        yield f"{said}; the answer is of that branch"


def _said(guard: Guard, text: Written) -> str:
    condition = text.texts[guard.ref.number]
    return f"the branch {condition if guard.holds else f'not ({condition})'} was taken{_at(guard)}"


def _at(guard: Guard) -> str:
    return "" if guard.where is None else f" ({guard.where})"


def at_boundaries(recorded: Recorded, check: Check, wrt: Sequence[str]) -> Check:
    """A check with a kink for each condition, or mask, that the least step in some variables decides otherwise."""
    return with_boundaries(check, recorded.value, boundaries(recorded, wrt))


def boundaries(recorded: Recorded, wrt: Sequence[str]) -> Iterator[Boundary]:
    """What to say of each condition, or mask, that the least step in some variables decides otherwise."""
    for guard, changes in _conditions(recorded):
        if _variables(recorded, guard.ref).isdisjoint(wrt):
            continue
        text, condition = recorded.written, recorded.written.texts.get(guard.ref.number)
        if condition is None:
            text = written(recorded.recorder, guard.ref)
            condition = guard.shown or text.text.splitlines()[-1].partition(" = ")[2]
        note = f"beside the point, {condition} decides otherwise{_at(guard)}, and {changes}"
        try:
            if _is_at_boundary(recorded, guard, text):
                yield "kink", note
        except OverBudgetError:
            yield "unchecked", f"it could not be told whether, {note}"


def _conditions(recorded: Recorded) -> Iterator[tuple[Guard, str]]:
    yield from ((guard, "another branch is taken") for guard in recorded.recorder.guards)
    yield from ((mask, "other elements are taken") for mask in dict.fromkeys(recorded.recorder.masks))


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


def _is_at_boundary(recorded: Recorded, guard: Guard, text: Written) -> bool:
    """Whether a condition is another one if comparisons of equal numbers turn out otherwise."""
    with suppress(GradcliError):
        least, most = _ends(recorded, guard.ref, text)
        return not torch.equal(least, most)
    return False


def _ends(recorded: Recorded, ref: Ref, text: Written) -> tuple[Tensor, Tensor]:
    """A condition where comparisons of equal numbers are all false, and all true."""
    step = recorded.recorder.values[ref.number]
    if not isinstance(step, Step) or step.value.dtype is not torch.bool:
        return (step.value, step.value)
    name, inputs = last(step.path), list(within((step.arguments, dict(step.keywords)), Ref))
    if name in _COMPARISONS and len(step.arguments) == 2:
        is_open = _undecided(recorded, step, text)
        return step.value & ~is_open, step.value | is_open
    ends = {one: _ends(recorded, one, text) for one in inputs}
    if name in _NEGATIONS and len(inputs) == 1:
        least, most = ends[inputs[0]]
        return ~most, ~least
    if (name in _KEEP_ORDER or name == "getitem") and step.part is None:
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


def _undecided(recorded: Recorded, step: Step, text: Written) -> Tensor:
    """Where both sides of a comparison are the same number, as far as enclosures can tell."""
    values = recorded.recorder.values
    if step.arguments[0] == step.arguments[1]:  # as `x == x`, which finds NaN
        return torch.zeros_like(step.value)
    a, b = (values[one.number].value if isinstance(one, Ref) else torch.tensor(one) for one in step.arguments)
    a, b = a.double(), b.double()
    is_open = torch.zeros_like(step.value)
    if not bool(((a - b).abs() <= NEAR * torch.maximum(a.abs(), b.abs())).any()):
        return is_open
    first, second = (text.texts[one.number] if isinstance(one, Ref) else repr(one) for one in step.arguments)
    known = {leaf.name: numbers_of(leaf.value) for _, leaf in recorded.recorder.leaves()}
    shapes = {name: array.shape for name, array in known.items()}
    program = read(f"{text.text}\n({first}) - ({second})", given=frozenset(shapes), shapes=shapes).program
    inputs = {name: known[name] for name in program.names}
    point = Point.of(program, infer(program, {symbol: shapes[str(symbol)] for symbol in program.variables}), inputs)
    found = Reference(point.program, point.shapes, point.inputs).plan([]).run(BITS)
    with precision(BITS):
        for flat, ball in found.values.items():
            is_open.view(-1)[flat] = isinstance(ball, arb) and bool(ball.contains(0))
    return is_open
