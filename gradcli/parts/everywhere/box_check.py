"""The check of every point of a box: statements that are proved, and torch's numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import get_args

import numpy as np
import numpy.typing as npt

from gradcli import trial
from gradcli.arrays import Array
from gradcli.crosscheck.compare import TOLERANCE, known_truth
from gradcli.errors import GradcliError, InputError, LanguageError, did_you_mean
from gradcli.option_words import option
from gradcli.parts import is_listed
from gradcli.parts.everywhere.box_regions import (
    NARROW,
    JudgedRegions,
    RegionSearch,
    joined,
    points_by_share,
    witness_points,
)
from gradcli.parts.everywhere.box_sets import BoxSet
from gradcli.parts.everywhere.code_boxes import (
    known_box,
    known_ranges,
    place_of,
    points_in,
    require_numbers,
    without_edges,
)
from gradcli.parts.everywhere.held_kinds import held_kinds, not_everywhere, words_of
from gradcli.parts.everywhere.moving_box import MOST_MOVING, MovingBox, moving_box
from gradcli.parts.everywhere.other_forms import forms_at_ends
from gradcli.parts.everywhere.proving import proofs_of
from gradcli.parts.everywhere.recordings import with_recordings
from gradcli.parts.everywhere.region_words import CERTAIN
from gradcli.parts.everywhere.rounded_passes import has_elementary_functions, recorded_at
from gradcli.parts.everywhere.stopping import interruptible
from gradcli.parts.everywhere.witness_groups import (
    MOST_OF_SEVERAL,
    MOST_WITNESSES,
    NAMED_BY_WITNESS,
    WRONG,
    Witness,
    WitnessGroups,
    between_wrong,
    differ,
    worst_of,
)
from gradcli.progress import BUDGET, SECONDS, set_step
from gradcli.questions.bound_function import FunctionWithValues
from gradcli.questions.judging import compare_numbers
from gradcli.questions.naming import Directions
from gradcli.reference.bounds import NoRuleError
from gradcli.reference.deadline import OverTimeError, part_limit, time_limit
from gradcli.report.numbers import digits
from gradcli.results import SEVERITY, BoxChecking, BoxProof, BoxRegion, RegionMap, RegionVerdict, Verdict

MOST_TRIED = 9
"""Points of a region that are judged, to find a witness."""

SHARE_OF_REGIONS, SHARE_OF_POINTS = 0.6, 0.1
"""Shares of the time of a question: for regions, and to look for points at which statements fail."""

SHARE_OF_ANOTHER = 0.2
"""Share of the time of a question for the check of another form."""

NEARLY_ALL, LEAST_GAIN = 0.9, 0.05
"""Share of a box that is proved above which no other form is looked for, and the least that one has to add to it."""

ASSUMED = (
    "assumed: torch's elementary functions err by at most 2 ulp, of which 8 times as much is taken; NumPy's by 8 ulp"
)
"""Remark on what a proof rests on, where there are elementary functions."""

MEASURED = (
    "assumed: torch's special functions err as measured at random points, of which some 16 times as much is taken"
)
"""Remark on special functions, of which nobody promises a bound."""

MOST_DRAWN = 2
"""Most numbers that move of which there is a picture."""

UNDEFINED, WITHOUT_VALUE = "undefined", ("pole", "edge", "outside")
"""Verdict of a point that has no derivative there, and those of regions that may be so."""

FOUND: Mapping[Verdict, RegionVerdict] = {
    "inaccurate": "inaccurate",
    "nan-trap": "nan-trap",
    "cut": "cut",
    "disagree": "disagree",
}
"""Verdicts on a region by those of a witness in it, where the region may hold nothing else."""


OF_DERIVATIVE = "derivatives are those of the function; its own backward pass is judged by check with ranges alone"
"""Remark on code with a custom function."""

WRONG_BACKWARD = ("disagree", "cut")
"""Verdicts on points at which torch's derivative is not that of the function, by no rounding."""


