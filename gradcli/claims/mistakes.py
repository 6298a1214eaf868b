"""The likeliest mistake in a claim that is wrong: the first of a list that gives the claimed numbers at every point.

Each mistake is a way to get numbers from the truth and from the lines of the function.  It is named only if these are
the claim at a few random points.  All are the middles of enclosures, so agreement to ten digits is no accident.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.claims.evaluation import Comparison, Look, moved, reference_of
from gradcli.claims.subject import VECTOR, as_written
from gradcli.crosscheck.compare import to_float
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expand, in_primitives
from gradcli.language.program.wengert import Atom, Line, Program, needed
from gradcli.reference.balls import precision
from gradcli.reference.duals import Plan
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.rules import Outcome, Undefined, is_power
from gradcli.symbolic.operations import slope

FEWEST_POINTS, MOST_POINTS = 3, 6
"""Points at which a mistake has to explain the claim."""

BITS = 128

CLOSE = 1e-10
"""Relative difference of numbers that are the same."""

LARGEST_PART = 100
"""Numerators and denominators of a factor that is shown as a fraction."""

MOST_COLUMNS = 64
"""Elements of x up to which whole Jacobians are taken."""

MOST_LINES = 30
"""Lines of a function or a claim that are looked at."""

LONGEST = 40
"""Characters of a sub-expression or a formula that is shown."""

_ROOTS = tuple(map(sympy.sqrt, (sympy.pi, 2, 3, 2 * sympy.pi)))
_CONSTANTS = (sympy.S.One, sympy.pi, sympy.E, sympy.log(2), sympy.log(10), sympy.pi**2, *_ROOTS)

CONSTANTS = (*_CONSTANTS, *(1 / constant for constant in _CONSTANTS))
"""Numbers of which a forgotten or surplus factor may be a simple multiple."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """One point: the entries that were seen, as numbers, and the point itself."""

    look: Look
    truth: Numbers
    claimed: Numbers
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]

    @classmethod
    def of(cls, look: Look) -> Sample:
        """The numbers of a look."""
        return cls(
            look,
            np.array([to_float(one.truth) for one in look.seen]),
            np.array([to_float(one.claimed) for one in look.seen]),
            np.array([one.entry.row for one in look.seen], dtype=np.int64),
            np.array([one.entry.column for one in look.seen], dtype=np.int64),
        )

    @property
    def v(self) -> Numbers:
        """The gradient vector, flat."""
        return np.asarray(self.look.v, dtype=np.float64).ravel()


Measured = Sequence[tuple[Numbers, Numbers]]
"""The value of a Program, flat, and its Jacobian by one variable, at each point."""

Numbered = Sequence[Numbers]
"""Numbers for the entries at each point; empty where there are none."""


class Evidence:
    """A wrong claim at several points, and the function there."""

    def __init__(self, comparison: Comparison, samples: Sequence[Sample]) -> None:
        self.comparison, self.samples = comparison, samples
        self.subject, self.of = comparison.subject, comparison.reading.of
        self.width, self.height = math.prod(self.subject.x), math.prod(self.subject.y)
        program = self.subject.program
        self.typed = expand(program, keep=lambda call: call.op.is_primitive or call.op.kind is Kind.ELEMENTWISE)

    def explains(self, numbers: Numbered) -> bool:
        """Whether these numbers are the claim at every point, and not all 0."""
        pairs = list(zip(numbers, (s.claimed for s in self.samples), strict=False))
        return bool(pairs) and all(same(a, b) for a, b in pairs) and any(np.any(b) for _, b in pairs)

    def measured(self, program: Program, variable: sympy.Symbol | None = None) -> Measured:
        """A Program and its Jacobian by a variable at each point; empty if that is too much."""
        shapes = {**({VECTOR: self.subject.y} if self.subject.has_vector else {}), **self.subject.shapes}
        directions = []
        if variable is not None and variable in program.variables:
            directions = [(variable, j) for j in range(math.prod(shapes[variable]))]
        if len(directions) > MOST_COLUMNS:
            return ()
        try:
            plan = reference_of(as_written(in_primitives(program)), shapes).plan(directions)
        except OverBudgetError:
            return ()
        return [_measured(plan, sample) for sample in self.samples] if plan.judges_value else ()

    def part(self, atom: Atom) -> Measured:
        """One value of the function, and its Jacobian by x, at each point."""
        lines = tuple(needed(self.typed.lines, atom))
        return self.measured(replace(self.typed, lines=lines, output=atom), self.subject.variable)

    @cached_property
    def lines(self) -> list[tuple[Line, Measured]]:
        """The lines that have a text of their own and depend on x, from the inner ones."""
        moving: set[Atom] = {self.subject.variable}
        for line in self.typed.lines:
            if moving & set(line.call.operands):
                moving.add(line.symbol)
        last = {line.span: line for line in self.typed.lines}
        named = [line for line in self.typed.lines if last[line.span] is line and line.symbol in moving]
        found = [(line, self.part(line.symbol)) for line in named[:MOST_LINES]]
        return [(line, measured) for line, measured in found if measured]

    def as_claimed(self, jacobians: Sequence[Numbers], weight: Callable[[Sample], Numbers] | None = None) -> Numbered:
        """Jacobians in the form of the claim: their entries, or sums of their rows with v or these weights."""
        if not jacobians or any(J.shape[1] != self.width for J in jacobians):
            return []
        pairs = list(zip(jacobians, self.samples, strict=True))
        if self.of == "Jacobian":
            is_whole = all(len(J) == self.height for J in jacobians)
            return [J[s.rows, s.columns] for J, s in pairs] if is_whole else []
        ones = self.of == "gradient" and weight is None
        weights = [np.ones(len(J)) if ones else weight(s) if weight else s.v for J, s in pairs]
        if any(len(v) != len(J) for v, J in zip(weights, jacobians, strict=True)):
            return []
        return [(v @ J)[sample.columns] for v, (J, sample) in zip(weights, pairs, strict=True)]

    def by_entry(self, flat: Sequence[Numbers]) -> Numbered:
        """One number for all entries, or one for each element of x: of values, or of diagonal Jacobians."""
        found: list[Numbers] = []
        for numbers, sample in zip(flat, self.samples, strict=True):
            is_block = numbers.ndim == 2 and len(numbers) > 1
            if is_block and (numbers.shape != (self.width,) * 2 or np.any(numbers - np.diag(np.diag(numbers)))):
                return []
            own = np.diag(numbers) if is_block else numbers.ravel()
            if len(own) not in (1, self.width):
                return []
            found.append(np.broadcast_to(own, self.width)[sample.columns])
        return found

    def shown(self, line: Line) -> str:
        """The text of a line, in backticks."""
        text = " ".join(self.typed.text[line.span.start : line.span.stop].split())
        while text.startswith("(") and text.endswith(")") and "(" not in text[1:-1]:
            text = text[1:-1]
        return f"`{text if len(text) <= LONGEST else text[: LONGEST - 3] + '...'}`"


def mistake(comparison: Comparison, looks: Sequence[Look]) -> str:
    """The likeliest mistake, in words; empty if none of the classic ones explains the claim.

    Args:
        comparison: The claim.
        looks: At random points where it can be compared.
    """
    samples = [Sample.of(look) for look in looks if look.worst is not None and not look.missing][:MOST_POINTS]
    with np.errstate(all="ignore"):
        if len(samples) < FEWEST_POINTS or all(same(s.truth, s.claimed) for s in samples):
            return ""
        evidence = Evidence(comparison, samples)
        return next((words for words, numbers in _mistakes(evidence) if evidence.explains(numbers)), "")


def _mistakes(evidence: Evidence) -> Iterator[tuple[str, Numbered]]:
    """Mistakes with the claim that each would lead to, from what is seen at once to what takes a look into lines."""
    subject, x = evidence.subject, evidence.subject.variable
    truths = [s.truth for s in evidence.samples]
    whole = evidence.measured(subject.program, x)
    J = [jacobian for _, jacobian in whole]
    yield "the sign: the claim is the truth times -1", [-truth for truth in truths]
    yield from _transposed(evidence, J)
    if evidence.of == "vector-Jacobian product":
        ones = evidence.as_claimed(J, lambda s: np.ones(evidence.height))
        yield "v is missing: the claim is right for v = ones only", ones
    for symbol, shape in subject.shapes.items():
        if symbol != x and shape == subject.x:
            by_other = [jacobian for _, jacobian in evidence.measured(subject.program, symbol)]
            yield f"the other variable: the claim is the derivative by {symbol}", evidence.as_claimed(by_other)
    inner = [(line, found) for line, found in evidence.lines if line.symbol != evidence.typed.output]
    for line, measured in inner:
        what = f"chain factor: the derivative of {evidence.shown(line)}{_formula(evidence, line)}"
        yield from _factor(what, truths, evidence.by_entry([slope for _, slope in measured]))
    for line, _ in evidence.lines:
        yield from _power(evidence, line, truths)
    if (factor := _constant(evidence)) is not None:
        yield f"off by the factor {_shown(factor)}{_count(factor, evidence)}", [factor * t for t in truths]
    values = [(f"factor: `{symbol}`", evidence.part(symbol)) for symbol in subject.program.variables]
    for what, measured in (*values, *((f"factor: {evidence.shown(line)}", found) for line, found in evidence.lines)):
        if measured:
            yield from _factor(what, truths, evidence.by_entry([value for value, _ in measured]))
    for line, measured in inner:
        parts = evidence.as_claimed([slope for _, slope in measured])
        for what, times in (("a term is missing", 1), ("the sign of a term", 2)):
            for sign in (times, -times):
                rest = [t - sign * p for t, p in zip(truths, parts, strict=False)]
                yield f"{what}: the derivative of {evidence.shown(line)}", rest


def _power(evidence: Evidence, line: Line, truths: Sequence[Numbers]) -> Iterator[tuple[str, Numbered]]:
    """x**(n-1) and n*x**n in place of n*x**(n-1)."""
    if not is_power(line.call) or line.call.operands[1].is_Symbol or line.call.operands[1] == 0:
        return
    base, exponent = line.call.operands
    rule = f"the derivative of b**n is n*b**(n-1), here of {evidence.shown(line)}"
    yield f"the power rule: the exponent {exponent} is not brought down; {rule}", [t / float(exponent) for t in truths]
    lowered = evidence.by_entry([value for value, _ in evidence.part(base)]) if base.is_Symbol else []
    what = f"the power rule: the exponent {exponent} is not lowered; {rule}"
    yield what, [t * b for t, b in zip(truths, lowered, strict=False)]


def _factor(what: str, truths: Sequence[Numbers], factor: Numbered) -> Iterator[tuple[str, Numbered]]:
    """What a claim is without a factor, and with it once more."""
    pairs = list(zip(truths, factor, strict=False))
    yield f"a missing {what}", [t / f for t, f in pairs]
    yield f"a surplus {what}", [t * f for t, f in pairs]


def _transposed(evidence: Evidence, J: Sequence[Numbers]) -> Iterator[tuple[str, Numbered]]:
    x = evidence.subject.x
    if evidence.of == "Jacobian":
        what = "transposed: a row belongs to an element of y, a column to one of x"
        yield what, evidence.as_claimed([j.T for j in J])
    elif evidence.of == "vector-Jacobian product":
        what = "the Jacobian is transposed: the claim is Jv, and the truth is vᵀJ"
        yield what, evidence.as_claimed([j.T for j in J])
    if evidence.of != "Jacobian" and len(x) == 2 and x[0] == x[1]:
        turn = np.arange(evidence.width).reshape(x).T.ravel()
        is_whole = all(len(s.columns) == evidence.width for s in evidence.samples)
        turned = [s.truth[turn] for s in evidence.samples] if is_whole else []
        yield "transposed: the claim is the transpose of the truth", turned


def _constant(evidence: Evidence) -> float | None:
    """The one number that the claim is too large by."""
    for sample in evidence.samples:
        keep = np.flatnonzero(sample.truth)
        factor = float(sample.claimed[keep[0]] / sample.truth[keep[0]]) if len(keep) else 0.0
        return factor if factor and math.isfinite(factor) else None
    return None


def _shown(factor: float) -> str:
    """Write a factor as a simple multiple of a constant, or with twelve digits.

    >>> _shown(0.4), _shown(2*math.pi), _shown(1/math.log(2))
    ('2/5', '2*pi', '1/log(2)')
    """
    for known, ratio in ((known, factor / float(known)) for known in CONSTANTS):
        share = sympy.Rational(Fraction(ratio if math.isfinite(ratio) else 0).limit_denominator(LARGEST_PART))
        if 0 < abs(share.p) <= LARGEST_PART and math.isclose(float(share * known), factor, rel_tol=CLOSE):
            return str(share * known)
    return repr(float(f"{factor:.12g}"))


def _count(factor: float, evidence: Evidence) -> str:
    for symbol, shape in evidence.subject.shapes.items():
        n = math.prod(shape)
        if n > 2 and any(math.isclose(factor, k, rel_tol=CLOSE) for k in (n, 1 / n)):
            return f": {symbol} has {n} elements"
    return ""


def _formula(evidence: Evidence, line: Line) -> str:
    """` is 2*x`, where one operation makes the line of x."""
    x = evidence.subject.variable
    if line.call.op.kind is not Kind.ELEMENTWISE or x not in line.call.operands:
        return ""
    found = slope(line.call, {a: str(a) for a in line.call.operands}, x)
    return f" is `{found.alone.text}`" if found is not None and len(found.alone.text) <= LONGEST else ""


def same(a: Numbers, b: Numbers) -> bool:
    """Whether numbers are the same to `CLOSE`, relative to the largest of them where they cancel."""
    if a.shape != b.shape or not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return False
    largest = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
    return bool(np.allclose(a, b, rtol=CLOSE, atol=1e-14 * largest))


def _measured(plan: Plan, sample: Sample) -> tuple[Numbers, Numbers]:
    """Values and Jacobian of one plan at one point."""
    with precision(BITS):
        run = moved(plan, {str(VECTOR): sample.look.v, **sample.look.inputs}).run(BITS)
    values = np.array([_number(outcome) for _, outcome in sorted(run.values.items())])
    J = np.zeros((len(values), len(plan.directions)))
    for (direction, row), outcome in run.columns.items():
        J[row, direction] = _number(outcome)
    return values, J


def _number(outcome: Outcome) -> float:
    return math.nan if isinstance(outcome, Undefined) else to_float(outcome)
