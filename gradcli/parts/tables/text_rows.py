"""Bytes to whole rows of text, a chunk at a time; CSV and TSV to blocks of columns.

A chunk without quotes goes through NumPy's reader in C.  Where that fails, and only there, every row is looked at on
its own, to find the rows at fault and their faults; both ways read the same numbers.
"""

from __future__ import annotations

import gzip
import io
import itertools
import os
import re
import stat
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import InputError, TooLargeError
from gradcli.files.csv_tables import BLANKS, MISSING_HINT, fault_of, first_row, is_name, is_number, numbers_of, records
from gradcli.files.decoding import (
    Start,
    named_twice,
    quoted,
)
from gradcli.files.reader import unreadable
from gradcli.option_words import option
from gradcli.parts.tables.column_hints import UnnamedColumnsError
from gradcli.parts.tables.column_names import only_variable
from gradcli.results import Block, Fault, RowSource
from gradcli.results.stream_rows import row_called
from gradcli.signals import readable

CHUNK = 2**20
"""Bytes that are read at a time: some ten thousand rows."""

PIECE = 2**26
"""Bytes of a part of a text that is computed by itself."""

LONGEST_LINE_BYTES = 2**24
"""Bytes of a line: a row of half a million numbers of full length."""

_LONGEST_RECORD = 2**20
"""Characters in which a quote must end; else the row is taken for a broken one."""

_PATIENCE = 0.02
"""Seconds without a byte after which a pipe counts as waiting."""

_MOST_ROWS = 2**16
"""Rows of a block that are looked at one by one: a text may have any number of blank ones."""


def _kind(stream: BinaryIO) -> tuple[int | None, int | None]:
    """Return the size of a regular file, or the descriptor of a pipe, whose other end may let one wait."""
    if not isinstance(stream, io.BufferedReader):  # such as text in memory
        return None, None
    found = os.fstat(stream.fileno())
    if stat.S_ISREG(found.st_mode):
        return found.st_size, None
    waits = (stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)) and os.name == "posix"
    return None, stream.fileno() if waits else None


def first_bytes(stream: BinaryIO, name: str) -> bytes:
    """Read the bytes that are there at the beginning of a text; none of an empty one.

    Raises:
        InputError: The system refuses, as it says.
    """
    try:
        return bytes(stream.read1(CHUNK))  # type: ignore[attr-defined]
    except OSError as error:
        raise unreadable(name, error) from None


