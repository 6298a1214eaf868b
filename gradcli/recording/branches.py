"""The branches that Python took while a function ran: which, and whether their conditions are at a boundary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from flint import arb

from gradcli.crosscheck.point import Point
from gradcli.crosscheck.summary import badness
from gradcli.errors import GradcliError
from gradcli.language.program.shapes import infer
from gradcli.language.snippets import read
from gradcli.recording.recorder import Recorder
from gradcli.recording.spelling import last
from gradcli.recording.values import Guard, Step
from gradcli.recording.writing import Written
from gradcli.reference.balls import precision
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import OverBudgetError
from gradcli.results import SEVERITY, Check, Entry

if TYPE_CHECKING:
    from gradcli.recording.recorded import Recorded

BITS = 512
"""Precision of what decides."""

_COMPARISONS = frozenset("lt le gt ge eq ne less less_equal greater greater_equal not_equal".split())


def remarks(recorder: Recorder, text: Written) -> Iterator[str]:
    """Which branches were taken, each condition of a line once."""
    for said in dict.fromkeys(_said(guard, text) for guard in recorder.guards):
        yield f"{said}; the answer is of that branch"


def _said(guard: Guard, text: Written) -> str:
    condition = text.texts[guard.ref.number]
    return f"the branch {condition if guard.holds else f'not ({condition})'} was taken{_at(guard)}"


def _at(guard: Guard) -> str:
    return "" if guard.where is None else f" ({guard.where})"


def at_boundaries(recorded: Recorded, check: Check) -> Check:
    """A check with a kink for each condition that the least step decides otherwise."""
    found = []
    y = float(recorded.value.ravel()[0]) if recorded.value.size else None
    for guard in recorded.recorder.guards:
        if _is_at_boundary(recorded, guard):
            condition = recorded.written.texts[guard.ref.number]
            note = f"beside the point, {condition} decides otherwise{_at(guard)}, and another branch is taken"
            found.append(Entry(None, (0,) * recorded.value.ndim, None, "kink", y, note=note))
    if not found:
        return check
    findings = sorted((*check.findings, *dict.fromkeys(found)), key=badness)
    verdict = max(check.verdict, "kink", key=SEVERITY.index)
    return replace(check, verdict=verdict, findings=tuple(findings), findings_count=check.findings_count + len(found))


def _is_at_boundary(recorded: Recorded, guard: Guard) -> bool:
    """Whether both sides of a comparison are the same number, as far as enclosures can tell."""
    step = recorded.recorder.values[guard.ref.number]
    if not isinstance(step, Step) or last(step.path) not in _COMPARISONS or len(step.arguments) != 2:
        return False
    texts = recorded.written.texts
    first, second = (texts[one.number] if hasattr(one, "number") else repr(one) for one in step.arguments)
    shapes = {name: array.shape for name, array in recorded.arrays.items()}
    try:
        program = read(
            f"{recorded.written.text}\n({first}) - ({second})", given=frozenset(shapes), shapes=shapes
        ).program
        inputs = {name: recorded.arrays[name] for name in program.names}
        known = infer(program, {symbol: shapes[str(symbol)] for symbol in program.variables})
        point = Point.of(program, known, inputs)
        found = Reference(point.program, point.shapes, point.inputs).plan([]).run(BITS)
        with precision(BITS):
            return all(isinstance(ball, arb) and ball.contains(0) for ball in found.values.values())
    except (GradcliError, OverBudgetError):
        return False
