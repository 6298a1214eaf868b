"""Ju, Hu and the Hessian, judged.

    Ju         the derivative of g(t) = f(x + t*u) by t, at 0, which the judge of Jacobians judges
    Hu         a sweep back whose adjoints have tangents      `gradcli.reference.second_order`
    row i      of H: the same for u = e_i

Where an operation on the way is not smooth, only the derivative of a slope along its own input is decided: by series
on both sides.  Of other inputs that move what is met there, nothing is claimed.  The gradient next to a Hessian is
judged for itself.  Some entries can also be enclosed without torch, to confirm formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.compare import (
    FIRST_BITS,
    TOLERANCE,
    Block,
    Case,
    Evidence,
    Singular,
    Tolerance,
    compare,
    to_float,
    verdicts,
)
from gradcli.crosscheck.judge import Judgement, judge, unless_minor
from gradcli.crosscheck.point import (
    STEP,
    HessianVectorProduct,
    JacobianVectorProduct,
    Point,
    SecondDerivatives,
    Torch,
    unravel,
    way,
)
from gradcli.crosscheck.sample import Survey, magnitude, pick
from gradcli.crosscheck.singular import (
    BITS as OF_SERIES,
    Limit,
    Looks,
    classify_singularities,
    planned,
    shown_number,
    sides_in_words,
)
from gradcli.crosscheck.summary import SEED, FamilyCheck, summarize
from gradcli.errors import Span
from gradcli.language.program.wengert import Atom, Builder
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.deadline import OverTimeError, require_time, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.second_order import HessianProducts, is_met
from gradcli.results import Array, Entry, Index, Of, Verdict


@dataclass
class HessianRows:
    """Products of one Hessian with directions, whose elements are derivatives of slopes along the direction.

    Args:
        point: The Program and its inputs.
        tolerance: How far a number may be from the truth.
        wrt: The variables of the elements.
    """

    point: Point
    tolerance: Tolerance
    wrt: tuple[str, ...]
    _known: dict[int, HessianProducts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.case = Case(Reference(self.point.program, self.point.shapes, self.point.inputs), self.tolerance)

    @cached_property
    def _without_slope(self) -> Mapping[Direction, Entry]:
        """Find the inputs along which y certainly has no slope, each with the verdict on it, without torch's number."""
        shapes = {name: self.point.shape_of(name) for name in self.wrt}
        entries = [
            Entry(n, (), unravel(j, s), "unchecked", math.nan) for n, s in shapes.items() for j in range(math.prod(s))
        ]
        try:
            found = self.case.reference.plan([self.case.direction(entry) for entry in entries]).run(FIRST_BITS)
        except OverBudgetError:
            return {}
        causes = ((entry, self.case.truth(entry, found)) for entry in entries)
        ones = [Singular(entry, cause, frozenset((0,))) for entry, cause in causes if isinstance(cause, Undefined)]
        seen = (one for one in classify_singularities(self.case, ones) if one.verdict in ("kink", "undefined"))
        return {self.case.direction(one): replace(one, torch=None) for one in seen}

    def _at(self, bits: int) -> HessianProducts:
        if bits not in self._known:
            self._known[bits] = HessianProducts(self.case.reference, bits)
        return self._known[bits]

    @property
    def work(self) -> int:
        """The slopes that one product goes through."""
        return sum(map(len, self._at(FIRST_BITS).ways.values()))

    def judged(
        self, u: Mapping[str, Array], product: Mapping[str, Array], slopes: Sequence[Entry], *, is_row: bool = False
    ) -> list[Entry]:
        """Decide the elements of a product.

        Args:
            u: The direction.
            product: Torch's numbers by variable, of x's shape.
            slopes: What was decided of the slopes that the product is the derivative of.
            is_row: Whether this is a row of H, of slopes by the element that u moves; else u moves all slopes.

        Raises:
            OverBudgetError, OverTimeError: It is too much.
        """
        require_time()
        asked = [
            Entry(name, (), unravel(j, self.point.shape_of(name)), "unchecked", number)
            for name in self.wrt
            for j, number in enumerate(product[name].ravel().tolist())
        ]
        found = self._balls(asked, u, slopes, is_row=is_row)
        is_strict = self.tolerance.is_strict
        return found if is_strict else [unless_minor(e, product, self.point, self.tolerance) for e in found]

    def _balls(
        self, asked: Sequence[Entry], u: Mapping[str, Array], slopes: Sequence[Entry], *, is_row: bool
    ) -> list[Entry]:
        """The elements that are asked for, one by one; see `judged`."""
        moving = way(u)
        own = next(iter(moving)) if len(moving) == 1 else None
        waiting, decided = list[Entry](), list[Entry]()
        y = self._at(FIRST_BITS).run.values.get(self.point.program.output, {}).get(0)
        if isinstance(y, Undefined) and any(slope.verdict == "undefined" for slope in slopes):
            return [_unless_missing(entry, slopes) for entry in asked]
        for entry in asked:
            column = self.case.direction(entry)
            by, against = (own, [column]) if is_row and own is not None else (column, list(moving))
            if not is_met(self._at(FIRST_BITS), by, against):
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
        """The entries where all operations on the way are smooth, or move with no input that matters.

        And those that are wrong, which rounding may explain.
        """

        def truths(bits: int, _: Sequence[Entry]) -> Callable[[Entry], Outcome]:
            found = self._at(bits).along(way(u))
            return lambda entry: self._truth(entry, found)

        known = verdicts(entries, truths, self.tolerance)
        decided = [*known.decided, *(_unknown(entry, "is not decided") for entry, _ in known.missing)]
        if wrong := [*wrong, *known.wrong]:
            from gradcli.crosscheck.rounding import explained

            passes = replace(self.point, tangent_of=(self.point, u))
            decided += explained(self.case, passes, wrong, truths)
        return decided

    def _truth(self, entry: Entry, found: Mapping[Direction, Ball]) -> Outcome:
        truth = found.get(self.case.direction(entry), arb(0))
        return truth if exists(truth) else Undefined("slope", "an operation is not smooth here", decided=False)

    def _where_met(
        self, entry: Entry, by: Direction, moving: Mapping[Direction, float], slopes: Sequence[Entry]
    ) -> Entry:
        """The derivative of a slope along its own input, by series on both sides."""
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
        """The verdict by the second derivatives on both sides; None if they do not tell."""
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
    """The entry as undecided, unless the slope that it is the derivative of has none."""
    missing = next((one for one in slopes if one.verdict in ("kink", "undefined")), None)
    if missing is None:
        return _unknown(entry, "is not decided")
    note = f"the gradient does not exist here: {missing.note}"
    if missing.verdict == "kink":
        picked = "" if missing.torch is None else f", and torch picked {shown_number(missing.torch)} for it"
        note = f"the gradient has a kink here{picked}"
    return replace(entry, verdict=missing.verdict, note=note, proven=missing.proven)


