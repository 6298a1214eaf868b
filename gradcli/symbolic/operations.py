"""One operation: as short mathematics, its local derivative, and in words how an adjoint reaches its operands.

Short mathematics is `t2*b` for terminals of plain characters, `t2·b`, `x²`, `Aᵀ` for people, for reading and not for
reading back: long lists and long keys are shortened.  Names are the caller's.

Elementwise operations are differentiated on scalars, so that x**2 gives 2*x; what maps to one number gives a formula in
index notation, ∂y/∂x[j].
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr

from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.program_text import ProgramText
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, number
from gradcli.notation import Bar, Notation, Spelling, Typed, typesetting
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.origins import NoFormulaError
from gradcli.symbolic.printing import Printed

LONGEST_OPERATION = 80
"""Most characters of a formula that is shown next to numbers."""

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

_UNICODE = {"**": "^", "*": "·", "@": "·", ">=": "≥", "<=": "≤", "==": "=", "!=": "≠", ".T": "ᵀ", ".mT": "ᵀ", "pi": "π"}
"""Mathematical characters by the signs of Python."""

_SIGN = re.compile(
    r"\*\*\(?(?P<power>-?\d+\b(?![./]))\)?|abs\((?P<abs>\w+)\)|sqrt\((?P<root>\w+)\)|adj\((?P<bar>[\w.]+)\)|"
    r"\*\*?|@|[><=!]=|\.m?T\b|\bpi\b"
)

_BY_ELEMENT = " * _ * "
"""Sign of Python in place of ⊙, which binds as a product does."""

_LATEX: Mapping[type[ast.AST], tuple[int, str]] = {
    **{ast.BitOr: (0, r"%s \text{ or } %s"), ast.BitAnd: (0, r"%s \text{ and } %s"), ast.Gt: (0, "%s > %s")},
    **{ast.GtE: (0, r"%s \ge %s"), ast.LtE: (0, r"%s \le %s"), ast.Lt: (0, "%s < %s"), ast.Eq: (0, "%s = %s")},
    **{ast.NotEq: (0, r"%s \neq %s"), ast.Invert: (0, r"\text{not } %s"), ast.Add: (1, "%s + %s")},
    **{ast.Sub: (1, "%s - %s"), ast.USub: (2, "-%s"), ast.Mult: (3, r"%s \cdot %s"), ast.Div: (3, "%s/%s")},
    **{ast.MatMult: (3, r"%s \, %s"), ast.FloorDiv: (3, r"\left\lfloor %s / %s \right\rfloor")},
    **{ast.Mod: (3, r"%s \text{ \%% } %s"), ast.Pow: (5, "%s^{%s}")},
}
"""Binding strength of each operator of Python, and its LaTeX; 6 is a single operand."""

_CALLS = {
    "abs": (6, r"\left|%s\right|"),
    "sqrt": (6, r"\sqrt{%s}"),
    "inv": (5, "%s^{-1}"),
    "outer": (3, r"%s \, %s^{T}"),
}


def _in_latex(node: Any, level: int = 0) -> str:
    """Write a tree of Python's in LaTeX, in brackets where it binds less tightly than a level (`_LATEX`)."""
    own, left, right = 6, 0, 0
    match node:
        case ast.BinOp(ast.BinOp(a, _, ast.Name("_")), _, b):
            own, form, parts, left, right = 3, r"%s \odot %s", [a, b], 2, 4
        case ast.BinOp(a, sign, b) | ast.Compare(a, [sign], [b]):
            (own, form), parts = _LATEX[type(sign)], [a, b]
            left, right = (6, 0) if own == 5 else (min(own, 2), 3 * (own > 0) + isinstance(sign, ast.Div))
        case ast.UnaryOp(sign, a):
            (own, form), parts, left = _LATEX[type(sign)], [a], 3
        case ast.Attribute(ast.Call(ast.Name("inv"), parts), "T"):
            own, form, left = 5, "%s^{-T}", 6
        case ast.Attribute(a, "T" | "mT"):
            own, form, parts, left = 5, "%s^{T}", [a], 6
        case ast.Call(ast.Name("adj"), [a]):
            return Bar(ast.unparse(a)).latex
        case ast.Call(ast.Name(name), parts) if name in _CALLS:
            own, form = _CALLS[name]
            left, right = {"inv": 6, "outer": 2}.get(name, 0), 6
        case ast.Call(ast.Name(name), arguments, keywords):
            words = [typesetting.typed(f"{one.arg}={ast.unparse(one.value)}") for one in keywords]
            return rf"\operatorname{{{typesetting.text(name)}}}({', '.join([*map(_in_latex, arguments), *words])})"
        case ast.Subscript(a, key):
            words = [typesetting.typed(ast.unparse(key).strip("()"))]
            return f"{_in_latex(a, 6)}{{[}}{words[0]}{{]}}"
        case ast.List(parts):
            return f"{{[}}{', '.join(map(_in_latex, parts))}{{]}}"
        case ast.Constant(int() | float() as value):
            return typesetting.number(str(value))
        case _:
            return typesetting.name(ast.unparse(node))
    shown = form % tuple(_in_latex(one, at) for one, at in zip(parts, (left, right), strict=False))
    return shown if own >= level else f"({shown})"


