"""Bounds of all entries of a pattern, a product at a time.

The products are those that torch's numbers were read from, of the gradient Program on arrays with bounds: a number of
such a product is the bound of one entry, as no other entry of its group is in the same place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.arrays import Array
from gradcli.crosscheck.bounded import HOPELESS, MOST_BALLS, MOST_SLOW
from gradcli.crosscheck.bounded_gradient import GradientBounds
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.crosscheck.gradient_point import GradientPoint
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.language.ops import Kind
from gradcli.language.program.passes import for_arrays
from gradcli.language.program.shapes import shapes_in
from gradcli.language.program.wengert import Atom, Program, Shape
from gradcli.parts.sparse.grouped_products import GroupedProduct, ProductGuard, ProductPlan
from gradcli.parts.sparse.pattern import Indices
from gradcli.progress import budget_factor, set_step
from gradcli.reference.array_values import Values
from gradcli.reference.ball_arrays import BallArray
from gradcli.reference.balls import Ball, precision
from gradcli.reference.bounds import Bounds, NoRuleError
from gradcli.reference.contractions import contracted
from gradcli.reference.deadline import OverTimeError, part_limit, require_time
from gradcli.results import NumberKind

Mask = npt.NDArray[np.bool_]

BITS = 128
"""Bits of balls for entries that bounds leave open: twice those of a float, and some for what cancels."""

MOST_VALUES = 50
"""Elements of y that balls decide one by one, of those that bounds leave open."""

MOST_BY_BALLS = 200
"""Entries that balls decide, of those that bounds leave open."""

SHOWN = 8
"""Entries that balls look at where bounds prove all of them: a second opinion."""

SLACK = 16.0
"""How much more than bounds of float64 products of torch may be off, whose operations have further roundings."""

LAST = 1.0
"""Seconds that more digits leave to the balls that come after them: twice what `MOST_BY_BALLS` entries take."""


@dataclass
class PatternProof:
    """What bounds say of torch's numbers.

    Attributes:
        agrees: The entries that agree with each number in their bounds.
        is_off: The entries that differ from each number in their bounds by more than the tolerance.
        is_rounding: The entries that are within the bounds of float64, so that rounding explains what they are off.
        error: The largest relative error among these.
        value: The same of the elements of y; None where they are not judged.
        kinds: The open entries by the kind of place that they come through, where there are many of them.
        shown: The bounds of some entries, by their places: what there is to show where balls take too long.
    """

    agrees: Mask
    is_off: Mask
    is_rounding: Mask
    error: float = 0.0
    value: Mask | None = None
    kinds: Mapping[str, Mask] = field(default_factory=dict)
    shown: dict[int, Ball] = field(default_factory=dict)

    @classmethod
    def without_proofs(cls, count: int) -> PatternProof:
        """Return the proof of none of so many entries."""
        return cls(np.zeros(count, dtype=bool), np.zeros(count, dtype=bool), np.zeros(count, dtype=bool))


@dataclass
class SparseSubject:
    """Torch's numbers for the entries of a pattern, and the function that they are judged by.

    Attributes:
        point: The function, or its gradient, at the point.
        wrt: The variables of the columns.
        plan: The products.
        values: Torch's numbers, an entry each.
        y: Torch's y, or the gradient, flat.
        dtype: Of the numbers.
        gradient: The gradient, if the numbers are of a Hessian.
        of: The value of the function that the gradient is of, for a Hessian.
    """

    point: FunctionAtPoint
    wrt: tuple[str, ...]
    plan: ProductPlan
    values: Array
    y: Array
    dtype: str
    gradient: GradientPoint | None = None
    of: float = math.nan

    @property
    def kind(self) -> NumberKind:
        """The kind of the entries."""
        return "jacobian" if self.gradient is None else "hessian"

    @cached_property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The variables of the columns as symbols."""
        return tuple(sympy.Symbol(name, real=True) for name in self.wrt)

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """The first column of each variable, and the number of all columns."""
        sizes = [math.prod(self.point.shapes[symbol]) for symbol in self.symbols]
        return np.cumsum([0, *sizes])

    def place(self, entry: int) -> tuple[int, int, int]:
        """Return the row of an entry, the number of its variable, and the column of this."""
        column = int(self.plan.pattern.columns[entry])
        number = int(np.searchsorted(self.starts, column, "right")) - 1
        return int(self.plan.pattern.rows[entry]), number, column - int(self.starts[number])


