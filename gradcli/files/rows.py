"""Rows in: files or standard input as blocks of columns, in bounded memory; and the rows of NumPy's own files.

These are .npy of records or of a plain table, and .npz with an array a variable.  They are mapped, and what is in a
pipe or an archive is copied to a temporary file: the memory is that of a block however long the file is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError
from gradcli.files.binary import as_float64, mapped, members_of, opened_archive, require_numbers
from gradcli.files.columnar import ParquetRows
from gradcli.files.decoding import Start, shown
from gradcli.files.delimited import Delimited, named_twice
from gradcli.files.reader import FileReference, Files
from gradcli.files.several import listed
from gradcli.options import POINTS_FORMATS, ROW_SUFFIXES
from gradcli.results import Block, Cells, RowSource
from gradcli.results.comparing import Record

ROWS = 2**20
"""Rows of a piece of arrays."""

_INTO_CSV = "; zcat and jq write CSV into a pipe, --points -, of what is compressed and of JSON"


def format_of(path: str, given: str | None, option: str) -> str:
    """The format of a file: as given, or as its suffix says; CSV without a name.

    Raises:
        InputError: The suffix says nothing, or names a format that is written and not read.
    """
    known = [suffix for suffix, form in ROW_SUFFIXES.items() if form in POINTS_FORMATS or option != "--points-format"]
    suffix = os.path.splitext(path)[1].lower()
    form = given or ("csv" if path == "-" else ROW_SUFFIXES[suffix] if suffix in known else None)
    if form is None:
        hint = f"name it {', '.join(known)}, or give {option}{_INTO_CSV * (option == '--points-format')}"
        raise InputError(f"the name '{path}' does not say what format the file is in", hint=hint)
    return form


class PointSource(Record):
    """What `--points` names, and how it is read.

    Attributes:
        files: Their paths in order, or `-`.
        given: The format, if the suffix does not decide.
        names: The variables that have their values there.
        columns: What the columns of a table without names are called, in order; by default as `names`, where there is
            no other way to read it.
        source: The columns of all, where these are a part of the files.
        before: The number of the row before the first one.
    """

    files: tuple[str, ...]
    given: str | None
    names: Sequence[str]
    columns: Sequence[str] = ()
    source: RowSource | None = None
    before: int = 0

    @classmethod
    def of(cls, path: str, given: str | None, names: Sequence[str], columns: Sequence[str] = ()) -> PointSource:
        """The files that a path, a folder or a pattern names.

        Raises:
            InputError: There is none, or they have several formats.
        """
        found = cls(tuple(listed(path)), given, names, columns)
        forms = {format_of(file, given, "--points-format"): file for file in found.files}
        if len(forms) > 1:
            one, other = list(forms.values())[:2]
            raise InputError(f"'{path}' has files of several formats: {one} and {other}", hint="name those of one")
        return found

    @property
    def form(self) -> str:
        """Their format."""
        return format_of(self.files[0], self.given, "--points-format")

    def require_files(self, why: str) -> None:
        """Refuse a pipe, which is read once, and from its beginning.

        Raises:
            InputError: One of the files is a pipe.
        """
        if any(FileReference.whole(file).is_stream for file in self.files):
            raise InputError(f"standard input is {why}", hint="write it to a file")

    def count(self) -> int:
        """How many rows there are; a text is read for it.

        Raises:
            InputError: They come through a pipe.
        """
        self.require_files("read once, and --part counts rows first")
        total = 0
        for file in self.files:
            with self.opened(file, Files()) as rows:
                *_, end = rows.starts(2**62)
                total += end.rows
        return total

    @contextmanager
    def opened(self, file: str, files: Files) -> Iterator[FileRows]:
        """The rows of one file, its header read.

        Raises:
            GradcliError: It cannot be read, its header is not one, or its columns are named twice.
        """
        with ExitStack() as stack:
            stream, name = files.stream(file, "--points", stack)
            if self.columns and self.form not in ("csv", "tsv", "npy"):  # which alone have columns without names
                raise named_twice(name)
            match self.form:
                case "npy":
                    yield ArrayRows(name, _columns_of_npy(stream, name, self.names, self.columns, stack))
                case "npz":
                    yield ArrayRows(name, _columns_of_npz(stream, name, self.names, stack))
                case "parquet":
                    yield ParquetRows(stream, name, self.names)
                case form:
                    yield Delimited(stream, name, form, self.names, self.columns)

    @contextmanager
    def rows(self, path: str, files: Files) -> Iterator[Rows]:
        """The rows of all files, one file after the other.

        Args:
            path: What messages call them together.
            files: The files of the command line.

        Raises:
            GradcliError: As for `opened`, of the first.
        """
        with ExitStack() as stack:
            left = self.files
            first = stack.enter_context(self.opened(left[0], files))
            while first.count == 0 and left[1:]:  # it has no rows, by which columns of lists have their shape
                left = left[1:]
                first = stack.enter_context(self.opened(left[0], files))
            is_one = len(self.files) == 1 and self.source is None
            yield first if is_one else Joined(replace(self, files=left), f"'{path}'", first, files)


class Joined:
    """The rows of several files that have the same columns.

    Attributes:
        source: The columns of the first file.
        passed: Rows that have gone by, with those of the files before.
    """

    def __init__(self, points: PointSource, name: str, first: FileRows, files: Files) -> None:
        self._points, self._files, self._place, self._rows = points, files, 0, first
        self.passed = points.before
        self.source = points.source or replace(first.source, name=name)

    @property
    def share(self) -> float | None:
        """How much of all files has been read."""
        return (self._place + (self._rows.share or 0)) / len(self._points.files)

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int, first: int = 1) -> Iterator[Block]:
        """The rows, numbered on from file to file."""
        for place, file in enumerate(self._points.files):
            self._place, before = place, self.passed
            with ExitStack() as stack:
                if place:
                    self._rows = stack.enter_context(self._points.opened(file, self._files))
                if self._rows.count == 0:  # no rows, of which lists would have no shape
                    continue
                source = self._rows.source
                self._require_same(source, self.source.columns if keep else wanted)
                for block in self._rows.blocks(wanted, keep=keep, most=most, first=max(1, first - before)):
                    yield replace(block, numbers=block.numbers + before, name=source.name, before=before)
                self.passed = before + self._rows.passed

    def seek(self, start: Start) -> None:
        """Go on from a row of the first file, if it is a text."""
        if isinstance(self._rows, Delimited):
            self._rows.seek(start)

    def _require_same(self, source: RowSource, columns: Iterable[str]) -> None:
        """Refuse a file that lacks a column, or has another shape in it.

        Raises:
            InputError: So it is.
        """
        for name in columns:
            if source.columns.get(name) != self.source.columns[name]:
                message = f"{source.name} has no column {shown(name)} of the shape that the first file has"
                raise InputError(message, hint="the files of a table have the same columns")


class Cut(NamedTuple):
    """Some of the rows: the first and the last one, and whether they are the beginning, with the row of names."""

    first: int = 1
    last: int | None = None
    has_names: bool = True


def rows_of(text: str) -> Cut:
    """The rows of a range.

    Raises:
        InputError: It is none.

    >>> tuple(rows_of("3..5")), tuple(rows_of("1.."))
    ((3, 5, False), (1, None, True))
    """
    found = re.fullmatch(r"\s*(\d{1,15})?\s*(\.\.)?\s*(\d{1,15})?\s*", text)
    low, dots, high = found.groups() if found else (None, None, None)
    first = int(low or 1)
    last = (int(high) if high else None) if dots else first
    if not (low or high) or first < 1 or (last is not None and last < first):
        hint = "rows are counted from 1, and both ends belong to it: --rows 1..1000, or 1001.."
        raise InputError(f"--rows {text} is no range of rows", hint=hint)
    return Cut(first, last, first == 1)


def part_of(text: str, points: PointSource) -> Cut:
    """The rows of a part, `K/N` of all.

    Raises:
        InputError: It is none, or the rows cannot be counted.
    """
    found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
    part, parts = map(int, found.groups()) if found else (0, 0)
    if not 1 <= part <= parts:
        raise InputError(f"--part {text} is no part of a whole", hint="the parts of 8 are --part 1/8 to --part 8/8")
    total = points.count()
    return Cut(total * (part - 1) // parts + 1, total * part // parts, part == 1)


def within(blocks: Iterator[Block], cut: Cut) -> Iterator[Block]:
    """Some of the rows, of blocks that lack at most some of those before the first of them."""
    first, last, _ = cut
    for block in blocks:
        if not len(block.numbers):
            yield block
            continue
        start, end = int(block.numbers[0]), int(block.numbers[-1])
        low, high = max(first, start), end if last is None else min(last, end)
        if low <= high:
            yield block if (low, high) == (start, end) else block.rows(low - start, high - start + 1)
        if last is not None and end >= last:
            return


# -- NumPy's own files


def _columns_of_npy(
    stream: BinaryIO, name: str, variables: Sequence[str], columns: Sequence[str], stack: ExitStack
) -> dict[str, npt.NDArray[Any]]:
    """The fields of records, or the columns of a plain table in the order of their names.

    Raises:
        GradcliError: The array has no rows, or no columns for these names.
    """
    table = mapped(stream, name, stack)
    if not table.ndim:
        raise InputError(f"{name} is a single number and has no rows", hint="give it to --at")
    if table.dtype.names:
        if columns:
            raise named_twice(name)
        if table.ndim > 1:
            raise InputError(f"{name} has {table.ndim} dimensions of records", hint="a row is one record")
        return {field: table[field] for field in table.dtype.names if table.dtype[field].base.kind in "biufSUmM"}
    names, shape = columns or variables, table.shape[1:]
    if len(names) == 1:
        return {names[0]: table[:, 0] if shape == (1,) else table}
    if shape != (len(names),):
        what = "names in --columns" if columns else "variables without --at"
        raise InputError(
            f"{name} has rows of shape {shape}, and there are {len(names)} {what}: {', '.join(names[:8]) or 'none'}",
            hint="a table without names has a column for each of them, in their order; records have names",
        )
    return {known: table[:, column] for column, known in enumerate(names)}


def _columns_of_npz(
    stream: BinaryIO, name: str, variables: Sequence[str], stack: ExitStack
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an archive, those of the variables and others of as many rows.

    Raises:
        InputError: One of a variable cannot be read, or the variables have different numbers of rows.
    """
    found: dict[str, npt.NDArray[Any]] = {}
    with opened_archive(stream, name) as archive:
        for member, info in members_of(archive, name).items():
            try:
                array = mapped(archive.open(info), f"{name[:-1]}:{member}'", stack)
                if not array.ndim:
                    raise InputError(f"{name[:-1]}:{member}' is a single number", hint="give it to --at")
            except InputError:
                if member in variables:
                    raise
            else:
                if not array.dtype.names:
                    found[member] = array
    used = {member: len(array) for member, array in found.items() if member in variables}
    used = used or {member: len(array) for member, array in found.items()}
    first, count = next(iter(used.items()), ("", 0))
    for member, other in used.items():
        if other != count:
            raise InputError(
                f"{name} has {count:,} rows of {shown(first)} and {other:,} of {shown(member)}",
                hint="every array has a row a point, on its first axis",
            )
    return {member: array for member, array in found.items() if len(array) == count}


