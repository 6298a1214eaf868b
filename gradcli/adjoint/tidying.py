"""A gradient in fewer and shorter lines of the same values, for people who read it: in explanations and scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy

from gradcli.adjoint.gradient import GradientProgram
from gradcli.adjoint.writing import ONE, ZERO
from gradcli.language.ops import Kind
from gradcli.language.program.movement import Slice, axes_of, padding
from gradcli.language.program.shapes import count_of, shape_of
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
        self.uses = Counter(a for line in program.lines for a in line.call.operands)
        self.uses[program.output] += 1
        self.used_once: set[Atom] = set()
        self.known: set[Atom] = set()
        self.lines: dict[Atom, Line] = {}

    def add(self, line: Line) -> None:
        """Append a line, or what is shorter."""
        operands = tuple(self.renamed.get(a, a) for a in line.call.operands)
        call, shape = Call(line.call.op.name, operands, line.call.statics), self.found.shapes[line.symbol]
        for rule in _RULES if operands else ():
            call = rule(self, call, shape)
        self.builder.part_of = line.part_of
        same = self.unchanged(call, shape) if operands else None
        symbol = self.renamed[line.symbol] = self.emit(call, line) if same is None else same
        is_new = same is None and symbol not in self.known
        (self.used_once.add if is_new and self.uses[line.symbol] == 1 else self.used_once.discard)(symbol)
        self.known.add(symbol)
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
        line = self.lines.get(atom)
        is_kept = line is not None and line.call.op.kind is Kind.REDUCTION and line.call.statics[1]
        if line is not None and is_kept and set(self.shape(atom)) == {1}:
            return self.emit(Call(line.call.op.name, line.call.operands, (None, False)), line)
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
        """Reshape once; take the one position of a slice by its number; keep no dimension that is dropped."""
        if call.op.name != "reshape":
            return call
        while (inner := self.call_of(call.operands[0], "reshape", "unsqueeze", "squeeze", "flatten")) is not None:
            call = Call("reshape", inner.operands, (shape,))
        line, before = self.lines.get(call.operands[0]), self.shape(call.operands[0])
        if line is not None and line.call.op.kind is Kind.REDUCTION and line.call.statics[1]:
            axes = axes_of(self.shape(line.call.operands[0]), line.call.statics[0])
            if tuple(size for d, size in enumerate(before) if d not in axes) == shape:
                return Call(line.call.op.name, line.call.operands, (line.call.statics[0], False))
        if line is not None and line.call.op.name == "index":
            return self._position(call, line.call, shape)
        added = [d for d, size in enumerate(shape) if size == 1 and (*shape[:d], *shape[d + 1 :]) == before]
        return Call("unsqueeze", call.operands, (added[0],)) if added else call

    def _position(self, call: Call, sliced: Call, shape: Shape) -> Call:
        """Take the one position of a slice by its number."""
        key, after = sliced.statics[0], self.shape(call.operands[0])
        cut = [axis for axis, one in enumerate(key) if one != Slice(None, None)]
        if len(cut) != 1 or not isinstance(key[cut[0]], Slice) or after[cut[0]] != 1:
            return call
        (axis,) = cut
        if (*after[:axis], *after[axis + 1 :]) != shape or (*key[axis + 1 :],) != (Slice(None, None),) * (
            len(key) - axis - 1
        ):
            return call
        inside = self.shape(sliced.operands[0])[axis]
        start, _, _ = slice(key[axis].start, key[axis].stop).indices(inside)
        return Call("index", sliced.operands, ((*key[:axis], start),))

    def sliced(self, call: Call, _: Shape) -> Call:
        """Slice instead of padding by less than nothing."""
        if call.op.name != "pad":
            return call
        inside = self.shape(call.operands[0])
        pairs = padding(inside, call)
        if any(a > 0 or b > 0 for a, b in pairs) or not any(a or b for a, b in pairs):
            return call
        ends = [Slice(-a or None, size + b if b else None) for size, (a, b) in zip(inside, pairs, strict=True)]
        while ends[-1] == Slice(None, None):
            ends.pop()
        return Call("index", call.operands, (tuple(ends),))

    def folded(self, call: Call, _: Shape) -> Call:
        """Name the dimensions of a sum, or another fold, as briefly as can be."""
        if call.op.kind is not Kind.REDUCTION:
            return call
        dims, kept = call.statics
        axes = axes_of(self.shape(call.operands[0]), dims)
        is_whole = len(axes) == len(self.shape(call.operands[0]))
        return Call(call.op.name, call.operands, (None if is_whole else axes[0] if len(axes) == 1 else dims, kept))

    def simplified(self, call: Call, _: Shape) -> Call:
        """Divide instead of multiplying by a reciprocal, and subtract instead of adding what is negated."""
        first, last = call.operands[0], call.operands[-1]
        inner = self.call_of(last, "div")
        if call.op.name == "mul" and inner is not None and inner.operands[0] == ONE and last in self.used_once:
            return Call("div", (first, inner.operands[1]))
        if call.op.name == "mul" and last.is_Rational and last.p == 1 != last.q:
            return Call("div", (first, sympy.Integer(last.q)))
        if call.op.name == "mul" and first == -ONE:
            return Call("neg", (last,))
        negated = self.call_of(last, "neg")
        if call.op.name == "add" and negated is not None:
            return Call("sub", (first, negated.operands[0]))
        return call

    def _is_mask(self, atom: Atom) -> bool:
        line = self.lines.get(atom)
        return atom in (ZERO, ONE) or (line is not None and line.call.op.is_condition)

    def unchanged(self, call: Call, shape: Shape) -> Atom | None:
        """Return the value that a call leaves as it is, or the number of elements that it counts."""
        first, *others = call.operands
        is_moved = call.op.kind is Kind.MOVEMENT and (call.op.keeps_order or call.op.name in ("expand", "pad"))
        if call.op.kind is Kind.COUNT:
            return sympy.Integer(count_of(self.shape(first), call.statics[0]))
        if is_moved and self.shape(first) == shape:
            is_padded = call.op.name == "pad" and any(a or b for a, b in padding(shape, call))
            return None if is_padded else first
        if all(a.is_number for a in call.operands):
            if call.op.sense:
                return sympy.Integer(int(sympy.sign(first - others[0])) in call.op.sense)
            return first if call.op.is_held else None
        if call.op.is_branch and first.is_number:
            taken = others[0] if first != 0 else others[1]
            return taken if self.shape(taken) == shape or all(map(self._is_mask, others)) else None
        neutral = {"mul": ONE, "div": ONE, "add": ZERO, "sub": ZERO}.get(call.op.name)
        if neutral is not None and others[0] == neutral and self.shape(first) == shape:
            return first
        is_second = call.op.coefficients == (1, 1) or call.op.name == "mul"
        return others[0] if is_second and first == neutral and self.shape(others[0]) == shape else None


_RULES: Sequence[Callable[[_Tidying, Call, Shape], Call]] = (
    _Tidying.narrowed,
    _Tidying.stretched_once,
    _Tidying.sliced,
    _Tidying.folded,
    _Tidying.reshaped_once,
    _Tidying.simplified,
)


def _without_ones(shape: Shape) -> Shape:
    return shape if not shape or shape[0] != 1 else _without_ones(shape[1:])


def _broadcast(*shapes: Shape) -> Shape | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
