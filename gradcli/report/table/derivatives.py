"""Answers of vjp, jacobian, grad and eval as tables."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from gradcli.report.drawing import LONG, Screen, text, title
from gradcli.report.numbers import digits
from gradcli.report.table.extras import intermediates, loss, product
from gradcli.report.table.parts import closed_form, cross_check, heading, labels, matrix, quantities
from gradcli.report.wording import NO_ELEMENTS, NO_VARIABLE, diagonal
from gradcli.results import VJP, Answer, Differentiation, Gradient, Judged


def parts(answer: Answer, screen: Screen) -> Iterator[Table | Text]:
    """Titles, tables and remarks, from top to bottom."""
    y = answer.output
    yield from heading(answer, y, screen)
    if isinstance(answer, Differentiation) and not answer.wrt:
        yield text(NO_VARIABLE, screen)
        return
    match answer:
        case VJP():
            yield from loss(answer, screen)
            yield title("vᵀJ, the vector-Jacobian product", screen)
            yield product(answer, screen)
        case Gradient():
            yield title("the gradient", screen)
            yield quantities("gradient", answer.grad, answer.wrt, screen)
    yield from remarks(answer, screen)
    if isinstance(answer, Differentiation):
        yield from intermediates([answer], screen)
    yield from shared(answer, screen)


def shared(answer: Answer, screen: Screen) -> Iterator[Table | Text]:
    """What all products of one Jacobian share: it, its formula and the check."""
    y = answer.output
    if isinstance(answer, Differentiation):
        if not isinstance(answer, Gradient):
            yield from _jacobian(answer, y, screen)
        yield from closed_form(answer, screen)
        yield from structures(answer, screen)
    if isinstance(answer, Judged):
        yield from cross_check(answer, screen)


def remarks(answer: Answer, screen: Screen) -> Iterator[Text]:
    """What to know of the answer itself."""
    for remark in answer.remarks:
        yield text(remark, screen)


def structures(answer: Differentiation, screen: Screen) -> Iterator[Text]:
    """That Jacobians are diagonal, where that matters."""
    words = diagonal(answer)
    if words:
        yield text(words, screen)


def _jacobian(answer: Differentiation, y: str, screen: Screen) -> Iterator[Table | Text]:
    if answer.jacobian is None:
        yield title("the Jacobian", screen)
        yield text(f"left out: {answer.jacobian_omitted}", screen)
        return
    if answer.value.size == 0:
        yield title("the Jacobian", screen)
        yield text(NO_ELEMENTS, screen)
        return
    entries = sum(block.size for block in answer.jacobian.values())
    shapes = ", ".join(str(answer.jacobian[name].shape) for name in answer.wrt)
    yield title(
        f"the Jacobian ∂{y}/∂{', '.join(answer.wrt)}"
        + (f": {entries:,} entries, shape {shapes}" if entries > LONG else ""),
        screen,
    )
    rows = labels(y, answer.value.shape)
    columns: dict[str, list[str]] = {}
    for name in answer.wrt:
        block = answer.jacobian[name]
        flat = block.reshape(answer.value.size, block.size // max(1, answer.value.size))
        for j, label in labels(name, block.shape[answer.value.ndim :]).items():
            columns[label if j >= 0 else f"…{name}"] = [digits(flat[i, j]) if i >= 0 <= j else "…" for i in rows]
    yield from matrix(list(rows.values()), columns, screen)
