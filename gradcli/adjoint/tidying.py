"""A gradient in fewer and shorter lines of the same values, for people who read it: in explanations and scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradcli.adjoint.gradient import GradientProgram
from gradcli.adjoint.writing import ONE
from gradcli.language.ops import Kind
from gradcli.language.program.movement import Slice, padding
from gradcli.language.program.shapes import shape_of
from gradcli.language.program.wengert import Atom, Builder, Call, Line, Shape, needed


def tidied(found: GradientProgram) -> GradientProgram:
    """Shorten the lines of a gradient: what broadcasting does anyway is left out, and moved elements move once.

    >>> from gradcli.adjoint.gradient import gradient
    >>> from gradcli.language.parsing import parse
    >>> program = parse("sum(x)*2")
    >>> (x,), v = program.variables, sympy.Symbol("v", real=True)
    >>> shapes = {x: (3,), program.lines[0].symbol: (), program.output: (), v: ()}
    >>> found = gradient(program, shapes, [x], {program.output: v})
    >>> [len(one.function(x).lines) for one in (found, tidied(found))]
    [3, 2]
    """
    tidy = _Tidying(found)
    for line in found.program.lines:
        tidy.add(line)
    renamed = tidy.renamed
    of = {symbol: renamed.get(atom, atom) for symbol, atom in found.of.items()}
    adjoints = {renamed.get(atom, atom): renamed.get(bar, bar) for atom, bar in found.adjoints.items()}
    output = renamed.get(found.program.output, found.program.output)
    ends = (output, *(atom for atom in (*of.values(), *adjoints) if atom in tidy.shapes))
    lines = tuple(needed([*tidy.lines.values()], *ends))
    return GradientProgram(replace(found.program, lines=lines, output=output), tidy.shapes, of, adjoints)


@dataclass
class _Tidying:
    """Lines while they are written anew."""

    found: GradientProgram

    def __post_init__(self) -> None:
        program = self.found.program
        self.builder = Builder(program.text, program.source)
        self.shapes: dict[Atom, Shape] = {symbol: self.found.shapes[symbol] for symbol in program.variables}
        self.renamed: dict[Atom, Atom] = {}
        self.lines: dict[Atom, Line] = {}

    def add(self, line: Line) -> None:
        """Append a line, or what is shorter."""
        operands = tuple(self.renamed.get(a, a) for a in line.call.operands)
        call, shape = Call(line.call.op.name, operands, line.call.statics), self.found.shapes[line.symbol]
        for rule in _RULES if operands else ():
            call = rule(self, call, shape)
        is_same = call.op.kind is Kind.MOVEMENT and call.op.keeps_order and self.shape(call.operands[0]) == shape
        if is_same or (call.op.name == "expand" and self.shape(call.operands[0]) == shape):
            self.renamed[line.symbol] = call.operands[0]
            return
        self.builder.part_of = line.part_of
        symbol = self.emit(call, line)
        self.renamed[line.symbol] = symbol
        if line.name and symbol in self.lines and not self.lines[symbol].name:
            self.lines[symbol] = replace(self.lines[symbol], name=line.name)

    def emit(self, call: Call, line: Line) -> Atom:
        """Append a call in the place of a line."""
        symbol = self.builder.emit(call.op.name, call.operands, line.span, call.statics)
        if symbol.is_Symbol and symbol not in self.shapes:
            self.shapes[symbol] = shape_of(call, [self.shape(a) for a in call.operands])
            self.lines[symbol] = self.builder.lines[-1]
        return symbol

    def shape(self, atom: Atom) -> Shape:
        """Return the shape of an operand."""
        return self.shapes.get(atom, ())

    def call_of(self, atom: Atom, *names: str) -> Call | None:
        """Return the call whose value this is, if it is of one of these operations."""
        line = self.lines.get(atom)
        return line.call if line is not None and line.call.op.name in names else None

    # -- rules

    def narrowed(self, call: Call, shape: Shape) -> Call:
        """Leave out of an elementwise operation what broadcasting does anyway."""
        if call.op.kind is not Kind.ELEMENTWISE:
            return call
        operands = [*call.operands]
        for k in range(len(operands)):
            while (inner := self._peeled(operands[k])) is not None:
                others = (self.shape(a) for n, a in enumerate(operands) if n != k)
                if _broadcast(self.shape(inner), *others) != shape:
                    break
                operands[k] = inner
        return Call(call.op.name, tuple(operands), call.statics)

    def _peeled(self, atom: Atom) -> Atom | None:
        """Return what is stretched to this value, or has it but for leading sizes of 1."""
        call = self.call_of(atom, "expand", "reshape", "unsqueeze")
        if call is None:
            return None
        inner = call.operands[0]
        is_stretched = call.op.name == "expand" or _without_ones(self.shape(inner)) == _without_ones(self.shape(atom))
        return inner if is_stretched else None

    def stretched_once(self, call: Call, shape: Shape) -> Call:
        """Stretch what was reshaped, or stretched before, from what it was."""
        while call.op.name == "expand" and (inner := self._peeled(call.operands[0])) is not None:
            if len(self.shape(inner)) > len(shape):
                break
            call = Call("expand", (inner,), (shape,))
        return call

    def reshaped_once(self, call: Call, shape: Shape) -> Call:
        """Reshape once, and take the one position of a slice by its number."""
        if call.op.name != "reshape":
            return call
        while (inner := self.call_of(call.operands[0], "reshape", "unsqueeze", "squeeze", "flatten")) is not None:
            call = Call("reshape", inner.operands, (shape,))
        sliced = self.call_of(call.operands[0], "pad")
        if sliced is None:
            return call
        inside, after = self.shape(sliced.operands[0]), self.shape(call.operands[0])
        cut = [axis for axis, (a, b) in enumerate(padding(inside, sliced)) if a or b]
        if len(cut) != 1 or after[cut[0]] != 1 or (*after[: cut[0]], *after[cut[0] + 1 :]) != shape:
            return call
        (axis,) = cut
        key = (*[Slice(None, None)] * axis, -padding(inside, sliced)[axis][0])
        return Call("index", sliced.operands, (key,))

    def divided(self, call: Call, _: Shape) -> Call:
        """Divide instead of multiplying by a reciprocal, and subtract instead of adding what is negated."""
        first, last = call.operands[0], call.operands[-1]
        if call.op.name == "mul" and (inner := self.call_of(last, "div")) is not None and inner.operands[0] == ONE:
            return Call("div", (first, inner.operands[1]))
        if call.op.name == "add" and (inner := self.call_of(last, "neg")) is not None:
            return Call("sub", (first, inner.operands[0]))
        return call


_RULES: Sequence[Callable[[_Tidying, Call, Shape], Call]] = (
    _Tidying.narrowed,
    _Tidying.stretched_once,
    _Tidying.reshaped_once,
    _Tidying.divided,
)


def _without_ones(shape: Shape) -> Shape:
    return shape if not shape or shape[0] != 1 else _without_ones(shape[1:])


def _broadcast(*shapes: Shape) -> Shape | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
