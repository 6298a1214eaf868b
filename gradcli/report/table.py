"""Answers as rich tables that never lose a digit.

On a terminal, a wide Jacobian is cut into blocks of columns and long cells fold; in a pipe, tables are as wide as they
need.  Long axes show their corners with the counts.  Every cell is plain text: rich's markup would eat `x[0]`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from gradcli.report.numbers import digits
from gradcli.results import VJP, Answer, Array, Cell, Check, Differentiation, Finding, Gradient, Verdict

EDGE = 3
"""Elements shown at either end of a long axis."""

LONG = 12
"""Elements of an axis from which on only its ends are shown."""

WIDEST = 10_000
"""Columns of text of a table in a pipe."""

LONG_EXPRESSION = 400
"""Characters of an expression that are repeated above the tables."""

_STYLES: Mapping[Verdict, str] = {
    "agree": "bold green",
    "unchecked": "bold yellow",
    "inaccurate": "bold magenta",
    "nan-trap": "bold red",
    "undefined": "bold yellow",
    "disagree": "bold red",
}

_ASCII = str.maketrans({"∂": "d", "ᵀ": "T", "…": "..."})


@dataclass(frozen=True, slots=True)
class Screen:
    """Where tables go: the width of the terminal (None in a pipe), and what it can show."""

    width: int | None = None
    ascii: bool = False
    color: bool = False


def render(answer: Answer, screen: Screen) -> str:
    """The whole answer as text."""
    parts = list(_parts(answer, screen))
    out = io.StringIO()
    console = _console(screen, out, WIDEST)
    needed = max(Measurement.get(console, console.options, part).maximum for part in parts)
    console = _console(screen, out, min(needed, screen.width or WIDEST))
    for part in parts:
        console.print(part)
    return "".join(line.rstrip(" ") + "\n" for line in out.getvalue().splitlines())


def _console(screen: Screen, out: io.StringIO, width: int) -> Console:
    return Console(
        file=out,
        width=width,
        force_terminal=screen.color,
        color_system="standard" if screen.color else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )


def _parts(answer: Answer, screen: Screen) -> Iterator[Table | Text]:
    """Titles, tables and remarks, from top to bottom."""
    y = answer.output
    yield from _function(answer, y, screen)
    if isinstance(answer, Differentiation) and not answer.wrt:
        yield _text("there is no variable to differentiate by", screen)
        return
    match answer:
        case VJP():
            yield _title("vᵀJ, the vector-Jacobian product", screen)
            yield _quantities("vᵀJ", answer.vjp, answer.wrt, screen)
        case Gradient():
            yield _title("the gradient", screen)
            yield _quantities("gradient", answer.grad, answer.wrt, screen)
    if isinstance(answer, Differentiation):
        if not isinstance(answer, Gradient):
            yield from _jacobian(answer, y, screen)
        yield from _formulas(answer, y, screen)
        if answer.check is not None:
            yield from _check(answer.check, y, screen)


def _title(text: str, screen: Screen) -> Text:
    return _text(text, screen, "bold")


def _text(text: str, screen: Screen, style: str = "") -> Text:
    return Text(text.translate(_ASCII) if screen.ascii else text, style=style)


def _table(headers: Sequence[str], screen: Screen, *, numeric: bool = False) -> Table:
    table = Table(box=box.ASCII if screen.ascii else box.ROUNDED, show_header=any(headers))
    for n, header in enumerate(headers):
        table.add_column(_text(header, screen), justify="right" if numeric and n else "left", overflow="fold")
    return table


def _row(table: Table, screen: Screen, *cells: str | Text) -> None:
    table.add_row(*(cell if isinstance(cell, Text) else _text(cell, screen) for cell in cells))


def _function(answer: Answer, y: str, screen: Screen) -> Iterator[Table | Text]:
    expression = answer.expression.strip()
    if len(expression) > LONG_EXPRESSION:
        expression = f"{expression[: LONG_EXPRESSION - 20]}… ({len(expression):,} characters)"
    yield _title(expression if _has_names(expression) else f"{y} = {expression}", screen)
    table = _table(["", "shape", answer.dtype], screen)
    for name, array in answer.inputs.items():
        _row(table, screen, name, _shape(array), _elements(array))
    _row(table, screen, y, _shape(answer.value), _elements(answer.value))
    if isinstance(answer, VJP):
        _row(table, screen, "v", _shape(answer.v), _elements(answer.v))
    yield table


def _has_names(expression: str) -> bool:
    """Whether a statement names its value, so that `y = ` before it would mislead."""
    return "\n" in expression or ";" in expression or expression.partition("=")[0].strip().isidentifier()


def _quantities(header: str, arrays: Mapping[str, Array], wrt: Sequence[str], screen: Screen) -> Table:
    table = _table(["", "shape", header], screen)
    for name in wrt:
        _row(table, screen, name, _shape(arrays[name]), _elements(arrays[name]))
    return table


def _jacobian(answer: Differentiation, y: str, screen: Screen) -> Iterator[Table | Text]:
    if answer.jacobian is None:
        yield _title("the Jacobian", screen)
        yield _text(f"left out: {answer.jacobian_omitted}", screen)
        return
    if answer.value.size == 0:
        yield _title("the Jacobian", screen)
        yield _text("empty, as the output has no elements", screen)
        return
    entries = sum(block.size for block in answer.jacobian.values())
    shapes = ", ".join(str(answer.jacobian[name].shape) for name in answer.wrt)
    yield _title(
        f"the Jacobian ∂{y}/∂{', '.join(answer.wrt)}"
        + (f": {entries:,} entries, shape {shapes}" if entries > LONG else ""),
        screen,
    )
    rows = _labels(y, answer.value.shape)
    columns: dict[str, list[str]] = {}
    for name in answer.wrt:
        block = answer.jacobian[name]
        matrix = block.reshape(answer.value.size, block.size // max(1, answer.value.size))
        for j, label in _labels(name, block.shape[answer.value.ndim :]).items():
            columns[label if j >= 0 else f"…{name}"] = [digits(matrix[i, j]) if i >= 0 <= j else "…" for i in rows]
    yield from _matrix(list(rows.values()), columns, screen)


def _matrix(rows: Sequence[str], columns: Mapping[str, Sequence[str]], screen: Screen) -> Iterator[Table]:
    """A matrix by its labelled columns, in blocks that fit the screen."""
    widths = {label: max(map(len, [label, *cells])) + 3 for label, cells in columns.items()}
    room = (screen.width or WIDEST) - max(map(len, rows), default=0) - 4
    for block in _blocks(widths, room):
        table = _table(["", *("…" if label.startswith("…") else label for label in block)], screen, numeric=True)
        for n, label in enumerate(rows):
            _row(table, screen, label, *(columns[column][n] for column in block))
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


def _formulas(answer: Differentiation, y: str, screen: Screen) -> Iterator[Table | Text]:
    yield _title("the derivative in closed form", screen)
    matrix = _classic(answer, screen)
    if matrix is not None:
        yield from matrix
    else:
        table = _table(["", ""], screen)
        for name in answer.wrt:
            if name in answer.symbolic:
                for cell in answer.symbolic[name].cells:
                    _row(table, screen, f"∂{cell.row}/∂{cell.column}", _formula(cell, screen))
            else:
                _row(table, screen, f"∂{y}/∂{name}", f"none: {answer.symbolic_omitted[name]}")
        yield table
    for note in sorted({formula.note for formula in answer.symbolic.values() if formula.note}):
        yield _text(note, screen)


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
    texts = {f"∂/∂{column}": [_formula(cells[row, column], screen) for row in rows] for column in columns}
    return _matrix([f"∂{row}" for row in rows], texts, screen)


def _formula(cell: Cell, screen: Screen) -> str:
    return cell.text if screen.ascii else cell.pretty


def _check(check: Check, y: str, screen: Screen) -> Iterator[Table | Text]:
    yield _title("the cross-check of torch, formula and enclosure", screen)
    table = _table(["verdict", "entries checked", "largest relative error"], screen)
    coverage = f"{check.checked:,} of {check.entries:,}" + ("" if check.chosen == "all" else f" ({check.chosen})")
    error = "none" if check.max_relative_error is None else f"{check.max_relative_error:.2g}"
    _row(table, screen, Text(check.verdict, style=_STYLES[check.verdict]), coverage, error)
    yield table
    for note in check.notes:
        yield _text(note, screen)
    if check.findings:
        more = check.findings_count - len(check.findings)
        yield _title(
            "what does not agree" + (f": the worst {len(check.findings)}, and {more:,} more" if more else ""), screen
        )
        yield _findings(check, y, screen)


def _findings(check: Check, y: str, screen: Screen) -> Table | Text:
    """A row each, or a paragraph each where the rows would not fit the screen."""
    headers = ["entry", "verdict", "torch", "truth", "why"]
    rows = [
        (
            _entry(finding, y),
            finding.verdict,
            "" if finding.torch is None else digits(finding.torch),
            "none" if finding.reference is None else digits(finding.reference),
            finding.note,
        )
        for finding in check.findings
    ]
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    if sum(widths) + 3 * len(widths) + 1 > (screen.width or WIDEST):
        paragraphs = [f"{e}: {verdict}\n  torch {t}\n  truth {r}\n  {note}" for e, verdict, t, r, note in rows]
        return _text("\n".join(paragraphs), screen)
    table = _table(headers, screen)
    for (entry, verdict, *rest), finding in zip(rows, check.findings, strict=True):
        _row(table, screen, entry, Text(verdict, style=_STYLES[finding.verdict]), *rest)
    return table


def _entry(finding: Finding, y: str) -> str:
    if finding.column is None:
        return f"∂{y}/∂{finding.variable}"
    column = f"{finding.variable}{_index(finding.column)}"
    return f"vᵀJ {column}" if finding.row is None else f"∂{y}{_index(finding.row)}/∂{column}"


def _index(index: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""


def _labels(name: str, shape: tuple[int, ...]) -> dict[int, str]:
    """Flat positions with their names, `x[0]`, `x[1]`, …; only the ends of a long axis, -1 standing for the rest."""
    return {
        n: "…" if n < 0 else name + _index(tuple(int(i) for i in np.unravel_index(n, shape))) if shape else name
        for n in _ends(int(np.prod(shape, dtype=np.int64)))
    }


def _ends(size: int) -> list[int]:
    if size <= LONG:
        return list(range(size))
    return [*range(EDGE), -1, *range(size - EDGE, size)]


def _shape(array: Array) -> str:
    return str(array.shape)


def _elements(array: Array) -> str:
    """Elements separated by commas, a line a row; the corners and the count of a large array."""
    if array.ndim == 0:
        return digits(array[()])
    if array.size == 0:
        return "empty"
    rows = array.reshape(-1, array.shape[-1])
    lines = [
        "…" if i < 0 else ", ".join("…" if j < 0 else digits(rows[i, j]) for j in _ends(rows.shape[1]))
        for i in _ends(len(rows))
    ]
    if max(rows.shape) > LONG:
        lines.append(f"({array.size:,} elements)")
    return "\n".join(lines)
