"""The verdict on all entries of a pattern: bounds of whole arrays prove them, a product at a time.

The products are those that torch's numbers were read from, of the gradient Program on arrays with bounds: a number of
such a product is the bound of one entry, as no other entry of its group is in the same place.  What bounds leave open,
at a kink, a pole or where digits are lost, is decided by balls for some entries, and counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.arrays import Array
from gradcli.crosscheck.bounded import MOST_BALLS, MOST_SLOW
from gradcli.crosscheck.bounded_gradient import GradientBounds
from gradcli.crosscheck.compare import FIRST_BITS, TOLERANCE, Block, Evidence
from gradcli.crosscheck.gradient_point import GradientPoint
from gradcli.crosscheck.hessian_judge import HessianJudge
from gradcli.crosscheck.judge import JacobianJudge, Judgement
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.crosscheck.sample import Selection
from gradcli.crosscheck.summary import PartCheck
from gradcli.language.ops import Kind
from gradcli.language.program.passes import for_arrays
from gradcli.language.program.shapes import shapes_in
from gradcli.language.program.wengert import Atom, Program, Shape
from gradcli.parts.sparse.grouped_products import GroupedProduct, ProductPlan
from gradcli.progress import budget_factor, set_step
from gradcli.reference.array_values import Values
from gradcli.reference.ball_arrays import BallArray
from gradcli.reference.balls import Ball, precision
from gradcli.reference.bounds import Bounds, NoRuleError
from gradcli.reference.contractions import contracted
from gradcli.reference.deadline import OverTimeError, part_limit, require_time, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.results import Entry, Index, NumberKind

Mask = npt.NDArray[np.bool_]

MOST_BY_BALLS = 200
"""Entries that balls decide, of those that bounds leave open, or as a sample of those that they prove."""

BITS = 128
"""Bits of balls for entries that bounds leave open: twice those of a float, and some for what cancels."""

MOST_VALUES = 50
"""Elements of y that balls decide, of those that bounds leave open."""

SHOWN = 8
"""Entries that balls look at where bounds prove all of them: a second opinion."""

BALLS = 4.0
"""Seconds for them."""


@dataclass
class PatternProof:
    """What bounds say of torch's numbers.

    Attributes:
        agrees: The entries that agree with each number in their bounds.
        is_off: The entries that differ from each number in their bounds by more than the tolerance.
        error: The largest relative error among these.
        value: The same of the elements of y; None where they are not judged.
    """

    agrees: Mask
    is_off: Mask
    error: float = 0.0
    value: Mask | None = None


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


def judged(subject: SparseSubject) -> Judgement:
    """Judge all entries, within the time of the question."""
    with time_limit():
        proof = prove(subject)
        found, evidence = _by_balls(subject, proof)
        part = _part(subject, proof, found)
        return Judgement.summarized([part], evidence)


# -- by bounds


def prove(subject: SparseSubject) -> PatternProof:
    """Prove with bounds that torch's numbers agree, product by product, until the time is over."""
    count = subject.plan.pattern.count
    proof = PatternProof(np.zeros(count, dtype=bool), np.zeros(count, dtype=bool))
    with suppress(NoAdjointError, NoRuleError, OverTimeError):
        bounding = _Bounding(subject, proof)
        bounding.attempt(np.float64)
        bounding.refine()
    return proof


class _Bounding:
    """Bounds of all products."""

    def __init__(self, subject: SparseSubject, proof: PatternProof) -> None:
        point = subject.point
        self.subject, self.proof, self.tolerance = subject, proof, TOLERANCE[subject.dtype]
        program = for_arrays(point.source)
        self.function: Program = contracted(program, shapes_in(program, point.shapes))
        self.shapes: Mapping[Atom, Shape] = shapes_in(self.function, point.shapes)
        self.bounds = GradientBounds(self.function, self.shapes, subject.symbols)

    def attempt(self, kind: type[object]) -> None:
        """Bound y, and then each product that has entries which are not proved yet, in numbers of a kind."""
        subject, pattern, proof = self.subject, self.subject.plan.pattern, self.proof
        values = Values(self.function, self.shapes, subject.point.inputs, subject.symbols, kind)
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
            there = exists[pattern.rows[at]]
            if subject.gradient is not None:  # where the gradient does not exist, it has no derivative
                there &= exists[pattern.columns[at]]
            given = subject.values[at]
            agrees, error = self._agrees(given, truth)
            agrees &= there
            proof.agrees[at] |= agrees
            proof.is_off[at] |= self._is_off(given, truth) & there
            proof.error = max(proof.error, float(error.max(initial=0.0, where=agrees)))

    def refine(self) -> None:
        """Try what is open once more with more digits, and then in balls, where numbers that cancel stay exact."""
        elements = sum(math.prod(self.shapes[line.symbol]) for line in self.function.lines)
        has_rules = {Kind.DEFINED, Kind.SPECTRAL}.isdisjoint(line.call.op.kind for line in self.function.lines)
        for kind, most in ((np.longdouble, MOST_SLOW[0]), (BallArray, MOST_BALLS * max(1.0, budget_factor()))):
            is_open = np.array([not self.proof.agrees[one.entries].all() for one in self.subject.plan.products])
            y = self.proof.value
            sweeps = int(is_open.sum()) + int(y is not None and not y.all())
            if has_rules and 0 < sweeps * elements <= most:
                with precision(BITS):
                    self.attempt(kind)

    def _rows(self, values: Values, product: GroupedProduct) -> Bounds:
        """Bound the entries that are read from vᵀJ."""
        v = product.seed(math.prod(self.subject.point.shape)).reshape(1, *self.subject.point.shape)
        found = self.bounds.weighted(values, v)
        parts = [found[symbol].in_floats().mapped(lambda x: x.reshape(-1)) for symbol in self.subject.symbols]
        whole = parts[0].joined(parts[1:], np.concatenate) if len(parts) > 1 else parts[0]
        return whole.mapped(lambda x: x[product.places])

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


