"""The one way to judge an answer: torch's numbers, the causes of wrong ones, and the formulas.

Answers differ only in the numbers that torch gave (`gradcli.crosscheck.point.Numbers`) and in the derivative that the
formulas are of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from gradcli.crosscheck.advising import AdvisedPoint, Adviser, JudgedForm, count_nans
from gradcli.crosscheck.compare import Tolerance
from gradcli.crosscheck.formulas import Derived, Formulas, confirm_at, with_mismatches
from gradcli.crosscheck.judge import Judgement, judge, withheld
from gradcli.crosscheck.point import Numbers
from gradcli.crosscheck.summary import joined
from gradcli.errors import GradcliError
from gradcli.language.lower.names import shadowed
from gradcli.language.parsing import parse
from gradcli.language.program.expansion import PADDING
from gradcli.option_words import Words, option
from gradcli.parts import all_parts
from gradcli.progress import collector_paused, set_step
from gradcli.questions.bound_function import BoundFunction, rounded
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import Array, Check, Entry, Mode, Verdict

if TYPE_CHECKING:
    from gradcli.crosscheck.boundaries import Boundary

ROUNDINGS = 2**10
"""Asymmetry, in roundings of the dtype, up to which a computed matrix counts as symmetric."""

MOST_IN_FLOAT32 = 1_000
"""Most numbers that are computed in float32 too, for a remark."""


def confirm_formulas(
    bound: BoundFunction, numbers: Numbers, judgement: Judgement | None, derived: Derived | None = None
) -> tuple[Formulas, Check | None]:
    """Confirm formulas by the reference, at each entry that was judged; the check says where one does not hold.

    Args:
        bound: The function at its point.
        numbers: Torch's.
        judgement: The verdicts on them, if they were judged.
        derived: Their formulas; by default those of the Jacobian, which are confirmed once for a function of Python.
    """
    check, evidence = (judgement.check, judgement.evidence) if judgement else (None, None)
    if not numbers.derivatives:
        return Formulas(), check
    known = {} if bound.recording is None or derived is not None else bound.recording.formulas
    if bound.wrt in known:
        formulas, derived = known[bound.wrt]
    else:
        derived = derived or bound.derived
        formulas, check = confirm_at(check, bound.point, evidence, bound.program, derived)
        if not formulas.refuted:
            known[bound.wrt] = formulas, derived
    if judgement is None or check is None:
        return formulas, check
    v = numbers.v if numbers.is_of_rows and not numbers.passes else None
    with collector_paused():
        return with_mismatches(formulas, replace(judgement, check=check), bound.point, derived, v)


def judge_numbers(bound: BoundFunction, numbers: Numbers, ask: Callable[[BoundFunction], Numbers]) -> Judgement:
    """Judge torch's numbers against the reference, with advice on those that are wrong, or would be in float32.

    Args:
        bound: The function at its point.
        numbers: Torch's.
        ask: Asks torch for the same numbers of another function, or in another dtype.
    """
    with time_limit():
        found = compare_numbers(bound, numbers)
        found = with_advice(bound, found, numbers.v, ask)
    return with_remark_on_float32(bound, found, ask)


def with_remark_on_float32(
    bound: BoundFunction, judgement: Judgement, ask: Callable[[BoundFunction], Numbers]
) -> Judgement:
    """Remark that finite numbers of a typed function are NaN or infinite in float32, torch's default."""
    is_asked = bound.recording is None and bound.dtype == "float64" and bound.reread_at is None
    size = sum(array.size for array in bound.arrays.values())
    if not is_asked or not 0 < len(judgement.entries) <= MOST_IN_FLOAT32 >= size or not _are_finite(judgement.entries):
        return judgement
    try:
        arrays = {name: rounded(array, "float32") for name, array in bound.arrays.items()}
        numbers = ask(replace(bound, dtype="float32", arrays=arrays))
    except GradcliError:
        return judgement
    derivatives = [array for by_pair in numbers.derivatives.values() for array in by_pair.values()]
    lost = ["y"] if not np.isfinite(numbers.value).all() else []
    lost += ["the derivative"] if not all(np.isfinite(array).all() for array in derivatives) else []
    if not lost:
        return judgement
    said = f"in float32, torch's default, {' and '.join(lost)} would be NaN or infinite"
    remark = Words(f"{said}: {option('dtype', 'float32')}")
    return replace(judgement, check=replace(judgement.check, notes=(*judgement.check.notes, remark)))


def _are_finite(entries: Iterable[Entry]) -> bool:
    return all(entry.torch is None or math.isfinite(entry.torch) for entry in entries)


