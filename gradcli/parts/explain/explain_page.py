"""The chain rule of one function and its numbers as a page of its own, which answers what the gradient argument is.

The page needs nothing from elsewhere, and says everything without its script: the script shows the values of the graph
one after the other, then the adjoints backward.  Formulas are MathML where `latex2mathml` is installed, else Unicode.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template

import numpy as np

from gradcli import results
from gradcli.notation import Notation
from gradcli.parts import is_listed
from gradcli.parts.explain.graph_drawings import DIGITS, MOST_BOXES, of_explanation
from gradcli.report import wording
from gradcli.report.appearance import Appearance
from gradcli.report.compose.answers import compose
from gradcli.report.numbers import in_a_line, printable, rounded

if is_listed("pages"):  # else nothing asks for a page
    from gradcli.parts.pages import html_fragment, html_mathematics, html_page


def mathml(notation: Notation) -> str:
    """Write mathematics as MathML, which browsers set without a script; in Unicode without `latex2mathml`."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return html_mathematics(notation)
    if any(command in notation.latex for command in (r"\text", r"\(", "U{+}")):  # `latex2mathml` cannot set these
        return html_mathematics(notation)
    return str(convert(notation.latex))


def pieces(answer: results.Explanation, shown: Appearance) -> Iterator[str]:
    """Write an explanation."""
    yield page(printable(answer), shown.digits or DIGITS)


def page(answer: results.Explanation, digits: int = DIGITS) -> str:
    """Write the page, its numbers with so many digits."""
    title = escape(wording.statement(answer))
    short = rounded(answer, digits)
    listed = (f'<li data-box="{escape(box)}" data-part="{part}">{words}</li>\n' for box, part, words in _steps(short))
    template = Template(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
    body = template.substitute(
        title=title,
        argument=_argument(short),
        graph=of_explanation(answer, digits=digits) if answer.steps_count + len(answer.inputs) <= MOST_BOXES else "",
        steps="".join(listed),
        tables=html_fragment(compose(answer, digits), mathml),
    )
    return html_page(title, body)


def _argument(answer: results.Explanation) -> str:
    """Say in words what v is."""
    y, names = escape(answer.output), ", ".join(f"{escape(name)}.grad" for name in answer.wrt)
    v = f"v = {escape(in_a_line(answer.v))}"
    if answer.loss is not None:
        v += f", the derivative of the loss {escape(answer.loss.expression)}"
    if answer.v.size == 1:
        return (
            f"In PyTorch, <code>{y}.backward()</code> starts with {v}; without a gradient argument that is 1, the "
            f"derivative of {y} by itself. Each step multiplies the adjoint that arrives by a local derivative; "
            f"at the end stands {names}."
        )
    return (
        f"A gradient is of one number, and {y} has {answer.v.size} elements: <code>{y}.backward()</code> alone "
        f"is an error of PyTorch: “grad can be implicitly created only for scalar outputs”. "
        f"In <code>{y}.backward(gradient=v)</code>, v has a weight for each element: here {v}. "
        f"Where {y} goes on into a loss, v is the derivative of the loss by {y}. The backward pass computes the "
        f"gradient of sum(v·{y}): row i of the Jacobian J counts v[i] times, and the sum of the rows, vᵀJ, is left "
        f"in {names}. J itself is never made."
    )


def _steps(answer: results.Explanation) -> Iterator[tuple[str, str, str]]:
    """Yield the box, the line in it and the words of each step."""
    for name, value in answer.inputs.items():
        yield name, "value", f"given: {escape(name)} = {_numbers(value)}"
    for step in answer.steps:
        yield step.name, "value", f"forward: {escape(step.name)} = {mathml(step.operation)} = {_numbers(step.value)}"
    for adjoint in answer.adjoints:
        terms = [mathml(term.equation) for term in adjoint.terms if term.equation is not None]
        between = (
            f" = {' + '.join(terms)}" if len(terms) == adjoint.terms_count and terms else " = v" * (not adjoint.terms)
        )
        yield adjoint.name, "adjoint", f"backward: {mathml(adjoint.notation)}{between} = {_numbers(adjoint.value)}"


def _numbers(array: results.Array) -> str:
    return f'<span class="numbers">{escape(in_a_line(np.asarray(array)))}</span>'
