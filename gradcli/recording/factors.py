"""Factors of matrices and solutions of linear systems, in functions of torch."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.aten_calls import Argument


def triangular_solve(self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Argument:
    """Solve by the function of linear algebra; give the matrix back too."""
    solve = torch.linalg.solve_triangular
    return solve(A.mT if transpose else A, self, upper=upper != transpose, unitriangular=unitriangular), A


def least_squares(self: Tensor, b: Tensor, *_: object, **__: object) -> Argument:
    """Multiply by the pseudoinverse; give the residuals too, where there are any."""
    x = torch.linalg.pinv(self) @ b
    return x, ((self @ x - b) ** 2).sum(-2) if self.shape[-2] > self.shape[-1] else None


def of_each(decompose: Callable[..., tuple[object, ...]]) -> Callable[..., tuple[Argument, ...]]:
    """Decompose the matrices of a batch one by one, as torch takes any number of dimensions before them."""

    @functools.wraps(decompose)
    def whole(*args: object, **how: object) -> tuple[object, ...]:
        matrices = [one for one in args if isinstance(one, torch.Tensor)]
        batch = torch.broadcast_shapes(*(one.shape[:-2] for one in matrices))
        if not batch:
            return decompose(*args, **how)
        flat = (one.expand(*batch, *one.shape[-2:]).reshape(-1, *one.shape[-2:]) for one in matrices)
        parts = zip(*(decompose(*each, *args[len(matrices) :], **how) for each in zip(*flat, strict=True)), strict=True)
        return tuple(torch.stack(part).reshape(*batch, *part[0].shape) for part in parts)

    return whole


@of_each
def cholesky(A: Tensor, **how: object) -> tuple[Argument, ...]:
    """Take the factor of each matrix of a batch."""
    return (torch.linalg.cholesky(A, upper=how["upper"]),)


def solved(A: Tensor, B: Tensor, *, left: bool = True, **_: object) -> Tensor:
    """Solve the linear systems of a batch, also with vectors, or with the unknown left of its matrix."""
    if B.shape == A.shape[:-1]:  # a vector for each matrix
        return solved(A, B.unsqueeze(-1)).squeeze(-1)
    if not left:
        return solved(A.mT, B.mT).mT
    result: Tensor = of_each(lambda a, b: (torch.linalg.solve(a, b),))(A, B)[0]
    return result


def lu_unpack(LU: Tensor, pivots: Tensor, *_: object) -> Argument:
    """Take the two triangles apart; the permutation is a constant."""
    lower = LU.tril(-1)[..., : LU.shape[-2]]
    with torch_internals.without_dispatch():
        P = torch.lu_unpack(LU, pivots, unpack_data=False)[0]
    return P, lower + torch.eye(*lower.shape[-2:], dtype=LU.dtype), LU.triu()[..., : LU.shape[-1], :]


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Tensor:
    """Multiply the factors, and solve."""
    P, L, U = torch.lu_unpack(LU, pivots)
    A = (P @ L @ U).mT if adjoint == left else P @ L @ U
    result: Tensor = torch.linalg.solve(A, B) if left else torch.linalg.solve(A, B.mT).mT
    return result


def householder(A: Tensor, tau: Tensor) -> Tensor:
    """Multiply the first columns of the identity by reflections, the last reflection first."""
    if A.ndim > 2:
        return torch.stack([householder(*each) for each in zip(A, tau, strict=True)]) if len(A) else NotImplemented
    return _reflected(A, tau, torch.eye(*A.shape, dtype=A.dtype), reversed(range(len(tau))))


def reflections(A: Tensor, tau: Tensor, other: Tensor, left: bool, transpose: bool) -> Tensor:
    """Multiply a matrix by the product of all reflections, from the left or the right."""
    if A.ndim > 2:
        each = zip(A, tau, other, strict=True)
        return torch.stack([reflections(*one, left, transpose) for one in each]) if len(A) else NotImplemented
    order = range(len(tau)) if transpose == left else reversed(range(len(tau)))
    found = _reflected(A, tau, other if left else other.mT, order)
    return found if left else found.mT


def _reflected(A: Tensor, tau: Tensor, x: Tensor, order: Iterable[int]) -> Tensor:
    """Reflect columns by vectors, which stand below the diagonal of a matrix: x - tau·v·(vᵀx) for each in turn."""
    for k in order:
        v = torch.cat([torch.eye(k + 1, dtype=A.dtype)[k], A[k + 1 :, k]])
        x = x - tau[k] * torch.outer(v, v @ x)
    return x


@of_each
def lu(A: Tensor, pivot: bool = True) -> tuple[Argument, ...]:
    """Eliminate below the diagonal of a matrix whose rows are in the order that torch has: P, L and U."""
    with torch_internals.without_dispatch():
        P = torch.linalg.lu(A, pivot=pivot)[0] if pivot else torch.eye(len(A), dtype=A.dtype)
        order = P.argmax(0)
    count, upper, columns = min(A.shape), A[order], []
    for k in range(count):
        below = upper[k + 1 :, k] / upper[k, k]
        columns.append(torch.nn.functional.pad(torch.cat([torch.ones(1, dtype=A.dtype), below]), (k, 0)))
        upper = upper - torch.outer(torch.nn.functional.pad(below, (k + 1, 0)), upper[k])
    return P, torch.stack(columns, 1), upper[:count].triu()


def lu_factor(A: Tensor, *, pivot: bool = True, **_: Argument) -> Argument:
    """Give both triangles of a decomposition in one matrix."""
    _, lower, upper = lu(A, pivot=pivot)
    rows, columns = A.shape[-2:]
    lower = torch.nn.functional.pad(lower.tril(-1), (0, columns - lower.shape[-1]))
    return lower + torch.nn.functional.pad(upper, (0, 0, 0, rows - upper.shape[-2])), None, None


@of_each
def qr(A: Tensor, mode: str = "reduced") -> Argument:
    """Reflect the elements below the diagonal of each column to 0, with the sign that LAPACK has."""
    rows, columns = A.shape
    upper, q = A, torch.eye(rows, dtype=A.dtype)
    count = min(rows, columns)
    for k in range(count - (rows <= columns)):
        below = upper[k:, k]
        length = torch.where(below[0] < 0, below.norm(), -below.norm())
        v = torch.nn.functional.pad(below, (k, 0)) - length * torch.eye(rows, dtype=A.dtype)[k]
        w = 2 * v / (v * v).sum()
        upper, q = upper - torch.outer(w, v @ upper), q - torch.outer(q @ v, w)
    kept = rows if mode == "complete" else count
    return q[:, :kept], upper[:kept].triu()
