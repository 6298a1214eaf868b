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

Verdict = Literal["agree", "unchecked", "inaccurate", "kink", "removable", "nan-trap", "undefined", "disagree"]

SEVERITY: tuple[Verdict, ...] = (
    "agree",
    "unchecked",
    "inaccurate",
    "kink",
    "removable",
    "nan-trap",
    "undefined",
    "disagree",
)
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
        variable: The x of the block; None for an element of y itself.
        row: Index into y; None for an entry of vᵀJ.
        column: Index into x; None for a formula, and for an element of y.
        verdict: What is wrong.
        torch: What torch computed; None for a formula.
        reference: The truth to float64, if it exists; of a removable singularity, the limit.
        relative_error: Of torch, if both are finite.
        note: Why, in words.
        one_sided: The derivatives from the left and from the right, at a kink.
        proven: Whether an enclosure decided, and no sample, limit or estimate.
    """

    variable: str | None
    row: tuple[int, ...] | None
    column: tuple[int, ...] | None
    verdict: Verdict
    torch: float | None
    reference: float | None
    relative_error: float | None
    note: str
    one_sided: tuple[float, float] | None = None
    proven: bool = False


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The same function written so that its numbers can be trusted, which was verified.

    Attributes:
        expression: The text of the function.
        reason: What it avoids.
        verdict: Of the rewritten function at the same point.
    """

    expression: str
    reason: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Check:
    """The cross-check of torch's numbers and of the formula against the reference.

    Attributes:
        verdict: The worst of all entries and of y; `unchecked` if nothing could be compared.
        entries: Entries of the answer: of J where it was computed, else of vᵀJ.
        checked: How many of them were compared.
        max_relative_error: The largest over the compared entries and elements of y; None if none was.
        findings: Entries that do not agree, worst first, at most `check.MAX_FINDINGS`.
        findings_count: How many there are in all.
        chosen: How the entries were chosen: `all`, or the sample in words.
        notes: What was left out, and why.
        proven: Whether enclosures decided the verdict, for the entries that were checked.
        rewrite: How to write the function so that the worst finding goes away, if that is known.
    """

    verdict: Verdict
    entries: int
    checked: int
    max_relative_error: float | None
    findings: tuple[Finding, ...] = ()
    findings_count: int = 0
    chosen: str = "all"
    notes: tuple[str, ...] = ()
    proven: bool = False
    rewrite: Rewrite | None = None


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
    """Y alone.

    Attributes:
        check: The verdict on y; None if not asked for.
    """

    check: Check | None = None


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


