"""A claim proved equal to the closed form of the derivative, for all points where both exist.

First with symbolic indices, where sizes above `entry.LARGE` are symbols, so that the proof holds for all such sizes;
else entry by entry with all sums written out, for the sizes at hand.  An equality of indices and the sign of what a
branch depends on are told apart case by case.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import sympy
from sympy import Expr, Integer, KroneckerDelta
from sympy.core.relational import Relational
from sympy.core.traversal import bottom_up

from gradcli.check.claims.identity import MOST_NODES, rewritten, size, vanishes
from gradcli.check.claims.reading import VECTOR, Reading, Subject, as_written, exact
from gradcli.check.point import unravel
from gradcli.errors import Span
from gradcli.language import meaning
from gradcli.language.aggregates import Aggregate
from gradcli.language.indexing import Shape, show
from gradcli.language.program import Atom, Call, Line, Program
from gradcli.language.shapes import infer
from gradcli.symbolic.derivative import Derivative, differentiate
from gradcli.symbolic.entry import LARGE, Entries
from gradcli.symbolic.linear import assemble, linear, tidied
from gradcli.symbolic.movement import NoFormulaError, aligned

MOST_CONDITIONS = 4
"""Conditions that are told apart in one entry: each makes two or three cases of it."""

MOST_WRITTEN = 25
"""Entries that are proved one by one."""

LONGEST_SUM = 64
"""Terms of a sum that is written out."""

SIGNS: Mapping[type[Expr] | str, tuple[int, ...]] = {
    meaning.gt: (1,),
    meaning.ge: (0, 1),
    meaning.lt: (-1,),
    meaning.le: (-1, 0),
    meaning.eq: (0,),
    meaning.ne: (-1, 1),
    KroneckerDelta: (0,),
    ">": (1,),
    ">=": (0, 1),
    "<": (-1,),
    "<=": (-1, 0),
    "==": (0,),
    "!=": (-1, 1),
}
"""The signs of a - b for which a condition on a and b holds."""

IMAGINED = sympy.Symbol("the gradient vector", real=True)
"""Stands for v where the function has a variable of that name."""


@dataclass(frozen=True)
class _Condition:
    """The sign of an expression that something depends on, each with the signs for which it holds."""

    difference: Expr
    holds: Mapping[Expr, tuple[int, ...]]

    @property
    def is_of_indices(self) -> bool:
        """Whether only indices and sizes stand in it."""
        is_whole = all(symbol.is_integer for symbol in self.difference.free_symbols)
        return is_whole and not self.difference.has(sympy.Indexed, sympy.Function)

    @property
    def equal(self) -> list[dict[Expr, Expr]]:
        """What to put in where the difference is 0: where one or another of its factors is."""
        return [_solved(sympy.expand(factor.as_base_exp()[0])) for factor in sympy.Mul.make_args(self.difference)]

    def decided(self, expression: Expr, sign: int) -> Expr:
        """The expression where the difference has this sign."""
        values: dict[Expr, Expr] = {}
        for part, signs in self.holds.items():
            is_true = sign in signs
            is_truth = isinstance(part, Relational)
            values[part] = sympy.true if is_true and is_truth else sympy.false if is_truth else Integer(is_true)
        return expression.xreplace(values)


def prove(subject: Subject, reading: Reading) -> str | None:
    """For which shapes the claim is proved to be the derivative; None if no proof was found."""
    try:
        derivative, claim, entries = _closed_forms(subject, reading)
        if _is_uniform(subject, reading) and _holds_in_general(subject, reading, derivative, claim):
            return _shapes(subject, entries)
        return _shapes(subject, None) if _holds_written_out(subject, reading, derivative, claim) else None
    except (NoFormulaError, RecursionError, TypeError):  # SymPy cannot compare what is not real
        return None


# -- both sides in closed form


def _closed_forms(subject: Subject, reading: Reading) -> tuple[Derivative, Expr, Entries]:
    """The derivative, and the claim in the same indices."""
    program, shapes = _function(subject, reading)
    derivative = differentiate(program, shapes, subject.variable)
    index = (*derivative.rows, *derivative.columns) if reading.of == "Jacobian" else derivative.columns
    assert reading.program is not None, "numbers have no closed form"  # noqa: S101
    formula = as_written(reading.program.primitive)
    known = {s: subject.y if s == VECTOR and reading.names_vector else subject.shapes[s] for s in formula.variables}
    entries = Entries(formula, infer(formula, known, bounded=False))
    entries.sizes.symbols.update({n: symbol for symbol, n in derivative.sizes.items()})
    entries.ranges.update(derivative.ranges)
    own = index[len(index) - len(reading.own) :]
    full = reading.shape[len(reading.shape) - len(reading.own) :]
    claim = entries.entry(formula.output, aligned(own, full, reading.own))
    ranges = {**derivative.ranges, **entries.ranges}
    return derivative, assemble(linear(claim, ranges)), entries


def _function(subject: Subject, reading: Reading) -> tuple[Program, Mapping[Atom, Shape]]:
    """The function to differentiate: y, or sum(v*y) with a symbol for v, or the number that all its elements are."""
    program, known = as_written(subject.program.primitive), dict(subject.shapes)
    span = Span(0, len(program.text))
    if reading.of == "vector-Jacobian product":
        vector: Atom = VECTOR if reading.names_vector else IMAGINED
        if not reading.names_vector and _is_constant(subject):
            vector = _fraction(float(subject.weights.flat[0]))
        else:
            known[vector] = subject.y
            program = replace(program, variables=(*program.variables, vector))
        product, total = sympy.Dummy("product", real=True), sympy.Dummy("total", real=True)
        lines = (
            Line(product, Call("mul", (vector, program.output)), span),
            Line(total, Call("sum", (product,), (None, False)), span),
        )
        program = replace(program, lines=(*program.lines, *lines), output=total)
    elif reading.of == "gradient" and subject.y:
        total = sympy.Dummy("total", real=True)
        line = Line(total, Call("sum", (program.output,), (None, False)), span)
        program = replace(program, lines=(*program.lines, line), output=total)
    return program, infer(program, known, bounded=False)


def _is_constant(subject: Subject) -> bool:
    return subject.weights.size > 0 and bool(np.all(subject.weights == subject.weights.flat[0]))


def _is_uniform(subject: Subject, reading: Reading) -> bool:
    """Whether one formula may hold for all entries: v is a symbol or one number."""
    return reading.of != "vector-Jacobian product" or reading.names_vector or _is_constant(subject)


def _fraction(number: float) -> Expr:
    if not math.isfinite(number):
        raise NoFormulaError("v is not finite")
    return exact(sympy.Float(number, precision=53))


def _shapes(subject: Subject, entries: Entries | None) -> str:
    """For which shapes, in words; empty if there are only numbers."""
    shown = []
    for symbol, shape in subject.shapes.items():
        if shape:
            shown.append(f"{symbol} of shape {show(shape)}")
    large = {n for shape in subject.shapes.values() for n in shape if n > LARGE and entries is not None}
    more = f", and with any size above {LARGE} in place of {', '.join(map(str, sorted(large)))}" if large else ""
    return f"for {' and '.join(shown)}{more}" if shown else ""


# -- with symbolic indices


def _holds_in_general(subject: Subject, reading: Reading, derivative: Derivative, claim: Expr) -> bool:
    target = sympy.IndexedBase(str(subject.variable), real=True)[derivative.columns] if subject.x else subject.variable
    for chosen, expression in derivative.cases:
        if not _holds(expression, claim.xreplace(chosen), target.xreplace(chosen)):
            return False
    return True


def _holds(truth: Expr, claim: Expr, target: Expr) -> bool:
    """Whether truth and claim are the same in each case of their conditions."""
    if size(truth) > MOST_NODES or size(claim) > MOST_NODES:
        return False
    truth, claim = tidied(rewritten(truth)), tidied(rewritten(claim))
    return _same(_Case(truth, claim, truth, target), MOST_CONDITIONS)


@dataclass(frozen=True)
class _Case:
    """One case of the conditions.

    Attributes:
        truth: The derivative there.
        claim: What is claimed there.
        slopes: The derivative with the conditions still open that are on their boundary here.
        target: The x of the derivative.
        boundaries: These conditions, each with what to put in there.
    """

    truth: Expr
    claim: Expr
    slopes: Expr
    target: Expr
    boundaries: tuple[tuple[_Condition, Mapping[Expr, Expr]], ...] = ()

    def beside(self, condition: _Condition, sign: int) -> _Case:
        """Where a condition has a sign."""
        truth, claim, slopes = (condition.decided(e, sign) for e in (self.truth, self.claim, self.slopes))
        return replace(self, truth=truth, claim=claim, slopes=slopes)

    def on(self, condition: _Condition) -> Iterator[_Case]:
        """Where its two sides are equal."""
        for equal in condition.equal:
            truth, claim = (condition.decided(e, 0).xreplace(equal) for e in (self.truth, self.claim))
            if condition.is_of_indices:
                slopes = condition.decided(self.slopes, 0).xreplace(equal)
                yield replace(self, truth=truth, claim=claim, slopes=slopes, target=self.target.xreplace(equal))
            else:
                yield replace(self, truth=truth, claim=claim, boundaries=(*self.boundaries, (condition, equal)))


def _same(case: _Case, most: int) -> bool:
    if case.boundaries and case.claim.has(sympy.nan, sympy.zoo):
        return True  # the claim has no value there
    condition = next(iter(_conditions(case.truth, case.claim)), None)
    if condition is None:
        return vanishes(case.truth - case.claim) or _is_kink(case)
    if most == 0:
        return False
    is_equality = all(signs in ((0,), (-1, 1)) for signs in condition.holds.values())
    cases = [case.beside(condition, sign) for sign in ((1,) if is_equality else (1, -1))]
    return all(_same(one, most - 1) for one in (*cases, *case.on(condition)))


def _is_kink(case: _Case) -> bool:
    """Whether the function has no derivative at all on the boundaries, where the claim is not what the formula says.

    So it is if x crosses them, and the slopes before and behind differ: if none of these numbers is 0 wherever the
    claim is off.  Which way x crosses several of them is not known, so each combination has to do: kinks may cancel.
    """
    if not case.boundaries:
        return False
    gap = sympy.expand(case.truth - case.claim)

    def here(expression: Expr) -> Expr:
        for _, equal in case.boundaries:
            expression = expression.xreplace(equal)
        return sympy.expand(expression)

    met = []
    for condition in _conditions(case.slopes):
        difference = here(condition.difference)
        if difference == 0 or any(condition.difference == boundary.difference for boundary, _ in case.boundaries):
            met.append(condition)
        elif not difference.is_number:
            return False
    numbers = [here(condition.difference.diff(case.target)) for condition in met]
    for signs in itertools.product((1, -1), repeat=len(met) - 1) if met else ():
        before = behind = case.slopes
        for condition, sign in zip(met, (1, *signs), strict=True):
            before, behind = condition.decided(before, -sign), condition.decided(behind, sign)
        numbers.append(sympy.expand(here(behind) - here(before)))
    return bool(met) and all(_is_nonzero(number, gap) for number in numbers)


def _is_nonzero(part: Expr, gap: Expr) -> bool:
    """Whether a part is not 0 where the gap is not."""
    if part.is_number:
        return bool(part.is_nonzero)
    ratio = sympy.cancel(part / gap) if size(part) + size(gap) < MOST_NODES // 10 else part
    return bool(ratio.is_number and ratio.is_nonzero)


def _conditions(*sides: Expr) -> list[_Condition]:
    """The conditions that can be told apart, those on indices first; those inside of others wait for their turn."""
    found: dict[Expr, dict[Expr, tuple[int, ...]]] = {}
    bound = {k for side in sides for k in _bound(side)}
    for side in sides:
        for part in sorted(side.atoms(KroneckerDelta, meaning.Comparison, Relational), key=sympy.default_sort_key):
            if part.free_symbols & bound:
                continue
            signs = SIGNS.get(part.rel_op if isinstance(part, Relational) else part.func)
            difference = sympy.expand(part.args[0] - part.args[1])
            if signs is None or difference.atoms(meaning.Comparison, Relational, sympy.Piecewise, meaning.where):
                continue
            if difference.could_extract_minus_sign():
                difference, signs = -difference, tuple(-sign for sign in signs)
            _, difference = difference.as_content_primitive()
            found.setdefault(difference, {})[part] = tuple(sorted(signs))
    conditions = [_Condition(difference, holds) for difference, holds in found.items()]
    return sorted(conditions, key=lambda c: (not c.is_of_indices, c.difference.has(sympy.Indexed)))


def _bound(expression: Expr) -> Iterator[Expr]:
    for part in expression.atoms(sympy.Sum, Aggregate):
        yield from part.bound if isinstance(part, Aggregate) else part.variables


def _solved(difference: Expr) -> dict[Expr, Expr]:
    """What to put in where the difference is 0: one of its symbols or elements in terms of the rest, if it can be."""
    for part in sorted(difference.atoms(sympy.Symbol, sympy.Indexed), key=sympy.default_sort_key, reverse=True):
        if part.is_Symbol and any(part in element.free_symbols for element in difference.atoms(sympy.Indexed)):
            continue
        slope = difference.coeff(part, 1)
        rest = sympy.expand(difference - slope * part)
        if slope.is_Rational and slope != 0 and not rest.has(part) and part not in _bound(rest):
            return {part: sympy.expand(-rest / slope)}
    return {}


# -- entry by entry


def _holds_written_out(subject: Subject, reading: Reading, derivative: Derivative, claim: Expr) -> bool:
    y = subject.y if reading.of == "Jacobian" else ()
    if math.prod(y) * math.prod(subject.x) > MOST_WRITTEN or derivative.sizes:
        return False
    weights = _weights(subject, reading)
    for row in range(math.prod(y)):
        for column in range(math.prod(subject.x)):
            at = unravel(column, subject.x)
            truth, values = derivative.at(unravel(row, y), at)
            here = {symbol: Integer(n) for symbol, n in values.items()}
            sides = [_written_out(side.xreplace(here)).xreplace(weights) for side in (truth, claim)]
            target = sympy.IndexedBase(str(subject.variable), real=True)[at] if at else subject.variable
            if not _holds(sides[0], sides[1], target):
                return False
    return True


def _weights(subject: Subject, reading: Reading) -> dict[Expr, Expr]:
    """The numbers of the gradient vector that is given."""
    if reading.names_vector or reading.of != "vector-Jacobian product":
        return {}
    element = sympy.IndexedBase(str(IMAGINED), real=True)
    numbers = np.ndenumerate(subject.weights)
    return {element[index] if index else IMAGINED: _fraction(float(number)) for index, number in numbers}


def _written_out(expression: Expr) -> Expr:
    """With every sum of known length as its terms.

    Raises:
        NoFormulaError: one is longer than `LONGEST_SUM`, or all are too long.
    """
    return bottom_up(expression, _terms_of)


def _terms_of(expression: Expr) -> Expr:
    if not isinstance(expression, sympy.Sum):
        return expression
    indices = [k for k, _, _ in expression.limits]
    ends = [(first, last) for _, first, last in expression.limits]
    if not all(first.is_Integer and last.is_Integer for first, last in ends):
        raise NoFormulaError("a sum of unknown length")
    ranges = [range(int(first), int(last) + 1) for first, last in ends]
    if math.prod(map(len, ranges)) * size(expression.function) > min(LONGEST_SUM * 20, MOST_NODES):
        raise NoFormulaError("a sum that is too long")
    points = itertools.product(*ranges)
    return sympy.Add(
        *(expression.function.xreplace(dict(zip(indices, map(Integer, at), strict=True))) for at in points)
    )
