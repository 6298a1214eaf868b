"""A block of points to the value and the Jacobian at each: the engine of a stream.

Where every operation is elementwise, the Program runs on whole columns, and one backward pass gives a row of all the
Jacobians; else it runs under `torch.vmap`.  A block is small enough for its intermediates to stay in the cache, which
makes many blocks faster than one array.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.autodiff.batched import Batch, alone, fill, mapped
from gradcli.autodiff.jacobians import gradients, value
from gradcli.autodiff.run import Tensor, array_of, evaluate, output_of, prepared, tensor_of
from gradcli.errors import InputError
from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Program, Shape

Array = npt.NDArray[Any]

_FEW = 32
"""Points that are run one by one where all at once fail, to find which of them torch refuses."""


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
    """

    program: Program
    fixed: Mapping[str, Array]
    rows: Mapping[str, Shape]
    wrt: tuple[str, ...]
    dtype: str
    shape: Shape
    elements: int

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
        if count and self._is_elementwise:
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
        """The Jacobians, from one backward pass for each element of y: that of its sum over the points."""
        wrt = [leaves[name] for name in self.wrt]
        if not self.shape:
            found = gradients(y, wrt, torch.ones_like(y), keeps_graph=False)
            return [
                array_of(gradient).reshape(count, *self._shapes[name])
                for name, gradient in zip(self.wrt, found, strict=True)
            ]
        size = math.prod(self.shape)
        blocks = [np.empty((count, size, *self._shapes[name]), self.dtype) for name in self.wrt]
        v = torch.zeros((count, size), dtype=y.dtype)
        for element in range(size):
            v[:, element] = 1
            for block, gradient in zip(blocks, gradients(y, wrt, v.view(y.shape)), strict=True):
                block[:, element] = array_of(gradient).reshape(block[:, element].shape)
            v[:, element] = 0
        return [
            block.reshape(count, *self.shape, *self._shapes[name]) for name, block in zip(self.wrt, blocks, strict=True)
        ]

    def _mapped(self, columns: Mapping[str, Array], count: int) -> tuple[list[Array], dict[int, InputError]]:
        """All points under `torch.vmap`; those that torch refuses on their own."""
        inputs = {name: columns[name] if name in columns else self.fixed[name] for name in self._shapes}
        whole = Batch(self._prepared, inputs, tuple(self.rows), self.wrt, self.dtype, count, self.shape, self.elements)
        y = np.full((count, *self.shape), np.nan, self.dtype)
        blocks = {name: np.full((*y.shape, *self._shapes[name]), np.nan, self.dtype) for name in self.wrt}
        refused: dict[int, InputError] = {}
        waiting = [(0, count)] if count else []
        while waiting:
            first, last = waiting.pop()
            rows = slice(first, last)
            part = whole.part(first, last)
            try:
                forward = mapped(part, self.wrt) if last - first > 1 else alone(part, 0, self.wrt)
                y[rows] = value(forward)
                fill({name: block[rows] for name, block in blocks.items()}, forward, part)
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
