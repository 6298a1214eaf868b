"""The text after `@`: a path or `-`, and a part of the file after a colon; and how one run reads its files."""

from __future__ import annotations

import itertools
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, BinaryIO

from gradcli import option_words
from gradcli.errors import GradcliError, InputError, Place, Span

if TYPE_CHECKING:
    from gradcli.arrays import Array


FILE_SUFFIXES = (".npy", ".npz", ".csv", ".tsv", ".txt", ".dat", ".json")
"""The suffixes that say what format a file is in."""

_LONGEST = 4_096
"""Characters of a reference that is searched for colons: the longest path of Linux."""

_MOST_SIBLINGS = 2_000
"""File names of a directory that a misspelt name is compared with."""

_STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

_OF_THE_SHELL = re.compile(r"/(?:dev|proc/self)/fd/\d+")
"""Path that `<(command)` becomes: a pipe that has a writer, unlike one that lies in a directory."""


@dataclass(frozen=True, slots=True)
class FileReference:
    """A path, or a name of standard input, and the part after a colon: a column, a key, the name of an array."""

    text: str
    path: str
    part: str | None

    @classmethod
    def whole(cls, text: str) -> FileReference:
        """Make a reference that is a path and nothing else."""
        return cls(text, text, None)

    @classmethod
    def parse(cls, text: str) -> FileReference:
        """Split off the longest existing path, colons and all; where none exists, the one with a known suffix.

        >>> FileReference.parse("-:price").part, FileReference.parse("nowhere.csv:price").path
        ('price', 'nowhere.csv')
        """
        if text in _STDIN or len(text) > _LONGEST or os.path.lexists(text):
            return cls.whole(text)
        colons = [position for position, character in enumerate(text) if character == ":"]
        existing = (at for at in reversed(colons) if text[:at] in _STDIN or os.path.lexists(text[:at]))
        spelt = (at for at in colons if _suffix(text[:at]) in FILE_SUFFIXES)
        at = next(itertools.chain(existing, spelt), None)
        return cls.whole(text) if at is None else cls(text, text[:at], text[at + 1 :])

    @property
    def span(self) -> Span:
        """The range of the reference in the text as typed, behind the `@`."""
        return Span(1, 1 + len(self.text)) if self.text else Span(0, 1)

    @property
    def name(self) -> str:
        """Name of the file in messages."""
        return "standard input" if self.is_stdin else f"'{self.path}'"

    @property
    def is_stdin(self) -> bool:
        """Tell whether the path is one of the names of standard input."""
        return self.path in _STDIN

    @property
    def is_stream(self) -> bool:
        """Tell whether it comes through a pipe of the shell, without a file name that says its format."""
        return self.is_stdin or _OF_THE_SHELL.fullmatch(self.path) is not None

    @property
    def suffix(self) -> str:
        """The end of the path that says the format, in small letters."""
        return "" if self.is_stream else _suffix(self.path)


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def opened(reference: FileReference) -> BinaryIO:
    """Open a regular file or a pipe of the shell; others could wait or flow for ever.

    Raises:
        InputError: There is no such file, or it is of another kind.
        OSError: The system refuses, as it says.
    """
    path = reference.path
    if not path:
        raise InputError("there is no path after @", hint="write @FILE, or @- for standard input")
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        hint = _sibling(reference) or "@ reads a file, by its path from the current directory; @- reads standard input"
        raise InputError(f"there is no file {reference.name}", hint=hint) from None
    except ValueError:
        raise InputError(
            f"{reference.name} is not a path",
            hint="a path has no null characters, and none that the system cannot encode",
        ) from None
    if stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and reference.is_stream):
        return open(path, "rb")
    if stat.S_ISDIR(mode):
        raise InputError(f"{reference.name} is a directory", hint="name a file in it")
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
    raise InputError(f"{reference.name} is {kind}, not a regular file", hint=f"redirect it, < {path}, and give @-")


def unreadable(name: str, error: OSError, place: Place | None = None) -> InputError:
    """Return the error for a file or a stream that cannot be read."""
    reason = (error.strerror or str(error)).lower()
    return InputError(f"{name} cannot be read: {reason}", place=place, hint="it must be a file that you may read")


def _sibling(reference: FileReference) -> str | None:
    """Write the hint with the closest file name of the same directory, of a file that has the part asked for."""
    folder, word = os.path.split(reference.path)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in itertools.islice(entries, _MOST_SIBLINGS)]
    except OSError:
        return None
    # A common suffix makes no two names alike.
    stem = os.path.splitext(word)[0]
    close = get_close_matches(stem, dict.fromkeys(os.path.splitext(name)[0] for name in sorted(names)), 1, 0.7)
    alike = [name for name in names if os.path.splitext(name)[0] in close]
    found = next(iter(get_close_matches(word, alike, 1, 0.0)), "")
    return f"did you mean '{found}'?" if found and _has_part(os.path.join(folder, found), reference) else None


