"""A Program of primitives on whole arrays, with bounds on each element: one rule a kind of operation.

The first axis of every array counts points, or rows of weights, and stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.arrays import Array
from gradcli.language.ops import Kind, Monoid
from gradcli.language.ops.structure import MEASURED
from gradcli.language.program import numeric
from gradcli.language.program.expansion import moving_lines
from gradcli.language.program.movement import axes_of, axis_of, fill_of, padding, permutation, sources
from gradcli.language.program.positions import are_within, block_of, flat_places
from gradcli.language.program.shapes import axis_of_scan, count_of
from gradcli.language.program.wengert import Atom, Call, Line, Program, Shape, needed
from gradcli.reference.array_functions import (
    cholesky,
    compile_bounds,
    determinant,
    eigenvalues,
    transposed,
    with_eigenvalues,
)
from gradcli.reference.ball_arrays import BallArray, evaluated, of_bounds, of_constant
from gradcli.reference.bounds import (
    Bounds,
    Mask,
    NoRuleError,
    bounded,
    chosen,
    compared,
    exact,
    extreme,
    fixed,
    inverse,
    larger,
    multiply,
    product,
    smaller,
    stacked,
    summed,
    terms,
    truth,
    unknown,
    zeros,
)
from gradcli.reference.deadline import require_time
from gradcli.reference.rules import rule_of

MOST_STEPS = 4_096
"""Most elements of a running product or extreme."""

WHOLE = 0.25
"""Radius below which the bound of a position, which is whole, holds one whole number at most."""

_ENDS = {sign * sympy.oo: Bounds(np.array([sign * np.inf]), np.array([0.0])) for sign in (1, -1)}
"""Infinities, which may be compared with numbers, chosen, and added to them, as those that mask scores are."""


class Values:
    """The values of a Program of primitives, with bounds; the first axis of each counts points, or is 1 for all.

    Attributes:
        values: The bounds, by line and variable.
        moves: The lines and variables that depend on a variable that moves.
        missing: The operations by line that have no rule here, or would take too long: their values are unknown.

    Args:
        program: The function.
        shapes: The shapes of its symbols, at one point.
        inputs: The values of its variables.
        moving: The variables that are differentiated by.
        kind: The format of the numbers: float64; `longdouble`, which is slow and has more digits on most machines; or
            `BallArray`, or one that is like it, for balls at the precision that is set, which are slower still.
        mapped: The variables whose first axis counts points.
        radii: How far the inputs of some variables may be from the values given, at each point.
        seen: Called after each line; then the values that no later line needs are forgotten.
        kept: The values to keep, where the others are forgotten once no line needs them.
    """

    def __init__(
        self,
        program: Program,
        shapes: Mapping[Atom, Shape],
        inputs: Mapping[str, Array],
        moving: Sequence[sympy.Symbol],
        kind: type[Any] = np.float64,
        *,
        mapped: Sequence[str] = (),
        radii: Mapping[str, Array] | None = None,
        seen: Callable[[Values, Line], None] | None = None,
        kept: Collection[Atom] | None = None,
    ) -> None:
        self.program, self.shapes, self.kind = program, shapes, kind
        self.moves = moving_lines(program, moving)
        self.missing: dict[Atom, str] = {}
        self._known_places: dict[tuple[Atom, Shape], tuple[Bounds, _Places]] = {}
        every = {s: np.asarray(inputs[str(s)]) for s in program.variables}
        self.values = {
            s: self.exact(a if str(s) in mapped else a[None], moves=s in self.moves) for s, a in every.items()
        }
        self.values |= {s: bounded(self.values[s].middle, radii[str(s)]) for s in every if radii and str(s) in radii}
        last = {a: line.symbol for line in program.lines for a in line.call.operands}
        with np.errstate(all="ignore"):
            for line in program.lines:
                require_time()
                self._run(line)
                if seen is not None:
                    seen(self, line)
                if seen is not None or kept is not None:
                    for atom in set(line.call.operands).difference(kept or ()):
                        if last[atom] == line.symbol:
                            self.values.pop(atom, None)

    @property
    def value(self) -> Bounds:
        """Bounds of y."""
        return self.bounds_of(self.program.output)

    @property
    def balls(self) -> type[BallArray] | None:
        """The kind of the balls; None if the numbers are floats."""
        return self.kind if issubclass(self.kind, BallArray) else None

    def exact(self, numbers: npt.ArrayLike, *, moves: bool = True) -> Bounds:
        """Wrap numbers as they are, in the format of the values; infinities are not known where they move."""
        found = (exact if moves else fixed)(numbers, np.float64 if self.balls else self.kind)
        return of_bounds(found, self.balls) if self.balls else found

    def bounds_of(self, atom: Atom) -> Bounds:
        """Return the bounds of a line, a variable or a number."""
        if atom in self.values:
            return self.values[atom]
        if self.balls:
            return of_constant(atom, self.balls)
        if atom is sympy.nan:
            return unknown(np.full(1, np.nan))
        return _ENDS[atom] if atom in _ENDS else compile_bounds(atom)({}).mapped(lambda x: x.reshape(1))

    def extended(
        self, program: Program, shapes: Mapping[Atom, Shape], mapped: Mapping[str, Array], outputs: Sequence[Atom]
    ) -> Values:
        """Compute further lines of a Program that begins with the lines of this one.

        Args:
            program: The lines of this one, and others behind them.
            shapes: Of all symbols.
            mapped: The numbers of its further variables, each with a first axis that counts points.
            outputs: The values to keep; the others that are new are forgotten once no line needs them.
        """
        found = copy(self)
        found.program, found.shapes, found.moves = program, shapes, moving_lines(program, self.moves)
        found.values, found.missing = dict(self.values), dict(self.missing)
        found.values |= {s: self.exact(mapped[str(s)]) for s in program.variables if str(s) in mapped}
        lines = needed([line for line in program.lines if line.symbol not in self.values], *outputs)
        last = {a: line.symbol for line in lines for a in line.call.operands}
        kept = {*outputs, *self.values}
        with np.errstate(all="ignore"):
            for line in lines:
                require_time()
                found._run(line)
                for atom in set(line.call.operands) - kept:
                    if last[atom] == line.symbol:
                        found.values.pop(atom, None)
        return found

    def _run(self, line: Line) -> None:
        op, operands = line.call.op, line.call.operands
        inside = [self.bounds_of(a) for a in operands]
        try:
            found = self._local(line, inside)
        except NoRuleError:
            self.missing[line.symbol] = op.name
            points = max((len(a.middle) for a in inside), default=1)
            found = unknown(np.zeros((points, *self.shapes[line.symbol]), np.float64 if self.balls else self.kind))
        self.values[line.symbol] = of_bounds(found, self.balls) if self.balls else found

    def _local(self, line: Line, operands: list[Bounds]) -> Bounds:
        call, shape = line.call, self.shapes[line.symbol]
        inside = [self.shapes.get(a, ()) for a in call.operands]
        match call.op.kind:
            case Kind.SOURCE if call.op.name == MEASURED:
                numbers, errors = numeric.measured(call)
                return bounded(self.exact(numbers[None]).middle, errors[None])
            case Kind.SOURCE:
                return self.exact(numeric.array_of(call)[None])
            case Kind.COUNT:
                return exact([float(count_of(inside[0], call.statics[0]))])
            case Kind.ELEMENTWISE:
                is_fixed = not self.moves.intersection(call.operands)
                return _elementwise(call, operands, inside, shape, is_fixed=is_fixed)
            case Kind.LIST:
                return _listed(call, operands, inside, shape)
            case Kind.MOVEMENT:
                return _moved(call, operands[0], inside[0], shape)
            case Kind.GATHER | Kind.SCATTER:
                return _at_positions(call, operands[0], self._places(call, operands[1], inside), inside, shape)
            case Kind.REDUCTION:
                return _reduced(call, operands[0], inside[0], shape)
            case Kind.SCAN:
                return _scanned(call, operands[0], inside[0])
            case Kind.CONTRACTION:
                return _multiplied(operands, inside, shape)
            case Kind.MATRIX:
                return inverse(operands[0]) if call.op.keeps_shape else determinant(operands[0])
            case Kind.DEFINED if call.op.name == "cholesky" and not self.balls:
                found = cholesky(operands[0])
                return found.mapped(transposed) if call.statics[0] else found
            case Kind.SPECTRAL if not call.op.keeps_shape and not self.balls:
                return eigenvalues(operands[0])[0]
            case Kind.DEFINED if call.op.name == "with_eigenvalues" and not self.balls:
                return with_eigenvalues(*operands)
        raise NoRuleError

    def _places(self, call: Call, index: Bounds, inside: Sequence[Shape]) -> _Places:
        """Return the flat positions that an operation takes elements at, which are found once for each index."""
        key = call.operands[1], block_of(call, *inside).sizes
        of, places = self._known_places.get(key, (None, None))
        if places is None or of is not index:
            places = _Places(known_places(index, key[1]))
            self._known_places[key] = index, places
        return places


def spread(a: Bounds, own: Shape, shape: Shape) -> Bounds:
    """Broadcast an array of a shape to another."""
    if a.middle.shape[1:] == shape:
        return a
    lifted = (*(1,) * (len(shape) - len(own)), *own)
    return a.mapped(lambda x: np.broadcast_to(x.reshape(len(x), *lifted), (len(x), *shape)))


def _elementwise(
    call: Call, operands: Sequence[Bounds], inside: Sequence[Shape], shape: Shape, *, is_fixed: bool
) -> Bounds:
    wide = [spread(a, own, shape) for a, own in zip(operands, inside, strict=True)]
    if is_self_comparison(call):  # it changes nowhere
        found = truth(wide[0].is_known & (0 in call.op.sense), wide[0].is_known & (0 not in call.op.sense))
    elif call.op.sense:
        found = compared(wide[0], wide[1], call.op.sense, at_ties=is_fixed)
    elif call.op.is_branch:
        found = chosen(*wide)
    else:
        found = evaluated(rule_of(call).expression, rule_of(call).environment(wide))
    points = max(len(a.middle) for a in wide)
    return found.spread((points, *shape))


def is_self_comparison(call: Call) -> bool:
    """Tell whether a call compares a value with itself, as `x == x` tells of each number that it is not NaN."""
    return bool(call.op.sense) and call.operands[0] == call.operands[1]


def is_apart(distance: Bounds) -> Mask:
    """Tell where a distance is certainly not 0."""
    return np.asarray((distance.low > 0) | (distance.high < 0))


def _listed(call: Call, operands: Sequence[Bounds], inside: Sequence[Shape], shape: Shape) -> Bounds:
    axis, is_stack = axis_of(shape, call.statics[0]), bool(call.op.adds_dimension)
    parts = [(*shape[:axis], *shape[axis + 1 :])] * len(inside) if is_stack else inside
    points = max(len(a.middle) for a in operands)
    wide = [spread(a, own, part).spread((points, *part)) for own, part, a in zip(inside, parts, operands, strict=True)]
    join = np.stack if is_stack else np.concatenate
    return wide[0].joined(wide[1:], lambda arrays: join(arrays, axis + 1))


def _moved(call: Call, a: Bounds, inside: Shape, shape: Shape) -> Bounds:
    if call.op.name in ("permute", "transpose"):
        order = (0, *(d + 1 for d in permutation(inside, call)))
        return a.mapped(lambda x: np.transpose(x, order))
    if call.op.keeps_order:
        return a.mapped(lambda x: x.reshape(len(x), *shape))
    if call.op.name == "expand":
        return spread(a, inside, shape)
    if call.op.name == "pad" and fill_of(call) == 0:
        return a.mapped(partial(_padded, pairs=padding(inside, call)))
    source, fill = sources(call, inside), fill_of(call)
    found = a.mapped(partial(_gathered, source=source, size=math.prod(inside)))
    if fill != 0:
        filled = np.full(found.middle.shape, fill)
        found = found.where(np.broadcast_to(source >= 0, filled.shape), Bounds(filled, np.zeros(filled.shape)))
    return found


def _padded(x: Array, pairs: Sequence[tuple[int, int]]) -> Array:
    """Put zeros around the elements of each point, or take some away."""
    found = zeros((len(x), *(size + a + b for size, (a, b) in zip(x.shape[1:], pairs, strict=True))), x.dtype)
    kept = (slice(max(0, -a), size - max(0, -b)) for size, (a, b) in zip(x.shape[1:], pairs, strict=True))
    into = (slice(max(0, a), found.shape[d] - max(0, b)) for d, (a, b) in enumerate(pairs, 1))
    found[(slice(None), *into)] = x[(slice(None), *kept)]
    return found


def _gathered(x: Array, source: npt.NDArray[np.intp], size: int) -> Array:
    """Gather the elements at flat places; 0 where the place is -1."""
    flat, places = x.reshape(len(x), size), source.ravel()
    if (places >= 0).all():
        return flat[:, places].reshape(len(x), *source.shape)
    kept = np.flatnonzero(places >= 0)
    found = zeros((len(x), source.size), x.dtype)
    found[:, kept] = flat[:, places[kept]]
    return found.reshape(len(x), *source.shape)


@dataclass(frozen=True)
class _Places:
    """Flat positions of each point, of shape (points, positions), which many products take or add up elements at."""

    flat: npt.NDArray[np.intp]

    @cached_property
    def most(self) -> int:
        """Most elements that are added up at one place."""
        return max((int(np.bincount(own).max(initial=0)) for own in self.flat), default=0)


def _at_positions(call: Call, a: Bounds, known: _Places, inside: Sequence[Shape], shape: Shape) -> Bounds:
    """Take elements at positions, or add them up there; the positions of each point are its own where they move."""
    before, size, count, after = block_of(call, *inside).flat
    places = known.flat
    if call.op.kind is Kind.GATHER:

        def taken(x: Array) -> Array:
            return _taken(x.reshape(len(x), before, size, after), places).reshape(-1, *shape)

        if a.radius.any():
            return a.mapped(taken)
        return a.mapped(lambda x: taken(x) if x is a.middle else np.zeros((max(len(x), len(places)), *shape), x.dtype))
    return a.routed(
        lambda x: _added_up(x.reshape(len(x), before, count, after), places, size).reshape(-1, *shape),
        terms(known.most),
    )


def known_places(index: Bounds, sizes: Shape) -> npt.NDArray[np.intp]:
    """Return the flat positions of each point, of shape (points, positions), where bounds tell them.

    Raises:
        NoRuleError: They are not known, or outside of the sizes.
    """
    found = index.in_floats()
    whole = np.rint(found.middle)
    is_known = (found.radius < WHOLE) & (abs(found.middle - whole) <= found.radius)
    if not is_known.all() or not all(are_within(one, sizes) for one in whole):
        raise NoRuleError
    return np.stack([flat_places(one, sizes) for one in whole])


def places_of(
    program: Program, shapes: Mapping[Atom, Shape], inputs: Mapping[str, Array]
) -> dict[Atom, npt.NDArray[np.intp]]:
    """Find the flat positions of gathers and their transposes, by line; none of those that bounds do not tell.

    Args:
        program: The function, in primitives.
        shapes: Of its symbols.
        inputs: The values of its variables.

    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.shapes import infer
    >>> program = parse("elements_at(x, i + 1)")
    >>> shapes = infer(program, dict(zip(program.variables, [(4,), (2,)])))
    >>> found = places_of(program, shapes, {"x": np.ones(4), "i": np.array([2.0, 0.0])})
    >>> [places.tolist() for places in found.values()]
    [[3, 1]]
    """
    lines, found = [line for line in program.lines if line.call.op.is_at_positions], dict[Atom, npt.NDArray[np.intp]]()
    indices = [line.call.operands[1] for line in lines]
    part = replace(program, lines=tuple(needed(program.lines, *indices)), output=sympy.S.Zero)
    values = Values(part, shapes, inputs, ())
    for line in lines:
        block = block_of(line.call, *(shapes.get(a, ()) for a in line.call.operands))
        with suppress(NoRuleError):
            found[line.symbol] = known_places(values.bounds_of(line.call.operands[1]), block.sizes)[0]
    return found


def _taken(x: Array, places: npt.NDArray[np.intp]) -> Array:
    """Take elements along the third axis, at the positions of each point."""
    if len(places) == 1:
        found: Array = np.take(x, places[0], axis=2)
        return found
    wide = np.broadcast_to(x, (len(places), *x.shape[1:]))
    return np.take_along_axis(wide, places[:, None, :, None], axis=2)


def _added_up(x: Array, places: npt.NDArray[np.intp], size: int) -> Array:
    """Add up elements along the third axis that have the same position, at the positions of each point."""
    if len(places) > 1:
        wide = np.broadcast_to(x, (len(places), *x.shape[1:]))
        return np.concatenate([_added_up(wide[n : n + 1], own[None], size) for n, own in enumerate(places)])
    if x.dtype == np.float64:  # one after the other, in the order that they come in
        points, before, _, after = x.shape
        blocks = points * before
        own = places[0] if blocks == after == 1 else _of_blocks(places[0], blocks, size, after)
        sums = np.bincount(own, x.ravel(), blocks * size * after).astype(np.float64, copy=False)
        return sums.reshape(points, before, size, after)
    order = np.argsort(places[0], kind="stable")
    ordered = places[0][order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    found = zeros((*x.shape[:2], size, x.shape[3]), x.dtype)
    if len(starts):
        found[:, :, ordered[starts]] = np.add.reduceat(x[:, :, order], starts, axis=2)
    return np.asarray(found)


def _of_blocks(places: npt.NDArray[np.intp], before: int, size: int, after: int) -> npt.NDArray[np.intp]:
    """Return the flat places of elements of shape (before, positions, after) in an array (before, size, after)."""
    found = (np.arange(before)[:, None] * size + places)[:, :, None] * after + np.arange(after)
    return found.reshape(-1)


def _reduced(call: Call, a: Bounds, inside: Shape, shape: Shape) -> Bounds:
    axes, fold = axes_of(inside, call.statics[0]), call.op.folds_by
    along = tuple(axis + 1 for axis in axes)
    if fold is Monoid.SUM:
        count = terms(math.prod(inside[d] for d in axes))
        return a.routed(lambda x: (summed(x, along) if along else x).reshape(len(x), *shape), count)
    if fold is Monoid.PRODUCT:
        return _product_of(a, inside, axes, shape)
    _, lost = winners(a, axes, fold)
    found = extreme(a, lost, along, largest=fold is Monoid.LARGEST)
    return found.mapped(lambda x: x.reshape(len(x), *shape))


def winners(a: Bounds, axes: Sequence[int], fold: Monoid) -> tuple[Mask, Mask]:
    """Tell which elements are certainly the only extreme one along some axes, and which certainly are not extreme."""
    along = tuple(axis + 1 for axis in axes)
    a = a if fold is Monoid.LARGEST else -a
    lost = a.high < a.low.max(axis=along, keepdims=True)
    return ~lost & (np.sum(~lost, axis=along, keepdims=True) == 1), lost


def _product_of(a: Bounds, inside: Shape, axes: tuple[int, ...], shape: Shape) -> Bounds:
    """Multiply halves of the factors, again and again."""
    count, rest = math.prod(inside[d] for d in axes), [d for d in range(len(inside)) if d not in axes]
    if not count:
        return exact(np.ones((len(a.middle), *shape)))
    order = (*(d + 1 for d in axes), 0, *(d + 1 for d in rest))
    found = a.mapped(lambda x: np.transpose(x, order).reshape(count, len(x), *(inside[d] for d in rest)))
    while (count := len(found.middle)) > 1:
        half, odd = count // 2, found.mapped(lambda x: x[2 * (len(x) // 2) :])
        pairs = [found.mapped(partial(_part_of, first=first, count=half)) for first in (0, half)]
        found = multiply(*pairs)
        found = found.joined([odd], np.concatenate) if len(odd.middle) else found
    return found.mapped(lambda x: x.reshape(-1, *shape))


def _part_of(x: Array, first: int, count: int) -> Array:
    return x[first : first + count]


def _scanned(call: Call, a: Bounds, inside: Shape) -> Bounds:
    axis, fold = axis_of_scan(call, inside), call.op.folds_by
    if axis is None:
        return a
    count = inside[axis]
    if fold is Monoid.SUM:
        return a.routed(lambda x: x.cumsum(axis + 1), max(2, count))
    if count > MOST_STEPS:
        raise NoRuleError
    join = {Monoid.PRODUCT: multiply, Monoid.LARGEST: larger, Monoid.SMALLEST: smaller}[fold]
    parts = [a.mapped(partial(np.take, indices=n, axis=axis + 1)) for n in range(count)]
    found = parts[:1]
    for own in parts[1:]:
        found.append(join(own, found[-1]))
    return stacked(found, axis + 1) if found else a


def _multiplied(operands: Sequence[Bounds], inside: Sequence[Shape], shape: Shape) -> Bounds:
    """Multiply as `@` does: a vector is a row on the left, and a column on the right."""
    left, right = inside
    matrices = [(1, *left) if len(left) == 1 else left, (*right, 1) if len(right) == 1 else right]
    batch = np.broadcast_shapes(*(m[:-2] for m in matrices))
    wide = [
        spread(a.mapped(lambda x, m=m: x.reshape(len(x), *m)), m, (*batch, *m[-2:]))  # type: ignore[misc]
        for a, m in zip(operands, matrices, strict=True)
    ]
    return product(*wide).mapped(lambda x: x.reshape(len(x), *shape))
