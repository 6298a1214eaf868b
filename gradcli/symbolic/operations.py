"""One operation: as short mathematics, its local derivative, and how the adjoint of a line reaches its operands.

Short mathematics is `t2*b` for terminals of plain characters, `t2·b`, `x²`, `Aᵀ` for people, for reading and not for
reading back: long lists and long keys are shortened.  Names are the caller's.

Elementwise operations are differentiated on scalars, so that x**2 gives 2*x; what maps to one number gives a formula in
index notation, ∂y/∂x[j].  For others there is an equation or plain words: the rules are those of M. Giles, "Collected
matrix derivative results for forward and reverse mode algorithmic differentiation", 2008; z̄ is the adjoint of the line
z.  The numbers that stand beside them are torch's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy
from sympy import Expr

from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.movement import axis_of
from gradcli.language.program.program_text import ProgramText
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, number
from gradcli.notation import (
    BRACKETED,
    MATMUL,
    MINUS,
    NEGATIVE,
    OVER,
    PLUS,
    POINTWISE,
    TIMES,
    TRANSPOSED,
    Digits,
    Named,
    Notation,
    Signs,
    Spelling,
    Typed,
    call,
    joined,
    typesetting,
)
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.origins import NoFormulaError
from gradcli.symbolic.printing import Printed

LONGEST = 80
"""Characters of a formula that still helps beside its numbers."""

_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")

_SIGNS = {"**": ("^", "^"), "*": ("·", r" \cdot "), "@": ("·", r"\,"), ">=": ("≥", r"\ge"), "<=": ("≤", r"\le")}
_SIGNS |= {"==": ("=", "="), "!=": ("≠", r"\neq"), ".T": ("ᵀ", "^{T}"), ".mT": ("ᵀ", "^{T}"), "pi": ("π", r"\pi")}
"""What people write in the place of signs of Python, in Unicode and in LaTeX."""

_SIGN = re.compile(
    r"\*\*\(?(?P<power>-?\d+\b(?![./]))\)?|abs\((?P<abs>\w+)\)|sqrt\((?P<root>\w+)\)|\*\*?|@|[><=!]=|\.m?T\b|[^\W\d]\w*"
)
_TYPED = re.compile(r"\b(?!sqrt\(|abs\()\w+\(|[\['\"&|~%]|\*\*(?!\(?-?\d+\b(?![./]))|\de")
"""What LaTeX has as it is typed: calls, lists, words, logic, powers by what is no whole number, exponents."""


class Operation(Typed):
    """An operation as the language has it, for people with the signs of mathematics."""

    def spelled(self, how: Spelling) -> str:
        """As it is typed, or with `·`, `√` and exponents above."""
        if how == "text" or (how == "latex" and _TYPED.search(self.word)):
            return super().spelled(how)
        return _SIGN.sub(self._in_latex if how == "latex" else self._in_unicode, self.word)

    def _in_unicode(self, found: re.Match[str]) -> str:
        match found.lastgroup:
            case "power":
                return found["power"].translate(_SUPERSCRIPTS)
            case "abs" | "root":
                return f"|{found['abs']}|" if found["abs"] else f"√{found['root']}"
        return _SIGNS.get(found[0], found)[0]

    def _in_latex(self, found: re.Match[str]) -> str:
        match found.lastgroup:
            case "power":
                return f"^{{{found['power']}}}"
            case "abs":
                return rf"\left|{typesetting.name(found['abs'])}\right|"
            case "root":
                return rf"\sqrt{{{typesetting.name(found['root'])}}}"
        return _SIGNS[found[0]][1] if found[0] in _SIGNS else typesetting.name(found[0])


def written(call: Call, name: Callable[[Atom], str]) -> Notation:
    """One operation in terms of the names of its operands.

    >>> from gradcli.language.parsing import parse
    >>> [written(line.call, str).pretty for line in parse("2*x**2").lines[:1]]
    ['x²']
    """
    names = {atom: name(atom) for atom in call.operands if isinstance(atom, sympy.Symbol)}
    line = Line(sympy.Dummy("line", real=True), call, Span(0, 0))
    text = ProgramText([line], names).expression(line.symbol).text
    if call.op.adds_dimension and call.statics == (0,):
        text = text.removeprefix("stack(").removesuffix(")")
    elif call.op.name == "transpose" and call.statics in ((None, None), (-2, -1)):
        text = f"{next(iter(names.values()))}{'.T' if call.statics[0] is None else '.mT'}"
    return Operation(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


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


@dataclass(frozen=True)
class Slope:
    """The local derivative of an elementwise operation by one operand.

    Attributes:
        expression: In symbols called as the operands are.
        alone: By itself.
        factor: As it stands in a product, with parentheses where it needs them.
        is_branch: Whether it is 1 on the branch taken and 0 elsewhere.
    """

    expression: Expr
    alone: Notation
    factor: Notation
    is_branch: bool = False


def slope(call: Call, names: Mapping[Atom, str], operand: Atom) -> Slope | None:
    """The derivative of an elementwise operation of scalars by one operand; None if it has no short form.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> slope(program.lines[0].call, {program.variables[0]: "t1"}, program.variables[0]).factor.pretty
    '2·t1'
    """
    if call.op.branches:
        return _branch(call, names, operand)
    symbols = {a: sympy.Symbol(names[a], real=True) for a in call.operands if isinstance(a, sympy.Symbol)}
    expression = _derivative(call.renamed(symbols), symbols[operand])
    if expression is None:
        return None
    factor = Printed(expression, is_factor=True)
    return Slope(expression, Printed(expression), factor) if len(factor.text) <= LONGEST else None


def alone(
    call: Call, names: Mapping[Atom, str], shapes: Sequence[Shape], name: str
) -> tuple[Program, dict[Atom, Shape]]:
    """One operation as a Program of one line, with the shapes of its symbols.

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
    """The formula of a Program of one line by one operand; None if it has none."""
    inside = infer(in_primitives(program), {s: shapes[s] for s in program.variables}, bounded=False)
    try:
        return differentiate(in_primitives(program), inside, sympy.Symbol(name, real=True))
    except NoFormulaError:
        return None


