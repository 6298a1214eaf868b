"""Expressions on columns of balls: at many elements of a line, or at many entries of a formula, at once.

Whatever `compiling` computes of one number is computed of a list of numbers, operation by operation in the same order:
the balls are the same, and take a fraction of the time, as no closure is called for each of them.  Indices are lists of
integers.  A choice among branches goes on with the rows of each.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from types import MappingProxyType

import sympy
from flint import arb
from sympy import Expr
from sympy.core.relational import Relational

from gradcli.language.program.sympy_functions import Aggregate, Chosen, quotient
from gradcli.reference.balls import COMPARISONS, HEADS, Ball, integer_power
from gradcli.reference.compiling import (
    Arithmetic,
    Closure,
    Environment,
    OverWorkError,
    compile_ball,
    is_of_indices,
    kept_in,
    over_denominator,
    spend,
    whole_number,
    whole_quotient,
    without_fractions,
    work_of,
)

Column = list[Ball]

_COUNT = sympy.Dummy("count")
"""Key of an environment for the number of its rows."""

_ZERO, _ONE = arb(0), arb(1)


def evaluate_column(
    expression: Expr,
    columns: Environment,
    count: int,
    shared: Environment = MappingProxyType({}),
) -> Column:
    """Evaluate an expression at many rows, counted among the operations of the environment that the rows share.

    Args:
        expression: The expression.
        columns: Lists of balls, or of integers for an index: one of each row.
        count: The number of rows.
        shared: The other symbols.

    Raises:
        OverWorkError: There are too many operations; none is counted then.
        NotImplementedError: The expression has a function without a rule.
    """
    run, kept = _compiled(expression), kept_in(shared)
    before = kept.left
    try:
        spend(shared, count * work_of(expression))
        return run({**shared, **columns, _COUNT: count})
    except OverWorkError:
        kept.left = before
        raise


def _rows(env: Environment, chosen: Sequence[int]) -> dict[sympy.Symbol, object]:
    """Take some rows of an environment."""
    found = {key: [one[n] for n in chosen] if isinstance(one, list) else one for key, one in env.items()}
    return {**found, _COUNT: len(chosen)}


def _each(function: Callable[..., Ball], *columns: Iterable[object]) -> Column:
    return list(map(function, *columns))


def _branch(condition: Closure[Column], first: Closure[Column], second: Closure[Column]) -> Closure[Column]:
    """Compile a branch: evaluate each for the rows that take it, and both where a truth is neither 1 nor 0."""

    def run(env: Environment) -> Column:
        truths = condition(env)
        holds, fails = ([n for n, truth in enumerate(truths) if not truth == other] for other in (0, 1))  # noqa: SIM201
        found = dict(zip(holds, first(_rows(env, holds)), strict=True)) if holds else {}
        for n, ball in zip(fails, second(_rows(env, fails)), strict=True) if fails else ():
            found[n] = found[n].union(ball) if n in found else ball
        return [found[n] for n in range(len(truths))]

    return run


_ARITHMETIC = Arithmetic[Column](
    heads={head: partial(_each, function) for head, function in HEADS.items()},
    add=partial(_each, operator.add),
    multiply=partial(_each, operator.mul),
    divide=partial(_each, operator.truediv),
    negate=None,
    root=partial(_each, arb.sqrt),
    whole_power=lambda base, exponent: [integer_power(one, exponent) for one in base],
    power=partial(_each, operator.pow),
    branch=_branch,
    neither=lambda env: [arb.nan()] * env[_COUNT],
    error=NotImplementedError,
)


@lru_cache(maxsize=4096)
def _compiled(expression: Expr) -> Closure[Column]:
    """Compile an expression to a closure that evaluates it on columns.

    Raises:
        NotImplementedError: it has a function without a rule.
    """
    match expression:
        case sympy.Symbol():
            return lambda env: _as_column(env[expression], env[_COUNT])
        case Relational():
            compare, is_index = COMPARISONS[expression.rel_op], is_of_indices(expression)
            compiled: Callable[[Expr], Closure[Sequence[Ball | int]]] = _compiled_index if is_index else _compiled
            sides = expression.lhs, expression.rhs
            left, right = map(compiled, without_fractions(*sides) if is_index else sides)
            return lambda env: _each(compare, left(env), right(env))
        case sympy.Sum():
            return _compiled_sum(expression)
        case Aggregate() | Chosen():
            one = compile_ball(expression)
            return lambda env: [one(row) for row in _each_row(env)]
        case sympy.Indexed():
            label, indices = expression.base.label, [_compiled_index(i) for i in expression.indices]
            return lambda env: _each(env[label], *[index(env) for index in indices])
        case sympy.KroneckerDelta():
            a, b = map(_compiled_index, without_fractions(*expression.args))
            return lambda env: [_ONE if m == n else _ZERO for m, n in zip(a(env), b(env), strict=True)]
    if not expression.free_symbols:
        constant = compile_ball(expression)
        return lambda env: [constant(env)] * env[_COUNT]
    return _ARITHMETIC.compile(expression, _compiled)


def _as_column(value: Ball | int | list[Ball | int], count: int) -> Column:
    """Give the balls of a symbol: a column, or the same for each row."""
    if not isinstance(value, list):
        return [arb(value)] * count
    return [one if isinstance(one, arb) else arb(one) for one in value]


def _each_row(env: Environment) -> Iterable[Environment]:
    """Split an environment into those of its rows, which share what is known."""
    columns = {key: one for key, one in env.items() if isinstance(one, list)} or {_COUNT: [1] * env[_COUNT]}
    for row in zip(*columns.values(), strict=True):
        yield {**env, **dict(zip(columns, row, strict=True))}


@lru_cache(maxsize=4096)
def _compiled_index(expression: Expr) -> Closure[list[int]]:
    """Compile an index to a closure that evaluates it on columns.

    Raises:
        NotImplementedError: It has a function without a rule.
    """
    match expression:
        case sympy.Integer():
            whole = int(expression)
            return lambda env: [whole] * env[_COUNT]
        case sympy.Symbol():
            return lambda env: one if isinstance(one := env[expression], list) else [one] * env[_COUNT]
        case sympy.Add() | sympy.Mul() if (parted := over_denominator(expression))[1] > 1:
            numerator, denominator = _compiled_index(parted[0]), parted[1]
            return lambda env: [whole_quotient(one, denominator) for one in numerator(env)]
        case sympy.Add() | sympy.Mul():
            parts = [_compiled_index(a) for a in expression.args]
            combine: Callable[[Iterable[int]], int] = sum if isinstance(expression, sympy.Add) else math.prod
            return lambda env: list(map(combine, zip(*[part(env) for part in parts], strict=True)))
        case quotient():
            above, below = (_compiled_index(a) for a in expression.args)
            return lambda env: list(map(operator.floordiv, above(env), below(env)))
    position = _compiled(expression)
    return lambda env: list(map(whole_number, position(env)))


def _compiled_sum(expression: sympy.Sum) -> Closure[Column]:
    """Compile a sum: each that differs is taken once for all rows and columns of an environment, its terms at once."""
    body, work = _compiled(expression.function), work_of(expression.function)
    limits = [(k, _compiled_index(a), _compiled_index(b)) for k, a, b in reversed(expression.limits)]
    free = sorted((s for s in expression.free_symbols if s.is_integer), key=str)

    def totals(env: Environment, depth: int) -> Column:
        k, first, last = limits[depth]
        terms = [range(start, end + 1) for start, end in zip(first(env), last(env), strict=True)]
        spend(env, sum(map(len, terms)) * work)
        inside = _rows(env, [n for n, one in enumerate(terms) for _ in one])
        inside[k] = [n for one in terms for n in one]
        values = (body(inside) if depth == len(limits) - 1 else totals(inside, depth + 1)) if inside[k] else []
        ends, found = 0, Column()
        for one in terms:
            start, ends = ends, ends + len(one)
            found.append(sum(values[start:ends], _ZERO))
        return found

    def run(env: Environment) -> Column:
        known, own = kept_in(env).sums, [s for s in free if s in env]
        indices = [one if isinstance(one := env[s], list) else [one] * env[_COUNT] for s in own]
        keys = [(expression, *at) for at in zip(*indices, strict=True)] if own else [(expression,)] * env[_COUNT]
        new = list(dict.fromkeys(key for key in keys if key not in known))
        if new:
            others = {key: one for key, one in env.items() if not isinstance(one, list)}
            columns = {s: [key[n] for key in new] for n, s in enumerate(own, 1)}
            known.update(zip(new, totals({**others, **columns, _COUNT: len(new)}, 0), strict=True))
        return [known[key] for key in keys]

    return run
