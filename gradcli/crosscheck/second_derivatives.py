"""Verdicts on Ju, Hu and the Hessian.

    Ju         the derivative of g(t) = f(x + t*u) by t, at 0, which the judge of Jacobians judges
    Hu         a sweep back whose adjoints have tangents      `gradcli.reference.second_order`
    row i      of H: the same for u = e_i

If an operation on the way is not smooth, only the derivative of a slope along its own input is decided: by series
on both sides.  Nothing is claimed of other inputs that move the operation.  The gradient next to a Hessian is
judged for itself.  Some entries can also be enclosed without torch, to confirm formulas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.compare import FIRST_BITS, TOLERANCE, Block, Evidence, Tolerance
from gradcli.crosscheck.hessian_rows import HessianRows
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
from gradcli.crosscheck.sample import SEED, Survey, magnitude, pick
from gradcli.crosscheck.summary import FamilyCheck
from gradcli.errors import Span
from gradcli.language.program.wengert import Atom, Builder
from gradcli.reference.balls import Ball, exists
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Undefined
from gradcli.reference.second_order import HessianProducts
from gradcli.results import Array, Entry, Index, Of

KNOWN = 3
"""Most elements of each variable, for the rows and columns at which formulas of second derivatives are compared."""


def along(point: Point, u: Mapping[str, Array]) -> Point:
    """Build the Program of g at t = 0, in the variables of f, their directions, and t.

    Args:
        point: f and x.
        u: A direction of x's shape for each variable that moves.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> point = Point.from_inputs(program, {program.variables[0]: (2,)}, {"x": np.array([1.0, 2.0])})
    >>> line = along(point, {"x": np.array([1.0, 0.0])})
    >>> line.program.names, [one.call.op.name for one in line.program.lines]
    (('x', 'u of x', 'step along u'), ['mul', 'add', 'pow'])
    """
    typed, start = point.source, Span(0, 0)
    step = sympy.Symbol(STEP, real=True)
    # No name of the language has a space.
    moving = {s: sympy.Symbol(f"u of {s}", real=True) for s in typed.variables if str(s) in u}
    builder = Builder(typed.text, typed.source)
    renamed: dict[Atom, Atom] = {}
    for symbol, direction in moving.items():
        moved = builder.emit("mul", (step, direction), start)
        renamed[symbol] = builder.emit("add", (symbol, moved), start)
    for line in typed.lines:
        call = line.call.renamed(renamed)
        renamed[line.symbol] = builder.emit(call.op.name, call.operands, line.span, call.statics)
    program = replace(
        typed,
        variables=(*typed.variables, *moving.values(), step),
        lines=tuple(builder.lines),
        output=renamed.get(typed.output, typed.output),
    )
    shapes = {symbol: point.shapes[symbol] for symbol in typed.variables}
    shapes |= {direction: shapes[symbol] for symbol, direction in moving.items()} | {step: ()}
    directions = {str(direction): u[str(symbol)] for symbol, direction in moving.items()}
    return Point.from_inputs(program, shapes, {**point.inputs, **directions, STEP: np.zeros(())}, point.passes)


def truths_of(of: Of, point: Point, u: Mapping[str, Array], wrt: Sequence[str], bits: int) -> Evidence:
    """Enclose some elements of Ju, Hu or the Hessian, without torch; none over the budget or if y has no value.

    Args:
        of: `jvp`, `hvp` or `hessian`.
        point: The Program and its inputs.
        u: The direction of each variable that moves, for Ju and Hu.
        wrt: The variables of Hu, or of the rows and columns of the Hessian.
        bits: The precision of the balls.
    """
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    with suppress(OverTimeError, OverBudgetError), time_limit():
        if of == "jvp":
            line, rows = along(point, u), np.array(_few(point.rows), dtype=np.int64)
            found = Evidence.enclosed(line, [(sympy.Symbol(STEP, real=True), 0)], rows, bits)
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


def _few(size: int) -> list[int]:
    """Choose a few flat positions below `size`, evenly spaced from the first to the last."""
    return sorted(set(np.linspace(0, size - 1, KNOWN).astype(int).tolist())) if size else []


def _unit(point: Point, name: str, i: int) -> tuple[Index, Mapping[str, Array]]:
    """Return the index of an element of a variable, and the direction that moves this element alone."""
    unit = np.zeros(point.shape_of(name))
    unit.reshape(-1)[i] = 1.0
    return unravel(i, unit.shape), {name: unit}


ALL_ROWS = 64
"""Most rows of a Hessian to check all of; of more rows, a sample."""

SAMPLED_ROWS = 8
"""Number of rows of a sample."""

MOST_WORK = 600_000
"""Most slopes of all rows together, about a second; the first row is always checked."""


def judge_derived(
    point: Point,
    torch: JacobianVectorProduct | HessianVectorProduct | SecondDerivatives,
    wrt: tuple[str, ...],
    tolerance: Tolerance | None = None,
) -> Judgement:
    """Compare torch's products and second derivatives with the reference; see `gradcli.crosscheck.judge.judge`."""
    tolerance = tolerance or TOLERANCE[torch.dtype]
    with time_limit():  # one limit for all judgements on the way
        match torch:
            case JacobianVectorProduct():
                part = _of_jvp(point, Torch(torch.dtype, torch.value, {STEP: torch.jvp}), torch.u, tolerance)
            case HessianVectorProduct():
                part = _of_hvp(point, torch, wrt, tolerance)
            case _:
                part = _of_hessian(point, torch, wrt, tolerance)
    judgement = Judgement.summarized([part], None)
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for e in judgement.entries:
        # Of verdicts that are proven, those on numbers with a truth at the point itself.
        is_known = e.of == part.of and e.proven and e.verdict not in ("kink", "removable", "undefined", "unchecked")
        if is_known and e.truth is not None and exists(e.truth):
            known.setdefault((e.by or "", e.variable or ""), {})[e.row or (), e.column or ()] = e.truth
    return replace(judgement, evidence=Evidence(known, FIRST_BITS))


