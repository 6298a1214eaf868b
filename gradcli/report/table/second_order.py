"""Answers of jvp, hessian and hvp as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement

from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import LONG, Screen, add_row, formula, new_table, text, title
from gradcli.report.numbers import digits
from gradcli.report.table.parts import cross_check, heading, labels, matrix, quantities
from gradcli.report.wording import NO_VARIABLE
from gradcli.results import HVP, JVP, Cell, Formula, Hessian

Parts = Iterator[Table | Text]

Omitted = str
"""Why there is no formula."""


def parts(answer: JVP | Hessian | HVP, screen: Screen) -> Parts:
    """Titles, tables and remarks, from top to bottom."""
    y = answer.output
    yield from heading(answer, y, screen)
    if not answer.wrt:
        yield text(NO_VARIABLE, screen)
        return
    match answer:
        case JVP():
            yield title("Ju, the Jacobian-vector product", screen)
            yield quantities("Ju", {y: answer.jvp}, [y], screen)
            yield title("the derivative along u in closed form", screen)
            yield from _list([("Ju", answer.symbolic or answer.symbolic_omitted)], screen)
        case Hessian():
            yield title("the gradient", screen)
            yield quantities("gradient", answer.grad, answer.wrt, screen)
            yield from _hessian(answer, screen)
            yield title("the second derivatives in closed form", screen)
            yield from _blocks(answer, screen)
        case HVP():
            yield title("the gradient", screen)
            yield quantities("gradient", answer.grad, answer.wrt, screen)
            yield title("Hu, the Hessian-vector product", screen)
            yield quantities("Hu", answer.hvp, answer.wrt, screen)
            yield title("the Hessian-vector product in closed form", screen)
            shown = [(f"Hu {name}", answer.symbolic.get(name) or answer.symbolic_omitted[name]) for name in answer.wrt]
            yield from _list(shown, screen)
    yield from cross_check(answer, screen)


def _hessian(answer: Hessian, screen: Screen) -> Parts:
    """All blocks as one matrix, the corners of each that is large."""
    sizes = {name: answer.grad[name].size for name in answer.wrt}
    total = sum(sizes.values())
    shown = f": {total:,} × {total:,} entries" if total * total > LONG else ""
    yield title(f"the Hessian of {answer.output} by {', '.join(answer.wrt)}{shown}", screen)
    if not total:
        yield text("empty, as there are no elements to differentiate by", screen)
        return
    places = {name: labels(name, answer.grad[name].shape) for name in answer.wrt}
    columns: dict[str, list[str]] = {}
    for b in answer.wrt:
        flat = {a: answer.hessian[a][b].reshape(sizes[a], sizes[b]) for a in answer.wrt}
        for j, label in places[b].items():
            cells = [digits(flat[a][i, j]) if i >= 0 <= j else "…" for a in answer.wrt for i in places[a]]
            columns[label if j >= 0 else f"…{b}"] = cells
    yield from matrix([label for a in answer.wrt for label in places[a].values()], columns, screen)


def _blocks(answer: Hessian, screen: Screen) -> Parts:
    """The formulas as a matrix where they fit one, else a block a row; those below the diagonal are transposes."""
    found = {
        (a, b): answer.symbolic.get(a, {}).get(b) or answer.symbolic_omitted[a][b]
        for a in answer.wrt
        for b in answer.wrt
    }
    cells = {(c.row, c.column): c for block in found.values() if isinstance(block, Formula) for c in block.cells}
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True)) if cells else ([], [])
    if len(rows) > 1 and len(cells) == len(rows) * len(columns) and all(isinstance(f, Formula) for f in found.values()):
        yield from _matrix(cells, rows, columns, screen)
        yield from _notes([block for block in found.values() if isinstance(block, Formula)], screen)
        return
    pairs = list(combinations_with_replacement(answer.wrt, 2))
    yield from _list([(_block(answer.output, a, b), found[a, b]) for a, b in pairs], screen)
    if len(answer.wrt) > 1:
        yield text("the other blocks are the transposes of these", screen)


def _block(y: str, a: str, b: str) -> str:
    return f"∂²{y}/∂{a}²" if a == b else f"∂²{y}/∂{a}∂{b}"


def _matrix(
    cells: Mapping[tuple[str, str], Cell], rows: Sequence[str], columns: Sequence[str], screen: Screen
) -> Parts:
    texts = {f"∂/∂{column}": [formula(cells[row, column], screen) for row in rows] for column in columns}
    yield from matrix([f"∂/∂{row}" for row in rows], texts, screen)


def _list(found: Sequence[tuple[str, Formula | Omitted]], screen: Screen) -> Parts:
    """A row for each formula with what it is of, or for the reason why there is none."""
    table = new_table(["", ""], screen)
    for name, block in found:
        if isinstance(block, Formula):
            for cell in block.cells:
                add_row(table, screen, cell.label.pretty, formula(cell, screen))
        else:
            add_row(table, screen, name, f"none: {block}")
    yield table
    yield from _notes([block for _, block in found if isinstance(block, Formula)], screen)


def _notes(found: Sequence[Formula], screen: Screen) -> Parts:
    for note in sorted({block.note for block in found if block.note}):
        yield text(note, screen)
