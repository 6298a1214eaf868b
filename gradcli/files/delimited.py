"""Bytes to whole lines, a chunk at a time, and CSV and TSV to blocks of columns.

A chunk without quotes goes through NumPy's reader in C.  Where that fails, and only there, every row is looked at on
its own, to say what is wrong with which; both ways read the same numbers.
"""

from __future__ import annotations

import itertools
import os
import select
import stat
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from gradcli.errors import InputError, TooLargeError
from gradcli.files.csv_tables import RowsOfCells, fault_of, is_number, numbers_of, records
from gradcli.files.decoding import Array, shown
from gradcli.files.reader import unreadable
from gradcli.results import Block, Cells, Fault, RowSource
from gradcli.results.verdicts import row_called

CHUNK = 2**20
"""Bytes that are read at a time: some ten thousand rows."""

LONGEST = 2**24
"""Bytes of a line: a row of half a million numbers of full length."""

_PATIENCE = 0.02
"""Seconds without a byte after which a pipe counts as waiting."""


_LONGEST_RECORD = 2**20
"""Characters in which a quote must end; else the row is taken for a broken one."""

_MOST_ROWS = 2**16
"""Rows of a block that are looked at one by one: a text may have any number of blank ones."""


class Start(NamedTuple):
    """Where a row of a text begins: how many rows there are before it, the byte, and the line from 1."""

    rows: int
    byte: int
    line: int


class TextRows:
    """What the readers of text have in common: whole lines, and how far they have come."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._lines = Lines(stream, name)
        self._name = name
        self._chunks = self._lines.chunks()
        self._count = 0
        self._first = 1  # the line that what is read next begins on

    def starts(self, every: int) -> Iterator[Start]:
        """Count all rows, and yield where one begins about every so many bytes; at last, where the text ends."""
        last = 0
        for text in self._texts():
            if text:
                self._pass(text)
            found = Start(self._count, self._lines.whole, self._first + text.count("\n"))
            if self._is_between_rows() and found.byte - last >= every:
                last = found.byte
                yield found
        yield Start(self._count, self._lines.whole, 0)

    def seek(self, start: Start) -> None:
        """Go on from a row."""
        self._count = start.rows
        self._chunks = self._lines.chunks_from(start.byte, start.line)

    def _texts(self) -> Iterator[str]:
        """The texts that are read at once, of whole rows; none while a pipe waits."""
        raise NotImplementedError

    def _pass(self, text: str) -> None:
        """Count the rows of a text."""
        raise NotImplementedError

    def _is_between_rows(self) -> bool:
        """Tell whether a row may begin here: no blank rows wait to be told from those at the end."""
        return True

    def _numbered(self, count: int) -> npt.NDArray[Any]:
        """The places of the next rows, from 1."""
        first, self._count = self._count + 1, self._count + count
        return np.arange(first, first + count)

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes that have been read, and that there are."""
        return self._lines.position, self._lines.size

    @property
    def passed(self) -> int:
        """Rows that have gone by."""
        return self._count


def named_twice(name: str) -> InputError:
    """The error for names of columns that are in the rows, and beside them."""
    return InputError(f"{name} names its columns, and --columns names them too", hint="leave out --columns")