def _of_hvp(point: Point, torch: HessianVectorProduct, wrt: tuple[str, ...], tolerance: Tolerance) -> FamilyCheck:
    """Judge Hu, and u·∇f, for a y of one element."""
    slope = {STEP: np.full(point.shape, torch.slope)}
    beside = _of_jvp(point, _derivatives(point, slope, tolerance, torch.value), torch.u, tolerance).decided
    found = HessianRows(point, tolerance, wrt, value=torch.value).judged(torch.u, torch.hvp, beside)
    entries = [*(replace(entry, row=None, of="hvp") for entry in found.decided), *beside]
    return replace(found, decided=entries)


def _of_hessian(point: Point, torch: SecondDerivatives, wrt: tuple[str, ...], tolerance: Tolerance) -> FamilyCheck:
    """Judge a Hessian and the gradient, for a y of one element: all rows, or a sample."""
    blocks = {name: torch.gradient[name].reshape(point.shape + torch.gradient[name].shape) for name in wrt}
    beside = judge(point, _derivatives(point, blocks, tolerance, torch.value), wrt, tolerance).parts[0]
    gradient = [replace(entry, row=None, of="gradient") for entry in beside.decided]
    products, entries, rows = HessianRows(point, tolerance, wrt, value=torch.value), list[Entry](), list[FamilyCheck]()
    notes = {f"of the gradient: {note}": None for note in beside.notes}
    total = sum(torch.gradient[name].size for name in wrt)
    chosen = _chosen_rows(point, torch, wrt, tolerance)
    for name, i in chosen:
        # Stop before a row that would be over, by the mean of those so far.
        if rows and products.work + products.work // len(rows) > MOST_WORK:
            break
        index, unit = _unit(point, name, i)
        row = {other: block[index] for other, block in torch.hessian[name].items()}
        slopes = [entry for entry in gradient if entry.variable == name and entry.column == index]
        found = products.judged(unit, row, slopes, is_row=True)
        notes |= dict.fromkeys(found.notes)
        if found.notes and not found.bounded:  # nothing of this row is known
            break
        rows.append(found)
        entries += [replace(entry, row=index, by=name, of="hessian") for entry in found.decided]
    if beside.chosen != "all" and beside.entries:
        notes[f"of the gradient, {beside.checked:,} of {beside.entries:,} elements were checked"] = None
    how = "as many as the budget allows" if len(chosen) == total else f"corners, extremes and a sample, seed {SEED}"
    some = f"{len(rows):,} of {total:,} rows: {how}" if rows else "none"
    words, left = "all" if rows and len(rows) == total else some, sum(found.left for found in rows)
    return FamilyCheck(
        "hessian",
        total * total,
        [*entries, *gradient],
        words,
        tuple(notes),
        is_whole=words == "all" and beside.is_whole and not left,
        bounded=sum(found.bounded for found in rows),
        left=left,
        error=max((found.error or 0.0 for found in rows), default=0.0) or None,
    )


def _of_jvp(point: Point, torch: Torch, u: Mapping[str, Array], tolerance: Tolerance) -> FamilyCheck:
    found = judge(along(point, u), torch, (STEP,), tolerance).parts[0]
    decided = [
        replace(entry, variable=None, column=None, of="jvp") if entry.variable == STEP else entry
        for entry in found.decided
    ]
    return replace(found, decided=decided, of="jvp")


def _derivatives(point: Point, blocks: Mapping[str, Array], tolerance: Tolerance, value: float = math.nan) -> Torch:
    """Wrap the blocks of a Jacobian as torch's numbers for the judge, with a y that is not judged."""
    return Torch(tolerance.dtype, np.full(point.shape, value), blocks, judges_value=False)


def _chosen_rows(
    point: Point, torch: SecondDerivatives, wrt: Sequence[str], tolerance: Tolerance
) -> list[tuple[str, int]]:
    """Choose all rows if they are few, else those of critical elements, corners, the largest, and a random rest."""
    sizes = {sympy.Symbol(name, real=True): torch.gradient[name].size for name in wrt}
    places = [(str(symbol), i) for symbol, size in sizes.items() for i in range(size)]
    if len(places) <= ALL_ROWS:
        return places
    blocks = ([b.reshape(size, -1) for b in torch.hessian[str(s)].values()] for s, size in sizes.items() if size)
    scores = [magnitude(np.concatenate(own, axis=1)).max(axis=1, initial=0.0) for own in blocks]
    picked = pick(np.concatenate(scores), SAMPLED_ROWS, np.random.default_rng(SEED))
    rows = [places[n] for n in picked]
    with suppress(OverTimeError):
        reference = Reference(point.program, point.shapes, point.inputs)
        survey = Survey(point, reference, _derivatives(point, {}, tolerance), list(sizes))
        rows = [*((str(symbol), i) for symbol, i in survey.places(SAMPLED_ROWS // 2)[0]), *rows]
    return list(dict.fromkeys(rows))[:SAMPLED_ROWS]