class TextRows:
    """Reads whole rows of a text, and knows how far it has come.

    Attributes:
        source: Its columns.
        passed: Rows that have gone by.
        count: None, as only reading a text says how many rows it has.
    """

    source: RowSource
    count: int | None = None
    _separator = ""
    """Between the cells of a row, which may have quotes over several lines; empty where a line is a row."""

    def __init__(self, stream: BinaryIO, name: str, begun: bytes = b"") -> None:
        self._stream, self._name, self._begun = stream, name, begun
        self._position = self._whole = 0  # bytes that have been read, and those of the lines that have been given out
        self._size, self._descriptor = _kind(stream)
        self._chunks = self._lines()
        self._first = 1  # the line that what is read next begins on
        self._is_between_rows = True
        self.passed = 0

    def blocks(self, wanted: Sequence[str], *, keep: bool, most: int, first: int = 1) -> Iterator[Block]:
        """Yield the rows, a block a chunk.

        Args:
            wanted: The columns to read as numbers.
            keep: Whether to keep the cells of all columns.
            most: Rows of a block; here a chunk decides.
            first: The first row that is needed; here those before it are read too.
        """
        for text in self._texts():
            if text:
                yield from self._blocks(text, wanted, keep=keep)
            else:
                yield Block(np.arange(0), {name: np.empty((0, *self.source.columns[name])) for name in wanted}, {})

    def starts(self) -> Iterator[Start]:
        """Count all rows, and yield where one begins about every `PIECE` bytes; at last, where the text ends."""
        last = 0
        for text in filter(None, self._texts()):
            for _ in self._blocks(text, [], keep=False):
                pass
            found = Start(self.passed, self._whole, self._first + text.count("\n"))
            if self._is_between_rows and found.byte - last >= PIECE:
                last = found.byte
                yield found
        yield Start(self.passed, self._whole, 0)

    def seek(self, start: Start) -> None:
        """Go on from a row; the columns are known already."""
        self._stream.seek(start.byte)
        self._begun = b""
        self._position = self._whole = start.byte
        self.passed, self._chunks = start.rows, self._lines(start.line)

    @property
    def share(self) -> float | None:
        """Fraction of the bytes that has been read; None if the size is unknown."""
        return self._position / max(1, self._size) if self._size is not None else None

    def _blocks(self, text: str, wanted: Sequence[str], *, keep: bool) -> Iterator[Block]:
        """Yield the rows of a text that begins and ends with a row."""
        raise NotImplementedError

    def _texts(self) -> Iterator[str]:
        """Yield the texts read at once, of whole rows, without blank ones at the end; none while a pipe waits."""
        held, line = "", 1
        for first, text in itertools.chain(self._chunks, [(0, "\n")]):
            if not text:
                yield ""
                continue
            line, held = line if held else first, held + text
            filled = len(held.rstrip(BLANKS + self._separator))
            goes_on = self._separator and len(held) < _LONGEST_RECORD and held.count('"') % 2 == 1
            if filled and (first == 0 or not goes_on):
                end = held.find("\n", filled) + 1
                whole, held = held[:end], held[end:]
                self._first, self._is_between_rows = line, not held
                line += whole.count("\n")
                if whole:
                    yield whole

    def _lines(self, number: int = 1) -> Iterator[tuple[int, str]]:
        r"""Whole lines with `\n` alone at their ends, and the number of the first; none while a pipe waits.

        Raises:
            InputError: The stream cannot be read, or is no text.
            TooLargeError: A line is longer than `LONGEST_LINE_BYTES`.
        """
        rest, data = b"", b"\n"
        while data:
            # Rows that are complete are answered before the pipe goes on: whoever feeds it may wait for them.
            if self._descriptor is not None and not readable(self._descriptor, _PATIENCE):
                yield number, ""
            data = self._read()
            # Cut at a newline, in bytes: a chunk may end inside of a character.
            cut = data.rfind(b"\n") + 1 if data else len(rest)
            whole, rest = (rest + data[:cut], data[cut:]) if cut else (b"", rest + data)
            if len(rest) > LONGEST_LINE_BYTES:
                raise TooLargeError(
                    f"line {number} of {self._name} is longer than {LONGEST_LINE_BYTES // 2**20} MiB",
                    hint="a text of rows has a newline after each",
                )
            if whole:
                text = self._text(whole, number)
                self._whole = self._position - len(rest)
                yield number, text
                number += text.count("\n")

    def _read(self) -> bytes:
        """Read some bytes, none at the end; a pipe gives all that it has at once.

        Raises:
            InputError: The system refuses, as it says.
        """
        data, self._begun, more = self._begun, b"", b""
        try:
            if data:
                pass
            elif self._descriptor is None:
                data = self._stream.read(CHUNK)
            else:
                while len(data) < CHUNK and readable(self._descriptor, _PATIENCE if data else None):
                    data += (more := self._stream.read1(CHUNK - len(data)))  # type: ignore[attr-defined]
                    if not more:
                        break
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            said = f"{self._name} cannot be decompressed: {str(error).lower().rstrip('.')}"
            raise InputError(said, hint="compress or copy it again") from None
        except OSError as error:
            raise unreadable(self._name, error) from None
        self._position += len(data)
        return data

    def _text(self, data: bytes, number: int) -> str:
        if number == 1:
            if data.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise InputError(f"{self._name} is not text in UTF-8", hint="save it as UTF-8")
            # The mark that Excel writes before UTF-8 would else belong to the first name.
            data = data.removeprefix(b"\xef\xbb\xbf")
        # Cells that are no numbers may be in any encoding, and are written as they were read.
        text = data.decode("utf-8", "surrogateescape")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _are_spaced(lines: Sequence[str]) -> bool:
    """Tell whether the first rows of a text have blanks between their cells: names, or none, and several numbers.

    >>> _are_spaced(["# v  T", "1 300"]), _are_spaced(["1 300"]), _are_spaced(["pressure hPa", "2"])
    (True, True, False)
    """
    first, second = [*itertools.islice(filter(str.strip, lines), 2), "", ""][:2]
    cells = (second or first).split()
    is_row = len(cells) > 1 and all(map(is_number, cells))
    return is_row and "," not in first and len(first.lstrip("# ").split()) == len(cells)


