"""Expressions of Python that write themselves: a call, a sign, an index gives the text of the same call.

    >>> torch, x = PyExpr("torch"), PyExpr("x")
    >>> str(-(torch.sin(x) ** 2) + x.sum(dim=0)[1:, None])
    '-torch.sin(x)**2 + x.sum(dim=0)[1:, None]'

So code that asks a library for an operation is run on these to write a script: `language.program.library_calls`.

Numbers and arrays are literals, or the rule of NumPy that gives exactly these numbers.  An array that follows no rule
is written out, up to `MAX_WRITTEN` numbers.
"""

from __future__ import annotations

import ast
import math
import re
import textwrap
from collections.abc import Callable

import numpy as np
import sympy

from gradcli.errors import TooLargeError
from gradcli.language.program.library_calls import LibraryValue, plain
from gradcli.language.program.wengert import Atom, Shape
from gradcli.results import Array

MAX_WRITTEN = 1_000
"""Numbers of one array that are written out."""

SHORT = 6
"""Numbers that are written out even where they follow a rule."""

_EXACT = 2**53
"""Up to this, Python divides whole numbers as floats of the same value."""


def rule_of(array: Array, name: str) -> tuple[str, LibraryValue]:
    """Find the function that makes exactly these numbers, and its arguments; else `tensor` and the nested list.

    Args:
        array: The numbers.
        name: What they are, for the error.

    Raises:
        TooLargeError: There are many, and they follow no rule.

    >>> rule_of(np.arange(12.0), "x"), rule_of(np.array([1.0, 2.0]), "x")[0]
    (('linspace', (0.0, 11.0, 12)), 'tensor')
    """
    if array.size > SHORT or not array.size:
        ends = (*map(float, array.flat[[0, -1]]), array.size) if array.size else (0.0, 0.0, 0)
        with np.errstate(all="ignore"):
            rules: dict[str, Array] = {"zeros": np.zeros(array.size), "ones": np.ones(array.size)}
            rules |= {"full": np.full(array.size, ends[0]), "linspace": np.linspace(*ends)}
            rules |= {"eye": np.eye(*array.shape)} if array.ndim == 2 else {}
        for kind, numbers in rules.items():
            if _same(array, numbers.astype(array.dtype).reshape(array.shape)):
                return kind, ends
    if array.size > MAX_WRITTEN:
        raise TooLargeError(
            f"{name} has {array.size:,} numbers that follow no simple rule; a script holds up to {MAX_WRITTEN:,}",
            hint="use fewer of them, or numbers that have a rule: zeros, ones, full, eye, arange, linspace",
        )
    return "tensor", _nested(array)


def _same(a: Array, b: Array) -> bool:
    """Tell whether two arrays have the same bits, but for those of NaN."""
    return bool(np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a), np.signbit(b)))


def _nested(array: Array) -> LibraryValue:
    """Convert numbers to nested lists, as their dtype holds them."""
    return [_nested(part) for part in array] if array.ndim else array[()]


def decimal(value: LibraryValue, library: PyTree | str = "torch") -> str:
    """Write a number as a literal that reads back as the same float, an infinity as the library has it.

    >>> decimal(np.float32(0.1)), decimal(-np.inf), decimal(2)
    ('0.1', '-torch.inf', '2')
    """
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return f"{'-' if value < 0 else ''}{library}.{'nan' if math.isnan(value) else 'inf'}"
    short = str(float(str(value)))  # of a float32, its own shortest digits
    is_same = not isinstance(value, np.float32) or np.float32(float(short)) == value
    return (short if is_same else repr(float(value))).replace("e+", "e")


