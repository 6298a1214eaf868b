"""Several products of one Jacobian: a row a v, and what they share once."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.report.compose.derivatives import shared
from gradcli.report.compose.extras import intermediates, loss
from gradcli.report.compose.parts import heading, note, title
from gradcli.report.document import Node, Numbers, Table, lines
from gradcli.report.wording import NO_VARIABLE, accumulating
from gradcli.results import Products


def document(answer: Products) -> Iterator[Node]:
    """The function, the products, what the passes add up to, the Jacobian, formulas and the verdict."""
    yield from heading(answer)
    if not answer.wrt:
        yield note(NO_VARIABLE)
        return
    first = answer.answers[0]
    yield from loss(first)
    accumulates = first.accumulated is not None
    what = ", and .grad after each pass" if accumulates else " for each v"
    yield title(f"vᵀJ, the vector-Jacobian product{what}")
    yield _products(answer, accumulates=accumulates)
    if accumulates:
        yield note(accumulating(answer))
    yield from intermediates(answer.answers)
    yield from shared(answer)


def _products(answer: Products, *, accumulates: bool) -> Table:
    """A row a v; a column a variable, and one for what its `.grad` holds."""
    headers = [f"vᵀJ: {name}" for name in answer.wrt] if len(answer.wrt) > 1 else ["vᵀJ"]
    after = [f"{name}.grad after" for name in answer.wrt] if accumulates else []
    rows = []
    for number, one in enumerate(answer.answers):
        held = [one.accumulated[name] for name in answer.wrt] if one.accumulated is not None else []
        cells = [one.v, *(one.vjp[name] for name in answer.wrt), *held]
        rows.append(lines(str(number + 1), *map(Numbers, cells)))
    return Table(lines("", "v", *headers, *after), tuple(rows))