def prove(subject: SparseSubject, kinds_of: Callable[[SparseSubject, Mask], Mapping[str, Mask]]) -> PatternProof:
    """Prove with bounds that torch's numbers agree, product by product, until the time is over.

    Args:
        subject: The numbers.
        kinds_of: Parts many open entries by kind, before more digits are tried on them: these may take all of the time.
    """
    proof = PatternProof.without_proofs(subject.plan.pattern.count)
    agrees = proof.agrees
    unproved = suppress(NoAdjointError, NoRuleError, OverTimeError)
    bounding: _TruthBounds | None = None
    with unproved:
        bounding = _TruthBounds(subject, proof)
        bounding.attempt(np.float64)
    if np.count_nonzero(~agrees) > MOST_BY_BALLS:
        proof.kinds = kinds_of(subject, ~agrees)
    if bounding is not None:
        with unproved, part_limit(math.inf) as whole, part_limit(whole.left() - min(LAST, whole.left() / 4)):
            bounding.refine()
    is_many = np.count_nonzero(~agrees) > MOST_BY_BALLS
    proof.kinds = {kind: mask & ~agrees for kind, mask in proof.kinds.items() if is_many}
    return proof


def is_explained(subject: SparseSubject, guard: ProductGuard) -> bool:
    """Tell whether rounding explains that torch's vᵀJ is not that of the entries.

    Terms that cancel within each entry leave entries of rounding alone, which do not tell how large the terms were.
    Bounds do: what both products are off must not pass their radius.
    """
    with suppress(NoAdjointError, NoRuleError, OverTimeError):
        truth = (
            _TruthBounds(subject, PatternProof.without_proofs(0)).weighted(guard.weights).mapped(lambda x: x[guard.off])
        )
        room = SLACK * float(np.finfo(subject.dtype).eps) / float(np.finfo(np.float64).eps) * truth.radius
        distance = np.maximum(*(abs(one - truth.middle) for one in guard.products))
        return bool(truth.is_known.all() and (distance <= room).all())
    return False


