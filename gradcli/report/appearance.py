"""The format, the screen and the digits of an answer, and the signatures of functions that write it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Protocol

from gradcli.report.document import Screen
from gradcli.results import Result
from gradcli.results.record import Record


class Appearance(Record):
    """How an answer is to appear.

    Attributes:
        form: The format, or the kind of file.
        screen: Where a table goes.
        digits: Significant digits that are shown; None for as many as it takes.
        theme: The ground of a figure: light or dark; "" for the usual one.
        path: The file, for messages; "" for none.
    """

    form: str
    screen: Screen = Screen()
    digits: int | None = None
    theme: str = ""
    path: str = ""


class TextRenderer(Protocol):
    """Writer of a format."""

    def __call__(self, answer: Result, shown: Appearance, /) -> Iterator[str]:
        """Write an answer, part by part: a matrix may fill the memory, and its text is larger."""


class FileRenderer(Protocol):
    """Writer of a kind of file."""

    def __call__(self, answer: Result, shown: Appearance, file: BinaryIO, /) -> None:
        """Write an answer to a file.

        Raises:
            GradcliError: The answer has nothing to write into a file of this kind.
        """
