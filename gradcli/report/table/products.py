"""Several products of one Jacobian as tables: a row a v, and what they share once."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import Screen, add_row, elements, new_table, text, title
from gradcli.report.table.derivatives import shared
from gradcli.report.table.extras import intermediates, loss
from gradcli.report.table.parts import heading
from gradcli.report.wording import NO_VARIABLE, accumulating
from gradcli.results import Products

_TITLE = "vᵀJ, the vector-Jacobian product for each v"


def parts(answer: Products, screen: Screen) -> Iterator[Table | Text]:
    """Titles, tables and remarks, from top to bottom."""
    yield from heading(answer, answer.output, screen)
    if not answer.wrt:
        yield text(NO_VARIABLE, screen)
        return
    first = answer.answers[0]
    yield from loss(first, screen)
    accumulates = first.accumulated is not None
    yield title("vᵀJ, the vector-Jacobian product, and .grad after each pass" if accumulates else _TITLE, screen)
    yield _products(answer, screen)
    if accumulates:
        yield text(accumulating(answer), screen)
    yield from intermediates(answer.answers, screen)
    yield from shared(answer, screen)


def _products(answer: Products, screen: Screen) -> Table:
    """A row a v; a column a variable, and one for what its `.grad` holds."""
    accumulates = answer.answers[0].accumulated is not None
    headers = [f"vᵀJ: {name}" for name in answer.wrt] if len(answer.wrt) > 1 else ["vᵀJ"]
    after = [f"{name}.grad after" for name in answer.wrt] if accumulates else []
    table = new_table(["", "v", *headers, *after], screen)
    for number, one in enumerate(answer.answers):
        held = [one.accumulated[name] for name in answer.wrt] if one.accumulated is not None else []
        cells = [one.v, *(one.vjp[name] for name in answer.wrt), *held]
        add_row(table, screen, str(number + 1), *map(elements, cells))
    return table
