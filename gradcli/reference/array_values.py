"""A Program of primitives on whole arrays, with bounds: the value of each line, and the ways of changes through it.

Each kind of operation has one rule: its value, and for each operand a chain of linear maps.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program import numeric
from gradcli.language.program.expansion import expand, rewritten
from gradcli.language.program.movement import axes_of, axis_of, fill_of, permutation, sources
from gradcli.language.program.shapes import axis_of_scan, count_of
from gradcli.language.program.wengert import Atom, Builder, Call, Line, Program, Shape
from gradcli.reference.array_functions import cholesky, compile_bounds, determinant, eigenvalues, lower_half, transposed
from gradcli.reference.ball_arrays import BallArray, evaluated, of_bounds, of_constant
from gradcli.reference.bounds import (
    Array,
    Bounds,
    Mask,
    NoRuleError,
    bounded,
    chosen,
    compared,
    decided,
    exact,
    extreme,
    fixed,
    inverse,
    larger,
    multiply,
    product,
    smaller,
    stacked,
    truth,
    unknown,
)
from gradcli.reference.deadline import require_time
from gradcli.reference.linear_maps import (
    Change,
    Flow,
    Map,
    MatrixProduct,
    Moving,
    Recurrence,
    Routing,
    Scaled,
    gathered,
    permuted,
    placed,
    running_sum,
    spread,
)
from gradcli.reference.rules import rule_of, second_slope

MOST_STEPS = 4_096
"""Most elements of a running product or extreme, and most factors of a product."""

_ENDS = {sign * sympy.oo: Bounds(np.array([sign * np.inf]), np.array([0.0])) for sign in (1, -1)}
"""Infinities, which may be compared with numbers, chosen, and added to them, as those that mask scores are."""

Ways: TypeAlias = Callable[[int], Sequence[Map]]
"""The maps that changes of an operand go through, one after the other, by its number."""

Local: TypeAlias = tuple[Bounds, Ways]
"""The value of a line, and the ways of its operands."""


def prepared(program: Program) -> Program:
    """Rewrite a program in primitives and Cholesky factors, whose rule here is better than that of their meaning.

    A solution by a factor becomes one by its matrix, whose digits are not lost on the way through the factor; it is
    unknown where the factor is unknown.
    """
    matrices: dict[Atom, Atom] = {}

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        call = line.call
        if call.op.name == "cholesky_solve" and operands[1] in matrices:
            solving = parse_meaning("(2*inv(m + transpose(m, -2, -1)) + 0*f) @ b", ("m", "f", "b"))
            return builder.inline(solving, (matrices[operands[1]], operands[1], operands[0]), line.span)
        found = builder.emit(call.op.name, operands, line.span, call.statics)
        if call.op.name == "cholesky" and not call.statics[0]:
            matrices[found] = operands[0]
        return found

    has_factors = any(line.call.op.name == "cholesky_solve" for line in program.lines)
    found = rewritten(program, write, shares=True).program if has_factors else program
    return expand(found, lambda call: call.op.is_primitive or call.op.name == "cholesky")


class Values:
    """The values of a Program of primitives, with bounds; the first axis of each counts points, or is 1 for all.

    Attributes:
        values: The bounds, by line and variable.
        moves: The lines and variables that depend on a variable that moves.
        ways: The ways of the operands, by line.
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
        seen: Called after each line; then the values that no later line needs are forgotten, and all ways.
    """

    def __init__(
        self,
        program: Program,
        shapes: Mapping[Atom, Shape],
        inputs: Mapping[str, npt.NDArray[np.floating[Any]]],
        moving: Sequence[sympy.Symbol],
        kind: type[Any] = np.float64,
        *,
        mapped: Sequence[str] = (),
        radii: Mapping[str, Array] | None = None,
        seen: Callable[[Values, Line], None] | None = None,
    ) -> None:
        self.program, self.shapes, self.kind = program, shapes, kind
        self.moves: set[Atom] = set(moving)
        self.ways: dict[Atom, Ways] = {}
        self.missing: dict[Atom, str] = {}
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
                    self.ways.clear()
                    for atom in set(line.call.operands):
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

    def _run(self, line: Line) -> None:
        op, operands = line.call.op, line.call.operands
        if self.moves.intersection(operands) and not op.is_detached and op.kind is not Kind.COUNT:
            self.moves.add(line.symbol)
        inside = [self.bounds_of(a) for a in operands]
        try:
            found, self.ways[line.symbol] = self._local(line, inside)
        except NoRuleError:
            self.missing[line.symbol] = op.name
            points = max((len(a.middle) for a in inside), default=1)
            found = unknown(np.zeros((points, *self.shapes[line.symbol]), np.float64 if self.balls else self.kind))
        self.values[line.symbol] = of_bounds(found, self.balls) if self.balls else found

    def _local(self, line: Line, operands: list[Bounds]) -> Local:
        call, shape = line.call, self.shapes[line.symbol]
        inside = [self.shapes.get(a, ()) for a in call.operands]
        match call.op.kind:
            case Kind.SOURCE:
                return self.exact(numeric.array_of(call)[None]), lambda k: []
            case Kind.COUNT:
                return exact([float(count_of(inside[0], call.statics[0]))]), lambda k: []
            case Kind.ELEMENTWISE:
                is_fixed = not self.moves.intersection(call.operands)
                return _elementwise(call, operands, inside, shape, is_fixed=is_fixed)
            case Kind.LIST:
                return _listed(call, operands, inside, shape)
            case Kind.MOVEMENT:
                return _moved(call, operands[0], inside[0], shape)
            case Kind.REDUCTION:
                return _reduced(call, operands[0], inside[0], shape)
            case Kind.SCAN:
                return _scanned(call, operands[0], inside[0])
            case Kind.CONTRACTION:
                return _multiplied(call, operands, inside, shape)
            case Kind.MATRIX if call.op.keeps_shape:
                found, symbol = inverse(operands[0]), line.symbol
                return found, lambda k: [
                    MatrixProduct(-found, False, lambda moving: -moving[symbol] if symbol in moving else None),
                    MatrixProduct(found, True, lambda moving: moving.get(symbol)),
                ]
            case Kind.MATRIX:
                found, total = determinant(operands[0]), spread(shape, inside[0], (*shape, 1, 1)).transpose
                # By Jacobi's formula: det(A)*inv(A), transposed.
                every = found.mapped(lambda x: x[..., None, None])
                return found, lambda k: [Scaled(multiply(every, inverse(operands[0]).mapped(transposed))), total]
            case Kind.DEFINED if call.op.name == "cholesky" and not self.balls:
                return _factored(call, operands[0])
            case Kind.SPECTRAL if not call.op.keeps_shape and not self.balls:
                return _spectral(operands[0], inside[0])
        raise NoRuleError


def _elementwise(
    call: Call, operands: Sequence[Bounds], inside: Sequence[Shape], shape: Shape, *, is_fixed: bool
) -> Local:
    routes = [spread(own, shape) for own in inside]
    wide = [route.there(a) for route, a in zip(routes, operands, strict=True)]
    if is_self_comparison(call):  # it changes nowhere
        found = truth(wide[0].is_known & (0 in call.op.sense), wide[0].is_known & (0 not in call.op.sense))
    elif call.op.sense:
        found = compared(wide[0], wide[1], call.op.sense, at_ties=is_fixed)
    elif call.op.is_branch:
        found = chosen(*wide)
    else:
        found = evaluated(rule_of(call).expression, rule_of(call).environment(wide))
    points = max(len(a.middle) for a in wide)
    return found.spread((points, *shape)), lambda k: [routes[k], *_slope(call, k, wide, routes)]


def _slope(call: Call, k: int, operands: Sequence[Bounds], routes: Sequence[Routing]) -> Sequence[Scaled]:
    if call.op.coefficients:
        factor = call.op.coefficients[k]
        return [] if factor == 1 else [Scaled(exact(float(factor)))]
    if call.op.is_branch or call.op.is_extreme:
        return [Scaled(_choices(call, operands)[k], is_choice=True)]
    if is_self_comparison(call):
        return [Scaled(exact(0.0))]
    rule = rule_of(call)
    environment = rule.environment(operands)
    try:
        slope = evaluated(rule.slopes[k], environment)
    except NoRuleError:
        slope = unknown(np.zeros(1))
    for distance in (*rule.kinks, *rule.edges[k]):
        slope = slope.where(is_apart(evaluated(distance, environment)), unknown(slope.middle))

    def change(moving: Moving) -> Flow | None:
        """Add up the changes of the slope with each operand."""
        second = ((m, a, second_slope(rule, k, m)) for m, a in enumerate(call.operands) if a in moving)
        flows = [routes[m].there(moving[a]).times(compile_bounds(e)(environment)) for m, a, e in second if e != 0]
        return functools.reduce(Flow.plus, flows) if flows else None

    return [Scaled(slope, change=change)]


def is_self_comparison(call: Call) -> bool:
    """Tell whether a call compares a value with itself, as `x == x` tells of each number that it is not NaN."""
    return bool(call.op.sense) and call.operands[0] == call.operands[1]


def is_apart(distance: Bounds) -> Mask:
    """Tell where a distance is certainly not 0."""
    return np.asarray((distance.low > 0) | (distance.high < 0))


def _choices(call: Call, operands: Sequence[Bounds]) -> Sequence[Bounds]:
    """Return for each operand 1 where a choice certainly takes it, 0 where it certainly does not."""
    *condition, a, b = operands
    if call.operands[-1] == call.operands[-2]:  # both are one operand: count it as the first
        first = exact(np.ones(b.middle.shape))
    else:
        first = condition[0] if condition else _is_extreme(a, b, call.op.folds_by)
    holds, fails = decided(first)
    return [*(truth(np.zeros_like(holds), holds | fails) for _ in condition), *_taken(first)]


def _taken(is_first: Bounds) -> tuple[Bounds, Bounds]:
    """Return for the first of two, and for the second, 1 where it is certainly taken and 0 where it is not."""
    holds, fails = decided(is_first)
    return truth(holds, fails), truth(fails, holds)


def _is_extreme(a: Bounds, b: Bounds, fold: Monoid) -> Bounds:
    """Return 1 where the first of two is certainly the extreme one, and 0 where the second is."""
    return compared(a, b, (1 if fold is Monoid.LARGEST else -1,), at_ties=False)


def _listed(call: Call, operands: Sequence[Bounds], inside: Sequence[Shape], shape: Shape) -> Local:
    axis, is_stack = axis_of(shape, call.statics[0]), bool(call.op.adds_dimension)
    parts = [(*shape[:axis], *shape[axis + 1 :])] * len(inside) if is_stack else inside
    ends = np.cumsum([1 if is_stack else part[axis] for part in parts]).tolist()
    points = max(len(a.middle) for a in operands)
    wide = [
        spread(own, part).there(a).spread((points, *part)) for own, part, a in zip(inside, parts, operands, strict=True)
    ]
    join = np.stack if is_stack else np.concatenate
    found = wide[0].joined(wide[1:], lambda arrays: join(arrays, axis + 1))

    def ways(k: int) -> Sequence[Map]:
        place = k if is_stack else slice(ends[k] - parts[k][axis], ends[k])
        return [spread(inside[k], parts[k]), placed((*[slice(None)] * (axis + 1), place), shape)]

    return found, ways


def _moved(call: Call, a: Bounds, inside: Shape, shape: Shape) -> Local:
    if call.op.name in ("permute", "transpose"):
        route = permuted(permutation(inside, call))
        return route.there(a), lambda k: [route]
    source = None if call.op.keeps_order else sources(call, inside)
    if source is None or _is_in_order(source, inside):
        route = spread(inside, shape, shape)
        return route.there(a), lambda k: [route]
    route, fill = gathered(source, inside), fill_of(call)
    found = route.there(a)
    if fill != 0:
        filled = np.full(found.middle.shape, fill)
        found = found.where(np.broadcast_to(source >= 0, filled.shape), Bounds(filled, np.zeros(filled.shape)))
    return found, lambda k: [route]


def _is_in_order(source: npt.NDArray[np.intp], inside: Shape) -> bool:
    """Tell whether all elements are there once and in order, as where dimensions of size 1 are put in."""
    return source.size == math.prod(inside) and bool((source.ravel() == np.arange(source.size)).all())


def _reduced(call: Call, a: Bounds, inside: Shape, shape: Shape) -> Local:
    axes, fold = axes_of(inside, call.statics[0]), call.op.folds_by
    kept = tuple(1 if d in axes else size for d, size in enumerate(inside))
    total = spread(shape, inside, kept).transpose
    if fold is Monoid.SUM:
        return total.there(a), lambda k: [total]
    if fold is Monoid.PRODUCT:
        return _product_of(a, inside, axes, shape)
    won, lost = winners(a, axes, fold)
    found = extreme(a, lost, tuple(axis + 1 for axis in axes), largest=fold is Monoid.LARGEST)
    found = found.mapped(lambda x: x.reshape(len(x), *shape))
    return found, lambda k: [Scaled(truth(won, lost), is_choice=True), total]


def winners(a: Bounds, axes: Sequence[int], fold: Monoid) -> tuple[Mask, Mask]:
    """Tell which elements are certainly the only extreme one along some axes, and which certainly are not extreme."""
    along = tuple(axis + 1 for axis in axes)
    a = a if fold is Monoid.LARGEST else -a
    lost = a.high < a.low.max(axis=along, keepdims=True)
    return ~lost & (np.sum(~lost, axis=along, keepdims=True) == 1), lost


def _product_of(a: Bounds, inside: Shape, axes: tuple[int, ...], shape: Shape) -> Local:
    """Take the last of the running products, with the factors moved to the front."""
    count, rest = math.prod(inside[d] for d in axes), math.prod(shape)
    if not count:
        return exact(np.ones((len(a.middle), *shape))), lambda k: [gathered(np.full(shape, -1), inside)]
    order = np.moveaxis(np.arange(count * rest).reshape(inside), axes, range(len(axes)))
    front = gathered(order.reshape(count, rest), inside)
    last = gathered(np.arange((count - 1) * rest, count * rest).reshape(shape), (count, rest))
    found, steps = _running(front.there(a), 1, Monoid.PRODUCT)
    return last.there(found), lambda k: [front, steps, last]


def _scanned(call: Call, a: Bounds, inside: Shape) -> Local:
    axis, fold = axis_of_scan(call, inside), call.op.folds_by
    if axis is None:
        return a, lambda k: []
    if fold is Monoid.SUM:
        route = running_sum(axis + 1, inside[axis])
        return route.there(a), lambda k: [route]
    found, steps = _running(a, axis + 1, fold)
    return found, lambda k: [steps]


def _running(a: Bounds, axis: int, fold: Monoid) -> tuple[Bounds, Recurrence]:
    """Compute the products or extremes up to each element."""
    count = a.middle.shape[axis]
    if count > MOST_STEPS:
        raise NoRuleError
    join = {Monoid.PRODUCT: multiply, Monoid.LARGEST: larger, Monoid.SMALLEST: smaller}[fold]
    parts = [a.mapped(functools.partial(np.take, indices=n, axis=axis)) for n in range(count)]
    found, slopes = parts[:1], []
    for own in parts[1:]:
        before = found[-1]
        slopes.append((before, own) if fold is Monoid.PRODUCT else _taken(_is_extreme(own, before, fold)))
        found.append(join(own, before))
    steps = Recurrence(axis, [own for own, _ in slopes], [before for _, before in slopes], fold is not Monoid.PRODUCT)
    return stacked(found, axis) if found else a, steps


def _multiplied(call: Call, operands: Sequence[Bounds], inside: Sequence[Shape], shape: Shape) -> Local:
    """Multiply as `@` does: a vector is a row on the left, and a column on the right."""
    left, right = inside
    matrices = [(1, *left) if len(left) == 1 else left, (*right, 1) if len(right) == 1 else right]
    batch = np.broadcast_shapes(*(m[:-2] for m in matrices))
    lifted = [(*(1,) * (len(batch) + 2 - len(m)), *m) for m in matrices]
    routes = [spread(own, (*batch, *m[-2:]), m) for own, m in zip(inside, lifted, strict=True)]
    wide = [route.there(a) for route, a in zip(routes, operands, strict=True)]
    full = (*batch, lifted[0][-2], lifted[1][-1])
    after = spread(full, shape, shape)

    def ways(k: int) -> Sequence[Map]:
        other, route = call.operands[1 - k], routes[1 - k]
        change: Change = lambda moving: route.there(moving[other]) if other in moving else None  # noqa: E731
        return [routes[k], MatrixProduct(wide[1 - k], k == 0, change), after]

    return after.there(product(wide[0], wide[1])), ways


def _spectral(a: Bounds, inside: Shape) -> Local:
    """Compute eigenvalues, which move by v.T @ dA @ v."""
    found, vectors, is_alone = eigenvalues(a)
    turned = vectors.mapped(transposed)
    diagonal = gathered(np.diagonal(np.arange(math.prod(inside)).reshape(inside), 0, -2, -1), inside)
    ways: list[Map] = [MatrixProduct(turned, is_right=False), MatrixProduct(vectors, is_right=True), diagonal]
    return found, lambda k: [*ways, Scaled(truth(is_alone, np.zeros_like(is_alone)))]


def _factored(call: Call, a: Bounds) -> Local:
    """Compute a factor L, which moves by L @ P; P is the lower half of the symmetric part of inv(L) @ dA @ inv(L).T."""
    found = cholesky(a)
    back = inverse(found)
    symmetric = Routing(lambda x: x + transposed(x), lambda x: x + transposed(x), 2, 2)
    half = Scaled(exact(lower_half(a.middle.shape[-1]) / 2))
    inward: list[Map] = [MatrixProduct(back, is_right=False), MatrixProduct(back.mapped(transposed), is_right=True)]
    ways = [*inward, symmetric, half, MatrixProduct(found, is_right=False)]
    turn = Routing(transposed, transposed)
    return (turn.there(found), lambda k: [*ways, turn]) if call.statics[0] else (found, lambda k: ways)
