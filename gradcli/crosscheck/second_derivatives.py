"""Verdicts on Ju, Hu and the Hessian.

    Ju         the derivative of g(t) = f(x + t*u) by t, at 0, which the judge of Jacobians judges
    H          the Jacobian of the gradient, which is a Program like any other
    Hu         the derivative of the gradient of f(x + t*u) by t, at 0

The gradient next to a Hessian is judged for itself.  Some entries can also be enclosed without torch, to confirm
formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Literal

import numpy as np
import sympy
from flint import arb

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.crosscheck.compare import FIRST_BITS, TOLERANCE, Block, Evidence, Tolerance
from gradcli.crosscheck.gradient_point import GradientPoint
from gradcli.crosscheck.hessian_judge import HessianJudge
from gradcli.crosscheck.judge import Judgement, judge
from gradcli.crosscheck.point import STEP, FunctionAtPoint, Numbers, flat, nonzero_directions, unravel
from gradcli.crosscheck.summary import PartCheck
from gradcli.errors import Span
from gradcli.language.program.movement import Slice
from gradcli.language.program.wengert import Atom, Builder
from gradcli.progress import collector_paused
from gradcli.reference.balls import Ball, exists
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.rules import Undefined
from gradcli.results import Array, Entry, Index, Of

KNOWN = 3
"""Most elements of each variable, for the rows and columns at which formulas of second derivatives are compared."""


def along(point: FunctionAtPoint, u: Mapping[str, Array]) -> FunctionAtPoint:
    """Build the Program of g at t = 0, in the variables of f, their directions, and t.

    Args:
        point: f and x.
        u: A direction of x's shape for each variable that moves.

    >>> from gradcli.language.parsing import parse
    >>> program = parse("x**2")
    >>> point = FunctionAtPoint.from_inputs(program, {program.variables[0]: (2,)}, {"x": np.array([1.0, 2.0])})
    >>> line = along(point, {"x": np.array([1.0, 0.0])})
    >>> line.program.names, [one.call.op.name for one in line.program.lines]
    (('x', 'u of x', 'step along u'), ['mul', 'reshape', 'index', 'pad', 'reshape', 'add', 'pow'])
    """
    typed, start = point.source, Span(0, 0)
    step = sympy.Symbol(STEP, real=True)
    # No name of the language has a space.
    moving = {s: sympy.Symbol(f"u of {s}", real=True) for s in typed.variables if str(s) in u}
    builder = Builder(typed.text, typed.source)
    renamed: dict[Atom, Atom] = {}
    for symbol, direction in moving.items():
        moved = _only_moving(builder, builder.emit("mul", (step, direction), start), u[str(symbol)])
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
    return FunctionAtPoint.from_inputs(
        program, shapes, {**point.inputs, **directions, STEP: np.zeros(())}, point.passes
    )


def _only_moving(builder: Builder, moved: Atom, direction: Array) -> Atom:
    """Cut elements that move to those from the first to the last that the direction changes.

    The others are zeros by structure then, so that nothing that is made of them alone counts as moving.
    """
    places, size = np.flatnonzero(direction), direction.size
    if direction.ndim == 0 or (len(places) and places[-1] - places[0] == size - 1):
        return moved
    first, last = (int(places[0]), int(places[-1])) if len(places) else (0, -1)
    start = Span(0, 0)
    flat = builder.emit("reshape", (moved,), start, ((size,),))
    part = builder.emit("index", (flat,), start, ((Slice(first, last + 1),),))
    wide = builder.emit("pad", (part,), start, ((first, size - 1 - last), "constant", 0))
    return builder.emit("reshape", (wide,), start, (direction.shape,))


def truths_of(of: Of, point: FunctionAtPoint, u: Mapping[str, Array], wrt: Sequence[str], bits: int) -> Evidence:
    """Enclose some elements of Ju, Hu or the Hessian, without torch; none over the budget or if y has no value.

    Args:
        of: `jvp`, `hvp` or `hessian`.
        point: The Program and its inputs.
        u: The direction of each variable that moves, for Ju and Hu.
        wrt: The variables of Hu, or of the rows and columns of the Hessian.
        bits: The precision of the balls.
    """
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    step = (sympy.Symbol(STEP, real=True), 0)
    with suppress(OverTimeError, OverBudgetError, NoAdjointError), time_limit():
        if of == "jvp":
            found = Evidence.enclosed(along(point, u), [step], np.array(_few(point.rows), dtype=np.int64), bits)
            return Evidence({("", ""): found.blocks.get(("", STEP), {}) if found else {}}, bits)
        y = Reference(point.program, point.shapes, point.inputs).plan([], np.array([0])).run(bits).values
        if not y or any(isinstance(outcome, Undefined) for outcome in y.values()):
            return Evidence({}, bits)
        gradient = GradientPoint.from_function(point, wrt)
        columns = [(sympy.Symbol(name, real=True), j) for name in wrt for j in _few(point.inputs[name].size)]
        rows = np.array([gradient.row(one) for one in columns], dtype=np.int64)
        moved, directions = (gradient.point, columns) if of == "hessian" else (along(gradient.point, u), [step])
        seen = Reference(moved.program, moved.shapes, moved.inputs).plan(directions, rows).run(bits)
        for row, (symbol, j) in product(rows.tolist(), directions):
            value = seen.values.get(row)
            outcome = seen.columns.get((symbol, j), {}).get(row, arb(0))
            if value is None or isinstance(value, Undefined) or isinstance(outcome, Undefined) or not exists(outcome):
                continue
            name, index = gradient.element(row)
            if of == "hvp":
                known.setdefault(("", name), {})[(), index] = outcome
            else:
                known.setdefault((name, str(symbol)), {})[index, unravel(j, point.shapes[symbol])] = outcome
    return Evidence(known, bits)


def _few(size: int) -> list[int]:
    """Choose a few flat positions below `size`, evenly spaced from the first to the last."""
    return sorted(set(np.linspace(0, size - 1, KNOWN).astype(int).tolist())) if size else []


def judge_derived(
    point: FunctionAtPoint, numbers: Numbers, wrt: tuple[str, ...], tolerance: Tolerance | None = None
) -> Judgement:
    """Compare torch's products and second derivatives with the reference; see `gradcli.crosscheck.judge.judge`."""
    tolerance = tolerance or TOLERANCE[numbers.dtype]
    with time_limit(), collector_paused():  # one limit for all judgements on the way
        if "hessian" in numbers.derivatives:
            part = _of_hessian(point, numbers, wrt, tolerance)
        elif "hvp" in numbers.derivatives:
            part = _of_hvp(point, numbers, wrt, tolerance)
        else:
            part = _of_jvp(point, numbers, tolerance)
    judgement = Judgement.summarized([part], None)
    known: dict[Block, dict[tuple[Index, Index], Ball]] = {}
    for e in judgement.entries:
        # Of verdicts that are proven, those on numbers with a truth at the point itself.
        is_known = e.kind == part.kind and e.proven and e.verdict not in ("kink", "removable", "undefined", "unchecked")
        if is_known and e.truth is not None and exists(e.truth):
            known.setdefault((e.by or "", e.variable or ""), {})[e.row or (), e.column or ()] = e.truth
    return replace(judgement, evidence=Evidence(known, FIRST_BITS))


