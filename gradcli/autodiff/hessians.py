"""Directional and second derivatives of a Program that has run: Ju, the Hessian, and Hu.

All of them are reverse passes through a reverse pass.  The Jacobian-vector product is the transpose of vᵀJ as a
function of v, which is linear; the Hessian is the Jacobian of the gradient, a row at a time; Hu is the gradient of the
slope u·∇f and costs as much as a few gradients, however large x is.
Sources: J. Townsend, "A new trick for calculating Jacobian vector products", 2017; B. A. Pearlmutter, "Fast exact
multiplication by the Hessian", Neural Computation 6, 1994.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import gradients
from gradcli.autodiff.run import Forward, Tensor, array_of, tensor_of

Array = npt.NDArray[Any]


def jvp(forward: Forward, u: Mapping[str, Array]) -> Array:
    """Ju, the derivative of y along the direction u: of y's shape.

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
    (along,) = _gradients_of(_slope(transposed, u, y.dtype), [weights])
    return array_of(along)


def hessian(forward: Forward, wrt: tuple[str, ...]) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
    """The gradient of a y of one element, and the Hessian blocks ∂²y/∂a∂b of shape `a.shape + b.shape`.

    Args:
        forward: The evaluated Program.
        wrt: The variables; the blocks are by two of them, in this order.

    Raises:
        InputError: Torch cannot differentiate an operation twice.
    """
    leaves = [forward.leaves[name] for name in wrt]
    first = _gradient(forward, leaves)
    blocks: dict[str, dict[str, Array]] = {}
    for name, slope in zip(wrt, first, strict=True):
        rows = [np.zeros((slope.numel(), leaf.numel()), dtype=array_of(leaf).dtype) for leaf in leaves]
        row = torch.zeros(slope.numel(), dtype=slope.dtype)
        for i in range(slope.numel() if slope.requires_grad else 0):
            row[i] = 1
            for block, second in zip(rows, gradients(slope, leaves, row.view(slope.shape)), strict=True):
                block[i] = array_of(second).ravel()
            row[i] = 0
        shapes = [(*slope.shape, *leaf.shape) for leaf in leaves]
        blocks[name] = {b: block.reshape(s) for b, block, s in zip(wrt, rows, shapes, strict=True)}
    return {name: array_of(slope) for name, slope in zip(wrt, first, strict=True)}, blocks


def hvp(
    forward: Forward, u: Mapping[str, Array], wrt: tuple[str, ...]
) -> tuple[dict[str, Array], Array, dict[str, Array]]:
    """The gradient of a y of one element, its slope u·∇f along the direction u, and Hu: the slope's gradient.

    Args:
        forward: The evaluated Program.
        u: The direction of each variable that moves, of its shape; the names are among `wrt`.
        wrt: The variables; gradient and Hu have their shapes, the slope has none.

    Raises:
        InputError: Torch cannot differentiate an operation twice.
    """
    leaves = [forward.leaves[name] for name in wrt]
    first = dict(zip(wrt, _gradient(forward, leaves), strict=True))
    slope = _slope([first[name] for name in u], u, forward.output.dtype)
    second = _gradients_of(slope, leaves)
    product = {name: array_of(tensor) for name, tensor in zip(wrt, second, strict=True)}
    return {name: array_of(tensor) for name, tensor in first.items()}, array_of(slope), product


def _gradient(forward: Forward, leaves: list[Tensor]) -> list[Tensor]:
    y = forward.output
    return gradients(y, leaves, torch.ones_like(y), differentiable=True)


def _slope(first: Sequence[Tensor], u: Mapping[str, Array], kind: Any) -> Tensor:
    """The sum of all elements, each weighted by the direction."""
    total = torch.zeros((), dtype=kind)
    for gradient, direction in zip(first, u.values(), strict=True):
        total = total + (gradient * tensor_of(direction, kind)).sum()
    return total


def _gradients_of(y: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    return gradients(y, leaves, torch.ones_like(y))