def checked_in_box(
    unbound: FunctionWithValues,
    ranges: Mapping[str, str],
    statements: str | None,
    rtol: float | None,
    allowed: tuple[str, ...],
    along: Directions = None,
) -> BoxChecking:
    """Check every point of a box: statements if there are some, else torch's numbers.

    Raises:
        GradcliError: A range, a statement or a tolerance makes no sense, or an operation has no rule on boxes.
    """
    if rtol is not None and not (math.isfinite(rtol) and rtol > 0):
        raise InputError(f"{option('rtol', str(rtol))} is no tolerance in a box", hint="it is a number above 0")
    allowed = _passing(allowed)
    box = known_box(unbound, ranges, along)
    texts = [text.strip() for text in (statements or "").replace("\n", ";").split(";") if text.strip()]
    if statements is not None and not texts:
        statement = option("prove", '"dy/dx >= 0"')
        raise InputError("the statement is empty", hint=f"write {statement}")
    if not texts:
        trial.end()
        _load_torch(box)
    with time_limit(), interruptible():
        if texts:
            set_step("proving")
            proofs = proofs_of(texts, box, _seconds())
            remarks = remarks_on_backward(box) if any(_is_of_derivatives(one, box) for one in texts) else ()
            if remarks and remarks[0] != OF_DERIVATIVE:
                proofs = [_of_wrong_backward(one, box, remarks[0]) for one in proofs]
            open_ones = [one.statement for one in proofs if one.status == "undecided"]
            better: Sequence[str] = ()
            if open_ones:
                why = "of which that is proved"
                better = _better_form(unbound, ranges, box, lambda other: _proved(open_ones, other), 1.0, why)
            return box.answered(
                BoxChecking,
                command="check",
                boxes=sum(one.boxes for one in proofs),
                proofs=tuple(proofs),
                regions=(),
                rtol=None,
                allowed=allowed,
                notes=(*box.remarks, *remarks, *_other_y(texts, box), *better),
            )
        rtol = TOLERANCE[box.bound_function.dtype].rtol if rtol is None else rtol
        found = _checked(box, rtol, allowed)
        known = _share_proved(found.regions)
        if known > NEARLY_ALL:
            return found
        why = "of which {} is proved"
        better = _better_form(unbound, ranges, box, lambda other: _proved_part(other, rtol), known + LEAST_GAIN, why)
        return replace(found, notes=(*found.notes, *better))


def _better_form(
    unbound: FunctionWithValues,
    ranges: Mapping[str, str],
    box: MovingBox,
    share_of: Callable[[MovingBox], float],
    least: float,
    what: str,
) -> Sequence[str]:
    """Remark on another form of the function, that of which most is proved; nothing where none is found.

    Args:
        unbound: The function as typed.
        ranges: Its ranges.
        box: Its box.
        share_of: Tells how much is proved of another form.
        least: The least share that helps; no other form is looked for where one has all.
        what: Says what is proved, with the share in per cent.
    """
    if box.line is not None:
        return ()
    low, high = box.arrays(box.low), box.arrays(box.high)
    best, most = "", least
    for form, other in forms_at_ends(unbound, {name: (low[name], high[name]) for name in low}):
        with suppress(GradcliError, OverTimeError):
            share = share_of(moving_box(other, ranges))
            if share > most or (share == most and not best):
                best, most = form, share
            if share == 1:
                break
    return (f"better: {best}, {what.format(f'{100 * most:.4g}%')}",) if best else ()


def _proved(statements: Sequence[str], box: MovingBox) -> float:
    """Tell whether statements are proved of a function: 1 if all are."""
    return float(all(one.status == "proved" for one in proofs_of(statements, box, SHARE_OF_ANOTHER * _seconds())))


def _proved_part(box: MovingBox, rtol: float) -> float:
    """Tell on how much of a box torch's numbers are proved."""
    regions = regions_of(box, rtol, SHARE_OF_ANOTHER * _seconds())
    return regions.boxes.take(regions.verdicts == "proved").share_of(box.low, box.high)


def _share_proved(regions: Sequence[BoxRegion]) -> float:
    return sum(one.share for one in regions if one.verdict in ("proved", "near-zero"))


def _other_y(statements: Sequence[str], box: MovingBox) -> Iterator[str]:
    """Remark that y is a variable in these statements, as it is in the text, and the value has another name."""
    output = box.bound_function.program.output_name
    has_y = any(re.search(r"(?<![\w.])y(?!\w)", one) for one in statements)
    if output != "y" and "y" in box.bound_function.arrays and has_y:
        yield f"y is the variable in the statement, as in the text; the value is {output} there"


