"""Ju, Hu and the Hessian: derivatives of one more Program, which the judge of Jacobians judges.

    Ju         the derivative of g(t) = f(x + t*u) by t, at 0
    Hu         the gradient by x of the tangent dy(x, u)         `gradcli.reference.tangent`
    row i      of H: the same for u = e_i

So they are judged with their kinks, limits and jumps, and at a kink the one-sided derivatives of g are those of f along
u and against it.  The gradient beside a Hessian is judged for itself: where it has a kink, its tangent Program takes
one side.  An entry of Hu is the derivative along u of an element of the gradient, and where branches or poles meet
nothing else proves it (`gradcli.crosscheck.crossings`).  Some entries can also be enclosed without torch, to confirm
formulas.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.compare import FIRST_BITS, TOLERANCE, Block, Enclosed, Tolerance, Truths, compare
from gradcli.crosscheck.crossings import EXISTING, Crossings
from gradcli.crosscheck.judge import Judgement, judge
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
from gradcli.crosscheck.sample import SEED, Survey, Wiring, magnitude, pick
from gradcli.crosscheck.summary import Part, summarize
from gradcli.errors import Span
from gradcli.language.program.wengert import Atom, Builder
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.deadline import OverTimeError, require_time, time_limit
from gradcli.reference.duals import Reference
from gradcli.reference.program_writer import NoTangentError
from gradcli.reference.running import Direction
from gradcli.reference.tangent import Tangent, direction_name, tangent
from gradcli.results import Array, Entry, Index, Of, Verdict

KNOWN = 3
"""Elements of each variable that give the rows and columns at which formulas of second derivatives are compared."""


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


def _at(dy: Tangent, point: Point, u: Mapping[str, Array]) -> Point:
    """The point of dy(x, u) at x along u."""
    inputs = {**point.inputs, **{dy.directions[name]: array.astype(np.float64) for name, array in u.items()}}
    return Point(point.source, dy.program, dy.shapes, inputs, tangent_of=(point, u))


def truths_of(of: Of, point: Point, u: Mapping[str, Array], wrt: Sequence[str], bits: int) -> Truths:
    """Some elements of Ju, Hu or the Hessian, without torch; none where that is over the budget or there are none.

    Args:
        of: `jvp`, `hvp` or `hessian`.
        point: The Program and its inputs.
        u: The direction of each variable that moves, for Ju and Hu.
        wrt: The variables of Hu, or of the rows and columns of the Hessian.
        bits: Of the balls.
    """
    if of == "jvp":
        found = _enclosed(along(point, u), (STEP,), _few(point.rows), bits)
        return Truths({("", ""): {(row, ()): ball for _, row, _, ball in found}}, bits)
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for name in wrt if of == "hessian" else ("",):
        ways = [_unit(point, name, i) for i in _few(point.inputs[name].size)] if name else [((), u)]
        with suppress(NoTangentError):
            dy = tangent(point.program, point.shapes, (name,) if name else u)
            for row, along_it in ways:
                for x, _, column, ball in _enclosed(_at(dy, point, along_it), wrt, None, bits):
                    known.setdefault((name, x), {})[row, column] = ball
    return Truths(known, bits)


def _unit(point: Point, name: str, i: int) -> tuple[Index, Mapping[str, Array]]:
    """The index of an element of a variable, and the direction in which it alone moves."""
    unit = np.zeros(point.shape_of(name))
    unit.reshape(-1)[i] = 1.0
    return unravel(i, unit.shape), {name: unit}


def _enclosed(
    point: Point, names: Sequence[str], rows: Sequence[int] | None, bits: int
) -> list[tuple[str, Index, Index, Ball]]:
    """Some derivatives by each of these variables, with row and column; none where that is over the budget."""
    symbols = [sympy.Symbol(name, real=True) for name in names]
    directions = [(symbol, j) for symbol in symbols for j in _few(math.prod(point.shapes[symbol]))]
    with suppress(OverTimeError), time_limit():
        found = Enclosed.at(point, directions, None if rows is None else np.array(rows, dtype=np.int64), bits)
        return [(name, *truth) for name in names for truth in found.entries(name)] if found else []
    return []


def _few(size: int) -> list[int]:
    """A few flat positions below `size`, evenly spaced from the first to the last."""
    return sorted(set(np.linspace(0, size - 1, KNOWN).astype(int).tolist())) if size else []


ALL_ROWS = 32
"""Up to this many rows of a Hessian, every one is checked."""

SAMPLED_ROWS = 8
"""Rows of a sample."""

MOST_WORK = 240_000
"""Ball operations of all rows together, about a second; the first row is always checked."""

LOOK = 2_000
"""What looking around the point for one missing derivative counts."""

_COMPARED: Collection[Verdict] = frozenset(["agree", "inaccurate", "disagree"])
"""Verdicts that need no look around the point."""


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
    try:
        entries, found = _Products(point, tolerance, wrt).judged(torch.u, torch.hvp, beside)
    except (NoTangentError, OverTimeError) as error:
        total = sum(torch.hvp[name].size for name in wrt)
        return _judgement(Part("hvp", total, beside, "none", (str(error),), is_whole=False))
    return _judgement(_part(found, "hvp", [*(replace(entry, row=None, of="hvp") for entry in entries), *beside]))


def _judge_hessian(point: Point, torch: SecondDerivatives, wrt: tuple[str, ...], tolerance: Tolerance) -> Judgement:
    """The verdict of a Hessian and of the gradient, for a y of one element: of all rows, or of a sample."""
    blocks = {name: torch.gradient[name].reshape(point.shape + torch.gradient[name].shape) for name in wrt}
    beside = judge(point, _derivatives(point, blocks, tolerance), wrt, tolerance).parts[0]
    gradient = [replace(entry, row=None, of="gradient") for entry in beside.decided]
    products, entries, parts, work = _Products(point, tolerance, wrt), list[Entry](), list[Part](), 0
    notes = {f"of the gradient: {note}": None for note in beside.notes}
    total = sum(torch.gradient[name].size for name in wrt)
    chosen = _chosen_rows(point, torch, wrt, tolerance)
    for name, i in chosen:
        # Stop before a row that would be over, by the mean of those so far.
        if parts and work + work // len(parts) > MOST_WORK:
            break
        index, unit = _unit(point, name, i)
        row = {other: block[index] for other, block in torch.hessian[name].items()}
        slopes = [entry for entry in gradient if entry.variable == name and entry.column == index]
        try:
            require_time()
            own, found = products.judged(unit, row, slopes, is_row=True)
        except (NoTangentError, OverTimeError) as error:
            notes[str(error)] = None
            break
        entries += [replace(entry, row=index, by=name, of="hessian") for entry in own]
        parts += found.parts[:1]
        work += found.evidence.work if isinstance(found.evidence, Enclosed) else 0
        work += LOOK * sum(e.verdict not in _COMPARED for e in found.entries)
    notes |= dict.fromkeys(note for part in parts for note in part.notes)
    if beside.chosen != "all" and beside.entries:
        notes[f"of the gradient, {beside.checked:,} of {beside.entries:,} elements were checked"] = None
    told = [part for part in parts if part.chosen != "none"]  # and not cut off by the time limit
    bounded = sum(part.bounded for part in parts)
    words = _words(len(told), len(chosen), total, len(entries) + bounded)
    return _judgement(
        Part(
            "hessian",
            total * total,
            [*entries, *gradient],
            words,
            tuple(notes),
            is_whole=words == "all" and beside.is_whole,
            bounded=bounded,
            left=sum(part.left for part in told),
            error=max((part.error or 0.0 for part in parts), default=0.0) or None,
        )
    )


def _of_jvp(point: Point, torch: Torch, u: Mapping[str, Array], tolerance: Tolerance) -> Part:
    found = judge(along(point, u), torch, (STEP,), tolerance)
    decided = [
        replace(entry, variable=None, column=None, of="jvp") if entry.variable == STEP else entry
        for entry in found.parts[0].decided
    ]
    return _part(found, "jvp", decided)


def _derivatives(point: Point, blocks: Mapping[str, Array], tolerance: Tolerance) -> Torch:
    """Torch's numbers for the judge: the blocks of a Jacobian, with a y of zeros that is not judged."""
    return Torch(tolerance.dtype, np.zeros(point.shape), blocks, judges_value=False)


