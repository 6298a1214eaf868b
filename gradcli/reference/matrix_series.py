"""Functions of matrices whose elements are series: determinants and inverses by minors, and eigenvalues."""

from __future__ import annotations

import math
from functools import reduce

from flint import arb

from gradcli.language.ops import Op
from gradcli.reference.series import LINEAR, Series, Undecided, constant, ray
from gradcli.reference.spectral import Symmetric


def of_matrix(op: Op, elements: list[Series], e: int) -> Series:
    """Compute the determinant of a matrix, or an element of its inverse, by minors."""
    order = math.isqrt(len(elements))
    rows = [elements[n : n + order] for n in range(0, len(elements), order)]
    if not op.keeps_shape:
        return _determinant(rows)
    i, j = divmod(e % len(elements), order)
    return _determinant(_minor(rows, j, i)).scaled(arb((-1) ** (i + j))) / _determinant(rows)


def eigenvalue(elements: list[Series], e: int) -> Series:
    """Follow an eigenvalue to the first order, where the elements have a first derivative."""
    order, given = math.isqrt(len(elements)), [a.derivative() for a in elements]
    known = [slope for slope in given if slope is not None]
    of = Symmetric([a.constant for a in elements], order)
    found = of.slopes_along(known) if of.is_symmetric and len(known) == len(given) else None
    if found is None:
        raise Undecided
    rests = [p for a in elements for p in (*dict(a.terms), a.rest) if p is not None and p > LINEAR]
    rest = Series((), min([(2, 0), *rests]), all(a.is_continuous for a in elements))
    return ray(of.eigenvalues[e % order], found[e % order]) + rest


def _determinant(rows: list[list[Series]]) -> Series:
    terms = [row[0] * _determinant(_minor(rows, n, 0)).scaled(arb((-1) ** n)) for n, row in enumerate(rows)]
    return reduce(Series.__add__, terms) if rows else constant(arb(1))


def _minor(rows: list[list[Series]], i: int, j: int) -> list[list[Series]]:
    return [row[:j] + row[j + 1 :] for row in rows[:i] + rows[i + 1 :]]
