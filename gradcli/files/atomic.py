"""A file that is there whole or not at all: written beside its name, which it gets at the end."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import BinaryIO, cast

_STREAM = re.compile(r"/dev/(?:(stdout|stderr)|fd/(\d{1,9}))")
"""What is open already; behind the name may be a file that others write to as well."""

TERMINATED = 143
"""Exit code after a SIGTERM: 128 + SIGTERM."""


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """The new content of the file at a path, to write to.

    A regular file is written beside its name and gets it when all of it is on the disk, with the rights of the one that
    was there; that one stays as it is until then.  Whatever ends the block otherwise, SIGTERM too, removes what was
    written.  A device, a pipe or an open file, such as `/dev/stdout`, is written to as it is,
    and a link keeps pointing where it does.

    Raises:
        OSError: The system refuses, as it says.
    """
    stream = _STREAM.fullmatch(path)
    if stream is not None:
        number = {"stdout": 1, "stderr": 2}.get(stream[1]) or int(stream[2])
        with os.fdopen(os.dup(number), "wb") as open_file:
            yield open_file
        return
    final = os.path.realpath(path)
    before = os.stat(final) if os.path.exists(final) else None
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(final, "wb") as device:
            yield device
        return
    folder, name = os.path.split(final)
    rights = 0o666 & ~_umask() if before is None else stat.S_IMODE(before.st_mode)
    with _terminable():
        descriptor, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=".part", dir=folder)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                os.chmod(temporary, rights)
                yield cast("BinaryIO", file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, final)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        _sync_folder(folder)


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends the block as an exception does, where it would end the process on the spot."""
    is_ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is (
        signal.SIG_DFL
    )
    if is_ours:
        signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(TERMINATED)


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
