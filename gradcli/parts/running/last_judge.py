"""Verdicts that do not stand against the function itself: what is seen of it next to the point comes last, and wins.

`agree` is not said where the function has other slopes than torch's product, and `disagree`, `kink`, `undefined` and
`cut` are not where it has torch's slopes on both sides: then the recording is at fault.  What is too small to be seen
there stays as it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from gradcli.arrays import told_apart
from gradcli.autodiff.jacobians import vjp
from gradcli.autodiff.run import array_of
from gradcli.crosscheck.boundaries import Boundary, findings_of
from gradcli.crosscheck.compare import known_truth, number_of
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Numbers, flat
from gradcli.errors import GradcliError
from gradcli.language.program.expansion import holds_constant, is_padded
from gradcli.parts.running.cuts import HeldConstant
from gradcli.parts.running.function_slopes import ROUNDINGS, Contradiction, KnownDerivative
from gradcli.parts.running.measured_directions import compared_along, with_directions
from gradcli.parts.running.moved_function import Movement, rows_of
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.results import Entry, Mode, Verdict

if TYPE_CHECKING:
    from gradcli.questions.bound_function import BoundFunction
    from gradcli.questions.recorded_protocol import Released

KNOWN_OTHERWISE: tuple[Verdict, ...] = ("inaccurate", "nan-trap", "removable", "undefined", "disagree")
"""Verdicts on entries whose numbers are known not to be the slopes of the function."""

SMALLEST_JUMP = 0.01
"""Smallest jump on one side that is reported, relative to the one on the other side."""

IS_CONFIRMED = "{} on both sides of the point, has torch's slopes there, although {}"
"""Remark where a finding of the recording is not the function's."""


LEAST_DIGITS = 3
"""Fewest digits to which the function has to have torch's slope, to be told to agree."""

FEW_DIGITS = "the function itself has torch's slope to {} digits, which would hide a mistake: check it in float64"
"""Reason why nothing is said of an entry of which too little is seen."""

SAYS: Mapping[Verdict, str] = {
    "inaccurate": "by its recording digits were lost",
    "kink": "its recording has a kink",
    "undefined": "its recording has no derivative",
    "disagree": "its recording has other slopes",
}
"""What a recording has in place of the slopes of the function."""


class JudgedFunction(RecordedFunction, Protocol):
    """A recorded function that can be called next to its point."""

    def moved(self, bound: BoundFunction, numbers: Numbers) -> Movement | None:
        """Call the function on both sides of the point."""

    def cut(self, wrt: tuple[str, ...]) -> HeldConstant | None:
        """Find a gradient that is not the function's, as a value is held constant."""


def judged(recorded: JudgedFunction, found: Released, numbers: Numbers, bound: BoundFunction) -> Judgement:
    """Join to a judgement of torch's numbers what else is known of a function of Python.

    A branch at its boundary is a kink, a gradient with a value held constant a cut.  What the function does next to the
    point decides against both.

    Args:
        recorded: The function.
        found: The judgement of the numbers, by the recording alone, and what it lacks as values are held constant.
        numbers: Torch's.
        bound: The function at its point.
    """
    if recorded.fault:  # a function that computes wrong numbers is no witness
        findings = findings_of([Boundary("disagree", recorded.fault)], recorded.value)
        return found.judgement.joined(findings, is_fully_recorded=False)
    moved, judgement, proven_cut = recorded.moved(bound, numbers), found.judgement, found.cut
    cut = None if found.is_decided else recorded.cut(bound.wrt)
    boundaries, notes = list(recorded.boundaries(bound.wrt)), list[str]()
    if moved is not None and numbers.order == 1:
        judgement = with_directions(judgement, recorded, moved.function, moved.known)
    if moved is not None:
        judgement = _confirmed(judgement, recorded, moved)
        unseen = [one for one in boundaries if _is_seen_from_both_sides(recorded, one, moved)]
        if unseen and moved.has_slopes_of_torch:
            notes += [IS_CONFIRMED.format(moved.witness, one.note) for one in unseen]
            boundaries = [one for one in boundaries if one not in unseen]
        if cut is not None and _denies_cut(moved, cut, bound):
            notes.append(IS_CONFIRMED.format(moved.witness, cut.note))
            cut = None
        if proven_cut is not None and moved.denies(proven_cut):
            notes.append(IS_CONFIRMED.format(moved.witness, found.note))
            proven_cut = None
    if cut is not None:
        boundaries.append(Boundary("cut", cut.note))
    is_left = recorded.has_unseen or (bool(recorded.recorder.decisions.lost) and recorded.ran is None)
    findings = findings_of(boundaries, recorded.value)
    if proven_cut is not None:
        judgement = found.with_truths(judgement)
        cuts = findings_of([Boundary("cut", found.note)], recorded.value, proven_cut)
        findings = [*(one.judged(proven=True) for one in cuts), *findings]
    judgement = judgement.joined(findings, notes, is_fully_recorded=not (boundaries or notes or is_left))
    contradiction, is_denied = None, moved is not None and _denies_truths(moved, judgement)
    if moved is not None:
        mode = numbers.differentiation
        contradiction = _contradiction(recorded, moved, judgement, bound.wrt, mode, is_denied=is_denied)
    if contradiction is not None:
        judgement = judgement.changed(_without_truth) if is_denied else judgement
        judgement = judgement.joined(findings_of([contradiction], recorded.value), is_fully_recorded=False)
    if moved is not None and not moved.function.is_complete:
        note = f"{recorded.call.called} takes long: it was not called at all points next to this one"
        judgement = judgement.joined(notes=[note], is_fully_recorded=False)
    return judgement


