"""Claims without values: for which shapes of the variables they and their function make sense.

`x.T@A@x` and the claim `(A + A.T)@x` make sense for a vector x and a square A, and then the claim is of the gradient by
x.  All such readings are looked at, the likeliest first.  A claim that holds in one of them is proved, and the answer
says for which; it is refuted only if it fails in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from gradcli.errors import GradcliError
from gradcli.language.program.named_shapes import NamedReading
from gradcli.language.program.shape_costs import MOST_UNLIKELY, UNWANTED
from gradcli.language.program.shape_readings import Demand, GivenShape
from gradcli.language.program.wengert import Program, Shape
from gradcli.parts.claims.claim_readings import StatedFunction, parse
from gradcli.parts.claims.equations import differentials_in, variable_of
from gradcli.parts.claims.structures import named_variables, structures_of
from gradcli.parts.claims.subject import Subject, V
from gradcli.questions.bound_function import FunctionWithValues
from gradcli.questions.likely_shapes import at_random_values, likely_shapes
from gradcli.questions.naming import chosen_variables
from gradcli.results import Checking

MOST_READINGS = 4
"""Readings that are looked at, of those that are near to the likeliest."""

STRETCHED, OF_SEVERAL, TRANSPOSED = 0.5, 0.5, 0.5
"""Costs of a number claimed for each entry, of each dimension of y, and of a Jacobian whose columns are of y."""


@dataclass(frozen=True)
class OpenClaim:
    """Claim of the derivative by one variable, whose shape is to fit that of the function.

    Attributes:
        variable: The name of the variable.
        text: The claim.
    """

    variable: str
    text: str

    def read(self, function: Program, shapes: Mapping[str, Shape]) -> Program | None:
        """Parse it for these shapes; None where it says each entry by its indices.

        Raises:
            GradcliError: It makes no sense with them.
        """
        of_symbols = {symbol: shapes[str(symbol)] for symbol in function.variables}
        found = parse(Subject.from_program(function, of_symbols, self.variable, None), self.text)
        return None if found.is_indexed else found.program

    def demands(self, own: Program, shapes: Mapping[str, Shape], y: Shape) -> Iterable[Demand]:
        """List the shapes that a derivative has: the gradient's, the Jacobian's, and what stretches to them."""
        x = shapes[self.variable]
        names_vector = V in own.names and V not in shapes
        is_gradient = names_vector or math.prod(y) == 1
        yield Demand(x, 0.0 if is_gradient else UNWANTED)
        if x:
            yield Demand((), STRETCHED)
        if len(x) > 1:
            yield Demand(x[-1:], UNWANTED)
        if y and not names_vector:
            yield Demand((*y, *x))
            yield Demand((*x, *y), TRANSPOSED)
            if len(x) + len(y) > 2 and max(len(x), len(y)) < 3:
                yield Demand((math.prod(y), math.prod(x)), TRANSPOSED)  # of stacked columns


@dataclass(frozen=True)
class OpenReading:
    """Shapes with which a function and claims of it make sense, and the variables that the claims are of.

    Attributes:
        found: The shapes.
        claims: The claims by variable.
    """

    found: NamedReading
    claims: Mapping[str, str | StatedFunction]


class AnswerAtValues(Protocol):
    """Answers at the point of a function."""

    def __call__(
        self, unbound: FunctionWithValues, ranges: Mapping[str, str] | None, claim: Mapping[str, str | StatedFunction]
    ) -> Checking:
        """Answer; `ranges` is None where nobody gave the values."""


def at_likely_shapes(
    unbound: FunctionWithValues,
    shape: Mapping[str, GivenShape],
    claim: Mapping[str, str | StatedFunction],
    assume: Mapping[str, str],
    seed: int,
    answer: AnswerAtValues,
) -> Checking:
    """Answer at random values, for the likely shapes.

    Args:
        unbound: The function, without values.
        shape: Shapes that are given.
        claim: The claims by variable; the empty name stands for the one that is found by the shape.
        assume: Structures by variable.
        seed: Of the values.
        answer: Answers at values.

    Raises:
        GradcliError: No shapes fit, or the likeliest reading cannot be answered.
    """
    names = unbound.snippet.program.names
    assumed = named_variables(structures_of(assume), names, lambda: _small_shapes(open_readings(unbound, shape, claim)))
    found = open_readings(unbound, shape, claim, [name for name, one in assumed.items() if one.is_of_matrices])
    return answer_open(found, lambda one: answer(at_random_values(unbound, seed, one.found), None, one.claims))


def _small_shapes(found: Sequence[OpenReading]) -> Mapping[str, Shape]:
    """Return the shapes of variables with small sizes, as the likeliest reading has them."""
    reading = found[0].found
    small = reading.named.small(is_descending=True)
    return {str(symbol): small[symbol] for symbol in reading.program.variables}


def open_readings(
    unbound: FunctionWithValues,
    shape: Mapping[str, GivenShape],
    claim: Mapping[str, str | StatedFunction],
    square: Collection[str] = (),
) -> list[OpenReading]:
    """List the readings of a function and of claims of it, the likeliest first.

    A claim without a variable may be of each that the derivative is by.

    Raises:
        GradcliError: A shape is malformed, or there is no reading of the function alone.
    """
    wrt = chosen_variables(unbound.snippet, unbound.wrt)
    named = dict(claim)
    unnamed = named.pop("", None)
    if isinstance(unnamed, str) and (variable := variable_of(unnamed) if "/" in unnamed and "=" in unnamed else ""):
        named, unnamed = {**named, variable: unnamed}, None
    if isinstance(unnamed, str) and (moved := differentials_in(unnamed, wrt)):
        named, unnamed = {**named, **dict.fromkeys(moved, unnamed)}, None
    found: list[OpenReading] = []
    for claims in [named] if unnamed is None else _named(unnamed, named, wrt):
        constraints = [OpenClaim(name, text) for name, text in claims.items() if isinstance(text, str) and name in wrt]
        with suppress(GradcliError):
            few = _few(likely_shapes(unbound, shape, constraints, _cost_of_several, square))
            found += (OpenReading(one, claims) for one in few)
    found.sort(key=lambda one: one.found.cost)
    likely = [one for one in found if one.found.cost <= found[0].found.cost + MOST_UNLIKELY]
    return likely[:MOST_READINGS] or [OpenReading(next(likely_shapes(unbound, shape, square=square)), claim)]


def _named(
    unnamed: str | StatedFunction, named: Mapping[str, str | StatedFunction], wrt: Sequence[str]
) -> Iterator[Mapping[str, str | StatedFunction]]:
    """Name a claim without a variable: by each, and by all where it lists one for each, `[y, x]` of x*y.

    >>> [*_named("[y, x]", {}, ["x", "y"])]
    [{'x': '[y, x]'}, {'y': '[y, x]'}, {'x': 'y', 'y': 'x'}]
    """
    if not isinstance(unnamed, str):
        yield {**named, "": unnamed}
        return
    from gradcli.parts.claims.respelled_claims import listed_claims

    yield from ({**named, variable: unnamed} for variable in wrt)
    if len(wrt) > 1 and len(listed := listed_claims(unnamed)) == len(wrt):
        yield {**named, **dict(zip(wrt, listed, strict=True))}


def answer_open(found: Sequence[OpenReading], answer: Callable[[OpenReading], Checking]) -> Checking:
    """Answer for the first reading in which all claims are proved; else for the one in which they fare best.

    What the other readings gave is said in a remark.

    Raises:
        GradcliError: The likeliest reading cannot be answered.
    """
    answers: list[tuple[OpenReading, Checking]] = []
    for one in found:
        try:
            answers.append((one, answer(one)))
        except GradcliError:
            if not answers:
                raise
            continue
        if _standing(answers[-1][1]) == 0:
            break
    best, chosen = min(answers, key=lambda pair: _standing(pair[1]))
    others = [(one, other) for one, other in answers if one is not best]
    if not others:
        return chosen
    if _standing(chosen) == len(STANDINGS) - 1:
        remark = f"it is refuted too {'; '.join(_what_it_is_for(one, best) for one, _ in others)}"
    else:
        remark = "; ".join(f"{_what_it_is_for(one, best)} it is {_status(other)}" for one, other in others)
        remark = f"this is {_what_it_is_for(best, others[0][0])}; {remark}"
    return replace(chosen, remarks=(*chosen.remarks, remark))


STANDINGS = ("proved", "agrees", "no counterexample", "refuted")
"""Outcomes of claims, the best first."""


def _standing(answer: Checking) -> int:
    return max((STANDINGS.index(one.status) for one in answer.claims), default=0)


def _status(answer: Checking) -> str:
    found = STANDINGS[_standing(answer)]
    return "neither proved nor refuted" if found == "no counterexample" else found


def _what_it_is_for(reading: OpenReading, other: OpenReading) -> str:
    """Say for what a reading is: for which shapes, or by which variables, whatever differs from another reading."""
    by = f"by {', '.join(reading.claims)}" if reading.claims.keys() != other.claims.keys() else ""
    is_other = reading.found.named.given != other.found.named.given
    return " ".join([by] * bool(by) + [f"for {reading.found.words}"] * (is_other or not by))


def _few(found: Iterator[NamedReading]) -> Iterator[NamedReading]:
    """Take the first of several readings, and those that are nearly as likely."""
    first: NamedReading | None = None
    for count, one in enumerate(found):
        first = first or one
        if count == MOST_READINGS or one.cost > first.cost + MOST_UNLIKELY:
            return
        yield one


def _cost_of_several(y: Shape) -> float:
    return 0.0 if math.prod(y) == 1 else OF_SEVERAL * len(y)
