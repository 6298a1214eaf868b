"""Diagnosis of a wrong number: the operation that loses its digits, or poisons a gradient.

From a wrong number the walk goes back through torch's own passes, always to the operand that carried most of the error,
until it comes to an operation that was given good numbers and made a bad one.  That operation is named, with the
reason: terms that cancel, a number beyond the range of the dtype, an argument that matters too much, a branch that was
not taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from flint import arb

from gradcli.crosscheck.large_numbers import in_decimal
from gradcli.errors import InputError, Span
from gradcli.language.ops import Kind as OpKind
from gradcli.language.program.wengert import Line
from gradcli.parts.improve.error_trace import MOST_TRIED, DiagnosisContext, Error, ErrorTrace, Place, magnitude
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import Array, Entry

LossKind = Literal["cancellation", "underflow", "overflow", "ill-conditioned", "branch", "domain", "unknown"]

ROUNDINGS = 64.0
"""Most roundings of an argument that may explain the error of an operation."""

SHRINKS = 4.0
"""Ratio of the largest term to the sum, above which terms are said to cancel."""

MOST_STEPS = 1_000
"""Most operations of one walk."""

RIGHT = 2.0
"""Largest relative error of a number that has lost nothing, in units of the dtype's epsilon: four roundings."""

SHARE = 4.0
"""Largest ratio of an error to an operand's own for which an operand within the tolerance is at fault."""

EXPLAINS = 8.0
"""Largest ratio of an error to the part that an operand passes on, for the operand to explain the error."""


@dataclass(frozen=True, slots=True)
class Blame:
    """Fault that is to blame for a wrong number.

    Attributes:
        kind: `cancellation`: terms that leave little of each other; `underflow` and `overflow`: a number outside of
            the range of the dtype; `ill-conditioned`: the error is in how much an argument matters; `branch`: a branch
            that is not taken, or taken by mistake; `domain`: no value or slope; `unknown`: torch's derivative alone.
        span: The place of the operation in the text.
        note: The finding in one sentence.
    """

    kind: LossKind
    span: Span
    note: str


def diagnose(context: DiagnosisContext, entry: Entry, v: Array | None = None) -> Blame | None:
    """Find the operation that makes a `nan-trap` infinite or NaN, or that lost the digits of another wrong number.

    Args:
        context: The function at the point.
        entry: The number: an element of y, an entry of J, or one of vᵀJ.
        v: The gradient vector, for an entry of vᵀJ.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.shapes import infer
    >>> from gradcli.recording.pass_recorder import record
    >>> from gradcli.results import Assessment, Position
    >>> program = parse("(1-cos(x))/x**2")
    >>> shapes = infer(program, {program.variables[0]: ()})
    >>> context = DiagnosisContext(program, shapes, {"x": np.array(1e-8)}, ("x",), "float64", record)
    >>> diagnose(context, Entry(Position("value", row=()), 0.0, Assessment("inaccurate"))).note
    '1-cos(x) cancels: terms as large as 1 leave 5e-17, and torch gives 0'
    """
    if not context.program.output.is_Symbol:
        return None  # y is a number
    try:
        trace = ErrorTrace(context, entry, v)
        with precision(trace.bits):
            return _walk(trace)
    except (OverBudgetError, InputError):  # too much to look into, or torch refuses to go back
        return None


def _walk(trace: ErrorTrace) -> Blame | None:
    """Walk from a wrong number back to its cause; if it is not finite, by way of the first number that is not."""
    place, poison, error = trace.start, None, trace.value(trace.start)
    is_nothing = error.relative <= RIGHT * float(trace.context.info.eps) or trace.entry.verdict == "nan-trap"
    if error.absolute is not None and is_nothing:
        return None
    for _ in range(MOST_STEPS):
        error, unfinished = trace.value(place), (s for s in trace.sources(place) if trace.value(s).absolute is None)
        following = _largest(trace, unfinished) if error.absolute is None else None
        if error.absolute is None and following is None and poison is None:
            poison = place
            if (branch := _blame_branch(trace, poison)) is not None:
                return branch
        following = following or _worst_operand(trace, place, error)
        if following is None:
            return _blame_poison(trace, poison, place) if poison else _blame_value(trace, place)
        place = following
    return None


def _largest(trace: ErrorTrace, places: Iterator[Place]) -> Place | None:
    """Find the largest of the elements of the first operand among some: it makes the result what it is."""
    found = [*places]
    same = (place for place in found if place[0] == found[0][0])
    return max(same, key=lambda place: magnitude(trace.value(place).truth), default=None)


def _worst_operand(trace: ErrorTrace, place: Place, error: Error) -> Place | None:
    """Find the element to blame that passes on most of an error, if any; a misjudged condition comes first."""
    blamed = []
    for source in trace.sources(place):
        own, line = trace.value(source), trace.context.line_of.get(source[0])
        if line is not None and line.call.op.is_condition and own.relative > 0:
            return source
        if own.relative > trace.tolerance or 0 < error.relative <= SHARE * own.relative:
            blamed.append((source, own))
    best, most = None, arb(0)
    for source, own in sorted(blamed, key=lambda pair: -pair[1].relative)[:MOST_TRIED]:
        passed: Ball = trace.moved(place, source, arb(own.number))
        if best is None or passed > most:
            best, most = source, passed
    return best if error.absolute is None or EXPLAINS * most >= error.absolute else None


