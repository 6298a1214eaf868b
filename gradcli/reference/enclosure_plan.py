"""Dual numbers over balls, at the elements that are asked for.

A `Plan` follows directions e_j of the inputs forward through the Program as sparse lists of (direction, element), finds
the values that the local derivatives need, and counts the work before any is done.  Running it at a number of bits
gives, for each direction and row of y, a ball that contains ∂y[row]/∂x[j], or the reason why there is none.
Elements outside the lists are exact zeros.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.arrays import Array
from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import rewritten
from gradcli.language.program.shapes import shapes_in
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape
from gradcli.progress import budget_factor
from gradcli.reference.array_values import places_of
from gradcli.reference.balls import precision
from gradcli.reference.deadline import require_time
from gradcli.reference.dependencies import Dependencies, Flat, OverBudgetError, distinct
from gradcli.reference.enclosure_pass import Direction, EnclosedDerivatives, EnclosurePass, Shift
from gradcli.reference.pass_views import Chunks, ValueForms


def lower(program: Program, shapes: Mapping[Atom, Shape]) -> tuple[Program, Mapping[Atom, Atom]]:
    """Rewrite a program without `matmul`, and map each line whose symbol changes to the symbol of its value.

    >>> import sympy
    >>> from gradcli.language.parsing import parse
    >>> program = parse("A @ x")
    >>> shapes = dict(zip(program.variables, [(2, 3), (3,)]))
    >>> [line.call.op.name for line in lower(program, shapes)[0].lines]
    ['mul', 'sum']
    """
    if not any(line.call.op.kind is Kind.CONTRACTION for line in program.lines):
        return program, {}

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        call = line.call
        if call.op.kind is Kind.CONTRACTION:
            return builder.inline(_product(*(len(shapes[a]) > 1 for a in call.operands)), operands, line.span)
        return builder.emit(call.op.name, operands, line.span, call.statics)

    found = rewritten(program, write, shares=True)
    return found.program, found.renamed


@cache
def _product(is_left_wide: bool, is_right_wide: bool) -> Program:
    """Return the meaning of `a @ b`, by whether each of the two has more than one dimension."""
    factors = "a*transpose(b, -2, -1)" if is_right_wide else "a*b"
    if is_left_wide and is_right_wide:  # a[..., i, new, k] and b[..., new, j, k]
        factors = "a[..., None, :]*transpose(b, -2, -1)[..., None, :, :]"
    return parse_meaning(f"sum({factors}, -1)", ("a", "b"))


def _units(directions: Sequence[Direction]) -> dict[Atom, tuple[Flat, Flat]]:
    """Number the directions, and list by variable their numbers and elements."""
    found: dict[Atom, list[tuple[int, int]]] = {}
    for n, (symbol, j) in enumerate(directions):
        found.setdefault(symbol, []).append((n, j))
    return {symbol: (places[:, 0], places[:, 1]) for symbol, places in ((s, np.array(p)) for s, p in found.items())}


def _flat(array: Array) -> npt.NDArray[np.float64]:
    return np.asarray(array, dtype=np.float64).ravel()


BALL_OPERATIONS = 60_000
"""Ball operations of a plan, and half as many more for y: at 3 to 5 µs each, a tenth of what importing torch takes."""

ALL_ROWS = 1_024
"""Most elements of y that are all judged, whether or not a direction reaches them."""

MOST_FOLLOWED_PAIRS = 2**18
"""Most elements, or pairs of them, that are followed through one line without a value, in some milliseconds."""

CHEAPER = 10
"""Factor by which an operation inside of Arb's matrices is faster."""


MOST_KEPT_PLANS = 16
"""Most plans that are kept of a Program with some shapes."""

MOST_KEPT_WORK = 2**12
"""Most ball operations of a plan that is kept: some 100 KiB."""


@dataclass(frozen=True, eq=False)
class LoweredProgram:
    """Program as plans are made of it, for one shape of each variable, with what was found of it for other inputs.

    Attributes:
        program: The Program, without `matmul`.
        renamed: The symbol of the value of each line whose symbol changed.
        shapes: The shape of each of its symbols.
        at_positions: Its lines whose positions are values.
        plans: Plans that were made, by what they are of; none where positions are values.
    """

    program: Program
    renamed: Mapping[Atom, Atom]
    shapes: Mapping[Atom, Shape]
    at_positions: tuple[Line, ...]
    plans: dict[Hashable, Plan] = field(default_factory=dict)


