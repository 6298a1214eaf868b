"""The formulas of an answer: derived once, confirmed at each point, shown only where they hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy

from gradcli.check.compare import FIRST_BITS
from gradcli.check.context import Point
from gradcli.check.formulas import confirm, refutation
from gradcli.check.judge import Evidence
from gradcli.language.program.wengert import Program
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.duals import OverBudgetError, Reference
from gradcli.results import Formula
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.diagonal import structure_of
from gradcli.symbolic.index_maps import NoFormulaError
from gradcli.symbolic.printing import formula

MAX_FORMULAS = 30
"""Variables for which a formula is derived; each takes a walk over the whole Program."""

MOST_DIRECTIONS = 64
"""Columns of a Jacobian that the reference is asked for to confirm formulas."""

Derived = Mapping[str, Derivative | str]
"""The formula by variable, or why there is none; it depends on the shapes of a point and not on its values."""


@dataclass(frozen=True)
class Confirmed:
    """What became of the formulas at a point.

    Attributes:
        shown: Those that hold, as text.
        omitted: Why there is none, for the other variables.
        derivatives: Those that hold, as expressions.
        refuted: Where the reference contradicts one.
    """

    shown: dict[str, Formula]
    omitted: dict[str, str]
    derivatives: dict[str, Derivative]
    refuted: dict[str, str]


def derive(point: Point, names: Sequence[str]) -> Derived:
    """The formulas of ∂y/∂x for these variables."""
    derived: dict[str, Derivative | str] = {}
    for name in names[:MAX_FORMULAS]:
        try:
            derived[name] = differentiate(point.program, point.shapes, sympy.Symbol(name, real=True))
        except NoFormulaError as error:
            derived[name] = str(error)
    for name in names[MAX_FORMULAS:]:
        derived[name] = f"formulas are given for {MAX_FORMULAS} variables, and there are {len(names)}"
    return derived


def evidence_at(point: Point, names: Sequence[str]) -> Evidence | None:
    """What the reference finds of these variables' columns at a point; None where that is over its budget or limit."""
    directions = [
        (symbol, j)
        for symbol in point.program.variables
        if str(symbol) in names
        for j in range(math.prod(point.shapes[symbol]))
    ]
    chosen = directions[:: 1 + len(directions) // MOST_DIRECTIONS]
    try:
        with time_limit():
            plan = Reference(point.program, point.shapes, point.inputs).plan(chosen, None)
            return Evidence(chosen, plan.run(FIRST_BITS).columns, None, FIRST_BITS)
    except (OverBudgetError, OverTimeError):
        return None


def contradicted(point: Point, derived: Derived, evidence: Evidence | None) -> dict[str, str]:
    """Where the evidence at a point contradicts a formula; nothing is compared elsewhere."""
    found = {}
    for name, derivative in derived.items():
        reason = "" if evidence is None or isinstance(derivative, str) else refutation(point, derivative, evidence)
        if reason:
            found[name] = reason
    return found


def confirmed(point: Point, program: Program, derived: Derived, evidence: Evidence | None) -> Confirmed:
    """Compare the formulas with the reference at a point.

    Args:
        point: The Program and its inputs.
        program: As typed, for its names.
        derived: The formulas.
        evidence: What the reference found at the point, if it was asked.
    """
    found = Confirmed({}, {}, {}, {})
    for name, derivative in derived.items():
        if isinstance(derivative, str):
            found.omitted[name] = derivative
            continue
        confirmation = confirm(point, derivative, evidence)
        if confirmation.holds:
            y, x = (point.shapes.get(s, ()) for s in (point.program.output, sympy.Symbol(name, real=True)))
            found.shown[name] = formula(derivative, program, confirmation.note, structure_of(derivative, y, x))
            found.derivatives[name] = derivative
        elif confirmation.refuted:
            found.omitted[name] = f"it disagrees with the reference: {confirmation.refuted}"
            found.refuted[name] = confirmation.refuted
        else:
            found.omitted[name] = "the reference could not confirm it"
    return found
