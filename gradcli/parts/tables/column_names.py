"""Columns of variables by other names: but for capital and Greek letters, or where there is only one of each."""

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


def only_variable(variables: Sequence[str]) -> str:
    """Return the only variable, whose values a column without a name has; empty of several.

    An e next to it may be Euler's number.

    >>> only_variable(["x"]), only_variable(["e", "x"]), only_variable(["x", "y"])
    ('x', 'x', '')
    """
    others = [name for name in variables if name != "e"] or variables
    return others[0] if len(others) == 1 else ""