def _part(found: Judgement, of: Of, decided: Sequence[Entry]) -> Part:
    return replace(found.parts[0], decided=decided, of=of)


def _judgement(part: Part) -> Judgement:
    """The judgement of one part, with the truths that it enclosed as evidence for formulas."""
    check, entries = summarize([part])
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for e in entries:
        is_known = e.of == part.of and e.proven and e.verdict in EXISTING and not e.is_crossing
        if is_known and e.truth is not None and exists(e.truth):
            known.setdefault((e.by or "", e.variable or ""), {})[e.row or (), e.column or ()] = e.truth
    return Judgement(check, entries, Truths(known, FIRST_BITS), (part,))


@dataclass
class _Products:
    """Products of one Hessian with directions, each judged as the gradient of the tangent along its direction."""

    point: Point
    tolerance: Tolerance
    wrt: tuple[str, ...]

    def __post_init__(self) -> None:
        self.crossings = Crossings(self.point)
        self.tangents: dict[tuple[str, ...], Tangent] = {}

    def judged(
        self, u: Mapping[str, Array], product: Mapping[str, Array], slopes: Sequence[Entry], *, is_row: bool = False
    ) -> tuple[list[Entry], Judgement]:
        """The entries, as far as they can be believed where branches or poles meet, and what the tangent's judge says.

        Args:
            u: The direction.
            product: Torch's numbers by variable, of x's shape.
            slopes: What was decided of the slopes that the product is the derivative of.
            is_row: Whether this is a row of H, of slopes by the element that u moves; else u moves all slopes.

        Raises:
            NoTangentError: There is no tangent.
            OverTimeError: There is no time left.
        """
        names = tuple(u)
        if names not in self.tangents:
            self.tangents[names] = tangent(self.point.program, self.point.shapes, names)
        there = _at(self.tangents[names], self.point, u)
        blocks = {name: product[name].reshape(there.shape + product[name].shape) for name in self.wrt}
        found = judge(there, _derivatives(there, blocks, self.tolerance), self.wrt, self.tolerance)
        moving = list(way(u))
        own = moving[0] if len(moving) == 1 else None
        entries = []
        for entry in self._reconciled(found, slopes, own):
            column = self.crossings.direction(entry.variable, entry.column)
            by, along = (own, [column]) if is_row and own is not None else (column, moving)
            entries.append(self.crossings.settled(entry, by, along, slopes if by == own else ()))
        return entries, found

    def _reconciled(self, found: Judgement, slopes: Sequence[Entry], own: Direction | None) -> Iterator[Entry]:
        """The entries of a row; a limit is the derivative itself where the gradient exists at the point.

        The tangent of sqrt(x**4) is 0/0 at 0, and that function has two derivatives there.  That of relu(x)*y has the
        slope of one side of relu at 0, and torch may have taken another: nobody is wrong.

        Args:
            found: The judgement of the row.
            slopes: The entries of the gradient that the row is the derivative of.
            own: The one element of x that they are the slope by, None for several.
        """
        is_smooth = bool(slopes) and all(e.verdict in EXISTING for e in slopes)
        kink = next((e for e in slopes if e.verdict == "kink"), None)
        for entry in found.parts[0].decided:
            if entry.verdict == "disagree" and kink is not None:
                note = f"the gradient has a kink here, and torch picked {repr(kink.torch).removesuffix('.0')} for it"
                yield replace(entry, verdict="kink", truth=None, relative_error=None, note=note, proven=kink.proven)
                continue
            ball = entry.truth if entry.verdict == "removable" else None
            if own == self.crossings.direction(entry.variable, entry.column):
                ball = ball or _of_no_jump(entry)
            if not is_smooth or ball is None:
                yield entry
                continue
            with precision(FIRST_BITS):
                again = compare(entry, ball, self.tolerance, is_last=True)
            if again is None or (again.verdict == "disagree" and not entry.proven):
                yield entry  # a limit that is inferred refutes nothing
                continue
            note = entry.note if entry.verdict == "removable" else ""
            yield replace(again, note=again.note or note, proven=False)


