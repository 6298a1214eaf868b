"""A loss ℓ of the output: v = ∂ℓ/∂y is where v comes from, and vᵀJ is then the gradient of ℓ∘f.

ℓ is text of the language in y, by the name of the output.  It may name the variables, which it holds constant, and
other names that have values of their own, such as the targets of a fit.  Torch differentiates it twice: by y alone,
and through the whole of ℓ∘f in one go, which is what vᵀJ is to be compared with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradcli.crosscheck.compare import TOLERANCE
from gradcli.errors import InputError, Place, Span, UsageError, did_you_mean
from gradcli.language.inputs import Array, read_value
from gradcli.language.lower.joined import meant
from gradcli.language.parsing import parse_formula
from gradcli.language.program.shapes import infer
from gradcli.language.program.wengert import Program, show
from gradcli.language.text.source import Source
from gradcli.questions.judging import differentiated, with_part
from gradcli.questions.question import Dtype, Inquiry, Question, rounded
from gradcli.results import Check, Loss

SOURCE = "--loss"
"""What messages call the text."""


def apart(inquiry: Inquiry, text: str, v: object = None) -> tuple[Inquiry, dict[str, Array]]:
    """The inquiry without the values that the loss alone names, and these.

    Args:
        inquiry: With all values.
        text: Of the loss.
        v: A gradient vector that is given too, which a loss has of its own.

    Raises:
        GradcliError: There is a v, the loss is empty or not in the language, or such a value is not one.

    >>> from gradcli.language.snippets import read
    >>> own, extra = apart(Inquiry("x**2", read("x**2"), {"x": "1,2", "t": "3,4"}), "sum((y - t)**2)")
    >>> own.at, extra
    ({'x': '1,2'}, {'t': array([3., 4.])})
    """
    if v is not None:
        raise UsageError("--v and --loss exclude each other", hint="the loss gives v, which is its derivative by y")
    if not text.strip():
        raise InputError("--loss is empty", hint='write a loss of the output, such as "sum(y**2)"')
    _, snippet = inquiry.read_with(inquiry.at)
    names = set(parse_formula(Source(text, SOURCE), frozenset(inquiry.at), {}).names)
    names -= {*snippet.program.names, *snippet.values}
    extra = {name: read_value(value, f"--at {name}") for name, value in inquiry.at.items() if name in names}
    return replace(inquiry, at={name: value for name, value in inquiry.at.items() if name not in extra}), extra


def derive_loss(question: Question, text: str, extra: Mapping[str, Array], *, check: bool = True) -> Loss:
    """The loss at y, v = ∂ℓ/∂y with its formula, and ∇(ℓ∘f) in one go.

    Args:
        question: The function f at its point.
        text: Of ℓ, an expression in y by the name of the output.
        extra: Values of names that are not the function's.
        check: Whether to compare v with the reference.

    Raises:
        GradcliError: The text is not in the language, or names what has no value.
        InputError: ℓ does not name y, or has not one element.

    >>> from gradcli.language.snippets import read
    >>> question = Inquiry("x**2", read("x**2"), {"x": "1,2"}).question()
    >>> loss = derive_loss(question, "sum(y**2)", {})
    >>> loss.value, loss.v, loss.formula.text, loss.gradient["x"]
    (array(17.), array([2., 8.]), '2*y[j]', array([ 4., 32.]))
    """
    y = question.program.output_name
    numbers = {name: rounded(array, question.dtype) for name, array in extra.items()}
    given = {**numbers, **question.named, **question.arrays}
    # In the loss the name of the output is the output, even where an input has it too.
    given.pop(y, None)
    shapes = {y: question.shape, **{name: array.shape for name, array in given.items()}}
    program = parse_formula(Source(text, SOURCE), frozenset(shapes), shapes)
    _require_known(program, y, shapes)
    inside = infer(program, {symbol: shapes[str(symbol)] for symbol in program.variables})
    if math.prod(shape := inside.get(program.output, ())) != 1:
        message = f"the loss has shape {show(shape)}, and a loss has one element"
        raise InputError(message, place=_place(program), hint="write sum(...) or mean(...) of it")
    if "loss" not in shapes:
        program = replace(program, assigned=(*program.assigned[:-1], "loss"))
    values = {name: given[name] for name in program.names if name != y}

    of_y = Question(program, inside, {**values, y: question.value}, (y,), question.dtype, {})
    weights = np.ones(of_y.shape, dtype=question.dtype)
    shared = differentiated(of_y, weights, check=check)
    held = [name for name in program.names if name in question.arrays]
    remark = f"the loss names {', '.join(held)}, held constant there: v is its derivative by {y} alone"
    return Loss(
        expression=" ".join(text.split()),
        value=of_y.value,
        v=shared["vjp"][y],
        formula=shared["symbolic"].get(y),
        formula_omitted=shared["symbolic_omitted"].get(y, ""),
        gradient=_composed(question, program, values, weights),
        inputs=values,
        check=shared["check"],
        warnings=(*program.warnings, *([remark] if held else [])),
    )


def agrees(loss: Loss, vjp: Mapping[str, Array], dtype: Dtype) -> bool:
    """Whether vᵀJ is ∇(ℓ∘f) up to rounding, measured by the largest element: the others may have cancelled.

    What is not finite must be the same.
    """
    rtol = TOLERANCE[dtype].rtol
    return all(
        np.allclose(
            vjp[name], whole, rtol=rtol, atol=rtol * np.abs(whole[np.isfinite(whole)]).max(initial=0.0), equal_nan=True
        )
        for name, whole in loss.gradient.items()
    )


def with_loss(check: Check, loss: Loss | None, question: Question, vjp: Mapping[str, Array]) -> Check:
    """The check, and that of v = ∂ℓ/∂y where there is a loss; and whether vᵀJ is torch's gradient of ℓ∘f too."""
    if loss is None or loss.check is None:
        return check
    is_same = agrees(loss, vjp, question.dtype)
    equal = "vᵀJ and the gradient of the loss in one go " + ("are equal" if is_same else "differ")
    what, found = f"∂loss/∂{question.program.output_name}", loss.check
    findings = tuple(replace(finding, row=None, note=f"of {what}: {finding.note}") for finding in found.findings)
    part = replace(found, findings=findings, notes=(*found.notes, equal), rewrite=None)
    return with_part(check, part, f"v = {what}")


def _require_known(program: Program, y: str, known: Mapping[str, object]) -> None:
    for name in program.names:
        if name not in known:
            hint = meant(name, known) or did_you_mean(name, known)
            hint = hint or f"it may name {', '.join(known)}; others get values by --at {name}=VALUE"
            raise InputError(f"the loss names '{name}', which has no value", place=_place(program, name), hint=hint)
    if y not in program.names:
        message = f"the loss does not name {y}, the output"
        raise InputError(message, place=_place(program), hint=f"write it in terms of {y}, such as sum({y}**2)")


def _place(program: Program, name: str = "") -> Place:
    """The whole text, or the first use of a name."""
    found = re.search(rf"\b{re.escape(name)}\b", program.text) if name else None
    span = Span(*found.span()) if found else Span(0, len(program.text))
    return Place(program.text, span, program.source)


def _composed(question: Question, loss: Program, values: Mapping[str, Array], weights: Array) -> dict[str, Array]:
    """The gradient of ℓ∘f in one go: ℓ of the y that f gave, with its graph."""
    from gradcli.autodiff.jacobians import vjp
    from gradcli.autodiff.run import composed

    return vjp(composed(question.forward, loss, values, question.program.output_name), weights, question.wrt)
