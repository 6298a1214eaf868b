"""Whole arrays with bounds: the results of float64, and how far the truth may be from each element.

An element is a midpoint and a radius; the radius is infinite where nothing is known.  Radii are rounded outward, sums
and matrix products have the bound of any order of summation.  One thing is assumed and not proved, and compared with
Arb by the tests: that NumPy's elementary functions lose at most `LOSS` of their result.
Source: S. Rump, "Fast and parallel interval arithmetic", BIT 39 (1999); N. Higham, "Accuracy and Stability of Numerical
Algorithms", 2002, chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce, singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb

from gradcli.arrays import AnyArray, Array, FloatType
from gradcli.reference.deadline import require_time

Mask = npt.NDArray[np.bool_]

LOSS = 16
"""Roundings that a function of NumPy may lose: 8 units in the last place, twice what is documented anywhere."""

_OUTWARD = 1 + 2.0**-45
"""More than what a few operations on radii lose."""

_SMALLEST = 2.0**-1060
"""More than what an underflow loses."""

_LONG = 512
"""Terms above which a sum is taken in parts."""

_PART = 64
"""Terms of a part."""

_ONE_BY_ONE = 2**16
"""Elements between two checks of the time limit."""

_LARGEST_ANGLE = 2.0**20
"""Largest angle whose sine is taken."""


def unit(*arrays: Array) -> float:
    """Return the rounding of one operation on these arrays, relative to its result."""
    return max(_UNITS[array.dtype] for array in arrays)


_UNITS = {np.dtype(kind): float(np.finfo(kind).eps) / 2 for kind in (np.float64, np.longdouble)}


class NoRuleError(Exception):
    """Error of an operation that has no rule on whole arrays, or would take too long."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Elements that are at most `radius` from `middle`, two arrays of one shape."""

    middle: Array
    radius: Array

    @property
    def low(self) -> Array:
        """Lower bounds of the true elements."""
        if not self.radius.any():
            return self.middle
        return np.where(self.radius == 0, self.middle, np.nextafter(self.middle - self.radius, -np.inf))

    @property
    def high(self) -> Array:
        """Upper bounds of the true elements."""
        if not self.radius.any():
            return self.middle
        return np.where(self.radius == 0, self.middle, np.nextafter(self.middle + self.radius, np.inf))

    @property
    def is_exact(self) -> Mask:
        """Mask of the elements that are known numbers, of radius 0."""
        return np.asarray(self.radius == 0)

    @property
    def is_zero(self) -> Mask:
        """Mask of the elements that are certainly 0, exactly."""
        return np.asarray((self.middle == 0) & (self.radius == 0))

    @property
    def is_infinite(self) -> Mask:
        """Mask of the elements that are known to be infinite."""
        return np.asarray(np.isinf(self.middle) & (self.radius == 0))

    @property
    def is_known(self) -> Mask:
        """Mask of the elements that have a bound at all."""
        return np.asarray(np.isfinite(self.radius))

    def __neg__(self) -> Bounds:
        return Bounds(-self.middle, self.radius)

    def mapped(self, change: Callable[[Array], Array]) -> Bounds:
        """Move the elements to other places."""
        return type(self)(change(self.middle), change(self.radius))

    def routed(self, change: Callable[[Array], Array], terms: int = 1) -> Bounds:
        """Apply a linear map of zeros and ones, of at most so many terms a result."""
        if terms <= 1:
            return self.mapped(change)
        loss = terms * unit(self.middle, self.radius)
        sizes = abs(self.middle)
        sizes *= 2 * loss  # twice, as the smallest of these products are rounded
        sizes += self.radius
        return bounded(change(self.middle), change(sizes) * (1 + 4 * loss))

    def spread(self, shape: tuple[int, ...]) -> Bounds:
        """Broadcast to a shape."""
        return self if self.middle.shape == shape else self.mapped(lambda x: np.broadcast_to(x, shape))

    def where(self, condition: Mask, other: Bounds) -> Bounds:
        """Take these elements where the condition holds, else the other's."""
        middle = np.where(condition, self.middle, other.middle)
        return Bounds(middle, np.where(condition, self.radius, other.radius))

    def joined(self, others: Sequence[Bounds], join: Callable[[Sequence[Array]], Array]) -> Bounds:
        """Join these elements and those of others to one array."""
        every = (self, *others)
        return Bounds(join([one.middle for one in every]), join([one.radius for one in every]))

    def in_floats(self) -> Bounds:
        """Convert to middles and radii that are floats."""
        return self

    def united(self, other: Bounds) -> Bounds:
        """Enclose both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        middle = (low + high) / 2
        return bounded(middle, np.maximum(high - middle, middle - low) + unit(middle) * abs(middle))


def exact(numbers: npt.ArrayLike, kind: FloatType = np.float64) -> Bounds:
    """Wrap numbers as they are, with radius 0; unknown where they are not finite."""
    middle = np.asarray(numbers, dtype=kind)
    return bounded(middle, np.zeros_like(middle))


def fixed(numbers: npt.ArrayLike, kind: FloatType = np.float64) -> Bounds:
    """Wrap numbers that do not move, of which infinities are known too."""
    middle, radius = np.asarray(numbers, dtype=kind), np.zeros(np.shape(numbers), kind)
    if (is_lost := np.isnan(middle)).any():
        middle, radius = np.where(is_lost, kind(0), middle), np.where(is_lost, kind(np.inf), radius)
    return Bounds(middle, radius)


def bounded(middle: Array, radius: Array) -> Bounds:
    """Round the radius outward; unknown where the middle or the radius is not finite."""
    if np.isfinite(radius).all() and np.isfinite(middle).all():
        return Bounds(middle, radius * _OUTWARD)
    is_lost = ~(np.isfinite(middle) & np.isfinite(radius))
    return Bounds(np.where(is_lost, 0.0, middle), np.where(is_lost, np.inf, radius * _OUTWARD))


def unknown(like: Array) -> Bounds:
    """Return elements of which nothing is known, in the format of others if they are floats."""
    kind = np.float64 if like.dtype == object else like.dtype
    return Bounds(np.zeros(like.shape, kind), np.full(like.shape, np.inf, kind))


def zeros(shape: tuple[int, ...], kind: np.dtype[Any]) -> AnyArray:
    """Make zeros of a kind; of objects these are balls."""
    return np.full(shape, arb(0), dtype=object) if kind.hasobject else np.zeros(shape, kind)


# -- arithmetic


@singledispatch
def add(a: Bounds, b: Bounds) -> Bounds:
    """Add two arrays; an infinity next to a known number stays one, as a masked score does."""
    middle = a.middle + b.middle
    radius = abs(middle)
    radius *= unit(middle)
    radius += a.radius + b.radius
    if np.isfinite(radius).all():  # and so is the middle
        radius *= _OUTWARD
        return Bounds(middle, radius)
    found = bounded(middle, radius)
    if (is_infinite := np.isinf(middle) & (np.isinf(a.middle) | np.isinf(b.middle))).any():
        return Bounds(middle, np.where(a.is_known & b.is_known, 0.0, np.inf)).where(is_infinite, found)
    return found


@singledispatch
def multiply(a: Bounds, b: Bounds) -> Bounds:
    """Multiply element by element."""
    middle, size, other = a.middle * b.middle, abs(a.middle), abs(b.middle) + b.radius
    radius = abs(middle)
    radius *= unit(middle)
    radius += size * b.radius + a.radius * other
    radius += ((size + a.radius != 0) & (other != 0)) * _SMALLEST  # a product of a number that is exactly 0 is exact
    return bounded(middle, radius)


def divide(a: Bounds, b: Bounds) -> Bounds:
    """Divide element by element; unknown where the denominator may be 0."""
    least = abs(b.middle) - b.radius
    middle = a.middle / b.middle
    # In this order nothing underflows that is large once it is divided.
    radius = a.radius / least + abs(middle) * (b.radius / least) + unit(middle) * abs(middle)
    radius = radius + np.where(a.is_zero, 0.0, _SMALLEST)
    return bounded(middle, np.where(least > 0, radius, np.inf))


def summed(x: Array, axes: tuple[int, ...]) -> Array:
    """Sum along some axes, which keep a size of 1; long sums by sums of parts, again and again."""
    count = math.prod(x.shape[axis] for axis in axes)
    if count <= _LONG:
        return np.asarray(x.sum(axis=axes, keepdims=True))
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    front = np.transpose(x, (*axes, *rest)).reshape(count, -1)
    while len(front) > _LONG:
        whole = len(front) - len(front) % _PART
        parts = front[:whole].reshape(whole // _PART, _PART, -1).sum(axis=1)
        front = np.concatenate([parts, front[whole:]])
    return np.asarray(front.sum(axis=0).reshape([1 if d in axes else size for d, size in enumerate(x.shape)]))


def terms(count: int) -> int:
    """Count the roundings that go into a sum of so many numbers, at most."""
    steps = 0
    while count > _LONG:
        steps, count = steps + _PART, count // _PART + count % _PART
    return steps + count


def stacked(parts: Sequence[Bounds], axis: int) -> Bounds:
    """Stack parts of one shape along a new dimension."""
    return parts[0].joined(parts[1:], lambda arrays: np.stack(arrays, axis))


@singledispatch
def product(a: Bounds, b: Bounds) -> Bounds:
    """Multiply matrices, of at least two dimensions each."""
    count = a.middle.shape[-1]
    sizes, others, loss = abs(a.middle), abs(b.middle), (count + 4) * unit(a.middle, b.middle, a.radius, b.radius)
    if b.radius.any():
        radius = sizes @ (b.radius + loss * others) + a.radius @ (others + b.radius)
    else:
        radius = (a.radius + loss * sizes) @ others
    least = np.where(radius == 0, 0.0, count * _SMALLEST)
    if _may_underflow(sizes + a.radius) or _may_underflow(others + b.radius):
        least = np.full_like(radius, count * _SMALLEST)
    return bounded(a.middle @ b.middle, radius * (1 + 4 * loss) + least)


def _may_underflow(sizes: Array) -> bool:
    smallest = np.min(sizes, initial=np.inf, where=sizes > 0)
    return bool(smallest < 2.0**-500)


@singledispatch
def inverse(a: Bounds) -> Bounds:
    """Invert matrices, bounded by the residual of LAPACK's inverse; unknown where that is not small."""
    order, kind = a.middle.shape[-1], a.middle.dtype
    one, middle = np.eye(order), a.middle.astype(np.float64)
    is_regular = np.linalg.slogdet(middle)[0][..., None, None] != 0
    found = np.linalg.inv(np.where(is_regular, middle, one)).astype(kind)
    if kind != np.float64:  # Newton's step, to the precision of the numbers
        found = found + found @ (one - a.middle @ found)
    rest = from_one(product(exact(found, kind.type), a))
    size, loss = norm(rest)[..., None, None], 1 + 4 * order * unit(found)
    # The inverse is the sum of the powers of 1 - found @ a, times found.
    first = (abs(rest.middle) + rest.radius) @ abs(found) * loss
    more = size * size / (1 - size) * abs(found).max(axis=-2, keepdims=True, initial=0)
    return bounded(found, np.where(is_regular & (size < 0.5), first + more + _SMALLEST, np.inf))


