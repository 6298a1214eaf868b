"""Decompositions of calls of ATen that torch's tables lack, or whose row is narrower, in functions of torch.

Convolutions and pools sum, or fold, windows that slide over a tensor:

    y[n,o,i]  =  Σ[c,k] w[o,c,k]·x[n,c,s·i + d·k - p]
    y[n,o,j]  =  Σ[c,i,k] w[c,o,k]·x[n,c,i] where s·i + d·k - p = j, transposed

Source: V. Dumoulin, F. Visin, "A guide to convolution arithmetic for deep learning", 2016.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording.aten_calls import Overload, name_of, unbound

Ints = Sequence[int]


def _alike(x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcast a tensor and its mask separately, so that a constant mask follows from no argument."""
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    return x.expand(shape), mask.expand(shape)


def _masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    x, mask = _alike(self, mask)
    places = mask.nonzero(as_tuple=True)
    return x.index_put(places, source.reshape(-1)[: len(places[0])])


def _put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    return self.reshape(-1).index_put((index.reshape(-1),), source.reshape(-1), accumulate).reshape(self.shape)


def _broadcast_in_dim(*given: Any) -> Any:
    return torch._prims._broadcast_in_dim_aten(*given)  # loaded when it is needed


def _trilinear(i1: Tensor, i2: Tensor, i3: Tensor, *dims: Sequence[int]) -> Tensor:
    pairs = zip((i1, i2, i3), dims[:3], strict=True)
    factors = [functools.reduce(torch.unsqueeze, sorted(new), one) for one, new in pairs]
    return (factors[0] * factors[1] * factors[2]).sum(dims[3])


def _triangular_solve(self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool) -> Tensor:
    solve = torch.linalg.solve_triangular
    return solve(A.mT if transpose else A, self, upper=upper != transpose, unitriangular=unitriangular)


def _least_squares(self: Tensor, b: Tensor, *_: Any, **__: Any) -> Any:
    x = torch.linalg.pinv(self) @ b
    return x, ((self @ x - b) ** 2).sum(-2) if self.shape[-2] > self.shape[-1] else None


