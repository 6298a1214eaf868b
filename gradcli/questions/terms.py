"""One term of an adjoint: the adjoint of a line times its local derivative, as formula and in torch's numbers.

The formulas are the symbolic reading's, shown where the reference confirms them and they give torch's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import sympy
from flint import arb

from gradcli.crosscheck.confirming import confirm
from gradcli.crosscheck.point import Point
from gradcli.errors import GradcliError
from gradcli.language.inputs import Array
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call, Line
from gradcli.notation import POINTWISE, Bar, Form
from gradcli.questions.question import Question
from gradcli.reference.balls import precision
from gradcli.reference.compiling import compile_ball
from gradcli.results import Term
from gradcli.symbolic.operations import LONGEST, Slope, alone, local, rule, slope
from gradcli.symbolic.printing import formula

if TYPE_CHECKING:
    from gradcli.autodiff.run import Trace

SMALL = 16
"""Entries of a local Jacobian that is shown."""

MOST_FACTORS = 36
"""Entries of a matrix in a product of numbers that is shown."""

SAMPLED = 4
"""Elements at which a formula is compared with torch's slope."""

BITS = 128
"""Precision of that comparison."""

CLOSE = {"float64": 1e-6, "float32": 1e-3}
"""How near to torch's slope, which may have lost digits, a formula's value must be to be shown beside it."""

_DRAWN = (Kind.DEFINED, Kind.REDUCTION)
"""Operations whose local Jacobian is worth seeing; those that move elements have one of ones and zeros."""

_CHAIN = Form("%s*%s", "%s · %s", r"%s \cdot %s")
"""An adjoint times a local derivative, where they are numbers; else `POINTWISE`."""


