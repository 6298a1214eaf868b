"""Expressions of Python that write themselves: a call, a sign, an index gives the text of the same call.

    >>> torch, x = Expression("torch", module="torch"), Expression("x", module="torch")
    >>> str(-(torch.sin(x) ** 2) + x.sum(dim=0)[1:, None])
    '-(torch.sin(x) ** 2) + x.sum(dim=0)[1:, None]'

So code that asks a library for an operation is run on these to write a script: `language.program.library_calls`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import sympy

from gradcli.codegen.literals import decimal
from gradcli.language.program.library_calls import plain
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.text.tokens import COMPARISON, LEVELS, POWERS, PRODUCT

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
