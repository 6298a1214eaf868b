"""A box in which a claim is to hold: what its ends say of signs, and what is known there.

Ends give linear inequalities of the variables, which `regions` eliminates.  The sign of any other expression is bounded
over the whole box by intervals, where the part `everywhere` is there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy
from sympy import Expr

from gradcli.arrays import Array
from gradcli.parts import is_listed
from gradcli.parts.claims.claim_readings import exact


def as_written(number: float) -> Expr:
    """Return a float as the fraction that it is written as, where that is not too long: 0.1 is 1/10."""
    return exact(sympy.Float(number, precision=53))


EVERY_SIGN = frozenset({1, -1, 0})

EIGHTHS = (4, 2, 6, 1, 7, 3, 5, 0, 8)
"""Places in a range, in eighths of it, at which short numbers are tried."""

INSIDE = 0.625
"""Part of a range at which branches seldom meet."""

EVENLY = 0.5
"""Share of the points of a box that are drawn uniformly; the others are nearer to one of its ends."""


@dataclass(frozen=True)
class ProofBox:
    """A box of values.

    Attributes:
        low: The lower ends of each variable.
        high: The upper ends; the same where a variable has one value.
    """

    low: Mapping[str, Array]
    high: Mapping[str, Array]

    def held(self, target: Expr | None) -> dict[Expr, Expr]:
        """Map the numbers that do not move, but for the one that is differentiated by, to what they are written as."""
        found: dict[Expr, Expr] = {}
        for name, low in self.low.items():
            symbol = sympy.Symbol(name, real=True)
            if low.shape == () and low == self.high[name] and math.isfinite(float(low)) and symbol != target:
                found[symbol] = as_written(float(low))
        return found

    def limits(self, *sides: Expr) -> tuple[Expr, ...]:
        """List differences of numbers and their ends, which are nowhere negative: of all numbers that are named."""
        found: list[Expr] = []
        for atom, (low, high) in self._ends(sympy.Tuple(*sides)).items():
            found += [atom - as_written(low)] if math.isfinite(low) else []
            found += [as_written(high) - atom] if math.isfinite(high) else []
        return tuple(found)

    def signs(self, expression: Expr) -> frozenset[int]:
        """Return the signs that an expression may have in the box."""
        ends = self._ends(expression)
        symbols = {atom: sympy.Dummy("x", real=True) for atom in ends}
        named = expression.xreplace(symbols)
        if not ends or not named.free_symbols <= {*symbols.values()} or named.has(sympy.IndexedBase):
            return EVERY_SIGN
        if is_listed("everywhere"):
            from gradcli.parts.everywhere import signs_in_box

            sides = {symbols[atom]: pair for atom, pair in ends.items()}
            found = signs_in_box(named, sides)
            return (
                found & signs_in_box(sympy.factor(named), sides) if len(found) > 1 and named.is_polynomial() else found
            )
        return EVERY_SIGN

    def _ends(self, expression: Expr) -> dict[Expr, tuple[float, float]]:
        """Find the ends of the numbers that an expression names: of variables, and of elements."""
        found: dict[Expr, tuple[float, float]] = {}
        for atom in sorted(expression.atoms(sympy.Symbol, sympy.Indexed), key=sympy.default_sort_key):
            name = str(atom.base) if isinstance(atom, sympy.Indexed) else str(atom)
            if name not in self.low or atom.is_integer:  # as indices are
                continue
            low, high = self.low[name], self.high[name]
            if isinstance(atom, sympy.Indexed):
                if len(atom.indices) != low.ndim:
                    continue
                if all(index.is_Integer for index in atom.indices):
                    at = tuple(map(int, atom.indices))
                    low, high = low[at], high[at]
                found[atom] = float(low.min()), float(high.max())
            elif low.ndim == 0:
                found[atom] = float(low), float(high)
        return found


@dataclass(frozen=True)
class ClaimBox:
    """A box in which a claim is to hold.

    Attributes:
        sides: The ends of each variable.
        dtype: That the points are rounded to.
        suspects: Gives points at which bounds refute the claim, which takes a while.
    """

    sides: ProofBox
    dtype: str
    suspects: Callable[[], Sequence[Mapping[str, Array]]] = tuple

    @cached_property
    def ends(self) -> Mapping[str, tuple[Array, Array]]:
        """The least and the largest numbers of the dtype between the ends of each variable, as these are written."""
        return {name: (self._inward(low, 1), self._inward(self.sides.high[name], -1)) for name, low in self._low}

    def holds(self, name: str, number: float) -> bool:
        """Tell whether a number is between the ends of a variable."""
        low, high = self.ends[name]
        return bool(np.all(low <= number) and np.all(number <= high))

    @property
    def _low(self) -> Iterable[tuple[str, Array]]:
        return self.sides.low.items()

    def _inward(self, end: Array, direction: int) -> Array:
        """Round ends to the dtype, inside of the box."""
        found = np.asarray(end.astype(self.dtype))
        for index, number in np.ndenumerate(end):
            written = as_written(float(number))
            if direction * (sympy.Rational(float(found[index])) - written) < 0 and math.isfinite(written):
                found[index] = np.nextafter(found[index], found.dtype.type(direction * np.inf))
        return found

    @property
    def short(self) -> Iterator[dict[str, Array]]:
        """Points of the box whose numbers are short to read."""
        for part in EIGHTHS:
            between = {name: low + part / 8 * (self.sides.high[name] - low) for name, low in self._low}
            yield {name: np.vectorize(_short, otypes=[float])(one) for name, one in between.items()}

    def inside(self, name: str, array: Array) -> Array:
        """Put a number of the box in the place of numbers of a variable that are outside of it."""
        low, high = self.ends[name]
        some = np.clip(low + INSIDE * (high / 2 - low / 2) * 2, low, high)
        return np.where((array >= low) & (array <= high), array, some).astype(self.dtype)

    def drawn(self, generator: np.random.Generator) -> dict[str, Array]:
        """Draw a point: uniformly, or by the size of its distance from an end."""
        found: dict[str, Array] = {}
        for name, low in self._low:
            high, share = self.sides.high[name], generator.uniform(size=low.shape)
            share = share if generator.uniform() < EVENLY else 2.0 ** (-50 * share)
            first, last = (low, high) if generator.uniform() < EVENLY else (high, low)
            found[name] = np.asarray(last * share + first * (1 - share))
        return found


def _short(number: float) -> float:
    return float(f"{number:.3g}")
