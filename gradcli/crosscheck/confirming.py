"""Confirm a formula against the reference at sampled entries; otherwise it is not shown.

First at the point itself.  If that would take too long (a sum over a million elements), if the function has no
derivative there, or if the point is at a tie or the end of a domain, where a formula by cases takes one of the cases:
on a probe, which is the same Program at smaller sizes and ordinary values.  The formula has large sizes only as
symbols, so it is the same formula on the probe.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb

from gradcli.crosscheck.compare import Evidence, is_sharp, spaced
from gradcli.crosscheck.point import FunctionAtPoint
from gradcli.errors import ShapeError
from gradcli.language.ops import Kind
from gradcli.language.program.numeric import array_of
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import MAX_ELEMENTS, Atom, Shape
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.columns import evaluate_column
from gradcli.reference.compiling import Environment, OverWorkError, environment, evaluate
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Reference
from gradcli.results import Array, Index
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.element import constant_symbol
from gradcli.symbolic.origins import LARGE

MOST_WORK = 60_000
"""Most ball operations to compare one formula at a point."""

FEWEST_AT_ONCE = 4
"""Fewest entries of one formula for which it is evaluated on columns."""

TIGHT = 20
"""Bits that both enclosures must know of an entry for their overlap to mean something; twice as many around zero."""

PROBE_BITS = 128
"""Precision on a probe."""

ELSEWHERE = "the formula was confirmed at other values or sizes, not at this point"
"""Remark on a formula that only a probe confirmed."""

BOXES = ((0.25, 0.75), (1.25, 1.75), (-0.75, -0.25))
"""Intervals from which the values of a probe are drawn, in turn: inside the domain of nearly every function."""


@dataclass(frozen=True)
class KnownValues:
    """Values of a formula at entries of a point.

    Attributes:
        point: The point.
        bits: The precision of the balls.
        balls: The values by row and column, whether they exist or not.
    """

    point: FunctionAtPoint
    bits: int
    balls: dict[tuple[Index, Index], Ball] = field(default_factory=dict)


@dataclass(frozen=True)
class Confirmation:
    """Outcome of comparing a formula with the reference.

    Attributes:
        holds: True if the formula was confirmed.
        note: A remark if it was confirmed elsewhere; empty for the point itself.
        refuted: The contradiction, in words, if there is one.
        entries: The number of entries compared.
        points: The number of probes.
        values: The values of the formula where it was compared at the point, which need not be computed again.
    """

    holds: bool
    note: str = ""
    refuted: str = ""
    entries: int = 0
    points: int = 0
    values: KnownValues | None = field(default=None, repr=False, compare=False)


NamedDirections = Mapping[str, tuple[str, Array]]
"""Name of the direction of a variable in a formula, and the direction, by variable."""


def confirm(
    point: FunctionAtPoint,
    derivative: Derivative,
    evidence: Evidence | None,
    directions: NamedDirections | None = None,
    most: int = 1,
) -> Confirmation:
    """Compare a formula with the reference at the point, or else on probes.

    Args:
        point: The Program and its inputs; without evidence the inputs are not needed.
        derivative: The formula.
        evidence: The truths that the reference enclosed at the point, if any.
        directions: The directions of Ju and Hu.
        most: The most probes; fewer if fewer have derivatives.
    """
    found, directions = Confirmation(holds=False), directions or {}
    # The comparisons until then stay valid.
    with suppress(NotImplementedError, OverTimeError, OverWorkError), time_limit():
        here = None if evidence is None else _at_the_point(point, derivative, evidence, directions)
        if here is not None and (here.holds or here.refuted):
            return here
        for one in itertools.islice(_at_random(point, derivative, directions), most):
            note = ELSEWHERE * (here is None)  # else zeros agree there
            found = replace(one, note=note, entries=found.entries + one.entries, points=found.points + 1)
            if one.refuted:
                break
    return found


def _at_the_point(
    point: FunctionAtPoint, derivative: Derivative, evidence: Evidence, directions: NamedDirections
) -> Confirmation | None:
    """Compare a formula with the evidence at the point; None if the evidence neither confirms nor refutes it.

    At a tie of branches or extremes, or at the end of a domain, the derivative may exist and differ from the case that
    the formula takes: relu(where(x != 0, 0, x)) is 0 everywhere.  So such a point refutes no formula.
    """
    compared = None
    with suppress(OverWorkError):
        values = KnownValues(point, evidence.bits)
        compared = _compare(derivative, evidence, lookups(point, directions), derivative.sizes, values)
    return None if compared is not None and compared.refuted and has_cases_at(point) else compared


def has_cases_at(point: FunctionAtPoint) -> bool:
    """Tell whether cases of the function may meet at a point, or a domain end there: a formula need not hold there."""
    has_own_cases = len(point.in_formulas[0].lines) < len(point.program.lines)  # cases that only torch has
    return has_own_cases or point.may_be_singular


def _at_random(point: FunctionAtPoint, derivative: Derivative, directions: NamedDirections) -> Iterator[Confirmation]:
    """Compare a formula at one random point after the other; points that say nothing of the formula are left out."""
    shapes, sizes = _probe(point, derivative)
    for seed, box in enumerate(BOXES * 3 if sum(map(math.prod, shapes.values())) <= MAX_ELEMENTS else ()):
        generator = np.random.default_rng(seed)
        inputs = {str(s): generator.uniform(*box, size=shapes[s]) for s in point.program.variables}
        inputs |= _positions(point, shapes, generator)
        probe = FunctionAtPoint.from_inputs(point.source, shapes, inputs)
        moved = {
            name: (symbol, generator.uniform(*box, size=np.shape(probe.inputs[name])))
            for name, (symbol, _) in directions.items()
        }
        found = _asked(probe, derivative, {name: u for name, (_, u) in moved.items()})
        compared = None if found is None else _compare(derivative, found, lookups(probe, moved), sizes)
        if compared is not None and (compared.holds or compared.refuted):
            yield compared


def _positions(
    point: FunctionAtPoint, shapes: Mapping[Atom, Shape], generator: np.random.Generator
) -> dict[str, npt.NDArray[np.float64]]:
    """Choose values of whole-number variables, such as class indices: those of the point if they fit, else random."""
    found: dict[str, npt.NDArray[np.float64]] = {}
    program = point.source
    has_whole = any(line.call.op.whole for line in program.lines)
    for symbol in program.variables if has_whole else ():
        if (name := str(symbol)) not in program.differentiable:
            given = point.inputs.get(name)
            drawn = generator.integers(0, 2, size=shapes[symbol]).astype(np.float64)
            found[name] = given if given is not None and given.shape == drawn.shape else drawn
    return found


def _compare(
    derivative: Derivative,
    evidence: Evidence,
    values: Mapping[sympy.Symbol, object],
    sizes: Mapping[sympy.Symbol, int],
    kept: KnownValues | None = None,
) -> Confirmation | None:
    """Compare a formula with the truth at entries with a known truth; None unless these say something, or are all 0.

    A formula that is 0 at an entry where the derivative is 0 confirms little: it counts only if the whole formula is 0.
    Its values are kept in `kept`.

    Raises:
        OverWorkError: Not even one entry is within `MOST_WORK`.
    """
    zeros_count = all(expression == 0 for _, expression in derivative.cases)
    confirmed, count = False, 0
    with precision(evidence.bits):
        env = environment({**values, **sizes}, MOST_WORK)
        truths = evidence.truths(derivative)
        balls = values_at(derivative, [(row, column) for row, column, _ in truths], env)
        for n, (row, column, truth) in enumerate(truths):
            expression, indices = derivative.entry_formula(row, column)
            try:
                found = balls.get((row, column))
                found = evaluate(expression, {**env, **indices}) if found is None else found
            except OverWorkError:
                if n == 0:
                    raise
                break
            if kept is not None:
                kept.balls[row, column] = found
            # A formula may be 0/0 at an entry where the derivative exists: that refutes nothing, and confirms nothing.
            if not exists(found):
                continue
            if not found.overlaps(truth):
                numbers = f"the formula gives {float(found.mid())}, the truth is {float(truth.mid())}"
                return Confirmation(holds=False, refuted=f"at {place_of(derivative, row, column)} {numbers}")
            # Wide balls overlap whatever the formula says.
            is_known = all(is_sharp(ball, TIGHT, -2 * TIGHT) for ball in (found, truth))
            count += is_known
            confirmed |= is_known and (zeros_count or truth != 0)
    return Confirmation(confirmed, entries=count, values=kept) if confirmed or count == len(truths) > 0 else None


def values_at(
    derivative: Derivative, places: Sequence[tuple[Index, Index]], env: Environment
) -> dict[tuple[Index, Index], Ball]:
    """Evaluate a formula at some rows and columns at once; none of those for which the work is too much."""
    by_case: dict[int, list[tuple[Index, Index]]] = {}
    indices = *derivative.rows, *derivative.columns
    found: dict[tuple[Index, Index], Ball] = {}
    for row, column in places:
        by_case.setdefault(derivative.case_of(row, column), []).append((row, column))
    for case, ones in by_case.items():
        if len(ones) >= FEWEST_AT_ONCE and indices:
            columns = zip(*((*row, *column) for row, column in ones), strict=True)
            by_index = {symbol: list(numbers) for symbol, numbers in zip(indices, columns, strict=True)}
            with suppress(OverWorkError):
                found |= zip(ones, evaluate_column(derivative.cases[case][1], by_index, len(ones), env), strict=True)
    return found


def place_of(derivative: Derivative, row: Index, column: Index) -> str:
    """Name an entry of a derivative for a message: `y[0] by x[1]`."""
    match derivative.of:
        case "jvp":
            return f"(Ju){_shown(row)}"
        case "hvp":
            return f"(Hu){_shown(column)} by {derivative.variable}"
        case "hessian":
            return f"y by {derivative.first}{_shown(row)} and {derivative.variable}{_shown(column)}"
    return f"y{_shown(row)} by {derivative.variable}{_shown(column)}"


def _probe(point: FunctionAtPoint, derivative: Derivative) -> tuple[Mapping[Atom, Shape], Mapping[sympy.Symbol, int]]:
    """Choose shapes of the Program just above `LARGE` if it has such a form, else its own.

    A little further above, if parts of a large array would be small: x[1:] of 17 elements has 16.
    """
    large = sorted({size for s in point.program.variables for size in point.shapes[s] if size > LARGE})
    is_written_out = any(size > LARGE for _, size in derivative.written)  # with a formula for each of so many elements
    for least in (LARGE + 1, LARGE + 9) if large and not is_written_out else ():
        smaller = {size: least + n for n, size in enumerate(large)}
        variables = {s: tuple(smaller.get(size, size) for size in point.shapes[s]) for s in point.program.variables}
        try:
            shapes = infer(point.program, variables)
        except ShapeError:
            continue
        matching = _matching(point.shapes, shapes)
        if matching is not None and all(size in matching for size in derivative.sizes.values()):
            return shapes, {symbol: matching[size] for symbol, size in derivative.sizes.items()}
    return point.shapes, derivative.sizes


def _matching(full: Mapping[Atom, Shape], small: Mapping[Atom, Shape]) -> dict[int, int] | None:
    """Map each full size to its small size; None if a size has two small sizes, or passes from one side of `LARGE`."""
    matching: dict[int, int] = {}
    for symbol, shape in full.items():
        if len(small.get(symbol, ())) != len(shape):
            return None
        for size, other in zip(shape, small.get(symbol, ()), strict=True):
            if matching.setdefault(size, other) != other or (size <= LARGE) != (other <= LARGE):
                return None
    return matching


def _asked(probe: FunctionAtPoint, derivative: Derivative, u: Mapping[str, Array]) -> Evidence | None:
    """Enclose some entries on a probe; None where the work is over the budget."""
    if derivative.of == "jacobian" or derivative.of == "vjp":  # noqa: PLR1714 (it narrows the type)
        variable = sympy.Symbol(derivative.variable, real=True)
        columns, rows = spaced(range(math.prod(probe.shapes[variable])), 8), spaced(range(probe.rows), 8)
        found = _at_places(probe, variable, columns, rows)
        is_zero = all(expression == 0 for _, expression in derivative.cases)
        if is_zero or (found is not None and any(truth != 0 for *_, truth in found.truths(derivative))):
            return found
        return _at_places(probe, variable, *_meeting(probe, variable, columns, rows))
    from gradcli.crosscheck.second_derivatives import truths_of

    wrt = list(dict.fromkeys(filter(None, (derivative.first, derivative.variable))))
    return truths_of(derivative.of, probe, u, wrt, PROBE_BITS)


def _at_places(
    probe: FunctionAtPoint, variable: sympy.Symbol, columns: Sequence[int], rows: Sequence[int]
) -> Evidence | None:
    """Enclose the entries of a Jacobian at some columns and rows; None where the work is over the budget."""
    directions = [(variable, j) for j in columns]
    return Evidence.enclosed(probe, directions, np.array(rows, dtype=np.int64), PROBE_BITS)


def _meeting(
    probe: FunctionAtPoint, variable: sympy.Symbol, columns: Sequence[int], rows: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """Add to columns that meet these rows in zeros alone some that depend on them, and the rows that these reach."""
    reference = Reference(probe.program, probe.shapes, probe.inputs).wide
    try:
        inside = reference.backward_closure({probe.program.output: np.array(rows, dtype=np.int64)}).get(variable)
        columns = sorted({*columns, *spaced([] if inside is None else inside.tolist(), 8)})
        _, reached = reference.followed({variable: (np.arange(len(columns)), np.array(columns, dtype=np.int64))})
    except OverBudgetError:
        return columns, rows
    return columns, sorted({*rows, *spaced(np.unique(reached).tolist(), 8)})


def lookups(point: FunctionAtPoint, directions: NamedDirections | None = None) -> dict[sympy.Symbol, object]:
    """Map each symbol of a formula to its ball, or to a function of indices that is NaN outside instead of wrapping."""
    found: dict[sympy.Symbol, object] = {}
    for line in point.program.lines:
        if line.call.op.kind is Kind.SOURCE:
            found[constant_symbol(line.call)] = element_of(array_of(line.call))
    for symbol in point.program.variables:
        found[symbol] = element_of(np.asarray(point.inputs[str(symbol)]))
    for name, u in (directions or {}).values():
        found[sympy.Symbol(name, real=True)] = element_of(u.astype(np.float64))
    return found


def element_of(array: npt.NDArray[np.float64]) -> object:
    """Turn an array into a function of indices, or a number into its ball."""
    if not array.ndim:
        return arb(float(array))

    def element(*index: int) -> Ball:
        found = known.get(index)
        if found is None:
            inside = all(0 <= n < size for n, size in zip(index, array.shape, strict=True))
            found = known[index] = arb(float(array[index])) if inside else arb.nan()
        return found

    known: dict[tuple[int, ...], Ball] = {}  # no more than the operations that use them
    return element


def _shown(index: Index) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""
