"""Options of a check at points, next to a box or a line: what is said of each, and what can be asked instead."""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.errors import PointOptionError
from gradcli.option_words import option
from gradcli.parts.claims.structures import structures_of

_LINES: Mapping[str, tuple[str, str]] = {
    "symmetric": ("[[2,1],[1,2]]", "[[1,0],[0,1]]"),
    "spd": ("[[2,1],[1,2]]", "[[1,0],[0,1]]"),
    "diagonal": ("[[2,0],[0,1]]", "[[1,0],[0,1]]"),
    "triangular": ("[[2,0],[1,2]]", "[[1,0],[1,0]]"),
    "simplex": ("0.5,0.5", "1,-1"),
}
"""A value of each structure, and a direction in which it keeps the structure for t from 0 to 0.4."""


def require_of_boxes(of_points: Mapping[str, object], assume: Mapping[str, str] | None, statement: str) -> None:
    """Refuse options for points alone.

    Args:
        of_points: Their values by name; None and False of those that are not given.
        assume: Structures by variable, of which one option is.
        statement: The option that asks of a box or a line: `prove`, `along`, or "" where a range alone does.

    Raises:
        PointOptionError: There is an option.
    """
    first = next((name for name, one in of_points.items() if one is not None and one is not False), "")
    if not first:
        return
    message = f"{option(first)} is for points, and a box has every point of its ranges"
    structures = [(name, one.name) for name, one in structures_of(assume).items()] if first == "assume" else []
    if first == "shape":
        hint = f"a box of vectors has bounds of their shape: {option('in', 'x=[-1,-1]..[1,1]')}"
    elif structures and statement:
        name, structure = structures[0]
        message = f"{option(statement)} is of a box, and no box is of {structure} values alone"
        hint = _line_of(name, structure)
    elif statement:
        hint = f"leave it out, or {option(statement)}"
    else:
        hint = f"leave it out, or give points: {option('random', '100')}"
    raise PointOptionError(message, hint=hint)


def _line_of(name: str, structure: str) -> str:
    """Advise the box or the line of values of a structure on which a statement can be proved."""
    if structure not in _LINES and structure != "orthogonal":
        such = option("in", f"{name}=0.1..10" if name else "0.1..10")
        return f"give a range of such values in place of {option('assume')}: {such}"
    if structure not in _LINES:
        return f"without {option('prove')}, its derivative is checked at such values"
    value, direction = (f'"{name or "x"}={one}"' for one in _LINES[structure])
    line = f"{option('at', value)} {option('along', direction)} {option('in', 't=0..0.4')}"
    return f"leave out {option('assume')}, and ask along a line of such values: {line}"
