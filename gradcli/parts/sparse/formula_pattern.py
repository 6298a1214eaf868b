"""The entries at which a formula in index notation may differ from 0: its deltas, ranges and conditions on indices.

A term of the formula is a set of equations and inequalities in whole numbers, most of them affine:

    {1 if i ≥ 1; 0 otherwise}·δ[j,i-1]      j = i - 1,  1 ≤ i ≤ n - 1,  0 ≤ j ≤ n - 1

Equations are solved for indices, columns first; the others run over ranges between bounds, which may depend on those
before them.  What is not affine is looked at, place by place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import sympy
from sympy import Expr, Integer, KroneckerDelta, Piecewise
from sympy.core.relational import Relational

from gradcli.arrays import Array
from gradcli.language.program.sympy_functions import quotient
from gradcli.parts.sparse.expression_values import Environment, NoValuesError, Value, values_at
from gradcli.symbolic.derivative import Derivative
from gradcli.symbolic.linear import linear

Places = Mapping[sympy.Symbol, Value]
"""The place of each entry, by index."""

MOST_TERMS = 200
"""Most terms of a formula that are looked at."""


@dataclass(frozen=True)
class _Term:
    """Where a term of a formula may differ from 0.

    Attributes:
        zeros: Expressions that are 0 there.
        relations: Relations that hold there.
        masks: Conditions that hold there and bound no index.
        bound: Indices of sums, each with its first and last place.
    """

    zeros: tuple[Expr, ...] = ()
    relations: tuple[Relational, ...] = ()
    masks: tuple[Expr, ...] = ()
    bound: tuple[tuple[sympy.Symbol, Expr, Expr], ...] = ()

    def times(self, other: _Term) -> _Term:
        """Return where both hold."""
        return _Term(
            self.zeros + other.zeros,
            self.relations + other.relations,
            self.masks + other.masks,
            self.bound + other.bound,
        )


def places_of(
    derivative: Derivative, rows: Sequence[int], columns: Sequence[int], most: int, env: Environment
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Yield flat rows and columns of the entries at which a formula may differ from 0, term by term.

    Args:
        derivative: The formula.
        rows: The shape of y, or of the first variable.
        columns: The shape of the variable.
        most: The most places to list.
        env: The arrays of the variables, of which some may be positions.

    Raises:
        NoValuesError: They are more, or what says where they are has no rule.
    """
    sizes = {symbol: Integer(n) for symbol, n in derivative.sizes.items()}
    size_of = dict(zip((*derivative.rows, *derivative.columns), (*rows, *columns), strict=True))
    for case, whole in derivative.cases:
        expression = whole.xreplace(sizes)
        free = {symbol: n for symbol, n in size_of.items() if symbol not in case}
        form = linear(expression, {s: n.xreplace(sizes) for s, n in derivative.ranges.items()})
        terms = [t for deltas, c in form.items() for t in _split(sympy.Mul(c, *deltas), frozenset(free))]
        if len(terms) > MOST_TERMS:
            raise NoValuesError("terms")
        for term in terms:
            order = [s for s in derivative.columns if s in free]
            found = _Listing(term, free, order, most, env).places()
            if found is None:
                continue
            count = max((len(one) for one in found.values()), default=1)
            full = {**found, **{s: np.full(count, int(n)) for s, n in case.items()}}
            yield _flat(full, derivative.rows, rows, count), _flat(full, derivative.columns, columns, count)


def _flat(at: Places, symbols: Sequence[sympy.Symbol], shape: Sequence[int], count: int) -> npt.NDArray[np.int64]:
    found = np.zeros(count, np.int64)
    for symbol, size in zip(symbols, shape, strict=True):
        found = found * size + at[symbol]
    return found


# -- a formula as terms


