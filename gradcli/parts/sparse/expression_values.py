"""Formulas in index notation evaluated at many entries at once, in float64.

Their indices are arrays, a place for each entry.  A number that float64 has no rule or no room for is an error, and no
number: the formula is then compared at samples alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy
from sympy import Expr, KroneckerDelta, Piecewise
from sympy.core.relational import Relational

from gradcli.arrays import Array, order_of
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


def values_at(
    expression: Expr,
    at: Mapping[sympy.Symbol, Array],
    env: Environment,
    sorted_terms: dict[sympy.Sum, SortedTerms] | None = None,
) -> Array:
    """Evaluate an expression at many entries.

    Args:
        expression: In index notation.
        at: The place of each entry, by index; of one length.
        env: The arrays of the variables, and the sizes.
        sorted_terms: The terms of sums over positions that earlier calls have sorted.

    Raises:
        NoValuesError: It has no rule, or sums too many terms.

    >>> i, x = sympy.Symbol("i", integer=True), sympy.Symbol("x", real=True)
    >>> values_at(2 * sympy.IndexedBase(x)[i + 1], {i: np.array([0, 1])}, {x: np.array([1.0, 2.0, 3.0])})
    array([4., 6.])
    """
    count = len(next(iter(at.values()))) if at else 1
    found = np.empty(count)
    sorted_terms = {} if sorted_terms is None else sorted_terms
    for part in _parts(expression, count, frozenset(at)):
        require_time()
        inside = {**env, **{index: places[part] for index, places in at.items()}}
        with np.errstate(all="ignore"):
            found[part] = _Evaluation(inside, found[part].size, sorted_terms).value(expression)
    return found


def _parts(expression: Expr, count: int, indices: frozenset[sympy.Symbol]) -> Iterator[slice]:
    """Yield ranges of entries, fewer at once where each sums many terms."""
    step = AT_ONCE
    for total in expression.atoms(sympy.Sum):
        if keyed_sum(total, indices) is not None:
            continue
        lengths = [last - first + 1 for _, first, last in total.limits]
        length = math.prod(int(one) if one.is_Integer else 2**10 for one in lengths)
        step = min(step, max(1, LONGEST // max(1, length)))
    for first in range(0, count, step):
        yield slice(first, first + step)


class _Evaluation:
    """Values of expressions at some entries, each part of an expression once.

    Args:
        env: The arrays of the variables, the sizes, and the indices, which have a place for each entry.
        count: The number of entries.
        sorted_terms: The terms of sums over positions, which are sorted once for all entries.
    """

    def __init__(self, env: Environment, count: int, sorted_terms: dict[sympy.Sum, SortedTerms]) -> None:
        self.env, self.count, self.sorted_terms = env, count, sorted_terms
        self.known: dict[Expr, Value] = {}

    def value(self, one: Expr) -> Value:
        """Evaluate an expression."""
        if one not in self.known:
            self.known[one] = self._computed(one)
        return self.known[one]

    def _inner(self, env: Environment, count: int) -> _Evaluation:
        return _Evaluation(env, count, self.sorted_terms)

    def _computed(self, one: Expr) -> Value:
        inside = self.value
        match one:
            case sympy.Integer():
                return int(one)
            case sympy.Symbol():
                if one not in self.env:
                    raise NoValuesError(str(one))
                return self.env[one]
            case _ if one in (sympy.true, sympy.false):
                return bool(one)
            case sympy.Number() | sympy.NumberSymbol():
                return float(one)
            case sympy.Indexed():
                return _element(self.env[one.base.label], [inside(index) for index in one.indices])
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
                keyed = keyed_sum(one, self._by_entry)
                return self._summed(one) if keyed is None else self._summed_at_places(one, keyed)
        return _called(one, inside)

    @property
    def _by_entry(self) -> frozenset[sympy.Symbol]:
        """Indices, which have a place for each entry; an array of a variable has as many elements by chance."""
        count = self.count
        return frozenset(s for s, v in self.env.items() if s.is_integer and np.ndim(v) == 1 and len(v) == count)

    def _summed(self, one: sympy.Sum) -> Value:
        """Add up the terms of each entry, whose ends may depend on the entry."""
        entry: npt.NDArray[np.int64] = np.arange(self.count)
        inner = self
        for index, first, last in reversed(one.limits):
            low, high = (np.broadcast_to(inner.value(end), len(entry)) for end in (first, last))
            width = np.maximum(0, high - low + 1)
            inner, place, indices = inner._at_terms(width, low)
            inner = inner._inner({**inner.env, index: indices}, len(place))
            entry = entry[place]
        terms = np.broadcast_to(inner.value(one.function), len(entry))
        return np.bincount(entry, terms, self.count)

    def _at_terms(
        self, width: npt.NDArray[np.int64], low: npt.NDArray[np.int64]
    ) -> tuple[_Evaluation, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """List so many terms of each entry, from a number on: an evaluation at them, their entries and numbers.

        Raises:
            NoValuesError: They are too many.
        """
        total = int(width.sum())
        if total > 4 * LONGEST:
            raise NoValuesError("Sum")
        place = np.repeat(np.arange(self.count), width)
        starts = np.cumsum(width) - width
        numbers = np.arange(total) - starts[place] + low[place]
        by_entry = self._by_entry
        env = {s: value[place] if s in by_entry else value for s, value in self.env.items()}
        return self._inner(env, total), place, numbers

    def _summed_at_places(self, one: sympy.Sum, keyed: KeyedSum) -> Value:
        """Add up the terms of each entry that have its places; those are next to each other once terms are sorted."""
        if one not in self.sorted_terms:
            self.sorted_terms[one] = self._sorted(keyed)
        terms = self.sorted_terms[one]
        key, is_there = np.zeros(self.count, np.int64), np.ones(self.count, dtype=bool)
        for (side, _), least, size in zip(keyed.deltas, terms.least, terms.sizes, strict=True):
            place = np.broadcast_to(self.value(side), self.count).astype(np.int64) - least
            is_there &= (place >= 0) & (place < size)
            key = key * size + place
        found = self._from_terms(keyed, terms, key, np.flatnonzero(is_there))
        if found is not None:
            return found
        begin = np.searchsorted(terms.keys, key, "left")
        width = np.where(is_there, np.searchsorted(terms.keys, key, "right") - begin, 0)
        inner, place, numbers = self._at_terms(width, begin)
        inner = self._inner({**inner.env, **terms.indices_of(numbers)}, len(place))
        return np.bincount(place, np.broadcast_to(inner.value(keyed.rest), len(place)), self.count)

    def _from_terms(
        self, keyed: KeyedSum, terms: SortedTerms, key: npt.NDArray[np.int64], entries: npt.NDArray[np.int64]
    ) -> Value:
        """Look for the entry of each term, of those between the first and the last entry: there are fewer of them.

        Returns:
            The sums; None where entries are not in order, or two have the same places.
        """
        keys = key[entries]
        if len(keys) < 2 or not (np.diff(keys) > 0).all():
            return None
        begin, end = np.searchsorted(terms.keys, (keys[0], keys[-1] + 1))
        at = np.searchsorted(keys, terms.keys[begin:end])
        own = keys[at] == terms.keys[begin:end]
        place = entries[at[own]]
        by_entry = self._by_entry
        env = {s: value[place] if s in by_entry else value for s, value in self.env.items()}
        inner = self._inner({**env, **terms.indices_of(np.flatnonzero(own) + begin)}, len(place))
        return np.bincount(place, np.broadcast_to(inner.value(keyed.rest), len(place)), self.count)

    def _sorted(self, keyed: KeyedSum) -> SortedTerms:
        """Sort the terms of a sum by their places."""
        ends = [(int(self.value(first)), int(self.value(last))) for _, first, last in keyed.limits]
        lengths = [max(0, last - first + 1) for first, last in ends]
        if (count := math.prod(lengths)) > 4 * LONGEST:
            raise NoValuesError("Sum")
        numbers = np.unravel_index(np.arange(count), lengths)
        found = zip(keyed.limits, numbers, ends, strict=True)
        indices = {index: number + first for (index, *_), number, (first, _) in found}
        by_entry = self._by_entry
        env = {s: value for s, value in self.env.items() if s not in by_entry}
        inner = self._inner({**env, **indices}, count)
        key, sizes, leasts = np.zeros(count, np.int64), list[int](), list[int]()
        for _, side in keyed.deltas:
            place = np.broadcast_to(inner.value(side), count).astype(np.int64)
            leasts.append(int(place.min(initial=0)))
            sizes.append(int(place.max(initial=0)) - leasts[-1] + 1)
            key = key * sizes[-1] + place - leasts[-1]
        if math.prod(sizes) >= 2**62:
            raise NoValuesError("Sum")
        order = order_of(key)
        ordered = {index: numbers[order] for index, numbers in indices.items()}
        return SortedTerms(ordered, key[order], tuple(leasts), tuple(sizes))


# -- sums over positions


@dataclass(frozen=True)
class KeyedSum:
    """A sum of f(m)·δ(k, i[m])·δ(l, j[m]) over m: an entry (k, l) has those terms alone whose places are its own.

    Attributes:
        limits: m, where it begins and where it ends; of several such indices, each.
        deltas: The two sides of each delta: that of the entry, and that of the term.
        rest: The other factors.
    """

    limits: tuple[tuple[sympy.Symbol, Expr, Expr], ...]
    deltas: tuple[tuple[Expr, Expr], ...]
    rest: Expr


@dataclass(frozen=True)
class SortedTerms:
    """Terms of a sum over positions, sorted by their places.

    Attributes:
        indices: The indices of each.
        keys: Its places, as one number.
        least: The least place on each side.
        sizes: How many places there are on each side.
    """

    indices: Mapping[sympy.Symbol, npt.NDArray[np.int64]]
    keys: npt.NDArray[np.int64]
    least: tuple[int, ...]
    sizes: tuple[int, ...]

    def indices_of(self, numbers: npt.NDArray[np.int64]) -> dict[sympy.Symbol, npt.NDArray[np.int64]]:
        """Return the indices of some terms."""
        return {index: places[numbers] for index, places in self.indices.items()}


def keyed_sum(one: sympy.Sum, indices: frozenset[sympy.Symbol]) -> KeyedSum | None:
    """Split a sum whose deltas say which of its terms an entry has; None of any other.

    Args:
        one: The sum.
        indices: Those that have a place for each entry.

    >>> k, m, i = *sympy.symbols("k m", integer=True), sympy.IndexedBase("i")
    >>> keyed_sum(sympy.Sum(2 * KroneckerDelta(k, i[m]), (m, 0, 9)), frozenset([k])).deltas
    ((k, i[m]),)
    """
    bound = frozenset(index for index, *_ in one.limits)
    if any((first.free_symbols | last.free_symbols) & (indices | bound) for _, first, last in one.limits):
        return None
    deltas, rest = list[tuple[Expr, Expr]](), list[Expr]()
    for factor in sympy.Mul.make_args(one.function):
        sides = factor.args if isinstance(factor, KroneckerDelta) else ()
        own = [side for side in sides if side.free_symbols & bound and not side.free_symbols & indices]
        others = [side for side in sides if not side.free_symbols & bound]
        if own and others:
            deltas.append((others[0], own[0]))
        else:
            rest.append(factor)
    limits = tuple((index, first, last) for index, first, last in one.limits)
    return KeyedSum(limits, tuple(deltas), sympy.Mul(*rest)) if deltas else None


# -- parts of expressions


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
