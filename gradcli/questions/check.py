"""The answer of `check`: the opinion of every reading on a function at a point.

Mistakes in the input are found before torch is imported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

import numpy as np

from gradcli import results
from gradcli.claims import Subject, claimed, expected as met, read, read_numbers, variable_of
from gradcli.crosscheck.compare import TOLERANCE, Tolerance
from gradcli.crosscheck.formulas import (
    MAX_OPINIONS,
    Differences,
    opinions,
    worst_first,
)
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import flat
from gradcli.errors import InputError, did_you_mean
from gradcli.language.inputs import Array, Value
from gradcli.questions.closed_form import at_random_values
from gradcli.questions.judging import (
    advised,
    boundaries,
    by_variable,
    compared,
    concluded,
    first_derivatives,
)
from gradcli.questions.question import Dtype, Inquiry, Question
from gradcli.reference.deadline import is_over_time, time_limit

ONLY = ""
"""Name of a claim or a value that was given without a variable: it is for the only variable."""


@dataclass(frozen=True)
class Demands:
    """Options of a check besides the function and the point: the arguments of `Function.check`."""

    rtol: float | None
    atol: float | None
    claims: Mapping[str, str]
    expected: Mapping[str, Value]
    allowed: tuple[results.Allowed, ...]
    is_strict: bool = False
    requires_all: bool = False
    has_differences: bool = False

    def __post_init__(self) -> None:
        """Refuse options that are invalid for every function.

        Raises:
            InputError: A tolerance or an allowed verdict is invalid.
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

    def tolerance(self, dtype: Dtype) -> Tolerance:
        """Return the tolerance for torch's numbers in a dtype, with `rtol` and `atol` where they are given."""
        given: dict[str, Any] = {
            name: one for name, one in (("rtol", self.rtol), ("atol", self.atol)) if one is not None
        }
        return replace(TOLERANCE[dtype], **given, is_strict=True) if given else TOLERANCE[dtype]


def check(inquiry: Inquiry, v: Value | None, demands: Demands) -> results.Checking:
    """Judge the derivatives at the point, and the claims.

    Raises:
        GradcliError: A value is missing, surplus or malformed; v has not y's shape, a claim does not fit, or there
            would be too many entries.
    """
    if demands.claims and not (inquiry.at or inquiry.snippet.values or demands.expected):
        inquiry = at_random_values(inquiry)
    question = inquiry.question()
    claims = {_variable(name, question.wrt, "--claim", text): text for name, text in demands.claims.items()}
    expected = {_variable(name, question.wrt, "--expect"): value for name, value in demands.expected.items()}
    cotangent = None if v is None else question.cotangent(v, None)
    _require_claims(question, cotangent is not None, claims, expected)
    if cotangent is None:
        question.require_room("use --v ones, or --v e0, --v e1, ... for single rows, or --wrt for fewer variables")
    tolerance = demands.tolerance(question.dtype)
    weights = None if cotangent is None else question.weights(cotangent)
    jacobian, product = (question.jacobian, None) if weights is None else (None, question.product(weights))
    judgement = compared(question, first_derivatives(question, jacobian, weights, product), tolerance)
    shared, check = _readings(question, judgement, weights, tolerance, has_differences=demands.has_differences)
    failing: set[results.Verdict] = {
        entry.verdict
        for entry in (*judgement.entries, *check.findings)
        if entry.verdict != "unchecked" and (demands.is_strict or not entry.is_minor)
    }
    failing = (failing | {check.verdict} & {"unchecked"}) - {"agree", *demands.allowed}
    found = _claims(question, weights, claims, expected, tolerance)
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
        jacobian=None if omitted else jacobian,
        jacobian_omitted=omitted,
        v=weights,
        vjp=product,
        value=question.value,
        check=check,
        **shared,
        **question.common,
    )


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


def _readings(
    question: Question, judgement: Judgement, v: Array | None, tolerance: Tolerance, *, has_differences: bool
) -> tuple[dict[str, Any], results.Check]:
    """Collect the formulas and all opinions on each entry; and the check with their findings and notes."""
    judgement = advised(question, judgement, v, tolerance)
    formulas, check = concluded(question, judgement, question.derived)
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
    question: Question,
    v: Array | None,
    claims: Mapping[str, str],
    expected: Mapping[str, Value],
    tolerance: Tolerance,
) -> tuple[results.Claim, ...]:
    def subject(name: str, there: Question = question) -> Subject:
        return Subject.of(there.program, there.shapes, name, v)

    def subject_at(name: str, at: Mapping[str, Array]) -> Subject | None:
        there = question.at(at)
        return None if any(boundaries(there)) else subject(name, there)

    def claim(name: str, text: str) -> results.Claim:
        anew = partial(subject_at, name) if question.is_of_point else None
        return claimed(subject(name), text, question.arrays, tolerance, dtype=question.dtype, anew=anew)

    return (
        *(claim(name, text) for name, text in claims.items()),
        *(met(subject(name), value, question.arrays, tolerance) for name, value in expected.items()),
    )
