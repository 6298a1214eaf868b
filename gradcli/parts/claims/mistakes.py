"""The likeliest mistake in a claim that is wrong: the first of a list that gives the claimed numbers at every point.

A sign, a factor, a rule for powers, a transpose, another variable, a forgotten v: each is a way to get numbers from the
truth and from the lines of the function.  It is named only if these are the claim at a few random points.  All are the
middles of enclosures, so agreement to ten digits is no accident.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.adjoint.slopes import is_power
from gradcli.crosscheck.compare import to_float
from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expand
from gradcli.language.program.passes import for_formulas
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Atom, Line, Program, Shape, needed
from gradcli.parts.claims.claim_readings import as_written
from gradcli.parts.claims.evaluation import FIRST_BITS, ClaimComparison, Look, reference_of
from gradcli.parts.claims.subject import VECTOR
from gradcli.reference.balls import precision
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.enclosure_plan import Plan
from gradcli.reference.rules import Outcome, Undefined
from gradcli.symbolic.operations import slope

FEWEST_POINTS, MOST_POINTS = 3, 6
"""Points at which a mistake has to explain the claim."""

CLOSE = 1e-10
"""Relative difference of numbers that are the same."""

LARGEST_PART = 100
"""Numerators and denominators of a factor that is shown as a fraction."""

MOST_COLUMNS = 64
"""Elements of x up to which whole Jacobians are taken."""

MOST_LINES = 30
"""Lines of a function or a claim that are looked at."""

LONGEST_MISTAKE = 40
"""Characters of a formula that is shown."""

_ROOTS = tuple(map(sympy.sqrt, (sympy.pi, 2, 3, 2 * sympy.pi)))
_CONSTANTS = (sympy.S.One, sympy.pi, sympy.E, sympy.log(2), sympy.log(10), sympy.pi**2, *_ROOTS)

CONSTANTS = (*_CONSTANTS, *(1 / constant for constant in _CONSTANTS))
"""Numbers of which a forgotten or surplus factor may be a simple multiple."""

ITSELF = "it is the value of the function, and a claim is a derivative"
"""What is said of a claim that gives the numbers of the function itself, as another way to compute it."""

FloatArray = npt.NDArray[np.float64]
"""A row for each point: numbers of its entries, values of a Program, or a whole Jacobian."""


class WrongClaim:
    """A wrong claim at several points, and the function there.

    Args:
        comparison: The claim.
        looks: The points, at each of which all entries have a truth.
    """

    def __init__(self, comparison: ClaimComparison, looks: Sequence[Look]) -> None:
        self.subject, self.of, self.looks = comparison.subject, comparison.reading.of, looks
        self.truth = np.array([[to_float(one.truth) for one in look.seen] for look in looks])
        self.claimed = np.array([[to_float(one.claimed) for one in look.seen] for look in looks])
        self.rows, self.columns = np.array([comparison.place(one.entry) for one in looks[0].seen]).T
        self.v = np.array([np.ravel(look.v) for look in looks], dtype=np.float64)
        self.width, self.height = math.prod(self.subject.x), math.prod(self.subject.y)
        program = self.subject.program
        self.typed = expand(program, keep=lambda call: call.op.is_primitive or call.op.kind is Kind.ELEMENTWISE)

    def explains(self, numbers: FloatArray | None) -> bool:
        """Tell whether these numbers are the claim at every point, and not all 0."""
        return numbers is not None and bool(np.any(self.claimed)) and same(numbers, self.claimed)

    def measured(self, program: Program, variable: sympy.Symbol) -> tuple[FloatArray, FloatArray] | None:
        """Compute a Program and its Jacobian by a variable at each point; None if that is too much."""
        shapes = self.subject.known
        size = math.prod(shapes[variable]) if variable in program.variables else 0
        if size > MOST_COLUMNS:
            return None
        try:
            plan = reference_of(as_written(for_formulas(program)), shapes).plan([(variable, j) for j in range(size)])
        except OverBudgetError:
            return None
        found = [_measured(plan, look) for look in self.looks] if plan.judges_value else []
        return (np.array([y for y, _ in found]), np.array([J for _, J in found])) if found else None

    def part(self, atom: Atom) -> tuple[FloatArray, FloatArray] | None:
        """Return one value of the function, and its Jacobian by x."""
        part = replace(self.typed, lines=tuple(needed(self.typed.lines, atom)), output=atom)
        return self.measured(part, self.subject.variable)

    @cached_property
    def shapes(self) -> Mapping[Atom, Shape]:
        """The shapes of all values of the text."""
        return infer(self.typed, self.subject.known, bounded=False)

    @cached_property
    def lines(self) -> list[tuple[Line, FloatArray, FloatArray]]:
        """List lines of the text that depend on x, the inner ones first, each with its value and its Jacobian."""
        moving: set[Atom] = {self.subject.variable}
        for line in self.typed.lines:
            moving |= {line.symbol} if moving & set(line.call.operands) else set()
        last = {line.span: line for line in self.typed.lines}
        named = [line for line in self.typed.lines if last[line.span] is line and line.symbol in moving]
        found = ((line, self.part(line.symbol)) for line in named[:MOST_LINES])
        return [(line, *parts) for line, parts in found if parts is not None]

    def as_claimed(self, jacobians: FloatArray, weights: FloatArray) -> FloatArray | None:
        """Write Jacobians in the form of the claim: their entries, or weighted sums of their rows."""
        _, height, width = jacobians.shape
        if width != self.width or height != (self.height if self.of == "Jacobian" else weights.shape[1]):
            return None
        if self.of == "Jacobian":
            return jacobians[:, self.rows, self.columns]
        found: FloatArray = np.einsum("pi,pij->pj", weights, jacobians)[:, self.columns]
        return found

    def by_entry(self, numbers: FloatArray) -> FloatArray | None:
        """Return a number for all entries, or one for each element of x: of values, or of diagonal Jacobians."""
        if numbers.ndim == 3 and numbers.shape[1] > 1:
            diagonal = np.einsum("pii->pi", numbers) if numbers.shape[1:] == (self.width,) * 2 else None
            if diagonal is None or np.any(numbers - np.eye(self.width) * diagonal[:, None]):
                return None
            numbers = diagonal
        own = numbers.reshape(len(numbers), -1)
        is_one_each = own.shape[1] in (1, self.width)
        return np.broadcast_to(own, (len(own), self.width))[:, self.columns] if is_one_each else None


def mistake(comparison: ClaimComparison, looks: Sequence[Look]) -> str:
    """Name the likeliest mistake; empty if none of the classic ones explains the claim.

    Args:
        comparison: The claim.
        looks: At random points where it can be compared.
    """
    looks = [look for look in looks if look.worst is not None and not look.missing][:MOST_POINTS]
    if len(looks) < FEWEST_POINTS:
        return ""
    with np.errstate(all="ignore"):
        evidence = WrongClaim(comparison, looks)
        if evidence.explains(evidence.truth):
            return ""
        return next((words for words, numbers in _mistakes(evidence) if evidence.explains(numbers)), "")


def _mistakes(evidence: WrongClaim) -> Iterator[tuple[str, FloatArray | None]]:
    """Yield possible mistakes, each with the numbers that it gives: in the whole function, then in its lines."""
    subject, x, truth = evidence.subject, evidence.subject.variable, evidence.truth
    whole = evidence.measured(subject.program, x)
    if whole is not None:
        yield ITSELF, evidence.by_entry(whole[0])
    yield "the sign: the claim is the truth times -1", -truth
    yield "upside down: the claim is 1 over the truth", 1 / truth
    ones = np.ones_like(evidence.v)
    weights = ones if evidence.of == "gradient" else evidence.v
    if whole is not None:
        yield from _turned(evidence, whole[1], weights)
        if evidence.of == "vector-Jacobian product":
            yield "v is missing: the claim is right for v = ones only", evidence.as_claimed(whole[1], ones)
    for symbol, shape in subject.shapes.items():
        if symbol != x and shape == subject.x and (other := evidence.measured(subject.program, symbol)) is not None:
            what = f"the other variable: the claim is the derivative by {symbol}"
            yield what, evidence.as_claimed(other[1], weights)
    for line, _, slopes in evidence.lines:
        if line.symbol != evidence.typed.output:
            what = f"chain factor: the derivative of {_shown(evidence, line)}{_formula(evidence, line)}"
            yield from _factor(what, truth, evidence.by_entry(slopes))
    for line, _, _ in evidence.lines:
        yield from _power(evidence, line)
    yield from _products(evidence, weights)
    keep = np.flatnonzero(truth[0])
    factor = float(evidence.claimed[0, keep[0]] / truth[0, keep[0]]) if len(keep) else 0.0
    if factor and math.isfinite(factor):
        yield f"off by the factor {_simple(factor)}{_count(factor, evidence)}", factor * truth
    yield from _terms(evidence, weights)
    parts = [(f"`{symbol}`", evidence.part(symbol)) for symbol in subject.program.variables]
    values = [(shown, part[0]) for shown, part in parts if part is not None]
    for shown, numbers in (*values, *((_shown(evidence, line), numbers) for line, numbers, _ in evidence.lines)):
        yield from _factor(f"factor: {shown}", truth, evidence.by_entry(numbers))


def _turned(evidence: WrongClaim, J: FloatArray, weights: FloatArray) -> Iterator[tuple[str, FloatArray | None]]:
    """Transposed: a Jacobian, the one in a product, or a gradient by a square matrix."""
    x, is_product = evidence.subject.x, evidence.of == "vector-Jacobian product"
    what = "transposed: a row belongs to an element of y, a column to one of x"
    if evidence.of != "gradient":
        turned = evidence.as_claimed(np.swapaxes(J, 1, 2), weights)
        yield "the Jacobian is transposed: the claim is Jv, and the truth is vᵀJ" if is_product else what, turned
    if evidence.of != "Jacobian" and len(x) == 2 and x[0] == x[1] and len(evidence.columns) == evidence.width:
        turn = np.arange(evidence.width).reshape(x).T.ravel()
        yield "transposed: the claim is the transpose of the truth", evidence.truth[:, turn]


def _power(evidence: WrongClaim, line: Line) -> Iterator[tuple[str, FloatArray | None]]:
    """x**(n-1) and n*x**n in place of n*x**(n-1)."""
    if not is_power(line.call) or line.call.operands[1].is_Symbol or line.call.operands[1] == 0:
        return
    base, exponent = line.call.operands
    rule = f"the derivative of b**n is n*b**(n-1), here of {_shown(evidence, line)}"
    what = f"the power rule: the exponent {exponent} is not brought down; {rule}"
    yield what, evidence.truth / float(exponent)
    part = evidence.part(base) if base.is_Symbol else None
    lowered = None if part is None else evidence.by_entry(part[0])
    what = f"the power rule: the exponent {exponent} is not lowered; {rule}"
    yield what, None if lowered is None else evidence.truth * lowered


def _products(evidence: WrongClaim, weights: FloatArray) -> Iterator[tuple[str, FloatArray | None]]:
    """f'*g' in place of f'*g + f*g', one of the two alone, and f'/g'; in the function, in a term or a part of it."""
    terms = {line.symbol: term for line, term in _addends(evidence) if line is not None}
    for line, _, slopes in evidence.lines:
        own = evidence.by_entry(slopes)
        for what, wrong in _of_factors(evidence, line):
            if line.symbol == evidence.typed.output:
                yield what, evidence.as_claimed(wrong, weights)
            elif line.symbol in terms:
                off = evidence.as_claimed(terms[line.symbol].share_of(wrong - slopes), weights)
                yield what, None if off is None else evidence.truth + off
            numbers = evidence.by_entry(wrong)
            yield what, None if own is None or numbers is None else evidence.truth * numbers / own


def _of_factors(evidence: WrongClaim, line: Line) -> Iterator[tuple[str, FloatArray]]:
    """Yield wrong Jacobians of a product or a quotient, whose factors have its shape."""
    name, operands, shapes = line.call.op.name, line.call.operands, evidence.shapes
    if name not in ("mul", "div") or any(shapes.get(one, ()) != shapes[line.symbol] for one in operands):
        return
    moving = {known.symbol for known, _, _ in evidence.lines} | {evidence.subject.variable}
    parts = [evidence.part(one) if one.is_Symbol else None for one in operands]
    if operands[1] not in moving or parts[1] is None or (parts[0] is None and operands[0].is_Symbol):
        return
    shown, (g, dg) = _shown(evidence, line), (parts[1][0][:, :, None], parts[1][1])
    f, df = (float(operands[0]), 0 * dg) if parts[0] is None else (parts[0][0][:, :, None], parts[0][1])
    if name == "div":
        rule = f"(f/g)' is (f'*g - f*g')/g**2, here of {shown}"
        is_constant = operands[0] not in moving
        where = np.where(dg == 0, 0.0, (f if is_constant else df) / dg)
        said = (
            "the derivative of the divisor alone is taken" if is_constant else "it is the quotient of the derivatives"
        )
        yield f"the quotient rule: {said}; {rule}", where
    elif operands[0] in moving:
        rule = f"(f*g)' is f'*g + f*g', here of {shown}"
        if parts[0] is not None and (deeper := _product_of_all(evidence, operands[0], df)) is not None:
            yield f"the product rule: it is the product of the derivatives; {rule}", deeper * dg
        yield f"the product rule: it is the product of the derivatives; {rule}", df * dg
        yield f"the product rule: f*g' is missing; {rule}", df * g
        yield f"the product rule: f'*g is missing; {rule}", f * dg


def _product_of_all(evidence: WrongClaim, atom: Atom, slopes: FloatArray) -> FloatArray | None:
    """Multiply the derivatives of all factors of a product that is a factor itself; None if it is no such product."""
    line = next((one for one, _, _ in evidence.lines if one.symbol == atom), None)
    if line is None or line.call.op.name != "mul" or slopes.ndim != 3:
        return None
    found = [evidence.part(one) for one in line.call.operands if one.is_Symbol]
    if len(found) != len(line.call.operands) or any(one is None or one[1].shape != slopes.shape for one in found):
        return None
    first, second = (one[1] for one in found if one is not None)
    deeper = _product_of_all(evidence, line.call.operands[0], first)
    product: FloatArray = (first if deeper is None else deeper) * second
    return product if np.any(product) else None


def _terms(evidence: WrongClaim, weights: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield the truth with the derivative of one term of a sum off by a factor, or left out."""
    difference = evidence.claimed - evidence.truth
    for line, term in _addends(evidence):
        shown = f"`{term.atom}`" if line is None else _shown(evidence, line)
        own = evidence.as_claimed(term.slopes, weights)
        keep = [] if own is None else np.flatnonzero(own[0]).tolist()
        if own is None or not keep or same(own, evidence.truth):
            continue
        factor = float(f"{1 + difference[0, keep[0]] / own[0, keep[0]]:.11g}")
        if math.isfinite(factor) and factor != 1:
            what = f"the derivative of the term {shown}"
            said = {0.0: f"{what} is missing", -1.0: f"the sign: {what} is there times -1"}
            words = said.get(factor, f"{what} is off by the factor {_simple(factor)}")
            yield words, evidence.truth + (factor - 1) * own


