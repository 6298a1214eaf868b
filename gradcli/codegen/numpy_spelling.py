"""How NumPy is asked for each operation, as text: the counterpart of `gradcli.language.program.numeric`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import sympy

from gradcli.codegen.expressions import ATOM, Piece, Spelling, called, constant, joined, key, negated, sign_of
from gradcli.codegen.literals import held, rule_of, shortest, whole
from gradcli.language.ops import Kind
from gradcli.language.program import constant_tensors
from gradcli.language.program.indexing import Shape
from gradcli.language.program.movement import axes_of, axis_of, fill_of, padding, permutation, rolls
from gradcli.language.program.shapes import axis_of_scan, count_of
from gradcli.language.program.wengert import Atom, Call, Line
from gradcli.results import Array

MATH, SPECIAL = "import math", "from scipy import special  # for functions that NumPy does not have"
"""Imports that only some scripts need."""

_ELSEWHERE: Mapping[str, str] = {
    "erf": "np.vectorize(math.erf, otypes=[float])",
    "erfc": "np.vectorize(math.erfc, otypes=[float])",
    "lgamma": "special.gammaln",
    "erfinv": "special.erfinv",
    "digamma": "special.digamma",
    "i1": "special.i1",
}
"""Functions that NumPy does not have."""


def is_in_numpy(call: Call) -> bool:
    """Whether the operation is written as it is; else its meaning is."""
    return call.op.is_primitive or bool(call.op.numpy)


class NumpySpelling(Spelling):
    """Expressions of NumPy for the lines of a Program."""

    module = "np"

    def array(self, array: Array, name: str) -> str:
        """An array of these numbers; one number is a scalar of NumPy, which divides by 0 without an error.

        Raises:
            TooLargeError: They are many and follow no rule.
        """
        rule = rule_of(array, name, "np.inf", "np.nan")
        options = f", dtype=np.{self.dtype}" * (self.dtype != "float64")
        size = str(rule.shape[0]) if len(rule.shape) == 1 else f"({', '.join(map(str, rule.shape))})"
        match rule.kind:
            case "list" if not rule.shape:
                return f"np.{self.dtype}({rule.text})"
            case "list":
                return f"np.array({rule.text}{options})"
            case "full" if rule.numbers[0] in (0, 1) and not str(rule.numbers[0]).startswith("-"):
                return f"np.{'ones' if rule.numbers[0] else 'zeros'}({size}{options})"
            case "full":
                return f"np.full({size}, {constant(rule.numbers[0], 'np').text}{options})"
            case "eye":
                return f"np.eye({', '.join(map(str, rule.shape))}{options})"
        if rule.kind == "arange":
            numbers = ", ".join(map(repr, shortest(rule.numbers)))
        else:
            numbers = ", ".join(map(whole, rule.numbers))
        text = f"np.{rule.kind}({numbers}{options})"
        return text + f".reshape({', '.join(map(str, rule.shape))})" * (len(rule.shape) > 1)

    def complete(self, atom: Atom, piece: Piece) -> Piece:
        """The same as a number or an array of NumPy."""
        return piece if self.is_array(atom) else called(f"np.{self.dtype}", piece.text)

    def _spelled(self, line: Line, pieces: Sequence[Piece]) -> Piece:
        call = line.call
        op, atoms = call.op, call.operands
        shape = self.shapes.get(atoms[0], ()) if atoms else ()
        if atoms and not any(map(self.is_array, atoms)):
            pieces = [self.complete(atoms[0], pieces[0]), *pieces[1:]]
        match op.kind:
            case Kind.ELEMENTWISE | Kind.CONTRACTION if op.name == "neg" or sign_of(op.name):
                return negated(pieces[0]) if op.name == "neg" else joined(sign_of(op.name), *pieces)
            case Kind.ELEMENTWISE:
                return self._elementwise(call, pieces)
            case Kind.LIST:
                return self._list(call, pieces)
            case Kind.COUNT:
                self.counts.add(line.symbol)
                return self._count(call, pieces[0], shape)
            case Kind.SOURCE:
                return Piece(self.array(held(constant_tensors.array_of(call), self.dtype), f"{op.name}(...)"))
            case Kind.MOVEMENT:
                return self._moved(call, pieces[0], shape, self.shapes[line.symbol])
            case Kind.REDUCTION:
                axes = axes_of(shape, call.statics[0])
                is_all = axes == tuple(range(len(shape)))
                axis = "" if is_all else f"axis={axes[0] if len(axes) == 1 else axes}"
                return called(f"np.{op.numpy}", pieces[0].text, axis, "keepdims=True" * bool(call.statics[1]))
            case Kind.SCAN:
                along = axis_of_scan(call, shape)
                return pieces[0] if along is None else called(f"np.{op.numpy}", pieces[0].text, f"axis={along}")
        return called(f"np.{op.numpy}", pieces[0].text)

    def _elementwise(self, call: Call, pieces: Sequence[Piece]) -> Piece:
        name = call.op.name
        texts = [piece.text for piece in pieces]
        if name == "detach":
            return pieces[0]
        if name == "polygamma":
            self.imports.add(SPECIAL)
            return called("special.polygamma", str(call.statics[0]), *texts)
        if name in _ELSEWHERE:
            self.imports.add(MATH if "math." in _ELSEWHERE[name] else SPECIAL)
            return called(_ELSEWHERE[name], *texts)
        return called(f"np.{call.op.numpy}", *texts)

    def _list(self, call: Call, pieces: Sequence[Piece]) -> Piece:
        shapes = {self.shapes.get(a, ()) for a in call.operands}
        texts = ", ".join(piece.text for piece in pieces)
        axis = f"axis={call.statics[0]}" * (call.statics[0] != 0)
        if call.op.name == "cat":
            return called("np.concatenate", f"[{texts}]", axis)
        if len(shapes) > 1:
            return called("np.stack", called("np.broadcast_arrays", texts).text, axis)
        if axis or any(isinstance(a, sympy.Symbol) for a in call.operands):
            return called("np.stack", f"[{texts}]", axis)
        return called("np.array", f"[{texts}]", f"dtype=np.{self.dtype}")

    def _count(self, call: Call, piece: Piece, shape: Shape) -> Piece:
        axes = axes_of(shape, call.statics[0])
        is_one = call.operands[0] in self.pieces and (call.statics[0] is None or len(axes) == 1)
        if not is_one:
            return Piece(str(count_of(shape, call.statics[0])))
        return Piece(f"{piece.at(ATOM)}.{'size' if call.statics[0] is None else f'shape[{axes[0]}]'}")

    def _moved(self, call: Call, x: Piece, shape: Shape, result: Shape) -> Piece:
        name, statics = call.op.name, call.statics
        match name:
            case "index":
                return Piece(f"{x.at(ATOM)}[{key(statics[0])}]")
            case "transpose" | "permute":
                order = permutation(shape, call)
                return Piece(f"{x.at(ATOM)}.T") if order == (1, 0) else called("np.transpose", x.text, _tuple(order))
            case "reshape" | "flatten" | "squeeze" | "unsqueeze":
                return called("np.reshape", x.text, _tuple(result))
            case "expand":
                return called("np.broadcast_to", x.text, _tuple(result))
            case "flip":
                return called("np.flip", x.text, f"axis={_tuple(axes_of(shape, statics[0]))}")
            case "roll" if statics[1] is None:
                return called("np.roll", x.text, _tuple(statics[0]))
            case "roll":
                axes, shifts = zip(*rolls(shape, call), strict=True)
                return called("np.roll", x.text, _tuple(shifts), f"axis={_tuple(axes)}")
            case "pad":
                return _padded(x, padding(shape, call), fill_of(call))
            case "diagonal":
                offset, first, second = statics
                axes = axis_of(shape, first), axis_of(shape, second)
                return called("np.diagonal", x.text, _offset(offset, shape), *map(str, axes))
        return called(f"np.{name}", x.text, _offset(statics[0], shape) * (statics[0] != 0))


def _tuple(sizes: Hashable) -> str:
    """A size, or a tuple of several."""
    if isinstance(sizes, tuple):
        return str(sizes[0]) if len(sizes) == 1 else str(tuple(sizes))
    return str(sizes)


def _offset(offset: Hashable, shape: Shape) -> str:
    """A diagonal; of one beyond all elements, NumPy takes no large number."""
    most = sum(shape) + 1
    return str(min(max(int(str(offset)), -most), most))


def _padded(x: Piece, pairs: Sequence[tuple[int, int]], fill: float) -> Piece:
    """Elements before and after each dimension; what a negative number takes away is cut off first."""
    cuts = [f"{max(0, -before) or ''}:{min(0, after) or ''}" for before, after in pairs]
    if any(cut != ":" for cut in cuts):
        x = Piece(f"{x.at(ATOM)}[{', '.join(cuts)}]")
    widths = [(max(0, before), max(0, after)) for before, after in pairs]
    value = f"constant_values={constant(fill, 'np').text}" * (fill != 0)
    return called("np.pad", x.text, str(widths), value)