_DECIMAL_COMMA = re.compile(r"(?:^|;)[ \t]*[-+]?(?:\d+,(?:\d{1,2}|\d{4,})|0?,\d+)[ \t]*(?=;|$)", re.MULTILINE)
"""A cell with a decimal comma in a table with semicolons; three digits after it may be thousands."""

_Rows = tuple[Array, list[list[str]], Sequence[int], Sequence[Fault]]
"""The numbers of some rows, all of their cells, the lines that they begin on, from 0, and what is wrong in them."""


class Delimited(TextRows):
    """The rows of a CSV or TSV text, below its row of names.

    Args:
        stream: The text.
        name: What messages call it.
        form: `csv` or `tsv`.
        variables: What has values in the rows: the only one may be the only column, which then needs no name.
        columns: The names of the columns of a text that has none.
        begun: The bytes that were read of it.
    """

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        form: str,
        variables: Sequence[str] = (),
        columns: Sequence[str] = (),
        *,
        begun: bytes = b"",
    ) -> None:
        super().__init__(stream, name, begun)
        self._has_decimal_commas = False
        self._separator = "\t" if form == "tsv" else ","
        self._header = self._names(form, variables, columns)
        twice = frozenset(cell for cell in self._header if self._header.count(cell) > 1)
        self.source = RowSource(name, dict.fromkeys(self._header, ()), twice, is_text=True)

    def _blocks(self, text: str, wanted: Sequence[str], *, keep: bool) -> Iterator[Block]:
        lines, usecols = text.removesuffix("\n").split("\n"), [self._header.index(name) for name in wanted]
        if self._separator == ";" and "," in text:
            self._has_decimal_commas = self._has_decimal_commas or _DECIMAL_COMMA.search(text) is not None
        fast = self._fast(lines, usecols, keep=keep) if '"' not in text else None
        for table, cells, places, faults in [fast] if fast else self._exact(lines, wanted, usecols):
            columns = dict(zip(wanted, np.ascontiguousarray(table.T), strict=True))
            kept = map(list, zip(*cells, strict=True)) if keep else ()
            named = dict(zip(self._header if keep else (), kept, strict=True))
            numbers = np.arange(self.passed + 1, self.passed + len(places) + 1)
            self.passed += len(places)
            yield Block(numbers, columns, named, tuple(faults), self._first + np.array(places))

    def _names(self, form: str, variables: Sequence[str], columns: Sequence[str]) -> list[str]:
        """Return the names in the first row that is not blank, or the given ones; put back the rest of the chunk."""
        for first, text in self._chunks:
            lines = text.split("\n")
            blank = first_row(lines)
            if blank is None:
                continue
            if form == "csv" and "," not in lines[blank]:
                self._separator = next((sign for sign in ";\t" if sign in lines[blank]), self._separator)
            if lines[blank].lstrip().startswith("{"):
                message = f"line {first + blank} of {self._name} is an object of JSON, and no row of names"
                raise InputError(message, hint=f"give {option('points-format', 'jsonl')}")
            if self._separator == "," and _are_spaced(lines[blank:]):
                raise InputError(
                    f"{self._name} has blanks between its cells, and no commas",
                    hint="separate the cells by commas, below a row of names such as x,y",
                )
            rows = records(lines[blank:], self._separator)
            _, cells, reason = next(rows)
            if reason:
                message = f"line {first + blank} of {self._name} is not a row of names: {reason}"
                raise InputError(message, hint="the first row names the columns")
            names = [cell.strip() for cell in cells]
            if columns:
                self._require_as_many(lines[blank:], first + blank, columns)
            given = self._unwritten(names, lines[blank], variables, columns)
            is_above = not given or all(map(is_name, cells))  # names that --columns takes the place of
            below = blank + next(rows, (len(lines) - blank,))[0] if is_above else blank
            if rest := "\n".join(lines[below:]):
                self._chunks = itertools.chain([(first + below, rest)], self._chunks)
            return given or names
        raise InputError(f"{self._name} is empty", hint="the first row names the columns, such as x,y")

    def _unwritten(self, cells: list[str], line: str, variables: Sequence[str], columns: Sequence[str]) -> list[str]:
        """Return the names of columns that the text lacks; none if the first row has them.

        Raises:
            InputError: There are names twice, or none.
        """
        if columns:
            if cells == list(columns):
                raise named_twice(self._name)
            return list(columns)
        if not all(map(is_number, cells)):
            return []
        if len(cells) == 1 and (only := only_variable(variables)):
            return [only]
        raise UnnamedColumnsError(
            f"{self._name} has no row of names: its first row is {quoted(line)}",
            count=len(cells),
            hint=f"name the columns by {option('columns', 'NAMES')}, or in the first row",
        )

    def _require_as_many(self, lines: Sequence[str], line: int, columns: Sequence[str]) -> None:
        """Refuse names for other columns than the first rows have; where one of the two has as many, another is broken.

        Raises:
            InputError: The rows have more or fewer cells than there are names.
        """
        rows = [cells for _, cells, reason in itertools.islice(records(lines, self._separator), 2) if not reason]
        if rows and len(columns) not in map(len, rows):
            count, (_, hint) = len(rows[0]), fault_of(rows[0], "", [], len(columns), self._separator)
            row = f"{row_called(1, line)} of {self._name}"
            message = f"{row} has {count} cell{'s' * (count != 1)}, and {option('columns')} names {len(columns)}"
            raise UnnamedColumnsError(message, count=count, is_number_alone=True, hint=hint)

    def _fast(self, lines: list[str], usecols: list[int], *, keep: bool) -> _Rows | None:
        """Read lines without quotes, if every one of them is a row that is in order."""
        count, width = len(lines), len(self._header)
        if {line.count(self._separator) for line in lines} != {width - 1} or not all(map(str.strip, lines)):
            return None
        table: Array = np.empty((count, 0))
        try:
            if usecols:
                numbers = [line.replace(",", ".") for line in lines] if self._has_decimal_commas else lines
                table = np.loadtxt(numbers, delimiter=self._separator, comments=None, usecols=usecols, ndmin=2)
        except (ValueError, IndexError):
            return None
        # A number beyond the range is infinite here, and is refused where every cell is looked at.
        if len(table) != count or np.isinf(table).any():
            return None
        # The csv module leaves out the blanks before a cell.
        cells = [[cell.lstrip(" ") for cell in line.split(self._separator)] for line in lines] if keep else []
        return table, cells, range(count), ()

    def _exact(self, lines: list[str], wanted: Sequence[str], usecols: list[int]) -> Iterator[_Rows]:
        """Read lines one by one, with what is wrong in them, some at a time."""
        width, columns = len(self._header), list(zip(map(quoted, wanted), usecols, strict=True))
        rows = records(lines, self._separator)
        while part := list(itertools.islice(rows, _MOST_ROWS)):
            table: list[list[float]] = []
            faults: list[Fault] = []
            for index, (place, cells, reason) in enumerate(part):
                numbers = [cell.replace(",", ".") for cell in cells] if self._has_decimal_commas else cells
                found = None if reason else numbers_of(numbers, usecols, width)
                if found is None:
                    what, hint = fault_of(cells, reason, columns, width, self._separator)
                    if hint.startswith(MISSING_HINT):
                        hint += f", or leave such rows out by {option('on-error', 'skip')}"
                    called = row_called(self.passed + index + 1, self._first + place)
                    faults.append(Fault(index, f"{called} of {self._name}{what}", hint))
                table.append(found or [np.nan] * len(wanted))
            # The cells that a broken row has not are empty.
            whole = [[*cells[:width], *[""] * (width - len(cells))] for _, cells, _ in part]
            yield np.array(table, np.float64).reshape(len(part), len(wanted)), whole, [row[0] for row in part], faults
