"""A Program run in torch with nothing thrown away: the value of every line, and what flows back to it.

The adjoint of a line is ∂(v·y)/∂line, as autograd has it.  It is the sum of the contributions of the operations that
use the line; torch keeps none of them, so the contribution of one operation is asked for alone, on copies of its
operands.  Knows what torch did, and not whether it is right.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.autodiff._torch import torch
from gradcli.autodiff.run import (
    apply,
    array_of,
    backward_error,
    calls_in,
    evaluate,
    leaves_of,
    output_of,
    prepared,
    tensor_of,
)
from gradcli.language.program.library_calls import TorchCalls, is_tensor
from gradcli.language.program.wengert import Atom, Call, Line, Program

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Trace:
    """What torch computed on the way to y and back.

    Attributes:
        program: The lines that torch ran.
        dtype: `float64` or `float32`.
        values: Of every variable and line; conditions are booleans.
        adjoints: ∂(v·y)/∂line, of the shape of the line, for what v·y depends on.
    """

    program: Program
    dtype: str
    values: Mapping[Atom, Array]
    adjoints: Mapping[Atom, Array]

    def contributions(
        self, line: Line, adjoint: Array | None = None, values: Mapping[Atom, Array] | None = None
    ) -> dict[Atom, Array]:
        """What one line adds to the adjoint of each of its operands: the vector-Jacobian product of its operation.

        Args:
            line: A line of the Program.
            adjoint: In place of the adjoint of the line, of its shape.
            values: In place of the values of some operands.

        Returns:
            An array of the operand's shape for every operand that the line has a derivative by.

        Raises:
            InputError: What torch refuses.
        """
        adjoint = self.adjoints.get(line.symbol) if adjoint is None else adjoint
        if adjoint is None:
            return {}
        held = {a: (values or {}).get(a, self.values[a]) for a in line.call.operands if a in self.values}
        leaves, result = self._alone(line, held)
        return _back(result, leaves, adjoint)

    def slopes(self, line: Line) -> dict[Atom, Array]:
        """The local derivative of an elementwise line by each of its operands, of the line's shape.

        An operand that broadcasts is stretched first, so that every element of the line has a slope of its own.
        """
        shape = self.values[line.symbol].shape
        held = {a: np.array(np.broadcast_to(self.values[a], shape)) for a in line.call.operands if a in self.values}
        leaves, result = self._alone(line, held)
        return _back(result, leaves, np.ones(shape, dtype=self.dtype))

    def jacobians(self, line: Line) -> dict[Atom, Array]:
        """The local Jacobian of a line by each of its operands, of shape line.shape + operand.shape.

        A vector-Jacobian product a row: for lines of few elements.
        """
        held = {a: self.values[a] for a in line.call.operands if a in self.values}
        leaves, result = self._alone(line, held)
        shape, rows = self.values[line.symbol].shape, self.values[line.symbol].size
        found = [_back(result, leaves, one.reshape(shape)) for one in np.eye(rows, dtype=self.dtype)]
        return {
            a: np.array([row[a] for row in found]).reshape((*shape, *held[a].shape)) for a in (found[0] if rows else {})
        }

    def _alone(self, line: Line, held: Mapping[Atom, Array]) -> tuple[dict[Atom, Any], Any]:
        """One operation on copies of its operands: those that it has a derivative by, and the result."""
        copies = {a: torch.tensor(array) for a, array in held.items()}
        leaves = {a: copy.requires_grad_() for a, copy in copies.items() if copy.is_floating_point()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of losses between shapes that broadcast
            try:
                return leaves, apply(line.call, copies, calls_in(self.dtype))
            except RuntimeError as error:
                raise backward_error(error) from None


def trace(program: Program, inputs: Mapping[str, Array], wrt: tuple[str, ...], dtype: str, v: Array) -> Trace:
    """Run a Program in torch, forward and back, and keep all of it.

    Args:
        program: What to run.
        inputs: An array per variable.
        wrt: The variables to differentiate by.
        dtype: `float64` or `float32`, of every tensor.
        v: The gradient vector, of y's shape.

    Raises:
        InputError: What torch refuses.

    >>> from gradcli.language.parsing import parse
    >>> found = trace(parse("sin(x)**2"), {"x": np.array(0.0)}, ("x",), "float64", np.array(1.0))
    >>> [found.values[line.symbol].item() for line in found.program.lines]
    [0.0, 0.0]
    """
    ran = prepared(program)
    leaves = leaves_of(ran, inputs, wrt, dtype)
    values = evaluate(ran, leaves, dtype, by=unaliased)
    y = output_of(ran, values, dtype)
    known = {atom: tensor for atom, tensor in values.items() if tensor.requires_grad}
    return Trace(ran, dtype, {atom: array_of(tensor) for atom, tensor in values.items()}, _back(y, known, v))


def unaliased(call: Call, values: Mapping[Atom, Any], calls: TorchCalls) -> Any:
    """One operation, and a new tensor also where torch gives back its operand: each line has an adjoint."""
    found = apply(call, values, calls)
    is_old = is_tensor(found) and any(found is values.get(a) for a in call.operands)
    return found.view_as(found) if is_old else found


def _back(y: Any, tensors: Mapping[Atom, Any], v: Array) -> dict[Atom, Array]:
    """The vector-Jacobian product by some tensors; by none that y does not depend on."""
    if not tensors or not y.requires_grad:
        return {}
    try:
        found = torch.autograd.grad(
            y, list(tensors.values()), tensor_of(v, y.dtype), retain_graph=True, allow_unused=True
        )
    except RuntimeError as error:
        raise backward_error(error) from None
    return {atom: array_of(g) for atom, g in zip(tensors, found, strict=True) if g is not None}
