"""One operation as short mathematics: `t2*b` for terminals of plain characters, `t2·b`, `x²`, `Aᵀ` for people.

For reading, not for reading back: long lists and long keys are shortened.  Names are the caller's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterator, Sequence

import sympy

from gradcli.language.operators import BINARY
from gradcli.language.ops import Kind
from gradcli.language.program.indexing import Slice
from gradcli.language.program.wengert import Atom, Call, number
from gradcli.results import Notation

MOST_OPERANDS = 8
"""Operands of a list from which on its middle is left out."""

_SIGNS = {op: sign for sign, (_, op) in BINARY.items() if sign.isascii() and not sign.isalpha()}
_PRETTY_SIGNS = {"mul": "·", "ge": "≥", "le": "≤", "eq": "=", "ne": "≠", "logical_and": "and", "logical_or": "or"}
_TIGHT = frozenset(["mul", "div"])
"""Signs without blanks around them."""

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_BAR, _OVERLINE = "\N{COMBINING MACRON}", "\N{COMBINING OVERLINE}"


def adjoint_of(name: str) -> Notation:
    """The adjoint of a name: a bar over a letter, over the letter of `t1`, or over the whole of a word.

    >>> adjoint_of("x"), adjoint_of("t1").text
    (Notation(text='adj(x)', pretty='x̄'), 'adj(t1)')
    """
    letter, rest = name[:1], name[1:]
    is_short = not rest or rest.isdigit()
    barred = unicodedata.normalize("NFC", letter + _BAR) + rest if is_short else "".join(c + _OVERLINE for c in name)
    return Notation(f"adj({name})", barred)


def written(call: Call, name: Callable[[Atom], str]) -> Notation:
    """One operation in terms of the names of its operands.

    >>> from gradcli.language.grammar import parse
    >>> [written(line.call, str).pretty for line in parse("2*x**2").lines[:1]]
    ['x²']
    """
    return Notation(_text(call, name, pretty=False), _text(call, name, pretty=True))


def constant(atom: Atom) -> str:
    """A number as short as it can be written: exactly if it is a whole number or a fraction.

    >>> constant(sympy.Rational(1, 3)), constant(sympy.Float(0.5)), constant(sympy.pi)
    ('1/3', '0.5', 'pi')
    """
    if isinstance(atom, sympy.Rational):
        return str(atom) if len(str(atom.p)) + len(str(atom.q)) <= 18 else repr(number(atom)).removesuffix(".0")
    if isinstance(atom, sympy.Float):
        return repr(number(atom)).removesuffix(".0")
    return {sympy.oo: "inf", -sympy.oo: "-inf"}.get(atom, str(atom))


def _text(call: Call, name: Callable[[Atom], str], *, pretty: bool) -> str:
    operands = [_operand(atom, name, pretty=pretty) for atom in call.operands]
    op = call.op.name
    match op, operands:
        case "neg", [x]:
            return f"-{_bracketed(x)}"
        case "pow", [x, n]:
            whole = n.lstrip("-").isdigit()
            if pretty and whole:
                return _bracketed(x) + n.translate(_SUPERSCRIPTS)
            return f"{_bracketed(x)}**{_bracketed(n)}" if not pretty else f"{_bracketed(x)}^{_bracketed(n)}"
        case "matmul", [a, b]:
            return f"{a} @ {b}"
        case _, [a, b] if op in _SIGNS and op != "pow":
            return _joined(op, a, b, pretty=pretty)
        case "abs", [x] if pretty:
            return f"|{x}|"
        case "sqrt", [x] if pretty and x.isidentifier():
            return f"√{x}"
        case "logical_not", [a]:
            return f"not {a}" if pretty else f"~{a}"
        case "index", [x]:
            return f"{x}[{', '.join(_keys(call.statics[0]))}]"
        case "transpose", [x] if call.statics in ((None, None), (-2, -1)):
            return f"{x}ᵀ" if pretty else f"{x}.{'T' if call.statics[0] is None else 'mT'}"
    return _called(call, operands)


def _joined(op: str, a: str, b: str, *, pretty: bool) -> str:
    sign = _PRETTY_SIGNS.get(op, _SIGNS[op]) if pretty else _SIGNS[op]
    if op in ("add", "sub"):
        return f"{a} {sign} {_bracketed(b, of_fractions=False)}"
    if op in _TIGHT:
        return f"{_bracketed(a)}{sign}{_bracketed(b)}"
    return f"{a} {sign} {b}"


def _called(call: Call, operands: Sequence[str]) -> str:
    """`name(operands, statics)`, defaults left out, in the order of the signature."""
    op = call.op
    given = _shortened(list(operands))
    if op.kind is Kind.LIST:
        listed = f"[{', '.join(given)}]"
        is_plain = op.adds_dimension and call.statics == (0,)
        return listed if is_plain else f"{op.name}({listed}{', '.join(['', *_statics(call)])})"
    statics = list(_statics(call))
    if op.has_equation:
        return f"{op.name}({', '.join([*statics, *given])})"
    return f"{op.name}({', '.join([*given, *statics])})"


def _statics(call: Call) -> Iterator[str]:
    for name, value in zip(call.op.statics, call.statics, strict=True):
        default = call.op.statics[name]
        if value == default and type(value) is type(default):
            continue
        shown = _shown(value)
        is_bare = call.op.kind is Kind.SOURCE or name in ("equation", "shape", "dims", "shifts", "pad", "n")
        yield shown if is_bare else f"{name}={shown}"


def _shown(value: Hashable) -> str:
    if isinstance(value, tuple):
        items = _shortened([_shown(item) for item in value])
        return f"({', '.join(items)}{',' * (len(items) == 1)})"
    return repr(value)


def _keys(key: Hashable) -> list[str]:
    items = key if isinstance(key, tuple) else (key,)
    return [str(item) if isinstance(item, Slice | str | int) else repr(item) for item in items]


def _operand(atom: Atom, name: Callable[[Atom], str], *, pretty: bool) -> str:
    if isinstance(atom, sympy.Symbol):
        return name(atom)
    return "π" if pretty and atom == sympy.pi else constant(atom)


def _bracketed(text: str, *, of_fractions: bool = True) -> str:
    """A negative number in brackets, and a fraction where a sign binds its parts as tightly."""
    needs = text.startswith("-") or (of_fractions and "/" in text)
    return f"({text})" if needs else text


def _shortened(items: list[str]) -> list[str]:
    if len(items) <= MOST_OPERANDS:
        return items
    return [*items[: MOST_OPERANDS - 3], "…", *items[-2:]]