def from_one(a: Bounds) -> Bounds:
    """Subtract the unit matrix from matrices."""
    return add(a, exact(-np.eye(a.middle.shape[-1]), a.middle.dtype.type))


def norm(a: Bounds) -> Array:
    """Return the largest row sum of absolute values of each matrix, which no eigenvalue exceeds."""
    rows = (abs(a.middle) + a.radius).sum(axis=-1)
    return np.asarray(rows.max(axis=-1, initial=0) * (1 + 4 * a.middle.shape[-1] * unit(rows)))


# -- functions


def monotone(function: Callable[[Array], Array], a: Bounds, losses: int = LOSS) -> Bounds:
    """Apply a function that only rises where it has values, or only falls, and loses so many roundings."""
    low, high = function(a.low), function(a.high)
    middle = np.where(a.radius > 0, low / 2 + high / 2, function(a.middle))
    reach = np.maximum(abs(high - middle), abs(middle - low))
    loss = losses * unit(middle) * np.maximum(abs(low), abs(high))
    return bounded(middle, reach + loss + np.where(a.is_zero & (middle == 0), 0.0, _SMALLEST))


def of_angle(function: Callable[[Array], Array], a: Bounds) -> Bounds:
    """Apply the sine or the cosine, whose slope is that at the middle, by the other one, and changes by at most 1."""
    middle, reach, other = function(a.middle), a.radius, np.cos if function is np.sin else np.sin
    if reach.any():
        reach = np.minimum(reach, (1.001 * abs(other(a.middle)) + 1e-15 + reach / 2) * reach)  # more than its rounding
    radius = reach + LOSS * unit(middle) * abs(middle) + np.where(a.is_zero & (middle == 0), 0.0, _SMALLEST)
    return bounded(middle, np.where(abs(a.middle) + a.radius < _LARGEST_ANGLE, radius, np.inf))


