"""Products of one Hessian with directions, judged element by element: each is the derivative of a slope.

Many elements are proved at once by bounds; balls look at the elements left open.  If an operation on the way is not
smooth, series on both sides decide the derivative of a slope along its own input; nothing is claimed of other elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.compare import FIRST_BITS, Case, Singular, Tolerance, compare, to_float, verdicts
from gradcli.crosscheck.judge import MOST_OPEN
from gradcli.crosscheck.minor import unless_minor
from gradcli.crosscheck.point import Point, Torch, way
from gradcli.crosscheck.sample import ALL_ENTRIES
from gradcli.crosscheck.singular import (
    BITS as OF_SERIES,
    Limit,
    Looks,
    classify_singularities,
    planned,
    shown_number,
    sides_in_words,
)
from gradcli.crosscheck.summary import FamilyCheck
from gradcli.reference.balls import exists, precision
from gradcli.reference.deadline import OverTimeError, require_time
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.second_order import HessianProducts
from gradcli.results import Array, Entry


@dataclass
class HessianRows:
    """Products of one Hessian with directions: each element is the derivative of a slope along the direction.

    Args:
        point: The Program and its inputs.
        tolerance: How far a number may be from the truth.
        wrt: The variables of the elements.
        work: The number of slopes that were gone through.
        value: Torch's y; NaN if it is not known.
    """

    point: Point
    tolerance: Tolerance
    wrt: tuple[str, ...]
    work: int = 0
    value: float = math.nan

    def __post_init__(self) -> None:
        reference = Reference(self.point.program, self.point.shapes, self.point.inputs)
        self.case = Case(reference, self.tolerance, value=np.array([self.value]))
        self._at = cache(partial(HessianProducts, self.case.reference))

    @cached_property
    def _without_slope(self) -> Mapping[Direction, Entry]:
        """Inputs along which y certainly has no slope, each with the verdict on the slope, without torch's number."""
        directions = self.point.directions(self.wrt)
        entries = [self.point.entry(str(symbol), 0, j, math.nan) for symbol, j in directions]
        try:
            found = self.case.reference.plan(directions).run(FIRST_BITS)
        except OverBudgetError:
            return {}
        causes = ((entry, self.case.truth(entry, found)) for entry in entries)
        ones = [Singular(entry, cause, frozenset((0,))) for entry, cause in causes if isinstance(cause, Undefined)]
        seen = (one for one in classify_singularities(self.case, ones) if one.verdict in ("kink", "undefined"))
        return {self.case.direction(one): replace(one, torch=None) for one in seen}

    def judged(
        self, u: Mapping[str, Array], product: Mapping[str, Array], slopes: Sequence[Entry], *, is_row: bool = False
    ) -> FamilyCheck:
        """Decide the elements of a product.

        Args:
            u: The direction.
            product: Torch's numbers by variable, of x's shape.
            slopes: The verdicts on the slopes that the product is the derivative of.
            is_row: True for a row of H, of slopes by the element that u moves; else u moves all slopes.
        """
        total, proof = sum(product[name].size for name in self.wrt), None
        if total > ALL_ENTRIES:  # of more, balls enclose those that bounds leave open
            from gradcli.crosscheck.bounded import prove

            numbers = Torch(self.tolerance.dtype, np.zeros(self.point.shape), None, vjp=product, judges_value=False)
            symbols = [sympy.Symbol(name, real=True) for name in self.wrt]
            proof = prove(self.point, numbers, symbols, self.tolerance, u)
        asked = [
            self.point.entry(name, 0, j, product[name].flat[j])
            for name in self.wrt
            for j in (range(product[name].size) if proof is None else np.flatnonzero(~proof.blocks[name]).tolist())
        ]
        decided = [] if proof is None else proof.shown
        bounded = total - len(asked) - len(decided)
        found = FamilyCheck("hvp", total, decided, "all", bounded=bounded, error=None if proof is None else proof.error)
        try:
            own = self._balls(asked, u, slopes, is_row=is_row) if asked else []
        except (OverBudgetError, OverTimeError) as error:
            reason = str(error) or "the second derivatives were over the budget of the reference"
            left = len(asked) if len(asked) > MOST_OPEN else 0
            decided += [] if left else [replace(entry, note=reason) for entry in asked]
            words = "none" if left == total else "what could be decided" if left else "all"
            return replace(found, chosen=words, notes=(reason,), left=left, is_whole=not left)
        is_strict = self.tolerance.is_strict
        decided += own if is_strict else [unless_minor(e, product, self.point, self.tolerance) for e in own]
        return found

    def _balls(
        self, asked: Sequence[Entry], u: Mapping[str, Array], slopes: Sequence[Entry], *, is_row: bool
    ) -> list[Entry]:
        """Decide these elements one by one; see `judged`."""
        require_time()
        self.work += sum(map(len, self._at(FIRST_BITS).ways.values()))
        moving = way(u)
        own = next(iter(moving)) if len(moving) == 1 else None
        waiting, decided = list[Entry](), list[Entry]()
        y = self._at(FIRST_BITS).run.values.get(self.point.program.output, {}).get(0)
        if isinstance(y, Undefined) and any(slope.verdict == "undefined" for slope in slopes):
            return [_unless_missing(entry, slopes) for entry in asked]
        for entry in asked:
            column = self.case.direction(entry)
            by, against = (own, [column]) if is_row and own is not None else (column, list(moving))
            if not self._at(FIRST_BITS).is_met(by, against):
                waiting.append(entry)
                continue
            known = slopes if by == own else [*filter(None, [self._without_slope.get(column)])]
            if column == own:
                decided.append(self._where_met(entry, column, moving, known))
            else:
                decided.append(_unless_missing(entry, known))
        wrong = [entry for entry in decided if entry.verdict == "disagree"]
        others = [entry for entry in decided if entry.verdict != "disagree"]
        return others + self._smooth(waiting, u, wrong)

    def _smooth(self, entries: Sequence[Entry], u: Mapping[str, Array], wrong: Sequence[Entry]) -> list[Entry]:
        """Decide the entries with only smooth operations on the way, or operations that no relevant input moves.

        Also those in `wrong`, which rounding may explain.
        """
        missing = Undefined("slope", "an operation is not smooth here", decided=False)

        def truths(bits: int, _: Sequence[Entry]) -> Callable[[Entry], Outcome]:
            found = self._at(bits).along(way(u))
            return lambda entry: ball if exists(ball := found.get(self.case.direction(entry), arb(0))) else missing

        known = verdicts(entries, truths, self.tolerance)
        decided = [*known.decided, *(_unknown(entry) for entry, _ in known.missing)]
        if wrong := [*wrong, *known.wrong]:
            from gradcli.crosscheck.rounding import explained

            decided += explained(replace(self.case, u=u), self.point, wrong, truths)
        return decided

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
        return _unknown(entry)
    note = f"the gradient does not exist here: {missing.note}"
    if missing.verdict == "kink":
        picked = "" if missing.torch is None else f", and torch picked {shown_number(missing.torch)} for it"
        note = f"the gradient has a kink here{picked}"
    return replace(entry, verdict=missing.verdict, note=note, proven=missing.proven)


def _unknown(entry: Entry) -> Entry:
    note = "branches or poles meet here; whether the second derivative exists, is not decided"
    return replace(entry, verdict="unchecked", note=note, proven=False)
