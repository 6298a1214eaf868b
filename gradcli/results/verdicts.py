"""Verdicts on numbers and claims, entries and checks; and rows of a stream with their faults.

Knows no formats: `gradcli.report` writes answers, `gradcli.files` reads and writes rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, get_args

import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.results.record import UNWRITTEN, Record, if_empty, if_none, if_whole, json_field

Verdict = Literal["agree", "unchecked", "inaccurate", "kink", "removable", "nan-trap", "undefined", "cut", "disagree"]

SEVERITY: tuple[Verdict, ...] = get_args(Verdict)
"""Verdicts from best to worst; an answer's verdict is that of its worst entry."""

Allowed = Verdict | Literal["no-counterexample"]
"""Results that may pass besides `agree`: verdicts, and a claim that is neither proved nor refuted."""

NO_COUNTEREXAMPLE: Allowed = "no-counterexample"


Of = Literal["", "jvp", "hvp", "hessian", "gradient", "accumulated"]
"""Object of an entry: "" for y, J or vᵀJ; Ju, Hu, the Hessian, its gradient; the sum of several passes."""


Index = tuple[int, ...]


class Entry(Record):
    """One number of torch, or one formula, with the opinion of every reading; it is filled while it is judged.

    Attributes:
        variable: The x of the block; None for an element of y itself, and of Ju.
        row: Index into y; of a Hessian, into the variable `by`; None for an entry of vᵀJ, Hu or the gradient.
        column: Index into x; None for a formula, and for an element of y or Ju.
        verdict: The verdict; `unchecked` before it is judged.
        torch: The number that torch computed; None for a formula.
        reference: The truth to float64, if it exists; of a removable singularity, the limit.
        relative_error: Of torch, if both are finite.
        note: The reason in words, if it does not agree.
        one_sided: The derivatives from the left and from the right, at a kink.
        proven: Whether an enclosure decided, rather than a sample, a limit or an estimate.
        point: The number of the point, where there are many.
        of: The object that the entry belongs to; empty for y, J and vᵀJ.
        by: The variable of the row, for an entry of a Hessian.
        radius: Of the enclosure of the truth.
        formula: The value of the closed form, if there is one that was confirmed and can be evaluated here.
        difference: The central finite difference in float64, if it was asked for and there are values around the point.
        difference_error: The error of the finite difference, by its own estimate.
        ulps: The error of torch in units in the last place of the dtype.
        is_minor: Whether rounding lost digits, but the error is small next to the largest entry of the same gradient.
        truth: The enclosure itself, a ball, while the entry is judged; answers have `reference`.
    """

    variable: str | None = json_field(omit=if_none)
    row: Index | None = json_field(omit=if_none)
    column: Index | None = json_field(omit=if_none)
    verdict: Verdict
    torch: float | None = json_field(omit=if_none)
    reference: float | None = json_field(omit=if_none, default=None)
    relative_error: float | None = json_field(omit=if_none, default=None)
    note: str = json_field(omit=if_empty, default="")
    one_sided: tuple[float, float] | None = json_field(omit=if_none, default=None)
    proven: bool = False
    point: int | None = json_field(None, default=None)
    of: Of = json_field(omit=if_empty, before="variable", default="")
    by: str | None = json_field(omit=if_none, before="variable", default=None)
    radius: float | None = json_field(omit=if_none, before="relative_error", default=None)
    formula: float | None = json_field(omit=if_none, before="reference", default=None)
    difference: float | None = json_field(omit=if_none, before="relative_error", default=None)
    difference_error: float | None = json_field(omit=if_none, before="relative_error", default=None)
    ulps: float | None = json_field(omit=if_none, before="note", default=None)
    is_minor: bool = json_field(None, default=False)
    truth: Any = field(default=None, compare=False, repr=False, metadata=UNWRITTEN)


class Rewrite(Record):
    """Another way to write a function, verified, whose numbers can be trusted.

    Attributes:
        expression: The text of the function.
        reason: The problem that it avoids.
        verdict: The verdict on the rewritten function at the same point.
        basis: If the form has series, the form without them, which equals the function beyond float64 too.
    """

    expression: str
    reason: str
    verdict: Verdict
    basis: str = json_field(None, default="")


