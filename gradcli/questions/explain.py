"""The chain rule step by step: the lines of the Program forward, v, and the adjoints backward.

Values, adjoints and what each line adds to them are torch's (`autodiff.trace`); the formulas of the local derivatives
are the symbolic reading's, shown where the reference confirms them and they give torch's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import sympy
from flint import arb

from gradcli.check.confirming import confirm
from gradcli.check.point import Point
from gradcli.errors import GradcliError, TooLargeError
from gradcli.language.inputs import Array, Value
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Atom, Call, Line, needed
from gradcli.notation import Bar, Form, Name, Number
from gradcli.questions.judging import of_passes, of_sum, of_v, product
from gradcli.questions.loss import agrees, apart, derive_loss, require_alone, with_loss
from gradcli.questions.question import Inquiry, Question
from gradcli.reference.balls import precision
from gradcli.reference.compiling import compile_ball
from gradcli.results import Adjoint, Explanation, Step, Term
from gradcli.symbolic.operations import LONGEST, Slope, alone, local, rule, slope
from gradcli.symbolic.printing import formula

if TYPE_CHECKING:
    from gradcli.autodiff.run import Trace

_Item = TypeVar("_Item")

MOST_LINES = 200
"""Lines, and adjoints, that an answer holds; of more, the first and the last half of it."""

MOST_TERMS = 12
"""Terms of one adjoint that an answer holds."""

MOST_ELEMENTS = 2**24
"""Elements of all lines together: each is held with its adjoint and its local derivatives, 1 GiB in all."""


SMALL = 16
"""Entries of a local Jacobian that is shown."""

MOST_FACTORS = 36
"""Entries of a matrix in a product of numbers that is shown."""

SAMPLED = 4
"""Elements at which a formula is compared with torch's slope."""

BITS = 128
"""Precision of that comparison."""

STEP_BITS, LEAST_BITS = 60, 1_100
"""How far beside a value a slope is looked at to see whether it jumps: this many bits below the value, or below 1."""

CLOSE = {"float64": 1e-6, "float32": 1e-3}
"""How near to torch's slope, which may have lost digits, a formula's value must be to be shown beside it."""

_DRAWN = (Kind.DEFINED, Kind.REDUCTION)
"""Operations whose local Jacobian is worth seeing; those that move elements have one of ones and zeros."""

_CHAIN = Form("%s*%s", "%s · %s", r"%s \cdot %s")
"""An adjoint times a local derivative."""


def explain(inquiry: Inquiry, v: Value | None, loss: str | None = None) -> Explanation:
    """The forward pass, v, the backward pass and vᵀJ.

    Args:
        inquiry: The function at its point.
        v: The gradient vector, if it is given.
        loss: An expression in y whose derivative v is.

    Raises:
        GradcliError: v or the loss makes no sense.
        TooLargeError: The lines have more than `MOST_ELEMENTS` in all.
    """
    own, extra = apart(inquiry, loss)
    question = own.of_last(own.question(), v if loss is None else loss)
    of_snippet, check = inquiry.snippet.v, inquiry.check
    require_alone(v, loss)
    _require_room(question)
    given = np.ones(()) if loss is not None else question.cotangent(v, of_snippet)
    derived = None if loss is None else derive_loss(question, loss, extra, check=check)
    weights = question.weights(given) if derived is None else derived.v
    found, shared = product(question, weights, check=check)
    from gradcli.autodiff.run import trace

    walk = Walk(question, trace(question.program, question.arrays, question.wrt, question.dtype, weights))
    lines = walk.shown()
    adjoints = list(walk.adjoints(weights, found))
    if derived is not None:
        shared["check"] = with_loss(shared["check"], derived, question, found)
    is_implicit = v is None and of_snippet is None and loss is None
    remarked = [
        *remarks(question, walk, weights, is_implicit=is_implicit),
        *(of_v(question, given) if not loss else ()),
    ]
    warnings = (*shared.pop("warnings"), *of_passes(question), *(derived.warnings if derived else ()))
    return Explanation(
        command="explain",
        v=weights,
        vjp=found,
        remarks=tuple(remarked),
        steps=tuple(walk.step(*line) for line in ends(lines)),
        steps_count=len(lines),
        adjoints=tuple(adjoints),
        adjoints_count=1 + len(walk.atoms),
        loss=derived,
        loss_agrees=None if derived is None else agrees(derived, found, question.dtype),
        warnings=warnings,
        **shared,
    )


