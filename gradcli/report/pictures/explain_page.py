"""The chain rule of one function and its numbers as a page of its own, which answers what the gradient argument is.

The page needs nothing from elsewhere, and says everything without its script: the script shows the values of the graph
one after the other, then the adjoints backward.  Formulas are MathML where `latex2mathml` is installed, else Unicode.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np

from gradcli import results
from gradcli.notation import Notation
from gradcli.report import wording
from gradcli.report.compose.answers import compose
from gradcli.report.numbers import in_a_line, printable, rounded
from gradcli.report.pictures.graphs import DIGITS, MOST_BOXES, of_explanation
from gradcli.report.render import html


def mathml(notation: Notation) -> str:
    """Write mathematics as MathML, which browsers set without a script; in Unicode without `latex2mathml`."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return html.unicode_math(notation)
    plain = notation.latex.replace("{[}", "[").replace("{]}", "]").replace(r"\textgreater{}", ">")
    if r"\(" in plain:
        return html.unicode_math(notation)
    return str(convert(plain)).replace(r"\_", "_")  # `latex2mathml` reads no commands in \texttt


def page(answer: results.Explanation) -> str:
    """Write the page."""
    answer = printable(answer)
    title = wording.statement(answer)
    folder = Path(__file__).parent
    style, script = ((folder / f"explain_page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    steps = list(_steps(answer))
    listed = "".join(f'<li data-box="{escape(box)}" data-part="{part}">{words}</li>\n' for box, part, words in steps)
    picture = of_explanation(answer) if answer.steps_count + len(answer.inputs) <= MOST_BOXES else ""
    nav = '<nav hidden><button>↺</button><button>◀</button><button>▶</button><span id="step"></span></nav>\n'
    walk = f'{nav}<div class="picture">\n{picture}</div>\n' if picture else ""
    body = (
        f"<style>\n{style}</style>\n<main>\n<h1><code>{escape(title)}</code></h1>\n<p>{_argument(answer)}</p>\n"
        f"<h2>Step by step: values forward, adjoints backward</h2>\n{walk}"
        f'<details{" open" * (not picture)}><summary>all steps</summary>\n<ol id="steps">\n{listed}</ol>\n</details>\n'
        f"<h2>The numbers, the formulas and the verdict</h2>\n{html.fragment(compose(answer, 6), mathml)}</main>\n"
    )
    return html.PAGE.format(title=escape(title), body=body + (f"<script>\n{script}</script>\n" if picture else ""))


def _argument(answer: results.Explanation) -> str:
    """Say in words what v is."""
    y, names = escape(answer.output), ", ".join(f"{escape(name)}.grad" for name in answer.wrt)
    v = escape(in_a_line(rounded(answer.v, DIGITS)))
    if answer.v.size == 1:
        return (
            f"<code>{y}.backward()</code> starts with v = {v}, the derivative of {y} by itself. "
            f"Each step multiplies the adjoint that arrives by a local derivative; at the end stands {names}."
        )
    return (
        f"In <code>{y}.backward(gradient=v)</code>, v has a weight for each element of {y}: here v = {v}. "
        f"The backward pass computes the gradient of sum(v·{y}): row i of the Jacobian J counts v[i] times, and the "
        f"sum of the rows, vᵀJ, is left in {names}. J itself is never made."
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
    return f'<span class="numbers">{escape(in_a_line(rounded(np.asarray(array), DIGITS)))}</span>'
