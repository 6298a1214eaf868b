"""Forward mode: Ju by dual numbers, with which a function runs once for each direction u.

It is what `torch.func.jvp` computes, by the `jvp` of a custom function too, and goes through no backward.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType

import numpy as np

from gradcli.arrays import Array
from gradcli.autodiff import torch_internals
from gradcli.autodiff._torch import torch
from gradcli.autodiff.devices import CPU
from gradcli.autodiff.run import (
    Tensor,
    derivative_of,
    differentiated_by,
    dtype_name,
    evaluate,
    leaves_of,
    output_of,
    tensor_of,
)
from gradcli.language.program.passes import for_torch
from gradcli.language.program.wengert import Program

Direction = Mapping[str, Array]
"""The direction of each variable that moves, of its shape."""

NOTHING_MOVES: Direction = MappingProxyType({})
"""The direction in which no variable moves."""


@contextmanager
def dual_numbers() -> Iterator[None]:
    """Make a level of dual numbers: a block in which tensors move, and after which none does."""
    with ExitStack() as level:
        with warnings.catch_warnings(action="ignore"):  # the first dual number calls what torch has deprecated itself
            level.enter_context(torch.autograd.forward_ad.dual_level())
            dual(torch.zeros(()), np.zeros(()))
        yield


def jvp_of_program(program: Program, inputs: Mapping[str, Array], u: Direction, dtype: str, device: str = CPU) -> Array:
    """Compute Ju of a Program, of y's shape.

    Args:
        program: The Program.
        inputs: An array per variable.
        u: The direction.
        dtype: `float64` or `float32`.
        device: Of every tensor.

    Raises:
        InputError: An operation has no forward mode.

    >>> from gradcli.language.parsing import parse
    >>> jvp_of_program(parse("x**2"), {"x": np.array([1.0, 3.0])}, {"x": np.array([1.0, 10.0])}, "float64")
    array([ 2., 60.])
    """
    ran = for_torch(program)
    leaves = leaves_of(ran, inputs, tuple(differentiated_by(ran)), dtype, device)
    with dual_numbers():
        duals = {name: dual(leaf, u[name]) if name in u else leaf for name, leaf in leaves.items()}
        return tangent_of(output_of(ran, evaluate(ran, duals, dtype, device=device), dtype, device))


def dual(tensor: Tensor, tangent: Array) -> Tensor:
    """Make a tensor that moves: a view with a derivative, within a level of dual numbers."""
    found: Tensor = torch.autograd.forward_ad.make_dual(tensor, tensor_of(tangent, tensor.dtype, tensor.device))  # type: ignore[no-untyped-call]
    return found


def tangent_of(y: Tensor) -> Array:
    """Return the derivative of a result, 0 where it does not move."""
    tangent = torch.autograd.forward_ad.unpack_dual(y).tangent  # type: ignore[no-untyped-call]
    return np.zeros(tuple(y.shape), dtype_name(y.dtype)) if tangent is None else derivative_of(tangent)


def move_in_place(tensors: Mapping[str, Tensor], u: Direction) -> None:
    """Let tensors move that a function finds elsewhere, until the level of dual numbers ends; their numbers stay."""
    for name, tensor in tensors.items():
        if name in u:
            with torch.no_grad(), torch_internals.keeping_version(tensor):
                tensor.copy_(dual(tensor.detach().clone(), u[name]))


def jacobian_of(product: Callable[[Direction], Array], inputs: Mapping[str, Array], y: Array) -> dict[str, Array]:
    """Compute J column by column, each block of shape `y.shape + x.shape`.

    Every other element moves backward, as what is no linear function of the tangent may be one of positive ones.

    Args:
        product: Computes Ju.
        inputs: An array per variable to differentiate by.
        y: The output.
    """
    blocks = {name: np.zeros((y.size, array.size), y.dtype) for name, array in inputs.items()}
    for name, array in inputs.items():
        for j in range(array.size):
            unit = np.zeros(array.size)
            unit[j] = sign = 1 if j % 2 else -1
            blocks[name][:, j] = sign * product({name: unit.reshape(array.shape)}).ravel() + 0.0
    return {name: block.reshape(y.shape + inputs[name].shape) for name, block in blocks.items()}