def _of_hvp(point: FunctionAtPoint, numbers: Numbers, wrt: tuple[str, ...], tolerance: Tolerance) -> PartCheck:
    """Judge Hu, and u·∇f, for a y of one element."""
    products = numbers.derivatives["hvp"]
    beside = _of_jvp(point, replace(numbers, judges_value=False), tolerance).decided
    total = sum(products["", name].size for name in wrt)
    if not wrt:
        return PartCheck("hvp", 0, beside, "all")
    try:
        gradient = GradientPoint.from_function(point, wrt)
    except NoAdjointError as error:
        return _nothing_known("hvp", total, beside, str(error))
    moved = along(gradient.point, numbers.u)
    hu = np.concatenate([products["", name].ravel() for name in wrt]).reshape(moved.shape)
    along_step = Numbers.of_first_order(numbers.dtype, np.zeros(moved.shape), {STEP: hu}, judges_value=False)
    moving = nonzero_directions(numbers.u)  # the slope along an element is a row of the gradient
    is_row = list(moving.values()) == [1.0] and next(iter(moving))[0] in gradient.variables
    slopes = {gradient.row(direction): entry for direction in moving for entry in beside if is_row}
    along_u = next((entry for entry in beside if entry.of == "jvp"), None)
    own = HessianJudge(
        gradient,
        moved,
        along_step,
        (STEP,),
        tolerance,
        value=numbers.value.item(),
        slopes=slopes,
        u=numbers.u,
        slope_along=along_u,
    )
    found = own.judgement().parts[0]
    return replace(found, kind="hvp", decided=[*map(own.named, found.decided), *beside])


