"""Entries that bounds on whole arrays prove: all of them at once, where balls could only look at a sample.

First in float64; what that leaves open once more in `longdouble`, if that is not too much.  Only `agree` is said here:
of what is not proved nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb

from gradcli.crosscheck.compare import Tolerance
from gradcli.crosscheck.point import Point, Torch, unravel
from gradcli.language.ops import Kind
from gradcli.language.program.shapes import shapes_in
from gradcli.reference.array_values import MOST_ELEMENTS, Values, adjoints, prepared, tangents
from gradcli.reference.balls import Ball
from gradcli.reference.bounds import Array, Bounds, NoRuleError, summed
from gradcli.reference.deadline import OverTimeError
from gradcli.results import Entry

Mask = npt.NDArray[np.bool_]

MOST_AT_ONCE = 2**22
"""Elements of an adjoint with all its rows."""

MOST_NUMBERS = 2**26
"""Numbers of all adjoints of a Jacobian."""

MOST_ENTRIES = 2**24
"""Of a Jacobian, as each takes a few bytes to remember what is known of it."""

MOST_PRODUCTS = 2**32
"""Multiplications of matrices, each of which is done some fifteen times."""

MOST_SLOW = 2**24, 2**28
"""Elements, and multiplications of matrices, up to which all is done once more with more digits."""

MOST_SHOWN = 64
"""Entries that are given one by one, where no others are."""


@dataclass
class BoundedProof:
    """Which numbers of torch agree with the truth for certain.

    Attributes:
        value: Of y, by flat row.
        blocks: Of J by row and column, or of vᵀJ as one row, by variable.
        error: The largest relative error among them, from the middle of what the truth may be.
        shown: Some of the entries, up to `MOST_SHOWN` of y and of each variable.
    """

    value: Mask
    blocks: dict[str, Mask]
    error: float
    shown: list[Entry]

    @property
    def is_whole(self) -> bool:
        """Whether all of them do."""
        return bool(self.value.all()) and all(bool(block.all()) for block in self.blocks.values())


def prove(point: Point, torch: Torch, variables: Sequence[sympy.Symbol], tolerance: Tolerance) -> BoundedProof | None:
    """What bounds prove of torch's numbers; None where the function cannot be run on them.

    Args:
        point: The Program and its inputs.
        torch: The numbers.
        variables: Those that are differentiated by.
        tolerance: How far a number may be from the truth.
    """
    rows = torch.value.size if torch.jacobian is not None else 1
    sizes = {symbol: math.prod(point.shapes[symbol]) for symbol in variables}
    sweeps = min(rows, sum(sizes.values()))
    if (rows * sum(sizes.values()) > MOST_ENTRIES and rows > 1) or max(1, sweeps) * _products(point) > MOST_PRODUCTS:
        return None
    if _elements(point) > MOST_ELEMENTS:
        return None
    blocks = {str(symbol): np.zeros((rows, size), dtype=bool) for symbol, size in sizes.items()}
    proof = BoundedProof(np.full(torch.value.size, not torch.judges_value), blocks, 0.0, [])
    try:
        for kind in (np.float64, np.longdouble):
            if kind is np.longdouble and not _is_quick(point, sweeps):
                break
            _Prover(point, torch, variables, tolerance, kind).prove(proof)
            if proof.is_whole:
                break
    except (NoRuleError, OverTimeError):
        pass  # what was proved until then stands
    has_some = any(block.any() for block in blocks.values()) or (torch.judges_value and proof.value.any())
    return proof if has_some else None


def _is_quick(point: Point, sweeps: int) -> bool:
    """Whether it may be done with more digits, on machines that have these."""
    has_more = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant
    return has_more and sweeps * _elements(point) <= MOST_SLOW[0] and sweeps * _products(point) <= MOST_SLOW[1]


def _elements(point: Point) -> int:
    """Elements of all lines of a function."""
    return sum(math.prod(point.shapes[line.symbol]) for line in point.program.lines)


def _products(point: Point) -> int:
    """Multiplications of all matrices of a function."""
    return sum(
        math.prod(point.shapes[line.symbol]) * point.shapes[line.call.operands[0]][-1]
        for line in point.program.lines
        if line.call.op.kind is Kind.CONTRACTION
    )


class _Prover:
    """One attempt, in one kind of numbers."""

    def __init__(
        self,
        point: Point,
        torch: Torch,
        variables: Sequence[sympy.Symbol],
        tolerance: Tolerance,
        kind: type[np.floating],
    ) -> None:
        self.point, self.torch, self.tolerance = point, torch, tolerance
        self.sizes = {symbol: math.prod(point.shapes[symbol]) for symbol in variables}
        program = prepared(point.source or point.program)
        self.values = Values(program, shapes_in(program, point.shapes), point.inputs, variables, kind)

    def prove(self, proof: BoundedProof) -> None:
        """Add what this attempt proves."""
        torch, value = self.torch, self.values.value.mapped(lambda x: x[0])
        if torch.judges_value:
            found = self.agreeing(torch.value, value, proof)
            if not any(entry.variable is None for entry in proof.shown):
                proof.shown += self.shown(None, torch.value, value, found)
            proof.value |= found.ravel()
        is_there = value.is_known.ravel()
        for name, rows, columns, truth in self._blocks():
            block = torch.jacobian[name] if torch.jacobian is not None else (torch.vjp or {})[name]
            given = block.reshape(len(proof.blocks[name]), -1)[rows, columns]
            # Where y has no value there is no derivative, whatever flows.
            exists = is_there[rows, None] if torch.jacobian is not None else is_there.all()
            agreeing = self.agreeing(given, truth, proof) & exists
            if not any(entry.variable == name for entry in proof.shown):
                proof.shown += self.shown(name, given, truth, agreeing, rows.start, columns.start)
            proof.blocks[name][rows, columns] |= agreeing

    def _blocks(self) -> Iterator[tuple[str, slice, slice, Bounds]]:
        """The truth of blocks of J, or of vᵀJ: the variable, the rows, the columns, and bounds of that shape."""
        torch = self.torch
        if torch.jacobian is None:
            if torch.vjp is not None and torch.v is not None:
                vs = np.stack([np.asarray(v, dtype=np.float64) for v in (torch.passes or (torch.v,))])
                for symbol, flow in adjoints(self.values, vs).items():
                    found = flow.bounds.mapped(lambda x: x.reshape(len(vs), -1))
                    yield str(symbol), slice(0, 1), slice(0, None), found.routed(lambda x: summed(x, (0,)), len(vs))
            return
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
        """Ranges of so many rows or columns that what flows fits into memory."""
        step = max(1, MOST_AT_ONCE // max(1, *(math.prod(shape) for shape in self.point.shapes.values())))
        return (slice(first, min(first + step, size)) for first in range(0, size, step))

    def agreeing(self, numbers: npt.NDArray[np.floating], truth: Bounds, proof: BoundedProof) -> Mask:
        """Where torch's number is within the tolerance of all that the truth may be."""
        given = np.asarray(numbers, dtype=truth.middle.dtype)
        with np.errstate(all="ignore"):
            distance = (abs(given - truth.middle) * (1 + 2.0**-50) + truth.radius) * (1 + 2.0**-50)
            least = np.maximum(abs(truth.middle) - truth.radius, 0) * (1 - 2.0**-50)
            allowed = self.tolerance.atol + self.tolerance.rtol * least
            found = np.isfinite(given) & truth.is_known & (distance <= allowed * (1 - 2.0**-50))
            errors = np.where(found & (least > 0), abs(given - truth.middle) / least, 0.0)
        proof.error = max(proof.error, float(errors.max(initial=0.0)))
        return np.asarray(found)

    def shown(
        self,
        name: str | None,
        numbers: npt.NDArray[np.floating],
        truth: Bounds,
        agreeing: Mask,
        row: int = 0,
        column: int = 0,
    ) -> list[Entry]:
        """The first that agree, one by one, with what encloses them; `row` and `column` are those of the first."""
        flat = agreeing.reshape(1, -1) if name is None else agreeing
        middle, radius = (part.reshape(flat.shape) for part in (truth.middle, truth.radius))
        found = []
        for i, j in np.argwhere(flat)[:MOST_SHOWN].tolist():
            number, ball = float(numbers.reshape(flat.shape)[i, j]), _ball(middle[i, j], radius[i, j])
            if name is None:
                found.append(Entry(None, unravel(j, self.point.shape), None, "agree", number, proven=True, truth=ball))
                continue
            of_y = unravel(row + i, self.point.shape) if self.torch.jacobian is not None else None
            index = unravel(column + j, self.point.shape_of(name))
            found.append(Entry(name, of_y, index, "agree", number, proven=True, truth=ball))
        return found


def _in_rows(array: Array) -> Array:
    """What is behind the first dimension as one."""
    return array.reshape(len(array), -1)


def _ball(middle: np.floating, radius: np.floating) -> Ball:
    """What a bound encloses; the digits beyond float64 are in the radius."""
    near = float(middle)
    return arb(near, (float(abs(middle - near)) + float(radius)) * (1 + 2.0**-50))
