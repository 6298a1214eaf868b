"""Functions on Arb balls, and on lists of them: every result contains the true value at the exact operands.

A value that does not exist is a ball of nan.  Every leaf is made by calling `arb`: the methods of 0.9 do not check what
they are called on, and `arb.exp(1.0)` reads foreign memory.
Sources: F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", 2017; for polygamma,
DLMF 5.15 and its reflection 5.15.6; for the cofactor Jacobi's formula, ∂det(A)/∂A[p, q] = cofactor of (p, q), which
exists for singular A too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import lru_cache, reduce
from operator import mul
from typing import TypeVar

import sympy
from flint import acb, arb, arb_mat, arb_series, ctx

from gradcli.language import ops
from gradcli.language.ops import Op
from gradcli.language.program import sympy_functions

Ball = arb
"""A `flint.arb`."""

_Number = TypeVar("_Number", arb, acb)


def precision(bits: int) -> AbstractContextManager[None]:
    """Run a block at this many bits; Arb's precision is global to the process."""
    return _Precision(bits)


class _Precision(AbstractContextManager[None]):
    """Precision of a block, which takes a tenth of the time of a generator."""

    __slots__ = ("before", "bits")

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        """Set the precision."""
        self.before, ctx.prec = ctx.prec, self.bits

    def __exit__(self, *raised: object) -> None:
        """Set the precision of before."""
        ctx.prec = self.before


MOST_ORDER = 1_000
"""Largest order of a polygamma function that is evaluated."""

MOST_REFLECTED = 64
"""Largest order of a polygamma function that is evaluated to the left of 0."""

MORE_BITS = 64
"""Bits beyond those of the operands for functions whose work grows fast with the precision."""

_UNKNOWN = arb(0, arb.pos_inf())
"""Ball of all numbers, for a value that is not known; a value that does not exist is `nan`."""


def is_nothing(ball: Ball) -> bool:
    """Tell whether a ball is 0, or around 0 and smaller than any float, as a zero becomes with many bits."""
    return bool(ball == 0 or (ball.contains(0) and abs(ball) < arb(2) ** -1074))


def exists(ball: Ball) -> bool:
    """Tell whether a ball is a finite enclosure."""
    return bool(ball.is_finite())


