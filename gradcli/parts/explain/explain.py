"""The chain rule step by step, forward, v, backward and vᵀJ: the method `explain`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar, Unpack

import numpy as np

from gradcli.arrays import Array
from gradcli.crosscheck.confirming import confirm
from gradcli.crosscheck.point import FunctionAtPoint, Numbers
from gradcli.language.inputs import Value
from gradcli.language.ops import Kind
from gradcli.language.program.opaque import require_readable
from gradcli.language.program.wengert import Atom, Line, cut, needed
from gradcli.notation import POINTWISE, Bar, Digits, Named, Signs
from gradcli.parts.explain.differential import Differential, differential
from gradcli.progress import tracked
from gradcli.questions.bound_function import BoundFunction
from gradcli.questions.commands.vjp import agrees, answered
from gradcli.questions.judging import compare_numbers
from gradcli.questions.likely_shapes import at_random_values
from gradcli.questions.local_adjoints import LocalAdjoint, differing, local_adjoint
from gradcli.questions.parsed_text import Inputs, JudgedOptions, ParsedText
from gradcli.questions.remarks import remarks_on_v
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import VJP, Adjoint, Check, Explanation, Formula, Step, Term, Verdict
from gradcli.symbolic.operations import LONGEST_OPERATION, alone, constant, local, notation_of, rule_in_words
from gradcli.symbolic.printing import formula

if TYPE_CHECKING:
    from gradcli.autodiff.run import Trace

_Item = TypeVar("_Item")

MOST_STEP_ELEMENTS = 2**24
"""Elements of all lines that `explain` holds, each with its adjoint and local derivatives: 1 GiB in all."""

MOST_LINES = 200
"""Lines, and adjoints, that an answer holds; of more, it holds the first and the last half as many."""

MOST_JUDGED = 30
"""Adjoints that are judged, each on a function of its own; more are left unchecked."""

MOST_CHAIN_TERMS = 12
"""Terms of one adjoint that an answer holds."""


SMALL = 16
"""Entries of a local Jacobian that is shown."""

MOST_FACTORS = 36
"""Entries of a matrix in a product of numbers that is shown."""

CLOSE = {"float64": 1e-6, "float32": 1e-3}
"""Largest relative distance of a gradient from torch's number, which may have lost digits, that is not remarked."""

_DRAWN = (Kind.DEFINED, Kind.REDUCTION)
"""Operations whose local Jacobian is worth seeing; that of a movement of elements has only ones and zeros."""

_CHAIN = Signs("%s*%s", "%s · %s", r"%s \cdot %s")
"""Product of an adjoint and a local derivative that are numbers; of tensors it is `POINTWISE`."""


def explain(
    self: ParsedText,
    at: Inputs | None = None,
    v: Value | None = None,
    *,
    loss: str | None = None,
    **options: Unpack[JudgedOptions],
) -> Explanation:
    """Explain the chain rule step by step: the lines forward, v, each adjoint with its terms, and vᵀJ.

    Raises:
        GradcliError: As for `vjp`.

    >>> from gradcli import Function
    >>> answer = Function("y = x**2; z = y**3").explain({"x": [1, 2]}, v="ones")
    >>> [(step.name, step.operation.pretty, step.value.tolist()) for step in answer.steps]
    [('y', 'x²', [1.0, 4.0]), ('z', 'y³', [1.0, 64.0])]
    >>> [(a.name, [t.formula for t in a.terms], a.value.tolist()) for a in answer.adjoints[1:]]
    [('y', ['3*y**2'], [3.0, 48.0]), ('x', ['2*x'], [6.0, 192.0])]
    """
    unbound = self._asked(at, **options)
    if unbound.recording is None and not (unbound.at or unbound.snippet.values or unbound.snippet.v):
        unbound = at_random_values(unbound, 0)
    require_readable(unbound.snippet.program, "each line of an explanation is a call with its rule")
    vs = () if v is None else (v,)
    bound, (product,) = answered(unbound, vs, loss, most_elements=MOST_STEP_ELEMENTS)
    from gradcli.autodiff.run import trace

    walk = Walk(bound, trace(bound.program, bound.arrays, bound.wrt, bound.dtype, product.v, bound.device))
    lines = walk.forward_lines()
    adjoints = list(walk.adjoints(product.v, product.vjp))
    if unbound.check:
        adjoints = judged(walk, adjoints, product.v)
    told = () if loss else tuple(remarks_on_v(bound, bound.cotangent(v, unbound.snippet.v)))
    remarked = [
        *(f"vᵀJ is that of {name}.backward, and the steps are those of {name}.forward" for name in walk.customs),
        *remarks(walk, product.v, product.symbolic, is_implicit=not vs and unbound.snippet.v is None and loss is None),
        *told,
    ]
    shared = {one.name: getattr(product, one.name) for one in fields(VJP) if one.name != "accumulates"}
    shared |= {"command": "explain", "warnings": tuple(word for word in product.warnings if word not in told)}
    board = Differential()
    if bound.recording is None and bound.reread_at is None:
        board = differential(bound.program, bound.shapes, bound.wrt)
    return Explanation(
        **shared | {"remarks": tuple(remarked)},
        steps=tuple(walk.step(*line) for line in ends(lines)),
        steps_count=len(lines),
        adjoints=tuple(adjoints),
        adjoints_count=1 + len(walk.atoms),
        loss_agrees=None if product.loss is None else agrees(product.loss, product.vjp, bound.dtype),
        differential=board.lines,
        gradients=dict(board.gradients),
    )


