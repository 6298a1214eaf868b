"""Compressed text: gzip by Python, zstd by pyarrow, a piece at a time in and out."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast


def decompressing(stream: BinaryIO, suffix: str) -> BinaryIO:
    """Open the text that a compressed file holds; what is damaged or cut short is found while it is read.

    Args:
        stream: The file.
        suffix: `.gz` or `.zst`.

    Raises:
        InputError: It is for pyarrow to read, which is not installed.
    """
    is_gzip = suffix == ".gz"
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream) if is_gzip else _zstd("CompressedInputStream", stream, "r"))


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
