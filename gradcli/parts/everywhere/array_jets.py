"""A Program of arrays on boxes: jets whose parts are arrays, with an axis for the boxes at the end.

Elementwise operations are those of numbers, on all elements at once; sums and products of matrices are folded by
halves.  So a line through a point of any size costs a few passes over its elements a box, and no line of its own for
each of them.

Sums, products and movements are thus written here and in `scalars`, on purpose: there each number is a line with its
own slopes, which sees that two are the same, and so bounds tightly what a few variables do; here an array is one jet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import sympy

from gradcli.arrays import Array
from gradcli.errors import Span
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program import numeric
from gradcli.language.program.movement import axes_of, axis_of, fill_of, sources
from gradcli.language.program.shapes import axis_of_scan, count_of, infer
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, needed
from gradcli.parts.everywhere.box_kinds import Kinds
from gradcli.parts.everywhere.intervals import Interval, point
from gradcli.parts.everywhere.jets import Evaluator, Jet, constant
from gradcli.parts.everywhere.joining_choices import has_row_rule, joins
from gradcli.parts.everywhere.scalars import FOLDS, ScalarProgram, is_length, prepared
from gradcli.parts.everywhere.wholes import whole_of
from gradcli.reference.bounds import NoRuleError
from gradcli.reference.rules import rule_of

AT_ONCE = 2**18
"""Numbers of one line that are evaluated at once: elements, times boxes."""

PART = 4
"""Part of these that one step of a search evaluates, so that its time is kept."""

MOST_KEPT = 256
"""Evaluations of some boxes that are kept."""

MOST_PRODUCTS = 2**22
"""Most products of one multiplication of matrices."""


class ArrayEvaluator(Evaluator):
    """Evaluator of a Program of arrays.

    Args:
        program: The function.
        inputs: The value of each variable; of those that move, any of its shape.
        variables: Those that move, as a Program of numbers has them.

    Raises:
        NoRuleError: An operation has no rule.
    """

    is_of_numbers = False

    def __init__(self, program: Program, inputs: Mapping[str, Array], variables: ScalarProgram) -> None:
        whole = prepared(program)
        self.program, self.source = variables, whole
        self.shapes: Mapping[Atom, Shape] = infer(whole, {s: inputs[str(s)].shape for s in whole.variables})
        self.lines = needed(whole.lines, whole.output)
        self.outputs = (whole.output,)
        held = {s: inputs[str(s)] for s in whole.variables if str(s) not in variables.variables}
        self.constants = {s: constant(point(np.asarray(array, float)[..., None])) for s, array in held.items()}
        numbers = {s: float(array) for s, array in held.items() if not array.shape}
        elementwise = [line for line in self.lines if is_elementwise(line.call)]
        self.continuous = {line.symbol for line in elementwise if joins(line, elementwise, numbers)}
        self.rules = {line.symbol: rule_of(line.call) for line in elementwise if has_row_rule(line.call)}
        self.rules |= {line.symbol: rule_of(line.call) for line in _PAIRS.values() if has_row_rule(line.call)}
        most = max((math.prod(self.shapes.get(line.symbol, ())) for line in self.lines), default=1)
        self.step = max(1, AT_ONCE // max(1, most))
        self.at_once = max(1, min(self.at_once, self.step // PART))
        self.found: dict[tuple[bytes, bytes], list[Jet]] = {}

    def run(self, boxes: Interval, *, is_second: bool = True) -> list[Jet]:
        """Evaluate on boxes of the one number that moves, some at a time: a jet for each element of y.

        What was found of the last boxes is kept, as the searches for the bounds of y and its derivative begin alike.
        """
        key = boxes.low.tobytes(), boxes.high.tobytes()
        kept = self.found.get(key)
        if kept is None or (is_second and kept[0].second is None):
            kept = self.found[key] = self._run(boxes, is_second=is_second)
            if len(self.found) > MOST_KEPT:
                del self.found[next(iter(self.found))]
        return kept

    def _run(self, boxes: Interval, *, is_second: bool) -> list[Jet]:
        count, step = boxes.low.shape[1], self.step
        parts = []
        for first in range(0, count, step):
            some = boxes.select(slice(first, first + step))
            jet = super().run(some, is_second=is_second)[0]
            width = some.low.shape[1]
            parts.append(_each(shaped(jet, (*self.shape, width)), lambda a: a.reshape(-1, a.shape[-1])))
        whole = _joined(parts, -1)
        return [_at(whole, n) for n in range(math.prod(self.shape))]

    @property
    def shape(self) -> Shape:
        """The shape of y."""
        return self.shapes.get(self.source.output, ())

    def known(self, seeds: Mapping[Atom, Jet], *, is_second: bool) -> dict[Atom, Jet]:
        """Evaluate all lines on jets of the variables, each of the shape of its variable and an axis for the boxes."""
        by_name = {str(s): s for s in self.source.variables}
        own = {atoms[()]: by_name[name] for name, atoms in self.program.variables.items() if name in by_name}
        return super().known({own.get(s, s): jet for s, jet in seeds.items()}, is_second=is_second)

    def computed(self, line: Line, known: Mapping[Atom, Jet], *, is_second: bool) -> Jet:
        """Compute a line."""
        call, operands, shape = line.call, self.operands_of(line, known), self.shapes[line.symbol]
        if is_elementwise(call):
            return self.jet_of_line(line, operands, is_second=is_second)
        if call.op.kind is Kind.SOURCE:
            return constant(point(np.asarray(numeric.array_of(call), float)[..., None]), is_second=is_second)
        shapes = [self.shapes.get(a, ()) for a in call.operands]
        if call.op.kind is Kind.COUNT:
            return constant(point(float(count_of(shapes[0], call.statics[0]))), is_second=is_second)
        full = [shaped(one, (*own, width_of(one))) for one, own in zip(operands, shapes, strict=True)]
        match call.op.kind:
            case Kind.LIST:
                return self._listed(call, full, shape)
            case Kind.MOVEMENT:
                return _moved(call, full[0], shapes[0])
            case Kind.REDUCTION:
                rows = _rows(full[0], axes_of(shapes[0], call.statics[0]), shapes[0])
                return self._folded(call.op.folds_by, rows, shape, is_second=is_second)
            case Kind.SCAN:
                return self._scanned(call, full[0], shapes[0], is_second=is_second)
            case Kind.CONTRACTION:
                return self._multiplied(full, shapes, shape, is_second=is_second)
        if is_length(call):
            rows = _rows(full[0], axes_of(shapes[0], call.statics[1]), shapes[0])
            return self._fold_by("hypot", rows, shape, is_second=is_second)
        raise NoRuleError(f"{call.op.name} has no bounds on a box")

    def _pair(self, name: str, a: Jet, b: Jet, *, is_second: bool) -> Jet:
        return self.jet_of_line(_PAIRS[name], [a, b], is_second=is_second)

    def _folded(self, fold: Monoid, rows: Jet, shape: Shape, *, is_second: bool) -> Jet:
        return self._fold_by(FOLDS[fold], rows, shape, is_second=is_second)

    def _fold_by(self, name: str, rows: Jet, shape: Shape, *, is_second: bool) -> Jet:
        """Fold along the first axis: one half with the other, again and again."""
        if not len(rows.kinds):
            return constant(point(float(name == "mul")), is_second=is_second)
        if name == "hypot" and len(rows.kinds) == 1:
            return self.jet_of_line(_ABSOLUTE, [_at(rows, 0)], is_second=is_second)
        while (count := len(rows.kinds)) > 1:
            half = count // 2
            first, second = _at(rows, slice(half)), _at(rows, slice(half, 2 * half))
            joined = self._pair(name, first, second, is_second=is_second)
            joined = shaped(joined, (half, *rows.kinds.shape[1:]))
            rows = _joined([joined, _at(rows, slice(2 * half, None))], 0) if count % 2 else joined
        return _each(rows, lambda a: a[0].reshape(*shape, a.shape[-1]))

    def _listed(self, call: Call, parts: Sequence[Jet], shape: Shape) -> Jet:
        axis, width = axis_of(shape, call.statics[0]), max(width_of(one) for one in parts)
        wide = [shaped(one, (*one.kinds.shape[:-1], width)) for one in parts]
        if call.op.adds_dimension:
            wide = [_each(one, lambda a: np.expand_dims(a, axis)) for one in wide]
        return _joined(wide, axis)

    def _scanned(self, call: Call, a: Jet, shape: Shape, *, is_second: bool) -> Jet:
        axis = axis_of_scan(call, shape)
        if axis is None:
            return a
        moved, parts = _each(a, lambda one: np.moveaxis(one, axis, 0)), list[Jet]()
        for n in range(len(moved.kinds)):
            own = _at(moved, n)
            own = self._pair(FOLDS[call.op.folds_by], parts[-1], own, is_second=is_second) if parts else own
            parts.append(shaped(own, moved.kinds.shape[1:]))
        stacked = _joined([_each(one, lambda a: a[None]) for one in parts], 0)
        return _each(stacked, lambda one: np.moveaxis(one, 0, axis))

    def _multiplied(self, full: Sequence[Jet], shapes: Sequence[Shape], shape: Shape, *, is_second: bool) -> Jet:
        """Multiply matrices: all products, with the axis that they are summed along in front."""
        a, b = full
        left = _each(a, lambda one: one[None]) if len(shapes[0]) == 1 else a
        right = _each(b, lambda one: one[:, None]) if len(shapes[1]) == 1 else b
        left = _each(left, lambda one: np.moveaxis(one, -2, 0)[..., None, :])
        right = _each(right, lambda one: np.moveaxis(one, -3, 0)[..., None, :, :])
        if math.prod(np.broadcast_shapes(left.kinds.shape[:-1], right.kinds.shape[:-1])) > MOST_PRODUCTS:
            raise NoRuleError(f"it has a product of matrices with more than {MOST_PRODUCTS:,} products of numbers")
        products = self._pair("mul", left, right, is_second=is_second)
        size = np.broadcast_shapes(left.kinds.shape, right.kinds.shape)
        return self._fold_by("add", shaped(products, size), shape, is_second=is_second)


def _line_of(name: str, count: int) -> Line:
    operands = tuple(sympy.Dummy(f"a{n}", real=True) for n in range(count))
    return Line(sympy.Dummy(name, real=True), Call(name, operands, ()), Span(0, 0))


_PAIRS = {name: _line_of(name, 2) for name in (*FOLDS.values(), "hypot")}
"""Operations that fold, on two operands."""

_ABSOLUTE = _line_of("abs", 1)


def is_elementwise(call: Call) -> bool:
    """Tell whether an operation maps each element by itself."""
    return call.op.kind is Kind.ELEMENTWISE or whole_of(call) is not None


# -- jets of arrays


def width_of(jet: Jet) -> int:
    """Return the number of boxes along the last axis."""
    every = [jet.value, *jet.slopes.values(), *(jet.second or {}).values()]
    arrays: list[Array | Kinds] = [jet.kinds, *(end for one in every for end in (one.low, one.high))]
    return max(a.shape[-1] if a.ndim else 1 for a in arrays)


def shaped(jet: Jet, shape: tuple[int, ...]) -> Jet:
    """Give all parts a shape, the last axis being that of the boxes."""
    second = None if jet.second is None else {pair: one.spread(shape) for pair, one in jet.second.items()}
    slopes = {i: one.spread(shape) for i, one in jet.slopes.items()}
    return Jet(jet.value.spread(shape), slopes, second, np.broadcast_to(jet.kinds, shape))


def _each(jet: Jet, change: Callable[[Array], Array]) -> Jet:
    """Change the arrays of all parts."""

    def changed(one: Interval) -> Interval:
        low = change(one.low)
        return Interval(low, low if one.low is one.high else change(one.high))

    second = None if jet.second is None else {pair: changed(one) for pair, one in jet.second.items()}
    kinds: Kinds = change(jet.kinds.astype(float)).astype(np.int64)
    return Jet(changed(jet.value), {i: changed(one) for i, one in jet.slopes.items()}, second, kinds)


def _at(jet: Jet, place: int | slice) -> Jet:
    """Select along the first axis."""
    return _each(jet, lambda a: np.asarray(a[place]))


def hull_of(jet: Jet) -> Jet:
    """Join all boxes to one, without slopes."""
    value = Interval(jet.value.low.min(axis=-1, keepdims=True), jet.value.high.max(axis=-1, keepdims=True))
    return Jet(value, {}, None, np.bitwise_or.reduce(jet.kinds, axis=-1, keepdims=True))


def _joined(parts: Sequence[Jet], axis: int) -> Jet:
    """Join jets along an axis; a derivative that one of them lacks is 0 there."""

    def joined(every: Sequence[Interval]) -> Interval:
        wide = [one.spread(part.kinds.shape) for one, part in zip(every, parts, strict=True)]
        low = np.concatenate([one.low for one in wide], axis)
        is_exact = all(one.low is one.high for one in wide)
        return Interval(low, low if is_exact else np.concatenate([one.high for one in wide], axis))

    if len(parts) == 1:
        return parts[0]
    places = sorted({i for one in parts for i in one.slopes})
    pairs = sorted({pair for one in parts for pair in one.second or {}})
    has_second = all(one.second is not None for one in parts)
    second = {pair: joined([one.second_slope(*pair) for one in parts]) for pair in pairs} if has_second else None
    slopes = {i: joined([one.slope(i) for one in parts]) for i in places}
    kinds = np.concatenate([one.kinds for one in parts], axis)
    return Jet(joined([one.value for one in parts]), slopes, second, kinds)


def _rows(jet: Jet, axes: tuple[int, ...], shape: Shape) -> Jet:
    """Arrange the elements along some axes as the first axis."""
    rest = [d for d in range(len(shape)) if d not in axes]
    count = math.prod(shape[d] for d in axes)

    def change(a: Array) -> Array:
        moved = np.transpose(a, (*axes, *rest, len(shape)))
        return moved.reshape(count, *moved.shape[len(axes) :])

    return _each(jet, change)


def _moved(call: Call, a: Jet, shape: Shape) -> Jet:
    """Take each element from its place, or the number that fills."""
    places, fill = sources(call, shape), float(fill_of(call) or 0)
    width, is_filled = a.kinds.shape[-1], (places < 0)[..., None]

    def taken(one: Array) -> Array:
        flat = one.reshape(-1, width)
        return flat[np.maximum(places, 0)] if len(flat) else np.zeros((*places.shape, width), one.dtype)

    moved = _each(a, taken)
    if not is_filled.any():
        return moved
    none = point(0.0)
    second = None if moved.second is None else {p: none.where(is_filled, one) for p, one in moved.second.items()}
    slopes = {i: none.where(is_filled, one) for i, one in moved.slopes.items()}
    kinds = np.where(is_filled, 0, moved.kinds)
    return Jet(point(fill).where(is_filled, moved.value), slopes, second, kinds)