# -- faults of one operation, in a word and a sentence: the numbers that it was given, and the number that it made


def _blame_value(trace: ErrorTrace, place: Place) -> Blame | None:
    """Explain why an element of a line is bad although the elements that it is made of are good."""
    line = trace.context.line_of.get(place[0])
    if line is None:
        return None
    shown, error = trace.context.excerpt(line.symbol), trace.value(place)
    if isinstance(error.truth, Undefined):
        return Blame("domain", line.span, f"{shown} has no value here")
    # A condition has no small error: it is right or the other way round.
    if line.call.op.is_condition:
        return Blame("branch", line.span, f"rounding decides {shown} the other way")
    if line.call.op.is_step:
        return Blame("branch", line.span, f"rounding takes {shown} over a jump: {_compared(error)}")
    if line.call.op.only_moves:
        return None  # what is moved is not rounded
    return (
        _outside(trace, line, _where(trace, line, "a number ", ""), error.truth)
        or _terms_cancel(trace, line, place, error)
        or _magnified(trace, line, place, error)
        or _partial_product(trace, line, place)
        or Blame("ill-conditioned", line.span, f"torch loses digits {_where(trace, line)}: {_compared(error)}")
    )


def _blame_poison(trace: ErrorTrace, poison: Place, cause: Place) -> Blame | None:
    """Explain why a number is not finite: by a number that it is made of, or by a slope.

    Args:
        trace: Torch's passes.
        poison: The first number on the way that is not finite.
        cause: The number that made it so; it may be the same one.
    """
    slope = trace.slope(poison) if poison == cause else None
    if slope is not None and isinstance(trace.value(poison).truth, Undefined):
        line, shown = trace.context.line_of[poison[0]], trace.context.excerpt(poison[0])
        is_nan = math.isnan(trace.number(poison))
        effect = "and 0 times that is nan" if is_nan else "which makes the derivative infinite or nan"
        return Blame("domain", line.span, f"{shown} has the slope {said(slope)} here, {effect}")
    fault, number = _blame_value(trace, cause), trace.number(cause)
    if fault is None or fault.kind == "overflow" or math.isfinite(number):
        return fault
    return Blame(fault.kind, fault.span, f"{fault.note}; torch gives {said(number)}")


# -- branches


def _blame_branch(trace: ErrorTrace, place: Place) -> Blame | None:
    """Blame an operation that is not finite, or whose slope is not, in a branch not taken; None if it is taken."""
    line, truth, refusal = trace.context.line_of.get(place[0]), trace.value(place).truth, trace.refusal(place)
    if line is None or refusal is None:
        return None
    shown = trace.context.excerpt(line.symbol)
    fault = None if isinstance(truth, Undefined) else _outside(trace, line, shown, truth)
    is_large = fault is not None and fault.kind == "overflow"
    effect = "overflows" if is_large else f"is {said(trace.number(place))}"
    effect += " here, and 0 times its slope is nan"
    if (slope := trace.slope(place)) is not None:
        effect = f"has the slope {said(slope)} here, and 0 times that is nan"
    return Blame("branch", line.span, f"{_refused(trace, *refusal, shown)} {effect}")


def _refused(trace: ErrorTrace, choice: Line, k: int, shown: str) -> str:
    """Name in words an operation that a choice does not take, and the operand that it is in."""
    text, condition = trace.context.excerpt(choice.symbol), trace.context.line_of.get(choice.call.operands[0])
    if not choice.call.op.is_branch or (condition is not None and condition.span == choice.span):
        return f"{shown}, which {text} does not take,"
    branch = trace.context.excerpt(choice.call.operands[k])
    return f"the branch not taken, {shown}," if branch == shown else f"in the branch not taken, {branch}, {shown}"


# -- classes


def _outside(trace: ErrorTrace, line: Line, what: str, truth: Ball) -> Blame | None:
    """Blame a number beyond the range of the dtype, or below the numbers that have all their digits."""
    dtype, size = trace.context.dtype, abs(truth)
    largest, smallest = float(trace.context.info.max), float(trace.context.info.smallest_normal)
    if not exists(size.mid()):
        return None  # an inf of the text, and no number that grew
    if size > largest:
        return Blame("overflow", line.span, f"{what} is {said(truth)} here, and {dtype} ends at {said(largest)}")
    if size.upper() < smallest and size > 0:
        note = f"{what} is {said(truth)} here, and {dtype} loses digits below {said(smallest)}"
        return Blame("underflow", line.span, note)
    return None


