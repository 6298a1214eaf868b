"""One run's files: which format a reference is in, and standard input, which can be read once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from gradcli.errors import GradcliError, InputError, Place
from gradcli.files.binary import MAGIC, Array, read_npy, read_npz
from gradcli.files.csv_tables import read_table
from gradcli.files.decoding import read_text, unreadable
from gradcli.files.locator import FORMATS, Reference, opened
from gradcli.files.nested import read_json


class Files:
    """What the references of one command line stand for.

    Standard input is opened when a reference asks for it, and never otherwise; it is not waited for on a terminal,
    where whoever types `@-` could as well type the value.
    """

    def __init__(self) -> None:
        self._reader_of_stdin: str | None = None

    def array(self, reference: str, source: str) -> Array:
        """The float64 array of a reference such as `x.npy`, `data.csv:price`, `answer.json:vjp.x` or `-`.

        Shapes: an .npy's own; of a table (n, m), (n,) for one column, (m,) for one row without a header and () for one
        number; of JSON that of the nested lists.

        Args:
            reference: The text after `@`.
            source: What asks, such as `--at x`, for messages.

        Raises:
            InputError: It cannot be read, or holds other than real numbers in the shape of an array.
            TooLargeError: It is larger than the stated bounds.
        """
        asked = Reference.of(reference)
        with self._opened(asked, source) as stream:
            name, part = asked.name, asked.part
            match asked.suffix:
                case ".npy":
                    return read_npy(stream, name, part)
                case ".npz":
                    return read_npz(stream, name, part)
                case ".json":
                    return read_json(read_text(stream, name), name, part)
                case suffix if suffix in FORMATS:
                    return read_table(read_text(stream, name), name, suffix, part)
                case _ if asked.is_stream:
                    return _guessed(stream, name, part)
            raise InputError(
                f"the name {name} does not say what format the file is in",
                hint=f"name it {', '.join(FORMATS)}; or pipe it into @-, where .npy, JSON and tables are told apart",
            )

    def text(self, reference: str, source: str) -> str:
        """The text of a file or of standard input, as UTF-8, without the newlines at its end.

        Raises:
            InputError: It cannot be read, is empty or is not text.
            TooLargeError: It is larger than the stated bound.
        """
        asked = Reference.whole(reference)
        with self._opened(asked, source) as stream:
            text = read_text(stream, asked.name).rstrip("\n")
            if not text.strip():
                raise InputError(f"{asked.name} is empty", hint='it must hold an expression, such as "x**2"')
            return text

    def stream(self, path: str, source: str, stack: ExitStack) -> tuple[BinaryIO, str]:
        """The bytes of a file or of standard input, to be read in order, and how messages call it; `stack` closes it.

        Raises:
            InputError: It cannot be opened.
        """
        asked = Reference.whole(path)
        try:
            return self._stdin(source) if asked.is_stdin else stack.enter_context(opened(asked)), asked.name
        except InputError as error:
            # Hints are for words such as @FILE, and a path has no sign before it.
            error.hint = error.hint and error.hint.replace("@FILE", "FILE").replace("@-", "-").replace(
                "@ reads", "name"
            )
            raise
        except OSError as error:
            raise unreadable(asked.name, error) from error

    @contextmanager
    def _opened(self, asked: Reference, source: str) -> Iterator[BinaryIO]:
        """The bytes of a reference; whatever goes wrong while they are read is marked under the reference."""
        place = Place(f"@{asked.text}", asked.span, source)
        try:
            if asked.is_stdin:
                yield self._stdin(source)
            else:
                with opened(asked) as stream:
                    yield stream
        except GradcliError as error:
            error.place = error.place or place
            raise
        except OSError as error:
            refused = unreadable(asked.name, error)
            refused.place = place
            raise refused from error

    def _stdin(self, source: str) -> BinaryIO:
        if self._reader_of_stdin is not None:
            raise InputError(
                f"standard input can be read once, and {self._reader_of_stdin} has read it",
                hint="put one of the two in a file, @FILE, or on the command line",
            )
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("standard input is closed", hint="pipe something into gradcli, or name a file, @FILE")
        if sys.stdin.isatty():
            raise InputError(
                "standard input is a terminal, and nothing is piped into gradcli",
                hint="pipe something into it, redirect a file with <, or type it on the command line",
            )
        self._reader_of_stdin = source
        return sys.stdin.buffer


def _guessed(stream: BinaryIO, name: str, part: str | None) -> Array:
    """What comes without a file name: .npy by its magic bytes, JSON by its bracket, else a table."""
    head = stream.read(len(MAGIC))
    if head == MAGIC:
        return read_npy(stream, name, part, head)
    if head.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{name} is an .npz or another zip archive, which is not read from a pipe",
            hint="write it to a file and give @FILE.npz:NAME",
        )
    text = read_text(stream, name, head)
    if text.lstrip().startswith(("[", "{")):
        return read_json(text, name, part)
    return read_table(text, name, "", part)
