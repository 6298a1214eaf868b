"""Compressed text: gzip by Python, zstd by pyarrow, a piece at a time in and out."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from gradcli.errors import InputError


class Decompressed:
    """The bytes that a compressed file holds.

    Args:
        stream: The file.
        suffix: `.gz` or `.zst`.
        name: What messages call it.

    Raises:
        InputError: It is for pyarrow to read, which is not installed.
    """

    def __init__(self, stream: BinaryIO, suffix: str, name: str) -> None:
        self._name = name
        is_gzip = suffix == ".gz"
        self._stream: Any = gzip.GzipFile(fileobj=stream) if is_gzip else _zstd("CompressedInputStream", stream, "r")

    def read(self, size: int) -> bytes:
        """Some bytes, none at the end.

        Raises:
            InputError: They are damaged, or are cut short.
        """
        try:
            return bytes(self._stream.read(size))
        except (EOFError, zlib.error, OSError, ValueError) as error:
            said = str(error).partition("\n")[0]
            raise InputError(f"{self._name} cannot be decompressed: {said}", hint="compress or copy it again") from None

    def seekable(self) -> bool:
        """Nothing seeks in it."""
        return False


@contextmanager
def compressing(file: BinaryIO, suffix: str) -> Iterator[BinaryIO]:
    """Compress what is written to a file, as its suffix says, which leaves it open.

    Args:
        file: Where to write.
        suffix: `.gz`, `.zst`, or none, which compresses nothing.
    """
    match suffix:
        case ".gz":
            # Without a name and a time, so that the same rows are the same bytes.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0, compresslevel=6) as packed:
                yield cast("BinaryIO", packed)
        case ".zst":
            file.flush()
            with os.fdopen(os.dup(file.fileno()), "wb") as copy:  # which pyarrow closes
                packed = _zstd("CompressedOutputStream", copy, "w")
                yield packed
                packed.close()
        case _:
            yield file


def _zstd(kind: str, file: BinaryIO, mode: str) -> Any:
    from gradcli.files.columnar import pyarrow

    pa = pyarrow()
    return getattr(pa, kind)(pa.PythonFile(file, mode), "zstd")
