"""Verdicts that do not stand against the function itself: what is seen of it next to the point comes last, and wins.

`agree` is not said where the function has other slopes than torch's product, and `disagree`, `kink`, `undefined` and
`cut` are not where it has torch's slopes on both sides: then the recording is at fault.  What is too small to be seen
there stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from gradcli.autodiff.jacobians import gradients, vjp
from gradcli.autodiff.run import Forward, array_of, derivative_of
from gradcli.crosscheck.boundaries import Boundary, findings_of
from gradcli.crosscheck.compare import known_truth, number_of
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Numbers, flat
from gradcli.errors import GradcliError
from gradcli.language.program.expansion import holds_constant, is_padded
from gradcli.parts.running.cuts import HeldConstant
from gradcli.parts.running.function_slopes import ROUNDINGS, Contradiction, KnownDerivative, MovedFunction
from gradcli.parts.running.measured_directions import with_directions
from gradcli.parts.running.measured_slopes import SEED
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.results import Array, Entry, Mode, Verdict

if TYPE_CHECKING:
    from gradcli.questions.question import Question
    from gradcli.questions.recorded_protocol import Released

NOT_SEEN: tuple[Verdict, ...] = ("inaccurate", "kink", "undefined", "disagree")
"""Verdicts on entries that do not stand where the function has torch's slopes.

Lost digits of a slope can be seen only where y itself has lost none: an error of y changes from point to point by no
more than its size.
"""

KNOWN_OTHERWISE: tuple[Verdict, ...] = ("inaccurate", "nan-trap", "removable", "undefined", "disagree")
"""Verdicts on entries whose numbers are known not to be the slopes of the function."""

LOW_DIGITS = 2.0**-8
"""Machine epsilon of bfloat16, the coarsest dtype of what is computed in between."""

SMALLEST_JUMP = 0.01
"""Smallest jump on one side that is reported, relative to the one on the other side."""

IS_CONFIRMED = "{} on both sides of the point, has torch's slopes there, although {}"
"""Remark where a finding of the recording is not the function's."""


SAYS: Mapping[Verdict, str] = {
    "inaccurate": "by its recording digits were lost",
    "kink": "its recording has a kink",
    "undefined": "its recording has no derivative",
    "disagree": "its recording has other slopes",
}
"""What a recording has in place of the slopes of the function."""


@dataclass
class Movement:
    """A function next to its point, and the derivatives that torch has of it.

    Attributes:
        function: The function, which is called where it is first asked for.
        known: Torch's derivatives.
        entries: The derivative that the entries of an answer are of, by whether they are of vᵀJ.
        shape: The shape of the numbers that are seen: of y, or of the flat gradient.
        witness: What it is, in words.
    """

    function: MovedFunction
    known: Sequence[KnownDerivative]
    entries: Mapping[bool, KnownDerivative]
    shape: tuple[int, ...]
    witness: str = "the function itself, called"

    @cached_property
    def has_slopes_of_torch(self) -> bool:
        """True if the function has torch's slopes on both sides, so sharply that a kink would be seen."""
        return all(self.function.resolves(one) for one in self.known if one.blocks)

    def denies(self, entry: Entry) -> bool:
        """Tell whether the function has torch's slope where an entry says that it has another one."""
        if entry.verdict not in NOT_SEEN or entry.variable is None or entry.of or not np.isfinite(number_of(entry)):
            return False
        known = self.entries.get(entry.row is None)
        if known is None:
            return False
        others = entry.one_sided or (known_truth(entry.truth),)
        gap = max((abs(one - number_of(entry)) for one in others if one is not None), default=np.nan)
        if not gap > 0:  # a jump, or no number at all
            return entry.verdict in ("kink", "undefined") and self.has_slopes_of_torch
        row = 0 if entry.row is None else flat(entry.row, self.shape)
        column = np.ravel_multi_index(entry.column or (), self.function.here[entry.variable].shape)
        effects = []
        for direction in self.function.directions:
            effect = np.zeros(self.function.value.size if known.weights is None else 1)
            effect[row] = gap * direction.u[entry.variable].ravel()[column]
            effects.append(effect)
        return self.function.resolves(known, effects)


