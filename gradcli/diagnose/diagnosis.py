"""Where digits are lost, and which operation poisons a gradient.

From a wrong number the walk goes back, always to what carried most of the error there, until it comes to an operation
that was given good numbers and made a bad one.  It is the operation that is named, with the reason: terms that cancel,
a number beyond the range of the dtype, an argument that matters too much, a branch that was not taken.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from flint import arb

from gradcli.diagnose import faults
from gradcli.diagnose.error_trace import DiagnosisContext, Error, ErrorTrace, Place
from gradcli.diagnose.faults import Fault
from gradcli.errors import InputError
from gradcli.language.program.wengert import Line
from gradcli.reference.balls import Ball, precision
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.rules import Undefined
from gradcli.results import Array, Entry

MOST_STEPS = 1_000
"""Operations of one walk."""

MOST_SOURCES = 10_000
"""Values that are looked at for the one that spoiled a slope."""

RIGHT = 2.0
"""Of a number that has lost nothing, in units of the dtype: four roundings."""

SHARE = 4.0
"""An operand has no fault in an error this many times as large as its own, and within the tolerance."""

EXPLAINS = 8.0
"""What an operand passes on explains an error at most this many times as large."""


def diagnose(context: DiagnosisContext, entry: Entry, v: Array | None = None) -> Fault | None:
    """What makes a `nan-trap` infinite or NaN where the truth is finite, or where another number lost its digits.

    Args:
        context: The function at the point.
        entry: The number: an element of y, an entry of J, or one of vᵀJ.
        v: The gradient vector, for an entry of vᵀJ.

    >>> import numpy as np
    >>> from gradcli.language.parsing import parse
    >>> program = parse("(1-cos(x))/x**2")
    >>> context = DiagnosisContext.of(program, {program.variables[0]: ()}, {"x": np.array(1e-8)}, ("x",), "float64")
    >>> context.excerpt(diagnose(context, Entry(None, (), None, "inaccurate", 0.0)).atom)
    '1-cos(x)'
    """
    is_poisoned = entry.verdict == "nan-trap"
    if not context.program.output.is_Symbol:
        return None  # y is a number
    try:
        trace = ErrorTrace(context, entry, v, everywhere=is_poisoned)
        with precision(trace.bits):
            walk = _Walk(trace)
            return walk.poison() if is_poisoned else walk.loss()
    except (OverBudgetError, InputError):  # too much to look into, or torch refuses to go back
        return None


class _Walk:
    """From one wrong number back to its cause."""

    def __init__(self, trace: ErrorTrace) -> None:
        self.trace, self.context = trace, trace.context

    def loss(self) -> Fault | None:
        """The cause of lost digits."""
        is_value = self.trace.entry.variable is None
        error = (self.trace.value if is_value else self.trace.adjoint)(self.trace.start)
        if error.relative <= RIGHT * float(self.context.info.eps):
            return None
        return self._value(self.trace.start) if is_value else self._derivative(self.trace.start)

    def poison(self) -> Fault | None:
        """The cause of a number that is not finite: the walk goes back to the first line that was not given one."""
        start = self.trace.start
        if self.trace.entry.variable is None:
            if math.isfinite(self.trace.value(start).number):
                return None
            place = self._first_bad_value(start)
            return faults.of_poison(self.trace, place, self._value(place))
        for _ in range(MOST_STEPS):
            bad = [line for line, error in self.trace.flows(start) if not math.isfinite(error.number)]
            if not bad:
                number = self.trace.adjoint(start).number
                return None if math.isfinite(number) else faults.of_sum(self.trace, start)
            results = self.trace.results(bad[0], start)
            following = next((r for r in results if not math.isfinite(self.trace.adjoint(r).number)), None)
            if following is None:
                return self._poisoner(bad[0], start, results)
            start = following
        return None

    # -- values

    def _value(self, place: Place) -> Fault | None:
        place = self._first_bad_value(place)
        return faults.of_value(self.trace, place) if place[0] in self.context.line_of else None

    def _first_bad_value(self, place: Place) -> Place:
        """The element that lost the digits on the way to this one: it is made of elements that still have them."""
        for _ in range(MOST_STEPS):
            if place[0] not in self.context.line_of:
                break
            error = self.trace.value(place)
            bad = self._unfinished(place) if error.absolute is None else []
            following = bad[0] if bad else self._worst_operand(place, error)
            if following is None:
                break
            place = following
        return place

    def _unfinished(self, place: Place) -> list[Place]:
        """The elements that are not finite among those that this one is made of, what is not taken last."""
        taken = self.trace.slopes(place)
        sources = sorted(self.trace.sources(place), key=lambda source: source not in taken)
        return [s for s in sources if not math.isfinite(self.trace.value(s).number)]

    def _worst_operand(self, place: Place, error: Error) -> Place | None:
        """The element that passes on most of an error, if any does and is to blame."""
        condition = self._misjudged(place)
        if condition is not None:
            return condition
        best: Place | None = None
        most: Ball = arb(0)
        for source, flow in self.trace.slopes(place).items():
            own = self.trace.value(source)
            if own.absolute is None:
                return source
            if not self._is_to_blame(own, error):
                continue
            passed = own.absolute if isinstance(flow.total, Undefined) else own.absolute * abs(flow.total).upper()
            if best is None or passed > most:
                best, most = source, passed
        return best if error.absolute is None or EXPLAINS * most >= error.absolute else None

    def _misjudged(self, place: Place) -> Place | None:
        """The condition that torch decides otherwise than the truth, if the operation depends on one."""
        lines = ((source, self.context.line_of.get(source[0])) for source in self.trace.sources(place))
        conditions = (source for source, line in lines if line is not None and line.call.op.is_condition)
        return next((source for source in conditions if self.trace.value(source).relative > 0), None)

    def _is_to_blame(self, own: Error, error: Error) -> bool:
        """Whether digits were lost already: beyond the tolerance, or about as many as in what it is part of."""
        return own.relative > self.trace.tolerance or (0 < error.relative <= SHARE * own.relative < math.inf)

    # -- derivatives

    def _derivative(self, place: Place) -> Fault | None:
        for _ in range(MOST_STEPS):
            error = self.trace.adjoint(place)
            flows = self.trace.flows(place)
            if error.relative == 0 or not flows:
                return None
            line, worst = max(flows, key=lambda pair: _badness(pair[1]))
            if len(flows) > 1 and not (self._is_to_blame(worst, error) and _explains(worst, error, len(flows))):
                return faults.of_sum(self.trace, place)
            given = {result: self.trace.adjoint(result) for result in self.trace.results(line, place)}
            bad = [result for result, own in given.items() if self._is_to_blame(own, worst)]
            if not bad:
                return self._of_operation(line, place, worst)
            place = max(bad, key=lambda result: _badness(given[result]))
        return None

    def _of_operation(self, line: Line, place: Place, error: Error) -> Fault | None:
        """The values that an operation took its slope from, if they were bad, or the operation itself."""
        reached = (s for result in self.trace.results(line, place)[:MOST_STEPS] for s in self.trace.sources(result))
        sources = dict.fromkeys(itertools.islice(reached, MOST_SOURCES))
        bad = [s for s in sources if self._is_to_blame(self.trace.value(s), error)]
        if bad:
            return self._value(max(bad, key=lambda s: self.trace.value(s).relative))
        return faults.of_slope(self.trace, line, place, error)

    def _is_beyond_mending(self, place: Place) -> bool:
        """Whether the true value is not a number of the dtype either, as one that underflows."""
        error = self.trace.value(place)
        if isinstance(error.truth, Undefined) or error.relative <= self.trace.tolerance:
            return False
        with np.errstate(over="ignore"):
            return float(np.asarray(float(error.truth.mid()), self.context.dtype)) == error.number

    # -- poison

    def _poisoner(self, line: Line, place: Place, results: list[Place]) -> Fault | None:
        """The operation that turned what flowed back into NaN: by a value that is not finite, or by its slope."""
        around = [s for result in results for s in (*self.trace.sources(result), result)]
        for value in around:
            if not math.isfinite(self.trace.value(value).number):
                first = self._first_bad_value(value)
                return faults.of_poison(self.trace, first, self._value(first))
        fault = faults.of_poisoned_slope(self.trace, line, place, results)
        if fault.kind == "branch":
            return fault
        lost = next((s for s in around if s[0] in self.context.line_of and self._is_beyond_mending(s)), None)
        return fault if lost is None else self._value(lost) or fault


def _badness(error: Error) -> tuple[bool, Ball]:
    """For the worst of some errors."""
    return error.absolute is None, arb(0) if error.absolute is None else error.absolute


def _explains(part: Error, whole: Error, count: int) -> bool:
    """Whether an error among some is large enough to be that of their sum."""
    if part.absolute is None or whole.absolute is None:
        return part.absolute is None
    return bool(part.absolute * EXPLAINS * count >= whole.absolute)
