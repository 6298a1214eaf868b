"""Numbers and arrays as source: literals, or the rule that they follow, if it gives exactly these numbers.

A rule is written only where every way to compute it gives the same floats: its numbers lie on a grid that the dtype
holds exactly, so that no step of it rounds.  What follows no rule is written out, up to `MAX_WRITTEN` numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from gradcli.errors import TooLargeError
from gradcli.language.program.wengert import Shape
from gradcli.results import Array

MAX_WRITTEN = 1_000
"""Numbers of one array that are written out."""

SHORT = 6
"""Numbers that are written out even where they follow a rule."""

_DIGITS = {"float64": 53, "float32": 24}
"""Bits of a number of each dtype."""


_Kind = Literal["zeros", "ones", "full", "arange", "linspace", "eye", "list"]
_Found = tuple[_Kind, tuple[float, ...], bool]


@dataclass(frozen=True)
class Rule:
    """How an array can be made: of one number, evenly spaced, with ones on the diagonal, or written out.

    Attributes:
        kind: The function that makes it, or `list`.
        numbers: Start, stop and step of `arange`, start, stop and count of `linspace`, the number of `full`.
        shape: Of the array.
        is_exact: Whether every library's rule gives these floats; if not, NumPy's does.
        values: The nested list, where written out.
    """

    kind: _Kind
    numbers: tuple[float, ...]
    shape: Shape
    is_exact: bool = True
    values: Any = None


def rule_of(array: Array, name: str) -> Rule:
    """The shortest rule for exactly these numbers.

    Args:
        array: The numbers.
        name: What they are, for the error.

    Raises:
        TooLargeError: There are many, and they follow no rule.

    >>> rule_of(np.arange(12.0), "x").numbers
    (0.0, 12.0, 1.0)
    >>> rule_of(np.array([1.0, 2.0]), "x").kind
    'list'
    """
    flat = array.ravel()
    if array.size == 0:
        return Rule("zeros", (), array.shape)
    if array.size > SHORT:
        found = _full(flat) or _eye(array) or _evenly(flat)
        if found is not None:
            kind, numbers, is_exact = found
            return Rule(kind, numbers, array.shape, is_exact)
    if array.size > MAX_WRITTEN:
        raise TooLargeError(
            f"{name} has {array.size:,} numbers that follow no simple rule; a script holds up to {MAX_WRITTEN:,}",
            hint="use fewer of them, or numbers that have a rule: zeros, ones, full, arange, linspace",
        )
    return Rule("list", (), array.shape, values=_nested(array))


def _full(flat: Array) -> _Found | None:
    if not _same(flat, np.full_like(flat, flat[0])):
        return None
    number = float(str(flat[0]))
    kind: _Kind = "ones" if number == 1 else "full" if number or np.signbit(number) else "zeros"
    return kind, (number,), True


def _eye(array: Array) -> _Found | None:
    is_it = array.ndim == 2 and min(array.shape) > 1 and _same(array, np.eye(*array.shape, dtype=array.dtype))
    return ("eye", (), True) if is_it else None


def _evenly(flat: Array) -> _Found | None:
    """Evenly spaced numbers: whole steps as `arange`, other steps as `linspace`."""
    first, last, count = float(flat[0]), float(flat[-1]), flat.size
    if not (math.isfinite(first) and math.isfinite(last)) or first == last:
        return None
    step = (Fraction(last) - Fraction(first)) / (count - 1)
    ends = [Fraction(first), Fraction(last), step, step * count, Fraction(last) + step]
    grid = max(end.denominator for end in ends)
    is_dyadic = grid & (grid - 1) == 0
    is_exact = is_dyadic and all(abs(end) * grid <= 2 ** _DIGITS[str(flat.dtype)] for end in ends)
    with np.errstate(all="ignore"):
        is_spaced = _same(flat, np.linspace(first, last, count).astype(flat.dtype))
    if not is_spaced:
        return None
    if is_exact and step.denominator == 1 and Fraction(first).denominator == 1:
        return "arange", (first, float(Fraction(last) + step), float(step)), True
    return "linspace", (first, last, count), is_exact


def _same(a: Array, b: Array) -> bool:
    """Whether two arrays have the same bits, but for those of NaN."""
    return bool(np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a), np.signbit(b)))


def _nested(array: Array) -> Any:
    """The numbers as they are held, in lists."""
    return [_nested(part) for part in array] if array.ndim else array[()]


def decimal(value: Any, inf: str, nan: str) -> str:
    """A number as a literal that reads back as the same float of its precision.

    >>> decimal(np.float32(0.1), "inf", "nan"), decimal(-np.inf, "inf", "nan"), decimal(2, "inf", "nan")
    ('0.1', '-inf', '2')
    """
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return nan if math.isnan(value) else inf if value > 0 else f"-{inf}"
    short = str(float(str(value)))  # of a float32, its own shortest digits
    is_same = not isinstance(value, np.float32) or np.float32(float(short)) == value
    return (short if is_same else repr(float(value))).replace("e+", "e")


def whole(value: float) -> int | float:
    """A number without the `.0` of whole ones, as the arguments of `arange` are written.

    >>> whole(3.0), whole(0.5)
    (3, 0.5)
    """
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def shortest(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Start, stop and step of an `arange` without those that are as by default.

    >>> shortest((0.0, 4.0, 1.0)), shortest((1.0, 4.0, 1.0)), shortest((0.0, 4.0, 2.0))
    ((4.0,), (1.0, 4.0), (0.0, 4.0, 2.0))
    """
    start, stop, step = numbers
    if step != 1:
        return numbers
    return (stop,) if start == 0 else (start, stop)


def held(numbers: Array | float, dtype: str) -> Array:
    """Numbers as a dtype holds them; those beyond its range are infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(numbers).astype(dtype)
