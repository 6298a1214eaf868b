"""The verdict on a claim: it is compared at the point, then at others, then proved if nothing refutes it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from gradcli.arrays import told_apart
from gradcli.crosscheck.compare import Tolerance, to_float
from gradcli.language.inputs import Value
from gradcli.language.program.opaque import opaque_outputs
from gradcli.language.program.wengert import show
from gradcli.option_words import Words, marked, option
from gradcli.parts.claims.claim_readings import (
    ClaimedFunction,
    Reading,
    doubts_in,
    read,
    read_function,
    read_numbers,
    under_assumption,
)
from gradcli.parts.claims.evaluation import LAST_BITS, ClaimComparison, Look
from gradcli.parts.claims.proof_boxes import ClaimBox
from gradcli.parts.claims.search import MOST_WORK, POINTS, Search
from gradcli.parts.claims.structures import Assumed, in_words, projected_numbers
from gradcli.parts.claims.subject import Subject
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import Array, Claim

if TYPE_CHECKING:
    from gradcli.parts.claims.proof import Proof

TRIES = 30
"""Random points that are tried for the few that show what a mistake is."""

FEWEST_RIGHT = 2
"""Of these, how many have to show none before a claim is called right in part: one may be an accident."""


def claimed(
    subject: Subject,
    claim: str | ClaimedFunction,
    inputs: Mapping[str, Array],
    tolerance: Tolerance,
    *,
    points: int = POINTS,
    seed: int = 0,
    dtype: str = "float64",
    anew: Callable[[Mapping[str, Array]], Subject | None] | None = None,
    box: ClaimBox | None = None,
    is_explained: bool = True,
) -> Claim:
    """Judge a claimed formula for a derivative, or a function that is to give it.

    A function agrees where it gives the truth at the point and, if nothing is proved of it, at others too.

    Args:
        subject: What it is about.
        claim: A formula in the variables and v, or a function; its shape says what it is of (see `subject`).
        inputs: The point.
        tolerance: That of a claim with rounded decimals, `0.3333*x`; others are refuted by any difference.
        points: How many other points to try.
        seed: Of the random ones.
        dtype: That the points are rounded to.
        anew: Of a function that values decide, what it is at a point; None at a boundary, where it has no derivative.
        box: Where the claim is to hold, if not at all points; the given point is one of it.
        is_explained: Whether the likeliest mistake is searched for.

    Raises:
        GradcliError: The claim cannot be read, or has no derivative's shape, or the function fails at the point.

    >>> from gradcli.language.parsing import parse
    >>> f = parse("x**3")
    >>> cube, at = Subject.from_program(f, {f.variables[0]: ()}, "x", None), {"x": np.array(2.0)}
    >>> claimed(cube, "3*x**2", at, Tolerance(2**-30)).status
    'proved'
    >>> wrong = claimed(cube, "x**2", at, Tolerance(2**-30))
    >>> wrong.status, wrong.claimed, wrong.truth, wrong.mistake.split(";")[0]
    ('refuted', 4.0, 12.0, 'the power rule: the exponent 3 is not brought down')
    """
    text = claim if isinstance(claim, str) else claim.text
    comparison = _compared(subject, claim, inputs, tolerance)
    is_only_called = comparison.program is None  # a function that cannot be read is called at each point
    there = partial(_comparison_at, comparison, claim, anew) if anew is not None or is_only_called else None
    taken = inputs.keys() if isinstance(claim, str) or not is_only_called else claim.arguments
    fixed = {name: array for name, array in inputs.items() if name not in taken}
    search = Search(comparison, inputs, seed, dtype, there, fixed, points, box)
    here, notes = _at_the_point(comparison, inputs, is_smooth=anew is None or anew(inputs) is not None)
    counted = int(bool(here.seen))
    failing = here if here.worst is not None else None
    unproved = _unproved_reason(subject, text, is_called=is_only_called, is_of_values=anew is not None)
    proof: Proof | None = None
    if (failing is None or not failing.shows) and comparison.entries:
        # A point that shows the difference in its first digits is a better answer than the given one.
        is_provable = failing is None and not (unproved or comparison.reading.is_transposed)
        proof, tried, found = _searched(search, comparison, counted, is_provable=is_provable)
        counted, failing = counted + tried, found or failing
    here = here if box is None else replace(here, seen=(), missing={})  # any point of the box
    if failing is not None:
        notes += _explained(search, claim, here, failing) if is_explained else []
        likeliest = _likeliest(comparison, search, failing) if is_explained else ""
        return _refuted(comparison, text, failing, counted, likeliest, notes)
    if comparison.reading.is_transposed:
        return _refuted(comparison, text, here, counted, "", notes)
    answer = _unrefuted(comparison, text, here, counted, notes, unproved, proof)
    is_right = not isinstance(claim, str) and answer.status == "no counterexample" and here.seen and not here.missing
    return replace(answer, status="agrees") if is_right else answer


def _explained(search: Search, claim: str | ClaimedFunction, here: Look, failing: Look) -> list[str]:
    """Say of a refuted claim where it holds, what would accept it, and what its text may mean instead."""
    doubts = doubts_in(search.comparison.subject, claim) if isinstance(claim, str) else ()
    return [*_right_here(search.comparison, here), *_tolerance_for(search, failing), *doubts]


def _right_here(comparison: ClaimComparison, here: Look) -> list[str]:
    """Say of a claim that another point refutes that it is right at the point that is asked about, if it is."""
    if here.worst is not None or not here.seen or here.missing or comparison.chosen:
        return []
    if comparison.program and not comparison.program.variables:
        return [Words(f"it is right at the point: numbers for one point are for {option('expect')}")]
    return ["at the point that is checked it holds"]


def _tolerance_for(search: Search, failing: Look) -> list[str]:
    """Say how far a claim that is held to a tolerance is off, and which one would accept it."""
    if (search.comparison.is_exact and not search.comparison.decimals) or failing.worst is None:
        return []
    from gradcli.parts.claims import tolerance_advice

    return [tolerance_advice.of_claim(search.comparison, failing, search.anew_from_start())]


def _searched(
    search: Search, comparison: ClaimComparison, counted: int, *, is_provable: bool
) -> tuple[Proof | None, int, Look | None]:
    """Search for a point that refutes a claim, at fewer points where it is proved.

    Returns:
        The proof, the points that counted, and the point that refutes the claim.
    """
    tried, found = search.begin()
    proof = None
    if is_provable and found is None and counted + tried:
        from gradcli.parts.claims.proof import prove

        proof = prove(comparison.subject, comparison.reading, box=None if search.box is None else search.box.sides)
    is_settled = proof is not None and not (proof.is_open or proof.has_kinks)
    if not is_settled and (found is None or not found.shows):
        tried, found = search.run()
    return proof, tried, search.suspected() if found is None and proof is None else found


def _unproved_reason(subject: Subject, text: str, *, is_called: bool, is_of_values: bool) -> str:
    """Say why no proof is tried; empty if one is."""
    if is_called:
        return f"nothing is proved, as {text} was called at each point"
    if inexact := {name: one for name, one in subject.assumed.items() if not one.is_exact}:
        return f"nothing is proved of {in_words(inexact)}, which has no free entries"
    return f"nothing is proved of {_unproved_kind(subject)}" if is_of_values else ""


def _unproved_kind(subject: Subject) -> str:
    """Say which kind of function one is whose Program is that of its point alone."""
    called = next((output.called for _, output in opaque_outputs(subject.program)), "")
    branches = "a function whose code branches on values: at other values it may compute something else"
    return (
        f"{called}, which cannot be read" if called else f"{branches}; write the branch as torch.where(condition, a, b)"
    )


def _compared(
    subject: Subject, claim: str | ClaimedFunction, inputs: Mapping[str, Array], tolerance: Tolerance
) -> ClaimComparison:
    """Compare a claim with the function: by its formula, or by its numbers at a point where it cannot be read."""
    reading, numbers = (read(subject, claim), None) if isinstance(claim, str) else read_function(subject, claim, inputs)
    if numbers is None and reading.other is None:
        return ClaimComparison(subject, under_assumption(subject, reading), tolerance)
    return _of_likelier_reading(subject, numbers, reading, inputs, tolerance)


def _of_likelier_reading(
    subject: Subject, numbers: Array | None, reading: Reading, inputs: Mapping[str, Array], tolerance: Tolerance
) -> ClaimComparison:
    """Compare a claim in its reading, or in its other one, if that alone holds at a point."""
    comparison = _compared_reading(subject, numbers, reading, inputs, tolerance)
    if reading.other is None or comparison.look(inputs, subject.weights).worst is None:
        return comparison
    other = _compared_reading(subject, numbers, reading.other, inputs, tolerance)
    look = other.look(inputs, subject.weights)
    return other if look.seen and look.worst is None else comparison


def _compared_reading(
    subject: Subject, numbers: Array | None, reading: Reading, inputs: Mapping[str, Array], tolerance: Tolerance
) -> ClaimComparison:
    """Compare a claim in one of its readings: by its formula if it has one, else by numbers."""
    if reading.program is not None or numbers is None:
        return ClaimComparison(subject, under_assumption(subject, reading), tolerance)
    if reading.stacking is not None:
        numbers = reading.stacking.numbers(numbers)
        reading = replace(reading, own=reading.shape)
    return _compared_numbers(subject, numbers, reading, inputs, tolerance)


def _compared_numbers(
    subject: Subject, numbers: Array, reading: Reading, inputs: Mapping[str, Array], tolerance: Tolerance
) -> ClaimComparison:
    """Compare numbers with the function at a point, along the directions of what is assumed."""
    name = str(subject.variable)
    if name in subject.assumed and not reading.is_transposed:
        # A projection takes differences, which are as exact as the numbers that they are of.
        size = float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))
        tolerance = replace(tolerance, atol=tolerance.atol + tolerance.rtol * size)
        numbers = projected_numbers(numbers, inputs, subject.assumed[name], name, reading.shape)
        reading = replace(reading, own=reading.shape)
    return ClaimComparison(subject, reading, tolerance, numbers)


def _comparison_at(
    comparison: ClaimComparison,
    claim: str | ClaimedFunction,
    anew: Callable[[Mapping[str, Array]], Subject | None] | None,
    at: Mapping[str, Array],
) -> ClaimComparison | None:
    """Compare the claim with the function at another point; None if it has no derivative, or another shape, there."""
    there = comparison.subject if anew is None else anew(at)
    if there is None or there.y != comparison.subject.y:
        return None
    return _compared(there, claim, at, comparison.tolerance)


def _unrefuted(
    comparison: ClaimComparison,
    text: str,
    here: Look,
    counted: int,
    notes: list[str],
    unproved: str,
    proof: Proof | None,
) -> Claim:
    """Give the verdict on a claim that no point refutes: proved, without a counterexample, or not compared.

    Args:
        comparison: The claim, beside the truth.
        text: The claim as it was given.
        here: What was found at the point.
        counted: How many points were compared.
        notes: Remarks so far.
        unproved: Why no proof was tried; empty if one was.
        proof: The proof that was found.
    """
    subject, reading = comparison.subject, comparison.reading
    answer = partial(Claim, str(subject.variable), text, reading.of)
    if not counted:
        why = f": {_reason(here)}" if here.missing else ""
        return answer("no counterexample", 0, note=_joined(*notes, f"nothing was compared{why}"))
    notes = [*notes, *_remarks(comparison, here)]
    if proof is None:
        return answer("no counterexample", counted, note=_joined(*notes, unproved))
    if proof.is_open:
        where = "" if proof.left_out is None else f", where {proof.left_out} = 0"
        notes.append(
            f"it is proved except where a branch changes{where}: there kinks may cancel, and leave another slope"
        )
    elif proof.has_kinks:
        notes.append("it is proved where it is differentiable")
    notes += ["the proof is of the branches that the box meets"] * proof.is_of_box
    shapes = f"the proof is {proof.shapes}" if proof.shapes else ""
    status: Literal["no counterexample", "proved"] = "no counterexample" if proof.is_open else "proved"
    return answer(status, counted, note=_joined(*notes, shapes))


COMPARED = "gradcli.check(f, x, backward_of=g)"
"""What compares the gradients of two functions, neither of which is the derivative of the other."""


def _likeliest(comparison: ClaimComparison, search: Search, failing: Look) -> str:
    """Name the likeliest mistake, from the refuting point and a few others, if there is time."""
    from gradcli.parts.claims.mistakes import MOST_POINTS, mistake

    try:
        with time_limit():
            looks, right = _several(search, MOST_POINTS)
            likeliest = mistake(comparison, [failing, *looks])
    except OverTimeError:
        return ""
    return f"right at some points, and elsewhere {likeliest}" if likeliest and right >= FEWEST_RIGHT else likeliest


def expected(subject: Subject, value: Value, inputs: Mapping[str, Array], tolerance: Tolerance) -> Claim:
    """Judge claimed numbers at the point.

    Args:
        subject: What they are about.
        value: Text of the language, a number, nested lists or an array; its shape says what it is of.
        inputs: The point.
        tolerance: How far the numbers may be from the truth.

    Raises:
        GradcliError: The text is not a value, or has no derivative's shape.

    >>> from gradcli.language.parsing import parse
    >>> f = parse("sum(x**2)")
    >>> squares, at = Subject.from_program(f, {f.variables[0]: (2,)}, "x", None), {"x": np.array([1.0, 2.0])}
    >>> wrong = expected(squares, "2, 4.1", at, Tolerance(2**-30))
    >>> wrong.status, wrong.entry, wrong.claimed, wrong.truth, wrong.note
    ('refuted', (1,), 4.1, 4.0, 'the relative difference is 0.025; --rtol 0.026 would accept it')
    """
    numbers, reading = read_numbers(subject, value)
    text = value if isinstance(value, str) else " ".join(np.array2string(numbers, separator=", ").split())
    comparison = _of_likelier_reading(subject, numbers, reading, inputs, tolerance)
    here, notes = _at_the_point(comparison, inputs)
    counted = int(bool(here.seen))
    if here.worst is not None or reading.is_transposed:
        if here.worst is not None:
            from gradcli.parts.claims import tolerance_advice

            notes = [*notes, tolerance_advice.of_numbers(here)]
        return _refuted(comparison, text, here, counted, _of_numbers(comparison, here), notes)
    remarks = _remarks(comparison, here) if counted else [f"nothing was compared: {_reason(here) or comparison.chosen}"]
    is_whole = counted and not here.missing and not comparison.chosen
    status: Literal["agrees", "no counterexample"] = "agrees" if is_whole else "no counterexample"
    return Claim(str(subject.variable), text, reading.of, status, counted, note=_joined(*notes, *remarks))


def with_general(claim: Claim, general: Claim, assumed: Assumed) -> Claim:
    """Say of a claim under an assumption what becomes of it without: what holds in general is proved under it, too."""
    under = in_words(assumed)
    if claim.status == "refuted":
        return replace(claim, assumed=under, note=_joined(f"compared for {under}", claim.note))
    said = {
        "proved": f"the claim holds for {under}",
        "agrees": f"the claim agrees at this point for {under}"
        if claim.points == 1
        else f"the claim agrees for {under}",
        "no counterexample": f"the claim has no counterexample for {under}",
    }
    match general.status:
        case "refuted":
            note = f"{said[claim.status]}; in general it is refuted{_where(general)}"
        case "proved":
            note = "the claim holds in general, and not only for " + under
            claim = replace(claim, status="proved", note=general.note)
        case _:
            note = f"{said[claim.status]}; in general it is not refuted"
    return replace(claim, assumed=under, in_general=general.status, note=_joined(note, claim.note))


def _where(claim: Claim) -> str:
    """Write a counterexample after the word for it; empty if there is none."""
    if claim.claimed is None or claim.truth is None:
        return ""
    values = {**(claim.at or {}), **({} if claim.v is None else {"v": claim.v})}
    listed = (
        f"{name} = {' '.join(np.array2string(one, separator=', ', threshold=16).split())}"
        for name, one in values.items()
    )
    place = f"entry {list(claim.entry)} is" if claim.entry else "it is"
    truth, claimed = told_apart(claim.truth, claim.claimed)
    return f": at {', '.join(listed)} {place} {truth}, and the claim says {claimed}"


def _at_the_point(
    comparison: ClaimComparison, inputs: Mapping[str, Array], *, is_smooth: bool = True
) -> tuple[Look, list[str]]:
    """Compare at the point; say how the claim was read, what was left out, and where limits were taken."""
    notes = [comparison.reading.note, comparison.chosen]
    if comparison.program is not None and not comparison.is_exact:
        inexact = {name: one for name, one in comparison.subject.assumed.items() if not one.is_exact}
        why = f"no floats are {in_words(inexact)} exactly" if inexact else "it has rounded decimals"
        notes.append(f"{why}, so it is held to the tolerance")
    here = comparison.look(inputs, comparison.subject.weights, LAST_BITS)
    here = comparison.with_limits(here) if here.missing else here
    notes += [f"at the point the truth is a limit, as {reason}" for reason in here.limits[:1]]
    return here if is_smooth else replace(here, seen=()), list(filter(None, notes))


def _remarks(comparison: ClaimComparison, here: Look) -> list[str]:
    """Say which entries could not be compared at the point."""
    if not here.missing:
        return []
    index = comparison.index(next(iter(here.missing)))
    where = f"at {list(index)}" if index else "at the point"
    more = f", and at {len(here.missing) - 1} more" if len(here.missing) > 1 else ""
    return [f"{where} nothing was compared{more}: {_reason(here)}"]


def _reason(here: Look) -> str:
    """Say why the first entry that cannot be compared cannot; empty if all can be."""
    return next(iter(here.missing.values()), "")


def _several(search: Search, most: int) -> tuple[list[Look], int]:
    """Collect random points at which the claim is wrong, and count those between them at which it is right."""
    tries = max(most, min(TRIES, MOST_WORK // search.comparison.work))
    looks: list[Look] = []
    right = 0
    for inputs, v in itertools.islice(search.generic(), tries):
        look = search.look(inputs, v)
        if look is None:
            continue
        if look.worst is not None and not look.missing:
            looks.append(look)
        is_all_zero = all(one.truth.contains(0) for one in look.seen)  # where a claim may be right by accident
        right += look.worst is None and not look.missing and not is_all_zero
        if len(looks) >= most - 1:
            break
    return looks, right


def _refuted(
    comparison: ClaimComparison, text: str, look: Look, points: int, likeliest: str, notes: list[str]
) -> Claim:
    """Give the verdict on a claim with a counterexample, or on a right one of the transposed Jacobian."""
    reading, subject, worst = comparison.reading, comparison.subject, look.worst
    if reading.is_transposed:
        x, y = subject.x, subject.y
        wanted = f"y.shape + {subject.variable}.shape, {show((*y, *x))}"
        turned = f"transposed: the Jacobian has {wanted}, and the claim {show((*x, *y))}"
        likeliest = f"{turned}; and then {likeliest}" if likeliest and worst is not None else turned
    from gradcli.parts.claims.mistakes import ITSELF

    if likeliest == ITSELF and "::" in text:
        likeliest += f"; the gradients of two functions are compared from Python: {COMPARED}"
    answer = partial(Claim, str(subject.variable), text, reading.of, "refuted", points, mistake=likeliest)
    if worst is None:
        return answer(note=_joined(*notes, f"transposed, it has no counterexample in {points} points" * (points > 0)))
    if comparison.is_exact and not worst.is_visible:
        notes = [*notes, f"they differ by {to_float(abs(worst.claimed - worst.truth)):.2g}"]
    return answer(
        entry=comparison.index(worst.entry),
        claimed=to_float(worst.claimed),
        truth=to_float(worst.truth),
        at=look.inputs,
        v=look.v if reading.names_vector else None,
        note=_joined(*notes),
    )


def _of_numbers(comparison: ClaimComparison, look: Look) -> str:
    """Name the likeliest mistake in numbers at one point, if all of several numbers show it."""
    pairs = [(one.claimed, one.truth) for one in look.seen]
    if not pairs or any(truth.contains(0) for _, truth in pairs):
        return ""
    ratio = float((pairs[0][0] / pairs[0][1]).mid())
    factor = Fraction(ratio).limit_denominator(10) if math.isfinite(ratio) else Fraction(0)
    p, q = factor.as_integer_ratio()
    rtol = comparison.tolerance.rtol * q
    if not 0 < abs(factor) < 100 or not all(abs(c * q - t * p) <= rtol * abs(t) for c, t in pairs):
        return ""
    if factor == -1:
        return "the sign: the claim is the truth times -1"
    return f"off by the factor {factor}" if len(pairs) > 1 else ""


def _joined(*notes: str) -> str:
    return Words("; ".join(marked(note) for note in notes if note))
