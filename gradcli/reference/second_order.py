"""Products of the Hessian of a y of one element with directions, as balls: forward over reverse.

Along a direction u, every value x has a tangent x' and every adjoint a tangent of its own.  Back through an operation
with the slopes s, whose tangents s' are sums of second derivatives times tangents, an adjoint a leaves a*s at the
operands, and its tangent a'*s + a*s'.  The adjoints at the inputs are the gradient, and their tangents the product Hu.

Nothing of that is known where an operation is not smooth at the point: `met` holds the elements at which one is not.
Source: A. Griewank, A. Walther, "Evaluating Derivatives", 2008, section 5.1; N. Higham, "Functions of Matrices", 2008,
(3.16), for exponentials; T. Kato, "Perturbation Theory for Linear Operators", 1966, II-2.1, for projections.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import product

import numpy as np
import sympy
from flint import arb

from gradcli.adjoint.slopes import is_power
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import Ball, exists, precision
from gradcli.reference.deadline import require_time
from gradcli.reference.enclosure_pass import Direction, Run
from gradcli.reference.enclosure_plan import Reference
from gradcli.reference.piecewise import Bends
from gradcli.reference.rules import Undefined, curvature, is_polynomial, rule_of
from gradcli.reference.series import ANALYTIC, coefficients_of

Elements = dict[int, Ball]
"""Balls by flat position; an element that is not in it is an exact zero."""


class HessianProducts:
    """Products of the Hessian with any directions, at one precision.

    Args:
        reference: The reference of a Program whose output has one element.
        bits: The precision of the balls.

    Raises:
        OverBudgetError: The output depends on too many elements.
    """

    def __init__(self, reference: Reference, bits: int) -> None:
        self.reference, self.bits, self.output = reference, bits, reference.program.output
        needed = reference.made_of({self.output: np.array([0])}) if isinstance(self.output, sympy.Symbol) else {}
        inputs = [(s, int(e)) for s in reference.program.variables for e in needed.get(s, ())]
        self.run = Run(reference.wired(inputs, needed))
        self.met: dict[Atom, dict[int, str]] = {}
        self._known_bends: dict[tuple[Atom, int, int, int], Ball] = {}
        with precision(bits):
            self.run.evaluate()
            self.ways = {line.symbol: list(self._ways(line)) for line in self._lines}
            self._forget_refused()
            self.adjoints = self._gradient()

    def along(self, u: Mapping[Direction, float]) -> Mapping[Direction, Ball]:
        """Compute the elements of Hu that are not exactly 0; nan where an operation on the way is not smooth."""
        with precision(self.bits):
            tangents = self._tangents(u)
            found: dict[Atom, Elements] = {}
            for line in reversed(self._lines):
                require_time()
                own, moved = self.adjoints.get(line.symbol, {}), found.get(line.symbol, {})
                bends = self._bends(line, tangents)
                for n, (k, out, source, slope) in enumerate(self.ways[line.symbol]):
                    if out in moved:
                        _add(found, line.call.operands[k], source, moved[out] * slope)
                    if n in bends and out in own:
                        _add(found, line.call.operands[k], source, own[out] * bends[n])
            return {(s, e): ball for s in self.reference.program.variables for e, ball in found.get(s, {}).items()}

    def is_met(self, by: Direction, along: Collection[Direction]) -> bool:
        """Tell whether one of some inputs, or `by`, moves an element in `met` that matters to the slope of y by `by`.

        Such are the elements that this slope is taken at, and those that move with the input.
        """
        if not self.met:
            return False
        plan, nothing, found = self.reference.plan([by], judges_value=False), np.empty(0, dtype=np.int64), {}
        for atom, elements in self.met.items():
            moved = plan.pairs[atom][1] if atom in plan.pairs else nothing
            own = np.intersect1d(np.array(sorted(elements)), np.union1d(moved, plan.needed.get(atom, nothing)))
            if len(own):
                found[atom] = own
        inside = self.reference.made_of(found)
        return any(element in inside.get(symbol, nothing) for symbol, element in (by, *along))

    @cached_property
    def _lines(self) -> list[Line]:
        return [line for line in self.reference.program.lines if line.symbol in self.run.plan.ways]

    # -- slopes

    def _ways(self, line: Line) -> Iterator[tuple[int, int, int, Ball]]:
        """Yield the ways through a line; where it is not smooth, remember that in `met`, with a slope of nan."""
        is_power_at_0 = is_power(line.call) and not is_polynomial(line.call)
        for k, out, source, slope in self.run.ways(line):
            if line.call.op.is_branch and k == 0:
                yield k, out, source, arb(0)
            elif isinstance(slope, Undefined) or (is_power_at_0 and self._operands(line, out)[0].contains(0)):
                kind = slope.kind if isinstance(slope, Undefined) else "slope"
                self.met.setdefault(line.symbol, {})[out] = kind
                yield k, out, source, arb.nan()
            else:
                yield k, out, source, slope

    def _operands(self, line: Line, out: int) -> list[Ball]:
        """Return the operands of an elementwise line at an element, which has a slope."""
        return [self.run.operand(line, k, np.array([out]))[0] for k in range(len(line.call.operands))]

    def _forget_refused(self) -> None:
        """Leave out of `met` all elements that a choice certainly does not take; its condition counts as taken.

        Kinks of an element that is not the largest do not matter either, but its jumps and missing values nearby do.
        """
        taken: dict[Atom, dict[int, bool]] = {self.output: {0: True}}  # False: but for kinks
        for line in reversed(self._lines):
            op, own = line.call.op, taken.get(line.symbol, {})
            for k, out, source, slope in self.ways[line.symbol]:
                if out in own and not (op.is_branch and k > 0 and slope == 0):
                    into = taken.setdefault(line.call.operands[k], {})
                    into[source] = into.get(source, False) or (own[out] and not (op.is_extreme and slope == 0))
        for atom, kinds in list(self.met.items()):
            own = taken.get(atom, {})
            self.met[atom] = {e: kind for e, kind in kinds.items() if e in own and (own[e] or kind != "kink")}
        self.met = {atom: kinds for atom, kinds in self.met.items() if kinds}

    def _gradient(self) -> dict[Atom, Elements]:
        found: dict[Atom, Elements] = {self.output: {0: arb(1)}}
        for line in reversed(self._lines):
            own = found.get(line.symbol, {})
            for k, out, source, slope in self.ways[line.symbol]:
                if out in own and not slope == 0:  # noqa: SIM201
                    _add(found, line.call.operands[k], source, own[out] * slope)
        return found

    # -- along a direction

    def _tangents(self, u: Mapping[Direction, float]) -> dict[Atom, Elements]:
        found: dict[Atom, Elements] = {}
        for (symbol, e), weight in u.items():
            found.setdefault(symbol, {})[e] = arb(weight)
        for line in self._lines:
            for k, out, source, slope in self.ways[line.symbol]:
                moved = found.get(line.call.operands[k], {})
                if source in moved and not slope == 0:  # noqa: SIM201
                    _add(found, line.symbol, out, moved[source] * slope)
        return found

    def _bends(self, line: Line, tangents: Mapping[Atom, Elements]) -> Mapping[int, Ball]:
        """Compute the tangents of the slopes of a line, by the numbers of its ways; all others are 0."""
        op, ways = line.call.op, self.ways[line.symbol]
        if op.is_aggregate and not op.is_extreme:
            moved = tangents.get(line.call.operands[0], {})
            return self._bends_of_groups(line, moved) if moved else {}
        if op.kind is not Kind.ELEMENTWISE or op.coefficients or op.is_choice or rule_of(line.call).is_flat:
            return {}
        found: dict[int, Ball] = {}
        moved_of = [tangents.get(a, {}) for a in line.call.operands]
        into: dict[int, list[tuple[int, Ball]]] = {}
        for m, out, source, _ in ways:
            if source in moved_of[m]:
                into.setdefault(out, []).append((m, moved_of[m][source]))
        second = {(k, m): curvature(line.call, k, m) for k, m in product(range(len(moved_of)), repeat=2)}
        if line.call.op.name in ANALYTIC:
            second = {(0, 0): lambda operands: 2 * coefficients_of(line.call.op.name, operands[0])[2]}
        for n, (k, out, _, slope) in enumerate(ways):
            for m, tangent in into.get(out, ()) if exists(slope) else ():
                bend, key = second[k, m], (line.symbol, k, m, out)
                if bend is not None:
                    if key not in self._known_bends:
                        self._known_bends[key] = bend(self._operands(line, out))
                    term = self._known_bends[key] * tangent
                    found[n] = found[n] + term if n in found else term
        return found

    def _bends_of_groups(self, line: Line, moved: Elements) -> Mapping[int, Ball]:
        known, found = dict[int, Bends](), dict[int, Ball]()
        groups = self.run.groups_of(line, self.run.plan.needed[line.symbol])
        for n, (_, out, source, _) in enumerate(self.ways[line.symbol]):
            group = groups[out]
            if id(group) not in known:
                known[id(group)] = group.bends([moved.get(s, arb(0)) for s in group.elements])
            found[n] = known[id(group)](out, group.place[source])
        return found


def _add(found: dict[Atom, Elements], atom: Atom, element: int, ball: Ball) -> None:
    own = found.setdefault(atom, {})
    own[element] = own[element] + ball if element in own else ball
