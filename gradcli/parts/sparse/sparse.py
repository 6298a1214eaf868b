"""A Jacobian or a Hessian by the entries that are not 0 by structure: the same stages as those of a dense one.

    pattern    pattern            index sets of the Program, before torch is imported
    products   grouped_products   rows or columns in groups of which no two entries meet
    numbers    grouped_products   reading 1: torch's product for each group, and one for all of them as a guard
    formula    formula_entries    reading 2: SymPy's, evaluated at all entries
    truth      pattern_bounds     reading 3: bounds of the gradient Program, group by group
    verdict    pattern_judge      what bounds prove, what balls decide of the rest, and what is left

A Hessian is the Jacobian of the gradient, whose Program `crosscheck.gradient_point` makes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import sympy

from gradcli import trial
from gradcli.adjoint.slopes import NoAdjointError
from gradcli.arrays import Array
from gradcli.crosscheck.formulas import Derived, Formulas, confirm_at, derive_formulas
from gradcli.crosscheck.gradient_point import GradientPoint
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.errors import InputError, TooLargeError
from gradcli.language.program.expansion import PADDING, moving_lines
from gradcli.language.program.wengert import Line
from gradcli.option_words import option
from gradcli.parts.sparse.colouring import ManyColoursError
from gradcli.parts.sparse.formula_entries import SparseNumbers, compare_formulas
from gradcli.parts.sparse.grouped_products import Axis, ProductGuard, ProductPlan, TorchProducts, guard, plan, values_of
from gradcli.parts.sparse.kept_memory import kept_memory, threads_for
from gradcli.parts.sparse.pattern import SparsityPattern, pattern_of
from gradcli.parts.sparse.pattern_bounds import SparseSubject, is_explained
from gradcli.parts.sparse.pattern_judge import enclosed, judged
from gradcli.progress import BUDGET, set_step
from gradcli.questions.bound_function import BoundFunction
from gradcli.questions.judging import compare_numbers
from gradcli.questions.operators import OPERATORS
from gradcli.reference.deadline import OverTimeError, part_limit
from gradcli.reference.dependencies import OverBudgetError
from gradcli.results import (
    HVP,
    Assessment,
    Check,
    Compression,
    Entry,
    Hessian,
    Jacobian,
    Judged,
    NumberKind,
    Position,
    Quantity,
    SparseBlock,
    SparseHessian,
    SparseJacobian,
    quantities_of,
)

MOST_ENTRIES = 2**25
"""Most entries of a pattern: 33 million, of some 40 bytes each."""

BYTES = 2**33
"""Memory that a sparse matrix may take while it is computed."""

SPARSE = 0.05
"""Part of all entries up to which a large matrix is sparse of itself."""

MANY_ELEMENTS = 50_000
"""Elements of y and of the variables from which on memory stays with the process until the answer is there."""

NEARLY_ALL = 0.5
"""Part of the products without a pattern from which on grouping gains little."""

FEW = 10
"""The same where there are so few products that it does not matter."""


@dataclass(frozen=True)
class _StructuredFunction:
    """The pattern of a matrix, with the function whose Jacobian it is.

    Attributes:
        bound: The function at its point.
        is_second: Whether it is a Hessian.
        pattern: The pattern.
        gradient: The gradient, for a Hessian.
        unknown: The variables of which the shape alone is known.
    """

    bound: BoundFunction
    is_second: bool
    pattern: SparsityPattern
    gradient: GradientPoint | None
    unknown: frozenset[str]

    @property
    def point(self) -> FunctionAtPoint:
        """The function whose Jacobian it is."""
        return self.bound.point if self.gradient is None else self.gradient.point

    @property
    def what(self) -> str:
        """What the matrix is called in messages."""
        return "Hessian" if self.is_second else "Jacobian"


def answered(
    kind: type[Judged],
    bound: BoundFunction,
    *,
    is_asked: bool,
    is_pattern: bool,
    unknown: frozenset[str] = frozenset(),
) -> Judged | None:
    """Answer by the entries of the pattern; None where nobody asked for that, and a dense matrix is better.

    Args:
        kind: `Jacobian` or `Hessian`.
        bound: The function at its point.
        is_asked: Whether it is to be sparse whatever its pattern is.
        is_pattern: Whether the pattern alone is asked for.
        unknown: The variables of which the shape alone is known.

    Raises:
        GradcliError: It is not sparse, or needs too many products or too much memory.
    """
    if not bound.wrt or not math.prod(bound.shape):
        if is_asked:
            asked = option("pattern" if is_pattern else "sparse")
            raise InputError("a matrix without entries has no pattern", hint=f"leave out {asked}")
        return None
    trial.end()
    with kept_memory() if _elements(bound) > MANY_ELEMENTS else nullcontext():
        return _answered(kind, bound, unknown, is_asked=is_asked, is_pattern=is_pattern)


def _elements(bound: BoundFunction) -> int:
    """Count the elements of y and of the variables."""
    return math.prod(bound.shape) + sum(bound.arrays[name].size for name in bound.wrt)


def _answered(
    kind: type[Judged], bound: BoundFunction, unknown: frozenset[str], *, is_asked: bool, is_pattern: bool
) -> Judged | None:
    """Find the pattern, and then what is asked for; see `answered`."""
    if not is_pattern and not bound.twice:
        bound = replace(bound, twice=True)  # before it is run for the first time
    try:
        structure = _structure(kind, bound, unknown, is_asked=is_asked)
    except (OverBudgetError, MemoryError):
        if not is_asked:
            return None
        raise _dense(kind, bound) from None
    except NoAdjointError as error:
        if not is_asked:
            return None
        raise InputError(f"the pattern of the Hessian is not known: {error}") from None
    if not is_asked and structure.pattern.density > SPARSE:
        return None
    if is_pattern:
        reason = "only the pattern was asked for"
        names = [(a, b) for a in (bound.wrt if structure.is_second else ("",)) for b in bound.wrt]
        return _answer(structure, None, None, Formulas(omitted=dict.fromkeys(names, reason)), None, ())
    with threads_for(bound.program):
        return _with_numbers(structure)


def _structure(
    kind: type[Judged], bound: BoundFunction, unknown: frozenset[str], *, is_asked: bool
) -> _StructuredFunction:
    """Find the pattern; unless it is asked for, none that has much more than a part of all entries.

    Raises:
        OverBudgetError: It has too many entries.
        NoAdjointError: The gradient is no Program.
        InputError: Elements are taken at positions of which the shape alone is known.
    """
    set_step("finding the pattern")
    at_positions = [line for line in bound.point.program.lines if line.call.op.is_at_positions]
    if at_positions:
        _require_positions(bound, at_positions, unknown)
        _ = bound.value  # which refuses a position that is not there
    symbols = [sympy.Symbol(name, real=True) for name in bound.wrt]
    is_second = issubclass(kind, Hessian)
    gradient = GradientPoint.from_function(bound.point, bound.wrt) if is_second else None
    point = bound.point if gradient is None else gradient.point
    columns = sum(bound.arrays[name].size for name in bound.wrt)
    most = MOST_ENTRIES if is_asked else int(min(MOST_ENTRIES, 4 * SPARSE * math.prod(point.shape) * columns))
    pattern = pattern_of(point.program, point.shapes, symbols, most, point.inputs)
    return _StructuredFunction(bound, is_second, pattern, gradient, unknown)


def _require_positions(bound: BoundFunction, at_positions: Sequence[Line], unknown: frozenset[str]) -> None:
    """Refuse positions that depend on variables without a value.

    Raises:
        InputError: Some do.
    """
    for name in sorted(unknown):
        moves = moving_lines(bound.point.program, [sympy.Symbol(name, real=True)])
        if any(line.call.operands[1] in {*moves, sympy.Symbol(name, real=True)} for line in at_positions):
            message = f"elements are taken at positions that {name} says, and its shape alone is given"
            raise InputError(message, hint=f"give its value: {option('at', f'{name}=...')}")


def _dense(kind: type[Judged], bound: BoundFunction) -> TooLargeError:
    """Return the error for a pattern with too many entries."""
    what = "Hessian" if issubclass(kind, Hessian) else "Jacobian"
    message = f"the {what} is not sparse, or too large: more than {MOST_ENTRIES:,} entries depend on the variables"
    return TooLargeError(message, hint=f"use vjp or jvp for products with it, or {option('wrt')} for fewer variables")


def _with_numbers(structure: _StructuredFunction) -> Judged:
    """Compute, judge and answer."""
    bound, pattern = structure.bound, structure.pattern
    _require_memory(structure)
    tensors = TorchProducts(bound.forward, bound.wrt, is_second=structure.is_second)
    chosen, values, held = _numbers(structure, tensors, ("rows", "columns"))
    if not held.holds and any(one.axis == "columns" for one in chosen.products):
        # Ju is the derivative of vᵀJ by v, which code with a backward pass for one time alone does not have.
        chosen, values, held = _numbers(structure, tensors, ("rows",))
    derived = _derived(structure)
    subject = _subject(structure, chosen, values, tensors)
    judgement = _judgement(structure, subject, held) if bound.check else None
    check, evidence = (judgement.check, judgement.evidence) if judgement else (None, None)
    formulas, check = confirm_at(check, bound.point, evidence, bound.program, derived)
    sizes = [bound.arrays[name].size for name in bound.wrt]
    columns = {n: (sum(sizes[:k]), sizes[k]) for k, n in enumerate(bound.wrt)}
    numbers = SparseNumbers(bound.point, pattern, values, columns, structure.is_second, bound.dtype)
    formulas, check = compare_formulas(numbers, formulas, derived, bound.program, check, partial(enclosed, subject))
    warnings = [_nearly_all(structure, chosen)] if len(chosen.products) > NEARLY_ALL * chosen.usual > FEW else []
    return _answer(structure, chosen, values, formulas, check, warnings, tensors)


def _numbers(
    structure: _StructuredFunction, tensors: TorchProducts, axes: Sequence[Axis]
) -> tuple[ProductPlan, Array, ProductGuard]:
    """Read torch's numbers from products of rows, or of columns, and compare all of them along a random vector."""
    chosen, dtype = _plan(structure, axes), structure.bound.dtype
    values = values_of(chosen, _Timed(tensors, structure, chosen), dtype)
    return chosen, values, guard(structure.pattern, values, tensors.multiply, dtype)


