"""Jacobians and Hessians as pictures: signs and sizes on one scale, and the zeros that a formula proves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from rich.text import Text

from gradcli import results
from gradcli.notation import Notation
from gradcli.report.document import Screen
from gradcli.report.render.plain import rows_of
from gradcli.results import Array

MOST_LINES = 40
"""Most rows of a matrix on a terminal; of more, the largest number of some next to each other is shown."""

_LEVELS, _ASCII_LEVELS = "▁▂▃▄▅▆▇█", "12345678"


class BlockAxis(NamedTuple):
    """The rows or the columns of a block: the elements of y, or of a variable."""

    name: str
    shape: tuple[int, ...]


class Matrix(NamedTuple):
    """A block of a Jacobian or a Hessian.

    Attributes:
        label: Its name.
        numbers: Its numbers, of two dimensions.
        is_open: The elements that are not 0 for all values, as far as the structure of the formula says.
        rows: What its rows belong to.
        columns: What its columns belong to.
    """

    label: Notation
    numbers: Array
    is_open: Array
    rows: BlockAxis
    columns: BlockAxis


def matrices(answer: results.Jacobian | results.Hessian) -> tuple[list[list[Matrix]], float]:
    """List the blocks, row by row; those of a Jacobian are one row.  Next to them is the size of the largest number."""
    rows: dict[str | None, list[Matrix]] = {}
    for one in answer.asked:
        rows_shape = rows_of(answer, one)
        height = math.prod(rows_shape)
        numbers = np.asarray(one.numbers, float).reshape(height, one.numbers.size // height if height else 0)
        structure = one.formula.structure if one.formula is not None else ""
        is_diagonal = structure == "diagonal" and height == numbers.shape[1]
        is_open = np.eye(height) if is_diagonal else np.full(numbers.shape, float(structure != "zero"))
        axes = BlockAxis(one.axes[0], rows_shape), BlockAxis(one.axes[1], one.numbers.shape[len(rows_shape) :])
        rows.setdefault(one.by, []).append(Matrix(one.label, numbers, is_open, *axes))
    sizes = (largest(one.numbers) for row in rows.values() for one in row)
    return list(rows.values()), max(sizes, default=0.0)


def largest(numbers: Array) -> float:
    """Find the largest size of a finite number; 0 where there is none."""
    return float(abs(numbers[np.isfinite(numbers)]).max(initial=0.0))


def heat_map(answer: results.Jacobian | results.Hessian, screen: Screen) -> Iterator[Text]:
    """Draw the blocks one after the other: a sign and a bar for each number, a point for a zero that is proven."""
    blocks, most = matrices(answer)
    levels = _ASCII_LEVELS if screen.ascii else _LEVELS
    room = max(4, ((screen.width or 80) - 4) // 2)
    legend: dict[str, None] = {}
    for one in itertools.chain(*blocks):
        yield Text(screen.in_characters(f"{one.label.pretty}   {' x '.join(map(str, one.numbers.shape))}"))
        numbers, is_open = (_shrunk(part, MOST_LINES, room) for part in (one.numbers, one.is_open))
        for row, open_row in zip(numbers, is_open, strict=True):
            line = Text("  ")
            for number, is_unproven in zip(row, open_row, strict=True):
                if not np.isfinite(number):
                    sign, style, words = " ?", screen.style("bad"), "? is not finite"
                elif number == 0:
                    sign, style, words = "  " if is_unproven else " .", "dim", ". is 0 for all values, blank is 0"
                else:
                    level, words = levels[min(7, int(abs(number) / most * 8))], f"{levels[-1]} is {most:.6g}"
                    sign, style = f"{'-' if number < 0 else ' '}{level}", screen.tint("blue" if number < 0 else "red")
                line.append(sign, style)
                legend[words] = None
            yield line
        if numbers.shape != one.numbers.shape:
            legend["each sign is the largest entry of a block"] = None
    yield Text(screen.in_characters("; ".join(legend)))


def _shrunk(numbers: Array, rows: int, columns: int) -> Array:
    """Take the largest of some numbers next to each other, where there are too many."""
    for axis, most in enumerate((rows, columns)):
        size = numbers.shape[axis]
        if size > most:
            parts = np.array_split(numbers, most, axis=axis)
            picked = [np.take_along_axis(p, abs(p).argmax(axis=axis, keepdims=True), axis) for p in parts]
            numbers = np.concatenate(picked, axis=axis)
    return numbers