class Walk:
    """Lines that y depends on with their names, and the terms of the backward pass in its order.

    Values, adjoints and the terms that lines add to them are torch's (`autodiff.trace`); their expressions are those of
    the gradient as a Program, whose numbers are compared with torch's.
    """

    def __init__(self, bound: BoundFunction, found: Trace) -> None:
        self.bound, self.trace = bound, found
        self.lines = needed(found.program.lines, found.program.output)
        self.output = found.program.output
        self.name = bound.program.output_name
        self.customs = () if bound.recording is None else bound.recording.customs
        self.given: dict[Atom, list[str]] = {}
        for name, atom in bound.program.named.items():
            self.given.setdefault(atom, []).append(name)
        self.names = self._named()
        self._known: dict[Atom, dict[Atom, Array]] = {}
        self.users: dict[Atom, list[Line]] = {}
        for line in self.lines:
            for atom in dict.fromkeys(line.call.operands):
                self.users.setdefault(atom, []).append(line)
        # Backward from y: an adjoint is shown after the adjoints that its terms come from.
        held = [line.symbol for line in reversed(self.lines) if line.symbol in found.adjoints]
        own = {str(symbol): symbol for symbol in found.program.variables}
        self.atoms = [*(a for a in held if a != self.output), *(own[name] for name in bound.wrt if name in own)]

    def _named(self) -> dict[Atom, str]:
        """Name each symbol: variables, named statements and the output by their own names, other lines t1, t2, ...."""
        program = self.bound.program
        names: dict[Atom, str] = {symbol: str(symbol) for symbol in self.trace.program.variables}
        taken = {*program.names, *program.assigned, *self.bound.extra_values, self.name}
        free = (f"t{n}" for n in range(1, len(self.lines) + len(taken) + 2) if f"t{n}" not in taken)
        for line in self.lines:
            first = next(iter(self.given.get(line.symbol, [])), line.name)
            names[line.symbol] = self.name if line.symbol == self.output else first or next(free)
        return names

    def forward_lines(self) -> list[tuple[str, Atom, Line | str]]:
        """List the lines of the forward pass, and names that repeat one, as (name, symbol, Line or repeated name).

        Without any line, the output is the only one.
        """
        shown: list[tuple[str, Atom, Line | str]] = []
        for symbol in self.trace.program.variables:
            if symbol in self.users or symbol == self.output:
                shown += [(name, symbol, str(symbol)) for name in self.given.get(symbol, []) if name != self.name]
        for line in self.lines:
            own, given = self.names[line.symbol], self.given.get(line.symbol, [])
            is_output = line.symbol == self.output  # whose own name is the last
            first, *others = [*(name for name in given if name != own), own] if is_output else given or [own]
            shown += [(first, line.symbol, line), *((name, line.symbol, first) for name in others)]
        if not self.lines:
            shown.append((self.name, self.output, self.names.get(self.output) or constant(self.output)))
        return shown

    def step(self, name: str, atom: Atom, made: Line | str) -> Step:
        """Return the Step of the forward pass for a line, or for a name that repeats one."""
        value = self.trace.values.get(atom, self.bound.value)
        if isinstance(made, str):
            return Step(name, Digits(made) if atom.is_number else Named(made), value)
        return Step(name, notation_of(made.call, lambda atom: self.names.get(atom, str(atom))), value)

    def adjoints(self, v: Array, product: Mapping[str, Array]) -> Iterator[Adjoint]:
        """Yield the adjoints of the backward pass, from that of the output to those of the variables."""
        yield Adjoint(name=self.name, notation=Bar(self.name), value=v, terms=(), terms_count=0)
        for atom in ends(self.atoms):
            is_variable = not self.trace.program.lines or atom in self.trace.program.variables
            value = product[str(atom)] if is_variable else self.trace.adjoints[atom]
            name = self.names[atom]
            found, count = self._terms(atom, value)
            yield Adjoint(name=name, notation=Bar(name), value=value, terms=found, terms_count=count)

    def _terms(self, atom: Atom, value: Array) -> tuple[tuple[Term, ...], int]:
        """Return the terms of one adjoint, at most `MOST_CHAIN_TERMS`, and their number."""
        if atom == self.output:  # y is the variable itself
            above = Bar(self.name)
            return (Term(source=self.name, derivative=Digits("1"), equation=above, value=value),), 1
        users = [line for line in self.users.get(atom, []) if line.symbol in self.trace.adjoints]
        looked_at: list[Term | None] = []
        for line in users:
            if len(list(filter(None, looked_at))) < MOST_CHAIN_TERMS:
                looked_at.append(self._term(line, atom))
        return tuple(filter(None, looked_at)), len(users) - looked_at.count(None)

    # -- one term of an adjoint: the adjoint of a line times its local derivative, as formula and in numbers

    def _term(self, line: Line, operand: Atom) -> Term | None:
        """Return a line's term in the adjoint of one of its operands; None if it has no derivative by it."""
        value = self._contributions(line).get(operand)
        if value is None:
            return None
        term = Term(source=self.names[line.symbol], rule=line.call.op.rule, value=value)
        if line.call.op.kind is Kind.ELEMENTWISE:
            return self._elementwise(line, operand, term)
        return self._other(line, operand, term)

    def _contributions(self, line: Line) -> dict[Atom, Array]:
        """Ask torch once for what a line adds to the adjoints of its operands."""
        if line.symbol not in self._known:
            self._known[line.symbol] = self.trace.contributions(line)
        return self._known[line.symbol]

    # -- elementwise

    def _elementwise(self, line: Line, operand: Atom, term: Term) -> Term:
        adjoint, found = self.trace.adjoints[line.symbol], self._local(line, operand, is_slope=True)
        operands = {name: np.broadcast_to(array, adjoint.shape) for name, array in self._operands(line).items()}
        one = np.ones(adjoint.shape, dtype=self.bound.dtype)
        numbers = None if found is None else found.numbers(operands, one, self.bound.dtype)
        if found is None or numbers is None:
            return term
        slopes = np.array(np.broadcast_to(numbers, adjoint.shape))
        summed = slopes.shape != term.value.shape
        term = replace(term, local=slopes, is_elementwise=True, summed=summed, factors=(adjoint, _uniform(slopes)))
        words = [self._stretched(line, operand)] if summed else []
        whole = self._local(line, operand) if found.is_choice else None
        product = found.times(Bar(self.names[line.symbol]), POINTWISE if slopes.ndim else _CHAIN)
        equation = product if whole is None else whole.notation
        if equation is None:
            return replace(term, words="".join(words))
        with np.errstate(all="ignore"):
            words.append(self._difference(_summed(adjoint * slopes, term.value.shape), term.value))
        return replace(term, derivative=found.notation, equation=equation, words="; ".join(filter(None, words)))

    def _stretched(self, line: Line, operand: Atom) -> str:
        shapes = self.trace.values[operand].shape, self.trace.values[line.symbol].shape
        size = "one number" if not shapes[0] else f"of shape {shapes[0]}"
        x, y = self.names[operand], self.names[line.symbol]
        return f"{x} is {size} and is used for all of {y}, of shape {shapes[1]}: summed over what was stretched"

    def _local(self, line: Line, operand: Atom, *, is_slope: bool = False) -> LocalAdjoint | None:
        shapes = [self.trace.values[a].shape if a in self.trace.values else () for a in line.call.operands]
        return local_adjoint(line.call, operand, self.names, shapes, self.names[line.symbol], is_slope=is_slope)

    def _operands(self, line: Line) -> dict[str, Array]:
        return {self.names[a]: self.trace.values[a] for a in line.call.operands if a in self.trace.values}

    def _difference(self, found: Array | None, torch: Array) -> str:
        """Compare what the gradient adds with torch's numbers: "" if equal, else both at one element."""
        return differing(found, torch, CLOSE[self.bound.dtype])

    # -- others

    def _other(self, line: Line, operand: Atom, term: Term) -> Term:
        call, y = line.call, self.names[line.symbol]
        result, adjoint = self.trace.values[line.symbol], self.trace.adjoints[line.symbol]
        first = self.trace.values.get(call.operands[0], result)
        words, found = rule_in_words(call, operand, self.names, first.shape, y), self._local(line, operand)
        term = replace(term, words=words)
        remark = ""
        if found is not None and found.notation is not None:
            term = replace(term, equation=found.notation, derivative=found.notation)
            remark = self._difference(self._numbers(line, found, adjoint), term.value)
        if call.op.kind is Kind.CONTRACTION:
            return replace(term, local=self._small(line, operand, found), factors=self._product(line, operand))
        if call.op.is_extreme and np.count_nonzero(term.value) > np.count_nonzero(adjoint):
            term = replace(term, words="the elements that tie share the adjoint, 0 elsewhere")
        if result.size == 1:  # the gradient has the operand's shape
            gradient = self._numbers(line, found, np.ones(result.shape, dtype=self.bound.dtype))
            if gradient is None:
                return term
            factors = () if term.words else (adjoint.reshape(()), gradient)
            term = replace(term, local=gradient, factors=factors)
        else:
            local = self._small(line, operand, found)
            is_drawn = local is not None and local.ndim <= 2 and not words and call.op.kind in _DRAWN
            term = replace(term, local=local, factors=(adjoint, local) if is_drawn and local is not None else ())
        if remark:
            term = replace(term, words="; ".join(filter(None, (term.words, remark))))
        return term if term.equation or term.words else self._described(line, operand, term)

    def _described(self, line: Line, operand: Atom, term: Term) -> Term:
        """Add the local derivative in index notation, if it has one short formula that the reference confirms."""
        name, x = self.names[line.symbol], self.names[operand]
        shapes = [self.trace.values[a].shape if a in self.trace.values else () for a in line.call.operands]
        program, inside = alone(line.call, self.names, shapes, name)
        derivative = local(program, inside, x)
        if derivative is None or len(derivative.cases) > 1:
            return term
        inputs = {self.names[a]: self.trace.values[a] for a in line.call.operands if a in self.trace.values}
        if not confirm(FunctionAtPoint.from_inputs(program, inside, inputs), derivative, None).holds:
            return term
        cell = formula(derivative, program).cells[0]
        if len(cell.text) > LONGEST_OPERATION:
            return term
        return replace(term, derivative=cell.expression, entry=(cell.row, cell.column))

    def _small(self, line: Line, operand: Atom, found: LocalAdjoint | None) -> Array | None:
        """Return the local Jacobian, a row for each element of the line; None if it is large."""
        result, x = self.trace.values[line.symbol], self.trace.values[operand]
        if result.size * x.size > SMALL or x.size == 0:
            return None
        ones = np.eye(result.size, dtype=self.bound.dtype).reshape((result.size, *result.shape))
        rows = [row for one in ones if (row := self._numbers(line, found, one)) is not None]
        return np.array(rows).reshape((*result.shape, *x.shape)) if len(rows) == result.size else None

    def _numbers(self, line: Line, found: LocalAdjoint | None, adjoint: Array) -> Array | None:
        return None if found is None else found.numbers(self._operands(line), adjoint, self.bound.dtype)

    def _product(self, line: Line, operand: Atom) -> tuple[Array, ...]:
        """Return the two factors in the rule of a matrix product; none where they are large, or stacks of matrices."""
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