def wrong_backward(box: MovingBox) -> str:
    """Say at which point of a box the backward pass of code does not give the derivative; "" where none was found."""
    if not box.is_recorded:
        return ""
    for at in points_in(box.low, box.high):
        worst = _worst(box, at[:, None])
        if worst is not None and worst[1] in WRONG_BACKWARD:
            return (
                f"at {place_of(box.by_name(at))} the code's own backward pass does not give the derivative: {worst[2]}"
            )
    return ""


def remarks_on_backward(box: MovingBox) -> tuple[str, ...]:
    """Say of code that bounds and proofs are of the derivative, where its own backward pass is or may be another."""
    if wrong := wrong_backward(box):
        return (wrong,)
    recording = box.bound_function.recording
    return (OF_DERIVATIVE,) if recording is not None and recording.customs else ()


def _of_wrong_backward(proof: BoxProof, box: MovingBox, wrong: str) -> BoxProof:
    """Leave a statement on derivatives open where the code's own backward pass gives others."""
    if proof.status != "proved" or not _is_of_derivatives(proof.statement, box):
        return proof
    return replace(proof, status="undecided", left=1.0, note=wrong)


def _is_of_derivatives(statement: str, box: MovingBox) -> bool:
    y = re.escape(box.bound_function.program.output_name)
    return re.search(rf"[d∂][2²]?{y}/|\b(?:convex|concave)\b", statement) is not None


def wrong_backward_in_box(unbound: FunctionWithValues, ranges: Mapping[str, str]) -> str:
    """Require of code that its recording is the function in a box, and say where its backward pass is wrong there.

    Raises:
        GradcliError: The code may do something else in the box.
    """
    asked = known_ranges(unbound, ranges)
    is_number = asked.count <= MOST_MOVING and math.prod(asked.bound_function.shape) == 1
    with time_limit():
        return wrong_backward(asked.moving()) if is_number else ""


def _load_torch(box: MovingBox) -> None:
    """Run and record torch's passes once, so that what it loads for that takes none of the time of the search."""
    if not box.is_recorded and box.bound_function.device == "cpu":
        with suppress(GradcliError, NoRuleError):
            _ = box.bound_function.value, recorded_at(box.bound_function)


def failing_points(
    unbound: FunctionWithValues, ranges: Mapping[str, str], statements: Sequence[str]
) -> Sequence[Mapping[str, Array]]:
    """Find points of a box at which statements fail, one for each that bounds refute; none where nothing is known."""
    with suppress(GradcliError, OverTimeError), time_limit():
        box = known_box(unbound, ranges)
        found = [one.at for one in proofs_of(statements, box, SHARE_OF_POINTS * _seconds())]
        return [box.arrays(np.array(list(at.values()))) for at in found if at is not None]
    return []


def not_everywhere_in(unbound: FunctionWithValues, ranges: Mapping[str, str]) -> str:
    """Say what y may do in a box besides having values, such as to jump; "" if nothing, or if nothing is known."""
    with suppress(GradcliError, OverTimeError), time_limit(), part_limit(SHARE_OF_POINTS * _seconds()):
        box = known_box(unbound, ranges)
        return not_everywhere(
            box.bound_function.program.output_name, words_of(held_kinds(box.quantity(), box.low, box.high))
        )
    return ""


def searched_regions(unbound: FunctionWithValues, ranges: Mapping[str, str], rtol: float) -> JudgedRegions:
    """Find where torch's numbers are proved in a box, box by box.

    Raises:
        GradcliError: A range makes no sense, or an operation has no rule on boxes.
    """
    with time_limit():
        return regions_of(known_box(unbound, ranges), rtol)


