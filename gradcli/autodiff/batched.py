"""One Program at many points: the leading axis of some variables counts points, as in `torch.vmap`.

The points do not depend on each other, so the gradient of a sum over the points is the gradient at every point: one
backward pass for a row of the Jacobian, however many points there are.  A variable that is the same at all points gets
a leaf with one copy a point, so that its derivative is that of each point and no sum over them.  An operation that vmap
cannot do is run point after point, which gives the same numbers.

A stream of points goes through an `Engine`, block by block on all cores.  Where every operation is elementwise, the
Program runs on whole columns; else it runs under `torch.vmap`.  A block is small enough for its intermediates to stay
in the cache, which makes many blocks faster than one array.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Barrier
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.autodiff.jacobians import by_rows, fill, gradients, value
from gradcli.autodiff.run import Forward, Tensor, apply, derivative_of, evaluate, output_of, prepared, tensor_of
from gradcli.errors import InputError
from gradcli.language.ops import Kind
from gradcli.language.program.library_calls import TorchCalls, is_tensor
from gradcli.language.program.wengert import Atom, Call, Program, Shape

Array = npt.NDArray[Any]

MOST_ELEMENTS = 2**24
"""Elements of all lines that are held at a time, 128 MiB in float64; more points are taken in several parts."""

MOST_ALONE = 100_000
"""Points that are run one after the other: some seconds for each operation."""

_FEW = 32
"""Points that are run one by one where all at once fail, to find which of them torch refuses."""

MOST_WORKERS = 8
"""Threads at most: what reads and writes the rows is one thread, and each block in flight takes memory."""


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
        live: What is run in place of the Program, at one point after the other: values and variables to a Forward.
    """

    program: Program
    inputs: Mapping[str, Array]
    mapped: tuple[str, ...]
    wrt: tuple[str, ...]
    dtype: str
    points: int
    shape: Shape
    elements: int
    live: Callable[[Mapping[str, Array], Sequence[str]], Forward] | None = None

    def part(self, first: int, last: int) -> Batch:
        """The batch of the points from `first` up to `last`, without the last."""
        inputs = {name: array[first:last] if name in self.mapped else array for name, array in self.inputs.items()}
        return replace(self, inputs=inputs, points=last - first)

    def inputs_at(self, point: int) -> dict[str, Array]:
        """The values of the variables at one point."""
        return {name: array[point] if name in self.mapped else array for name, array in self.inputs.items()}

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
                _fill(blocks, rows, forward)
    return AtPoints(y, None if v is None else product, blocks if jacobian else None)


def _forwards(batch: Batch, first: int, last: int, wrt: tuple[str, ...]) -> Iterator[tuple[int, Forward]]:
    """The Program run at some of the points at once, or where torch cannot do that, at one after the other."""
    try:
        if batch.live is None:
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
            error.add(f"that is at point {point:,}")
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
    """One point as a batch of one: y with a first axis of size 1, and each leaf of a Program."""
    if batch.live is not None:
        forward = batch.live(batch.inputs_at(point), wrt)
        return Forward(forward.leaves, forward.output[None])
    leaves = {
        name: tensor_of(array[None], getattr(torch, batch.dtype)).requires_grad_(name in wrt)
        for name, array in batch.inputs_at(point).items()
    }
    program = prepared(batch.program)
    values = evaluate(program, {name: leaf[0] for name, leaf in leaves.items()}, batch.dtype)
    return Forward(leaves, output_of(program, values, batch.dtype)[None])


def _product(forward: Forward, v: Array, wrt: tuple[str, ...]) -> dict[str, Array]:
    y = forward.output
    found = gradients(y, [forward.leaves[name] for name in wrt], tensor_of(v, y.dtype))
    return {name: derivative_of(gradient) for name, gradient in zip(wrt, found, strict=True)}


def _fill(blocks: Mapping[str, Array], rows: slice, forward: Forward) -> None:
    """Write the Jacobians of some points into those of all."""
    leaves = [forward.leaves[name] for name in blocks]
    fill([block[rows] for block in blocks.values()], forward.output, leaves, len(forward.output))


