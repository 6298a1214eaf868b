"""Dual numbers over balls, at the elements that are asked for; and adjoints back through the same values.

A `Plan` follows directions e_j of the inputs forward through the Program as sparse lists of (direction, element), finds
the values that the local derivatives need, and counts the work before any is done.  Running it at a number of bits
gives, for each direction and row of y, a ball that contains ∂y[row]/∂x[j], or the reason why there is none.
Elements outside the lists are exact zeros.

The judge follows directions forward; `Backward` is for asking where on its way back torch went wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb

from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import Expansion, rewritten
from gradcli.language.program.movement import NEW, Slice
from gradcli.language.program.shapes import shapes_in
from gradcli.language.program.wengert import Atom, Builder, Line, Program, Shape
from gradcli.progress import patience
from gradcli.reference.balls import Ball, precision
from gradcli.reference.deadline import require_time
from gradcli.reference.footprint import Flat, Footprint, OverBudgetError
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.running import Direction, Found, Run, Shift

if TYPE_CHECKING:
    from gradcli.reference.exact_numbers import Numbering

_ALL = Slice(None, None)


def lower(program: Program, shapes: Mapping[Atom, Shape]) -> tuple[Program, Mapping[Atom, Atom]]:
    """The same function without `matmul`, and what holds the value of each line that has another symbol.

    >>> import sympy
    >>> from gradcli.language.parsing import parse
    >>> program = parse("A @ x")
    >>> shapes = dict(zip(program.variables, [(2, 3), (3,)]))
    >>> [line.call.op.name for line in lower(program, shapes)[0].lines]
    ['mul', 'sum']
    """
    if not any(line.call.op.kind is Kind.CONTRACTION for line in program.lines):
        return program, {}
    found = lowering(program, shapes)
    return found.program, found.renamed


def lowering(program: Program, shapes: Mapping[Atom, Shape], *, shares: bool = True) -> Expansion:
    """The same function without `matmul`, and which line became what.

    Args:
        program: A Program of primitives.
        shapes: Of its symbols.
        shares: Whether lines that compute the same become one.
    """

    def write(builder: Builder, line: Line, operands: tuple[Atom, ...]) -> Atom:
        call = line.call
        if call.op.kind is Kind.CONTRACTION:
            return _product(builder, operands, tuple(len(shapes[a]) for a in call.operands), line.span)
        return builder.emit(call.op.name, operands, line.span, call.statics)

    return rewritten(program, write, shares=shares)


def _product(builder: Builder, operands: tuple[Atom, ...], ranks: tuple[int, ...], span: Span) -> Atom:
    """a[..., i, new, k] * b[..., new, j, k] summed over k; a dimension that an operand lacks is left out."""
    a, b = operands
    if ranks[1] > 1:
        b = builder.emit("transpose", (b,), span, (-2, -1))
        if ranks[0] > 1:
            a = builder.emit("index", (a,), span, (("...", NEW, _ALL),))
            b = builder.emit("index", (b,), span, (("...", NEW, _ALL, _ALL),))
    product = builder.emit("mul", (a, b), span)
    return builder.emit("sum", (product,), span, (-1, False))


BUDGET = 60_000
"""Ball operations of one plan: at 3 to 5 µs each, about a tenth of what importing torch takes."""

ALL_ROWS = 1_024
"""Elements of y that are all judged, whether or not a direction reaches them."""

CHEAPER = 10
"""How much less an operation inside of Arb's matrices takes."""


@dataclass
class Plan:
    """What it takes to push some directions through a Program; `run` does it at a number of bits.

    Attributes:
        reference: The Program and its inputs.
        directions: Elements of inputs.
        pairs: The directions and the elements of each line that these move, as two arrays of one length.
        ways: What a change takes through each line: the operand, and the elements of the line and of the operand.
        needed: The elements whose values are taken.
        is_one: Whether all directions count as one, the number 0.
        judges_value: Whether y itself is looked at.
        work: Ball operations.
        numbering: Which values are certainly the same, once that was asked.
    """

    reference: Reference
    directions: Sequence[Direction]
    pairs: dict[Atom, tuple[Flat, Flat]] = field(default_factory=dict)
    ways: dict[Atom, list[tuple[int, Flat, Flat]]] = field(default_factory=dict)
    needed: dict[Atom, Flat] = field(default_factory=dict)
    is_one: bool = False
    judges_value: bool = True
    work: int = 0
    numbering: Numbering | None = None

    def run(self, bits: int, shift: Shift | None = None) -> Found:
        """The values and the nonzero columns of the Jacobian at this precision, exact but for it.

        Args:
            bits: Of the balls.
            shift: How far to move the inputs, such as by balls of what a decimal may be rounded from.
        """
        with precision(bits):
            return Run(self, shift).found()