def _of_no_jump(entry: Entry) -> Ball | None:
    """The derivative where a slope only seems to jump, over the number that the tangent Program picks at a kink inside.

    A slope that exists has no jump along its own direction, by the theorem of Darboux: that of maximum(x, 0) +
    minimum(x, 0) is 1 at 0, as on both sides.
    """
    if entry.verdict != "kink" or entry.one_sided is None or entry.one_sided[0] != entry.one_sided[1]:
        return None
    return arb(entry.one_sided[0])


def _chosen_rows(
    point: Point, torch: SecondDerivatives, wrt: Sequence[str], tolerance: Tolerance
) -> list[tuple[str, int]]:
    """All rows of few, else those of critical elements, corners, those that show most, and a random rest."""
    places = [(name, i) for name in wrt for i in range(torch.gradient[name].size)]
    if len(places) <= ALL_ROWS:
        return places
    wiring = Wiring(point, Reference(point.program, point.shapes, point.inputs))
    symbols = [sympy.Symbol(name, real=True) for name in wrt]
    critical: Sequence[Direction] = []
    with suppress(OverTimeError):
        survey = Survey(wiring, _derivatives(point, {}, tolerance), symbols)
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


def _words(done: int, chosen: int, total: int, entries: int) -> str:
    """How the rows of a Hessian were chosen, in the words of the answer: all, none, or which sample."""
    if not entries:
        return "none"
    if done == total:
        return "all" if entries == total * total else f"all rows, columns sampled, seed {SEED}"
    shown = f"{done:,} of {total:,} rows"
    if chosen == total:
        return f"{shown}: as many as the budget allows"
    return f"{shown}: corners, extremes and a sample, seed {SEED}"
