"""Torch's passes over single numbers, as balls that cover its rounding: forward, backward, and back through both.

A node is a number that torch holds, made of other nodes by one operation.  The slopes and adjoints of a backward pass
are nodes too, written as torch's own backward formulas (the `slopes` of the op table, else the derivative of the
meaning), so that a second pass goes back through the first.  At the precision of a float format, a ball contains
what torch may have in place of the truth; an overflow is a Undefined, as what follows from it may be anything.
Source: A. Griewank, A. Walther, "Evaluating Derivatives", 2008, chapter 3; the reverse mode.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sympy
from flint import arb

from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.wengert import Atom, Call, Program, number
from gradcli.reference import balls
from gradcli.reference.balls import Ball, exists
from gradcli.reference.choices import (
    Extreme,
    branch,
    is_choice,
    slope_in_spectrum,
    slope_of_choice,
    spectral_value,
)
from gradcli.reference.compiling import compile_ball
from gradcli.reference.program_writer import NoTangentError, Writer
from gradcli.reference.rules import Outcome, Rounding, Undefined, partial_of, rule_of, slope_condition
from gradcli.reference.spectral import Exponential, Symmetric

Node = int
"""The number of a node."""

MOST_NODES = 200_000
"""Nodes of one tape: at about 10 µs each, two seconds."""

OVERFLOW = Undefined("domain", "a number on the way may be beyond the range of the format", False)
"""What is finite in truth, and in torch perhaps not."""

ELIMINATION = Undefined("domain", "the numbers of the matrix are so far apart that elimination may underflow", False)
"""What torch makes of a matrix whose rows or columns differ too much in size."""

_UNKNOWN = Undefined("domain", "a number on the way is not known", False)


class TooLongError(Exception):
    """The tape would have more than `MOST_NODES` nodes."""


@dataclass(frozen=True, slots=True)
class Size:
    """Of the terms that an adjoint sums up: the largest, all together, and how often one was rounded at most."""

    largest: Ball
    total: Ball
    roundings: int

    def joined(self, other: Size) -> Size:
        """Both together."""
        roundings = max(self.roundings, other.roundings) + 1
        return Size(self.largest.max(other.largest), self.total + other.total, roundings)

    def through(self, slope: Outcome) -> Size:
        """What an operation with this slope passes on."""
        if isinstance(slope, Undefined):
            return self
        size = abs(slope.mid())
        return Size(self.largest * size, self.total * size, self.roundings + 2)


@dataclass(frozen=True, slots=True)
class Adjoint:
    """What a backward pass leaves at a node."""

    node: Node
    size: Size


@dataclass(frozen=True, slots=True)
class _Made:
    """How a node comes about: a call on nodes, one for each operand or as a list, of whose result it is one element.

    `order` is that of a matrix; a `leaf` and a `sum` have no call.
    """

    name: str
    parents: tuple[Node, ...] = ()
    call: Call | None = None
    order: int = 0
    place: int = 0


class Tape:
    """Nodes in the order in which they were made."""

    def __init__(self, rounding: Rounding, *, faulty: bool = True) -> None:
        """An empty tape.

        Args:
            rounding: The float format.
            faulty: Whether known errors of torch's kernels are covered too.
        """
        self.rounding, self.faulty = rounding, faulty
        self.outcomes: list[Outcome] = []
        self._made: list[_Made] = []
        self._moves: list[bool] = []
        self._factors: dict[tuple[Node, int], tuple[Node, ...]] = {}
        self._inverses: dict[tuple[Node, ...], list[Node]] = {}
        self._spectra: dict[tuple[str, tuple[Node, ...]], Symmetric | Exponential | Undefined] = {}
        self._means: dict[tuple[Node, ...], Node] = {}
        self._constants: dict[Atom, Node] = {}

    # -- nodes

    def leaf(self, outcome: Outcome, *, moves: bool = True) -> Node:
        """An element of an input, or a number that does not move."""
        return self._append(outcome, _Made("leaf"), moves=moves)

    def constant(self, atom: Atom) -> Node:
        """A number of the text."""
        if atom not in self._constants:
            exact = self.rounding.constant(compile_ball(atom)({}), number(atom))
            self._constants[atom] = self.leaf(exact, moves=False)
        return self._constants[atom]

    def elementwise(self, call: Call, operands: Sequence[Node]) -> Node:
        """An operation on one number for each of its operands."""
        call = canonical(call)
        outcomes = [self.outcomes[n] for n in operands]
        return self._append(self._held(self._value(call, outcomes)), _Made(call.op.name, tuple(operands), call))

    def sum(self, terms: Sequence[Node]) -> Node:
        """A sum in any order."""
        if len(terms) == 1:
            return terms[0]
        total, size = arb(0), arb(0)
        for outcome in map(self.outcomes.__getitem__, terms):
            if isinstance(outcome, Undefined):
                return self._append(outcome, _Made("sum", tuple(terms)))
            total, size = total + outcome, size + abs(outcome)
        if len(terms) > 2 and exists(size):
            total = self.rounding.slope(total, size.upper() / 2)
        return self._append(self._held(total), _Made("sum", tuple(terms)))

    def group(self, call: Call, members: Sequence[Node], order: int = 0, place: int = 0) -> Node:
        """One element of the result of an operation on a list, or on a matrix of this order, row by row."""
        if call.op.kind is Kind.SPECTRAL:
            return self._spectral(call, tuple(members), order, place)
        if call.op.keeps_shape:
            return self._inverse(call, tuple(members), order)[place]
        if call.op.kind is Kind.MATRIX:
            matrix = self._eliminated(members, order)
            value = matrix if isinstance(matrix, Undefined) else balls.determinant(matrix, order)
        else:
            outcomes = [self.outcomes[n] for n in members]
            trouble = next((o for o in outcomes if isinstance(o, Undefined)), None)
            if not trouble and call.op.monoid is Monoid.PRODUCT and self.rounding.strays(outcomes):
                trouble = OVERFLOW  # torch multiplies in an order of its own
            value = trouble or _of_list(call, outcomes)
        return self._append(self._held(value), _Made(call.op.name, tuple(members), call, order))

    def _eliminated(self, members: Sequence[Node], order: int) -> list[Ball] | Undefined:
        """A matrix with what torch's elimination does to it."""
        outcomes = [self.outcomes[n] for n in members]
        trouble = next((o for o in outcomes if isinstance(o, Undefined)), None)
        is_lost = trouble is None and self.rounding.spans(outcomes)
        return ELIMINATION if is_lost else trouble or self.rounding.eliminated(outcomes, order)

    def _inverse(self, call: Call, members: tuple[Node, ...], order: int) -> list[Node]:
        if members not in self._inverses:
            matrix = self._eliminated(members, order)
            found = [matrix] * len(members) if isinstance(matrix, Undefined) else balls.inverse(matrix, order)
            self._inverses[members] = [
                self._append(self._held(outcome), _Made("inv", members, call, order, n))
                for n, outcome in enumerate(found)
            ]
        return self._inverses[members]

    def _spectral(self, call: Call, members: tuple[Node, ...], order: int, place: int) -> Node:
        of = self._spectrum(call, members, order)
        value = of if isinstance(of, Undefined) else spectral_value(of, place, "a part")
        return self._append(self._held(value), _Made(call.op.name, members, call, order, place))

    def _spectrum(self, call: Call, members: tuple[Node, ...], order: int) -> Symmetric | Exponential | Undefined:
        """A matrix with what torch's steps to its eigenvalues or its exponential do to it."""
        key = call.op.name, members
        if key not in self._spectra:
            values = [self.outcomes[n] for n in members]
            trouble = next((o for o in values if isinstance(o, Undefined)), None)
            of = Exponential if call.op.keeps_shape else Symmetric
            self._spectra[key] = trouble or of(self.rounding.spectral(values, order), order)
        return self._spectra[key]

    def _append(self, outcome: Outcome, made: _Made, *, moves: bool = False) -> Node:
        if len(self.outcomes) >= MOST_NODES:
            raise TooLongError
        self.outcomes.append(outcome)
        self._made.append(made)
        self._moves.append(moves or any(self._moves[n] for n in made.parents))
        return len(self.outcomes) - 1

    def _held(self, outcome: Outcome) -> Outcome:
        """A result as the format holds it; an infinity of the text stays one."""
        if isinstance(outcome, Undefined):
            return outcome
        if not exists(outcome.mid()):
            return _UNKNOWN if outcome.is_nan() else outcome
        if not exists(outcome) or abs(outcome).upper() > self.rounding.largest:
            return OVERFLOW
        return self.rounding.underflown(outcome)

    def _value(self, call: Call, operands: list[Outcome]) -> Outcome:
        if call.op.is_branch:
            return branch(operands[0], operands[1], operands[2])
        if call.op.monoid is Monoid.PRODUCT:
            a, b = operands
            if not isinstance(a, Undefined) and not isinstance(b, Undefined) and exists(a) and exists(b):
                return a * b
        return self.rounding.computed(rule_of(call).evaluate(operands, "a part"), call, operands)

    # -- passes

    def backward(self, seeds: Mapping[Node, Node]) -> dict[Node, Adjoint]:
        """What flows back to the leaves.

        Args:
            seeds: The adjoint of each node to start from.

        Raises:
            TooLongError: it would take too many nodes.
        """
        entering = {n: [Adjoint(seed, self._size(seed))] for n, seed in seeds.items() if self._moves[n]}
        waiting = [-n for n in entering]
        heapq.heapify(waiting)
        found: dict[Node, Adjoint] = {}
        while waiting:
            n = -heapq.heappop(waiting)
            adjoint = self._joined(entering.pop(n))
            if self._made[n].name == "leaf":
                found[n] = adjoint
            for k, parent in enumerate(self._made[n].parents):
                if self._moves[parent] and (passed := self._passed(n, k, adjoint)) is not None:
                    if parent not in entering:
                        heapq.heappush(waiting, -parent)
                    entering.setdefault(parent, []).append(passed)
        return found

    def _size(self, node: Node) -> Size:
        outcome = self.outcomes[node]
        size = arb(0) if isinstance(outcome, Undefined) else abs(outcome.mid())
        return Size(size, size, 0)

    def _joined(self, adjoints: list[Adjoint]) -> Adjoint:
        size = adjoints[0].size
        for other in adjoints[1:]:
            size = size.joined(other.size)
        return Adjoint(self.sum([adjoint.node for adjoint in adjoints]), size)

    def _passed(self, n: Node, k: int, adjoint: Adjoint) -> Adjoint | None:
        """What a node passes on to its k-th parent, None for nothing."""
        for slope in self._factors_of(n, k):
            outcome = self.outcomes[slope]
            if not isinstance(outcome, Undefined) and outcome == 0 and not self._moves[slope]:
                return None
            adjoint = Adjoint(self.elementwise(_PRODUCT, (adjoint.node, slope)), adjoint.size.through(outcome))
        return adjoint

    def _factors_of(self, n: Node, k: int) -> tuple[Node, ...]:
        """The slope of a node by its k-th parent as the numbers that torch multiplies by, one after the other."""
        if (n, k) not in self._factors:
            call = self._made[n].call
            if call is not None and call.op.kind is Kind.SPECTRAL:
                self._factors[n, k] = (self._slope_in_spectrum(call, n, k),)
            elif call is not None and call.op.kind is Kind.MATRIX:
                self._factors[n, k] = self._slope_in_matrix(call, n, k)
            else:
                is_alone = call is not None and call.op.kind is Kind.ELEMENTWISE
                slope = self._slope_of(call, n, k) if call and is_alone else self._slope_in_list(n, k)
                self._factors[n, k] = () if slope is None else (slope,)
        return self._factors[n, k]

    def _slope_of(self, call: Call, n: Node, k: int) -> Node | None:
        """By torch's formula, with what rounding inside of it may do where it is not known; None for 1."""
        op, parents = call.op, self._made[n].parents
        operands = [self.outcomes[m] for m in parents]
        if op.coefficients:
            return None if op.coefficients[k] == 1 else self.constant(sympy.Integer(op.coefficients[k]))
        if op.monoid is Monoid.PRODUCT and parents[0] != parents[1]:
            return parents[1 - k]
        if is_choice(op):
            return self._choice(slope_of_choice(op, k, operands))
        slope = rule_of(call).slope(k, operands, "a part")
        if isinstance(slope, Undefined) and slope.kind in ("kink", "jump") and not slope.decided:
            return self.leaf(slope, moves=False)
        program = formula(call, k, faulty=self.faulty)
        if program is None:
            return self._append(self.rounding.sloped(slope, call, k, operands), _Made("unwritten", parents))
        mark = len(self.outcomes)
        node = self.run(program, [*parents, n])
        if node >= mark:
            held = self.outcomes[node]
            if not isinstance(held, Undefined) and not isinstance(slope, Undefined) and not call.op.slopes:
                held = self.rounding.slope(held, slope_condition(call, k, operands, slope))
            if not isinstance(held, Undefined) and self.faulty:
                held += arb(0, abs(held).upper() * call.op.error)
            self.outcomes[node] = held
        return node

    def _choice(self, chosen: Outcome) -> Node | None:
        return None if not isinstance(chosen, Undefined) and chosen == 1 else self.leaf(chosen, moves=False)

    def _slope_in_list(self, n: Node, k: int) -> Node | None:
        """That of a sum, a product, an extreme, or a statistic."""
        made = self._made[n]
        parents, call = made.parents, made.call
        outcomes = [self.outcomes[m] for m in parents]
        if call is None:
            return None if made.name == "sum" else self.leaf(_UNKNOWN, moves=False)
        if call.op.monoid is Monoid.PRODUCT:
            if any(not isinstance(o, Undefined) and o == 0 for o in outcomes):
                return self.group(call, [m for i, m in enumerate(parents) if i != k])
            return self.elementwise(_QUOTIENT, (n, parents[k]))
        if call.op.is_extreme:
            trouble = next((o for o in outcomes if isinstance(o, Undefined)), None)
            return self._choice(trouble or Extreme(outcomes, largest=call.op.monoid is Monoid.LARGEST).slope(k))
        return self.run(_in_list(call, len(parents)), (parents[k], n, self._mean(parents)))

    def _mean(self, members: tuple[Node, ...]) -> Node:
        if members not in self._means:
            size = self.constant(sympy.Integer(len(members)))
            self._means[members] = self.elementwise(_QUOTIENT, (self.sum(members), size))
        return self._means[members]

    def _slope_in_matrix(self, call: Call, n: Node, k: int) -> tuple[Node, ...]:
        """That of det is (g*det(A))*inv(A), of a singular matrix its minor; that of inv is inv(A)*(g*inv(A))."""
        made = self._made[n]
        order, (row, column) = made.order, divmod(k, made.order)
        inverse = self._inverse(_INVERSE, made.parents, order)
        if call.op.keeps_shape:
            i, j = divmod(made.place, order)
            return inverse[column * order + j], self.elementwise(_NEGATIVE, (inverse[i * order + row],))
        outcome = self.outcomes[inverse[column * order + row]]
        if isinstance(outcome, Undefined) or exists(outcome) or order > MOST_MINORS:
            return n, inverse[column * order + row]
        minor = balls.cofactor([self.outcomes[m] for m in made.parents], order, row, column)
        return (self._append(minor, _Made("minor", made.parents)),)

    def _slope_in_spectrum(self, call: Call, n: Node, k: int) -> Node:
        made = self._made[n]
        of = self._spectrum(call, made.parents, made.order)
        slope = of if isinstance(of, Undefined) else slope_in_spectrum(of, made.place, k, "a part")
        # its own slopes are not known: "slope" has no call
        return self._append(self._held(slope), _Made("slope", made.parents))

    def run(self, program: Program, nodes: Sequence[Node]) -> Node:
        """What an elementwise Program gives on these variables."""
        held = dict(zip(program.variables, nodes, strict=True))

        def node(atom: Atom) -> Node:
            return held[atom] if atom in held else self.constant(atom)

        for line in program.lines:
            held[line.symbol] = self.elementwise(line.call, [node(a) for a in line.call.operands])
        return node(program.output)


