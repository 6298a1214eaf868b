"""Append lines to a Program, each with its shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import sympy

from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops import REQUIRED
from gradcli.language.ops.row import SHAPES
from gradcli.language.program.expansion import definition, expand
from gradcli.language.program.shapes import shape_of
from gradcli.language.program.wengert import Atom, Builder, Call, Program, Shape

ZERO, HALF, ONE = sympy.S.Zero, sympy.S.Half, sympy.S.One


class LineWriter:
    """LineWriter of further lines of a Program, in operations of the table.

    Attributes:
        builder: The lines so far.
        shapes: The shape of each variable and line; a number has none.
        span: The range of the text that new lines are said to come from.

    Args:
        program: The Program to begin with; its lines stay as they are.
        shapes: Of its variables and lines.
        keeps_defined: Whether an operation that has a definition is one line; else it is written in primitives.
    """

    def __init__(self, program: Program, shapes: Mapping[Atom, Shape], *, keeps_defined: bool = False) -> None:
        self.keeps_defined = keeps_defined
        self.builder = Builder(program.text, program.source)
        self.builder.retain(program.lines)
        self.shapes: dict[Atom, Shape] = dict(shapes)
        self.span = Span(0, len(program.text))

    def shape(self, atom: Atom) -> Shape:
        """Return the shape of an operand."""
        return self.shapes.get(atom, ())

    def write(self, op: str, *operands: Atom, **constants: object) -> Atom:
        """Append an operation, unless it is there, and return the symbol or number of its value.

        Args:
            op: The name of its row.
            operands: In the order of its signature.
            constants: By name; those left out have their defaults.
        """
        row = ops.ROWS[op]
        given = {**row.statics, **constants}
        if row.of_shapes:
            given[SHAPES] = tuple(map(self.shape, operands))
        statics = tuple(given[name] for name in row.statics)
        if any(one is REQUIRED for one in statics):
            raise TypeError(f"{op} lacks a constant")
        if not row.is_primitive and not self.keeps_defined:
            return self.inline(definition(op, statics, len(operands)), operands)
        return self.append(Call(op, operands, statics))

    def append(self, call: Call) -> Atom:
        """Append a call."""
        found = self.builder.emit(call.op.name, call.operands, self.span, call.statics)
        if found.is_Symbol and found not in self.shapes:
            self.shapes[found] = shape_of(call, [self.shape(a) for a in call.operands])
        return found

    def inline(self, program: Program, operands: Sequence[Atom]) -> Atom:
        """Append the lines of a Program on these operands, which stand for its variables."""
        inside: dict[Atom, Atom] = dict(zip(program.variables, operands, strict=True))
        for line in program.lines:
            inside[line.symbol] = self.append(line.call.renamed(inside))
        return inside.get(program.output, program.output)

    def formula(self, text: str, **operands: Atom) -> Atom:
        """Append a text of the language in primitives, whose names stand for operands."""
        return self.inline(_parsed(text, tuple(operands)), tuple(operands.values()))

    # -- what occurs in many rules; nothing is written for what changes nothing

    def times(self, a: Atom, b: Atom) -> Atom:
        """Multiply."""
        if ONE in (a, b) and self.is_as_wide(b if a == ONE else a, a if a == ONE else b):
            return b if a == ONE else a
        return self.write("mul", a, b)

    def plus(self, a: Atom, b: Atom) -> Atom:
        """Add."""
        return self.write("add", a, b)

    def choose(self, condition: Atom, a: Atom, b: Atom) -> Atom:
        """Take a where a condition is 1, and b where it is 0."""
        if condition in (ONE, ZERO):
            return a if condition == ONE else b
        return self.write("where", condition, a, b)

    def holds(self, mask: Atom) -> Atom:
        """Return a mask of ones and zeros as a condition, which neither of them is near a jump of."""
        return self.write("gt", mask, HALF) if mask.is_Symbol else mask

    def both(self, a: Atom, b: Atom) -> Atom:
        """Return the condition that two hold."""
        if ONE in (a, b):
            return b if a == ONE else a
        return self.holds(self.choose(a, b, ZERO))

    def either(self, a: Atom, b: Atom) -> Atom:
        """Return the condition that one of two holds."""
        if ZERO in (a, b):
            return b if a == ZERO else a
        return self.holds(self.choose(a, ONE, b))

    def is_as_wide(self, a: Atom, b: Atom) -> bool:
        """Tell whether broadcasting b against a keeps the shape of a."""
        return self.shape(b) in ((), self.shape(a))

    def reshape(self, atom: Atom, shape: Shape) -> Atom:
        """View as another shape with as many elements."""
        return atom if self.shape(atom) == shape else self.write("reshape", atom, shape=tuple(shape))

    def expand(self, atom: Atom, shape: Shape) -> Atom:
        """Stretch to a shape, by the rules of broadcasting."""
        if self.shape(atom) == shape:
            return atom
        if not atom.is_Symbol:
            atom = self.write("full", shape=(1,) * len(shape), fill_value=float(atom))
        return self.write("expand", atom, shape=tuple(shape))

    def permute(self, atom: Atom, order: Sequence[int]) -> Atom:
        """Put the dimensions in another order."""
        return atom if [*order] == [*range(len(order))] else self.write("permute", atom, dims=tuple(order))

    def fit(self, atom: Atom, shape: Shape) -> Atom:
        """Sum over what broadcasting stretched from this shape."""
        own = self.shape(atom)
        if own == shape:
            return atom
        lead = len(own) - len(shape)
        axes = (*range(lead), *(d + lead for d, size in enumerate(shape) if size == 1 != own[d + lead]))
        summed = self.write("sum", atom, dim=axes, keepdim=True) if axes else atom
        return self.reshape(summed, shape)

    def pad(self, atom: Atom, axis: int, before: int, after: int, value: float = 0) -> Atom:
        """Put so many elements before and after those along an axis; below 0 it takes as many away."""
        if not before and not after:
            return atom
        pads = (*(0, 0) * (len(self.shape(atom)) - 1 - axis), before, after)
        return self.write("pad", atom, pad=pads, value=value)

    def slice(self, atom: Atom, axis: int, start: int, stop: int) -> Atom:
        """Take the elements from start until before stop along an axis."""
        return self.pad(atom, axis, -start, stop - self.shape(atom)[axis])


@lru_cache(maxsize=512)
def _parsed(text: str, names: tuple[str, ...]) -> Program:
    return expand(parse_meaning(text, names, MappingProxyType({})))