def one_by_one(function: Callable[[float], float], numbers: Array) -> Array:
    """Apply a Python function to each number."""
    flat = numbers.ravel()
    found = np.empty(flat.shape, numbers.dtype)
    for first in range(0, flat.size, _ONE_BY_ONE):
        require_time()
        part = slice(first, first + _ONE_BY_ONE)
        found[part] = [function(number) for number in flat[part].tolist()]
    return found.reshape(numbers.shape)


def absolute(a: Bounds) -> Bounds:
    """Take the absolute values."""
    return Bounds(abs(a.middle), a.radius)


def steps(function: Callable[[Array], Array], a: Bounds) -> Bounds:
    """Apply a function of steps, known where both ends of the bounds are on one step."""
    low, high = function(a.low), function(a.high)
    return bounded(low, np.where(low == high, 0.0, np.inf))


@singledispatch
def larger(a: Bounds, b: Bounds) -> Bounds:
    """Take the elementwise maximum; one operand's bound alone where the order is certain."""
    either = bounded(np.maximum(a.middle, b.middle), np.maximum(a.radius, b.radius))
    shape = either.middle.shape
    a, b = a.spread(shape), b.spread(shape)
    are_one = a.is_infinite & b.is_infinite & np.asarray(a.middle == b.middle, dtype=bool)
    return a.where((a.low > b.high) | are_one, b.where(b.low > a.high, either))


