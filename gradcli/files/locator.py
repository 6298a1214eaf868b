"""The text after `@`: a path or `-`, and after a colon the part of it that is meant; and how a path is opened."""

from __future__ import annotations

import itertools
import os
import re
import stat
from dataclasses import dataclass
from typing import BinaryIO

from gradcli.errors import InputError, Span, did_you_mean

FORMATS = (".npy", ".npz", ".csv", ".tsv", ".txt", ".dat", ".json")
"""The suffixes that say what format a file is in."""

_LONGEST = 4_096
"""Characters of a reference that is searched for colons: the longest path of Linux."""

_MOST_SIBLINGS = 2_000
"""File names of a directory that a misspelt name is compared with."""

_STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

_OF_THE_SHELL = re.compile(r"/(?:dev|proc/self)/fd/\d+")
"""What `<(command)` becomes: a pipe that has a writer, unlike one that lies in a directory."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A path, or a name of standard input, and the part after a colon: a column, a key, the name of an array."""

    text: str
    path: str
    part: str | None

    @classmethod
    def whole(cls, text: str) -> Reference:
        """The reference that is a path and nothing else."""
        return cls(text, text, None)

    @classmethod
    def of(cls, text: str) -> Reference:
        """The longest path that exists, colons and all; where none does, the one that ends in a known suffix.

        >>> Reference.of("-:price").part, Reference.of("nowhere.csv:price").path
        ('price', 'nowhere.csv')
        """
        if text in _STDIN or len(text) > _LONGEST or os.path.lexists(text):
            return cls.whole(text)
        colons = [position for position, character in enumerate(text) if character == ":"]
        existing = (at for at in reversed(colons) if text[:at] in _STDIN or os.path.lexists(text[:at]))
        spelt = (at for at in colons if _suffix(text[:at]) in FORMATS)
        at = next(itertools.chain(existing, spelt), None)
        return cls.whole(text) if at is None else cls(text, text[:at], text[at + 1 :])

    @property
    def span(self) -> Span:
        """The range of the reference in the text as typed, behind the `@`."""
        return Span(1, 1 + len(self.text)) if self.text else Span(0, 1)

    @property
    def name(self) -> str:
        """How a message calls it."""
        return "standard input" if self.is_stdin else f"'{self.path}'"

    @property
    def is_stdin(self) -> bool:
        """Whether the path is one of the names of standard input."""
        return self.path in _STDIN

    @property
    def is_stream(self) -> bool:
        """Whether it comes through a pipe of the shell, without a file name that says its format."""
        return self.is_stdin or _OF_THE_SHELL.fullmatch(self.path) is not None

    @property
    def suffix(self) -> str:
        """The end of the path that says the format, in small letters."""
        return "" if self.is_stream else _suffix(self.path)


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def opened(reference: Reference) -> BinaryIO:
    """The file, if it is a regular one or a pipe of the shell; others could wait or flow for ever.

    Raises:
        InputError: There is no such file, or it is of another kind.
        OSError: The system refuses, as it says.
    """
    path = reference.path
    if not path:
        raise InputError("there is no path after @", hint="write @FILE, or @- for standard input")
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        hint = _sibling(path) or "@ reads a file, by its path from the current directory; @- reads standard input"
        raise InputError(f"there is no file {reference.name}", hint=hint) from error
    except ValueError as error:
        raise InputError(
            f"{reference.name} is not a path",
            hint="a path has no null characters, and none that the system cannot encode",
        ) from error
    if stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and reference.is_stream):
        return open(path, "rb")
    if stat.S_ISDIR(mode):
        raise InputError(f"{reference.name} is a directory", hint="name a file in it")
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
    raise InputError(f"{reference.name} is {kind}, not a regular file", hint=f"redirect it, < {path}, and give @-")


def _sibling(path: str) -> str | None:
    """The hint with the closest file name of the same directory."""
    folder, word = os.path.split(path)
    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in itertools.islice(entries, _MOST_SIBLINGS)]
    except OSError:
        return None
    return did_you_mean(word, names)
