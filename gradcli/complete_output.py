"""Streams to open descriptors that write all they are given, or raise.

A raw stream of Python may write a part of what it is given: at the end of a disk or at the limit of a file, where a
signal comes, and into a pipe that is full and does not block.  It says so by a number, which the text stream over it
ignores under `PYTHONUNBUFFERED`: the rest is lost, and nobody is told.
"""

from __future__ import annotations

import io
import os
import sys

from gradcli.signals import wait_until_writable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class CompleteWriter(io.RawIOBase):
    """Raw stream to a descriptor; each write goes on until all bytes are written, or fails.

    Args:
        descriptor: An open one.
        name: Shown as the name of the stream.
        closefd: Whether closing the stream closes the descriptor.
    """

    def __init__(self, descriptor: int, name: str | int = "", *, closefd: bool = True) -> None:
        self.name = name or descriptor
        self._descriptor, self._closefd = descriptor, closefd

    def writable(self) -> bool:
        """Tell that the stream takes bytes."""
        return True

    def fileno(self) -> int:
        """Get the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Tell whether it is a terminal."""
        return os.isatty(self._descriptor)

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all bytes, waiting for the reader where the descriptor would not.

        Returns:
            The number of bytes given, all of which are written.

        Raises:
            OSError: The system refuses the rest.
        """
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                wait_until_writable(self._descriptor)
        return size

    def close(self) -> None:
        """Close the stream, and the descriptor if it is the stream's own."""
        if not self.closed:
            super().close()
            if self._closefd:
                os.close(self._descriptor)


def open_descriptor(descriptor: int) -> io.BufferedWriter:
    """Open a descriptor for writing bytes; closing the stream closes it."""
    return io.BufferedWriter(CompleteWriter(descriptor))


def text_output(descriptor: int, like: io.TextIOWrapper) -> io.TextIOWrapper:
    """Open a text stream to a descriptor, which stays open when the stream is closed.

    Args:
        descriptor: An open one.
        like: The stream whose name, encoding and buffering the new one has.
    """
    raw = CompleteWriter(descriptor, like.name, closefd=False)
    return io.TextIOWrapper(
        raw if isinstance(like.buffer, io.RawIOBase) else io.BufferedWriter(raw),
        like.encoding,
        like.errors,
        newline="\n" if os.linesep == "\n" else None,
        line_buffering=like.line_buffering,
        write_through=like.write_through,
    )


def complete_standard_streams() -> None:
    """Let standard output and standard error of this process write all that they are given."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        raw = getattr(getattr(stream, "buffer", None), "raw", getattr(stream, "buffer", None))
        if stream is getattr(sys, f"__{name}__") and type(raw) is io.FileIO:  # and no console of Windows
            stream.flush()
            complete = text_output(stream.fileno(), stream)
            setattr(sys, name, complete)
            setattr(sys, f"__{name}__", complete)
