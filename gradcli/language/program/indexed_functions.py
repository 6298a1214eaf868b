"""Functions of a whole tensor as SymPy expressions in index notation: products, extremes, determinants, inverses.

Each holds the element it runs over as an expression with bound indices, as a sum does, and knows its derivative:

    ∂ prod(f)     =  prod(f) * Sum of ∂f[k]/f[k]
    ∂ cumprod(f)  =  Sum of ∂f[k] * prod(f before k) * prod(f behind k)
    ∂ amax(f)     =  Sum of ∂f[k] where f[k] is the largest
    ∂ det(F)      =  det(F) * Sum of inv(F)[q, p] * ∂F[p, q]                (Jacobi's formula)
    ∂ inv(F)[i,j] = -Sum of inv(F)[i, p] * ∂F[p, q] * inv(F)[q, j]

SymPy's own `Product` over an `Indexed` is wrong without a warning (its issue 13994), `Max` has no bound index, and a
matrix of symbols of unknown size has no elements.  Source: K. B. Petersen, M. S. Pedersen, "The Matrix Cookbook", 2012.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy
from sympy import Expr

Limit = tuple[sympy.Symbol, Expr, Expr]


class quotient(sympy.Function):  # type: ignore[misc]  # noqa: N801
    """The whole part of an index divided by a size: the row of element p of a matrix of n columns is quotient(p, n)."""

    nargs = 2
    is_integer = True
    is_nonnegative = True


class Total(sympy.Sum):  # type: ignore[misc]
    """A sum that stays as it was built.

    `sympy.Sum` folds a Piecewise out of the sums inside its body, also where the condition is on a bound index of such
    an inner sum, which leaves that index free and the value wrong (SymPy 1.14).

    >>> k = sympy.Dummy("k", integer=True)
    >>> Total(k**2, (k, 0, 3)).doit()
    14
    """

    def __new__(cls, function: Expr, *limits: Any) -> Expr:
        """Build without folding; a sum of a sum has the limits of both, a sum of 0 is 0."""
        if isinstance(function, int):  # as SymPy's factor_terms passes it
            function = sympy.Integer(function)
        if function == 0:
            return sympy.S.Zero
        tuples = tuple(sympy.Tuple(*limit) for limit in limits)
        if isinstance(function, Total):
            function, tuples = function.function, (*function.limits, *tuples)
        self: Total = Expr.__new__(cls, function, *tuples)
        self.is_commutative = True
        return self


class Aggregate(Expr):  # type: ignore[misc]
    """An expression over bound indices; `args` are the body, the (index, first, last) of each, and free indices."""

    is_real = True
    is_commutative = True

    def __new__(cls, body: Expr, limits: Iterable[Any], free: Iterable[Expr] = ()) -> Aggregate:
        """Over these limits; `free` are the indices of the element that is meant, if the result has several."""
        tuples = sympy.Tuple(*(sympy.Tuple(*limit) for limit in limits))
        self: Aggregate = Expr.__new__(cls, body, tuples, sympy.Tuple(*free))
        return self

    @property
    def body(self) -> Expr:
        """The element that it runs over."""
        return self.args[0]

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The bound indices with their first and last values."""
        return self.args[1].args  # type: ignore[no-any-return]

    @property
    def free(self) -> tuple[Expr, ...]:
        """The indices of the element that is meant."""
        return self.args[2].args  # type: ignore[no-any-return]

    @property
    def bound(self) -> list[sympy.Symbol]:
        """The bound indices."""
        return [k for k, _, _ in self.limits]

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """All but the bound indices."""
        return self.ranged_symbols.union(*(a.free_symbols for a in self.free))

    @property
    def ranged_symbols(self) -> set[sympy.Basic]:
        """Those that the values it runs over depend on, whichever element of the result is meant."""
        inside: set[sympy.Basic] = self.body.free_symbols - set(self.bound)
        return inside.union(*(a.free_symbols for _, *ends in self.limits for a in ends))

    def _fresh(self) -> tuple[Expr, tuple[Limit, ...], list[sympy.Symbol]]:
        """The body and the limits with new bound indices, for a sum beside this aggregate."""
        new = {k: sympy.Dummy(k.name, integer=True, nonnegative=True) for k in self.bound}
        return self.body.xreplace(new), tuple((new[k], a, b) for k, a, b in self.limits), list(new.values())

    def _eval_derivative(self, s: Expr) -> Expr:
        raise NotImplementedError


class Multiplied(Aggregate):
    """The product of the body over its limits."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, limits, _ = self._fresh()
        slope = body.diff(s)
        return sympy.S.Zero if slope == 0 else self * Total(slope / body, *limits)


class RunningProduct(Multiplied):
    """The product up to an index: it is differentiated by the product over the others, which no 0 makes 0/0."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, ((_, first, last),), (m,) = self._fresh()
        slope = body.diff(s)
        if slope == 0:
            return sympy.S.Zero
        before, behind = (self._between(*ends) for ends in ((first, m - 1), (m + 1, last)))
        return Total(slope * before * behind, (m, first, last))

    def _between(self, first: Expr, last: Expr) -> RunningProduct:
        body, _, (k,) = self._fresh()
        return RunningProduct(body, [(k, first, last)])


class _Extreme(Aggregate):
    """The largest or the smallest value of the body over its limits."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, limits, bound = self._fresh()
        slope = body.diff(s)
        return sympy.S.Zero if slope == 0 else Total(slope * Chosen(self, *bound), *limits)


class Largest(_Extreme):
    """The largest."""


class Smallest(_Extreme):
    """The smallest."""


class Chosen(Expr):  # type: ignore[misc]
    """1 for the index at which an extreme is taken, else 0; at a tie there is a kink."""

    is_real = True
    is_commutative = True

    def __new__(cls, extreme: _Extreme, *index: Expr) -> Chosen:
        """For this index of the extreme's body."""
        self: Chosen = Expr.__new__(cls, extreme, *index)
        return self

    @property
    def extreme(self) -> _Extreme:
        """The largest or smallest value."""
        return self.args[0]  # type: ignore[no-any-return]

    @property
    def index(self) -> tuple[Expr, ...]:
        """Where."""
        return self.args[1:]  # type: ignore[no-any-return]

    @property
    def value(self) -> Expr:
        """The body at this index."""
        return self.extreme.body.xreplace(dict(zip(self.extreme.bound, self.index, strict=True)))

    def _eval_derivative(self, s: Expr) -> Expr:
        return sympy.S.Zero


class _OfMatrix(Aggregate):
    """A function of the matrix whose element is the body, row and column being the bound indices."""

    def _inverse(self, row: Expr, column: Expr) -> InverseElement:
        return InverseElement(self.body, self.limits, (row, column))


class MatrixDeterminant(_OfMatrix):
    """The determinant."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, limits, (p, q) = self._fresh()
        slope = body.diff(s)
        return sympy.S.Zero if slope == 0 else self * Total(self._inverse(q, p) * slope, *limits)


class InverseElement(_OfMatrix):
    """The element of the inverse at the free indices."""

    def _eval_derivative(self, s: Expr) -> Expr:
        body, limits, (p, q) = self._fresh()
        slope, (i, j) = body.diff(s), self.free
        if slope == 0:
            return sympy.S.Zero
        return -Total(self._inverse(i, p) * slope * self._inverse(q, j), *limits)
