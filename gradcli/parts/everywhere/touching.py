"""Points at which a number is exactly 0, and next to which it is no less: no halving separates it from 0 there.

A number is not negative next to such a point where its first derivatives there are exactly 0, and bounds of the next
one have the sign that Taylor's theorem asks for; where it is convex, and falls nowhere from the point; or where it
rises on both sides, also from a kink.  The exact numbers are SymPy's, at rational points; the bounds are intervals.
Source: Taylor's theorem with Lagrange's remainder.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np
import sympy
from sympy import Expr

from gradcli.arrays import Array
from gradcli.language.program import sympy_functions
from gradcli.language.program.wengert import Atom, Line
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_kinds import BoxKind, domain_of
from gradcli.parts.everywhere.box_sets import BoxSet
from gradcli.parts.everywhere.interval_functions import compile_interval
from gradcli.parts.everywhere.intervals import Interval, down, is_known, point, up
from gradcli.parts.everywhere.jets import Jet
from gradcli.parts.everywhere.one_number import InteriorEvaluator
from gradcli.parts.everywhere.zeros import are_definite
from gradcli.reference.balls import precision
from gradcli.reference.bounds import Mask, NoRuleError
from gradcli.reference.compiling import compile_ball
from gradcli.reference.deadline import require_time
from gradcli.reference.rules import rule_of

MOST_ORDER = 8
"""Most derivatives that are taken of a number of one variable."""

MOST_OPERATIONS = 400
"""Most operations of an expression that is differentiated."""

BITS, MOST_SIMPLIFIED = 512, 60
"""Precision at which most numbers are seen not to be 0, and most operations of one that is simplified."""

MOST_LINES = 100
"""Most operations of a function that is written out."""

MOST_MOVING, MOST_CLUSTERS = 3, 8
"""Most variables, and most groups of touching boxes, in which a point is looked for."""

REACHES = (2.0**-6, 2.0**-12, 2.0**-24, 2.0**-40)
"""Parts of the range within which boxes are looked at together, one after the other."""

PIECES = 16
"""Pieces of an interval next to a point in which a derivative is bounded."""

STEPS = 40
"""Newton's steps towards a point."""

NEAR = (1e-9, 1e-6, 1e-3)
"""How near to where these end a rational point is looked for, relative to its size or 1."""

_ANALYTIC = tuple(
    getattr(sympy, name)
    for name in "exp log sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf erfc".split()
)
"""Functions that are analytic wherever they are smooth, and that SymPy differentiates."""

_CHOICES = {
    sympy_functions.abs: sympy.Abs,
    sympy_functions.maximum: sympy.Max,
    sympy_functions.minimum: sympy.Min,
}
"""Functions with kinks, as SymPy computes them at a number."""

Point = tuple[sympy.Rational, ...]


@np.errstate(all="ignore")  # what is beyond float64 has no end there
def are_touching(quantity: BoxQuantity, boxes: BoxSet, low: Array, high: Array) -> Mask:
    """Tell in which boxes a number is certainly not negative, as it is exactly 0 at a point of them or near to them.

    Args:
        quantity: The number.
        boxes: The boxes.
        low: The lower ends of the range that they are in.
        high: The upper ends.
    """
    found = np.zeros(len(boxes), bool)
    if not len(boxes) or len(boxes.low) > MOST_MOVING or not quantity.function.is_of_numbers:
        return found
    written = written_out(quantity)
    if written is None or (len(boxes.low) > 1 and not written.is_analytic):
        return found
    if written.expression == 0:
        return ~found
    for reach in REACHES:
        for sides in _surroundings(boxes.take(~found), reach * high - reach * low, low, high):
            if any(_is_least_at(quantity, written, at, sides) for at in written.rational_points(sides)):
                found |= ((boxes.low >= sides.low[:, None]) & (boxes.high <= sides.high[:, None])).all(axis=0)
    return found


def _surroundings(boxes: BoxSet, reach: Array, low: Array, high: Array) -> Sequence[Interval]:
    """Join boxes that are near to each other to one each, of all that is near to them; none of too many."""
    wide = BoxSet(
        np.maximum(boxes.low - reach[:, None], low[:, None]),
        np.minimum(boxes.high + reach[:, None], high[:, None]),
        boxes.bound,
    )
    found = wide.clusters()
    return found if len(found) <= MOST_CLUSTERS else ()