@dataclass(frozen=True)
class _SumTerm:
    """A term that the function is the sum of: its value, factor, whether its elements are summed, its share of J."""

    atom: Atom
    scale: float
    is_summed: bool
    slopes: FloatArray

    def share_of(self, jacobians: FloatArray) -> FloatArray:
        """Give the share of the Jacobian of the function that a Jacobian of the term has."""
        return self.scale * (jacobians.sum(axis=1, keepdims=True) if self.is_summed else jacobians)


def _addends(evidence: WrongClaim) -> Iterator[tuple[Line | None, _SumTerm]]:
    """Yield the terms that the function is the sum of, also within sums and means, each with the line that makes it.

    The outer ones are first.
    """
    lines, shapes = {line.symbol: line for line in evidence.typed.lines}, evidence.shapes
    walk: list[tuple[Atom, float, bool]] = [(evidence.typed.output, 1.0, False)]
    for n in range(MOST_LINES):
        if n == len(walk):
            return
        atom, scale, is_summed = walk[n]
        line = lines.get(atom)
        name, operands = (line.call.op.name, line.call.operands) if line is not None else ("", ())
        if name in ("add", "sub"):
            signed = zip(operands, (scale, scale if name == "add" else -scale), strict=True)
            walk += [(part, sign, is_summed) for part, sign in signed if shapes.get(part, ()) == shapes[atom]]
        elif name == "neg":
            walk.append((operands[0], -scale, is_summed))
        elif name == "div" and (count := lines.get(operands[1])) is not None and count.call.op.name == "count":
            walk.append((operands[0], scale / math.prod(shapes.get(count.call.operands[0], ())), is_summed))
        elif name == "sum" and shapes[atom] == ():
            walk.append((operands[0], scale, True))
        if n and atom.is_Symbol and (part := evidence.part(atom)) is not None:
            term = _SumTerm(atom, scale, is_summed, part[1])
            yield line, replace(term, slopes=term.share_of(part[1]))