def fraction(ball: Ball) -> Fraction | None:
    """Convert an exact ball to the rational number that it is; None for any other ball."""
    if not ball.is_exact() or not ball.is_finite():
        return None
    mantissa, exponent = (int(part) for part in ball.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def integer_power(base: _Number, exponent: int) -> _Number:
    """Raise to a power by repeated squaring; Arb's own takes the logarithm, which a ball around 0 has not."""
    if exponent < 0:
        return 1 / (base if exponent == -1 else integer_power(base, -exponent))
    result = type(base)(1)
    for bit in bin(exponent)[2:]:
        result = result * result * base if bit == "1" else result * result
    return result


def _trunc(x: Ball) -> Ball:
    if x >= 0:
        return x.floor()
    return x.ceil() if x <= 0 else x.floor().union(x.ceil())


def _round(x: Ball) -> Ball:
    """Round to the nearest integer, halves to the even neighbour."""
    nearest = (x + arb(0.5)).floor()
    tie = (x - arb(0.5)).is_integer()
    return nearest - 1 if tie and not (nearest / 2).is_integer() else nearest


def _angle(y: Ball, x: Ball) -> Ball:
    """Compute the angle of (x, y); nan at the origin, which has none."""
    return arb.nan() if x == 0 and y == 0 else arb.atan2(y, x)


def _lgamma(x: Ball) -> Ball:
    return x.lgamma() if x > 0 else abs(x.gamma()).log()


def _at_own_accuracy(function: Callable[..., Ball]) -> Callable[..., Ball]:
    """Wrap a function whose work grows fast with the precision: it has few more bits than its operands have.

    On a wide ball, a call with thousands of bits may take seconds, and knows no more.
    """

    def value(*operands: Ball) -> Ball:
        known = min((ball.rel_accuracy_bits() for ball in operands), default=ctx.prec)
        with precision(min(ctx.prec, max(0, known) + MORE_BITS)):
            return function(*operands)

    return value


def _everywhere(function: Callable[..., Ball]) -> Callable[..., Ball]:
    """Wrap a function that has a value at all real numbers, though Arb gives nan at large ones with too few bits."""

    def value(*operands: Ball) -> Ball:
        found = function(*operands)
        return _UNKNOWN if found.is_nan() and all(operand.is_finite() for operand in operands) else found

    return value


@_at_own_accuracy
def _polygamma(order: Ball, x: Ball) -> Ball:
    whole = order.unique_fmpz()
    if whole is None:
        return _UNKNOWN
    n = int(whole)
    if x <= 0 and x.is_integer():
        return arb.nan()
    if n == 0:
        return x.digamma()
    if n > MOST_ORDER:
        return _UNKNOWN
    if x < 0:  # the Hurwitz zeta function is not evaluated far to the left: its work grows with the distance
        return _reflected(n, x) if n <= MOST_REFLECTED else _UNKNOWN
    result = acb(x).polygamma(n)
    return result.real if exists(result.real) and exists(result.imag) else arb.nan()


def _reflected(n: int, x: Ball) -> Ball:
    """Reflect: polygamma(n, x) = (-1)**n*polygamma(n, 1 - x) - the n-th derivative of pi*cot(pi*x).

    This derivative is (-1)**n*pi**(n+1) times a polynomial in the cotangent c, whose slope is -(1 + c**2).
    Source: https://dlmf.nist.gov/5.15.E6
    """
    cotangent, total = x.cot_pi(), arb(0)
    for coefficient in reversed(_cotangents(n)):
        total = total * cotangent + coefficient
    sign = -1 if n % 2 else 1
    return sign * (_polygamma(arb(n), 1 - x) - arb.pi() ** (n + 1) * total)


@lru_cache(maxsize=MOST_REFLECTED)
def _cotangents(n: int) -> tuple[int, ...]:
    """Compute the polynomial of `_reflected`, from the constant term on: q' * (1 + c**2), n times, of c."""
    found = [0, 1]
    for _ in range(n):
        slope = [k * a for k, a in enumerate(found)][1:]
        found = [a + b for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return tuple(found)


def _from_row(op: Op) -> Callable[..., Ball]:
    """Wrap the function of balls of a row of the op table.

    Outside of its domain, where Arb and torch may continue it in ways of their own, it gives nan or the ball of all
    numbers; also where its order is so large that a call would take long.
    """

    @_at_own_accuracy
    def value(*operands: Ball) -> Ball:
        if op.has_large_order(*operands):
            return _UNKNOWN
        found = None if op.arb is None else op.arb(*operands)
        if found is None and all(operand.is_exact() for operand in operands):
            return arb.nan()
        return _UNKNOWN if found is None or not exists(found) else found

    return value


def _truth(holds: bool, fails: bool) -> Ball:
    """Return 1 or 0, or the ball around both where a condition cannot be decided."""
    return arb(int(holds)) if holds or fails else arb(0.5, 0.5)


COMPARISONS: Mapping[str, Callable[[Ball | int, Ball | int], Ball]] = {
    ">": lambda a, b: _truth(bool(a > b), bool(a <= b)),
    ">=": lambda a, b: _truth(bool(a >= b), bool(a < b)),
    "<": lambda a, b: _truth(bool(a < b), bool(a >= b)),
    "<=": lambda a, b: _truth(bool(a <= b), bool(a > b)),
    "==": lambda a, b: _truth(bool(a == b), bool(a != b)),
    "!=": lambda a, b: _truth(bool(a != b), bool(a == b)),
}
"""Comparisons of balls or integers: 1, 0, or the ball around both where balls overlap."""

HEADS: Mapping[type, Callable[..., Ball]] = {
    **{getattr(sympy, name): getattr(arb, name) for name in sympy_functions.SHARED},
    **{head: _from_row(ops.TABLE[name]) for name, head in sympy_functions.DESCRIBED.items()},
    sympy.erfinv: lambda x: arb.nan() if abs(x) == 1 else x.erfinv(),
    sympy.atan2: _angle,
    sympy_functions.polygamma: _polygamma,
    sympy.sinh: _everywhere(arb.sinh),
    sympy.cosh: _everywhere(arb.cosh),
    sympy.besseli: _everywhere(_at_own_accuracy(lambda order, x: x.bessel_i(order))),
    sympy.Abs: operator.abs,
    sympy.sign: arb.sgn,
    sympy_functions.lgamma: _lgamma,
    sympy_functions.sinc: arb.sinc_pi,
    sympy_functions.abs: operator.abs,
    sympy_functions.sign: arb.sgn,
    sympy_functions.floor: arb.floor,
    sympy_functions.ceil: arb.ceil,
    sympy_functions.trunc: _trunc,
    sympy_functions.round: _round,
    sympy_functions.maximum: arb.max,
    sympy_functions.minimum: arb.min,
    sympy_functions.detach: operator.pos,
    sympy_functions.unknown: lambda *_: _UNKNOWN,
    **{
        one: COMPARISONS[one.sign]
        for one in (
            sympy_functions.gt,
            sympy_functions.ge,
            sympy_functions.lt,
            sympy_functions.le,
            sympy_functions.eq,
            sympy_functions.ne,
        )
    },
    sympy.And: lambda *parts: product(parts),
    sympy.Or: lambda *parts: 1 - product(1 - part for part in parts),  # by De Morgan
}
"""The functions that meanings and their derivatives are made of."""


# -- whole lists


def product(values: Iterable[Ball | int]) -> Ball:
    """Multiply all values; 1 where there are none."""
    return reduce(mul, values, arb(1))


_Factor = TypeVar("_Factor", arb, arb_mat, arb_series)


def products_of_others(values: Sequence[_Factor], one: _Factor) -> list[_Factor]:
    """Compute for each value the product of all others."""
    before, after = [one], [one]
    for first, last in zip(values, reversed(values), strict=True):
        before.append(before[-1] * first)
        after.append(after[-1] * last)
    return [before[n] * after[len(values) - 1 - n] for n in range(len(values))]


def extreme(values: Sequence[Ball], *, largest: bool) -> Ball:
    """Return the ball of the largest or smallest value."""
    return reduce(arb.max if largest else arb.min, values)


def is_chosen(values: Sequence[Ball], n: int, *, largest: bool) -> Ball:
    """Return 1 if value n is the extreme, 0 if another is, the ball around both where they tie or may tie."""
    own = values[n] if largest else -values[n]
    others = [v if largest else -v for k, v in enumerate(values) if k != n]
    if any(other > own for other in others):
        return arb(0)
    return arb(1) if all(other < own for other in others) else arb(0.5, 0.5)


def determinant(values: Sequence[Ball], order: int) -> Ball:
    """Compute the determinant of a matrix given row by row."""
    return _matrix(values, order).det() if order else arb(1)


def cofactor(values: Sequence[Ball], order: int, row: int, column: int) -> Ball:
    """Compute (-1)**(row + column) times the determinant without this row and column."""
    kept = [values[i * order + j] for i in range(order) for j in range(order) if i != row and j != column]
    minor = determinant(kept, order - 1)
    return minor if (row + column) % 2 == 0 else -minor


def inverse(values: Sequence[Ball], order: int) -> arb_mat:
    """Invert a matrix; all nan where it is singular, or may be."""
    try:
        return _matrix(values, order).inv()
    except ZeroDivisionError:
        return _matrix([arb.nan()] * (order * order), order)


def _matrix(values: Sequence[Ball], order: int) -> arb_mat:
    return arb_mat(order, order, list(values))
