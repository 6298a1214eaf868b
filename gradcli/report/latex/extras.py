"""What may stand beside a product in LaTeX: the loss that v comes from, what intermediates keep, what `.grad` holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.notation.typesetting import name, text
from gradcli.report.latex.parts import Equation, code, equations, heading, matrix, partial, sentence, tensor
from gradcli.report.wording import NO_ADJOINT
from gradcli.results import VJP, Answer, Differentiation, Loss

LOSS = r"\mathit{loss}"


def loss(found: Loss | None, answer: Answer) -> Iterator[str]:
    """The loss, its value, and that v is its derivative by y."""
    if found is None:
        return
    yield heading("the loss that v comes from")
    yield code(f"loss = {found.expression}")
    y = name(answer.output)
    lines = [
        line for word, array in found.inputs.items() if word not in answer.inputs for line in tensor(name(word), array)
    ]
    lines += [(LOSS, matrix(found.value)), *tensor(rf"v = {partial(LOSS, y)}", found.v)]
    if found.formula is not None:
        lines += [(cell.label.latex, cell.latex) for cell in found.formula.cells]
    yield equations(lines)
    if found.formula is None:
        yield rf"\noindent \({partial(LOSS, y)}\): none, {text(found.formula_omitted)}"


def in_one_go(answer: VJP) -> Iterator[str]:
    """The gradient of the loss of the whole, to compare with vᵀJ."""
    if answer.loss is not None:
        yield sentence("the gradient of the loss in one go:")
        yield equations(
            line
            for word in answer.wrt
            for line in tensor(rf"\nabla_{{{name(word)}}} {LOSS}", answer.loss.gradient[word])
        )


def intermediates(answers: Sequence[Differentiation]) -> Iterator[str]:
    """Values and adjoints by name, an adjoint for each answer."""
    first = answers[0].intermediates
    if not first:
        return
    yield heading("intermediates, as retain_grad() keeps them")
    lines: list[Equation] = []
    for word, kept in first.items():
        lines += tensor(name(word), kept.value)
        for number, answer in enumerate(answers):
            grad = answer.intermediates[word].grad
            label = rf"\nabla_{{{name(word)}}}" + (f"^{{({number + 1})}}" if len(answers) > 1 else "")
            lines += [(label, r"\text{None}")] if grad is None else tensor(label, grad)
    yield equations(lines)
    if any(kept.grad is None for kept in first.values()):
        yield sentence(NO_ADJOINT)