def _plan(structure: _StructuredFunction, axes: Sequence[Axis]) -> ProductPlan:
    """Choose the products.

    Raises:
        TooLargeError: They are too many, or take longer to find than a budget in seconds.
    """
    bound, own = structure.bound, BUDGET.get()
    seconds = own.seconds if own is not None else None
    set_step("grouping rows and columns")
    columns = [bound.arrays[name].shape for name in bound.wrt]
    rows = (sum(map(math.prod, columns)),) if structure.is_second else bound.shape
    if structure.is_second and len(columns) == 1:
        rows = columns[0]
    try:
        with nullcontext() if seconds is None else part_limit(seconds):
            return plan(structure.pattern, rows, columns, is_symmetric=structure.is_second, axes=axes)
    except ManyColoursError:
        raise _dense(Hessian if structure.is_second else Jacobian, bound) from None
    except OverTimeError:
        message = f"to group rows and columns of the {structure.what} takes longer than {seconds:g} seconds"
        raise TooLargeError(message, hint=f"give it time by {option('budget', '100')}") from None


def _require_memory(structure: _StructuredFunction) -> None:
    """Refuse what would take too much memory, before it is taken.

    Raises:
        TooLargeError: With the size.
    """
    elements = sum(map(math.prod, structure.point.shapes.values()))
    entries = structure.pattern.count
    size = 40 * entries + 32 * sum(structure.pattern.shape) + 24 * elements  # as is seen at a million rows
    if size > BYTES:
        message = f"the {structure.what} has {entries:,} entries in its pattern and takes {size / 2**30:,.1f} GiB"
        hint = f"the limit is {BYTES / 2**30:,.0f} GiB; use {option('wrt')} for fewer variables"
        raise TooLargeError(message, hint=hint)


