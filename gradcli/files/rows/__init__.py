"""Rows in: a file or standard input as blocks of columns, one module a format, in bounded memory.

chunks                           bytes to whole lines, for formats of lines
delimited                        CSV and TSV
objects                          JSON Lines
columns                          NumPy's own files
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol

from gradcli.errors import InputError
from gradcli.files.reader import Files
from gradcli.files.rows.columns import Npy, Npz
from gradcli.files.rows.delimited import Delimited
from gradcli.files.rows.objects import Objects
from gradcli.results import Block, RowSource

__all__ = ["FORMATS", "Rows", "format_of", "open_rows"]

FORMATS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npy": "npy", ".npz": "npz"}
"""The formats of rows by the suffix of the file."""


class Rows(Protocol):
    """Reads a table block by block, so that it need not fit in memory."""

    source: RowSource

    @property
    def progress(self) -> tuple[int, int | None]:
        """How far it has been read, and how far it goes."""
        ...

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int) -> Iterator[Block]:
        """The rows: the columns wanted as numbers, all columns as they are if they are to be kept."""
        ...


def format_of(path: str, given: str | None, option: str) -> str:
    """The format of a file: as given, or as its suffix says; CSV without a name.

    Raises:
        InputError: The suffix says nothing.
    """
    if given or path == "-":
        return given or "csv"
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in FORMATS:
        raise InputError(
            f"the name '{path}' does not say what format the file is in",
            hint=f"name it {', '.join(FORMATS)}, or give {option} {', '.join(dict.fromkeys(FORMATS.values()))}",
        )
    return FORMATS[suffix]


@contextmanager
def open_rows(files: Files, path: str, given: str | None, names: Sequence[str]) -> Iterator[Rows]:
    """The rows of a file, its header read.

    Args:
        files: The files of the command line.
        path: Of the file, or `-`.
        given: The format, if the suffix does not decide.
        names: What the columns of a table without names are called, in order.

    Raises:
        GradcliError: It cannot be read, or its header is not one.
    """
    form = format_of(path, given, "--points-format")
    with ExitStack() as stack:
        stream, name = files.stream(path, "--points", stack)
        match form:
            case "jsonl":
                yield Objects(stream, name)
            case "npy":
                yield Npy(stream, name, names, stack)
            case "npz":
                yield Npz(stream, name, names, stack)
            case _:
                yield Delimited(stream, name, form)
