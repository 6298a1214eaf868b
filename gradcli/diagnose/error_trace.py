"""What torch did on the way to one number, beside the truth: every line, and what flows back, element by element.

Torch runs its own operations, the reference the primitives that they mean, each line laid beside those that it stands
for.  The truth is taken at ever more bits until all of it is known, at most to the last of `PRECISIONS`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.compare import TOLERANCE
from gradcli.crosscheck.point import flat
from gradcli.language.program.expansion import Expansion, expansion
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.duals import Backward, Elements, Flow, Reference, Sweep, lowering
from gradcli.reference.footprint import Flat, OverBudgetError
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import Array, Entry

if TYPE_CHECKING:
    from gradcli.autodiff.run import Trace

MOST_LINES = 1_000
"""Operations of a function that is looked into."""

MOST_VALUES = 1_000_000
"""Elements of all its lines together, which torch's run keeps."""


@dataclass(frozen=True)
class DiagnosisContext:
    """A function at a point, for every finding about it.

    Attributes:
        program: As torch runs it.
        shapes: Of its symbols.
        inputs: The value of every variable, of the dtype.
        wrt: The variables of the derivatives.
        dtype: `float64` or `float32`.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    inputs: Mapping[str, Array]
    wrt: tuple[str, ...]
    dtype: str

    @classmethod
    def of(
        cls,
        program: Program,
        shapes: Mapping[Atom, Shape],
        inputs: Mapping[str, Array],
        wrt: tuple[str, ...],
        dtype: str,
    ) -> DiagnosisContext:
        """The context of a Program as typed, with the shapes of its variables at least."""
        from gradcli.autodiff.run import prepared

        ran = prepared(program)
        variables = {symbol: shapes[symbol] for symbol in ran.variables}
        return cls(ran, infer(ran, variables, bounded=False), inputs, wrt, dtype)

    @property
    def values(self) -> int:
        """How many numbers torch computes on the way to y."""
        return sum(math.prod(self.shapes[line.symbol]) for line in self.program.lines)

    @property
    def info(self) -> np.finfo[Any]:
        """The range and the precision of the dtype."""
        return np.finfo(self.dtype)

    @cached_property
    def meaning(self) -> Expansion:
        """The same in primitives, every line's apart from those of others."""
        found = expansion(self.program, shares=False)
        variables = {symbol: self.shapes[symbol] for symbol in self.program.variables}
        return found.then(lowering(found.program, infer(found.program, variables, bounded=False), shares=False))

    @cached_property
    def reference(self) -> Reference:
        """The reference reading of it."""
        variables = {symbol: self.shapes[symbol] for symbol in self.program.variables}
        shapes = infer(self.meaning.program, variables, bounded=False)
        exact = {name: array.astype(np.float64) for name, array in self.inputs.items()}
        return Reference(self.meaning.program, shapes, exact)

    @cached_property
    def line_of(self) -> Mapping[Atom, Line]:
        """The lines by their symbols."""
        return {line.symbol: line for line in self.program.lines}

    @cached_property
    def users(self) -> Mapping[Atom, tuple[Line, ...]]:
        """The lines that use a value, each once."""
        found: dict[Atom, list[Line]] = {}
        for line in self.program.lines:
            for operand in dict.fromkeys(line.call.operands):
                found.setdefault(operand, []).append(line)
        return {atom: tuple(lines) for atom, lines in found.items()}

    @cached_property
    def parts(self) -> Mapping[Atom, tuple[Line, ...]]:
        """The primitives that each line stands for, by its symbol."""
        found: dict[Atom, list[Line]] = {}
        for part in self.meaning.program.lines:
            found.setdefault(self.meaning.owners[part.symbol], []).append(part)
        return {owner: tuple(lines) for owner, lines in found.items()}

    @cached_property
    def by_meaning(self) -> Mapping[Atom, Atom]:
        """The variable or line that a value of the meaning is that of."""
        known: dict[Atom, Atom] = {symbol: symbol for symbol in self.program.variables}
        for line in self.program.lines:
            known.setdefault(self.held(line.symbol), line.symbol)
        return known

    def held(self, atom: Atom) -> Atom:
        """What holds the value of a line in the meaning."""
        return self.meaning.renamed.get(atom, atom)

    def excerpt(self, atom: Atom) -> str:
        """The text of a variable or line."""
        line = self.line_of.get(atom)
        return str(atom) if line is None else self.program.excerpt(line)


MOST_ELEMENTS = 5_000
"""Elements that a number is made of: each takes a ball at each precision."""

PRECISIONS = (256, 1_024, 4_096)
"""Bits of the balls, one after the other until all is known."""

KNOWN_BITS = 64
"""Bits of a known number, above those of either dtype."""