@lru_cache(maxsize=1024)
def _derivative(call: Call, by: sympy.Symbol) -> Expr | None:
    program, shapes = alone(call, {a: str(a) for a in call.operands}, [()] * len(call.operands), "line")
    found = local(program, shapes, str(by))
    return None if found is None else found.cases[0][1]


def _branch(call: Call, names: Mapping[Atom, str], operand: Atom) -> Slope | None:
    """Of a choice: 1 where the operand is chosen."""
    of = dict(zip(call.op.operands, call.operands, strict=True))
    decides, _, other_one = (of[name] for name in call.op.branches)
    condition, inverse = names.get(decides, ""), operand == other_one
    if not condition or call.operands.count(operand) > 1:
        return None
    chosen, other = int(not inverse), int(inverse)
    shown = f"{chosen} where %s, else {other}"
    words = Signs(shown, shown, rf"{chosen} \text{{ where }} %s, \text{{ else }} {other}")(Named(condition))
    return Slope(sympy.nan, words, BRACKETED(words), is_branch=True)


MOST_SLICES = 3
"""Places in a list of one operand up to which each is written."""

_REDUCED: Mapping[str, str] = {
    "sum": "sum hands its adjoint to every element",
    "mean": "mean hands its adjoint, divided by the count, to every element",
    **dict.fromkeys(("amax", "max"), "0 but for the largest element, which takes the adjoint"),
    **dict.fromkeys(("amin", "min"), "0 but for the smallest element, which takes the adjoint"),
    "trace": "the adjoint goes to every element of the diagonal, 0 elsewhere",
    "cumsum": "every element gets the sum of the adjoint from its own place on",
    "cumprod": "every element gets the sum, from its own place on, of the adjoint times the product of the others",
}

_OUTER = Signs("outer(%s, %s)", "%s · %sᵀ", r"%s \, %s^{T}")
_SLICE = Signs("%s[%s]", "%s[%s]", "%s{[}%s{]}")


@dataclass(frozen=True)
class AdjointRule:
    """An equation for what one line adds to the adjoint of an operand, or words; both may be missing."""

    equation: Notation | None = None
    words: str = ""


def rule(
    made: Call, operand: Atom, names: Mapping[Atom, str], shapes: Sequence[Shape], y: str, z: Notation
) -> AdjointRule:
    """How the adjoint of a line reaches one of its operands.

    Args:
        made: The operation.
        operand: One of its operands.
        names: What the operands are called.
        shapes: Of the operands, in order.
        y: What the line is called.
        z: The adjoint of the line.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("A @ x")
    >>> A, x = program.variables
    >>> z = Signs("adj(z)", "z̄", r"\\bar{z}")()
    >>> rule(program.lines[0].call, x, {A: "A", x: "x"}, [(2, 3), (3,)], "z", z).equation.pretty
    'Aᵀ · z̄'
    """
    op = made.op
    places = [n for n, atom in enumerate(made.operands) if atom == operand]
    labels = [names.get(atom, str(atom)) for atom in made.operands]
    operands = [Named(label) for label in labels]
    if op.kind is Kind.CONTRACTION and len(places) == 1:
        return _product(places[0], operands, shapes, z)
    if op.kind is Kind.LIST:
        return _listed(made, places, shapes, z)
    if op.name in ("transpose", "permute") and len(shapes[0]) == 2:
        return AdjointRule(TRANSPOSED(z))
    if op.has_equation:
        return AdjointRule(
            words=f"the same sum of products, with the adjoint of {y} in the place of {labels[places[0]]}"
        )
    equation = _equation(made, places[0], operands, shapes, Named(y), z) if len(places) == 1 else None
    if equation is not None:
        return AdjointRule(equation)
    if op.name == "mean" and made.statics[0] is None:
        return AdjointRule(OVER(z, Digits(str(math.prod(shapes[0])))), "mean hands its share to every element")
    if op.name in _REDUCED:
        return AdjointRule(words=_REDUCED[op.name] + _along(made, shapes[0]))
    if op.kind is Kind.MOVEMENT:
        return AdjointRule(
            words=f"the elements of the adjoint go back to their places in {labels[0]}, and add up there"
        )
    return AdjointRule()


