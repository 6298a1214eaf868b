"""Conditions that no real input decides otherwise: `exp(x) > 0` and `x == x`.

Each value of a Program has a range over all real inputs, from the ranges of its operands.  It is a range of real
numbers: floats that overflow, or are no numbers, are none.  An operation without a rule may have any real value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from gradcli.language.ops import Kind
from gradcli.language.program.expansion import expand
from gradcli.language.program.wengert import Atom, Call, Line, Program

MOST_LINES = 100
"""Lines of a condition that are looked at."""

Bound = Fraction | float
"""A rational number, or an infinity."""


class RealRange(NamedTuple):
    """Range of real numbers; an end may be open, an infinite one always is.

    Attributes:
        low: The lower end.
        high: The upper end.
        is_above: Whether no value is as small as the lower end.
        is_below: Whether no value is as large as the upper end.
    """

    low: Bound = -math.inf
    high: Bound = math.inf
    is_above: bool = True
    is_below: bool = True

    @property
    def is_positive(self) -> bool:
        """Tell whether all of it is above 0."""
        return self.low > 0 or (self.low == 0 and self.is_above)

    def negative(self) -> RealRange:
        """Return the range of the negatives."""
        return RealRange(-self.high, -self.low, self.is_below, self.is_above)


ANY, TRUTH = RealRange(), RealRange(Fraction(0), Fraction(1), is_above=False, is_below=False)
TRUE, FALSE = TRUTH._replace(low=Fraction(1)), TRUTH._replace(high=Fraction(0))
POSITIVE, NOT_NEGATIVE = RealRange(Fraction(0)), RealRange(Fraction(0), is_above=False)
ABOVE_ONE = RealRange(Fraction(1), is_above=False)

_OF_ALL: Mapping[str, RealRange] = {
    "exp": POSITIVE,
    "abs": NOT_NEGATIVE,
    "sqrt": NOT_NEGATIVE,
    "count": NOT_NEGATIVE,
    "cosh": ABOVE_ONE,
    "tanh": RealRange(Fraction(-1), Fraction(1)),
    "erf": RealRange(Fraction(-1), Fraction(1)),
    "erfc": RealRange(Fraction(0), Fraction(2)),
    **dict.fromkeys(("sin", "cos", "sign"), RealRange(Fraction(-1), Fraction(1), is_above=False, is_below=False)),
    **dict.fromkeys(("ones", "ones_like"), TRUE),
    **dict.fromkeys(("zeros", "zeros_like"), FALSE),
}
"""Ranges of operations whatever their operands are."""

_OF_OPERANDS = frozenset(["abs", "sqrt"])
"""Those of them that are above 0 where their operands are."""

_UNKNOWN = (Kind.CONTRACTION, Kind.MATRIX, Kind.SPECTRAL, Kind.SCAN)
_KEPT = (Kind.LIST, Kind.GATHER)
_MOVED = frozenset("expand flatten flip permute reshape roll squeeze transpose unsqueeze diagonal index detach".split())
"""Operations whose elements are those of their operands, besides those of the kinds."""


def certain_truth(program: Program) -> bool | None:
    """Return the truth of a condition that no real input decides otherwise; None of any other.

    >>> from gradcli.language.parsing import parse
    >>> [certain_truth(parse(text)) for text in ("exp(x/2) > 0", "x == x", "x*x < 0", "1 + x**2 >= 1", "x > 0")]
    [True, True, False, True, None]
    """
    near = _near(program)
    if len(near) > MOST_LINES:
        return None
    ranges: dict[Atom, RealRange] = {}
    expanded = expand(replace(program, lines=tuple(near)))
    for line in expanded.lines:
        ranges[line.symbol] = _range(line.call, [_of_operand(one, ranges) for one in line.call.operands])
    return {TRUE: True, FALSE: False}.get(ranges.get(expanded.output, ANY))


def _near(program: Program) -> list[Line]:
    """List the lines that a condition is made of, up to operations whose range is that of any operands."""
    wanted, found = {program.output}, list[Line]()
    for line in reversed(program.lines):
        if line.symbol in wanted:
            found.append(line)
            call = line.call
            is_known = call.op.name in _OF_ALL.keys() - _OF_OPERANDS or call.op.kind in _UNKNOWN
            wanted |= set() if is_known else set(call.operands)
    return found[::-1]


def _of_operand(operand: Atom, ranges: Mapping[Atom, RealRange]) -> RealRange:
    if operand.is_Symbol:
        return ranges.get(operand, ANY)
    number = float(operand) if operand.is_extended_real else math.nan
    if math.isnan(number):
        return ANY
    if math.isinf(number):
        return RealRange(number, number)
    exact = Fraction(number)
    return RealRange(exact, exact, is_above=False, is_below=False)


def _range(call: Call, operands: Sequence[RealRange]) -> RealRange:
    """Return the range of one operation."""
    name, same = call.op.name, len(call.operands) == 2 and call.operands[0] == call.operands[1]
    if name in _COMPARISONS:
        return _COMPARISONS[name](*operands) if not same else _OF_SAME[name]
    if name in _OF_ALL:
        is_inside = name in _OF_OPERANDS and operands[0].is_positive
        return POSITIVE if is_inside else _OF_ALL[name]
    if same and name in ("sub", "mul"):
        return FALSE if name == "sub" else NOT_NEGATIVE
    if name in _RULES:
        return _RULES[name](*operands)
    if name == "pow":
        return _power(operands[0], call.operands[1])
    if name == "where":
        condition, *parts = operands
        return parts[0] if condition == TRUE else parts[1] if condition == FALSE else _union(parts)
    if name in ("sum", "amax", "amin", "prod") and operands[0].low >= 0:
        return operands[0] if name in ("amax", "amin") else NOT_NEGATIVE
    return _union(operands) if name in _MOVED or call.op.kind in _KEPT else ANY


def _union(parts: Sequence[RealRange]) -> RealRange:
    low, high = min(one.low for one in parts), max(one.high for one in parts)
    is_above = all(one.is_above for one in parts if one.low == low)
    return RealRange(low, high, is_above, all(one.is_below for one in parts if one.high == high))


def _sum(a: RealRange, b: RealRange) -> RealRange:
    return RealRange(a.low + b.low, a.high + b.high, a.is_above or b.is_above, a.is_below or b.is_below)


def _product(a: RealRange, b: RealRange) -> RealRange:
    if a.high <= 0 and b.high <= 0:
        a, b = a.negative(), b.negative()
    if a.low >= 0 and b.low >= 0:
        largest = math.inf if math.inf in (a.high, b.high) else a.high * b.high
        return (POSITIVE if a.is_positive and b.is_positive else NOT_NEGATIVE)._replace(
            high=largest, is_below=largest == math.inf or a.is_below or b.is_below
        )
    if a.high <= 0 <= b.low or b.high <= 0 <= a.low:
        return _product(a.negative(), b).negative()
    return ANY


def _quotient(a: RealRange, b: RealRange) -> RealRange:
    if not (b.is_positive or b.negative().is_positive):
        return ANY
    return _product(a, _inverse(b) if b.is_positive else _inverse(b.negative()).negative())


def _inverse(a: RealRange) -> RealRange:
    """Return the range of 1/a, for a above 0."""
    high = math.inf if a.low == 0 else 1 / a.low
    low = Fraction(0) if a.high == math.inf else 1 / a.high
    return RealRange(low, high, a.is_below or a.high == math.inf, a.is_above or a.low == 0)


def _power(base: RealRange, exponent: Atom) -> RealRange:
    if base.is_positive:
        return POSITIVE
    is_whole = exponent.is_number and exponent.is_real and float(exponent) == int(float(exponent))
    if is_whole and int(float(exponent)) % 2 == 0:
        return NOT_NEGATIVE
    return NOT_NEGATIVE if base.low >= 0 else ANY


def _logarithm(a: RealRange) -> RealRange:
    return RealRange(Fraction(0), is_above=a.is_above or a.low > 1) if a.low >= 1 else ANY


def _largest(a: RealRange, b: RealRange) -> RealRange:
    low, high = max(a.low, b.low), max(a.high, b.high)
    is_above = any(one.is_above for one in (a, b) if one.low == low)
    return RealRange(low, high, is_above, all(one.is_below for one in (a, b) if one.high == high))


_RULES: Mapping[str, Callable[..., RealRange]] = {
    "neg": RealRange.negative,
    "add": _sum,
    "sub": lambda a, b: _sum(a, b.negative()),
    "mul": _product,
    "div": _quotient,
    "log": _logarithm,
    "maximum": _largest,
    "minimum": lambda a, b: _largest(a.negative(), b.negative()).negative(),
}


# -- comparisons


def _less(a: RealRange, b: RealRange) -> RealRange:
    if a.high < b.low or (a.high == b.low and (a.is_below or b.is_above)):
        return TRUE
    return FALSE if a.low >= b.high else TRUTH


def _not(truth: RealRange) -> RealRange:
    return {TRUE: FALSE, FALSE: TRUE}.get(truth, TRUTH)


def _equal(a: RealRange, b: RealRange) -> RealRange:
    if a == b and a.low == a.high and not math.isinf(a.low):
        return TRUE
    return FALSE if TRUE in (_less(a, b), _less(b, a)) else TRUTH


_COMPARISONS: Mapping[str, Callable[[RealRange, RealRange], RealRange]] = {
    "lt": _less,
    "gt": lambda a, b: _less(b, a),
    "ge": lambda a, b: _not(_less(a, b)),
    "le": lambda a, b: _not(_less(b, a)),
    "eq": _equal,
    "ne": lambda a, b: _not(_equal(a, b)),
}
_OF_SAME: Mapping[str, RealRange] = {
    **dict.fromkeys(("eq", "le", "ge"), TRUE),
    **dict.fromkeys(("ne", "lt", "gt"), FALSE),
}
"""Truth of comparisons of a value with itself."""
