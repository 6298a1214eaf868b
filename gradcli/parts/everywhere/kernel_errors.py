"""How torch's special functions err on the CPU, on the part of their domain where that was measured.

    error  =  roundings * unit * |f(x)|  +  units * 2 * unit * |x * f'(x)|

The numbers are those of random points at which torch was compared with 60 digits, times about two: no kernel of theirs
promises a bound.  The second term is of kernels that shift or reflect their argument, and of zeros of the function.
Sources of the kernels: ATen/native/Math.h of torch, after the Cephes library of S. Moshier; lgamma is that of the
library of C, or of SLEEF, whose manual promises one unit in the last place of positive numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from gradcli.arrays import Array
from gradcli.crosscheck.rounding import SLACK
from gradcli.language.program.wengert import Call
from gradcli.parts.everywhere.interval_functions import compile_interval
from gradcli.parts.everywhere.intervals import Interval
from gradcli.reference.rules import rule_of


@dataclass(frozen=True)
class KernelError:
    """Error of a kernel.

    Attributes:
        roundings: Roundings of the result.
        units: Units in the last place by which the last operand may be off.
        has_exponential: Whether it computes exp(abs(x)), which may be beyond the range where the result is not.
        within: The range of each operand in which it was measured; none where that is all of its domain.
    """

    roundings: float
    units: float = 0.0
    has_exponential: bool = False
    within: tuple[tuple[float, float], ...] = ()


KERNELS: Mapping[str, KernelError] = {
    "lgamma": KernelError(4, 1),
    "digamma": KernelError(8, 8),
    "polygamma": KernelError(12, 1),
    "i0": KernelError(10, has_exponential=True),
    "i1": KernelError(8, 1, has_exponential=True),
    "i0e": KernelError(12),
    "i1e": KernelError(24),
    "erfinv": KernelError(4, 1),
    "erfcx": KernelError(14, 1),
    "ndtri": KernelError(10, 1),
    "zeta": KernelError(10, 1, within=((1, 100), (1e-3, 1e6))),
    "gammaincc": KernelError(180, 2, within=((0.125, 20), (0, np.inf))),
}
"""Errors by operation, of numbers where the function has a value, and above 0 of those with poles.

Torch's gammaincc in float64 errs by some 1e7 roundings where its first operand is above 20 and near the second.
"""

UNDERFLOW = {True: 2.0**-900, False: 2.0**-100}
"""Numbers below which terms of a series may underflow, in float64 and in float32."""


def kernel_error(call: Call, operands: list[Interval], exact: Array, unit: float) -> Array:
    """Bound the error of a kernel itself.

    Args:
        call: The operation.
        operands: Where its operands are.
        exact: The largest absolute value of its result.
        unit: The rounding of the format.
    """
    own, rule = KERNELS[call.op.name], rule_of(call)
    slope = rule.slopes[-1]
    moved = np.zeros(())
    if own.units and slope is not None:
        size = compile_interval(slope)(rule.environment(operands)).largest
        moved = 2 * own.units * unit * operands[-1].largest * size
    found = own.roundings * unit * (1 + 64 * unit) * exact + moved
    if call.op.name == "polygamma":
        found = found + _of_series(int(str(call.statics[0])), operands[-1], unit)
    if own.within:
        pairs = zip(operands, own.within, strict=True)
        is_within = reduce(np.logical_and, ((low <= one.low) & (one.high <= high) for one, (low, high) in pairs))
        found = np.where(is_within, found + UNDERFLOW[unit < 2.0**-30], np.inf)
    return np.asarray(found)


def _of_series(order: int, x: Interval, unit: float) -> Array:
    """Bound what torch's series of polygamma leave out, or lose as their first term underflows.

    That of the first order ends after x**-7, at an argument shifted by 6, and the terms alternate: less than the next
    one is left out, whatever torch rounds.
    """
    if order == 1:
        return np.asarray((np.maximum(x.low, 0.5) + 6) ** -9 / (30 * SLACK))
    smallest = np.finfo(np.float32 if unit > 2.0**-30 else np.float64).tiny
    return np.asarray(x.largest * math.gamma(order + 1) * float(smallest))


def largest_argument(call: Call, largest: float) -> float:
    """Return the argument beyond which a kernel may give infinity."""
    own = KERNELS.get(call.op.name)
    return math.log(largest) - 1e-3 if own is not None and own.has_exponential else math.inf