class _TruthBounds:
    """Bounds of all products."""

    def __init__(self, subject: SparseSubject, proof: PatternProof) -> None:
        point = subject.point
        self.subject, self.proof, self.tolerance = subject, proof, TOLERANCE[subject.dtype]
        program = for_arrays(point.source)
        self.function: Program = contracted(program, shapes_in(program, point.shapes))
        self.shapes: Mapping[Atom, Shape] = shapes_in(self.function, point.shapes)
        self.bounds = GradientBounds(self.function, self.shapes, subject.symbols, simplifies=True)

    def _values(self, kind: type[object] = np.float64) -> Values:
        """Evaluate the function in numbers of a kind."""
        return Values(
            self.function, self.shapes, self.subject.point.inputs, self.subject.symbols, kind, kept=self._kept
        )

    def weighted(self, v: Array) -> Bounds:
        """Bound vᵀJ of flat v, flat over all variables, in float64."""
        return self._weighted(self._values(), v)

    def attempt(self, kind: type[object]) -> None:
        """Bound y, and then each product that has entries which are not proved yet, in numbers of a kind."""
        subject, pattern, proof = self.subject, self.subject.plan.pattern, self.proof
        values = self._values(kind)
        y = values.value.in_floats().mapped(lambda x: np.broadcast_to(x, (1, *subject.point.shape)).reshape(-1))
        exists = y.is_known & np.isfinite(y.middle)
        if subject.gradient is None:
            agrees = self._agrees(subject.y, y)[0] & exists
            proof.value = agrees if proof.value is None else proof.value | agrees
        count = len(subject.plan.products)
        for number, product in enumerate(subject.plan.products):
            at = product.entries
            if proof.agrees[at].all():
                continue
            require_time()
            set_step("proving", number, count)
            truth = self._rows(values, product) if product.axis == "rows" else self._columns(values, product)
            given = subject.values.take(at)
            agrees, error = self._agrees(given, truth)
            if not exists.all():
                there = exists[pattern.rows[at]]
                if subject.gradient is not None:  # where the gradient does not exist, it has no derivative
                    there &= exists[pattern.columns[at]]
                agrees &= there
            else:
                there = np.ones(len(at), dtype=bool)
            if agrees.all():
                proof.agrees[at] = True
            else:
                proof.agrees[at] |= agrees
                proof.is_off[at] |= self._is_off(given, truth) & there
                if kind is np.float64:
                    proof.is_rounding[at] = there & _is_within(given, truth)
            self._show(at, truth, agrees)
            proof.error = max(proof.error, float(error.max(initial=0.0, where=agrees)))

    @cached_property
    def _kept(self) -> set[Atom] | None:
        """The values that products take, so that the others are no burden on memory; all where products are unknown."""
        axes = {one.axis for one in self.subject.plan.products}
        with suppress(NoAdjointError):
            return self.bounds.taken(self.subject.symbols if "columns" in axes else ())
        return None

    def _show(self, at: Indices, truth: Bounds, agrees: Mask) -> None:
        """Keep the bounds of the first entries of a product that agree."""
        for n in np.flatnonzero(agrees)[: SHOWN - len(self.proof.shown)].tolist():
            self.proof.shown[int(at[n])] = arb(float(truth.middle[n]), float(truth.radius[n]) * (1 + 2.0**-50) + 1e-300)

    def refine(self) -> None:
        """Try what is open once more with more digits, and then in balls, where numbers that cancel stay exact."""
        if self.proof.agrees.all() and (self.proof.value is None or self.proof.value.all()):
            return
        elements = sum(math.prod(self.shapes[line.symbol]) for line in self.function.lines)
        has_rules = {Kind.DEFINED, Kind.SPECTRAL}.isdisjoint(line.call.op.kind for line in self.function.lines)
        for kind, most in ((np.longdouble, MOST_SLOW[0]), (BallArray, MOST_BALLS * max(1.0, budget_factor()))):
            is_open = np.array([not self.proof.agrees[one.entries].all() for one in self.subject.plan.products])
            y = self.proof.value
            sweeps = int(is_open.sum()) + int(y is not None and np.count_nonzero(~y) > MOST_VALUES)
            if has_rules and 0 < sweeps * elements <= most:
                with precision(BITS):
                    self.attempt(kind)

    def _rows(self, values: Values, product: GroupedProduct) -> Bounds:
        """Bound the entries that are read from vᵀJ."""
        v = product.seed(math.prod(self.subject.point.shape))
        return self._weighted(values, v).mapped(lambda x: x[product.places])

    def _weighted(self, values: Values, v: Array) -> Bounds:
        """Bound vᵀJ of flat v, flat over all variables."""
        found = self.bounds.weighted(values, v.reshape(1, *self.subject.point.shape))
        parts = [found[symbol].in_floats().mapped(lambda x: x.reshape(-1)) for symbol in self.subject.symbols]
        return parts[0].joined(parts[1:], np.concatenate) if len(parts) > 1 else parts[0]

    def _columns(self, values: Values, product: GroupedProduct) -> Bounds:
        """Bound the entries that are read from Ju: of each variable by itself, as an entry has one."""
        starts, columns = self.subject.starts, self.subject.plan.pattern.columns[product.entries]
        u = product.seed(int(starts[-1]))
        kind = np.longdouble if values.kind is np.longdouble else np.float64
        middle: Array = np.zeros(len(columns), kind)
        radius: Array = np.full(len(columns), np.inf, kind)
        for symbol, first, last in zip(self.subject.symbols, starts[:-1], starts[1:], strict=True):
            own = np.flatnonzero((columns >= first) & (columns < last))
            if len(own):
                direction = u[first:last].reshape(1, *self.shapes[symbol])
                found = self.bounds.along(values, symbol, direction).in_floats().mapped(lambda x: x.reshape(-1))
                middle[own], radius[own] = (one[product.places[own]] for one in (found.middle, found.radius))
        return Bounds(middle, radius)

    def _agrees(self, given: Array, truth: Bounds) -> tuple[Mask, Array]:
        """Tell which numbers are within the tolerance of every number in their bounds, and how far they may be off."""
        numbers, tolerance = np.asarray(given, dtype=truth.middle.dtype), self.tolerance
        with np.errstate(all="ignore"):
            distance = (abs(numbers - truth.middle) * (1 + 2.0**-50) + truth.radius) * (1 + 2.0**-50)
            least = np.maximum(abs(truth.middle) - truth.radius, 0) * (1 - 2.0**-50)
            allowed = tolerance.atol + tolerance.rtol * least
            found = np.isfinite(numbers) & truth.is_known & (distance <= allowed * (1 - 2.0**-50))
            errors = np.where(found & (least > 0), abs(numbers - truth.middle) / least, 0.0)
        return found, errors

    def _is_off(self, given: Array, truth: Bounds) -> Mask:
        """Tell which numbers are farther than the tolerance from every number in their bounds."""
        with np.errstate(all="ignore"):
            allowed = self.tolerance.atol + self.tolerance.rtol * (abs(truth.middle) + truth.radius)
            distance = abs(np.asarray(given, dtype=np.float64) - truth.middle) * (1 - 2.0**-40)
            found: Mask = truth.is_known & np.isfinite(given) & (distance > truth.radius + allowed)
        return found


def _is_within(given: Array, truth: Bounds) -> Mask:
    """Tell which numbers are within bounds that tell something: any order of these operations may give them."""
    largest = abs(truth.middle).max(initial=0.0)
    with np.errstate(all="ignore"):
        found: Mask = (abs(given - truth.middle) <= truth.radius) & (truth.radius < HOPELESS * largest)
    return found
