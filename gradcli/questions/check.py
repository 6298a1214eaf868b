"""The answer of `check`: the opinion of every reading on a function at a point, or at random points of a box.

Mistakes in the input are found before torch is imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np

from gradcli import results
from gradcli.claims import Subject, claimed, expected as met, read, read_numbers, variable_of
from gradcli.crosscheck.compare import TOLERANCE, Tolerance
from gradcli.crosscheck.formulas import (
    MAX_OPINIONS,
    Derived,
    Differences,
    contradicted,
    opinions,
    with_refuted,
    worst_first,
)
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Torch, flat
from gradcli.errors import GradcliError, InputError, TooLargeError, did_you_mean
from gradcli.language.inputs import Array, Value, read_range
from gradcli.language.program.wengert import Program
from gradcli.progress import counted, each_with_time
from gradcli.questions.closed_form import at_random_values
from gradcli.questions.judging import (
    advised,
    boundaries,
    by_variable,
    compared,
    concluded,
    first_derivatives,
    verdict_of_form,
)
from gradcli.questions.question import Dtype, Inquiry, Question, rounded
from gradcli.reference.deadline import is_over_time, time_limit

MAX_POINTS = 10_000
"""Random points of one check."""

MAX_POINT_ENTRIES = 1_024_000
"""Entries at all random points together: a thousand points of a Jacobian whose every entry is checked."""

MENDED = ("inaccurate", "nan-trap")
"""Verdicts of a random point for which a form is looked for that serves in all of the box."""

ONLY = ""
"""Name of a claim or a value that was given without a variable: it is for the only variable."""


@dataclass(frozen=True)
class Demands:
    """Options of a check besides the function and the point: the arguments of `Function.check`."""

    rtol: float | None
    atol: float | None
    claims: Mapping[str, str]
    expected: Mapping[str, Value]
    points: int | None
    boxes: Mapping[str, str]
    seed: int
    allowed: tuple[results.Allowed, ...]
    is_strict: bool = False
    requires_all: bool = False
    has_differences: bool = False

    def __post_init__(self) -> None:
        """Refuse options that are invalid for every function.

        Raises:
            InputError: A tolerance, a number of points, a seed or an allowed verdict is invalid.
        """
        for name, number in (("rtol", self.rtol), ("atol", self.atol)):
            if number is not None and not (math.isfinite(number) and number >= 0):
                raise InputError(f"--{name} {number} is not a tolerance", hint="a tolerance is a number from 0 on")
        known = (*get_args(results.Verdict), results.NO_COUNTEREXAMPLE)
        for name in self.allowed:
            if name not in known:
                hint = did_you_mean(name, known) or f"the verdicts are: {', '.join(known)}"
                raise InputError(f"--allow names '{name}', which is no verdict", hint=hint)
            # Any other verdict may be a property of the function; this one says that a reading is wrong.
            if name == "disagree":
                raise InputError(
                    "disagree cannot be allowed: it means that torch, the formula or gradcli is wrong",
                    hint="a larger --rtol or --atol allows for known errors",
                )
        if self.seed < 0:
            raise InputError(f"--seed {self.seed} is not a seed", hint="a seed is a whole number from 0 on")
        if self.points is None:
            if self.boxes:
                name = next(iter(self.boxes))
                raise InputError(
                    "--in says where to draw random points, and --random is missing",
                    hint=f"add --random 100, or give one point: --at {f'{name}=' * bool(name)}VALUE",
                )
        elif not self.boxes:
            raise InputError("--random needs to know where to draw points", hint='add a range: --in "x=0..1"')
        elif not 1 <= self.points <= MAX_POINTS:
            raise InputError(f"--random {self.points:,} is not between 1 and {MAX_POINTS:,} points")

    def tolerance(self, dtype: Dtype) -> Tolerance:
        """Return the tolerance for torch's numbers in a dtype, with `rtol` and `atol` where they are given."""
        given: dict[str, Any] = {
            name: one for name, one in (("rtol", self.rtol), ("atol", self.atol)) if one is not None
        }
        return replace(TOLERANCE[dtype], **given, is_strict=True) if given else TOLERANCE[dtype]