def judged(walk: Walk, adjoints: Sequence[Adjoint], v: Array) -> list[Adjoint]:
    """Give each adjoint its verdict: `unchecked` beyond `MOST_JUDGED`, or when no time is left."""
    verdicts: list[Verdict] = ["agree"]  # on the output, whose adjoint is v
    ran, atoms = replace(walk.bound, program=walk.trace.program), ends(walk.atoms)
    with time_limit():
        for atom, one in tracked("line", zip(atoms, adjoints[1:], strict=True), len(atoms)):
            try:
                is_late, value = len(verdicts) > MOST_JUDGED, walk.trace.values[atom]
                own = None if is_late else judged_adjoint(ran, atom, one.name, value, v, one.value)
                verdicts.append(own.verdict if own else "unchecked")
            except OverTimeError:
                verdicts.append("unchecked")
    return [replace(adjoint, verdict=verdict) for adjoint, verdict in zip(adjoints, verdicts, strict=True)]


def judged_adjoint(bound: BoundFunction, atom: Atom, label: str, value: Array, v: Array, grad: Array) -> Check:
    """Judge one adjoint; y itself is judged elsewhere.

    Args:
        bound: The function at its point.
        atom: The intermediate.
        label: The intermediate's name.
        value: Its value as torch computed it, the point at which the rest of the function is judged.
        v: The gradient vector.
        grad: The adjoint, of the value's shape.
    """
    program = cut(bound.program, atom, label)
    name = str(atom) if atom in program.variables else label
    rest = bound.another(program, {**bound.arrays, name: value}, (name,), bounded=False)
    numbers = Numbers.of_first_order(rest.dtype, rest.value, None, v, {name: grad}, judges_value=False)
    check = compare_numbers(rest, numbers).check
    listed, others = (tuple(one.moved(variable=label) for one in of) for of in (check.findings, check.unlisted))
    return replace(check, findings=listed, unlisted=others)