def _require_room(question: Question) -> None:
    elements = sum(math.prod(shape) for shape in question.shapes.values())
    if elements > MOST_ELEMENTS:
        raise TooLargeError(
            f"the steps have {elements:,} numbers in all; at most {MOST_ELEMENTS:,} are explained",
            hint="use smaller inputs, or vjp, which keeps no steps",
        )


class Walk:
    """The lines that y depends on, what each is called, and the way back through them."""

    def __init__(self, question: Question, found: Trace) -> None:
        self.question, self.trace = question, found
        self.lines = needed(found.program.lines, found.program.output)
        self.output = found.program.output
        self.name = question.program.output_name
        self.given: dict[Atom, list[str]] = {}
        for name, atom in question.program.named.items():
            self.given.setdefault(atom, []).append(name)
        self.names = self._named()
        self.users: dict[Atom, list[Line]] = {}
        for line in self.lines:
            for atom in dict.fromkeys(line.call.operands):
                self.users.setdefault(atom, []).append(line)
        variables = [symbol for symbol in found.program.variables if str(symbol) in question.wrt]
        order = {name: n for n, name in enumerate(question.wrt)}
        self.variables = sorted(variables, key=lambda symbol: order[str(symbol)])
        # Backward from y: an adjoint is shown after all that it is summed from.
        held = [line.symbol for line in reversed(self.lines) if line.symbol in found.adjoints]
        self.atoms = [atom for atom in held if atom != self.output] + list(self.variables)

    def _named(self) -> dict[Atom, str]:
        """Of variables, named statements and the output their own names; of other lines t1, t2, … that are free."""
        program = self.question.program
        names: dict[Atom, str] = {symbol: str(symbol) for symbol in self.trace.program.variables}
        taken = {*program.names, *program.assigned, *self.question.named, self.name}
        free = (f"t{n}" for n in range(1, len(self.lines) + len(taken) + 2) if f"t{n}" not in taken)
        for line in self.lines:
            first = next(iter(self.given.get(line.symbol, [])), line.name)
            names[line.symbol] = self.name if line.symbol == self.output else first or next(free)
        return names

    def shown(self) -> list[tuple[str, Atom, Line | str]]:
        """The lines of the forward pass and the names that only repeat one: name, value, and what it is.

        The output stands alone where no line makes it.
        """
        from gradcli.symbolic.operations import constant

        shown: list[tuple[str, Atom, Line | str]] = []
        for symbol in self.trace.program.variables:
            if symbol in self.users or symbol == self.output:
                shown += [(name, symbol, str(symbol)) for name in self.given.get(symbol, []) if name != self.name]
        for line in self.lines:
            first, *others = self._called(line.symbol)
            shown += [(first, line.symbol, line), *((name, line.symbol, first) for name in others)]
        if not self.lines:
            shown.append((self.name, self.output, self.names.get(self.output) or constant(self.output)))
        return shown

    def _called(self, atom: Atom) -> list[str]:
        """The names of a line in their order; the output's own is the last."""
        own = self.names[atom]
        given = self.given.get(atom, [])
        return [*(name for name in given if name != own), own] if atom == self.output else given or [own]

    def step(self, name: str, atom: Atom, made: Line | str) -> Step:
        """The step of the forward pass that a line, or a name that repeats one, is shown as."""
        from gradcli.symbolic.operations import written

        value = self.trace.values.get(atom, self.question.value)
        if isinstance(made, str):
            return Step(name, Number(made) if atom.is_number else Name(made), value)
        return Step(name, written(made.call, lambda atom: self.names.get(atom, str(atom))), value)

    def adjoints(self, v: Array, product: Mapping[str, Array]) -> Iterator[Adjoint]:
        """The steps of the backward pass, from the adjoint of the output to those of the variables."""
        terms = Terms(self.question, self.trace, self.names)
        yield Adjoint(name=self.name, notation=Bar(self.name), value=v, terms=(), terms_count=0)
        for atom in ends(self.atoms):
            is_variable = not self.trace.program.lines or atom in self.trace.program.variables
            value = product[str(atom)] if is_variable else self.trace.adjoints[atom]
            name = self.names[atom]
            found, count = self._terms(atom, terms, value)
            yield Adjoint(name=name, notation=Bar(name), value=value, terms=found, terms_count=count)

    def _terms(self, atom: Atom, terms: Terms, value: Array) -> tuple[tuple[Term, ...], int]:
        """The terms of one adjoint, and how many there are."""
        if atom == self.output:  # y is the variable itself
            above = Bar(self.name)
            return (Term(source=self.name, derivative=Number("1"), equation=above, value=value),), 1
        users = [line for line in self.users.get(atom, []) if line.symbol in self.trace.adjoints]
        found: list[Term] = []
        missing = 0
        for line in users:
            if len(found) == MOST_TERMS:
                break
            term = terms.term(line, atom)
            if term is None:
                missing += 1
            else:
                found.append(term)
        return tuple(found), len(users) - missing


