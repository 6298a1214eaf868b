"""Errors that are small next to the largest entry of a gradient, and what kernels leave in place of a 0."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from flint import arb

from gradcli.crosscheck.compare import Tolerance, number_of
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.language.ops import Kind
from gradcli.results import Array, Entry

LEFT_OVER = 8
"""Most roundings of the largest entry that a kernel may leave in place of a 0, per element of the largest dimension.

A product of matrices leaves at most half a rounding for each term that cancels, and kernels multiply several matrices,
such as the reflections of a factorization.  In all at most as many roundings are admitted as the gradient has entries.
"""


def unless_minor(entry: Entry, gradients: Mapping[str, Array], point: FunctionAtPoint, tolerance: Tolerance) -> Entry:
    """Mark an entry that lost digits as minor if its error is small next to the largest entry of its gradient.

    The gradient of a tensor is vᵀJ, or one row of J or of a Hessian.  Small is the tolerance: an error that passes as
    agreement in the largest entry moves a step along the gradient as much.  A number in the place of a 0 agrees if it
    is a few roundings of the largest entry of all gradients, as kernels leave them that go through whole matrices.

    Args:
        entry: The entry as it was decided.
        gradients: Torch's numbers of all of its gradient, by variable.
        point: The function.
        tolerance: How far a number may be from the truth.
    """
    is_zero = entry.verdict == "disagree" and entry.truth == 0 and is_of_matrices(point)
    if entry.variable is None or not (is_zero or entry.verdict == "inaccurate"):
        return entry
    chosen = gradients if is_zero else (entry.variable,)
    gradient = np.abs(np.concatenate([np.ravel(gradients[name]) for name in chosen]))
    largest = float(gradient.max(where=np.isfinite(gradient), initial=0.0))
    if is_zero and abs(number_of(entry)) <= left_over(gradient.size, point, tolerance) * largest:
        note = f"0 up to rounding of terms of size {largest:.2g}"
        return entry.judged(verdict="agree", note=note, relative_error=None)
    if is_zero or not abs(entry.truth - arb(entry.torch)) <= tolerance.rtol * largest:
        return entry
    return entry.judged(is_minor=True, note=f"{entry.note}; minor beside the largest entry, {largest:.2g}")


def is_of_matrices(point: FunctionAtPoint) -> bool:
    """Tell whether torch may compute with whole matrices, and so leave a number where the truth is 0."""
    ops = (line.call.op for line in point.source.lines)
    return any(op.adds_terms and op.kind in (Kind.CONTRACTION, Kind.SPECTRAL, Kind.DEFINED) for op in ops)


def left_over(entries: int, point: FunctionAtPoint, tolerance: Tolerance) -> float:
    """Return the largest number that may stand in place of a 0, relative to the largest entry."""
    terms = LEFT_OVER * max((size for shape in point.shapes.values() for size in shape), default=1)
    return min(min(entries, terms) * float(np.finfo(tolerance.dtype).eps), tolerance.rtol)
