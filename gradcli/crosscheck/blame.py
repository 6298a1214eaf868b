"""The operation that is to blame for a missing derivative: one that has the fault itself, on its own operands.

The reference names an operation where its balls leave the derivative open, and of several the last.  The series on both
sides tell which of them is at fault: its value or slope is missing where those of its operands are not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import numpy as np

from gradcli.crosscheck.limits import Limit
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.directional_series import Element
from gradcli.reference.enclosure_pass import EnclosurePass
from gradcli.reference.rules import Undefined
from gradcli.reference.series import Series

Followed = Mapping[Atom, Mapping[int, Element]]
"""The elements of each value that move on a ray."""

Fault = Literal["slope", "kink"]
"""A slope that is missing on a side, or two slopes that differ."""

_Place = tuple[Line, int]


def at_fault(
    run: EnclosurePass, sides: tuple[Followed, Followed], rows: Collection[int], fault: Fault
) -> list[Undefined]:
    """List why some rows of y have no slope: the reasons of operations that have the fault themselves.

    Args:
        run: The values at the point.
        sides: The elements on the left and on the right.
        rows: Flat rows of y.
        fault: The fault.
    """
    found: dict[Atom, dict[int, dict[_Place, None]]] = {}
    dependencies, program = run.reference.dependencies, run.reference.program
    for line in program.lines:
        left, right = (side.get(line.symbol, {}) for side in sides)
        faulty = [e for e in sorted({*left, *right}) if _has(fault, left.get(e), right.get(e))]
        if not faulty:
            continue
        own = found[line.symbol] = {}
        for e, sources in dependencies.sources_by_element(line, np.array(faulty)).items():
            inherited = [found[a][s] for a, s in sources if s in found.get(a, {})]
            own[e] = {place: None for places in inherited for place in places} if inherited else {(line, e): None}
    places = {place: None for row in sorted(rows) for place in found.get(program.output, {}).get(row, {})}
    return list(dict.fromkeys(reason for line, e in places for reason in _reasons(run, line, e)))


def _has(fault: Fault, left: Element | None, right: Element | None) -> bool:
    """Tell whether an element has a fault; one that stays on a side has the slope 0 there."""
    slopes = [_slope(one) for one in (left, right)]
    if any(isinstance(one, Series) and not one.is_continuous for one in (left, right)):
        return True  # a condition, which may be decided by what is missing
    if any(one.kind in ("absent", "infinite") for one in slopes):
        return True  # which a condition may make a kink of
    return fault == "kink" and all(one.ball is not None for one in slopes) and not slopes[0].meets(slopes[1].times(-1))


def _slope(element: Element | None) -> Limit:
    """Return the slope of an element along its ray."""
    if element is None:
        return Limit.of_slope(Series(()))
    value = Limit.from_element(element)
    return Limit.of_slope(element) if isinstance(element, Series) and value.kind == "finite" else value


def _reasons(run: EnclosurePass, line: Line, element: int) -> list[Undefined]:
    """List why a line has no slope by its operands at one of its elements."""
    found, out = list[Undefined](), np.array([element])
    for k in range(len(line.call.operands)):
        position, source = run.reference.dependencies.sources(line, k, out)
        if len(source) and line.call.operands[k] in run.values:
            slopes = run.slopes(line, k, out[position], source)
            found += [one for one in slopes if isinstance(one, Undefined) and one.kind in ("slope", "kink")]
    return found
