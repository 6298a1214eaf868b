"""Vector-Jacobian products and Jacobians of a Program that has run.

One answer takes the cheap paths: `torch.autograd.grad`, once for vᵀJ and once a row for J.  Where x is much smaller
than y the columns are cheaper; they come from the transpose trick, a reverse pass through the reverse pass, because
forward mode takes a quarter of a second to import.
Source of the trick: J. Townsend, "A new trick for calculating Jacobian vector products", 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import Forward, Tensor, array_of, backward_error, tensor_of

Array = npt.NDArray[Any]

ROWS_ALWAYS = 64
"""Rows that are computed one by one without asking whether columns would be fewer."""


def value(forward: Forward) -> Array:
    """The output y as an array."""
    return array_of(forward.output)


def vjp(forward: Forward, v: Array, wrt: tuple[str, ...]) -> dict[str, Array]:
    """vᵀJ for each variable: what `y.backward(gradient=v)` leaves in `x.grad`.

    Args:
        forward: The evaluated Program.
        v: The gradient vector, of y's shape.
        wrt: The variables; the result has their shapes.
    """
    y = forward.output
    leaves = [forward.leaves[name] for name in wrt]
    found = gradients(y, leaves, tensor_of(v, y.dtype))
    return {name: array_of(g) for name, g in zip(wrt, found, strict=True)}


def jacobian(forward: Forward, wrt: tuple[str, ...]) -> dict[str, Array]:
    """The Jacobian blocks ∂y/∂x, each of shape `y.shape + x.shape`."""
    y = forward.output
    columns = sum(forward.leaves[name].numel() for name in wrt)
    if y.numel() > ROWS_ALWAYS and columns < y.numel() and y.requires_grad:
        return {name: _by_columns(forward, name) for name in wrt}
    return _by_rows(forward, wrt)


def _by_rows(forward: Forward, wrt: tuple[str, ...]) -> dict[str, Array]:
    y = forward.output
    leaves = [forward.leaves[name] for name in wrt]
    blocks = [np.empty((y.numel(), leaf.numel()), dtype=array_of(leaf).dtype) for leaf in leaves]
    row = torch.zeros(y.numel(), dtype=y.dtype)
    for i in range(y.numel()):
        row[i] = 1
        for block, gradient in zip(blocks, gradients(y, leaves, row.view(y.shape)), strict=True):
            block[i] = array_of(gradient).ravel()
        row[i] = 0
    return {name: b.reshape((*y.shape, *leaf.shape)) for name, b, leaf in zip(wrt, blocks, leaves, strict=True)}


def _by_columns(forward: Forward, name: str) -> Array:
    y, leaf = forward.output, forward.leaves[name]
    u = torch.zeros_like(y, requires_grad=True)
    (transposed,) = torch.autograd.grad(y, leaf, u, create_graph=True, allow_unused=True)
    block = np.zeros((y.numel(), leaf.numel()), dtype=array_of(leaf).dtype)
    if transposed is not None and transposed.requires_grad:
        column = torch.zeros(leaf.numel(), dtype=y.dtype)
        for j in range(leaf.numel()):
            column[j] = 1
            (result,) = gradients(transposed, [u], column.view(leaf.shape))
            block[:, j] = array_of(result).ravel()
            column[j] = 0
    return block.reshape((*y.shape, *leaf.shape))


def gradients(
    y: Tensor, leaves: list[Tensor], v: Tensor, *, differentiable: bool = False, keeps_graph: bool = True
) -> list[Tensor]:
    """`torch.autograd.grad` with zeros for variables that y does not depend on.

    Args:
        y: What is differentiated.
        leaves: The result has their shapes.
        v: The gradient vector, of y's shape.
        differentiable: Whether the result gets a graph of its own, to be differentiated again.
        keeps_graph: Whether there may be another pass through the graph of y.

    Raises:
        InputError: Torch has no derivative for an operation.
    """
    if not y.requires_grad or not leaves:
        return [torch.zeros_like(leaf) for leaf in leaves]
    try:
        found = torch.autograd.grad(
            y, leaves, v, retain_graph=keeps_graph, create_graph=differentiable, allow_unused=True
        )
    except RuntimeError as error:
        raise backward_error(error) from None
    return [torch.zeros_like(leaf) if g is None else g for g, leaf in zip(found, leaves, strict=True)]
