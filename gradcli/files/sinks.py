"""Rows out: blocks of columns to a file or standard output, a writer a format, whole or not at all.

Arrays and columns are written here, text by `text_writers`.  The header of an .npy names the number of rows, which is
known at the end: until then the numbers wait in temporary files.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.atomic import OutputFile, target
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
    with target(path) as found:
        writer: Writer
        match form:
            case "jsonl":
                writer = ObjectWriter(found.file, layout)
            case "npy" | "npz":
                writer = ArrayWriter(found, layout, is_archive=form == "npz")
            case "csv" | "tsv":
                writer = DelimitedWriter(found.file, layout, "\t" if form == "tsv" else ",")
            case _:
                writer = ColumnWriter(found.file, layout)
        failures = UnicodeError, OverflowError, getattr(sys.modules.get("pyarrow"), "ArrowException", OverflowError)
        try:
            yield writer
            writer.finish()
        except failures as error:
            if not layout.is_kept:
                raise
            said = str(error).partition("\n")[0].rstrip(".")
            hint = "leave out --keep, or write another format: .parquet, .jsonl"
            raise InputError(f"a column cannot be kept so: {said}", hint=hint) from None
        finally:
            if isinstance(writer, ColumnWriter):
                writer.abandon()


# -- NumPy's own files


class ArrayWriter:
    """One array of records with a field for each column, or an archive with an array for each quantity.

    What is written waits in a temporary file an array, as the number of rows, which comes first, is known at the end,
    and as an archive holds one member at a time.
    """

    def __init__(self, target: OutputFile, layout: Layout, *, is_archive: bool) -> None:
        self._target, self._kept, self._quantities = target, layout.kept, layout.quantities
        self._dtype, self._is_archive = layout.dtype, is_archive
        self._spools: dict[str, tuple[IO[bytes], np.dtype[Any], tuple[int, ...]]] = {}
        self._count = 0

    def write(self, mapped: Mapped) -> None:
        """Append a block of rows, the columns to keep first."""
        arrays = {name: numeric(name, cells, self._kept[name], mapped.faulty) for name, cells in mapped.kept.items()}
        arrays |= {quantity.name: values for quantity, values in zip(self._quantities, mapped.values, strict=True)}
        self._append(arrays)
        self._count += mapped.count

    def finish(self) -> None:
        """Write the file, now that the number of rows is known."""
        if not self._spools:
            arrays = {name: np.empty((0, *shape)) for name, shape in self._kept.items()}
            self._append(arrays | {one.name: np.empty((0, *one.shape), self._dtype) for one in self._quantities})
        if not self._is_archive:
            self._copy("", self._target.file)
            return
        with zipfile.ZipFile(self._target.file, "w") as archive:
            for name in self._spools:
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                    self._copy(name, member)

    def _append(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        for name, array in (arrays if self._is_archive else {"": self._records(arrays)}).items():
            if name not in self._spools:
                spool = tempfile.TemporaryFile(dir=self._target.folder)  # noqa: SIM115 (closed with the target)
                self._spools[name] = self._target.stack.enter_context(spool), array.dtype, array.shape[1:]
            file, dtype, _ = self._spools[name]
            file.write(np.ascontiguousarray(array, dtype).tobytes())

    def _records(self, arrays: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
        columns = {name: arrays[name] for name in self._kept}
        for quantity in self._quantities:
            flat = arrays[quantity.name].reshape(-1, len(quantity.columns))
            columns |= zip(quantity.columns, flat.T, strict=True)
        rows = np.empty(len(flat), [(name, array.dtype, array.shape[1:]) for name, array in columns.items()])
        for name, array in columns.items():
            rows[name] = array
        return rows

    def _copy(self, name: str, to: IO[bytes]) -> None:
        spool, dtype, shape = self._spools[name]
        spool.flush()
        whole = (self._count, *shape)
        is_empty = math.prod(whole) * dtype.itemsize == 0  # which cannot be mapped
        array = np.empty(whole, dtype) if is_empty else np.memmap(spool, dtype, "r", shape=whole)
        # Nothing but a way to write: of a file NumPy would take the descriptor, and not say that a pipe is closed.
        np.lib.format.write_array(SimpleNamespace(write=to.write), array, allow_pickle=False)


# -- Parquet


class ColumnWriter:
    """A table of columns: those of the input that are kept with the types they have, then the numbers.

    The variables of a text become numbers.
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
        arrays = [self._kept(name, cells, mapped.faulty) for name, cells in mapped.kept.items()]
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

    def _kept(self, name: str, cells: Cells, faulty: frozenset[int]) -> Any:
        """Convert the cells of a column to keep to an array of Arrow."""
        pa, layout = self._pa, self._layout
        if isinstance(cells, list):
            is_number = name in layout.numbers
            return pa.array(
                numeric(name, cells, (), faulty) if is_number else cells, None if is_number else pa.string()
            )
        if not isinstance(cells, np.ndarray):
            return cells
        found = pa.array(np.ravel(cells))
        for size in reversed(cells.shape[1:]):
            found = pa.FixedSizeListArray.from_arrays(found, size)
        return found


Writer = DelimitedWriter | ObjectWriter | ArrayWriter | ColumnWriter
"""Writes rows in one format, block by block, and then what comes after the last of them."""
