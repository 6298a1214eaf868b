"""Tables of columns: Parquet, read and written by pyarrow a group of rows at a time; tables of Python.

Only the columns that are needed are read, and those to keep stay Arrow's arrays from reader to writer, whatever their
type is.

Tables of pyarrow, pandas and Polars come by Arrow's C interface.

Sources: the format is that of https://parquet.apache.org/docs, the interface that of
https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from gradcli.errors import InputError
from gradcli.files.decoding import Start, quoted
from gradcli.results import Array, Block, Cells, Fault, RowSource
from gradcli.results.stream_rows import row_called

_ROWS = 2**20
"""Rows of a group that is cut no further."""


ArrowData = Any
"""Data of Arrow, or the library itself, which has no types: a table, a column, a field."""


def pyarrow() -> ArrowData:
    """Import the package, with its modules `compute` and `parquet`.

    Raises:
        InputError: It is not installed.
    """
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        hint = "pip install 'gradcli[parquet]'"
        raise InputError("Parquet is read and written by pyarrow, which is not here", hint=hint) from None
    return pyarrow


# -- rows in


class ParquetRows:
    """The rows of a table of columns.

    Args:
        stream: The file.
        name: How messages call it.
        variables: The columns of lists among these are vectors, as long as the first of their lists.

    Attributes:
        source: Its columns.
        passed: Rows that have gone by.
        count: Rows that there are.

    Raises:
        InputError: It is not of this format, or comes through a pipe.
    """

    def __init__(self, stream: BinaryIO, name: str, variables: Sequence[str] = ()) -> None:
        self._name, self.passed = name, 0
        pa = pyarrow()
        if not stream.seekable():
            raise InputError(f"{name} is a pipe, and a Parquet file is not read from one", hint="write it to a file")
        path = getattr(stream, "name", None)
        # By its path where it has one: pyarrow then reads without the lock of the interpreter.
        file = pa.OSFile(os.fsencode(path), "rb") if isinstance(path, str) and os.path.isfile(path) else stream
        with self._whole():
            self._file = pa.parquet.ParquetFile(file)
            self._schema, self.count = self._file.schema_arrow, int(self._file.metadata.num_rows)
            names = self._schema.names
            shapes = {field.name: self._shape(field, variables) for field in self._schema}
        twice = frozenset(name for name in names if names.count(name) > 1)
        self.source = RowSource(name, shapes, twice, {field.name: field.type for field in self._schema})

    def starts(self) -> Iterator[Start]:
        """Yield the ends of groups, of which small ones are joined."""
        total = before = 0
        for count in self._groups():
            total += count
            if total - before >= _ROWS // 2:
                yield Start(before := total)
        yield Start(total)

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int, first: int = 1) -> Iterator[Block]:
        """Yield the rows in blocks, counted from 1.

        Args:
            wanted: The columns to read as numbers.
            keep: Whether to keep all columns.
            most: Rows of a block.
            first: The first row that is needed; groups before it are not read.
        """
        for name in wanted:
            whose = f"the column {quoted(name)} of {self._name}"
            require_numbers(self._schema.field(name).type, self.source.columns[name], whose)
        columns, number = list(self._schema.names if keep else wanted), 1
        with self._whole():
            for group, count in enumerate(self._groups()):
                is_needed = number + count > first
                for batch in self._file.iter_batches(most, row_groups=[group], columns=columns) if is_needed else ():
                    yield self._block(batch, self.passed + 1, group, wanted, keep=keep)
                    self.passed += len(batch)
                self.passed = (number := number + count) - 1

    def _groups(self) -> list[int]:
        """Return the number of rows of each row group."""
        return [self._file.metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]

    def _shape(self, field: ArrowData, variables: Sequence[str]) -> tuple[int, ...]:
        """Find the shape of the cells of a variable's column: that of its first list, or () of a number."""
        if field.name not in variables or _element(field.type, 1) is field.type:
            return ()
        batches = self._file.iter_batches(64, columns=[field.name])
        return next((shape for batch in batches if (shape := shape_of(field.type, batch.column(0)))), ())

    def _block(self, batch: ArrowData, number: int, group: int, wanted: Sequence[str], *, keep: bool) -> Block:
        names = batch.schema.names
        columns: dict[str, Array] = {}
        faults: dict[int, Fault] = {}
        for name in wanted:
            cells, shape = batch.column(names.index(name)), self.source.columns[name]
            columns[name], bad = numbers_of(cells, shape)
            for row in bad:
                what = f"{row_called(number + row, None, group)} of {self._name}, column {quoted(name)}: "
                cell = cells[row].as_py()
                is_null = cell is None or not shape
                said = "the cell is null" if is_null else f"{quoted(str(cell))} has not the shape {shape}, with numbers"
                faults.setdefault(row, Fault(row, what + said, "write nan where a number is missing"))
        kept: dict[str, Cells] = {name: batch.column(names.index(name)) for name in names} if keep else {}
        if faults:  # `take` has no kernel for views, and leaves out the rows at fault
            kept = {name: _without_views(cells) for name, cells in kept.items()}
        rows = np.arange(number, number + len(batch))
        return Block(rows, columns, kept, tuple(faults[row] for row in sorted(faults)), name=self._name, group=group)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Refuse a file that turns out to be damaged while it is read.

        Raises:
            InputError: It is damaged.
        """
        try:
            yield
        except (pyarrow().ArrowException, OSError) as error:
            said = str(error).partition("\n")[0].rstrip(".")
            hint = "write it again, or copy it again as a whole"
            raise InputError(f"{self._name} cannot be read as a Parquet file: {said}", hint=hint) from None


def _element(kind: ArrowData, depth: int) -> ArrowData:
    """Find the type of the elements of nested lists, or of the values of a dictionary."""
    types = pyarrow().types
    for _ in range(depth):
        if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            kind = kind.value_type
    return kind.value_type if types.is_dictionary(kind) else kind


def _without_views(cells: ArrowData) -> ArrowData:
    pa = pyarrow()
    views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return cells.cast(views[cells.type]) if cells.type in views else cells


def shape_of(kind: object, cells: ArrowData) -> tuple[int, ...]:
    """Find the shape of the first list that is not null; () where the cells are no lists, or ragged ones."""
    if _element(kind, 1) is kind:
        return ()
    first = next((cell for cell in cells if cell.is_valid), None)
    try:
        return np.shape(first.as_py()) if first is not None else ()
    except ValueError:  # lists of different lengths
        return ()


def require_numbers(kind: object, shape: tuple[int, ...], whose: str) -> None:
    """Refuse a column that holds neither numbers nor lists of numbers.

    Raises:
        InputError: It holds neither.
    """
    if not is_numeric(_element(kind, len(shape))):
        raise InputError(f"{whose} holds {kind}, and no numbers", hint="cast it before it is saved")


def is_numeric(kind: object) -> bool:
    """Tell whether a type of Arrow is one of numbers, or of nothing but null."""
    types = pyarrow().types
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def numbers_of(cells: ArrowData, shape: tuple[int, ...] = ()) -> tuple[Array, list[int]]:
    """Convert an array of Arrow to float64.

    Args:
        cells: Numbers, or lists of them.
        shape: Of a cell.

    Returns:
        The numbers, of shape (N, *shape), and the rows that are null or have another shape, whose numbers are NaN.

    >>> import pyarrow
    >>> numbers_of(pyarrow.array([[1, 2], None, [3]]), (2,))
    (array([[ 1.,  2.],
           [nan, nan],
           [nan, nan]]), [1, 2])
    """
    pa = pyarrow()
    level = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
    if not (count := len(cells)):
        return np.empty((0, *shape)), []
    for size in shape:
        lengths = pa.compute.list_value_length(level).fill_null(-1).to_numpy(zero_copy_only=False)
        whole = (lengths.reshape(count, -1) == size).all(axis=1)
        if not whole.all():
            found, bad = np.full((count, *shape), np.nan), np.flatnonzero(~whole)
            good = np.flatnonzero(whole)
            found[good], inner = numbers_of(cells.take(pa.array(good)), shape)
            return found, sorted([*bad.tolist(), *good[inner].tolist()])
        level = pa.compute.list_flatten(level)
    lost = []
    if level.null_count:
        nulls = level.is_null().to_numpy(zero_copy_only=False)
        lost = np.flatnonzero(nulls.reshape(count, -1).any(axis=1)).tolist()
    numbers = level.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(numbers, np.float64).reshape(count, *shape), lost


# -- tables of Python, by Arrow's C interface, and the same kind back


def is_frame(value: object) -> bool:
    """Tell whether a value is a table of named columns that speaks Arrow's C interface."""
    return hasattr(value, "__arrow_c_stream__") and (hasattr(value, "columns") or hasattr(value, "column_names"))


