"""Bytes to whole lines, a chunk at a time, with the number of the first line of each chunk."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Iterator
from typing import BinaryIO

from gradcli.errors import InputError, TooLargeError
from gradcli.files.decoding import unreadable

CHUNK = 2**20
"""Bytes that are read at a time: some ten thousand rows."""

LONGEST = 2**24
"""Bytes of a line: a row of half a million numbers of full length."""

_PATIENCE = 0.02
"""Seconds without a byte after which a pipe counts as waiting."""


class TextRows:
    """What the readers of text have in common: whole lines, and how far they have come."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._lines = Lines(stream, name)
        self._name = name
        self._chunks = self._lines.chunks()

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes that have been read, and that there are."""
        return self._lines.position, self._lines.size


class Lines:
    """The lines of a stream.

    Attributes:
        position: Bytes that have been read.
        size: Bytes that there are, where that is known.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        self.position = 0
        self.size, self._descriptor = _kind(stream)

    def chunks(self) -> Iterator[tuple[int, str]]:
        r"""Whole lines with `\n` alone at their ends, and the number of the first; none while a pipe waits.

        Raises:
            InputError: The stream cannot be read, or is no text.
            TooLargeError: A line is longer than `LONGEST`.
        """
        number, rest = 1, b""
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
                        f"row {number} of {self._name} is longer than {LONGEST // 2**20} MiB",
                        hint="a text of rows has a newline after each",
                    )
                continue
            whole, rest = rest + data[:cut], data[cut:]
            if whole or rest:
                text = self._text(whole or rest, number)
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
