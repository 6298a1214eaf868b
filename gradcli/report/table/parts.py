"""What tables have in common: the heading, matrices, formulas, the verdict and what does not agree.

On a terminal, a wide matrix is cut into blocks of columns; in a pipe, tables are as wide as they need.  Long axes show
their corners with the counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import (
    STYLES,
    WIDEST,
    Code,
    Screen,
    add_row,
    elements,
    ends,
    formula,
    new_table,
    text,
    title,
)
from gradcli.report.labels import entry, index
from gradcli.report.numbers import digits
from gradcli.report.wording import covered, judged, readings, sides, standing, statement
from gradcli.results import HVP, JVP, VJP, Answer, Array, Check, Checking, Differentiation, Finding, Judged, Rewrite


def heading(answer: Answer, y: str, screen: Screen) -> Iterator[Table | Text]:
    """The function, its inputs and its value."""
    yield title(Code(statement(answer)), screen)
    table = new_table(["", "shape", answer.dtype], screen)
    for name, array in answer.inputs.items():
        add_row(table, screen, name, shape_of(array), elements(array))
    add_row(table, screen, y, shape_of(answer.value), elements(answer.value))
    if isinstance(answer, VJP | Checking) and answer.v is not None:
        add_row(table, screen, "v", shape_of(answer.v), elements(answer.v))
    if isinstance(answer, JVP | HVP):
        for name, array in answer.u.items():
            label = "u" if list(answer.inputs) == [name] != ["u"] else f"u for {name}"
            add_row(table, screen, label, shape_of(array), elements(array))
    yield table


def quantities(header: str, arrays: Mapping[str, Array], wrt: Sequence[str], screen: Screen) -> Table:
    """An array per variable, with its shape."""
    table = new_table(["", "shape", header], screen)
    for name in wrt:
        add_row(table, screen, name, shape_of(arrays[name]), elements(arrays[name]))
    return table


def matrix(rows: Sequence[str], columns: Mapping[str, Sequence[str]], screen: Screen) -> Iterator[Table]:
    """A matrix by its labelled columns, in blocks that fit the screen."""
    widths = {label: max(map(len, [label, *cells])) + 3 for label, cells in columns.items()}
    room = (screen.width or WIDEST) - max(map(len, rows), default=0) - 4
    for block in _blocks(widths, room):
        table = new_table(["", *("…" if label.startswith("…") else label for label in block)], screen, numeric=True)
        for n, label in enumerate(rows):
            add_row(table, screen, label, *(columns[column][n] for column in block))
        yield table


def _blocks(widths: Mapping[str, int], room: int) -> Iterator[list[str]]:
    """Columns in order, as many at a time as fit."""
    block: list[str] = []
    used = 0
    for label, width in widths.items():
        if block and used + width > room:
            yield block
            block, used = [], 0
        block.append(label)
        used += width
    yield block


def labels(name: str, shape: tuple[int, ...]) -> dict[int, str]:
    """Flat positions with their names, `x[0]`, `x[1]`, …; only the ends of a long axis, -1 standing for the rest."""
    return {
        n: "…" if n < 0 else name + index(tuple(int(i) for i in np.unravel_index(n, shape))) if shape else name
        for n in ends(int(np.prod(shape, dtype=np.int64)))
    }


def formulas(answer: Differentiation, screen: Screen) -> Table:
    """A row for each formula, or for the reason why there is none."""
    table = new_table(["", ""], screen)
    for name in answer.wrt:
        if name in answer.symbolic:
            for cell in answer.symbolic[name].cells:
                add_row(table, screen, f"∂{cell.row}/∂{cell.column}", formula(cell, screen))
        else:
            add_row(table, screen, f"∂{answer.output}/∂{name}", f"none: {answer.symbolic_omitted[name]}")
    return table


def closed_form(answer: Differentiation, screen: Screen) -> Iterator[Table | Text]:
    """The formulas, or why there are none."""
    yield title("the derivative in closed form", screen)
    matrix = _classic(answer, screen)
    if matrix is not None:
        yield from matrix
    else:
        yield formulas(answer, screen)
    for note in sorted({found.note for found in answer.symbolic.values() if found.note}):
        yield text(note, screen)


def _classic(answer: Differentiation, screen: Screen) -> Iterator[Table] | None:
    """The formulas as a matrix, where they are written out: ∂y[i] in rows, the variables in columns."""
    cells = {
        (c.row, c.column): c for name in answer.wrt if name in answer.symbolic for c in answer.symbolic[name].cells
    }
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    is_full = len(cells) == len(rows) * len(columns) and len(answer.symbolic) == len(answer.wrt)
    if len(rows) < 2 or not is_full:
        return None
    texts = {f"∂/∂{column}": [formula(cells[row, column], screen) for row in rows] for column in columns}
    return matrix([f"∂{row}" for row in rows], texts, screen)


def cross_check(answer: Judged, screen: Screen) -> Iterator[Table | Text]:
    """The verdict, what it covers, and what does not agree, if that was asked."""
    if answer.check is not None:
        yield from coverage(answer.check, screen, readings(answer))
        yield from findings(answer.check, answer.output, screen)


def coverage(check: Check, screen: Screen, compared: str) -> Iterator[Table | Text]:
    """The verdict and what it covers."""
    yield title(f"the cross-check of {compared}", screen)
    table = new_table(["verdict", "entries checked", "largest relative error"], screen)
    entries, error = covered(check)
    add_row(table, screen, Text(standing(check), style=STYLES[check.verdict]), entries, error)
    yield table
    for note in check.notes:
        yield text(note, screen)


def safe_form(rewrite: Rewrite | None, screen: Screen) -> Iterator[Text]:
    """How to write the function better, if that is known."""
    if rewrite is not None:
        yield title("a safe way to write it", screen)
        yield text(Code(rewrite.expression), screen)
        yield text(f"{rewrite.reason}; its verdict here is {rewrite.verdict}", screen)


def findings(check: Check, y: str, screen: Screen) -> Iterator[Table | Text]:
    """What does not agree, and how to write the function better."""
    if check.findings:
        more = check.findings_count - len(check.findings)
        yield title(
            "what does not agree" + (f": the worst {len(check.findings)}, and {more:,} more" if more else ""), screen
        )
        yield _list(check, y, screen)
    yield from safe_form(check.rewrite, screen)


def _list(check: Check, y: str, screen: Screen) -> Table | Text:
    """A row each, or a paragraph each where the rows would not fit the screen."""
    headers = ["entry", "verdict", "torch", "truth", "why"]
    rows = [
        (
            entry(finding, y),
            judged(finding.verdict, proven=finding.proven),
            "" if finding.torch is None else digits(finding.torch),
            _truth(finding),
            finding.note,
        )
        for finding in check.findings
    ]
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    if sum(widths) + 3 * len(widths) + 1 > (screen.width or WIDEST):
        paragraphs = [f"{e}: {verdict}\n  torch {t}\n  truth {r}\n  {note}" for e, verdict, t, r, note in rows]
        return text("\n".join(paragraphs), screen)
    table = new_table(headers, screen)
    for (label, verdict, *rest), finding in zip(rows, check.findings, strict=True):
        add_row(table, screen, label, Text(verdict, style=STYLES[finding.verdict]), *rest)
    return table


def _truth(finding: Finding) -> str:
    """The number, or at a kink those of both sides."""
    if finding.one_sided is not None:
        return sides(finding.one_sided)
    return "none" if finding.reference is None else digits(finding.reference)


def shape_of(array: Array) -> str:
    """The shape as text."""
    return str(array.shape)