def _confirmed(judgement: Judgement, recorded: RecordedFunction, moved: Movement) -> Judgement:
    """Take back what is said against torch's numbers that the function itself has, to the digits that are seen."""
    if judgement.check.verdict == "agree":  # nothing is said against any
        return judgement
    of_y = [entry for entry in judgement.entries if entry.variable is None and not entry.of]
    is_exact = all(entry.verdict == "agree" for entry in of_y)
    suspects = [entry for entry in judgement.entries if is_exact or entry.verdict != "inaccurate"]
    digits = {entry: moved.digits(entry) for entry in suspects if moved.denies(entry)}
    if not digits:
        return judgement
    against: Boundary | None = None
    least = min(digits.values())
    if least < LEAST_DIGITS:  # so few would hide a mistake, and more calls show more of it
        with contextlib.suppress(GradcliError):
            found = compared_along(moved.function, moved.known)
            if not isinstance(found, Boundary):
                least = max(least, found)
            elif found.verdict == "disagree":
                against = found

    def confirmed(entry: Entry) -> Entry:
        if entry not in digits:
            return entry
        plain = entry.judged(truth=None, proven=False, one_sided=None, relative_error=None)
        known = max(digits[entry], least)
        if known < LEAST_DIGITS:
            return plain.judged(verdict="unchecked", digits=None, note=FEW_DIGITS.format(known))
        return plain.judged(verdict="agree", digits=known, note="")

    notes = dict.fromkeys(IS_CONFIRMED.format(moved.witness, SAYS[entry.verdict]) for entry in digits)
    findings = findings_of([] if against is None else [against], recorded.value)
    return judgement.changed(confirmed).joined(findings, list(notes), is_fully_recorded=False)


def _denies_cut(moved: Movement, cut: HeldConstant, bound: BoundFunction) -> bool:
    """Tell whether the function has torch's slopes, and not those of a gradient with what a cut lacks."""
    if moved.shape != bound.shape:
        return False
    here = vjp(bound.forward, cut.weights, bound.wrt)
    known = KnownDerivative({name: rows_of(array, 1) for name, array in here.items()}, cut.weights.ravel())
    missing = KnownDerivative({name: rows_of(array, 1) for name, array in cut.missing.items()}, known.weights)
    effects = [missing.along(direction.u, 1) for direction in moved.function.directions]
    return moved.function.resolves(known, effects)


