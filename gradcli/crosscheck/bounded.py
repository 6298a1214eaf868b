"""Entries that bounds on whole arrays prove: all of them at once, where single balls could only look at a sample.

First in float64; entries that this leaves open once more in `longdouble`, or in balls with as many bits as they lack.
Bounds double with each layer of a net and more, so that bits, not care, decide it.  The verdicts given here are `agree`
and, where rounding explains an error, `inaccurate`; other entries whose truth is known are given with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from flint import arb

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.arrays import Array
from gradcli.crosscheck.bounded_gradient import MOST_ADJOINT_ELEMENTS, GradientBounds
from gradcli.crosscheck.compare import FLOAT_FORMATS, Tolerance, compare
from gradcli.crosscheck.minor import is_of_matrices, left_over
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.crosscheck.rounding import digits_left
from gradcli.language.ops import Kind
from gradcli.language.program.passes import for_arrays
from gradcli.language.program.shapes import shapes_in
from gradcli.language.program.wengert import Atom, Program, Shape
from gradcli.progress import budget_factor
from gradcli.reference.array_values import Values
from gradcli.reference.ball_arrays import BallArray, RoundedArray
from gradcli.reference.balls import Ball, precision
from gradcli.reference.bounds import Bounds, Mask, NoRuleError, summed
from gradcli.reference.contractions import contracted
from gradcli.reference.deadline import OverTimeError
from gradcli.results import Entry

MOST_AT_ONCE = 2**22
"""Most elements of an adjoint with all its rows."""

MOST_NUMBERS = 2**26
"""Most numbers of all adjoints of a Jacobian together."""

MOST_PROVED_ENTRIES = 2**24
"""Most entries of a Jacobian, as each takes a few bytes to store whether it is proved."""

MOST_PRODUCTS = 2**32
"""Most multiplications in products of matrices, each of which is done some fifteen times."""

MOST_SLOW = 2**24, 2**28
"""Most elements, and most multiplications in products of matrices, for a second attempt with more digits."""

MOST_BALLS = 2**22
"""Most elements of all lines as balls, of some hundred bytes each; more with a larger budget."""

MOST_BITS = 1_024
"""Most bits of balls: at twenty to a layer enough for some fifty layers."""

FIRST = 40
"""Bits that are to be right at last."""

SPARE = 10
"""Bits of balls beyond those that the bounds of floats lack."""

WIDE = 2.0**-40
"""Relative width of y above which more bits may decide unknown values, such as the sign of a number."""

HOPELESS = 2.0**-10
"""Relative width of y, or of a derivative next to the largest of its gradient, above which bounds tell nothing."""

NEAR = 64.0
"""Largest ratio of torch's error to that of the same computation, rounded as much, that is rounding."""

NOTHING = 2.0**-53
"""Ratio of a truth to torch's number up to which the truth counts as 0."""

EVERY = slice(0, None)
"""All rows, or all columns, of a block."""

MOST_SHOWN = 64
"""Most proved entries to list one by one, where no other entries are listed."""


@dataclass(frozen=True)
class _Off:
    """Numbers of a block that certainly differ from the truth by more than the tolerance.

    Attributes:
        name: The variable, "" for y.
        at: The rows and columns of the block.
        given: Torch's numbers.
        truth: The bounds of the truths.
        mask: Which of them are off.
    """

    name: str
    at: tuple[slice, slice]
    given: Array
    truth: Bounds
    mask: Mask

    @property
    def distance(self) -> Array:
        """Distance of each number from its truth."""
        return np.asarray(abs(self.given - self.truth.middle))


