"""Gradients through a large call that cannot be read, held to slopes of the whole function along random directions.

Its slopes are too many to be measured one by one.  So the function is moved along some random directions, in which each
element moves by about its own size, and torch's product with each must be the slope that is measured: an error in any
one entry shows in almost every direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

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
"""Random directions along which a function is moved."""

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
    generator = np.random.default_rng(SEED)
    directions = [
        {name: random_direction(x, generator) for name, x in function.here.items()} for _ in range(DIRECTIONS)
    ]

    def along(steps: Floats) -> Floats:
        moved = {
            name: sum((t * u[name] for t, u in zip(steps.tolist(), directions, strict=True)), x.astype(np.float64))
            for name, x in function.here.items()
        }
        found = function.values({name: np.asarray(x, function.here[name].dtype) for name, x in moved.items()})
        return found.astype(np.float64)

    try:
        found = measure(along, np.zeros(DIRECTIONS), function.value, function.digits)
    except GradcliError as error:
        reason = f"{large[0]}, and along random directions {error.message}" + f" ({error.hint})" * bool(error.hint)
        return _unchecked(judgement, recorded, reason)
    compared = [_compared(found, one, directions, function) for one in known if one.blocks]
    if any(isinstance(one, Boundary) for one in compared):
        boundaries = [one for one in compared if isinstance(one, Boundary)]
        return judgement.joined(findings_of(boundaries[:1], recorded.value), is_fully_recorded=False)
    digits = min((one for one in compared if isinstance(one, int)), default=0)
    return _agreed(judgement, digits)


def _compared(
    found: Measurement, known: KnownDerivative, directions: Sequence[Mapping[str, Array]], function: MovedFunction
) -> int | Boundary:
    """Compare torch's product with the slopes along each direction: give the digits, or what is found against it."""
    worst, largest = 0.0, 0.0
    rows = function.value.size
    slopes, errors = (found.slopes, found.errors)
    if known.weights is not None:
        slopes, errors = known.weights[None] @ slopes, np.abs(known.weights)[None] @ errors
    products = np.stack([known.along(u, rows) for u in directions], axis=1)
    terms = np.stack([known.terms(u, rows) for u in directions], axis=1)
    largest = float(np.abs(products).max(initial=0.0))
    room = errors + ROUNDINGS * function.digits * terms
    off = np.abs(slopes - products) - room
    worst = float(errors.max(initial=0.0))
    if found.kink is not None:
        return Boundary(
            "unchecked", "along a random direction the function has other slopes on both sides of the point"
        )
    if not worst <= LARGEST_ERROR * largest:
        noted = f"the numbers of the function are known to {found.noise:.0e}, which hides its slopes"
        return Boundary("unchecked", f"{noted}: compute in float64, or compare with another implementation, versus=")
    if off.max(initial=-1.0) > 0:
        n = np.unravel_index(int(off.argmax()), off.shape)
        said = f"along a random direction the function moves by {slopes[n]:.9g}, measured within {errors[n]:.1g}"
        return Boundary("disagree", f"{said}; the gradient says {products[n]:.9g}")
    return MOST_DIGITS if worst == 0 else int(min(MOST_DIGITS, np.floor(-np.log10(worst / largest))))


def _agreed(judgement: Judgement, digits: int) -> Judgement:
    """Let agree what was open."""
    note = f"a call has too many slopes to be measured one by one: all was moved along {DIRECTIONS} random directions"

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
