"""What the reference has enclosed of the derivatives at a point, which formulas are held to.

Of the Jacobian in columns, of Ju, Hu and the Hessian entry by entry.  Knows no numbers of torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from flint import arb

from gradcli.check.point import Point, unravel
from gradcli.check.sample import Rows
from gradcli.check.tangents import STEP, Slopes, along
from gradcli.reference.balls import Ball
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.duals import OverBudgetError, Reference
from gradcli.reference.program_writer import NoTangentError
from gradcli.reference.rules import Undefined
from gradcli.reference.running import Columns, Direction
from gradcli.results import Array, Index
from gradcli.symbolic.derivative import Derivative

MOST_ENTRIES = 40
"""Entries at which one formula is compared."""

KNOWN = 3
"""Elements of each variable that give the rows and columns at which formulas of second derivatives are compared."""

Truth = tuple[Index, Index, Ball]
"""Row, column and truth of an entry; an index is empty where there is none."""

Block = tuple[str, str]
"""The variables of row and column: empty where there is none, as the row of the Jacobian is of y."""


@dataclass(frozen=True)
class Enclosed:
    """Columns of a Jacobian by number of the direction, at some bits and at these rows of y, None for all.

    `work` is how many ball operations that took.
    """

    point: Point
    directions: Sequence[Direction]
    columns: Columns
    rows: Rows | None
    bits: int
    work: int = 0

    def of(self, derivative: Derivative) -> list[Truth]:
        """The entries of this block whose truth is known, as many as are compared, the nonzero ones first."""
        own = {d: j for d, (symbol, j) in enumerate(self.directions) if str(symbol) == derivative.variable}
        x, y = self.point.shape_of(derivative.variable), self.point.shape
        rows = range(min(self.point.rows, MOST_ENTRIES)) if self.rows is None else self.rows.tolist()
        nonzero = [(row, own[d], ball) for (d, row), ball in self.columns.items() if d in own]
        zero = [(row, j, arb(0)) for d, j in own.items() for row in rows if (d, row) not in self.columns]
        entries = _chosen([entry for entry in nonzero if not isinstance(entry[2], Undefined)], zero)
        return [(unravel(row, y), unravel(j, x), ball) for row, j, ball in entries]


@dataclass(frozen=True)
class Truths:
    """Entries of Ju, Hu or the Hessian by block, row and column, at some bits at least."""

    blocks: Mapping[Block, Mapping[tuple[Index, Index], Ball]]
    bits: int

    def of(self, derivative: Derivative) -> list[Truth]:
        """The entries of this block whose truth is known, as many as are compared, the nonzero ones first."""
        found = self.blocks.get((derivative.first, derivative.variable), {})
        entries = [(row, column, ball) for (row, column), ball in found.items()]
        return _chosen([e for e in entries if e[2] != 0], [e for e in entries if e[2] == 0])


Evidence = Enclosed | Truths


def _chosen(nonzero: Sequence[Any], zero: Sequence[Any]) -> list[Any]:
    """The entries at which a formula is compared."""
    return [*spaced(nonzero, MOST_ENTRIES), *spaced(zero, MOST_ENTRIES // 4)]


def spaced(items: Sequence[Any], most: int) -> list[Any]:
    """Every so many of some items, so that they are at most this many."""
    return list(items[:: max(1, math.ceil(len(items) / most))])


def enclosed(point: Point, directions: Sequence[Direction], rows: Rows | None, bits: int) -> Enclosed | None:
    """Columns of the Jacobian, without torch; None where that is over the budget."""
    try:
        plan = Reference(point.program, point.shapes, point.inputs).plan(directions, rows)
    except OverBudgetError:
        return None
    return Enclosed(point, directions, plan.run(bits).columns, rows, bits)


def truths_of_jvp(point: Point, u: Mapping[str, Array], bits: int) -> Truths:
    """Some elements of Ju, without torch; none where that is over the budget or there are none.

    Args:
        point: The Program and its inputs.
        u: The direction of each variable that moves.
        bits: Of the balls.
    """
    step = sympy.Symbol(STEP, real=True)
    found = _columns(along(point, u), [(step, 0)], _few(point.rows), bits)
    known: dict[tuple[Index, Index], Ball] = {(unravel(row, point.shape), ()): ball for (_, row), ball in found.items()}
    return Truths({("", ""): known}, bits)


def truths_of_hvp(point: Point, u: Mapping[str, Array], wrt: Sequence[str], bits: int) -> Truths:
    """Some elements of Hu for each variable; see `truths_of_jvp`."""
    try:
        return Truths(_row(point, Slopes.of(point, u), u, wrt, bits), bits)
    except NoTangentError:
        return Truths({}, bits)


def truths_of_hessian(point: Point, wrt: Sequence[str], bits: int) -> Truths:
    """Some elements of the Hessian, in few rows and columns of each pair of variables; see `truths_of_jvp`."""
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for name in wrt:
        shape = point.shape_of(name)
        try:
            slopes = Slopes.of(point, (name,))
        except NoTangentError:
            continue
        for i in _few(math.prod(shape)):
            unit = np.zeros(shape)
            unit.reshape(-1)[i] = 1.0
            for (_, column), found in _row(point, slopes, {name: unit}, wrt, bits, unravel(i, shape)).items():
                known.setdefault((name, column), {}).update(found)
    return Truths(known, bits)


def _row(
    point: Point, slopes: Slopes, u: Mapping[str, Array], wrt: Sequence[str], bits: int, row: Index = ()
) -> dict[Block, dict[tuple[Index, Index], Ball]]:
    """Some elements of the product of the Hessian with a direction."""
    symbols = [sympy.Symbol(name, real=True) for name in wrt]
    columns = [(symbol, j) for symbol in symbols for j in _few(math.prod(point.shapes[symbol]))]
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for (d, _), ball in _columns(slopes.at(point, u), columns, None, bits).items():
        symbol, j = columns[d]
        known.setdefault(("", str(symbol)), {})[row, unravel(j, point.shapes[symbol])] = ball
    return known


def _few(size: int) -> list[int]:
    """A few flat positions below `size`, evenly spaced from the first to the last."""
    return sorted(set(np.linspace(0, size - 1, KNOWN).astype(int).tolist())) if size else []


def _columns(
    point: Point, directions: Sequence[Direction], rows: Sequence[int] | None, bits: int
) -> dict[tuple[int, int], Ball]:
    """The derivatives that exist, by (position of the direction, row of y); where no path leads they are exactly 0."""
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
