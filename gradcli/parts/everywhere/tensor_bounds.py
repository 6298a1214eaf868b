"""Bounds of functions of many numbers, forward: sums, products of matrices, and what maps each element by itself.

The range of each element is cut in pieces, and what depends on that element alone is bounded on each of them, also by
its change from their middles; where elements meet, as in a sum, the pieces are joined.  A tensor whose elements all
have one range is one number there, however many elements it has.  Nothing is searched for: the bounds hold, and are as
wide as sums of such bounds are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy

from gradcli.adjoint.gradient import gradient
from gradcli.arrays import Array
from gradcli.language.program.expansion import expand, without_detach
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Line, Program
from gradcli.parts.everywhere.array_jets import ArrayEvaluator, hull_of, is_elementwise, shaped, width_of
from gradcli.parts.everywhere.intervals import Interval, add, meet, multiply, point, root, subtract, whole_power
from gradcli.parts.everywhere.jets import Jet, variable
from gradcli.parts.everywhere.scalars import ScalarProgram

PIECES = 4096
"""Most pieces of the range of an element."""

AT_ONCE = 2**17
"""Most pieces of all elements of one line."""


class TensorEvaluator(ArrayEvaluator):
    """Evaluator of a Program whose tensors move in ranges of their own.

    Args:
        program: The function.
        inputs: The value of each variable; of those that move, any of its shape.
        low: The lower ends of those that move, each of its shape.
        high: The upper ends.
        most: The most pieces of the range of an element.

    Raises:
        NoRuleError: An operation has no rule.
    """

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Array],
        low: Mapping[str, Array],
        high: Mapping[str, Array],
        most: int = PIECES,
    ) -> None:
        symbols = {name: np.array(sympy.Dummy(name, real=True), object) for name in low}
        super().__init__(program, inputs, ScalarProgram((), np.array([], object), symbols, {}))
        sides = {name: (_uniform(low[name]), _uniform(high[name])) for name in low}
        held = [array for name, array in inputs.items() if name not in low]
        sizes = [array.size for array in (*held, *(end for pair in sides.values() for end in pair))]
        self.pieces = max(1, min(most, AT_ONCE // max([1, *sizes])))
        self.sides = {name: _cut(*pair, self.pieces) for name, pair in sides.items()}
        self.whose: dict[Atom, str] = {}

        self.constants = {symbol: _compressed(jet) for symbol, jet in self.constants.items()}

    @np.errstate(all="ignore")  # what is beyond float64 has no end there
    def bounds(self) -> Jet:
        """Bound y: its value, of its shape and one box, and what it may hold."""
        seeds, self.whose = dict[Atom, Jet](), {}
        named = {str(symbol): symbol for symbol in self.source.variables}
        for name, sides in self.sides.items():
            if name in named:
                self.whose[named[name]] = name
                seeds[named[name]] = variable(sides, 0, is_second=False)
        (found,) = self.of_jets(seeds, is_second=False)
        return shaped(self._joined(self.source.output, found), (*self.shape, 1))

    def operands_of(self, line: Line, known: Mapping[Atom, Jet]) -> list[Jet]:
        """Return what a line is computed of: piece by piece where all of it depends on one element, else as wholes."""
        operands = super().operands_of(line, known)
        cut = [a for a in line.call.operands if a in self.whose]
        names, shapes = {self.whose[a] for a in cut}, {self.shapes.get(a, ()) for a in cut}
        if is_elementwise(line.call) and len(names) == 1 and shapes == {self.shapes[line.symbol]}:
            (self.whose[line.symbol],) = names
            return operands
        return [self._joined(a, one) for a, one in zip(line.call.operands, operands, strict=True)]

    def computed(self, line: Line, known: Mapping[Atom, Jet], *, is_second: bool) -> Jet:
        """Compute a line; elements that are all the same are one."""
        found = super().computed(line, known, is_second=is_second)
        return found if is_elementwise(line.call) else _compressed(found)

    def _joined(self, atom: Atom, jet: Jet) -> Jet:
        """Join the pieces of a value, which is bounded by its changes from their middles too."""
        name = self.whose.get(atom)
        if name is None or width_of(jet) == 1:
            return Jet(jet.value, {}, None, jet.kinds)
        pieces, sides = self.pieces, self.sides[name]
        size = (*np.broadcast_shapes(*(a.shape[:-1] for a in _arrays(jet))), 2 * pieces)
        jet = shaped(jet, size)
        own, middle = jet.value.select(slice(pieces)), jet.value.select(slice(pieces, None))
        steps = subtract(sides.select(slice(pieces)), sides.select(slice(pieces, None)))
        near = add(middle, multiply(jet.slope(0).spread(size).select(slice(pieces)), steps))
        is_known = jet.is_continuous[..., :pieces] & jet.is_continuous[..., pieces:]
        value = meet(own, near).where(is_known, own)
        return hull_of(Jet(value, {}, None, jet.kinds[..., :pieces]))


def _arrays(jet: Jet) -> list[Array]:
    """List the parts, each with an axis of boxes."""
    ends = [end for one in (jet.value, *jet.slopes.values()) for end in (one.low, one.high)]
    return [end if end.ndim else end[None] for end in (*ends, jet.kinds.astype(float))]


@np.errstate(all="ignore")
def gradients_of(
    program: Program,
    inputs: Mapping[str, Array],
    low: Mapping[str, Array],
    high: Mapping[str, Array],
    most: int = PIECES,
) -> dict[str, Interval]:
    """Bound the derivatives of a y of one element by the tensors that move, each of its shape; see `TensorEvaluator`.

    Raises:
        NoRuleError: An operation has no rule.
        NoAdjointError: One has no derivative that is a Program.
    """
    whole = expand(without_detach(program)[0])
    shapes = infer(whole, {symbol: inputs[str(symbol)].shape for symbol in whole.variables})
    moving = [symbol for symbol in whole.variables if str(symbol) in low]
    seed = sympy.Symbol("v_of_y", real=True)
    own = shapes.get(whole.output, ())
    found = gradient(whole, {**shapes, seed: own}, moving, {whole.output: seed}, masks=True)
    bounds = {}
    for symbol in moving:
        name, size = str(symbol), (*shapes[symbol], 1)
        given = {**inputs, str(seed): np.ones(own)}
        jet = TensorEvaluator(found.function(symbol), given, low, high, most).bounds()
        bounds[name] = jet.value.spread(size)
    return bounds


def _compressed(jet: Jet) -> Jet:
    """Keep one element of a value whose elements all have the same bounds; others are left alone."""
    parts = _arrays(jet)
    if jet.slopes or max(a.ndim for a in parts) < 2 or not all((a == a.ravel()[:1]).all() for a in parts):
        return jet
    low, high, kinds = (a.ravel()[:1].reshape((1,) * a.ndim) for a in parts)
    return Jet(Interval(low, high), {}, None, kinds.astype(np.int64))


def _uniform(array: Array) -> Array:
    """Keep one element of an array whose elements are all the same."""
    first = array.ravel()[:1]
    is_same = bool(len(first)) and bool((array == first[0]).all())
    return first.reshape((1,) * array.ndim) if is_same else np.asarray(array, float)


def _cut(low: Array, high: Array, pieces: int) -> Interval:
    """Cut ranges in pieces along a new last axis, and list their middles after them, as points."""
    low, high = (np.asarray(end, float) for end in np.broadcast_arrays(low, high))
    parts = np.arange(1, pieces) / pieces
    inner = low[..., None] + (high[..., None] / 2 - low[..., None] / 2) * (2 * parts)
    inner = np.clip(inner, low[..., None], high[..., None])
    ends = np.concatenate([low[..., None], inner, high[..., None]], axis=-1)
    first, last = ends[..., :-1], np.maximum(ends[..., :-1], ends[..., 1:])
    middle = np.clip(first / 2 + last / 2, first, last)
    return Interval(np.concatenate([first, middle], -1), np.concatenate([last, middle], -1))


@np.errstate(all="ignore")
def norms_of(gradients: Mapping[str, Interval]) -> dict[str, float]:
    """Bound the Lipschitz constants of a number by the norms of the changes: 1, 2 and inf."""
    sizes = np.concatenate([one.largest.ravel() for one in gradients.values()])
    return {"1": float(sizes.max()), "2": _length(sizes), "inf": _total(sizes)}


def norms_of_matrix(sizes: Array) -> dict[str, float]:
    """Bound the norms of a matrix whose entries are no larger than these: 1, 2 and inf."""
    columns, rows = (max(map(_total, one)) for one in (sizes.T, sizes))
    both = float(root(multiply(point(columns), point(rows))).high)
    return {"1": columns, "2": min(both, _length(sizes.ravel())), "inf": rows}


def _total(sizes: Array) -> float:
    """Add up numbers that are not negative, rounded up: one half and the other, again and again."""
    while len(sizes) > 1:
        half = (len(sizes) + 1) // 2
        second = np.pad(sizes[half:], (0, 2 * half - len(sizes)))
        sizes = add(point(sizes[:half]), point(second)).high
    return float(sizes[0])


def _length(sizes: Array) -> float:
    """Return the Euclidean norm, rounded up."""
    return float(root(point(_total(whole_power(point(sizes), 2).high))).high)


def hull(bounds: Interval) -> tuple[float, float]:
    """Return the least and the greatest end."""
    return float(bounds.low.min()), float(bounds.high.max())