def _is_least_at(quantity: BoxQuantity, written: WrittenNumber, at: Point, sides: Interval) -> bool:
    """Tell whether a number is 0 at a point of a box, and no less in the box."""
    require_time()
    if not written.is_zero(written.expression, at):
        return False
    if len(at) == 1 and _rises_on_both_sides(quantity, at[0], sides):
        return True
    with np.errstate(all="ignore"):
        jet = quantity.jets(Interval(sides.low[:, None], sides.high[:, None]), is_second=False)
    if not (written.is_analytic and jet.is_smooth.all()):
        return False
    return written.bends_up_by_order(at, sides) if len(at) == 1 else written.is_convex_from(at, sides)


_CLOSED = ("sqrt", "asin", "acos", "acosh")
"""Operations that are continuous up to the end of their domain, which is part of it."""


class _ClosedEvaluator(InteriorEvaluator):
    """Evaluator of a continuous function in the inside of boxes, whose domain may end where a box does."""

    def jet_of_line(self, line: Line, operands: Sequence[Jet], *, is_second: bool = True) -> Jet:
        """Apply the operation of a line to jets."""
        found, edge = super().jet_of_line(line, operands, is_second=is_second), int(BoxKind.EDGE)
        if line.call.op.name not in _CLOSED:
            return found
        inside = [low.low >= 0 for low, _ in domain_of(line.call, [one.value for one in operands])]
        of_operands = reduce(np.bitwise_or, (one.kinds & edge for one in operands))
        kinds = np.where(reduce(np.logical_and, inside), found.kinds & ~edge | of_operands, found.kinds)
        return replace(found, kinds=kinds)


def _rises_on_both_sides(quantity: BoxQuantity, at: sympy.Rational, sides: Interval) -> bool:
    """Tell whether a continuous number of one variable falls up to a point and rises from there, kinks aside."""
    center = _around(at)
    if not is_known(center):
        return False
    low, high = np.array([[sides.low[0], center.low]]), np.array([[center.low, sides.high[0]]])
    inside = replace(
        quantity,
        function=_ClosedEvaluator(quantity.function.program),
        expression=None if quantity.expression is None else _ClosedEvaluator(quantity.expression.program),
    )
    with np.errstate(all="ignore"):
        jet = inside.jets(Interval(low, high), is_second=False)
    slope, is_continuous = jet.slope(0).spread((2,)), np.broadcast_to(jet.is_continuous, (2,))
    is_point = low[0] == high[0]
    return bool(((is_continuous & np.array([slope.high[0] <= 0, slope.low[1] >= 0])) | is_point).all())