MOST_MINORS = 12
"""Rows of a singular matrix whose cofactors are still taken one by one."""

_PLACES = tuple(sympy.Dummy(f"p{n}", real=True) for n in range(8))


@lru_cache(maxsize=4096)
def canonical(call: Call) -> Call:
    """The same operation on parameters, so that its rules are found once for all lines that have it."""
    found: dict[Atom, Atom] = {}
    for operand in call.operands:
        if isinstance(operand, sympy.Symbol) and operand not in found:
            found[operand] = _PLACES[len(found)]
    return Call(call.op.name, tuple(found.get(a, a) for a in call.operands), call.statics)


_PRODUCT, _QUOTIENT = Call("mul", _PLACES[:2]), Call("div", _PLACES[:2])
_NEGATIVE, _INVERSE = Call("neg", _PLACES[:1]), Call("inv", _PLACES[:1])


@lru_cache(maxsize=4096)
def formula(call: Call, k: int, *, faulty: bool = True) -> Program | None:
    """The slope of an elementwise operation by operand k as a Program of the operands and the result, as torch has it.

    >>> [line.call.op.name for line in formula(Call("tanh", _PLACES[:1]), 0).lines]
    ['pow', 'sub']
    """
    names = (*call.op.operands, "result")
    if call.op.slopes and (faulty or not call.op.fault):
        return parse_meaning(call.op.slopes[k], names, dict(zip(call.op.statics, call.statics, strict=True)))
    variables = tuple(sympy.Symbol(name, real=True) for name in names)
    parameters, partial = partial_of(call, k)
    symbols = {p: x for p, x in zip(parameters, variables, strict=False) if p is not None}
    writer = Writer("")
    try:
        output = writer.write(partial, symbols)
    except NoTangentError:
        return None
    return Program("", variables, tuple(writer.lines), output)


@lru_cache(maxsize=512)
def _in_list(call: Call, size: int) -> Program:
    """The slope of a statistic by one of the numbers that it is made of, from that, the result and the mean of all."""
    constants = {**dict(zip(call.op.statics, call.statics, strict=True)), "size": size}
    return parse_meaning(call.op.slopes[0], ("x", "result", "center"), constants)


def _of_list(call: Call, values: list[Ball]) -> Ball:
    match call.op.name:
        case "logsumexp":
            return balls.logsumexp(values)
        case "var" | "std":
            variance = balls.variance(values, call.statics[1])
            return variance if call.op.name == "var" else variance.sqrt()
    if call.op.monoid is Monoid.PRODUCT:
        return balls.product(values)
    return balls.extreme(values, largest=call.op.monoid is Monoid.LARGEST)
