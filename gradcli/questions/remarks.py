"""What to know of an answer itself, in a sentence, where the formulas show it."""

from __future__ import annotations

import math
from dataclasses import replace

import sympy

from gradcli.language.movement import axes_of
from gradcli.language.program import Line, Program
from gradcli.language.shapes import infer
from gradcli.questions.question import Question
from gradcli.results import Array


def of_sum(question: Question, v: Array) -> tuple[str, ...]:
    """The sum() trick by its name: y sums up elements of which each has a slope by its own element of x alone.

    Args:
        question: What was asked.
        v: The gradient vector; it must be 1, or the elements get another weight.

    >>> from gradcli.language.snippets import read
    >>> from gradcli.questions.preparing import prepare
    >>> question = prepare("(x**2).sum()", read("(x**2).sum()"), {"x": "1,2"}, None, "float64")
    >>> of_sum(question, question.weights(question.cotangent(None, None)))
    ('sum() passes 1 to each element of x**2: the same as v = ones without the sum',)
    """
    program = question.program
    line = program.lines[-1] if program.lines else None
    if line is None or line.symbol != program.output or not _sums_all(question, line) or not (v == 1).all():
        return ()
    (inner,) = line.call.operands
    if not _is_diagonal(question, replace(program, lines=program.lines[:-1], output=inner).primitive):
        return ()
    text = next((program.excerpt(one) for one in program.lines if one.symbol == inner), str(inner))
    return (f"sum() passes 1 to each element of {text}: the same as v = ones without the sum",)


def _sums_all(question: Question, line: Line) -> bool:
    """Whether a line adds up all elements of a tensor of several."""
    if line.call.op.name != "sum":
        return False
    shape = question.shapes.get(line.call.operands[0], ())
    return math.prod(shape) > 1 and len(axes_of(shape, line.call.statics[0])) == len(shape)


def _is_diagonal(question: Question, program: Program) -> bool:
    """Whether the Jacobian is diagonal by each variable that is asked for and that y depends on."""
    from gradcli.check.confirmed import MAX_FORMULAS
    from gradcli.symbolic.derivative import differentiate
    from gradcli.symbolic.movement import NoFormulaError
    from gradcli.symbolic.structure import structure_of

    if len(question.wrt) > MAX_FORMULAS:
        return False
    shapes = infer(program, {symbol: question.shapes[symbol] for symbol in program.variables}, bounded=False)
    found = set()
    for name in question.wrt:
        x = sympy.Symbol(name, real=True)
        try:
            found.add(structure_of(differentiate(program, shapes, x), shapes[program.output], shapes[x]))
        except NoFormulaError:
            return False
    return "diagonal" in found and found <= {"diagonal", "zero"}
