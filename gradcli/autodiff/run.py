"""A Program to torch operations: the function that the user wrote, in the order they wrote it.

Knows how each operation is spelled in torch, and nothing of its derivative: autograd has its own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.autodiff._torch import torch
from gradcli.language.expansion import expand
from gradcli.language.ops import Kind
from gradcli.language.program import Atom, Call, Program, number
from gradcli.language.shapes import as_key, permutation

Tensor = Any
"""A `torch.Tensor`; torch ships no types that a strict checker accepts without importing it."""

_OPERATORS: Mapping[str, Callable[..., Tensor]] = {
    "neg": operator.neg,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "matmul": operator.matmul,
}
"""Operations that Python spells with an operator; they take plain numbers beside a tensor."""

_TAKES_NUMBERS = frozenset(_OPERATORS)

_EXACT_INTEGERS = 2**53
"""Integers beyond this are passed as floats: torch takes no more than 64 bits."""


@dataclass(frozen=True, slots=True)
class Forward:
    """A Program that has run: the leaves of the variables and the output with its graph."""

    leaves: dict[str, Tensor]
    output: Tensor


def run(program: Program, inputs: Mapping[str, npt.NDArray[Any]], wrt: tuple[str, ...], dtype: str) -> Forward:
    """Evaluate the Program in torch, recording the graph for the variables in `wrt`.

    Args:
        program: What to run.
        inputs: An array per variable.
        wrt: The variables that require a gradient.
        dtype: `float64` or `float32`, of every tensor.
    """
    kind = getattr(torch, dtype)
    leaves = {
        name: torch.tensor(np.asarray(inputs[name]), dtype=kind).requires_grad_(name in wrt) for name in program.names
    }
    program = expand(program, keep=lambda op: op.kind is not Kind.ELEMENTWISE or bool(op.torch))
    values: dict[Atom, Tensor] = {symbol: leaves[str(symbol)] for symbol in program.variables}
    for line in program.lines:
        values[line.symbol] = _apply(line.call, values, kind)
    output = values.get(program.output)
    return Forward(leaves, torch.tensor(_plain(program.output), dtype=kind) if output is None else output)


def _apply(call: Call, values: Mapping[Atom, Tensor], kind: Any) -> Tensor:
    op, statics = call.op, call.statics
    operands: list[Any] = [values[a] if a in values else _plain(a) for a in call.operands]
    if op.name not in _TAKES_NUMBERS or not any(a in values for a in call.operands):
        operands = [a if isinstance(a, torch.Tensor) else torch.tensor(a, dtype=kind) for a in operands]
    match op.name:
        case name if name in _OPERATORS:
            return _OPERATORS[name](*operands)
        case "sum" | "mean":
            dim, keepdim = statics
            axes = tuple(range(operands[0].dim())) if dim is None else dim
            return _function(op.torch)(operands[0], dim=axes, keepdim=keepdim) if axes != () else operands[0] * 1
        case "stack":
            shape = max((a.shape for a in operands), key=len)
            return torch.stack([a.expand(shape) for a in operands])
        case "index":
            return operands[0][as_key(statics[0])]
        case "transpose":
            return operands[0].permute(permutation(tuple(operands[0].shape), statics))
        case "reshape":
            return operands[0].reshape(statics[0])
        case "clamp" if not any(a in values for a in call.operands[1:]):
            return torch.clamp(operands[0], *(_plain(a) for a in call.operands[1:]))
        case "polygamma":
            return _function(op.torch)(statics[0], operands[0])
        case _:
            return _function(op.torch)(*operands)


def _function(path: str) -> Callable[..., Tensor]:
    """The function at a dotted path below `torch`."""
    return reduce(getattr, path.split("."), torch)  # type: ignore[return-value]


def _plain(constant: Atom) -> int | float:
    """A Python number, an integer where it is exactly one, as the user would pass to torch."""
    if isinstance(constant, sympy.Integer) and abs(int(constant)) <= _EXACT_INTEGERS:
        return int(constant)
    return number(constant)
