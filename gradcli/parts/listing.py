"""The parts, imported once."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from gradcli.parts.part import Part


@lru_cache(maxsize=1)
def listed(names: tuple[str, ...]) -> tuple[Part, ...]:
    """Import the parts of these packages."""
    return tuple(import_module(name).PART for name in names)


@lru_cache(maxsize=1)
def of_other_packages(group: str) -> tuple[Part, ...]:
    """Load the parts that other packages add by entry points of a group."""
    from importlib.metadata import entry_points

    return tuple(point.load() for point in entry_points(group=group))
