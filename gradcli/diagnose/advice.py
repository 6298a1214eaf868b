"""What to do about numbers that cannot be trusted: where they went wrong, and how to write the function instead."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy
from flint import arb

from gradcli.check.compare import to_float
from gradcli.check.judge import Judgement
from gradcli.check.point import Point
from gradcli.check.summary import MAX_FINDINGS, summarize, worth_listing
from gradcli.diagnose.context import DiagnosisContext
from gradcli.diagnose.diagnosis import Diagnosis, diagnose
from gradcli.diagnose.rewriting.candidates import Candidate, candidates
from gradcli.diagnose.rewriting.removable import quotients, removable_candidates
from gradcli.diagnose.sameness import is_same
from gradcli.language.lower.names import SHADOWABLE
from gradcli.language.parsing import parse
from gradcli.language.program.wengert import Line, Program, needed
from gradcli.reference.duals import OverBudgetError, Reference
from gradcli.reference.probing import BITS, Neighborhood
from gradcli.results import SEVERITY, Array, Entry, Rewrite, Verdict

FEW_VALUES = 500
"""Up to this many values of a function, every finding is looked into; of more, the worst."""

MOST_TRIED = 12
"""Rewritten texts that are run."""

MOST_OPERATIONS = 2_400
"""Operations of all these texts together: twelve of an ordinary function, one of a sum of hundreds of terms."""

MOST_VALUES = 4
"""Values of a variable at which a quotient may be 0/0."""


def diagnosed(
    judgement: Judgement, context: DiagnosisContext, v: Array | None
) -> tuple[Judgement, tuple[Diagnosis, ...]]:
    """The judgement with the operation at fault in the notes of its findings, and the diagnoses, worst first.

    Args:
        judgement: What was decided.
        context: The function as torch runs it.
        v: The gradient vector, if there is one.
    """
    found: dict[Entry, Entry] = {}
    diagnoses: list[Diagnosis] = []
    most = MAX_FINDINGS if context.values <= FEW_VALUES else 1
    for entry in _looked_into(judgement.entries, most):
        diagnosis = diagnose(context, entry, v)
        diagnoses.append(diagnosis)
        found[entry] = replace(entry, note=f"{entry.note}: {diagnosis.note}" if diagnosis.note else entry.note)
    return (_reworded(judgement, found) if found else judgement), tuple(diagnoses)


def _looked_into(entries: Sequence[Entry], most: int) -> list[Entry]:
    """What is listed and may have an explanation."""
    return [e for e in worth_listing(entries) if e.verdict in ("inaccurate", "nan-trap")][:most]


def _reworded(judgement: Judgement, found: Mapping[Entry, Entry]) -> Judgement:
    """The judgement with some of its entries in other words."""
    parts = tuple(
        replace(part, decided=[found.get(entry, entry) for entry in part.decided]) for part in judgement.parts
    )
    check, entries = summarize(parts)
    return replace(judgement, check=check, entries=entries, parts=parts)


def rewritten(
    program: Program,
    inputs: Mapping[str, Array],
    judgement: Judgement,
    diagnoses: Sequence[Diagnosis],
    verdict_of: Callable[[str], Verdict | None],
) -> Rewrite | None:
    """The same function in a form that torch can be trusted with: one whose own verdict is better, tried at the point.

    Args:
        program: As typed.
        inputs: The values of its variables.
        judgement: Of the function as it is.
        diagnoses: Of its findings, worst first.
        verdict_of: The verdict of another text at the same point, None if it has none.
    """
    best: Rewrite | None = None
    worst = SEVERITY.index(judgement.check.verdict)
    most = min(MOST_TRIED, max(1, MOST_OPERATIONS // max(1, len(program.lines))))
    for candidate in itertools.islice(_candidates(program, inputs, judgement, diagnoses), most):
        verdict = verdict_of(candidate.expression)
        if verdict is None or SEVERITY.index(verdict) >= worst:
            continue
        if is_same(program, candidate.expression, inputs):
            best, worst = Rewrite(candidate.expression, candidate.reason, verdict), SEVERITY.index(verdict)
            if verdict == "agree":
                break
    return best


def _candidates(
    program: Program, inputs: Mapping[str, Array], judgement: Judgement, diagnoses: Sequence[Diagnosis]
) -> Iterator[Candidate]:
    """Known forms of what is typed, and for a removable singularity its limit put in."""
    shapes = {name: array.shape for name, array in inputs.items()}
    culprit = next((diagnosis.line for diagnosis in diagnoses if diagnosis.line is not None), None)
    yield from candidates(program, shapes, culprit)
    if judgement.check.verdict == "removable":
        yield from _with_limits(program, inputs)
        yield from _with_all_limits(program, inputs)


def _with_limits(program: Program, inputs: Mapping[str, Array]) -> Iterator[Candidate]:
    """The limit of one quotient put in, for each that is 0/0 at a value of its variable."""
    shapes = {name: array.shape for name, array in inputs.items()}
    for name in program.names:
        for point in np.unique(inputs[name].astype(np.float64))[:MOST_VALUES].tolist():
            for line in quotients(program, name, point):
                found = _limits(program, line, name, point)
                if found is not None:
                    yield from removable_candidates(program, line, name, point, *found, shapes)


def _with_all_limits(program: Program, inputs: Mapping[str, Array]) -> Iterator[Candidate]:
    """The limits of several quotients put in, one after the other."""
    shapes = {name: array.shape for name, array in inputs.items()}
    given = frozenset(program.names) & SHADOWABLE
    found: list[Candidate] = []
    while len(found) < MOST_VALUES:
        one = next(_with_limits(program, inputs), None)
        if one is None:
            break
        found.append(one)
        program = parse(one.expression, given=given, shapes=shapes)
    if len(found) > 1:
        yield Candidate(found[-1].expression, "; ".join(one.reason for one in found))


def _limits(program: Program, line: Line, name: str, point: float) -> tuple[float, float] | None:
    """What a quotient of one variable and its derivative tend to at a point, if that is so from both sides."""
    symbol = sympy.Symbol(name, real=True)
    part = Program(program.text, (symbol,), program.lines[: program.lines.index(line) + 1], line.symbol)
    part = replace(part, lines=tuple(needed(part.lines, part.output)))
    here = Point.of(part, {symbol: ()}, {name: np.array(point)})
    try:
        plan = Reference(here.program, here.shapes, here.inputs).plan([(symbol, 0)])
    except OverBudgetError:
        return None
    neighborhood = Neighborhood(plan, BITS[0])
    paths = list(neighborhood.around())
    values = [neighborhood.limit(path, lambda found: found.values[0]) for path in paths]
    slopes = [neighborhood.limit(path, lambda found: found.columns.get((0, 0), arb(0))) for path in paths]
    if not all(one.meets(ones[0]) for ones in (values, slopes) for one in ones):
        return None
    return to_float(values[0].ball), to_float(slopes[0].ball)