def ends(items: Sequence[_Item]) -> list[_Item]:
    """All of a short list; the first and last half of `MOST_LINES` of a long one.

    >>> len(ends(range(1_000)))
    200
    """
    half = MOST_LINES // 2
    return list(items) if len(items) <= MOST_LINES else [*items[:half], *items[-half:]]


def remarks(question: Question, walk: Walk, v: Array, *, is_implicit: bool) -> Iterator[str]:
    """What this v does, in a few words."""
    y = walk.name
    if is_implicit:
        yield f"{y} has one element, so v = 1 is understood"
    yield from of_sum(question, v) or _of_last_sum(walk, v)
    if v.size < 2:
        return
    ones = np.flatnonzero(v)
    if np.all(v == 1):
        yield "ones add the rows of J up"
        if _is_pointwise(question, walk):
            x = question.wrt[0]
            index = "[i]" if v.ndim == 1 else "[i,j]" if v.ndim == 2 else "[...]"
            of = f"of {x}, " if len(walk.trace.program.variables) > 1 else ""
            yield f"{of}{y}{index} depends on {x}{index} alone, so that ones give the derivative at every point"
    elif len(ones) == 1 and v.ravel()[ones[0]] == 1:
        at = ",".join(str(n) for n in np.unravel_index(ones[0], v.shape))
        yield f"v picks one row of J, the one of {y}[{at}]"


def _of_last_sum(walk: Walk, v: Array) -> tuple[str, ...]:
    """Where v = 1 ends in a sum: what reaches the elements that it adds up is ones."""
    last = walk.lines[-1].call if walk.lines else None
    if last is None or not last.op.is_sum or v.size != 1 or v.item() != 1 or last.operands[0] not in walk.names:
        return ()
    inner = walk.names[last.operands[0]]
    return (f"sum() passes 1 to each element of {inner}: the same as v = ones at {inner}",)


def _is_pointwise(question: Question, walk: Walk) -> bool:
    """Whether each element of y depends on the same element of one variable alone, detached or not."""
    if len(question.wrt) != 1 or question.arrays[question.wrt[0]].shape != question.shape:
        return False
    depending: set[Atom] = set(walk.variables)
    for line in walk.lines:
        if line.call.op.kind is not Kind.COUNT and not depending.isdisjoint(line.call.operands):
            if line.call.op.kind is not Kind.ELEMENTWISE:
                return False
            depending.add(line.symbol)
    return walk.output in depending


