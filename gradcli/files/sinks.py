"""Rows out: blocks of columns to a file or standard output, a writer a format, whole or not at all.

Arrays and columns are written here, text by `text_writers`.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.atomic import TEMPORARY, target
from gradcli.files.binary import write_npy, write_npz
from gradcli.files.columnar import is_number, pyarrow
from gradcli.files.kept_cells import Layout, numeric, values
from gradcli.files.text_writers import DelimitedWriter, ObjectWriter
from gradcli.results import Cells, Mapped

_ROWS, _BYTES = 2**20, 2**26
"""Rows and bytes of a group that is written: what is reached first ends it."""


@contextmanager
def open_sink(path: str, form: str, layout: Layout) -> Iterator[Writer]:
    """A writer of rows; the file has its name when all are written, and does not exist if that fails.

    Args:
        path: Of the file, or `-` for standard output.
        form: One of the formats of rows.
        layout: What is written.

    Raises:
        OSError: The output cannot be written.
        InputError: The format cannot hold a column to keep.
    """
    with target(path) as found, ExitStack() as stack:
        file = found
        if path.lower().endswith(".gz"):  # without a name and a time, so that the same rows are the same bytes
            packed = gzip.GzipFile("", "wb", fileobj=found, mtime=0, compresslevel=6)
            file = cast("BinaryIO", stack.enter_context(packed))
        writer: Writer
        match form:
            case "parquet":
                writer = ColumnWriter(file, layout)
                stack.callback(writer.abandon)
            case "npy" | "npz":
                writer = ArrayWriter(file, layout, stack, is_archive=form == "npz")
            case "jsonl":
                writer = ObjectWriter(file, layout)
            case _:
                writer = DelimitedWriter(file, layout, form)
        failures = ValueError, OverflowError, getattr(sys.modules.get("pyarrow"), "ArrowException", OverflowError)
        try:
            yield writer
            writer.finish()
        except failures as error:
            if not layout.is_kept:
                raise
            said = str(error).partition("\n")[0].rstrip(".")
            hint = "leave out --keep, or write another format: .csv, .jsonl, .parquet"
            raise InputError(f"a column cannot be kept so: {said}", hint=hint) from None


# -- NumPy's own files


class ArrayWriter:
    """One array of records with a field for each column, or an archive with an array for each quantity.

    What is written waits in a temporary file an array, as the number of rows, which comes first, is known at the end,
    and as an archive holds one member at a time.
    """

    def __init__(self, file: BinaryIO, layout: Layout, stack: ExitStack, *, is_archive: bool) -> None:
        self._file, self._layout, self._is_archive, self._count = file, layout, is_archive, 0
        fields = [(name, "float64", shape) for name, shape in layout.kept.items()]
        if is_archive:
            fields += [(quantity.name, layout.dtype, quantity.shape) for quantity in layout.quantities]
            kinds = {name: np.dtype((kind, shape)) for name, kind, shape in fields}
        else:
            kinds = {"": np.dtype([*fields, *((name, layout.dtype, ()) for name in layout.columns)])}
        path = str(getattr(file, "name", ""))
        folder = os.path.dirname(path) if path.endswith(TEMPORARY) else None  # next to the file, where there is room
        spools = (tempfile.TemporaryFile(dir=folder) for _ in kinds)  # noqa: SIM115 (the stack closes them)
        self._spools = [(*one, stack.enter_context(own)) for one, own in zip(kinds.items(), spools, strict=True)]

    def write(self, mapped: Mapped) -> None:
        """Append a block of rows, the columns to keep first."""
        count, variables = mapped.count, self._layout.numbers
        kept = [
            numeric(values(cells), self._layout.kept[name], None if name in variables else name)
            for name, cells in mapped.kept.items()
        ]
        arrays: list[npt.NDArray[Any]] = [*kept, *mapped.values]
        if not self._is_archive:
            rows = np.empty(count, self._spools[0][1])
            flat = [column for array in mapped.values for column in array.reshape(count, -1).T] if count else []
            for name, column in zip(rows.dtype.names or (), [*kept, *flat], strict=bool(count)):
                rows[name] = column
            arrays = [rows]
        for (_, kind, spool), array in zip(self._spools, arrays, strict=True):
            spool.write(np.ascontiguousarray(array, kind.base).tobytes())
        self._count += count

    def finish(self) -> None:
        """Write the file, now that the number of rows is known."""
        arrays = {name: self._array(kind, spool) for name, kind, spool in self._spools}
        if self._is_archive:
            write_npz(arrays, self._file)
        else:
            write_npy(arrays[""], self._file)

    def _array(self, kind: np.dtype[Any], spool: IO[bytes]) -> npt.NDArray[Any]:
        spool.flush()
        whole = (self._count, *kind.shape)
        is_empty = math.prod(whole) * kind.base.itemsize == 0  # which cannot be mapped
        return np.empty(whole, kind.base) if is_empty else np.memmap(spool, kind.base, "r", shape=whole)


# -- Parquet


class ColumnWriter:
    """A table of columns: those of the input that are kept with the types they have, then the numbers.

    The variables of a text become numbers; of JSON, the first cells of a column say its type.
    """

    def __init__(self, file: BinaryIO, layout: Layout) -> None:
        self._pa, self._file, self._layout = pyarrow(), file, layout
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0

    def write(self, mapped: Mapped) -> None:
        """Write a block of rows, or hold it until there are enough for a group."""
        if not mapped.count:  # all of its rows are left out
            return
        arrays = [self._kept(name, cells) for name, cells in mapped.kept.items()]
        for array in mapped.values:
            arrays += [self._pa.array(column) for column in array.reshape(mapped.count, -1).T]
        names = [*self._layout.kept, *self._layout.columns]
        self._waiting.append(self._pa.Table.from_arrays(arrays, names))
        self._rows += mapped.count
        self._bytes += self._waiting[-1].nbytes
        if self._rows >= _ROWS or self._bytes >= _BYTES:
            self._flush(self._pa.concat_tables(self._waiting).combine_chunks())

    def finish(self) -> None:
        """Write what waits, and the end of the file."""
        if self._waiting or self._writer is None:
            self._flush(self._pa.concat_tables(self._waiting or [self._empty()]).combine_chunks())
        self._writer.close()

    def abandon(self) -> None:
        """Write no end, if there is none yet: the file is no more."""
        if self._writer is not None:
            self._writer.is_open = False  # which else is closed when it is collected, into a file that is closed

    def _flush(self, table: Any) -> None:
        if self._writer is None:
            schema = table.schema.with_metadata({"gradcli": json.dumps(self._layout.about)})
            # Numbers rarely repeat, so that a dictionary of them would be built for nothing.
            texts = [field.name for field in schema if not is_number(field.type)]
            self._writer = self._pa.parquet.ParquetWriter(self._file, schema, use_dictionary=texts)
        self._writer.write_table(table)
        self._waiting, self._rows, self._bytes = [], 0, 0

    def _empty(self) -> Any:
        """A table without rows."""
        pa, layout = self._pa, self._layout
        kinds = {name: pa.float64() if name in layout.numbers else pa.string() for name in layout.kept}
        kinds |= {name: kind for name, kind in layout.source.types.items() if name in kinds}
        return pa.schema([*kinds.items(), *((name, layout.dtype) for name in layout.columns)]).empty_table()

    def _kept(self, name: str, cells: Cells) -> Any:
        """Convert the cells of a column to keep to an array of Arrow."""
        if not isinstance(cells, list):
            return cells
        if name not in self._layout.numbers:
            return self._pa.array(cells, "string" if self._layout.source.is_text else None)
        shape = self._layout.kept[name]
        found = self._pa.array(numeric(cells, shape).ravel())
        for size in reversed(shape):
            found = self._pa.FixedSizeListArray.from_arrays(found, size)
        return found


Writer = ArrayWriter | DelimitedWriter | ObjectWriter | ColumnWriter
"""Writes rows in one format, block by block, and then what comes after the last of them."""