# -- by balls


@dataclass
class _Decided:
    """What balls decided.

    Attributes:
        entries: The entries, with their verdicts.
        places: Their places in the pattern.
        values: The elements of y.
    """

    entries: list[Entry] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    values: list[Entry] = field(default_factory=list)


class _Asking:
    """What is common to the judges of single entries, which have no array of the whole matrix."""

    subject: SparseSubject

    def admit_movements(self, reference: Reference) -> Reference:
        """Let the reference follow elements through lines as long as they are: only a few of them are looked at."""
        most = max(map(math.prod, reference.shapes.values()), default=0)
        return reference.admitting(reference.budget, max(reference.budget, most))

    def entry_at(self, place: int) -> Entry:
        """Make the entry at a place of the pattern."""
        row, number, column = self.subject.place(place)
        return self.subject.point.entry(self.subject.wrt[number], row, column, self.subject.values[place])

    def selection(self, places: Sequence[int]) -> Selection:
        """Select the rows and columns of some entries."""
        found = [self.subject.place(place) for place in places]
        directions = list(dict.fromkeys((self.subject.symbols[number], column) for _, number, column in found))
        return Selection("all", directions, np.unique([row for row, _, _ in found]))


def _numbers(subject: SparseSubject) -> Numbers:
    """Present y alone as torch's numbers: a matrix of all entries would not fit into memory."""
    value = np.asarray(subject.y).reshape(subject.point.shape)
    return Numbers(subject.dtype, value, judges_value=subject.gradient is None)


class _JacobianEntries(_Asking, JacobianJudge):
    """Judge of single entries of a Jacobian."""

    def __init__(self, subject: SparseSubject) -> None:
        self.subject = subject
        super().__init__(subject.point, _numbers(subject), subject.wrt, TOLERANCE[subject.dtype])
        self.reference = self.admit_movements(self.reference)
        self.case = replace(self.case, reference=self.reference)

    def decided(self, places: Sequence[int]) -> tuple[list[Entry], Evidence]:
        """Decide some entries, and collect their truths."""
        selection = self.selection(places)
        plan = self.reference.plan(selection.directions, selection.rows, judges_value=False)
        found = plan.run(FIRST_BITS)
        rows = selection.rows
        evidence = Evidence.of_columns(self.point, selection.directions, found.columns, rows, FIRST_BITS)
        return self._decide(selection, found, [self.entry_at(place) for place in places]), evidence

    def decided_values(self, rows: Sequence[int]) -> list[Entry]:
        """Decide some elements of y."""
        selection = Selection("all", [(self.subject.symbols[0], 0)], np.asarray(rows))
        plan = self.reference.plan(selection.directions, selection.rows)
        found = plan.run(FIRST_BITS)
        if not plan.judges_value:
            return []
        return self._decide(selection, found, [self.point.entry(None, row, 0, self.subject.y[row]) for row in rows])

    def _marked(self, entry: Entry) -> Entry:
        return entry


