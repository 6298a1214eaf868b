"""Torch's numbers on one side of a jump, as of atan2 at -0.0: there they are no error.

An element of y may tend to torch's number on a ray into the point, and an angle on the cut may have the other sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import sympy

from gradcli.crosscheck.compare import Case, Singular, compare, noun, number_of
from gradcli.crosscheck.limits import Limit, shown_number
from gradcli.crosscheck.singular import SERIES_BITS, RaySeries, planned
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.wengert import Atom, Builder, Line
from gradcli.reference.balls import Ball, precision
from gradcli.reference.enclosure_plan import Plan, Reference
from gradcli.reference.rules import Undefined
from gradcli.reference.series import Undecided
from gradcli.results import Entry


def at_jumps(case: Case, entries: Sequence[Entry]) -> list[Entry]:
    """Change `disagree` to `kink` where torch takes the other side of a jump, such as atan2 at -0.0."""
    turned = _turned(case)

    def settled(entry: Entry) -> Entry:
        is_wrong = entry.verdict == "disagree"
        if not is_wrong or not (
            _is_one_sided_limit(case, entry) or (turned is not None and _is_of_turned(turned, entry))
        ):
            return entry
        picked = f"torch gives {shown_number(number_of(entry))}, the {noun(entry)} on one side"
        note = f"a discontinuity: {picked}, by the sign of a 0"
        return entry.judged(verdict="kink", note=note, proven=False)

    return list(map(settled, entries))


def _plan_at_jump(case: Case, entry: Entry) -> Plan | None:
    """Plan the enclosure of an entry as at a jump; None if that is over the budget."""
    rows = frozenset(np.flatnonzero(case.seeds(entry)).tolist())
    return planned(case, [Singular(entry, Undefined("jump", "", decided=True), rows)])


def _is_one_sided_limit(case: Case, entry: Entry) -> bool:
    """Tell whether an element of y tends to torch's number on a ray into the point."""
    if entry.variable is not None or (plan := _plan_at_jump(case, entry)) is None:
        return False
    series = RaySeries(case, plan, SERIES_BITS[0])
    seen = (series.along(n, sign).get(case.row(entry), Undecided()) for n in (0, 1) for sign in (1, -1))
    return any(
        ball is not None and _agrees(case, entry, ball) for ball in (Limit.from_element(one).ball for one in seen)
    )


def _is_of_turned(turned: Case, entry: Entry) -> bool:
    """Tell whether torch's number is right for the function with its angles on the other side of their cut."""
    if (plan := _plan_at_jump(turned, entry)) is None:
        return False
    with precision(SERIES_BITS[0]):
        truth = turned.truth(entry, plan.run(SERIES_BITS[0]))
        return not isinstance(truth, Undefined) and _agrees(turned, entry, truth)


def _agrees(case: Case, entry: Entry, ball: Ball) -> bool:
    with precision(SERIES_BITS[0]):
        found = compare(entry, ball, case.tolerance, is_last=True)
    return found is not None and found.verdict == "agree"


def _turned(case: Case) -> Case | None:
    """Make the function with -pi for each angle on the cut, as torch has for a signed 0; None without angles."""
    reference = case.reference
    if not any(line.call.op.name == "atan2" for line in reference.program.lines):
        return None

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        found = builder.emit(line.call.op.name, operands, line.span, line.call.statics)
        if line.call.op.name != "atan2":
            return found
        is_on_cut = builder.emit("eq", (operands[0], sympy.S.Zero), line.span)
        turn = builder.emit("mul", (sympy.Integer(-2), found), line.span)
        chosen = builder.emit("where", (is_on_cut, turn, sympy.S.Zero), line.span)
        return builder.emit("add", (found, builder.emit("detach", (chosen,), line.span)), line.span)

    program = rewritten(reference.program, write, shares=True).program
    inputs = {str(x): reference.inputs[x].reshape(reference.shapes[x]) for x in program.variables}
    shapes = {x: reference.shapes[x] for x in program.variables}
    return replace(case, reference=Reference(program, shapes, inputs))
