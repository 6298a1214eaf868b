"""Gradients through a large unreadable call, compared with slopes of the function along random directions.

Its slopes are too many to be measured one by one.  So the function is moved along some random directions, in which each
element moves by about its own size, and torch's product with each must be the slope that is measured: an error in any
one entry shows in almost every direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

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
from gradcli.recording.slope_measurement import Floats, measure
from gradcli.results import Array, Entry

DIRECTIONS = 4
"""Random directions in which each of a few variables is moved, or all of many together."""

SHARP = 2
"""Directions of a group in which the slope of each number has to be known well."""

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
    weights = [one.weights for one in known if one.blocks and one.weights is not None]

    def along(steps: Floats) -> Floats:
        moved = {
            name: sum((t * one.u[name] for t, one in zip(steps.tolist(), directions, strict=True)), x.astype(float))
            for name, x in function.here.items()
        }
        found = function.values({name: np.asarray(x, function.here[name].dtype) for name, x in moved.items()})
        return with_sums(found.astype(np.float64))

    def with_sums(numbers: Floats) -> Floats:
        return np.concatenate([numbers, [one @ numbers for one in weights]]) if weights else numbers

    found = measure(along, np.zeros(len(directions)), with_sums(function.value), function.digits)
    if found.kink is not None:
        return Boundary(
            "unchecked", "along a random direction the function has other slopes on both sides of the point"
        )
    compared = list[int | Boundary]()
    rows, sums = function.value.size, 0
    for one in known:
        if not one.blocks:
            continue
        own, errors = found.slopes[:rows], found.errors[:rows]
        if one.weights is not None:
            at = slice(rows + sums, rows + sums + 1)
            independent = np.linalg.norm(one.weights[:, None] * errors, axis=0, keepdims=True)
            own, errors, sums = found.slopes[at], np.fmax(found.errors[at], independent), sums + 1
        compared.append(_compared(own, errors, found.noise, one, directions, function))
    against = next((one for one in compared if isinstance(one, Boundary)), None)
    return against or min((one for one in compared if isinstance(one, int)), default=0)


class _Direction(NamedTuple):
    """Random direction, in which the variables of a group move.

    Attributes:
        u: The direction, by variable.
        group: The number of the group.
    """

    u: Mapping[str, Array]
    group: int


def _directions(function: MovedFunction) -> list[_Direction]:
    """Draw directions in which one variable moves, so that none hides another; all move in each if they are many."""
    generator = np.random.default_rng(SEED)
    names = [(name,) for name in function.here]
    groups = names if len(names) * DIRECTIONS <= MOST_COLUMNS else [tuple(function.here)]
    return [
        _Direction(
            {n: random_direction(x, generator) if n in names else np.zeros(x.shape) for n, x in function.here.items()},
            group,
        )
        for group, names in enumerate(groups)
        for _ in range(DIRECTIONS)
    ]


def _compared(
    slopes: Array,
    errors: Array,
    noise: float,
    known: KnownDerivative,
    directions: Sequence[_Direction],
    function: MovedFunction,
) -> int | Boundary:
    """Compare torch's product with the slopes along each direction: give the digits, or what is found against it.

    Args:
        slopes: A row for each number of y, or one for their sum; a column for each direction.
        errors: The error of each.
        noise: The noise of the numbers, relative to the largest one.
        known: Torch's derivative.
        directions: The directions.
        function: The function next to its point.
    """
    rows, groups = function.value.size, np.array([one.group for one in directions])
    products = np.stack([known.along(one.u, rows) for one in directions], axis=1)
    terms = np.stack([known.terms(one.u, rows) for one in directions], axis=1)
    is_still = (slopes == 0) & (known.of_values(function.value) == 0)[:, None]
    terms = np.where(is_still, terms.max(axis=0, initial=0.0), terms)  # what is 0 has a gradient of rounding alone
    off = np.abs(slopes - products) - errors - ROUNDINGS * function.digits * terms
    ranked = np.max(
        [_ranked_errors(errors[:, groups == n], products[:, groups == n], function) for n in np.unique(groups)], axis=0
    )
    noted = f"the numbers of the function are known to {noise:.0e}, which hides its slopes"
    hidden = Boundary("unchecked", f"{noted}: compute in float64, or compare with another implementation, versus=")
    if noise > ROUNDINGS * function.digits and not ranked[-1] <= LARGEST_ERROR:
        return hidden
    if off.max(initial=-1.0) > 0:
        n = np.unravel_index(int(off.argmax()), off.shape)
        moved, product = told_apart(slopes[n], products[n])
        said = f"along a random direction the function moves by {moved}, measured within {errors[n]:.1g}"
        return Boundary("disagree", f"{said}; the gradient says {product}")
    ratio = float(ranked[SHARP - 1])
    if not ratio <= LARGEST_ERROR:
        return hidden
    return MOST_DIGITS if ratio == 0 else int(min(MOST_DIGITS, np.floor(-np.log10(ratio))))


def _ranked_errors(errors: Array, products: Array, function: MovedFunction) -> Array:
    """Give the largest error of each rank, relative to the slopes; those of a number are ranked, the least first."""
    largest = float(np.abs(products).max(initial=0.0)) or float(np.abs(function.value).max(initial=0.0)) or 1.0
    return np.asarray(np.sort(errors, axis=1).max(axis=0, initial=0.0) / largest)


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
