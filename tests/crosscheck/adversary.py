"""Random questions at the places where verdicts go wrong, judged by a truth that uses nothing of gradcli.

A function is drawn as a `Tree`: its text, and the same function of one-sided power series (`one_sided`); Hessians of
piecewise polynomials have an exact rational truth (`crossings`).  A few questions run with the tests; by hand:

    python -m tests.crosscheck.adversary 5000            questions, from a random seed
    python -m tests.crosscheck.adversary 1 12345 -v      the one question of a seed, with its truth
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from mpmath import mp

import gradcli
from gradcli import results
from gradcli.results import Check
from tests.crosscheck import drawing
from tests.crosscheck.derived import DIGITS, Truth, curved, derivatives, slope, weighted
from tests.crosscheck.drawing import Question
from tests.crosscheck.trees import Tree

RTOL = {"float64": 2.0**-30, "float32": 2.0**-16}
ROUNDINGS, FEW = 64, 8
"""Of the largest terms: up to so many `agree` may stand where the truth is 0, and up to so few nothing else may."""

ALARMS = ("inaccurate", "kink", "removable", "nan-trap", "undefined", "disagree")

Index = tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """A number of an answer, with its truth: ∂y[row]/∂variable[column]; of a Hessian the row is by `by`."""

    variable: str | None
    row: Index | None
    column: Index | None
    torch: float
    truth: Truth
    by: str | None = None

    def __str__(self) -> str:
        places = (f"{self.by or 'y'}{list(self.row or ())}", f"{self.variable}{list(self.column or ())}")
        if not self.truth.exists:
            return f"{' by '.join(places)}: torch {self.torch!r}, {self.truth.why}"
        size = mp.nstr(mp.mpf(self.truth.size), 3)
        return f"{' by '.join(places)}: torch {self.torch!r}, truth {mp.nstr(self.truth.value, 17)} of terms of {size}"


@dataclass(frozen=True)
class Fault:
    """What a verdict got wrong."""

    kind: str
    question: Question
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}\n    {self.question.command_line()}\n    {self.detail}"


def _places(question: Question) -> Iterator[tuple[str, int, Index]]:
    for name, value in question.at.items():
        if name in question.wrt:
            for index in range(np.size(value)):
                yield name, index, ((index,) if np.ndim(value) else ())


def entries(question: Question, answer: Any) -> list[Entry]:
    """Every number of an answer with its truth."""
    with mp.workdps(DIGITS[-1]):
        if question.command == "hessian":
            return list(_second(question, answer))
        if question.command == "jvp":
            direction = {(name, 0): one for name, one in question.u.items()}
            (truth,) = derivatives(question.tree, question, direction)
            return [Entry(None, (), None, float(answer.jvp), truth)]
        return list(_first(question, answer))


def _first(question: Question, answer: Any) -> Iterator[Entry]:
    if question.elements:
        yield from _elementwise(question, question.elements, answer)
        return
    for name, index, column in _places(question):
        truths = derivatives(question.tree, question, {(name, index): 1.0})
        if len(truths) != answer.value.size:
            continue  # one of them has no value
        if question.command == "grad":
            yield Entry(name, (), column, float(answer.grad[name][column]), truths[0])
            continue
        for row, truth in zip(np.ndindex(answer.value.shape), truths, strict=True):
            if answer.jacobian is not None:
                yield Entry(name, row, column, float(answer.jacobian[name][row + column]), truth)
        if question.command == "vjp":
            yield Entry(name, None, column, float(answer.vjp[name][column]), weighted(truths, question.v))


def _elementwise(question: Question, one: Tree, answer: Any) -> Iterator[Entry]:
    """Of a function of each element, or of the sum over them, which has no value where one has none."""
    truths = [derivatives(one, question.of_element(index), {(name, 0): 1.0})[0] for name, index, _ in _places(question)]
    missing = [truth for truth in truths if truth.why.startswith("no value:")]
    for (name, index, column), truth in zip(_places(question), truths, strict=True):
        if question.command == "grad":
            yield Entry(name, (), column, float(answer.grad[name][column]), (missing or [truth])[0])
            continue
        if answer.jacobian is not None:
            yield Entry(name, column, column, float(answer.jacobian[name][column * 2]), truth)
        if question.command == "vjp":
            found = weighted([truth], [question.v[index]])
            yield Entry(name, None, column, float(answer.vjp[name][column]), found)


def _second(question: Question, answer: Any) -> Iterator[Entry]:
    places = list(_places(question))
    for name, index, column in places:
        yield Entry(name, None, column, float(answer.grad[name][column]), slope(question, name, index))
    for a, i, row in places:
        for b, j, column in places:
            torch = float(answer.hessian[a][b][row + column])
            truth = curved(question, (a, i), (b, j))
            yield Entry(b, row, column, torch, truth, by=a)


def is_right(torch: float, truth: Truth, dtype: str, roundings: int) -> bool:
    """Whether a number is the truth up to the tolerance, or off by a residue of its terms where that is 0."""
    if not math.isfinite(torch) or not truth.exists:
        return False
    residue = roundings * float(np.finfo(dtype).eps) * abs(truth.size) if truth.value == 0 else 0
    return bool(abs(mp.mpf(torch) - truth.value) <= max(RTOL[dtype] * abs(truth.value), residue))


def _is_wrong(entry: Entry, dtype: str) -> bool:
    """Whether a number is beyond the tolerance, and not for what underflows or overflows."""
    if not entry.truth.exists or abs(entry.truth.value) > np.finfo(dtype).max:
        return False
    if math.isfinite(entry.torch) and abs(entry.torch - entry.truth.value) <= ROUNDINGS * np.finfo(dtype).tiny:
        return False
    return not is_right(entry.torch, entry.truth, dtype, ROUNDINGS)


def _is_small(entry: Entry, dtype: str) -> bool:
    """Whether a difference is a few roundings of the largest terms, of a truth that is not 0."""
    if not math.isfinite(entry.torch) or not entry.truth.exists:
        return False
    error = abs(mp.mpf(entry.torch) - entry.truth.value)
    return bool(error <= ROUNDINGS * float(np.finfo(dtype).eps) * abs(entry.truth.size))


def _is_of(finding: results.Entry, entry: Entry) -> bool:
    if finding.column is None and entry.column is not None:
        return False  # an element of y, or a formula
    if finding.of == "gradient" or (finding.by is None) is not (entry.by is None):
        return entry.by is None and (finding.variable, finding.column) == (entry.variable, entry.column)
    if entry.by is not None:
        own = ((entry.by, entry.row), (entry.variable, entry.column))
        return ((finding.by, finding.row), (finding.variable, finding.column)) in (own, own[::-1])
    if entry.column is None:
        return finding.of == "jvp"
    return (finding.variable, finding.column) == (entry.variable, entry.column) and finding.row in (None, entry.row)


def _is_listed(check: Check, entry: Entry) -> bool:
    """Whether a finding is of an entry, or of what it is made of."""
    whole = entry if entry.row is not None else None
    for finding in check.findings:
        is_part = whole is None and (finding.variable, finding.column) == (entry.variable, entry.column)
        if _is_of(finding, entry) or (is_part and finding.by is None):
            return True
    return False


def _is_beside(check: Check, entry: Entry) -> bool:
    """Whether an entry of the Hessian is not listed, and the gradient that it is the derivative of is."""
    return entry.by is not None and any(
        finding.of == "gradient" and (finding.variable, finding.column) == (entry.by, entry.row)
        for finding in check.findings
    )


def judged(question: Question, check: Check, found: list[Entry]) -> Iterator[Fault]:
    """The faults of a check."""
    for finding in check.findings:
        if finding.verdict == "disagree" and not any(
            _is_subgradient(finding, entry, question.dtype) for entry in found
        ):
            told = [str(entry) for entry in found if _is_of(finding, entry)]
            yield Fault("FALSE DISAGREE", question, "; ".join([*told, _said(finding)]))
    is_whole = check.checked >= check.entries and check.findings_count == len(check.findings)
    all_right = all(is_right(entry.torch, entry.truth, question.dtype, FEW) for entry in found)
    for entry in found:
        own = [finding for finding in check.findings if _is_of(finding, entry)]
        right = is_right(entry.torch, entry.truth, question.dtype, FEW)
        if not _is_listed(check, entry) and (check.verdict == "agree" or (is_whole and check.verdict != "unchecked")):
            if entry.truth.exists is False:
                kind = (
                    "agree beside a gradient that is listed"
                    if _is_beside(check, entry)
                    else "WRONG AGREE (no derivative)"
                )
                yield Fault(kind, question, str(entry))
            elif is_whole and _is_wrong(entry, question.dtype):
                kind = "agree (residue of a truth that is not 0)" if _is_small(entry, question.dtype) else "WRONG AGREE"
                yield Fault(kind, question, str(entry))
        if right and (question.command != "hessian" or all_right):
            for finding in own:
                if finding.verdict in ALARMS and finding.verdict != "disagree":
                    yield Fault(f"WRONG ALARM ({finding.verdict})", question, f"{entry}; {_said(finding)}")


def _is_subgradient(finding: results.Entry, entry: Entry, dtype: str) -> bool:
    """Whether torch is wrong of an entry that has a derivative, since it picked one at a tie."""
    is_wrong = entry.truth.exists is not False and not is_right(entry.torch, entry.truth, dtype, ROUNDINGS)
    return _is_of(finding, entry) and is_wrong and (entry.truth.is_tie or entry.truth.exists is None)


def _said(finding: results.Entry) -> str:
    where = f"{finding.by or 'y'}{list(finding.row or ())} by {finding.variable}{list(finding.column or ())}"
    proven = " (proven)" if finding.proven else ""
    return (
        f"said {finding.verdict}{proven} of {where}: torch {finding.torch}, {finding.reference}: {finding.note[:200]}"
    )


def ask(question: Question) -> tuple[Check, list[Entry]]:
    """The verdict on a question, and the truth.

    Raises:
        GradcliError: gradcli does not answer it.
    """
    function = gradcli.Function(question.text)
    more: dict[str, Any] = {"u": question.u} if question.command == "jvp" else {}
    more |= {"v": question.cotangent} if question.command == "vjp" else {}
    asked: Callable[..., Any] = getattr(function, question.command)
    answer = asked(question.at, dtype=question.dtype, **more)
    for name, value in question.at.items():  # what torch got is the question
        held: npt.NDArray[Any] = answer.inputs[name]
        if not np.array_equal(held.astype(np.float64), np.asarray(value, np.float64)):
            raise ValueError(f"{name} was read as {held}")
    return answer.check, entries(question, answer)


def faults(question: Question) -> tuple[list[Fault], str]:
    """What is wrong with the verdict on a question, and the verdict."""
    try:
        check, found = ask(question)
    except gradcli.GradcliError as error:
        return [], f"refused: {error}"
    if any(entry.truth.exists is None for entry in found):
        unknown = Fault("truth not known", question, next(str(entry) for entry in found if entry.truth.exists is None))
        return [*_first_of_each(judged(question, check, found)), unknown], _covered(check)
    return _first_of_each(judged(question, check, found)), _covered(check)


def _first_of_each(found: Iterator[Fault]) -> list[Fault]:
    seen: dict[str, Fault] = {}
    for fault in found:
        seen.setdefault(fault.kind, fault)
    return list(seen.values())


def _covered(check: Check) -> str:
    return check.verdict if check.checked >= check.entries else f"{check.verdict}, sampled"


def run(count: int, seed: int, *, verbose: bool = False) -> Counter[str]:
    """Ask so many questions and print what is wrong; how often each verdict, and each fault, was found."""
    totals: Counter[str] = Counter()
    for own in range(seed, seed + count):
        question = drawing.draw(random.Random(own))
        before = time.monotonic()
        found, verdict = faults(question)
        totals[f"verdict: {verdict.partition(':')[0]}"] += 1
        if verdict.startswith("refused"):
            print(f"seed {own} [{question.kind}] {verdict}\n    {question.command_line()}")
        for fault in found:
            totals[fault.kind] += 1
            totals[f"{fault.kind} [{question.kind}]"] += 1
            if fault.kind != "truth not known" or verbose:
                print(f"seed {own} [{question.kind}] {fault}", flush=True)
        if verbose:
            print(question.command_line(), verdict, *ask(question)[1], sep="\n    ")
        if time.monotonic() - before > 20:
            print(
                f"seed {own} [{question.kind}] {time.monotonic() - before:.0f} s: {question.command_line()}", flush=True
            )
    for name, times in sorted(totals.items()):
        print(f"{times:6} of {count}  {name}")
    return totals


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "-v"]
    first = int(words[1]) if len(words) > 1 else random.SystemRandom().randrange(10**9)
    totals = run(int(words[0]), first, verbose="-v" in sys.argv)
    sys.exit(any(name.startswith(("WRONG", "FALSE")) for name in totals))
