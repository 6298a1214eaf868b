"""The parts, imported once: those of this package, and those that other packages add by entry points."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

from gradcli.errors import UsageError
from gradcli.parts.part import Part

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@lru_cache(maxsize=1)
def listed(names: tuple[str, ...], group: str) -> tuple[Part, ...]:
    """Import the parts of these packages, and load those that entry points of a group name."""
    own = tuple(import_module(name).PART for name in names)
    if not _is_used(group):
        return own
    from importlib.metadata import entry_points  # which takes as long as the help of the shell

    return (*own, *map(_loaded, entry_points(group=group)))


def _loaded(point: EntryPoint) -> Part:
    """Load the part that an entry point names.

    Raises:
        UsageError: There is none, it is no part, or importing it raises an error.
    """
    try:
        found = point.load()
        if not isinstance(found, Part):
            raise TypeError(f"it is no Part, and a {type(found).__name__}")
    except Exception as error:
        package = point.dist.name if point.dist else point.value
        message = f"the part '{point.name}' of the package {package} cannot be loaded: {error}"
        raise UsageError(message, hint=f"pip uninstall {package} takes it away") from error
    return found


def _is_used(group: str) -> bool:
    """Tell whether some installed package may have entry points of a group."""
    for folder in sys.path:
        try:
            found = [one.path for one in os.scandir(folder or ".") if one.name.endswith((".dist-info", ".egg-info"))]
        except OSError:  # no folder: an archive, or nothing
            continue
        if any(_has_text(os.path.join(path, "entry_points.txt"), f"[{group}]") for path in found):
            return True
    return False


def _has_text(path: str, text: str) -> bool:
    """Tell whether a file is there and has a text."""
    try:
        with open(path, encoding="utf-8") as file:
            return text in file.read()
    except OSError:
        return False
