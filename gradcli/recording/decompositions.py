"""Calls of ATen that torch's tables do not decompose, or whose row is narrower, in functions of torch."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.schemas import Overload, name_of, unbound
from gradcli.recording.window_decompositions import WINDOWED

_solve = torch.linalg.solve_triangular


def _masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    x, taken = torch.broadcast_tensors(self, mask)
    places = taken.nonzero(as_tuple=True)
    return x.index_put(places, source.reshape(-1)[: len(places[0])])


def _put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    return self.reshape(-1).index_put((index.reshape(-1),), source.reshape(-1), accumulate).reshape(self.shape)


def _trilinear(i1: Tensor, i2: Tensor, i3: Tensor, *dims: Sequence[int]) -> Tensor:
    pairs = zip((i1, i2, i3), dims[:3], strict=True)
    factors = [functools.reduce(torch.unsqueeze, sorted(new), one) for one, new in pairs]
    return (factors[0] * factors[1] * factors[2]).sum(dims[3])


def _triangular_solve(self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    return _solve(A.mT if transpose else A, self, upper=upper != transpose, unitriangular=unitriangular), A


def _least_squares(self: Tensor, b: Tensor, *_: Any, **__: Any) -> Any:
    x = torch.linalg.pinv(self) @ b
    return x, ((self @ x - b) ** 2).sum(-2) if self.shape[-2] > self.shape[-1] else None, None, None


def _lu_factor(A: Tensor, pivot: bool = True, **_: Any) -> Any:
    """Eliminate column by column, with the largest element first, as LAPACK does."""
    if A.ndim > 2:
        return NotImplemented
    for k in range(min(A.shape)):
        rows = [*range(len(A))]
        first = k + int(A[k:, k].abs().argmax()) * pivot
        rows[k], rows[first] = first, k
        A = A[rows]
        below = A[k + 1 :, k : k + 1] / A[k, k]
        rest = A[k + 1 :, k + 1 :] - below * A[k, k + 1 :]
        A = torch.cat([A[: k + 1], torch.cat([A[k + 1 :, :k], below, rest], 1)])
    return A, None, None


def _lu_unpack(LU: Tensor, *_: Any) -> Any:
    count = min(LU.shape[-2:])
    lower = LU.tril(-1)[..., :count]
    return None, lower + torch.eye(*lower.shape[-2:], dtype=LU.dtype), LU.triu()[..., :count, :]


def _lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Tensor:
    P, L, U = torch.lu_unpack(LU, pivots)
    A = (P @ L @ U).mT if adjoint == left else P @ L @ U
    return torch.linalg.solve(A, B) if left else torch.linalg.solve(A, B.mT).mT


def _linear_cross_entropy(x: Tensor, weight: Tensor, target: Tensor, bias: Tensor, *how: Any) -> Any:
    """Compute at once what torch computes chunk by chunk."""
    weights, reduction, ignored, smoothing, *_ = how
    y = torch.nn.functional.linear(x, weight, bias)
    loss = torch.nn.functional.cross_entropy
    given = {"ignore_index": ignored, "reduction": reduction, "label_smoothing": smoothing}
    return loss(y, target, weights, **given), None, None, None


DECOMPOSITIONS: Mapping[str, Callable[..., Any] | None] = {
    **dict.fromkeys("take multi_margin_loss".split()),
    "masked_select": lambda self, mask: operator.getitem(*torch.broadcast_tensors(self, mask)),
    "masked_scatter": _masked_scatter,
    "put": _put,
    "_trilinear": _trilinear,
    "triangular_solve": _triangular_solve,
    "linalg_lstsq": _least_squares,
    "linalg_lu_factor_ex": _lu_factor,
    "linalg_lu": lambda A, pivot: _lu_unpack(_lu_factor(A, pivot)[0]),
    "lu_unpack": _lu_unpack,
    "linalg_lu_solve": _lu_solve,
    "_linear_cross_entropy_batch_chunked": _linear_cross_entropy,
    "_linear_cross_entropy_batch_chunked_no_reduction": lambda *given: _linear_cross_entropy(
        *given[:5], "none", given[5], 0.0
    )[0],
}
"""By the name of an operation; None where torch decomposes more than the row takes."""

UNREAD: Mapping[str, Callable[..., Any]] = {
    "linalg_pinv": lambda self, **_: (torch.linalg.matrix_rank(self) < min(self.shape[-2:])).any(),
}
"""Where the values of a call are such that its row is another function: a rank that moves with its matrix."""


def decomposed(function: Overload, given: Mapping[str, Any]) -> Any:
    """Run what makes up a call, which is neither differentiated nor draws other numbers afterwards.

    Returns:
        What the call gives; `NotImplemented` of what is made up of no others.
    """
    state, (args, kwargs) = torch.get_rng_state(), unbound(function, given)
    name = name_of(function)
    made_of = DECOMPOSITIONS.get(name) or WINDOWED.get(name) or torch._decomp.decomposition_table.get(function)
    with torch.no_grad():
        found = (made_of or function.decompose)(*args, **kwargs)
    torch.set_rng_state(state)
    return found


def is_unread(name: str, given: Mapping[str, Any]) -> bool:
    """Tell whether a call is no call of its row."""
    return name in DECOMPOSITIONS or (name in UNREAD and bool(UNREAD[name](**given)))
