"""The local rule of each elementwise operation: value, partial derivatives and kinks on balls.

The partials are those of `gradcli.adjoint.slopes`.
`Rounding` adds to the balls the error of holding numbers in a float format: they then cover all that rounding explains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeVar

import numpy as np
import sympy
from flint import arb
from sympy import Expr

from gradcli.adjoint.slopes import exponent_of, partials
from gradcli.language import ops
from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.sympy_functions import Comparison, ne
from gradcli.language.program.wengert import Call, Line
from gradcli.reference.balls import Ball, exists
from gradcli.reference.columns import evaluate_column
from gradcli.reference.compiling import Environment, compile_ball
from gradcli.reference.deadline import require_time


@dataclass(frozen=True, slots=True)
class Undefined:
    """Reason why a value or a derivative does not exist, in place of its ball.

    Attributes:
        kind: No value (`domain`), no finite slope or one on one side only (`slope`), a jump of the slope (`kink`) or of
            the value (`jump`).
        reason: In words, with the sub-expression.
        decided: Whether it is proved, or only that the balls are too wide to exclude it.
        is_nan: Whether the value is nan in floats, and stays that around the point.
    """

    kind: Literal["domain", "slope", "kink", "jump"]
    reason: str
    decided: bool
    is_nan: bool = False


Outcome = Ball | Undefined

_Value = TypeVar("_Value")

_NEAR_1 = arb(1, 2.0**-60)

AT_ONCE = 256
"""Elements between two looks at the time limit."""

WAVERING = 16
"""Bits that are known at least of a limit at infinity, if there is one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One elementwise operation; a parameter and its slope are None where a constant was put in.

    The edges are those of the domain that each operand crosses.
    """

    parameters: tuple[sympy.Symbol | None, ...]
    expression: Expr
    slopes: tuple[Expr | None, ...]
    kinks: tuple[Expr, ...]
    edges: tuple[tuple[Expr, ...], ...]
    domain: str
    is_step: bool

    @property
    def is_flat(self) -> bool:
        """Tell whether all slopes are 0 wherever they exist, as those of a step."""
        return all(slope == 0 for slope in self.slopes)

    def evaluate(self, operands: list[Outcome], shown: str, needs: str | None = None) -> Outcome:
        """Compute the value on these operands.

        Args:
            operands: Their balls.
            shown: The sub-expression, for messages.
            needs: What it needs to have a value, if that is not the domain.
        """
        require_time()
        is_nan = any(map(_is_nan, operands))
        if is_nan and isinstance(self.expression, Comparison):  # nan is unequal to anything, and no more
            return arb(isinstance(self.expression, ne))
        if is_nan and self.expression.is_number:  # as ones_like is
            return compile_ball(self.expression)({})
        for operand in operands:
            if isinstance(operand, Undefined):
                return operand
        if is_nan:
            of = self.expression  # nan**0 and 1**nan are 1
            is_nan = not (of.is_Pow and of.exp.free_symbols)
            return Undefined("domain", f"nan goes into {shown} here", True, is_nan=is_nan)
        ball = compile_ball(self.expression)(self.environment(operands))
        if exists(ball) and not self._wavers(ball, operands):
            return ball
        if _is_infinite(ball) and any(map(_is_infinite, operands)):
            return ball  # as -inf + 1 is, in the extended reals
        needs, known = self.domain if needs is None else needs, known_balls(operands)
        around = [x * _NEAR_1 if x != 0 else _NEAR_1 - 1 for x in known]
        is_nan = not any(map(_is_infinite, known)) and self._is_certain(self.expression, around)
        is_certain = self._is_certain(self.expression, known)
        reason = f"{shown} {'has' if is_certain else 'may have'} no value here" + f": {needs}" * bool(needs)
        return Undefined("domain", reason, is_certain, is_nan=is_nan)

    def values(self, columns: Sequence[Sequence[Outcome]], shown: str, needs: str | None = None) -> list[Outcome]:
        """Compute the values on many operands, as `evaluate` does; most are finite, and need no second look.

        Args:
            columns: The outcomes of each operand.
            shown: The sub-expression, for messages.
            needs: What it needs to have a value, if that is not the domain.
        """
        found: list[Outcome | None] = [None] * len(columns[0])
        for rows, finite in self._finite(columns):
            for n, ball in zip(rows, evaluate_column(self.expression, finite, len(rows)), strict=True):
                found[n] = ball if exists(ball) else None
        every = zip(found, zip(*columns, strict=True), strict=True)
        return [self.evaluate([*operands], shown, needs) if one is None else one for one, operands in every]

    def smooth_slopes(self, k: int, columns: Sequence[Sequence[Outcome]]) -> list[Ball | None]:
        """Compute the partial derivatives by operand k on many operands; None for `slope` to look at.

        There is a slope where all operands are finite, and value and slope exist, apart from kinks and edges.
        """
        found: list[Ball | None] = [None] * len(columns[0])
        parts = self.expression, self.slopes[k], *self.kinks, *self.edges[k]
        for rows, finite in self._finite(columns):
            for n, value, slope, *distances in zip(
                rows, *(evaluate_column(part, finite, len(rows)) for part in parts), strict=True
            ):
                if exists(value) and exists(slope) and not any(one.contains(0) for one in distances):
                    found[n] = slope
        return found

    def _finite(self, columns: Sequence[Sequence[Outcome]]) -> Iterator[tuple[list[int], Environment]]:
        """Yield the rows whose operands are all finite, some at a time, with the columns of the parameters there."""
        finite = ([one.__class__ is arb and one.is_finite() for one in column] for column in columns)
        rows = [n for n, operands in enumerate(zip(*finite, strict=True)) if all(operands)]
        for first in range(0, len(rows), AT_ONCE):
            require_time()
            some = rows[first : first + AT_ONCE]
            yield some, self.environment([[column[n] for n in some] for column in columns])

    def slope(self, k: int, operands: list[Outcome], shown: str) -> Outcome:
        """Compute the partial derivative by operand k, where value and derivative exist."""
        value = self.evaluate(operands, shown)
        if isinstance(value, Undefined):
            return value
        if any(map(_is_nan, operands)):
            return arb(0)
        environment = self.environment(operands)
        for kink in self.kinks:
            distance = compile_ball(kink)(environment)
            if distance.contains(0):
                what = "jumps here" if self.is_step else "has a kink here: its left and right derivatives differ"
                return Undefined("jump" if self.is_step else "kink", f"{shown} {what}", bool(distance == 0))
        ball = compile_ball(self.slopes[k])(environment)
        if not exists(ball):
            is_certain = self._is_certain(self.slopes[k], known_balls(operands))
            return Undefined("slope", f"{shown} has no finite slope here", is_certain)
        edges = (compile_ball(edge)(environment) for edge in self.edges[k])
        reached = next((edge for edge in edges if edge.contains(0)), None)
        return ball if reached is None else at_edge(shown, reached)

    def environment(self, operands: Sequence[_Value]) -> dict[sympy.Symbol, _Value]:
        """Map the parameters to the operands."""
        return {p: ball for p, ball in zip(self.parameters, operands, strict=True) if p is not None}

    def _wavers(self, ball: Ball, operands: list[Outcome]) -> bool:
        """Tell whether there is no limit at infinity, as for the sine."""
        return ball.rel_accuracy_bits() < WAVERING and not ball.is_exact() and any(map(_is_infinite, operands))

    def _is_certain(self, function: Expr, operands: list[Ball]) -> bool:
        """Tell whether certainly no point of the balls has a result: tried at their ends, as domains are intervals.

        Infinity is no proof, unless an operand is infinite: it is also what a ball too wide gives, or a tower of
        exponentials.
        """
        if any(map(_is_infinite, operands)):
            return True
        corners: list[list[Ball]] = [[]]
        for ball in operands:
            ends = [ball] if ball.is_exact() else [ball.lower(), ball.upper()]
            corners = [[*corner, end] for corner in corners for end in ends]
        return all(compile_ball(function)(self.environment(corner)).is_nan() for corner in corners)


def known_balls(outcomes: Iterable[Outcome]) -> list[Ball]:
    """List the outcomes that exist."""
    return [one for one in outcomes if not isinstance(one, Undefined)]


def at_edge(shown: str, distance: Ball) -> Undefined:
    """Return the reason for a one-sided slope, of an operand at this distance from the edge of its domain."""
    return Undefined("slope", f"{shown} is at the edge of its domain here", bool(distance == 0))


def _is_nan(operand: Outcome) -> bool:
    return operand is not None and (operand.is_nan if isinstance(operand, Undefined) else operand.is_nan())


def _is_infinite(operand: Outcome) -> bool:
    return operand is not None and not isinstance(operand, Undefined) and bool(abs(operand) == arb.pos_inf())


def rule_of(call: Call) -> Rule:
    """Return the rule of an elementwise operation on its operands, a constant exponent put in."""
    rule = _rule(call.op.name, exponent_of(call), call.statics)
    is_of_itself = len(set(call.operands)) < len(call.operands)  # maximum(x, x) is x, and smooth
    return replace(rule, kinks=()) if is_of_itself and rule.kinks else rule


def needs_of(line: Line) -> str:
    """Return the words for the domain of a line, those of the defined operation that it is part of, if any.

    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.expansion import expand
    >>> [needs_of(line) for line in expand(parse("log(x) + softmax(y)")).lines if line.call.op.domain]
    ['log(x) needs x > 0', 'softmax needs an element along dim that is not masked by -inf']
    """
    domain, whole = rule_of(line.call).domain, ops.ROWS.get(line.part_of)
    if whole is None or not domain:
        return domain
    return f"{whole.name} needs {whole.domain}" if whole.domain else f"in it, {domain}"


def curvature(call: Call, k: int, m: int) -> Callable[[Sequence[Ball]], Ball] | None:
    """Compile the second derivative of an elementwise operation by operands k and m; None where it is always 0."""
    rule = rule_of(call)
    second = second_slope(rule, k, m)
    return None if second == 0 else lambda operands: compile_ball(second)(rule.environment(operands))


@lru_cache(maxsize=1024)
def second_slope(rule: Rule, k: int, m: int) -> Expr:
    """Differentiate a slope; nan where the slope has a value of its own, as that of sinc has at 0.

    >>> from gradcli.language.parsing import parse
    >>> second_slope(rule_of(parse("sinc(x)").lines[0].call), 0, 0).args[0]
    (nan, Eq(_x, 0))
    """
    slope, parameter = rule.slopes[k], rule.parameters[m]
    if slope is None or parameter is None:
        return sympy.S.Zero
    if not isinstance(slope, sympy.Piecewise):
        return sympy.diff(slope, parameter)
    pieces = [(sympy.S.NaN if c.has(sympy.Eq) else sympy.diff(value, parameter), c) for value, c in slope.args]
    return sympy.Piecewise(*pieces)


def plus(a: Outcome, b: Outcome) -> Outcome:
    """Add two tangents; a kink, which a slope of 0 undoes, does not hide a jump, which it does not undo."""
    if isinstance(a, Undefined):
        return b if isinstance(b, Undefined) and b.kind != "kink" else a
    return b if isinstance(b, Undefined) else a + b


def times(a: Outcome, b: Outcome) -> Outcome:
    """Multiply a tangent by a slope.

    An exact zero undoes a kink on either side: |x|**2 is smooth at 0, and |g| is where g and its derivative are 0, as
    the slopes of a kink are bounded.  A jump or an infinite slope is not undone.
    """
    if isinstance(a, Undefined):
        if isinstance(b, Undefined):
            return b if a.kind == "kink" else a
        return arb(0) if a.kind == "kink" and b == 0 else a
    if isinstance(b, Undefined):
        return arb(0) if b.kind == "kink" and a == 0 else b
    return a if b == 1 else a * b


@lru_cache(maxsize=1024)
def _rule(name: str, exponent: Expr | None, statics: tuple[Hashable, ...]) -> Rule:
    op, found = ops.TABLE[name], partials(name, exponent, statics)
    return Rule(
        parameters=found.parameters,
        expression=found.expression,
        slopes=found.slopes,
        kinks=found.kinks,
        edges=found.edges,
        domain=f"{_shown(op)} needs {op.domain}" if op.domain else "",
        is_step=op.is_step,
    )


def _shown(op: Op) -> str:
    """Write an operation on its parameters as it is typed: a/b, log(x)."""
    sign = next((sign for sign, name in ops.SIGNS.items() if name == op.name), "")
    return sign.join(op.operands) if sign else f"{op.name}({', '.join(op.operands)})"


OVERFLOW = Undefined("domain", "a number on the way may be beyond the range of the format", False)
"""Reason for a number that is finite in truth, and in torch perhaps not."""

UNBOUNDED = Undefined("domain", "rounding on the way has no bound within the range of the format", False)
"""Reason for a number of torch whose ball reaches beyond the range, though the number itself does not."""

ELIMINATION = Undefined("domain", "the numbers of the matrix are so far apart that elimination may underflow", False)
"""Reason for a result of torch from a matrix whose rows or columns differ too much in size."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """A float format: the bits of its significand, and the exponent of its smallest positive number."""

    bits: int
    smallest: int

    @property
    def largest(self) -> Ball:
        """Bound of the numbers of the format, which none reaches."""
        return arb(2) ** (3 - self.smallest - self.bits)

    def constant(self, exact: Ball, nearest: float) -> Ball:
        """Enclose a constant and its rounding to the format."""
        with np.errstate(over="ignore"):
            rounded = float(np.float32(nearest)) if self.bits == 24 else nearest
        return exact.union(arb(rounded)) if math.isfinite(rounded) else exact

    def underflown(self, ball: Ball) -> Ball:
        """Add to a result the error of holding it with fewer bits than usual, or not at all."""
        smallest = arb(2) ** self.smallest
        return ball + arb(0, smallest) if ball != 0 and abs(ball).lower() < smallest * 2**60 else ball

    def entering(self, op: Op, values: Sequence[Outcome], order: int) -> Sequence[Outcome]:
        """Add torch's errors to the members of a list, or of a matrix row by row.

        >>> small, large = arb(2) ** -700, arb(2) ** 900
        >>> Rounding(53, -1074).entering(ops.TABLE["prod"], [small, small, large], 0)[0].decided
        False
        """
        known = known_balls(values)
        if len(known) < len(values):
            return values
        if op.kind is Kind.SPECTRAL:
            return self._perturbed(known, order, len(known))
        if op.kind is Kind.MATRIX:
            return [ELIMINATION] if self.spans(known) else self._perturbed(known, order, order)
        return [OVERFLOW] if op.monoid is Monoid.PRODUCT and self._strays(known) else known

    def spans(self, values: Sequence[Ball]) -> bool:
        """Tell whether products of ratios of these numbers may underflow or overflow: elimination makes such.

        >>> Rounding(24, -149).spans([arb(1), arb(2) ** 60]), Rounding(53, -1074).spans([arb(1), arb(2) ** 60])
        (True, False)
        """
        sizes = [size for size in (abs(value).upper() for value in values) if size > 0]
        if not sizes:
            return False
        least, most = min(sizes), max(sizes)
        smallest_exact = arb(2) ** (self.smallest + 2 * self.bits)
        return bool(least < smallest_exact or most * smallest_exact > 1 or most**2 * smallest_exact > least**2)

    def _strays(self, factors: Sequence[Ball]) -> bool:
        """Tell whether a product of some of these numbers may leave the range although the product of all does not."""
        sizes = [abs(factor).upper() for factor in factors]
        small, large = arb(1), arb(1)
        for size in sizes:
            small, large = (small * size, large) if size < 1 else (small, large * size)
        smallest_exact = arb(2) ** (self.smallest + self.bits)
        return bool((small < smallest_exact and large > 1) or (large > self.largest and small < 1))

    def _perturbed(self, matrix: Sequence[Ball], order: int, length: int) -> list[Ball]:
        """Return the matrix that torch in effect starts from: its error is one of the largest number of each part.

        Elimination factors the transpose with pivots from its columns, so that multipliers are at most 1, and a part is
        a row.  The steps to eigenvalues are orthogonal, and move all elements by an error of the largest.
        Source: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, theorem 9.3; G. H. Golub, C. F. Van
        Loan, "Matrix Computations", 2013, section 8.1.
        """
        found = []
        for start in range(0, len(matrix), max(1, length)):
            part = matrix[start : start + length]
            error = arb(0, max(abs(value).upper() for value in part) * order * arb(2) ** -self.bits)
            found += [value + error for value in part]
        return found
