"""Answers at many points in LaTeX: the quantities of each, point by point."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.notation.typesetting import name, text
from gradcli.report.drawing import ends
from gradcli.report.latex.derivatives import endings, product
from gradcli.report.latex.parts import Equation, code, equations, matrix, partial, sentence, tensor
from gradcli.report.wording import NO_VARIABLE, at_points, statement
from gradcli.results import VJP, Answer, Differentiation, Gradient, Jacobian


def parts(answer: Answer) -> Iterator[str]:
    """What is the same at each point, the points at the ends, formulas and the verdict."""
    count = answer.points or 0
    yield code(statement(answer))
    yield rf"\noindent at {text(at_points(answer))}, in {text(answer.dtype)}."
    same = [
        line
        for word, array in answer.inputs.items()
        if word not in answer.points_of
        for line in tensor(name(word), array)
    ]
    if same:
        yield sentence("the same at each:")
        yield equations(same)
    if isinstance(answer, Differentiation) and not answer.wrt:
        yield sentence(NO_VARIABLE)
        return
    for point in ends(count):
        yield sentence(f"point {point}:" if point >= 0 else "…")
        if point >= 0:
            yield equations(_lines(answer, point))
    yield from endings(answer)


def _lines(answer: Answer, point: int) -> Iterator[Equation]:
    y = name(answer.output)
    for word in answer.points_of:
        yield from tensor(name(word), answer.inputs[word][point])
    yield from tensor(y, answer.value[point])
    match answer:
        case VJP():
            yield from tensor("v", answer.v[point])
            for word in answer.wrt:
                yield from product(answer, word, answer.vjp[word][point])
        case Gradient():
            for word in answer.wrt:
                yield from tensor(rf"\nabla_{{{name(word)}}} {y}", answer.grad[word][point])
        case Jacobian(jacobian=blocks) if blocks is not None:
            for word in answer.wrt:
                block, rows = blocks[word][point], answer.value[point].size
                is_matrix = answer.value.ndim > 1 and block.ndim >= answer.value.ndim
                shown = block.reshape(rows, block.size // max(1, rows)) if is_matrix else block
                yield partial(y, name(word)), matrix(shown)
