"""Gradients through a large unreadable call, compared with slopes of the function along random directions.

Its slopes are too many to be measured one by one.  So the function is moved along some random directions, in which each
element moves by about its own size, and torch's product with each must be the slope that is measured: an error in any
one entry shows in almost every direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gradcli.arrays import told_apart
from gradcli.crosscheck.boundaries import Boundary, findings_of
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.measured import LARGEST_ERROR, MOST_DIGITS
from gradcli.errors import GradcliError
from gradcli.language.program.opaque import opaque_outputs
from gradcli.parts.running.function_slopes import KnownDerivative, MovedFunction
from gradcli.parts.running.measured_slopes import SEED, random_direction
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.recording.slope_measurement import Floats, Measurement, measure
from gradcli.results import Array, Entry

DIRECTIONS = 4
"""Random directions in which each of a few variables is moved, or all of many together."""

MOST_COLUMNS = 32
"""Most directions of all variables."""

ROUNDINGS = 64
"""Roundings of the terms of torch's product that it may be off by."""


def with_directions(
    judgement: Judgement, recorded: RecordedFunction, function: MovedFunction, known: Sequence[KnownDerivative]
) -> Judgement:
    """Decide the entries that are open as they went through a large call.

    Args:
        judgement: What is known without that.
        recorded: The function.
        function: The function next to its point.
        known: Torch's derivatives.
    """
    large = [output.large for _, output in opaque_outputs(recorded.program) if output.large]
    is_open = any(one.verdict == "unchecked" for one in judgement.entries) or any(
        part.undecided for part in judgement.parts
    )
    if not (large and is_open):
        return judgement
    try:
        found = compared_along(function, known)
    except GradcliError as error:
        reason = f"{large[0]}, and along random directions {error.message}" + f" ({error.hint})" * bool(error.hint)
        return _unchecked(judgement, recorded, reason)
    if isinstance(found, Boundary):
        return judgement.joined(findings_of([found], recorded.value), is_fully_recorded=False)
    return _agreed(judgement, found)


def compared_along(function: MovedFunction, known: Sequence[KnownDerivative]) -> int | Boundary:
    """Compare torch's derivatives with slopes that are measured along random directions.

    Args:
        function: The function next to its point.
        known: Torch's derivatives.

    Returns:
        The digits to which they agree, or what is found against them.

    Raises:
        GradcliError: The slopes cannot be measured.
    """
    directions = _directions(function)

    def along(steps: Floats) -> Floats:
        moved = {
            name: sum((t * u[name] for t, u in zip(steps.tolist(), directions, strict=True)), x.astype(np.float64))
            for name, x in function.here.items()
        }
        found = function.values({name: np.asarray(x, function.here[name].dtype) for name, x in moved.items()})
        return found.astype(np.float64)

    found = measure(along, np.zeros(len(directions)), function.value, function.digits)
    compared = [_compared(found, one, directions, function) for one in known if one.blocks]
    against = next((one for one in compared if isinstance(one, Boundary)), None)
    return against or min((one for one in compared if isinstance(one, int)), default=0)


def _directions(function: MovedFunction) -> list[Mapping[str, Array]]:
    """Draw directions in which one variable moves, so that none hides another; all move in each if they are many."""
    generator = np.random.default_rng(SEED)
    names = [(name,) for name in function.here]
    groups = names if len(names) * DIRECTIONS <= MOST_COLUMNS else [tuple(function.here)]
    return [
        {n: random_direction(x, generator) if n in group else np.zeros(x.shape) for n, x in function.here.items()}
        for group in groups
        for _ in range(DIRECTIONS)
    ]


def _compared(
    found: Measurement, known: KnownDerivative, directions: Sequence[Mapping[str, Array]], function: MovedFunction
) -> int | Boundary:
    """Compare torch's product with the slopes along each direction: give the digits, or what is found against it."""
    rows, slopes, errors = function.value.size, found.slopes, found.errors
    if known.weights is not None:
        slopes, errors = known.weights[None] @ slopes, np.abs(known.weights)[None] @ errors
    products = np.stack([known.along(u, rows) for u in directions], axis=1)
    terms = np.stack([known.terms(u, rows) for u in directions], axis=1)
    is_still = (slopes == 0) & (known.of_values(function.value) == 0)[:, None]
    terms = np.where(is_still, terms.max(axis=0, initial=0.0), terms)  # what is 0 has a gradient of rounding alone
    off = np.abs(slopes - products) - errors - ROUNDINGS * function.digits * terms
    largest = np.abs(products).max(axis=0, initial=0.0)  # along each
    largest = np.where(largest > 0, largest, float(np.abs(function.value).max(initial=0.0)))
    if found.kink is not None:
        said = "along a random direction the function has other slopes on both sides of the point"
        return Boundary("unchecked", said)
    worst = errors.max(axis=0, initial=0.0)
    if not (worst <= LARGEST_ERROR * largest).all():
        noted = f"the numbers of the function are known to {found.noise:.0e}, which hides its slopes"
        return Boundary("unchecked", f"{noted}: compute in float64, or compare with another implementation, versus=")
    if off.max(initial=-1.0) > 0:
        n = np.unravel_index(int(off.argmax()), off.shape)
        moved, product = told_apart(slopes[n], products[n])
        said = f"along a random direction the function moves by {moved}, measured within {errors[n]:.1g}"
        return Boundary("disagree", f"{said}; the gradient says {product}")
    ratio = float(np.max(worst / np.where(largest > 0, largest, 1.0), initial=0.0))
    return MOST_DIGITS if ratio == 0 else int(min(MOST_DIGITS, np.floor(-np.log10(ratio))))


def _agreed(judgement: Judgement, digits: int) -> Judgement:
    """Let agree what was open."""
    note = "a call has too many slopes to be measured one by one: each variable was moved along random directions"

    def agreed(entry: Entry) -> Entry:
        if entry.verdict != "unchecked" or entry.variable is None:
            return entry
        return entry.judged(verdict="agree", note="", digits=digits, proven=False)

    parts = tuple(
        replace(
            part,
            bounded=part.entries - part.zeros - sum(one.kind == part.kind for one in part.decided),
            undecided=0,
            chosen="all",
            notes=(note,),
            is_whole=True,
            remark="",
            digits=digits,
        )
        for part in judgement.parts
    )
    return replace(judgement, parts=parts, is_fully_recorded=False).changed(agreed)


def _unchecked(judgement: Judgement, recorded: RecordedFunction, reason: str) -> Judgement:
    found = findings_of([Boundary("unchecked", reason)], recorded.value)
    return judgement.joined(found, is_fully_recorded=False)
