"""The rule of each elementwise operation on jets: which branch it takes just beside the point, and its series there.

Knows single operations; `gradcli.reference.beside` runs a Program of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial

import sympy
from flint import arb, fmpq

from gradcli.language.program.wengert import Call
from gradcli.reference.balls import Ball
from gradcli.reference.compiling import Compiled, compile_ball
from gradcli.reference.exact_numbers import Atoms, Number, UndecidedError
from gradcli.reference.jets import (
    Jet,
    bottom,
    composed,
    inverse,
    is_zero,
    minus,
    plus,
    power,
    scaled,
    sign_of,
    times,
)
from gradcli.reference.program_writer import MOST_ORDER
from gradcli.reference.rules import Undefined, rule_of

MOST_SIZE = 1_000
"""Exponents up to here are powers of a series; larger ones leave it anyway."""

NEIGHBOR = 2.0**-20
"""How far beside the end of a domain it is asked on which side the domain is; domains are intervals."""


def evaluated(call: Call, operands: Sequence[Jet], shown: str) -> Jet | Undefined:
    """The value of an elementwise operation on jets; undefined, and not decided, where it is not known.

    Args:
        call: The operation.
        operands: Its operands, in their order.
        shown: The sub-expression for messages.
    """
    atoms = operands[0].atoms
    try:
        exact = _compared(call.op.sense) if call.op.sense else _EXACT.get(call.op.name)
        if exact is not None:
            return exact(*operands)
        if call.op.name in ("sqrt", "pow") and _is_power(operands[0]):
            return _power(*operands, *([atoms.rational(fmpq(1, 2))] if call.op.name == "sqrt" else []))
        if all(isinstance(operand, Number) for operand in operands):
            return _of_numbers(call, [o for o in operands if isinstance(o, Number)], shown, atoms)
        if len(operands) != 1:
            raise UndecidedError("there is no series of it")
        return composed(lambda n, x: _derivative(call, n, x), (call.op.name, call.statics), operands[0])
    except _NoValueError:
        return _no_value(call, shown, decided=True)
    except UndecidedError as error:
        # No series at an end of the domain; but what certainly leaves the domain has certainly no value.
        if len(operands) == 1 and _leaves(call, operands[0], shown):
            return _no_value(call, shown, decided=True)
        return Undefined("domain", f"{shown} could not be followed around the point: {error}", False)


def inverted(entries: Sequence[Jet], place: int, shown: str) -> Jet | Undefined:
    """An element of the inverse of a small matrix, by Cramer's rule; see `evaluated`."""
    order = math.isqrt(len(entries))
    unknown = Undefined("domain", f"{shown} could not be followed around the point", decided=False)
    if order > MOST_ORDER:
        return unknown
    rows = [list(entries[order * n : order * (n + 1)]) for n in range(order)]
    i, j = divmod(place, order)
    minor = [[*row[:i], *row[i + 1 :]] for n, row in enumerate(rows) if n != j]
    try:
        cofactor = scaled(_determinant(minor, entries[0]), fmpq((-1) ** (i + j)))
        return times(cofactor, inverse(_determinant(rows, entries[0])))
    except UndecidedError:
        return unknown


def _determinant(rows: list[list[Jet]], like: Jet) -> Jet:
    """By Laplace's expansion along the first row; 1 of nothing."""
    if not rows:
        return like.atoms.rational(1)
    total: Jet = like.atoms.rational(0)
    for n, entry in enumerate(rows[0]):
        minor = _determinant([[*row[:n], *row[n + 1 :]] for row in rows[1:]], like)
        total = plus(total, times(scaled(entry, fmpq((-1) ** n)), minor))
    return total


class _NoValueError(Exception):
    """An operation has no value on this side."""


def _no_value(call: Call, shown: str, *, decided: bool) -> Undefined:
    domain = rule_of(call).domain
    return Undefined("domain", f"{shown} has no value on one side" + (f": {domain}" if domain else ""), decided)