def _factor(what: str, truth: FloatArray, factor: FloatArray | None) -> Iterator[tuple[str, FloatArray]]:
    """Yield the truth without a factor, and with it once more, as possible mistakes."""
    if factor is not None:
        yield f"a missing {what}", truth / factor
        yield f"a surplus {what}", truth * factor


def _shown(evidence: WrongClaim, line: Line) -> str:
    """Write the text of a line in backticks."""
    text = evidence.typed.excerpt(line)
    return f"`{text[1:-1] if text.startswith('(') and text.find(')') == len(text) - 1 else text}`"


def _simple(factor: float) -> str:
    """Write a factor as a simple multiple of a constant, or with twelve digits.

    >>> _simple(0.4), _simple(2*math.pi), _simple(1/math.log(2))
    ('2/5', '2*pi', '1/log(2)')
    """
    for known, ratio in ((known, factor / float(known)) for known in CONSTANTS):
        share = sympy.Rational(Fraction(ratio if math.isfinite(ratio) else 0).limit_denominator(LARGEST_PART))
        if 0 < abs(share.p) <= LARGEST_PART and math.isclose(float(share * known), factor, rel_tol=CLOSE):
            return str(share * known)
    return repr(float(f"{factor:.12g}"))


def _count(factor: float, evidence: WrongClaim) -> str:
    for symbol, shape in evidence.subject.shapes.items():
        n = math.prod(shape)
        if n > 2 and any(math.isclose(factor, k, rel_tol=CLOSE) for k in (n, 1 / n)):
            return f": {symbol} has {n} elements"
    return ""