def _of_each(decompose: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Decompose the matrices of a batch one by one, as torch takes any number of dimensions before them."""

    @functools.wraps(decompose)
    def whole(*args: Any, **how: Any) -> tuple[Any, ...]:
        matrices = [one for one in args if isinstance(one, torch.Tensor)]
        batch = torch.broadcast_shapes(*(one.shape[:-2] for one in matrices))
        if not batch:
            return decompose(*args, **how)
        flat = (one.expand(*batch, *one.shape[-2:]).reshape(-1, *one.shape[-2:]) for one in matrices)
        parts = zip(*(decompose(*each, *args[len(matrices) :], **how) for each in zip(*flat, strict=True)), strict=True)
        return tuple(torch.stack(part).reshape(*batch, *part[0].shape) for part in parts)

    return whole


@_of_each
def _cholesky(A: Tensor, **how: Any) -> tuple[Any, ...]:
    return (torch.linalg.cholesky(A, upper=how["upper"]),)


def _solved(A: Tensor, B: Tensor, *, left: bool = True, **_: Any) -> Tensor:
    """Solve the linear systems of a batch, also with vectors, or with the unknown left of its matrix."""
    if B.shape == A.shape[:-1]:  # a vector for each matrix
        return _solved(A, B.unsqueeze(-1)).squeeze(-1)
    if not left:
        return _solved(A.mT, B.mT).mT
    return _of_each(lambda a, b: (torch.linalg.solve(a, b),))(A, B)[0]


def _lu_unpack(LU: Tensor, *_: Any) -> Any:
    lower = LU.tril(-1)[..., : LU.shape[-2]]
    return None, lower + torch.eye(*lower.shape[-2:], dtype=LU.dtype), LU.triu()[..., : LU.shape[-1], :]


def _lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Tensor:
    P, L, U = torch.lu_unpack(LU, pivots)
    A = (P @ L @ U).mT if adjoint == left else P @ L @ U
    return torch.linalg.solve(A, B) if left else torch.linalg.solve(A, B.mT).mT


# -- positions


def _along(self: Tensor, dim: int, index: Tensor) -> tuple[Tensor, ...]:
    """Give the positions in each dimension: the index along `dim`, and 0, 1, 2, ... along the others."""
    lines = [
        torch.arange(n).reshape([-1 if m == k else 1 for m in range(self.ndim)]) for k, n in enumerate(index.shape)
    ]
    lines[dim] = index
    return tuple(lines)


def _gather(self: Tensor, dim: int, index: Tensor, **_: Any) -> Tensor:
    x, places = (one if one.ndim else one.reshape(1) for one in (self, index))
    found = x[_along(x, dim, places)]
    return found if index.ndim else found.reshape(())


def _scatter(self: Tensor, dim: int, index: Tensor, src: Any, reduce: str = "", **_: Any) -> Tensor:
    source = src[tuple(map(slice, index.shape))] if isinstance(src, torch.Tensor) and src.ndim else src
    source = torch.as_tensor(source, dtype=self.dtype).expand(index.shape)
    return self.index_put(_along(self, dim, index), source, accumulate=reduce == "add")


_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}
"""Neutral element of each fold."""


def _scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool = True, **_: Any
) -> Tensor:
    """Fold the source elements at each position, together with the old element or in its place."""
    if any(m != n for k, (m, n) in enumerate(zip(self.shape, index.shape, strict=True)) if k != dim % self.ndim):
        return NotImplemented
    hits = index.unsqueeze(-1) == torch.arange(self.shape[dim])
    values = torch.where(hits, src[tuple(map(slice, index.shape))].unsqueeze(-1), _NEUTRAL[reduce])
    dim = dim % self.ndim
    found = getattr(values, "sum" if reduce == "mean" else reduce)(dim).movedim(-1, dim)
    count = hits.to(self.dtype).sum(dim).movedim(-1, dim)
    if include_self:
        folds = {"prod": torch.mul, "amax": torch.maximum, "amin": torch.minimum}
        whole = folds.get(reduce, torch.add)(self, found)
        return whole / (count + 1) if reduce == "mean" else whole
    found = found / torch.where(count > 0, count, 1.0) if reduce == "mean" else found
    return torch.where(count > 0, found, self)


def _in_view(view: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a function that puts a tensor in the place of a view of another one."""

    def put(self: Tensor, src: Tensor, *how: Any) -> Tensor:
        places = view(torch.arange(self.numel()).reshape(self.shape), *how).reshape(-1)
        return self.reshape(-1).index_put((places,), src.reshape(-1)).reshape(self.shape)

    return put


# -- order


def _kth(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Tensor:
    found = self.sort(dim=dim)[0]
    return found.narrow(dim, k - 1, 1) if keepdim else found.select(dim, k - 1)


def _topk(self: Tensor, k: int, dim: int = -1, largest: bool = True, *_: Any) -> Tensor:
    return self.sort(dim=dim, descending=largest)[0].narrow(dim, 0, k)


def _median(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    if dim is None:
        return _median(self.reshape(-1), 0)
    return _kth(self, (self.shape[dim] + 1) // 2, dim, keepdim)


# -- factors


def _householder(A: Tensor, tau: Tensor) -> Tensor:
    """Multiply the first columns of the identity by reflections, the last reflection first."""
    if A.ndim > 2:
        return NotImplemented
    found = torch.eye(*A.shape, dtype=A.dtype)
    for k in reversed(range(len(tau))):
        v = torch.cat([torch.eye(k + 1, dtype=A.dtype)[k], A[k + 1 :, k]])
        found = found - tau[k] * torch.outer(v, v @ found)
    return found


@_of_each
def _qr(A: Tensor, mode: str = "reduced") -> Any:
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


# -- windows

MOST_TERMS = 2**24
"""Largest product of the elements of windows and of a kernel for which their products are written out."""


def _padded(x: Tensor, axis: int, before: int, after: int, value: float = 0.0) -> Tensor:
    widths = [0, 0] * (x.ndim - 1 - axis) + [before, after]
    return torch.nn.functional.pad(x, widths, value=value) if before or after else x


def _windows(
    x: Tensor,
    count: int,
    sizes: Ints,
    steps: Ints,
    pads: Ints,
    apart: Ints = (1,),
    *,
    more: float | None = None,
    fill: float = 0.0,
) -> Tensor:
    """Lay the windows of the last dimensions along new dimensions.

    Args:
        x: The tensor that the windows slide over.
        count: How many dimensions.
        sizes: Sizes of a window.
        steps: Steps from one window to the next, or its sizes if there are none.
        pads: How much there is before the first element and after the last.
        apart: Steps from one element of a window to the next.
        more: The number beyond the padding, where a last window may reach beyond that.
        fill: The number in the padding.
    """
    first = x.ndim - count
    each = [[*one] * (count // len(one)) for one in (sizes, steps or sizes, pads, apart)]
    for axis, pad in enumerate(each[2], first):
        x = _padded(x, axis, pad, pad, fill)
    for axis, (size, step, pad, by) in enumerate(zip(*each, strict=True), first):
        span = by * (size - 1) + 1
        room = x.shape[axis] - span
        rest = -room % step
        if more is not None and room + rest < x.shape[axis] - pad:  # else that window would begin after the end
            x = _padded(x, axis, 0, rest, more)
        x = x.unfold(axis, span, step)[..., ::by]
    return x


def _unfold_backward(grad: Tensor, sizes: Ints, dim: int, size: int, step: int) -> Tensor:
    """Add the gradients of the elements of each window, with zeros between windows."""
    spread = _padded(grad.unsqueeze(dim + 1), dim + 1, 0, step - 1).flatten(dim, dim + 1)
    more = sizes[dim] - spread.shape[dim]
    return functools.reduce(torch.add, (_padded(spread[..., k], dim, k, more - k) for k in range(size)))


def _inside(count: int) -> tuple[int, ...]:
    return tuple(range(-count, 0))


def _convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> Tensor:
    """Sum over windows; a transposed one slides a turned kernel over the input with zeros in between."""
    count = weight.ndim - 2
    each = [[*one] * (count // len(one)) for one in (stride, padding, dilation, output_padding)]
    if transposed:
        weight = weight.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1).flip(_inside(count))
        for axis, (step, pad, apart, more) in enumerate(zip(*each, strict=True), 2):
            span = apart * (weight.shape[axis] - 1)
            x = _padded(x.unsqueeze(axis + 1), axis + 1, 0, step - 1).flatten(axis, axis + 1)
            x = _padded(x, axis, span - pad, span - pad + more - (step - 1))
        stride, padding = (1,), (0,)
    x = _windows(x, count, weight.shape[2:], stride, padding, dilation)
    if groups > 1 or x.numel() * weight.numel() > MOST_TERMS:
        letters, places = "abc"[:count], "xyz"[:count]
        parts = x.unflatten(1, (groups, -1)), weight.unflatten(0, (groups, -1))
        found = torch.einsum(f"ngi{places}{letters},goi{letters}->ngo{places}", *parts).flatten(1, 2)
    else:
        found = (x.unsqueeze(1) * weight[(..., *[None] * count, *[slice(None)] * count)]).sum((2, *_inside(count)))
    return found if bias is None else found + bias[(slice(None), *[None] * count)]


def _columns(x: Tensor, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Tensor:
    found = _windows(x, 2, kernel, stride, padding, dilation)
    return found.movedim((-2, -1), (-4, -3)).flatten(-5, -3).flatten(-2)


def _mean_pool(
    count: int, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, is_ceil: bool, counts_padding: bool, divisor: Any
) -> Tensor:
    slide = functools.partial(
        _windows, count=count, sizes=kernel, steps=stride, pads=padding, more=0.0 if is_ceil else None
    )
    ones = torch.ones(x.shape[-count:], dtype=x.dtype)
    return slide(x).sum(_inside(count)) / (divisor or slide(ones, fill=float(counts_padding)).sum(_inside(count)))


def _largest_pool(
    count: int, x: Tensor, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, is_ceil: bool
) -> Tensor:
    low = -math.inf
    x = _windows(x, count, kernel, stride, padding, dilation, more=low if is_ceil else None, fill=low)
    return x.amax(_inside(count))


def _adaptive_pool(fold: str, x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Fold regions: the i-th of m over n elements goes from floor(i·n/m) to ceil((i + 1)·n/m)."""
    for axis, wanted in enumerate(sizes, x.ndim - len(sizes)):
        size = x.shape[axis]
        ends = [(n * size // wanted, -(-(n + 1) * size // wanted)) for n in range(wanted)]
        if not wanted:
            x = x.narrow(axis, 0, 0)
        elif size % wanted == 0:
            x = getattr(x.unfold(axis, size // wanted, size // wanted), fold)(-1)
        else:
            x = torch.stack([getattr(x.narrow(axis, a, b - a), fold)(axis) for a, b in ends], axis)
    return x


def _embedding_bag(weight: Tensor, index: Tensor, offsets: Tensor, scale: Any, mode: int, *_: Any, **__: Any) -> Any:
    """Fold the rows of bags of equal length."""
    if len(index) % max(len(offsets), 1) or (offsets.diff() != len(index) // len(offsets)).any():
        return NotImplemented
    rows = weight[index].unflatten(0, (len(offsets), -1))
    return getattr(rows, ("sum", "mean", "amax")[mode])(1)


def _distances(x: Tensor, p: float) -> Tensor:
    first, second = torch.triu_indices(len(x), len(x), 1)
    return torch.linalg.vector_norm(x[first] - x[second], p, -1)


def _all_distances(x1: Tensor, x2: Tensor, p: float) -> Tensor:
    return torch.linalg.vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


def _back(forward: Callable[..., Tensor], grad: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """Go back through a function as autograd does."""
    is_above = torch._C._SetExcludeDispatchKeyGuard(torch._C.DispatchKey.AutogradFunctionality, False)
    with is_above, torch.enable_grad():
        leaves = [one.detach().requires_grad_() for one in inputs]
        return torch.autograd.grad(forward(*leaves), leaves, grad)


def _convolution_backward(grad: Tensor, x: Tensor, weight: Tensor, _: Any, *how: Any) -> tuple[Tensor | None, ...]:
    *where, mask = how
    of_x, of_weight = _back(lambda x, weight: _convolution(x, weight, None, *where), grad, x, weight)
    found = zip((of_x, of_weight, grad.sum((0, *range(2, grad.ndim)))), mask, strict=True)
    return tuple(one if is_wanted else None for one, is_wanted in found)


# -- backward passes

MOST_LINEAR = 2**20
"""Most elements of a matrix that stands for a backward pass."""


_LINEAR = (
    "avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d max_pool3d_with_indices adaptive_max_pool2d "
    "adaptive_max_pool3d upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d"
).split()


def _linear(name: str) -> Callable[..., Tensor]:
    """Replace a backward pass, which is linear, by its matrix for the given shapes and positions."""

    def backward(grad: Tensor, *how: Any) -> Tensor:
        function = getattr(torch.ops.aten, name).default
        with torch._C._DisableTorchDispatch():
            units = torch.eye(grad.numel(), dtype=grad.dtype).reshape(-1, *grad.shape)
            found = function(torch.zeros_like(units[0]), *how)
            if found.numel() * grad.numel() > MOST_LINEAR:
                return NotImplemented
            matrix = torch.stack([function(one, *how).reshape(-1) for one in units])
        return (grad.reshape(-1) @ matrix).reshape(found.shape)

    return backward


def _outside(grad: Tensor, self: Tensor, lambd: float) -> Tensor:
    return torch.where((self > lambd) | (self < -lambd), grad, 0.0)


def _of_numbers_too(decompose: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Take a tensor without dimensions as a vector of one element, as torch does along a dimension."""

    @functools.wraps(decompose)
    def whole(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if self.ndim:
            return decompose(self, *args, **kwargs)
        lines = [one.reshape(1) if isinstance(one, torch.Tensor) else one for one in (self, *args)]
        return decompose(*lines, **kwargs).reshape(())

    return whole


DECOMPOSITIONS: Mapping[str, Callable[..., Any]] = {
    "convolution": _convolution,
    "unfold_backward": _unfold_backward,
    "im2col": _columns,
    **{f"avg_pool{n}d": functools.partial(_mean_pool, n) for n in (2, 3)},
    **{f"max_pool{n}d_with_indices": functools.partial(_largest_pool, n) for n in (2, 3)},
    **{f"_adaptive_avg_pool{n}d": functools.partial(_adaptive_pool, "mean") for n in (2, 3)},
    **{f"adaptive_max_pool{n}d": lambda x, sizes: _adaptive_pool("amax", x, sizes) for n in (2, 3)},
    **dict.fromkeys("_embedding_bag _embedding_bag_forward_only".split(), _embedding_bag),
    "convolution_backward": _convolution_backward,
    "_pdist_forward": _distances,
    "_pdist_backward": lambda grad, x, p, _: _back(lambda x: _distances(x, p), grad, x)[0],
    "_cdist_backward": lambda grad, x1, x2, p, _: _back(lambda x1: _all_distances(x1, x2, p), grad, x1)[0],
    "gather": _gather,
    "scatter": _of_numbers_too(_scatter),
    "scatter_add": _of_numbers_too(lambda self, dim, index, src: _scatter(self, dim, index, src, "add")),
    "scatter_reduce": _of_numbers_too(_scatter_reduce),
    **{f"{one}_scatter": _in_view(getattr(torch.ops.aten, one)) for one in "slice select diagonal as_strided".split()},
    "topk": _of_numbers_too(_topk),
    "kthvalue": _of_numbers_too(_kth),
    "median": _of_numbers_too(_median),
    "linalg_householder_product": _householder,
    "linalg_qr": _qr,
    "masked_select": lambda self, mask: operator.getitem(*_alike(self, mask)),
    "multilabel_margin_loss_forward": lambda *_: NotImplemented,  # torch's table counts labels after the first -1
    "masked_scatter": _masked_scatter,
    "put": _put,
    "broadcast_in_dim": _broadcast_in_dim,
    "_trilinear": _trilinear,
    "linalg_cholesky_ex": _cholesky,
    "_linalg_solve_ex": _solved,
    "triangular_solve": _triangular_solve,
    "linalg_lstsq": _least_squares,
    "lu_unpack": _lu_unpack,
    "linalg_lu_solve": _lu_solve,
    **dict.fromkeys(("hardshrink_backward", "softshrink_backward"), _outside),
    **{f"{name}_backward": _linear(f"{name}_backward") for name in _LINEAR},
}
"""Decompositions by the name of an operation."""


def _free_of_compiler(function: Any) -> None:
    """Let a reference of torch's run as it is: the first would import the compiler to be kept from it, for 1.4 s.

    That holds for the whole process, which may still compile what is its own.
    """
    is_of_torch = isinstance(function, FunctionType) and function.__module__.startswith("torch.")
    if is_of_torch and not hasattr(function, "__dynamo_disable"):
        function.__dynamo_disable = function
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # an empty cell
                _free_of_compiler(cell.cell_contents)


for _reference in (*torch._decomp.decomposition_table.values(), *vars(torch._refs).values()):
    _free_of_compiler(_reference)


def decomposed(function: Overload, given: Mapping[str, Any]) -> Any:
    """Run the decomposition of a call, without autograd, and restore the state of random numbers.

    Returns:
        The result of the call; `NotImplemented` if it has no decomposition.
    """
    state, (args, kwargs) = torch.get_rng_state(), unbound(function, given)
    made_of = DECOMPOSITIONS.get(name_of(function)) or torch._decomp.decomposition_table.get(function)
    with torch.no_grad():
        found = (made_of or function.decompose)(*args, **kwargs)
    torch.set_rng_state(state)
    return found


def is_unread(function: Overload, given: Mapping[str, Any]) -> bool:
    """Tell whether the row of a call does not apply: a pseudoinverse of a matrix without full rank."""
    if name_of(function) != "linalg_pinv":
        return False
    return bool((torch.linalg.matrix_rank(given["self"]) < min(given["self"].shape[-2:])).any())
