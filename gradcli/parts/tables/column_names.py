"""Columns by names that are those of variables but for capital and Greek letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.language.program.wengert import Shape
from gradcli.language.text.greek import spelled_out
from gradcli.results import RowSource


def in_other_letters(
    name: str, names: Sequence[str], at: Mapping[str, object], source: RowSource
) -> tuple[tuple[str, ...], Shape] | None:
    """Find the one column whose name is that of a variable but for its letters: `Price` of price, `lambda` of λ."""
    if name in at:
        return None
    plain = spelled_out(name).casefold()
    alike = [column for column in source.columns if spelled_out(column).casefold() == plain and column not in names]
    others = [other for other in names if spelled_out(other).casefold() == plain]
    is_one = len(alike) == len(others) == 1 and alike[0] not in source.twice
    return ((alike[0],), source.columns[alike[0]]) if is_one else None
