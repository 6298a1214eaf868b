"""The verdict of Jacobian-vector products, Hessians, and Hessian-vector products.

    Ju         the derivative of f(x + t*u) by t, at 0           `along`
    Hu         the gradient by x of the tangent dy(x, u)         `gradcli.reference.tangent`
    row i      the same for u = e_i

Each is the derivative of one more Program, so the judge of Jacobians judges it, with its kinks, limits and jumps.  The
gradient beside a Hessian is judged for itself: where it has a kink, its tangent Program takes one side.  An entry of Hu
is the derivative along u of an element of the gradient, and where branches or poles meet it is decided as such
(`gradcli.check.crossings`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import sympy
from flint import arb

from gradcli.check.along import STEP, along
from gradcli.check.compare import FIRST_BITS, TOLERANCE, Tolerance
from gradcli.check.context import Point, Torch, unravel
from gradcli.check.crossings import MOST_FIRST, way
from gradcli.check.judge import Judgement, judge
from gradcli.check.rows import EXISTING, Numbers, Rows, Slopes
from gradcli.check.summary import Part, summarize
from gradcli.reference.balls import Ball, exists
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.duals import Direction, OverBudgetError, Reference
from gradcli.reference.program_writer import NoTangentError
from gradcli.reference.rules import Undefined
from gradcli.results import Array, Check, Entry, Index, Of

KNOWN = 3
"""Elements of each variable that give the rows and columns that formulas are compared at."""

Truths = Mapping[tuple[str, str], Mapping[tuple[Index, Index], Ball]]
"""By variable of the row and of the column, empty where there is none, and by their indices."""

_NOTHING: Truths = MappingProxyType({})


@dataclass(frozen=True)
class Curvature:
    """What was decided.

    Attributes:
        check: The verdict.
        known: The truths that were enclosed: of a Hessian by (row variable, column variable), of Hu by ("", name), of
            Ju by ("", ""); inside by (row index, column index), () where there is none.
        bits: The precision of the least of them.
    """

    check: Check
    known: Truths
    bits: int


def judge_jvp(
    point: Point,
    dtype: str,
    value: Array,
    jvp: Array,
    u: Mapping[str, Array],
    tolerance: Tolerance | None = None,
) -> Curvature:
    """The verdict of y and of Ju.

    Args:
        point: The Program and its inputs.
        dtype: Of torch's numbers.
        value: Torch's y.
        jvp: Torch's Ju, of y's shape.
        u: The direction of each variable that moves, of its shape.
        tolerance: How far a number may be from the truth; by default that of the dtype.
    """
    found = judge(along(point, u), Torch(dtype, value, {STEP: jvp}), (STEP,), tolerance)
    part = _part(found, "jvp", [_along(e) for e in found.parts[0].decided])
    return _curvature(part)


def judge_hvp(
    point: Point,
    dtype: str,
    slope: float,
    hvp: Mapping[str, Array],
    u: Mapping[str, Array],
    wrt: tuple[str, ...],
    tolerance: Tolerance | None = None,
) -> Curvature:
    """The verdict of Hu, and of u·∇f, for a y of one element.

    Args:
        point: The Program and its inputs.
        dtype: Of torch's numbers.
        slope: Torch's u·∇f.
        hvp: Torch's Hu by variable, of x's shape.
        u: The direction of each variable that moves, of its shape.
        wrt: The variables of Hu, in order.
        tolerance: How far a number may be from the truth; by default that of the dtype.
    """
    with time_limit():  # one for the slope and the product
        return _judged_hvp(Numbers(point, tolerance or TOLERANCE[dtype]), slope, hvp, u, wrt)


def _judged_hvp(
    numbers: Numbers, slope: float, hvp: Mapping[str, Array], u: Mapping[str, Array], wrt: tuple[str, ...]
) -> Curvature:
    point = numbers.point
    beside = judge(along(point, u), numbers.torch({STEP: np.full(point.shape, slope)}), (STEP,), numbers.tolerance)
    slopes = [_along(e) for e in beside.parts[0].decided]
    crossings, direction = numbers.crossings(), way(u)
    unchecked = [
        Entry(name, None, unravel(j, hvp[name].shape), "unchecked", number, of="hvp")
        for name in wrt
        for j, number in enumerate(hvp[name].ravel()[: MOST_FIRST + 1].tolist())
    ]
    on_sides = crossings.all_settled(crossings.of_product(e, direction) for e in unchecked)
    if on_sides is not None:
        return _curvature(Part(len(on_sides), [*on_sides, *slopes], "all", (), "hvp"))
    try:
        found = numbers.row(Slopes.of(point, u), u, hvp, wrt)
    except NoTangentError as error:
        part = Part(sum(hvp[name].size for name in wrt), slopes, "none", (str(error),), "hvp", is_whole=False)
        return _curvature(part)
    moving = [(name, unravel(int(j), u[name].shape)) for name in u for j in np.flatnonzero(u[name])]
    settled = numbers.settled(found, slopes, moving[0] if len(moving) == 1 else None)
    own = [replace(e, row=None, of="hvp") for e in settled]
    on_sides = [crossings.settled(crossings.of_product(e, direction)) or e for e in own]
    return _curvature(_part(found, "hvp", [*on_sides, *slopes]))


def judge_hessian(
    point: Point,
    dtype: str,
    gradient: Mapping[str, Array],
    hessian: Mapping[str, Mapping[str, Array]],
    wrt: tuple[str, ...],
    tolerance: Tolerance | None = None,
) -> Curvature:
    """The verdict of a Hessian and of the gradient, for a y of one element: of all rows, or of a sample.

    Args:
        point: The Program and its inputs.
        dtype: Of torch's numbers.
        gradient: Torch's, by variable, of x's shape.
        hessian: Torch's, by the variables of row and column, of shape a.shape + b.shape.
        wrt: The variables, in order.
        tolerance: How far a number may be from the truth; by default that of the dtype.
    """
    numbers = Numbers(point, tolerance or TOLERANCE[dtype])
    blocks = {name: gradient[name].reshape(point.shape + gradient[name].shape) for name in wrt}
    with time_limit():  # one for all the rows
        beside = judge(point, numbers.torch(blocks), wrt, numbers.tolerance).parts[0]
        rows = Rows(numbers, gradient, hessian, wrt, [replace(e, row=None, of="gradient") for e in beside.decided])
        return _curvature(rows.judged(beside))


def _along(entry: Entry) -> Entry:
    """An entry of the derivative by t as one of Ju."""
    return replace(entry, variable=None, column=None, of="jvp") if entry.variable == STEP else entry


def _part(found: Judgement, of: Of, decided: Sequence[Entry]) -> Part:
    main = found.parts[0]
    return Part(main.entries, decided, main.chosen, main.notes, of, main.is_whole)


def _curvature(part: Part) -> Curvature:
    check, entries = summarize([part])
    known: dict[tuple[str, str], dict[tuple[Index, Index], Ball]] = {}
    for e in entries:
        is_known = e.of == part.of and e.proven and e.verdict in EXISTING and not e.is_crossing
        if is_known and e.truth is not None and exists(e.truth):
            known.setdefault((e.by or "", e.variable or ""), {})[e.row or (), e.column or ()] = e.truth
    return Curvature(check, known, FIRST_BITS)


def known_jvp(point: Point, u: Mapping[str, Array], bits: int) -> Truths:
    """Some elements of Ju, without torch; none where that is over the budget or there are none.

    Args:
        point: The Program and its inputs.
        u: The direction of each variable that moves.
        bits: Of the balls.
    """
    rows = _few(point.rows)
    shape = point.shapes.get(point.program.output, ())
    step = sympy.Symbol(STEP, real=True)
    found = _columns(along(point, u), [(step, 0)], rows, bits)
    return {("", ""): {(unravel(row, shape), ()): ball for (_, row), ball in found.items()}} if found else _NOTHING


def known_hvp(point: Point, u: Mapping[str, Array], wrt: tuple[str, ...], bits: int) -> Truths:
    """Some elements of Hu for each variable; see `known_jvp`."""
    try:
        slopes = Slopes.of(point, u)
    except NoTangentError:
        return _NOTHING
    return {
        ("", name): found
        for name, found in _known_row(point, slopes, u, wrt, _few_columns(point, wrt), bits, ()).items()
    }


def known_hessian(point: Point, wrt: tuple[str, ...], bits: int) -> Truths:
    """Some elements of the Hessian, in few rows and columns of each pair of variables; see `known_jvp`."""
    known: dict[tuple[str, str], dict[tuple[Index, Index], Ball]] = {}
    columns = _few_columns(point, wrt)
    for name in wrt:
        try:
            slopes = Slopes.of(point, (name,))
        except NoTangentError:
            continue
        shape = point.shapes[sympy.Symbol(name, real=True)]
        for i in _few(math.prod(shape)):
            unit = np.zeros(shape)
            unit.reshape(-1)[i] = 1.0
            row = _known_row(point, slopes, {name: unit}, wrt, columns, bits, unravel(i, shape))
            for other, found in row.items():
                known.setdefault((name, other), {}).update(found)
    return known


def _few(size: int) -> list[int]:
    """Both ends and what is between."""
    return sorted(set(np.linspace(0, size - 1, KNOWN).astype(int).tolist())) if size else []


def _few_columns(point: Point, wrt: tuple[str, ...]) -> list[Direction]:
    symbols = [sympy.Symbol(name, real=True) for name in wrt]
    return [(symbol, j) for symbol in symbols for j in _few(math.prod(point.shapes[symbol]))]


def _known_row(
    point: Point,
    slopes: Slopes,
    u: Mapping[str, Array],
    wrt: tuple[str, ...],
    columns: Sequence[Direction],
    bits: int,
    row: Index,
) -> dict[str, dict[tuple[Index, Index], Ball]]:
    known: dict[str, dict[tuple[Index, Index], Ball]] = {}
    for (d, _), ball in _columns(slopes.at(point, u), columns, None, bits).items():
        symbol, j = columns[d]
        known.setdefault(str(symbol), {})[row, unravel(j, point.shapes[symbol])] = ball
    return known


def _columns(
    point: Point, directions: Sequence[Direction], rows: Sequence[int] | None, bits: int
) -> dict[tuple[int, int], Ball]:
    """Derivatives that exist, exact zeros included."""
    reference = Reference(point.program, point.shapes, point.inputs)
    try:
        with time_limit():
            found = reference.plan(directions, None if rows is None else np.array(rows, dtype=np.int64)).run(bits)
    except (OverBudgetError, OverTimeError):
        return {}
    known: dict[tuple[int, int], Ball] = {}
    for d in range(len(directions)):
        for row in range(point.rows) if rows is None else rows:
            value = found.values.get(row)
            outcome = found.columns.get((d, row), value if isinstance(value, Undefined) else arb(0))
            if not isinstance(outcome, Undefined):
                known[d, row] = outcome
    return known
