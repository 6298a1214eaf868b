"""Expressions of Python that write themselves: a call, a sign, an index gives the text of the same call.

    >>> torch, x = Expression("torch", module="torch"), Expression("x", module="torch")
    >>> str(-(torch.sin(x) ** 2) + x.sum(dim=0)[1:, None])
    '-(torch.sin(x) ** 2) + x.sum(dim=0)[1:, None]'

So code that asks a library for an operation is run on these to write a script: `language.program.library_calls`.

Numbers and arrays are literals, or the rule of NumPy that gives exactly these numbers.  What follows no rule is written
out, up to `MAX_WRITTEN` numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

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

_EXACT = 2**53
"""Up to this, Python divides whole numbers as floats of the same value."""

_EVENLY = 2**24
"""Up to this, every dtype holds whole numbers."""

_Rule = tuple[str, tuple[Any, ...], Array]


def rule_of(array: Array, name: str) -> tuple[str, tuple[Any, ...]]:
    """The function of NumPy that makes exactly these numbers, and its numbers; `list`, and the nested list, where none.

    Args:
        array: The numbers.
        name: What they are, for the error.

    Raises:
        TooLargeError: There are many, and they follow no rule.

    >>> rule_of(np.arange(12.0), "x"), rule_of(np.array([1.0, 2.0]), "x")[0]
    (('arange', (12,)), 'list')
    """
    with np.errstate(all="ignore"):
        for kind, numbers, made in _rules(array) if array.size > SHORT or not array.size else ():
            if _same(array, made.astype(array.dtype).reshape(array.shape)):
                return kind, numbers
    if array.size > MAX_WRITTEN:
        raise TooLargeError(
            f"{name} has {array.size:,} numbers that follow no simple rule; a script holds up to {MAX_WRITTEN:,}",
            hint="use fewer of them, or numbers that have a rule: zeros, ones, full, arange, linspace",
        )
    return "list", (_nested(array),)


def _rules(array: Array) -> Iterator[_Rule]:
    """What an array may be made by: of one number, with ones on the diagonal, in whole steps, evenly spaced."""
    yield "zeros", (), np.zeros(array.shape)
    yield "ones", (), np.ones(array.shape)
    flat, size = array.ravel(), array.size
    yield "full", (float(str(flat[0])),), np.full(array.shape, flat[0])
    if array.ndim == 2:
        yield "eye", (), np.eye(*array.shape)
    first, last = float(flat[0]), float(flat[-1])
    step = (last - first) / (size - 1)
    if step and all(number % 1 == 0 and abs(number) * size < _EVENLY for number in (first, step)):
        start, stop, by = int(first), int(first + step * size), int(step)
        numbers = (stop,) if (start, by) == (0, 1) else (start, stop, by)[: 2 + (by != 1)]
        yield "arange", numbers, np.arange(*numbers, dtype=float)
    if math.isfinite(step) and step:
        yield "linspace", (first, last, size), np.linspace(first, last, size)


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


def held(numbers: Array | float, dtype: str) -> Array:
    """Numbers as a dtype holds them; those beyond its range are infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(numbers).astype(dtype)


SIGN, POWER, ATOM = 9, 10, 11
"""How tightly bind signs, powers, and what needs no parentheses."""

SHORTHANDS = {"torch.nn.functional": "F"}
"""What a script calls a module by."""

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
