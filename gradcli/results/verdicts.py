"""Verdicts on numbers and claims, entries and checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any, Literal, TypedDict, TypeVar, Unpack, get_args

from gradcli.arrays import Array
from gradcli.results.record import Record, if_empty, if_none, if_whole, json_field, json_property
from gradcli.showing import ShownInALine

Verdict = Literal["agree", "unchecked", "inaccurate", "kink", "removable", "nan-trap", "undefined", "cut", "disagree"]

SEVERITY: tuple[Verdict, ...] = get_args(Verdict)
"""Verdicts from best to worst; an answer's verdict is that of its worst entry."""

SLIGHT = 1e-3
"""Largest relative error of a number whose loss of digits is slight: three of them are left, as many as one reads."""

Allowed = Verdict | Literal["no-counterexample"]
"""Results that may pass besides `agree`: verdicts, and a claim that is neither proved nor refuted."""

NO_COUNTEREXAMPLE: Allowed = "no-counterexample"

RegionVerdict = Literal[
    "proved",
    "near-zero",
    "kink",
    "jump",
    "pole",
    "edge",
    "outside",
    "nan-trap",
    "overflow",
    "underflow",
    "inaccurate",
    "cut",
    "disagree",
    "open",
]
"""Verdicts on a region of a box: see `BoxRegion`."""


NumberKind = Literal["value", "jacobian", "vjp", "accumulated", "gradient", "jvp", "hvp", "hessian"]
"""Kind of a number: an element of y, J or vᵀJ, or of several passes; of second derivatives, and of their gradient."""

Of = Literal["", "jvp", "hvp", "hessian", "gradient", "accumulated"]
"""Kind of a number as JSON has it: "" for y, J and vᵀJ, which have different indices."""

Mode = Literal["forward mode", "second order", "batched"]
"""Further mode of differentiation in torch: by dual numbers, twice, or for several v at once."""

Index = tuple[int, ...]


class Position(Record):
    """Which number of an answer it is, or which formula, whose indices are None.

    Attributes:
        kind: What it is a number of.
        variable: The x of the block; None for an element of y itself, and of Ju.
        row: Index into y; of a Hessian, into the variable `by`; None for an entry of vᵀJ, Hu or the gradient.
        column: Index into x; None for a formula, and for an element of y or Ju.
        by: The variable of the row, for an entry of a Hessian.
        point: The number of the point, where there are many.
    """

    kind: NumberKind
    variable: str | None = None
    row: Index | None = None
    column: Index | None = None
    by: str | None = None
    point: int | None = None


class Assessment(Record):
    """The opinion of every reading on a number of torch, or on a formula.

    Attributes:
        verdict: The verdict; `unchecked` before it is judged.
        reference: The truth to float64, if it exists; of a removable singularity, the limit.
        relative_error: Of torch, if both are finite.
        note: The reason in words, if it does not agree.
        one_sided: The derivatives from the left and from the right, at a kink.
        proven: Whether an enclosure decided, rather than a sample, a limit or an estimate.
        radius: Of the enclosure of the truth.
        formula: The value of the closed form, if there is one that was confirmed and can be evaluated here.
        difference: The central finite difference in float64, if it was asked for and there are values around the point.
        difference_error: The error of the finite difference, by its own estimate.
        ulps: The error of torch in units in the last place of the dtype.
        digits: Digits to which the truth was measured; None where it is enclosed, or nothing is known.
        is_minor: Whether rounding lost digits, but the error is small next to the largest entry of the same gradient.
        truth: The enclosure itself, a ball, while the entry is judged; answers have `reference`.
    """

    verdict: Verdict = "unchecked"
    reference: float | None = None
    relative_error: float | None = None
    note: str = ""
    one_sided: tuple[float, float] | None = None
    proven: bool = False
    radius: float | None = None
    formula: float | None = None
    difference: float | None = None
    difference_error: float | None = None
    ulps: float | None = None
    digits: int | None = None
    is_minor: bool = False
    truth: Any = field(default=None, compare=False, repr=False)


class PositionChanges(TypedDict, total=False):
    """Fields of `Position` to change."""

    kind: NumberKind
    variable: str | None
    row: Index | None
    column: Index | None
    by: str | None
    point: int | None


class AssessmentChanges(TypedDict, total=False):
    """Fields of `Assessment` to change."""

    verdict: Verdict
    reference: float | None
    relative_error: float | None
    note: str
    one_sided: tuple[float, float] | None
    proven: bool
    radius: float | None
    formula: float | None
    difference: float | None
    difference_error: float | None
    ulps: float | None
    digits: int | None
    is_minor: bool
    truth: Any