class ArrayRows:
    """The rows of arrays that have as many of them.

    Attributes:
        source: Its columns.
        passed: Rows that have gone by.
        count: Rows that there are.
    """

    def __init__(self, name: str, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._columns = columns
        self.count = min(map(len, columns.values()), default=0)
        self.passed = 0
        self.source = RowSource(name, {column: array.shape[1:] for column, array in columns.items()})

    @property
    def share(self) -> float | None:
        """How much of them has been read."""
        return self.passed / max(1, self.count)

    def starts(self, every: int) -> Iterator[Start]:
        """Yield every `ROWS`-th row."""
        del every
        yield from (Start(min(end, self.count)) for end in range(ROWS, self.count + ROWS, ROWS))

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int, first: int = 1) -> Iterator[Block]:
        """The rows, counted from 1.

        Args:
            wanted: The columns to read as numbers.
            keep: Whether to keep all columns.
            most: Rows of a block.
            first: The first row that is needed.
        """
        for name in wanted:
            require_numbers(self._columns[name].dtype, f"the column {shown(name)} of {self.source.name}")
        for start in range((first - 1) // most * most, self.count, most):
            self.passed = last = min(start + most, self.count)
            kept: dict[str, Cells] = {name: a[start:last] for name, a in self._columns.items()} if keep else {}
            columns = {name: as_float64(self._columns[name][start:last]) for name in wanted}
            yield Block(np.arange(start + 1, last + 1), columns, kept)


FileRows = Delimited | ArrayRows | ParquetRows
Rows = FileRows | Joined
"""Reads a table block by block, so that it need not fit in memory."""
