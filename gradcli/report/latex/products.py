"""Several products of one Jacobian in LaTeX: each with its v, and what they share once."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.notation.typesetting import name
from gradcli.report.latex.derivatives import beginning, endings, jacobian, product
from gradcli.report.latex.extras import intermediates, loss
from gradcli.report.latex.parts import Equation, equations, heading, sentence, tensor
from gradcli.report.wording import NO_VARIABLE, accumulating
from gradcli.results import VJP, Products


def parts(answer: Products) -> Iterator[str]:
    """Paragraphs and equations, from top to bottom."""
    yield from beginning(answer)
    if not answer.wrt:
        yield sentence(NO_VARIABLE)
        return
    first = answer.answers[0]
    yield from loss(first.loss, first)
    yield from jacobian(answer)
    accumulates = first.accumulated is not None
    yield heading("the vector-Jacobian products" + (", and what .grad holds after each pass" if accumulates else ""))
    for number, one in enumerate(answer.answers):
        yield equations(_lines(one, f"^{{({number + 1})}}"))
    if accumulates:
        yield sentence(accumulating(answer))
    yield from intermediates(answer.answers)
    yield from endings(answer)


def _lines(answer: VJP, number: str) -> Iterator[Equation]:
    yield from tensor(f"v{number}", answer.v)
    for variable in answer.wrt:
        yield from product(answer, variable, answer.vjp[variable], v=rf"(v{number})^{{T}}")
    if answer.accumulated is not None:
        for variable, held in answer.accumulated.items():
            yield from tensor(rf"{name(variable)}\texttt{{.grad}}", held)