class _HessianEntries(_Asking, HessianJudge):
    """Judge of single entries of a Hessian."""

    def __init__(self, subject: SparseSubject) -> None:
        gradient = subject.gradient
        assert gradient is not None, "it is of a Hessian"  # noqa: S101
        self.subject = subject
        tolerance = TOLERANCE[subject.dtype]
        given = gradient, gradient.point, _numbers(subject), subject.wrt, tolerance
        super().__init__(*given, value=subject.of, slopes={})
        self.reference = self.admit_movements(self.reference)
        self.case = replace(self.case, reference=self.reference)
        self.function = replace(self.function, reference=self.admit_movements(self.function.reference))

    def decided(self, places: Sequence[int]) -> tuple[list[Entry], Evidence]:
        """Decide some entries, and collect their truths."""
        selection = self.selection(places)
        found = self._plan(selection).run(FIRST_BITS)
        entries = self._decide(selection, found, [self.entry_at(place) for place in places])
        truths: dict[Block, dict[tuple[Index, Index], Ball]] = {}
        for one in map(self.named, entries):
            if one.truth is not None and one.row is not None and one.column is not None:
                block = truths.setdefault((one.by or "", one.variable or ""), {})
                block[one.row, one.column] = one.truth
        return [self.named(one) for one in entries], Evidence(truths, FIRST_BITS)

    def _marked(self, entry: Entry) -> Entry:
        return entry


def _by_balls(subject: SparseSubject, proof: PatternProof) -> tuple[_Decided, Evidence | None]:
    """Decide by balls some of the entries that are open; where all are proved, look at a few once more."""
    is_open = np.flatnonzero(~proof.agrees)
    chosen = _spaced(is_open, MOST_BY_BALLS) if len(is_open) else _spaced(np.arange(len(proof.agrees)), SHOWN)
    if not len(chosen):
        return _Decided(), None
    found, evidences = _Decided(), list[Evidence]()
    with suppress(OverBudgetError, OverTimeError), part_limit(BALLS):
        judge = _JacobianEntries(subject) if subject.gradient is None else _HessianEntries(subject)
        step = max(1, len(chosen) // 4)
        for first in range(0, len(chosen), step):  # those that were decided stay so if the time is over
            places = chosen[first : first + step].tolist()
            entries, evidence = judge.decided(places)
            found.entries += entries
            found.places += places
            evidences.append(evidence)
        if isinstance(judge, _JacobianEntries) and proof.value is not None and not proof.value.all():
            rows = _spaced(np.flatnonzero(~proof.value), MOST_VALUES)
            found.values = judge.decided_values(rows.tolist())
    return found, _joined(evidences)


def enclosed(subject: SparseSubject, places: Sequence[int]) -> Evidence | None:
    """Enclose the truths of some entries by balls; None where that takes too long."""
    with suppress(OverBudgetError, OverTimeError), part_limit(BALLS):
        judge = _JacobianEntries(subject) if subject.gradient is None else _HessianEntries(subject)
        return judge.decided(places)[1]
    return None


def _joined(evidences: Sequence[Evidence]) -> Evidence | None:
    if not evidences:
        return None
    blocks: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for one in evidences:
        for block, truths in one.blocks.items():
            blocks.setdefault(block, {}).update(truths)
    return replace(evidences[0], blocks=blocks, reached=None)


def _spaced(places: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Choose at most this many places, those at the ends among them."""
    if len(places) <= most:
        return places
    return places[np.unique(np.linspace(0, len(places) - 1, most).astype(np.int64))]


def _all_zero(subject: SparseSubject) -> PartCheck:
    """Make the part of a matrix without a pattern: all of its entries are 0, for all values."""
    entries = math.prod(subject.plan.pattern.shape)
    if not entries:
        return PartCheck(subject.kind, 0, (), "all")
    first = subject.point.entry(subject.wrt[0], 0, 0, 0.0).judged(verdict="agree", proven=True, truth=arb(0))
    if subject.gradient is not None:
        name, index = subject.gradient.element(0)
        first = first.moved(kind="hessian", by=name, row=index)
    return PartCheck(subject.kind, entries, [first], "all", zeros=entries - 1)


def _part(subject: SparseSubject, proof: PatternProof, found: _Decided) -> PartCheck:
    """Count what is proved, decided and left open."""
    total = len(proof.agrees)
    if not total:
        return _all_zero(subject)
    proved = proof.agrees.copy()
    proved[found.places] = False  # each entry is counted once
    bounded = int(np.count_nonzero(proved))
    others = ~proved
    others[found.places] = False
    off = int(np.count_nonzero(others & proof.is_off))
    left = int(np.count_nonzero(others)) - off
    notes = []
    if off:
        notes.append(f"{off:,} more entries differ from the truth by more than rounding of the result")
    if left:
        notes.append(
            f"{left:,} {'entry' if left == 1 else 'entries'} could not be decided within the budget of the reference"
        )
    if proof.value is None and subject.gradient is None:
        notes.append("y itself was not checked")
    elif proof.value is not None and not proof.value.all():
        checked = int(np.count_nonzero(proof.value)) + len(found.values)
        if checked < len(proof.value):
            notes.append(f"of y, {checked:,} of {len(proof.value):,} elements were checked")
    return PartCheck(
        subject.kind,
        total,
        [*found.entries, *found.values],
        "all" if not notes else "what could be decided",
        tuple(notes),
        is_whole=not notes,
        bounded=bounded + off,
        undecided=left,
        error=proof.error,
    )
