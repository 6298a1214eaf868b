"""Answers of jvp, hessian and hvp in LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

from gradcli.notation.typesetting import name, text
from gradcli.report.latex.derivatives import beginning
from gradcli.report.latex.parts import (
    Equation,
    cross_check,
    equations,
    heading,
    matrix,
    sentence,
    tensor,
)
from gradcli.report.wording import NO_VARIABLE
from gradcli.results import HVP, JVP, Array, Formula, Hessian

Found = tuple[str, Formula | str]
"""What a formula is of, in LaTeX, and the formula or why there is none."""


def parts(answer: JVP | Hessian | HVP) -> Iterator[str]:
    """Paragraphs and equations, from top to bottom."""
    yield from beginning(answer)
    if not answer.wrt:
        yield sentence(NO_VARIABLE)
        return
    y = name(answer.output)
    match answer:
        case JVP():
            yield heading("the Jacobian-vector product")
            yield equations(tensor("J u", answer.jvp))
            yield from _formulas([("J u", answer.symbolic or answer.symbolic_omitted)])
        case Hessian():
            yield _gradient(answer, y)
            yield heading("the Hessian")
            pairs = [(a, b) for a in answer.wrt for b in answer.wrt]
            yield equations((_second(y, a, b), _block(answer, a, b)) for a, b in pairs)
            shown = list(combinations_with_replacement(answer.wrt, 2))
            yield from _formulas(
                [
                    (_second(y, a, b), answer.symbolic.get(a, {}).get(b) or answer.symbolic_omitted[a][b])
                    for a, b in shown
                ]
            )
            if len(answer.wrt) > 1:
                yield sentence("the other blocks are the transposes of these")
        case HVP():
            yield _gradient(answer, y)
            yield heading("the Hessian-vector product")
            yield equations(line for word in answer.wrt for line in tensor(f"(H u)_{{{name(word)}}}", answer.hvp[word]))
            yield from _formulas(
                [
                    (f"(H u)_{{{name(word)}}}", answer.symbolic.get(word) or answer.symbolic_omitted[word])
                    for word in answer.wrt
                ]
            )
    yield from cross_check(answer)


def _gradient(answer: Hessian | HVP, y: str) -> str:
    lines: list[Equation] = [
        line for word in answer.wrt for line in tensor(rf"\nabla_{{{name(word)}}} {y}", answer.grad[word])
    ]
    return equations(lines)


def _second(y: str, a: str, b: str) -> str:
    below = rf"\partial {name(a)}^{{2}}" if a == b else rf"\partial {name(a)} \, \partial {name(b)}"
    return rf"\frac{{\partial^{{2}} {y}}}{{{below}}}"


def _block(answer: Hessian, a: str, b: str) -> str:
    block: Array = answer.hessian[a][b]
    rows = answer.grad[a].size
    return matrix(block.reshape(rows, block.size // max(1, rows)) if block.ndim else block)


def _formulas(found: Sequence[Found]) -> Iterator[str]:
    yield heading("the closed form")
    cells = [cell for _, formula in found if isinstance(formula, Formula) for cell in formula.cells]
    if cells:
        yield equations((cell.label.latex, cell.latex) for cell in cells)
    for label, formula in found:
        if not isinstance(formula, Formula):
            yield rf"\noindent \({label}\): none, {text(formula)}"
    for note in sorted({formula.note for _, formula in found if isinstance(formula, Formula) and formula.note}):
        yield sentence(note)