class Operation(Typed):
    """Operation, or equation of adjoints, in the language; for people in mathematical characters.

    >>> Operation("adj(z)@outer(x, A.T@y)*2/n").latex
    '\\\\bar{z} \\\\, x \\\\, (A^{T} \\\\, y)^{T} \\\\cdot 2/n'
    """

    def spelled(self, how: Spelling) -> str:
        """Write the operation as it is typed, or with `·`, `√`, bars and exponents above."""
        if how == "text":
            return re.sub(" ?⊙ ?", "*", self.word)
        if how == "pretty":
            word = re.sub(r"\bouter\((.*), ([\w.]+)\)", r"\1 @ \2.T", self.word)
            return _SIGN.sub(self._in_unicode, word)
        try:
            return _in_latex(ast.parse(self.word.replace("⊙", _BY_ELEMENT), mode="eval").body)
        except SyntaxError:  # what was shortened
            return typesetting.typed(self.word)

    def _in_unicode(self, found: re.Match[str]) -> str:
        match found.lastgroup:
            case "power":
                return found["power"].translate(_SUPERSCRIPTS)
            case "abs" | "root":
                return f"|{found['abs']}|" if found["abs"] else f"√{found['root']}"
            case "bar":
                return Bar(found["bar"]).pretty
        return _UNICODE[found[0]]


def notation_of(call: Call, name: Callable[[Atom], str]) -> Notation:
    """Write one operation in the names of its operands.

    >>> from gradcli.language.parsing import parse
    >>> [notation_of(line.call, str).pretty for line in parse("2*x**2").lines[:1]]
    ['x²']
    """
    names = {atom: name(atom) for atom in call.operands if isinstance(atom, sympy.Symbol)}
    line = Line(sympy.Dummy("line", real=True), call, Span(0, 0))
    text = ProgramText([line], names).expression(line.symbol).text
    if call.op.adds_dimension and call.statics == (0,):
        text = text.removeprefix("stack(").removesuffix(")")
    elif call.op.name == "transpose" and call.statics in ((None, None), (-2, -1)):
        text = f"{next(iter(names.values()))}{'.T' if call.statics[0] is None else '.mT'}"
    shown = text if len(text) <= LONGEST_OPERATION else f"{text[: LONGEST_OPERATION - 1]}…"
    is_typed = re.match(r"(?!(abs|sqrt)\()[\w.]+[(\[]", shown)  # a call, or places
    return (Typed if is_typed else Operation)(shown)


def constant(atom: Atom) -> str:
    """Write a number as short as possible: exactly if it is a whole number or a fraction.

    >>> constant(sympy.Rational(1, 3)), constant(sympy.Float(0.5)), constant(sympy.pi)
    ('1/3', '0.5', 'pi')
    """
    if isinstance(atom, sympy.Rational):
        return str(atom) if len(str(atom.p)) + len(str(atom.q)) <= 18 else repr(number(atom)).removesuffix(".0")
    if isinstance(atom, sympy.Float):
        return repr(number(atom)).removesuffix(".0")
    return {sympy.oo: "inf", -sympy.oo: "-inf"}.get(atom, str(atom))


