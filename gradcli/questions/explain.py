"""The chain rule step by step: the lines of the Program forward, v, and the adjoints backward.

Values, adjoints and what each line adds to them are torch's (`autodiff.trace`); the formulas of the local derivatives
are the symbolic reading's, shown where the reference confirms them and they give torch's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gradcli.errors import TooLargeError
from gradcli.language.inputs import Array, Value
from gradcli.language.program.wengert import Atom, Line, needed
from gradcli.notation import Bar, Name, Number
from gradcli.progress import counted
from gradcli.questions.adjoints import judged_adjoint
from gradcli.questions.judging import differentiated, of_passes, of_v
from gradcli.questions.loss import agrees, apart, derive_loss, with_loss
from gradcli.questions.question import Inquiry, Question
from gradcli.questions.terms import Terms
from gradcli.reference.deadline import OverTimeError, time_limit
from gradcli.results import Adjoint, Explanation, Formula, Step, Term, Verdict
from gradcli.symbolic.operations import constant, written

if TYPE_CHECKING:
    from gradcli.autodiff.run import Trace

_Item = TypeVar("_Item")

MOST_LINES = 200
"""Lines, and adjoints, that an answer holds; of more, the first and the last half of it."""

MOST_JUDGED = 30
"""Adjoints that are judged, each on a function of its own; more are left unchecked."""

MOST_TERMS = 12
"""Terms of one adjoint that an answer holds."""

MOST_ELEMENTS = 2**24
"""Elements of all lines together: each is held with its adjoint and its local derivatives, 1 GiB in all."""


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
    own, extra = (inquiry, {}) if loss is None else apart(inquiry, loss, v)
    question = own.of_last(own.question(), v if loss is None else loss)
    of_snippet, check = inquiry.snippet.v, inquiry.check
    elements = sum(map(math.prod, question.shapes.values()))
    if elements > MOST_ELEMENTS:
        raise TooLargeError(
            f"the steps have {elements:,} numbers in all; at most {MOST_ELEMENTS:,} are explained",
            hint="use smaller inputs, or vjp, which keeps no steps",
        )
    given = np.ones(()) if loss is not None else question.cotangent(v, of_snippet)
    derived = None if loss is None else derive_loss(question, loss, extra, check=check)
    weights = question.weights(given) if derived is None else derived.v
    shared = differentiated(question, weights, check=check)
    found = shared["vjp"]
    from gradcli.autodiff.run import trace

    walk = Walk(question, trace(question.program, question.arrays, question.wrt, question.dtype, weights))
    lines = walk.shown()
    adjoints = list(walk.adjoints(weights, found))
    if check:
        adjoints = judged(walk, adjoints, weights)
        shared["check"] = with_loss(shared["check"], derived, question, found)
    is_implicit = v is None and of_snippet is None and loss is None
    customs = () if question.live is None else question.live.customs
    remarked = [
        *(f"vᵀJ is that of {name}.backward, and the steps are those of {name}.forward" for name in customs),
        *remarks(walk, weights, shared["symbolic"], is_implicit=is_implicit),
        *(of_v(question, given) if not loss else ()),
    ]
    warnings = (*shared.pop("warnings"), *of_passes(question), *(derived.warnings if derived else ()))
    return Explanation(
        command="explain",
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
        # Backward from y: an adjoint is shown after all that it is summed from.
        held = [line.symbol for line in reversed(self.lines) if line.symbol in found.adjoints]
        own = {str(symbol): symbol for symbol in found.program.variables}
        self.atoms = [atom for atom in held if atom != self.output] + [
            own[name] for name in question.wrt if name in own
        ]

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
        """The step of the forward pass that a line, or a name that repeats one, is shown as."""
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
        looked_at: list[Term | None] = []
        for line in users:
            if len(list(filter(None, looked_at))) < MOST_TERMS:
                looked_at.append(terms.term(line, atom))
        return tuple(filter(None, looked_at)), len(users) - looked_at.count(None)


def judged(walk: Walk, adjoints: Sequence[Adjoint], v: Array) -> list[Adjoint]:
    """The adjoints with the verdict on each; those are unchecked that are too many, or for which no time is left."""
    verdicts: list[Verdict] = ["agree"]  # on the output, whose adjoint is v
    ran, atoms = replace(walk.question, program=walk.trace.program), ends(walk.atoms)
    with time_limit():
        for atom, one in counted("line", zip(atoms, adjoints[1:], strict=True), len(atoms)):
            try:
                is_late, value = len(verdicts) > MOST_JUDGED, walk.trace.values[atom]
                own = None if is_late else judged_adjoint(ran, atom, one.name, value, v, one.value)
                verdicts.append(own.verdict if own else "unchecked")
            except OverTimeError:
                verdicts.append("unchecked")
    return [replace(adjoint, verdict=verdict) for adjoint, verdict in zip(adjoints, verdicts, strict=True)]


def ends(items: Sequence[_Item]) -> list[_Item]:
    """All of a short list; the first and last half of `MOST_LINES` of a long one.

    >>> len(ends(range(1_000)))
    200
    """
    half = MOST_LINES // 2
    return list(items) if len(items) <= MOST_LINES else [*items[:half], *items[-half:]]


def remarks(walk: Walk, v: Array, formulas: Mapping[str, Formula], *, is_implicit: bool) -> Iterator[str]:
    """What this v does, in a few words."""
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
