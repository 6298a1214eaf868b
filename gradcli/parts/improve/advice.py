"""Advice on numbers that cannot be trusted: the place where they went wrong, and a better form of the function.

A rewrite is the same function by its rule.  As a safety net, balls must not tell the two apart, at the point and at
some points around it, in values and in derivatives, by the reference reading alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from flint import arb

from gradcli.crosscheck.advising import AdvisedPoint, JudgeForm, count_nans
from gradcli.crosscheck.compare import spaced
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.crosscheck.summary import MAX_FINDINGS, worth_listing
from gradcli.errors import GradcliError, Span
from gradcli.language.lower.names import shadowed
from gradcli.language.parsing import parse
from gradcli.language.program.positions import position_names
from gradcli.language.program.wengert import Program
from gradcli.parts.improve.diagnosis import diagnose
from gradcli.parts.improve.error_trace import DiagnosisContext
from gradcli.parts.improve.expansions import with_series
from gradcli.parts.improve.exploring import MOST_OPERATIONS, better, candidates, finite_candidates, readable, searched
from gradcli.parts.improve.forms import Form
from gradcli.parts.improve.identities import FRACTIONS, NEAR
from gradcli.parts.improve.measuring import ENOUGH, Measure, around, enclosed, point_of
from gradcli.reference.balls import Ball
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import SEVERITY, Array, Rewrite

BOXES = ((-2.0, 2.0), (0.1, 0.9), (1.1, 3.0), (-1.0, -0.1))
"""Ranges of the random points, besides one near the given point: both signs, inside and outside the unit interval."""

NEARNESS = 2.0**-10
"""Largest relative distance from the given point to the point near it."""

SEED = 0
"""Seed of the random points."""

MOST_COMPARED = 8
"""Most elements of y, and of each variable, that are compared."""

TIGHT_BITS = 40
"""Relative bits of a ball that is tight enough for a comparison to count."""

NOTHING = arb(2) ** -256
"""Radius below which a ball is taken as known, such as the ball of a 0."""


def is_same(original: Program, text: str, inputs: Mapping[str, Array]) -> bool:
    """Tell whether a text is the function of a Program near a point; False where nothing could be compared.

    Args:
        original: The function as typed.
        text: A text in the same variables.
        inputs: Values of the variables; the point itself is compared if both exist there.

    >>> is_same(parse("1 - cos(x)"), "2*sin(x/2)**2", {"x": np.array(0.0)})
    True
    >>> is_same(parse("1 - cos(x)"), "x**2/2", {"x": np.array(0.0)})
    False
    """
    return is_same_at(original, text, list(beside(inputs, position_names(original))))


def is_same_at(original: Program, text: str, points: Sequence[Mapping[str, Array]]) -> bool:
    """Tell whether a text is the function of a Program at these points; False where nothing could be compared.

    Args:
        original: The function as typed.
        text: A text in the same variables.
        points: Values of the variables, of one shape at all points.

    >>> is_same_at(parse("x"), "abs(x)", [{"x": np.array(0.5)}])
    True
    """
    shapes = {name: array.shape for name, array in points[0].items()}
    try:
        other = parse(text, given=shadowed(original.names), shapes=shapes)
        if set(other.names) != set(original.names):
            return False
        pairs = [(point_of(original, at), point_of(other, at)) for at in points]
    except GradcliError:
        return False
    if pairs[0][0].shapes.get(pairs[0][0].program.output) != pairs[0][1].shapes.get(pairs[0][1].program.output):
        return False
    found = [_compared(first, second) for first, second in pairs]
    return None not in found and any(found)


def beside(inputs: Mapping[str, Array], still: Collection[str] = ()) -> Iterator[Mapping[str, Array]]:
    """Yield the points at which a form is compared: the given point, one near it, and one in each box.

    Args:
        inputs: The given point.
        still: Names of variables that stay what they are.
    """
    generator = np.random.default_rng(SEED)
    given = {name: array.astype(np.float64) for name, array in inputs.items()}
    yield given
    with np.errstate(over="ignore", invalid="ignore"):  # next to the largest number, or beyond it
        near = {
            name: x + NEARNESS * (np.abs(x) + (x == 0)) * generator.uniform(0.5, 1, x.shape) * (name not in still)
            for name, x in given.items()
        }
    yield near
    for low, high in BOXES:
        drawn = {name: np.asarray(generator.uniform(low, high, x.shape)) for name, x in given.items()}
        yield drawn | {name: x for name, x in given.items() if name in still}


def _compared(first: FunctionAtPoint, second: FunctionAtPoint) -> int | None:
    """Count the numbers that are known and the same; None if two differ, or only the second does not exist."""
    rows = np.array(spaced(range(first.rows), MOST_COMPARED), dtype=np.int64)
    sizes = {x: range(first.inputs[str(x)].size) for x in first.program.variables}
    columns = [(x, j) for x, size in sizes.items() for j in spaced(size, MOST_COMPARED)]
    try:
        pairs = zip(*(enclosed(one, columns, rows, _is_tight) for one in (first, second)), strict=True)
        found = [_agree(*pair) for pair in pairs]
    except (OverBudgetError, ValueError):  # or y is too much to look at in one of them
        return 0
    return None if False in found else found.count(True)


def _agree(ours: Outcome, theirs: Outcome) -> bool | None:
    """Tell whether two numbers are the same; None if that is not known, or the first does not exist."""
    if isinstance(ours, Undefined) or isinstance(theirs, Undefined):
        return False if not isinstance(ours, Undefined) and isinstance(theirs, Undefined) and theirs.decided else None
    if not ours.overlaps(theirs):
        return False
    return True if _is_tight(ours) and _is_tight(theirs) else None


def _is_tight(ball: Ball) -> bool:
    """Tell whether a ball is known to enough relative bits, or is so small that it may be a 0, which has none."""
    return bool(ball.is_exact() or ball.rel_accuracy_bits() >= TIGHT_BITS or ball.rad() < NOTHING)


FEW_VALUES = 500
"""Most values of a function for all of its listed findings to be diagnosed; beyond this, only the worst is."""

MOST_TRIED = 12
"""Most rewritten texts that are run."""

MOST_LINES = 2_400
"""Most operations of all these texts together: twelve of an ordinary function, one of a sum of hundreds of terms."""

MOST_OFFERED = 4
"""Most forms of a search that are judged."""


def explained(point: AdvisedPoint, judgement: Judgement, v: Array | None) -> Judgement:
    """Name in the findings the operations at fault.

    Args:
        point: The function as torch runs it.
        judgement: The verdicts on the function.
        v: The gradient vector, if there is one.
    """
    return _explained(point, judgement, v)[0]


def advised(point: AdvisedPoint, judgement: Judgement, v: Array | None, judge_form: JudgeForm) -> Judgement:
    """Name in the findings the operations at fault, and add a form of the function that has a better verdict.

    Args:
        point: The function as torch runs it.
        judgement: The verdicts on the function.
        v: The gradient vector, if there is one.
        judge_form: The verdict of another text at the same point, None if it has none.

    Raises:
        OverTimeError: The time is over.
    """
    found, culprit = _explained(point, judgement, v)
    if found.check.verdict in ("undefined", "kink"):
        check = replace(found.check, rewrite=finite_form(point.program, point.inputs, found, judge_form))
        if check.verdict == "undefined" and (check.rewrite is None or check.rewrite.verdict != "agree"):
            check = replace(check, notes=(*check.notes, *near_form(point.program, point.inputs, judge_form)))
        return replace(found, check=check)
    is_held_back = found.check.verdict == "disagree" and bool(_held_back(point.program))
    if found.check.verdict not in ("inaccurate", "removable", "nan-trap") and not is_held_back:
        return found

    def measured() -> Measure:
        points = around(point.inputs, point.dtype, still=position_names(point.program))
        return Measure(point.program, points, point.wrt, point.dtype)

    rewrite = _rewritten(point.program, point.inputs, found, culprit, judge_form, measured)
    return replace(found, check=replace(found.check, rewrite=rewrite))


def forms_that_lose_less(point: AdvisedPoint) -> Iterator[str]:
    """Yield other forms of the function that lose fewer digits at the point, the best first.

    Raises:
        OverTimeError: The time is over.
    """
    original = readable(point.program, {name: array.shape for name, array in point.inputs.items()})
    points = around(point.inputs, point.dtype, still=position_names(point.program))
    measure = Measure(point.program, points, point.wrt, point.dtype, enough=ENOUGH)
    loss = None if original is None else measure.lost_bits(point.program)
    if original is None or loss is None or measure.agrees(loss):
        return
    for form in _searched(original, lambda: measure):
        if is_same(point.program, form.same.text, point.inputs):
            yield form.value_text


def _explained(point: AdvisedPoint, judgement: Judgement, v: Array | None) -> tuple[Judgement, Span | None]:
    """Return the judgement with the operations at fault, and the place in the text of the worst finding's."""
    context = DiagnosisContext(point.program, point.shapes, point.inputs, point.wrt, point.dtype, point.record)
    most = MAX_FINDINGS if context.values <= FEW_VALUES else 1
    # The walk from a wrong number back to its cause is for y and first derivatives.
    entries = [e for e in judgement.entries if e.kind not in ("hessian", "hvp", "jvp")]
    listed = [e for e in worth_listing(entries) if e.verdict in ("inaccurate", "nan-trap")]
    faults = {entry: fault for entry in listed[:most] if (fault := diagnose(context, entry, v)) is not None}
    found = {entry: entry.judged(note=f"{entry.note}: {fault.note}") for entry, fault in faults.items()}
    if said := _held_back(point.program):
        wrong = [entry for entry in entries if entry.verdict == "disagree" and entry.kind != "value"]
        found |= {entry: entry.judged(note=said) for entry in wrong}
    if not found:
        return judgement, None
    span = next((fault.span for fault in faults.values()), None)
    return judgement.changed(lambda entry: found.get(entry, entry)), span