def _lowered(program: Program, sizes: tuple[Shape, ...]) -> LoweredProgram:
    """Lower a Program whose variables have these shapes."""
    known = shapes_in(program, dict(zip(program.variables, sizes, strict=True)))
    lowered, renamed = lower(program, known)
    at_positions = tuple(line for line in lowered.lines if line.call.op.is_at_positions)
    return LoweredProgram(lowered, renamed, shapes_in(lowered, known), at_positions)


_lowered_once = lru_cache(maxsize=128)(_lowered)


@dataclass
class Plan:
    """Work to push some directions through a Program; `run` does it at a number of bits.

    Attributes:
        reference: The Program and its inputs.
        directions: Elements of inputs.
        pairs: The directions and the elements of each line that these move, as two arrays of one length.
        ways: The ways of a change through each line: the operand, and the elements of the line and of the operand.
        needed: The elements whose values are taken.
        rows: The rows of y that were asked for; None for all.
        judges_value: Whether y itself is looked at.
        work: Ball operations.
        numbering: The forms that tell which values are certainly the same, once they are needed.
        chunks: Places of operands that passes have found for its elements.
    """

    reference: Reference
    directions: Sequence[Direction]
    reached: dict[Atom, tuple[Flat, Flat]] = field(default_factory=dict)
    edges: dict[Atom, list[tuple[int, Flat, Flat]]] = field(default_factory=dict)
    needed: dict[Atom, Flat] = field(default_factory=dict)
    rows: Flat | None = None
    judges_value: bool = True
    work: int = 0
    numbering: ValueForms | None = None
    chunks: dict[tuple[Atom, int], tuple[Flat, Chunks]] = field(default_factory=dict)

    def run(self, bits: int, shift: Shift | None = None) -> EnclosedDerivatives:
        """Enclose the values and the nonzero columns of the Jacobian, as narrowly as this precision allows.

        Args:
            bits: The precision of the balls.
            shift: Balls to move the inputs by, such as those of the numbers that a decimal may be rounded from.
        """
        plan = replace(self, numbering=None) if shift else self  # elsewhere, others are the same
        with precision(bits):
            return EnclosurePass(plan, shift).enclose()

    def moved_to(self, inputs: Mapping[str, Array]) -> Plan:
        """Return the same plan at other values of some variables; one of its own where positions may be others.

        Raises:
            OverBudgetError: Positions are not known there, or lead to more than `BALL_OPERATIONS`.
        """
        reference = self.reference.moved_to(inputs)
        if not reference.at_positions:
            return replace(self, reference=reference)
        return reference.plan(self.directions, self.rows, judges_value=self.judges_value)