NEGLIGIBLE = -2_200
"""The exponent of what is taken for 0: the square of the smallest number of float64."""

Place = tuple[Atom, int]
"""A variable or a line, and the flat position of one of its elements."""


@dataclass(frozen=True, slots=True)
class Error:
    """How far a number of torch is from the truth: absolutely, None for infinitely far, and relatively."""

    number: float
    truth: Outcome
    absolute: Ball | None
    relative: float

    @classmethod
    def of(cls, number: float, truth: Outcome) -> Error:
        """The proven error; none where there is no truth to compare with."""
        if not math.isfinite(number):
            if not isinstance(truth, Undefined) and not exists(truth.mid()) and float(truth.mid()) == number:
                return cls(number, truth, arb(0), 0.0)  # an inf of the text
            return cls(number, truth, None, math.inf)
        if isinstance(truth, Undefined):
            return cls(number, truth, arb(0), 0.0)
        distance, size = abs(truth - arb(number)).lower(), abs(truth).upper()
        if distance <= 0:
            return cls(number, truth, arb(0), 0.0)
        return cls(number, truth, distance, float(distance / size) if size > 0 else math.inf)


class ErrorTrace:
    """One number of torch, everything that it is made of, and the truth of all that."""

    def __init__(self, context: DiagnosisContext, entry: Entry, v: Array | None, *, everywhere: bool = False) -> None:
        """Run the function in torch and on balls.

        Args:
            context: The function at the point.
            entry: The number.
            v: The gradient vector, for an entry of vᵀJ.
            everywhere: Whether to follow back from all rows to all values, if that is not too much: NaN comes also
                from rows without a weight, and the truth of what flows back is then that of all of them.

        Raises:
            OverBudgetError: it is made of too much.
        """
        from gradcli.autodiff.run import trace

        if len(context.program.lines) > MOST_LINES or context.values > MOST_VALUES:
            raise OverBudgetError
        self.context, self.entry = context, entry
        self.tolerance = TOLERANCE[context.dtype].rtol
        weights = np.zeros(context.shapes.get(context.program.output, ()))
        if entry.row is not None:
            weights[entry.row] = 1
        elif v is not None:
            weights = v.astype(np.float64).reshape(weights.shape)
        self.torch: Trace = trace(context.program, context.inputs, context.wrt, context.dtype, weights)
        rows = np.flatnonzero(weights.ravel())
        self._seeds = {int(row): float(weights.flat[row]) for row in rows}
        try:
            self.needed = self._made_of(np.arange(weights.size) if everywhere else rows)
            if everywhere:
                self._seeds = dict.fromkeys(range(weights.size), 1.0) | self._seeds
        except OverBudgetError:
            self.needed = self._made_of(rows)
        start: Place | None = None
        if entry.variable is not None:
            symbol = sympy.Symbol(entry.variable, real=True)
            start = symbol, flat(entry.column or (), context.shapes[symbol])
        self.cone: Mapping[Atom, Flat] = self.needed
        if start is not None and not everywhere:
            self.cone = context.reference.moved_by(start, self.needed)
        self.start: Place = start or (context.program.output, flat(entry.row or (), weights.shape))
        self._contributions: dict[Atom, dict[Atom, Array]] = {}
        # The least precision at which nothing is undecided: most functions need only the first.
        for bits in PRECISIONS:
            self.bits = bits
            with precision(bits):
                self.truth, self.sweep = self._taken()
            if self._is_known():
                break

    def _made_of(self, rows: Flat) -> Mapping[Atom, Flat]:
        needed = self.context.reference.made_of({self.context.meaning.program.output: rows})
        if sum(map(len, needed.values())) > MOST_ELEMENTS:
            raise OverBudgetError
        return needed

    def _taken(self) -> tuple[Backward, Sweep]:
        program = self.context.meaning.program
        truth = Backward(self.context.reference, self.needed)
        seeds = {row: Flow(arb(weight), abs(arb(weight))) for row, weight in self._seeds.items()}
        return truth, truth.sweep({program.output: seeds}, program.lines, self.cone)

    def _is_known(self) -> bool:
        outcomes = [o for values in self.truth.values.values() for o in values.values()]
        outcomes += [flow.total for flows in self.sweep.adjoints.values() for flow in flows.values()]
        return all(_is_decided(outcome) for outcome in outcomes)

    # -- values

    def value(self, place: Place) -> Error:
        """The error of one element of a line."""
        atom, e = place
        truth = self.truth.values.get(self.context.held(atom), {}).get(e)
        number = float(self.torch.values[atom].ravel()[e])
        if truth is None:
            truth = arb(number) if math.isfinite(number) else Undefined("domain", "it is not known", False)
        return Error.of(number, truth)

    def slopes(self, place: Place) -> dict[Place, Flow]:
        """The true slopes of one element of a line by the elements of its operands."""
        line, e = self.context.line_of[place[0]], place[1]
        return self._back(line, {e: Flow(arb(1), arb(1))})

    def back_through(self, line: Line) -> dict[Place, Flow]:
        """What a line passes on of its true adjoint; the largest way is that inside of the line alone."""
        adjoints = self.sweep.adjoints.get(self.context.held(line.symbol), {})
        seeds = {e: Flow(flow.total, magnitude(flow.total)) for e, flow in adjoints.items()}
        return self._back(line, seeds)

    def _back(self, line: Line, seeds: Elements) -> dict[Place, Flow]:
        parts = self.context.parts.get(line.symbol, ())
        found = self.truth.sweep({self.context.held(line.symbol): seeds}, parts, self.needed).adjoints
        operands = {a for a in line.call.operands if isinstance(a, sympy.Symbol)}
        return {(a, e): flow for a in operands for e, flow in found.get(self.context.held(a), {}).items()}

    def sources(self, place: Place) -> list[Place]:
        """The elements of its operands that one element of a line is made of."""
        line = self.context.line_of[place[0]]
        waiting: dict[Atom, set[int]] = {self.context.held(line.symbol): {place[1]}}
        for part in reversed(self.context.parts.get(line.symbol, ())):
            elements = np.array(sorted(waiting.get(part.symbol, ())), dtype=np.int64)
            for k, _, made_of in self.context.reference.footprint.parts(part, elements) if len(elements) else ():
                if isinstance(operand := part.call.operands[k], sympy.Symbol):
                    waiting.setdefault(operand, set()).update(made_of.tolist())
        operands = dict.fromkeys(a for a in line.call.operands if isinstance(a, sympy.Symbol))
        return [(a, e) for a in operands for e in sorted(waiting.get(self.context.held(a), ()))]

    def results(self, line: Line, place: Place) -> list[Place]:
        """The elements of a line that one element of an operand enters."""
        waiting: dict[Atom, set[int]] = {self.context.held(place[0]): {place[1]}}
        for part in self.context.parts.get(line.symbol, ()):
            for k in self.context.reference.footprint.operands(part):
                elements = np.array(sorted(waiting.get(part.call.operands[k], ())), dtype=np.int64)
                if len(elements):
                    out = self.context.reference.footprint.up(part, k, elements)[1]
                    kept = out[np.isin(out, self.needed.get(part.symbol, ()))]
                    waiting.setdefault(part.symbol, set()).update(kept.tolist())
        return [(line.symbol, e) for e in sorted(waiting.get(self.context.held(line.symbol), ()))]

    # -- what flows back

    def adjoint(self, place: Place) -> Error:
        """The error of what flows back to one element."""
        found = self.torch.adjoints.get(place[0])
        flow = self.sweep.adjoints.get(self.context.held(place[0]), {}).get(place[1])
        number = 0.0 if found is None else float(found.ravel()[place[1]])
        return Error.of(number, arb(0) if flow is None else flow.total)

    def flows(self, place: Place) -> list[tuple[Line, Error]]:
        """What each line that uses an element adds to what flows back to it."""
        found = []
        for line in self.context.users.get(place[0], ()):
            flow = None
            for part in self.context.parts.get(line.symbol, ()):
                entering = self.sweep.entering.get((part.symbol, self.context.held(place[0])), {}).get(place[1])
                if entering is not None:
                    flow = entering if flow is None else flow.joined(entering)
            number = self.contribution(line, place)
            if flow is not None or number is not None:
                found.append((line, Error.of(number or 0.0, arb(0) if flow is None else flow.total)))
        return found

    def contribution(self, line: Line, place: Place, adjoint: Array | None = None) -> float | None:
        """What a line adds in torch to what flows back to an element, or what it would of another adjoint."""
        known = self._contributions if adjoint is None else {}
        if line.symbol not in known:
            known[line.symbol] = self.torch.contributions(line, adjoint)
        found = known[line.symbol]
        return float(found[place[0]].ravel()[place[1]]) if place[0] in found else None

    def is_taken(self, place: Place) -> bool:
        """Whether anything flows back to an element, in truth."""
        return place[1] in self.sweep.adjoints.get(self.context.held(place[0]), {})


def magnitude(outcome: Outcome) -> Ball:
    """The largest size of an outcome; 0 of what is undefined."""
    return arb(0) if isinstance(outcome, Undefined) else abs(outcome).upper()


def _is_decided(outcome: Outcome) -> bool:
    if isinstance(outcome, Undefined):
        return outcome.decided
    if outcome.is_exact() or outcome.rel_accuracy_bits() >= KNOWN_BITS:
        return True
    return bool(abs(outcome).upper() < arb(2) ** NEGLIGIBLE)
