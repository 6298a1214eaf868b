"""Arithmetic of intervals by their ends, thousands at once: each result contains all that its operands may give.

A statement on an interval is of the numbers that exist: the square root of -1..4 is 0..2.  An end is infinite where
there is no bound, on that side alone; a number that exists is finite, though it may be beyond float64, so that a lower
end is never +inf.  Sums, products and quotients are rounded outward, and nothing is lost where the float is exact.
Source: T. Hickey, Q. Ju, M. van Emden, "Interval arithmetic: from principles to implementation", 2001; for the error
of a sum, D. Knuth, "The Art of Computer Programming", volume 2, theorem 4.2.2.B.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from gradcli.arrays import Array
from gradcli.reference.bounds import LOSS, Mask

UNIT = 2.0**-53
"""Rounding of one operation, relative to its result."""

LARGEST = float(np.finfo(np.float64).max)

LARGEST_EXACT = 8
"""Largest power of known numbers that is taken by products, which may be exact."""

SMALLEST = 2.0**-1074
"""More than what an underflow of one operation loses."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers from `low` to `high`, two arrays that broadcast; the same array twice for known numbers."""

    low: Array
    high: Array

    @property
    def largest(self) -> Array:
        """The largest absolute value."""
        return np.maximum(abs(self.low), abs(self.high))

    @property
    def least(self) -> Array:
        """The least absolute value."""
        return np.where(self.has_zero, 0.0, np.minimum(abs(self.low), abs(self.high)))

    @property
    def has_zero(self) -> Mask:
        """Mask of the intervals that contain 0."""
        return np.asarray((self.low <= 0) & (self.high >= 0))

    @property
    def is_zero(self) -> Mask:
        """Mask of those that are 0."""
        return np.asarray((self.low == 0) & (self.high == 0))

    @property
    def is_bounded(self) -> Mask:
        """Mask of those with two finite ends."""
        return np.asarray(np.isfinite(self.low) & np.isfinite(self.high))

    @property
    def is_unknown(self) -> Mask:
        """Mask of those without an end on either side."""
        return np.asarray(np.isinf(self.low) & np.isinf(self.high))

    @property
    def width(self) -> Array:
        """The distance of the ends."""
        return self.high - self.low

    @property
    def middle(self) -> Array:
        """A number inside, in the middle where both ends are finite."""
        middle = self.low / 2 + self.high / 2
        return np.where(np.isfinite(middle), middle, np.clip(0.0, self.low, self.high))

    def __neg__(self) -> Interval:
        return point(-self.low) if self.low is self.high else Interval(-self.high, -self.low)

    def spread(self, shape: tuple[int, ...]) -> Interval:
        """Broadcast to a shape."""
        if self.low.shape == shape and self.high.shape == shape:
            return self
        low = np.broadcast_to(self.low, shape)
        return Interval(low, low if self.low is self.high else np.broadcast_to(self.high, shape))

    def where(self, condition: Mask | Array, other: Interval) -> Interval:
        """Take these intervals where the condition holds, else the others."""
        if self.low is self.high and other.low is other.high:
            return point(np.where(condition, self.low, other.low))
        return Interval(np.where(condition, self.low, other.low), np.where(condition, self.high, other.high))

    def row(self, n: int) -> Interval:
        """Select one along the first axis."""
        return point(self.low[n]) if self.low is self.high else Interval(self.low[n], self.high[n])

    def select(self, places: Mask | npt.NDArray[np.intp] | slice) -> Interval:
        """Select some along the last axis."""
        low = self.low[..., places]
        return Interval(low, low if self.low is self.high else self.high[..., places])


def point(numbers: npt.ArrayLike) -> Interval:
    """Wrap numbers that are known."""
    array = np.asarray(numbers, float)
    return Interval(array, array)


def unknown() -> Interval:
    """Return the interval of all numbers."""
    return Interval(np.asarray(-np.inf), np.asarray(np.inf))


def closed(low: Array, high: Array) -> Interval:
    """Make an interval of ends that were computed: nan is no end, and an overflow leaves the largest float."""
    if not np.isfinite(low).all():
        low = np.where(np.isnan(low), -np.inf, np.minimum(low, LARGEST))
    if not np.isfinite(high).all():
        high = np.where(np.isnan(high), np.inf, np.maximum(high, -LARGEST))
    return Interval(low, high)