def _unknown(entry: Entry, why: str) -> Entry:
    note = f"branches or poles meet here; whether the second derivative exists, {why}"
    return replace(entry, verdict="unchecked", note=note, proven=False)


KNOWN = 3
"""Elements of each variable that give the rows and columns at which formulas of second derivatives are compared."""

EXISTING: Collection[Verdict] = frozenset(["agree", "inaccurate", "nan-trap", "disagree"])
"""Verdicts on numbers whose truth exists at the point itself."""


def direction_name(variable: str) -> str:
    """What the direction of a variable is called: no name of the language has a space."""
    return f"u of {variable}"


def along(point: Point, u: Mapping[str, Array]) -> Point:
    """The Program of g at t = 0, in the variables of f, their directions, and t.

    Args:
        point: f and x.
        u: A direction of x's shape for each variable that moves.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> point = Point.of(program, {program.variables[0]: (2,)}, {"x": np.array([1.0, 2.0])})
    >>> line = along(point, {"x": np.array([1.0, 0.0])})
    >>> line.program.names, [one.call.op.name for one in line.program.lines]
    (('x', 'u of x', 'step along u'), ['mul', 'add', 'pow'])
    """
    typed, start = point.source, Span(0, 0)
    step = sympy.Symbol(STEP, real=True)
    moving = {s: sympy.Symbol(direction_name(str(s)), real=True) for s in typed.variables if str(s) in u}
    builder = Builder(typed.text, typed.source)
    renamed: dict[Atom, Atom] = {}
    for symbol, direction in moving.items():
        moved = builder.emit("mul", (step, direction), start)
        renamed[symbol] = builder.emit("add", (symbol, moved), start)
    for line in typed.lines:
        operands = tuple(renamed.get(a, a) for a in line.call.operands)
        renamed[line.symbol] = builder.emit(line.call.op.name, operands, line.span, line.call.statics)
    program = replace(
        typed,
        variables=(*typed.variables, *moving.values(), step),
        lines=tuple(builder.lines),
        output=renamed.get(typed.output, typed.output),
    )
    shapes = {symbol: point.shapes[symbol] for symbol in typed.variables}
    shapes |= {direction: shapes[symbol] for symbol, direction in moving.items()} | {step: ()}
    directions = {str(direction): u[str(symbol)] for symbol, direction in moving.items()}
    return Point.of(program, shapes, {**point.inputs, **directions, STEP: np.zeros(())}, point.passes)


