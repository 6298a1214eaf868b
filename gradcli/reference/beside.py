"""The derivative of a slope, on each side of everything that meets at a point.

    t, the larger step    along which the derivative is taken: by an element of x, or along u
    s, the smaller one    by which the slope is taken: f_x just beside the point is the term of s in f(x + t*u + s*e)

The Program runs on jets (`gradcli.reference.jets`) once for each pair of signs of both steps, so that each condition is
decided where it is asked.  The slope exists beside the point where both signs of s give the same, and its derivative by
t exists where the slope does, goes on from the one at the point, and both signs of t give the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import sympy
from flint import fmpq

from gradcli.language.ops import Kind
from gradcli.language.program import numeric
from gradcli.language.program.movement import fill_of
from gradcli.language.program.wengert import Atom, Call, Line
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.compiling import compile_ball
from gradcli.reference.duals import Plan
from gradcli.reference.exact_numbers import Atoms, Number, UndecidedError
from gradcli.reference.footprint import Flat
from gradcli.reference.germs import evaluated, inverted
from gradcli.reference.jets import (
    Bend,
    Jet,
    Series,
    Side,
    at_point,
    both,
    derivative_of,
    level_of,
    minus,
    own_slope,
    plus,
    slope_of,
    step,
    times,
)
from gradcli.reference.rules import Outcome, Undefined, is_polynomial, is_power, rule_of
from gradcli.reference.running import Direction, Run

FIRST = 64
"""Bits that tell whether something is met at the point."""

Place = tuple[Atom, int]
"""An element of a symbol."""

Way = Mapping[Direction, float]
"""How far each element of an input moves for a step of 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """An element of a line, and the elements of its operands that it is made of, in their order."""

    line: Line
    element: int
    inside: tuple[Place, ...]

    @property
    def place(self) -> Place:
        """The symbol of the line, and the flat position of the element."""
        return self.line.symbol, self.element


class Beside:
    """A Program around a point, as far as a plan goes."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.reference = plan, plan.reference
        with precision(FIRST):
            met = frozenset(self._met())
        lines = self.reference.program.lines if met else ()
        self.wiring = [part for line in lines for part in self._wired(line)]
        self.met = frozenset(n for n, part in enumerate(self.wiring) if part.place in met)
        self.work = 0
        self._inputs = [(s, e) for s in self.reference.program.variables for e in self.elements(s).tolist()]
        self._atoms: dict[tuple[int, int], Atoms] = {}
        self._known: dict[tuple[int, int], _SlopeExpansion] = {}
        self._moved: dict[frozenset[Direction], frozenset[int]] = {}

    def within(self, along: Way) -> Way:
        """A direction, without what nothing here is made of."""
        inside = self._inputs
        return {place: along[place] for place in inside if place in along} if len(inside) < len(along) else along

    def meets(self, directions: Collection[Direction]) -> bool:
        """Whether a kink, a jump, a pole or the end of a domain is met that some elements of the input move."""
        return bool(self.met) and not self.met.isdisjoint(self.moved_by(directions))

    def bend(self, by: Direction, along: Way, bits: int, terms: int) -> Bend:
        """The slope by an element of the input and its derivative along a direction.

        Args:
            by: The element.
            along: The direction.
            bits: Of balls.
            terms: Of a Taylor series, beyond its first.
        """
        with precision(bits):
            atoms = self._atoms.setdefault((bits, terms), Atoms(terms))
            try:
                if (bits, terms) not in self._known:
                    self._known[bits, terms] = _SlopeExpansion(self, atoms)
                return self._known[bits, terms].bend(by, along)
            except UndecidedError as error:
                return Bend((unknown := Side("unknown", reason=str(error)), unknown), (unknown, unknown))
            finally:
                self.work += atoms.work
                atoms.work = 0

    def elements(self, atom: Atom) -> Flat:
        """Of a symbol, those that matter: what slopes are taken at, and what moves with the plan's directions."""
        needed = self.plan.needed.get(atom, np.empty(0, dtype=np.int64))
        return np.union1d(needed, self.plan.pairs[atom][1]) if atom in self.plan.pairs else needed

    def moved_by(self, directions: Collection[Direction]) -> frozenset[int]:
        """The parts of the wiring that depend on some elements of the input."""
        key = frozenset(directions)
        if key not in self._moved:
            moved: set[Place] = set(key)
            found = []
            for n, part in enumerate(self.wiring):
                if not moved.isdisjoint(part.inside):
                    moved.add(part.place)
                    found.append(n)
            self._moved[key] = frozenset(found)
        return self._moved[key]

    def _wired(self, line: Line) -> Iterator[Part]:
        elements = self.elements(line.symbol)
        inside: dict[int, list[Place]] = {e: [] for e in elements.tolist()}
        out = elements.tolist()
        for k, position, sources_of in self.reference.footprint.parts(line, elements):
            operand = line.call.operands[k]
            known = set(self.elements(operand).tolist()) if operand.is_Symbol else None
            for p, e in zip(position.tolist(), sources_of.tolist(), strict=True):
                if known is None or e in known:
                    inside[out[p]].append((operand, e))
        yield from (Part(line, e, tuple(places)) for e, places in inside.items())

    def _met(self) -> Iterator[Place]:
        """Elements of lines that are not smooth at the point, or may be so close to it."""
        lines = [line for line in self.reference.program.lines if may_be_met(line.call)]
        if not lines:
            return
        run = Run(self.plan)
        run.evaluate()
        for line in lines:
            elements = self.elements(line.symbol)
            if not len(elements):
                continue
            if line.call.op.kind in (Kind.MATRIX, Kind.SPECTRAL):
                values = run.values.get(line.symbol, {})
                yield from ((line.symbol, e) for e in elements.tolist() if isinstance(values.get(e), Undefined))
            else:
                columns = zip(*(run.operand(line, k, elements) for k in range(len(line.call.operands))), strict=True)
                met = (_is_met(line.call, list(operands)) for operands in columns)
                yield from ((line.symbol, e) for e, is_met in zip(elements.tolist(), met, strict=True) if is_met)


