"""One number of torch and what became of it: an entry of J, of vᵀJ, or an element of y."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy

from gradcli.check.context import Point, unravel
from gradcli.reference.balls import Ball
from gradcli.results import Finding, Of, Verdict


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may be from the truth: |number - truth| <= atol + rtol*|truth|.

    It is strict if the user gave it; else a 0 may also be off by the rounding of the terms that cancel to it.
    """

    rtol: float
    atol: float = 0.0
    is_strict: bool = False


TOLERANCE: Mapping[str, Tolerance] = {"float64": Tolerance(2.0**-30), "float32": Tolerance(2.0**-16)}
"""The error that still agrees: n roundings leave about n * 2**-53 (2**-24 in float32), so this admits chains of 2**23
(2**8) operations, and functions that torch computes to ten (five) digits; few wrong formulas are as close."""


Place = tuple[str | None, int, int]
"""A number of torch: the x of the block, the flat positions in x and in y."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A decided entry.

    Attributes:
        variable: The x of the block; None for an element of y.
        column: Flat position in x; -1 for an element of y.
        row: Flat position in y, of a Hessian in the variable `by`; -1 for an entry of vᵀJ, Hu or the gradient.
        torch: What torch computed.
        verdict: What became of it.
        ball: The truth; None where there is none.
        error: The relative error of torch, if both are finite.
        note: Why, in words.
        one_sided: The derivatives from the left and from the right, at a kink.
        proven: Whether an enclosure decided.
        of: What it belongs to; empty for y, J and vᵀJ.
        by: The variable of the row, of a Hessian.
        is_met: Whether branches or poles meet here: a formula takes one of them, and is held to nothing.
    """

    variable: str | None
    column: int
    row: int
    torch: float
    verdict: Verdict
    ball: Ball | None
    error: float | None
    note: str = ""
    one_sided: tuple[float, float] | None = None
    proven: bool = True
    of: Of = ""
    by: str | None = None
    is_met: bool = False

    @property
    def place(self) -> Place:
        """Which number it is."""
        return self.variable, self.column, self.row

    @property
    def reference(self) -> float | None:
        """The truth to float64."""
        if self.ball is None or not self.ball.is_finite():
            return None
        return 0.0 if self.ball.contains(0) else to_float(self.ball)  # what cannot be told from 0 is called 0

    def finding(self, point: Point) -> Finding:
        """The entry with its indices, for people."""
        along = point.program.output if self.by is None else sympy.Symbol(self.by, real=True)
        row = None if self.row < 0 else unravel(self.row, point.shapes.get(along, ()))
        column = None
        if self.variable is not None:
            column = unravel(self.column, point.shapes[sympy.Symbol(self.variable, real=True)])
        return Finding(
            self.variable,
            row,
            column,
            self.verdict,
            self.torch,
            self.reference,
            self.error,
            self.note,
            self.one_sided,
            self.proven,
            of=self.of,
            by=self.by,
        )


def to_float(ball: Ball) -> float:
    """The middle of a ball, never -0."""
    return float(ball.mid()) + 0.0