def regions_of(box: MovingBox, rtol: float, seconds: float | None = None, finest: float = NARROW) -> JudgedRegions:
    """Find where torch's numbers are proved in a box.

    Args:
        box: The box.
        rtol: How far they may be off, relative to the truth.
        seconds: How long the search may take; by default most of the time of the question.
        finest: Part of the range from whose width down smooth boxes are halved no more.

    Raises:
        GradcliError: Nothing is known of torch's rounding.
    """
    _ = box.function
    seconds = SHARE_OF_REGIONS * _seconds() if seconds is None else seconds
    if box.bound_function.device != "cpu":
        raise InputError("in a box, torch's rounding is known on the CPU alone", hint=f"leave out {option('device')}")
    try:
        inner, edges = without_edges(box)
        parts = with_recordings(inner)
        require_numbers(inner, parts)
    except NoRuleError as error:
        hint = f"check points of it: {option('random', '100')}"
        if box.bound_function.recording is not None:
            raise LanguageError(f"what this code computes is not known in a box: {error}", hint=hint) from None
        raise LanguageError(f"torch's rounding is not known in a box: {error}", hint=hint) from None
    set_step("checking the box")
    found = []
    for part, passes in parts:
        with part_limit(seconds / len(parts)):
            found.append(RegionSearch(part, passes, rtol, finest).run())
    if len(edges):
        found.append(JudgedRegions(edges, np.full(len(edges), "kink", object), 0, "", is_of_special=False))
    return joined(found)


def _checked(box: MovingBox, rtol: float, allowed: tuple[str, ...]) -> BoxChecking:
    """Judge torch's numbers at every point of a box."""
    regions = regions_of(box, rtol)
    set_step("judging witnesses")
    assumed = (has_elementary_functions(box.function.lines), ASSUMED), (regions.is_of_special, MEASURED)
    notes = [*box.remarks, *(remark for is_so, remark in assumed if is_so)]
    named, witnesses = regions.verdicts.copy(), dict[RegionVerdict, list[Witness]]()
    for verdict in dict.fromkeys(regions.verdicts.tolist()):
        for places, witness in sorted(_regions(box, regions, verdict), key=lambda one: -len(one[0])):
            named[places] = own = _named(verdict, witness)
            witnesses.setdefault(own, []).extend([] if witness is None else [witness])
    found = [_described(box, regions.boxes.take(named == own), own, worst_of(seen)) for own, seen in witnesses.items()]
    return box.answered(
        BoxChecking,
        command="check",
        boxes=regions.evaluated,
        proofs=(),
        regions=tuple(sorted(found, key=lambda one: -one.share)),
        rtol=rtol,
        allowed=allowed,
        map=_map(box, regions, tuple(named.tolist())),
        notes=(*notes, *([f"the halving was stopped {regions.stopped}"] if regions.stopped else ())),
    )


def _map(box: MovingBox, regions: JudgedRegions, verdicts: tuple[RegionVerdict, ...]) -> RegionMap | None:
    """Collect the boxes of one or two numbers that move, and of one the curves, where there is the part for these."""
    if len(box.low) > MOST_DRAWN:
        return None
    curves = None
    if is_listed("plot"):
        from gradcli.parts.plot import curves_over

        curves = curves_over(box.bound_function, float(box.low[0]), float(box.high[0])) if len(box.low) == 1 else None
    return RegionMap(tuple(one.text for one in box.names), regions.boxes.low, regions.boxes.high, verdicts, curves)


def _regions(
    box: MovingBox, regions: JudgedRegions, verdict: RegionVerdict
) -> Iterator[tuple[npt.NDArray[np.intp], Witness | None]]:
    """Give the numbers of the boxes of a verdict, with a point of them, judged as any point is.

    Those whose witnesses differ are given apart: where nothing but a witness tells what they hold, and where
    torch is wrong at points at which the function has the derivative that the boxes may lack.
    """
    places = np.flatnonzero(regions.verdicts == verdict)
    boxes = regions.boxes.take(places)
    if verdict in ("proved", "near-zero"):
        yield places, None
        return
    seen = _judged(box, witness_points(boxes, MOST_TRIED)[:, :MOST_TRIED])
    if verdict not in CERTAIN or not any(found in WRONG for _, found, _ in seen):
        seen += _judged(box, points_by_share(boxes))
    worst, wrong = worst_of(seen), WRONG if verdict in CERTAIN else NAMED_BY_WITNESS
    is_narrowed = verdict in CERTAIN and worst is not None and worst[1] in FOUND
    if is_narrowed and len(box.low) == 1 and not differ(seen, wrong):
        inside = between_wrong(boxes, lambda at: _worst(box, at), seen)
        beside = [one for one in seen if not _are_in(boxes.take(inside), one[0])]
        if not inside.all():
            yield places[~inside], worst_of(beside or _judged(box, witness_points(boxes.take(~inside), 3)))
        yield places[inside], worst
        return
    if not is_narrowed and not differ(seen, wrong):
        yield places, worst
        return
    is_sharp = not differ(seen, wrong)
    most = MOST_OF_SEVERAL if is_sharp else MOST_WITNESSES
    groups = WitnessGroups(boxes, lambda at: worst_of(_judged(box, at)), wrong, is_sharp, most)
    groups.add(seen)
    for own, worst in groups.found():
        yield places[own], worst