def _of_hessian(point: FunctionAtPoint, numbers: Numbers, wrt: tuple[str, ...], tolerance: Tolerance) -> PartCheck:
    """Judge a Hessian and the gradient, for a y of one element."""
    gradients = {name: numbers.derivatives["gradient"]["", name] for name in wrt}
    blocks = {name: array.reshape(point.shape + array.shape) for name, array in gradients.items()}
    first_order = Numbers.of_first_order(numbers.dtype, numbers.value, blocks, judges_value=False)
    beside = judge(point, first_order, wrt, tolerance).parts[0]
    first = [entry.moved(kind="gradient", row=None) for entry in beside.decided]
    notes = [f"of the gradient: {note}" for note in beside.notes]
    if beside.chosen != "all" and beside.entries:
        notes.append(f"of the gradient, {beside.checked:,} of {beside.entries:,} elements were checked")
    total = sum(array.size for array in gradients.values())
    if not wrt:
        return PartCheck("hessian", 0, first, "none", is_whole=False)
    try:
        gradient = GradientPoint.from_function(point, wrt)
    except NoAdjointError as error:
        return _nothing_known("hessian", total * total, first, str(error), *notes)
    slopes = {gradient.row(_direction(point, entry)): entry for entry in first if entry.variable is not None}
    jacobian = _as_jacobian(gradient, numbers, wrt)
    own = HessianJudge(gradient, gradient.point, jacobian, wrt, tolerance, value=numbers.value.item(), slopes=slopes)
    found = own.judgement().parts[0]
    return replace(
        found,
        kind="hessian",
        decided=[*map(own.named, found.decided), *first],
        notes=(*found.notes, *notes),
        is_whole=found.is_whole and beside.is_whole,
    )


def _nothing_known(of: Literal["hvp", "hessian"], total: int, first: Sequence[Entry], *notes: str) -> PartCheck:
    """Make the part for second derivatives of which none could be decided, with the first derivatives next to them."""
    return PartCheck(of, total, first, "none", notes, is_whole=False, undecided=total)


def _as_jacobian(gradient: GradientPoint, numbers: Numbers, wrt: Sequence[str]) -> Numbers:
    """Present a Hessian as the Jacobian of the gradient."""
    shape = gradient.point.shape
    gradients = {name: numbers.derivatives["gradient"]["", name] for name in wrt}
    value = np.concatenate([array.ravel() for array in gradients.values()]).reshape(shape)
    jacobian = {}
    for name in wrt:
        inside, blocks = gradients[name].shape, numbers.derivatives["hessian"]
        rows = np.concatenate([blocks[by, name].reshape(gradients[by].size, *inside) for by in wrt])
        jacobian[name] = rows.reshape(shape + inside)
    return Numbers.of_first_order(numbers.dtype, value, jacobian, judges_value=False)


def _direction(point: FunctionAtPoint, entry: Entry) -> Direction:
    name = entry.variable or ""
    return sympy.Symbol(name, real=True), flat(entry.column or (), point.shape_of(name))


def _of_jvp(point: FunctionAtPoint, numbers: Numbers, tolerance: Tolerance) -> PartCheck:
    """Judge Ju, as the Jacobian by the step along u."""
    jacobian = {STEP: numbers.derivatives["jvp"]["", ""]}
    along_step = Numbers.of_first_order(numbers.dtype, numbers.value, jacobian, judges_value=numbers.judges_value)
    found = judge(along(point, numbers.u), along_step, (STEP,), tolerance).parts[0]
    decided = [
        entry.moved(kind="jvp", variable=None, column=None) if entry.variable == STEP else entry
        for entry in found.decided
    ]
    return replace(found, decided=decided, kind="jvp")
