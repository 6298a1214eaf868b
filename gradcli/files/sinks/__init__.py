"""Rows out: blocks of columns to a file or standard output, one module a format, whole or not at all.

output_file                      where the bytes go
texts                            CSV, TSV and JSON Lines
numpy_files                      .npy and .npz
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from gradcli.files.sinks.numpy_files import NpyWriter, NpzWriter
from gradcli.files.sinks.output_file import target
from gradcli.files.sinks.texts import DelimitedWriter, ObjectWriter
from gradcli.results import Mapped, Quantity

__all__ = ["Writer", "open_sink"]


class Writer(Protocol):
    """Writes rows in one format."""

    def write(self, mapped: Mapped) -> None:
        """Write the next block of rows."""
        ...

    def finish(self) -> None:
        """Write what comes after the last row."""
        ...


@contextmanager
def open_sink(
    path: str,
    form: str,
    kept: Mapping[str, tuple[int, ...]],
    quantities: Sequence[Quantity],
    dtype: str,
    *,
    from_text: bool,
) -> Iterator[Writer]:
    """A writer of rows; the file has its name when all are written, and does not exist if that fails.

    Args:
        path: Of the file, or `-` for standard output.
        form: `csv`, `tsv`, `jsonl`, `npy` or `npz`.
        kept: The columns of the input that come first, with the shapes of their cells.
        quantities: What comes behind them.
        dtype: Of their numbers.
        from_text: Whether the cells of the columns to keep are texts of which some are numbers.

    Raises:
        OSError: The output cannot be written.
        InputError: The format cannot hold a column to keep.
    """
    with target(path) as file:
        writer: Writer
        match form:
            case "jsonl":
                writer = ObjectWriter(file, list(kept), quantities, from_text=from_text)
            case "npy":
                writer = NpyWriter(file, kept, quantities, dtype)
            case "npz":
                writer = NpzWriter(file, kept, quantities, dtype)
            case _:
                writer = DelimitedWriter(file, kept, quantities, "\t" if form == "tsv" else ",")
        yield writer
        writer.finish()
