"""The chain rule step by step in LaTeX: forward, v, backward, vᵀJ, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.notation.typesetting import name
from gradcli.report.latex.derivatives import beginning, jacobian, product
from gradcli.report.latex.extras import LOSS, loss
from gradcli.report.latex.mathematics import bar
from gradcli.report.latex.parts import Equation, cross_check, equations, heading, matrix, partial, sentence
from gradcli.report.wording import NO_VARIABLE
from gradcli.results import Adjoint, Explanation, Step, Term

SHOWN = 40
"""Lines of the forward pass and adjoints that are shown; of more, the ends."""


def parts(answer: Explanation) -> Iterator[str]:
    """Paragraphs and equations, from top to bottom."""
    yield from beginning(answer)
    yield heading("forward: each line from those before it")
    yield equations(_forward(answer))
    yield from loss(answer.loss, answer)
    yield heading("v at the output")
    yield equations([(f"{bar(answer.output)} = v", matrix(answer.v))])
    for remark in answer.remarks:
        yield sentence(remark)
    if not answer.wrt:
        yield sentence(NO_VARIABLE)
        return
    yield heading("backward: the adjoint of a line, times the local derivative")
    yield from _backward(answer)
    yield from jacobian(answer)
    yield heading("the vector-Jacobian product")
    yield equations(line for word in answer.wrt for line in product(answer, word, answer.vjp[word]))
    if answer.loss is not None:
        same = "is the same" if answer.loss_agrees else "is not the same"
        yield sentence(f"the gradient of the loss of the function, in one go, {same}:")
        yield equations((rf"\nabla_{{{name(word)}}} {LOSS}", matrix(answer.loss.gradient[word])) for word in answer.wrt)
    yield from cross_check(answer)


def _forward(answer: Explanation) -> Iterator[Equation]:
    steps: Sequence[Step] = answer.steps
    is_whole = answer.steps_count <= SHOWN
    for n, step in enumerate(steps if is_whole else [*steps[: SHOWN // 2], *steps[-SHOWN // 2 :]]):
        if not is_whole and n == SHOWN // 2:
            yield r"\vdots\;", ""
        yield name(step.name), f"{step.operation.latex} = {matrix(step.value)}"


def _backward(answer: Explanation) -> Iterator[str]:
    adjoints = answer.adjoints[1:]
    is_whole = answer.adjoints_count - 1 <= SHOWN
    shown = adjoints if is_whole else [*adjoints[: SHOWN // 2], *adjoints[-SHOWN // 2 :]]
    for n, adjoint in enumerate(shown):
        if not is_whole and n == SHOWN // 2:
            yield sentence(f"and {answer.adjoints_count - 1 - SHOWN:,} more")
        yield equations(_adjoint(adjoint))
        for words in dict.fromkeys(term.words for term in adjoint.terms if term.words):
            yield sentence(f"{words}")


def _adjoint(adjoint: Adjoint) -> Iterator[Equation]:
    left = bar(adjoint.name)
    products = [_product(term, adjoint) for term in adjoint.terms]
    if len(products) == adjoint.terms_count == 1:
        yield left, f"{products[0]}{_equation(adjoint.terms[0])} = {matrix(adjoint.value)}"
        return
    for shown, term in zip(products, adjoint.terms, strict=True):
        yield shown, f"{_equation(term)} = {matrix(term.value)}".removeprefix(" = ")
    more = r" + \dots" if adjoint.terms_count > len(products) else ""
    yield left, " = ".join(filter(None, [" + ".join(products) + more, matrix(adjoint.value)]))


def _product(term: Term, adjoint: Adjoint) -> str:
    """The chain rule in names."""
    shown = rf"{bar(term.source)} \, {partial(name(term.source), name(adjoint.name))}"
    return rf"\operatorname{{sum}}\left({shown}\right)" if term.summed else shown


def _equation(term: Term) -> str:
    """The same as a formula, if there is one."""
    if term.equation is None:
        return ""
    shown = term.equation.latex
    return rf" = \operatorname{{sum}}({shown})" if term.summed else f" = {shown}"