@dataclass(frozen=True)
class WrittenNumber:
    """A number as an expression of SymPy.

    Attributes:
        expression: The expression.
        symbols: The variables that move.
    """

    expression: Expr
    symbols: tuple[sympy.Symbol, ...]

    @cached_property
    def is_analytic(self) -> bool:
        """Tell whether it is analytic wherever it is smooth, and small enough to be differentiated."""
        heads = (one.func for one in self.expression.atoms(sympy.Function))
        powers = (one.exp for one in self.expression.atoms(sympy.Pow))
        return all(one in _ANALYTIC for one in heads) and all(one.is_finite is not False for one in powers)

    @cached_property
    def gradient(self) -> list[Expr]:
        """Its derivatives."""
        return [self.expression.diff(one) for one in self.symbols]

    @cached_property
    def hessian(self) -> list[list[Expr]]:
        """Its second derivatives."""
        return [[one.diff(other) for other in self.symbols] for one in self.gradient]

    # -- at a point

    def exactly_at(self, expression: Expr, at: Point) -> Expr:
        """Evaluate exactly."""
        found = expression.subs(dict(zip(self.symbols, at, strict=True)))
        for head, other in _CHOICES.items():
            found = found.replace(head, other) if found.has(head) else found
        return found

    def is_zero(self, expression: Expr, at: Point) -> bool:
        """Tell whether an expression is exactly 0 at a point."""
        if not self.bounds(expression, [_around(one) for one in at]).has_zero:
            return False
        value = self.exactly_at(expression, at)
        if value == 0 or value.is_finite is False or value.count_ops() > MOST_SIMPLIFIED:
            return bool(value == 0)
        try:
            with precision(BITS):
                may_be = bool(compile_ball(value)({}).contains(0))
        except NotImplementedError:
            return False
        return may_be and bool(sympy.simplify(value) == 0)

    def bounds(self, expression: Expr, sides: Sequence[Interval]) -> Interval:
        """Bound an expression in a box.

        Raises:
            NoRuleError: It has a function without a rule.
        """
        with np.errstate(all="ignore"):
            return compile_interval(expression)(dict(zip(self.symbols, sides, strict=True)))

    def rational_points(self, sides: Interval) -> Iterator[Point]:
        """Generate rational points of a box near to where a number is least."""
        seen = set[Point]()
        near = self._least_near(sides)
        for reach in (0.0, *NEAR):
            spans = [
                (max(a, x - reach * max(1.0, abs(x))), min(b, x + reach * max(1.0, abs(x))))
                for x, a, b in zip(near.tolist(), sides.low.tolist(), sides.high.tolist(), strict=True)
            ]
            at = tuple(_simplest(Fraction(a), Fraction(b)) for a, b in spans)
            if at not in seen:
                seen.add(at)
                yield at

    def _least_near(self, sides: Interval) -> Array:
        """Return about the point of a box where the gradient is 0, by Newton's steps from its middle."""
        at = sides.low / 2 + sides.high / 2
        if not self.is_analytic:
            return self._kink_near(sides)
        for _ in range(STEPS):
            require_time()
            here = [point(np.asarray(one)) for one in at]
            slopes = np.array([float(self.bounds(one, here).middle) for one in self.gradient])
            matrix = np.array([[float(self.bounds(one, here).middle) for one in row] for row in self.hessian])
            if not (np.isfinite(slopes).all() and np.isfinite(matrix).all()):
                break
            if (np.linalg.eigvalsh(matrix) > 0).all():
                step = -np.linalg.solve(matrix, slopes)
            else:
                step = -np.sign(slopes) * (sides.high - sides.low)
            new = np.clip(at + step, sides.low, sides.high)
            if (new == at).all():
                break
            at = new
        return np.asarray(at)

    def _kink_near(self, sides: Interval) -> Array:
        """Return about the point of an interval at which a number is least, by thirds."""
        low, high = float(sides.low[0]), float(sides.high[0])
        for _ in range(2 * STEPS):
            first, other = low + (high - low) / 3, high - (high - low) / 3
            a, b = (float(self.bounds(self.expression, [point(np.asarray(x))]).middle) for x in (first, other))
            low, high = (low, other) if a <= b else (first, high)
        return np.array([low / 2 + high / 2])

    # -- next to it

    def bends_up_by_order(self, at: Point, sides: Interval) -> bool:
        """Tell by the first derivative that is not 0 at a point whether a number is nowhere negative next to it."""
        (symbol,), center = self.symbols, _around(at[0])
        left = _pieces(float(sides.low[0]), float(center.high)) if Fraction(float(sides.low[0])) < at[0] else None
        right = _pieces(float(center.low), float(sides.high[0])) if Fraction(float(sides.high[0])) > at[0] else None
        derivative = self.expression
        for order in range(1, MOST_ORDER + 1):
            require_time()
            derivative = derivative.diff(symbol)
            if derivative.count_ops() > MOST_OPERATIONS:
                return False
            is_odd = order % 2 == 1
            is_left = left is None or self._has_sign(derivative, left, -1 if is_odd else 1)
            if is_left and (right is None or self._has_sign(derivative, right, 1)):
                return True
            if not self.is_zero(derivative, at):
                return False
        return False

    def _has_sign(self, expression: Expr, pieces: Interval, sign: int) -> bool:
        """Tell whether an expression is certainly nowhere of the other sign."""
        found = self.bounds(expression, [pieces])
        return bool(np.all(found.low >= 0 if sign > 0 else found.high <= 0))

    def is_convex_from(self, at: Point, sides: Interval) -> bool:
        """Tell whether a number is convex in a box, and from a point of it no way leads down."""
        if any(one.count_ops() > MOST_OPERATIONS for row in self.hessian for one in row):
            return False
        for n, slope in enumerate(self.gradient):
            here = self.bounds(slope, [_around(one) for one in at])
            is_low, is_high = at[n] == Fraction(float(sides.low[n])), at[n] == Fraction(float(sides.high[n]))
            is_upward = (is_low and bool(here.low >= 0)) or (is_high and bool(here.high <= 0))
            if not (is_upward or self.is_zero(slope, at)):
                return False
        whole = [sides.row(n) for n in range(len(at))]
        rows = [[self.bounds(one, whole).spread((1,)) for one in row] for row in self.hessian]
        return bool(are_definite(rows, may_be_flat=True).all())


