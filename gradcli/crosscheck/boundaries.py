"""Conditions that values decided before there was a Program: beside the point some may be decided otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from flint import arb

from gradcli.crosscheck.point import Point
from gradcli.crosscheck.summary import badness
from gradcli.language.program import numeric
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Guards, Program, Shape, needed
from gradcli.reference.balls import precision
from gradcli.reference.deadline import OverTimeError, require_time, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Undefined
from gradcli.results import SEVERITY, Array, Check, Entry, Verdict

BITS = 512
"""Precision of what decides."""


Boundary = tuple[Verdict, str]
"""That a condition is decided otherwise beside the point, or without rounding, or that this could not be told."""

_SAID: Mapping[Verdict, str] = {
    "kink": "beside the point, {} decides otherwise, and {}",
    "inaccurate": "without rounding, {} decides otherwise, and {}",
    "unchecked": "it could not be told whether, beside the point, {} decides otherwise, and {}",
}


def boundary(verdict: Verdict, condition: str, changes: str) -> Boundary:
    """What there is to say of a condition.

    >>> boundary("kink", "x > 0", "another branch is taken")
    ('kink', 'beside the point, x > 0 decides otherwise, and another branch is taken')
    """
    return verdict, _SAID[verdict].format(condition, changes)


def with_boundaries(check: Check, value: Array, boundaries: Iterable[Boundary]) -> Check:
    """A check with a finding about the whole for each of these.

    Args:
        check: Of the numbers.
        value: The output y.
        boundaries: What decides otherwise beside the point.
    """
    y = float(value.ravel()[0]) if value.size else None
    found = [Entry(None, (0,) * value.ndim, None, kind, y, note=note) for kind, note in dict.fromkeys(boundaries)]
    if not found:
        return check
    findings = sorted((*check.findings, *found), key=badness)
    verdict = max(check.verdict, *(one.verdict for one in found), key=SEVERITY.index)
    return replace(check, verdict=verdict, findings=tuple(findings), findings_count=check.findings_count + len(found))


def at_boundaries(
    guards: Guards, shapes: Mapping[Atom, Shape], inputs: Mapping[str, Array], wrt: Sequence[str]
) -> Iterator[Boundary]:
    """What there is to say of each condition that a step in some variables, however short, or rounding decides.

    Args:
        guards: The conditions.
        shapes: Of the variables.
        inputs: Of the variables.
        wrt: Those that move.
    """
    if not set(guards.program.names) <= set(inputs):  # of a part of the function, in variables of its own
        return
    with suppress(OverTimeError):  # which each condition then says
        if not _point(guards.program, shapes, inputs).may_be_singular:
            return
    for guard in guards.conditions:
        try:
            with time_limit():
                lines = tuple(needed(guards.program.lines, guard.condition))
                point = _point(replace(guards.program, lines=lines, output=guard.condition), shapes, inputs)
                verdict = _verdict(point, wrt) if point.may_be_singular else None  # or rounding may decide
        except (OverBudgetError, OverTimeError):
            yield boundary("unchecked", guard.shown, guard.changes)
            return
        if verdict is not None:
            yield boundary(verdict, guard.shown, guard.changes)


def _point(program: Program, shapes: Mapping[Atom, Shape], inputs: Mapping[str, Array]) -> Point:
    require_time()
    known = infer(program, {symbol: shapes[symbol] for symbol in program.variables})
    return Point.of(program, known, {name: inputs[name] for name in program.names})


def _verdict(point: Point, wrt: Sequence[str]) -> Verdict | None:
    """A kink where a condition has no derivative; inaccurate where it is not what floats say."""
    directions = [(s, j) for s in point.program.variables if str(s) in wrt for j in range(point.inputs[str(s)].size)]
    run = Reference(point.program, point.shapes, point.inputs).plan(directions).run(BITS)
    if any(isinstance(change, Undefined) for column in run.columns.values() for change in column.values()):
        return "kink"
    found = numeric.run(point.program, {symbol: point.inputs[str(symbol)] for symbol in point.program.variables})
    floats = np.broadcast_to(found, point.shape).ravel()
    with precision(BITS):
        is_other = any(isinstance(ball, arb) and ball != floats[flat] for flat, ball in run.values.items())
    return "inaccurate" if is_other else None
