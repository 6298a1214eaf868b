"""SymPy expressions as functions of whole arrays with bounds, element by element.

Source of the functions: NumPy, of which `bounds.LOSS` is assumed; and balls for those that it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import sympy
from sympy import Expr
from sympy.core.relational import Relational

from gradcli.language.program import meaning
from gradcli.language.program.library_calls import NUMPY
from gradcli.reference.balls import HEADS
from gradcli.reference.bounds import (
    LOSS,
    Bounds,
    NoRuleError,
    Truth,
    absolute,
    add,
    angle,
    bounded,
    chosen,
    compared,
    divide,
    error_function,
    exact,
    is_same,
    larger,
    monotone,
    multiply,
    negative,
    of_angle,
    power,
    smaller,
    steps,
    truth,
    unknown,
    whole_power,
)
from gradcli.reference.compiling import folded, fraction
from gradcli.reference.special_functions import ball_by_ball, bessel, erfc, sinc

_MONOTONE = "exp log asin acos atan sinh tanh asinh acosh atanh".split()

_FUNCTIONS: Mapping[Any, Callable[..., Bounds]] = {
    **{getattr(sympy, name): monotone(getattr(np, NUMPY[name])) for name in _MONOTONE},
    **{getattr(meaning, name): steps(getattr(np, name)) for name in ("sign", "floor", "ceil", "trunc", "round")},
    sympy.sin: of_angle(np.sin),
    sympy.cos: of_angle(np.cos),
    sympy.tan: lambda a: divide(of_angle(np.sin)(a), of_angle(np.cos)(a)),
    sympy.atan2: angle,
    sympy.cosh: lambda a: monotone(np.cosh)(absolute(a)),  # which rises by more than it falls
    sympy.erf: monotone(error_function, LOSS * 2**11),
    sympy.erfc: erfc,
    sympy.besseli: bessel,
    **{one: ball_by_ball(HEADS[one]) for one in (sympy.erfinv, meaning.lgamma, meaning.polygamma)},
    **{one: ball_by_ball(HEADS[one]) for one in meaning.DESCRIBED.values()},
    meaning.sinc: sinc,
    sympy.Abs: absolute,
    meaning.abs: absolute,
    sympy.sign: steps(np.sign),
    meaning.eq: is_same,
    meaning.where: chosen,
    meaning.maximum: larger,
    meaning.minimum: smaller,
    meaning.detach: lambda a: a,
}
"""The functions that meanings and their derivatives are made of, with rules for arrays."""

Environment = Mapping[sympy.Symbol, Bounds]
Compiled = Callable[[Environment], Bounds]


@lru_cache(maxsize=4096)
def compile_bounds(expression: Expr) -> Compiled:
    """Compile an expression of elements to a closure.

    Raises:
        NoRuleError: It has a function without a rule.
    """
    match expression:
        case sympy.Rational() | sympy.Float() | sympy.NumberSymbol():
            constant = _constant(expression)
            return lambda env: constant
        case sympy.Symbol():
            return lambda env: env[expression]
        case sympy.Add():
            return folded([compile_bounds(a) for a in expression.args], add)
        case sympy.Mul():
            return _compile_product(expression)
        case sympy.Pow():
            return _compile_power(expression)
        case sympy.Piecewise():
            return _compile_cases(expression)
    head = _FUNCTIONS.get(expression.func)
    if head is None:
        raise NoRuleError(f"no rule on bounds for {expression.func}")
    operands = [compile_bounds(a) for a in expression.args]
    return lambda env: head(*(operand(env) for operand in operands))


def _constant(expression: Expr) -> Bounds:
    number = float(expression)
    is_binary = not expression.is_NumberSymbol and sympy.Rational(expression) == sympy.Rational(number)
    return exact(number) if is_binary else bounded(np.asarray(number), np.asarray(2.0**-52 * abs(number)))


def _compile_product(expression: sympy.Mul) -> Compiled:
    """Compile a product: divide once, and negate without a rounding."""
    sign, rest = expression.as_coeff_Mul()
    if sign == -1:
        inner = compile_bounds(rest)
        return lambda env: negative(inner(env))
    above, below = fraction(expression)
    numerator = folded([compile_bounds(a) for a in above], multiply)
    if not below:
        return numerator
    denominator = folded([compile_bounds(b) for b in below], multiply)
    return lambda env: divide(numerator(env), denominator(env))


def _compile_power(expression: sympy.Pow) -> Compiled:
    base, exponent = compile_bounds(expression.base), expression.exp
    if exponent == sympy.S.Half:
        root = monotone(np.sqrt)
        return lambda env: root(base(env))
    if exponent.is_Integer:
        whole = int(exponent)
        return lambda env: whole_power(base(env), whole)
    of_exponent = compile_bounds(exponent)
    return lambda env: power(base(env), of_exponent(env))


def _compile_condition(condition: Any) -> Callable[[Environment], Truth]:
    match condition:
        case sympy.logic.boolalg.BooleanTrue():
            return lambda env: (np.asarray(True), np.asarray(False))
        case Relational():
            senses = {"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}
            left, right = compile_bounds(condition.lhs), compile_bounds(condition.rhs)
            sense = senses[condition.rel_op]
            return lambda env: compared(left(env), right(env), sense)
        case sympy.And():
            parts = [_compile_condition(a) for a in condition.args]
            return lambda env: _every([part(env) for part in parts])
    raise NoRuleError(f"no rule on bounds for {condition}")


def _every(truths: Sequence[Truth]) -> Truth:
    return np.logical_and.reduce([a for a, _ in truths]), np.logical_or.reduce([b for _, b in truths])


def _compile_cases(expression: sympy.Piecewise) -> Compiled:
    """Compile cases: take the first that holds; unknown where none does."""
    run: Compiled = lambda env: unknown(np.zeros(1))  # noqa: E731
    for value, condition in reversed(expression.args):
        run = _case(compile_bounds(value), _compile_condition(condition), run)
    return run


def _case(value: Compiled, condition: Callable[[Environment], Truth], others: Compiled) -> Compiled:
    return lambda env: chosen(truth(*condition(env)), value(env), others(env))
