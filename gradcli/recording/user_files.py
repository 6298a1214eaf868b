"""Tell the user's own files from others: their lines are named in messages, and their functions are read."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

_LIBRARIES = (str(Path(__file__).parents[1]), os.path.dirname(os.__file__))
_INSTALLED = re.compile(r"[/\\\\](?:site|dist)-packages[/\\\\]|^<")


@functools.lru_cache(maxsize=4096)
def is_of_user(file: str) -> bool:
    """Tell whether a file is the user's: not of Python, of an installed package, or of this package."""
    return not file.startswith(_LIBRARIES) and not _INSTALLED.search(file)


@functools.lru_cache(maxsize=4096)
def line_of_file(file: str, line: int | None) -> str:
    """Name a line of the user's code."""
    return f"{Path(file).name}, line {line}"
