"""The adjoint of an intermediate, judged as every other number: it is vᵀJ of the rest of the function."""

from __future__ import annotations

from dataclasses import replace

from gradcli.language.program.movement import gives_back
from gradcli.language.program.wengert import Atom, cut
from gradcli.questions.judging import compared, first_derivatives
from gradcli.questions.question import Question
from gradcli.results import Array, Check


def judged_adjoint(question: Question, atom: Atom, label: str, value: Array, v: Array, grad: Array) -> Check:
    """The verdict on one adjoint; y itself is judged elsewhere.

    Args:
        question: The function at its point.
        atom: The intermediate.
        label: What it is called.
        value: Its value, as torch computed it, where the rest of the function is looked at.
        v: The gradient vector.
        grad: The adjoint, of the value's shape.
    """
    program = cut(question.program, atom, label)
    name = str(atom) if atom in program.variables else label
    rest = question.another(program, {**question.arrays, name: value}, (name,), bounded=False)
    check = compared(rest, first_derivatives(rest, None, v, {name: grad}, judges_value=False)).check
    return replace(check, findings=tuple(replace(finding, variable=label) for finding in check.findings))


def itself(question: Question, atom: Atom) -> Atom:
    """The line that made the tensor of a line, of which torch keeps one gradient whatever its names are."""
    for line in reversed(question.program.lines):
        if line.symbol == atom and gives_back(line.call, question.shapes):
            atom = line.call.operands[0]
    return atom