def _equation(
    made: Call, place: int, operands: Sequence[Notation], shapes: Sequence[Shape], y: Notation, z: Notation
) -> Notation | None:
    """What z = f(a, b), called y here, adds to the adjoint of the operand at a place; None without such a rule."""
    # The dimension of a sum that keeps it, where there are several.
    kept = [Typed(f"dim={made.statics[0]}"), Typed("keepdim=True")] if len(shapes[0]) > 1 and made.statics else []
    match made.op.name, place, operands:
        case ("dot", 0, [_, b]) | ("dot", 1, [b, _]):
            return TIMES(z, b)
        case "outer", 0, [_, b]:
            return MATMUL(z, b)
        case "outer", 1, [a, _]:
            return MATMUL(TRANSPOSED(z), a)
        case "softmax", _, _:
            weighted = call("sum", POINTWISE(z, y), *kept)
            return POINTWISE(y, BRACKETED(MINUS(z, weighted)))
        case "log_softmax", _, _:
            return MINUS(z, TIMES(call("exp", y), call("sum", z, *kept)))
        case "det", _, [a]:
            return TIMES(TIMES(z, y), _inverse_transposed(a))
        case "logdet", _, [a]:
            return TIMES(z, _inverse_transposed(a))
        case "inv", _, _:
            return NEGATIVE(MATMUL(MATMUL(TRANSPOSED(y), z), TRANSPOSED(y)))
        case "solve", 0, [a, _] if len(shapes[1]) == 1:
            return NEGATIVE(_OUTER(MATMUL(_inverse_transposed(a), z), y))
        case "solve", 0, [a, _]:
            return NEGATIVE(MATMUL(MATMUL(_inverse_transposed(a), z), TRANSPOSED(y)))
        case "solve", 1, [a, _]:
            return MATMUL(_inverse_transposed(a), z)
    return None


def _inverse_transposed(a: Notation) -> Notation:
    return TRANSPOSED(call("inv", a))


def _along(made: Call, shape: Shape) -> str:
    dim = made.statics[0] if made.statics else None
    if made.op.is_sum and dim is None:
        return ", as v = ones would"
    return "" if dim is None or len(shape) < 2 else f" along dimension {dim}"


def _product(place: int, operands: Sequence[Notation], shapes: Sequence[Shape], z: Notation) -> AdjointRule:
    """Of a matrix product, by the dimensions of its two operands."""
    a, b = operands
    key = place, min(len(shapes[0]), 3), min(len(shapes[1]), 3)
    vectors = {(0, 1, 1): TIMES(z, b), (1, 1, 1): TIMES(z, a), (0, 1, 2): MATMUL(b, z)}
    vectors |= {(0, 2, 1): _OUTER(z, b), (1, 1, 2): _OUTER(a, z)}
    words = "" if key in vectors or max(key) < 3 else "matrix by matrix, summed over what was stretched"
    return AdjointRule(vectors.get(key) or (MATMUL(TRANSPOSED(a), z) if place else MATMUL(z, TRANSPOSED(b))), words)


def _listed(made: Call, places: Sequence[int], shapes: Sequence[Shape], z: Notation) -> AdjointRule:
    """Each part of a list takes its own part of the adjoint."""
    full = max(shapes, key=len)
    is_stack = bool(made.op.adds_dimension)
    axis = axis_of(full, made.statics[0], extra=int(is_stack))
    parts: list[Notation] = []
    for place in places:
        start = sum(shape[axis] for shape in shapes[:place]) if not is_stack else place
        key = str(place) if is_stack else f"{start}:{start + shapes[place][axis]}"
        parts.append(_SLICE(z, Typed(f"{':, ' * axis}{key}")))
    if len(parts) > MOST_SLICES:
        return AdjointRule(words="the sum of its parts of the adjoint")
    stretched = is_stack and len(shapes[places[0]]) < len(full)
    return AdjointRule(joined([call("sum", part) for part in parts] if stretched else parts, PLUS))