class Reference:
    """The reference reading of a Program of primitives at given inputs."""

    def __init__(
        self, program: Program, shapes: Mapping[Atom, Shape], inputs: Mapping[str, npt.NDArray[np.float64]]
    ) -> None:
        self.program, self.renamed = lower(program, shapes)
        self.shapes = shapes_in(self.program, shapes)
        self.inputs = {
            symbol: np.asarray(inputs[str(symbol)], dtype=np.float64).ravel() for symbol in program.variables
        }
        self.budget = int(BUDGET * max(1.0, patience()))
        self.footprint = Footprint(self.shapes, self.budget)

    def plan(self, directions: Sequence[Direction], rows: Flat | None = None, *, judges_value: bool = True) -> Plan:
        """Prepare columns of the Jacobian, at some flat rows of y or at all, with y if that is not too much.

        Raises:
            OverBudgetError: more than `BUDGET` ball operations.
        """
        plan = Plan(self, directions)
        self._reach(plan, None if rows is None else self._wanted(rows))
        if judges_value:
            with suppress(OverBudgetError):
                return self._planned(plan, rows, judges_value=True)
        # Without y itself: its derivatives are what was asked for, and need fewer values.
        return self._planned(plan, rows, judges_value=False)

    def is_infinite(self, direction: Direction) -> bool:
        """Whether an element of an input is infinite: it has no neighbourhood, and its derivatives are limits."""
        symbol, element = direction
        return bool(np.isinf(self.inputs[symbol][element]))

    def moved_by(self, direction: Direction, wanted: Mapping[Atom, Flat]) -> dict[Atom, Flat]:
        """The elements among `wanted` that depend on an element of an input.

        Raises:
            OverBudgetError: too many.
        """
        return {atom: elements for atom, (_, elements) in self.wired((direction,), wanted).pairs.items()}

    def wired(self, directions: Sequence[Direction], wanted: Mapping[Atom, Flat]) -> Plan:
        """The plan of all ways from some directions as one, through `wanted` elements, whose values are taken too.

        Raises:
            OverBudgetError: too many.
        """
        plan = Plan(self, directions, needed=dict(wanted), is_one=True)
        self._reach(plan, wanted)
        return plan

    def _planned(self, plan: Plan, rows: Flat | None, *, judges_value: bool) -> Plan:
        """The plan, whose directions are followed, with the values that it needs."""
        plan.judges_value = judges_value
        start = self._values_for_slopes(plan)
        if judges_value:
            judged = self._judged(plan) if rows is None else rows
            self._require(len(judged))
            start.setdefault(self.program.output, []).append(judged)
        plan.needed = self.made_of({atom: np.unique(np.concatenate(lists)) for atom, lists in start.items()})
        matrices = sum(self._cubes(line) for line in self.program.lines if line.symbol in plan.needed)
        work = plan.work + sum(map(len, plan.needed.values())) + matrices
        self._require(work)
        return replace(plan, work=work)

    def _judged(self, plan: Plan) -> Flat:
        """The rows of y whose values are judged: all of few, else those that a direction reaches."""
        size = math.prod(self.shapes[self.program.output])
        reached = plan.pairs.get(self.program.output)
        return np.arange(size) if size <= ALL_ROWS or reached is None else np.unique(reached[1])

    def _cubes(self, line: Line) -> int:
        if line.call.op.kind not in (Kind.MATRIX, Kind.SPECTRAL):
            return 0
        shape = self.shapes[line.call.operands[0]]
        again = shape[-1] if line.call.op.kind is Kind.SPECTRAL else 1  # for each eigenvalue, or each column of slopes
        return math.prod(shape) * shape[-1] * again // CHEAPER

    def _wanted(self, rows: Flat) -> Mapping[Atom, Flat] | None:
        """The elements that these rows of y are made of; None, for all, where a list of them would be too long."""
        try:
            return self.made_of({self.program.output: rows})
        except OverBudgetError:
            return None

    def _require(self, work: int) -> None:
        if work > self.budget:
            raise OverBudgetError

    def _reach(self, plan: Plan, wanted: Mapping[Atom, Flat] | None) -> None:
        """Fill in the pairs (direction, element) that each line has a tangent of, and the flows between them."""
        chosen: dict[Atom, list[tuple[int, int]]] = {}
        for n, (symbol, j) in enumerate(plan.directions):
            chosen.setdefault(symbol, []).append((0 if plan.is_one else n, j))
        for variable in self.program.variables:
            if variable in chosen:
                places = np.array(chosen[variable], dtype=np.int64)
                plan.pairs[variable] = places[:, 0], places[:, 1]
        for line in self.program.lines:
            require_time()
            call, ways, pairs = line.call, list[tuple[int, Flat, Flat]](), list[Flat]()
            size = max(1, math.prod(self.shapes[line.symbol]))
            for k in self.footprint.operands(line):
                operand = call.operands[k]
                if operand not in plan.pairs or (call.op.coefficients and operand in call.operands[:k]):
                    continue
                d, e = plan.pairs[operand]
                source, out = self._entered(line, k, e, wanted)
                if call.op.sense:
                    changing = ~self._is_of_itself(line, out)
                    source, out = source[changing], out[changing]
                if len(source):
                    # Two numbers as one, so that `unique` joins what directions, or operands, have in common.
                    inside = max(1, math.prod(self.shapes[operand]))
                    ways.append((k, *np.divmod(np.unique(out * inside + e[source]), inside)))
                    pairs.append(d[source] * size + out)
                    plan.work += len(source)
                    self._require(plan.work)
            if ways:
                plan.ways[line.symbol] = ways
                plan.pairs[line.symbol] = np.divmod(np.unique(np.concatenate(pairs)), size)

    def _entered(self, line: Line, k: int, elements: Flat, wanted: Mapping[Atom, Flat] | None) -> tuple[Flat, Flat]:
        """For each element of operand k, the wanted elements of the line that it enters."""
        if wanted is None:
            return self.footprint.up(line, k, elements)
        among = wanted.get(line.symbol, np.empty(0, dtype=np.int64))
        try:
            source, out = self.footprint.up(line, k, elements)
        except OverBudgetError:  # a number that a million elements share, of which few are wanted
            return self.footprint.up_to(line, k, elements, among)
        # Only what leads to a wanted row of y: the rest would be work for nothing.
        kept = np.isin(out, among)
        return source[kept], out[kept]

    def _is_of_itself(self, line: Line, out: Flat) -> npt.NDArray[np.bool_]:
        """Where a comparison is of an element with itself, as on the diagonal of `x[:, None] < x`: it never changes."""
        first, second = (self._origin(line, k, out) for k in (0, 1))
        is_same: npt.NDArray[np.bool_] = first[1] == second[1]
        return is_same if first[0] == second[0] else np.zeros_like(is_same)

    def _origin(self, line: Line, k: int, out: Flat) -> tuple[Atom, Flat]:
        """What the elements of operand k were before they were moved."""
        atom, (_, elements) = line.call.operands[k], self.footprint.down(line, k, out)
        while (before := self._moving.get(atom)) is not None:
            position, source = self.footprint.down(before, 0, elements)
            if len(position) < len(elements):  # padding, which is no element of the operand
                break
            atom, elements = before.call.operands[0], source
        return atom, elements

    @cached_property
    def _moving(self) -> Mapping[Atom, Line]:
        lines = (line for line in self.program.lines if line.call.op.kind is Kind.MOVEMENT)
        return {line.symbol: line for line in lines if len(line.call.operands) == 1}

    def _values_for_slopes(self, plan: Plan) -> dict[Atom, list[Flat]]:
        """The operand elements at which local derivatives will be taken."""
        start: dict[Atom, list[Flat]] = {}
        for line in self.program.lines:
            if line.symbol not in plan.pairs or line.call.op.is_linear:
                continue
            out = np.unique(plan.pairs[line.symbol][1])
            for k, operand in enumerate(line.call.operands):
                if isinstance(operand, sympy.Symbol):
                    start.setdefault(operand, []).append(self.footprint.down(line, k, out)[1])
        return start

    def made_of(self, start: Mapping[Atom, Flat]) -> dict[Atom, Flat]:
        """All elements that some elements are made of, and these.

        Raises:
            OverBudgetError: too many.
        """
        return self.footprint.made_of(self.program.lines, start, self.budget)