@singledispatch
def extreme(a: Bounds, lost: Mask, axes: tuple[int, ...], *, largest: bool) -> Bounds:
    """Take the largest or smallest elements along some axes; the `lost` ones certainly are not."""
    middle = np.asarray((np.max if largest else np.min)(a.middle, axis=axes))
    return bounded(middle, np.asarray(np.max(np.where(lost, 0.0, a.radius), axis=axes)))


@singledispatch
def smaller(a: Bounds, b: Bounds) -> Bounds:
    """Take the elementwise minimum; one operand's bound alone where the order is certain."""
    return -larger(-a, -b)


def angle(y: Bounds, x: Bounds) -> Bounds:
    """Compute the angle of a point, which moves by less than twice its way over its distance.

    It is unknown where the bounds are wide, or may cross the negative axis.
    """
    middle = np.arctan2(y.middle, x.middle)
    way, distance = np.hypot(y.radius, x.radius), np.hypot(y.middle, x.middle)
    is_apart = (way < distance / 4) & ((x.middle - x.radius > 0) | (abs(y.middle) > y.radius))
    radius = 2 * way / distance + LOSS * unit(middle) * abs(middle) + np.where(y.is_zero, 0.0, _SMALLEST)
    return bounded(middle, np.where(is_apart, radius, np.inf))