class Check(Record):
    """The cross-check of torch's numbers and of the formula against the reference.

    Attributes:
        verdict: The worst of all entries and of y; `unchecked` if nothing could be compared.
        entries: Entries of the answer: of J where it was computed, else of vᵀJ.
        checked: How many of them were compared.
        max_relative_error: The largest over the compared entries and elements of y; None if none was.
        findings: Entries that do not agree, worst first, at most `crosscheck.MAX_FINDINGS`.
        proven: Whether every entry was decided, by an enclosure or by structure.
        sampled: Whether some entry of the answer, or of a part judged with it, was not looked at.
        findings_count: How many findings there are in all.
        zeros: Entries among those checked that are 0 whatever the numbers are, by structure, and in torch's numbers.
        undecided: Entries that were tried and not decided; above one in a hundred the verdict is `unchecked`.
        chosen: The choice of entries: `all`, or the sample in words.
        notes: Remarks, such as on entries left out and why.
        rewrite: A way to write the function without the worst finding, if one is known.
    """

    verdict: Verdict
    entries: int
    checked: int
    max_relative_error: float | None
    findings: tuple[Entry, ...] = ()
    proven: bool = False
    sampled: bool = False
    findings_count: int = json_field(omit=if_whole("findings"), default=0)
    zeros: int = json_field("zero_by_structure", omit=if_empty, default=0)
    undecided: int = json_field(omit=if_empty, default=0)
    chosen: str = json_field(omit=lambda check, chosen: chosen == "all", default="all")
    notes: tuple[str, ...] = json_field(omit=if_empty, default=())
    rewrite: Rewrite | None = json_field(omit=if_none, default=None)

    @property
    def is_whole(self) -> bool:
        """Tell whether every entry was looked at and compared."""
        is_judged = self.verdict != "unchecked" or not self.entries
        return not self.sampled and self.checked == self.entries and is_judged

    @property
    def is_minor(self) -> bool:
        """Tell whether nothing is wrong but digits that were lost in entries small beside the largest one."""
        return self.verdict == "inaccurate" and all(entry.is_minor for entry in self.findings)


class Claim(Record):
    """A claimed derivative, and the result of its proof or comparison.

    Attributes:
        variable: The x that it is by.
        text: The claim as given.
        of: The kind of derivative, by its shape: the gradient, the Jacobian, or vᵀJ.
        status: Proved for all points; numbers that agree with the truth at the one point; neither proved nor refuted at
            the points tried; or refuted.
        points: The number of points tried.
        entry: The index of the entry that refutes it.
        claimed: The claimed value of that entry.
        truth: The true value of that entry.
        at: The point of the counterexample.
        v: The gradient vector there, if the claim is for every v.
        mistake: The likeliest mistake, if it is a classic one.
        note: A further remark.
    """

    variable: str
    text: str = json_field("claim")
    of: Literal["gradient", "Jacobian", "vector-Jacobian product"]
    status: Literal["proved", "agrees", "no counterexample", "refuted"]
    points: int
    entry: tuple[int, ...] | None = json_field(omit=if_none, default=None)
    claimed: float | None = json_field(omit=if_none, default=None)
    truth: float | None = json_field(omit=if_none, default=None)
    at: Mapping[str, Array] | None = json_field(omit=if_none, default=None)
    v: Array | None = json_field(omit=if_none, default=None)
    mistake: str = json_field(omit=if_empty, default="")
    note: str = json_field(omit=if_empty, default="")


class Sampling(Record):
    """Result of a check at random points.

    Attributes:
        points: How many.
        seed: Of the generator.
        boxes: The range of each variable that was drawn, as given.
        verdicts: How many points had each verdict, best first.
        worst: The point with the worst verdict, whose entries the answer lists.
    """

    points: int
    seed: int
    boxes: Mapping[str, str]
    verdicts: Mapping[Verdict, int]
    worst: Mapping[str, Array]


# -- streams

Cells = Sequence[Any] | npt.NDArray[Any]
"""The cells of a column: texts, values of JSON, or an array of NumPy or Arrow."""