def movement(
    values: Callable[[Mapping[str, Array]], Forward],
    numbers: Numbers,
    forward: Forward,
    here: Mapping[str, Array],
    *,
    digits: float,
    largest: Array,
    rounding: Callable[[Array], float],
    is_lost: bool,
    known: MovedFunction | None = None,
) -> Movement | None:
    """Prepare the comparison of a function with torch's numbers; None if they are of no derivative.

    Args:
        values: Runs the function where some variables have other numbers.
        numbers: Torch's numbers.
        forward: The function at the point, with its graph.
        here: The numbers of the variables to differentiate by.
        digits: The machine epsilon of what computes the function.
        largest: For each number of y, the largest one that it is a sum of.
        rounding: Estimates the rounding error of the sum of the numbers of y with some weights.
        is_lost: Whether numbers leave torch, so that elements by which the gradient is 0 may move y.
        known: The function, if it was called next to the same point before.
    """
    value = array_of(forward.output).astype(np.float64)
    if not (here and value.size and all(np.isfinite(one).all() for one in (value, *here.values()))):
        return None
    if numbers.order == 2:
        return _of_gradient(values, numbers, forward, here, digits, known)
    if numbers.order == 0:
        return None
    sizes = largest.ravel() if largest.shape == value.shape else largest.max(initial=0.0)
    function = known or MovedFunction(
        lambda x: array_of(values(x).output).ravel(),
        here,
        value.ravel(),
        digits,
        sizes,
        rounding,
        _effects(numbers, here, np.maximum(np.abs(value.ravel()), sizes), is_lost=is_lost),
    )
    entries: dict[bool, KnownDerivative] = {}
    vjp_of_torch, jacobian = numbers.derivatives.get("vjp"), numbers.derivatives.get("jacobian")
    if vjp_of_torch is not None and numbers.v is not None and not numbers.passes:
        blocks = {name: _rows(vjp_of_torch["", name], 1) for name in here}
        entries[True] = KnownDerivative(blocks, numbers.v.ravel().astype(np.float64))
    if jacobian is not None:
        entries[False] = KnownDerivative({name: _rows(jacobian["", name], value.size) for name in here})
        return Movement(function, list(entries.values()), entries, value.shape)
    weights = np.random.default_rng(SEED).normal(size=value.shape)
    found = vjp(forward, weights, tuple(here))
    of_sum = KnownDerivative({name: _rows(found[name], 1) for name in here}, weights.ravel())
    return Movement(function, [*entries.values(), of_sum, KnownDerivative({})], entries, value.shape)


def _effects(numbers: Numbers, here: Mapping[str, Array], sizes: Array, *, is_lost: bool) -> dict[str, Array] | None:
    """Estimate how much each element moves y, relative to its size; NaN for one that may move it and has a slope of 0.

    Args:
        numbers: Torch's numbers.
        here: The numbers of the variables.
        sizes: The size of each number of y.
        is_lost: Whether a slope of 0 may be one that autograd does not follow.
    """
    vjp_of_torch, jacobian = numbers.derivatives.get("vjp"), numbers.derivatives.get("jacobian")
    if jacobian is not None:
        blocks, weights = jacobian, sizes
    elif vjp_of_torch is not None and numbers.v is not None and not numbers.passes:
        blocks, weights = vjp_of_torch, np.array([np.abs(numbers.v).ravel() @ sizes])
    else:
        return None
    found = {}
    with np.errstate(all="ignore"):
        for name, x in here.items():
            rows = np.abs(_rows(blocks["", name], weights.size)) / np.maximum(weights, np.finfo(float).tiny)[:, None]
            moved = np.where(x == 0, min(1.0, float(np.abs(x).max(initial=0.0))) or 1.0, np.abs(x))
            effect = np.nan_to_num(rows.max(0, initial=0.0)).reshape(x.shape) * moved
            found[name] = np.where((effect == 0) & is_lost, np.nan, effect)
    return found


