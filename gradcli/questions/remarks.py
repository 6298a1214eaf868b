"""What to know of an answer itself, in a sentence: traps and tricks that its numbers do not show.

A sum() that stands for v = ones, a v that is x itself, a backward pass that torch refuses because an earlier one freed
the graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import sympy

from gradcli.errors import GradcliError
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.movement import axes_of
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Line, Program
from gradcli.questions.question import Cotangent, Question
from gradcli.results import Array

LAST_ALONE = (
    "the snippet has several passes that do not add up; this is of the last, and vjp (in Python vjps) answers each"
)
"""What to know of one answer where there are several."""

_ASKED = {
    "eval": "a value that is computed from derivatives",
    "jacobian": "the Jacobian",
    "hessian": "the Hessian",
    "jvp": "a Jacobian-vector product",
    "hvp": "a Hessian-vector product",
}


def of_asked(asks: str) -> str:
    """That a snippet asks for something else than a gradient; the names are those of the commands.

    >>> of_asked("hessian")
    'the snippet asks for the Hessian, which is the answer of hessian'
    """
    return f"the snippet asks for {_ASKED[asks]}, which is the answer of {asks}"


SHORT = 6
"""Elements of x up to which a remark repeats its numbers."""


def of_v(question: Question, v: Cotangent) -> Iterator[str]:
    """That v is x itself: the rows of J are weighted by numbers that nobody chose.

    Args:
        question: The function at its point.
        v: The gradient vector, as `Question.cotangent` gives it, or its numbers.
    """
    weights = question.weights(v)
    for name in question.wrt:
        x = question.arrays[name]
        is_named = isinstance(v, Program) and str(v.output) == name
        if not np.array_equal(weights, x) or (weights == 1).all() or not weights.any():
            continue
        if is_named or (x.size > 1 and not _is_component(x)):
            yield (
                f"v is {name} itself here, so each row of J is weighted by {name}'s own numbers"
                f"{_instead(question, name)}; for the plain derivative of an elementwise function take ones: --v ones"
            )


def of_sharing(names: Sequence[str]) -> Iterator[str]:
    """That torch adds later passes to several `.grad` at once, as those of these variables share memory."""
    if names:
        yield (
            f"torch lets {', '.join(f'{name}.grad' for name in names)} share memory after the first pass, and adds "
            "later ones to all of them: it leaves other numbers than these sums, unless .grad is set to None before "
            "each pass"
        )


def _is_component(v: Array) -> bool:
    """Whether it picks elements of y: all others are 0."""
    return bool(np.isin(v, (0, 1)).all())


def _instead(question: Question, name: str) -> str:
    """What that does to the numbers."""
    from gradcli.autodiff.jacobians import vjp

    x = question.arrays[name]
    if x.size > SHORT:
        return ""
    this, plain = (vjp(question.forward, v, (name,))[name] for v in (x, np.ones_like(x)))
    return f" ({_listed(this)} instead of {_listed(plain)})"


def _listed(array: Array) -> str:
    return ", ".join(f"{number:.6g}" for number in array.ravel().tolist())


def of_passes(question: Question) -> Iterator[str]:
    """That torch refuses a pass of the snippet, found by letting torch run them all."""
    replay = question.frees_graph
    inputs = {**question.named, **question.arrays}
    if replay is None or not set(replay.program.names) <= set(inputs):
        return
    from gradcli.autodiff.backward_passes import refused

    try:
        number = refused(replay, inputs, question.dtype)
    except GradcliError:
        return  # a pass that the answer is not about, and torch has something else against it
    if number is None:
        return
    y = question.program.output_name
    yield (
        'torch raises RuntimeError "Trying to backward through the graph a second time" '
        f"at {replay.where(number)}: an earlier pass freed the intermediate values that the derivatives are made of. "
        f"Either write retain_graph=True in that pass, or compute {y} anew before each pass; "
        "the numbers here are what .grad would hold then"
    )


def of_sum(question: Question, v: Array) -> tuple[str, ...]:
    """The sum() trick by its name: y sums up elements of which each has a slope by its own element of x alone.

    Args:
        question: What was asked.
        v: The gradient vector; it must be 1, or the elements get another weight.

    >>> from gradcli.language.snippets import read
    >>> from gradcli.questions.preparing import Inquiry
    >>> question = Inquiry("(x**2).sum()", read("(x**2).sum()"), {"x": "1,2"}).question()
    >>> of_sum(question, question.weights(question.cotangent(None, None)))
    ('sum() passes 1 to each element of x**2: the same as v = ones without the sum',)
    """
    program = question.program
    line = program.lines[-1] if program.lines else None
    if line is None or line.symbol != program.output or not _sums_all(question, line) or not (v == 1).all():
        return ()
    (inner,) = line.call.operands
    if not _is_diagonal(question, in_primitives(replace(program, lines=program.lines[:-1], output=inner))):
        return ()
    text = next((program.excerpt(one) for one in program.lines if one.symbol == inner), str(inner))
    return (f"sum() passes 1 to each element of {text}: the same as v = ones without the sum",)


def _sums_all(question: Question, line: Line) -> bool:
    """Whether a line adds up all elements of a tensor of several."""
    if not line.call.op.is_sum:
        return False
    shape = question.shapes.get(line.call.operands[0], ())
    return math.prod(shape) > 1 and len(axes_of(shape, line.call.statics[0])) == len(shape)


def _is_diagonal(question: Question, program: Program) -> bool:
    """Whether the Jacobian is diagonal by each variable that is asked for and that y depends on."""
    from gradcli.check.formulas import MAX_FORMULAS
    from gradcli.symbolic.derivative import differentiate, structure_of
    from gradcli.symbolic.element import NoFormulaError

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
