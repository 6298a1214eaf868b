"""A file written whole or not at all: next to its place, under another name, and renamed at the end."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from gradcli.complete_output import open_descriptor
from gradcli.errors import OutputError
from gradcli.signals import undone

_LONGEST = 100
"""Bytes of a name that its temporary file repeats."""

TEMPORARY = ".part"
"""End of the name of a file that is being written."""

_STREAM = re.compile(r"/dev/(?:(stdout|stderr)|fd/(\d{1,9}))")
"""Paths of streams that are open already; behind the name may be a file that others write to as well."""


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Open a temporary file, which replaces the one at a path when all is written.

    A regular file is written beside its name and gets it when all of it is on the disk, with the rights of the one that
    was there; that one stays as it is until then, or for good if it is read-only.  Whatever ends the block otherwise, a
    signal too, removes what was written.  A device, a pipe or an open file, such as `/dev/stdout`, is written to as it
    is, and a link keeps pointing where it does.

    Raises:
        OSError: The system refuses, as it says.
    """
    stream, final = _STREAM.fullmatch(path), os.path.realpath(path)
    before = os.stat(final) if stream is None and os.path.exists(final) else None
    if stream is not None or (before is not None and not stat.S_ISREG(before.st_mode)):
        number = stream and ({"stdout": 1, "stderr": 2}.get(stream[1]) or int(stream[2]))
        # A copy of the descriptor, so that closing this output leaves the program its own.
        with open(final, "wb") if number is None else open_descriptor(os.dup(number)) as open_file:
            yield open_file
        return
    if before is not None and not os.access(final, os.W_OK):  # which renaming another over it would not heed
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    folder, name = os.path.split(final)
    # In the same folder, as a rename is atomic only inside of one file system.
    temporary = os.path.join(folder, f".{_cut(name)}.{secrets.token_hex(6)}{TEMPORARY}")

    def remove() -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)

    with undone(remove):
        try:
            with open(temporary, "x+b") as file:
                if before is not None:
                    os.chmod(temporary, stat.S_IMODE(before.st_mode))
                yield cast("BinaryIO", file)
                file.flush()
                # Before the rename: after a crash the name must not stand for an empty file.
                os.fsync(file.fileno())
            os.replace(temporary, final)
        finally:
            remove()
        _sync_folder(folder)


def _cut(name: str) -> str:
    """Cut a name to the bytes that file systems allow, as a temporary name is longer than the final one."""
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
def target(path: str) -> Iterator[BinaryIO]:
    """Open the output at a path, replaced when all is written, or at `-`.

    Raises:
        OSError: The system refuses, as it says.
        OutputError: There is no standard output.
    """
    if path != "-":
        with replacing(path) as file:
            yield file
        return
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")
    try:
        sys.stdout.flush()
        yield cast("BinaryIO", sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except OSError:
        # What could not be written is dropped, or Python would try again at exit and complain.
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise
