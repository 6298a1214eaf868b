"""Columns by names that are those of variables but for capital letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.language.program.wengert import Shape
from gradcli.results import RowSource


def in_other_letters(
    name: str, names: Sequence[str], at: Mapping[str, object], source: RowSource
) -> tuple[tuple[str, ...], Shape] | None:
    """Find the one column whose name is that of a variable but for capital letters: `Price` of price."""
    if name in at:
        return None
    alike = [column for column in source.columns if column.casefold() == name.casefold() and column not in names]
    others = [other for other in names if other.casefold() == name.casefold()]
    is_one = len(alike) == len(others) == 1 and alike[0] not in source.twice
    return ((alike[0],), source.columns[alike[0]]) if is_one else None