class Terms:
    """The terms of the adjoints of one trace; what each line adds is asked for once."""

    def __init__(self, question: Question, trace: Trace, names: Mapping[Atom, str]) -> None:
        self.question, self.trace, self.names = question, trace, names
        self._known: dict[tuple[str, Atom], dict[Atom, Array]] = {}

    def term(self, line: Line, operand: Atom) -> Term | None:
        """What a line adds to the adjoint of one of its operands; None if it has no derivative by it."""
        value = self._of("contributions", line).get(operand)
        if value is None:
            return None
        term = Term(source=self.names[line.symbol], rule=line.call.op.rule, value=value)
        if line.call.op.kind is Kind.ELEMENTWISE:
            return self._elementwise(line, operand, term)
        return self._other(line, operand, term)

    def _of(self, what: Literal["contributions", "slopes", "jacobians"], line: Line) -> dict[Atom, Array]:
        """What torch says of a line by each operand, asked for once."""
        key = what, line.symbol
        if key not in self._known:
            self._known[key] = getattr(self.trace, what)(line)
        return self._known[key]

    # -- elementwise

    def _elementwise(self, line: Line, operand: Atom, term: Term) -> Term:
        slopes = self._of("slopes", line).get(operand)
        if slopes is None:
            return term
        adjoint = self.trace.adjoints[line.symbol]
        summed = slopes.shape != term.value.shape
        term = replace(term, local=slopes, is_elementwise=True, summed=summed, factors=(adjoint, _uniform(slopes)))
        if summed:
            term = replace(term, words=self._stretched(line, operand))
        found = slope(line.call, self.names, operand)
        if found is None or not (found.is_branch or _holds(line, operand)):
            return term
        remark = "" if found.is_branch else self._difference(line, found, slopes)
        words = "; ".join(filter(None, (term.words, remark)))
        equation = (POINTWISE if slopes.ndim else _CHAIN)(Bar(self.names[line.symbol]), found.factor)
        return replace(term, derivative=found.alone, equation=equation, words=words)

    def _stretched(self, line: Line, operand: Atom) -> str:
        shapes = self.trace.values[operand].shape, self.trace.values[line.symbol].shape
        size = "one number" if not shapes[0] else f"of shape {shapes[0]}"
        x, y = self.names[operand], self.names[line.symbol]
        return f"{x} is {size} and is used for all of {y}, of shape {shapes[1]}: summed over what was stretched"

    def _difference(self, line: Line, found: Slope, slopes: Array) -> str:
        """Nothing where the formula gives torch's slopes at a few elements; else both at one of them, as at a kink."""
        held = {a: np.broadcast_to(self.trace.values[a], slopes.shape) for a in line.call.operands if a in self.names}
        for n in np.unique(np.linspace(0, slopes.size - 1, SAMPLED).round().astype(int)) if slopes.size else ():
            values = {sympy.Symbol(self.names[a], real=True): arb(float(array.flat[n])) for a, array in held.items()}
            with precision(BITS):
                try:
                    expected = float(compile_ball(found.expression)(values).mid())
                except (NotImplementedError, KeyError):
                    return ""
            torch = float(slopes.flat[n])
            is_known = math.isfinite(expected) and math.isfinite(torch)
            if is_known and abs(expected - torch) > CLOSE[self.question.dtype] * max(abs(expected), abs(torch)):
                at = np.unravel_index(n, slopes.shape)
                index = f" at [{','.join(map(str, at))}]" if at else ""
                return f"torch takes {repr(torch).removesuffix('.0')}{index}, where the formula gives {expected:.3g}"
        return ""

    # -- others

    def _other(self, line: Line, operand: Atom, term: Term) -> Term:
        call, y = line.call, self.names[line.symbol]
        shapes = [self.trace.values[a].shape if a in self.trace.values else () for a in call.operands]
        found = rule(call, operand, self.names, shapes, y, Bar(y))
        term = replace(term, equation=found.equation, words=found.words, derivative=found.equation)
        result, adjoint = self.trace.values[line.symbol], self.trace.adjoints[line.symbol]
        if call.op.kind is Kind.CONTRACTION:
            return replace(term, local=self._small(line, operand), factors=self._product(line, operand))
        if call.op.is_extreme and np.count_nonzero(term.value) > np.count_nonzero(adjoint):
            term = replace(term, words="the elements that tie share the adjoint, 0 elsewhere")
        if result.size == 1:  # the gradient has the operand's shape
            gradient = self.trace.contributions(line, np.ones(result.shape, dtype=self.question.dtype)).get(operand)
            if gradient is None:
                return term
            factors = () if term.words else (adjoint.reshape(()), gradient)
            term = replace(term, local=gradient, factors=factors)
        else:
            local = self._small(line, operand)
            is_drawn = local is not None and local.ndim <= 2 and not found.words and call.op.kind in _DRAWN
            term = replace(term, local=local, factors=(adjoint, local) if is_drawn and local is not None else ())
        return term if term.equation or term.words else self._described(line, operand, term)

    def _described(self, line: Line, operand: Atom, term: Term) -> Term:
        """With the local derivative in index notation, where it has one short formula that the reference confirms."""
        name, x = self.names[line.symbol], self.names[operand]
        shapes = [self.trace.values[a].shape if a in self.trace.values else () for a in line.call.operands]
        program, inside = alone(line.call, self.names, shapes, name)
        derivative = local(program, inside, x)
        if derivative is None or len(derivative.cases) > 1:
            return term
        inputs = {self.names[a]: self.trace.values[a] for a in line.call.operands if a in self.trace.values}
        if not confirm(Point.of(program, inside, inputs), derivative, None).holds:
            return term
        cell = formula(derivative, program).cells[0]
        if len(cell.text) > LONGEST:
            return term
        return replace(term, derivative=cell.expression, entry=(cell.row, cell.column))

    def _small(self, line: Line, operand: Atom) -> Array | None:
        values = self.trace.values
        if values[line.symbol].size * values[operand].size > SMALL or values[operand].size == 0:
            return None
        return self._of("jacobians", line).get(operand)

    def _product(self, line: Line, operand: Atom) -> tuple[Array, ...]:
        """The numbers of the rule of a matrix product; none where they are many, or stacked."""
        first, second = line.call.operands
        a, b = (self.trace.values.get(atom) for atom in (first, second))
        z = self.trace.adjoints[line.symbol]
        if a is None or b is None or first == second or max(a.size, b.size, z.size) > MOST_FACTORS:
            return ()
        is_first = operand == first
        products: dict[tuple[int, int], tuple[Array, Array]] = {
            (1, 1): (z, b if is_first else a),
            (2, 1): (z[..., None], b[None]) if is_first else (a.T, z),
            (1, 2): (b, z) if is_first else (a[..., None], z[None]),
            (2, 2): (z, b.T) if is_first else (a.T, z),
        }
        return products.get((a.ndim, b.ndim), ())


def _uniform(array: Array) -> Array:
    """One number in the place of an array of equal ones."""
    flat = array.reshape(-1)
    return flat[0].reshape(()) if flat.size and np.all(flat == flat[0]) else array


class _UnconfirmedError(Exception):
    """The reference did not confirm a derivative, perhaps for want of time: what is raised is not kept."""


def _holds(line: Line, operand: Atom) -> bool:
    """Whether the reference confirms the local derivative of an operation on scalars, at values of its own choice."""
    symbols = list(dict.fromkeys(a for a in line.call.operands if isinstance(a, sympy.Symbol)))
    stand_ins = {symbol: sympy.Symbol(f"operand{n}", real=True) for n, symbol in enumerate(symbols)}
    try:
        _confirmed(line.call.renamed(stand_ins), str(stand_ins[operand]))
    except (GradcliError, _UnconfirmedError):
        return False
    return True


@lru_cache(maxsize=1024)
def _confirmed(call: Call, name: str) -> None:
    program, shapes = alone(call, {a: str(a) for a in call.operands}, [()] * len(call.operands), "one line")
    derivative = local(program, shapes, name)
    inputs = {str(s): np.array(0.5) for s in program.variables}
    if derivative is None or not confirm(Point.of(program, shapes, inputs), derivative, None).holds:
        raise _UnconfirmedError
