"""One operation as short mathematics: `t2*b` for terminals of plain characters, `t2·b`, `x²`, `Aᵀ` for people.

For reading, not for reading back: long lists and long keys are shortened.  Names are the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

import sympy

from gradcli.language.ops import Kind
from gradcli.language.program.movement import Slice
from gradcli.language.program.wengert import Atom, Call, number
from gradcli.notation import Form, Name, Notation, Number, Typed
from gradcli.notation.trees import BRACKETED, LIST, MINUS, NEGATIVE, OVER, PLUS, TIMES, TRANSPOSED, call, joined

_Item = TypeVar("_Item")

MOST_OPERANDS = 8
"""Operands of a list from which on its middle is left out."""

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

_INFIX = {
    "add": PLUS,
    "sub": MINUS,
    "mul": TIMES,
    "div": OVER,
    "matmul": Form("%s @ %s", "%s @ %s", r"%s \, %s"),
    "floor_divide": Form("%s // %s", "%s // %s", r"\left\lfloor %s / %s \right\rfloor"),
    "remainder": Form("%s %% %s", "%s %% %s", r"%s \text{ \%% } %s"),
    "gt": Form("%s > %s", "%s > %s", "%s > %s"),
    "lt": Form("%s < %s", "%s < %s", "%s < %s"),
    "ge": Form("%s >= %s", "%s ≥ %s", r"%s \ge %s"),
    "le": Form("%s <= %s", "%s ≤ %s", r"%s \le %s"),
    "eq": Form("%s == %s", "%s = %s", "%s = %s"),
    "ne": Form("%s != %s", "%s ≠ %s", r"%s \neq %s"),
    "logical_and": Form("%s & %s", "%s and %s", r"%s \text{ and } %s"),
    "logical_or": Form("%s | %s", "%s or %s", r"%s \text{ or } %s"),
}
"""Operations that stand between their operands."""

_POWER = Form("%s**%s", "%s^%s", "%s^{%s}")
_ROOT = Form("sqrt(%s)", "√%s", r"\sqrt{%s}")
_ABSOLUTE = Form("abs(%s)", "|%s|", r"\left|%s\right|")
_NOT = Form("~%s", "not %s", r"\text{not } %s")
_LAST_TRANSPOSED = Form("%s.mT", "%sᵀ", "%s^{T}")
_INDEXED = Form("%s[%s]", "%s[%s]", "%s{[}%s{]}")


def written(call: Call, name: Callable[[Atom], str]) -> Notation:
    """One operation in terms of the names of its operands.

    >>> from gradcli.language.parsing import parse
    >>> [written(line.call, str).pretty for line in parse("2*x**2").lines[:1]]
    ['x²']
    """
    operands = [_operand(atom, name) for atom in call.operands]
    op = call.op.name
    match op, operands:
        case "neg", [x]:
            return NEGATIVE(_bracketed(x))
        case "pow", [x, n]:
            return _power(x, n)
        case "add" | "sub", [a, b]:
            return _INFIX[op](a, _bracketed(b, of_fractions=False))
        case "mul" | "div", [a, b]:
            return _INFIX[op](_bracketed(a), _bracketed(b))
        case _, [a, b] if op in _INFIX:
            return _INFIX[op](a, b)
        case "abs", [x]:
            return _ABSOLUTE(x)
        case "sqrt", [x] if x.pretty.isidentifier():
            return _ROOT(x)
        case "logical_not", [a]:
            return _NOT(a)
        case "index", [x]:
            return _INDEXED(x, Typed(", ".join(_keys(call.statics[0]))))
        case "transpose", [x] if call.statics in ((None, None), (-2, -1)):
            return (TRANSPOSED if call.statics[0] is None else _LAST_TRANSPOSED)(x)
    return _called(call, operands)


def _power(x: Notation, n: Notation) -> Notation:
    """A whole exponent stands above in Unicode too."""
    exponent = n.text
    if not exponent.lstrip("-").isdigit():
        return _POWER(_bracketed(x), _bracketed(n))
    plain = f"({exponent})" if exponent.startswith("-") else exponent
    return Form(f"%s**{plain}", f"%s{exponent.translate(_SUPERSCRIPTS)}", f"%s^{{{exponent}}}")(_bracketed(x))


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


def _called(made: Call, operands: Sequence[Notation]) -> Notation:
    """`name(operands, statics)`, defaults left out, in the order of the signature."""
    op = made.op
    given = _shortened(list(operands), Typed("…"))
    statics = [Typed(shown) for shown in _statics(made)]
    if op.kind is Kind.LIST:
        listed = LIST(joined(given))
        is_plain = op.adds_dimension and made.statics == (0,)
        return listed if is_plain else call(op.name, listed, *statics)
    return call(op.name, *([*statics, *given] if op.has_equation else [*given, *statics]))


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
        items = _shortened([_shown(item) for item in value], "…")
        return f"({', '.join(items)}{',' * (len(items) == 1)})"
    return repr(value)


def _keys(key: Hashable) -> list[str]:
    items = key if isinstance(key, tuple) else (key,)
    return [str(item) if isinstance(item, Slice | str | int) else repr(item) for item in items]


def _operand(atom: Atom, name: Callable[[Atom], str]) -> Notation:
    return Name(name(atom)) if isinstance(atom, sympy.Symbol) else Number(constant(atom))


def _bracketed(operand: Notation, *, of_fractions: bool = True) -> Notation:
    """A negative number in brackets, and a fraction where a sign binds its parts as tightly."""
    needs = operand.text.startswith("-") or (of_fractions and "/" in operand.text)
    return BRACKETED(operand) if needs else operand


def _shortened(items: list[_Item], rest: _Item) -> list[_Item]:
    if len(items) <= MOST_OPERANDS:
        return items
    return [*items[: MOST_OPERANDS - 3], rest, *items[-2:]]