def _contradiction(
    recorded: RecordedFunction,
    moved: Movement,
    judgement: Judgement,
    wrt: tuple[str, ...],
    mode: Mode | Literal[""],
    *,
    is_denied: bool,
) -> Boundary | None:
    """Find what the function contradicts of a judgement that does not say so itself.

    Args:
        recorded: The function.
        moved: The function next to its point.
        judgement: What the recording says of torch's numbers.
        wrt: The variables to differentiate by.
        mode: How torch differentiates.
        is_denied: Whether the function denies the truths of the recording too.
    """
    verdicts = {entry.assessment.verdict for entry in (*judgement.entries, *judgement.findings)}
    found = next(_contradictions(recorded, moved, judgement, wrt, mode, is_denied=is_denied), None)
    if found is None:
        is_open = recorded.recorder.decisions.lost and verdicts <= {"agree"} and recorded.ran is None
        reason = _unseen(recorded, moved) if is_open else ""
        return Boundary("unchecked", reason) if reason else None
    elements = [name for name in wrt for _ in range(min(2, recorded.arrays[name].size))]
    of = "y" if moved.shape == recorded.value.shape else "the gradient"
    if of == "y" and found.row is not None and recorded.value.size > 1:
        of += str([int(n) for n in np.unravel_index(found.row, moved.shape)]).replace(" ", "")
    said = words_of(found, elements[0] if len(elements) == 1 else "", of)
    if recorded.implicit_draw:
        return Boundary("unchecked", f"{recorded.implicit_draw}; {said}")
    if found.kind != "slope":
        verdict: Verdict = "kink" if found.is_near else "unchecked"
        return None if verdicts & {"kink", "undefined"} else Boundary(verdict, said)
    if verdicts & {"cut", "disagree"}:
        return None
    if blame := _blamed(recorded, wrt, mode):
        return Boundary("disagree", f"{blame}; {said}")
    if reason := next(_held_constant(recorded), ""):
        return Boundary("cut", f"{reason}; {said}")
    if is_denied:
        return Boundary("disagree", said)
    another = "another branch is taken there, or " if "kink" in verdicts else ""
    return Boundary("unchecked", f"{said}: {another}something in it goes around torch")


def _unseen(recorded: RecordedFunction, moved: Movement) -> str:
    """Say why it cannot be seen what numbers that leave torch do: it fails, or is rounded; empty if it can."""
    lost, function = recorded.recorder.decisions.lost[0], moved.function
    if not function.is_seen:
        return f"{lost}, and {recorded.call.called} has no value at points next to this one"
    hidden = function.hidden
    return f"{lost}, and next to this point y moves less by {hidden} than it is rounded" if hidden else ""


def _held_constant(recorded: RecordedFunction) -> Iterator[str]:
    """Say what a function holds constant, in which order it is likeliest to be what the gradient lacks."""
    if recorded.ran is None:  # in a script a replay has the same numbers
        yield from recorded.recorder.decisions.lost
    places = recorded.recorder.places_of(recorded.program)
    for line in recorded.program.lines:
        if line.call.op.is_detached:
            yield f"a value{places[line.span]} is held constant"
        if is_padded(line.call):
            yield f"the row padding_idx of an embedding{places[line.span]} is held constant"


def _is_seen_from_both_sides(recorded: RecordedFunction, boundary: Boundary, moved: Movement) -> bool:
    """Tell whether what was found of a condition is seen in the function: it changes at the points next to this one.

    Where rounding keeps it as it is, the function that runs there is no witness, and a recording never is, as it takes
    the same branches everywhere.
    """
    if recorded.ran is not None:
        return False
    if boundary.verdict == "unchecked":
        return True
    if boundary.verdict != "kink" or boundary.condition is None:
        return False
    here = recorded.condition_at(boundary.condition, {})
    return any(not np.array_equal(recorded.condition_at(boundary.condition, x), here) for x in moved.function.points())


def _contradictions(
    recorded: RecordedFunction,
    moved: Movement,
    judgement: Judgement,
    wrt: tuple[str, ...],
    mode: Mode | Literal[""],
    *,
    is_denied: bool,
) -> Iterator[Contradiction]:
    """Yield what the function contradicts of torch's derivatives, beyond the errors that are known of its values."""
    errors = np.zeros(moved.function.value.size)
    is_known = "disagree" in {entry.assessment.verdict for entry in judgement.entries}
    for entry in judgement.entries:
        if entry.position.kind != "value" or entry.row is None:
            continue
        truth = known_truth(entry.truth)
        if truth is not None:
            error = abs(truth - number_of(entry))
            errors[flat(entry.row, moved.shape)] = error if np.isfinite(error) else np.inf
    for known in moved.known:
        found = moved.function.contradiction(known, errors)
        if found is None:
            continue
        if found.kind != "slope":
            if not _is_proven_at_point(recorded, moved, judgement, found):
                yield found
        elif is_denied or not _is_explained(found, judgement) or (not is_known and _blamed(recorded, wrt, mode)):
            yield found


def _is_proven_at_point(
    recorded: RecordedFunction, moved: Movement, judgement: Judgement, found: Contradiction
) -> bool:
    """Tell whether the recording has the same kink or jump, which is proved to be next to the point, and not at it."""
    is_whole = not any(holds_constant(line.call) for line in recorded.program.lines)
    if recorded.ran is not None or not (is_whole and judgement.check.proven and moved.shape == recorded.value.shape):
        return False
    function = moved.function
    noise = ROUNDINGS * function.digits * function.sizes
    for direction in function.directions:
        for steps, value in direction.values.items() if direction.u is found.u else ():
            x = {name: (one + direction.moved[steps][name]).astype(one.dtype) for name, one in function.here.items()}
            try:
                replayed = array_of(recorded.replayed_at(x, ()).output).ravel()
            except GradcliError:
                return False
            if not (np.abs(replayed - value) <= noise).all():
                return False
    return True


