"""Rows out: blocks of columns to a file or standard output, a writer a format, whole or not at all.

Columns are written here, text by `text_writers`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from gradcli.errors import InputError
from gradcli.files.atomic import target
from gradcli.files.columnar import is_number, pyarrow
from gradcli.files.kept_cells import Layout, numeric
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
    with target(path) as file:
        writer: Writer
        match form:
            case "parquet":
                writer = ColumnWriter(file, layout)
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
        finally:
            if isinstance(writer, ColumnWriter):
                writer.abandon()


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
        for values in mapped.values:
            arrays += [self._pa.array(column) for column in values.reshape(mapped.count, -1).T]
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


Writer = DelimitedWriter | ObjectWriter | ColumnWriter
"""Writes rows in one format, block by block, and then what comes after the last of them."""
