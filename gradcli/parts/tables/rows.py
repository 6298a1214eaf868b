"""Rows in: files or standard input as blocks of columns, in bounded memory; and some of the rows."""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import BinaryIO, NamedTuple, cast

from gradcli.errors import InputError, UsageError
from gradcli.files.binary import ArrayRows, columns_of_npy, columns_of_npz
from gradcli.files.decoding import Start, named_twice, quoted, read_text
from gradcli.files.reader import FileReference, Files
from gradcli.parts.tables.columnar import ParquetRows
from gradcli.parts.tables.json_rows import ObjectRows, as_json_lines
from gradcli.parts.tables.row_formats import READ_SUFFIXES, ROW_SUFFIXES
from gradcli.parts.tables.text_rows import Delimited, TextRows, first_bytes
from gradcli.results import Block, RowSource
from gradcli.results.record import Record

TEXT_SUFFIXES = ("", ".txt", ".dat", ".text")
"""Suffixes of texts, whose beginning says which rows they have."""


def format_of(path: str, given: str | None, option: str) -> str:
    """Return the format of a file: as given, or by its suffix; CSV without a name, and of a text of points.

    Raises:
        InputError: The suffix says nothing.
    """
    name, suffixes = path.lower(), READ_SUFFIXES if option == "--points-format" else ROW_SUFFIXES
    form = given or ("csv" if path in ("-", "/dev/stdin") else _format_of_suffix(name, suffixes))
    is_text = path != "@-" and os.path.splitext(name.removesuffix(".gz"))[1] in TEXT_SUFFIXES
    form = form or ("csv" if is_text and option == "--points-format" else None)
    if name.endswith(".gz") and form in ("npy", "npz", "parquet"):
        said = f"'{path}' is compressed, and only text is read and written so: .csv, .tsv, .jsonl"
        raise InputError(said, hint="leave out the last suffix; Parquet compresses its columns")
    if form is None:
        others = ".gz may follow that of a text"
        hint = f"name it {', '.join(suffixes)}, or give {option}; {others}"
        hint = f"standard input is - here, and {option} jsonl, or npy, says its format" if path == "@-" else hint
        raise InputError(f"the name '{path}' does not say what format the file is in", hint=hint)
    return form


def require_suffix(path: str, given: str | None) -> None:
    """Refuse a format for a file to write whose suffix says another one.

    Raises:
        UsageError: It does.
    """
    if given is not None and _format_of_suffix(path.lower()) not in (None, given):
        raise UsageError(f"-o {path} and --format {given} exclude each other", hint="leave out --format")


def _format_of_suffix(name: str, suffixes: Mapping[str, str] = ROW_SUFFIXES) -> str | None:
    return suffixes.get(os.path.splitext(name.removesuffix(".gz"))[1])


def listed(path: str) -> list[str]:
    """List the files of a path, a folder or a pattern, in the order of their names.

    Names that begin with a point or an underscore, and empty files, are passed over.

    Raises:
        InputError: There is none.
    """
    if os.path.isdir(path):
        base, found = path, list(_walked(path))
    elif path != "-" and glob.has_magic(path) and not os.path.lexists(path):
        base = os.path.dirname(path[: next(n for n, sign in enumerate(path) if sign in "*?[")])
        found = glob.glob(path, recursive=True)
    else:
        return [path]
    kept = []
    for one in sorted(found):
        parts = PurePath(os.path.relpath(one, base or ".")).parts
        is_empty = os.path.isfile(one) and not os.path.getsize(one)
        if not (is_empty or os.path.isdir(one) or any(part.startswith((".", "_")) for part in parts)):
            kept.append(one)
    if not kept:
        what = f"the folder '{path}' has no files of rows" if os.path.isdir(path) else f"no file fits '{path}'"
        raise InputError(what, hint="name files that are there, such as --points 'data/*.parquet'")
    return kept


