r"""What LaTeX answers are made of: matrices, equations, tables, sentences, and the parts that most answers have.

A part is a paragraph, an `align*` or a `tabular`; between parts is an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.notation.typesetting import name, number, text, typed
from gradcli.report.drawing import LONG, ends
from gradcli.report.numbers import digits
from gradcli.report.wording import covered, judged, readings, reasons, sides, standing
from gradcli.results import Array, Cell, Check, Differentiation, Finding, Judged, Opinion, Rewrite

MOST_COLUMNS = 10
"""Of a matrix environment of amsmath's; a wider matrix is an array."""

_NUMBER = r"-?(?:\d[\d.]*(?:e[+-]?\d+)?|inf|nan)"
_NUMBERS = re.compile(rf"({_NUMBER})(?: ± ({_NUMBER}))?")
_SIDES = re.compile(rf"\[({_NUMBER}), ({_NUMBER})\]")

Equation = tuple[str, str]
"""Both sides."""


def document(parts: Iterable[str]) -> str:
    """The parts from top to bottom, behind a remark on what they need."""
    return "% needs \\usepackage{amsmath}\n" + "\n\n".join(parts) + "\n"


# -- mathematics


def grid(rows: Sequence[Sequence[str]]) -> str:
    r"""A matrix of cells that are LaTeX.

    >>> grid([["1", "0"], ["0", "1"]])
    '\\begin{bmatrix} 1 & 0 \\\\ 0 & 1 \\end{bmatrix}'
    """
    inside = r" \\ ".join(" & ".join(row) for row in rows)
    width = max(map(len, rows))
    if width <= MOST_COLUMNS:
        return rf"\begin{{bmatrix}} {inside} \end{{bmatrix}}"
    return rf"\left[\begin{{array}}{{{'c' * width}}} {inside} \end{{array}}\right]"


def matrix(array: Array) -> str:
    r"""A number, a column vector or a matrix; the corners of a large one.

    >>> import numpy as np
    >>> matrix(np.array([1.0, 1e-5]))
    '\\begin{bmatrix} 1 \\\\ 10^{-5} \\end{bmatrix}'
    """
    if array.ndim == 0:
        return _number(array[()])
    if array.size == 0:
        return rf"\text{{empty, of shape {text(str(array.shape))}}}"
    table = array.reshape(len(array), -1)
    rows = [[_cell(table, i, j) for j in ends(table.shape[1])] for i in ends(len(table))]
    return grid(rows) + (rf" \quad \text{{({array.size:,} elements)}}" if max(table.shape) > LONG else "")


def _cell(table: Array, i: int, j: int) -> str:
    match i < 0, j < 0:
        case True, True:
            return r"\ddots"
        case True, False:
            return r"\vdots"
        case False, True:
            return r"\cdots"
    return _number(table[i, j])


def _number(value: Any) -> str:
    return rf"\text{{{value}}}" if isinstance(value, np.bool_) else number(digits(value))


def row_vector(array: Array) -> str:
    """A vector lying down, as vᵀJ is; a matrix as it is."""
    return matrix(array.reshape(1, -1)) if array.ndim == 1 and array.size else matrix(array)


def element(word: str, position: Sequence[int | str] | None) -> str:
    r"""A tensor's element.

    >>> element("x", (0, 1)), element("loss", ())
    ('x_{0,1}', '\\mathit{loss}')
    """
    return name(word) + (f"_{{{','.join(map(str, position))}}}" if position else "")


def partial(above: str, below: str) -> str:
    """The derivative of one thing by another, both LaTeX."""
    return rf"\frac{{\partial {above}}}{{\partial {below}}}"


def tensor(label: str, array: Array, at: tuple[int, ...] = ()) -> Iterator[Equation]:
    """An equation for an array, or one for each matrix in it."""
    if array.ndim <= 2 or array.size == 0:
        rest = (*at, *(":",) * array.ndim) if at else ()
        yield label + (f"_{{{','.join(map(str, rest))}}}" if rest else ""), matrix(array)
        return
    for n in ends(len(array)):
        if n < 0:
            yield r"\vdots\;", ""
        else:
            yield from tensor(label, array[n], (*at, n))


def equations(lines: Iterable[Equation]) -> str:
    """Equations below each other, their signs in line."""
    shown = " \\\\\n".join(f"{left} &= {right}" if right else left for left, right in lines)
    return f"\\begin{{align*}}\n{shown}\n\\end{{align*}}"


# -- text


def sentence(words: str) -> str:
    """A paragraph of words that are not LaTeX."""
    return rf"\noindent {text(_capital(words))}" if words else ""


def heading(words: str) -> str:
    """A line above a part."""
    return rf"\noindent\textbf{{{text(_capital(words))}}}"


def _capital(words: str) -> str:
    """With a capital at the beginning, unless a formula stands there."""
    first = words.partition(" ")[0]
    is_word = first.isascii() and first.strip(",:;").isalpha() and (len(first) > 1 or first == "a")
    return words[:1].upper() + words[1:] if is_word else words