def _partial_product(trace: ErrorTrace, line: Line, place: Place) -> Blame | None:
    """Blame a product of some of the factors of a product, where it is outside of the range."""
    if not line.call.op.is_nonlinear_fold or line.call.op.is_extreme:
        return None
    factors = [magnitude(trace.value(source).truth) for source in trace.sources(place)]
    what = f"a product of factors of {trace.context.excerpt(line.symbol)}"
    parts = ([f for f in factors if f > 1], [f for f in factors if 0 < f < 1])
    return next(filter(None, (_outside(trace, line, what, math.prod(some, start=arb(1))) for some in parts)), None)


def _terms_cancel(trace: ErrorTrace, line: Line, place: Place, error: Error) -> Blame | None:
    """Blame terms, constant ones too, that leave little of each other."""
    if not line.call.op.adds_terms:
        return None
    constants = [abs(arb(float(a))) for a in line.call.operands if a.is_Rational or a.is_Float]
    largest = max([*_terms(trace, place).values(), *constants], default=arb(0))
    if not largest > SHRINKS * magnitude(error.truth):
        return None
    names = dict.fromkeys(trace.context.excerpt(a) for a in line.call.operands if a in trace.context.flowing)
    if trace.context.is_whole(line.symbol):
        note = f"{trace.context.excerpt(line.symbol)} cancels: {_cancel(largest, error)}"
    elif len(names) > 1:  # they come together where a value is used twice
        note = f"in the derivative, through {' and '.join(names)}, {_cancel(largest, error)}"
    else:
        note = f"{_where(trace, line)}, {_cancel(largest, error)}"
    return Blame("cancellation", line.span, note)


def _magnified(trace: ErrorTrace, line: Line, place: Place, error: Error) -> Blame | None:
    """Blame an argument whose rounding matters too much; an input is exact."""
    if line.call.op.kind is not OpKind.ELEMENTWISE:
        return None
    terms = _terms(trace, place)
    source = max(terms, key=terms.__getitem__, default=place)
    largest, explained = terms.get(source, arb(0)), sum(terms.values(), arb(0)) * _unit(trace) * ROUNDINGS
    is_explained = error.absolute is not None and explained >= error.absolute and largest > magnitude(error.truth)
    if not is_explained or not trace.context.is_whole(source[0]):
        return None
    what, text = _where(trace, line, "a number ", ""), trace.context.excerpt(source[0])
    if _is_nothing(error.truth):
        note = f"{what} is 0 here, but for the rounding of {text}: torch gives {said(error.number)}"
    else:
        times = said(largest / magnitude(error.truth))
        note = f"{what} makes the rounding of {text} {times} times as large: {_compared(error)}"
    return Blame("ill-conditioned", line.span, note)


def _terms(trace: ErrorTrace, place: Place) -> dict[Place, Ball]:
    """Compute the contributions of the largest elements that an element is made of, to first order."""
    truths = {source: trace.value(source).truth for source in trace.sources(place)}
    known = {source: truth for source, truth in truths.items() if not isinstance(truth, Undefined)}
    largest = sorted(known, key=lambda source: magnitude(known[source]), reverse=True)[:MOST_TRIED]
    grown = {source: known[source] * (1 + arb(_unit(trace))) for source in largest}
    return {source: trace.moved(place, source, truth) / _unit(trace) for source, truth in grown.items()}


def _unit(trace: ErrorTrace) -> float:
    return float(trace.context.info.eps) / 2


# -- words


def _where(trace: ErrorTrace, line: Line, lead: str = "", whole: str = "in ") -> str:
    """Tell in words which operation of the text a line is a part of."""
    place = f"{lead}{'inside of ' if line.symbol in trace.context.forward else 'in the derivative through '}"
    return f"{whole if trace.context.is_whole(line.symbol) else place}{trace.context.excerpt(line.symbol)}"


def _cancel(largest: Ball, error: Error) -> str:
    """Tell in words the true sum of terms that cancel, and torch's number."""
    if _is_nothing(error.truth):
        return f"terms as large as {said(largest)} cancel to 0, and what torch gives is their rounding"
    number, truth = _apart(error)
    return f"terms as large as {said(largest)} leave {truth}, and torch gives {number}"


def _compared(error: Error) -> str:
    number, truth = _apart(error)
    return f"torch gives {number}, the truth is {truth}"


def _apart(error: Error) -> tuple[str, str]:
    """Write torch's number and the truth with as many digits as it takes to tell them apart."""
    if isinstance(error.truth, Undefined):
        return said(error.number), "unknown"
    pairs = ((said(error.number, digits), said(error.truth, digits)) for digits in range(3, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (said(error.number, 17), said(error.truth, 17)))


def _is_nothing(truth: Outcome) -> bool:
    return not isinstance(truth, Undefined) and bool(truth.contains(0))


def said(number: Ball | float, digits: int = 3) -> str:
    """Write a number to a few digits, however large.

    >>> said(arb(10) ** 434 * 2), said(0.25), said(arb(10) ** -400), said(arb("-inf"))
    ('2e+434', '0.25', '1e-400', '-inf')
    """
    if isinstance(number, float) or not exists(number.mid()) or arb("1e-300") < abs(number) < arb("1e300"):
        return f"{float(number if isinstance(number, float) else number.mid()):.{digits}g}"
    if number.contains(0):
        return "0"
    return in_decimal(number, digits)
