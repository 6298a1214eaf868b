"""Slopes of a function that can only be called, by differences of its values, each with its error.

    slope = (f(x + h) - f(x - h))/(2*h)    error = |slope - (the slope with 2*h)| + noise/h + |right - left|

Step and difference are those of `scipy.differentiate.derivative`, which halves the step until its estimate of the error
no longer shrinks.  It assumes a smooth function without noise; so the noise is measured too, by high differences of
values along a line, which decides the first step, and the slopes on both sides of the point are compared.

Source: J. J. Moré and S. M. Wild, "Estimating Computational Noise", SIAM Journal on Scientific Computing 33, 2011.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.progress import budget_factor

Floats = npt.NDArray[np.float64]

MEASURING_SECONDS = 10.0
"""Seconds of processor time for the calls of one function."""

NOISE_CALLS, NOISE_CALLS_IN_LOW_PRECISION = 5, 12
"""Calls along a line by which the noise of a function is measured, besides that at the point."""

NOISE_STEP = 4.1e-4
"""Longest distance between them, in low precision: differences of a smooth function of high frequency are no noise.

It is no power of 2, as the roundings of steps of one quantum repeat themselves, and would not be seen.
"""

FAR = (2.0**-7, 2.0**-4, 2.0**-2)
"""Distances at which numbers that have not moved are looked at once more: a kernel may be of bfloat16 inside."""

COARSE = (2.0**-7, 2.0**-10)
"""Machine epsilons of the formats of 16 bits, bfloat16 and float16, of which the numbers of a kernel may be."""

ROUNDED = 0.3
"""Noise of a number that is rounded once, in units of the machine epsilon."""

LEVELS = (3, 4, 5)
"""Orders of the differences in which nothing is left of a smooth function but its noise."""

NOISES = 4.0
"""Noises of one value by which a difference of two may be off."""

STEPS = (-16, -1)
"""Smallest and largest exponents of 2 of the first step, relative to the size of an element."""

HALVINGS = 8
"""Most times that the step is halved."""

CONVERGED = 1e-7
"""Relative change of a slope, while the step is halved, with which no smaller step is tried."""

NOISY = 1e-10
"""Relative noise from which a difference of four values is taken, whose step is longer, and not of two."""

KINKED = 1e-3
"""Least relative difference of the slopes on both sides that is called a kink, if it is no noise."""

STEADY = 0.25
"""Change of a slope on one side, with twice the step, relative to the difference of both sides: more is no kink."""

SHRINKING = 0.5
"""Ratio of the differences of both sides with a step and with twice that, below which they are of curvature."""

SEED = 0


class Kink(NamedTuple):
    """Slopes of a number by an argument that differ on both sides of the point."""

    row: int
    column: int
    before: float
    after: float


@dataclass(frozen=True)
class Measurement:
    """Slopes of the numbers of a function by its arguments, both flat.

    Attributes:
        slopes: A row for each number, a column for each argument.
        errors: The error of each.
        kink: The largest kink; None without any.
        noise: The noise of the numbers, relative to the largest one.
    """

    slopes: Floats
    errors: Floats
    kink: Kink | None
    noise: float


def library() -> ModuleType:
    """Return `scipy.differentiate`.

    Raises:
        InputError: It is not installed.
    """
    try:
        from scipy import differentiate
    except ImportError:
        message = "a slope is measured by SciPy 1.15 or newer, which is not installed"
        raise InputError(message, hint="pip install 'gradcli[scipy]'") from None
    found: ModuleType = differentiate
    return found


def sizes_of(x: Floats) -> Floats:
    """Return powers of 2 that are about the size of each element, or a quarter of a usual one if that is larger.

    >>> sizes_of(np.array([3.0, 0.0, 1.0])).tolist()
    [2.0, 0.25, 1.0]
    """
    sizes = np.abs(x)
    usual = float(np.median(sizes)) or float(sizes.max(initial=0.0)) or 1.0
    return np.asarray(2.0 ** np.floor(np.log2(np.maximum(sizes, min(usual, 1.0) / 4))))


def noise_of(along: Callable[[float], Floats], y: Floats, digits: float) -> Floats:
    """Estimate the noise of each number of a function from its values along a line.

    Args:
        along: The function at a distance from the point, relative to it.
        y: The numbers at the point.
        digits: The machine epsilon of what computes them.

    >>> noise = noise_of(lambda t: np.array([np.float64(np.float32(math.exp(1 + t)))]), np.array([math.e]), 2.0**-52)
    >>> bool(1e-9 < noise[0] < 1e-6)
    True
    """
    is_low = digits > NOISY
    step = min(digits ** (1 / 3), NOISE_STEP)
    count = NOISE_CALLS_IN_LOW_PRECISION if is_low else NOISE_CALLS
    table = values = np.stack([y, *(along(n * step) for n in range(1, count + 1))])
    sizes, found = np.abs(y) + np.abs(np.diff(table, axis=0)).max(axis=0) / step, np.zeros_like(y)
    for level in range(1, max(LEVELS) + 1):
        table = np.diff(table, axis=0)
        if level in LEVELS:
            gamma = math.factorial(level) ** 2 / math.factorial(2 * level)
            found = np.fmax(found, np.sqrt(gamma * np.mean(table**2, axis=0)))
    is_flat = (values == y).all(axis=0)  # as within a step of a function that moves in steps, to both sides
    digits = max(digits, _coarseness(values)) if not is_flat.all() else digits
    for far in FAR:
        if not is_flat.any():
            break
        sides = np.stack([along(sign * far) for sign in (-1, 1)])
        moved = np.where(is_flat, np.abs(sides - y).min(axis=0), 0.0)
        found, is_flat = np.fmax(found, moved), is_flat & ~(moved > 0)
        digits = max(digits, _coarseness(np.stack([y, *sides]))) if (moved > 0).any() else digits
    # Of few differences some are small by chance: the noise of all numbers, relative to their sizes, is a floor.
    ratios = np.where(sizes > 0, found / np.where(sizes > 0, sizes, 1.0), 0.0)
    usual = float(np.sqrt(np.mean(ratios[np.isfinite(ratios)] ** 2))) if np.isfinite(ratios).any() else 0.0
    found = np.fmax(found, max(usual, ROUNDED * digits) * sizes)
    return np.asarray(found)


def _coarseness(values: Floats) -> float:
    """Return the epsilon of the format of 16 bits that holds all numbers; 0 of none.

    >>> [_coarseness(np.array([[1.0, 3.0], [1 + e, 5.0]])) for e in (2.0**-7, 2.0**-10, 2.0**-11)]
    [0.0078125, 0.0009765625, 0.0]
    """
    mantissas = np.frexp(values[np.isfinite(values)])[0]
    return next((one for one in COARSE if (mantissas * 2 / one == np.round(mantissas * 2 / one)).all()), 0.0)


@dataclass
class MovedCall:
    """Values of a function at and next to a point, each computed once.

    Attributes:
        function: The function of a vector; gives a vector.
        x: The point.
        y: What the function gives there.
        sizes: The length of a step of 1 in each argument.
        end: The processor time after which it is called no more.
    """

    function: Callable[[Floats], Floats]
    x: Floats
    y: Floats
    sizes: Floats
    end: float
    _known: dict[tuple[int, float], Floats] = field(default_factory=dict)

    def values(self, change: Floats) -> Floats:
        """Call the function after a change of its arguments; NaN where it gives another number of values.

        Raises:
            InputError: It has taken too long.
        """
        if time.thread_time() > self.end:
            raise InputError("it takes too long to be called next to its point")
        found = np.asarray(self.function(self.x + change), np.float64)
        return found if found.shape == self.y.shape else np.full(self.y.shape, np.nan)

    def by_argument(self, column: int, t: float) -> Floats:
        """Give the values after a step of one argument."""
        if t == 0:
            return self.y
        if (column, t) not in self._known:
            self._known[column, t] = self.values(t * self.sizes * (np.arange(self.x.size) == column))
        return self._known[column, t]

    def elements(self, t: Floats, row: Floats, column: Floats) -> Floats:
        """Give some numbers of the function, each after a step of some argument."""
        t, row, column = np.broadcast_arrays(t, row, column)
        found = np.empty(t.shape)
        for step in np.unique(t):  # few: all arguments are moved by the same steps
            chosen = t == step
            columns, places = np.unique(column[chosen].astype(int), return_inverse=True)
            moved = np.stack([self.by_argument(j, float(step)) for j in columns.tolist()])
            found[chosen] = moved[places, row[chosen].astype(int)]
        return found

    def one_sided(self, steps: Floats, row: Floats, column: Floats) -> Floats:
        """Extrapolate slopes on one side, from values that are known."""
        here, once, twice = (self.elements(n * steps, row, column) for n in (0, 1, 2))
        return np.asarray((4 * once - twice - 3 * here) / (2 * steps))


def measure(function: Callable[[Floats], Floats], x: Floats, y: Floats, digits: float) -> Measurement:
    """Measure all slopes of a function.

    Args:
        function: The function of a vector; gives a vector.
        x: The point.
        y: What the function gives there.
        digits: The machine epsilon of what computes it.

    Raises:
        InputError: SciPy is not installed, or the function takes too long.

    >>> found = measure(np.sin, np.array([1.0]), np.sin([1.0]), 2.0**-52)
    >>> bool(abs(found.slopes[0, 0] - math.cos(1)) <= found.errors[0, 0] < 1e-8)
    True
    """
    differentiate, sizes = library(), sizes_of(x)
    call = MovedCall(function, x, y, sizes, time.thread_time() + MEASURING_SECONDS * budget_factor())
    signs = np.random.default_rng(SEED).choice((-1.0, 1.0), size=x.shape)
    rows, columns = (one.ravel() for one in np.indices((y.size, x.size), np.float64))
    with np.errstate(all="ignore"):
        noise = noise_of(lambda t: call.values(t * signs * sizes), y, digits)
        largest = float(np.abs(y).max(initial=0.0)) or 1.0
        relative = float(np.nan_to_num(noise, nan=1.0).max(initial=0.0)) / largest
        order = 2 if relative < NOISY else 4
        best = np.log2(3 * NOISES * max(relative, digits)) / (order + 1)  # where both errors are of one size
        first = 2.0 ** float(np.clip(np.ceil(best) + order // 2, *STEPS))
        found = differentiate.derivative(
            call.elements,
            np.zeros(rows.size),
            args=(rows, columns),
            order=order,
            initial_step=first,
            maxiter=HALVINGS,
            tolerances={"rtol": CONVERGED, "atol": NOISES * relative * largest / first},
        )
        steps = first / 2.0 ** (np.maximum(found.nit, 1) + order // 2 - 2)  # the shortest ones
        rounded = NOISES * noise[rows.astype(int)] / steps
        before, after = (call.one_sided(sign * steps, rows, columns) for sign in (-1, 1))
        bend, own = np.abs(after - before), 4 * (rounded + found.error)
        if (suspect := bend > own).any():  # that of a smooth function is a quarter of what it is with twice the step
            doubled = [call.one_sided(sign * 2 * steps[suspect], rows[suspect], columns[suspect]) for sign in (-1, 1)]
            is_smooth = bend[suspect] < SHRINKING * np.abs(doubled[1] - doubled[0])
            bend[suspect] = np.where(is_smooth, 0.0, bend[suspect])
        errors = found.error + rounded + 4 * digits * np.abs(found.df) + np.where(bend > own, bend, 0.0)
        is_kinked = bend > np.maximum(16 * own, KINKED * np.maximum(np.abs(before), np.abs(after)))
        for sign, side in ((-1, before), (1, after)) if is_kinked.any() else ():  # a step has another one each time
            wide = call.one_sided(sign * 2 * steps[is_kinked], rows[is_kinked], columns[is_kinked])
            is_kinked[is_kinked] = np.abs(wide - side[is_kinked]) < STEADY * bend[is_kinked]
    scale, kink, shape = sizes[columns.astype(int)], None, (y.size, x.size)
    if is_kinked.any():
        n = int(np.where(is_kinked, bend, -1.0).argmax())
        kink = Kink(*divmod(n, x.size), float(before[n] / scale[n]), float(after[n] / scale[n]))
    return Measurement((found.df / scale).reshape(shape), _known(errors / scale).reshape(shape), kink, relative)


def _known(errors: Floats) -> Floats:
    return np.asarray(np.where(np.isnan(errors), np.inf, errors))
