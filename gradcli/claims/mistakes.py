"""The likeliest mistake in a claim that is wrong: what would make it right at every point tried.

Truth, claim and everything that may stand between them are numbers at a few random points; a mistake is named only if
it explains all of them.  The numbers are the middles of enclosures, so agreement to ten digits is no accident.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.claims.evaluation import Comparison, Look, moved, reference_of
from gradcli.claims.factors import MOST_LINES, Factor, factors, parts, products, shown, terms
from gradcli.claims.subject import VECTOR, as_written
from gradcli.crosscheck.compare import to_float
from gradcli.errors import GradcliError
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expand, in_primitives
from gradcli.language.program.wengert import Call, Line, Program
from gradcli.reference.balls import precision
from gradcli.reference.duals import Plan
from gradcli.reference.footprint import OverBudgetError
from gradcli.reference.rules import Outcome, Undefined, is_power

FEWEST_POINTS, MOST_POINTS = 3, 6
"""Points at which a mistake has to explain the claim."""

BITS = 128

CLOSE = 1e-10
"""Relative difference of numbers that are the same."""

LARGEST_PART = 100
"""Numerators and denominators of a factor that is shown as a fraction."""

MOST_COLUMNS = 64
"""Elements of x up to which whole Jacobians are taken."""

CONSTANTS: Mapping[str, float] = {
    "pi": math.pi,
    "pi**2": math.pi**2,
    "sqrt(pi)": math.sqrt(math.pi),
    "sqrt(2)": math.sqrt(2),
    "sqrt(3)": math.sqrt(3),
    "sqrt(2*pi)": math.sqrt(2 * math.pi),
    "E": math.e,
    "log(2)": math.log(2),
    "log(10)": math.log(10),
}
"""What a forgotten or surplus factor may be a simple multiple of, or one over it."""

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


class Evidence:
    """A wrong claim at several points, and what else there is to know of the function there."""

    def __init__(self, comparison: Comparison, samples: Sequence[Sample]) -> None:
        self.comparison, self.samples = comparison, samples
        self.subject, self.of = comparison.subject, comparison.reading.of
        self.width, self.height = math.prod(self.subject.x), math.prod(self.subject.y)

    def explains(self, numbers: Callable[[Sample], Numbers | None]) -> bool:
        """Whether these numbers are the claim at every point, and not all 0."""
        found = [numbers(sample) for sample in self.samples]
        pairs = [(a, s.claimed) for a, s in zip(found, self.samples, strict=True) if a is not None]
        return len(pairs) == len(found) and all(same(a, b) for a, b in pairs) and any(np.any(b) for _, b in pairs)

    @cached_property
    def typed(self) -> Program:
        """The function in elementwise operations as typed."""
        program = self.subject.program
        return expand(program, keep=lambda call: call.op.is_primitive or call.op.kind is Kind.ELEMENTWISE)

    @cached_property
    def jacobians(self) -> list[Numbers] | None:
        """∂y/∂x at each point, y by x; None if that is too much."""
        return self.of_program(self.subject.program, self.subject.variable)

    @cached_property
    def values(self) -> list[Numbers] | None:
        """The function at each point, flat."""
        return self.values_of(self.subject.program)

    def values_of(self, program: Program) -> list[Numbers] | None:
        """The value of a Program at each point, flat; None if that is too much."""
        try:
            plan = reference_of(as_written(in_primitives(program)), self._shapes).plan(())
        except OverBudgetError:
            return None
        if not plan.judges_value:
            return None
        with precision(BITS):
            runs = [moved(plan, _point(sample)).run(BITS).values for sample in self.samples]
            return [np.array([_number(outcome) for _, outcome in sorted(run.items())]) for run in runs]

    def is_true(self, claim: Program) -> bool:
        """Whether another claim has the true entries at every point."""
        try:
            found = self.values_of(claim)
        except GradcliError:  # its shapes do not fit
            return False
        pairs = [
            (np.array([values[self.comparison.position(seen.entry)] for seen in sample.look.seen]), sample.truth)
            for values, sample in zip(found or (), self.samples, strict=False)
            if len(values) == math.prod(self.comparison.reading.own)
        ]
        return len(pairs) == len(self.samples) and all(same(a, b) and np.any(b) for a, b in pairs)

    def of_program(self, program: Program, variable: sympy.Symbol) -> list[Numbers] | None:
        """The Jacobian of a Program in these variables by one of them at each point, flat by flat."""
        width = math.prod(self.subject.shapes[variable])
        if width > MOST_COLUMNS or variable not in program.variables:
            return None
        try:
            reference = reference_of(as_written(in_primitives(program)), self._shapes)
            plan = reference.plan([(variable, j) for j in range(width)])
        except OverBudgetError:
            return None
        height = math.prod(plan.reference.shapes.get(plan.reference.program.output, ()))
        return [_jacobian(plan, sample, height, width) for sample in self.samples]

    @property
    def _shapes(self) -> dict[sympy.Symbol, tuple[int, ...]]:
        own = {VECTOR: self.subject.y} if self.subject.has_vector else {}
        return {**own, **self.subject.shapes}

    def as_claimed(
        self, jacobians: list[Numbers] | None, weight: Callable[[Sample], Numbers] | None = None
    ) -> Explained:
        """These Jacobians in the form of the claim: their entries, or weighted sums of their rows."""

        def numbers(sample: Sample) -> Numbers | None:
            if jacobians is None:
                return None
            J = jacobians[self.samples.index(sample)]
            if self.of == "Jacobian":
                return np.asarray(J[sample.rows, sample.columns])
            v = np.ones(len(J)) if self.of == "gradient" and weight is None else (weight or _weights)(sample)
            return np.asarray((v @ J)[sample.columns]) if len(v) == len(J) else None

        return numbers


Explained = Callable[[Sample], Numbers | None]


def mistake(comparison: Comparison, looks: Sequence[Look]) -> str:
    """The likeliest mistake, in words; empty if none of the classic ones explains the claim.

    Args:
        comparison: The claim.
        looks: At random points where it can be compared.
    """
    samples = [Sample.of(look) for look in looks if look.worst is not None and not look.missing][:MOST_POINTS]
    if len(samples) < FEWEST_POINTS:
        return ""
    evidence = Evidence(comparison, samples)
    with np.errstate(all="ignore"):
        found = next(filter(None, _mistakes(evidence)), "") or next(_edited(evidence), "")
        return found or _symmetric(comparison, looks)


def _mistakes(evidence: Evidence) -> Iterator[str]:
    """From what is read off the claim at once to what takes a look into the function."""
    if evidence.explains(lambda s: -s.truth):
        yield "the sign: the claim is the truth times -1"
    yield from _transposed(evidence)
    yield from _vector(evidence)
    yield from _other_variable(evidence)
    yield from (_factor(evidence, factor) for factor in factors(evidence))
    constant = _constant(evidence)
    if constant:
        yield f"off by the factor {constant}"
    yield from (_factor(evidence, factor) for factor in parts(evidence))
    yield from _of_terms(evidence)


def _edited(evidence: Evidence) -> Iterator[str]:
    """An operand of the claim that makes it right where it is transposed, or is a number one more or one less."""
    claim = evidence.comparison.reading.program
    if claim is None:
        return
    quick = Evidence(evidence.comparison, evidence.samples[:1])
    texts = {line.symbol: f"`{claim.excerpt(line)}`" for line in claim.lines}
    places = [(n, k) for n, line in enumerate(claim.lines) for k in range(len(line.call.operands))]
    for n, k in places[:MOST_LINES]:
        before, line, after = claim.lines[:n], claim.lines[n], claim.lines[n + 1 :]
        operand, turned = line.call.operands[k], sympy.Dummy("turned", real=True)
        for other in (operand + 1, operand - 1) if operand.is_Integer else (turned,):
            more = () if other != turned else (Line(turned, Call("transpose", (operand,), (None, None)), line.span),)
            operands = (*line.call.operands[:k], other, *line.call.operands[k + 1 :])
            call = Call(line.call.op.name, operands, line.call.statics)
            changed = replace(claim, lines=(*before, *more, replace(line, call=call), *after))
            if quick.is_true(changed) and evidence.is_true(changed):
                kind = "a transpose" if more else "a power" if is_power(call) else "a number"
                what = "transposed" if more else f"{other}"
                yield f"{kind}: {texts.get(operand, f'`{operand}`')} in {texts[line.symbol]} is to be {what}"


def _transposed(evidence: Evidence) -> Iterator[str]:
    x, J = evidence.subject.x, evidence.jacobians
    if evidence.of == "Jacobian" and evidence.width == evidence.height:
        if evidence.explains(evidence.as_claimed(J and [j.T for j in J])):
            yield "transposed: a row belongs to an element of y, a column to one of x"
    elif evidence.of == "vector-Jacobian product" and evidence.width == evidence.height and J:
        turned: list[Numbers] | None = [j.T for j in J]
        if evidence.explains(evidence.as_claimed(turned)):
            yield "the Jacobian is transposed: the claim is Jv, and the truth is vᵀJ"
    if evidence.of != "Jacobian" and len(x) == 2 and x[0] == x[1]:
        turn = np.arange(evidence.width).reshape(x).T.ravel()
        is_whole = all(len(s.columns) == evidence.width for s in evidence.samples)
        if is_whole and evidence.explains(lambda s: s.truth[turn]):
            yield "transposed: the claim is the transpose of the truth"


def _vector(evidence: Evidence) -> Iterator[str]:
    """The mistake in the use of v that gives the claimed numbers; empty if none does."""
    J = evidence.jacobians
    if evidence.of != "vector-Jacobian product":
        return
    if evidence.explains(evidence.as_claimed(J, lambda s: np.ones(evidence.height))):
        yield "v is missing: the claim is right for v = ones only"
    if evidence.explains(evidence.as_claimed(J, lambda s: _weights(s) ** 2)):
        yield "v is in it twice"


def _other_variable(evidence: Evidence) -> Iterator[str]:
    for symbol, shape in evidence.subject.shapes.items():
        if symbol == evidence.subject.variable or shape != evidence.subject.x:
            continue
        if evidence.explains(evidence.as_claimed(evidence.of_program(evidence.subject.program, symbol))):
            yield f"the other variable: the claim is the derivative by {symbol}"


def _symmetric(comparison: Comparison, looks: Sequence[Look]) -> str:
    for symbol, shape in comparison.subject.shapes.items():
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
            continue
        name = str(symbol)
        turned = [{**look.inputs, name: (look.inputs[name] + look.inputs[name].T) / 2} for look in looks]
        seen = [comparison.look(inputs, look.v) for inputs, look in zip(turned, looks, strict=True)]
        if sum(bool(look.seen) for look in seen) >= FEWEST_POINTS and all(look.worst is None for look in seen):
            return f"right only where {name} is symmetric"
    return ""


def _factor(evidence: Evidence, factor: Factor) -> str:
    numbers = factor.numbers
    pairs = [(numbers[n], s) for n, s in enumerate(evidence.samples)]
    if all(np.allclose(f, 1, rtol=CLOSE) for f, _ in pairs):
        return ""

    def at(sample: Sample) -> Numbers:
        return numbers[evidence.samples.index(sample)]

    if not all(np.any(s.claimed) and np.any(s.truth) for _, s in pairs):
        return ""  # a factor of 0 explains any number
    if factor.if_missing and all(same(at(s) * s.claimed, s.truth) for _, s in pairs):
        return factor.if_missing
    if factor.if_surplus and all(same(at(s) * s.truth, s.claimed) for _, s in pairs):
        return factor.if_surplus
    return ""


def _ratio(sample: Sample) -> Numbers | None:
    """Claim over truth, if it is 0 where the truth is 0 and only there."""
    if np.any((sample.truth == 0) != (sample.claimed == 0)) or not np.any(sample.truth):
        return None
    keep = sample.truth != 0
    return np.asarray(sample.claimed[keep] / sample.truth[keep])


def _constant(evidence: Evidence) -> str:
    """The one number that the claim is too large by, as a fraction or a simple multiple of a constant."""
    ratios = [_ratio(sample) for sample in evidence.samples]
    if any(r is None for r in ratios):
        return ""
    together = np.concatenate([r for r in ratios if r is not None])
    factor = float(together[0])
    if not math.isfinite(factor) or not np.allclose(together, factor, rtol=CLOSE, atol=0):
        return ""
    return _shown(factor) + _count(factor, evidence)


def _shown(factor: float) -> str:
    """A factor for people.

    >>> _shown(0.4), _shown(2*math.pi), _shown(1/math.log(2))
    ('2/5', '2*pi', '1/log(2)')
    """
    if fraction := _fraction(factor):
        return fraction
    for name, value in CONSTANTS.items():
        if fraction := _fraction(factor / value):
            return name if fraction == "1" else f"{fraction}*{name}"
        if fraction := _fraction(factor * value):
            above, _, below = fraction.partition("/")
            held = f"({name})" if "*" in name and "(" not in name else name
            return f"{above}/({below}*{name})" if below else f"{above}/{held}"
    return repr(float(f"{factor:.12g}"))


def _fraction(number: float) -> str:
    if not math.isfinite(number):
        return ""
    fraction = Fraction(number).limit_denominator(LARGEST_PART)
    is_it = math.isclose(fraction, number, rel_tol=CLOSE) and 0 < abs(fraction.numerator) <= LARGEST_PART
    return str(fraction) if is_it else ""


def _count(factor: float, evidence: Evidence) -> str:
    for symbol, shape in evidence.subject.shapes.items():
        n = math.prod(shape)
        if n > 2 and any(math.isclose(factor, k, rel_tol=CLOSE) for k in (n, 1 / n)):
            return f": {symbol} has {n} elements"
    return ""


def _of_terms(evidence: Evidence) -> Iterator[str]:
    """A term of a sum that is missing, or has the wrong sign; a product of derivatives."""
    for line, sign, jacobians in terms(evidence):
        name = shown(evidence, line)
        if evidence.explains(_without(evidence, jacobians, sign)):
            yield f"a term is missing: the derivative of {name}"
        if evidence.explains(_without(evidence, jacobians, 2 * sign)):
            yield f"the sign of a term: the derivative of {name}"
    for line, numbers in products(evidence):
        if all(same(a, s.claimed) and np.any(a) for a, s in zip(numbers, evidence.samples, strict=True)):
            yield f"the product rule: the claim for {shown(evidence, line)} is the product of the derivatives"


def _without(evidence: Evidence, jacobians: list[Numbers], times: float) -> Explained:
    own = evidence.as_claimed(jacobians)

    def numbers(sample: Sample) -> Numbers | None:
        part = own(sample)
        return None if part is None else sample.truth - times * part

    return numbers


def same(a: Numbers, b: Numbers) -> bool:
    """Whether numbers are the same to `CLOSE`, relative to the largest of them where they cancel."""
    if a.shape != b.shape or not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return False
    largest = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
    return bool(np.allclose(a, b, rtol=CLOSE, atol=1e-14 * largest))


def _weights(sample: Sample) -> Numbers:
    return np.asarray(sample.look.v, dtype=np.float64).ravel()


def _point(sample: Sample) -> dict[str, Numbers]:
    inputs = {name: np.asarray(array, dtype=np.float64) for name, array in sample.look.inputs.items()}
    return {str(VECTOR): np.asarray(sample.look.v, dtype=np.float64), **inputs}


def _number(outcome: Outcome) -> float:
    return math.nan if isinstance(outcome, Undefined) else to_float(outcome)


def _jacobian(plan: Plan, sample: Sample, height: int, width: int) -> Numbers:
    block = np.zeros((height, width))
    with precision(BITS):
        for (direction, row), outcome in moved(plan, _point(sample)).run(BITS).columns.items():
            block[row, direction] = _number(outcome)
    return block
