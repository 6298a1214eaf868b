"""Where bytes go: a file that has its name when it is whole and on the disk, or standard output."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from gradcli.errors import OutputError


@dataclass(frozen=True)
class Target:
    """An open output.

    Attributes:
        file: What to write to.
        folder: Where there is room for temporary files.
        is_seekable: Whether what was written can be written over.
        stack: Closes temporary files.
    """

    file: BinaryIO
    folder: str | None
    is_seekable: bool
    stack: ExitStack = field(default_factory=ExitStack)


@contextmanager
def target(path: str) -> Iterator[Target]:
    """The output at a path, or at `-`.

    A regular file is written beside its final name, and gets it when all is written; what was there before stays
    until then.  Whatever ends the block otherwise removes the temporary file.

    Raises:
        OSError: The system refuses, as it says.
        OutputError: There is no standard output.
    """
    if path == "-":
        yield from _stdout()
        return
    final = os.path.realpath(path)
    before = os.stat(final) if os.path.exists(final) else None
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(path, "wb") as file:
            yield Target(file, None, is_seekable=False)
        return
    folder = os.path.dirname(final)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(final)[:100]}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            os.chmod(temporary, stat.S_IMODE(before.st_mode) if before is not None else 0o666 & ~_umask())
            yield Target(file, folder, is_seekable=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, final)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    _sync_folder(folder)


def _stdout() -> Iterator[Target]:
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")
    file = cast("BinaryIO", sys.stdout.buffer)
    try:
        sys.stdout.flush()
        yield Target(file, None, is_seekable=False)
        file.flush()
    except OSError:
        # What could not be written is dropped, or Python would try again at exit and complain.
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.suppress(OSError, ValueError):
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found


def _sync_folder(folder: str) -> None:
    """Put the new name on the disk too, where a folder can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