@dataclass(frozen=True)
class _AtPoint:
    """One point: torch's numbers, the formulas and the judgement; they are of other lines only at some points."""

    question: Question
    derived: Derived
    numbers: Torch
    judgement: Judgement

    def failing(self, check: results.Check, demands: Demands) -> set[results.Verdict]:
        """Collect the verdicts that do not pass: of entries, of findings, and `unchecked` of the check itself."""
        found = {
            entry.verdict
            for entry in (*self.judgement.entries, *check.findings)
            if entry.verdict != "unchecked" and (demands.is_strict or not entry.is_minor)
        }
        return (found | {check.verdict} & {"unchecked"}) - {"agree", *demands.allowed}

    @property
    def badness(self) -> tuple[int, float]:
        """The key by which the worst point is found: severity of the verdict, then relative error."""
        check = self.judgement.check
        return results.SEVERITY.index(check.verdict), check.max_relative_error or 0.0

    def with_check(self, check: results.Check) -> _AtPoint:
        """The same with another check."""
        return replace(self, judgement=replace(self.judgement, check=check))


def check(inquiry: Inquiry, v: Value | None, demands: Demands) -> results.Checking:
    """Judge the derivatives at the point, or at the worst of the random points, and the claims.

    Raises:
        GradcliError: A value is missing, surplus or malformed; v has not y's shape, a claim or a range does not fit, or
            there would be too many entries.
    """
    if demands.claims and not (inquiry.at or inquiry.snippet.values or demands.boxes or demands.expected):
        inquiry = at_random_values(inquiry, demands.seed)
    inquiry, boxes = inquiry.within(demands.boxes)
    demands = replace(demands, boxes=boxes)
    question = inquiry.question()
    claims = {_variable(name, question.wrt, "--claim", text): text for name, text in demands.claims.items()}
    expected = {_variable(name, question.wrt, "--expect"): value for name, value in demands.expected.items()}
    cotangent = None if v is None else question.cotangent(v, None)
    _require_claims(question, cotangent is not None, claims, expected)
    if cotangent is None:
        question.require_room("use --v ones, or --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
    rows = math.prod(question.shape) if cotangent is None else 1
    draws = None if demands.points is None else _draws(question, demands, demands.points, rows)
    tolerance = demands.tolerance(question.dtype)
    look: _Look = partial(_look, question, cotangent, tolerance)
    worst, sampling, failing = (look({}), None, set()) if draws is None else _sampled(look, demands, draws)
    shared, check = _readings(worst, tolerance, has_differences=demands.has_differences)
    failing |= worst.failing(check, demands)
    if sampling is not None and check.verdict in MENDED:
        check = _mended_everywhere(inquiry, demands, worst, check, tolerance)
    found = _claims(worst, claims, expected, tolerance, demands)
    omitted = question.jacobian_omitted if cotangent is None else ""
    is_enough = check.is_whole or not demands.requires_all
    live = question.live
    elsewhere, tried = ((), ()) if live is None else (live.elsewhere(check.verdict), live.tried)
    return results.Checking(
        command="check",
        allowed=demands.allowed,
        requires_all=demands.requires_all,
        failing=tuple(verdict for verdict in results.SEVERITY if verdict in failing),
        passed=not failing and is_enough and not elsewhere and all(_passes(claim, demands.allowed) for claim in found),
        claims=found,
        elsewhere=elsewhere,
        remarks=tried,
        sampling=sampling,
        jacobian=None if omitted else worst.numbers.jacobian,
        jacobian_omitted=omitted,
        v=worst.numbers.v,
        vjp=worst.numbers.vjp,
        value=worst.question.value,
        check=check,
        **shared,
        **worst.question.common,
    )


def _mended_everywhere(
    inquiry: Inquiry, demands: Demands, worst: _AtPoint, check: results.Check, tolerance: Tolerance
) -> results.Check:
    """Add to a check the form that loses the fewest digits in all of the box, where its worst point agrees with it."""
    from gradcli.questions.improve import improve

    found = improve(inquiry, demands.boxes)
    better = found.outcome == "better"
    verdict = verdict_of_form(worst.question, found.form, worst.numbers.v, tolerance) if better else None
    if verdict is None or results.SEVERITY.index(verdict) >= results.SEVERITY.index(check.verdict):
        return check
    return replace(check, rewrite=results.Rewrite(found.form, "; ".join(found.reasons), verdict))


def _passes(claim: results.Claim, allowed: Sequence[results.Allowed]) -> bool:
    """Tell whether a claim is proved or agrees, or is compared without a counterexample, if that is allowed."""
    is_open = claim.status == "no counterexample" and claim.points > 0
    return claim.status in ("proved", "agrees") or (is_open and results.NO_COUNTEREXAMPLE in allowed)


def _variable(name: str, wrt: Sequence[str], option: str, text: str = "") -> str:
    """Return the variable of a claim or a value: named before it, or on the left-hand side of its text.

    Raises:
        InputError: There is no such variable, or there are several and none is named.
    """
    if name == ONLY:
        name = variable_of(text) if "/" in text and "=" in text else ""
        name = name or (wrt[0] if len(wrt) == 1 else "")
    if name in wrt:
        return name
    if not wrt:
        raise InputError(f"{option} is of no derivative: there is no variable to differentiate by")
    known = ", ".join(wrt)
    what = f"'{name}', which the derivative is not by" if name else f"no variable, and the derivative is by {known}"
    hint = did_you_mean(name, wrt) or f"the variables to differentiate by are: {known}"
    raise InputError(f"{option} names {what}", hint=hint if name else f"write {option} NAME=...")


def _draws(question: Question, demands: Demands, points: int, rows: int) -> Iterator[dict[str, Array]]:
    """Draw the inputs of each random point, uniformly in the boxes; the other variables stay."""
    per_point = rows * sum(question.arrays[name].size for name in question.wrt)
    most = max(1, MAX_POINT_ENTRIES // max(1, min(per_point, MAX_POINT_ENTRIES)))
    if points > most:
        raise TooLargeError(
            f"{points:,} points of {per_point:,} entries each are more than {MAX_POINT_ENTRIES:,} entries",
            hint=f"use --random {most}, or --v for a single row, or --wrt for fewer variables",
        )
    boxes = {name: question.bounds(name, read_range(text, f"--in {name}")) for name, text in demands.boxes.items()}
    generator = np.random.default_rng(demands.seed)

    def between(low: Array, high: Array) -> Array:
        share = generator.uniform(size=low.shape)
        return rounded(np.asarray(low * (1 - share) + high * share), question.dtype)  # high - low may overflow

    return ({name: between(*box) for name, box in boxes.items()} for _ in range(points))


_Look = Callable[[Mapping[str, Array]], _AtPoint]
"""Looks at a point, with these values in place of some of the question's."""


def _look(
    first: Question, cotangent: Array | Program | None, tolerance: Tolerance, drawn: Mapping[str, Array]
) -> _AtPoint:
    """Ask torch and the judge at one point."""
    question = first.at(drawn)
    jacobian = question.jacobian if cotangent is None else None
    v = None if cotangent is None else question.weights(cotangent)
    product = None if v is None else question.product(v)
    numbers = first_derivatives(question, jacobian, v, product)
    derived = (first if first.program is question.program else question).derived
    return _AtPoint(question, derived, numbers, compared(question, numbers, tolerance))


def _contradicted(look: _AtPoint) -> _AtPoint:
    """Add a finding for each formula that the reference contradicts."""
    found = contradicted(look.question.point, look.derived, look.judgement.evidence)
    return look.with_check(with_refuted(look.judgement.check, found, look.derived))


def _sampled(
    looked: _Look, demands: Demands, draws: Iterator[dict[str, Array]]
) -> tuple[_AtPoint, results.Sampling, set[results.Verdict]]:
    """Find the worst of the random points, the number of points by verdict, and the verdicts that do not pass."""
    worst: _AtPoint | None = None
    is_whole, note = True, ""
    counts: dict[results.Verdict, int] = dict.fromkeys(results.SEVERITY, 0)
    failing: set[results.Verdict] = set()
    points = demands.points or 0
    for n, drawn in enumerate(counted("point", draws, points)):
        try:
            with each_with_time():
                look = _contradicted(looked(drawn))
        except GradcliError as error:
            where = ", ".join(f"{name} = {array.tolist()}" for name, array in drawn.items())
            error.advise(error.in_shell.hint or f"that is at the random point {n + 1:,}: {where[:200]}")
            raise
        if n and look.judgement.check.verdict == "unchecked" and is_over_time():
            is_whole, note = False, f"{points - n:,} of {points:,} points were not looked at within the budget"
            break
        counts[look.judgement.check.verdict] += 1
        failing |= look.failing(look.judgement.check, demands)
        is_whole = is_whole and look.judgement.check.is_whole
        if worst is None or look.badness > worst.badness:
            worst = look
    if worst is None:
        raise AssertionError("there is at least one point")
    if not is_whole:
        check = worst.judgement.check
        notes = (*check.notes, note) if note else check.notes
        worst = worst.with_check(replace(check, sampled=True, proven=False, notes=notes))
    found = {verdict: count for verdict, count in counts.items() if count}
    sampling = results.Sampling(sum(found.values()), demands.seed, demands.boxes, found, worst.question.arrays)
    return worst, sampling, failing


def _readings(look: _AtPoint, tolerance: Tolerance, *, has_differences: bool) -> tuple[dict[str, Any], results.Check]:
    """Collect the formulas and all opinions on each entry; and the check with their findings and notes."""
    question, v = look.question, look.numbers.v
    judgement = advised(question, look.judgement, v, tolerance)
    formulas, check = concluded(question, judgement, look.derived)
    assert check is not None, "what was judged has a check"  # noqa: S101
    entries = worst_first(judgement.entries)
    differences, note = _differences(question, entries[:MAX_OPINIONS], v) if has_differences else ({}, "")
    derivatives = by_variable(formulas.derivatives)
    shown = opinions(question.point, entries, derivatives, differences, question.dtype, v, judgement.evidence)
    found = {
        "symbolic": by_variable(formulas.shown),
        "symbolic_omitted": by_variable(formulas.omitted),
        "opinions": shown,
        "opinions_count": len(entries),
    }
    return found, replace(check, notes=(*check.notes, note)) if note else check


def _differences(question: Question, entries: Sequence[results.Entry], v: Array | None) -> tuple[Differences, str]:
    """Compute the difference quotients of these entries; with a remark if there was no time for all."""
    from gradcli.autodiff.batched import PRODUCT, difference

    found: dict[results.Entry, tuple[float, float]] = {}
    with time_limit():
        for n, entry in enumerate(entries):
            if entry.variable is not None and entry.column is not None:
                row = PRODUCT if entry.row is None else flat(entry.row, question.shape)
                place = entry.variable, flat(entry.column, question.arrays[entry.variable].shape), row
                quotient = difference(question.program, question.arrays, place, v, question.shape)
                found |= {entry: quotient} if quotient else {}
            if is_over_time():
                return found, f"there was time for {n + 1:,} of {len(entries):,} finite differences"
    return found, ""


def _require_claims(question: Question, has_v: bool, claims: Mapping[str, str], expected: Mapping[str, Value]) -> None:
    v = np.ones(question.shape) if has_v else None
    for name, text in claims.items():
        read(Subject.of(question.program, question.shapes, name, v), text)
    for name, value in expected.items():
        read_numbers(Subject.of(question.program, question.shapes, name, v), value)


def _claims(
    look: _AtPoint,
    claims: Mapping[str, str],
    expected: Mapping[str, Value],
    tolerance: Tolerance,
    demands: Demands,
) -> tuple[results.Claim, ...]:
    question = look.question

    def subject(name: str, there: Question = question) -> Subject:
        return Subject.of(there.program, there.shapes, name, look.numbers.v)

    def subject_at(name: str, at: Mapping[str, Array]) -> Subject | None:
        there = question.at(at)
        return None if any(boundaries(there)) else subject(name, there)

    def claim(name: str, text: str) -> results.Claim:
        anew = partial(subject_at, name) if question.is_of_point else None
        asked = subject(name), text, question.arrays, tolerance
        return claimed(*asked, seed=demands.seed, dtype=question.dtype, anew=anew)

    return (
        *(claim(name, text) for name, text in claims.items()),
        *(met(subject(name), value, question.arrays, tolerance) for name, value in expected.items()),
    )
