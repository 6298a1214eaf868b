"""Products of one Hessian with directions, judged element by element: each is the derivative of a slope.

Many elements are proved at once by bounds; balls look at the elements left open.  If an operation on the way is not
smooth, series on both sides decide the derivative of a slope along its own input; nothing is claimed of other elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from flint import arb

from gradcli.crosscheck.compare import (
    FIRST_BITS,
    ZERO_BITS,
    Case,
    Singular,
    Tolerance,
    Wrong,
    compare,
    to_float,
    verdicts,
)
from gradcli.crosscheck.judge import unless_minor
from gradcli.crosscheck.point import Point, unravel, way
from gradcli.crosscheck.singular import (
    BITS as OF_SERIES,
    Limit,
    Looks,
    classify_singularities,
    planned,
    shown_number,
    sides_in_words,
)
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.deadline import OverTimeError, require_time
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.second_order import HessianProducts, is_met
from gradcli.results import Array, Entry

OVER_BUDGET = "the second derivatives were over the budget of the reference"

FEW = 1_024
"""Most elements of a product to enclose one by one; of more elements, balls enclose those that bounds leave open."""

MOST_OPEN = 256
"""Most undecided elements to list one by one; more are only counted."""


@dataclass
class Row:
    """Verdicts on the elements of one product.

    Attributes:
        decided: The elements that were looked at one by one.
        bounded: The number of other elements that bounds prove to agree.
        error: About the largest relative error of the elements that bounds prove.
        left: The number of elements that are neither decided nor listed.
        missing: The reason why some elements are not decided.
        work: The number of slopes that were gone through.
    """

    decided: list[Entry]
    bounded: int = 0
    error: float | None = None
    left: int = 0
    missing: str = ""
    work: int = 0


@dataclass
class HessianRows:
    """Products of one Hessian with directions: each element is the derivative of a slope along the direction.

    Args:
        point: The Program and its inputs.
        tolerance: How far a number may be from the truth.
        wrt: The variables of the elements.
    """

    point: Point
    tolerance: Tolerance
    wrt: tuple[str, ...]
    _known: dict[int, HessianProducts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.case = Case(Reference(self.point.program, self.point.shapes, self.point.inputs), self.tolerance)

    @cached_property
    def _without_slope(self) -> Mapping[Direction, Entry]:
        """Inputs along which y certainly has no slope, each with the verdict on the slope, without torch's number."""
        shapes = {name: self.point.shape_of(name) for name in self.wrt}
        entries = [
            Entry(n, (), unravel(j, s), "unchecked", math.nan) for n, s in shapes.items() for j in range(math.prod(s))
        ]
        try:
            found = self.case.reference.plan([self.case.direction(entry) for entry in entries]).run(FIRST_BITS)
        except OverBudgetError:
            return {}
        causes = ((entry, self.case.truth(entry, found)) for entry in entries)
        ones = [Singular(entry, cause, frozenset((0,))) for entry, cause in causes if isinstance(cause, Undefined)]
        seen = (one for one in classify_singularities(self.case, ones) if one.verdict in ("kink", "undefined"))
        return {self.case.direction(one): replace(one, torch=None) for one in seen}

    def _at(self, bits: int) -> HessianProducts:
        if bits not in self._known:
            self._known[bits] = HessianProducts(self.case.reference, bits)
        return self._known[bits]

    def judged(
        self, u: Mapping[str, Array], product: Mapping[str, Array], slopes: Sequence[Entry], *, is_row: bool = False
    ) -> Row:
        """Decide the elements of a product.

        Args:
            u: The direction.
            product: Torch's numbers by variable, of x's shape.
            slopes: The verdicts on the slopes that the product is the derivative of.
            is_row: True for a row of H, of slopes by the element that u moves; else u moves all slopes.
        """
        is_open = {name: np.ones(product[name].size, dtype=bool) for name in self.wrt}
        total = sum(map(len, is_open.values()))
        row = Row([])
        if total > FEW:
            from gradcli.crosscheck.bounded import prove_product

            numbers = {name: product[name] for name in self.wrt}
            proof = prove_product(self.point, u, numbers, self.tolerance)
            if proof is not None:
                is_open = {name: ~block.ravel() for name, block in proof.blocks.items()}
                row.error, row.decided = proof.error, [replace(entry, row=()) for entry in proof.shown]
        left = sum(int(np.count_nonzero(block)) for block in is_open.values())
        row.bounded = total - left - len(row.decided)
        asked = [
            Entry(name, (), unravel(j, self.point.shape_of(name)), "unchecked", float(product[name].ravel()[j]))
            for name in self.wrt
            for j in np.flatnonzero(is_open[name]).tolist()
        ]
        if not asked:
            return row
        try:
            require_time()
            found = self._balls(asked, u, slopes, is_row=is_row)
            is_strict = self.tolerance.is_strict
            row.decided += found if is_strict else [unless_minor(e, product, self.point, self.tolerance) for e in found]
            row.work = sum(map(len, self._at(FIRST_BITS).ways.values()))
        except (OverBudgetError, OverTimeError) as error:
            row.missing = str(error) or OVER_BUDGET
            row.decided += [replace(entry, note=row.missing) for entry in asked] if left <= MOST_OPEN else []
            row.left = left if left > MOST_OPEN else 0
        return row

    def _balls(
        self, asked: Sequence[Entry], u: Mapping[str, Array], slopes: Sequence[Entry], *, is_row: bool
    ) -> list[Entry]:
        """Decide these elements one by one; see `judged`."""
        moving = way(u)
        own = next(iter(moving)) if len(moving) == 1 else None
        waiting, decided = list[Entry](), list[Entry]()
        y = self._at(FIRST_BITS).run.values.get(self.point.program.output, {}).get(0)
        if isinstance(y, Undefined) and any(slope.verdict == "undefined" for slope in slopes):
            return [_unless_missing(entry, slopes) for entry in asked]
        for entry in asked:
            column = self.case.direction(entry)
            by, against = (own, [column]) if is_row and own is not None else (column, list(moving))
            if not is_met(self._at(FIRST_BITS), by, against):
                waiting.append(entry)
                continue
            known = slopes if by == own else [*filter(None, [self._without_slope.get(column)])]
            if column == own:
                decided.append(self._where_met(entry, column, moving, known))
            else:
                decided.append(_unless_missing(entry, known))
        wrong = [Wrong(entry, frozenset((0,))) for entry in decided if entry.verdict == "disagree"]
        others = [entry for entry in decided if entry.verdict != "disagree"]
        return others + self._smooth(waiting, u, wrong)

    def _smooth(self, entries: Sequence[Entry], u: Mapping[str, Array], wrong: list[Wrong]) -> list[Entry]:
        """Decide the entries with only smooth operations on the way, or operations that no relevant input moves.

        Also those in `wrong`, which rounding may explain.
        """

        def truths(bits: int, _: Sequence[Entry]) -> Callable[[Entry], Outcome]:
            found = self._at(bits).along(way(u))
            return lambda entry: self._truth(entry, found)

        known = verdicts(entries, truths, self.tolerance)
        decided = [*known.decided, *(_unknown(entry, "is not decided") for entry, _ in known.missing)]
        wrong += [Wrong(entry, frozenset((0,))) for entry in known.wrong]
        if wrong:
            from gradcli.crosscheck.rounding import explained

            passes = replace(self.point, tangent_of=(self.point, u))
            decided += explained(self.case, passes, None, wrong, lambda ones: self._zeros(ones, u))
        return decided

    def _truth(self, entry: Entry, found: Mapping[Direction, Ball]) -> Outcome:
        truth = found.get(self.case.direction(entry), arb(0))
        return truth if exists(truth) else Undefined("slope", "an operation is not smooth here", decided=False)

    def _zeros(self, wrong: Sequence[Wrong], u: Mapping[str, Array]) -> list[Wrong]:
        """Select the entries with a truth of 0, as far as a float can tell."""
        truths = self._at(ZERO_BITS).along(way(u)) if wrong else {}
        found = {one: truths.get(self.case.direction(one.entry), arb(0)) for one in wrong}
        return [one for one, truth in found.items() if exists(truth) and truth.contains(0)]

    def _where_met(
        self, entry: Entry, by: Direction, moving: Mapping[Direction, float], slopes: Sequence[Entry]
    ) -> Entry:
        """Decide the derivative of a slope along its own input, by series on both sides."""
        missing = _unless_missing(entry, slopes)
        if missing.verdict == "undefined" or any(slope.verdict == "unchecked" for slope in slopes) or not slopes:
            return missing
        is_removable = any(one.verdict == "removable" for one in slopes)
        one = Singular(entry, Undefined("slope", "", decided=False), frozenset((0,)))
        plan = planned(self.case, [one])
        for bits in OF_SERIES:
            if plan is None:
                break
            with precision(bits):
                looks = Looks(self.case, plan, bits).second(one, has_value=not is_removable)
                left, right = (limit.times(moving[by]) for limit in looks)
                found = self._meeting(entry, left, right)
            if missing.verdict == "kink":
                return replace(missing, one_sided=_sides(left, right))
            if found is not None:
                return replace(found, verdict="removable") if is_removable and found.truth is not None else found
        return missing

    def _meeting(self, entry: Entry, left: Limit, right: Limit) -> Entry | None:
        """Give the verdict by the second derivatives on both sides; None if they do not decide."""
        if "unknown" in (left.kind, right.kind):
            return None
        if left.ball is None or right.ball is None:
            note = f"the second derivative does not exist: {sides_in_words(left, right)}"
            return replace(entry, verdict="undefined", note=note, proven=True)
        if not left.meets(right):
            note = "the second derivatives from the left and from the right differ"
            return replace(entry, verdict="kink", note=note, one_sided=_sides(left, right), proven=True)
        if left.ball != right.ball:
            return None
        return compare(entry, right.ball, self.tolerance, is_last=True)


def _sides(left: Limit, right: Limit) -> tuple[float, float] | None:
    return None if left.ball is None or right.ball is None else (to_float(left.ball), to_float(right.ball))


def _unless_missing(entry: Entry, slopes: Sequence[Entry]) -> Entry:
    """Mark an entry as undecided, or as having no truth because the slope that it is the derivative of has none."""
    missing = next((one for one in slopes if one.verdict in ("kink", "undefined")), None)
    if missing is None:
        return _unknown(entry, "is not decided")
    note = f"the gradient does not exist here: {missing.note}"
    if missing.verdict == "kink":
        picked = "" if missing.torch is None else f", and torch picked {shown_number(missing.torch)} for it"
        note = f"the gradient has a kink here{picked}"
    return replace(entry, verdict=missing.verdict, note=note, proven=missing.proven)


def _unknown(entry: Entry, why: str) -> Entry:
    note = f"branches or poles meet here; whether the second derivative exists, {why}"
    return replace(entry, verdict="unchecked", note=note, proven=False)
