"""Answers at many points as tables: a row a point, the Jacobian of each as a small matrix in its cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import WIDEST, Screen, add_row, elements, ends, new_table, text, title
from gradcli.report.table.derivatives import remarks, structures
from gradcli.report.table.parts import closed_form, cross_check, shape_of
from gradcli.report.wording import NO_VARIABLE, at_points, statement
from gradcli.results import VJP, Answer, Array, Differentiation, Gradient, Jacobian, Judged


def parts(answer: Answer, screen: Screen) -> Iterator[Table | Text]:
    """Titles, tables and remarks, from top to bottom."""
    yield title(f"{statement(answer)}  at {at_points(answer)}", screen)
    same = {name: array for name, array in answer.inputs.items() if name not in answer.points_of}
    if same:
        table = new_table(["the same at each", "shape", answer.dtype], screen)
        for name, array in same.items():
            add_row(table, screen, name, shape_of(array), elements(array))
        yield table
    if isinstance(answer, Differentiation) and not answer.wrt:
        yield text(NO_VARIABLE, screen)
        return
    yield _rows(answer, answer.points or 0, screen)
    yield from remarks(answer, screen)
    if isinstance(answer, Differentiation):
        yield from closed_form(answer, screen)
        yield from structures(answer, screen)
    if isinstance(answer, Judged):
        yield from cross_check(answer, screen)


def _rows(answer: Answer, count: int, screen: Screen) -> Table | Text:
    """A row for each point, or for those at the ends; a paragraph each where the rows would not fit the screen."""
    columns = _columns(answer, count)
    headers = ["point", *columns]
    shown = [
        [str(point), *(elements(array[point]) for array in columns.values())] if point >= 0 else ["…"] * len(headers)
        for point in ends(count)
    ]
    widths = [
        max(len(line) for cell in cells for line in cell.split("\n")) for cells in zip(headers, *shown, strict=True)
    ]
    if sum(widths) + 3 * len(widths) + 1 > (screen.width or WIDEST):
        return text("\n".join(_paragraph(headers, row) for row in shown), screen)
    table = new_table(headers, screen)
    has_matrices = any("\n" in cell for row in shown for cell in row)
    for row in shown:
        add_row(table, screen, *row)
        if has_matrices:
            table.add_section()
    return table


def _paragraph(headers: Sequence[str], row: Sequence[str]) -> str:
    """One point: a line for each quantity, or for each row of a matrix."""
    if row[0] == "…":
        return "…"
    lines = [
        f"  {header} {line}" for header, cell in zip(headers[1:], row[1:], strict=True) for line in cell.split("\n")
    ]
    return "\n".join([f"point {row[0]}", *lines])


def _columns(answer: Answer, count: int) -> Mapping[str, Array]:
    """What there is to show of each point, by its header."""
    y = answer.output
    found = {name: answer.inputs[name] for name in answer.points_of} | {y: answer.value}
    match answer:
        case VJP():
            found |= {"v": answer.v} | {f"vᵀJ {name}": answer.vjp[name] for name in answer.wrt}
        case Gradient():
            found |= {f"gradient {name}": answer.grad[name] for name in answer.wrt}
        case Jacobian(jacobian=blocks) if blocks is not None:
            rows = answer.value.size // count
            for name in answer.wrt:
                block = blocks[name]
                is_matrix = answer.value.ndim > 1 and block.ndim > answer.value.ndim
                found[f"∂{y}/∂{name}"] = (
                    block.reshape(count, rows, block.size // max(1, count * rows)) if is_matrix else block
                )
    return found