def held(numbers: Array | float, dtype: str) -> Array:
    """Round numbers to a dtype; those beyond its range are infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(numbers).astype(dtype)


WIDTH = 88
"""Characters of a line of a script."""

_QUOTED = re.compile(r"""".*?"|'.*?'""")


def unparsed(node: ast.AST) -> str:
    """Write a tree of Python's as text, with powers close.

    >>> unparsed(ast.parse("2*x[i]*(total)**2 + (y**-n)**2 - -x**2"))
    '2 * x[i] * total**2 + (y**(-n))**2 - -x**2'
    """
    return ast.unparse(node).replace(" ** ", "**")


def laid_out(statement: str) -> str:
    """Lay out `name = expression`, a long one in parentheses on as many lines as it needs.

    >>> print(laid_out("y = torch.stack([torch.sin(first_angle), torch.sin(second_angle), torch.sin(third_angle)])"))
    y = (
        torch.stack([torch.sin(first_angle), torch.sin(second_angle),
        torch.sin(third_angle)])
    )
    """
    if len(statement) <= WIDTH:
        return statement
    name, _, value = statement.partition(" = ")
    whole = _QUOTED.sub(lambda found: found[0].replace(" ", "\0"), value)
    lines = textwrap.wrap(whole, WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"{name} = (", *(f"    {line}" for line in lines), ")"]).replace("\0", " ")


def _binary(sign: LibraryValue, *, is_reflected: bool = False) -> Callable[[PyTree, LibraryValue], PyExpr]:
    def write(self: PyTree, other: LibraryValue) -> PyExpr:
        left, right = self.node, node_of(other)
        left, right = (right, left) if is_reflected else (left, right)
        is_sum = isinstance(sign, ast.operator)
        return PyExpr(ast.BinOp(left, sign, right) if is_sum else ast.Compare(left, [sign], [right]))

    return write


class PyTree:
    """Python expression of a script, as a syntax tree.

    Attributes:
        node: It; a text stands as it is.
        shape: Of its value, where that is known.
    """

    def __init__(self, node: str | ast.expr, shape: Shape | None = None) -> None:
        self.node, self.shape = ast.Name(node) if isinstance(node, str) else node, shape

    def __str__(self) -> str:
        return unparsed(self.node)

    def __getattr__(self, name: str) -> PyExpr:
        if name.startswith("_"):
            raise AttributeError(name)
        # torch.nn.functional has a short name, by which everybody imports it.
        return PyExpr("F" if name == "functional" else ast.Attribute(self.node, name))

    def __call__(self, *arguments: LibraryValue, **named: LibraryValue) -> PyExpr:
        """Return the call of this function."""
        keywords = [ast.keyword(name, node_of(argument)) for name, argument in named.items()]
        return PyExpr(ast.Call(self.node, [*map(node_of, arguments)], keywords))

    def __iter__(self) -> LibraryValue:
        """Yield the starred results, as they are handed on: `f(*g(x))`."""
        yield PyExpr(ast.Starred(self.node))

    def __getitem__(self, key: LibraryValue) -> PyExpr:
        key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
        return PyExpr(ast.Subscript(self.node, node_of(key)))

    def __neg__(self) -> PyExpr:
        return PyExpr(ast.UnaryOp(ast.USub(), self.node))

    def __invert__(self) -> PyExpr:
        return PyExpr(ast.UnaryOp(ast.Invert(), self.node))

    __add__, __radd__ = _binary(ast.Add()), _binary(ast.Add(), is_reflected=True)
    __sub__, __rsub__ = _binary(ast.Sub()), _binary(ast.Sub(), is_reflected=True)
    __mul__, __rmul__ = _binary(ast.Mult()), _binary(ast.Mult(), is_reflected=True)
    __truediv__, __rtruediv__ = _binary(ast.Div()), _binary(ast.Div(), is_reflected=True)
    __pow__, __rpow__ = _binary(ast.Pow()), _binary(ast.Pow(), is_reflected=True)
    __floordiv__, __matmul__ = _binary(ast.FloorDiv()), _binary(ast.MatMult())
    __and__, __or__ = _binary(ast.BitAnd()), _binary(ast.BitOr())
    __lt__, __le__ = _binary(ast.Lt()), _binary(ast.LtE())
    __gt__, __ge__ = _binary(ast.Gt()), _binary(ast.GtE())
    __eq__, __ne__ = _binary(ast.Eq()), _binary(ast.NotEq())  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class PyExpr(PyTree):
    """A module, a function, or a value of the library."""


class PyNumber(PyTree, float):  # type: ignore[misc]  # whose signs are those of what is written
    """A number of Python that is written in its own way: a constant, or a size of an array.

    No kind of expression itself: of `x < 2`, Python would ask a kind of x first, and write `2 > x`.
    """

    def __new__(cls, value: float, *_: LibraryValue, **__: LibraryValue) -> PyNumber:
        """Make the number, whatever its text."""
        return float.__new__(cls, value)

    def __init__(self, value: float, node: str | ast.expr) -> None:
        super().__init__(node)


def constant(value: Atom, library: PyTree | str = "torch") -> PyNumber:
    """Write a constant of a Program, in the words of a library.

    >>> [str(constant(value)) for value in (sympy.Rational(-1, 3), sympy.pi, -sympy.oo)]
    ['-1 / 3', 'torch.pi', '-torch.inf']
    """
    number = plain(value)
    match value:
        case sympy.Rational(p=p, q=q) if q != 1 and max(abs(p), q) <= _EXACT:
            return PyNumber(number, ast.BinOp(node_of(int(p)), ast.Div(), ast.Name(str(q))))
        case sympy.NumberSymbol():
            return PyNumber(number, f"{library}.{'pi' if value == sympy.pi else 'e'}")
    return PyNumber(number, node_of(number, library))


def node_of(value: LibraryValue, library: PyTree | str = "torch") -> ast.expr:
    """Convert any value of Python to a tree, its infinities in the words of a library.

    >>> [unparsed(node_of(value)) for value in (None, "ij->i", (1,), [1, 2.5], float, -1, ...)]
    ['None', '"ij->i"', '(1,)', '[1, 2.5]', 'float', '-1', '...']
    """
    match value:
        case PyTree():
            return value.node
        case bool() | None:
            return ast.Name(str(value))
        case str():
            is_plain = value.isascii() and value.isprintable() and not set(value) & set("\"'\\")
            return ast.Name(f'"{value}"' if is_plain else repr(value))
        case type():
            return ast.Name(value.__name__)
        case slice():
            ends = (value.start, value.stop, None if value.step == 1 else value.step)
            return ast.Slice(*(None if end is None else node_of(end) for end in ends))
        case tuple() | list():
            nodes = [node_of(one, library) for one in value]
            return ast.List(nodes) if isinstance(value, list) else ast.Tuple(nodes)
    text = "..." if value is Ellipsis else decimal(value, library)
    return ast.UnaryOp(ast.USub(), ast.Name(text[1:])) if text.startswith("-") else ast.Name(text)
