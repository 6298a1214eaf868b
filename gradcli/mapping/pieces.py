"""The rows of files cut into pieces, one for each part: the same files give the same pieces."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gradcli.files import Files
from gradcli.files.columnar import ArrowRows
from gradcli.files.delimited import Start, TextRows
from gradcli.files.rows import Points, Rows
from gradcli.files.several import suffixes
from gradcli.results import RowSource

_ROWS = 2**20
"""Rows of a piece of arrays; row groups that are smaller than half of them are joined."""

_BYTES = 2**26
"""Bytes of a piece of text."""

_FILE = 2**36
"""Between the numbers of the first rows of two files: more rows than a file has."""


@dataclass(frozen=True)
class Piece:
    """Some rows of one file.

    Attributes:
        index: Of the piece among all.
        points: The file.
        first: The first row in it, from 1.
        last: The last one; None for all that follow.
        start: Where the first begins, in a text.
    """

    index: int
    points: Points
    first: int = 1
    last: int | None = None
    start: Start | None = None

    @property
    def path(self) -> str:
        """The file."""
        return self.points.files[0].path


def pieces_of(points: Points, source: RowSource) -> Iterator[Piece]:
    """Cut the rows of files: at row groups, at rows of arrays, at lines of text; what is compressed is not cut.

    Args:
        points: The files.
        source: The columns of all of them.

    Raises:
        GradcliError: A file cannot be read.
    """
    count = itertools.count()
    for place, file in enumerate(points.files):
        one = replace(points, files=(file,), source=source, before=place * _FILE)
        with one.opened(file, Files()) as rows:
            is_cut = not suffixes(file.path)[1] and points.form != "arrows"  # which are read from the beginning
            before, start = 0, None
            for end, after in _cuts(rows) if is_cut else ():
                yield Piece(next(count), one, before + 1, end, start)
                before, start = end, after
            if not before:
                yield Piece(next(count), one)


def _cuts(rows: Rows) -> Iterator[tuple[int, Start | None]]:
    """The last row of each piece, and in a text where the next one begins."""
    if isinstance(rows, TextRows):
        before = 0
        for start in rows.starts(_BYTES):
            if start.rows > before:
                yield start.rows, start
            before = start.rows
    else:
        yield from ((end, None) for end in _ends(rows))


def _ends(rows: Rows) -> list[int]:
    """The last row of each piece of what is no text."""
    if isinstance(rows, ArrowRows):
        ends, total, before = [], 0, 0
        for size in rows.groups():
            total += size
            if total - before >= _ROWS // 2:
                ends.append(before := total)
        return ends if total == before else [*ends, total]
    total = rows.progress[1] or 0
    return [min(end, total) for end in range(_ROWS, total + _ROWS, _ROWS)]
