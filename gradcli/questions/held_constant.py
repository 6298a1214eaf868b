"""Values that autograd does not follow, in a text or in a recording: derivatives that lack a part, kinks and jumps.

    x.item()**2    x*detach(x)    x.data*y    x + x.detach().abs()    x*(1 + (x == 0).all().to(x.dtype))

What holds values constant may be smooth where the function is not.  So it is judged once more with nothing held
constant: where the reference proves a kink then, the verdict is `kink`, and where it proves another derivative of a
text, `cut`.  A function of Python is told what it lacks by `gradcli.running.cuts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradcli.crosscheck.boundaries import Boundary, findings_of
from gradcli.crosscheck.compare import number_of, to_float
from gradcli.crosscheck.judge import Judgement, judge
from gradcli.crosscheck.point import Numbers, Point, Torch
from gradcli.language.program.expansion import is_padded, released
from gradcli.language.program.wengert import Atom, Program
from gradcli.questions.question import Question
from gradcli.reference.balls import exists
from gradcli.results import Entry, Verdict

MOST_TRIED = 8
"""Most values held constant that are let go one by one, to name the first that matters."""

_NOUNS = {"": "gradient", "gradient": "gradient", "jvp": "slope along u", "hvp": "product Hu", "hessian": "Hessian"}


def with_cut(question: Question, numbers: Numbers, judgement: Judgement) -> Judgement:
    """Report what the derivatives of a text lack, and where it has a kink, if nothing is held constant.

    Args:
        question: The text at its point.
        numbers: Torch's.
        judgement: The judgement of the text, in which the values are constants.
    """
    whole, others = released(question.program)
    if not others:
        return judgement
    found = _judged(whole, question, numbers)
    judgement = _with_kinks(judgement, found, ("agree",))
    lacking = max(_lacking(judgement, found), key=_missing, default=None)
    if lacking is None:
        return judgement
    entry, other = lacking
    value = _held_value(question, numbers, judgement, list(others), entry)
    slopes = f"is {number_of(entry):.6g}, without that {to_float(other.truth):.6g}"
    note = f"{value} is held constant: {_described(entry)} {slopes}"
    findings = findings_of([Boundary("cut", note)], question.value)
    return judgement.joined([replace(finding, proven=True) for finding in findings])


def with_held_values(question: Question, numbers: Numbers, judgement: Judgement) -> Judgement:
    """Report what a function has at this point where its recording, which holds values constant, has a derivative.

    Args:
        question: The function of Python at its point.
        numbers: Torch's.
        judgement: The judgement of the recording.
    """
    whole, others = released(question.program)
    if not (others and isinstance(numbers, Torch) and _point(whole, question).may_be_singular):
        return judgement
    return _with_kinks(judgement, _judged(whole, question, numbers), ("agree", "unchecked"))


def _with_kinks(judgement: Judgement, free: Judgement, instead_of: Sequence[Verdict]) -> Judgement:
    """Put proven kinks of the function that holds nothing constant in the place of entries with these verdicts."""
    kinks = {_place(entry): entry for entry in free.entries if entry.verdict == "kink" and entry.proven}
    if not kinks:
        return judgement
    return judgement.changed(lambda e: kinks.get(_place(e), e) if e.verdict in instead_of else e)


def _point(program: Program, question: Question) -> Point:
    shapes = {symbol: question.shapes[symbol] for symbol in program.variables}
    return Point.from_inputs(program, shapes, question.arrays)


def _judged(program: Program, question: Question, numbers: Numbers) -> Judgement:
    """Judge torch's numbers as those of another Program in the variables of a question."""
    point = _point(program, question)
    if isinstance(numbers, Torch):
        return judge(point, numbers, question.wrt)
    from gradcli.crosscheck.second_derivatives import judge_derived

    return judge_derived(point, numbers, question.wrt)


def _place(entry: Entry) -> tuple[object, ...]:
    return entry.of, entry.by, entry.variable, entry.row, entry.column


def _lacking(held: Judgement, free: Judgement) -> Iterator[tuple[Entry, Entry]]:
    """Pair the entries whose derivative is proved to be another one if nothing is held constant."""
    others = {_place(entry): entry for entry in free.entries}
    for entry in held.entries:
        other = others.get(_place(entry))
        balls = [one.truth for one in (entry, other) if one is not None and one.truth is not None and exists(one.truth)]
        if (entry.variable is not None or entry.of) and len(balls) == 2 and not balls[0].overlaps(balls[1]):
            assert other is not None, "it has a truth"  # noqa: S101
            yield entry, other


def _missing(pair: tuple[Entry, Entry]) -> float:
    """Return the size of what a derivative lacks."""
    held, free = (to_float(one.truth) for one in pair)
    return abs(free - held)


def _held_value(question: Question, numbers: Numbers, judgement: Judgement, held: list[Atom], entry: Entry) -> str:
    """Quote the first value that an entry lacks by itself; the first of all if it lacks none of them by itself."""
    program = question.program

    def matters(atom: Atom) -> bool:
        alone = _judged(released(program, atom)[0], question, numbers)
        return any(one == entry for one, _ in _lacking(judgement, alone))

    found = next(filter(matters, held[:MOST_TRIED]), held[0]) if len(held) > 1 else held[0]
    line = next(line for line in program.lines if line.symbol == found)
    return f"the row padding_idx of {program.excerpt(line)}" if is_padded(line.call) else program.excerpt(line)


def _described(entry: Entry) -> str:
    """Name a derivative in a sentence: "by x[1] the gradient of y[0]"."""
    by = "" if entry.variable is None else f"by {entry.variable}{[*entry.column] if entry.column else ''} "
    of = f" of y{[*entry.row]}" if entry.row and entry.of in ("", "jvp") else ""
    return f"{by}the {_NOUNS.get(entry.of, 'derivative')}{of}"
