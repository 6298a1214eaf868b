"""Functions that NumPy has not, of arrays and under the names of `scipy.special`, by Python's `math` and mpmath.

So that values need no SciPy, and NumPy is asked for them in the words of a script.  At a pole, at infinity and outside
of the domain they are what torch gives.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from gradcli.errors import InputError

MOST_SHIFTS = 1_000
"""How far to the left of 0 mpmath evaluates polygamma, one unit after the other."""


def _gammaln(x: float) -> float:
    """Infinite where Python raises an error."""
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf


def _erfinv(x: float) -> float:
    import mpmath

    if abs(x) == 1:
        return math.copysign(math.inf, x)
    return float(mpmath.erfinv(x)) if abs(x) < 1 else math.nan


def _i1(x: float) -> float:
    import mpmath

    if not math.isfinite(x):
        return math.nan
    try:
        return float(mpmath.besseli(1, x))
    except OverflowError:
        return math.copysign(math.inf, x)


def _polygamma(order: float, x: float) -> float:
    import mpmath

    if math.isnan(x) or x == -math.inf:
        return math.nan
    if x <= 0 and x == math.floor(x):
        return _at_pole(int(order), x)
    if order > 1 and x < -MOST_SHIFTS:
        message = f"polygamma is taken of {x:g}, and in a value of no number below -{MOST_SHIFTS:,}"
        raise InputError(message, hint="use it in the expression")
    try:
        return float(mpmath.polygamma(int(order), x))
    except OverflowError:
        return math.copysign(math.inf, x)


def _at_pole(order: int, x: float) -> float:
    """Polygamma at a whole number that is not positive: infinite, of the sign of both sides where they have one."""
    if order == 0:
        return math.nan if x else -math.copysign(math.inf, x)
    return math.inf if order % 2 else -math.inf


gammaln = np.vectorize(_gammaln, otypes=[float])
erfinv = np.vectorize(_erfinv, otypes=[float])
i1 = np.vectorize(_i1, otypes=[float])
digamma = np.vectorize(partial(_polygamma, 0), otypes=[float])
polygamma = np.vectorize(_polygamma, otypes=[float])
