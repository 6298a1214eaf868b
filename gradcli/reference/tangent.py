"""The tangent of a Program as a Program: dy = J(x)·u, so that the derivative of a derivative is one more Jacobian.

Its variables are the old ones and a direction for each x that moves.  The gradient of x -> dy by x is the product of
the Hessian with the direction, which is row i of the Hessian for the direction e_i.

    linear operations   apply themselves to the tangents            matmul   a @ db + da @ b
    elementwise ones    the sum of ∂f/∂x_k * dx_k                   inv      -inv(A) @ dA @ inv(A)
    where, extremes     the tangent of what is taken                det      det(A) * sum(inv(A).T * dA)

A tangent that is 0 everywhere has no line.  Knows no values.
Source: A. Griewank, A. Walther, "Evaluating Derivatives", 2008, chapter 3; the forward mode.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from functools import reduce

import sympy

from gradcli.errors import Span, TooLargeError
from gradcli.language.ops import Kind, Monoid
from gradcli.language.parsing import parse
from gradcli.language.program.movement import fill_of
from gradcli.language.program.shapes import infer, shape_of
from gradcli.language.program.wengert import MAX_LINES, Atom, Builder, Call, Line, Program, Shape
from gradcli.reference.program_writer import NoTangentError, Writer, unroll
from gradcli.reference.rules import partial_of

_TANGENT = sympy.Dummy("tangent", real=True)


@dataclass(frozen=True)
class Tangent:
    """A Program of dy.

    Attributes:
        program: Its output has y's shape.
        shapes: Of all its symbols.
        directions: The name of the direction of each variable that moves, which no user can give to a variable.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    directions: Mapping[str, str]


def direction_name(variable: str) -> str:
    """What the direction of a variable is called: no name of the language has a space."""
    return f"u of {variable}"


def tangent(
    program: Program,
    shapes: Mapping[Atom, Shape],
    moving: Collection[str] | None = None,
    *,
    as_torch: bool = False,
) -> Tangent:
    """The Program of dy = J(x)·u.

    Args:
        program: A Program of primitives.
        shapes: Of its symbols.
        moving: The variables that have a direction; by default all.
        as_torch: Whether derivatives are written as torch computes them, whose rounding then explains torch's numbers;
            the Program may then have defined elementwise operations.

    Raises:
        NoTangentError: an operation has no derivative that is a Program, or there are too many lines.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> found = tangent(program, {program.variables[0]: (3,)})
    >>> found.program.names, [line.call.op.name for line in found.program.lines]
    (('x', 'u of x'), ['pow', 'mul', 'mul'])
    """
    variables = {symbol: shapes[symbol] for symbol in program.variables}
    moved = [symbol for symbol in program.variables if moving is None or str(symbol) in moving]
    try:
        unrolled = unroll(program, shapes, as_torch=as_torch)
        return _Pass(unrolled, infer(unrolled, variables, bounded=False), moved, as_torch).found()
    except TooLargeError:
        raise NoTangentError(f"the derivative would take more than {MAX_LINES:,} operations") from None


