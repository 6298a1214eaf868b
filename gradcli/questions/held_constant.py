"""Values that autograd does not follow, in a text or in a recording: derivatives that lack a part, kinks and jumps.

    x.item()**2    x*detach(x)    x.data*y    x + x.detach().abs()    x*(1 + (x == 0).all().to(x.dtype))

What holds values constant may be smooth where the function is not.  So it is judged once more with nothing held
constant: where the reference proves a kink then, the verdict is `kink`, and where it proves another derivative, `cut`.
What it leaves open of a function of Python is decided by torch's own gradients, in `gradcli.parts.running.cuts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradcli.crosscheck.boundaries import Boundary, findings_of
from gradcli.crosscheck.compare import number_of, to_float
from gradcli.crosscheck.judge import Judgement, judge
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.language.program.expansion import is_padded, without_detach
from gradcli.language.program.wengert import Atom, Program
from gradcli.questions.bound_function import BoundFunction
from gradcli.questions.recorded_protocol import Released
from gradcli.reference.balls import exists
from gradcli.results import Entry

MOST_TRIED = 8
"""Most values held constant that are let go one by one, to name the first that matters."""

_NOUNS = {"": "gradient", "gradient": "gradient", "jvp": "slope along u", "hvp": "product Hu", "hessian": "Hessian"}


def with_cut(bound: BoundFunction, numbers: Numbers, judgement: Judgement) -> Judgement:
    """Report what the derivatives of a text lack, and where it has a kink, if nothing is held constant.

    Args:
        bound: The text at its point.
        numbers: Torch's.
        judgement: The judgement of the text, in which the values are constants.
    """
    found = released_judgement(bound, numbers, judgement)
    if found.cut is None:
        return found.judgement
    findings = findings_of([Boundary("cut", found.note)], bound.value, found.cut)
    return found.with_truths(found.judgement).joined([finding.judged(proven=True) for finding in findings])


def released_judgement(bound: BoundFunction, numbers: Numbers, judgement: Judgement) -> Released:
    """Judge a text, or the recording of a function of Python, once more with nothing held constant.

    Args:
        bound: The function at its point.
        numbers: Torch's.
        judgement: The judgement of the Program, in which the values are constants.
    """
    whole, others = without_detach(bound.program)
    if not others:
        return Released(judgement, is_decided=True)
    free = _judged(whole, bound, numbers)
    judgement = _with_kinks(judgement, free)
    is_decided = free.check.verdict == "agree" and free.check.proven
    pairs = [*_lacking(judgement, free)]
    lacking = max(pairs, key=_missing, default=None)
    if lacking is None or (bound.recording is not None and bound.recording.doubt):
        return Released(judgement, is_decided=is_decided)
    entry, other = lacking
    value = _held_value(bound, numbers, judgement, list(others), entry)
    slopes = "is {}, without that {}".format(*_told_apart(number_of(entry), to_float(other.truth)))
    note = f"{value} is held constant: {_described(entry)} {slopes}"
    truths = {one.position: free.truth for one, free in pairs}
    return Released(judgement, other.judged(verdict="disagree"), note, is_decided=True, truths=truths)


def _with_kinks(judgement: Judgement, free: Judgement) -> Judgement:
    """Put proven kinks of the function that holds nothing constant in the place of entries that agree, or are open."""
    kinks = {entry.position: entry for entry in free.entries if entry.verdict == "kink" and entry.proven}
    if not kinks:
        return judgement
    return judgement.changed(lambda e: kinks.get(e.position, e) if e.verdict in ("agree", "unchecked") else e)


def _point(program: Program, bound: BoundFunction) -> FunctionAtPoint:
    shapes = {symbol: bound.shapes[symbol] for symbol in program.variables}
    return FunctionAtPoint.from_inputs(program, shapes, bound.arrays)


def _judged(program: Program, bound: BoundFunction, numbers: Numbers) -> Judgement:
    """Judge torch's numbers as those of another Program in the variables of a question."""
    point = _point(program, bound)
    if numbers.is_of_rows:
        return judge(point, numbers, bound.wrt)
    from gradcli.crosscheck.second_derivatives import judge_derived

    return judge_derived(point, numbers, bound.wrt)


def _lacking(held: Judgement, free: Judgement) -> Iterator[tuple[Entry, Entry]]:
    """Pair the entries whose derivative is proved to be another one if nothing is held constant.

    Torch's number may be both, within the tolerance; it is right then.
    """
    others = {entry.position: entry for entry in free.entries}
    for entry in held.entries:
        other = others.get(entry.position)
        balls = [one.truth for one in (entry, other) if one is not None and one.truth is not None and exists(one.truth)]
        if other is None or len(balls) < 2 or balls[0].overlaps(balls[1]) or other.verdict == "agree":
            continue
        if entry.variable is not None or entry.of:
            yield entry, other


def _missing(pair: tuple[Entry, Entry]) -> float:
    """Return the size of what a derivative lacks."""
    held, free = (to_float(one.truth) for one in pair)
    return abs(free - held)


def _held_value(bound: BoundFunction, numbers: Numbers, judgement: Judgement, held: list[Atom], entry: Entry) -> str:
    """Quote the first value that an entry lacks by itself; the first of all if it lacks none of them by itself."""
    program = bound.program

    def matters(atom: Atom) -> bool:
        alone = _judged(without_detach(program, atom)[0], bound, numbers)
        return any(one == entry for one, _ in _lacking(judgement, alone))

    names: Mapping[Atom, str] = {} if bound.recording is None else bound.recording.held_values
    held = [atom for atom in held if atom in names] or held
    found = next(filter(matters, held[:MOST_TRIED]), held[0]) if len(held) > 1 else held[0]
    if bound.recording is not None:
        return names.get(found, "a value")
    line = next(line for line in program.lines if line.symbol == found)
    return f"the row padding_idx of {program.excerpt(line)}" if is_padded(line.call) else program.excerpt(line)


def _described(entry: Entry) -> str:
    """Name a derivative in a sentence: "by x[1] the gradient of y[0]"."""
    by = "" if entry.variable is None else f"by {entry.variable}{[*entry.column] if entry.column else ''} "
    of = f" of y{[*entry.row]}" if entry.row and entry.of in ("", "jvp") else ""
    return f"{by}the {_NOUNS.get(entry.of, 'derivative')}{of}"


def _told_apart(one: float, other: float) -> tuple[str, str]:
    """Write two numbers with six digits, or with as many as tell them apart.

    >>> _told_apart(4.0, 4.5), _told_apart(4.0, 4.000000002)
    (('4', '4.5'), ('4', '4.000000002'))
    """
    texts = ((f"{one:.{digits}g}", f"{other:.{digits}g}") for digits in range(6, 17))
    return next((pair for pair in texts if pair[0] != pair[1]), (repr(one), repr(other)))
