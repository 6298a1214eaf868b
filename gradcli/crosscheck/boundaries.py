"""Conditions that values decided before there was a Program: next to the point some may be decided otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from flint import arb

from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.language import ops
from gradcli.language.program import numeric
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Guard, Guards, Program, Shape, needed
from gradcli.reference.array_values import Values
from gradcli.reference.balls import precision
from gradcli.reference.deadline import OverTimeError, require_time, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Undefined
from gradcli.results import Array, Assessment, Entry, Position, Verdict

CONDITION_BITS = 512
"""Precision at which a condition is decided."""

CONDITION_ROOM = 4
"""Factor on the reference's budget for one condition."""


class Boundary(NamedTuple):
    """Finding that a condition is decided otherwise next to the point, or without rounding, or may be.

    Attributes:
        verdict: The verdict on the function.
        note: The reason.
        condition: The condition; None of a finding about something else.
    """

    verdict: Verdict
    note: str
    condition: Guard | None = None


_SAID: Mapping[Verdict, str] = {
    "kink": "beside the point, {} decides otherwise, and {}",
    "inaccurate": "without rounding, {} decides otherwise, and {}",
    "unchecked": "it could not be told whether, beside the point, {} decides otherwise, and {}",
}


def boundary(verdict: Verdict, guard: Guard) -> Boundary:
    """Make the finding about a condition."""
    return Boundary(verdict, _SAID[verdict].format(guard.shown, guard.changes), guard)


def findings_of(boundaries: Iterable[Boundary], value: Array, of: Entry | None = None) -> list[Entry]:
    """Make a finding about the function of each condition.

    Args:
        boundaries: What was found about the conditions.
        value: The output y.
        of: The derivative that they are about, whose element of y is named then; by default the first one is.
    """
    row = of.row if of is not None and of.of in ("", "jvp") and of.row is not None else ()
    at = row if len(row) == value.ndim else (0,) * value.ndim
    y = float(value[at]) if value.size else None
    found = dict.fromkeys((one.verdict, one.note) for one in boundaries)
    return [Entry(Position("value", row=at), y, Assessment(verdict, note=note)) for verdict, note in found]


def at_boundaries(
    guards: Guards, shapes: Mapping[Atom, Shape], inputs: Mapping[str, Array], wrt: Sequence[str]
) -> Iterator[Boundary]:
    """Yield a finding for each condition that rounding or a step in some variables, however short, may change.

    Args:
        guards: The conditions.
        shapes: The shapes of the variables.
        inputs: The values of the variables.
        wrt: The names of the variables that move.
    """
    if not set(guards.program.names) <= set(inputs):  # the guards of a part of the function, in variables of its own
        return
    with suppress(OverTimeError):  # each condition then reports it
        if not _point(guards.program, shapes, inputs).may_be_singular:
            return
    for guard in guards.conditions:
        try:
            with time_limit():
                lines = tuple(needed(guards.program.lines, guard.condition))
                point = _point(replace(guards.program, lines=lines, output=guard.condition), shapes, inputs)
                is_open = point.may_be_singular and not _is_decided(point, wrt)
                verdict = _verdict(point, wrt) if is_open else None  # or rounding may decide
        except (OverBudgetError, OverTimeError):
            yield boundary("unchecked", guard)
            return
        if verdict is not None:
            yield boundary(verdict, guard)


def _point(program: Program, shapes: Mapping[Atom, Shape], inputs: Mapping[str, Array]) -> FunctionAtPoint:
    require_time()
    known = infer(program, {symbol: shapes[symbol] for symbol in program.variables})
    return FunctionAtPoint.from_inputs(program, known, {name: inputs[name] for name in program.names})


def _is_decided(point: FunctionAtPoint, wrt: Sequence[str]) -> bool:
    """Tell whether a condition certainly stays the same next to the point."""
    steps = () if point.critical is None else [ops.ROWS[spots.name] for spots in point.critical.spots]
    if point.critical is None or any(op.is_step and not op.sense for op in steps):  # bounds know of no jump to the side
        return False
    moving = [symbol for symbol in point.program.variables if str(symbol) in wrt]
    bounds = Values(point.program, point.shapes, point.inputs, moving).value
    return bool((bounds.radius == 0).all())


def _verdict(point: FunctionAtPoint, wrt: Sequence[str]) -> Verdict | None:
    """Call a condition without a derivative a kink, and one that floats decide differently inaccurate; else None.

    All elements that may change it move together, as `(x == 0).any()` changes at no other place where x has two zeros.
    """
    own = Reference(point.program, point.shapes, point.inputs)
    reference, directions = own.admitting(CONDITION_ROOM * own.budget), _directions(point, own, wrt)
    values = reference.backward_closure({reference.program.output: np.arange(math.prod(point.shape))})
    run = reference.wired(directions, values).run(CONDITION_BITS)
    if any(isinstance(change, Undefined) for column in run.columns.values() for change in column.values()):
        return "kink"
    found = numeric.run(point.program, {symbol: point.inputs[str(symbol)] for symbol in point.program.variables})
    floats = np.broadcast_to(found, point.shape).ravel()
    with precision(CONDITION_BITS):
        is_other = any(isinstance(ball, arb) and ball != floats[flat] for flat, ball in run.values.items())
    return "inaccurate" if is_other else None


def _directions(point: FunctionAtPoint, reference: Reference, wrt: Sequence[str]) -> list[Direction]:
    """List the elements of variables that may change a condition: those that its critical elements are made of."""
    found = point.directions(wrt)
    if point.critical is None or point.critical.unknown or any(s.count > len(s.elements) for s in point.critical.spots):
        return found
    critical = {reference.renamed.get(spots.atom, spots.atom): spots.elements for spots in point.critical.spots}
    try:
        backward_closure = reference.wide.backward_closure(critical)
    except OverBudgetError:
        return found
    reached = {symbol: frozenset(elements.tolist()) for symbol, elements in backward_closure.items()}
    return [(symbol, j) for symbol, j in found if j in reached.get(symbol, ())]