@dataclass
class BoundedProof:
    """Proof that torch's numbers agree with the truth, for those of which bounds show it; all masks have two axes.

    Attributes:
        point: The Program and its inputs.
        numbers: Torch's.
        variables: The variables to differentiate by.
        tolerance: How far a number may be from the truth.
        refines: Whether to try again with more digits what float64 leaves open.
        blocks: The mask of the agreeing numbers: of J by row and column or of vᵀJ as one row, by variable; and of y
            as one column by "", if y is judged.
        lost: The mask of the numbers that are off for certain, as rounding explains.
        error: The largest relative error of an agreeing number, from the middle of the bound of the truth.
        shown: Some of the agreeing entries, up to `MOST_SHOWN` of y and of each variable.
        off: Some of those that rounding explains, up to `MOST_SHOWN` of each variable.
        wrong: Some of those of which it is not known whether rounding explains them, each with its truth.
        zeros: The number of agreeing numbers that cancellation left in place of a 0.
    """

    point: FunctionAtPoint
    numbers: Numbers
    variables: Sequence[sympy.Symbol]
    tolerance: Tolerance
    refines: bool = True
    error: float = 0.0
    shown: list[Entry] = field(default_factory=list)
    off: list[Entry] = field(default_factory=list)
    wrong: list[Entry] = field(default_factory=list)
    zeros: int = 0

    def __post_init__(self) -> None:
        rows = self.numbers.rows
        self.sizes = {symbol: math.prod(self.point.shapes[symbol]) for symbol in self.variables}
        masks = ({str(symbol): np.zeros((rows, n), dtype=bool) for symbol, n in self.sizes.items()} for _ in range(3))
        self.blocks, self.lost, self._within = masks
        self._lacking, self._width, self._depth, self._has_unknown = 0.0, 0.0, 1.0, False
        if self.numbers.judges_value:
            for kept in (self.blocks, self.lost, self._within):
                kept[""] = np.zeros((self.numbers.value.size, 1), dtype=bool)
        self.sweeps = max(1, min(rows, sum(self.sizes.values())))

    @property
    def is_whole(self) -> bool:
        """True if all numbers agree."""
        return all(bool(block.all()) for block in self.blocks.values())

    @property
    def is_decided(self) -> bool:
        """True if each number agrees, or differs for a known reason."""
        return all(bool((block | self.lost[name]).all()) for name, block in self.blocks.items())

    @cached_property
    def function(self) -> Program:
        """The function in operations that have a rule on whole arrays."""
        program = for_arrays(self.point.source)
        return contracted(program, shapes_in(program, self.point.shapes))

    @cached_property
    def shapes(self) -> Mapping[Atom, Shape]:
        """The shapes of all symbols of the function."""
        return shapes_in(self.function, self.point.shapes)

    @cached_property
    def gradient(self) -> GradientBounds:
        """Bounds of the derivatives of the function."""
        return GradientBounds(self.function, self.shapes, self.variables)

    @cached_property
    def elements(self) -> int:
        """Number of elements of all lines, without numbers that are only put elsewhere, such as weights that stay."""
        fixed, count = set(self.function.variables) - {*self.variables}, 0
        for line in self.function.lines:
            if line.call.op.kind is Kind.MOVEMENT and fixed.issuperset(line.call.operands):
                fixed.add(line.symbol)
            else:
                count += math.prod(self.shapes[line.symbol])
        return count

    @cached_property
    def products(self) -> int:
        """Number of multiplications in all products of matrices."""
        return sum(
            math.prod(self.shapes[line.symbol]) * self.shapes[line.call.operands[0]][-1]
            for line in self.function.lines
            if line.call.op.kind is Kind.CONTRACTION
        )

    def attempt(self, kind: type[Any]) -> None:
        """Add what numbers of a kind prove: float64 first, whose bounds tell which errors rounding explains."""
        numbers, waiting = self.numbers, list[_Off]()
        values = self._values(kind)
        y = values.value.in_floats().mapped(lambda x: x.reshape(-1, 1))
        is_there = y.is_known & np.isfinite(y.middle)
        self._see_width(values, y)
        if numbers.judges_value:
            self._agree("", numbers.value.reshape(-1, 1), y, is_there)
            waiting.append(self._off("", numbers.value.reshape(-1, 1), y, is_there))
        if kind is np.float64 and self._width > HOPELESS and self._has_room:
            self._has_unknown = True  # the gradient would prove nothing
            return
        for name, rows, columns, found in self._bounds(values):
            truth, given = found.in_floats(), numbers.block(name)[rows, columns]
            # Without a value of y there is no derivative, whatever bounds the pass gives.
            exists = is_there[rows] if "jacobian" in numbers.derivatives else is_there.all()
            self._agree(name, given, truth, exists, rows, columns)
            if kind is np.float64:
                largest = abs(truth.middle).max(axis=1, initial=0.0, keepdims=True)
                is_close = (abs(given - truth.middle) <= truth.radius) & (truth.radius < HOPELESS * largest)
                self._within[name][rows, columns] = exists & truth.is_known & is_close
            else:
                waiting.append(self._off(name, given, truth, exists, rows, columns))
        waiting = [one for one in waiting if one.mask.any()]
        if kind is not np.float64 and waiting:
            self._explain(waiting, self._measured() if self._has_room and any(map(self._is_open, waiting)) else {})

    def _values(self, kind: type[Any]) -> Values:
        return Values(self.function, self.shapes, self.point.inputs, self.variables, kind)

    def refine(self) -> None:
        """Try the entries that float64 leaves open once more, with as many bits as they lack."""
        has_more = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant
        is_quick = self.sweeps * self.elements <= MOST_SLOW[0] and self.sweeps * self.products <= MOST_SLOW[1]
        bits = self._next_bits(FLOAT_FORMATS["float64"].bits)
        if has_more and is_quick and not (self._has_unknown and self._width > WIDE):
            self.attempt(np.longdouble)
            bits = self._next_bits(int(np.finfo(np.longdouble).nmant))
        while 0 < bits <= MOST_BITS and self._has_room and not self.is_decided:
            with precision(bits):
                self.attempt(BallArray)
            bits = self._next_bits(bits)

    @property
    def _has_room(self) -> bool:
        """Tell whether all elements may become balls, of which there are no rules for factors and spectra."""
        kinds = {line.call.op.kind for line in self.function.lines}
        return (
            self.refines
            and kinds.isdisjoint((Kind.DEFINED, Kind.SPECTRAL))
            and self.sweeps * self.elements <= MOST_BALLS * max(1.0, budget_factor())
        )

    def _next_bits(self, bits: int) -> int:
        """Return the number of bits for the next attempt on open entries; 0 if more bits do not help."""
        if self._has_unknown and self._width > WIDE:
            # Later layers lose as many bits as those before, and all of them once more on the way back.
            lost = bits + max(math.log2(self._width), -bits) if self._depth == 1 else bits / max(self._depth, 1 / 16)
            more = max(2 * lost + FIRST, bits + SPARE)
        elif self._lacking > 0:
            more = bits + self._lacking + SPARE
        else:
            return 0
        return min(64 * math.ceil(more / 64), MOST_BITS) if bits < MOST_BITS else 0

    def _see_width(self, values: Values, y: Bounds) -> None:
        """Find the relative width of y, and the part of the lines after which values are unknown."""
        scale = abs(y.middle).max(initial=0.0, where=y.is_known & np.isfinite(y.middle))
        width = float(y.radius.max(initial=0.0)) / (scale or 1.0)
        lines = [line.symbol for line in self.function.lines]
        self._width = 0.0 if values.missing.keys() & set(lines) else width
        lost = next((n for n, one in enumerate(lines) if not values.values[one].is_known.all()), len(lines))
        self._depth, self._lacking, self._has_unknown = (lost + 1) / (len(lines) + 1), 0.0, False

    # -- numbers that are off

    def _off(
        self,
        name: str,
        given: Array,
        truth: Bounds,
        exists: Mask | np.bool_,
        rows: slice = EVERY,
        columns: slice = EVERY,
    ) -> _Off:
        """Collect the numbers of a block that are off for certain."""
        distance, at = abs(given - truth.middle), (rows, columns)
        most = self.tolerance.atol + self.tolerance.rtol * (abs(truth.middle) + truth.radius)
        mask = exists & truth.is_known & np.isfinite(given) & ~self.blocks[name][at] & ~self.lost[name][at]
        return _Off(name, at, given, truth, mask & (distance * (1 - 2.0**-40) > truth.radius + most))

    def _is_open(self, off: _Off) -> bool:
        """Tell whether the bounds of floats leave some of these without an explanation."""
        is_nonzero = abs(off.truth.middle) > off.truth.radius
        return bool((off.mask & is_nonzero & ~self._within[off.name][off.at]).any())

    def _measured(self) -> dict[str, Array]:
        """Compute all numbers once more, as rounded as torch's are."""
        with precision(FLOAT_FORMATS[self.numbers.dtype].bits), suppress(OverTimeError):
            values = self._values(RoundedArray)
            found = {"": values.value.in_floats().middle.reshape(-1, 1)}
            for name, rows, columns, bounds in self._bounds(values):
                own = bounds.in_floats()
                into = found.setdefault(name, np.full(self.blocks[name].shape, np.nan))
                into[rows, columns] = np.where(own.is_known, own.middle, np.nan)
            return found
        return {}

    def _explain(self, waiting: Sequence[_Off], rounded: Mapping[str, Array]) -> None:
        """Split numbers that are off into those that rounding explains, and those for which this is unknown here."""
        for off in waiting:
            is_nonzero = abs(off.truth.middle) > off.truth.radius
            # What is as good as 0 next to a number that is not 0 is what cancellation leaves.
            is_nothing = off.mask & ~is_nonzero & (off.truth.radius < NOTHING * abs(off.given))
            is_zero = is_nothing & (abs(off.given) <= self._left_over) & bool(off.name)
            self.blocks[off.name][off.at] |= is_zero
            self.zeros += int(np.count_nonzero(is_zero))
            is_near = off.distance <= NEAR * self._noise(off, rounded.get(off.name))
            is_lost = off.mask & is_nonzero & (is_near | self._within[off.name][off.at])
            self.lost[off.name][off.at] |= is_lost
            if is_lost.any():
                self.off += map(self._lost, self._worst(off, is_lost))
            is_unclear = (is_nothing & ~is_zero) | (off.mask & is_nonzero & ~is_lost)
            if rounded and is_unclear.any():
                self.wrong += map(self._wrong, self._worst(off, is_unclear))

    def _noise(self, off: _Off, rounded: Array | None) -> Array:
        """Return the rounding error of each row: the largest error of the same computation there, or one rounding.

        NaN where that is not known.
        """
        truth = off.truth
        if rounded is None:
            return np.full((len(truth.middle), 1), np.nan)
        axis = None if not off.name else 1
        errors = np.where(truth.is_known, abs(rounded[off.at] - truth.middle), 0.0).max(axis=axis, initial=0.0)
        largest = abs(truth.middle).max(axis=axis, initial=0.0)
        noise = np.maximum(errors, largest * 2.0 ** -FLOAT_FORMATS[self.numbers.dtype].bits)
        return np.asarray(noise, dtype=np.float64).reshape(-1, 1)

    @cached_property
    def _left_over(self) -> float:
        """The largest number that kernels leave in place of a 0."""
        every = [self.numbers.block(str(symbol)) for symbol in self.variables]
        if self.tolerance.is_strict or not is_of_matrices(self.point):
            return 0.0
        largest = max((float(abs(one).max(initial=0.0, where=np.isfinite(one))) for one in every), default=0.0)
        return left_over(sum(one.size for one in every), self.point, self.tolerance) * largest

    def _worst(self, off: _Off, chosen: Mask) -> list[Entry]:
        """List the chosen entries that are the farthest from the truth."""
        worst = chosen & (off.distance >= np.sort(off.distance[chosen])[-MOST_SHOWN:][0])
        return self._examples(off.name, off.given, off.truth, worst, off.at[0].start or 0, off.at[1].start or 0)

    def _wrong(self, entry: Entry) -> Entry:
        """Mark an entry that is off as such; a truth that is as good as 0 is 0."""
        if entry.truth.contains(0):
            entry = entry.judged(truth=arb(0))
        return compare(entry, entry.truth, self.tolerance, is_last=True) or entry

    def _agree(
        self,
        name: str,
        given: Array,
        truth: Bounds,
        exists: Mask | np.bool_,
        rows: slice = EVERY,
        columns: slice = EVERY,
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
        self._see_lacking(name, numbers, truth, ~(found | self.blocks[name][rows, columns]))
        if not any((entry.variable or "") == name for entry in self.shown):
            self.shown += self._examples(name, given, truth, found, rows.start or 0, columns.start or 0)
        self.blocks[name][rows, columns] |= found

    def _see_lacking(self, name: str, given: Array, truth: Bounds, is_open: Mask) -> None:
        """Find how many bits open entries lack, and whether some have no bound at all."""
        self._has_unknown = self._has_unknown or bool((is_open & ~truth.is_known).any())
        is_open = is_open & truth.is_known & (given != 0) & np.isfinite(given)
        rtol = np.where(abs(truth.middle) > truth.radius, self.tolerance.rtol, min(NOTHING, self.tolerance.rtol))
        allowed = (self.tolerance.atol + rtol * abs(given))[is_open]
        if allowed.size:
            ratio = float(np.max(truth.radius[is_open] / np.maximum(allowed, np.finfo(np.float64).tiny)))
            self._lacking = max(self._lacking, math.log2(ratio) if ratio > 0 else 0.0)

    def _examples(self, name: str, given: Array, truth: Bounds, chosen: Mask, row: int, column: int) -> list[Entry]:
        """List the first chosen entries as agreeing, each with its ball, of a block that begins at this place."""
        is_of_row = not name or "jacobian" in self.numbers.derivatives
        return [
            self.point.entry(name or None, row + i if is_of_row else None, column + j, given[i, j]).judged(
                verdict="agree", proven=True, truth=_ball(truth.middle[i, j], truth.radius[i, j])
            )
            for i, j in np.argwhere(chosen)[:MOST_SHOWN].tolist()
        ]

    def _lost(self, entry: Entry) -> Entry:
        """Mark an entry that is off as inaccurate, with the number of its right digits."""
        found = compare(entry, entry.truth, self.tolerance, is_last=True) or entry
        note = f"{digits_left(found, self.numbers.dtype)} the rounding of {self.numbers.dtype}"
        return found.judged(verdict="inaccurate", note=note)

    def _bounds(self, values: Values) -> Iterator[tuple[str, slice, slice, Bounds]]:
        """Yield bounds of blocks of J, or of vᵀJ: the variable, the rows, the columns, and bounds of that shape."""
        numbers, rows, columns = self.numbers, self.numbers.value.size, sum(self.sizes.values())
        if "jacobian" not in numbers.derivatives:
            if "vjp" in numbers.derivatives and numbers.v is not None:
                vs = np.stack([np.asarray(v, dtype=np.float64) for v in (numbers.passes or (numbers.v,))])
                for symbol, found in self.gradient.weighted(values, vs).items():
                    yield (
                        str(symbol),
                        EVERY,
                        EVERY,
                        found.mapped(_in_rows).routed(lambda x: summed(x, (0,)), len(vs)),
                    )
        elif min(rows, columns) * self.elements > MOST_NUMBERS:
            return
        elif columns < rows:
            for symbol in self.sizes:
                for part, units in self._units(self.point.shapes[symbol]):
                    found = self.gradient.along(values, symbol, units)
                    yield str(symbol), EVERY, part, found.mapped(_in_rows).mapped(np.transpose)
        else:
            for part, weights in self._units(self.point.shape):
                for symbol, found in self.gradient.weighted(values, weights).items():
                    yield str(symbol), part, EVERY, found.mapped(_in_rows)

    def _units(self, shape: Shape) -> Iterator[tuple[slice, Array]]:
        """Yield the unit arrays of a shape, as many at once as have adjoints or tangents that fit into memory."""
        size = math.prod(shape)
        step = max(1, MOST_AT_ONCE // max(1, *(math.prod(one) for one in self.point.shapes.values())))
        for first in range(0, size, step):
            count = min(step, size - first)
            yield slice(first, first + count), np.eye(count, size, first).reshape(-1, *shape)


def prove(
    point: FunctionAtPoint,
    numbers: Numbers,
    variables: Sequence[sympy.Symbol],
    tolerance: Tolerance,
    *,
    refines: bool = True,
) -> BoundedProof | None:
    """Prove with bounds that numbers agree; None where the function cannot be run on bounds, or none is proved.

    See `BoundedProof` for the arguments.
    """
    rows, columns = numbers.rows, sum(math.prod(point.shapes[symbol]) for symbol in variables)
    is_large = rows > 1 and rows * columns > MOST_PROVED_ENTRIES
    proof = BoundedProof(point, numbers, variables, tolerance, refines)
    if is_large or proof.sweeps * proof.products > MOST_PRODUCTS or proof.elements > MOST_ADJOINT_ELEMENTS:
        return None
    with suppress(NoAdjointError, NoRuleError, OverTimeError):  # the numbers proved until then stay proved
        proof.attempt(np.float64)
        if refines and not proof.is_whole:
            proof.refine()
    every = (*proof.blocks.values(), *proof.lost.values())
    return proof if proof.wrong or any(block.any() for block in every) else None


def _in_rows(array: Array) -> Array:
    """Flatten all but the first axis."""
    return array.reshape(len(array), -1)


def _ball(middle: np.floating, radius: np.floating) -> Ball:
    """Convert a bound to a ball; the digits beyond float64 go into the radius."""
    near = float(middle)
    return arb(near, (float(abs(middle - near)) + float(radius)) * (1 + 2.0**-50))
