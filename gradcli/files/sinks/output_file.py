"""Where bytes go: a file that has its name when it is whole and on the disk, or standard output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from gradcli.errors import OutputError
from gradcli.files.atomic import replacing


@dataclass(frozen=True)
class Target:
    """An open output.

    Attributes:
        file: What to write to.
        folder: Where there is room for temporary files.
        stack: Closes temporary files.
    """

    file: BinaryIO
    folder: str | None
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def is_seekable(self) -> bool:
        """Whether what was written can be written over."""
        return self.folder is not None


@contextmanager
def target(path: str) -> Iterator[Target]:
    """The output at a path, replaced when all is written, or at `-`.

    Raises:
        OSError: The system refuses, as it says.
        OutputError: There is no standard output.
    """
    if path == "-":
        yield from _stdout()
        return
    with replacing(path) as output:
        found = Target(output.file, output.folder)
        with found.stack:
            yield found


def _stdout() -> Iterator[Target]:
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")
    file = cast("BinaryIO", sys.stdout.buffer)
    found = Target(file, None)
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