# -- one term of an adjoint


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
        term = Term(source=self.names[line.symbol], value=value)
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
        if found is None or not self._holds(line, operand, found):
            return term
        remark = "" if found.is_branch else self._difference(line, found, slopes)
        words = "; ".join(filter(None, (term.words, remark)))
        equation = _CHAIN(Bar(self.names[line.symbol]), found.factor)
        return replace(term, derivative=found.alone, equation=equation, words=words)

    def _stretched(self, line: Line, operand: Atom) -> str:
        shapes = self.trace.values[operand].shape, self.trace.values[line.symbol].shape
        size = "one number" if not shapes[0] else f"of shape {shapes[0]}"
        x, y = self.names[operand], self.names[line.symbol]
        return f"{x} is {size} and is used for all of {y}, of shape {shapes[1]}: summed over what was stretched"

    def _holds(self, line: Line, operand: Atom, found: Slope) -> bool:
        """Whether the reference confirms the formula, on scalars."""
        if found.is_branch:
            return True
        symbols = list(dict.fromkeys(a for a in line.call.operands if isinstance(a, sympy.Symbol)))
        stand_ins = {symbol: sympy.Symbol(f"operand{n}", real=True) for n, symbol in enumerate(symbols)}
        operands = tuple(stand_ins.get(a, a) for a in line.call.operands)
        return _is_confirmed(Call(line.call.op.name, operands, line.call.statics), str(stand_ins[operand]))

    def _difference(self, line: Line, found: Slope, slopes: Array) -> str:
        """Nothing where the formula gives torch's slopes; what torch takes at a kink; or that it does not hold."""
        held = {a: np.broadcast_to(self.trace.values[a], slopes.shape) for a in line.call.operands if a in self.names}
        remark = ""
        for at in _sampled(slopes):
            values = {sympy.Symbol(self.names[a], real=True): arb(float(array[at])) for a, array in held.items()}
            expected = _evaluated(found.expression, values)
            torch = float(slopes[at])
            if not (math.isfinite(expected) and math.isfinite(torch)):
                continue
            if self._differ(expected, torch):
                index = f" at [{','.join(map(str, at))}]" if at else ""
                remark = f"torch takes {repr(torch).removesuffix('.0')}{index}, where "
                around = [_evaluated(found.expression, beside) for beside in _beside(values)]
                jumps = any(self._differ(slope, around[0]) for slope in around)
                remark += "the slope jumps" if jumps else f"the formula gives {expected:.3g}: digits were lost"
        return remark

    def _differ(self, one: float, other: float) -> bool:
        return abs(one - other) > CLOSE[self.question.dtype] * max(abs(one), abs(other))

    # -- others

    def _other(self, line: Line, operand: Atom, term: Term) -> Term:
        call, y = line.call, self.names[line.symbol]
        shapes = [self.trace.values[a].shape if a in self.trace.values else () for a in call.operands]
        z = Bar(y)
        found = rule(call, operand, self.names, shapes, y, z)
        equation = found.equation
        term = replace(term, equation=equation, words=found.words, derivative=equation)
        result = self.trace.values[line.symbol]
        adjoint = self.trace.adjoints[line.symbol]
        if call.op.kind is Kind.CONTRACTION:
            return replace(term, local=self._small(line, operand), factors=self._product(line, operand))
        if call.op.is_extreme and np.count_nonzero(term.value) > np.count_nonzero(adjoint):
            term = replace(term, words="the elements that tie share the adjoint, 0 elsewhere")
        if result.size == 1:
            return self._to_one(line, operand, term, adjoint)
        jacobian = self._small(line, operand)
        term = replace(term, local=jacobian)
        if jacobian is not None and jacobian.ndim <= 2 and not found.words and call.op.kind in _DRAWN:
            term = replace(term, factors=(adjoint, jacobian))
        return term if equation or found.words else self._described(line, operand, term)

    def _to_one(self, line: Line, operand: Atom, term: Term, adjoint: Array) -> Term:
        """Of a line of one element: the gradient of the operand's shape, and its formula."""
        one = np.ones(self.trace.values[line.symbol].shape, dtype=self.question.dtype)
        gradient = self.trace.contributions(line, one).get(operand)
        if gradient is None:
            return term
        if term.words:
            return replace(term, local=gradient)
        term = replace(term, local=gradient, factors=(adjoint.reshape(()), gradient))
        return term if term.equation else self._described(line, operand, term)

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
        found: Any = ()
        match a.ndim, b.ndim:
            case 1, 1:
                found = (z, b if is_first else a)
            case 2, 1:
                found = (z[:, None], b[None, :]) if is_first else (a.T, z)
            case 1, 2:
                found = (b, z) if is_first else (a[:, None], z[None, :])
            case 2, 2:
                found = (z, b.T) if is_first else (a.T, z)
        return tuple(np.asarray(part) for part in found)


def _uniform(array: Array) -> Array:
    """One number in the place of an array of equal ones."""
    flat = array.reshape(-1)
    return flat[0].reshape(()) if flat.size and np.all(flat == flat[0]) else array


def _sampled(array: Array) -> list[tuple[int, ...]]:
    """Indices of a few elements: the first and the last, and some between."""
    if array.size == 0:
        return []
    flat = sorted({round(n * (array.size - 1) / max(1, SAMPLED - 1)) for n in range(SAMPLED)})
    return [tuple(int(i) for i in np.unravel_index(n, array.shape)) for n in flat]


def _evaluated(expression: Any, values: Mapping[sympy.Symbol, Any]) -> float:
    with precision(BITS):
        try:
            return float(compile_ball(expression)(values).mid())
        except (NotImplementedError, KeyError):
            return math.nan


def _beside(values: Mapping[sympy.Symbol, Any]) -> Iterator[Mapping[sympy.Symbol, Any]]:
    """Each value in turn a little smaller and a little larger."""
    for symbol, value in values.items():
        step = abs(value) * arb(2) ** -STEP_BITS if value != 0 else arb(2) ** -LEAST_BITS
        with precision(BITS):
            yield {**values, symbol: value - step}
            yield {**values, symbol: value + step}


class _UnconfirmedError(Exception):
    """The reference did not confirm a derivative, perhaps for want of time: what is raised is not kept."""


def _is_confirmed(call: Call, name: str) -> bool:
    """Whether the reference confirms the local derivative of an operation on scalars, at values of its own choice."""
    try:
        _confirmed(call, name)
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
