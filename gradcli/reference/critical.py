"""Where a Program may have no derivative: the elements at or next to a kink, a jump, a pole or an edge of a domain.

A Program of primitives is run once in float64 by NumPy, at many points together.  Every value comes with how far it may
be off: an operation is run again with each operand moved by its own bound, which bounds its change to first order, and
adds its own rounding.  The first axis of every array counts points; it has size 1 where all points have the same.

An element is critical where an expression of `edges`, which the op table has of its operation, vanishes within what
rounding can do to it, where the largest elements tie, and where a value is lost that its operands have.  Nothing is
proven: what is found is what a sample must not leave out.
Source: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.3: running error bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.language import ops
from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program import numeric
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.movement import axes_of, axis_of, fill_of, sources
from gradcli.language.program.shapes import axis_of_scan, count_of
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, number
from gradcli.reference.footprint import Flat
from gradcli.reference.rules import Undefined, is_polynomial, rule_of

Array = npt.NDArray[np.float64]

ULPS = 4 * 2.0**-53
"""What one operation may lose, relative to its result: twice what NumPy's and torch's functions do."""

MOST_BY_BALLS = 2**13
"""Elements of an operation without a NumPy function that are evaluated on balls, a few µs each."""

_UFUNCS = {Monoid.SUM: np.add, Monoid.PRODUCT: np.multiply, Monoid.LARGEST: np.maximum, Monoid.SMALLEST: np.minimum}


@dataclass(frozen=True)
class Estimate:
    """Values, and how far each may be off; None where all are exact."""

    value: Array
    error: Array | None = None

    def like(self, rank: int) -> Estimate:
        """With sizes of 1 before the dimensions of a point, so that it has as many as `rank`."""
        shape = self.value.shape
        full = (shape[0], *(1,) * (rank + 1 - len(shape)), *shape[1:])
        return Estimate(self.value.reshape(full), None if self.error is None else self.error.reshape(full))

    def mapped(self, change: Callable[[Array], Array]) -> Estimate:
        """With the same change of values and bounds."""
        return Estimate(change(self.value), None if self.error is None else change(self.error))


@dataclass(frozen=True)
class Step:
    """A line with its operands, of as many dimensions as it, and its result; None where that cannot be known."""

    line: Line
    operands: tuple[Estimate, ...]
    result: Estimate | None


def steps(
    program: Program,
    shapes: Mapping[Atom, Shape],
    inputs: Mapping[str, npt.NDArray[np.floating]],
    mapped: Sequence[str] = (),
) -> Iterator[Step]:
    """The lines in order, but for those that need what cannot be known.

    Args:
        program: Of primitives.
        shapes: Of its symbols at one point.
        inputs: Of its variables.
        mapped: Those of them whose first axis counts points.
    """
    known: dict[Atom, Estimate] = {}
    for symbol in program.variables:
        array = np.asarray(inputs[str(symbol)], dtype=np.float64)
        known[symbol] = Estimate(array if str(symbol) in mapped else array[None])
    last = {a: n for n, line in enumerate(program.lines) for a in line.call.operands}
    for n, line in enumerate(program.lines):
        operands = [known.get(a) or _constant(a) for a in line.call.operands if a in known or a.is_number]
        if len(operands) == len(line.call.operands):
            with np.errstate(all="ignore"):
                step = _step(line, operands, shapes)
            yield step
            if step.result is not None:
                known[line.symbol] = step.result
        for operand in set(line.call.operands):
            if last[operand] == n:
                known.pop(operand, None)


def _constant(atom: Atom) -> Estimate:
    value = number(atom)
    is_exact = not math.isfinite(value) or (atom.is_Integer and abs(value) < 2**53)
    return Estimate(np.array([value]), None if is_exact else np.array([abs(value) * ULPS / 4]))


def _step(line: Line, operands: list[Estimate], shapes: Mapping[Atom, Shape]) -> Step:
    call, inside = line.call, [shapes.get(a, ()) for a in line.call.operands]
    rank = len(shapes[line.symbol])
    match call.op.kind:
        case Kind.ELEMENTWISE:
            same = tuple(operand.like(rank) for operand in operands)
            return Step(line, same, _elementwise(call, same))
        case Kind.LIST:
            return Step(line, tuple(operands), _listed(call, operands, inside))
        case Kind.CONTRACTION:
            return Step(line, tuple(operands), _product(*operands))
        case Kind.SOURCE:
            return Step(line, (), Estimate(numeric.array_of(call)[None]))
        case Kind.COUNT:
            return Step(line, (), Estimate(np.array([float(count_of(inside[0], call.statics[0]))])))
    return Step(line, tuple(operands), _of_one(call, operands[0], inside[0]))


def changes(function: Callable[[list[Array]], Array], operands: Sequence[Estimate], value: Array) -> Array | None:
    """How far a function moves when its operands do, by their bounds: to first order, each on its own."""
    total: Array | None = None
    for k, operand in enumerate(operands):
        if operand.error is None or not operand.error.any():
            continue
        below, above = (
            function([end if n == k else other.value for n, other in enumerate(operands)])
            for end in (operand.value - operand.error, operand.value + operand.error)
        )
        most = np.fmax(np.abs(below - value), np.abs(above - value))
        total = most if total is None else total + most
    return total


def _elementwise(call: Call, operands: Sequence[Estimate]) -> Estimate | None:
    function = _function(call)
    size = math.prod(np.broadcast_shapes(*(operand.value.shape for operand in operands)))
    if function is None and size > MOST_BY_BALLS:
        return None
    run = function or _by_balls(call)
    value = np.asarray(run([operand.value for operand in operands]), dtype=np.float64)
    own = None if call.op.is_exact else np.abs(value) * ULPS
    return _with_error(value, changes(run, operands, value), own)


def _function(call: Call) -> Callable[[list[Array]], Any] | None:
    """That of NumPy or Python, if one of them has it."""
    if call.op.scipy and not call.op.math:  # by mpmath
        return None
    return lambda values: numeric.CALLS.apply(call, values)


def _by_balls(call: Call) -> Callable[[list[Array]], Any]:
    """The middle of the balls of the rule, one element at a time."""
    rule = rule_of(call)

    def one(*numbers: float) -> float:
        from flint import arb

        outcome = rule.evaluate([arb(a) for a in numbers], "")
        return math.nan if isinstance(outcome, Undefined) else float(outcome.mid())

    return lambda values: np.vectorize(one, otypes=[float])(*values) if values[0].size else values[0]


def _with_error(value: Array, *parts: Array | None) -> Estimate:
    """With the sum of these bounds, which is infinite where it is not known."""
    given = [part for part in parts if part is not None]
    if not given:
        return Estimate(value)
    total = sum(given[1:], start=given[0])
    return Estimate(value, np.broadcast_to(np.where(np.isnan(total), np.inf, total), value.shape))


def _of_one(call: Call, operand: Estimate, shape: Shape) -> Estimate:
    match call.op.kind:
        case Kind.REDUCTION:
            dims = axes_of(shape, call.statics[0])
            options = {"axis": tuple(axis + 1 for axis in dims), "keepdims": call.statics[1]}
            count = math.prod(shape[axis] for axis in dims)
            return _folded(call.op, operand, count, lambda ufunc, array: ufunc.reduce(array, **options))
        case Kind.SCAN:
            along = axis_of_scan(call, shape)
            if along is None:
                return operand
            return _folded(call.op, operand, shape[along], lambda ufunc, array: ufunc.accumulate(array, along + 1))
        case Kind.MATRIX:
            return _of_matrix(call, operand)
        case Kind.SPECTRAL:
            return _of_spectrum(call, operand)
    source = sources(call, shape)
    fill = fill_of(call)

    def take(array: Array, otherwise: float) -> Array:
        flat = array.reshape(len(array), -1)
        if not flat.shape[1]:
            return np.full((len(array), *source.shape), otherwise)
        return np.where(source >= 0, flat[:, source.clip(0)], otherwise)

    return Estimate(take(operand.value, fill), None if operand.error is None else take(operand.error, 0.0))


def _folded(op: Op, operand: Estimate, count: int, fold: Callable[[np.ufunc, Array], Array]) -> Estimate:
    """A reduction or a scan of `count` elements at most, from how a function of two folds along its dimensions."""
    value = np.asarray(fold(_UFUNCS[op.folds_by], operand.value))
    size, error = np.abs(operand.value), operand.error
    match op.monoid:
        case Monoid.SUM:
            given = None if error is None else fold(np.add, error)
            return _with_error(value, given, count * ULPS * fold(np.add, size))
        case Monoid.PRODUCT:
            most = fold(np.multiply, size if error is None else size + error)
            return _with_error(value, most - np.abs(value), count * ULPS * most)
    return _with_error(value, None if error is None else fold(np.maximum, error))


def _listed(call: Call, operands: Sequence[Estimate], shapes: Sequence[Shape]) -> Estimate:
    points = max(len(operand.value) for operand in operands)
    join = np.stack if call.op.adds_dimension else np.concatenate
    full = max(shapes, key=len)
    axis = axis_of(full, call.statics[0], extra=int(call.op.adds_dimension or False)) + 1

    def joined(arrays: Iterator[Array]) -> Array:  # of a stack, numbers are as large as the tensors next to them
        alike = (a.reshape(*a.shape, *[1] * (1 + len(full) - a.ndim)) for a in arrays)
        return join(
            [np.broadcast_to(a, (points, *(full if call.op.adds_dimension else a.shape[1:]))) for a in alike], axis
        )

    errors = (np.zeros_like(operand.value) if operand.error is None else operand.error for operand in operands)
    return Estimate(joined(operand.value for operand in operands), joined(errors))


def _product(a: Estimate, b: Estimate) -> Estimate:
    """A matrix product, a vector being a row on the left and a column on the right."""
    is_row, is_column = a.value.ndim == 2, b.value.ndim == 2
    left = a.mapped(lambda array: array[:, None, :]) if is_row else a
    right = b.mapped(lambda array: array[:, :, None]) if is_column else b
    rank = max(left.value.ndim, right.value.ndim) - 1
    left, right = left.like(rank), right.like(rank)

    def product(first: Array, second: Array) -> Array:
        found = first @ second
        found = found[..., 0] if is_column else found
        return (found[..., 0] if is_column else found[..., 0, :]) if is_row else found

    sizes = np.abs(left.value), np.abs(right.value)
    rounding = left.value.shape[-1] * ULPS * product(*sizes)
    of_left = (
        None if left.error is None else product(left.error, sizes[1] + (0 if right.error is None else right.error))
    )
    of_right = None if right.error is None else product(sizes[0], right.error)
    return _with_error(product(left.value, right.value), rounding, of_left, of_right)


def _of_matrix(call: Call, operand: Estimate) -> Estimate:
    """A determinant, bounded as Hadamard does, or an inverse; a singular matrix has none."""
    matrix = operand.value
    order = matrix.shape[-1]
    rounding = 4 * order * ULPS * np.abs(matrix)
    given = rounding if operand.error is None else rounding + operand.error
    determinant = np.linalg.det(np.where(np.isfinite(matrix), matrix, 0.0))
    if not call.op.keeps_shape:
        rows = np.sqrt(np.sum(matrix**2, axis=-1))
        most = np.prod(rows + np.sqrt(np.sum(given**2, axis=-1)), axis=-1) - np.prod(rows, axis=-1)
        return _with_error(determinant, most, order * ULPS * np.prod(rows, axis=-1))
    is_regular = (determinant != 0)[..., None, None] & np.isfinite(matrix).all((-1, -2), keepdims=True)
    inverse = np.linalg.inv(np.where(is_regular, matrix, np.eye(order)))
    size = np.abs(inverse)
    return _with_error(np.where(is_regular, inverse, np.nan), size @ given @ size)


def _of_spectrum(call: Call, operand: Estimate) -> Estimate:
    """Eigenvalues, which move by no more than the norm of what the matrix does; or an exponential."""
    is_known = np.asarray(np.isfinite(operand.value).all((-1, -2), keepdims=True))
    value = numeric.CALLS.apply(call, [np.where(is_known, operand.value, 0.0)])
    size = np.sqrt(np.sum(operand.value**2, axis=(-1, -2)))
    given = operand.value.shape[-1] * ULPS * size
    if operand.error is not None:
        given = given + np.sqrt(np.sum(operand.error**2, axis=(-1, -2)))
    if call.op.keeps_shape:
        return _with_error(np.where(is_known, value, np.nan), (given * np.exp(size + given))[..., None, None])
    return _with_error(np.where(is_known[..., 0], value, np.nan), given[..., None])


Mask = npt.NDArray[np.bool_]

MOST_SPOTS = 4_096
"""Critical elements of one operation whose places are kept; of more, every so many."""


@dataclass(frozen=True)
class Spots:
    """Critical elements of one operation.

    Attributes:
        name: Of the operation.
        atom: The line or the operand that they are elements of.
        points: The number of the point of each.
        elements: Its flat position there.
        count: How many there are in all.
    """

    name: str
    atom: Atom
    points: Flat
    elements: Flat
    count: int


@dataclass(frozen=True)
class Critical:
    """What was found, in the order of the lines, and the operations that could not be looked at."""

    spots: tuple[Spots, ...]
    unknown: tuple[str, ...] = ()


def critical(
    program: Program,
    shapes: Mapping[Atom, Shape],
    inputs: Mapping[str, npt.NDArray[np.floating]],
    mapped: Sequence[str] = (),
) -> Critical:
    """The critical elements of a Program of primitives.

    Args:
        program: The function.
        shapes: Of its symbols at one point.
        inputs: Of its variables.
        mapped: Those of them whose first axis counts points.

    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.expansion import in_primitives
    >>> program = in_primitives(parse("relu(x) + x**2"))
    >>> x = np.array([-1.0, 0.0, 3.0])
    >>> shapes = {symbol: (3,) for symbol in (*program.variables, *(line.symbol for line in program.lines))}
    >>> found = critical(program, shapes, {"x": x})
    >>> [(spots.name, spots.elements.tolist()) for spots in found.spots]
    [('maximum', [1])]
    """
    spots, unknown = [], []
    for step in steps(program, shapes, inputs, mapped):
        if step.result is None:
            unknown.append(step.line.call.op.name)
        with np.errstate(all="ignore"):
            found = _spots(step, shapes)
        if found is not None:
            spots.append(found)
    return Critical(tuple(spots), tuple(dict.fromkeys(unknown)))


def _spots(step: Step, shapes: Mapping[Atom, Shape]) -> Spots | None:
    call, atom = step.line.call, step.line.symbol
    if call.op.kind is Kind.REDUCTION and call.op.is_extreme:
        atom = call.operands[0]
        mask: Mask | None = _tied(call, step.operands[0], shapes[atom])
    else:
        mask = _lost(step)
        for near in _near(call, step.operands) if call.op.kind is Kind.ELEMENTWISE else ():
            mask = near if mask is None else mask | near
        if (
            mask is not None
            and call.op.kind is Kind.MATRIX
            and step.result is not None
            and step.result.error is not None
        ):
            mask = mask | ~(np.abs(step.result.value) > step.result.error)
    if mask is None or not mask.any():
        return None
    shape = shapes[atom]
    whole = np.broadcast_to(mask, np.broadcast_shapes(mask.shape, (1, *shape)))
    places = np.flatnonzero(whole)
    kept = places[:: 1 + len(places) // MOST_SPOTS]
    points, elements = np.divmod(kept, max(1, whole[0].size))
    return Spots(call.op.name, atom, points, elements, len(places))


def _lost(step: Step) -> Mask | None:
    """Where there is no finite value, of operands that are: outside a domain, or beyond the largest float."""
    if step.result is None or step.line.call.op.kind is Kind.SOURCE:
        return None
    is_lost = ~np.isfinite(step.result.value)
    if not is_lost.any() or step.line.call.op.kind in (Kind.MOVEMENT, Kind.LIST):
        return is_lost & False
    if step.line.call.op.kind is Kind.ELEMENTWISE:
        for operand in step.operands:
            is_lost = is_lost & np.isfinite(operand.value)
        return is_lost
    return is_lost & all(np.isfinite(operand.value).all() for operand in step.operands)


def _near(call: Call, operands: Sequence[Estimate]) -> Iterator[Mask]:
    """Where each edge of the operation is, within the rounding of what makes it up."""
    widened = tuple(
        operand if atom.is_number else Estimate(operand.value, _wide(operand))
        for atom, operand in zip(call.operands, operands, strict=True)
    )
    is_finite = np.logical_and.reduce(np.broadcast_arrays(*(np.isfinite(operand.value) for operand in operands)))
    for edge in edges(call):

        def distance(values: list[Array], edge: Program = edge) -> Array:
            return numeric.run(edge, dict(zip(edge.variables, values, strict=True)))

        found = distance([operand.value for operand in widened])
        slack = changes(distance, widened, found)
        yield ~(np.abs(found) > (0 if slack is None else slack)) & is_finite


def _wide(operand: Estimate) -> Array:
    """How far an operand may be off, and a few units in its last place at least."""
    rounding: Array = np.abs(operand.value) * ULPS
    return rounding if operand.error is None else rounding + operand.error


def edges(call: Call) -> tuple[Program, ...]:
    """What vanishes where an elementwise operation may have no derivative; none of what is smooth on its operands."""
    op = call.op
    if is_polynomial(call):
        return ()
    if not (op.critical or op.edges) and len(set(call.operands)) < len(call.operands):  # maximum(x, x) is x
        return ()
    return _edges(op.name)


@lru_cache(maxsize=256)
def _edges(name: str) -> tuple[Program, ...]:
    op = ops.TABLE[name]
    return tuple(in_primitives(parse_meaning(text, op.operands, {})) for text in op.critical or (*op.kinks, *op.edges))


def _tied(call: Call, operand: Estimate, shape: Shape) -> Mask:
    """Elements that may be the extreme one, where several may."""
    axes = tuple(axis + 1 for axis in axes_of(shape, call.statics[0]))
    sign = 1.0 if call.op.monoid is Monoid.LARGEST else -1.0
    value, error = sign * operand.value, _wide(operand)
    most = np.max(value - error, axis=axes, keepdims=True)
    is_possible = value + error >= most
    tied: Mask = is_possible & (np.sum(is_possible, axis=axes, keepdims=True) > 1)
    return tied
