"""Formulas in index notation evaluated at many entries at once, in float64.

Their indices are arrays, a place for each entry.  A number that float64 has no rule or no room for is an error, and no
number: the formula is then compared at samples alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy
from sympy import Expr, KroneckerDelta, Piecewise
from sympy.core.relational import Relational

from gradcli.arrays import Array
from gradcli.language.program.sympy_functions import quotient
from gradcli.reference.deadline import require_time

AT_ONCE = 2**17
"""Entries that are evaluated at once, so that what comes between stays in the cache."""

LONGEST = 2**22
"""Terms of sums that are added up at once."""

Value = Any
"""A number, or an array of numbers or of truth values, one for each entry."""

Environment = Mapping[sympy.Symbol, Value]
"""Arrays of the variables, and whole numbers or arrays of them for indices and sizes."""

_RELATIONS: Mapping[type, Callable[[Value, Value], Value]] = {
    sympy.Gt: np.greater,
    sympy.Ge: np.greater_equal,
    sympy.Lt: np.less,
    sympy.Le: np.less_equal,
    sympy.Eq: np.equal,
    sympy.Ne: np.not_equal,
}

_OF_TWO: Mapping[str, Callable[[Value, Value], Value]] = {
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "atan2": np.arctan2,
}

_OF_ONE: Mapping[str, Callable[[Value], Value]] = {
    **{name: getattr(np, name) for name in "exp log sin cos tan sinh cosh tanh sign floor expm1 log1p sinc".split()},
    **{f"a{name}": getattr(np, f"arc{name}") for name in "sin cos tan sinh cosh tanh".split()},
    "abs": np.abs,
    "Abs": np.abs,
    "ceil": np.ceil,
    "ceiling": np.ceil,
}


class NoValuesError(Exception):
    """Error of an expression that has no rule here, or sums too many terms."""


def values_at(expression: Expr, at: Mapping[sympy.Symbol, Array], env: Environment) -> Array:
    """Evaluate an expression at many entries.

    Args:
        expression: In index notation.
        at: The place of each entry, by index; of one length.
        env: The arrays of the variables, and the sizes.

    Raises:
        NoValuesError: It has no rule, or sums too many terms.

    >>> i, x = sympy.Symbol("i", integer=True), sympy.Symbol("x", real=True)
    >>> values_at(2 * sympy.IndexedBase(x)[i + 1], {i: np.array([0, 1])}, {x: np.array([1.0, 2.0, 3.0])})
    array([4., 6.])
    """
    count = len(next(iter(at.values()))) if at else 1
    found = np.empty(count)
    for part in _parts(expression, count):
        require_time()
        inside = {**env, **{index: places[part] for index, places in at.items()}}
        with np.errstate(all="ignore"):
            found[part] = _value(expression, inside, {}, found[part].size)
    return found


def _parts(expression: Expr, count: int) -> Iterator[slice]:
    """Yield ranges of entries, fewer at once where each sums many terms."""
    step = AT_ONCE
    for total in expression.atoms(sympy.Sum):
        lengths = [last - first + 1 for _, first, last in total.limits]
        length = math.prod(int(one) if one.is_Integer else 2**10 for one in lengths)
        step = min(step, max(1, LONGEST // max(1, length)))
    for first in range(0, count, step):
        yield slice(first, first + step)


def _value(one: Expr, env: Environment, known: dict[Expr, Value], count: int) -> Value:
    """Evaluate an expression, each part of it once."""
    if one not in known:
        known[one] = _computed(one, env, known, count)
    return known[one]


def _computed(one: Expr, env: Environment, known: dict[Expr, Value], count: int) -> Value:
    def inside(part: Expr) -> Value:
        return _value(part, env, known, count)

    match one:
        case sympy.Integer():
            return int(one)
        case sympy.Symbol():
            if one not in env:
                raise NoValuesError(str(one))
            return env[one]
        case _ if one in (sympy.true, sympy.false):
            return bool(one)
        case sympy.Number() | sympy.NumberSymbol():
            return float(one)
        case sympy.Indexed():
            return _element(env[one.base.label], [inside(index) for index in one.indices])
        case sympy.Add():
            return reduce(lambda a, b: a + b, map(inside, one.args))
        case sympy.Mul():
            return reduce(lambda a, b: a * b, map(inside, one.args))
        case sympy.Pow():
            return _power(inside(one.base), one.exp, inside(one.exp))
        case Piecewise():
            return _by_cases(one, inside)
        case Relational():
            return _RELATIONS[type(one)](inside(one.lhs), inside(one.rhs))
        case sympy.And():
            return reduce(np.logical_and, map(inside, one.args))
        case sympy.Or():
            return reduce(np.logical_or, map(inside, one.args))
        case sympy.Not():
            return np.logical_not(inside(one.args[0]))
        case quotient():
            return inside(one.args[0]) // inside(one.args[1])
        case KroneckerDelta():
            return np.equal(inside(one.args[0]), inside(one.args[1]))
        case sympy.Sum():
            return _summed(one, env, count)
    return _called(one, inside)


def _called(one: Expr, inside: Callable[[Expr], Value]) -> Value:
    match type(one).__name__, len(one.args):
        case "where", 3:
            condition, taken, other = map(inside, one.args)
            return np.where(np.asarray(condition).astype(bool), taken, other)
        case name, 2 if name in _OF_TWO:
            return _OF_TWO[name](*map(inside, one.args)) * 1.0
        case name, 1 if name in _OF_ONE:
            return _OF_ONE[name](inside(one.args[0]))
    raise NoValuesError(type(one).__name__)


def _element(array: Array, index: list[Value]) -> Value:
    """Take elements; where an index is outside, as in the other case of a choice, any one."""
    places = [np.asarray(place).astype(np.int64) for place in index]  # those that a variable says are floats
    return array[tuple(np.clip(place, 0, size - 1) for place, size in zip(places, array.shape, strict=True))]


def _power(base: Value, exponent: Expr, number: Value) -> Value:
    if exponent == sympy.S.Half:
        return np.sqrt(base)
    if exponent.is_Integer and 0 < int(exponent) <= 4:
        return reduce(lambda a, b: a * b, [base] * int(exponent))
    return np.asarray(base, dtype=float) ** number


def _by_cases(one: Piecewise, inside: Callable[[Expr], Value]) -> Value:
    found: Value = np.nan
    for value, condition in reversed(one.args):
        found = inside(value) if condition == sympy.true else np.where(inside(condition), inside(value), found)
    return found


def _summed(one: sympy.Sum, env: Environment, count: int) -> Value:
    """Add up the terms of each entry, whose ends may depend on the entry."""
    entry: npt.NDArray[np.int64] = np.arange(count)
    inside: dict[sympy.Symbol, Value] = dict(env)
    for index, first, last in reversed(one.limits):
        low, high = (np.broadcast_to(_value(end, inside, {}, len(entry)), len(entry)) for end in (first, last))
        width = np.maximum(0, high - low + 1)
        total = int(width.sum())
        if total > 4 * LONGEST:
            raise NoValuesError("Sum")
        place = np.repeat(np.arange(len(entry)), width)
        starts = np.cumsum(width) - width
        indices = np.arange(total) - starts[place] + low[place]
        inside = {s: value[place] if _is_by_entry(s, value, len(entry)) else value for s, value in inside.items()}
        inside[index] = indices
        entry = entry[place]
    terms = np.broadcast_to(_value(one.function, inside, {}, len(entry)), len(entry))
    return np.bincount(entry, terms, count)


def _is_by_entry(symbol: sympy.Symbol, value: Value, count: int) -> bool:
    """Tell whether a value is that of an index, a place for each entry, and no array of a variable."""
    return bool(symbol.is_integer) and np.ndim(value) == 1 and len(value) == count