def _of_gradient(
    values: Callable[[Mapping[str, Array]], Forward],
    numbers: Numbers,
    forward: Forward,
    here: Mapping[str, Array],
    digits: float,
    known_function: MovedFunction | None,
) -> Movement:
    """Prepare the comparison of a gradient with torch's second derivatives."""

    def flat_gradient(ran: Forward) -> Array:
        leaves = [ran.leaves[name] for name in here]
        found = gradients(ran.output, leaves, ran.output.new_ones(ran.output.shape))
        return np.concatenate([derivative_of(one).ravel() for one in found]).astype(np.float64)

    if "hvp" in numbers.derivatives:
        products = numbers.derivatives["hvp"]
        zeros = {name: np.zeros(x.size) for name, x in here.items()}
        u = zeros | {name: np.ravel(array) for name, array in numbers.u.items()}
        known = KnownDerivative({n: _rows(products["", n], 1) for n in here}, np.concatenate([u[n] for n in here]))
    else:
        hessian = numbers.derivatives["hessian"]
        sizes = {name: x.size for name, x in here.items()}
        blocks = {b: [hessian[a, b].astype(np.float64).reshape(sizes[a], sizes[b]) for a in here] for b in here}
        known = KnownDerivative({name: np.concatenate(rows) for name, rows in blocks.items()})
    function = known_function or MovedFunction(lambda x: flat_gradient(values(x)), here, flat_gradient(forward), digits)
    return Movement(function, [known, KnownDerivative({})], {}, (function.value.size,))


def _rows(block: Array, rows: int) -> Array:
    return np.asarray(block, np.float64).reshape(rows, -1)


# -- what is said of it


class JudgedFunction(RecordedFunction, Protocol):
    """A recorded function that can be called next to its point."""

    def moved(self, question: Question, numbers: Numbers) -> Movement | None:
        """Call the function on both sides of the point."""

    def cut(self, wrt: tuple[str, ...]) -> HeldConstant | None:
        """Find a gradient that is not the function's, as a value is held constant."""


def judged(recorded: JudgedFunction, found: Released, numbers: Numbers, question: Question) -> Judgement:
    """Join to a judgement of torch's numbers what else is known of a function of Python.

    A branch at its boundary is a kink, a gradient with a value held constant a cut.  What the function does next to the
    point decides against both.

    Args:
        recorded: The function.
        found: The judgement of the numbers, by the recording alone, and what it lacks as values are held constant.
        numbers: Torch's.
        question: The function at its point.
    """
    moved, judgement, proven_cut = recorded.moved(question, numbers), found.judgement, found.cut
    cut = None if found.is_decided else recorded.cut(question.wrt)
    boundaries, notes = list(recorded.boundaries(question.wrt)), list[str]()
    if moved is not None and numbers.order == 1:
        judgement = with_directions(judgement, recorded, moved.function, moved.known)
    if moved is not None:
        judgement = _confirmed(judgement, moved)
        unseen = [one for one in boundaries if _is_seen_from_both_sides(recorded, one, moved)]
        if unseen and moved.has_slopes_of_torch:
            notes += [IS_CONFIRMED.format(moved.witness, one.note) for one in unseen]
            boundaries = [one for one in boundaries if one not in unseen]
        if cut is not None and _denies_cut(moved, cut, question):
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
        cuts = findings_of([Boundary("cut", found.note)], recorded.value)
        findings = [*(one.judged(proven=True) for one in cuts), *findings]
    judgement = judgement.joined(findings, notes, is_fully_recorded=not (boundaries or notes or is_left))
    contradiction = None
    if moved is not None:
        contradiction = _contradiction(recorded, moved, judgement, question.wrt, numbers.differentiation)
    if contradiction is not None:
        judgement = judgement.joined(findings_of([contradiction], recorded.value), is_fully_recorded=False)
    if moved is not None and not moved.function.is_complete:
        note = f"{recorded.call.called} takes long: it was not called at all points next to this one"
        judgement = judgement.joined(notes=[note], is_fully_recorded=False)
    return judgement