def _split(one: Expr, indices: frozenset[sympy.Symbol]) -> list[_Term]:
    """Split an expression into terms; a part that does not say where it is 0 is anywhere."""
    if one == 0:
        return []
    if not _says_where(one, indices):
        return [_Term()]
    match one:
        case sympy.Add():
            return [term for part in one.args for term in _split(part, indices)]
        case sympy.Mul():
            found = [_Term()]
            for part in one.args:
                found = [a.times(b) for a in found for b in _split(part, indices)]
            return found
        case KroneckerDelta():
            return [_Term(zeros=(one.args[0] - one.args[1],))]
        case Piecewise():
            return _split_cases(one, indices)
        case sympy.Sum() if one.function.has(KroneckerDelta):
            inner = indices | {k for k, *_ in one.limits}
            limits = tuple((k, first, last) for k, first, last in one.limits)
            return [replace(term, bound=term.bound + limits) for term in _split(one.function, inner)]
    return [_Term()]


def _split_cases(one: Piecewise, indices: frozenset[sympy.Symbol]) -> list[_Term]:
    found, before = list[_Term](), _Term()
    for value, condition in one.args:
        if not _is_of(condition, indices):
            return [_Term()]
        here = before.times(_where(condition))
        found += [term.times(here) for term in _split(value, indices)]
        negation = sympy.Not(condition)
        before = before.times(
            _Term(relations=(negation,)) if isinstance(negation, Relational) else _Term(masks=(negation,))
        )
    return found


def _where(condition: Expr) -> _Term:
    """Return where a condition holds."""
    relations, masks = list[Relational](), list[Expr]()
    for one in condition.args if isinstance(condition, sympy.And) else (condition,):
        if one == sympy.true:
            continue
        (relations if isinstance(one, Relational) and not isinstance(one, sympy.Ne) else masks).append(one)
    return _Term(relations=tuple(relations), masks=tuple(masks))


def _is_of(condition: Expr, indices: Iterable[sympy.Symbol]) -> bool:
    return not condition.atoms(sympy.Indexed) and condition.free_symbols <= {*indices}


def _says_where(one: Expr, indices: frozenset[sympy.Symbol]) -> bool:
    """Tell whether an expression has a delta, or a case that its indices decide."""
    inner = indices | {k for total in one.atoms(sympy.Sum) for k, *_ in total.limits}
    return one.has(KroneckerDelta) or any(_is_of(case.args[0][1], inner) for case in one.atoms(Piecewise))


# -- the places of a term