@dataclass(frozen=True)
class Slope:
    """Local derivative of an elementwise operation by one operand.

    Attributes:
        expression: In symbols called as the operands are.
        alone: By itself.
        factor: As it stands in a product, with parentheses where it needs them.
    """

    expression: Expr
    alone: Notation
    factor: Notation


def slope(call: Call, names: Mapping[Atom, str], operand: Atom) -> Slope | None:
    """Differentiate an elementwise operation of scalars by one operand; None if the derivative has no short form.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> slope(program.lines[0].call, {program.variables[0]: "t1"}, program.variables[0]).factor.pretty
    '2·t1'
    """
    if call.op.branches:
        return None
    found = local(*alone(call, names, [()] * len(call.operands), "line"), names[operand])
    if found is None:
        return None
    ((_, expression),) = found.cases
    factor = Printed(expression, is_factor=True)
    return Slope(expression, Printed(expression), factor) if len(factor.text) <= LONGEST_OPERATION else None


def alone(
    call: Call, names: Mapping[Atom, str], shapes: Sequence[Shape], name: str
) -> tuple[Program, dict[Atom, Shape]]:
    """Make a Program of one line from an operation, with the shapes of its symbols.

    Args:
        call: The operation.
        names: What its operands are called.
        shapes: Of the operands, in order.
        name: What the line is called.
    """
    renamed = {a: sympy.Symbol(names[a], real=True) for a in call.operands if isinstance(a, sympy.Symbol)}
    known = {renamed[a]: shape for a, shape in zip(call.operands, shapes, strict=True) if a in renamed}
    line = Line(sympy.Dummy(name, real=True), call.renamed(renamed), Span(0, 0))
    program = Program("", tuple(known), (line,), line.symbol, assigned=(name,))
    return program, infer(program, known, bounded=False)


def local(program: Program, shapes: Mapping[Atom, Shape], name: str) -> Derivative | None:
    """Derive the formula of a Program of one line by one operand; None if it has none."""
    inside = infer(for_formulas(program), {s: shapes[s] for s in program.variables}, bounded=False)
    try:
        return differentiate(for_formulas(program), inside, sympy.Symbol(name, real=True))
    except NoFormulaError:
        return None


_REDUCED: Mapping[str, str] = {
    "sum": "sum hands its adjoint to every element",
    "mean": "mean hands its adjoint, divided by the count, to every element",
    **dict.fromkeys(("amax", "max"), "0 but for the largest element, which takes the adjoint"),
    **dict.fromkeys(("amin", "min"), "0 but for the smallest element, which takes the adjoint"),
    "trace": "the adjoint goes to every element of the diagonal, 0 elsewhere",
    "cumsum": "every element gets the sum of the adjoint from its own place on",
    "cumprod": "every element gets the sum, from its own place on, of the adjoint times the product of the others",
}


def rule_in_words(made: Call, operand: Atom, names: Mapping[Atom, str], shape: Shape, y: str) -> str:
    """Say how the adjoint of a line reaches one of its operands; empty where the equation says so.

    Args:
        made: The operation.
        operand: One of its operands.
        names: What the operands are called.
        shape: Of the first operand.
        y: What the line is called.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("cumsum(x)")
    >>> (x,) = program.variables
    >>> rule_in_words(program.lines[0].call, x, {x: "x"}, (3,), "y")
    'every element gets the sum of the adjoint from its own place on'
    """
    name = names.get(operand, str(operand))
    if made.op.has_equation:
        return f"the same sum of products, with the adjoint of {y} in the place of {name}"
    if made.op.name == "mean" and made.statics[0] is None:
        return "mean hands its share to every element"
    if made.op.name in _REDUCED:
        return _REDUCED[made.op.name] + _along(made, shape)
    is_moved = made.op.kind is Kind.MOVEMENT and not (made.op.name in ("transpose", "permute") and len(shape) == 2)
    return f"the elements of the adjoint go back to their places in {name}, and add up there" if is_moved else ""


def _along(made: Call, shape: Shape) -> str:
    dim = made.statics[0] if made.statics else None
    if made.op.is_sum and dim is None:
        return ", as v = ones would"
    return "" if dim is None or len(shape) < 2 else f" along dimension {dim}"
