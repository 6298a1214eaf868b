"""The files that `--points` names, in order, and the keys in the names of their folders.

A folder `year=2024` says what the column `year` is in all files below it, as Hive writes them.
"""

from __future__ import annotations

import glob
import os
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import PurePath

from gradcli.errors import InputError
from gradcli.files.reader import FileReference
from gradcli.results.record import Record

COMPRESSED = (".gz", ".zst")
"""The suffixes of compressed text."""

_NULL = "__HIVE_DEFAULT_PARTITION__"


class PointsFile(Record):
    """A file of rows.

    Attributes:
        path: Where it is, or `-`.
        keys: The columns that its folders name, with their cells.
    """

    path: str
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_stream(self) -> bool:
        """Whether it is read once, and from its beginning."""
        return FileReference.whole(self.path).is_stream


def listed(path: str) -> list[PointsFile]:
    """List the files of a path, a folder or a pattern, in the order of their names.

    Names that begin with a point or an underscore, and empty files, are passed over.

    Raises:
        InputError: There is none.
    """
    if path == "-" or os.path.isfile(path):
        return [PointsFile(path)]
    if os.path.isdir(path):
        base, found = path, list(_walked(path))
    elif glob.has_magic(path) and not os.path.lexists(path):
        base = os.path.dirname(path[: next(n for n, sign in enumerate(path) if sign in "*?[")])
        found = glob.glob(path, recursive=True)
    else:
        return [PointsFile(path)]
    kept = []
    for one in sorted(found):
        parts = PurePath(os.path.relpath(one, base or ".")).parts
        is_empty = os.path.isfile(one) and not os.path.getsize(one)
        if not (is_empty or os.path.isdir(one) or any(part.startswith((".", "_")) for part in parts)):
            pairs = (map(urllib.parse.unquote, part.split("=", 1)) for part in parts[:-1] if "=" in part)
            kept.append(PointsFile(one, {name: "" if value == _NULL else value for name, value in pairs}))
    if not kept:
        what = f"the folder '{path}' has no files of rows" if os.path.isdir(path) else f"no file fits '{path}'"
        raise InputError(what, hint="name files that are there, such as --points 'data/*.parquet'")
    return kept


def _walked(path: str) -> Iterator[str]:
    """Walk the files below a folder, through links too, each folder once.

    Raises:
        InputError: A folder cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise InputError(f"the folder '{error.filename}' cannot be read: {error.strerror}")

    seen: set[str] = set()
    for folder, inner, names in os.walk(path, onerror=refuse, followlinks=True):
        if (real := os.path.realpath(folder)) in seen:
            inner.clear()
            continue
        seen.add(real)
        yield from (os.path.join(folder, name) for name in names)


def suffixes(path: str) -> tuple[str, str]:
    """Split off the suffix of the format, and the suffix of the compression after it.

    >>> suffixes("a.CSV.gz"), suffixes("a.npy")
    (('.csv', '.gz'), ('.npy', ''))
    """
    stem, last = os.path.splitext(path)
    last = last.lower()
    return (os.path.splitext(stem)[1].lower(), last) if last in COMPRESSED else (last, "")
