"""Trace of one number of torch, next to the truth: every line of torch's own passes, element by element.

Torch's pass forward and its pass back are recorded as lines of one Program, each with the place in the text of the
operation that it is part of.  Torch runs these lines, and balls without rounding give the truth of each, at ever more
bits until all of it is known, at most to the last of `PRECISIONS`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.advising import AdvisedPoint
from gradcli.crosscheck.compare import TOLERANCE
from gradcli.crosscheck.point import flat
from gradcli.errors import Span
from gradcli.language.ops import Kind
from gradcli.language.program.shapes import infer
from gradcli.language.program.torch_passes import OF_Y, TorchPasses
from gradcli.language.program.wengert import Atom, Line, Shape, needed, number
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.compiling import compile_ball
from gradcli.reference.dependencies import Flat, OverBudgetError
from gradcli.reference.enclosure_pass import EnclosurePass
from gradcli.reference.enclosure_plan import Plan, Reference
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import Array, Entry

MOST_LINES = 1_000
"""Most operations of a function that is looked into."""

MOST_VALUES = 10_000_000
"""Most elements of all its lines together, and of all lines of its passes, with the terms of matrix products."""

MOST_TRACED_ELEMENTS = 20_000
"""Most elements that a number is made of: each takes a ball at each precision."""

MOST_TRIED = 50
"""Most elements whose contribution to a number is computed."""

PRECISIONS = (256, 1_024, 4_096)
"""Bits of the balls, one after the other until all is known."""

KNOWN_BITS = 64
"""Bits of a known number, above those of either dtype."""

NEGLIGIBLE = -2_200
"""Exponent of 2 below which a number is taken for 0: the square of the smallest number of float64."""

Place = tuple[Atom, int]
"""A variable or a line, and the flat position of one of its elements."""


class DiagnosisContext(AdvisedPoint):
    """A function at a point, for every finding about it."""

    @property
    def values(self) -> int:
        """The number of values on the way to y."""
        return sum(math.prod(self.shapes[line.symbol]) for line in self.program.lines)

    @property
    def info(self) -> np.finfo[Any]:
        """The range and the precision of the dtype."""
        return np.finfo(self.dtype)

    @cached_property
    def passes(self) -> TorchPasses:
        """Torch's passes.

        Raises:
            OverBudgetError: The function is too large, or they cannot be recorded.
        """
        if len(self.program.lines) > MOST_LINES or self.values > MOST_VALUES:
            raise OverBudgetError
        found = self.record("back", self.program, self.inputs, self.wrt, self.dtype, is_sound=False)
        if found is None:
            raise OverBudgetError
        return found

    @cached_property
    def reference(self) -> Reference:
        """The reference reading of the passes.

        Raises:
            OverBudgetError: They are too large.
        """
        passes = self.passes
        shapes = {symbol: passes.inputs[str(symbol)].shape for symbol in passes.program.variables}
        found = Reference(passes.program, infer(passes.program, shapes, bounded=False), passes.inputs)
        if sum(map(math.prod, found.shapes.values())) > MOST_VALUES:
            raise OverBudgetError
        return found

    @cached_property
    def line_of(self) -> Mapping[Atom, Line]:
        """The lines of the passes by their symbols."""
        return {line.symbol: line for line in self.reference.program.lines}

    def held(self, atom: Atom) -> Atom:
        """Return the symbol that holds the value of a line as it was recorded."""
        return self.reference.renamed.get(atom, atom)

    @cached_property
    def forward(self) -> dict[Atom, Line]:
        """The lines of the pass forward by their symbols, in order."""
        lines = needed(self.reference.program.lines, self.held(self.passes.value))
        return {line.symbol: line for line in lines}

    @cached_property
    def whole(self) -> Mapping[Span, Line]:
        """The lines that hold the values of operations of the text, by their places; others are inside of these."""
        return {line.span: line for line in self.forward.values()}

    @cached_property
    def flowing(self) -> frozenset[Atom]:
        """The values that flow back: the gradient vector, and all values made from that."""
        found: set[Atom] = {sympy.Symbol(name, real=True) for name in self.passes.seeds.values()}
        for line in self.reference.program.lines:
            if not found.isdisjoint(line.call.operands):
                found.add(line.symbol)
        return frozenset(found)

    def is_whole(self, atom: Atom) -> bool:
        """Tell whether a line holds the value of an operation of the text."""
        line = self.line_of.get(atom)
        return line is not None and self.whole.get(line.span) is line

    def excerpt(self, atom: Atom) -> str:
        """Quote the text of a variable, or of the operation that a line is part of."""
        is_seed = atom in self.flowing and atom not in self.line_of
        line = self.line_of.get(self.held(self.passes.value) if is_seed else atom)
        return str(atom) if line is None else self.program.excerpt(line)


@dataclass(frozen=True, slots=True)
class Error:
    """Error of a number of torch: absolute, None for infinitely far, and relative."""

    number: float
    truth: Outcome
    absolute: Ball | None
    relative: float

    @classmethod
    def from_number(cls, number: float, truth: Outcome) -> Error:
        """Compute the proven error; 0 for a finite number without a truth to compare with."""
        known, is_finite = arb(0) if isinstance(truth, Undefined) else truth, math.isfinite(number)
        if not is_finite and (exists(known.mid()) or float(known.mid()) != number):
            return cls(number, truth, None, math.inf)  # and it is no inf of the text
        distance = abs(known - arb(number)).lower()
        if isinstance(truth, Undefined) or not is_finite or distance <= 0:
            return cls(number, truth, arb(0), 0.0)
        size = abs(known).upper()
        return cls(number, truth, distance, float(distance / size) if size > 0 else math.inf)


class _Truth(EnclosurePass):
    """Values at some elements without rounding, with constants as they are in the text."""

    def __init__(self, reference: Reference, elements: Mapping[Atom, Flat], constants: Mapping[float, Atom]) -> None:
        super().__init__(Plan(reference, (), needed=dict(elements)))
        self._constants = constants
        self.evaluate()

    def _rounded(self, exact: Ball, nearest: float) -> Ball:
        return compile_ball(self._constants[nearest])({}) if nearest in self._constants else exact

    def with_other(self, line: Line, element: int, source: Place, value: Outcome) -> Outcome:
        """Compute the value of an element of a line, had an element of an operand another value."""
        operand, known, kept = self.values[source[0]], self._groups, self.values[source[0]][source[1]]
        operand[source[1]], self._groups = value, {}
        try:
            return self._line_values(line, np.array([element]))[element]
        finally:
            operand[source[1]], self._groups = kept, known


class ErrorTrace:
    """Trace of one number of torch: all elements that it is made of, and the truth of each."""

    def __init__(self, context: DiagnosisContext, entry: Entry, v: Array | None) -> None:
        """Run the passes in torch and on balls.

        Args:
            context: The function at the point.
            entry: The number.
            v: The gradient vector, for an entry of vᵀJ.

        Raises:
            OverBudgetError: The number is made of too many elements, or cannot be looked into.
        """
        from gradcli.autodiff.run import evaluate, leaves_of

        self.context, self.entry, self.passes = context, entry, context.passes
        self.tolerance = TOLERANCE[context.dtype].rtol
        weights = np.zeros(context.shapes.get(context.program.output, ()))
        if entry.row is not None:
            weights[entry.row] = 1
        elif v is not None:
            weights = v.astype(np.float64).reshape(weights.shape)
        reference, inputs = copy(context.reference), dict(self.passes.inputs)
        if OF_Y in self.passes.seeds:
            inputs[self.passes.seeds[OF_Y]] = weights
            seed = sympy.Symbol(self.passes.seeds[OF_Y], real=True)
            reference.inputs = {**reference.inputs, seed: weights.ravel()}
        self.start = self._unmoved(self._start(weights.shape))
        self.needed = reference.backward_closure({self.start[0]: np.array([self.start[1]])})
        if sum(map(len, self.needed.values())) > MOST_TRACED_ELEMENTS:
            raise OverBudgetError
        self.torch = evaluate(reference.program, leaves_of(reference.program, inputs, (), context.dtype), context.dtype)
        constants = {number(a): a for line in context.program.lines for a in line.call.operands if not a.is_Symbol}
        constants[math.pi] = sympy.pi  # as torch's kernels have it
        # The least precision at which nothing is undecided: most functions need only the first.
        for bits in PRECISIONS:
            self.bits = bits
            with precision(bits):
                self.truth = _Truth(reference, self.needed, constants)
            if all(_is_decided(one) for values in self.truth.values.values() for one in values.values()):
                break

    def _start(self, shape: Shape) -> Place:
        if self.entry.variable is None:
            return self.context.held(self.passes.value), flat(self.entry.row or (), shape)
        found = self.passes.results.get(self.entry.variable)
        if found is None or not found.is_Symbol:
            raise OverBudgetError
        shape = self.context.shapes[sympy.Symbol(self.entry.variable, real=True)]
        return self.context.held(found), flat(self.entry.column or (), shape)

    def _unmoved(self, place: Place) -> Place:
        """Go back from an element that was only moved to the one that was computed: moving loses no digits."""
        while (line := self.context.line_of.get(place[0])) is not None and line.call.op.only_moves:
            sources = self.sources(place)
            if len(sources) != 1:
                break
            place = sources[0]
        return place

    def value(self, place: Place) -> Error:
        """Compute the error of one element of a line."""
        return Error.from_number(self.number(place), self.truth.values[place[0]][place[1]])

    def number(self, place: Place) -> float:
        """Return torch's number of an element; at the start the entry's, as kernels may compute in another order."""
        known = self.entry.torch
        if place == self.start and known is not None and math.isfinite(known):
            return known
        return float(self.torch[place[0]].flatten()[place[1]])

    def sources(self, place: Place) -> list[Place]:
        """List the elements of operands that one element of a line is made of."""
        line, found = self.context.line_of.get(place[0]), dict[Place, None]()
        if line is None:
            return []
        for k, _, elements in self.context.reference.dependencies.source_chunks(line, np.array([place[1]])):
            if isinstance(operand := line.call.operands[k], sympy.Symbol):
                found.update(((operand, e), None) for e in elements.tolist())
        return list(found)

    def moved(self, place: Place, source: Place, to: Outcome) -> Ball:
        """Compute how far the true value of an element moves if a source has another value."""
        line, truth, before = self.context.line_of[place[0]], *(self.truth.values[a][e] for a, e in (place, source))
        if line.call.op.kind is Kind.ELEMENTWISE or line.call.op.is_aggregate:
            before, to = truth, self.truth.with_other(line, place[1], source, to)
        if isinstance(before, Undefined) or isinstance(to, Undefined):
            return arb.pos_inf()
        return abs(to - before).upper()

    def slope(self, place: Place) -> float | None:
        """Find the factor by which an operation multiplies the adjoint in torch; None of the way forward."""
        from gradcli.autodiff.run import apply, calls_in

        line, flowing = self.context.line_of.get(place[0]), self.context.flowing
        if line is None or line.call.op.kind is not Kind.ELEMENTWISE or line.symbol in self.context.forward:
            return None
        given = {atom: self.torch[atom].flatten()[e] for atom, e in self.sources(place)}
        ones = {atom: one * 0 + 1 if atom in flowing else one for atom, one in given.items()}
        return float(apply(line.call, ones, calls_in(self.context.dtype)))

    def refusal(self, place: Place) -> tuple[Line, int] | None:
        """Find the choice that does not take a number's operation, and the operand not taken; None if it is taken."""
        line, output = self.context.line_of.get(place[0]), self.context.held(self.passes.value)
        whole = None if line is None else self.context.whole.get(line.span)
        if whole is None:
            return None
        one, refused = self.torch[whole.symbol], None
        is_alike = one.shape == self.torch[place[0]].shape
        reached = {whole.symbol: (np.arange(one.numel()) == place[1]) | (not is_alike)}
        for choice in self.context.forward.values():
            op, own, operands = choice.call.op, self._numbers(choice.symbol), choice.call.operands
            every = np.arange(own.size if not reached.keys().isdisjoint(operands) else 0)
            for k, position, source in self.context.reference.dependencies.source_chunks(choice, every):
                if operands[k] not in reached or (op.is_branch and k == 0):
                    continue
                inside = taken = reached[operands[k]][source]
                if op.is_branch:
                    taken = inside & (self._numbers(operands[0], choice.symbol)[position] == (k == 1))
                elif op.is_extreme:
                    taken = inside & (self._numbers(operands[k])[source] == own[position])
                refused = refused or ((choice, k) if np.any(inside != taken) else None)
                np.logical_or.at(reached.setdefault(choice.symbol, np.zeros(own.size, dtype=bool)), position, taken)
        return None if np.any(reached.get(output, False)) else refused

    def _numbers(self, atom: Atom, like: Atom | None = None) -> Array:
        """Give torch's numbers of a value, flat, stretched to the shape of another."""
        array = np.asarray(self.torch[atom] if atom.is_Symbol else number(atom))
        return array.ravel() if like is None else np.broadcast_to(array, self.torch[like].shape).ravel()


def magnitude(outcome: Outcome) -> Ball:
    """Return the largest size of an outcome; 0 if it is undefined."""
    return arb(0) if isinstance(outcome, Undefined) else abs(outcome).upper()


def _is_decided(outcome: Outcome) -> bool:
    if isinstance(outcome, Undefined):
        return outcome.decided
    if outcome.is_exact() or outcome.rel_accuracy_bits() >= KNOWN_BITS:
        return True
    return bool(abs(outcome).upper() < arb(2) ** NEGLIGIBLE)