@dataclass(frozen=True)
class Engine:
    """A Program that is run block by block.

    Attributes:
        program: For one point.
        fixed: The variables that are the same at all points.
        rows: The shapes, at one point, of those that differ.
        wrt: The variables to differentiate by.
        dtype: `float64` or `float32`, of every tensor.
        shape: Of y at one point.
        elements: Of all lines at one point.
        live: What is run in place of the Program, as of a `Batch`.
    """

    program: Program
    fixed: Mapping[str, Array]
    rows: Mapping[str, Shape]
    wrt: tuple[str, ...]
    dtype: str
    shape: Shape
    elements: int
    live: Callable[[Mapping[str, Array], Sequence[str]], Forward] | None = None

    def at(self, columns: Mapping[str, Array], count: int) -> tuple[list[Array], dict[int, InputError]]:
        """y of shape (N, *y.shape), the Jacobian by each variable of shape (N, *y.shape, *x.shape), and refused rows.

        Args:
            columns: An array of shape (N, *x.shape) for each variable that differs between points.
            count: N.

        Returns:
            The arrays, NaN at the points that torch refuses; and why it refuses them.

        >>> from gradcli.language.parsing import parse
        >>> engine = Engine(parse("a*x**2"), {"a": np.array(3.0)}, {"x": ()}, ("x",), "float64", (), 3)
        >>> [array.tolist() for array in engine.at({"x": np.array([1.0, 2.0])}, 2)[0]]
        [[3.0, 12.0], [6.0, 12.0]]
        """
        if count and self._is_elementwise and self.live is None:
            return self._at_once(columns, count), {}
        return self._mapped(columns, count)

    @cached_property
    def _prepared(self) -> Program:
        return prepared(self.program)

    @cached_property
    def _is_elementwise(self) -> bool:
        lines = self._prepared.lines
        return bool(lines) and all(line.call.op.kind is Kind.ELEMENTWISE for line in lines)

    @cached_property
    def _shapes(self) -> dict[str, Shape]:
        fixed = {name: array.shape for name, array in self.fixed.items()}
        return {name: self.rows.get(name, fixed.get(name, ())) for name in self.program.names}

    def _at_once(self, columns: Mapping[str, Array], count: int) -> list[Array]:
        """Whole columns through elementwise operations; the axis of points comes first.

        Broadcasting counts axes from the last, so every variable gets as many as the one with most of them.
        """
        program, kind = self._prepared, getattr(torch, self.dtype)
        most = max(map(len, self._shapes.values()), default=0)
        leaves: dict[str, Tensor] = {}
        for name, shape in self._shapes.items():
            if name in columns:
                column = np.ascontiguousarray(columns[name], dtype=np.float64)
                tensor = torch.from_numpy(column).to(kind).view(count, *[1] * (most - len(shape)), *shape)
            else:
                tensor = tensor_of(self.fixed[name], kind)
                if name in self.wrt:
                    tensor = tensor.expand(count, *[1] * (most - len(shape)), *shape)
            # A leaf of its own even where the tensor shares the numbers of the column.
            leaves[name] = tensor.detach().requires_grad_(name in self.wrt)
        y = output_of(program, evaluate(program, leaves, self.dtype), self.dtype)
        # A y that no column moves has no axis of points yet.
        y = y.expand(count, *y.shape[1:]) if y.dim() > most else y.expand(count, *[1] * (most - y.dim()), *y.shape)
        return [y.detach().numpy().reshape(count, *self.shape), *self._rows_of(y, leaves, count)]

    def _rows_of(self, y: Tensor, leaves: Mapping[str, Tensor], count: int) -> list[Array]:
        """The Jacobians, row by row; of the one row of most functions without keeping the graph."""
        wrt = [leaves[name] for name in self.wrt]
        if not self.shape:
            found = gradients(y, wrt, torch.ones_like(y), keeps_graph=False)
            return [
                derivative_of(gradient).reshape(count, *self._shapes[name])
                for name, gradient in zip(self.wrt, found, strict=True)
            ]
        blocks = [np.empty((count, *self.shape, *self._shapes[name]), self.dtype) for name in self.wrt]
        by_rows(blocks, y, wrt, count)
        return blocks

    def _mapped(self, columns: Mapping[str, Array], count: int) -> tuple[list[Array], dict[int, InputError]]:
        """All points under `torch.vmap`; those that torch refuses on their own."""
        inputs = {name: columns[name] if name in columns else self.fixed[name] for name in self._shapes}
        names, size = tuple(self.rows), self.elements
        whole = Batch(self._prepared, inputs, names, self.wrt, self.dtype, count, self.shape, size, self.live)
        y = np.full((count, *self.shape), np.nan, self.dtype)
        blocks = {name: np.full((*y.shape, *self._shapes[name]), np.nan, self.dtype) for name in self.wrt}
        refused: dict[int, InputError] = {}
        waiting = [(0, count)] if count else []
        if self.live is not None:
            waiting = [(row, row + 1) for row in reversed(range(count))]
        while waiting:
            first, last = waiting.pop()
            rows = slice(first, last)
            part = whole.part(first, last)
            try:
                forward = mapped(part, self.wrt) if last - first > 1 else alone(part, 0, self.wrt)
                y[rows] = value(forward)
                _fill(blocks, rows, forward)
            except InputError as error:
                if last - first == 1:
                    refused[first] = error
                elif last - first <= _FEW:
                    # Reversed, as a stack: the rows are then run in their order.
                    waiting += [(row, row + 1) for row in reversed(range(first, last))]
                else:
                    # Bisection: a few refused rows of a large block cost a logarithm of runs, not one each.
                    middle = (first + last) // 2
                    waiting += [(middle, last), (first, middle)]
        for row in refused:
            for array in (y, *blocks.values()):
                array[row] = np.nan
        return [y, *blocks.values()], dict(sorted(refused.items()))


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(count: int) -> Iterator[Executor]:
    """An executor whose threads compute without further threads; what it has not begun is dropped at the end."""
    before = torch.get_num_threads()
    pool = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,))
    # All threads are there before one computes: torch must not be told a number of threads while another runs it.
    together = Barrier(count)
    wait([pool.submit(together.wait) for _ in range(count)])
    # Every run of a Program holds warnings back, and threads that do so at once would leave them held back.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            torch.set_num_threads(before)