def truths_of(of: Of, point: Point, u: Mapping[str, Array], wrt: Sequence[str], bits: int) -> Evidence:
    """Some elements of Ju, Hu or the Hessian, without torch; none where that is over the budget or there are none.

    Args:
        of: `jvp`, `hvp` or `hessian`.
        point: The Program and its inputs.
        u: The direction of each variable that moves, for Ju and Hu.
        wrt: The variables of Hu, or of the rows and columns of the Hessian.
        bits: Of the balls.
    """
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    with suppress(OverTimeError, OverBudgetError), time_limit():
        if of == "jvp":
            line, rows = along(point, u), np.array(_few(point.rows), dtype=np.int64)
            found = Evidence.at(line, [(sympy.Symbol(STEP, real=True), 0)], rows, bits)
            return Evidence({("", ""): found.blocks.get(("", STEP), {}) if found else {}}, bits)
        products = HessianProducts(Reference(point.program, point.shapes, point.inputs), bits)
        y = products.run.values.get(products.reference.program.output, {})
        if any(isinstance(outcome, Undefined) for outcome in y.values()):
            return Evidence({}, bits)
        columns = [(name, j) for name in wrt for j in _few(point.inputs[name].size)]
        ways = [(name, *_unit(point, name, i)) for name, i in columns] if of == "hessian" else [("", (), u)]
        for by, row, direction in ways:
            product = products.along(way(direction))
            for name, j in columns:
                ball = product.get((sympy.Symbol(name, real=True), j), arb(0))
                if exists(ball):
                    known.setdefault((by, name), {})[row, unravel(j, point.shape_of(name))] = ball
    return Evidence(known, bits)


def _unit(point: Point, name: str, i: int) -> tuple[Index, Mapping[str, Array]]:
    """The index of an element of a variable, and the direction in which it alone moves."""
    unit = np.zeros(point.shape_of(name))
    unit.reshape(-1)[i] = 1.0
    return unravel(i, unit.shape), {name: unit}


def _few(size: int) -> list[int]:
    """A few flat positions below `size`, evenly spaced from the first to the last."""
    return sorted(set(np.linspace(0, size - 1, KNOWN).astype(int).tolist())) if size else []


OVER_BUDGET = "the second derivatives were over the budget of the reference"

ALL_ROWS = 64
"""Up to this many rows of a Hessian, every one is checked."""

SAMPLED_ROWS = 8
"""Rows of a sample."""

MOST_WORK = 600_000
"""Slopes of all rows together, about a second; the first row is always checked."""


def judge_derived(
    point: Point,
    torch: JacobianVectorProduct | HessianVectorProduct | SecondDerivatives,
    wrt: tuple[str, ...],
    tolerance: Tolerance | None = None,
) -> Judgement:
    """Compare torch's products and second derivatives with the reference; see `gradcli.crosscheck.judge.judge`."""
    tolerance = tolerance or TOLERANCE[torch.dtype]
    with time_limit():  # one for all that is judged on the way
        match torch:
            case JacobianVectorProduct():
                numbers = Torch(torch.dtype, torch.value, {STEP: torch.jvp})
                return _judgement(_of_jvp(point, numbers, torch.u, tolerance))
            case HessianVectorProduct():
                return _judge_hvp(point, torch, wrt, tolerance)
        return _judge_hessian(point, torch, wrt, tolerance)


def _judge_hvp(point: Point, torch: HessianVectorProduct, wrt: tuple[str, ...], tolerance: Tolerance) -> Judgement:
    """The verdict of Hu, and of u·∇f, for a y of one element."""
    slope = {STEP: np.full(point.shape, torch.slope)}
    beside = _of_jvp(point, _derivatives(point, slope, tolerance), torch.u, tolerance).decided
    total = sum(torch.hvp[name].size for name in wrt)
    try:
        found = HessianRows(point, tolerance, wrt).judged(torch.u, torch.hvp, beside)
    except (OverBudgetError, OverTimeError) as error:
        note = str(error) or OVER_BUDGET
        return _judgement(FamilyCheck("hvp", total, beside, "none", (note,), is_whole=False, left=total))
    entries = [replace(entry, row=None, of="hvp") for entry in found]
    return _judgement(FamilyCheck("hvp", total, [*entries, *beside], "all"))


