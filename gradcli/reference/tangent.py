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

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import reduce

import sympy

from gradcli.errors import Span, TooLargeError
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.movement import fill_of
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import MAX_LINES, Atom, Call, Line, Program, Shape
from gradcli.reference.program_writer import NoTangentError, Writer, unroll
from gradcli.reference.rules import partial_of
from gradcli.reference.spectral_lines import spectral_tangent

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
) -> Tangent:
    """The Program of dy = J(x)·u.

    Args:
        program: A Program of primitives.
        shapes: Of its symbols.
        moving: The variables that have a direction; by default all.

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
        unrolled = unroll(program, shapes)
        return _Pass(unrolled, infer(unrolled, variables, bounded=False), moved).found()
    except TooLargeError:
        raise NoTangentError(f"the derivative would take more than {MAX_LINES:,} operations") from None


class _Pass:
    """One pass forward through a Program of primitives, with lines for the values and for their tangents."""

    def __init__(self, program: Program, shapes: Mapping[Atom, Shape], moved: list[sympy.Symbol]) -> None:
        self.program, self.old_shapes = program, shapes
        self.directions: dict[Atom, Atom] = {s: sympy.Symbol(direction_name(str(s)), real=True) for s in moved}
        inputs = {s: shapes[s] for s in program.variables} | {u: shapes[s] for s, u in self.directions.items()}
        self.writer = Writer(program.text, program.source, shapes=inputs)
        self.add = self.writer.add
        self.renamed: dict[Atom, Atom] = {}
        self.tangents = dict(self.directions)
        self.text = program.text

    def found(self) -> Tangent:
        """The Program, its text followed by what the new lines are called in messages."""
        for line in self.program.lines:
            self._line(line)
        output = self.tangents.get(self.program.output, sympy.S.Zero)
        variables = (*self.program.variables, *self.directions.values())
        written = Program(self.text, variables, tuple(self.writer.lines), output, self.program.source)
        self.writer.shape(output)
        return Tangent(written, self.writer.shapes, {str(s): str(u) for s, u in self.directions.items()})

    def _line(self, line: Line) -> None:
        call = line.call
        operands = tuple(self.renamed.get(a, a) for a in call.operands)
        value = self.writer.emit(call.op.name, operands, line.span, call.statics)
        self.renamed[line.symbol] = value
        entering = [self.tangents.get(a) for a in call.operands]
        if all(t is None for t in entering):
            return
        # The new lines are called what is appended to the text here.
        start, self.text = len(self.text) + 1, f"{self.text}\nthe slope of {self.program.excerpt(line)}"
        self.writer.at = Span(start, len(self.text))
        found = self._tangent(Call(call.op.name, operands, call.statics), value, entering)
        if found is not None:
            self.tangents[line.symbol] = self.writer.stretched(found, self.old_shapes[line.symbol])

    def _tangent(self, call: Call, value: Atom, entering: list[Atom | None]) -> Atom | None:
        """The tangent of an operation from those of its operands, None for 0; it may still have to be stretched."""
        first = entering[0]
        match call.op.kind:
            case Kind.COUNT | Kind.SOURCE:
                return None
            case Kind.ELEMENTWISE:
                return self._elementwise(call, value, entering)
            case Kind.LIST:
                return self._list(call, entering)
            case Kind.CONTRACTION:
                (a, b), (of_a, of_b) = call.operands, entering
                terms = [self.add("matmul", of_a, b)] if of_a is not None else []
                terms += [self.add("matmul", a, of_b)] if of_b is not None else []
                return self._sum(terms)
            case Kind.MOVEMENT if first is not None and fill_of(call):
                return self.add("pad", first, *call.statics[:2], 0)
            case Kind.MOVEMENT | Kind.SCAN | Kind.REDUCTION if first is not None and call.op.is_linear:
                return self.add(call.op.name, first, *call.statics)
            case Kind.REDUCTION if first is not None and call.op.monoid is Monoid.PRODUCT:
                return None  # without elements it does not move, and others are written out
            case Kind.MATRIX if first is not None and call.op.keeps_shape:
                return self.add("neg", self.add("matmul", self.add("matmul", value, first), value))
            case Kind.MATRIX if first is not None:  # Jacobi's formula
                transposed = self.add("transpose", self.add("inv", call.operands[0]), -2, -1)
                return self.add("mul", value, self.add("sum", self.add("mul", transposed, first), (-2, -1), False))
            case Kind.SPECTRAL if first is not None:
                return spectral_tangent(self.writer, Line(value, call, self.writer.at), first)
        raise NoTangentError(f"{call.op.name} has no tangent")

    def _elementwise(self, call: Call, value: Atom, entering: list[Atom | None]) -> Atom | None:
        operands = call.operands
        if call.op.is_branch:
            return self._chosen(lambda: operands[0], entering[1:])
        if call.op.is_extreme:
            if operands[0] == operands[1]:
                return entering[0]
            is_first = "ge" if call.op.monoid is Monoid.LARGEST else "le"
            return self._chosen(lambda: self.add(is_first, *operands), entering)
        terms = []
        for k, moved in enumerate(entering):
            parameters, partial = partial_of(call, k) if moved is not None else ((), sympy.S.Zero)
            if partial != 0 and moved is not None:
                symbols = {p: operand for p, operand in zip(parameters, operands, strict=True) if p is not None}
                terms.append(self.writer.write(partial * _TANGENT, {**symbols, _TANGENT: moved}))
        if terms and call.op.outlives_domain:
            terms.append(self.add("mul", sympy.S.Zero, value))
        return self._sum(terms)

    def _chosen(self, condition: Callable[[], Atom], entering: list[Atom | None]) -> Atom | None:
        first, second = (sympy.S.Zero if t is None else t for t in entering)
        return first if first == second else self.add("where", condition(), first, second)

    def _list(self, call: Call, entering: list[Atom | None]) -> Atom:
        """The tangent of a list: those of its entries, zeros for each that does not move."""
        sizes = [self.writer.shape(operand) for operand in call.operands]
        whole = next((shape for shape in sizes if shape), ())
        parts: list[Atom] = []
        for moved, shape in zip(entering, sizes, strict=True):
            if call.op.adds_dimension:  # where one part has a shape, numbers stretch to it
                parts.append(sympy.S.Zero if moved is None else self.writer.stretched(moved, whole))
            else:
                parts.append(self.add("zeros", shape) if moved is None else moved)
        return self.add(call.op.name, *parts, *call.statics)

    def _sum(self, terms: list[Atom]) -> Atom | None:
        return reduce(lambda a, b: self.add("add", a, b), terms) if terms else None