def ends(items: Sequence[_Item]) -> list[_Item]:
    """Return all of a short list; of a long one the first and the last half of `MOST_LINES`.

    >>> len(ends(range(1_000)))
    200
    """
    half = MOST_LINES // 2
    return list(items) if len(items) <= MOST_LINES else [*items[:half], *items[-half:]]


def remarks(walk: Walk, v: Array, formulas: Mapping[str, Formula], *, is_implicit: bool) -> Iterator[str]:
    """Yield remarks on the effect of this v, in a few words."""
    y = walk.name
    if is_implicit:
        yield f"{y} has one element, so v = 1 is understood"
    last = walk.lines[-1].call if walk.lines else None
    if last and last.op.is_sum and v.size == 1 and v.item() == 1 and last.operands[0] in walk.names:
        inner = walk.names[last.operands[0]]
        yield f"sum() passes 1 to each element of {inner}: the same as v = ones at {inner}"
    if v.size < 2:
        return
    ones = np.flatnonzero(v)
    if np.all(v == 1):
        yield "ones add the rows of J up"
        for name, formula in formulas.items():
            if formula.structure == "diagonal":
                yield f"∂{y}/∂{name} is diagonal, so that ones give the derivative at every point"
    elif len(ones) == 1 and v.ravel()[ones[0]] == 1:
        at = ",".join(str(n) for n in np.unravel_index(ones[0], v.shape))
        yield f"v picks one row of J, the one of {y}[{at}]"


def _summed(product: Array, shape: tuple[int, ...]) -> Array:
    """Sum over what broadcasting stretched from a shape."""
    product = product.sum(axis=tuple(range(product.ndim - len(shape))))
    axes = tuple(n for n, size in enumerate(shape) if size == 1 != product.shape[n])
    return np.asarray(product.sum(axis=axes, keepdims=True))


def _uniform(array: Array) -> Array:
    """Replace an array of equal numbers with that number."""
    flat = array.reshape(-1)
    return flat[0].reshape(()) if flat.size and np.all(flat == flat[0]) else array