def _judge_hessian(point: Point, torch: SecondDerivatives, wrt: tuple[str, ...], tolerance: Tolerance) -> Judgement:
    """The verdict of a Hessian and of the gradient, for a y of one element: of all rows, or of a sample."""
    blocks = {name: torch.gradient[name].reshape(point.shape + torch.gradient[name].shape) for name in wrt}
    beside = judge(point, _derivatives(point, blocks, tolerance), wrt, tolerance).parts[0]
    gradient = [replace(entry, row=None, of="gradient") for entry in beside.decided]
    products, entries, done = HessianRows(point, tolerance, wrt), list[Entry](), 0
    notes = {f"of the gradient: {note}": None for note in beside.notes}
    total = sum(torch.gradient[name].size for name in wrt)
    chosen = _chosen_rows(point, torch, wrt, tolerance)
    for name, i in chosen:
        if done and (done + 1) * products.work > MOST_WORK:
            break
        index, unit = _unit(point, name, i)
        row = {other: block[index] for other, block in torch.hessian[name].items()}
        slopes = [entry for entry in gradient if entry.variable == name and entry.column == index]
        try:
            found = products.judged(unit, row, slopes, is_row=True)
        except (OverBudgetError, OverTimeError) as error:
            notes[str(error) or OVER_BUDGET] = None
            break
        entries += [replace(entry, row=index, by=name, of="hessian") for entry in found]
        done += 1
    if beside.chosen != "all" and beside.entries:
        notes[f"of the gradient, {beside.checked:,} of {beside.entries:,} elements were checked"] = None
    words = _words(done, len(chosen), total)
    is_whole = words == "all" and beside.is_whole
    return _judgement(FamilyCheck("hessian", total * total, [*entries, *gradient], words, tuple(notes), is_whole))


def _of_jvp(point: Point, torch: Torch, u: Mapping[str, Array], tolerance: Tolerance) -> FamilyCheck:
    found = judge(along(point, u), torch, (STEP,), tolerance)
    decided = [
        replace(entry, variable=None, column=None, of="jvp") if entry.variable == STEP else entry
        for entry in found.parts[0].decided
    ]
    return _part(found, "jvp", decided)


def _derivatives(point: Point, blocks: Mapping[str, Array], tolerance: Tolerance) -> Torch:
    """Torch's numbers for the judge: the blocks of a Jacobian, with a y of zeros that is not judged."""
    return Torch(tolerance.dtype, np.zeros(point.shape), blocks, judges_value=False)


def _part(found: Judgement, of: Of, decided: Sequence[Entry]) -> FamilyCheck:
    return replace(found.parts[0], decided=decided, of=of)


def _judgement(part: FamilyCheck) -> Judgement:
    """The judgement of one part, with the truths that it enclosed as evidence for formulas."""
    check, entries = summarize([part])
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for e in entries:
        is_known = e.of == part.of and e.proven and e.verdict in EXISTING
        if is_known and e.truth is not None and exists(e.truth):
            known.setdefault((e.by or "", e.variable or ""), {})[e.row or (), e.column or ()] = e.truth
    return Judgement(check, entries, Evidence(known, FIRST_BITS), (part,))


def _chosen_rows(
    point: Point, torch: SecondDerivatives, wrt: Sequence[str], tolerance: Tolerance
) -> list[tuple[str, int]]:
    """All rows of few, else those of critical elements, corners, those that show most, and a random rest."""
    places = [(name, i) for name in wrt for i in range(torch.gradient[name].size)]
    if len(places) <= ALL_ROWS:
        return places
    reference = Reference(point.program, point.shapes, point.inputs)
    symbols = [sympy.Symbol(name, real=True) for name in wrt]
    critical: Sequence[Direction] = []
    with suppress(OverTimeError):
        survey = Survey(point, reference, _derivatives(point, {}, tolerance), symbols)
        critical, _, _ = survey.places(SAMPLED_ROWS // 2)
    scores = np.concatenate([_scores(torch, name) for name in wrt])
    picked = pick(scores, SAMPLED_ROWS, np.random.default_rng(SEED))
    rows = [*((str(symbol), i) for symbol, i in critical), *(places[n] for n in picked)]
    return list(dict.fromkeys(rows))[:SAMPLED_ROWS]


def _scores(torch: SecondDerivatives, name: str) -> Array:
    """The largest magnitude in each row; what is not finite shows most."""
    size = torch.gradient[name].size
    blocks = [magnitude(block).reshape(size, -1) for block in torch.hessian[name].values() if block.size]
    scores: Array = np.max([np.zeros(size), *(block.max(axis=1) for block in blocks)], axis=0)
    return scores


def _words(done: int, chosen: int, total: int) -> str:
    """How the rows of a Hessian were chosen, in the words of the answer: all, none, or which sample."""
    if not done:
        return "none"
    if done == total:
        return "all"
    shown = f"{done:,} of {total:,} rows"
    if chosen == total:
        return f"{shown}: as many as the budget allows"
    return f"{shown}: corners, extremes and a sample, seed {SEED}"
