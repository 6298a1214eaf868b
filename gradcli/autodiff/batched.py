"""One Program at many points: the leading axis of some variables counts points, as in `torch.vmap`.

The points do not depend on each other, so the gradient of a sum over the points is the gradient at every point: one
backward pass for a row of the Jacobian, however many points there are.  A variable that is the same at all points gets
a leaf with one copy a point, so that its derivative is that of each point and no sum over them.  An operation that vmap
cannot do is run point after point, which gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import ROWS_ALWAYS, gradients, value
from gradcli.autodiff.run import Forward, Tensor, apply, array_of, evaluate, output_of, prepared, tensor_of
from gradcli.errors import InputError
from gradcli.language.ops import Kind
from gradcli.language.program.library_calls import TorchCalls, is_tensor
from gradcli.language.program.wengert import Atom, Call, Program, Shape

Array = npt.NDArray[Any]

MOST_ELEMENTS = 2**24
"""Elements of all lines that are held at a time, 128 MiB in float64; more points are taken in several parts."""

MOST_ALONE = 100_000
"""Points that are run one after the other: some seconds for each operation."""


@dataclass(frozen=True)
class AtPoints:
    """What torch gives at each point, the points on the first axis.

    Attributes:
        value: y, of shape (N, *y.shape).
        vjp: vᵀJ by variable, of shape (N, *x.shape), if v was given.
        jacobian: J by variable, of shape (N, *y.shape, *x.shape), if it was asked for.
    """

    value: Array
    vjp: Mapping[str, Array] | None = None
    jacobian: Mapping[str, Array] | None = None


@dataclass(frozen=True)
class Batch:
    """A Program and its variables, of which some are given at many points.

    Attributes:
        program: For one point.
        inputs: An array per variable; of those in `mapped`, one with the points on its first axis.
        mapped: The variables that differ between points.
        wrt: The variables to differentiate by.
        dtype: `float64` or `float32`, of every tensor.
        points: How many there are.
        shape: Of y at one point.
        elements: Of all lines at one point.
    """

    program: Program
    inputs: Mapping[str, Array]
    mapped: tuple[str, ...]
    wrt: tuple[str, ...]
    dtype: str
    points: int
    shape: Shape
    elements: int

    def part(self, first: int, last: int) -> Batch:
        """The batch of the points from `first` up to `last`, without the last."""
        inputs = {name: array[first:last] if name in self.mapped else array for name, array in self.inputs.items()}
        return Batch(self.program, inputs, self.mapped, self.wrt, self.dtype, last - first, self.shape, self.elements)

    def inputs_at(self, point: int) -> dict[str, Array]:
        """The values of the variables at one point."""
        return {name: array[point] if name in self.mapped else array for name, array in self.inputs.items()}

    def size_of(self, name: str) -> int:
        """The number of elements of a variable at one point."""
        array = self.inputs[name]
        return int(np.prod(array.shape[1:] if name in self.mapped else array.shape, dtype=np.int64))

    def shape_of(self, name: str) -> Shape:
        """The shape of a variable at one point."""
        return self.inputs[name].shape[name in self.mapped :]


def at_points(batch: Batch, *, v: Array | None = None, jacobian: bool = False) -> AtPoints:
    """The value at every point, and what is asked for of its derivatives.

    Args:
        batch: The Program, its values and the number of points.
        v: The gradient vector of each point, of shape (N, *y.shape) or y's shape.
        jacobian: Whether to compute the Jacobian of each point.

    Raises:
        InputError: What torch refuses, with the point that it refuses.

    >>> from gradcli.language.parsing import parse
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> found = at_points(Batch(parse("prod(x)"), {"x": x}, ("x",), ("x",), "float64", 2, (), 3), jacobian=True)
    >>> found.value, found.jacobian["x"].tolist()
    (array([ 2., 12.]), [[2.0, 1.0], [4.0, 3.0]])
    """
    y = np.empty((batch.points, *batch.shape), batch.dtype)
    weights = None if v is None else np.broadcast_to(v, y.shape)
    product = {name: np.empty((batch.points, *batch.shape_of(name)), batch.dtype) for name in batch.wrt}
    blocks = {name: np.empty((*y.shape, *batch.shape_of(name)), batch.dtype) for name in batch.wrt if jacobian}
    size = max(1, MOST_ELEMENTS // max(1, batch.elements))
    for first in range(0, batch.points, size):
        last = min(first + size, batch.points)
        for start, forward in _forwards(batch, first, last, batch.wrt if v is not None or jacobian else ()):
            rows = slice(start, start + len(forward.output))
            y[rows] = value(forward)
            if weights is not None:
                for name, gradient in _product(forward, weights[rows], batch.wrt).items():
                    product[name][rows] = gradient
            if jacobian:
                fill({name: block[rows] for name, block in blocks.items()}, forward, batch)
    return AtPoints(y, None if v is None else product, blocks if jacobian else None)


def _forwards(batch: Batch, first: int, last: int, wrt: tuple[str, ...]) -> Iterator[tuple[int, Forward]]:
    """The Program run at some of the points at once, or where torch cannot do that, at one after the other."""
    try:
        yield first, mapped(batch.part(first, last), wrt)
        return
    except InputError:
        # Few points are run one by one: some operations have no rule under vmap, and a loop over many takes too long.
        if batch.points > MOST_ALONE:
            raise
    for point in range(first, last):
        try:
            yield point, alone(batch, point, wrt)
        except InputError as error:
            error.hint = "; ".join(filter(None, [error.hint, f"that is at point {point:,}"]))
            raise


def mapped(batch: Batch, wrt: tuple[str, ...]) -> Forward:
    """One forward pass of all points; one of a single point, where nothing that is named differs between points."""
    program = prepared(batch.program)
    leaves = {name: _leaf(batch, name, wrt) for name in program.names}
    dims = tuple(0 if name in batch.mapped or name in wrt else None for name in leaves)

    def one(*tensors: Tensor) -> Tensor:
        given = dict(zip(leaves, tensors, strict=True))
        return output_of(program, evaluate(program, given, batch.dtype, by=_at_each), batch.dtype)

    if all(dim is None for dim in dims):
        return Forward(leaves, one(*leaves.values()).expand(batch.points, *batch.shape))
    return Forward(leaves, torch.vmap(one, in_dims=dims)(*leaves.values()))


def _at_each(call: Call, values: Mapping[Atom, Any], calls: TorchCalls) -> Any:
    """One operation, with the derivative that it has at one point."""
    is_over_all = call.op.kind is Kind.DEFINED and call.op.is_extreme and call.statics == (None, False)
    if is_over_all and is_tensor(x := values.get(call.operands[0], 0)):
        return _shared(call, x)
    return apply(call, values, calls)


def _shared(call: Call, x: Tensor) -> Tensor:
    """The largest or smallest of all elements, of which each of those that tie gets its share of the derivative.

    So do max and min at one point; vmap takes them along a dimension, where one gets all.  Elsewhere the derivative is
    0, even of a gradient that is NaN or infinite, which a product with the 0 and 1 of amax would spread.
    """
    y = getattr(x.detach(), call.op.name)()
    ties = (x == y) | x.isnan()  # y is NaN if one is
    shares = (torch.where(ties, x, 0) / ties.sum()).sum()
    # The sum of the shares may be off in the last digit, and of -0 is 0: y with the derivative of the shares.
    return torch.where(y.isinf(), shares, y - (shares.detach() - shares))


def _leaf(batch: Batch, name: str, wrt: tuple[str, ...]) -> Tensor:
    """A variable, with the point axis if it is one of the points or its derivative is asked for."""
    tensor = tensor_of(batch.inputs[name], getattr(torch, batch.dtype))
    if name in wrt and name not in batch.mapped:
        tensor = tensor.expand(batch.points, *tensor.shape)
    return tensor.requires_grad_(name in wrt)


def alone(batch: Batch, point: int, wrt: tuple[str, ...]) -> Forward:
    """One point as a batch of one: each leaf and y with a first axis of size 1."""
    leaves = {
        name: tensor_of(array[None], getattr(torch, batch.dtype)).requires_grad_(name in wrt)
        for name, array in batch.inputs_at(point).items()
    }
    program = prepared(batch.program)
    values = evaluate(program, {name: leaf[0] for name, leaf in leaves.items()}, batch.dtype)
    return Forward(leaves, output_of(program, values, batch.dtype)[None])


def _product(forward: Forward, v: Array, wrt: tuple[str, ...]) -> dict[str, Array]:
    """vᵀJ of each point, in one backward pass."""
    y = forward.output
    found = gradients(y, [forward.leaves[name] for name in wrt], tensor_of(v, y.dtype))
    return {name: array_of(gradient) for name, gradient in zip(wrt, found, strict=True)}


def fill(blocks: Mapping[str, Array], forward: Forward, batch: Batch) -> None:
    """The Jacobian of each point, by the rows or where they are many fewer, by the columns."""
    rows = int(np.prod(batch.shape, dtype=np.int64))
    columns = sum(batch.size_of(name) for name in batch.wrt)
    if rows > ROWS_ALWAYS and columns < rows and forward.output.requires_grad:
        for name, block in blocks.items():
            _by_columns(block, forward, name)
    else:
        _by_rows(blocks, forward, rows)


def _by_rows(blocks: Mapping[str, Array], forward: Forward, rows: int) -> None:
    """One backward pass for each element of y, at all points at once: that of its sum over the points."""
    y = forward.output
    points = len(y)
    leaves = [forward.leaves[name] for name in blocks]
    flat = [block.reshape(points, rows, -1) if block.size else block for block in blocks.values()]
    v = torch.zeros((points, rows), dtype=y.dtype)
    for row in range(rows):
        v[:, row] = 1
        for block, gradient in zip(flat, gradients(y, leaves, v.view(y.shape)), strict=True):
            if block.size:
                block[:, row] = array_of(gradient.reshape(points, -1))
        v[:, row] = 0


def _by_columns(block: Array, forward: Forward, name: str) -> None:
    """One pass back through the backward pass for each element of x, at all points at once."""
    y, leaf = forward.output, forward.leaves[name]
    points = len(y)
    block[...] = 0
    u = torch.zeros_like(y, requires_grad=True)
    (transposed,) = torch.autograd.grad(y, leaf, u, create_graph=True, allow_unused=True)
    if transposed is None or not transposed.requires_grad or not block.size:
        return
    columns = leaf.numel() // points
    flat = block.reshape(points, -1, columns)
    v = torch.zeros((points, columns), dtype=y.dtype)
    for column in range(columns):
        v[:, column] = 1
        (found,) = gradients(transposed, [u], v.view(leaf.shape))
        flat[:, :, column] = array_of(found.reshape(points, -1))
        v[:, column] = 0