class Reference:
    """The reference reading of a Program of primitives at given inputs."""

    def __init__(
        self, program: Program, shapes: Mapping[Atom, Shape], inputs: Mapping[str, npt.NDArray[np.float64]]
    ) -> None:
        lowered = _lowered_once if program.is_shared else _lowered
        self._is_shared = program.is_shared
        self._form = form = lowered(program, tuple(shapes[symbol] for symbol in program.variables))
        self.program, self.renamed, self.shapes = form.program, form.renamed, form.shapes
        self.inputs = {symbol: _flat(inputs[str(symbol)]) for symbol in program.variables}
        self.budget = int(BALL_OPERATIONS * max(1.0, budget_factor()))
        self.at_positions = form.at_positions
        self.places = self._places() if self.at_positions else {}
        self.dependencies = Dependencies(self.shapes, self.budget, self.places)

    def plan(self, directions: Sequence[Direction], rows: Flat | None = None, *, judges_value: bool = True) -> Plan:
        """Prepare columns of the Jacobian, at some flat rows of y or at all, with y if that is not too much.

        Raises:
            OverBudgetError: more than `BALL_OPERATIONS` ball operations.
        """
        asked = None if rows is None else rows.tobytes()
        key = tuple(directions), asked, judges_value, self.budget, self.dependencies.most
        known = self._form.plans
        if key in known:
            return replace(known[key], reference=self)
        found = self._planned_anew(directions, rows, judges_value=judges_value)
        if self._is_shared and not self.at_positions and found.work <= MOST_KEPT_WORK:
            if len(known) >= MOST_KEPT_PLANS:
                known.clear()
            bare = copy(self)
            bare.inputs = {}  # which may be large
            known[key] = replace(found, reference=bare)
        return found

    def _planned_anew(self, directions: Sequence[Direction], rows: Flat | None, *, judges_value: bool) -> Plan:
        plan, wanted = Plan(self, directions, _units(directions), rows=rows), None
        with suppress(OverBudgetError):  # all are followed where a list of those wanted would be too long
            wanted = None if rows is None else self.backward_closure({self.program.output: rows})
        self._reach(plan, wanted)
        if judges_value:
            with suppress(OverBudgetError):
                return self._planned(plan, rows, judges_value=True)
        # Leave out y itself: only its derivatives were asked for, and they need fewer values.
        return self._planned(plan, rows, judges_value=False)

    def is_infinite(self, direction: Direction) -> bool:
        """Tell whether an element of an input is infinite, so that its derivatives are limits."""
        symbol, element = direction
        return bool(np.isinf(self.inputs[symbol][element]))

    def wired(self, directions: Sequence[Direction], wanted: Mapping[Atom, Flat]) -> Plan:
        """Plan the edges from some directions, taken as one, through `wanted` elements, with the values of these.

        Raises:
            OverBudgetError: too many.
        """
        reached = {symbol: (np.zeros_like(elements), elements) for symbol, (_, elements) in _units(directions).items()}
        plan = Plan(self, directions, reached, needed=dict(wanted))
        self._reach(plan, wanted)
        return plan

    def followed(self, start: Mapping[Atom, tuple[Flat, Flat]]) -> tuple[Flat, Flat]:
        """Find the rows of y that some elements move, without computing any value.

        Args:
            start: Numbers of directions and elements that these move, by line or variable.

        Returns:
            Numbers and rows: the entries of the Jacobian that may differ from 0.

        Raises:
            OverBudgetError: too many.

        >>> from gradcli.language.parsing import parse
        >>> from gradcli.language.program.expansion import in_primitives
        >>> program = in_primitives(parse("cumsum(x**2, 0)"))
        >>> x = program.variables[0]
        >>> shapes = {symbol: (3,) for symbol in (x, *(line.symbol for line in program.lines))}
        >>> found = Reference(program, shapes, {"x": np.ones(3)}).followed({x: (np.arange(3), np.arange(3))})
        >>> [array.tolist() for array in found]
        [[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
        """
        plan, nothing = Plan(self, (), dict(start)), np.empty(0, dtype=np.int64)
        self._reach(plan, None)
        return plan.reached.get(self.program.output, (nothing, nothing))

    def moved_to(self, inputs: Mapping[str, Array]) -> Reference:
        """Copy the reference with other values of some variables, of the same shapes."""
        found = copy(self)
        found.inputs = {s: _flat(inputs[str(s)]) if str(s) in inputs else own for s, own in self.inputs.items()}
        if self.at_positions:
            found.places = found._places()
            found.dependencies = Dependencies(self.shapes, self.dependencies.most, found.places)
        return found

    def _places(self) -> Mapping[Atom, Flat]:
        inputs = {str(symbol): array.reshape(self.shapes[symbol]) for symbol, array in self.inputs.items()}
        return places_of(self.program, self.shapes, inputs)

    def admitting(self, budget: int, step: int | None = None) -> Reference:
        """Copy the reference with another budget, and another limit of one step."""
        found = copy(self)
        found.budget = budget
        found.dependencies = Dependencies(self.shapes, budget if step is None else step, self.places)
        return found

    @cached_property
    def wide(self) -> Reference:
        """Copy of the reference whose budget admits all elements that move."""
        return self.admitting(MOST_FOLLOWED_PAIRS * max(1, len(self.program.lines)), MOST_FOLLOWED_PAIRS)

    def _planned(self, plan: Plan, rows: Flat | None, *, judges_value: bool) -> Plan:
        """Add the elements whose values the slopes need, and check the budget."""
        plan.judges_value = judges_value
        start = self._values_for_slopes(plan)
        if judges_value:
            judged = self._judged(plan) if rows is None else rows
            self._require(len(judged))
            start.setdefault(self.program.output, []).append(judged)
        plan.needed = self.backward_closure({atom: np.unique(np.concatenate(lists)) for atom, lists in start.items()})
        matrices = sum(self._cubes(line) for line in self.program.lines if line.symbol in plan.needed)
        work = plan.work + sum(map(len, plan.needed.values())) + matrices
        self._require(work * 2 // 3 if judges_value else work)
        return replace(plan, work=work)

    def _judged(self, plan: Plan) -> Flat:
        """Return the rows of y whose values are judged: all of few, else those that a direction reaches."""
        size = math.prod(self.shapes[self.program.output])
        reached = plan.reached.get(self.program.output)
        return np.arange(size) if size <= ALL_ROWS or reached is None else np.unique(reached[1])

    def _cubes(self, line: Line) -> int:
        if line.call.op.kind not in (Kind.MATRIX, Kind.SPECTRAL):
            return 0
        shape = self.shapes[line.call.operands[0]]
        again = shape[-1] if line.call.op.kind is Kind.SPECTRAL else 1  # for each eigenvalue, or each column of slopes
        return math.prod(shape) * shape[-1] * again // CHEAPER

    def _require(self, work: int) -> None:
        if work > self.budget:
            raise OverBudgetError

    def _reach(self, plan: Plan, wanted: Mapping[Atom, Flat] | None) -> None:
        """Fill in the pairs (direction, element) for which each line has a tangent, and the edges between them."""
        for line in self.program.lines:
            require_time()
            call, edges, reached = line.call, list[tuple[int, Flat, Flat]](), list[Flat]()
            size = max(1, math.prod(self.shapes[line.symbol]))
            for k in self.dependencies.operand_numbers(line):
                operand = call.operands[k]
                if operand not in plan.reached or (call.op.coefficients and operand in call.operands[:k]):
                    continue
                d, e = plan.reached[operand]
                source, out = self._entered(line, k, e, wanted)
                if len(source):
                    # Each pair becomes one number, so that a pair shared by directions, or operands, is there once.
                    inside = max(1, math.prod(self.shapes[operand]))
                    edges.append((k, *np.divmod(distinct([out * inside + e[source]]), inside)))
                    reached.append(d[source] * size + out)
                    plan.work += len(source)
                    self._require(plan.work)
            if edges:
                plan.edges[line.symbol] = edges
                plan.reached[line.symbol] = np.divmod(distinct(reached), size)

    def _entered(self, line: Line, k: int, elements: Flat, wanted: Mapping[Atom, Flat] | None) -> tuple[Flat, Flat]:
        """Find for each element of operand k the wanted elements of the line that it enters."""
        if wanted is None:
            return self.dependencies.users(line, k, elements)
        among = wanted.get(line.symbol, np.empty(0, dtype=np.int64))
        try:
            source, out = self.dependencies.users(line, k, elements)
        except OverBudgetError:  # a number that a million elements share, of which few are wanted
            return self.dependencies.users_among(line, k, elements, among)
        # Keep only elements that lead to a wanted row of y: the rest would be work for nothing.
        kept = np.isin(out, among)
        return source[kept], out[kept]

    def _values_for_slopes(self, plan: Plan) -> dict[Atom, list[Flat]]:
        """List the operand elements at which local derivatives will be taken."""
        start: dict[Atom, list[Flat]] = {}
        for line in self.program.lines:
            if line.call.op.kind is Kind.GATHER and any(k for k, *_ in plan.edges.get(line.symbol, ())):
                out = np.unique(plan.reached[line.symbol][1])
                start.setdefault(line.call.operands[0], []).append(self.dependencies.possible_sources(line, out))
            if line.symbol not in plan.reached or line.call.op.is_linear:
                continue
            out = np.unique(plan.reached[line.symbol][1])
            for k, operand in enumerate(line.call.operands):
                if isinstance(operand, sympy.Symbol):
                    start.setdefault(operand, []).append(self.dependencies.sources(line, k, out)[1])
        return start

    def backward_closure(self, start: Mapping[Atom, Flat]) -> dict[Atom, Flat]:
        """Return the backward closure of some elements, themselves included.

        Raises:
            OverBudgetError: too many.
        """
        return self.dependencies.backward_closure(self.program.lines, start, self.budget)