def compare_numbers(
    bound: BoundFunction, numbers: Numbers, tolerance: Tolerance | None = None, *, blames: bool = True
) -> Judgement:
    """Judge torch's numbers against the reference; with a kink for each condition that changes nearby.

    Args:
        bound: The function at its point.
        numbers: Torch's.
        tolerance: How far a number may be from the truth; by default that of the dtype.
        blames: Whether to look for the code of the user's that makes a gradient wrong, which takes time.
    """
    if numbers.is_of_rows:
        found = judge(bound.point, numbers, bound.wrt, tolerance)
    else:
        from gradcli.crosscheck.second_derivatives import judge_derived

        found = judge_derived(bound.point, numbers, bound.wrt, tolerance)
    if found.check.verdict == "disagree" and (reason := _doubt(bound)):
        found = withheld(found, reason)
    if bound.recording is not None:
        from gradcli.questions.held_constant import released_judgement

        judgement = bound.recording.judged(released_judgement(bound, numbers, found), numbers, bound)
        return with_blame(bound, judgement, numbers.differentiation) if blames else judgement
    if any(line.call.op.is_held or PADDING in line.call.op.statics for line in bound.program.lines):
        from gradcli.questions.held_constant import with_cut

        found = with_cut(bound, numbers, found)
    if bound.program.guards is None:
        return found
    from gradcli.crosscheck.boundaries import findings_of

    return found.joined(findings_of(boundaries(bound), bound.value))


def with_blame(bound: BoundFunction, judgement: Judgement, mode: Mode | Literal[""] = "") -> Judgement:
    """Blame a disagreement on code of the user's that makes gradients wrong: a custom function, or a hook.

    Args:
        bound: The function at its point.
        judgement: The judgement of torch's numbers.
        mode: The mode of differentiation in which torch computed them, if not the usual one.
    """
    if bound.recording is None or judgement.check.verdict != "disagree":
        return judgement
    said = bound.recording.blamed(bound.wrt, mode)
    if not said:
        return judgement
    is_measured = bound.recording.is_blame_measured(mode)  # the truth of the recording is then no truth
    suspects: tuple[Verdict, ...] = ("disagree", "inaccurate") if is_measured else ("disagree",)

    def named(entry: Entry) -> Entry:
        is_of_value = entry.variable is None and not entry.of
        if is_of_value or entry.verdict not in suspects:
            return entry
        found = entry.judged(verdict="disagree", note=said)
        return found.judged(truth=None, relative_error=None, proven=False) if is_measured else found

    return judgement.changed(named)


def boundaries(bound: BoundFunction) -> Iterator[Boundary]:
    """Yield the conditions that change next to the point."""
    if bound.recording is not None:
        yield from bound.recording.boundaries(bound.wrt)
    elif bound.program.guards is not None:
        from gradcli.crosscheck.boundaries import at_boundaries

        yield from at_boundaries(bound.program.guards, bound.shapes, bound.arrays, bound.wrt)


def _doubt(bound: BoundFunction) -> str:
    """Say why torch is not to be blamed, as digits are not judged or one triangle of a matrix is read; else "".

    Torch derives by both triangles of a matrix that it takes to be symmetric.
    """
    from gradcli.autodiff.run import array_of, run

    if bound.recording is not None and bound.recording.doubt:
        return bound.recording.doubt
    for n, line in enumerate(bound.program.lines):
        for operand in (line.call.operands[line.call.op.operands.index(name)] for name in line.call.op.symmetric):
            to_operand = replace(bound.program, lines=bound.program.lines[:n], output=operand)
            matrix = array_of(run(to_operand, bound.arrays, (), bound.dtype).output)
            difference = np.abs(matrix - np.swapaxes(matrix, -1, -2)).max(initial=0)
            if difference > np.abs(matrix).max(initial=0) * ROUNDINGS * np.finfo(bound.dtype).eps:
                shown = bound.program.excerpt(line)
                return f"in {shown} the matrix is not symmetric, of which torch reads one triangle and derives by both"
    return ""


