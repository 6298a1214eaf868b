"""One pass over a plan of the reference: values, slopes and tangents as balls, line by line.

Each edge, from an element of an operand to one of a line, has one slope: of elementwise operations by their rules, 1
for sums and movements, 1 or 0 for the operands of branches and extremes, and the partial derivatives of products,
determinants and inverses.
First derivatives go forward along the edges; second ones are those of the gradient.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy
from flint import arb

from gradcli.adjoint.slopes import is_power
from gradcli.language.ops import Kind
from gradcli.language.ops.structure import MEASURED
from gradcli.language.program import numeric
from gradcli.language.program.movement import fill_of
from gradcli.language.program.shapes import count_of
from gradcli.language.program.wengert import Atom, Line, number
from gradcli.progress import set_step
from gradcli.reference.balls import Ball, exists
from gradcli.reference.compiling import compile_ball
from gradcli.reference.deadline import require_time
from gradcli.reference.dependencies import Flat, distinct
from gradcli.reference.exact_forms import Numbering
from gradcli.reference.pass_views import Chunks, PassPlan, ValueForms
from gradcli.reference.piecewise import Group, branch, changed, grouped, jump_of, slope_of_choice
from gradcli.reference.rules import Outcome, Rounding, Undefined, at_edge, needs_of, plus, rule_of, times

Direction = tuple[sympy.Symbol, int]
"""A variable and the flat position of one of its elements."""

DerivativeColumns = Mapping[Direction, Mapping[int, Outcome]]
"""Nonzero derivatives by direction and flat row of y."""

MOST_TOGETHER = 64
"""Most directions that may move an element together though none does alone."""

MOST_CHUNKS = 1_024
"""Most places of operands that are kept for one plan."""

ONE, ZERO = arb(1), arb(0)
"""Slope of what only moves or adds elements."""

Moving = dict[int, dict[int, Outcome]]
"""The tangents of a line by element and number of the direction."""

Shift = Mapping[Direction, Ball]
"""Distances by which elements of the inputs are moved from where they are."""


@dataclass(frozen=True, slots=True)
class EnclosedDerivatives:
    """Results of one pass.

    Attributes:
        values: The values of y by flat row, where the plan judges them.
        columns: The derivatives of the rows that depend on a direction; the reason for none, where y has no value.
    """

    values: Mapping[int, Outcome]
    columns: DerivativeColumns


class EnclosurePass:
    """One pass over a plan at the current precision."""

    rounding: Rounding | None = None

    def __init__(self, plan: PassPlan, shift: Shift | None = None) -> None:
        self.plan, self.reference, self.shift = plan, plan.reference, shift or {}
        self.values: dict[Atom, dict[int, Outcome]] = {}
        self._functions: Numbering | None = None
        self._groups: dict[Atom, dict[int, Group]] = {}
        self._in_slopes: dict[tuple[Atom, int], list[tuple[Atom, Mapping[int, int]]]] = {}

    @property
    def numbering(self) -> ValueForms:
        """Forms that tell which values are certainly the same; the same for all precisions."""
        self.plan.numbering = self.plan.numbering or Numbering(self)
        return self.plan.numbering

    def enclose(self) -> EnclosedDerivatives:
        """Compute the values of y and its nonzero derivatives, or the reasons why there are none."""
        self.evaluate()
        tangents, output = self._tangents(), self.reference.program.output
        judged = self._judged(output)
        columns: dict[Direction, dict[int, Outcome]] = {}
        for d, row in zip(*(n.tolist() for n in self.plan.reached.get(output, ())), strict=True):
            value = judged.get(row)
            own = value if isinstance(value, Undefined) else tangents.get(row, {}).get(d, arb(0))
            columns.setdefault(self.plan.directions[d], {})[row] = own
        return EnclosedDerivatives(judged, columns)

    # -- values

    def evaluate(self) -> None:
        """Compute every value that the plan needs, in `values`."""
        for variable in self.reference.program.variables:
            if variable in self.plan.needed:
                self.values[variable] = self._inputs(variable, self.plan.needed[variable].tolist())
        lines = self.reference.program.lines
        for n, line in enumerate(lines):
            if line.symbol in self.plan.needed:
                require_time()
                set_step("enclosing line", n + 1, len(lines))
                self.values[line.symbol] = found = self._line_values(line, self.plan.needed[line.symbol])
                if self.rounding is None and line.call.op.kind is not Kind.SOURCE:  # measured, and known no better
                    self._make_exact(line, found)

    def _make_exact(self, line: Line, found: dict[int, Outcome]) -> None:
        """Replace balls around 0 by their exact rational values where value numbering knows them."""
        for element, outcome in found.items():
            if outcome.__class__ is arb and not outcome.is_exact() and outcome.contains(0):
                exact = self.numbering.constant(line.symbol, element) if exists(outcome) else None
                found[element] = outcome if exact is None else arb(exact.numerator) / exact.denominator

    def _sharpened(self, line: Line, element: int, operands: Sequence[Outcome]) -> list[Outcome] | None:
        """Replace operands by their exact rational values where value numbering knows them; None if it knows none.

        Balls are too wide to tell whether an operation is at an edge, as the inverse cosine is at norm(a)/norm(a).
        From here on these values are the exact numbers.
        """
        found, is_sharper = list(operands), False
        for k, (operand, ball) in enumerate(zip(line.call.operands, operands, strict=True)):
            if self.rounding is not None or isinstance(ball, Undefined) or ball.is_exact():
                continue
            if not isinstance(operand, sympy.Symbol):
                continue
            (source,) = self.reference.dependencies.sources(line, k, np.array([element]))[1].tolist()
            number = self.numbering.constant(operand, source) if exists(ball) else None
            exact = None if number is None else arb(number.numerator) / number.denominator
            if exact is not None and exact.is_exact():
                found[k], is_sharper = exact, True
                self.values[operand][source] = exact
        return found if is_sharper else None

    def _judged(self, output: Atom) -> dict[int, Outcome]:
        if not self.plan.judges_value:
            return {}
        values = self.values[output] if isinstance(output, sympy.Symbol) else {0: compile_ball(output)({})}
        return {row: self._finite(outcome) for row, outcome in values.items()}

    def _finite(self, outcome: Outcome) -> Outcome:
        """Return the outcome, or the reason if it is -inf or nan: inputs and inner values may be, y may not."""
        if isinstance(outcome, Undefined) or exists(outcome.mid()):
            return outcome
        for symbol, data in self.reference.inputs.items():
            others = data[~np.isfinite(data)]
            if others.size:
                return Undefined("domain", f"{symbol} is {float(others[0])} here", True)
        return Undefined("domain", f"y is {float(outcome.mid())} here", True)

    def _inputs(self, variable: sympy.Symbol, elements: list[int]) -> dict[int, Outcome]:
        data = self.reference.inputs[variable]
        found = {j: arb(float(data[j])) for j in elements}
        shifted = {j: found[j] + moved for (x, j), moved in self.shift.items() if x == variable and j in found}
        return {**found, **shifted}

    def _line_values(self, line: Line, elements: Flat) -> dict[int, Outcome]:
        out = elements.tolist()
        call = line.call
        match call.op.kind:
            case Kind.ELEMENTWISE:
                rule, shown, needs = rule_of(call), self.reference.program.excerpt(line), needs_of(line)
                columns = self._operands(line, elements)
                # Before the rule, which is undefined if any operand is: the branch that is not taken may have no value.
                if call.op.is_branch:
                    found = [branch(*operands) for operands in zip(*columns, strict=True)]
                else:
                    found = rule.values(columns, shown, needs)
                    for n, outcome in enumerate(found):
                        if isinstance(outcome, Undefined) and not outcome.decided:
                            exact = self._sharpened(line, out[n], [column[n] for column in columns])
                            found[n] = outcome if exact is None else rule.evaluate(exact, shown, needs)
                return dict(zip(out, found, strict=True))
            case Kind.COUNT:
                size = count_of(self.reference.shapes.get(call.operands[0], ()), call.statics[0])
                return dict.fromkeys(out, arb(size))
            case Kind.SOURCE if call.op.name == MEASURED:
                numbers, errors = (a.ravel()[elements].tolist() for a in numeric.measured(call))
                return {e: arb(a, error) for e, a, error in zip(out, numbers, errors, strict=True)}
            case Kind.SOURCE:
                data = numeric.array_of(call).ravel()[elements].tolist()
                return {e: self._rounded(arb(a), a) for e, a in zip(out, data, strict=True)}
            case _ if call.op.is_aggregate:
                groups = self.groups_of(line, elements)
                return {e: groups[e].value(e) for e in out}
        totals: dict[int, Outcome] = {}
        for k, position, source in self._chunks(line, elements):
            for p, outcome in zip(position, self._values_at(line, k, source), strict=True):
                e = out[p]
                totals[e] = outcome if e not in totals else _sum(totals[e], outcome)
        # For elements to which none moves: the padding of a movement, the empty sum of a reduction.
        fill = arb(fill_of(call)) if call.op.kind is Kind.MOVEMENT else arb(0)
        return {e: totals.get(e, fill) for e in out}

    def operand(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """Return operand k of an elementwise operation at each of its elements."""
        return self.values_at(line, k, self.reference.dependencies.sources(line, k, elements)[1])

    def _operands(self, line: Line, elements: Flat) -> list[list[Outcome]]:
        """Return all operands of an elementwise operation at each of its elements."""
        return [self._values_at(line, k, source) for k, _, source in self._chunks(line, elements)]

    def _chunks(self, line: Line, elements: Flat) -> Chunks:
        """Return what `Dependencies.source_chunks` does, as lists; found once for elements of the plan."""
        key = line.symbol, id(elements)
        known = self.plan.chunks.get(key)
        if known is not None and known[0] is elements:
            return known[1]
        found = self.reference.dependencies.source_chunks(line, elements)
        chunks = [(k, position.tolist(), source.tolist()) for k, position, source in found]
        if len(self.plan.chunks) < MOST_CHUNKS:
            self.plan.chunks[key] = elements, chunks
        return chunks

    def values_at(self, line: Line, k: int, elements: Flat) -> list[Outcome]:
        """Return the values of operand k at flat positions of the operand itself."""
        return self._values_at(line, k, elements.tolist())

    def _values_at(self, line: Line, k: int, elements: Sequence[int]) -> list[Outcome]:
        operand = line.call.operands[k]
        if not isinstance(operand, sympy.Symbol):
            return [self._rounded(compile_ball(operand)({}), number(operand))] * len(elements)
        values = self.values[operand]
        return [values[e] for e in elements]

    def _rounded(self, exact: Ball, nearest: float) -> Ball:
        return exact

    # -- slopes and tangents

    def slopes(self, line: Line, k: int, out: Flat, source: Flat) -> list[Outcome]:
        """Compute the local derivatives of elements of a line, each by one element of operand k."""
        op, operands = line.call.op, line.call.operands
        if op.coefficients:  # of x - x, the slope is 0 and no difference of balls
            same = zip(op.coefficients, operands, strict=True)
            return [arb(sum(c for c, a in same if a == operands[k]))] * len(out)
        if op.is_aggregate:
            groups = self.groups_of(line, out)
            return [groups[e].slope(e, s) for e, s in zip(out.tolist(), source.tolist(), strict=True)]
        if op.is_at_positions and k == 1:
            reason = f"{self.reference.program.excerpt(line)} takes another element here"
            return [Undefined("jump", reason, True)] * len(out)
        if op.kind is not Kind.ELEMENTWISE:
            return [ONE] * len(out)
        columns = self._operands(line, out)
        is_smooth = not (op.is_choice or (is_power(line.call) and k == 1))
        known = rule_of(line.call).smooth_slopes(k, columns) if is_smooth else [None] * len(out)
        elements = zip(out.tolist(), zip(*columns, strict=True), known, strict=True)
        return [self._slope(line, k, e, [*o]) if slope is None else slope for e, o, slope in elements]

    def groups_of(self, line: Line, elements: Flat) -> Mapping[int, Group]:
        """Group the operands of some elements of an aggregate, once."""
        known = self._groups.get(line.symbol)
        if known is None or not known.keys() >= set(elements.tolist()):
            known = self._groups[line.symbol] = grouped(self, line, np.unique(elements))
        return known

    def _slope(self, line: Line, k: int, element: int, operands: list[Outcome]) -> Outcome:
        op, shown = line.call.op, self.reference.program.excerpt(line)
        if op.is_choice:
            if line.call.operands[-1] == line.call.operands[-2]:
                return arb(int(k == len(operands) - 1))  # whichever is taken
            slope = slope_of_choice(op, k, self._met(line, element, operands), shown)
            is_one = op.is_extreme and isinstance(slope, Undefined) and self._is_one_function(line, element)
            return arb(int(k == 0)) if is_one else slope
        rule = rule_of(line.call)
        slope = rule.slope(k, operands, shown)
        exact = self._sharpened(line, element, operands) if isinstance(slope, Undefined) and not slope.decided else None
        if exact is not None:
            operands, slope = exact, rule.slope(k, exact, shown)
        if is_power(line.call) and k == 1 and len(self.plan.edges.get(line.symbol, ())) > 1:
            # The base moves too, and at 0 it is at an edge of its domain, whatever the exponent is here.
            base = operands[0]
            if isinstance(slope, Undefined) or isinstance(base, Undefined) or not base.contains(0):
                return slope
            return at_edge(shown, base)
        # An operand compared with itself, as on the diagonal of `x[:, None] < x`, is the same on both sides.
        is_jump = bool(op.sense) and isinstance(slope, Undefined) and slope.kind == "jump"
        return arb(0) if is_jump and self._is_one_function(line, element) else slope

    def _is_one_function(self, line: Line, element: int) -> bool:
        """Tell whether both operands are the same function around the point, by value numbering."""
        if len(self.plan.edges.get(line.symbol, ())) < 2:  # one of them does not move
            return False
        self._functions = self._functions or Numbering(self, by_value=False)
        return self.are_same(line, element, self._functions)

    def _met(self, line: Line, element: int, values: Sequence[Outcome]) -> Sequence[Outcome]:
        """Return the operands of a choice, with two that are certainly equal replaced by one exact number."""
        first, last = values[-2:]
        if isinstance(first, Undefined) or isinstance(last, Undefined):
            return values
        if (first.is_exact() and last.is_exact()) or not first.overlaps(last):
            return values
        return (*values[:-2], first.mid(), first.mid()) if self.are_same(line, element) else values

    def are_same(self, line: Line, element: int, numbering: ValueForms | None = None) -> bool:
        """Tell whether the last two operands of a line have one form at an element, by default that of values."""
        forms, operands, known = [], line.call.operands, numbering or self.numbering
        for k in (len(operands) - 2, len(operands) - 1):
            (source,) = self.reference.dependencies.sources(line, k, np.array([element]))[1].tolist()
            forms.append(known.form(operands[k], source))
        return forms[0] == forms[1]

    def _tangents(self) -> Mapping[int, Mapping[int, Outcome]]:
        """Compute the derivatives of y, by element and direction, as far as it moves."""
        moving: dict[Atom, Moving] = {}
        for variable in self.reference.program.variables:
            for d, e in zip(*(n.tolist() for n in self.plan.reached.get(variable, ())), strict=True):
                moving.setdefault(variable, {}).setdefault(e, {})[d] = arb(1)
        lines = self.reference.program.lines
        for n, line in enumerate(lines):
            if line.symbol not in self.plan.edges:
                continue
            require_time()
            set_step("enclosing derivatives of line", n + 1, len(lines))
            found = moving.setdefault(line.symbol, {})
            for k, elements, sources in self.plan.edges[line.symbol]:
                edges = zip(elements.tolist(), sources.tolist(), self.slopes(line, k, elements, sources), strict=True)
                self._pass_on(line, k, edges, found, moving)
            if line.call.op.is_branch:
                self._join(line, found, moving)
        return moving.get(self.reference.program.output, {})

    def _pass_on(
        self,
        line: Line,
        k: int,
        edges: Iterable[tuple[int, int, Outcome]],
        found: Moving,
        moving: Mapping[Atom, Moving],
    ) -> None:
        """Add to the tangents of a line those that come from operand k, along edges with their slopes."""
        passed, before = _passed(line), moving[line.call.operands[k]]
        for out, source, slope in edges:
            own = found.setdefault(out, {})
            ball = None if passed is not None or isinstance(slope, Undefined) else slope
            if isinstance(slope, Undefined) and slope.kind in ("jump", "slope"):
                self._move_together(line.call.operands[k], source, slope, before, own)
            is_zero = not isinstance(slope, Undefined) and slope == 0  # certainly: it holds of no ball around 0
            is_one = ball is not None and ball == 1
            for d, tangent in before.get(source, {}).items():
                product: Outcome | None
                if ball is not None and isinstance(tangent, arb):  # as `times` does, without calling it
                    product = tangent if is_one else tangent * ball
                else:
                    product = (passed or _times)(k, tangent, slope)
                if product is None or (is_zero and self._stays(line, k, (out, d), tangent, moving)):
                    continue
                known = own.get(d)
                own[d] = product if known is None else plus(known, product)

    def _move_together(
        self, operand: Atom, element: int, slope: Undefined, before: Moving, own: dict[int, Outcome]
    ) -> None:
        """Pass on that there is no slope, where several directions may move an element though none does alone.

        So it is with x*y at 0, 0, and not with x*y > 0 at 1, 1, which is decided.
        """
        if operand in self._decided:
            return
        if operand not in self._directions:
            found = self._directions[operand] = defaultdict(set)
            for d, e in zip(*(n.tolist() for n in self.plan.reached.get(operand, ())), strict=True):
                found[e].add(d)
        several = self._directions[operand].get(element, set())
        if 1 < len(several) <= MOST_TOGETHER:
            for d in several - before.get(element, {}).keys():
                own[d] = slope if d not in own else plus(own[d], slope)

    @cached_property
    def _decided(self) -> frozenset[Atom]:
        """The lines that are made of steps alone: all that may move them has a tangent of theirs, without a slope."""
        program, found = self.reference.program, set[Atom]()
        for line in program.lines:
            operands = {a for a in line.call.operands if isinstance(a, sympy.Symbol)}
            if line.call.op.is_locally_constant or (operands and operands <= found):
                found.add(line.symbol)
        return frozenset(found)

    @cached_property
    def _directions(self) -> dict[Atom, dict[int, set[int]]]:
        """The directions that may move each element of some operands."""
        return {}

    def _stays(
        self,
        line: Line,
        k: int,
        place: tuple[int, int],
        tangent: Outcome,
        moving: Mapping[Atom, Mapping[int, Mapping[int, Outcome]]],
    ) -> bool:
        """Tell whether an element whose slope by an operand is 0 stays where it is as the operand moves.

        It does where the slope is made of what does not move along the direction: x*0 stays as x moves, x**2 does not.

        Args:
            line: The line.
            k: The number of the operand.
            place: The element and the number of the direction.
            tangent: The tangent of the operand.
            moving: The tangents of earlier lines.
        """
        # Where y is not judged, nothing else says that a value does not exist.
        if isinstance(tangent, Undefined) or not self.plan.judges_value:
            return False
        if line.call.op.kind is not Kind.ELEMENTWISE or line.call.op.is_choice:
            return False
        element, direction = place
        if (line.symbol, k) not in self._in_slopes:
            self._in_slopes[line.symbol, k] = self._operands_in_slope(line, k)
        return not any(
            direction in moving[operand].get(sources[element], {})
            for operand, sources in self._in_slopes[line.symbol, k]
            if operand in moving
        )

    def _operands_in_slope(self, line: Line, k: int) -> list[tuple[Atom, Mapping[int, int]]]:
        """List the operands that a slope depends on, each with its element for each element of the line that moves."""
        rule, elements = rule_of(line.call), distinct([out for _, out, _ in self.plan.edges[line.symbol]])
        slope, found = rule.slopes[k], list[tuple[Atom, Mapping[int, int]]]()
        for m, parameter in enumerate(rule.parameters):
            if slope is not None and parameter in slope.free_symbols:
                sources = self.reference.dependencies.sources(line, m, elements)[1]
                found.append((line.call.operands[m], dict(zip(elements.tolist(), sources.tolist(), strict=True))))
        return found

    def _join(
        self,
        line: Line,
        found: Mapping[int, dict[int, Outcome]],
        moving: Mapping[Atom, Mapping[int, dict[int, Outcome]]],
    ) -> None:
        """Take the tangent of both branches where these meet with the same ones; none if a branch has none.

        The slopes on both sides of a kink are finite; the slope of a branch that is a root need not be.  Where branches
        move differently with another input, as in where(y > 0, x, 2*x), there is no derivative along both.
        """
        for out, own in found.items():
            kinks = {d: one for d, one in own.items() if isinstance(one, Undefined) and one.kind == "kink"}
            if not kinks:
                continue
            places = ((k, int(self.reference.dependencies.sources(line, k, np.array([out]))[1][0])) for k in (1, 2))
            branches = [moving.get(line.call.operands[k], {}).get(e, {}) for k, e in places]
            is_same = all(_are_same(*(one.get(d, ZERO) for one in branches)) for d in {**branches[0], **branches[1]})
            for d, tangent in kinks.items():
                first, second = (one.get(d, ZERO) for one in branches)
                if any(isinstance(one, Undefined) and one.kind != "kink" for one in (first, second)):
                    own[d] = replace(tangent, kind="slope")
                elif tangent.decided and is_same:
                    own[d] = first


def _passed(line: Line) -> Callable[[int, Outcome, Outcome], Outcome | None] | None:
    """Return a function that passes on a tangent by the slope of an operand; it gives None where nothing moves.

    Most lines only multiply, as `_times` does, and have no function of their own.  After a step, or an operand that an
    extreme does not take, only a jump matters; after the branch not taken, not even that; of a condition, only its
    change matters.
    """
    op = line.call.op
    if op.is_at_positions:  # a position that does not move undoes the jump to the next one
        return lambda k, a, b: times(a, b) if k == 0 else a if isinstance(a, Undefined) else None if a == 0 else b
    if op.is_branch:
        return lambda k, a, b: changed(a, b) if k == 0 else None if b == 0 else times(a, b)
    if op.is_extreme or (op.kind is Kind.ELEMENTWISE and rule_of(line.call).is_flat):
        return lambda k, a, b: times(a, b) if isinstance(b, Undefined) or b != 0 else jump_of(a)
    return None


def _are_same(a: Outcome, b: Outcome) -> bool:
    return not isinstance(a, Undefined) and not isinstance(b, Undefined) and bool(a == b)


def _times(k: int, a: Outcome, b: Outcome) -> Outcome:
    return times(a, b)


def _sum(a: Outcome, b: Outcome) -> Outcome:
    """Add two values; undefined if one of them is, the first before the second."""
    if isinstance(a, Undefined):
        return a
    return b if isinstance(b, Undefined) else a + b
