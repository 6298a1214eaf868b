"""The derivatives that a Program takes itself as lines of the language: vᵀJ by the chain rule backwards.

Where a snippet goes on with the result of `torch.autograd.grad`, torch differentiates as it does; every other reading
sees these lines, of which the derivative is one more.

    elementwise operations   z̄ * ∂f/∂x, summed over what was stretched      matmul   z̄ @ bᵀ and aᵀ @ z̄
    where, extremes          z̄ where the operand is taken                   inv      -zᵀ @ z̄ @ zᵀ
    movements                back to where the elements came from           det      z̄ * z * inv(A)ᵀ

At a tie of two operands that differ an extreme has no derivative, and the line is NaN there.  Knows no values.
Source: A. Griewank, A. Walther, "Evaluating Derivatives", 2008, chapter 3; M. Giles, 2008, for the matrices.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy

from gradcli.errors import Place, TooLargeError, UnknownFunctionError
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.expansion import expand, rewritten
from gradcli.language.program.movement import (
    Axis,
    Slice,
    axes_of,
    axis_of,
    indexed_axes,
    padding,
    permutation,
    windows_of,
)
from gradcli.language.program.shapes import axis_of_scan, infer
from gradcli.language.program.wengert import Atom, Builder, Call, Line, Program, Shape, show
from gradcli.reference.program_writer import NoTangentError, Writer, unroll
from gradcli.reference.rules import is_power, partial_of
from gradcli.reference.spectral_lines import spectral_adjoint

MOST_ROWS = 100
"""Rows of a Jacobian that is written out, each a pass backwards."""

_ADJOINT = sympy.Dummy("adjoint", real=True)

_ZERO = sympy.S.Zero


def written_out(program: Program, shapes: Mapping[Atom, Shape]) -> Program:
    """The same function with the derivatives that it takes itself as lines of the language.

    Args:
        program: The function.
        shapes: Of its variables, at least.

    Raises:
        UnknownFunctionError: An operation has no adjoint that is a Program.
        TooLargeError: There would be too many lines.
    """
    if not program.takes_derivatives:
        return program
    found = _Writing(program, {symbol: shapes[symbol] for symbol in program.variables}).program()

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        if line.call.op.name == "alias":
            return operands[0]
        return builder.emit(line.call.op.name, operands, line.span, line.call.statics)

    plain = rewritten(found, write, shares=True)
    named = {name: plain.renamed.get(atom, atom) for name, atom in found.named.items()}
    return replace(found, lines=plain.program.lines, output=plain.program.output, named=named)


class _Writing:
    """One pass through a Program, with the lines of its derivatives in their place."""

    def __init__(self, old: Program, shapes: Mapping[Atom, Shape]) -> None:
        self.old, self.renamed = old, dict[Atom, Atom]()
        self.writer = Writer(old.text, old.source, shapes=dict(shapes))

    def program(self) -> Program:
        """The Program, with the names of the old one."""
        for line in self.old.lines:
            operands = tuple(self.renamed.get(a, a) for a in line.call.operands)
            self.writer.at = line.span
            try:
                self.renamed[line.symbol] = self._line(line, operands)
            except NoTangentError as error:
                message = f"a derivative that is differentiated again: {error}"
                raise UnknownFunctionError(message, place=self.old.place(line)) from None
        output = self.renamed.get(self.old.output, self.old.output)
        named = {name: self.renamed.get(atom, atom) for name, atom in self.old.named.items()}
        return replace(self.old, lines=tuple(self.writer.lines), output=output, named=named)

    def _line(self, line: Line, operands: tuple[Atom, ...]) -> Atom:
        match line.call.op.name:
            case "gradient":
                y, x, *given = operands
                v = given[0] if given else self._filled("ones", self.writer.shape(y))
                return self._gradient(y, x, v)
            case "jacobian":
                y, x = operands
                return self._jacobian(y, x, line)
        return self.writer.emit(line.call.op.name, operands, line.span, line.call.statics)

    def _jacobian(self, y: Atom, x: Atom, line: Line) -> Atom:
        """The symbol of ∂y/∂x, of shape y.shape + x.shape: a backward sweep for each element of y."""
        rows, shape = self.writer.shape(y), (*self.writer.shape(y), *self.writer.shape(x))
        count = math.prod(rows)
        if count > MOST_ROWS or count == 0:
            message = f"a Jacobian of {count:,} rows that is computed with; from 1 to {MOST_ROWS} are read"
            raise TooLargeError(message, place=Place(self.old.text, line.span, self.old.source))
        flat = self.writer.add("reshape", y, (count,))
        elements = [self.writer.add("index", flat, (n,)) for n in range(count)]
        parts = [self._gradient(element, x, sympy.S.One) for element in elements]
        return self.writer.add("reshape", self.writer.add("stack", *parts, 0), shape)

    def _gradient(self, y: Atom, x: Atom, v: Atom) -> Atom:
        """The symbol of vᵀJ, of the shape of x: its adjoint after a sweep back from y; zeros if no line leads to x."""
        path, y = self._path(y, x)
        sweep = _Sweep(self.writer, {x, *(line.symbol for line in path)}, {y: v})
        for line in reversed(path):
            sweep.line(line)
        found = sweep.adjoints.get(x)
        return self._filled("zeros", self.writer.shape(x)) if found is None else found

    def _path(self, y: Atom, x: Atom) -> tuple[list[Line], Atom]:
        """The lines between x and y in primitives that have adjoints, and what holds y among them."""
        moving: set[Atom] = {x}
        between = []
        for line in self.writer.made_of(y)[0]:
            if line.symbol != x and not moving.isdisjoint(line.call.operands):
                moving.add(line.symbol)
                between.append(line)
        # Nothing between them: y is x itself, or does not depend on it.
        if not between:
            return [], y
        inside = {line.symbol for line in between}
        ends = dict.fromkeys(a for line in between for a in line.call.operands if a not in inside)
        leaves = tuple(a for a in ends if isinstance(a, sympy.Symbol))
        plain = expand(Program(self.old.text, leaves, tuple(between), y, self.old.source))
        plain = unroll(plain, infer(plain, {symbol: self.writer.shape(symbol) for symbol in leaves}, bounded=False))
        here: dict[Atom, Atom] = {}
        path: dict[Atom, Line] = {}
        moving = {x}
        for line in plain.lines:
            call = Call(line.call.op.name, tuple(here.get(a, a) for a in line.call.operands), line.call.statics)
            atom = here[line.symbol] = self.writer.emit(call.op.name, call.operands, line.span, call.statics)
            if not moving.isdisjoint(call.operands):
                moving.add(atom)
                path[atom] = Line(here[line.symbol], call, line.span)
        return list(path.values()), here.get(plain.output, plain.output)

    def _filled(self, source: str, shape: Shape) -> Atom:
        """Zeros or ones; a plain number where the shape is that of one."""
        if not shape:
            return sympy.S.One if source == "ones" else sympy.S.Zero
        return self.writer.add(source, shape)


@dataclass
class _Sweep:
    """The adjoints of the lines of a path, from the last to the first."""

    writer: Writer
    moving: Collection[Atom]
    adjoints: dict[Atom, Atom]

    def __post_init__(self) -> None:
        self._emit, self.shape = self.writer.add, self.writer.shape

    def line(self, line: Line) -> None:
        """What a line adds to the adjoints of its operands."""
        z = self.adjoints.get(line.symbol)
        if z is None:
            return
        call = line.call
        match call.op.kind:
            case Kind.COUNT | Kind.SOURCE:
                return
            case Kind.ELEMENTWISE:
                found = self._elementwise(line, z)
            case Kind.DERIVATIVE if call.op.name == "alias":
                found = [z]
            case Kind.LIST:
                found = self._list(call, z)
            case Kind.CONTRACTION:
                found = self._contraction(call, z)
            case Kind.MOVEMENT:
                found = [self._back(call, z, self.shape(call.operands[0]))]
            case Kind.SCAN if call.op.is_linear:
                axis = axis_of_scan(call, self.shape(call.operands[0]))
                turned = z if axis is None else self._emit(call.op.name, self._emit("flip", z, (axis,)), axis)
                found = [z if axis is None else self._emit("flip", turned, (axis,))]
            case Kind.REDUCTION if call.op.is_sum:
                found = [self._spread(z, call)]
            case Kind.MATRIX:
                found = [self._matrix(line, z)]
            case Kind.SPECTRAL:
                found = [spectral_adjoint(self.writer, line, z)]
            case _:
                raise NoTangentError(f"{call.op.name} is not read there")
        for operand, part in zip(call.operands, found, strict=True):
            if part is not None and operand in self.moving:
                known = self.adjoints.get(operand)
                self.adjoints[operand] = part if known is None else self._emit("add", known, part)

    def _times(self, a: Atom, b: Atom) -> Atom:
        """A product; 1 leaves the other as it is."""
        if a == 1 or b == 1:
            return b if a == 1 else a
        return self._emit("mul", a, b)

    def _elementwise(self, line: Line, z: Atom) -> list[Atom | None]:
        call = line.call
        operands = call.operands
        if call.op.is_branch:
            chosen = (self._emit("where", operands[0], z, _ZERO), self._emit("where", operands[0], _ZERO, z))
            return [None, *(self._summed(part, operand) for part, operand in zip(chosen, operands[1:], strict=True))]
        if call.op.is_extreme and operands[0] == operands[1]:
            return [z, None]
        if call.op.is_extreme:
            above, below = ("gt", "lt") if call.op.monoid is Monoid.LARGEST else ("lt", "gt")
            return [
                self._summed(self._chosen(first, second, operands, z), operand)
                for first, second, operand in ((above, below, operands[0]), (below, above, operands[1]))
            ]
        found: list[Atom | None] = []
        for k, operand in enumerate(operands):
            if operand not in self.moving:
                found.append(None)
                continue
            if is_power(call) and k == 1:
                found.append(self._summed(self._by_exponent(line, z), operand))
                continue
            parameters, partial = partial_of(call, k)
            symbols = {p: a for p, a in zip(parameters, operands, strict=True) if p is not None}
            found.append(None if partial == 0 else self._summed(self._scaled(partial, symbols, line, z), operand))
        return found

    def _scaled(self, partial: sympy.Expr, symbols: Mapping[sympy.Expr, Atom], line: Line, z: Atom) -> Atom:
        """An adjoint times a slope, which has no value where the operation has none."""
        if z == 1:
            part = self.writer.write(partial, symbols)
        else:
            part = self.writer.write(partial * _ADJOINT, {**symbols, _ADJOINT: z})
        if line.call.op.outlives_domain:
            part = self._emit("add", part, self._emit("mul", _ZERO, line.symbol))
        return part

    def _by_exponent(self, line: Line, z: Atom) -> Atom:
        """Of a power: z̄ * a**b * log(a), which is 0 where a is 0 and b is positive."""
        a, b = line.call.operands
        slope = self._times(z, self._emit("mul", line.symbol, self._emit("log", a)))
        at_zero = self._emit("where", self._emit("gt", b, _ZERO), _ZERO, slope)
        return self._emit("where", self._emit("eq", a, _ZERO), at_zero, slope)

    def _chosen(self, taken: str, other: str, operands: tuple[Atom, ...], z: Atom) -> Atom:
        rest = self._emit("where", self._emit(other, *operands), _ZERO, sympy.nan)
        return self._emit("where", self._emit(taken, *operands), z, rest)

    def _summed(self, part: Atom, operand: Atom) -> Atom:
        """An adjoint in the shape of its operand: summed over what was stretched, or stretched itself."""
        wanted, given = self.shape(operand), self.shape(part)
        extra = len(given) - len(wanted)
        if extra > 0:
            part = self._emit("sum", part, tuple(range(extra)), False)
            given = given[extra:]
        axes = tuple(n for n, (size, one) in enumerate(zip(given[-len(wanted) :], wanted, strict=False)) if one != size)
        if len(given) == len(wanted) and axes and all(wanted[n] == 1 for n in axes):
            return self._emit("sum", part, axes, True)
        return self.writer.stretched(part, wanted)

    def _list(self, call: Call, z: Atom) -> list[Atom | None]:
        """Each part of the list takes its own part of the adjoint."""
        sizes = [self.shape(operand) for operand in call.operands]
        full = max(sizes, key=len)
        is_stack = bool(call.op.adds_dimension)
        axis = axis_of(full, call.statics[0], extra=int(is_stack))
        found: list[Atom | None] = []
        start = 0
        for operand, shape in zip(call.operands, sizes, strict=True):
            width = 1 if is_stack else shape[axis]
            key = (*[Slice(None, None)] * axis, start if is_stack else Slice(start, start + width))
            start += width
            found.append(self._summed(self._emit("index", z, key), operand))
        return found

    def _contraction(self, call: Call, z: Atom) -> list[Atom | None]:
        """Of matrices with their stretched dimensions; a vector is a matrix of one row or column."""
        a, b = call.operands
        of_a, of_b = self.shape(a), self.shape(b)
        a2 = self._emit("reshape", a, (1, *of_a)) if len(of_a) == 1 else a
        b2 = self._emit("reshape", b, (*of_b, 1)) if len(of_b) == 1 else b
        batch = self.shape(z)[: len(self.shape(z)) - (len(of_a) > 1) - (len(of_b) > 1)]
        z2 = self._emit("reshape", z, (*batch, self.shape(a2)[-2], self.shape(b2)[-1]))
        by_a = self._emit("matmul", z2, self._emit("transpose", b2, -2, -1))
        by_b = self._emit("matmul", self._emit("transpose", a2, -2, -1), z2)
        parts = [self._summed(by_a, a2), self._summed(by_b, b2)]
        return [self._emit("reshape", part, shape) for part, shape in zip(parts, (of_a, of_b), strict=True)]

    def _matrix(self, line: Line, z: Atom) -> Atom:
        """The rules of the inverse and of the determinant."""
        if line.call.op.keeps_shape:
            turned = self._emit("transpose", line.symbol, -2, -1)
            return self._emit("neg", self._emit("matmul", self._emit("matmul", turned, z), turned))
        turned = self._emit("transpose", self._emit("inv", line.call.operands[0]), -2, -1)
        scale = self._times(z, line.symbol)
        return self._emit("mul", self._emit("reshape", scale, (*self.shape(scale), 1, 1)), turned)

    def _spread(self, z: Atom, call: Call) -> Atom:
        """The adjoint of a sum at each element that was summed up."""
        shape = self.shape(call.operands[0])
        axes = axes_of(shape, call.statics[0])
        kept = tuple(1 if n in axes else size for n, size in enumerate(shape))
        if not shape:
            return z
        return self._emit("add", z if not self.shape(z) else self._emit("reshape", z, kept), self._emit("zeros", shape))

    def _back(self, call: Call, z: Atom, shape: Shape) -> Atom:
        """The adjoint at the places that its elements came from, 0 elsewhere."""
        statics = call.statics
        match call.op.name:
            case _ if call.op.keeps_order:
                return self._emit("reshape", z, shape)
            case "transpose" | "permute":
                order = permutation(shape, call)
                return self._emit("permute", z, tuple(order.index(n) for n in range(len(order))))
            case "expand":
                return self._summed(z, call.operands[0])
            case "flip" | "tril" | "triu":
                return self._emit(call.op.name, z, *statics)
            case "roll":
                shifts = statics[0]
                return self._emit(
                    "roll", z, tuple(-n for n in shifts) if isinstance(shifts, tuple) else -shifts, statics[1]
                )
            case "pad":
                return self._padded(z, [(-a, -b) for a, b in padding(shape, call)])
            case "windows":
                return self._from_windows(call, z, shape)
            case "index":
                return self._unindexed(z, shape, statics[0])
            case "diag" if len(shape) == 1:
                return self._emit("diagonal", z, statics[0], 0, 1)
            case "diag" | "diagonal" if len(shape) == 2 and tuple(statics[1:]) in ((), (0, 1)):
                square = self._emit("diag", z, statics[0])
                sides = self.shape(square)
                return self._padded(square, [(0, size - side) for size, side in zip(shape, sides, strict=True)])
        raise NoTangentError(f"{call.op.name} of the shape {show(shape)} is not read there")

    def _from_windows(self, call: Call, z: Atom, shape: Shape) -> Atom:
        """The sum over the places in a window: what is at one of them lies step apart in the operand."""
        axis, size, step, dilation = windows_of(shape, call)
        count = self.shape(z)[axis]
        found: Atom | None = None
        for n in range(size):
            key = (*[Slice(None, None)] * axis, Slice(n * dilation, n * dilation + (count - 1) * step + 1, step))
            part = self._unindexed(self._emit("index", z, ("...", n)), shape, key)
            found = part if found is None else self._emit("add", found, part)
        return self._emit("zeros", shape) if found is None else found

    def _unindexed(self, z: Atom, shape: Shape, key: Hashable) -> Atom:
        """Zeros with the adjoint where the index took its elements from."""
        axes, dropped = indexed_axes(shape, key)
        by_source = {axis.source: axis for axis in axes if axis.source >= 0}
        held = {n: by_source.get(n, Axis(n, dropped.get(n, 0), 1, 1)) for n in range(len(shape))}
        part = self._emit("reshape", z, tuple(axis.size for axis in held.values()))
        for n, axis in held.items():
            if axis.places:
                part = self._gathered(part, axis.places, shape[n], n)
                held[n] = Axis(n, 0, 1, shape[n])
            elif axis.step < 0:
                part = self._emit("flip", part, (n,))
                held[n] = Axis(n, axis.start + axis.step * (axis.size - 1), -axis.step, axis.size)
            step = held[n].step
            if step > 1 and axis.size:  # the elements left out are zeros behind each that was taken
                sizes = self.shape(part)
                part = self._emit("reshape", part, (*sizes[: n + 1], 1, *sizes[n + 1 :]))
                part = self._padded(part, [(0, step - 1 if m == n + 1 else 0) for m in range(len(sizes) + 1)])
                part = self._emit("reshape", part, (*sizes[:n], sizes[n] * step, *sizes[n + 1 :]))
        sizes = self.shape(part)
        return self._padded(part, [(held[n].start, size - held[n].start - sizes[n]) for n, size in enumerate(shape)])

    def _gathered(self, part: Atom, places: Sequence[int], size: int, axis: int) -> Atom:
        """What lies at listed positions of a dimension added up at these: the product with rows of ones and zeros."""
        numbers = self._emit("stack", *map(sympy.Integer, places), 0)
        column = self._emit("reshape", self._emit("arange", 0, size, 1), (size, 1))
        ones = self._emit("where", self._emit("eq", column, numbers), sympy.S.One, sympy.S.Zero)
        last = self._emit("transpose", part, axis, -1)
        return self._emit("transpose", self._emit("matmul", last, self._emit("transpose", ones, 0, 1)), axis, -1)

    def _padded(self, part: Atom, pairs: Sequence[tuple[int, int]]) -> Atom:
        if all(pair == (0, 0) for pair in pairs):
            return part
        return self._emit("pad", part, tuple(n for pair in reversed(pairs) for n in pair), "constant", 0)
