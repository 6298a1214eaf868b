"""Derivatives of a Program that has run: vᵀJ and J, Ju, the Hessian, and Hu.

One answer takes the cheap paths: `torch.autograd.grad`, once for vᵀJ and once a row for J.  Where x is much smaller
than y the columns are cheaper.  They are the transpose of vᵀJ as a function of v, which is linear, because forward mode
takes a quarter of a second to import; so is Ju.  The Hessian is the Jacobian of the gradient, a row at a time; Hu is
the gradient of the slope u·∇f and costs as much as a few gradients, however large x is.

Sources: J. Townsend, "A new trick for calculating Jacobian vector products", 2017; B. A. Pearlmutter, "Fast exact
multiplication by the Hessian", Neural Computation 6, 1994.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from gradcli.arrays import Array
from gradcli.autodiff._torch import torch
from gradcli.autodiff.backward_errors import raise_of_backward
from gradcli.autodiff.run import Forward, Tensor, derivative_of, dtype_name, tensor_of

ROWS_ALWAYS = 64
"""Rows that are computed one by one without asking whether columns would be fewer."""


def vjp(forward: Forward, v: Array, wrt: tuple[str, ...]) -> dict[str, Array]:
    """Compute vᵀJ for each variable, as `y.backward(gradient=v)` leaves it in `x.grad`.

    Args:
        forward: The evaluated Program.
        v: The gradient vector, of y's shape.
        wrt: The variables; the result has their shapes.
    """
    y = forward.output
    leaves = [forward.leaves[name] for name in wrt]
    found = gradients(y, leaves, tensor_of(v, y.dtype, y.device))
    return {name: derivative_of(g) for name, g in zip(wrt, found, strict=True)}


def products(forward: Forward, vs: Array, wrt: tuple[str, ...], *, by_vmap: bool) -> dict[str, Array]:
    """Compute vᵀJ for several v at once.

    Args:
        forward: The evaluated Program.
        vs: The gradient vectors, of y's shape, along the first axis.
        wrt: The variables; the results have their shapes after the first axis.
        by_vmap: Whether by `torch.vmap` over v, as `torch.func.jacrev` does; else by `is_grads_batched=True`, as
            `torch.autograd.functional.jacobian(…, vectorize=True)` does.

    Raises:
        InputError: Torch refuses it.
        UserCodeError: Code of the user's that runs in the backward pass fails for several v.
    """
    y, leaves = forward.output, [forward.leaves[name] for name in wrt]

    def product(v: Tensor, **how: bool) -> tuple[Tensor, ...]:
        found = torch.autograd.grad(y, leaves, v, retain_graph=True, allow_unused=True, **how)
        zeros = (torch.zeros_like(leaf) for leaf in leaves)
        return tuple(zero if one is None else one for zero, one in zip(zeros, found, strict=True))

    if not (y.requires_grad and leaves and y.numel()):
        return {name: np.zeros((len(vs), *forward.leaves[name].shape), dtype_name(y.dtype)) for name in wrt}
    several = tensor_of(vs, y.dtype)
    with warnings.catch_warnings(action="ignore"):  # of operations that are called for one v after the other
        try:
            found = torch.vmap(product)(several) if by_vmap else product(several, is_grads_batched=True)
        except BaseException as error:
            raise_of_backward(error, y)
    shapes = ((len(vs), *leaf.shape) for leaf in leaves)  # those that y does not depend on have no v
    return {n: derivative_of(one.expand(shape)) for n, one, shape in zip(wrt, found, shapes, strict=True)}


def jacobian(forward: Forward, wrt: tuple[str, ...]) -> dict[str, Array]:
    """Compute the Jacobian blocks ∂y/∂x, each of shape `y.shape + x.shape`."""
    y, leaves = forward.output, {name: forward.leaves[name] for name in wrt}
    blocks = {name: np.empty((*y.shape, *leaf.shape), dtype_name(leaf.dtype)) for name, leaf in leaves.items()}
    fill(list(blocks.values()), y, list(leaves.values()))
    return blocks


def fill(blocks: Sequence[Array], y: Tensor, leaves: Sequence[Tensor], points: int = 1) -> None:
    """Write the Jacobian of each point by each leaf, row by row, or where they are many fewer, column by column.

    Args:
        blocks: The array to write to for each leaf: points, elements of y and elements of x in this order, whatever
            the axes are.
        y: The output, with the points on its first axis if there are several.
        leaves: The variables, with the points likewise; y at one point depends on their values at that point alone.
        points: The number of points.

    Raises:
        InputError: Torch has no derivative for an operation.
    """
    if not any(block.size for block in blocks):
        return
    rows, columns = (sum(tensor.numel() for tensor in tensors) // points for tensors in ((y,), leaves))
    if rows > ROWS_ALWAYS and columns < rows and y.requires_grad:
        for block, leaf in zip(blocks, leaves, strict=True):
            if block.size:
                _by_columns(block, y, leaf, points)
    else:
        by_rows(blocks, y, leaves, points)


def by_rows(blocks: Sequence[Array], y: Tensor, leaves: Sequence[Tensor], points: int = 1) -> None:
    """Write the Jacobian by one backward pass for each element of y, for all points at once: of its sum over them."""
    rows = y.numel() // points
    flat = [block.reshape(points, rows, -1) if block.size else block for block in blocks]
    v = torch.zeros((points, rows), dtype=y.dtype, device=y.device)
    like_y = v.view(y.shape)
    for row, weights in enumerate(v.unbind(1)):
        weights.fill_(1)
        for block, gradient in zip(flat, gradients(y, leaves, like_y), strict=True):
            if block.size:
                block[:, row] = derivative_of(gradient).reshape(points, -1)
        weights.zero_()


def _by_columns(block: Array, y: Tensor, leaf: Tensor, points: int) -> None:
    """Write the Jacobian by the rows of its transpose, of vᵀJ as a function of v: one row for each element of x."""
    v = torch.zeros_like(y, requires_grad=True)
    (transposed,) = gradients(y, [leaf], v, differentiable=True)
    by_rows([block.reshape(points, y.numel() // points, -1).swapaxes(1, 2)], transposed, [v], points)


def gradients(y: Tensor, leaves: Sequence[Tensor], v: Tensor, *, differentiable: bool = False) -> list[Tensor]:
    """Call `torch.autograd.grad`, with zeros for variables that y does not depend on.

    Args:
        y: The tensor to differentiate.
        leaves: The variables; the result has their shapes.
        v: The gradient vector, of y's shape.
        differentiable: Whether the result gets a graph of its own, to be differentiated again.

    Raises:
        InputError: Torch has no derivative for an operation.
        UserCodeError: Code of the user's that runs in the backward pass fails.
    """
    if not y.requires_grad or not leaves:
        return [torch.zeros_like(leaf) for leaf in leaves]
    try:
        found = torch.autograd.grad(y, leaves, v, retain_graph=True, create_graph=differentiable, allow_unused=True)
    except BaseException as error:
        raise_of_backward(error, y)
    return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(found, leaves, strict=True)]


def jvp(forward: Forward, u: Mapping[str, Array]) -> Array:
    """Compute Ju, the derivative of y along the direction u: of y's shape.

    Args:
        forward: The evaluated Program.
        u: The direction of each variable that moves, of its shape; it must have been recorded by `run`.

    Raises:
        InputError: Torch cannot differentiate an operation twice.
    """
    y = forward.output
    leaves = [forward.leaves[name] for name in u]
    weights = torch.zeros_like(y, requires_grad=True)
    transposed = gradients(y, leaves, weights, differentiable=True)
    slope = _slope(transposed, u, y)
    (along,) = gradients(slope, [weights], torch.ones_like(slope))
    return derivative_of(along)


def hessian(forward: Forward, wrt: tuple[str, ...]) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
    """Compute the gradient of a y of one element, and the Hessian blocks ∂²y/∂a∂b of shape `a.shape + b.shape`.

    Args:
        forward: The evaluated Program.
        wrt: The variables; the blocks are by two of them, in this order.

    Raises:
        InputError: Torch cannot differentiate an operation twice.
    """
    leaves = {name: forward.leaves[name] for name in wrt}
    first = dict(zip(wrt, _gradient(forward, list(leaves.values())), strict=True))
    blocks: dict[str, dict[str, Array]] = {}
    for name, slope in first.items():
        blocks[name] = {b: np.zeros((*slope.shape, *leaf.shape), dtype_name(slope.dtype)) for b, leaf in leaves.items()}
        if slope.requires_grad:
            by_rows(list(blocks[name].values()), slope, list(leaves.values()))
    return {name: derivative_of(slope) for name, slope in first.items()}, blocks


def jacobian_by_v(forward: Forward, wrt: tuple[str, ...]) -> dict[str, Array]:
    """Compute the Jacobian blocks as the derivative of vᵀJ by v, through a graph of the backward pass."""
    y, leaves = forward.output, {name: forward.leaves[name] for name in wrt}
    blocks = {name: np.zeros((*y.shape, *leaf.shape), dtype_name(leaf.dtype)) for name, leaf in leaves.items()}
    if y.requires_grad:
        for name, leaf in leaves.items():
            if blocks[name].size:
                _by_columns(blocks[name], y, leaf, 1)
    return blocks


def hvp(
    forward: Forward, u: Mapping[str, Array], wrt: tuple[str, ...]
) -> tuple[dict[str, Array], Array, dict[str, Array]]:
    """Compute the gradient of a y of one element, its slope u·∇f along the direction u, and Hu: the slope's gradient.

    Args:
        forward: The evaluated Program.
        u: The direction of each variable that moves, of its shape; the names are among `wrt`.
        wrt: The variables; gradient and Hu have their shapes, the slope has none.

    Raises:
        InputError: Torch cannot differentiate an operation twice.
    """
    leaves = [forward.leaves[name] for name in wrt]
    first = dict(zip(wrt, _gradient(forward, leaves), strict=True))
    slope = _slope([first[name] for name in u], u, forward.output)
    second = gradients(slope, leaves, torch.ones_like(slope))
    product = {name: derivative_of(tensor) for name, tensor in zip(wrt, second, strict=True)}
    return {name: derivative_of(tensor) for name, tensor in first.items()}, derivative_of(slope), product


def _gradient(forward: Forward, leaves: list[Tensor]) -> list[Tensor]:
    y = forward.output
    return gradients(y, leaves, torch.ones_like(y), differentiable=True)


def _slope(first: Sequence[Tensor], u: Mapping[str, Array], y: Tensor) -> Tensor:
    total = torch.zeros((), dtype=y.dtype, device=y.device)
    for gradient, direction in zip(first, u.values(), strict=True):
        total = total + (gradient * tensor_of(direction, y.dtype, y.device)).sum()
    return total
