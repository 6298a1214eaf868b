"""Decompositions of calls of ATen that torch's tables lack, or whose row is narrower, in functions of torch."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Tensor
from gradcli.recording import factors, layers, selections, windows
from gradcli.recording.aten_calls import Argument, Overload, name_of, unbound


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


def _trilinear(i1: Tensor, i2: Tensor, i3: Tensor, *dims: Sequence[int]) -> Tensor:
    pairs = zip((i1, i2, i3), dims[:3], strict=True)
    factors = [functools.reduce(torch.unsqueeze, sorted(new), one) for one, new in pairs]
    result: Tensor = (factors[0] * factors[1] * factors[2]).sum(tuple(dims[3]))
    return result


# -- positions


def _along(self: Tensor, dim: int, index: Tensor) -> tuple[Tensor, ...]:
    """Give the positions in each dimension: the index along `dim`, and 0, 1, 2, ... along the others."""
    lines = [
        torch.arange(n).reshape([-1 if m == k else 1 for m in range(self.ndim)]) for k, n in enumerate(index.shape)
    ]
    lines[dim] = index
    return tuple(lines)


def _gather(self: Tensor, dim: int, index: Tensor, **_: object) -> Tensor:
    x, places = (one if one.ndim else one.reshape(1) for one in (self, index))
    found = x[_along(x, dim, places)]
    return found if index.ndim else found.reshape(())


def _scatter(self: Tensor, dim: int, index: Tensor, src: object, reduce: str = "", **_: object) -> Tensor:
    source = src[tuple(map(slice, index.shape))] if isinstance(src, torch.Tensor) and src.ndim else src
    source = torch.as_tensor(source, dtype=self.dtype).expand(index.shape)
    return self.index_put(_along(self, dim, index), source, accumulate=reduce == "add")


def _in_view(view: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a function that puts a tensor in the place of a view of another one."""

    def put(self: Tensor, src: Tensor, *how: object) -> Tensor:
        places = view(torch.arange(self.numel()).reshape(self.shape), *how).reshape(-1)
        return self.reshape(-1).index_put((places,), src.reshape(-1)).reshape(self.shape)

    return put


# -- distances


def _distances(x: Tensor, p: float) -> Tensor:
    first, second = torch.triu_indices(len(x), len(x), 1)
    result: Tensor = torch.linalg.vector_norm(x[first] - x[second], p, -1)
    return result


def _all_distances(x1: Tensor, x2: Tensor, p: float) -> Tensor:
    result: Tensor = torch.linalg.vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)
    return result