@dataclass
class _Pass:
    """One pass forward through a Program of primitives, with lines for the values and for their tangents."""

    program: Program
    old_shapes: Mapping[Atom, Shape]
    moved: list[sympy.Symbol]
    as_torch: bool
    renamed: dict[Atom, Atom] = field(default_factory=dict)
    tangents: dict[Atom, Atom] = field(default_factory=dict)
    shapes: dict[Atom, Shape] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _end: int = 0
    _sized: int = 0

    def __post_init__(self) -> None:
        self.builder = Builder(self.program.text, self.program.source)
        self.writer = Writer(self.builder)
        self._end = len(self.program.text)

    def found(self) -> Tangent:
        """The Program, its text followed by what the new lines are called in messages."""
        directions = {s: sympy.Symbol(direction_name(str(s)), real=True) for s in self.moved}
        self.shapes = {s: self.old_shapes[s] for s in self.program.variables}
        self.shapes |= {u: self.old_shapes[s] for s, u in directions.items()}
        self.tangents = dict(directions)
        for line in self.program.lines:
            self._line(line)
        output = self.tangents.get(self.program.output, sympy.S.Zero)
        text = self.program.text + "".join(self.notes)
        variables = (*self.program.variables, *directions.values())
        written = Program(text, variables, tuple(self.builder.lines), output, self.program.source)
        self._shape(output)
        return Tangent(written, self.shapes, {str(s): str(u) for s, u in directions.items()})

    def _line(self, line: Line) -> None:
        call = line.call
        operands = tuple(self.renamed.get(a, a) for a in call.operands)
        value = self.builder.emit(call.op.name, operands, line.span, call.statics)
        self.renamed[line.symbol] = value
        entering = [self.tangents.get(a) for a in call.operands]
        if all(t is None for t in entering):
            return
        span = self._span(line)
        found = self._tangent(Call(call.op.name, operands, call.statics), value, entering, span)
        if found is not None:
            self.tangents[line.symbol] = self._stretched(found, self.old_shapes[line.symbol], span)

    def _span(self, line: Line) -> Span:
        """The range of a text that names the slope of a line."""
        note = f"\nthe slope of {self.program.excerpt(line)}"
        self.notes.append(note)
        start, self._end = self._end + 1, self._end + len(note)
        return Span(start, self._end)

    def _tangent(self, call: Call, value: Atom, entering: list[Atom | None], span: Span) -> Atom | None:
        """The tangent of an operation from those of its operands, None for 0; it may still have to be stretched."""

        def emit(name: str, *operands: Atom) -> Atom:
            return self.builder.emit(name, operands, span, call.statics)

        first = entering[0]
        match call.op.kind:
            case Kind.COUNT | Kind.SOURCE:
                return None
            case Kind.ELEMENTWISE:
                return self._elementwise(call, value, entering, span)
            case Kind.LIST:
                return self._list(call, entering, span)
            case Kind.CONTRACTION:
                return self._contraction(call, entering, span)
            case Kind.MOVEMENT if first is not None and fill_of(call):
                return self.builder.emit("pad", (first,), span, (*call.statics[:2], 0))
            case Kind.MOVEMENT | Kind.SCAN | Kind.REDUCTION if first is not None and call.op.is_linear:
                return emit(call.op.name, first)
            case Kind.REDUCTION if first is not None and call.op.monoid is Monoid.PRODUCT:
                return self._product(call, first, span)
            case Kind.MATRIX if first is not None:
                return self._matrix(call, value, first, span)
        raise NoTangentError(f"{call.op.name} has no tangent")

    def _elementwise(self, call: Call, value: Atom, entering: list[Atom | None], span: Span) -> Atom | None:
        operands = call.operands
        if call.op.is_branch:
            return self._chosen(lambda: operands[0], entering[1:], span)
        if call.op.is_extreme:
            if operands[0] == operands[1]:
                return entering[0]
            is_first = "ge" if call.op.monoid is Monoid.LARGEST else "le"
            return self._chosen(lambda: self.builder.emit(is_first, operands, span), entering, span)
        terms = []
        if self.as_torch and call.op.slopes_along:
            return self._by_its_value(call, value, entering, span)
        for k, moved in enumerate(entering):
            parameters, partial = partial_of(call, k) if moved is not None else ((), sympy.S.Zero)
            if partial != 0 and moved is not None:
                symbols = {p: operand for p, operand in zip(parameters, operands, strict=True) if p is not None}
                terms.append(self.writer.write(partial * _TANGENT, {**symbols, _TANGENT: moved}, span))
        if terms and call.op.outlives_domain:
            terms.append(self.builder.emit("mul", (sympy.S.Zero, value), span))
        return self._sum(terms, span)

    def _by_its_value(self, call: Call, value: Atom, entering: list[Atom | None], span: Span) -> Atom:
        """The slope in torch's words times the tangent."""
        (text,), (operand,) = call.op.slopes_along, call.op.operands
        slope = parse(text, given=frozenset([operand, "result"]))
        inside: dict[Atom, Atom] = {s: call.operands[0] if str(s) == operand else value for s in slope.variables}
        for part in slope.lines:
            operands = tuple(inside.get(a, a) for a in part.call.operands)
            inside[part.symbol] = self.builder.emit(part.call.op.name, operands, span, part.call.statics)
        (moved,) = entering
        assert moved is not None, "an operation of one operand that does not move"  # noqa: S101
        return self.builder.emit("mul", (inside[slope.output], moved), span)

    def _chosen(self, condition: Callable[[], Atom], entering: list[Atom | None], span: Span) -> Atom | None:
        """The tangent of the operand that is taken."""
        first, second = (sympy.S.Zero if t is None else t for t in entering)
        return first if first == second else self.builder.emit("where", (condition(), first, second), span)

    def _list(self, call: Call, entering: list[Atom | None], span: Span) -> Atom:
        """The tangent of a list: those of its entries, zeros for each that does not move."""
        sizes = [self._shape(operand) for operand in call.operands]
        whole = next((shape for shape in sizes if shape), ())
        parts: list[Atom] = []
        for moved, shape in zip(entering, sizes, strict=True):
            if call.op.adds_dimension:  # where one part has a shape, numbers stretch to it
                parts.append(sympy.S.Zero if moved is None else self._stretched(moved, whole, span))
            else:
                parts.append(self._zeros(shape, span) if moved is None else moved)
        return self.builder.emit(call.op.name, tuple(parts), span, call.statics)

    def _contraction(self, call: Call, entering: list[Atom | None], span: Span) -> Atom | None:
        """The tangent of a bilinear operation by the product rule: a term for each operand that moves."""
        (a, b), (of_a, of_b) = call.operands, entering
        terms = [self.builder.emit("matmul", (of_a, b), span)] if of_a is not None else []
        terms += [self.builder.emit("matmul", (a, of_b), span)] if of_b is not None else []
        return self._sum(terms, span)

    def _matrix(self, call: Call, value: Atom, moved: Atom, span: Span) -> Atom:
        """Jacobi's formula, and the inverse rule."""

        def emit(name: str, *operands: Atom, statics: tuple[Hashable, ...] = ()) -> Atom:
            return self.builder.emit(name, operands, span, statics)

        if call.op.keeps_shape:
            return emit("neg", emit("matmul", emit("matmul", value, moved), value))
        transposed = emit("transpose", emit("inv", call.operands[0]), statics=(-2, -1))
        return emit("mul", value, emit("sum", emit("mul", transposed, moved), statics=((-2, -1), False)))

    def _product(self, call: Call, moved: Atom, span: Span) -> Atom | None:
        """As torch has it: the product over each element; without elements it does not move."""
        if 0 in self._shape(call.operands[0]):
            return None
        whole = self.builder.emit("prod", call.operands, span, (call.statics[0], True))
        others = self.builder.emit("div", (whole, call.operands[0]), span)
        return self.builder.emit("sum", (self.builder.emit("mul", (others, moved), span),), span, call.statics)

    def _sum(self, terms: list[Atom], span: Span) -> Atom | None:
        return reduce(lambda a, b: self.builder.emit("add", (a, b), span), terms) if terms else None

    def _stretched(self, moved: Atom, shape: Shape, span: Span) -> Atom:
        """A tangent in the shape of its line, which one of a smaller operand has not."""
        if self._shape(moved) == shape:
            return moved
        return self.builder.emit("add", (moved, self._zeros(shape, span)), span)

    def _zeros(self, shape: Shape, span: Span) -> Atom:
        return self.builder.emit("zeros", (), span, (shape,))

    def _shape(self, atom: Atom) -> Shape:
        """The shape of a symbol, those of all new lines included."""
        for line in self.builder.lines[self._sized :]:
            self.shapes[line.symbol] = shape_of(line.call, [self.shapes.get(a, ()) for a in line.call.operands])
        self._sized = len(self.builder.lines)
        return self.shapes.get(atom, ())
