"""The command's own quantity alone: bare numbers for shell arithmetic, separated by spaces, one row a line."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcli import results
from gradcli.report.appearance import Appearance
from gradcli.report.numbers import printable, spaced

PLAIN = Appearance("plain")
"""Default appearance."""


def pieces(answer: Any, shown: Appearance = PLAIN) -> Iterator[str]:
    """Write vᵀJ, Hu or the gradient, variable by variable in the order of `wrt`; J or the Hessian as a matrix; Ju; y.

    Of several products, those of each v one after the other; of passes that accumulate, `.grad` after each.  Of
    functions, a name a line; of a brief list, a line a group.
    """
    answer = printable(answer)
    match answer:
        case results.Functions():
            yield from (f"{line}\n" for line in _functions(answer))
        case results.Products():
            yield from itertools.chain.from_iterable(pieces(one) for one in answer.answers)
        case _:
            for row in _numbers(answer):
                yield from spaced(row)
                yield "\n"


def _numbers(answer: results.Answer) -> Iterable[results.Array]:
    """List the rows of the command's own quantity; those of matrices side by side."""
    parts = answer.asked
    match answer:
        case results.Jacobian() | results.Hessian():
            groups = [list(group) for _, group in itertools.groupby(parts, key=lambda one: one.by)]
            return itertools.chain.from_iterable(
                _abreast([_matrix(one.numbers, math.prod(rows_of(answer, one))) for one in group]) for group in groups
            )
        case results.VJP(accumulated=held) if held is not None:
            return (row for name in answer.wrt for row in _rows(held[name]))
    return (row for one in parts for row in _rows(one.numbers))


def _abreast(blocks: Sequence[results.Array]) -> Iterator[results.Array]:
    """Join matrices side by side, a row at a time: together they may fill the memory."""
    return map(np.concatenate, zip(*blocks, strict=True))


def _functions(answer: results.Functions) -> Iterator[str]:
    for part in answer.parts:
        if part.is_brief:
            yield from (f"{group}: {' '.join(names)}" for group, names in part.groups)
        else:
            yield from (entry.name for entry in part.entries)


def _rows(array: results.Array) -> list[results.Array]:
    columns = array.shape[-1] if array.ndim else 1
    return list(_matrix(array, array.size // columns)) if columns else []


def _matrix(array: results.Array, rows: int) -> results.Array:
    return array.reshape(rows, array.size // rows if rows else 0)


def rows_of(answer: results.Answer, quantity: results.Quantity) -> tuple[int, ...]:
    """Give the shape of the rows of a matrix: that of y, or of a variable."""
    return answer.value.shape if quantity.kind == "jacobian" else answer.inputs[quantity.axes[0]].shape
