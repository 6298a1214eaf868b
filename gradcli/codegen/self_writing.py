"""Expressions of Python that write themselves: a call, a sign, an index gives the text of the same call.

    >>> torch, x = Expression("torch", module="torch"), Expression("x", module="torch")
    >>> str(-(torch.sin(x) ** 2) + x.sum(dim=0)[1:, None])
    '-(torch.sin(x) ** 2) + x.sum(dim=0)[1:, None]'

So code that asks a library for an operation is run on these to write a script: `language.program.library_calls`.

Numbers and arrays are literals, or the rule that they follow, if it gives exactly these numbers: a rule is written only
where every way to compute it gives the same floats, as its numbers lie on a grid that the dtype holds exactly, so that
no step of it rounds.  What follows no rule is written out, up to `MAX_WRITTEN` numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import sympy

from gradcli.errors import TooLargeError
from gradcli.language.program.library_calls import plain
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.text.tokens import COMPARISON, LEVELS, POWERS, PRODUCT
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


SIGN, POWER, ATOM = 9, 10, 11
"""How tightly bind signs, powers, and what needs no parentheses."""

SHORTHANDS = {"torch.nn.functional": "F"}
"""What a script calls a module by."""

_EXACT = 2**53
"""Up to this, Python divides whole numbers as floats of the same value."""

_SIMPLE = re.compile(r"-?(?:[^\W\d]\w*(?:\.[^\W\d]\w*)*|[\d.]+(?:e-?\d+)?)")


def _binary(sign: str) -> Callable[[Written, Any], Expression]:
    def write(self: Written, other: Any) -> Expression:
        return self.joined(sign, other)

    return write


def _reflected(sign: str) -> Callable[[Written, Any], Expression]:
    def write(self: Written, other: Any) -> Expression:
        return self.like(other).joined(sign, self)

    return write


class Written:
    """What stands in a script: a text, and how tightly its loosest operator binds.

    Attributes:
        text: As it stands alone.
        level: Of its loosest operator.
        module: The library of its values, which has the names of numbers that are no literals.
        shape: Of its value, where that is known.
    """

    def __init__(self, text: str, level: int = ATOM, module: str = "np", shape: Shape | None = None) -> None:
        self.text, self.level, self.module, self.shape = text, level, module, shape

    def __str__(self) -> str:
        return self.text

    def at(self, level: int) -> str:
        """The text as it stands where operators of this level are around it."""
        return self.text if self.level >= level else f"({self.text})"

    def like(self, value: Any) -> Written:
        """Any value of Python as it is written for the same library."""
        return value if isinstance(value, Written) else _of_python(value, self.module)

    # -- what is written

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self.at(ATOM)}.{name}"
        return Expression(SHORTHANDS.get(path, path), module=self.module)

    def __call__(self, *arguments: Any, **named: Any) -> Expression:
        """The call of this function."""
        texts = [self.like(argument).text for argument in arguments]
        texts += [f"{name}={self.like(argument).text}" for name, argument in named.items()]
        return Expression(f"{self.text}({', '.join(texts)})", module=self.module)

    def __iter__(self) -> Any:
        """Several results as they are handed on: `f(*g(x))`."""
        yield Expression(f"*{self.text}", module=self.module)

    def __getitem__(self, key: Any) -> Expression:
        items = key if isinstance(key, tuple) else (key,)
        return Expression(f"{self.at(ATOM)}[{', '.join(map(self._item, items)) or '()'}]", module=self.module)

    def _item(self, item: Any) -> str:
        if item is Ellipsis:
            return "..."
        if not isinstance(item, slice):
            return self.like(item).text
        start, stop, step = ("" if part is None else str(part) for part in (item.start, item.stop, item.step))
        return f"{start}:{stop}" + f":{step}" * (step not in ("", "1"))

    def joined(self, sign: str, other: Any) -> Expression:
        """Two operands around an operator."""
        other = self.like(other)
        if sign in POWERS:
            left, right = self.at(ATOM), other.at(SIGN)
            is_short = _SIMPLE.fullmatch(right) or (other.level == POWER and " " not in right)
            space = "" if _SIMPLE.fullmatch(left) and is_short else " "
            return Expression(f"{left}{space}**{space}{right}", POWER, self.module)
        level = LEVELS[sign]
        left = self.at(level + (level == COMPARISON))  # which Python would chain
        return Expression(f"{left} {sign} {other.at(level + 1)}", level, self.module)

    def __neg__(self) -> Expression:
        """Minus an operand; around a power there are parentheses, as a formatter has them."""
        is_plain = self.level >= SIGN and self.level != POWER
        return Expression(f"-{self.text if is_plain else f'({self.text})'}", SIGN, self.module)

    def __invert__(self) -> Expression:
        return Expression(f"~{self.at(SIGN)}", SIGN, self.module)

    __add__, __radd__ = _binary("+"), _reflected("+")
    __sub__, __rsub__ = _binary("-"), _reflected("-")
    __mul__, __rmul__ = _binary("*"), _reflected("*")
    __truediv__, __rtruediv__ = _binary("/"), _reflected("/")
    __floordiv__ = _binary("//")
    __pow__, __rpow__ = _binary("**"), _reflected("**")
    __matmul__, __rmatmul__ = _binary("@"), _reflected("@")
    __and__, __or__ = _binary("&"), _binary("|")
    __lt__, __le__, __gt__, __ge__ = _binary("<"), _binary("<="), _binary(">"), _binary(">=")
    __eq__, __ne__ = _binary("=="), _binary("!=")  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Expression(Written):
    """A module, a function, or a value of the library."""


class Number(Written, float):  # type: ignore[misc]  # whose signs are those of what is written
    """A number of Python that is written in its own way: a constant, or a size of an array.

    No kind of expression itself: of `x < 2`, Python would ask a kind of x first, and write `2 > x`.
    """

    def __new__(cls, value: float, *_: Any, **__: Any) -> Number:
        """The number, whatever its text."""
        return float.__new__(cls, value)

    def __init__(self, value: float, text: str, level: int = ATOM, module: str = "np") -> None:
        super().__init__(text, level, module)


def constant(value: Atom, module: str) -> Number:
    """A constant of a Program; `module` has the names of those that are no literals.

    >>> [constant(value, "np").text for value in (sympy.Rational(-1, 3), sympy.pi, -sympy.oo)]
    ['-1 / 3', 'np.pi', '-np.inf']
    """
    number = plain(value)
    match value:
        case sympy.Rational(p=p, q=q) if q != 1 and max(abs(p), q) <= _EXACT:
            return Number(number, f"{p} / {q}", PRODUCT, module)
        case sympy.core.numbers.Pi():
            return Number(number, f"{module}.pi", module=module)
        case sympy.core.numbers.Exp1():
            return Number(number, f"{module}.e", module=module)
    written = _of_python(number, module)
    return Number(number, written.text, written.level, module)


def _of_python(value: Any, module: str) -> Expression:
    """A value of Python as it is written.

    >>> [_of_python(value, "np").text for value in (None, "ij->i", (1,), [1, 2.5], float, -1)]
    ['None', '"ij->i"', '(1,)', '[1, 2.5]', 'float', '-1']
    """
    match value:
        case bool() | None:
            return Expression(str(value), module=module)
        case str():
            is_plain = value.isascii() and value.isprintable() and not set(value) & set("\"'\\")
            return Expression(f'"{value}"' if is_plain else repr(value), module=module)
        case type():
            return Expression(value.__name__, module=module)
        case tuple() | list():
            inner = ", ".join((part if isinstance(part, Written) else _of_python(part, module)).text for part in value)
            if isinstance(value, list):
                return Expression(f"[{inner}]", module=module)
            return Expression(f"({inner}{',' * (len(value) == 1)})", module=module)
    text = decimal(value, f"{module}.inf", f"{module}.nan")
    return Expression(text, SIGN if text.startswith("-") else ATOM, module)