class _Listing:
    """Places of the indices of a term.

    Args:
        term: Where it may differ from 0.
        sizes: Of the indices of the entry.
        columns: Those of the column, which equations are solved for first.
        most: The most places.
        env: The arrays of the variables.
    """

    def __init__(
        self,
        term: _Term,
        sizes: Mapping[sympy.Symbol, int],
        columns: Sequence[sympy.Symbol],
        most: int,
        env: Environment,
    ) -> None:
        self.most, self.env = most, env
        self.least = [e for s, n in sizes.items() for e in (s, n - 1 - s)]
        self.least += [e for k, first, last in term.bound for e in (k - first, last - k)]
        self.masks = list(term.masks)
        self.zeros = list(term.zeros)
        for one in term.relations:
            if isinstance(one, sympy.Eq):
                self.zeros.append(one.lhs - one.rhs)
            else:
                self.least.append(_slack(one))
        rows, bound = [s for s in sizes if s not in columns], [k for k, *_ in term.bound]
        self.order = [*columns, *bound, *rows]  # what equations are solved for
        self.running = [*rows, *reversed(bound), *columns]  # so that the places are in the order of the rows
        self.solved: dict[sympy.Symbol, Expr] = {}
        self.count = 1
        self.at: dict[sympy.Symbol, Value] = {}

    def places(self) -> Places | None:
        """Return the places; None if there are none."""
        if not self._solve():
            return None
        self.least = [sympy.expand(one.xreplace(self.solved)) for one in self.least]
        if any(one.is_number and one < 0 for one in self.least):
            return None
        used = set[int]()
        for symbol in self.running:
            if symbol in self.order:
                used |= self._run(symbol)
        keep: list[Value] = [self._values(mask) for mask in self.masks]
        keep += [self._values(e) >= 0 for n, e in enumerate(self.least) if n not in used and e.free_symbols]
        if keep:
            kept = np.flatnonzero(np.logical_and.reduce(keep))
            self.at, self.count = {s: places[kept] for s, places in self.at.items()}, len(kept)
        solved = {s: self._values(e).astype(np.int64) for s, e in self.solved.items()}
        return {**self.at, **solved}

    def _solve(self) -> bool:
        """Solve the equations for indices, one after the other; tell whether they may hold."""
        while self.zeros:
            one = sympy.expand(self.zeros.pop(0).xreplace(self.solved))
            if one.is_number:
                if one != 0:
                    return False
                continue
            ways = [
                (abs(c) != 1, n, s, c, rest) for n, s in enumerate(self.order) for c, rest in [_affine(one, s)] if c
            ]
            if not ways:
                self.masks.append(sympy.Eq(one, 0))
                continue
            _, _, symbol, factor, rest = min(ways, key=lambda way: way[:2])
            if abs(factor) == 1:
                value = sympy.expand(-rest / factor)
            else:
                whole = quotient(rest, Integer(abs(factor)))
                self.masks.append(sympy.Eq(rest - abs(factor) * whole, 0))
                value = -int(np.sign(factor)) * whole
            new = {symbol: value}
            self.solved = {s: sympy.expand(e.xreplace(new)) for s, e in self.solved.items()} | new
            self.masks = [mask.xreplace(new) for mask in self.masks]
            self.order.remove(symbol)
        self.masks = [mask.xreplace(self.solved) for mask in self.masks]
        if any(mask == sympy.false for mask in self.masks):
            return False
        self.masks = [mask for mask in self.masks if mask != sympy.true]
        return True

    def _run(self, symbol: sympy.Symbol) -> set[int]:
        """Let an index run between its bounds, for each place of those before; return the bounds that it used."""
        low: Value = None
        high: Value = None
        used = set[int]()
        for n, one in enumerate(self.least):
            factor, rest = _affine(one, symbol)
            if not factor or not rest.atoms(sympy.Symbol) <= {*self.at, *self.env}:
                continue
            used.add(n)
            value = self._values(rest).astype(np.int64)
            if factor > 0:
                bound = -(value // factor)
                low = bound if low is None else np.maximum(low, bound)
            else:
                bound = value // -factor
                high = bound if high is None else np.minimum(high, bound)
        if low is None or high is None:
            raise NoValuesError("range")
        width = np.maximum(0, high - low + 1)
        total = int(width.sum())
        if total > self.most:
            raise NoValuesError("places")
        place = np.repeat(np.arange(self.count), width)
        starts = np.cumsum(width) - width
        self.at = {s: places[place] for s, places in self.at.items()}
        self.at[symbol] = np.arange(total) - starts[place] + low[place]
        self.count = total
        return used

    def _values(self, one: Expr) -> Array:
        found = values_at(one, self.at, self.env)
        return np.broadcast_to(found, (self.count,))


def _slack(one: Relational) -> Expr:
    """Write a relation of whole numbers as an expression that is at least 0."""
    match one:
        case sympy.Ge():
            return one.lhs - one.rhs
        case sympy.Gt():
            return one.lhs - one.rhs - 1
        case sympy.Le():
            return one.rhs - one.lhs
        case sympy.Lt():
            return one.rhs - one.lhs - 1
    raise NoValuesError("relation")


def _affine(one: Expr, symbol: sympy.Symbol) -> tuple[int, Expr]:
    """Return the whole factor of an index and the rest, if an expression is affine in it; else 0."""
    if symbol not in one.free_symbols:
        return 0, one
    expanded = sympy.expand(one)
    factor = expanded.coeff(symbol, 1)
    rest = sympy.expand(expanded - factor * symbol)
    return (int(factor), rest) if factor.is_Integer and symbol not in rest.free_symbols else (0, one)