def _walked(path: str) -> Iterator[str]:
    """Walk the files below a folder, through links too, each folder once.

    Raises:
        InputError: A folder cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise InputError(f"the folder '{error.filename}' cannot be read: {error.strerror}")

    seen: set[str] = set()
    for folder, inner, names in os.walk(path, onerror=refuse, followlinks=True):
        if (real := os.path.realpath(folder)) in seen:
            inner.clear()
            continue
        seen.add(real)
        yield from (os.path.join(folder, name) for name in names)


class PointSource(Record):
    """Source of points: the files that `--points` names, and how to read them.

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
    def from_path(cls, path: str, given: str | None, names: Sequence[str], columns: Sequence[str] = ()) -> PointSource:
        """List the files that a path, a folder or a pattern names.

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
        """Count the rows; a text is read for it.

        Raises:
            InputError: They come through a pipe.
        """
        self.require_files("read once, and --part counts rows first")
        total = 0
        for file in self.files:
            with self.opened(file, Files()) as rows:
                *_, end = rows.starts()
                total += end.rows
        return total

    @contextmanager
    def opened(self, file: str, files: Files) -> Iterator[FileRows]:
        """Open the rows of one file, and read its header.

        Raises:
            GradcliError: It cannot be read, its header is not one, or its columns are named twice.
        """
        with ExitStack() as stack:
            stream, name = files.stream(file, "--points", stack)
            if file.lower().endswith(".gz"):
                stream = cast("BinaryIO", gzip.GzipFile(fileobj=stream))
            form, begun = self.form, b""
            if form == "jsonl" or (form == "csv" and self.given is None and _format_of_suffix(file.lower()) is None):
                begun = first_bytes(stream, name)
                first, is_json = begun.lstrip(b"\xef\xbb\xbf \t\r\n")[:1], file.lower().endswith((".json", ".json.gz"))
                form = "jsonl" if first in (b"{", b"[") else form
                if first == b"[" or (first == b"{" and is_json):
                    lines = as_json_lines(read_text(stream, name, begun), name, self.names, self.columns)
                    yield ObjectRows(io.BytesIO(lines), name, self.names)
                    return
            if form in ("csv", "tsv"):
                yield Delimited(stream, name, form, self.names, self.columns, begun=begun)
            elif form == "npy":
                yield ArrayRows(name, columns_of_npy(stream, name, self.names, self.columns, stack))
            elif self.columns:
                raise named_twice(name)
            elif form == "npz":
                yield ArrayRows(name, columns_of_npz(stream, name, self.names, stack))
            elif form == "jsonl":
                yield ObjectRows(stream, name, self.names, begun=begun)
            else:
                yield ParquetRows(stream, name, self.names)

    @contextmanager
    def rows(self, path: str, files: Files) -> Iterator[Joined]:
        """Yield the rows of all files, one file after the other.

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
            name = f"'{path}'" if self.files[1:] else first.source.name
            yield Joined(replace(self, files=left), name, first, files)


FileRows = TextRows | ArrayRows | ParquetRows


class Joined:
    """The rows of one or several files that have the same columns, block by block, so that no table fills the memory.

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
        """Fraction of all files that has been read; None of a pipe, whose size is unknown."""
        rows = self._rows
        own = rows.share if isinstance(rows, TextRows) else rows.passed / max(1, rows.count)
        return None if own is None else (self._place + own) / len(self._points.files)

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int, first: int = 1) -> Iterator[Block]:
        """Yield the rows in blocks, numbered on from file to file."""
        for place, file in enumerate(self._points.files):
            self._place, before = place, self.passed
            with ExitStack() as stack:
                if place:
                    self._rows = stack.enter_context(self._points.opened(file, self._files))
                is_one_of_several = bool(self._points.files[1:] or self._points.source)
                if is_one_of_several and self._rows.count == 0:  # no rows, of which lists would have no shape
                    continue
                source = self._rows.source
                self._require_same(source, self.source.columns if keep else wanted)
                for block in self._rows.blocks(wanted, keep=keep, most=most, first=max(1, first - before)):
                    yield replace(block, numbers=block.numbers + before, name=source.name, before=before)
                self.passed = before + self._rows.passed

    def seek(self, start: Start) -> None:
        """Go on from a row of the first file, if it is a text."""
        if isinstance(self._rows, TextRows):
            self._rows.seek(start)

    def _require_same(self, source: RowSource, columns: Iterable[str]) -> None:
        """Refuse a file that lacks a column, or has another shape in it.

        Raises:
            InputError: So it is.
        """
        for name in columns:
            if source.columns.get(name) != self.source.columns[name]:
                message = f"{source.name} has no column {quoted(name)} of the shape that the first file has"
                raise InputError(message, hint="the files of a table have the same columns")


class Cut(NamedTuple):
    """Some of the rows: the first and the last one, and whether they are the beginning, with the row of names."""

    first: int = 1
    last: int | None = None
    has_names: bool = True


def rows_of(text: str) -> Cut:
    """Read a range of rows.

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
    """Read `K/N`, a part of all rows.

    Raises:
        InputError: It is none, or the rows cannot be counted.
    """
    found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
    part, parts = map(int, found.groups()) if found else (0, 0)
    if not 1 <= part <= parts:
        raise InputError(f"--part {text} is no part of a whole", hint="the parts of 8 are --part 1/8 to --part 8/8")
    total = points.count()
    return Cut(total * (part - 1) // parts + 1, total * part // parts, part == 1)


def clip_to_rows(blocks: Iterator[Block], cut: Cut) -> Iterator[Block]:
    """Clip a stream of blocks to the rows of a Cut."""
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
