"""What is wrong with one operation, in a word and a sentence: what it was given, and what it made of that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import sympy
from flint import arb

from gradcli.diagnose.error_trace import Error, ErrorTrace, Place
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

MOST_DIGITS = 10**6
"""Exponents beyond this are not written out."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An operation, what is wrong with it, and for a branch the choice that does not take it."""

    kind: Kind
    atom: Atom
    note: str
    choice: Atom | None = None


def of_value(view: ErrorTrace, place: Place) -> Fault | None:
    """Why the value of an operation is bad although its operands are good."""
    atom = place[0]
    line, shown = view.scene.line_of[atom], view.scene.excerpt(atom)
    error = view.value(place)
    if isinstance(error.truth, Undefined):
        return Fault("domain", atom, f"{shown} has no value here")
    if line.call.op.is_condition:
        return Fault("branch", atom, f"rounding decides {shown} the other way")
    if line.call.op.is_step:
        return Fault("branch", atom, f"rounding takes {shown} over a jump: {_compared(error)}")
    outside = _outside(view, atom, shown, error.truth)
    if outside is not None:
        return outside
    terms = _terms(view, place)
    largest = max((term for _, term in terms), default=arb(0))
    size = abs(error.truth).upper()
    if line.call.op.adds_terms:
        largest = _largest_term(line, largest)
        if largest > SHRINKS * size:
            note = f"{shown} cancels: terms as large as {said(largest)} leave {_left(error)}"
            return Fault("cancellation", atom, note)
    rounded = next((a for a in line.call.operands if a in (sympy.pi, sympy.E)), None)
    if rounded is not None and not terms:
        return Fault("ill-conditioned", atom, f"{shown} is taken of a rounded {rounded}: {_compared(error)}")
    inside = _cancelling(view, line, error)
    if inside is not None:
        return inside
    if error.absolute is not None and largest > size and _total(terms) * _roundings(view) >= error.absolute:
        source = max(terms, key=lambda pair: pair[1])[0]
        text = view.scene.excerpt(source[0])
        if _is_nothing(error.truth):
            note = f"{shown} is 0 here, but for the rounding of {text}: torch gives {said(error.number)}"
            return Fault("ill-conditioned", atom, note)
        if source[0] not in view.scene.program.variables:  # an input is exact
            note = f"{shown} makes the rounding of {text} {said(largest / size)} times as large: {_compared(error)}"
            return Fault("ill-conditioned", atom, note)
    inside = _inside(view, line, shown)
    if inside is not None or error.relative <= view.tolerance:
        return inside
    return Fault("ill-conditioned", atom, f"torch loses digits in {shown}: {_compared(error)}")


def of_slope(view: ErrorTrace, line: Line, place: Place, error: Error) -> Fault | None:
    """Why an operation passes on bad digits although it was given good ones."""
    shown = view.scene.program.excerpt(line)
    if isinstance(error.truth, Undefined):
        return Fault("domain", line.symbol, f"{shown} has no slope here")
    outside = _outside(view, line.symbol, f"the derivative through {shown}", error.truth)
    if outside is not None:
        return outside
    flow = view.back_through(line).get(place)
    largest = arb(0) if flow is None else flow.largest
    accounts = error.absolute is None or largest * _roundings(view) >= error.absolute
    if largest > SHRINKS * abs(error.truth).upper() and accounts:
        return Fault("cancellation", line.symbol, f"in the derivative through {shown}, {_cancel(largest, error)}")
    if line.call.op.from_result:
        note = f"torch takes the slope of {shown} from its rounded value: {_compared(error)}"
        return Fault("cancellation", line.symbol, note)
    inside = _cancelling(view, line, error)
    if inside is not None:
        return inside
    factor = _sensitivity(view, line, place)
    is_rounded = any(a.is_Symbol and a not in view.scene.program.variables for a in line.call.operands)
    if is_rounded and factor is not None and factor > SHRINKS and factor * _roundings(view) >= error.relative:
        note = f"the slope of {shown} makes the rounding of its argument {said(factor)} times as large"
        return Fault("ill-conditioned", line.symbol, f"{note}: {_compared(error)}")
    inside = _inside(view, line, shown)
    if inside is not None or error.relative <= view.tolerance:
        return inside
    note = f"torch loses digits in the derivative through {shown}: {_compared(error)}"
    return Fault("ill-conditioned", line.symbol, note)