def _confirmed(judgement: Judgement, moved: Movement) -> Judgement:
    """Take back what is said against torch's numbers that the function itself has, with a remark."""
    of_y = [entry for entry in judgement.entries if entry.variable is None and not entry.of]
    is_exact = all(entry.verdict == "agree" for entry in of_y)
    suspects = [entry for entry in judgement.entries if is_exact or entry.verdict != "inaccurate"]
    denied = {entry for entry in suspects if moved.denies(entry)}
    if not denied:
        return judgement

    def confirmed(entry: Entry) -> Entry:
        if entry not in denied:
            return entry
        plain = entry.judged(verdict="agree", note="", one_sided=None, relative_error=None)
        return plain.judged(truth=None, proven=False)

    notes = dict.fromkeys(IS_CONFIRMED.format(moved.witness, SAYS[entry.verdict]) for entry in denied)
    return judgement.changed(confirmed).joined(notes=list(notes), is_fully_recorded=False)


def _denies_cut(moved: Movement, cut: HeldConstant, question: Question) -> bool:
    """Tell whether the function has torch's slopes, and not those of a gradient with what a cut lacks."""
    if moved.shape != question.shape:
        return False
    here = vjp(question.forward, cut.weights, question.wrt)
    known = KnownDerivative({name: _rows(array, 1) for name, array in here.items()}, cut.weights.ravel())
    missing = KnownDerivative({name: _rows(array, 1) for name, array in cut.missing.items()}, known.weights)
    effects = [missing.along(direction.u, 1) for direction in moved.function.directions]
    return moved.function.resolves(known, effects)


def _contradiction(
    recorded: RecordedFunction, moved: Movement, judgement: Judgement, wrt: tuple[str, ...], mode: Mode | Literal[""]
) -> Boundary | None:
    """Find what the function contradicts of a judgement that does not say so itself."""
    verdicts = {entry.verdict for entry in (*judgement.entries, *judgement.findings)}
    found = next(_contradictions(recorded, moved, judgement, wrt, mode), None)
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
    recorded: RecordedFunction, moved: Movement, judgement: Judgement, wrt: tuple[str, ...], mode: Mode | Literal[""]
) -> Iterator[Contradiction]:
    """Yield what the function contradicts of torch's derivatives, beyond the errors that are known of its values."""
    errors = np.zeros(moved.function.value.size)
    is_known = any(entry.verdict == "disagree" for entry in judgement.entries)
    for entry in judgement.entries:
        truth = known_truth(entry.truth)
        if entry.variable is None and not entry.of and entry.row is not None and truth is not None:
            error = abs(truth - number_of(entry))
            errors[flat(entry.row, moved.shape)] = error if np.isfinite(error) else np.inf
    for known in moved.known:
        found = moved.function.contradiction(known, errors)
        if found is None:
            continue
        if found.kind != "slope":
            if not _is_proven_at_point(recorded, moved, judgement, found):
                yield found
        elif not _is_explained(found, judgement) or (not is_known and _blamed(recorded, wrt, mode)):
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
    match found.kind:
        case "jump":
            changes = (
                f"by {one:.6g} {side} the point"
                for one, side in ((found.left, "before"), (found.right, "after"))
                if abs(one) > SMALLEST_JUMP * np.fmax(abs(found.left), abs(found.right))
            )
            said = f"{along} {of} jumps {' and '.join(changes)}{within}"
        case "kink":
            said = f"{along} {of} has the slope {left:.6g} before the point and {right:.6g} after it"
            said += within
        case _:
            said = f"{along} the function moves by {np.nanmean([left, right]):.6g}" + f" in {of}" * (of != "y")
    return f"{said}; the gradient says {product:.6g}" if np.isfinite(product) else said
