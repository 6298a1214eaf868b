"""Entries that bounds on whole arrays prove: all of them at once, where balls could only look at a sample.

First in float64; entries that this leaves open once more in `longdouble`, if that is not too much.  The only verdicts
given here are `agree` and, where rounding explains an error, `inaccurate`: of other entries nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb

from gradcli.crosscheck.compare import Tolerance, compare
from gradcli.crosscheck.point import Point, Torch
from gradcli.crosscheck.rounding import digits_left
from gradcli.language.ops import Kind
from gradcli.language.program.shapes import shapes_in
from gradcli.language.program.wengert import Shape
from gradcli.reference.array_values import Values, prepared
from gradcli.reference.balls import Ball
from gradcli.reference.bounds import Array, Bounds, NoRuleError, summed
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.sweep import MOST_ELEMENTS, adjoints, hessian_product, tangents
from gradcli.results import Entry

Mask = npt.NDArray[np.bool_]

MOST_AT_ONCE = 2**22
"""Most elements of an adjoint with all its rows."""

MOST_NUMBERS = 2**26
"""Most numbers of all adjoints of a Jacobian together."""

MOST_ENTRIES = 2**24
"""Most entries of a Jacobian, as each takes a few bytes to store whether it is proved."""

MOST_PRODUCTS = 2**32
"""Most multiplications in products of matrices, each of which is done some fifteen times."""

MOST_SLOW = 2**24, 2**28
"""Most elements, and most multiplications in products of matrices, for a second attempt with more digits."""

WHOLE = slice(0, None)
"""All rows, or all columns, of a block."""

MOST_SHOWN = 64
"""Most proved entries to list one by one, where no other entries are listed."""


@dataclass
class BoundedProof:
    """Proof that torch's numbers agree with the truth, for those of which bounds show it; all masks have two axes.

    Attributes:
        point: The Program and its inputs.
        torch: The numbers; those of Hu, for a y of one element, in place of vᵀJ.
        variables: The variables to differentiate by.
        tolerance: How far a number may be from the truth.
        u: The direction of Hu.
        blocks: The mask of the agreeing numbers: of J by row and column or of vᵀJ as one row, by variable; and of y
            as one column by "", if y is judged.
        lost: The mask of the entries of J or vᵀJ that are off for certain, as rounding explains.
        error: The largest relative error of an agreeing number, from the middle of the bound of the truth.
        shown: Some of the agreeing entries, up to `MOST_SHOWN` of y and of each variable.
        off: Some of the entries in `lost`, up to `MOST_SHOWN` of each variable.
    """

    point: Point
    torch: Torch
    variables: Sequence[sympy.Symbol]
    tolerance: Tolerance
    u: Mapping[str, npt.NDArray[np.floating]] | None = None
    error: float = 0.0
    shown: list[Entry] = field(default_factory=list)
    off: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = self.torch.rows
        self.sizes = {symbol: math.prod(self.point.shapes[symbol]) for symbol in self.variables}
        masks = ({str(symbol): np.zeros((rows, n), dtype=bool) for symbol, n in self.sizes.items()} for _ in range(3))
        self.blocks, self.lost, self._within = masks
        if self.torch.judges_value:
            self.blocks[""] = np.zeros((self.torch.value.size, 1), dtype=bool)

    @property
    def is_whole(self) -> bool:
        """True if all numbers agree."""
        return all(bool(block.all()) for block in self.blocks.values())

    def attempt(self, kind: type[np.floating]) -> None:
        """Add what numbers of a kind prove: float64 first, whose bounds tell which errors rounding explains."""
        program, torch = prepared(self.point.source), self.torch
        u = self.u and {symbol: self.u[str(symbol)][None] for symbol in program.variables if str(symbol) in self.u}
        moving = list(dict.fromkeys((*self.variables, *(u or ()))))
        values = Values(program, shapes_in(program, self.point.shapes), self.point.inputs, moving, kind)
        is_there = values.value.is_known.reshape(-1, 1)
        if torch.judges_value:
            self._agree("", torch.value.reshape(-1, 1), values.value.mapped(lambda x: x.reshape(-1, 1)), is_there)
        for name, rows, columns, truth in self._bounds(values, u):
            given = torch.block(name)[rows, columns]
            # Without a value of y there is no derivative, whatever bounds the pass gives.
            exists = is_there[rows] if torch.jacobian is not None else is_there.all()
            self._agree(name, given, truth, exists, rows, columns)
            distance = abs(given - truth.middle)
            if kind is np.float64:
                self._within[name][rows, columns] = exists & truth.is_known & (distance <= truth.radius)
                continue
            most = self.tolerance.atol + self.tolerance.rtol * (abs(truth.middle) + truth.radius)
            is_off = self._within[name][rows, columns] & exists & (distance * (1 - 2.0**-40) > truth.radius + most)
            is_off &= abs(truth.middle) > truth.radius  # a number in place of a 0 may be left by cancellation
            self.lost[name][rows, columns] = is_off
            if is_off.any():
                worst = is_off & (distance >= np.sort(distance[is_off])[-MOST_SHOWN:][0])
                self.off += map(self._lost, self._examples(name, given, truth, worst, rows.start, columns.start))

    def _agree(
        self,
        name: str,
        given: npt.NDArray[np.floating],
        truth: Bounds,
        exists: Mask | np.bool_,
        rows: slice = WHOLE,
        columns: slice = WHOLE,
    ) -> None:
        """Mark torch's numbers that are within the tolerance of every number in the bound of the truth."""
        numbers = np.asarray(given, dtype=truth.middle.dtype)
        with np.errstate(all="ignore"):
            distance = (abs(numbers - truth.middle) * (1 + 2.0**-50) + truth.radius) * (1 + 2.0**-50)
            least = np.maximum(abs(truth.middle) - truth.radius, 0) * (1 - 2.0**-50)
            allowed = self.tolerance.atol + self.tolerance.rtol * least
            found = np.isfinite(numbers) & truth.is_known & (distance <= allowed * (1 - 2.0**-50))
            errors = np.where(found & (least > 0), abs(numbers - truth.middle) / least, 0.0)
        self.error = max(self.error, float(errors.max(initial=0.0)))
        found &= exists
        if not any((entry.variable or "") == name for entry in self.shown):
            self.shown += self._examples(name, given, truth, found, rows.start, columns.start)
        self.blocks[name][rows, columns] |= found

    def _examples(
        self, name: str, given: npt.NDArray[np.floating], truth: Bounds, chosen: Mask, row: int, column: int
    ) -> list[Entry]:
        """List the first chosen entries as agreeing, each with its ball, of a block that begins at this place."""
        is_of_row = not name or self.torch.jacobian is not None
        return [
            replace(
                self.point.entry(name or None, row + i if is_of_row else None, column + j, given[i, j]),
                verdict="agree",
                proven=True,
                truth=_ball(truth.middle[i, j], truth.radius[i, j]),
            )
            for i, j in np.argwhere(chosen)[:MOST_SHOWN].tolist()
        ]

    def _lost(self, entry: Entry) -> Entry:
        """Mark an entry that is off as inaccurate, with the number of its right digits."""
        found = compare(entry, entry.truth, self.tolerance, is_last=True) or entry
        note = f"{digits_left(found, self.torch.dtype)} the rounding of {self.torch.dtype}"
        return replace(found, verdict="inaccurate", note=note)

    def _bounds(
        self, values: Values, u: Mapping[sympy.Symbol, Array] | None
    ) -> Iterator[tuple[str, slice, slice, Bounds]]:
        """Yield bounds of blocks of J, or of vᵀJ: the variable, the rows, the columns, and bounds of that shape."""
        torch, rows, columns = self.torch, self.torch.value.size, sum(self.sizes.values())
        if u is not None:
            for symbol, flow in hessian_product(values, u).items():
                if symbol in self.sizes:
                    yield str(symbol), WHOLE, WHOLE, flow.bounds.mapped(_in_rows)
        elif torch.jacobian is None:
            if torch.vjp is not None and torch.v is not None:
                vs = np.stack([np.asarray(v, dtype=np.float64) for v in (torch.passes or (torch.v,))])
                for symbol, flow in adjoints(values, vs).items():
                    found = flow.bounds.mapped(_in_rows).routed(lambda x: summed(x, (0,)), len(vs))
                    yield str(symbol), WHOLE, WHOLE, found
        elif min(rows, columns) * _elements(self.point) > MOST_NUMBERS:
            return
        elif columns < rows:
            for symbol in self.sizes:
                for part, ways in self._units(self.point.shapes[symbol]):
                    found = tangents(values, {symbol: ways}).bounds.mapped(_in_rows).mapped(np.transpose)
                    yield str(symbol), WHOLE, part, found
        else:
            for part, weights in self._units(self.point.shape):
                for symbol, flow in adjoints(values, weights).items():
                    yield str(symbol), part, WHOLE, flow.bounds.mapped(_in_rows)

    def _units(self, shape: Shape) -> Iterator[tuple[slice, Array]]:
        """Yield the unit arrays of a shape, as many at once as have adjoints or tangents that fit into memory."""
        size = math.prod(shape)
        step = max(1, MOST_AT_ONCE // max(1, *(math.prod(one) for one in self.point.shapes.values())))
        for first in range(0, size, step):
            count = min(step, size - first)
            yield slice(first, first + count), np.eye(count, size, first).reshape(-1, *shape)


def prove(
    point: Point,
    torch: Torch,
    variables: Sequence[sympy.Symbol],
    tolerance: Tolerance,
    u: Mapping[str, npt.NDArray[np.floating]] | None = None,
) -> BoundedProof | None:
    """Prove with bounds that numbers agree; None where the function cannot be run on bounds, or none is proved.

    See `BoundedProof` for the arguments.
    """
    rows, columns = torch.rows, sum(math.prod(point.shapes[symbol]) for symbol in variables)
    sweeps, is_large = min(rows, columns), rows > 1 and rows * columns > MOST_ENTRIES
    if is_large or max(1, sweeps) * _products(point) > MOST_PRODUCTS or _elements(point) > MOST_ELEMENTS:
        return None
    proof = BoundedProof(point, torch, variables, tolerance, u)
    with suppress(NoRuleError, OverTimeError):  # the numbers proved until then stay proved
        proof.attempt(np.float64)
        if u is None and not proof.is_whole and _is_quick(point, sweeps):
            proof.attempt(np.longdouble)
    return proof if any(block.any() for block in (*proof.blocks.values(), *proof.lost.values())) else None


def _is_quick(point: Point, sweeps: int) -> bool:
    """Tell whether a second attempt with more digits is quick; never on a machine without a longer float."""
    has_more = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant
    return has_more and sweeps * _elements(point) <= MOST_SLOW[0] and sweeps * _products(point) <= MOST_SLOW[1]


def _elements(point: Point) -> int:
    """Count the elements of all lines of a function."""
    return sum(math.prod(point.shapes[line.symbol]) for line in point.program.lines)


def _products(point: Point) -> int:
    """Count the multiplications in all products of matrices of a function."""
    return sum(
        math.prod(point.shapes[line.symbol]) * point.shapes[line.call.operands[0]][-1]
        for line in point.program.lines
        if line.call.op.kind is Kind.CONTRACTION
    )


def _in_rows(array: Array) -> Array:
    """Flatten all but the first axis."""
    return array.reshape(len(array), -1)


def _ball(middle: np.floating, radius: np.floating) -> Ball:
    """Convert a bound to a ball; the digits beyond float64 go into the radius."""
    near = float(middle)
    return arb(near, (float(abs(middle - near)) + float(radius)) * (1 + 2.0**-50))