class Entry(Record):
    """One number of torch, or one formula, with the opinion of every reading.

    The fields of its position and of its assessment are attributes of the entry too.

    Attributes:
        position: Which number it is.
        torch: The number that torch computed; None for a formula.
        assessment: The verdict, and what it is based on.

    >>> entry = Entry(Position("vjp", "x", column=(0,)), 2.5)
    >>> entry.judged(verdict="kink", one_sided=(2.0, 3.0)).verdict, entry.verdict, entry.column
    ('kink', 'unchecked', (0,))
    """

    position: Position = json_field(None)
    torch: float | None = json_field(omit=if_none, before="formula")
    assessment: Assessment = json_field(None, default=Assessment())

    def judged(self, **changes: Unpack[AssessmentChanges]) -> Entry:
        """Return the same number with another opinion, in these fields of its assessment."""
        return entry_of(self.position, self.torch, changed(self.assessment, changes))

    def moved(self, **changes: Unpack[PositionChanges]) -> Entry:
        """Return the same opinion of the number at another position, in these fields of it."""
        return Entry(changed(self.position, changes), self.torch, self.assessment)

    @property
    def kind(self) -> NumberKind:
        """Kind of the number."""
        return self.position.kind

    @property
    @json_property("of", omit=if_empty)
    def matrix(self) -> Of:
        """The object that the entry belongs to; empty for y, J and vᵀJ."""
        kind = self.position.kind
        return "" if kind == "value" or kind == "jacobian" or kind == "vjp" else kind  # noqa: PLR1714 (it narrows)

    of = matrix
    """The same by the name that JSON has."""

    @property
    @json_property(omit=if_none)
    def by(self) -> str | None:
        """The variable of the row, for an entry of a Hessian."""
        return self.position.by

    @property
    @json_property(omit=if_none)
    def variable(self) -> str | None:
        """The x of the block; None for an element of y itself, and of Ju."""
        return self.position.variable

    @property
    @json_property(omit=if_none)
    def row(self) -> Index | None:
        """Index into y; of a Hessian, into the variable `by`; None for an entry of vᵀJ, Hu or the gradient."""
        return self.position.row

    @property
    @json_property(omit=if_none)
    def column(self) -> Index | None:
        """Index into x; None for a formula, and for an element of y or Ju."""
        return self.position.column

    @property
    def point(self) -> int | None:
        """The number of the point, where there are many."""
        return self.position.point

    @property
    @json_property()
    def verdict(self) -> Verdict:
        """The verdict; `unchecked` before it is judged."""
        return self.assessment.verdict

    @property
    @json_property(omit=if_none)
    def formula(self) -> float | None:
        """The value of the closed form, if there is one that was confirmed and can be evaluated here."""
        return self.assessment.formula

    @property
    @json_property(omit=if_none)
    def reference(self) -> float | None:
        """The truth to float64, if it exists; of a removable singularity, the limit."""
        return self.assessment.reference

    @property
    @json_property(omit=if_none)
    def radius(self) -> float | None:
        """The radius of the enclosure of the truth."""
        return self.assessment.radius

    @property
    @json_property(omit=if_none)
    def difference(self) -> float | None:
        """The central finite difference, if it was asked for and there are values around the point."""
        return self.assessment.difference

    @property
    @json_property(omit=if_none)
    def difference_error(self) -> float | None:
        """The error of the finite difference, by its own estimate."""
        return self.assessment.difference_error

    @property
    @json_property(omit=if_none)
    def relative_error(self) -> float | None:
        """The relative error of torch, if both are finite."""
        return self.assessment.relative_error

    @property
    @json_property(omit=if_none)
    def ulps(self) -> float | None:
        """The error of torch in units in the last place of the dtype."""
        return self.assessment.ulps

    @property
    @json_property(omit=if_empty)
    def note(self) -> str:
        """The reason in words, if it does not agree."""
        return self.assessment.note

    @property
    @json_property(omit=if_none)
    def one_sided(self) -> tuple[float, float] | None:
        """The derivatives from the left and from the right, at a kink."""
        return self.assessment.one_sided

    @property
    @json_property()
    def proven(self) -> bool:
        """True if an enclosure decided, rather than a sample, a limit or an estimate."""
        return self.assessment.proven

    @property
    @json_property("measured_digits", omit=if_none)
    def digits(self) -> int | None:
        """The digits to which the truth was measured, of a call or a function; None if it is enclosed."""
        return self.assessment.digits

    @property
    def is_minor(self) -> bool:
        """True if rounding lost digits that are small next to the largest entry of the same gradient."""
        return self.assessment.is_minor

    @property
    def is_slight(self) -> bool:
        """True if digits were lost, and at least three are left or none that matter beside the largest entry."""
        error = self.assessment.relative_error
        is_near = self.verdict == "inaccurate" and error is not None and error <= SLIGHT
        return self.is_minor or is_near

    @property
    def truth(self) -> Any:
        """The enclosure of the truth, a ball, while the entry is judged; answers have `reference`."""
        return self.assessment.truth


