"""What every command answers: frozen dataclasses of NumPy arrays and text, the same for the API and the shell.

Shapes: y and v have y's shape, a gradient its variable's, a Jacobian block y.shape + x.shape.  Arrays have the dtype
that torch computed in.  Knows no formats; `gradcli.report` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating[Any]]

Verdict = Literal["agree", "unchecked", "inaccurate", "nan-trap", "undefined", "disagree"]

SEVERITY: tuple[Verdict, ...] = ("agree", "unchecked", "inaccurate", "nan-trap", "undefined", "disagree")
"""Verdicts from best to worst; an answer's verdict is that of its worst entry."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One formula: ∂`row`/∂`column` = `text`; `pretty` is the same in Unicode mathematics."""

    row: str
    column: str
    text: str
    pretty: str


@dataclass(frozen=True, slots=True)
class Formula:
    """The closed form of one Jacobian block; several cells where it is written out entry by entry.

    Attributes:
        text: In SymPy's notation, a nested list where written out.
        cells: Row by row.
        note: Where it was confirmed, if not at the entries of this answer.
    """

    text: str
    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """An entry whose numbers do not agree.

    Attributes:
        variable: The x of the block.
        row: Index into y; None for an entry of vᵀJ.
        column: Index into x; None for a formula.
        verdict: What is wrong.
        torch: What torch computed; None for a formula.
        reference: The truth to float64, if it exists.
        relative_error: Of torch, if both are finite.
        note: Why, in words.
    """

    variable: str
    row: tuple[int, ...] | None
    column: tuple[int, ...] | None
    verdict: Verdict
    torch: float | None
    reference: float | None
    relative_error: float | None
    note: str


@dataclass(frozen=True, slots=True)
class Check:
    """The cross-check of torch's numbers and of the formula against the reference.

    Attributes:
        verdict: The worst of all entries; `unchecked` if nothing could be compared.
        entries: Entries of the answer: of J where it was computed, else of vᵀJ.
        checked: How many of them were compared.
        max_relative_error: The largest over the compared entries; None if none was.
        findings: Entries that do not agree, worst first, at most `check.MAX_FINDINGS`.
        findings_count: How many there are in all.
        chosen: How the entries were chosen: `all`, or the sample in words.
        notes: What was left out, and why.
    """

    verdict: Verdict
    entries: int
    checked: int
    max_relative_error: float | None
    findings: tuple[Finding, ...] = ()
    findings_count: int = 0
    chosen: str = "all"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What all commands answer with.

    Attributes:
        command: Its name.
        expression: The text as typed.
        dtype: `float64` or `float32`.
        inputs: The value of every variable.
        wrt: The variables of the derivative, in order.
        output: What y is called: the name that the expression gives it, or y, or f where a variable is called y.
        value: y.
        warnings: Remarks about the expression.
    """

    command: str
    expression: str
    dtype: str
    inputs: Mapping[str, Array]
    wrt: tuple[str, ...]
    output: str
    value: Array
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation(Answer):
    """Y alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differentiation(Answer):
    """What the derivatives share.

    Attributes:
        jacobian: ∂y/∂x per variable, None if it was left out.
        jacobian_omitted: Why it was left out.
        symbolic: The formula per variable that has one.
        symbolic_omitted: Why a variable has none.
        check: The verdict; None if not asked for.
    """

    jacobian: Mapping[str, Array] | None = None
    jacobian_omitted: str = ""
    symbolic: Mapping[str, Formula]
    symbolic_omitted: Mapping[str, str]
    check: Check | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VJP(Differentiation):
    """The vector-Jacobian product vᵀJ per variable, what `y.backward(gradient=v)` leaves in `x.grad`."""

    v: Array
    vjp: Mapping[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradient(Differentiation):
    """The gradient of a y of one element, per variable."""

    grad: Mapping[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jacobian(Differentiation):
    """The full Jacobian per variable."""