def may_be_met(call: Call) -> bool:
    """Whether an operation is not smooth everywhere; a constant divisor or a whole power never is in the way."""
    if call.op.kind is not Kind.ELEMENTWISE or call.op.is_branch:
        return bool(call.op.keeps_shape) or call.op.kind is Kind.SPECTRAL
    last = call.operands[-1]
    if call.op.name == "div" and last.is_number:
        return bool(last == 0)
    if is_polynomial(call):
        return False
    rule = rule_of(call)
    return bool(rule.kinks or rule.domain)


def _is_met(call: Call, operands: list[Outcome]) -> bool:
    """Whether an operation has a kink, a jump or no finite slope here; powers other than whole ones end at 0."""
    balls = [operand for operand in operands if not isinstance(operand, Undefined)]
    if len(balls) < len(operands):
        return True
    if is_power(call) and balls[0].contains(0):
        exponent = balls[1].unique_fmpz()
        if exponent is None or exponent < 0:
            return True
    rule = rule_of(call)
    return any(
        isinstance(rule.slope(k, operands, ""), Undefined)
        for k, partial in enumerate(rule.partials)
        if partial is not None
    )


class _SlopeExpansion:
    """The slopes of y and their derivatives as jets beside the point, at the current precision."""

    def __init__(self, around: Beside, atoms: Atoms) -> None:
        self.around, self.program, self.atoms = around, around.reference.program, atoms
        self.run = Run(around.plan)
        self.run.evaluate()
        self.base = self._at_point()
        self._centers: dict[Direction, tuple[Jet | Undefined, Jet | Undefined]] = {}

    def bend(self, by: Direction, along: Way) -> Bend:
        """The slopes of y by one element on both sides of the point, and the derivatives of the slope along, too."""
        here = self._moved(None, 0, {})
        if isinstance(here, Undefined):
            raise UndecidedError(here.reason)
        if by not in self._centers:
            left, right = (slope_of(self._moved(by, s, {}), here, s) for s in (-1, 1))
            self._centers[by] = left, right
        left, right = self._centers[by]
        before, after = (self._side(by, along, t, both(left, right)) for t in (-1, 1))
        return Bend((at_point(left), at_point(right)), (before, after))

    def _side(self, by: Direction, along: Way, t: int, center: Jet | Undefined) -> Side:
        way = {place: t * weight for place, weight in along.items()}
        on_line = self._moved(None, 0, way)
        if along == {by: 1.0}:
            return derivative_of(own_slope(on_line, t), center, t)
        signs = (-1, 1) if self.around.meets([by]) else (1,)
        return derivative_of(both(*(slope_of(self._moved(by, s, way), on_line, s) for s in signs)), center, t)

    def _moved(self, by: Direction | None, s: int, along: Way) -> Jet | Undefined:
        """y where the point has moved along a direction, and far less by s in one element."""
        if not self.program.output.is_Symbol:
            return self.atoms.rational(0)
        values: dict[Place, Jet | Undefined] = {}
        for place in dict.fromkeys([*along, *([by] if by else [])]):
            here = self.base.get(place)
            if here is not None and not isinstance(here, Undefined):
                if place in along:
                    here = step(1, self.atoms, here, _exact(along[place]))
                values[place] = step(2, self.atoms, here, fmpq(s)) if place == by else here
        self._follow(values, self.around.moved_by(along) | self.around.moved_by([by] if by else []))
        output = (self.program.output, 0)
        return values.get(output, self.base[output])

    def _at_point(self) -> dict[Place, Jet | Undefined]:
        """All values at the point; a ball of the reference for what is not followed here."""
        inputs = self.around.reference.inputs
        values: dict[Place, Jet | Undefined] = {
            (s, e): self._exactly(float(inputs[s][e]))
            for s in self.program.variables
            for e in self.around.elements(s).tolist()
        }
        for part in self.around.wiring:
            found = self._value(part, values, values)
            if isinstance(found, Undefined) and not found.decided:
                known = self.run.values.get(part.line.symbol, {}).get(part.element, found)
                found = known if isinstance(known, Undefined) else self._enclosed(part.place, known)
            values[part.place] = found
        return values

    def _follow(self, values: dict[Place, Jet | Undefined], moved: Collection[int]) -> None:
        """Add the elements that move with those that do."""
        for n in sorted(moved):
            part = self.around.wiring[n]
            if not part.line.call.op.is_detached and any(place in values for place in part.inside):
                self.atoms.spend(1)
                found = self._value(part, values, self.base)
                here = self.base[part.place]
                if not (isinstance(found, Number) and isinstance(here, Number) and found.key == here.key):
                    values[part.place] = found

    def _enclosed(self, key: Hashable, ball: Ball) -> Number | Undefined:
        if exists(ball):
            return self.atoms.enclosed(key, ball)
        return Undefined("domain", "an operand is not finite", decided=False)

    def _value(
        self, part: Part, values: Mapping[Place, Jet | Undefined], base: Mapping[Place, Jet | Undefined]
    ) -> Jet | Undefined:
        """An element of a line, where some of what it is made of has moved."""
        call = part.line.call
        parts = [
            (values.get(place) or base[place]) if place[0].is_Symbol else self._constant(place[0])
            for place in part.inside
        ]
        shown = self.program.excerpt(part.line)
        if call.op.is_branch:
            return _branch(*parts, shown=shown)
        troubles = [one for one in parts if isinstance(one, Undefined)]
        if troubles:
            return next((one for one in troubles if one.decided), troubles[0])
        jets = [one for one in parts if not isinstance(one, Undefined)]
        match call.op.kind:
            case Kind.ELEMENTWISE:
                return evaluated(call, jets, shown)
            case Kind.MATRIX if call.op.keeps_shape:
                return inverted(jets, part.element % len(jets), shown)
            case Kind.COUNT | Kind.MATRIX | Kind.SPECTRAL:
                return Undefined("domain", f"{shown} is not followed around the point", decided=False)
            case Kind.SOURCE:
                return self._exactly(float(numeric.array_of(call).ravel()[part.element]))
            case Kind.MOVEMENT if not jets:
                return self._exactly(float(fill_of(call)))
        total: Jet = self.atoms.rational(0)
        for jet in sorted(jets, key=level_of):  # numbers first: they are added fastest
            total = plus(total, jet)
        return total

    def _exactly(self, number: float) -> Number | Undefined:
        if math.isfinite(number):
            return self.atoms.rational(_exact(number))
        return Undefined("domain", f"{number} is no number to move from", decided=False)

    def _constant(self, atom: Atom) -> Number | Undefined:
        match atom:
            case sympy.Rational():
                return self.atoms.rational(fmpq(int(atom.p), int(atom.q)))
            case sympy.Float():
                return self._exactly(float(atom))
        return self._enclosed(("constant", atom), compile_ball(atom)({}))


def _exact(number: float) -> fmpq:
    return fmpq(*number.as_integer_ratio())


def _branch(
    condition: Jet | Undefined, first: Jet | Undefined, second: Jet | Undefined, *, shown: str
) -> Jet | Undefined:
    if isinstance(condition, Undefined):
        return condition
    if isinstance(condition, Number) and condition.rational is not None:
        return second if condition.is_zero else first
    if isinstance(first, Undefined) or isinstance(second, Undefined) or isinstance(condition, Series):
        return Undefined("domain", f"the branch of {shown} is not known", decided=False)
    return plus(second, times(condition, minus(first, second)))