def _formula(evidence: WrongClaim, line: Line) -> str:
    """` is 2*x`, where one operation makes the line of x."""
    x = evidence.subject.variable
    if line.call.op.kind is not Kind.ELEMENTWISE or x not in line.call.operands:
        return ""
    found = slope(line.call, {a: str(a) for a in line.call.operands}, x)
    return f" is `{found.alone.text}`" if found is not None and len(found.alone.text) <= LONGEST_MISTAKE else ""


def same(a: FloatArray, b: FloatArray) -> bool:
    """Tell whether numbers are the same to `CLOSE`, relative to the largest of a point where they cancel."""
    if a.shape != b.shape or not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return False
    largest = np.abs([a, b]).max(axis=(0, 2), initial=0.0)[:, None]
    return bool(np.all(np.abs(a - b) <= CLOSE * np.abs(b) + 1e-14 * largest))


def _measured(plan: Plan, look: Look) -> tuple[FloatArray, FloatArray]:
    """Compute the values and the Jacobian of one plan at one point."""
    with precision(FIRST_BITS):
        run = plan.moved_to({str(VECTOR): look.v, **look.inputs}).run(FIRST_BITS)
    values = np.array([_number(outcome) for _, outcome in sorted(run.values.items())])
    J = np.zeros((len(values), len(plan.directions)))
    for n, direction in enumerate(plan.directions):
        for row, outcome in run.columns.get(direction, {}).items():
            J[row, n] = _number(outcome)
    return values, J


def _number(outcome: Outcome) -> float:
    return math.nan if isinstance(outcome, Undefined) else to_float(outcome)