OnError = Literal["fail", "skip", "nan"]


class RowSource(Record):
    """A source of rows: its name and columns, known before the first row.

    Attributes:
        name: Its name in messages.
        columns: The shape of a cell of each column, in order.
        twice: Names that several columns have.
        types: The type of each column, where the source has types.
        is_text: Whether cells are texts, of which some are numbers.
    """

    name: str
    columns: Mapping[str, tuple[int, ...]]
    twice: frozenset[str] = frozenset()
    types: Mapping[str, Any] = field(default_factory=dict)
    is_text: bool = False


class Fault(Record):
    """A fault in a row.

    Attributes:
        index: The index of the row in its block.
        message: The error, with the number of the row and the column.
        hint: A remedy, if one is known.
    """

    index: int
    message: str
    hint: str | None = None


def row_called(number: int, line: int | None = None, group: int | None = None) -> str:
    """Name a row of a file for messages: by its number, and by its line in a text or its row group.

    >>> row_called(2), row_called(2, 3), row_called(2, group=0)
    ('row 2', 'row 2 (line 3)', 'row 2 (row group 0)')
    """
    inside = f" (line {line})" if line is not None else f" (row group {group})" if group is not None else ""
    return f"row {number}{inside}"


class Block(Record):
    """Consecutive rows of a source; a block without rows says that the source waits for more.

    Attributes:
        numbers: The place of each row in its source, from 1, or from 0 in arrays of Python.
        columns: An array of shape (N, *cell) for each column asked for; rows at fault hold any numbers.
        kept: The cells of the columns to keep, as text, arrays or values of JSON.
        faults: The faults of rows, in the order of the rows.
        lines: The line of a text that each row begins on, from 1; None for a source without lines.
        name: The name of the file in messages, if the source has several.
        before: The number of rows in the files before it, which `numbers` include and messages do not.
        group: The row group of the file, if it has row groups.
    """

    numbers: npt.NDArray[Any]
    columns: Mapping[str, Array]
    kept: Mapping[str, Cells]
    faults: tuple[Fault, ...] = ()
    lines: npt.NDArray[Any] | None = None
    name: str = ""
    before: int = 0
    group: int | None = None

    def called(self, index: int) -> str:
        """Name a row for messages, by its index here."""
        line = None if self.lines is None else int(self.lines[index])
        return row_called(int(self.numbers[index]) - self.before, line, self.group)

    def rows(self, first: int, last: int) -> Block:
        """Slice the rows from index `first` up to `last`, without the latter."""
        part = slice(first, last)
        return replace(
            self,
            numbers=self.numbers[part],
            columns={name: array[part] for name, array in self.columns.items()},
            kept={name: cells[part] for name, cells in self.kept.items()},
            faults=tuple(replace(one, index=one.index - first) for one in self.faults if first <= one.index < last),
            lines=None if self.lines is None else self.lines[part],
        )


class Quantity(Record):
    """The output, or its derivative by a variable.

    Attributes:
        name: `y` or `dy_dx`.
        shape: Its shape at one point.
        columns: A name for each element, in row-major order.
    """

    name: str
    shape: tuple[int, ...]
    columns: tuple[str, ...]


class Mapped(Record):
    """The output for some rows.

    Attributes:
        count: The number of rows to write.
        kept: Their cells of the columns to keep.
        values: An array of shape (N, *shape) for each quantity, in order.
    """

    count: int
    kept: Mapping[str, Cells]
    values: tuple[Array, ...]


class StreamSummary(Record):
    """Summary of a stream after its last row.

    Attributes:
        read: The number of rows of the source.
        written: The number of rows of the output.
        faulty: The number of rows that were left out, or have NaN.
        on_error: The treatment of rows at fault.
        first: The first fault, in words.
        output: The name of the output.
        check: The verdict on a sample of the rows, if it was asked for.
        called: The names of the sampled rows in messages, by their numbers.
    """

    read: int
    written: int
    faulty: int
    on_error: OnError
    first: str
    output: str
    check: Check | None
    called: Mapping[int, str] = field(default_factory=dict)