class _Timed:
    """Products of torch, which are refused once it is seen that all of them take longer than a budget in seconds."""

    def __init__(self, tensors: TorchProducts, structure: _StructuredFunction, chosen: ProductPlan) -> None:
        self.tensors, self.structure, self.count = tensors, structure, len(chosen.products)
        own = BUDGET.get()
        self.seconds = own.seconds if own is not None else None
        self.start, self.done = time.monotonic(), 0

    def __call__(self, axis: Axis, seed: Array) -> Array:
        set_step("multiplying", self.done, self.count)
        found = self.tensors.multiply(axis, seed)
        self.done += 1
        taken = time.monotonic() - self.start
        if self.seconds is not None and taken > 0.2 and taken / self.done * self.count > self.seconds:
            needed = math.ceil(taken / self.done * self.count)
            message = f"the {self.structure.what} takes {self.count:,} products, about {needed:,} seconds"
            raise TooLargeError(message, hint=f"give it time by {option('budget', str(needed + 1))}")
        return found


def _derived(structure: _StructuredFunction) -> Derived:
    """Derive the formulas."""
    bound = structure.bound
    if not structure.is_second:
        return bound.derived
    return derive_formulas(bound.point, bound.program, bound.wrt, "hessian", {})


def _nearly_all(structure: _StructuredFunction, chosen: ProductPlan) -> str:
    return (
        f"grouping gains little: {len(chosen.products):,} products in place of {chosen.usual:,}, "
        f"as rows and columns of the {structure.what} meet in most pairs"
    )