def of_sum(view: ErrorTrace, place: Place) -> Fault | None:
    """Good contributions whose sum is bad: what flows back through several operations cancels."""
    flows = sorted(view.flows(place), key=lambda pair: _magnitude(pair[1].truth), reverse=True)
    error = view.adjoint(place)
    through = [line for line, _ in flows[:2]]
    if not through:
        return None
    atom = _join(view, through)
    names = " and ".join(dict.fromkeys(view.scene.program.excerpt(line) for line in through))
    largest = _magnitude(flows[0][1].truth)
    if not math.isfinite(error.number):
        return Fault("overflow", atom, f"the derivatives through {names} add up to more than {view.scene.dtype} holds")
    note = f"in the derivative of {view.scene.excerpt(atom)}, through {names}, {_cancel(largest, error)}"
    return Fault("cancellation", atom, note)


def of_poison(view: ErrorTrace, place: Place, fault: Fault | None) -> Fault | None:
    """A value that is not finite, or that made another so; in a branch that is not taken, it is the branch."""
    if place[0] not in view.scene.line_of:
        return None
    number = view.value(place).number
    refused = _refused(view, place)
    if refused is None:
        if fault is None or math.isfinite(number) or fault.kind == "overflow":
            return fault
        return Fault(fault.kind, fault.atom, f"{fault.note}; torch gives {said(number)}", fault.choice)
    shown = view.scene.excerpt(place[0])
    why = "overflows here" if fault is not None and fault.kind == "overflow" else f"is {said(number)} here"
    note = f"{refused.named(shown)} {why}, and 0 times its slope is nan"
    return Fault("branch", place[0], note, refused.choice)


def of_poisoned_slope(view: ErrorTrace, line: Line, place: Place, results: list[Place]) -> Fault:
    """An operation of finite values whose slope is not finite."""
    shown = view.scene.program.excerpt(line)
    given = view.trace.adjoints.get(line.symbol)
    ones = view.contribution(line, place, adjoint=np.ones(view.scene.shapes[line.symbol]))
    slope = f"has the slope {said(math.nan if ones is None else ones)} here"
    refused = next((r for r in (_refused(view, result) for result in results) if r is not None), None)
    is_zero = given is not None and not any(given.ravel()[e] for _, e in results)
    effect = "and 0 times that is nan" if is_zero else "which makes the derivative infinite or nan"
    if refused is not None:
        return Fault("branch", line.symbol, f"{refused.named(shown)} {slope}, {effect}", refused.choice)
    truths = [flow.total for result in results for source, flow in view.slopes(result).items() if source == place]
    if any(isinstance(truth, Undefined) for truth in truths) or (
        ones is not None and not math.isfinite(ones) and is_zero
    ):
        return Fault("domain", line.symbol, f"{shown} {slope}, {effect}")
    for truth in truths:
        outside = _outside(view, line.symbol, f"the slope of {shown}", truth)
        if outside is not None and outside.kind == "overflow":
            return outside
    number = view.contribution(line, place)
    note = f"torch's derivative through {shown} is {said(math.nan if number is None else number)} here"
    return Fault("unknown", line.symbol, note)


# -- branches


@dataclass(frozen=True, slots=True)
class _Refused:
    """A value that a choice does not take, and the choice."""

    text: str
    choice: Atom
    chooser: str
    is_branch: bool

    def named(self, shown: str) -> str:
        """What is not taken, and the operation inside of it."""
        if not self.is_branch:
            return f"{shown}, which {self.chooser} does not take,"
        inside = "" if self.text == shown else f"in the branch not taken, {self.text}, "
        return f"{inside}{shown}" if inside else f"the branch not taken, {shown},"


def _refused(view: ErrorTrace, place: Place) -> _Refused | None:
    """The choice that does not take what an element is part of."""
    if view.is_taken(place):
        return None
    wanted = view.scene.held(place[0])
    seen = 0
    for part in reversed(view.scene.meaning.program.lines):
        flows = view.sweep.adjoints.get(part.symbol)
        if not (part.call.op.is_branch or part.call.op.is_extreme) or not flows:
            continue
        seen += 1
        if seen > MOST_CHOICES:
            break
        elements = np.array(sorted(flows), dtype=np.int64)
        for k, operand in enumerate(part.call.operands):
            if (k == 0 and part.call.op.is_branch) or not isinstance(operand, sympy.Symbol):
                continue
            refused = view.truth.refused(part, k, elements)
            made_of = view.scene.reference.made_of({operand: refused}) if len(refused) else {}
            if place[1] in made_of.get(wanted, ()):
                choice = view.scene.meaning.owners[part.symbol]
                branch = view.scene.by_meaning.get(operand, choice)
                chooser, is_branch = view.scene.excerpt(choice), part.call.op.is_branch
                return _Refused(view.scene.excerpt(branch), choice, chooser, is_branch)
    return None


# -- classes