def with_advice(
    bound: BoundFunction,
    judgement: Judgement,
    v: Array | None,
    ask: Callable[[BoundFunction], Numbers] | None = None,
    tolerance: Tolerance | None = None,
) -> Judgement:
    """Add the causes of numbers that cannot be trusted to the judgement, and a better way to write the function.

    Args:
        bound: The function at its point.
        judgement: The verdicts on torch's numbers for it.
        v: The gradient vector, if there is one.
        ask: Asks torch for the same numbers of another function; by default for its first derivatives.
        tolerance: How far a number may be from the truth; by default that of the dtype.
    """
    if (
        judgement.check.verdict == "agree"
        or (judgement := _with_replaced(bound, judgement)).check.verdict == "unchecked"
    ):
        return judgement
    if (of_code := _with_cause_in_code(bound, judgement, v)) is not None:
        return of_code

    def judge_form(text: str) -> JudgedForm | None:
        set_step("trying another way to write it")
        return judged_form(bound, text, v, ask, tolerance)

    with suppress(OverTimeError), time_limit():
        set_step("looking for what is to blame")
        for adviser in _advisers():
            found = adviser.advised(advised_point(bound), judgement, v, judge_form)
            rewrite = found.check.rewrite or judgement.check.rewrite
            judgement = replace(found, check=replace(found.check, rewrite=rewrite))
    return judgement


def _with_replaced(bound: BoundFunction, judgement: Judgement) -> Judgement:
    """Add what the function puts in the place of NaN and of infinities, with the gradient that it passes on there."""
    from gradcli.crosscheck.replaced_values import replaced_values  # which few answers need

    is_nan = any(one.torch is not None and math.isnan(one.torch) for one in judgement.entries if one.variable)
    return judgement.joined(notes=[*replaced_values(bound.program, bound.arrays, is_nan=is_nan)])


def _with_cause_in_code(bound: BoundFunction, judgement: Judgement, v: Array | None) -> Judgement | None:
    """Name the user's code that makes a derivative NaN or infinite while torch goes back; None if none does.

    No form of the function mends that: torch differentiates no line of the forward next to a backward of its own.
    """

    def is_poisoned(entry: Entry) -> bool:
        is_lost = entry.torch is not None and not math.isfinite(entry.torch)
        return entry.variable is not None and is_lost and entry.verdict != "agree"

    if bound.recording is None or not any(map(is_poisoned, judgement.entries)):
        return None
    said = bound.recording.nonfinite_in_backward(bound.wrt, v)
    if not said:
        return None
    return judgement.changed(
        lambda entry: entry.judged(note=_joined_note(entry, said)) if is_poisoned(entry) else entry
    )


def _joined_note(entry: Entry, said: str) -> str:
    return ": ".join(filter(None, (entry.note, said)))


def explained(bound: BoundFunction, judgement: Judgement, v: Array | None) -> Judgement:
    """Name the operations at fault in the findings."""
    for adviser in _advisers():
        judgement = adviser.explained(advised_point(bound), judgement, v)
    return judgement


def forms_that_lose_less(bound: BoundFunction) -> Iterator[str]:
    """Yield other forms of a function that lose fewer digits at its point, the best first.

    Raises:
        OverTimeError: The time is over.
    """
    for adviser in _advisers():
        yield from adviser.forms_that_lose_less(advised_point(bound))


def advised_point(bound: BoundFunction) -> AdvisedPoint:
    """Return a question in the form that advisers read."""
    point = bound.program, bound.shapes, bound.arrays, bound.wrt, bound.dtype
    return AdvisedPoint(*point, bound.record)


def _advisers() -> Iterator[Adviser]:
    """Yield what the parts have to say about wrong numbers."""
    return filter(None, (part.adviser() for part in all_parts()))


def judged_form(
    bound: BoundFunction,
    text: str,
    v: Array | None,
    ask: Callable[[BoundFunction], Numbers] | None = None,
    tolerance: Tolerance | None = None,
) -> JudgedForm | None:
    """Judge another text of the same function at the same point; None if it cannot be run."""
    arrays = bound.arrays
    try:
        shapes = {name: array.shape for name, array in arrays.items()}
        program = parse(text, given=shadowed(arrays), shapes=shapes)
        other = bound.another(program, arrays, bound.wrt)
        first = other.first_derivatives
        numbers = ask(other) if ask else first({} if v is None else {program.output_name: v})
        found = compare_numbers(other, numbers, tolerance)
    except GradcliError:
        return None
    derivatives = [entry for entry in found.entries if entry.variable is not None]
    return JudgedForm(found.check.verdict, count_nans(found.entries), count_nans(derivatives))


def with_part(check: Check, part: Check, of: str = "") -> Check:
    """Join a check of another part to the answer's, with a note on its coverage if the part is named."""
    note = f"of {of}, {part.checked:,} of {part.entries:,} entries were checked"
    notes = (note, *part.notes) if of else part.notes
    return replace(joined([check, replace(part, notes=notes)]), checked=check.checked)
