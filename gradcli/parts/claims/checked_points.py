"""Points of a check: torch's numbers and the judgement at each, and the worst of random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradcli import results
from gradcli.crosscheck import formulas
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Numbers
from gradcli.errors import GradcliError, InputError, TooLargeError
from gradcli.language.inputs import read_range
from gradcli.option_words import option
from gradcli.parts.claims.structures import Assumed
from gradcli.progress import each_with_time, tracked
from gradcli.questions.bound_function import BoundFunction, rounded
from gradcli.reference.deadline import is_over_time
from gradcli.results import Array

MAX_POINTS = 10_000
"""Random points of one check."""

MAX_POINT_ENTRIES = 1_024_000
"""Entries at all random points together: a thousand points of a Jacobian whose every entry is checked."""


@dataclass(frozen=True)
class CheckedPoint:
    """Torch's numbers, the formulas and the judgement at one point, where a function may have lines of its own.

    Attributes:
        bound: The function whose derivative is the truth.
        asked: The function that torch's numbers and y are of; `bound`, unless a backward pass is meant to be its own.
        derived: The formulas.
        numbers: Torch's.
        judgement: The verdicts on them.
    """

    bound: BoundFunction
    asked: BoundFunction
    derived: formulas.Derived
    numbers: Numbers
    judgement: Judgement

    @property
    def badness(self) -> tuple[int, float]:
        """The key by which the worst point is found: severity of the verdict, then relative error."""
        check = self.judgement.check
        return results.SEVERITY.index(check.verdict), check.max_relative_error or 0.0

    def joined(self, findings: Sequence[results.Entry] = (), notes: Sequence[str] = (), **how: bool) -> CheckedPoint:
        """Add findings and remarks to the judgement."""
        return replace(self, judgement=self.judgement.joined(findings, notes, **how))

    def of_another(self, bound: BoundFunction) -> CheckedPoint:
        """Return the same point of another function of the same variables."""
        return replace(self, bound=bound.with_values(self.bound.arrays))


def require_random_points(points: int | None, boxes: Mapping[str, str], example: Callable[[], str]) -> None:
    """Refuse random points without a box, a box without points, and too many points.

    Args:
        points: How many.
        boxes: The ranges by variable.
        example: Writes a range of a variable; "" where there is none without a value.

    Raises:
        InputError: Either is missing, or there are more than `MAX_POINTS`.
    """
    if points is None:
        if boxes:
            name = next(iter(boxes))
            point = option("at", f"{name}=VALUE" if name else "VALUE")
            hint = f"add {option('random', '100')}, or give one point: {point}"
            raise InputError(
                f"{option('in')} says where to draw random points, and {option('random')} is missing", hint=hint
            )
    elif not boxes:
        hint = f"add a range: {option('in', example() or 'x=0..1')}"
        raise InputError(f"{option('random')} needs to know where to draw points", hint=hint)
    elif not 1 <= points <= MAX_POINTS:
        raise InputError(f"{option('random', f'{points:,}')} is not between 1 and {MAX_POINTS:,} points")


def random_points(
    bound: BoundFunction, asked: results.Sampling, rows: int, assumed: Assumed
) -> Iterator[dict[str, Array]]:
    """Draw the inputs of each random point, uniformly in the boxes; the other variables stay.

    Where a structure is assumed, a member is made of them.
    """
    points = asked.points
    per_point = rows * sum(bound.arrays[name].size for name in bound.wrt)
    most = max(1, MAX_POINT_ENTRIES // max(1, min(per_point, MAX_POINT_ENTRIES)))
    if points > most:
        message = f"{points:,} points of {per_point:,} entries each are more than {MAX_POINT_ENTRIES:,} entries"
        instead = f"{option('v')} for a single row, or {option('wrt')} for fewer variables"
        hint = f"use {option('random', str(most))}, or {instead}"
        raise TooLargeError(message, hint=hint)
    boxes = {name: bound.bounds(name, read_range(text, f"--in {name}")) for name, text in asked.boxes.items()}
    generator = np.random.default_rng(asked.seed)

    def between(low: Array, high: Array) -> Array:
        share = generator.uniform(size=low.shape)
        return np.asarray(low * (1 - share) + high * share)  # high - low may overflow

    def drawn(name: str, low: Array, high: Array) -> Array:
        found = between(low, high)
        return rounded(assumed[name].member(found) if name in assumed else found, bound.dtype)

    return ({name: drawn(name, *box) for name, box in boxes.items()} for _ in range(points))


def contradicted(look: CheckedPoint) -> CheckedPoint:
    """Add a finding for each formula that the reference contradicts."""
    found = formulas.contradicted(look.bound.point, look.derived, look.judgement.evidence)
    return look.joined(formulas.refutations(look.judgement.check, found, look.derived))


def worst_of(
    looked: Callable[[Mapping[str, Array]], CheckedPoint],
    failing_at: Callable[[Judgement, results.Check], set[results.Verdict]],
    draws: Iterator[dict[str, Array]],
    asked: results.Sampling,
) -> tuple[CheckedPoint, results.Sampling, set[results.Verdict]]:
    """Find the worst of the random points, the number of points by verdict, and the verdicts that do not pass."""
    points = asked.points
    worst: CheckedPoint | None = None
    is_whole, note = True, ""
    counts: dict[results.Verdict, int] = dict.fromkeys(results.SEVERITY, 0)
    failing: set[results.Verdict] = set()
    for n, drawn in enumerate(tracked("point", draws, points)):
        try:
            with each_with_time():
                look = contradicted(looked(drawn))
        except GradcliError as error:
            where = ", ".join(f"{name} = {array.tolist()}" for name, array in drawn.items())
            error.advise(error.text.hint or f"that is at the random point {n + 1:,}: {where[:200]}")
            raise
        check = look.judgement.check
        if n and check.verdict == "unchecked" and is_over_time():
            is_whole, note = False, f"{points - n:,} of {points:,} points were not looked at within the budget"
            break
        counts[check.verdict] += 1
        failing |= failing_at(look.judgement, check)
        is_whole = is_whole and check.is_whole
        if worst is None or look.badness > worst.badness:
            worst = look
    assert worst is not None, "there is at least one point"  # noqa: S101
    if not is_whole:
        worst = worst.joined(notes=[note] if note else [], is_sample=True)
    verdicts = {verdict: count for verdict, count in counts.items() if count}
    return worst, replace(asked, points=sum(verdicts.values()), verdicts=verdicts, worst=worst.bound.arrays), failing
