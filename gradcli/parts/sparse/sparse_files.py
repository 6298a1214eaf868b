"""Sparse matrices as files: SciPy's and Matrix Market's of the whole matrix, and rows of entries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from json import dumps
from typing import BinaryIO

import numpy as np

from gradcli.arrays import AnyArray
from gradcli.errors import InputError
from gradcli.files.binary import write_npy, write_npz
from gradcli.parts.sparse.pattern import Indices
from gradcli.parts.sparse.sparse_document import SparseAnswer, starts
from gradcli.questions.bound_function import JACOBIAN_BYTES
from gradcli.report.appearance import Appearance
from gradcli.report.numbers import MANY, digits, in_lists
from gradcli.report.render import json
from gradcli.report.render.csv import table_text
from gradcli.results import Array, SparseHessian

MARKET = "%%MatrixMarket matrix coordinate {} general\n"
"""First line of a file of Matrix Market, with the kind of its numbers."""


def plain(answer: SparseAnswer, shown: Appearance) -> Iterator[str]:
    """Write row, column and value of each entry of the whole matrix, counted from 0, a line each."""
    rows, columns, values = whole(answer)
    for first in range(0, len(rows), MANY):
        part = slice(first, first + MANY)
        texts = map(digits, values[part]) if values is not None else None
        numbers = zip(rows[part].tolist(), columns[part].tolist(), strict=True)
        yield "".join(f"{i} {j}{'' if texts is None else ' ' + next(texts)}\n" for i, j in numbers)


def csv_rows(answer: SparseAnswer, shown: Appearance) -> Iterator[str]:
    """Write a row an entry, with the columns that a dense matrix has: indices of several numbers, and the variable."""
    has_values = all(one.value is not None for one in answer.blocks)
    is_second = isinstance(answer, SparseHessian)
    header = ["row_variable", "row", "column_variable", "column"] if is_second else ["row", "variable", "column"]
    yield from table_text([*header, *["value"] * has_values], _rows(answer), shown)


def _rows(answer: SparseAnswer) -> Iterator[list[str]]:
    is_second = isinstance(answer, SparseHessian)
    for block in answer.blocks:
        y, x = block.axes
        shapes = (answer.inputs[y].shape if is_second else answer.value.shape), answer.inputs[x].shape
        for first in range(0, len(block.row), MANY):
            part = slice(first, first + MANY)
            row, column = (
                _texts(one[part], shape) for one, shape in zip((block.row, block.column), shapes, strict=True)
            )
            values = () if block.value is None else (map(digits, block.value[part]),)
            for i, j, *value in zip(row, column, *values, strict=True):
                yield [*([y] if is_second else []), i, x, j, *value]


def _texts(positions: Indices, shape: tuple[int, ...]) -> Iterator[str]:
    """Write flat positions as indices, `0 1`."""
    if len(shape) == 1:
        return map(str, positions.tolist())
    axes = np.unravel_index(positions, shape) if shape else ()
    return (
        (" ".join(map(str, index)) for index in np.transpose(axes).tolist()) if shape else iter([""] * len(positions))
    )


def json_lines(answer: SparseAnswer, shown: Appearance) -> Iterator[str]:
    """Write the answer as one object; into a file `.jsonl`, an object for each entry of the whole matrix."""
    if not shown.path.lower().endswith(".jsonl"):
        yield from json.pieces(answer, shown)
        return
    rows, columns, values = whole(answer)
    for first in range(0, len(rows), MANY):
        part = slice(first, first + MANY)
        parts = [rows[part].tolist(), columns[part].tolist(), *([in_lists(values[part])] if values is not None else [])]
        for numbers in zip(*parts, strict=True):
            yield dumps(dict(zip(("row", "column", "value"), numbers, strict=False)), allow_nan=False) + "\n"


def npy(answer: SparseAnswer, shown: Appearance, file: BinaryIO) -> None:
    """Write the one block as a dense array, in the shape that a dense answer has.

    Raises:
        InputError: There are several blocks, or it would be too large.
    """
    block, y = answer.blocks[0], answer.blocks[0].axes[0]
    outside = answer.inputs[y].shape if isinstance(answer, SparseHessian) else answer.value.shape
    if len(answer.blocks) > 1 or math.prod(block.shape) * 8 > JACOBIAN_BYTES:
        hint = "write an .npz, which scipy.sparse.load_npz reads"
        raise InputError(f"this sparse {answer.asks} is not one array", hint=hint)
    write_npy(block.matrix.toarray().reshape(outside + answer.inputs[block.axes[1]].shape), file)


def npz(answer: SparseAnswer, shown: Appearance, file: BinaryIO) -> None:
    """Write the whole matrix as `scipy.sparse.save_npz` does, its variables next to each other."""
    rows, columns, values = whole(answer)
    shape = answer.sparsity.shape
    data = np.ones(len(rows), dtype=bool) if values is None else values
    ends = np.cumsum(np.bincount(rows, minlength=shape[0])).astype(rows.dtype)
    parts: Mapping[str, AnyArray] = {
        "indices": columns,
        "indptr": np.concatenate((np.zeros(1, rows.dtype), ends)),
        "format": np.array(b"csr"),
        "shape": np.array(shape),
        "data": data,
        "_is_array": np.array(True),
    }
    write_npz(parts, file)


def market(answer: SparseAnswer, shown: Appearance, file: BinaryIO) -> None:
    """Write the whole matrix as Matrix Market's coordinates, counted from 1."""
    rows, columns, values = whole(answer)
    _ = file.write(MARKET.format("pattern" if values is None else "real").encode())
    _ = file.write(f"{answer.sparsity.shape[0]} {answer.sparsity.shape[1]} {len(rows)}\n".encode())
    for first in range(0, len(rows), MANY):
        part = slice(first, first + MANY)
        texts = map(digits, values[part]) if values is not None else None
        numbers = zip((rows[part] + 1).tolist(), (columns[part] + 1).tolist(), strict=True)
        lines = (f"{i} {j}{'' if texts is None else ' ' + next(texts)}\n" for i, j in numbers)
        _ = file.write("".join(lines).encode())


def parquet(answer: SparseAnswer, shown: Appearance, file: BinaryIO) -> None:
    """Write row, column and value of each entry of the whole matrix, counted from 0.

    Raises:
        InputError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        hint = "pip install 'gradcli[parquet]'"
        raise InputError("Parquet is written by pyarrow, which is not here", hint=hint) from None
    rows, columns, values = whole(answer)
    table = {"row": rows, "column": columns} | ({} if values is None else {"value": values})
    pyarrow.parquet.write_table(pyarrow.table(table), file)


def whole(answer: SparseAnswer) -> tuple[Indices, Indices, Array | None]:
    """Put the blocks next to each other and below each other: rows and columns of one matrix, row by row."""
    if len(answer.blocks) == 1:
        return answer.blocks[0].row, answer.blocks[0].column, answer.blocks[0].value
    tops, lefts = starts(answer)
    rows = np.concatenate([one.row + np.int32(tops[one.axes[0]]) for one in answer.blocks])
    columns = np.concatenate([one.column + np.int32(lefts[one.axes[1]]) for one in answer.blocks])
    order = np.lexsort((columns, rows))
    held = [one.value for one in answer.blocks if one.value is not None]
    values = np.concatenate(held)[order] if held else None
    return rows[order], columns[order], values