def written_out(quantity: BoxQuantity) -> WrittenNumber | None:
    """Write a number as an expression of its variables; None of one that is no such expression."""
    program = quantity.function.program
    symbols = tuple(sympy.Symbol(f"x{n}", real=True) for n in range(len(program.moving)))
    if len(quantity.function.lines) > MOST_LINES:
        return None
    known: dict[Atom, Expr] = {a: sympy.Rational(number) for a, number in program.constants.items()}
    known |= dict(zip(program.moving, symbols, strict=True))
    try:
        _write(quantity.function.lines, known)
        y = _written(quantity.function.outputs[quantity.element], known)
        found = _derivative(y, quantity.derivative, symbols)
        if quantity.expression is not None:
            named = quantity.named or {}
            inside = {a: symbols[n] if isinstance(n, int) else _derivative(y, n, symbols) for a, n in named.items()}
            inside |= {a: sympy.Rational(one) for a, one in quantity.expression.program.constants.items()}
            _write(quantity.expression.lines, inside)
            found = _written(quantity.expression.outputs[0], inside)
        _ = compile_interval(found)
    except (NoRuleError, _NotWrittenError):
        return None
    return WrittenNumber(-found if quantity.is_negated else found, symbols)


class _NotWrittenError(Exception):
    """What is no expression of functions with derivatives."""


def _write(lines: Sequence[Line], known: dict[Atom, Expr]) -> None:
    """Write out lines."""
    for line in lines:
        require_time()
        call = line.call
        if call.op.sense or call.op.is_branch:
            raise _NotWrittenError
        rule = rule_of(call)
        inside = {p: _written(a, known) for p, a in zip(rule.parameters, call.operands, strict=True) if p is not None}
        expression = _rational(rule.expression).xreplace(inside)
        if expression.count_ops() > MOST_OPERATIONS or expression.has(sympy.nan, sympy.zoo, sympy.oo):
            raise _NotWrittenError
        known[line.symbol] = expression


def _written(atom: Atom, known: Mapping[Atom, Expr]) -> Expr:
    if atom in known:
        return known[atom]
    if not atom.is_number or not atom.is_finite:
        raise _NotWrittenError
    return _rational(atom)


def _rational(expression: Expr) -> Expr:
    """Write its floats as the rational numbers that they are."""
    return expression.xreplace({one: sympy.Rational(one) for one in expression.atoms(sympy.Float)})


def _derivative(y: Expr, places: Sequence[int], symbols: Sequence[sympy.Symbol]) -> Expr:
    """Differentiate, where there are no choices."""
    if places and not WrittenNumber(y, tuple(symbols)).is_analytic:
        raise _NotWrittenError
    return y.diff(*(symbols[n] for n in places)) if places else y


def _around(number: sympy.Rational) -> Interval:
    """Enclose a rational number: by one float where it is one."""
    nearest = np.asarray(float(number))
    return point(nearest) if Fraction(float(nearest)) == number else Interval(down(nearest), up(nearest))


def _pieces(low: float, high: float) -> Interval:
    ends = np.linspace(low, high, PIECES + 1)
    return Interval(ends[:-1], ends[1:])


def _simplest(low: Fraction, high: Fraction) -> sympy.Rational:
    """Return the rational number of the smallest denominator in an interval."""
    if low > high:
        low, high = high, low
    if low <= 0 <= high:
        return sympy.Integer(0)
    if high < 0:
        return -_simplest(-high, -low)
    whole = math.ceil(low)
    if whole <= high:
        return sympy.Integer(whole)
    rest = _simplest(1 / (high - math.floor(low)), 1 / (low - math.floor(low)))
    return math.floor(low) + 1 / rest