def _held_back(program: Program) -> str:
    """Say what torch computes where a backward pass of its own holds a number back from 0; empty where none does."""
    adjoints = ((line.call.op, one) for line in program.lines for one in line.call.op.adjoints.values())
    said = "torch's backward of {} keeps the denominator from 0: it is {}"
    return next((said.format(op.name, one) for op, one in adjoints if "maximum(" in one), "")


def _rewritten(
    program: Program,
    inputs: Mapping[str, Array],
    judgement: Judgement,
    culprit: Span | None,
    judge_form: JudgeForm,
    measured: Callable[[], Measure],
) -> Rewrite | None:
    """Find the same function in a form that torch can be trusted with: one with a better verdict at the point.

    Known cures are tried first; only where none of them gives numbers that agree, other forms are searched.

    Args:
        program: The function as typed.
        inputs: The values of its variables.
        judgement: The judgement of the function as it is.
        culprit: The place of the operation at fault, if it is known.
        judge_form: The verdict of another text at the same point, None if it has none.
        measured: Gives the measure of the bits that other forms lose, at the point and around it.
    """
    best: Rewrite | None = None
    worst = SEVERITY.index(judgement.check.verdict)
    original = readable(program, {name: array.shape for name, array in inputs.items()})
    if original is None:
        return None
    most = min(MOST_TRIED, max(1, MOST_LINES // max(1, len(program.lines))))
    known = itertools.islice(_candidates(original, inputs, judgement, culprit), most)
    try:
        for form in itertools.chain(known, _searched(original, measured)):
            judged = judge_form(form.text)
            if judged is None or judged.nan_derivatives or SEVERITY.index(judged.verdict) >= worst:
                continue
            if is_same(program, form.same.text, inputs):
                basis = form.basis.text if form.basis is not None else ""
                best = Rewrite(form.value_text, "; ".join(form.reasons), judged.verdict, basis)
                worst = SEVERITY.index(judged.verdict)
                if judged.verdict == "agree":
                    break
    except OverTimeError:
        if best is None:
            raise
    return best


def finite_form(
    program: Program, inputs: Mapping[str, Array], judgement: Judgement, judge_form: JudgeForm
) -> Rewrite | None:
    """Find the same function in a form for which torch gives a number where it gives NaN for the typed one.

    The derivative may not exist there: torch then gives a subgradient, or the limit from one side.

    Args:
        program: The function as typed.
        inputs: The values of its variables.
        judgement: The judgement of the function as it is.
        judge_form: The verdict of another text at the same point, None if it has none.
    """
    fewest = count_nans(judgement.entries)
    original = readable(program, {name: array.shape for name, array in inputs.items()}) if fewest else None
    best: Rewrite | None = None
    if original is not None and (meant := FRACTIONS.everywhere(original, 1)) is not None:
        original, program = meant, meant.program
    misses = any(np.isnan(array).any() for array in inputs.values())
    for form in () if original is None else finite_candidates(original, misses_values=misses):
        judged = judge_form(form.text)
        if judged is None or judged.nans >= fewest or judged.nan_derivatives:  # a number without a slope is no cure
            continue
        is_worse = SEVERITY.index(judged.verdict) > SEVERITY.index(judgement.check.verdict)
        if not is_worse and judged.verdict != "nan-trap" and is_same(program, form.same.text, inputs):
            best, fewest = Rewrite(form.value_text, "; ".join(form.reasons), judged.verdict), judged.nans
    return best


def near_form(program: Program, inputs: Mapping[str, Array], judge_form: JudgeForm) -> Iterator[str]:
    """Name another function near the typed one that has a finite derivative, where no form of that has; if one has.

    Args:
        program: The function as typed.
        inputs: The values of its variables.
        judge_form: The verdict of another text at the same point, None if it has none.
    """
    original = readable(program, {name: array.shape for name, array in inputs.items()})
    if original is None:
        return
    meant = FRACTIONS.everywhere(original, 1) or original
    for form in filter(None, (rule.everywhere(meant, 1) for rule in NEAR)):
        judged = judge_form(form.text)
        if judged is not None and judged.verdict == "agree":
            reasons = [reason for reason in form.reasons if reason not in meant.reasons]
            yield f"another function has a finite derivative here: {form.value_text}, in which {'; '.join(reasons)}"
            return


def _candidates(
    original: Form, inputs: Mapping[str, Array], judgement: Judgement, culprit: Span | None
) -> Iterator[Form]:
    """Yield the known forms of the function as typed, and for a removable singularity the form with its series."""
    yield from candidates(original, culprit)
    found = with_series(original, inputs) if judgement.check.verdict == "removable" else None
    if found is not None:
        yield found


def _searched(original: Form, measured: Callable[[], Measure]) -> Iterator[Form]:
    """Yield forms that lose fewer bits at and around the point, the best first; search once the first is asked for."""
    if len(original.program.lines) <= MOST_OPERATIONS:
        yield from (one.form for one in better(searched(original, measured()))[:MOST_OFFERED])