def _back(forward: Callable[..., Tensor], grad: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """Go back through a function as autograd does."""
    with torch_internals.with_autograd(), torch.enable_grad():
        leaves = [one.detach().requires_grad_() for one in inputs]
        return torch.autograd.grad(forward(*leaves), leaves, grad)


def _convolution_backward(
    grad: Tensor, x: Tensor, weight: Tensor, _: Argument, *how: Argument
) -> tuple[Tensor | None, ...]:
    *where, mask = how
    of_x, of_weight = _back(lambda x, weight: windows.convolution(x, weight, None, *where), grad, x, weight)
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

    def backward(grad: Tensor, *how: object) -> Tensor:
        function = getattr(torch.ops.aten, name).default
        with torch_internals.without_dispatch():
            units = torch.eye(grad.numel(), dtype=grad.dtype).reshape(-1, *grad.shape)
            found = function(torch.zeros_like(units[0]), *how)
            if found.numel() * grad.numel() > MOST_LINEAR:
                result: Tensor = NotImplemented
                return result
            matrix = torch.stack([function(one, *how).reshape(-1) for one in units])
        return (grad.reshape(-1) @ matrix).reshape(found.shape)

    return backward


def _outside(grad: Tensor, self: Tensor, lambd: float) -> Tensor:
    return torch.where((self > lambd) | (self < -lambd), grad, 0.0)


def _log_sigmoid_backward(grad: Tensor, self: Tensor, buffer: Tensor) -> Tensor:
    """Choose between numbers, where torch's table multiplies by whole ones, which no line holds."""
    z = buffer if buffer.numel() else torch.exp(-self.abs())
    part = z / (1 + z)
    return grad * torch.where(self < 0, 1 - part, part)


def _of_numbers_too(decompose: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Take a tensor without dimensions as a vector of one element, as torch does along a dimension."""

    @functools.wraps(decompose)
    def whole(self: Tensor, *args: Argument, **kwargs: Argument) -> Tensor:
        if self.ndim:
            return decompose(self, *args, **kwargs)
        lines = [one.reshape(1) if isinstance(one, torch.Tensor) else one for one in (self, *args)]
        return decompose(*lines, **kwargs).reshape(())

    return whole


DECOMPOSITIONS: Mapping[str, Callable[..., Any]] = {
    "convolution": windows.convolution,
    "unfold_backward": windows.unfold_backward,
    "im2col": windows.columns,
    **{f"avg_pool{n}d": functools.partial(windows.mean_pool, n) for n in (2, 3)},
    **{f"max_pool{n}d_with_indices": functools.partial(windows.largest_pool, n) for n in (2, 3)},
    **{f"_adaptive_avg_pool{n}d": functools.partial(windows.adaptive_pool, "mean") for n in (2, 3)},
    **{f"adaptive_max_pool{n}d": lambda x, sizes: windows.adaptive_pool("amax", x, sizes) for n in (2, 3)},
    "fractional_max_pool2d": windows.fractional_pool,
    **dict.fromkeys("_embedding_bag _embedding_bag_forward_only".split(), layers.embedding_bag),
    "_linear_cross_entropy_batch_chunked": layers.linear_cross_entropy,
    "_linear_cross_entropy_batch_chunked_no_reduction": lambda *given: layers.linear_cross_entropy(
        *given[:5], "none", given[5], 0.0
    )[0],
    "mkldnn_rnn_layer": layers.recurrent_layer,
    "grid_sampler_3d": layers.grid_sample_3d,
    "convolution_backward": _convolution_backward,
    "_pdist_forward": _distances,
    "_pdist_backward": lambda grad, x, p, _: _back(lambda x: _distances(x, p), grad, x)[0],
    "_cdist_backward": lambda grad, x1, x2, p, _: _back(lambda x1: _all_distances(x1, x2, p), grad, x1)[0],
    "gather": _gather,
    "scatter": _of_numbers_too(_scatter),
    "scatter_add": _of_numbers_too(lambda self, dim, index, src: _scatter(self, dim, index, src, "add")),
    "scatter_reduce": _of_numbers_too(selections.scatter_reduce),
    **{f"{one}_scatter": _in_view(getattr(torch.ops.aten, one)) for one in "slice select diagonal as_strided".split()},
    "topk": _of_numbers_too(selections.topk),
    "kthvalue": _of_numbers_too(selections.kth),
    "median": _of_numbers_too(selections.median),
    "nanmedian": _of_numbers_too(selections.nanmedian),
    "mode": _of_numbers_too(selections.mode),
    "index_reduce": _of_numbers_too(selections.index_reduce),
    "segment_reduce": selections.segment_reduce,
    "frexp": selections.mantissa,
    "nextafter": selections.nextafter,
    "linalg_householder_product": factors.householder,
    "linalg_qr": factors.qr,
    "masked_select": lambda self, mask: operator.getitem(*_alike(self, mask)),
    "multilabel_margin_loss_forward": layers.multilabel_margin_loss,
    "masked_scatter": _masked_scatter,
    "put": _put,
    "broadcast_in_dim": torch_internals.broadcast_in_dim,
    "_trilinear": _trilinear,
    "linalg_cholesky_ex": factors.cholesky,
    "_linalg_solve_ex": factors.solved,
    "triangular_solve": factors.triangular_solve,
    "linalg_lstsq": factors.least_squares,
    "lu_unpack": factors.lu_unpack,
    "linalg_lu": factors.lu,
    "linalg_lu_factor_ex": factors.lu_factor,
    "ormqr": factors.reflections,
    "linalg_lu_solve": factors.lu_solve,
    **dict.fromkeys(("hardshrink_backward", "softshrink_backward"), _outside),
    "log_sigmoid_backward": _log_sigmoid_backward,
    **{f"{name}_backward": _linear(f"{name}_backward") for name in _LINEAR},
}
"""Decompositions by the name of an operation."""


torch_internals.free_of_compiler()


def decomposed(function: Overload, given: Mapping[str, object]) -> Argument:
    """Run the decomposition of a call, without autograd, and restore the state of random numbers.

    Returns:
        The result of the call; `NotImplemented` if it has no decomposition.
    """
    state, (args, kwargs) = torch.get_rng_state(), unbound(function, given)
    decompose = DECOMPOSITIONS.get(name_of(function)) or torch_internals.decompositions().get(function)
    with torch.no_grad():
        found = (decompose or function.decompose)(*args, **kwargs)
    torch.set_rng_state(state)
    return found


def is_unread(function: Overload, given: Mapping[str, Argument]) -> bool:
    """Tell whether the row of a call does not apply: a pseudoinverse of a matrix without full rank."""
    if name_of(function) != "linalg_pinv":
        return False
    return bool((torch.linalg.matrix_rank(given["self"]) < min(given["self"].shape[-2:])).any())