def _are_in(boxes: BoxSet, at: Array) -> bool:
    return bool(((boxes.low <= at[:, None]) & (at[:, None] <= boxes.high)).all(axis=0).any())


def _named(verdict: RegionVerdict, witness: Witness | None) -> RegionVerdict:
    """Name boxes of a verdict by a witness, which no name contradicts; without one none is called wrong."""
    if witness is None or not (verdict in CERTAIN or witness[1] in NAMED_BY_WITNESS):
        return verdict
    return FOUND.get(witness[1], verdict)


def _described(box: MovingBox, boxes: BoxSet, verdict: RegionVerdict, witness: Witness | None) -> BoxRegion:
    """Describe boxes by the worst of their witnesses."""
    hull = boxes.hull()
    region = BoxRegion(
        verdict, boxes.share_of(box.low, box.high), len(boxes), box.by_name(hull.low), box.by_name(hull.high)
    )
    if witness is None:
        return region
    at, found, note = witness
    return replace(region, at=box.by_name(at), found=found, note=note)


def witnessed(box: MovingBox, points: Array) -> Verdict | None:
    """Return the worst verdict on points of a box; None if none can be judged."""
    worst = _worst(box, points)
    return None if worst is None else worst[1]


def _worst(box: MovingBox, points: Array) -> Witness | None:
    """Judge points, and return the worst with its verdict and a note; None if none can be judged."""
    return worst_of(_judged(box, points))


def _judged(box: MovingBox, points: Array) -> list[Witness]:
    """Judge points, without those that cannot be."""
    found = list[Witness]()
    for at in points.T:
        with suppress(GradcliError, OverTimeError):
            found.append((at, *_at_point(box, at)))
    return found


def _at_point(box: MovingBox, at: Array) -> tuple[Verdict, str]:
    """Judge torch's numbers at a point: the verdict, with the number and the truth of the worst entry."""
    there = box.question_at(at)
    judgement = compare_numbers(there, there.first_derivatives(), blames=False)
    if judgement.check.verdict == "cut":
        return "cut", judgement.check.findings[0].note
    worst = max(judgement.entries, key=lambda one: SEVERITY.index(one.verdict), default=None)
    if worst is None or worst.verdict == "agree":
        smallest = min((abs(one.torch) for one in judgement.entries if one.torch is not None), default=1.0)
        is_tiny = smallest < np.finfo(box.bound_function.dtype).smallest_normal
        return judgement.check.verdict, f"torch {smallest}" if is_tiny else ""
    truth = known_truth(worst.truth)
    return judgement.check.verdict, f"torch {digits(worst.torch)}{'' if truth is None else f', truth {digits(truth)}'}"


def _passing(allowed: Sequence[str]) -> tuple[str, ...]:
    """Return the verdicts on regions that pass: `undefined` is a pole, an edge, or outside of the domain.

    Raises:
        InputError: One is no verdict on a region, or means that a number is wrong.
    """
    known = [one for one in get_args(RegionVerdict) if one not in ("proved", "near-zero", "cut", "disagree")]
    for name in allowed:
        if name not in (*known, UNDEFINED):
            hint = did_you_mean(name, known) or f"the verdicts are: {', '.join(known)}"
            raise InputError(f"{option('allow')} names '{name}', which is no verdict on a region", hint=hint)
    return tuple(one for name in allowed for one in (WITHOUT_VALUE if name == UNDEFINED else (name,)))


def _seconds() -> float:
    """Return the seconds of the whole answer."""
    budget = BUDGET.get()
    return SECONDS if budget is None or budget.seconds is None else budget.seconds
