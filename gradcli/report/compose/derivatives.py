"""Answers of vjp, jacobian, grad and eval."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.notation import PARTIAL, Form, Name, joined
from gradcli.report import document as doc
from gradcli.report.compose.extras import LOSS, intermediates, loss
from gradcli.report.compose.parts import (
    GRADIENT,
    PRODUCT,
    Row,
    closed_form,
    gradient,
    heading,
    lying,
    note,
    title,
    verdict,
)
from gradcli.report.document import lines
from gradcli.report.labels import RATIO
from gradcli.report.numbers import LONG
from gradcli.report.wording import NO_ELEMENTS, NO_VARIABLE, diagonal
from gradcli.results import VJP, Answer, Differentiation, Gradient, Judged

_BY_SEVERAL = Form("d%s/d%s", "∂%s/∂%s", r"\partial %s / \partial (%s)")


def document(answer: Answer) -> Iterator[doc.Node]:
    """The function, the quantity asked for, the Jacobian, formulas and the verdict."""
    yield from heading(answer)
    if isinstance(answer, Differentiation) and not answer.wrt:
        yield note(NO_VARIABLE)
        return
    match answer:
        case VJP():
            yield from loss(answer)
            yield title("vᵀJ, the vector-Jacobian product")
            yield _products(answer)
        case Gradient():
            yield from gradient(answer.grad, answer.wrt, answer.output)
    yield from map(note, answer.remarks)
    if isinstance(answer, Differentiation):
        yield from intermediates([answer])
    yield from shared(answer)


def shared(answer: Answer) -> Iterator[doc.Node]:
    """What all products of one Jacobian share: it, its formula and the check."""
    if isinstance(answer, Differentiation) and not isinstance(answer, Gradient):
        yield from jacobian(answer)
    yield from ending(answer)


def ending(answer: Answer) -> Iterator[doc.Node]:
    """Formulas and the verdict."""
    if isinstance(answer, Differentiation):
        yield from closed_form(answer)
        if words := diagonal(answer):
            yield note(words)
    if isinstance(answer, Judged):
        yield from verdict(answer)


def _products(answer: VJP) -> doc.Table:
    """VᵀJ by variable, beside the gradient of the loss of the whole in one go."""
    headers = ["", "shape", "vᵀJ", *(["gradient of the loss in one go"] if answer.loss else [])]
    return doc.Table(lines(*headers), tuple(_product(answer, name) for name in answer.wrt))


def _product(answer: VJP, name: str) -> Row:
    product, block = answer.vjp[name], (answer.jacobian or {}).get(name)
    is_written_out = block is not None and block.ndim == 2 and product.ndim == 1
    factors = (doc.Numbers(lying(answer.v)), doc.Numbers(block)) if block is not None and is_written_out else ()
    cells = [doc.Equation(PRODUCT(Name(answer.output), Name(name)), doc.Numbers(lying(product)), factors)]
    if answer.loss is not None:
        cells.append(doc.Equation(GRADIENT(Name(name), LOSS), doc.Numbers(answer.loss.gradient[name])))
    return lines(name, str(product.shape), *cells)


def jacobian(answer: Differentiation) -> Iterator[doc.Node]:
    """The blocks as one matrix, or why they are left out."""
    y = answer.output
    if answer.jacobian is None or answer.value.size == 0:
        yield title("the Jacobian")
        yield note(f"left out: {answer.jacobian_omitted}" if answer.jacobian is None else NO_ELEMENTS)
        return
    shapes = [answer.jacobian[name].shape for name in answer.wrt]
    entries = sum(answer.jacobian[name].size for name in answer.wrt)
    size = f": {entries:,} entries, shape {', '.join(map(str, shapes))}" if entries > LONG else ""
    by = joined([Name(name) for name in answer.wrt])
    yield title("the Jacobian ", doc.Symbol((RATIO if len(answer.wrt) == 1 else _BY_SEVERAL)(Name(y), by)), size)
    rows = answer.value.size
    yield doc.Blocks(
        (doc.Axis(y, answer.value.shape),),
        tuple(doc.Axis(name, shape[answer.value.ndim :]) for name, shape in zip(answer.wrt, shapes, strict=True)),
        (tuple((PARTIAL(Name(y), Name(name)), answer.jacobian[name].reshape(rows, -1)) for name in answer.wrt),),
    )