def hull(a: Interval, b: Interval) -> Interval:
    """Enclose both."""
    return Interval(np.minimum(a.low, b.low), np.maximum(a.high, b.high))


def meet(a: Interval, b: Interval) -> Interval:
    """Intersect two enclosures of the same number."""
    return Interval(np.maximum(a.low, b.low), np.minimum(a.high, b.high))


def down(numbers: Array) -> Array:
    """Return the next floats below."""
    return np.asarray(np.nextafter(numbers, -np.inf))


def up(numbers: Array) -> Array:
    """Return the next floats above."""
    return np.asarray(np.nextafter(numbers, np.inf))


def widened(low: Array, high: Array, losses: float = LOSS) -> Interval:
    """Widen ends that a library computed, each with so many roundings lost."""
    loss, low, high = losses * UNIT, np.minimum(low, LARGEST), np.maximum(high, -LARGEST)
    return closed(down(low - (loss * abs(low) + SMALLEST)), up(high + (loss * abs(high) + SMALLEST)))


# -- arithmetic


def _sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Add two floats: the nearest float, and what is left."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """Multiply two floats: the nearest float, and what is left, nan where that is not known.

    Source: T. Dekker, "A floating-point technique for extending the available precision", 1971.
    """
    found = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    rest = a_low * b_low - (((found - a_high * b_high) - a_low * b_high) - a_high * b_low)
    is_safe = (abs(a) < 2.0**500) & (abs(b) < 2.0**500) & ((abs(found) > 2.0**-900) | (a == 0) | (b == 0))
    return found, np.where(is_safe, rest, np.nan)


def _split(a: Array) -> tuple[Array, Array]:
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def _rounded(number: Array, rest: Array) -> Interval:
    """Enclose a float and what is left of the exact number: known where nothing is."""
    if (rest == 0).all() and np.isfinite(number).all():
        return point(number)
    return closed(np.where(rest >= 0, number, down(number)), np.where(rest <= 0, number, up(number)))


def is_known(a: Interval) -> bool:
    """Tell whether it is made of known numbers."""
    return a.low is a.high


def add(a: Interval, b: Interval) -> Interval:
    """Add; the ends are exact sums rounded outward."""
    low, low_rest = _sum(a.low, b.low)
    if is_known(a) and is_known(b):
        return _rounded(low, low_rest)
    high, high_rest = _sum(a.high, b.high)
    return closed(np.where(low_rest >= 0, low, down(low)), np.where(high_rest <= 0, high, up(high)))


def subtract(a: Interval, b: Interval) -> Interval:
    """Subtract."""
    return add(a, -b)


def _is_power_of_two(a: Interval) -> bool:
    """Tell whether it is one number whose products are exact where they do not underflow."""
    if a.low is not a.high or a.low.ndim:
        return False
    return bool(abs(np.frexp(a.low)[0]) == 0.5) and 2.0**-64 <= abs(float(a.low)) <= 2.0**64


def multiply(a: Interval, b: Interval) -> Interval:
    """Multiply: the ends are among the products of ends."""
    if is_known(a) and is_known(b):
        return _rounded(*_product(a.low, b.low))
    if a is b:
        return whole_power(a, 2)
    if _is_power_of_two(b):
        a, b = b, a
    if _is_power_of_two(a):
        ends = a.low * b.low, a.low * b.high
        if all(bool(((abs(end) > 2.0**-900) | (end == 0)).all()) for end in ends):
            return closed(*ends) if float(a.low) > 0 else closed(*ends[::-1])
    firsts = (a.low,) if a.low is a.high else (a.low, a.high)
    seconds = (b.low,) if b.low is b.high else (b.low, b.high)
    products = [x * y for x in firsts for y in seconds]
    if any(np.isnan(one).any() for one in products):  # 0 times no bound is 0, as numbers are finite
        products = [np.where(np.isnan(one), 0.0, one) for one in products]
    low, high = reduce(np.minimum, products), reduce(np.maximum, products)
    return _of_products(a, b, low, high)


def _of_products(a: Interval, b: Interval, low: Array, high: Array) -> Interval:
    """Round the ends of a product outward, but for a sign that is certain, and for products with 0."""
    is_zero = a.is_zero | b.is_zero
    is_positive = ((a.low >= 0) & (b.low >= 0)) | ((a.high <= 0) & (b.high <= 0))
    is_negative = ((a.low >= 0) & (b.high <= 0)) | ((a.high <= 0) & (b.low >= 0))
    low = np.where(is_zero | (is_positive & (low == 0)), 0.0, down(low))
    high = np.where(is_zero | (is_negative & (high == 0)), 0.0, up(high))
    return closed(low, high)


def divide(a: Interval, b: Interval) -> Interval:
    """Divide: by the quotients of ends, or where the divisor reaches 0 by its reciprocal, which may have one end."""
    has_zero = b.has_zero
    if has_zero.all():
        return multiply(a, reciprocal(b))
    if is_known(a) and is_known(b):
        exact = a.low / b.low
        back, rest = _product(exact, b.low)
        if ((back == a.low) & (rest == 0)).all():
            return point(exact)
    with np.errstate(all="ignore"):
        quotients = [x / y for x in (a.low, a.high) for y in (b.low, b.high)]
    quotients = [np.where(np.isnan(one), 0.0, one) for one in quotients]
    low, high = reduce(np.minimum, quotients), reduce(np.maximum, quotients)
    is_positive = ((a.low >= 0) & (b.low >= 0)) | ((a.high <= 0) & (b.high <= 0))
    is_negative = ((a.low >= 0) & (b.high <= 0)) | ((a.high <= 0) & (b.low >= 0))
    low = np.where(is_positive & (low <= 0), 0.0, down(low))
    high = np.where(is_negative & (high >= 0), 0.0, up(high))
    zero = a.is_zero
    found = closed(np.where(zero, 0.0, low), np.where(zero, 0.0, high))
    return multiply(a, reciprocal(b)).where(has_zero, found) if has_zero.any() else found


def reciprocal(b: Interval) -> Interval:
    """Return 1/b: without an end where b has 0 inside, on one side where b begins or ends there."""
    if is_known(b) and not b.has_zero.any():
        return divide(point(1.0), b)
    with np.errstate(all="ignore"):
        low, high = down(1 / b.high), up(1 / b.low)
    low = np.where(b.low > 0, np.maximum(low, 0.0), low)
    high = np.where(b.high < 0, np.minimum(high, 0.0), high)
    has_zero = b.has_zero
    low = np.where(has_zero & (b.low < 0), -np.inf, low)
    high = np.where(has_zero & (b.high > 0), np.inf, high)
    return closed(np.where(b.is_zero, -np.inf, low), np.where(b.is_zero, np.inf, high))


def whole_power(a: Interval, exponent: int) -> Interval:
    """Raise to a whole power."""
    if exponent < 0:
        return reciprocal(whole_power(a, -exponent))
    if exponent in (0, 1):
        return a if exponent else point(np.ones_like(a.low))
    if is_known(a) and exponent <= LARGEST_EXACT:
        found = a
        for _ in range(exponent - 1):
            found = multiply(found, a)
        return found
    low, high = (a.low, a.high) if exponent % 2 else (a.least, a.largest)
    if exponent == 2:
        found = closed(np.maximum(down(low * low), 0.0), up(high * high))
    else:
        found = widened(np.power(low, exponent), np.power(high, exponent))
    least = np.where(low >= 0, np.maximum(found.low, 0.0), found.low)
    most = np.where(high <= 0, np.minimum(found.high, 0.0), found.high)
    return Interval(np.where(low == 0, 0.0, least), np.where(high == 0, 0.0, most))


def power(a: Interval, exponent: Interval) -> Interval:
    """Raise to a power, which rises or falls by each of the two where the base is not negative: the ends tell.

    Negative numbers have whole powers alone, of either sign: unknown where there may be one.
    """
    has_whole = np.floor(exponent.high) >= exponent.low
    is_outside = (a.high < 0) | ((a.low < 0) & has_whole)
    bases = np.maximum(a.low, 0.0), np.maximum(a.high, 0.0)
    with np.errstate(all="ignore"):
        ends = [np.power(base, e) for base in bases for e in (exponent.low, exponent.high)]
    found = widened(reduce(np.minimum, ends), reduce(np.maximum, ends))
    low = np.where(is_outside, -np.inf, np.maximum(found.low, 0.0))
    return Interval(low, np.where(is_outside, np.inf, found.high))


def root(a: Interval) -> Interval:
    """Take the square root where there is one."""
    if is_known(a) and (a.low >= 0).all():
        found = np.sqrt(a.low)
        with np.errstate(all="ignore"):
            back, rest = _product(found, found)
        if ((back == a.low) & (rest == 0)).all():
            return point(found)
    low, high = np.sqrt(np.maximum(a.low, 0.0)), np.sqrt(np.where(a.high < 0, np.nan, a.high))
    return closed(np.where(low == 0, 0.0, down(low)), up(high))


# -- functions


def monotone(
    function: Callable[[Array], Array],
    a: Interval,
    *,
    falls: bool = False,
    least: float = -np.inf,
    most: float = np.inf,
    losses: float = LOSS,
    through: tuple[float, float] | None = None,
) -> Interval:
    """Apply a function that only rises, or only falls, between two bounds.

    Args:
        function: Of arrays, which loses so many roundings.
        a: The operand.
        falls: Whether it falls.
        least: A number that no value is below.
        most: A number that no value is above.
        losses: The roundings that the function may lose.
        through: An argument, and the value there, if that is known exactly.
    """
    first, last = (a.high, a.low) if falls else (a.low, a.high)
    with np.errstate(all="ignore"):
        low, high = function(first), function(last)
    found = widened(low, high, losses)
    low, high = np.maximum(found.low, least), np.minimum(found.high, most)
    if through is not None:
        place, value = through
        is_above, is_below = (first <= place, last >= place) if falls else (first >= place, last <= place)
        low = np.where(is_above, np.maximum(low, value), low)
        high = np.where(is_below, np.minimum(high, value), high)
    return Interval(low, high)


def logarithm(a: Interval) -> Interval:
    """Take the logarithm of the numbers above 0; without an end below where 0 is reached."""
    with np.errstate(all="ignore"):
        found = widened(np.log(np.maximum(a.low, 0.0)), np.log(a.high))
    is_outside = a.high <= 0
    low = np.where(a.low >= 1, np.maximum(found.low, 0.0), found.low)
    high = np.where(a.high <= 1, np.minimum(found.high, 0.0), found.high)
    return Interval(np.where((a.low > 0) & ~is_outside, low, -np.inf), np.where(is_outside, np.inf, high))


def absolute(a: Interval) -> Interval:
    """Take the absolute values."""
    return point(abs(a.low)) if is_known(a) else Interval(a.least, a.largest)


def steps(function: Callable[[Array], Array], a: Interval) -> Interval:
    """Apply a function of steps that only rises, and is exact."""
    if is_known(a):
        return point(function(a.low))
    return Interval(np.asarray(function(a.low)), np.asarray(function(a.high)))


def larger(a: Interval, b: Interval) -> Interval:
    """Take the maximum."""
    if is_known(a) and is_known(b):
        return point(np.maximum(a.low, b.low))
    return Interval(np.maximum(a.low, b.low), np.maximum(a.high, b.high))


def smaller(a: Interval, b: Interval) -> Interval:
    """Take the minimum."""
    if is_known(a) and is_known(b):
        return point(np.minimum(a.low, b.low))
    return Interval(np.minimum(a.low, b.low), np.minimum(a.high, b.high))


def compared(a: Interval, b: Interval, sense: Sequence[int]) -> Interval:
    """Compare: 1 where the difference certainly has one of these signs, 0 where it has none of them, else 0 to 1."""
    may = {-1: a.low < b.high, 0: (a.low <= b.high) & (a.high >= b.low), 1: a.high > b.low}
    shape = np.broadcast_shapes(a.low.shape, b.low.shape)
    holds, fails = np.zeros(shape, bool), np.zeros(shape, bool)
    for sign, is_possible in may.items():
        holds, fails = (holds | is_possible, fails) if sign in sense else (holds, fails | is_possible)
    return Interval(np.where(fails, 0.0, 1.0), np.where(holds, 1.0, 0.0))


def chosen(condition: Interval, first: Interval, second: Interval) -> Interval:
    """Take the first where a condition certainly holds, the second where it certainly fails, else both."""
    holds, fails = condition.low > 0, condition.high < 1
    if holds.all() or fails.all():
        return first if holds.all() else second
    return first.where(holds, second.where(fails, hull(first, second)))
