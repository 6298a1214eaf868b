"""Signs of values and slopes on boxes, as they follow from operations: exp(x) is positive, also where floats have 0.

Bounds in floats tell no sign below the smallest one.  Here each line has the signs that it may have: those of its
bounds, less those that its operation excludes, by the signs of its operands alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import sympy
from sympy import Expr

from gradcli.language.program import sympy_functions
from gradcli.language.program.wengert import Atom, Line
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_kinds import BoxKind, divisor_of
from gradcli.parts.everywhere.box_sets import BoxSet
from gradcli.parts.everywhere.interval_functions import enclosed
from gradcli.parts.everywhere.intervals import Interval
from gradcli.parts.everywhere.jets import Evaluator, Jet, variable
from gradcli.parts.everywhere.wholes import whole_of
from gradcli.reference.bounds import Mask, NoRuleError
from gradcli.reference.compiling import Arithmetic, Closure
from gradcli.reference.rules import rule_of


@dataclass(frozen=True)
class PossibleSigns:
    """Signs that numbers may have: masks of the boxes in which they may be negative, 0, or positive."""

    negative: Mask
    zero: Mask
    positive: Mask

    def __neg__(self) -> PossibleSigns:
        return PossibleSigns(self.positive, self.zero, self.negative)

    def __or__(self, other: PossibleSigns) -> PossibleSigns:
        return PossibleSigns(self.negative | other.negative, self.zero | other.zero, self.positive | other.positive)

    def __and__(self, other: PossibleSigns) -> PossibleSigns:
        return PossibleSigns(self.negative & other.negative, self.zero & other.zero, self.positive & other.positive)


YES, NO = np.asarray(True), np.asarray(False)

ANY, NONE, ZERO, POSITIVE, NEGATIVE = (
    PossibleSigns(*masks) for masks in ((YES, YES, YES), (NO, NO, NO), (NO, YES, NO), (NO, NO, YES), (YES, NO, NO))
)


def of_interval(bounds: Interval) -> PossibleSigns:
    """Return the signs that numbers between bounds may have."""
    return PossibleSigns(np.asarray(bounds.low < 0), bounds.has_zero, np.asarray(bounds.high > 0))


def add(a: PossibleSigns, b: PossibleSigns) -> PossibleSigns:
    """Add."""
    opposite = (a.positive & b.negative) | (a.negative & b.positive)
    return PossibleSigns(a.negative | b.negative, (a.zero & b.zero) | opposite, a.positive | b.positive)


def multiply(a: PossibleSigns, b: PossibleSigns) -> PossibleSigns:
    """Multiply."""
    negative = (a.negative & b.positive) | (a.positive & b.negative)
    return PossibleSigns(negative, a.zero | b.zero, (a.positive & b.positive) | (a.negative & b.negative))


def divide(a: PossibleSigns, b: PossibleSigns) -> PossibleSigns:
    """Divide, wherever there is a quotient."""
    return multiply(a, PossibleSigns(b.negative, NO, b.positive))


def whole_power(a: PossibleSigns, exponent: int) -> PossibleSigns:
    """Raise to a whole power, wherever there is one."""
    zero = a.zero if exponent > 0 else NO
    if exponent == 0:
        return POSITIVE
    return (
        PossibleSigns(a.negative, zero, a.positive)
        if exponent % 2
        else PossibleSigns(NO, zero, a.positive | a.negative)
    )


def power(a: PossibleSigns, exponent: PossibleSigns) -> PossibleSigns:
    """Raise to a power: of positive numbers all are positive, of 0 none is negative."""
    return PossibleSigns(a.negative, a.zero | a.negative, YES)


def size(a: PossibleSigns) -> PossibleSigns:
    """Take the absolute value."""
    return PossibleSigns(NO, a.zero, a.positive | a.negative)


def larger(a: PossibleSigns, b: PossibleSigns) -> PossibleSigns:
    """Take the larger one."""
    zero = (a.zero & (b.zero | b.negative)) | (b.zero & a.negative)
    return PossibleSigns(a.negative & b.negative, zero, a.positive | b.positive)


def smaller(a: PossibleSigns, b: PossibleSigns) -> PossibleSigns:
    """Take the smaller one."""
    return -larger(-a, -b)


def _same(a: PossibleSigns) -> PossibleSigns:
    return a


def _branch(condition: object, value: Closure[PossibleSigns], other: Closure[PossibleSigns]) -> Closure[PossibleSigns]:
    return lambda env: value(env) | other(env)


_RELATIONS = (sympy.Eq, sympy.Ne, sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge)

_ODD = "sinh asinh atan tanh erf asin atanh erfinv sign".split()

_HEADS: Mapping[type, Callable[..., PossibleSigns]] = {
    **{getattr(sympy, name): _same for name in _ODD},
    **dict.fromkeys((sympy.exp, sympy.cosh, sympy.erfc), lambda a: POSITIVE),
    **dict.fromkeys((sympy.acos, sympy.acosh), lambda a: PossibleSigns(NO, YES, YES)),
    **dict.fromkeys((sympy.Abs, sympy_functions.abs), size),
    **dict.fromkeys(_RELATIONS, lambda a, b: PossibleSigns(NO, YES, YES)),
    sympy_functions.sign: _same,
    sympy_functions.detach: _same,
    sympy_functions.maximum: larger,
    sympy_functions.minimum: smaller,
}

_ARITHMETIC = Arithmetic[PossibleSigns](
    heads=_HEADS,
    add=add,
    multiply=multiply,
    divide=divide,
    negate=PossibleSigns.__neg__,
    root=lambda a: PossibleSigns(NO, a.zero, a.positive),
    whole_power=whole_power,
    power=power,
    branch=_branch,
    neither=lambda env: NONE,
    error=NoRuleError,
)


@lru_cache(maxsize=4096)
def signs_of_expression(expression: Expr) -> Closure[PossibleSigns]:
    """Compile an expression to a closure on signs.

    Raises:
        NoRuleError: It has a function without a rule.
    """
    if isinstance(expression, sympy.Symbol):
        return lambda env: env[expression]
    if isinstance(expression, sympy.Rational | sympy.Float | sympy.NumberSymbol):
        found = of_interval(enclosed(expression))
        return lambda env: found
    return _ARITHMETIC.compile(expression, signs_of_expression)


_WHOLES: Mapping[str, tuple[Callable[..., PossibleSigns], tuple[Callable[..., PossibleSigns], ...]]] = {
    "sigmoid": (lambda a: POSITIVE, (lambda a: POSITIVE,)),
    "softplus": (lambda a: POSITIVE, (lambda a: POSITIVE,)),
    "logsigmoid": (lambda a: NEGATIVE, (lambda a: POSITIVE,)),
    "tanh": (_same, (lambda a: POSITIVE,)),
    "silu": (_same, (lambda a: ANY,)),
    "gelu": (_same, (lambda a: ANY,)),
    "hypot": (lambda a, b: PossibleSigns(NO, a.zero & b.zero, YES), (lambda a, b: a, lambda a, b: b)),
    "logaddexp": (lambda a, b: ANY, (lambda a, b: POSITIVE,) * 2),
}
"""Signs of values and slopes of operations with a rule as wholes, where a kink is no matter."""


@dataclass(frozen=True)
class _Signed:
    """The signs of a value, and those of its slopes by the places of variables."""

    value: PossibleSigns
    slopes: Mapping[int, PossibleSigns]


def is_certainly_positive(quantity: BoxQuantity, boxes: BoxSet) -> tuple[Mask, bool]:
    """Tell in which boxes a number is certainly positive wherever it has a value, and whether it has one in these."""
    nowhere = np.zeros(len(boxes), bool)
    if not quantity.function.is_of_numbers or not len(boxes):
        return nowhere, False
    with np.errstate(all="ignore"):
        found = _of_quantity(quantity, boxes)
        if found is None:
            return nowhere, False
        found = -found if quantity.is_negated else found
        is_positive = np.broadcast_to(found.positive & ~found.zero & ~found.negative, (len(boxes),))
        jet = quantity.jets(boxes.sides, is_second=False)
    missing = int(BoxKind.POLE | BoxKind.EDGE | BoxKind.OUTSIDE | BoxKind.JUMP)
    return is_positive, bool((is_positive & (jet.kinds & missing == 0)).any())


def has_divisors_of_zero(quantity: BoxQuantity, boxes: BoxSet) -> Mask:
    """Tell in which boxes a divisor may be 0: not where bounds alone have 0, as they do of exp(-1000)."""
    function = quantity.function
    if not function.is_of_numbers or not len(boxes):
        return np.ones(len(boxes), bool)
    found = np.zeros(len(boxes), bool)
    with np.errstate(all="ignore"):
        seeds = function.seeds(boxes.sides)
        known, signs = function.known(seeds, is_second=False), _signed(function, seeds)
        for line in function.lines:
            has_pole = (known[line.symbol].kinds & int(BoxKind.POLE)) != 0
            divisor = divisor_of(line.call)
            if divisor is None:
                inside = [function.jet_of(known, a).kinds & int(BoxKind.POLE) for a in line.call.operands]
                found |= has_pole & (reduce(np.bitwise_or, inside, np.asarray(0)) == 0)
            else:
                own = signs.get(divisor) or _Signed(of_interval(function.jet_of(known, divisor).value), {})
                found |= has_pole & own.value.zero
    return found


def _of_quantity(quantity: BoxQuantity, boxes: BoxSet) -> PossibleSigns | None:
    """Find the signs of a quantity; None of a second derivative."""
    function = quantity.function
    seeds = function.seeds(boxes.sides)
    known = _signed(function, seeds)
    output = function.outputs[quantity.element]
    jet, own = function.run(boxes.sides)[quantity.element], known.get(output)
    own = own or _Signed(of_interval(jet.value), {})

    def derivative(places: tuple[int, ...]) -> PossibleSigns:
        if not places:
            return own.value
        bounds = of_interval(jet.slope(places[0]) if len(places) == 1 else jet.second_slope(*places))
        return bounds & own.slopes.get(places[0], ANY) if len(places) == 1 else bounds

    if quantity.expression is None:
        return derivative(quantity.derivative)
    named = quantity.named or {}
    values = {a: variable(boxes.sides.row(one), one) for a, one in named.items() if isinstance(one, int)}
    values |= {a: _jet_of(jet, one) for a, one in named.items() if not isinstance(one, int)}
    signs = {
        a: _Signed(of_interval(values[a].value) if isinstance(one, int) else derivative(one), {})
        for a, one in named.items()
    }
    found = _signed(quantity.expression, values, signs).get(quantity.expression.outputs[0])
    return None if found is None else found.value


def _jet_of(jet: Jet, derivative: tuple[int, ...]) -> Jet:
    """Return a derivative without slopes of its own."""
    match derivative:
        case ():
            return Jet(jet.value, {}, {}, jet.kinds)
        case (i,):
            return Jet(jet.slope(i), {}, {}, jet.kinds)
        case (i, j):
            return Jet(jet.second_slope(i, j), {}, {}, jet.kinds)
    raise ValueError(f"no derivative of order {len(derivative)}")


def _signed(
    evaluator: Evaluator, seeds: Mapping[Atom, Jet], signs: Mapping[Atom, _Signed] | None = None
) -> dict[Atom, _Signed]:
    """Find the signs of all lines, and of the variables: as they are given, or those of their bounds."""
    known = evaluator.known(seeds, is_second=True)
    found = {a: _Signed(of_interval(one.value), dict.fromkeys(one.slopes, POSITIVE)) for a, one in seeds.items()}
    found |= signs or {}
    for line in evaluator.lines:
        found[line.symbol] = _of_line(evaluator, line, known, found)
    return found


def _of_line(evaluator: Evaluator, line: Line, known: Mapping[Atom, Jet], found: Mapping[Atom, _Signed]) -> _Signed:
    call, jet = line.call, known[line.symbol]
    inside = [found.get(a) or _Signed(of_interval(evaluator.jet_of(known, a).value), {}) for a in call.operands]
    values = [one.value for one in inside]
    value, slopes = of_interval(jet.value) & _value(line, values), {}
    own = _slopes(line, values)
    for i in jet.slopes:
        terms = [multiply(sign, one.slopes[i]) for sign, one in zip(own, inside, strict=True) if i in one.slopes]
        slopes[i] = of_interval(jet.slope(i)) & (reduce(add, terms) if terms else ANY)
    return _Signed(value, slopes)


def _value(line: Line, values: Sequence[PossibleSigns]) -> PossibleSigns:
    """Find the signs of an operation by those of its operands."""
    call = line.call
    if call.op.is_branch:
        return values[1] | values[2]
    if whole_of(call) is not None:
        return _WHOLES[call.op.name][0](*values) if call.op.name in _WHOLES else ANY
    return ANY if call.op.sense else _of_rule(rule_of(call).expression, rule_of(call).environment(values))


def _slopes(line: Line, values: Sequence[PossibleSigns]) -> list[PossibleSigns]:
    """Find the signs of the slopes of an operation by each operand; all, where a kink or a choice may be."""
    call = line.call
    if call.op.is_branch or call.op.sense or call.op.is_extreme or call.op.name == "abs":
        return [ANY] * len(values)
    if whole_of(call) is not None:
        return [rule(*values) for rule in _WHOLES[call.op.name][1]] if call.op.name in _WHOLES else [ANY] * len(values)
    rule = rule_of(call)
    environment = rule.environment(values)
    return [ANY if one is None else _of_rule(one, environment) for one in rule.slopes]


def _of_rule(expression: Expr, environment: Mapping[sympy.Symbol, PossibleSigns]) -> PossibleSigns:
    try:
        return signs_of_expression(expression)(environment)
    except NoRuleError:
        return ANY
