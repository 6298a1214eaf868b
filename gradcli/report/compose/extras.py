"""What may stand beside a product: the loss that v comes from, and what intermediates keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.notation import PARTIAL, Form, Name
from gradcli.report import document as doc
from gradcli.report.compose.parts import Row, code, named, note, quantities, quantity, title
from gradcli.report.document import lines
from gradcli.report.wording import NO_ADJOINT
from gradcli.results import VJP, Differentiation

LOSS = Form("loss", "loss", r"\mathit{loss}")()
_V_IS = Form("v = %s", "v = %s", "v = %s")


def loss(answer: VJP) -> Iterator[doc.Node]:
    """The loss, its value, and that v is its derivative by y."""
    found = answer.loss
    if found is None:
        return
    yield title(code(f"loss = {found.expression}"), f", and v is its derivative by {answer.output}")
    partial = PARTIAL(LOSS, Name(answer.output))
    rows: list[Row] = [*named({name: array for name, array in found.inputs.items() if name not in answer.inputs})]
    rows.append(quantity("loss", LOSS, found.value))
    rows.append(quantity(f"v = {partial.pretty}", _V_IS(partial), found.v))
    if found.formula is None:
        rows.append(lines(doc.Symbol(partial), (), doc.Equation(partial, doc.Span(f"none: {found.formula_omitted}"))))
    else:
        for cell in found.formula.cells:
            rows.append(lines(doc.Symbol(cell.label), (), doc.Equation(cell.label, doc.Expression(cell.expression))))
    yield quantities(answer.dtype, rows)


def intermediates(answers: Sequence[Differentiation]) -> Iterator[doc.Node]:
    """Values and adjoints by name, an adjoint for each answer."""
    first = answers[0].intermediates
    if not first:
        return
    counts = len(answers) > 1
    yield title("intermediates, whose adjoints retain_grad() adds to .grad")
    rows = []
    for name, kept in first.items():
        for n, answer in enumerate(answers):
            grad = answer.intermediates[name].grad
            seen = [(), (), ()] if n else [name, str(kept.value.shape), doc.Numbers(kept.value)]
            rows.append(lines(*seen, *([str(n + 1)] * counts), "None" if grad is None else doc.Numbers(grad)))
    yield doc.Table(lines("", "shape", "value", *(["v"] * counts), "adjoint"), tuple(rows))
    if any(kept.grad is None for kept in first.values()):
        yield note(NO_ADJOINT)
