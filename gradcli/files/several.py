"""The files that `--points` names, in order."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from pathlib import PurePath

from gradcli.errors import InputError


def listed(path: str) -> list[str]:
    """List the files of a path, a folder or a pattern, in the order of their names.

    Names that begin with a point or an underscore, and empty files, are passed over.

    Raises:
        InputError: There is none.
    """
    if os.path.isdir(path):
        base, found = path, list(_walked(path))
    elif path != "-" and glob.has_magic(path) and not os.path.lexists(path):
        base = os.path.dirname(path[: next(n for n, sign in enumerate(path) if sign in "*?[")])
        found = glob.glob(path, recursive=True)
    else:
        return [path]
    kept = []
    for one in sorted(found):
        parts = PurePath(os.path.relpath(one, base or ".")).parts
        is_empty = os.path.isfile(one) and not os.path.getsize(one)
        if not (is_empty or os.path.isdir(one) or any(part.startswith((".", "_")) for part in parts)):
            kept.append(one)
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
