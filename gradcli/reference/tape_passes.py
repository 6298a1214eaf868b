"""A Program on a tape: the passes that torch makes through it, element by element, over balls of a float format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy
from flint import arb

from gradcli.language.ops import Kind
from gradcli.language.program import numeric
from gradcli.language.program.movement import fill_of
from gradcli.language.program.shapes import count_of
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.choices import is_aggregate
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import Flat, OverBudgetError
from gradcli.reference.rules import Outcome, Rounding, Undefined
from gradcli.reference.running import Direction
from gradcli.reference.tape import Adjoint, Node, Tape

_NOTHING = np.empty(0, dtype=np.int64)


class Passes:
    """The forward pass to some rows of y, at the precision in force, and passes back from them."""

    def __init__(
        self,
        reference: Reference,
        directions: Sequence[Direction],
        rows: Flat,
        rounding: Rounding,
        *,
        faulty: bool = True,
    ) -> None:
        """Run forward.

        Args:
            reference: Of a Program as torch computes it.
            directions: The elements of the inputs that passes may go back to.
            rows: Of y.
            rounding: The float format.
            faulty: Whether known errors of torch's kernels are covered too.

        Raises:
            OverBudgetError: what flows from there to the rows is made of too much.
        """
        self.reference, self.tape = reference, Tape(rounding, faulty=faulty)
        program, moving, needed = reference.program, set(directions), elements_on_tape(reference, directions, rows)
        self.nodes: dict[Atom, dict[int, Node]] = {}
        for x in program.variables:
            inside = needed.get(x, _NOTHING).tolist()
            self.nodes[x] = {e: self.tape.leaf(self._input(x, e), moves=(x, e) in moving) for e in inside}
        self._unknown = self.tape.leaf(Undefined("domain", "it is not known", False), moves=False)
        for line in program.lines:
            if line.symbol in needed:
                self.nodes[line.symbol] = self._line(line, needed[line.symbol])
        self._places = {n: (x, e) for x in program.variables for e, n in self.nodes[x].items()}

    def value(self, row: int) -> Outcome | None:
        """An element of y; None if y is a number."""
        of_y = self.nodes.get(self.reference.program.output, {})
        return self.tape.outcomes[of_y[row]] if row in of_y else None

    def back(self, weights: Mapping[int, float]) -> dict[Direction, Adjoint]:
        """What flows back to the inputs from some rows of y.

        Args:
            weights: By row.
        """
        of_y = self.nodes.get(self.reference.program.output, {})
        return self._back({of_y[row]: self._number(weight) for row, weight in weights.items() if row in of_y})

    def twice(self, weights: Mapping[Direction, float]) -> dict[Direction, Adjoint]:
        """What flows back, through the backward pass from the one row of y, from elements of the gradient."""
        first = self.back({0: 1.0})
        return self._back({first[x].node: self._number(weight) for x, weight in weights.items() if x in first})

    def _back(self, seeds: Mapping[Node, Node]) -> dict[Direction, Adjoint]:
        return {self._places[n]: adjoint for n, adjoint in self.tape.backward(seeds).items()}

    def _number(self, value: float) -> Node:
        return self.tape.leaf(self.tape.rounding.constant(arb(value), value), moves=False)

    def _input(self, variable: sympy.Symbol, e: int) -> arb | Undefined:
        value = float(self.reference.inputs[variable][e])
        return arb(value) if np.isfinite(value) else Undefined("domain", f"{variable} is {value} here", True)

    def _line(self, line: Line, elements: Flat) -> dict[int, Node]:
        call, out = line.call, elements.tolist()
        match call.op.kind:
            case Kind.ELEMENTWISE:
                operands = range(len(call.operands))
                columns = [self._at(line, k, self.reference.footprint.down(line, k, elements)[1]) for k in operands]
                rows = zip(*columns, strict=True)
                return {e: self.tape.elementwise(call, row) for e, row in zip(out, rows, strict=True)}
            case Kind.COUNT:
                size = count_of(self.reference.shapes.get(call.operands[0], ()), call.statics[0])
                return dict.fromkeys(out, self.tape.constant(sympy.Integer(size)))
            case Kind.SOURCE:
                data = numeric.array_of(call).ravel()[elements].tolist()
                return {e: self._number(a) for e, a in zip(out, data, strict=True)}
        members: dict[int, list[Node]] = {e: [] for e in out}
        for k, position, source in self.reference.footprint.parts(line, elements):
            for p, node in zip(position.tolist(), self._at(line, k, source), strict=True):
                members[out[p]].append(node)
        if is_aggregate(call.op) or call.op.kind is Kind.DEFINED:
            order = (self.reference.shapes.get(call.operands[0], ()) or (1,))[-1]
            block = max(1, order * order)
            return {e: self.tape.group(call, members[e], order, e % block) for e in out}
        fill = fill_of(call) if call.op.kind is Kind.MOVEMENT else 0.0
        return {e: self.tape.sum(members[e]) if members[e] else self._number(fill) for e in out}

    def _at(self, line: Line, k: int, elements: Flat) -> list[Node]:
        """The nodes of operand k at flat positions of the operand itself."""
        operand = line.call.operands[k]
        if not isinstance(operand, sympy.Symbol):
            return [self.tape.constant(operand)] * len(elements)
        known = self.nodes.get(operand, {})  # what only sums of it are needed of need not be known
        return [known.get(e, self._unknown) for e in elements.tolist()]


def elements_on_tape(reference: Reference, directions: Sequence[Direction], rows: Flat) -> dict[Atom, Flat]:
    """All that some rows of y are made of; if that is too much, what lies between the directions and the rows.

    Raises:
        OverBudgetError: that is too much too.
    """
    if not isinstance(reference.program.output, sympy.Symbol):
        return {}
    try:
        return reference.made_of({reference.program.output: rows})
    except OverBudgetError:
        plan = reference.plan(directions, rows)
    held = {atom: [elements] for atom, elements in plan.needed.items()}
    for atom, (_, elements) in plan.pairs.items():
        held.setdefault(atom, []).append(elements)
    return {atom: np.unique(np.concatenate(lists)) for atom, lists in held.items()}