def _has_part(path: str, reference: FileReference) -> bool:
    """Tell whether a file can be read as another one was to be, where that was a part: a column, a key, an array."""
    if reference.part is None:
        return True
    try:
        Files().array(f"{path}:{reference.part}", "")
    except GradcliError:
        return False
    return True


class Files:
    """Reader of the files and the standard input that one command line refers to.

    Standard input is opened when a reference asks for it, and never otherwise; it is not waited for on a terminal,
    where whoever types `@-` could as well type the value.
    """

    _reader_of_stdin: str | None = None

    def array(self, reference: str, source: str) -> Array:
        """Read the float64 array of a reference such as `x.npy`, `data.csv:price`, `answer.json:vjp.x` or `-`.

        Shapes: an .npy's own; of a table (n, m), (n,) for one column, (m,) for one row without a header and () for one
        number; of JSON that of the nested lists.

        Args:
            reference: The text after `@`.
            source: What asks, such as `--at x`, for messages.

        Raises:
            InputError: It cannot be read, or holds other than real numbers in the shape of an array.
            TooLargeError: It is larger than the stated bounds.
        """
        asked = FileReference.parse(reference)
        with self._opened(asked, source) as stream:
            if asked.suffix in FILE_SUFFIXES or asked.is_stream:
                return _read(stream, asked)
            raise InputError(
                f"the name {asked.name} does not say what format the file is in",
                hint=f"name it {', '.join(FILE_SUFFIXES)}; "
                "or pipe it into @-, where .npy, JSON and tables are told apart",
            )

    def text(self, reference: str, source: str) -> str:
        """Read a file or standard input as UTF-8, without the newlines at its end.

        Raises:
            InputError: It cannot be read, is empty or is not text.
            TooLargeError: It is larger than the stated bound.
        """
        from gradcli.files.decoding import read_text

        asked = FileReference.whole(reference)
        with self._opened(asked, source) as stream:
            text = read_text(stream, asked.name).rstrip("\n")
            if not text.strip():
                raise InputError(f"{asked.name} is empty", hint='it must hold an expression, such as "x**2"')
            return text

    def stream(self, path: str, source: str, stack: ExitStack) -> tuple[BinaryIO, str]:
        """Open a file or standard input, to be read in order, and name it for messages; `stack` closes it.

        Raises:
            InputError: It cannot be opened.
        """
        asked = FileReference.whole(path)
        try:
            return self._stdin(source) if asked.is_stdin else stack.enter_context(opened(asked)), asked.name
        except InputError as error:
            # Hints are for words such as @FILE, and a path has no sign before it.
            hint = error.text.hint or ""
            error.advise(hint.replace("@FILE", "FILE").replace("@-", "-").replace("@ reads", "name") or None)
            raise
        except OSError as error:
            raise unreadable(asked.name, error) from None

    @contextmanager
    def _opened(self, asked: FileReference, source: str) -> Iterator[BinaryIO]:
        """Open a reference; an error while it is read is marked under the reference."""
        place = Place(f"@{asked.text}", asked.span, source)
        try:
            with ExitStack() as stack:
                yield self._stdin(source) if asked.is_stdin else stack.enter_context(opened(asked))
        except GradcliError as error:
            error.place = error.place or place
            raise
        except OSError as error:
            raise unreadable(asked.name, error, place) from None

    def _stdin(self, source: str) -> BinaryIO:
        if self._reader_of_stdin is not None:
            raise InputError(
                f"standard input can be read once, and {option_words.source(self._reader_of_stdin)} has read it",
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


def _read(stream: BinaryIO, asked: FileReference) -> Array:
    """Read the array of a stream; without a file name, .npy is known by its magic bytes, and JSON by its bracket."""
    from gradcli.files.binary import MAGIC, read_npy, read_npz  # which a run without files needs not
    from gradcli.files.csv_tables import read_table
    from gradcli.files.decoding import read_json, read_text

    name, part, suffix = asked.name, asked.part, asked.suffix
    head = b"" if suffix else stream.read(len(MAGIC))
    if suffix == ".npy" or head == MAGIC:
        return read_npy(stream, name, part, head)
    if suffix == ".npz":
        return read_npz(stream, name, part)
    if head.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{name} is an .npz or another zip archive, which is not read from a pipe",
            hint="write it to a file and give @FILE.npz:NAME",
        )
    text = read_text(stream, name, head)
    if suffix == ".json" or (not suffix and text.lstrip().startswith(("[", "{"))):
        return read_json(text, name, part)
    return read_table(text, name, suffix, part)
