"""One file or several: what `--points` names, in order, and the keys that folders have in their names.

A folder `year=2024` says what the column `year` is in all files below it, as Hive writes them.
"""

from __future__ import annotations

import glob
import os
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from gradcli.errors import InputError

COMPRESSED = (".gz", ".zst")
"""The suffixes of compressed text."""

_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class PointsFile:
    """A file of rows.

    Attributes:
        path: Where it is, or `-`.
        keys: The columns that its folders name, with their cells.
    """

    path: str
    keys: Mapping[str, str] = field(default_factory=dict)


def listed(path: str) -> list[PointsFile]:
    """The files that a path, a folder or a pattern stands for, in the order of their names.

    Files whose names begin with a point or an underscore are not of the table.

    Raises:
        InputError: There is none.
    """
    if path == "-" or os.path.isfile(path):
        return [PointsFile(path)]
    if os.path.isdir(path):
        base, found = path, [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    elif glob.has_magic(path) and not os.path.lexists(path):
        base = os.path.dirname(path[: next(n for n, sign in enumerate(path) if sign in "*?[")])
        found = glob.glob(path, recursive=True)
    else:
        return [PointsFile(path)]
    kept = []
    for one in sorted(found):
        parts = PurePath(os.path.relpath(one, base or ".")).parts
        if os.path.isfile(one) and not any(part.startswith((".", "_")) for part in parts):
            keys = dict(part.split("=", 1) for part in parts[:-1] if "=" in part)
            kept.append(PointsFile(one, {name: _value(value) for name, value in keys.items()}))
    if not kept:
        what = f"the folder '{path}' has no files" if os.path.isdir(path) else f"no file fits '{path}'"
        raise InputError(f"{what} of rows", hint="name files that are there, such as --points 'data/*.parquet'")
    return kept


def _value(text: str) -> str:
    return "" if text == _NULL else urllib.parse.unquote(text)


def suffixes(path: str) -> tuple[str, str]:
    """The end of a path that says its format, and the one after it that says how it is compressed.

    >>> suffixes("a.CSV.gz"), suffixes("a.npy")
    (('.csv', '.gz'), ('.npy', ''))
    """
    stem, last = os.path.splitext(path)
    last = last.lower()
    return (os.path.splitext(stem)[1].lower(), last) if last in COMPRESSED else (last, "")