Elements = Mapping[int, "Flow"]
"""By flat position; what is not in it is an exact zero."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What flows back to an element: the sum over all ways, and the largest of them."""

    total: Outcome
    largest: Ball

    def joined(self, other: Flow) -> Flow:
        """The sum of two flows into the same element, and the larger of their largest ways."""
        largest = self.largest.max(other.largest)
        if isinstance(self.total, Undefined):
            return Flow(self.total, largest)
        return Flow(other.total if isinstance(other.total, Undefined) else self.total + other.total, largest)

    def through(self, slope: Outcome) -> Flow:
        """What an operation with this slope passes on."""
        if isinstance(slope, Undefined):
            return Flow(self.total if isinstance(self.total, Undefined) else slope, self.largest)
        total = self.total if isinstance(self.total, Undefined) else self.total * slope
        return Flow(total, self.largest * abs(slope).upper())


@dataclass(frozen=True, slots=True)
class Sweep:
    """What flows back: to every value, and to an operand from one line, by the symbols of line and operand."""

    adjoints: Mapping[Atom, Elements]
    entering: Mapping[tuple[Atom, Atom], Elements]


class Backward:
    """The values at some elements, at the precision in force, and sweeps back through them."""

    def __init__(self, reference: Reference, needed: Mapping[Atom, Flat]) -> None:
        self.reference = reference
        self._run = Run(Plan(reference, (), needed=dict(needed)))
        self._run.evaluate()
        self.values: Mapping[Atom, Mapping[int, Outcome]] = self._run.values

    def sweep(
        self, seeds: Mapping[Atom, Elements], lines: Sequence[Line], within: Mapping[Atom, Flat] | None = None
    ) -> Sweep:
        """Carry what is given at some elements back through some lines.

        Args:
            seeds: Where to start.
            lines: In the order of the Program.
            within: The elements to follow; all if None.
        """
        adjoints: dict[Atom, dict[int, Flow]] = {atom: dict(flows) for atom, flows in seeds.items()}
        entering: dict[tuple[Atom, Atom], dict[int, Flow]] = {}
        for line in reversed(lines):
            flows = {e: flow for e, flow in adjoints.get(line.symbol, {}).items() if not _is_zero(flow.total)}
            for k, operand in enumerate(line.call.operands):
                if not flows or not isinstance(operand, sympy.Symbol):
                    continue
                followed = None if within is None else within.get(operand, np.empty(0, dtype=np.int64))
                for out, source, slope in self._slopes(line, k, np.array(sorted(flows), dtype=np.int64), followed):
                    if not _is_zero(slope):
                        flow = flows[out].through(slope)
                        _add(entering.setdefault((line.symbol, operand), {}), source, flow)
                        _add(adjoints.setdefault(operand, {}), source, flow)
        return Sweep(adjoints, entering)

    def refused(self, line: Line, k: int, elements: Flat) -> Flat:
        """The elements of operand k that a choice does not take: `where`, `maximum`, `minimum`, `amax`, `amin`."""
        position, source = self.reference.footprint.down(line, k, elements)
        taken = {(out, s) for out, s, slope in self._slopes(line, k, elements, None) if not _is_zero(slope)}
        out = elements[position]
        return np.array([s for o, s in zip(out.tolist(), source.tolist(), strict=True) if (o, s) not in taken], int)

    def _slopes(self, line: Line, k: int, elements: Flat, within: Flat | None) -> Iterator[tuple[int, int, Outcome]]:
        """Elements of the line and of operand k with the slope between them; a condition has none."""
        position, source = self.reference.footprint.down(line, k, elements)
        if within is not None:
            kept = np.isin(source, within)
            position, source = position[kept], source[kept]
        if not len(source):
            return
        out = elements[position]
        if line.call.op.is_branch and k == 0:
            slopes: list[Outcome] = [arb(0)] * len(out)
        else:
            slopes = self._run.slopes(line, k, out, source)
        yield from zip(out.tolist(), source.tolist(), slopes, strict=True)


def _is_zero(outcome: Outcome) -> bool:
    return not isinstance(outcome, Undefined) and bool(outcome == 0)


def _add(flows: dict[int, Flow], element: int, flow: Flow) -> None:
    flows[element] = flow if element not in flows else flows[element].joined(flow)