def _blamed(recorded: RecordedFunction, wrt: tuple[str, ...], mode: Mode | Literal[""]) -> str:
    """Say which custom function, next to its own forward, makes a gradient wrong; empty if none does."""
    return recorded.blamed(wrt, mode) if recorded.customs else ""


def _denies_truths(moved: Movement, judgement: Judgement) -> bool:
    """Tell whether digits are called lost by a recording whose slopes are further from the function's than torch's."""
    lost = [entry for entry in judgement.entries if entry.verdict == "inaccurate" and entry.variable is not None]
    for is_product, known in moved.entries.items():
        own = [entry for entry in lost if not entry.of and (entry.row is None) == is_product]
        blocks = {name: block.copy() for name, block in known.blocks.items()}
        for entry in own:
            truth, name = known_truth(entry.truth), str(entry.variable)
            if truth is None or entry.column is None:
                return False
            column = np.ravel_multi_index(entry.column, moved.function.here[name].shape)
            blocks[name][0 if entry.row is None else flat(entry.row, moved.shape), column] = truth
        found = moved.function.contradiction(KnownDerivative(blocks, known.weights)) if own else None
        if found is not None and found.kind == "slope":
            slope = (found.left + found.right) / 2
            product = sum(float(block[found.row or 0] @ found.u[name].ravel()) for name, block in known.blocks.items())
            if abs(slope - found.product) > 2 * abs(slope - product):
                return True
    return False


def _without_truth(entry: Entry) -> Entry:
    """Leave out a truth that the function denies."""
    if entry.verdict != "inaccurate" or entry.variable is None:
        return entry
    plain = entry.judged(truth=None, proven=False, one_sided=None, relative_error=None)
    return plain.judged(verdict="unchecked", digits=None, note="its recording has other slopes than the function")


def _is_explained(found: Contradiction, judgement: Judgement) -> bool:
    """Tell whether numbers that are known to be wrong explain why a slope is not torch's."""
    room = 0.0
    for entry in judgement.entries:
        truth = known_truth(entry.truth)
        is_other = entry.verdict in KNOWN_OTHERWISE or (entry.verdict == "kink" and truth is not None)
        if is_other and entry.variable is not None and not entry.of:
            if truth is None or entry.column is None:
                return True
            room += 2 * abs((truth - number_of(entry)) * float(found.u[entry.variable][entry.column]))
    return not np.fmax(abs(found.left - found.product), abs(found.right - found.product)) > room


def words_of(found: Contradiction, variable: str, of: str = "y") -> str:
    """Say what a function does next to a point, and what the gradient says.

    Args:
        found: What was seen.
        variable: The variable whose only element moves; empty if several elements do.
        of: The name of what was seen: y, or the gradient.

    >>> u = {"x": np.array(2.0)}
    >>> words_of(Contradiction("kink", 0, 0.0, 2.0, 2.0, u), "x")
    'along x y has the slope 0 before the point and 1 after it; the gradient says 1'
    """
    unit = float(found.u[variable].ravel()[0]) if variable else 1.0
    along = f"along {variable or 'a random direction u'}"
    of = of if found.row is not None else f"{of} with weights"
    left, right, product = (one / unit for one in (found.left, found.right, found.product))
    length = f"{found.within * abs(unit):.1g}" + "·u" * (not variable)
    within = f", at it or within {length} of it" * (found.within > 0)
    (gradient,) = told_apart(product)
    match found.kind:
        case "jump":
            changes = (
                f"by {one:.6g} {side} the point"
                for one, side in ((found.left, "before"), (found.right, "after"))
                if abs(one) > SMALLEST_JUMP * np.fmax(abs(found.left), abs(found.right))
            )
            said = f"{along} {of} jumps {' and '.join(changes)}{within}"
        case "kink":
            before, after = told_apart(left, right)
            said = f"{along} {of} has the slope {before} before the point and {after} after it{within}"
        case _:
            moved, gradient = told_apart(float(np.nanmean([left, right])), product)
            said = f"{along} the function moves by {moved}" + f" in {of}" * (of != "y")
    return f"{said}; the gradient says {gradient}" if np.isfinite(product) else said
