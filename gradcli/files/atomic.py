"""A file that is there whole or not at all: written beside its name, which it gets at the end."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from gradcli.errors import OutputError
from gradcli.signals import undone

_LONGEST = 100
"""Bytes of a name that its temporary file repeats."""

_STREAM = re.compile(r"/dev/(?:(stdout|stderr)|fd/(\d{1,9}))")
"""What is open already; behind the name may be a file that others write to as well."""


@dataclass(frozen=True)
class OutputFile:
    """An open output.

    Attributes:
        file: What to write to.
        folder: Where it gets its name, with room for temporary files; None where it is written to as it is, and what
            was written stays written.
        stack: Closes temporary files.
    """

    file: BinaryIO
    folder: str | None = None
    stack: ExitStack = field(default_factory=ExitStack)


@contextmanager
def replacing(path: str) -> Iterator[OutputFile]:
    """The new content of the file at a path, to write to.

    A regular file is written beside its name and gets it when all of it is on the disk, with the rights of the one that
    was there; that one stays as it is until then, or for good if it is read-only.  Whatever ends the block otherwise, a
    signal too, removes what was written.  A device, a pipe or an open file, such as `/dev/stdout`, is written to as it
    is, and a link keeps pointing where it does.

    Raises:
        OSError: The system refuses, as it says.
    """
    stream = _STREAM.fullmatch(path)
    if stream is not None:
        number = {"stdout": 1, "stderr": 2}.get(stream[1]) or int(stream[2])
        # A copy of the descriptor, so that closing this output leaves the program its own.
        with os.fdopen(os.dup(number), "wb") as open_file:
            yield OutputFile(open_file)
        return
    final = os.path.realpath(path)
    before = os.stat(final) if os.path.exists(final) else None
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(final, "wb") as device:
            yield OutputFile(device)
        return
    if before is not None and not os.access(final, os.W_OK):  # which renaming another over it would not heed
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    folder, name = os.path.split(final)
    # In the same folder, as a rename is atomic only inside of one file system.
    temporary = os.path.join(folder, f".{_cut(name)}.{secrets.token_hex(6)}.part")

    def remove() -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)

    with undone(remove):
        try:
            with open(temporary, "x+b") as file:
                if before is not None:
                    os.chmod(temporary, stat.S_IMODE(before.st_mode))
                yield OutputFile(cast("BinaryIO", file), folder)
                file.flush()
                # Before the rename: after a crash the name must not stand for an empty file.
                os.fsync(file.fileno())
            os.replace(temporary, final)
        finally:
            remove()
        _sync_folder(folder)


def _cut(name: str) -> str:
    """The beginning of a name: file systems count bytes, and a temporary name is longer than the final one."""
    return name.encode("utf-8", "surrogateescape")[:_LONGEST].decode("utf-8", "ignore")


def _sync_folder(folder: str) -> None:
    """Put the new name on the disk too, where a folder can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def target(path: str) -> Iterator[OutputFile]:
    """The output at a path, replaced when all is written, or at `-`.

    Raises:
        OSError: The system refuses, as it says.
        OutputError: There is no standard output.
    """
    if path == "-":
        yield from _stdout()
        return
    with replacing(path) as found, found.stack:
        yield found


def _stdout() -> Iterator[OutputFile]:
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")
    file = cast("BinaryIO", sys.stdout.buffer)
    found = OutputFile(file, None)
    try:
        sys.stdout.flush()
        with found.stack:
            yield found
        file.flush()
    except OSError:
        # What could not be written is dropped, or Python would try again at exit and complain.
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise
