"""Eigenvalues of symmetric matrices as balls, with their derivatives, and block matrices.

λ_k is the k-th eigenvalue of the symmetric part of A, ascending; ∂λ_k/∂A = P_k, the projection on its eigenvector.

The middle of the balls is moved a little where Arb does not tell its eigenvalues apart; by Weyl's theorem none of them
moves by more than the norm of the matrix that was added.  P_k is the product of (A - λ_j)/(λ_k - λ_j) over all j but k.
Source: R. Horn, C. Johnson, "Matrix Analysis", 2013, theorem 4.3.1.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property

from flint import acb_mat, arb, arb_mat, ctx, fmpq, fmpq_mat

from gradcli.reference.balls import Ball, exists, fraction, precision, product, products_of_others
from gradcli.reference.deadline import require_time


class Symmetric:
    """The symmetric part of a matrix that is given row by row.

    Args:
        values: The elements.
        order: The number of rows.
    """

    def __init__(self, values: Sequence[Ball], order: int) -> None:
        given = arb_mat(order, order, list(values))
        self.order, self.matrix = order, (given + given.transpose()) / 2
        self.is_symmetric = given.overlaps(given.transpose())

    @cached_property
    def eigenvalues(self) -> list[Ball]:
        """Eigenvalues, each as often as it occurs, the smallest first; nan where they are not found."""
        middle, bits = self.matrix.mid(), ctx.prec
        error = _norm(self.matrix - middle)
        found = _of_numbers(middle)
        if found is None:
            size = _norm(middle)
            with precision(4 * bits):
                moved = arb_mat(middle)
                for n in range(self.order):
                    moved[n, n] += size * arb(2) ** -(bits + n)
                error += _norm(moved.mid() - middle)
                found = _of_numbers(moved.mid())
        if found is None or not exists(error):
            return [arb.nan()] * self.order
        return [value + arb(0, error.upper()) for value in found]

    def is_alone(self, k: int) -> bool:
        """Tell whether an eigenvalue is certainly distinct from all others."""
        own = self.eigenvalues[k]
        return exists(own) and not any(own.overlaps(other) for n, other in enumerate(self.eigenvalues) if n != k)

    @cached_property
    def projections(self) -> list[arb_mat]:
        """Derivatives of each distinct eigenvalue, by the elements of the matrix."""
        one, found = _identity(self.order), []
        factors = [self.matrix - one * value for value in self.eigenvalues]
        for k, others in enumerate(products_of_others(factors, one)):
            require_time()
            own = self.eigenvalues[k]
            scale = product(own - value if n != k else 1 for n, value in enumerate(self.eigenvalues))
            found.append((others + others.transpose()) / (2 * scale))
        return found

    def slopes_along(self, slopes: Sequence[Ball]) -> list[Ball] | None:
        """Give the one-sided derivatives of the eigenvalues, ascending as they are; None if they are not known.

        Those of an eigenvalue that occurs m times are the eigenvalues of the direction on its m eigenvectors: of
        P*direction*P, with all other eigenvectors moved out of the way.  Exact numbers tell how often it occurs.
        Source: T. Kato, "Perturbation Theory for Linear Operators", 1966, II-5.4 and II-6.2.
        """
        groups = self._groups()
        if groups is None:
            return None
        given = arb_mat(self.order, self.order, list(slopes))
        direction, one, found = (given + given.transpose()) / 2, _identity(self.order), list[Ball]()
        beyond = 2 * _norm(direction) + 1
        for own in groups:
            projection = one
            for other in groups:
                if other is not own:
                    projection *= (self.matrix - one * other[0]) / (own[0] - other[0])
            moved = projection * direction * projection - (one - projection) * beyond
            found += Symmetric(moved.entries(), self.order).eigenvalues[-len(own) :]
        return found

    def _groups(self) -> list[list[Ball]] | None:
        """Group the eigenvalues that are one number; None where that is not certain."""
        numbers = [fraction(value) for value in self.matrix.entries()]
        if None in numbers or not all(map(exists, self.eigenvalues)):
            return None
        groups = [[self.eigenvalues[0]]]
        for value in self.eigenvalues[1:]:
            if value.overlaps(groups[-1][-1]):
                groups[-1].append(value)
            else:
                groups.append([value])
        exact = fmpq_mat(self.order, self.order, [fmpq(n.numerator, n.denominator) for n in numbers if n is not None])
        polynomial = exact.charpoly()
        distinct = self.order - polynomial.gcd(polynomial.derivative()).degree()
        return groups if len(groups) == distinct else None


def _of_numbers(matrix: arb_mat) -> list[Ball] | None:
    """Compute the eigenvalues of a symmetric matrix of numbers, ascending; None where they are not found."""
    try:
        found = acb_mat(matrix).eig(multiple=True)
    except ValueError:
        return None
    lowest, highest = (sorted(ends) for ends in zip(*((v.real.lower(), v.real.upper()) for v in found), strict=True))
    return [low.union(high) for low, high in zip(lowest, highest, strict=True)]


def _norm(matrix: arb_mat) -> Ball:
    """Bound the root of the sum of all squares, which no eigenvalue of a symmetric matrix exceeds."""
    return sum((abs(value).upper() ** 2 for value in matrix.entries()), start=arb(0)).sqrt().upper()


def _identity(order: int) -> arb_mat:
    return arb_mat([[int(i == j) for j in range(order)] for i in range(order)])


def block_triangular(matrix: arb_mat, change: arb_mat) -> arb_mat:
    """Build the matrix [[A, E], [0, A]] of a matrix A and its change E."""
    order = matrix.nrows()
    block = arb_mat(2 * order, 2 * order)
    for i, j in itertools.product(range(order), repeat=2):
        block[i, j] = block[order + i, order + j] = matrix[i, j]
        block[i, order + j] = change[i, j]
    return block


def unit(order: int, n: int) -> arb_mat:
    """Build the matrix that is 1 at place n and 0 elsewhere."""
    return arb_mat(order, order, [int(place == n) for place in range(order * order)])