# -- the verdict


def _subject(
    structure: _StructuredFunction, chosen: ProductPlan, values: Array, tensors: TorchProducts
) -> SparseSubject:
    """Return what is judged."""
    bound = structure.bound
    y, of = bound.value.reshape(-1), math.nan
    if structure.is_second:
        of = float(bound.value.reshape(()))
        y = np.concatenate([tensors.gradient[name].reshape(-1) for name in bound.wrt])
    given = structure.point, bound.wrt, chosen, values, y, bound.dtype
    return SparseSubject(*given, gradient=structure.gradient, of=of)


def _judgement(structure: _StructuredFunction, subject: SparseSubject, held: ProductGuard) -> Judgement:
    """Judge all entries; what else is known of code is that of its product with a random v."""
    bound = structure.bound
    found = judged(subject)
    if not held.holds and not is_explained(subject, held):
        found = found.joined([_missed(structure, held)], is_fully_recorded=False)
    if _is_more_than_its_lines(bound):
        found = _with_function(structure, found)
    return found


def _missed(structure: _StructuredFunction, held: ProductGuard) -> Entry:
    """Make the finding that torch's product is not that of the entries."""
    bound, column = structure.bound, held.column
    for name in bound.wrt:
        size = bound.arrays[name].size
        if column < size:
            break
        column -= size
    index = tuple(int(n) for n in np.unravel_index(column, bound.arrays[name].shape))
    kind: NumberKind = "hessian" if structure.is_second else "vjp"
    position = Position(kind, name, None, index, by=name if structure.is_second else None)
    note = "torch's vᵀJ for a random v is not that of these entries: some are wrong, or outside of the pattern"
    return Entry(position, None, Assessment("disagree", note=note))


def _is_more_than_its_lines(bound: BoundFunction) -> bool:
    """Tell whether a function is code, or values decide its lines, hold something constant, or must be symmetric."""
    is_code = bound.recording is not None or bound.program.guards is not None
    ops = [line.call.op for line in bound.program.lines]
    has_padding = any(PADDING in line.call.op.statics for line in bound.program.lines)
    return is_code or has_padding or any(op.is_held or op.symmetric for op in ops)


