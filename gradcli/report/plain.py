"""The command's own quantity alone, for shell arithmetic: numbers separated by spaces, one row a line."""

from __future__ import annotations

import numpy as np

from gradcli.report.numbers import digits
from gradcli.results import VJP, Answer, Array, Gradient, Jacobian


def render(answer: Answer) -> str:
    """VᵀJ or the gradient, variable after variable in the order of `wrt`; J as one matrix; or the value y."""
    match answer:
        case VJP():
            rows = [row for name in answer.wrt for row in _rows(answer.vjp[name])]
        case Gradient():
            rows = [row for name in answer.wrt for row in _rows(answer.grad[name])]
        case Jacobian():
            blocks = [_matrix((answer.jacobian or {})[name], answer.value.size) for name in answer.wrt]
            rows = list(np.hstack(blocks)) if blocks else []
        case _:
            rows = _rows(answer.value)
    return "".join(" ".join(map(digits, row)) + "\n" for row in rows)


def _rows(array: Array) -> list[Array]:
    columns = array.shape[-1] if array.ndim else 1
    return list(_matrix(array, array.size // columns)) if columns else []


def _matrix(array: Array, rows: int) -> Array:
    return array.reshape(rows, array.size // rows if rows else 0)
