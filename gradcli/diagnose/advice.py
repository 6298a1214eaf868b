"""What to do about numbers that cannot be trusted: where they went wrong, and how to write the function instead.

A rewrite is the same function by its rule, and the net below is whether balls can tell the two apart, at the point and
at some points around it, in values and in derivatives, by the reference reading alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from flint import arb

from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import Point
from gradcli.crosscheck.summary import MAX_FINDINGS, summarize, worth_listing
from gradcli.diagnose.candidates import candidates, readable
from gradcli.diagnose.diagnosis import diagnose
from gradcli.diagnose.error_trace import DiagnosisContext
from gradcli.diagnose.expansions import with_series
from gradcli.diagnose.exploring import MOST_OPERATIONS, better, searched
from gradcli.diagnose.forms import Form
from gradcli.diagnose.measuring import Measure, enclosed, point_of
from gradcli.errors import GradcliError, Span
from gradcli.language.lower.calls import shadowed
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Program
from gradcli.reference.balls import Ball
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.dependencies import Flat, OverBudgetError
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import SEVERITY, Array, Rewrite, Verdict

BOXES = ((-2.0, 2.0), (0.1, 0.9), (1.1, 3.0), (-1.0, -0.1))
"""Where the random points are, besides around the given one: both signs, inside and outside of the unit interval."""

NEARNESS = 2.0**-10
"""How far from the given point, relatively, the points around it are."""

SEED = 0
"""Of the random points."""

MOST_COMPARED = 8
"""Elements of y, and of the variables, that are looked at."""

TIGHT_BITS = 40
"""Relative bits of a ball that is known well enough for a comparison to say something."""

NOTHING = arb(2) ** -256
"""The radius of a 0."""


def is_same(original: Program, text: str, inputs: Mapping[str, Array]) -> bool:
    """Whether a text is the function of a Program wherever they were compared, and they could be compared.

    Args:
        original: As typed.
        text: Of the same variables.
        inputs: Values of the variables; the point itself is compared if both exist there.

    >>> is_same(parse("1 - cos(x)"), "2*sin(x/2)**2", {"x": np.array(0.0)})
    True
    >>> is_same(parse("1 - cos(x)"), "x**2/2", {"x": np.array(0.0)})
    False
    """
    return is_same_at(original, text, list(beside(inputs)))


def is_same_at(original: Program, text: str, points: Sequence[Mapping[str, Array]]) -> bool:
    """Whether a text is the function of a Program at these points, and they could be compared at one of them.

    Args:
        original: As typed.
        text: Of the same variables.
        points: Values of the variables, of one shape at all points.

    >>> is_same_at(parse("x"), "abs(x)", [{"x": np.array(0.5)}])
    True
    """
    shapes = {name: array.shape for name, array in points[0].items()}
    try:
        other = parse(text, given=shadowed(original.names), shapes=shapes)
        if set(other.names) != set(original.names):
            return False
        pairs = [(point_of(original, at), point_of(other, at)) for at in points]
    except GradcliError:
        return False
    if pairs[0][0].shapes.get(pairs[0][0].program.output) != pairs[0][1].shapes.get(pairs[0][1].program.output):
        return False
    found = [_compared(first, second) for first, second in pairs]
    return None not in found and any(found)


def beside(inputs: Mapping[str, Array]) -> Iterator[Mapping[str, Array]]:
    """The given point, one beside it, and one in each box: where a form is compared with its function."""
    generator = np.random.default_rng(SEED)
    given = {name: array.astype(np.float64) for name, array in inputs.items()}
    yield given
    with np.errstate(over="ignore", invalid="ignore"):  # next to the largest number, or beyond it
        near = {
            name: x + NEARNESS * (np.abs(x) + (x == 0)) * generator.uniform(0.5, 1, x.shape)
            for name, x in given.items()
        }
    yield near
    for low, high in BOXES:
        yield {name: np.asarray(generator.uniform(low, high, x.shape)) for name, x in given.items()}


def _compared(first: Point, second: Point) -> int | None:
    """How many numbers are known and the same; None if two differ, or the second has none where the first has."""
    generator = np.random.default_rng(SEED)
    rows = _some(first.rows, generator)
    columns = [(x, int(j)) for x in first.program.variables for j in _some(first.inputs[str(x)].size, generator)]
    try:
        pairs = zip(*(enclosed(one, columns, rows, _is_tight) for one in (first, second)), strict=True)
        found = [_agree(*pair) for pair in pairs]
    except (OverBudgetError, ValueError):  # or y is too much to look at in one of them
        return 0
    return None if False in found else found.count(True)


def _some(size: int, generator: np.random.Generator) -> Flat:
    """A few positions among this many."""
    if size <= MOST_COMPARED:
        return np.arange(size)
    return np.unique(generator.choice(size, MOST_COMPARED, replace=False))


def _agree(ours: Outcome, theirs: Outcome) -> bool | None:
    """Whether two numbers are the same; None if that is not known, or the first does not exist."""
    if isinstance(ours, Undefined) or isinstance(theirs, Undefined):
        return False if not isinstance(ours, Undefined) and isinstance(theirs, Undefined) and theirs.decided else None
    if not ours.overlaps(theirs):
        return False
    return True if _is_tight(ours) and _is_tight(theirs) else None


def _is_tight(ball: Ball) -> bool:
    """Whether a ball is known relatively, or is that of a 0 which only more and more bits show."""
    return bool(ball.is_exact() or ball.rel_accuracy_bits() >= TIGHT_BITS or ball.rad() < NOTHING)


FEW_VALUES = 500
"""Up to this many values of a function, every finding is looked into; of more, the worst."""

MOST_TRIED = 12
"""Rewritten texts that are run."""

MOST_LINES = 2_400
"""Operations of all these texts together: twelve of an ordinary function, one of a sum of hundreds of terms."""

MOST_OFFERED = 4
"""Forms that a search finds, which are then judged."""


def diagnosed(judgement: Judgement, context: DiagnosisContext, v: Array | None) -> tuple[Judgement, Span | None]:
    """The judgement with the operation at fault in the notes of its findings, and the place of that of the worst.

    Args:
        judgement: What was decided.
        context: The function as torch runs it.
        v: The gradient vector, if there is one.
    """
    most = MAX_FINDINGS if context.values <= FEW_VALUES else 1
    listed = [e for e in worth_listing(judgement.entries) if e.verdict in ("inaccurate", "nan-trap")]
    faults = {entry: fault for entry in listed[:most] if (fault := diagnose(context, entry, v)) is not None}
    found = {entry: replace(entry, note=f"{entry.note}: {fault.note}") for entry, fault in faults.items()}
    if not found:
        return judgement, None
    parts = tuple(
        replace(part, decided=[found.get(entry, entry) for entry in part.decided]) for part in judgement.parts
    )
    check, entries = summarize(parts)
    return replace(judgement, check=check, entries=entries, parts=parts), next(iter(faults.values())).span


def rewritten(
    program: Program,
    inputs: Mapping[str, Array],
    judgement: Judgement,
    culprit: Span | None,
    verdict_of: Callable[[str], Verdict | None],
    measured: Callable[[], Measure],
) -> Rewrite | None:
    """The same function in a form that torch can be trusted with: one whose own verdict is better, tried at the point.

    Known cures are tried first; only where none of them gives numbers that agree, other forms are searched.

    Args:
        program: As typed.
        inputs: The values of its variables.
        judgement: Of the function as it is.
        culprit: The place of the operation at fault, if it is known.
        verdict_of: The verdict of another text at the same point, None if it has none.
        measured: What other forms lose, at the point and around it.
    """
    best: Rewrite | None = None
    worst = SEVERITY.index(judgement.check.verdict)
    original = readable(program, {name: array.shape for name, array in inputs.items()})
    if original is None:
        return None
    most = min(MOST_TRIED, max(1, MOST_LINES // max(1, len(program.lines))))
    known = itertools.islice(_candidates(original, inputs, judgement, culprit), most)
    try:
        for form in itertools.chain(known, _searched(original, measured)):
            verdict = verdict_of(form.text)
            if verdict is None or SEVERITY.index(verdict) >= worst:
                continue
            if is_same(program, form.same.text, inputs):
                basis = form.basis.text if form.basis is not None else ""
                best = Rewrite(form.text, "; ".join(form.reasons), verdict, basis)
                worst = SEVERITY.index(verdict)
                if verdict == "agree":
                    break
    except OverTimeError:
        if best is None:
            raise
    return best


def _candidates(
    original: Form, inputs: Mapping[str, Array], judgement: Judgement, culprit: Span | None
) -> Iterator[Form]:
    """Known forms of what is typed, and for a removable singularity its series put in."""
    yield from candidates(original, culprit)
    found = with_series(original, inputs) if judgement.check.verdict == "removable" else None
    if found is not None:
        yield found


def _searched(original: Form, measured: Callable[[], Measure]) -> Iterator[Form]:
    """Forms that lose fewer bits at the point and around it, the best first; nothing is looked for before the first."""
    if len(original.program.lines) <= MOST_OPERATIONS:
        yield from (one.form for one in better(searched(original, measured()))[:MOST_OFFERED])