@dataclass(frozen=True, slots=True)
class Opinion:
    """What each reading says of one entry of the Jacobian.

    Attributes:
        variable: The x of the block; None for an element of y itself.
        row: Index into y; None for an entry of vᵀJ.
        column: Index into x; None for an element of y.
        torch: What autograd computed.
        formula: The value of the closed form, if there is one that was confirmed and can be evaluated here.
        reference: The middle of the enclosure, if there is one.
        radius: Its radius.
        difference: The central finite difference in float64, if the function has values around the point.
        difference_error: How far that may be off, by its own estimate.
        relative_error: Of torch, against the enclosure.
        ulps: The same in units in the last place of the dtype.
        verdict: Of the entry.
        proven: Whether the enclosure decided.
        note: Why, in words, if it does not agree.
        one_sided: The derivatives from the left and from the right, at a kink.
    """

    variable: str | None
    row: tuple[int, ...] | None
    column: tuple[int, ...] | None
    torch: float
    formula: float | None
    reference: float | None
    radius: float | None
    difference: float | None
    difference_error: float | None
    relative_error: float | None
    ulps: float | None
    verdict: Verdict
    proven: bool
    note: str = ""
    one_sided: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """What became of a derivative that somebody claims.

    Attributes:
        variable: The x that it is by.
        text: As given.
        of: What its shape makes it: the gradient, the Jacobian, or vᵀJ.
        status: Proved for all points, not refuted at the points tried, or refuted.
        points: How many points were tried.
        entry: The index of the entry that refutes it.
        claimed: What it says of that entry.
        truth: What is true.
        at: The point of the counterexample.
        v: The gradient vector there, if the claim is for every v.
        mistake: The likeliest mistake, if it is a classic one.
        note: What else there is to say.
    """

    variable: str
    text: str
    of: Literal["gradient", "Jacobian", "vector-Jacobian product"]
    status: Literal["proved", "no counterexample", "refuted"]
    points: int
    entry: tuple[int, ...] | None = None
    claimed: float | None = None
    truth: float | None = None
    at: Mapping[str, Array] | None = None
    v: Array | None = None
    mistake: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sampling:
    """What a check found at random points.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking(Differentiation):
    """What all readings say, entry by entry, worst first.

    Attributes:
        opinions: At most `check.MAX_OPINIONS`.
        opinions_count: How many there are in all: entries and elements of y.
        allowed: The verdicts that pass beside `agree`.
        passed: Whether all verdicts pass and no claim is refuted.
        claims: What became of each claim.
        sampling: What random points gave, if they were asked for.
        v: The gradient vector, if the entries are of vᵀJ.
        vjp: The vector-Jacobian product, then.
    """

    opinions: tuple[Opinion, ...]
    opinions_count: int
    allowed: tuple[Verdict, ...]
    passed: bool
    claims: tuple[Claim, ...] = ()
    sampling: Sampling | None = None
    v: Array | None = None
    vjp: Mapping[str, Array] | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function.

    Attributes:
        name: As a keyword.
        is_constant: Whether it takes a constant, such as a dimension; the others take expressions.
        is_required: Whether it has no default.
        default: What stands for it where it is left out.
    """

    name: str
    is_constant: bool
    is_required: bool
    default: int | float | bool | str | tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionEntry:
    """A function of the language, as the list of functions has it.

    Attributes:
        name: The name in the language.
        group: What people look for it under.
        usage: The call with its defaults, `var(x, dim=None, correction=1, keepdim=False)`.
        parameters: In torch's order.
        aliases: Other names that are called in the same way.
        spellings: Other ways to write it: operators, methods, names of modules.
        doc: What it computes, in one line.
        domain: Where the value is real, as a condition on the parameters; empty for everywhere.
        kinks: Expressions of the parameters that vanish where the derivative jumps.
        is_step: Whether the value jumps there too.
        caveat: What to know beyond that.
    """

    name: str
    group: str
    usage: str
    parameters: tuple[Parameter, ...]
    aliases: tuple[str, ...]
    spellings: tuple[str, ...]
    doc: str
    domain: str = ""
    kinks: tuple[str, ...] = ()
    is_step: bool = False
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The definition of a function in the language itself.

    Attributes:
        case: The constant argument that it is for, `reduction='mean'`; empty where there is one definition.
        text: The definition.
        short: The same for people: without the arguments that it hands on as they are, or by its difference.
    """

    case: str
    text: str
    short: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPage:
    """All that there is to say of one function.

    Attributes:
        entry: Its row of the list.
        meanings: Its definition, case by case; none for a primitive.
        meaning_note: What to know of the definitions, or in their place.
        inner_kinks: Expressions that vanish where an operation of the definition has a kink or jumps.
        derivative: Expression, formulas and reasons, as `Function.jacobian` has them.
        derivative_note: What to know of the formulas.
        example_command: What to type for the example.
        example: What it answers.
    """

    entry: FunctionEntry
    meanings: tuple[Meaning, ...]
    meaning_note: str
    inner_kinks: tuple[str, ...]
    derivative: Jacobian
    derivative_note: str
    example_command: str
    example: VJP | Gradient


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows of the list of functions.

    Attributes:
        entries: In the order of the groups.
        word: What was searched for; empty for the whole list.
        is_brief: Whether to show only the names of each group.
    """

    entries: tuple[FunctionEntry, ...]
    word: str = ""
    is_brief: bool = False


@dataclass(frozen=True, slots=True)
class Functions:
    """What the command `functions` answers: pages and lists, in the order asked for."""

    parts: tuple[FunctionPage | Listing, ...]
    warnings: tuple[str, ...] = ()
