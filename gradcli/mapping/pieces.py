"""The rows of files cut into pieces, one for each part: the same files give the same pieces."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gradcli.files import Files
from gradcli.files.decoding import Start
from gradcli.files.rows import Points
from gradcli.files.several import suffixes
from gradcli.results import RowSource

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
            for end in rows.starts(_BYTES) if is_cut else ():
                if end.rows > before:
                    yield Piece(next(count), one, before + 1, end.rows, start)
                before, start = end.rows, end
            if not before:
                yield Piece(next(count), one)
