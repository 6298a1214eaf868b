"""What is wrong with one operation, in a word and a sentence: what it was given, and what it made of that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import sympy
from flint import arb

from gradcli.diagnose.error_trace import Error, ErrorTrace, Place, magnitude
from gradcli.language.ops import Kind as OpKind
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import Ball, exists
from gradcli.reference.rules import Outcome, Undefined

Kind = Literal["cancellation", "underflow", "overflow", "ill-conditioned", "branch", "domain", "unknown"]

MOST_CHOICES = 64
"""Choices that are looked through for a branch."""

ROUNDINGS = 64.0
"""How many roundings of an argument an operation may turn into its error."""

SHRINKS = 4.0
"""How many times as large as what is left terms must be to be said to cancel."""

FROM_RESULT = frozenset("expm1 tanh sigmoid logsigmoid elu selu celu softmax log_softmax det".split())
"""Operations whose slope torch takes from their rounded result, which loses digits where that is flat."""

MOST_DIGITS = 10**6
"""Exponents beyond this are not written out."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is to blame for a wrong number.

    Attributes:
        kind: `cancellation`: terms that leave little of each other; `underflow` and `overflow`: a number outside of
            the range of the dtype; `ill-conditioned`: the error is in how much an argument matters; `branch`: a branch
            that is not taken, or taken by mistake; `domain`: no value or slope; `unknown`: torch's derivative alone.
        atom: The operation, in the Program as torch runs it.
        note: The finding in one sentence.
    """

    kind: Kind
    atom: Atom
    note: str


def of_value(trace: ErrorTrace, place: Place) -> Fault | None:
    """Why the value of an operation is bad although its operands are good."""
    atom = place[0]
    line, shown = trace.context.line_of[atom], trace.context.excerpt(atom)
    error = trace.value(place)
    if isinstance(error.truth, Undefined):
        return Fault("domain", atom, f"{shown} has no value here")
    # A condition has no small error: it is right or the other way round.
    if line.call.op.is_condition:
        return Fault("branch", atom, f"rounding decides {shown} the other way")
    if line.call.op.is_step:
        return Fault("branch", atom, f"rounding takes {shown} over a jump: {_compared(error)}")
    terms = _terms(trace, place)
    return (
        _outside(trace, atom, shown, error.truth)
        or _terms_cancel(line, shown, [size for _, size in terms], error)
        or _cancelling(trace, line, error)
        or _magnified(trace, atom, terms, error)
        or _otherwise(trace, line, shown, shown, error)
    )


def of_slope(trace: ErrorTrace, line: Line, place: Place, error: Error) -> Fault | None:
    """Why an operation passes on bad digits although it was given good ones."""
    shown = trace.context.program.excerpt(line)
    if isinstance(error.truth, Undefined):
        return Fault("domain", line.symbol, f"{shown} has no slope here")
    through = f"the derivative through {shown}"
    outside = _outside(trace, line.symbol, through, error.truth)
    if outside is not None:
        return outside
    flow = trace.back_through(line).get(place)
    largest = arb(0) if flow is None else flow.largest
    accounts = error.absolute is None or largest * _roundings(trace) >= error.absolute
    if largest > SHRINKS * abs(error.truth).upper() and accounts:
        return Fault("cancellation", line.symbol, f"in {through}, {_cancel(largest, error)}")
    if line.call.op.name in FROM_RESULT:
        note = f"torch takes the slope of {shown} from its rounded value: {_compared(error)}"
        return Fault("cancellation", line.symbol, note)
    return _cancelling(trace, line, error) or _otherwise(trace, line, shown, through, error)


def of_sum(trace: ErrorTrace, place: Place) -> Fault | None:
    """Good contributions whose sum is bad: what flows back through several operations cancels."""
    flows = sorted(trace.flows(place), key=lambda pair: magnitude(pair[1].truth), reverse=True)
    error = trace.adjoint(place)
    through = [line for line, _ in flows[:2]]
    if not through:
        return None
    atom = _join(trace, through)
    names = " and ".join(dict.fromkeys(trace.context.program.excerpt(line) for line in through))
    largest = magnitude(flows[0][1].truth)
    if not math.isfinite(error.number):
        return Fault(
            "overflow", atom, f"the derivatives through {names} add up to more than {trace.context.dtype} holds"
        )
    note = f"in the derivative of {trace.context.excerpt(atom)}, through {names}, {_cancel(largest, error)}"
    return Fault("cancellation", atom, note)


def of_poison(trace: ErrorTrace, place: Place, fault: Fault | None) -> Fault | None:
    """A value that is not finite, or that made another so; in a branch that is not taken, it is the branch."""
    if place[0] not in trace.context.line_of:
        return None
    number = trace.value(place).number
    overflows = fault is not None and fault.kind == "overflow"
    refused = _refused(trace, place, trace.context.excerpt(place[0]))
    if refused is not None:
        why = "overflows here" if overflows else f"is {said(number)} here"
        return Fault("branch", place[0], f"{refused} {why}, and 0 times its slope is nan")
    if fault is None or math.isfinite(number) or overflows:
        return fault
    return Fault(fault.kind, fault.atom, f"{fault.note}; torch gives {said(number)}")


def of_poisoned_slope(trace: ErrorTrace, line: Line, place: Place, results: list[Place]) -> Fault:
    """An operation of finite values whose slope is not finite."""
    shown = trace.context.program.excerpt(line)
    given = trace.torch.adjoints.get(line.symbol)
    ones = trace.contribution(line, place, adjoint=np.ones(trace.context.shapes[line.symbol]))
    slope = f"has the slope {said(math.nan if ones is None else ones)} here"
    refused = next(filter(None, (_refused(trace, result, shown) for result in results)), None)
    is_zero = given is not None and not any(given.ravel()[e] for _, e in results)
    effect = "and 0 times that is nan" if is_zero else "which makes the derivative infinite or nan"
    if refused is not None:
        return Fault("branch", line.symbol, f"{refused} {slope}, {effect}")
    truths = [flow.total for result in results for source, flow in trace.slopes(result).items() if source == place]
    if any(isinstance(truth, Undefined) for truth in truths) or (
        ones is not None and not math.isfinite(ones) and is_zero
    ):
        return Fault("domain", line.symbol, f"{shown} {slope}, {effect}")
    for truth in truths:
        outside = _outside(trace, line.symbol, f"the slope of {shown}", truth)
        if outside is not None and outside.kind == "overflow":
            return outside
    number = trace.contribution(line, place)
    note = f"torch's derivative through {shown} is {said(math.nan if number is None else number)} here"
    return Fault("unknown", line.symbol, note)


# -- branches


def _refused(trace: ErrorTrace, place: Place, shown: str) -> str | None:
    """What a choice does not take of an operation, in words; None if it is taken."""
    if trace.is_taken(place):
        return None
    wanted = trace.context.held(place[0])
    seen = 0
    for part in reversed(trace.context.meaning.program.lines):
        flows = trace.sweep.adjoints.get(part.symbol)
        if not (part.call.op.is_branch or part.call.op.is_extreme) or not flows:
            continue
        seen += 1
        if seen > MOST_CHOICES:
            break
        elements = np.array(sorted(flows), dtype=np.int64)
        for k, operand in enumerate(part.call.operands):
            if (k == 0 and part.call.op.is_branch) or not isinstance(operand, sympy.Symbol):
                continue
            refused = trace.truth.refused(part, k, elements)
            made_of = trace.context.reference.made_of({operand: refused}) if len(refused) else {}
            if place[1] in made_of.get(wanted, ()):
                choice = trace.context.meaning.owners[part.symbol]
                if not part.call.op.is_branch:
                    return f"{shown}, which {trace.context.excerpt(choice)} does not take,"
                branch = trace.context.excerpt(trace.context.by_meaning.get(operand, choice))
                is_inside = branch != shown
                return f"in the branch not taken, {branch}, {shown}" if is_inside else f"the branch not taken, {shown},"
    return None


# -- classes


def _outside(trace: ErrorTrace, atom: Atom, what: str, truth: Ball) -> Fault | None:
    """Beyond the range of the dtype, or below the numbers that have all their digits."""
    dtype, size = trace.context.dtype, abs(truth)
    largest, smallest = float(trace.context.info.max), float(trace.context.info.smallest_normal)
    if not exists(size.mid()):
        return None  # an inf of the text, and no number that grew
    if size > largest:
        note = f"{what} is {said(truth)} here, and {dtype} ends at {said(largest)}"
        return Fault("overflow", atom, note)
    if size.upper() < smallest and size > 0:
        note = f"{what} is {said(truth)} here, and {dtype} loses digits below {said(smallest)}"
        return Fault("underflow", atom, note)
    return None


def _inside(trace: ErrorTrace, line: Line, shown: str) -> Fault | None:
    """A number outside of the range inside of an operation that torch has and the primitives spell out."""
    parts = trace.context.parts.get(line.symbol, ())
    for part in parts:
        if part.call.op.is_nonlinear_fold and not part.call.op.is_extreme:
            factors = [magnitude(o) for o in trace.truth.values.get(part.call.operands[0], {}).values()]
            for some in ([f for f in factors if f > 1], [f for f in factors if 0 < f < 1]):
                what = f"a product of factors of {shown}"
                outside = _outside(trace, line.symbol, what, math.prod(some, start=arb(1)))
                if outside is not None:
                    return outside
    for part in parts[:-1]:
        for outcome in trace.truth.values.get(part.symbol, {}).values():
            if not isinstance(outcome, Undefined):
                outside = _outside(trace, line.symbol, f"a number inside of {shown}", outcome)
                if outside is not None:
                    return outside
    return None


def _join(trace: ErrorTrace, lines: list[Line]) -> Atom:
    """The first line in which what goes through all of these comes together."""
    above = [{line.symbol} for line in lines]
    for line in trace.context.program.lines:
        for reached in above:
            if not reached.isdisjoint(line.call.operands):
                reached.add(line.symbol)
        if all(line.symbol in reached for reached in above):
            return line.symbol
    return trace.context.program.output


def _cancelling(trace: ErrorTrace, line: Line, error: Error) -> Fault | None:
    """Terms that cancel inside of an operation over many elements."""
    if line.call.op.kind is OpKind.ELEMENTWISE:
        return None
    shown = trace.context.program.excerpt(line)
    for part in trace.context.parts.get(line.symbol, ()):
        found = trace.truth.values.get(part.symbol, {}) if part.call.op.adds_terms else {}
        terms = [o for a in part.call.operands for o in trace.truth.values.get(a, {}).values()]
        largest = max((magnitude(o) for o in terms), default=arb(0))
        for outcome in found.values():
            size = magnitude(outcome)
            if largest > SHRINKS * size and largest * _roundings(trace) >= size * error.relative:
                note = f"inside of {shown}, terms as large as {said(largest)} leave {said(outcome)}: {_compared(error)}"
                return Fault("cancellation", line.symbol, note)
    return None


def _terms_cancel(line: Line, shown: str, terms: list[Ball], error: Error) -> Fault | None:
    """Terms, constant ones too, that leave little of each other."""
    constants = [abs(arb(float(a))) for a in line.call.operands if a.is_Rational or a.is_Float]
    largest = max([*terms, *constants], default=arb(0))
    if not line.call.op.adds_terms or not largest > SHRINKS * magnitude(error.truth):
        return None
    return Fault("cancellation", line.symbol, f"{shown} cancels: {_cancel(largest, error)}")


def _magnified(trace: ErrorTrace, atom: Atom, terms: list[tuple[Place, Ball]], error: Error) -> Fault | None:
    """An argument whose rounding matters too much."""
    largest, size = max((size for _, size in terms), default=arb(0)), magnitude(error.truth)
    explained = sum((size for _, size in terms), arb(0)) * _roundings(trace)
    if error.absolute is None or not largest > size or not explained >= error.absolute:
        return None
    source = max(terms, key=lambda pair: pair[1])[0][0]
    shown, text = trace.context.excerpt(atom), trace.context.excerpt(source)
    if _is_nothing(error.truth):
        note = f"{shown} is 0 here, but for the rounding of {text}: torch gives {said(error.number)}"
        return Fault("ill-conditioned", atom, note)
    if source in trace.context.program.variables:  # an input is exact
        return None
    note = f"{shown} makes the rounding of {text} {said(largest / size)} times as large: {_compared(error)}"
    return Fault("ill-conditioned", atom, note)


def _otherwise(trace: ErrorTrace, line: Line, shown: str, where: str, error: Error) -> Fault | None:
    """A number inside of an operation, or lost digits for which there is no better word."""
    inside = _inside(trace, line, shown)
    if inside is not None or error.relative <= trace.tolerance:
        return inside
    return Fault("ill-conditioned", line.symbol, f"torch loses digits in {where}: {_compared(error)}")


def _terms(trace: ErrorTrace, place: Place) -> list[tuple[Place, Ball]]:
    """What the elements that one is made of add to it, to first order."""
    found = []
    for source, flow in trace.slopes(place).items():
        truth = trace.value(source).truth
        if not isinstance(truth, Undefined) and not isinstance(flow.total, Undefined):
            found.append((source, abs(flow.total * truth).upper()))
    return found


def _roundings(trace: ErrorTrace) -> float:
    return float(trace.context.info.eps) / 2 * ROUNDINGS


# -- words


def _cancel(largest: Ball, error: Error) -> str:
    """What terms leave of each other, and what torch has of it."""
    if _is_nothing(error.truth):
        return f"terms as large as {said(largest)} cancel to 0, and what torch gives is their rounding"
    number, truth = _apart(error)
    return f"terms as large as {said(largest)} leave {truth}, and torch gives {number}"


def _compared(error: Error) -> str:
    number, truth = _apart(error)
    return f"torch gives {number}, the truth is {truth}"


def _apart(error: Error) -> tuple[str, str]:
    """Torch's number and the truth with as many digits as it takes to tell them apart."""
    if isinstance(error.truth, Undefined):
        return said(error.number), "unknown"
    pairs = ((said(error.number, digits), said(error.truth, digits)) for digits in range(3, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (said(error.number, 17), said(error.truth, 17)))


def _is_nothing(truth: Outcome) -> bool:
    return not isinstance(truth, Undefined) and bool(truth.contains(0))


def said(number: Ball | float, digits: int = 3) -> str:
    """A number to a few digits, however large.

    >>> said(arb(10) ** 434 * 2), said(0.25), said(arb(10) ** -400), said(arb("-inf"))
    ('2e+434', '0.25', '1e-400', '-inf')
    """
    if not isinstance(number, float) and not exists(number.mid()):
        number = float(number.mid())
    if isinstance(number, float):
        return f"{number:.{digits}g}"
    if number.contains(0):
        return "0"
    size = abs(number)
    if arb("1e-300") < size < arb("1e300"):
        return f"{float(number.mid()):.{digits}g}"
    exponent = float((size.log() / arb(10).log()).floor().mid())
    sign = "-" if number < 0 else ""
    if abs(exponent) > MOST_DIGITS:
        return f"{sign}10**({exponent:.3g})"
    mantissa = f"{float((size / arb(10) ** int(exponent)).mid()):.{digits}g}"
    if mantissa == "10":
        mantissa, exponent = "1", exponent + 1
    return f"{sign}{mantissa}e{int(exponent):+d}"