class Lines:
    """The lines of a stream.

    Attributes:
        position: Bytes that have been read.
        whole: Bytes of the lines that have been given out.
        size: Bytes that there are, where that is known.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        self.position = self.whole = 0
        self.size, self._descriptor = _kind(stream)

    def chunks_from(self, byte: int, line: int) -> Iterator[tuple[int, str]]:
        """The whole lines from a byte on, which is the first of a line."""
        self._stream.seek(byte)
        self.position = self.whole = byte
        return self.chunks(line)

    def chunks(self, number: int = 1) -> Iterator[tuple[int, str]]:
        r"""Whole lines with `\n` alone at their ends, and the number of the first; none while a pipe waits.

        Raises:
            InputError: The stream cannot be read, or is no text.
            TooLargeError: A line is longer than `LONGEST`.
        """
        rest = b""
        while True:
            # Rows that are complete are answered before the pipe goes on: whoever feeds it may wait for them.
            if self._waits():
                yield number, ""
            data = self.read()
            # Cut at a newline, in bytes: a chunk may end inside of a character.
            cut = data.rfind(b"\n") + 1
            if data and not cut:
                rest += data
                if len(rest) > LONGEST:
                    raise TooLargeError(
                        f"line {number} of {self._name} is longer than {LONGEST // 2**20} MiB",
                        hint="a text of rows has a newline after each",
                    )
                continue
            whole, rest = rest + data[:cut], data[cut:]
            if whole or rest:
                text = self._text(whole or rest, number)
                self.whole = self.position - len(rest) * bool(whole)
                yield number, text
                number += text.count("\n")
            if not data:
                return

    def read(self) -> bytes:
        """Some bytes, none at the end.

        Raises:
            InputError: The system refuses, as it says.
        """
        try:
            data = self._stream.read1(CHUNK) if self._descriptor is not None else self._stream.read(CHUNK)  # type: ignore[attr-defined]
            while data and len(data) < CHUNK and self._descriptor is not None and not self._waits():
                more = self._stream.read1(CHUNK - len(data))  # type: ignore[attr-defined]
                if not more:
                    break
                data += more
        except OSError as error:
            raise unreadable(self._name, error) from None
        self.position += len(data)
        return bytes(data)

    def _waits(self) -> bool:
        return self._descriptor is not None and not select.select([self._descriptor], [], [], _PATIENCE)[0]

    def _text(self, data: bytes, number: int) -> str:
        if number == 1:
            if data.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise InputError(f"{self._name} is not text in UTF-8", hint="save it as UTF-8")
            # The mark that Excel writes before UTF-8 would else belong to the first name.
            data = data.removeprefix(b"\xef\xbb\xbf")
        # Cells that are no numbers may be in any encoding, and are written as they were read.
        text = data.decode("utf-8", "surrogateescape")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _kind(stream: BinaryIO) -> tuple[int | None, int | None]:
    """The size of a regular file; the descriptor of a pipe, whose other end may let one wait."""
    try:
        descriptor = stream.fileno()
        found = os.fstat(descriptor)
    except (OSError, ValueError, AttributeError):
        return None, None
    if stat.S_ISREG(found.st_mode):
        return found.st_size, None
    waits = (stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)) and os.name == "posix"
    return None, descriptor if waits else None


# -- rows of cells


class Delimited(TextRows):
    """The rows of a CSV or TSV text, below its row of names.

    Args:
        stream: The text.
        name: What messages call it.
        form: `csv` or `tsv`.
        variables: What has values in the rows: the only one may be the only column, which then needs no name.
        columns: The names of the columns of a text that has none.

    Attributes:
        source: Its columns, each of numbers.
    """

    def __init__(
        self, stream: BinaryIO, name: str, form: str, variables: Sequence[str] = (), columns: Sequence[str] = ()
    ) -> None:
        super().__init__(stream, name)
        self._variables, self._given = variables, columns
        self._separator = "\t" if form == "tsv" else ","
        self._text = ""
        self._header: list[str] = self._names(form)
        self._rows = RowsOfCells(self._separator, has_names=True)
        twice = frozenset(cell for cell in self._header if self._header.count(cell) > 1)
        self.source = RowSource(name, dict.fromkeys(self._header, ()), twice)

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int, first: int = 1) -> Iterator[Block]:
        """The rows.

        Args:
            wanted: The columns to read as numbers.
            keep: Whether to keep the cells of all columns.
            most: Rows of a block; here a chunk decides.
            first: The first row that is needed; some before it are counted and not read.
        """
        del most
        usecols = [self._header.index(name) for name in wanted]
        for text in self._texts():
            count = self._rows_at_a_glance(text) if self._count + 1 < first else None
            if not text:
                yield Block(np.arange(0), {name: np.empty(0) for name in wanted}, {})
            elif count is not None and self._count + count < first:
                self._count += count
            else:
                yield from self._blocks(text, wanted, usecols, keep=keep)

    def seek(self, start: Start) -> None:
        """Go on from a row; the names of the columns are read already."""
        self._text = ""
        super().seek(start)

    def _texts(self) -> Iterator[str]:
        held = ""
        for first, text in itertools.chain([(self._first, self._text)] if self._text else [], self._chunks):
            self._text = ""
            if not text:
                yield ""
                continue
            held, self._first = held + text, self._first if held else first
            if held.count('"') % 2 and len(held) < _LONGEST_RECORD:
                continue  # a quote may go on in the next chunk
            yield held
            held = ""
        if held:
            yield held

    def _pass(self, text: str) -> None:
        count = self._rows_at_a_glance(text)
        if count is not None:
            self._count += count
            return
        for _ in self._exact(text.removesuffix("\n").split("\n"), [], [], keep=False):
            pass  # which counts them

    def _is_between_rows(self) -> bool:
        return not self._rows.blanks

    def _rows_at_a_glance(self, text: str) -> int | None:
        """How many rows a text has, if each of its lines is one."""
        if '"' in text or self._rows.blanks:
            return None
        lines = text.removesuffix("\n").split("\n")
        return len(lines) if all(line.replace(self._separator, "").strip() for line in lines) else None

    def _blocks(self, text: str, wanted: Sequence[str], usecols: list[int], *, keep: bool) -> Iterator[Block]:
        """The rows of whole lines, the first of which has been counted."""
        lines = text.removesuffix("\n").split("\n")
        block = self._fast(text, lines, wanted, usecols, keep=keep)
        yield from [block] if block else self._exact(lines, wanted, usecols, keep=keep)

    def _names(self, form: str) -> list[str]:
        """What the first row that is not blank says, or what is said of it; the rest of the chunk is for later."""
        for first, text in self._chunks:
            lines = text.split("\n")
            blank = next((place for place, line in enumerate(lines) if line.strip()), None)
            if blank is None:
                continue
            if form == "csv" and ";" in lines[blank] and "," not in lines[blank]:
                self._separator = ";"
            rows = records(lines[blank:], self._separator)
            _, cells, reason = next(rows)
            if reason:
                message = f"line {first + blank} of {self._name} is not a row of names: {reason}"
                raise InputError(message, hint="the first row names the columns")
            names = [cell.strip() for cell in cells]
            given = self._unwritten(names, lines[blank])
            below = blank if given else blank + next(rows, (len(lines) - blank,))[0]
            self._first, self._text = first + below, "\n".join(lines[below:])
            return given or names
        raise InputError(f"{self._name} is empty", hint="the first row names the columns, such as x,y")

    def _unwritten(self, cells: list[str], line: str) -> list[str]:
        """The names of columns that the text does not name; none if the first row is their names.

        Raises:
            InputError: There are names twice, or none.
        """
        if self._given:
            if cells == list(self._given):
                raise named_twice(self._name)
            return list(self._given)
        if not all(map(is_number, cells)):
            return []
        if len(cells) == len(self._variables) == 1:
            return list(self._variables)
        fits = len(cells) == len(self._variables)
        example = ",".join(self._variables if fits else (f"c{n}" for n in range(1, min(len(cells), 4) + 1)))
        raise InputError(
            f"{self._name} has no row of names: its first row is {shown(line)}",
            hint=f"name the columns by --columns {example}, or in the first row",
        )

    # -- a chunk at once

    def _fast(
        self, text: str, lines: list[str], wanted: Sequence[str], usecols: list[int], *, keep: bool
    ) -> Block | None:
        """The block, if every row of it is in order."""
        if '"' in text or self._rows.blanks or text.isspace():
            return None
        count, width = len(lines), len(self._header)
        if not _is_regular(text, self._separator, width, count):
            return None
        try:
            table = np.loadtxt(lines, delimiter=self._separator, comments=None, usecols=usecols, ndmin=2)
        except (ValueError, IndexError):
            return None
        # A number beyond the range is infinite here, and is refused where every cell is looked at.
        if len(table) != count or np.isinf(table).any():
            return None
        columns = dict(zip(wanted, np.ascontiguousarray(table.T), strict=True))
        kept = self._kept([self._cells(line) for line in lines], keep=True) if keep else {}
        return Block(self._numbered(count), columns, kept, lines=np.arange(self._first, self._first + count))

    def _cells(self, line: str) -> list[str]:
        """The cells of a line without quotes, and without the blanks before them, as the csv module reads them."""
        cells = line.split(self._separator)
        return [cell.lstrip(" ") for cell in cells] if " " in line else cells

    # -- row by row

    def _exact(self, lines: list[str], wanted: Sequence[str], usecols: list[int], *, keep: bool) -> Iterator[Block]:
        """The rows, with what is wrong in them."""
        rows: list[_Row] = []
        width, columns = len(self._header), list(zip(map(shown, wanted), usecols, strict=True))
        for line, cells, reason in self._rows.of(lines, range(self._first, self._first + len(lines))):
            if len(rows) >= _MOST_ROWS:
                yield self._block(rows, wanted, keep=keep)
                rows = []
            found = None if reason else numbers_of(cells, usecols, width)
            fault = None
            if found is None:
                what, hint = fault_of(cells, reason, columns, width, self._separator)
                fault = Fault(len(rows), f"{self._row(rows, line)}{what}", hint)
            rows.append(_Row(line, cells, found, fault))
        yield self._block(rows, wanted, keep=keep)

    def _row(self, before: Sequence[_Row], line: int) -> str:
        """What messages call the row behind those of a block that is not yet whole."""
        return f"{row_called(self._count + len(before) + 1, line)} of {self._name}"

    def _block(self, rows: list[_Row], wanted: Sequence[str], *, keep: bool) -> Block:
        missing = [np.nan] * len(wanted)
        table = np.array([row.values or missing for row in rows], dtype=np.float64).reshape(len(rows), len(wanted)).T
        columns = dict(zip(wanted, np.ascontiguousarray(table), strict=True))
        faults = tuple(row.fault for row in rows if row.fault is not None)
        kept = self._kept([row.cells for row in rows], keep=keep)
        lines = np.array([row.line for row in rows], int)
        return Block(self._numbered(len(rows)), columns, kept, faults, lines)

    def _kept(self, rows: list[list[str]], *, keep: bool) -> dict[str, Cells]:
        """The cells by column; those that a broken row has not are empty."""
        if not keep:
            return {}
        width = len(self._header)
        full = [row if len(row) == width else [*row[:width], *[""] * (width - len(row))] for row in rows]
        columns = map(list, zip(*full, strict=True)) if full else itertools.repeat([], width)
        return dict(zip(self._header, columns, strict=True))


class _Row(NamedTuple):
    """A row that was looked at on its own, with the fault that it has in place of values."""

    line: int
    cells: list[str]
    values: list[float] | None
    fault: Fault | None


def _is_regular(text: str, separator: str, width: int, count: int) -> bool:
    """Whether every line has as many separators, and none is blank."""
    data = np.frombuffer(text.encode("utf-8", "surrogateescape"), np.uint8)
    marks = data[(data == ord("\n")) | (data == ord(separator))]
    if not text.endswith("\n"):
        marks = np.append(marks, np.uint8(ord("\n")))
    if len(marks) != count * width:
        return False
    table: Array = marks.reshape(count, width)
    return bool((table[:, -1] == ord("\n")).all() and (table[:, :-1] == ord(separator)).all())
