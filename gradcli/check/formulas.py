"""The formulas of an answer: derived once, confirmed at each point, shown only where they hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations_with_replacement

import sympy

from gradcli.check.compare import FIRST_BITS
from gradcli.check.confirming import Directions, confirm, refutation
from gradcli.check.evidence import Block, Enclosed, Evidence, enclosed
from gradcli.check.point import Point
from gradcli.language.program.wengert import Program
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import Array, Formula
from gradcli.symbolic import hessian
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.diagonal import structure_of
from gradcli.symbolic.index_maps import NoFormulaError
from gradcli.symbolic.printing import formula

MAX_FORMULAS = 30
"""Formulas of an answer that are derived; each takes a walk over the whole Program."""

MOST_DIRECTIONS = 64
"""Columns of a Jacobian that the reference is asked for to confirm formulas."""


@dataclass(frozen=True)
class Derived:
    """The formula of each block, or why there is none; it depends on the shapes of a point and not on its values.

    Attributes:
        blocks: Of ∂y/∂x and Hu by ("", x), of Ju by ("", ""), of a Hessian by the variables of row and column.
        directions: Those of Ju and Hu.
    """

    blocks: Mapping[Block, Derivative | str]
    directions: Directions = field(default_factory=dict)


@dataclass(frozen=True)
class Formulas:
    """What became of the formulas at a point, by block.

    Attributes:
        shown: Those that hold, as text.
        omitted: Why there is none, for the other blocks.
        derivatives: Those that hold, as expressions.
        refuted: Where the reference contradicts one.
    """

    shown: dict[Block, Formula] = field(default_factory=dict)
    omitted: dict[Block, str] = field(default_factory=dict)
    derivatives: dict[Block, Derivative] = field(default_factory=dict)
    refuted: dict[Block, str] = field(default_factory=dict)

    def refute(self, block: Block, reason: str) -> None:
        """Omit the formula of a block that was shown, as the reference contradicts it; the first reason stays."""
        self.refuted.setdefault(block, reason)
        self.omitted.setdefault(block, f"it disagrees with the reference: {self.refuted[block]}")
        self.shown.pop(block, None)


def of_jacobian(point: Point, wrt: Sequence[str]) -> Derived:
    """The formulas of ∂y/∂x for these variables."""
    return Derived(_of_variables(wrt, lambda x: differentiate(point.program, point.shapes, x)))


def of_jvp(point: Point, program: Program, u: Mapping[str, Array]) -> Derived:
    """The formula of Ju.

    Args:
        point: The Program and its inputs.
        program: As typed, for its names.
        u: The direction of each variable that moves.
    """
    names = hessian.direction_names(program, list(u))
    found = _derived(lambda: hessian.jvp(point.program, point.shapes, names))
    return Derived({("", ""): found}, {name: (names[name], array) for name, array in u.items()})


def of_hvp(point: Point, program: Program, u: Mapping[str, Array], wrt: Sequence[str]) -> Derived:
    """The formulas of Hu, by variable; see `of_jvp`."""
    names = hessian.direction_names(program, list(u))
    found = _of_variables(wrt, lambda x: hessian.hvp(point.program, point.shapes, names, x))
    return Derived(found, {name: (names[name], array) for name, array in u.items()})


def of_hessian(point: Point, wrt: Sequence[str]) -> Derived:
    """The formulas of the blocks of the Hessian."""
    pairs = list(combinations_with_replacement(wrt, 2))
    found: dict[Block, Derivative | str] = {}
    for number, (row, column) in enumerate(pairs):
        if number >= MAX_FORMULAS:
            reason = f"formulas are given for {MAX_FORMULAS} blocks, and there are {len(pairs)}"
            found[row, column] = found[column, row] = reason
            continue
        x, z = (sympy.Symbol(name, real=True) for name in (row, column))
        found[row, column] = block = _derived(partial(hessian.hessian, point.program, point.shapes, x, z))
        if row != column:
            found[column, row] = block if isinstance(block, str) else hessian.transposed(block)
    return Derived(found)


def _of_variables(wrt: Sequence[str], derive: Callable[[sympy.Symbol], Derivative]) -> dict[Block, Derivative | str]:
    """A formula for each of these variables, if they are not too many."""
    found: dict[Block, Derivative | str] = {}
    for name in wrt[:MAX_FORMULAS]:
        found["", name] = _derived(partial(derive, sympy.Symbol(name, real=True)))
    for name in wrt[MAX_FORMULAS:]:
        found["", name] = f"formulas are given for {MAX_FORMULAS} variables, and there are {len(wrt)}"
    return found


def _derived(derive: Callable[[], Derivative]) -> Derivative | str:
    """The formula, or why there is none."""
    try:
        return derive()
    except NoFormulaError as error:
        return str(error)


def evidence_at(point: Point, names: Sequence[str]) -> Enclosed | None:
    """What the reference finds of these variables' columns at a point; None where that is over its budget or limit."""
    directions = [
        (symbol, j)
        for symbol in point.program.variables
        if str(symbol) in names
        for j in range(math.prod(point.shapes[symbol]))
    ]
    try:
        with time_limit():
            return enclosed(point, directions[:: 1 + len(directions) // MOST_DIRECTIONS], None, FIRST_BITS)
    except OverTimeError:
        return None


def contradicted(point: Point, derived: Derived, evidence: Evidence | None) -> dict[Block, str]:
    """Where the evidence at a point contradicts a formula; nothing is compared elsewhere."""
    found = {}
    for block, derivative in derived.blocks.items():
        reason = "" if evidence is None or isinstance(derivative, str) else refutation(point, derivative, evidence)
        if reason:
            found[block] = reason
    return found


def confirmed(point: Point, program: Program, derived: Derived, evidence: Evidence | None) -> Formulas:
    """Compare the formulas with the reference at a point.

    Args:
        point: The Program and its inputs.
        program: As typed, for its names.
        derived: The formulas.
        evidence: What the reference found at the point, if it was asked.
    """
    found = Formulas()
    for block, derivative in derived.blocks.items():
        if isinstance(derivative, str):
            found.omitted[block] = derivative
            continue
        confirmation = confirm(point, derivative, evidence, derived.directions)
        if confirmation.holds:
            is_first = derivative.of == "jacobian"
            structure = structure_of(derivative, point.shape, point.shape_of(derivative.variable)) if is_first else ""
            found.shown[block] = formula(derivative, program, confirmation.note, structure)
            found.derivatives[block] = derivative
        elif confirmation.refuted:
            found.refute(block, confirmation.refuted)
        else:
            found.omitted[block] = "the reference could not confirm it"
    return found
