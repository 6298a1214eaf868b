"""Diagnosis of a wrong number: the operation that loses its digits, or poisons a gradient.

From a wrong number the walk goes back through torch's own passes, always to the operand that carried most of the error,
until it comes to an operation that was given good numbers and made a bad one.  That operation is named, with the
reason: terms that cancel, a number beyond the range of the dtype, an argument that matters too much, a branch that was
not taken.
"""

from __future__ import annotations

from flint import arb

from gradcli.diagnose import faults
from gradcli.diagnose.error_trace import MOST_TRIED, DiagnosisContext, Error, ErrorTrace, Place
from gradcli.diagnose.faults import Blame
from gradcli.errors import InputError
from gradcli.reference.balls import Ball, precision
from gradcli.reference.dependencies import OverBudgetError
from gradcli.results import Array, Entry

MOST_STEPS = 1_000
"""Most operations of one walk."""

RIGHT = 2.0
"""Largest relative error of a number that has lost nothing, in units of the dtype's epsilon: four roundings."""

SHARE = 4.0
"""Largest ratio of an error to an operand's own for which an operand within the tolerance is at fault."""

EXPLAINS = 8.0
"""Largest ratio of an error to the part that an operand passes on, for the operand to explain the error."""


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
    >>> program = parse("(1-cos(x))/x**2")
    >>> shapes = infer(program, {program.variables[0]: ()})
    >>> context = DiagnosisContext(program, shapes, {"x": np.array(1e-8)}, ("x",), "float64", record)
    >>> diagnose(context, Entry(None, (), None, "inaccurate", 0.0)).note
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
        error = trace.value(place)
        following = _unfinished(trace, place) if error.absolute is None else None
        if error.absolute is None and following is None and poison is None:
            poison = place
            if (branch := faults.of_branch(trace, poison)) is not None:
                return branch
        following = following or _worst_operand(trace, place, error)
        if following is None:
            return faults.of_poison(trace, poison, place) if poison else faults.of_value(trace, place)
        place = following
    return None


def _unfinished(trace: ErrorTrace, place: Place) -> Place | None:
    """Find an element that is not finite in torch among the elements that this one is made of."""
    return next((source for source in trace.sources(place) if trace.value(source).absolute is None), None)


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
