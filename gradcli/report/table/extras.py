"""What may stand beside a product: the loss that v comes from, and what intermediates keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import Screen, add_row, elements, formula, new_table, text, title
from gradcli.report.table.parts import shape_of
from gradcli.report.wording import NO_ADJOINT
from gradcli.results import VJP, Differentiation


def loss(answer: VJP, screen: Screen) -> Iterator[Table | Text]:
    """The loss, its value, and that v is its derivative by y."""
    found = answer.loss
    if found is None:
        return
    y = answer.output
    yield title(f"loss = {found.expression}, and v is its derivative by {y}", screen)
    table = new_table(["", "shape", answer.dtype], screen)
    for name, array in found.inputs.items():
        if name not in answer.inputs:
            add_row(table, screen, name, shape_of(array), elements(array))
    add_row(table, screen, "loss", shape_of(found.value), elements(found.value))
    add_row(table, screen, f"v = ∂loss/∂{y}", shape_of(found.v), elements(found.v))
    if found.formula is None:
        add_row(table, screen, f"∂loss/∂{y}", "", f"none: {found.formula_omitted}")
    else:
        for cell in found.formula.cells:
            add_row(table, screen, f"∂{cell.row}/∂{cell.column}", "", formula(cell, screen))
    yield table


def product(answer: VJP, screen: Screen) -> Table:
    """VᵀJ by variable, beside the gradient of the loss of the whole in one go."""
    gradient = None if answer.loss is None else answer.loss.gradient
    table = new_table(["", "shape", "vᵀJ", *(["gradient of the loss in one go"] if gradient else [])], screen)
    for name in answer.wrt:
        both = [answer.vjp[name], *([gradient[name]] if gradient else [])]
        add_row(table, screen, name, shape_of(answer.vjp[name]), *map(elements, both))
    return table


def intermediates(answers: Sequence[Differentiation], screen: Screen) -> Iterator[Table | Text]:
    """Values and adjoints by name, an adjoint for each answer."""
    first = answers[0].intermediates
    if not first:
        return
    is_one = len(answers) == 1
    yield title("intermediates, whose adjoints retain_grad() adds to .grad", screen)
    table = new_table(["", "shape", "value", *([] if is_one else ["v"]), "adjoint"], screen)
    for name, kept in first.items():
        for number, answer in enumerate(answers):
            grad = answer.intermediates[name].grad
            adjoint = "None" if grad is None else elements(grad)
            seen = ["", "", ""] if number else [name, shape_of(kept.value), elements(kept.value)]
            add_row(table, screen, *seen, *([] if is_one else [str(number + 1)]), adjoint)
    yield table
    if any(kept.grad is None for kept in first.values()):
        yield text(NO_ADJOINT, screen)
