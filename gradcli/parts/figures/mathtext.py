"""Mathematics for figures, in one font: formulas and code as matplotlib's mathtext, which knows a part of TeX.

Mathtext sets no cases, and has signs for few names: cases are written in a line, and what it cannot set stays text.
"""

from __future__ import annotations

import re

from gradcli.notation import Notation
from gradcli.parts.figures.styled_figure import FONT_SIZE, SIZE
from gradcli.report import wording
from gradcli.results import Answer, OnBox, Plotted

WIDEST = 58
"""Most letters of a title that is code."""

SMALLEST = 7.0
"""Least size of the letters of a title, in points."""

TITLE_SIZE = FONT_SIZE + 2
"""Size of the letters of a title that fits, in points."""

_OPERATORS = {"**": "**", "*": r"\cdot ", "<=": r"\leq ", ">=": r"\geq ", "!=": r"\neq ", "==": "=", " ": r"\ "}
_GROUP = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
_FRACTION = re.compile(rf"\\frac{_GROUP}{_GROUP}")
_SPACE = re.compile(r"(?<=[^\w\])]) +| +(?=[^\w\[(])")
_CODE = re.compile(
    r"(?P<number>\d+\.?\d*|\.\d+)(?:[eE]\+?(?P<exponent>-?\d+))?|(?P<name>[^\W\d]\w*)(?P<call>(?=\())?"
    r"|\*\*(?P<power>\d+\.\d+|\w+)|(?P<operator>\*\*|<=|>=|!=|==|\*| )|(?P<other>.)",
    re.DOTALL,
)


def mathematics(notation: Notation) -> str:
    """Set mathematics, or write it as text where that cannot be."""
    latex = _FRACTION.sub(r"\1/\2", _in_a_line(notation.latex))
    if "U{+}" not in latex and _is_set(f"${latex}$"):
        return f"${latex}$"
    return as_text(notation.pretty)


def as_text(words: str) -> str:
    """Write words that are no formula; a label that begins with an underscore would be left out of a legend."""
    escaped = words.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def title(answer: Answer | OnBox | Plotted, formula: Notation | None = None) -> str:
    """Write the function: its formula, or its text, cut where that is long."""
    if formula is not None:
        latex = _in_a_line(formula.latex).replace(r"\frac", r"\dfrac")
        if "U{+}" not in latex and _is_set(found := rf"$\mathit{{{_escaped(answer.output)}}} = {latex}$"):
            return found
    words = " ".join(wording.statement(answer).split())
    words = f"{words[: WIDEST - 1]}…" if len(words) > WIDEST else words
    return found if "::" not in words and _is_set(found := code(words)) else as_text(words)


def title_size(words: str) -> float:
    """Choose the size of the letters of a title, in points, so that it is no wider than a figure."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import MathTextParser

    width = float(MathTextParser("path").parse(words, dpi=72, prop=FontProperties(size=TITLE_SIZE))[0])
    return max(SMALLEST, min(TITLE_SIZE, TITLE_SIZE * SIZE[0] * 72 * 0.9 / max(width, 1)))


def code(words: str) -> str:
    r"""Set code as mathematics: names of functions upright, others in italics.

    >>> code("y = a*sin(x)**2")
    '$\\mathit{y}=\\mathit{a}\\cdot \\mathrm{sin}(\\mathit{x})^{2}$'
    """

    def mark(found: re.Match[str]) -> str:
        if found["number"]:
            power = f"10^{{{int(found['exponent'])}}}" if found["exponent"] else ""
            return power if power and found["number"] == "1" else found["number"] + rf" \cdot {power}" * bool(power)
        if found["name"]:
            return rf"\{'mathit' if found['call'] is None else 'mathrm'}{{{_escaped(found['name'])}}}"
        if power := found["power"]:
            return f"^{{{power}}}" if power[0].isdecimal() else rf"^{{\mathit{{{_escaped(power)}}}}}"
        return _OPERATORS[found["operator"]] if found["operator"] else _escaped(found["other"])

    return f"${_CODE.sub(mark, _SPACE.sub('', words))}$"


def _escaped(words: str) -> str:
    return re.sub(r"([_#%&{}$^\\])", r"\\\1", words)


def _in_a_line(latex: str) -> str:
    """Write cases next to each other behind a brace."""
    spaced = latex.replace(r"\\", r"; \;").replace("&", r"\;")
    return spaced.replace(r"\begin{cases}", r"\{\,").replace(r"\end{cases}", "") if r"\begin{cases}" in latex else latex


def _is_set(words: str) -> bool:
    """Tell whether mathtext can set a formula."""
    from matplotlib.mathtext import MathTextParser

    try:
        MathTextParser("path").parse(words)
    except ValueError:
        return False
    return True