def source_of(frame: ArrowData) -> RowSource:
    """Name the columns of a table, each as one of numbers, as their cells are not looked at."""
    names = [str(name) for name in getattr(frame, "column_names", None) or list(frame.columns)]
    twice = frozenset(name for name in names if names.count(name) > 1)
    return RowSource("the table", dict.fromkeys(names, ()), twice)


def arrays_of(frame: ArrowData, chosen: list[str]) -> dict[str, Array]:
    """Convert some columns to arrays of shape (N, *cell), with NaN where a cell is null.

    Raises:
        InputError: There is none, or one holds no numbers, or lists of several lengths.
    """
    if not chosen:
        names = ", ".join(list(source_of(frame).columns)[:8])
        raise InputError("the table has no column that is a variable", hint=f"its columns are {names}")
    pa = pyarrow()
    found: dict[str, Array] = {}
    try:
        table = pa.table(frame.select(chosen) if hasattr(frame, "select") else frame[chosen])
        for name in chosen:
            cells = table.column(name).combine_chunks()
            shape = shape_of(cells.type, cells)
            require_numbers(cells.type, shape, f"the column {quoted(name)}")
            found[name], bad = numbers_of(cells, shape)
            if shape and bad:
                message = f"row {bad[0]} of the column {quoted(name)} is no vector of shape {shape}"
                raise InputError(message, hint="a variable has one shape in all rows")
    except (pa.ArrowException, NotImplementedError, TypeError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise InputError(f"the table is not one of Arrow: {said}", hint="cast or rename its columns") from None
    return found


def alike(frame: ArrowData, columns: Mapping[str, Array]) -> ArrowData:
    """Make a table of the same kind, with the same index where it has one."""
    if hasattr(frame, "from_pydict"):  # pyarrow's
        return type(frame).from_pydict(columns)
    index = {"index": frame.index} if hasattr(frame, "index") else {}
    return type(frame)(columns, **index)