def _of_numbers(call: Call, operands: list[Number], shown: str, atoms: Atoms) -> Number | Undefined:
    found = rule_of(call).evaluate([operand.ball for operand in operands], shown)
    if isinstance(found, Undefined):
        return found
    return atoms.enclosed((call.op.name, call.statics, *(operand.key for operand in operands)), found)


@lru_cache(maxsize=512)
def _derivatives(call: Call, n: int) -> tuple[sympy.Symbol, sympy.Expr, Compiled]:
    """The n-th derivative of an operation of one operand."""
    rule = rule_of(call)
    (parameter,) = rule.parameters
    expression = rule.slopes[0] if n == 1 else sympy.expand(sympy.diff(_derivatives(call, n - 1)[1], parameter))
    return parameter, expression, compile_ball(expression)


def _derivative(call: Call, n: int, x: Number) -> Number:
    """The n-th derivative of an operation at a number."""
    if n == 0:
        value = _of_numbers(call, [x], "", x.atoms)
        if isinstance(value, Undefined):
            raise UndecidedError("it has no value at the point")
        return value
    parameter, _, compiled = _derivatives(Call(call.op.name, (_OPERAND,), call.statics), n)
    return x.atoms.enclosed((call.op.name, call.statics, x.key, n), compiled({parameter: x.ball}))


_OPERAND = sympy.Symbol("operand", real=True)


def _leaves(call: Call, operand: Jet, shown: str) -> bool:
    """Whether an operand is at the end of the domain, or outside, and does not enter."""
    try:
        here = bottom(operand)
    except UndecidedError:
        return False
    side = sign_of(minus(operand, here))
    at_point = rule_of(call).slope(0, [here.ball], shown)
    if not side or not isinstance(at_point, Undefined) or not at_point.decided:
        return False
    beside = rule_of(call).evaluate([here.ball + side * arb(NEIGHBOR) * (1 + abs(here.ball))], shown)
    return isinstance(beside, Undefined) and beside.decided


# -- pieces


def _difference(a: Jet, b: Jet) -> tuple[Jet, int | None]:
    difference = minus(a, b)
    return difference, sign_of(difference)


def _extreme(wanted: int, a: Jet, b: Jet) -> Jet:
    """Where it is not known which, some number between 0 and 1 stands for the choice."""
    difference, sign = _difference(a, b)
    if sign is None:
        return minus(a, times(a.atoms.between(0, 1), difference))
    return a if sign * wanted >= 0 else b


def _absolute(a: Jet) -> Jet:
    sign = sign_of(a)
    if sign is None:
        return times(a.atoms.between(-1, 1), a)
    return a if sign >= 0 else scaled(a, fmpq(-1))


def _signum(a: Jet) -> Jet:
    sign = sign_of(a)
    return a.atoms.between(-1, 1) if sign is None else a.atoms.rational(sign)


def _floor(a: Jet) -> Jet:
    here = bottom(a)
    exact = here.rational
    whole = here.atoms.rational(int(exact.floor())) if exact is not None else _unique(here.ball.floor(), here.atoms)
    sign = _difference(a, whole)[1]
    if sign is None:
        raise UndecidedError("it may jump here")
    return whole if sign >= 0 else plus(whole, here.atoms.rational(-1))


def _unique(ball: Ball, atoms: Atoms) -> Number:
    whole = ball.unique_fmpz()
    if whole is None:
        raise UndecidedError("it may jump here")
    return atoms.rational(int(whole))


def _ceil(a: Jet) -> Jet:
    return scaled(_floor(scaled(a, fmpq(-1))), fmpq(-1))


def _trunc(a: Jet) -> Jet:
    sign = sign_of(a)
    if sign is None:
        raise UndecidedError("it may jump here")
    return _floor(a) if sign >= 0 else _ceil(a)