def _outside(view: ErrorTrace, atom: Atom, what: str, truth: Ball) -> Fault | None:
    """Beyond the range of the dtype, or below the numbers that have all their digits."""
    dtype, size = view.scene.dtype, abs(truth)
    if not exists(size.mid()):
        return None  # an inf of the text, and no number that grew
    if size > view.scene.largest:
        note = f"{what} is {said(truth)} here, and {dtype} ends at {said(view.scene.largest)}"
        return Fault("overflow", atom, note)
    if size.upper() < view.scene.smallest and size > 0:
        note = f"{what} is {said(truth)} here, and {dtype} loses digits below {said(view.scene.smallest)}"
        return Fault("underflow", atom, note)
    return None


def _inside(view: ErrorTrace, line: Line, shown: str) -> Fault | None:
    """A number outside of the range inside of an operation that torch has and the primitives spell out."""
    parts = view.scene.parts.get(line.symbol, ())
    for part in parts:
        if part.call.op.is_nonlinear_fold and not part.call.op.is_extreme:
            factors = [_magnitude(o) for o in view.truth.values.get(part.call.operands[0], {}).values()]
            for some in ([f for f in factors if f > 1], [f for f in factors if 0 < f < 1]):
                what = f"a product of factors of {shown}"
                outside = _outside(view, line.symbol, what, math.prod(some, start=arb(1)))
                if outside is not None:
                    return outside
    for part in parts[:-1]:
        for outcome in view.truth.values.get(part.symbol, {}).values():
            if not isinstance(outcome, Undefined):
                outside = _outside(view, line.symbol, f"a number inside of {shown}", outcome)
                if outside is not None:
                    return outside
    return None


def _join(view: ErrorTrace, lines: list[Line]) -> Atom:
    """The first line in which what goes through all of these comes together."""
    above = [{line.symbol} for line in lines]
    for line in view.scene.program.lines:
        for reached in above:
            if not reached.isdisjoint(line.call.operands):
                reached.add(line.symbol)
        if all(line.symbol in reached for reached in above):
            return line.symbol
    return view.scene.program.output


def _cancelling(view: ErrorTrace, line: Line, error: Error) -> Fault | None:
    """Terms that cancel inside of an operation over many elements."""
    if line.call.op.kind is OpKind.ELEMENTWISE:
        return None
    shown = view.scene.program.excerpt(line)
    for part in view.scene.parts.get(line.symbol, ()):
        found = view.truth.values.get(part.symbol, {}) if part.call.op.adds_terms else {}
        terms = [o for a in part.call.operands for o in view.truth.values.get(a, {}).values()]
        largest = max((_magnitude(o) for o in terms), default=arb(0))
        for outcome in found.values():
            size = _magnitude(outcome)
            if largest > SHRINKS * size and largest * _roundings(view) >= size * error.relative:
                note = f"inside of {shown}, terms as large as {said(largest)} leave {said(outcome)}: {_compared(error)}"
                return Fault("cancellation", line.symbol, note)
    return None


def _terms(view: ErrorTrace, place: Place) -> list[tuple[Place, Ball]]:
    """What the elements that one is made of add to it, to first order."""
    found = []
    for source, flow in view.slopes(place).items():
        truth = view.value(source).truth
        if not isinstance(truth, Undefined) and not isinstance(flow.total, Undefined):
            found.append((source, abs(flow.total * truth).upper()))
    return found


def _total(terms: list[tuple[Place, Ball]]) -> Ball:
    return sum((term for _, term in terms), arb(0))


def _roundings(view: ErrorTrace) -> float:
    return view.scene.rounding * ROUNDINGS


def _sensitivity(view: ErrorTrace, line: Line, place: Place) -> Ball | None:
    """Of the slope of an operation, to the rounding of what it is taken at."""
    results = view.results(line, place)
    part = view.scene.parts[line.symbol][-1]
    held = view.scene.held(place[0])
    if len(results) != 1 or held not in part.call.operands:
        return None
    return view.truth.sensitivity(part, part.call.operands.index(held), results[0])


def _magnitude(outcome: Outcome) -> Ball:
    return arb(0) if isinstance(outcome, Undefined) else abs(outcome).upper()


def _largest_term(line: Line, largest: Ball) -> Ball:
    """Of the terms that vary and the constant ones."""
    sizes = [abs(arb(float(a))) for a in line.call.operands if a.is_Rational or a.is_Float]
    for size in sizes:
        largest = largest.max(size)
    return largest


# -- words


def _cancel(largest: Ball, error: Error) -> str:
    if _is_nothing(error.truth):
        return f"terms as large as {said(largest)} cancel to 0, and what torch gives is their rounding"
    return f"terms as large as {said(largest)} leave {_left(error)}"


def _left(error: Error) -> str:
    """What is left of a sum, and what torch has of it."""
    number, truth = _apart(error)
    return f"{truth}, and torch gives {number}"


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