def _with_function(structure: _StructuredFunction, found: Judgement) -> Judgement:
    """Add what the judge of vᵀJ, or of Hu, finds along a random vector: values held constant, wrong functions."""
    bound, draw = structure.bound, np.random.default_rng(2)
    if structure.is_second:
        u = {name: draw.uniform(0.5, 1.5, bound.arrays[name].shape).astype(bound.dtype) for name in bound.wrt}
        numbers = OPERATORS[HVP].ask(bound, u)
    else:
        v = draw.uniform(0.5, 1.5, bound.shape).astype(bound.dtype)
        numbers = Numbers.of_first_order(bound.dtype, bound.value, None, v, bound.product(v))
    other = compare_numbers(bound, numbers)
    findings = [one for one in other.check.findings if one.verdict not in ("agree", "unchecked")]
    return found.joined(findings, is_fully_recorded=other.is_fully_recorded and not other.is_sample)


# -- the answer


def _answer(
    structure: _StructuredFunction,
    chosen: ProductPlan | None,
    values: Array | None,
    formulas: Formulas,
    check: Check | None,
    warnings: Sequence[str],
    tensors: TorchProducts | None = None,
) -> Judged:
    bound, pattern = structure.bound, structure.pattern
    count, usual = (len(chosen.products), chosen.usual) if chosen is not None else (0, 0)
    facts = Compression(pattern.shape, pattern.count, pattern.bandwidth, count, usual)
    kind: NumberKind = "hessian" if structure.is_second else "jacobian"
    quantities = quantities_of(kind, bound.program.output_name, bound.wrt, {}, formulas.shown, formulas.omitted)
    blocks = _blocks(structure, values, quantities)
    common = bound.common | {"device": bound.device}
    common["warnings"] = (*bound.program.warnings, *warnings)
    shared = {"command": kind, "check": check, "blocks": blocks, "sparsity": facts, **common}
    if structure.unknown:
        sizes = {name: array.shape for name, array in bound.arrays.items()}
        shared |= {"shapes": {**sizes, bound.program.output_name: bound.shape}}
    value = np.full(bound.shape, np.nan) if structure.unknown else bound.value
    if not structure.is_second:
        return SparseJacobian(value=value, quantities=quantities, **shared)
    first = {("", name): tensors.gradient[name] for name in bound.wrt} if tensors is not None else {}
    gradient = quantities_of("gradient", bound.program.output_name, bound.wrt, first)
    gradient = gradient if tensors is not None else ()
    return SparseHessian(value=value, quantities=(*gradient, *quantities), **shared)


def _blocks(
    structure: _StructuredFunction, values: Array | None, quantities: Sequence[Quantity]
) -> tuple[SparseBlock, ...]:
    """Split the matrix into blocks by variables."""
    bound, pattern = structure.bound, structure.pattern
    sizes = {name: bound.arrays[name].size for name in bound.wrt}
    starts = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
    found = []
    for one in quantities:
        by, name = one.axes
        first, last = starts[name], starts[name] + sizes[name]
        own = (pattern.columns >= first) & (pattern.columns < last)
        top, height = (starts[by], sizes[by]) if structure.is_second else (0, pattern.shape[0])
        if structure.is_second:
            own &= (pattern.rows >= top) & (pattern.rows < top + height)
        rows, columns = pattern.rows[own], pattern.columns[own]
        if top or first:
            rows, columns = (rows - top).astype(np.int32), (columns - first).astype(np.int32)
        held = None if values is None else values[own]
        found.append(SparseBlock(one.label, (by, name), (height, sizes[name]), rows, columns, held))
    return tuple(found)


def is_installed() -> bool:
    """Tell whether SciPy is there."""
    from importlib.util import find_spec

    return find_spec("scipy") is not None


def require_scipy() -> None:
    """Refuse where SciPy is missing.

    Raises:
        InputError: It is.
    """
    if not is_installed():
        raise InputError("sparse matrices need SciPy", hint="pip install 'gradcli[scipy]'")