_Record = TypeVar("_Record", bound=Record)


def changed(record: _Record, changes: Mapping[str, object]) -> _Record:
    """Copy a record with other values of some fields, as `dataclasses.replace` does and in a tenth of its time.

    >>> changed(Position("value", row=(1,)), {"row": (2,)}).row
    (2,)
    """
    found = object.__new__(record.__class__)
    object.__setattr__(found, "__dict__", {**record.__dict__, **changes})
    return found


_UNJUDGED = Assessment()


def entry_of(position: Position, torch: float | None, assessment: Assessment = _UNJUDGED) -> Entry:
    """Make an entry, in a third of the time that the class takes, as there are many.

    >>> entry_of(Position("value"), 2.0) == Entry(Position("value"), 2.0)
    True
    """
    found = object.__new__(Entry)
    object.__setattr__(found, "__dict__", {"position": position, "torch": torch, "assessment": assessment})
    return found


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


class Check(Record, ShownInALine):
    """The cross-check of torch's numbers and of the formula against the reference.

    Attributes:
        verdict: The worst of all entries and of y; `unchecked` if nothing could be compared.
        entries: Entries of the answer: of J where it was computed, else of vᵀJ.
        checked: How many of them were compared.
        max_relative_error: The largest over the compared entries and elements of y; None if none was.
        findings: Entries that do not agree, worst first, at most 10.
        proven: Whether every entry was decided, by an enclosure or by structure.
        sampled: Whether some entry of the answer, or of a part judged with it, was not looked at.
        findings_count: How many findings there are in all.
        unlisted: The findings beyond those listed, so that all are counted and marked.
        zeros: Entries among those checked that are 0 whatever the numbers are, by structure, and in torch's numbers.
        undecided: Entries that were tried and not decided; above one in a hundred the verdict is `unchecked`.
        chosen: The choice of entries: `all`, or the sample in words.
        notes: Remarks, such as on entries left out and why.
        digits: The fewest digits to which the truth of an entry that agrees was measured; None if all are enclosed.
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
    unlisted: tuple[Entry, ...] = json_field(None, default=())
    zeros: int = json_field("zero_by_structure", omit=if_empty, default=0)
    undecided: int = json_field(omit=if_empty, default=0)
    chosen: str = json_field(omit=lambda check, chosen: chosen == "all", default="all")
    notes: tuple[str, ...] = json_field(omit=if_empty, default=())
    digits: int | None = json_field("measured_digits", omit=if_none, default=None)
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

    @property
    def is_slight(self) -> bool:
        """Tell whether nothing is wrong but digits that were lost where others are left, or do not matter."""
        return self.verdict == "inaccurate" and all(entry.is_slight for entry in self.findings)


class ModeCheck(Record):
    """The check of the numbers of a further mode of differentiation in torch, against the same enclosure.

    Attributes:
        name: The mode: `forward mode`, `second order` or `batched`.
        check: The verdict; `unchecked` if torch has no such numbers, with the reason as a note.
        opinions: The worst entries, at most 1,024.
        opinions_count: How many there are in all.
        failing: The verdicts that do not pass, best first.
        faults: What is wrong at other points only: custom functions that a function of Python applies.
    """

    name: Mode
    check: Check
    opinions: tuple[Entry, ...] = ()
    opinions_count: int = json_field(omit=if_whole("opinions"), default=0)
    failing: tuple[Verdict, ...] = json_field(None, default=())
    faults: tuple[str, ...] = json_field(omit=if_empty, default=())


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
        assumed: What is assumed of variables, in words, if anything is.
        in_general: What became of the claim without that, unless it is refuted.
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
    assumed: str = json_field(omit=if_empty, default="")
    in_general: Literal["", "proved", "agrees", "no counterexample", "refuted"] = json_field(omit=if_empty, default="")

    def passes(self, allowed: Collection[str]) -> bool:
        """Tell whether it is proved or agrees, or is compared without a counterexample, if that is allowed."""
        is_open = self.status == "no counterexample" and self.points > 0
        return self.status in ("proved", "agrees") or (is_open and NO_COUNTEREXAMPLE in allowed)


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
