"""Entries that bounds on whole arrays prove: all of them at once, where balls could only look at a sample.

First in float64; entries that this leaves open once more in `longdouble`, if that is not too much.  The only verdicts
given here are `agree` and, where rounding explains an error, `inaccurate`: of other entries nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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

MOST_SHOWN = 64
"""Most proved entries to list one by one, where no other entries are listed."""


@dataclass
class BoundedProof:
    """Masks of torch's numbers that agree with the truth for certain.

    Attributes:
        value: The mask of y, by flat row.
        blocks: The mask of J by row and column, or of vᵀJ as one row, by variable.
        error: The largest relative error of an agreeing number, from the middle of the bound of the truth.
        shown: Some of the agreeing entries, up to `MOST_SHOWN` of y and of each variable.
        lost: The mask of the entries of J or vᵀJ that are off for certain, as rounding explains.
        off: Some of the entries in `lost`, up to `MOST_SHOWN` of each variable.
    """

    value: Mask
    blocks: dict[str, Mask]
    error: float
    shown: list[Entry]
    lost: dict[str, Mask]
    off: list[Entry] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """True if all numbers agree."""
        return bool(self.value.all()) and all(bool(block.all()) for block in self.blocks.values())


def prove(
    point: Point,
    torch: Torch,
    variables: Sequence[sympy.Symbol],
    tolerance: Tolerance,
    u: Mapping[str, npt.NDArray[np.floating]] | None = None,
) -> BoundedProof | None:
    """Prove with bounds that torch's numbers agree; None where the function cannot be run on bounds, or none is proved.

    Args:
        point: The Program and its inputs.
        torch: The numbers; those of Hu, for a y of one element, in place of vᵀJ.
        variables: The variables to differentiate by.
        tolerance: How far a number may be from the truth.
        u: The direction of Hu.
    """
    rows = torch.value.size if torch.jacobian is not None else 1
    sizes = {symbol: math.prod(point.shapes[symbol]) for symbol in variables}
    columns = sum(sizes.values())
    sweeps, is_large = min(rows, columns), rows > 1 and rows * columns > MOST_ENTRIES
    if is_large or max(1, sweeps) * _products(point) > MOST_PRODUCTS or _elements(point) > MOST_ELEMENTS:
        return None
    blocks = {str(symbol): np.zeros((rows, size), dtype=bool) for symbol, size in sizes.items()}
    within, lost = ({name: np.zeros_like(block) for name, block in blocks.items()} for _ in range(2))
    proof = BoundedProof(np.full(torch.value.size, not torch.judges_value), blocks, 0.0, [], lost)
    try:
        for kind in (np.float64, np.longdouble):
            if kind is np.longdouble and (u is not None or not _is_quick(point, sweeps)):
                break
            _Prover(point, torch, variables, tolerance, kind, u).prove(proof, within)
            if proof.is_whole:
                break
    except (NoRuleError, OverTimeError):
        pass  # the numbers proved until then stay proved
    has_some = any(block.any() for block in (*blocks.values(), *lost.values())) or (
        torch.judges_value and proof.value.any()
    )
    return proof if has_some else None


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


class _Prover:
    """Attempt at a proof, in one kind of numbers."""

    def __init__(
        self,
        point: Point,
        torch: Torch,
        variables: Sequence[sympy.Symbol],
        tolerance: Tolerance,
        kind: type[np.floating],
        u: Mapping[str, npt.NDArray[np.floating]] | None,
    ) -> None:
        self.point, self.torch, self.tolerance = point, torch, tolerance
        self.sizes = {symbol: math.prod(point.shapes[symbol]) for symbol in variables}
        program = prepared(point.source)
        self.u = u and {symbol: u[str(symbol)][None] for symbol in program.variables if str(symbol) in u}
        moving = list(dict.fromkeys((*variables, *(self.u or ()))))
        self.values = Values(program, shapes_in(program, point.shapes), point.inputs, moving, kind)

    def prove(self, proof: BoundedProof, within: Mapping[str, Mask]) -> None:
        """Add the proofs of this attempt; `within` marks the numbers that the bounds in float64, rounded, contain."""
        torch, value = self.torch, self.values.value.mapped(lambda x: x[0])
        if torch.judges_value:
            found = self.agreeing(torch.value, value, proof)
            if not any(entry.variable is None for entry in proof.shown):
                proof.shown += self.examples(None, torch.value, value, found)
            proof.value |= found.ravel()
        is_there = value.is_known.ravel()
        for name, rows, columns, truth in self._blocks():
            block = torch.jacobian[name] if torch.jacobian is not None else (torch.vjp or {})[name]
            given = block.reshape(len(proof.blocks[name]), -1)[rows, columns]
            # Without a value of y there is no derivative, whatever bounds the pass gives.
            exists = is_there[rows, None] if torch.jacobian is not None else is_there.all()
            agreeing = self.agreeing(given, truth, proof) & exists
            if not any(entry.variable == name for entry in proof.shown):
                proof.shown += self.examples(name, given, truth, agreeing, rows.start, columns.start)
            proof.blocks[name][rows, columns] |= agreeing
            distance = abs(given - truth.middle)
            if self.values.kind is np.float64:
                within[name][rows, columns] = exists & truth.is_known & (distance <= truth.radius)
                continue
            most = self.tolerance.atol + self.tolerance.rtol * (abs(truth.middle) + truth.radius)
            is_off = within[name][rows, columns] & exists & (distance * (1 - 2.0**-40) > truth.radius + most)
            is_off &= abs(truth.middle) > truth.radius  # a number in place of a 0 may be left by cancellation
            proof.lost[name][rows, columns] = is_off
            if is_off.any():
                worst = is_off & (distance >= np.sort(distance[is_off])[-MOST_SHOWN:][0])
                off = self.examples(name, given, truth, worst, rows.start, columns.start)
                proof.off += map(self._lost, off)

    def _lost(self, entry: Entry) -> Entry:
        """Mark an entry that is off as inaccurate, with the number of its right digits."""
        found = compare(entry, entry.truth, self.tolerance, is_last=True) or entry
        return replace(
            found,
            verdict="inaccurate",
            note=f"{digits_left(found, self.torch.dtype)} the rounding of {self.torch.dtype}",
        )

    def _blocks(self) -> Iterator[tuple[str, slice, slice, Bounds]]:
        """Yield bounds of blocks of J, or of vᵀJ: the variable, the rows, the columns, and bounds of that shape."""
        torch = self.torch
        if self.u is not None:
            for symbol, flow in hessian_product(self.values, self.u).items():
                if symbol in self.sizes:
                    yield str(symbol), slice(0, 1), slice(0, None), flow.bounds.mapped(_in_rows)
        elif torch.jacobian is None:
            if torch.vjp is not None and torch.v is not None:
                vs = np.stack([np.asarray(v, dtype=np.float64) for v in (torch.passes or (torch.v,))])
                for symbol, flow in adjoints(self.values, vs).items():
                    found = flow.bounds.mapped(lambda x: x.reshape(len(vs), -1))
                    yield str(symbol), slice(0, 1), slice(0, None), found.routed(lambda x: summed(x, (0,)), len(vs))
        else:
            rows, columns = torch.value.size, sum(self.sizes.values())
            if min(rows, columns) * _elements(self.point) <= MOST_NUMBERS:
                yield from self._by_columns() if columns < rows else self._by_rows()

    def _by_rows(self) -> Iterator[tuple[str, slice, slice, Bounds]]:
        size, shape = self.torch.value.size, self.point.shape
        for rows in self._parts(size):
            weights = np.eye(rows.stop - rows.start, size, rows.start).reshape(-1, *shape)
            for symbol, flow in adjoints(self.values, weights).items():
                yield str(symbol), rows, slice(0, None), flow.bounds.mapped(_in_rows)

    def _by_columns(self) -> Iterator[tuple[str, slice, slice, Bounds]]:
        for symbol, size in self.sizes.items():
            for columns in self._parts(size):
                ways = np.eye(columns.stop - columns.start, size, columns.start)
                flow = tangents(self.values, {symbol: ways.reshape(-1, *self.point.shapes[symbol])})
                found = flow.bounds.mapped(_in_rows).mapped(np.transpose)
                yield str(symbol), slice(0, self.torch.value.size), columns, found

    def _parts(self, size: int) -> Iterator[slice]:
        """Split rows or columns into ranges with adjoints or tangents that fit into memory."""
        step = max(1, MOST_AT_ONCE // max(1, *(math.prod(shape) for shape in self.point.shapes.values())))
        return (slice(first, min(first + step, size)) for first in range(0, size, step))

    def agreeing(self, numbers: npt.NDArray[np.floating], truth: Bounds, proof: BoundedProof) -> Mask:
        """Mark torch's numbers that are within the tolerance of every number in the bound of the truth."""
        given = np.asarray(numbers, dtype=truth.middle.dtype)
        with np.errstate(all="ignore"):
            distance = (abs(given - truth.middle) * (1 + 2.0**-50) + truth.radius) * (1 + 2.0**-50)
            least = np.maximum(abs(truth.middle) - truth.radius, 0) * (1 - 2.0**-50)
            allowed = self.tolerance.atol + self.tolerance.rtol * least
            found = np.isfinite(given) & truth.is_known & (distance <= allowed * (1 - 2.0**-50))
            errors = np.where(found & (least > 0), abs(given - truth.middle) / least, 0.0)
        proof.error = max(proof.error, float(errors.max(initial=0.0)))
        return np.asarray(found)

    def examples(
        self,
        name: str | None,
        numbers: npt.NDArray[np.floating],
        truth: Bounds,
        agreeing: Mask,
        row: int = 0,
        column: int = 0,
    ) -> list[Entry]:
        """List the first agreeing entries, each with its ball; `row` and `column` are the offset of the block."""
        flat = agreeing.reshape(-1, 1) if name is None else agreeing
        given, middle, radius = (part.reshape(flat.shape) for part in (numbers, truth.middle, truth.radius))
        is_of_row = name is None or self.torch.jacobian is not None
        return [
            replace(
                self.point.entry(name, row + i if is_of_row else None, column + j, given[i, j]),
                verdict="agree",
                proven=True,
                truth=_ball(middle[i, j], radius[i, j]),
            )
            for i, j in np.argwhere(flat)[:MOST_SHOWN].tolist()
        ]


def _in_rows(array: Array) -> Array:
    """Flatten all but the first axis."""
    return array.reshape(len(array), -1)


def _ball(middle: np.floating, radius: np.floating) -> Ball:
    """Convert a bound to a ball; the digits beyond float64 go into the radius."""
    near = float(middle)
    return arb(near, (float(abs(middle - near)) + float(radius)) * (1 + 2.0**-50))