def code(words: str) -> str:
    """Lines of the language or of the shell, as they were typed."""
    return "\n\n".join(rf"\noindent{typed(line)}" for line in words.strip().splitlines() if line.strip())


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells that are LaTeX below headers that are not."""
    lines = [" & ".join(map(text, headers)) + r" \\ \hline", *(" & ".join(row) + r" \\" for row in rows)]
    return "\n".join([rf"\noindent\begin{{tabular}}{{{'l' * len(headers)}}}", *lines, r"\end{tabular}"])


def cell(words: str) -> str:
    r"""A cell of a table: numbers in mathematics, all else as text.

    >>> cell("1e-08 ± 2e-15"), cell("agree")
    ('\\(10^{-8} \\pm 2 \\cdot 10^{-15}\\)', 'agree')
    """
    if found := _NUMBERS.fullmatch(words):
        radius = rf" \pm {number(found[2])}" if found[2] else ""
        return rf"\({number(found[1])}{radius}\)"
    if found := _SIDES.fullmatch(words):
        return rf"\([{number(found[1])}, {number(found[2])}]\)"
    return text(words)


def of(finding: Finding | Opinion, y: str) -> str:
    """What an entry is called."""
    if isinstance(finding, Finding) and finding.point is not None:
        return f"{of(replace(finding, point=None), y)} at point {finding.point}"
    if isinstance(finding, Finding) and finding.of:
        return rf"\({_of_curvature(finding, y)}\)"
    if finding.variable is None:
        return rf"\({element(y, finding.row)}\)"
    column = element(finding.variable, finding.column)
    if finding.row is None and finding.column is not None:
        return rf"\((v^{{T}} J)_{{{column}}}\)"
    return rf"\(\partial {element(y, finding.row)} / \partial {column}\)"


def _of_curvature(finding: Finding, y: str) -> str:
    column = element(finding.variable or "", finding.column) if finding.variable else ""
    match finding.of:
        case "jvp":
            return "(J u)" + (f"_{{{','.join(map(str, finding.row))}}}" if finding.row else "")
        case "hvp":
            return f"(H u)_{{{column}}}"
        case "hessian":
            return rf"\partial^{{2}} {name(y)} / \partial {element(finding.by or '', finding.row)} \, \partial {column}"
        case _:
            return rf"\partial {name(y)} / \partial {column}"


# -- parts of most answers


def closed_form(answer: Differentiation) -> Iterator[str]:
    """The formulas, or why there are none."""
    yield heading("the derivative in closed form")
    yield from formulas(answer)
    for note in sorted({found.note for found in answer.symbolic.values() if found.note}):
        yield sentence(note)


def formulas(answer: Differentiation) -> Iterator[str]:
    """The function and its formulas, a matrix where they are written out, and why there are none."""
    functions = [found.function for found in answer.symbolic.values() if found.function]
    lines = [(left.latex, right.latex) for left, right in functions[:1]]
    cells = [cell for name in answer.wrt if name in answer.symbolic for cell in answer.symbolic[name].cells]
    if cells:
        yield equations([*lines, *((cell.label.latex, cell.latex) for cell in cells)])
        if len(cells) > 1 and (written := _written_out(cells)):
            yield equations([("J", written)])
    for variable, reason in answer.symbolic_omitted.items():
        yield rf"\noindent \({partial(name(answer.output), name(variable))}\): none, {text(reason)}"


def _written_out(cells: Sequence[Cell]) -> str:
    by = {(found.row, found.column): found.latex for found in cells}
    rows, columns = (list(dict.fromkeys(key[n] for key in by)) for n in (0, 1))
    is_whole = len(by) == len(cells) == len(rows) * len(columns)
    return grid([[by[row, column] for column in columns] for row in rows]) if is_whole and len(rows) > 1 else ""


def cross_check(answer: Judged) -> Iterator[str]:
    """The verdict, what it covers, and what does not agree, if that was asked."""
    if answer.check is not None:
        yield from coverage(answer.check, readings(answer))
        yield from findings(answer.check, answer.output)


def coverage(check: Check, compared: str) -> Iterator[str]:
    """The verdict and what it covers."""
    yield heading(f"the cross-check of {compared}")
    entries, error = covered(check)
    yield rf"\noindent {text(standing(check))}: {text(entries)} entries checked, largest relative error {cell(error)}."
    for note in check.notes:
        yield sentence(note)


def findings(check: Check, y: str) -> Iterator[str]:
    """What does not agree, and how to write the function better."""
    if check.findings:
        more = check.findings_count - len(check.findings)
        yield heading("what does not agree" + (f": the worst {len(check.findings)}, and {more:,} more" if more else ""))
        rows = [
            [of(found, y), text(judged(found.verdict, proven=found.proven)), cell(_torch(found)), cell(_truth(found))]
            for found in check.findings
        ]
        yield table(["entry", "verdict", "torch", "truth"], rows)
        for reason in reasons(check.findings, y):
            yield rf"\noindent {text(reason)}"
    yield from safe_form(check.rewrite)


def safe_form(rewrite: Rewrite | None) -> Iterator[str]:
    """How to write the function better, if that is known."""
    if rewrite is not None:
        yield heading("a safe way to write it")
        yield code(rewrite.expression)
        yield sentence(f"{rewrite.reason}; its verdict here is {rewrite.verdict}")


def _torch(finding: Finding) -> str:
    return "" if finding.torch is None else digits(finding.torch)


def _truth(finding: Finding) -> str:
    if finding.one_sided is not None:
        return sides(finding.one_sided)
    return "none" if finding.reference is None else digits(finding.reference)