def _round(a: Jet) -> Jet:
    """The nearest integer beside the point; a half that stays one goes to the even neighbour."""
    # floor(a + 1/2), corrected where it rounded an exact half up to an odd number.
    above = plus(a, a.atoms.rational(fmpq(1, 2)))
    nearest = _floor(above)
    is_tie = is_zero(minus(above, nearest))
    if is_tie and isinstance(nearest, Number) and nearest.rational is not None and int(nearest.rational.p) % 2:
        return plus(nearest, a.atoms.rational(-1))
    return nearest


def _compared(sense: Sequence[int]) -> Callable[[Jet, Jet], Jet]:
    """A condition that holds with some signs of the difference."""

    def condition(a: Jet, b: Jet) -> Jet:
        sign = _difference(a, b)[1]
        return a.atoms.between(0, 1) if sign is None else a.atoms.rational(int(sign in sense))

    return condition


def _quotient(a: Jet, b: Jet) -> Jet:
    if is_zero(b):
        raise _NoValueError
    return times(a, inverse(b))


# -- powers and angles


def _is_power(base: Jet) -> bool:
    """Whether powers of it can be taken apart from whole ones: where it moves, or is positive."""
    return not isinstance(base, Number) or base.sign == 1


def _root(base: Jet, exponent: Fraction) -> Jet:
    """The base to an exponent that is not an integer; it has none where the base is negative."""
    sign = sign_of(base)
    if sign is None:
        raise UndecidedError("the base of a power may be 0")
    if sign < 0:
        raise _NoValueError
    return power(base, exponent)


def _power(base: Jet, by: Jet) -> Jet:
    known = by.rational if isinstance(by, Number) else None
    # A rational exponent keeps the powers of the step exact, which exp and log would not.
    if known is not None and abs(known) < MOST_SIZE:
        exponent = Fraction(int(known.p), int(known.q))
        if exponent == 0:
            return base.atoms.rational(1)
        return power(base, exponent) if exponent.denominator == 1 else _root(base, exponent)
    logarithm = composed(lambda n, x: _derivative(_LOG, n, x), ("log", ()), base)
    return composed(lambda n, x: _derivative(_EXP, n, x), ("exp", ()), times(by, logarithm))


_LOG, _EXP, _ATAN = (Call(name, (_OPERAND,)) for name in ("log", "exp", "atan"))


def _angle(y: Jet, x: Jet) -> Jet:
    """atan2(y, x), by the quotient that is bounded."""
    signs = sign_of(y), sign_of(x)
    if None in signs:
        raise UndecidedError("the half-plane is not known")
    if signs == (0, 0):
        raise _NoValueError
    pi = y.atoms.enclosed("pi", arb.pi())
    # By y/x or x/y, whichever stays bounded: the other grows without bound near an axis.
    if signs[1] and _is_bounded(y, x):
        turned = fmpq(0) if signs[1] == 1 else fmpq(1) if signs[0] != -1 else fmpq(-1)
        return plus(_arctangent(times(y, inverse(x))), scaled(pi, turned))
    upright = scaled(pi, fmpq(signs[0] or 0, 2))
    return minus(upright, _arctangent(times(x, inverse(y))))


def _is_bounded(a: Jet, b: Jet) -> bool:
    """Whether |a| is at most |b| just beside the point."""
    return sign_of(minus(_absolute(b), _absolute(a))) in (0, 1)


def _arctangent(jet: Jet) -> Jet:
    return composed(lambda n, x: _derivative(_ATAN, n, x), ("atan", ()), jet)


_EXACT: Mapping[str, Callable[..., Jet]] = {
    "detach": lambda a: a,
    "neg": lambda a: scaled(a, fmpq(-1)),
    "add": plus,
    "sub": minus,
    "mul": times,
    "div": _quotient,
    "atan2": _angle,
    "maximum": partial(_extreme, 1),
    "minimum": partial(_extreme, -1),
    "abs": _absolute,
    "sign": _signum,
    "floor": _floor,
    "ceil": _ceil,
    "trunc": _trunc,
    "round": _round,
}
"""Operations that need no series, beside comparisons."""