def compared(a: Bounds, b: Bounds, sense: Sequence[int], *, at_ties: bool = True) -> Bounds:
    """Return 1 where the difference of two certainly has one of these signs, 0 where it certainly has none.

    Args:
        a: One.
        b: The other.
        sense: The signs, of -1, 0 and 1.
        at_ties: Decide also where both are exactly the same number, as is right unless one of them moves; infinities
            stay what they are.
    """
    is_less, is_more = a.high < b.low, a.low > b.high
    is_same = np.asarray(a.middle == b.middle, dtype=bool)
    if is_same.any():
        is_same = is_same & a.is_exact & b.is_exact
        is_same = is_same if at_ties else is_same & a.is_infinite
    signs = {-1: is_less, 0: is_same, 1: is_more}
    nothing = np.zeros_like(is_less)
    holds, fails = nothing, nothing
    for sign, where in signs.items():
        holds, fails = (holds | where, fails) if sign in sense else (holds, fails | where)
    return truth(holds, fails)


def decided(condition: Bounds) -> tuple[Mask, Mask]:
    """Tell where a condition certainly holds, and where it certainly does not."""
    is_zero = condition.is_zero
    return condition.is_exact & ~is_zero, is_zero


def chosen(condition: Bounds, first: Bounds, second: Bounds) -> Bounds:
    """Take the first where a condition holds, else the second; enclose both where that is not known."""
    shape = np.broadcast_shapes(condition.middle.shape, first.middle.shape, second.middle.shape)
    condition, first, second = condition.spread(shape), first.spread(shape), second.spread(shape)
    holds, fails = decided(condition)
    if holds.all() or fails.all():
        return first if holds.all() else second
    other = second if (holds | fails).all() else second.where(fails, first.united(second))
    return first.where(holds, other)


def truth(holds: Mask, fails: Mask) -> Bounds:
    """Return 1 where something certainly holds, 0 where it certainly does not, else unknown."""
    is_known = holds | fails
    return Bounds(
        holds.astype(np.float64), np.zeros(holds.shape) if is_known.all() else np.where(is_known, 0.0, np.inf)
    )


def power(a: Bounds, exponent: Bounds) -> Bounds:
    """Raise numbers above 0 to a power, which rises or falls by each of the two: the ends of the bounds tell."""
    ends = [np.power(base, e) for base in (a.low, a.high) for e in (exponent.low, exponent.high)]
    low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)
    middle = np.power(a.middle, exponent.middle)
    radius = np.maximum(high - middle, middle - low) + LOSS * unit(middle) * high + _SMALLEST
    return bounded(middle, np.where(a.low > 0, radius, np.inf))


def _multiplied(numbers: Array, exponent: int) -> Array:
    """Raise to a power of at least 1: by products, which lose half of what a function may, where there are few."""
    if exponent > LOSS // 2:
        found: Array = numbers**exponent
        return found
    return reduce(np.multiply, [numbers] * exponent)


def whole_power(a: Bounds, exponent: int) -> Bounds:
    """Raise to a whole power."""
    if exponent < 0:
        return divide(exact(1.0), whole_power(a, -exponent))
    if exponent == 0:
        return exact(np.ones_like(a.middle)).where(a.is_known, a)
    middle, size = _multiplied(a.middle, exponent), abs(a.middle)
    high = _multiplied(np.nextafter(size + a.radius, np.inf), exponent)
    low = _multiplied(np.maximum(np.nextafter(size - a.radius, 0), 0.0), exponent)
    # Between -high and high where the base may change its sign and the exponent is odd.
    reach = np.maximum(high - abs(middle), abs(middle) - low)
    if exponent % 2:
        reach = np.where(size < a.radius, high + abs(middle), reach)
    radius = np.where(a.radius == 0, 0.0, reach) + LOSS * unit(middle) * high
    return bounded(middle, radius + np.where(a.is_zero, 0.0, _SMALLEST))
