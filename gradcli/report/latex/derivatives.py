"""Answers of vjp, jacobian, grad and eval in LaTeX."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.notation.typesetting import name, text
from gradcli.report.drawing import LONG
from gradcli.report.latex.extras import in_one_go, intermediates, loss
from gradcli.report.latex.parts import (
    Equation,
    closed_form,
    code,
    cross_check,
    equations,
    heading,
    matrix,
    partial,
    row_vector,
    sentence,
    tensor,
)
from gradcli.report.wording import NO_ELEMENTS, NO_VARIABLE, diagonal, statement
from gradcli.results import HVP, JVP, VJP, Answer, Array, Checking, Differentiation, Gradient, Judged

MOST_IN_A_LINE = 240
"""Characters of LaTeX up to which vᵀJ is written as the product that it is; more would not fit the page."""


def parts(answer: Answer) -> Iterator[str]:
    """Paragraphs and equations, from top to bottom."""
    y = answer.output
    yield from beginning(answer)
    if isinstance(answer, Differentiation) and not answer.wrt:
        yield sentence(NO_VARIABLE)
        return
    match answer:
        case VJP():
            yield from loss(answer.loss, answer)
            yield from jacobian(answer)
            yield heading("the vector-Jacobian product")
            yield equations(line for variable in answer.wrt for line in _product(answer, variable))
            yield from in_one_go(answer)
        case Gradient():
            yield heading("the gradient")
            yield equations(
                line
                for variable in answer.wrt
                for line in tensor(rf"\nabla_{{{name(variable)}}} {name(y)}", answer.grad[variable])
            )
        case Differentiation():
            yield from jacobian(answer)
    if isinstance(answer, Differentiation):
        yield from intermediates([answer])
    yield from endings(answer)


def endings(answer: Answer) -> Iterator[str]:
    """What to know of an answer, its formulas, and the verdict."""
    for remark in answer.remarks:
        yield sentence(remark)
    if isinstance(answer, Differentiation):
        yield from closed_form(answer)
        if words := diagonal(answer):
            yield rf"\noindent {text(words)}"
    if isinstance(answer, Judged):
        yield from cross_check(answer)


def beginning(answer: Answer) -> Iterator[str]:
    """The function as typed, its inputs and its value, and v."""
    yield rf"{code(statement(answer))}, in {text(answer.dtype)}:"
    arrays = [*answer.inputs.items(), (answer.output, answer.value)]
    lines = [line for word, array in arrays for line in tensor(name(word), array)]
    if isinstance(answer, VJP | Checking) and answer.v is not None:
        lines += tensor("v", answer.v)
    if isinstance(answer, JVP | HVP):
        for word, array in answer.u.items():
            lines += tensor("u" if list(answer.inputs) == [word] else f"u_{{{name(word)}}}", array)
    yield equations(lines)


def _flat(answer: Differentiation, block: Array) -> Array:
    rows = answer.value.size
    return block.reshape(rows, block.size // max(1, rows))


def jacobian(answer: Differentiation) -> Iterator[str]:
    """The blocks as matrices, or why they are left out."""
    yield heading("the Jacobian")
    if answer.jacobian is None:
        yield sentence(f"left out: {answer.jacobian_omitted}")
    elif answer.value.size == 0:
        yield sentence(NO_ELEMENTS)
    else:
        y = name(answer.output)
        yield equations((partial(y, name(word)), _block(answer, answer.jacobian[word])) for word in answer.wrt)
        shapes = {word: block.shape for word, block in answer.jacobian.items()}
        if any(len(shape) > 2 or max(shape, default=0) > LONG for shape in shapes.values()):
            listed = "; ".join(f"{word}: {shape}" for word, shape in shapes.items())
            yield sentence(
                f"of shape {listed}; rows are the elements of {answer.output}, columns those of the variable"
            )


def _block(answer: Differentiation, block: Array) -> str:
    return matrix(_flat(answer, block) if block.ndim else block)


def _product(answer: VJP, variable: str) -> Iterator[Equation]:
    """VᵀJ; where it is small and a row, as the product of v and J."""
    block = (answer.jacobian or {}).get(variable)
    if block is not None and block.ndim == 2 and answer.vjp[variable].ndim == 1:
        yield from product(answer, variable, answer.vjp[variable], f"{row_vector(answer.v)} {matrix(block)}")
    else:
        yield from product(answer, variable, answer.vjp[variable])


def product(answer: Answer, variable: str, result: Array, factors: str = "", v: str = "v^{T}") -> Iterator[Equation]:
    """VᵀJ, a vector lying down, behind its factors where they fit the line."""
    label = rf"{v} {partial(name(answer.output), name(variable))}"
    if result.ndim != 1:
        yield from tensor(label, result)
        return
    shown = row_vector(result)
    fits = factors and len(factors) + len(shown) <= MOST_IN_A_LINE
    yield label, f"{factors} = {shown}" if fits else shown
