r"""A document as a fragment of LaTeX, to \input into a document that loads amsmath, which is all it needs.

Tables whose cells say what something is become equations; numbers keep their digits, long axes show their corners, and
whatever was typed is escaped.  Between parts is an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import numpy as np

from gradcli.language.text import signs
from gradcli.notation.typesetting import number, text, typed
from gradcli.report import document as doc, drawings
from gradcli.report.appearance import Appearance
from gradcli.report.compose.answers import compose
from gradcli.report.document import Screen, in_ascii
from gradcli.report.numbers import LONG, digits, ends
from gradcli.results import Array, Result

MOST_COLUMNS = 10
"""Of a matrix environment of amsmath's; a wider matrix is an array."""

MOST_IN_A_LINE = 240
"""Characters of LaTeX up to which a product is written with its factors; more would not fit the page."""

LONGEST_CELL = 40
"""Characters of a cell in the last column before it wraps."""

REASONS = "p{6cm}"
"""The last column, where it does."""

_NUMBER = re.compile(r"-?(\d[\d.]*(e[-+]\d+)?|inf|nan)")


def pieces(answer: Result, shown: Appearance) -> Iterator[str]:
    """Write an answer."""
    yield render(compose(answer, shown.digits))


def render(document: doc.Document) -> str:
    """Write the parts from top to bottom, after a remark on the packages that they need."""
    match document:
        case (doc.ScriptText(language="latex", source=source),):
            return source
    return "% needs \\usepackage{amsmath}\n" + body(document)


def body(document: doc.Document) -> str:
    """Write the parts without the remark."""
    return "\n\n".join(part for node in document for part in _parts(node)) + "\n"


def _parts(node: doc.Node) -> Iterator[str]:
    match node:
        case doc.Title(words=(doc.Styled(role="code") as code,)) | doc.Note(words=(doc.Styled(role="code") as code,)):
            yield _lines_of_code(code.words)
        case doc.Title(words=words):
            yield rf"\noindent\textbf{{{_joined(words)}}}"
        case doc.Note():
            yield rf"\noindent {_joined(node.words)}"
        case doc.Table():
            yield from _equations_of(node) if _is_of_equations(node) else [_tabular(node)]
        case doc.Blocks():
            yield _align(_blocks(node))
        case doc.Graph():
            yield _lines_of_code(in_ascii("\n".join(drawings.tree(node, Screen()))))
        case doc.ScriptText(source=source):
            yield _lines_of_code(source)
        case doc.Chart():
            yield _lines_of_code("\n".join(row.plain for row in node.drawn(Screen(ascii=True))))
        case doc.Abreast(lines=parts):
            yield from (rf"\noindent {_joined(part)}" for part in parts)


# -- equations

_Sides = tuple[str, str]
"""What stands at either side of the sign."""


def _align(lines: Iterable[_Sides]) -> str:
    shown = " \\\\\n".join(f"{left} &= {right}" if right else left for left, right in lines)
    return f"\\begin{{align*}}\n{shown}\n\\end{{align*}}"


def _is_of_equations(table: doc.Table) -> bool:
    return any(isinstance(part, doc.EquationCell) for row in table.rows if row for cell in row for part in cell)


def _equations_of(table: doc.Table) -> Iterator[str]:
    """Write the equations in the cells, column by column; their left sides say what else the rows have."""
    rows = [[part for cell in row for part in cell if isinstance(part, doc.EquationCell)] for row in table.rows if row]
    yield from _cells([part for column in zip_longest(*rows) for part in column])
    if table.is_numeric:
        yield _align([(_joined(table.headers[0]), _grid([list(map(_right, row)) for row in rows]))])


def _cells(cells: Sequence[doc.EquationCell | None]) -> Iterator[str]:
    """Equations below each other, dots for what is left out, then what has only words at its right."""
    known = [cell for cell in cells if cell is None or not isinstance(cell.right, doc.Styled)]
    lines: list[_Sides] = []
    for cell in known:
        lines += [(r"\vdots\;", "")] if cell is None else _equation(cell)
    if lines:
        yield _align(lines)
    for cell in cells:
        if cell is not None and isinstance(cell.right, doc.Styled):
            yield rf"\noindent \({cell.left.latex}\): {text(cell.right.words)}"


def _equation(cell: doc.EquationCell) -> Iterator[_Sides]:
    match cell.right:
        case doc.ArrayNumbers(array=array):
            yield from _tensor(cell.left.latex, array)
        case _:
            yield cell.left.latex, _right(cell)


def _tensor(label: str, array: Array, factors: Sequence[Array] = (), at: tuple[int, ...] = ()) -> Iterator[_Sides]:
    """Write an equation for an array, its factors before it where they fit, or one for each matrix in it."""
    if array.ndim <= 2 or array.size == 0:
        rest = (*at, *(":",) * array.ndim) if at else ()
        shown, before = matrix(array), " ".join(map(matrix, factors))
        fits = before and len(before) + len(shown) <= MOST_IN_A_LINE
        yield label + (f"_{{{','.join(map(str, rest))}}}" if rest else ""), f"{before} = {shown}" if fits else shown
        return
    for n in ends(len(array)):
        if n < 0:
            yield r"\vdots\;", ""
        else:
            yield from _tensor(label, array[n], at=(*at, n))


def _blocks(node: doc.Blocks) -> Iterator[_Sides]:
    for n, (rows, blocks) in enumerate(zip(node.rows, node.blocks, strict=True)):
        weights = node.weights if n else None
        for columns, (label, block), (_, first) in zip(node.columns, blocks, node.blocks[0], strict=True):
            is_number = weights is None and not (rows.shape or columns.shape)
            factors = () if weights is None else (weights.reshape(1, -1), first)
            yield from _tensor(label.latex, block.reshape(()) if is_number else block, factors)


def _right(cell: doc.EquationCell) -> str:
    match cell.right:
        case doc.FormulaText(notation=notation):
            return notation.latex
        case doc.ArrayNumbers(array=array):
            return matrix(array)
        case doc.Styled(words=words):
            return rf"\text{{{text(words)}}}"


# -- matrices


def _grid(rows: Sequence[Sequence[str]]) -> str:
    inside = r" \\ ".join(" & ".join(row) for row in rows)
    width = max(map(len, rows))
    if width <= MOST_COLUMNS:
        return rf"\begin{{bmatrix}} {inside} \end{{bmatrix}}"
    return rf"\left[\begin{{array}}{{{'c' * width}}} {inside} \end{{array}}\right]"


def matrix(array: Array) -> str:
    r"""Write a number, a column vector or a matrix; the corners of a large one.

    >>> import numpy as np
    >>> matrix(np.array([1.0, 1e-5]))
    '\\begin{bmatrix} 1 \\\\ 10^{-5} \\end{bmatrix}'
    """
    if array.ndim == 0:
        return _number(array[()])
    if array.size == 0:
        return rf"\text{{empty, of shape {text(str(array.shape))}}}"
    table = array.reshape(len(array), -1)
    rows = [[_element(table, i, j) for j in ends(table.shape[1])] for i in ends(len(table))]
    return _grid(rows) + (rf" \quad \text{{({array.size:,} elements)}}" if max(table.shape) > LONG else "")


def _element(table: Array, i: int, j: int) -> str:
    dots = {(True, True): r"\ddots", (True, False): r"\vdots", (False, True): r"\cdots"}
    return dots.get((i < 0, j < 0)) or _number(table[i, j])


def _number(value: object) -> str:
    return rf"\text{{{value}}}" if isinstance(value, np.bool_) else number(digits(value))


# -- text


def _inline(part: doc.Inline) -> str:
    match part:
        case doc.Styled(role="code", words=words):
            return typed(signs.in_ascii(" ".join(words.split("\n"))))
        case doc.Styled(words=words) if _NUMBER.fullmatch(words):
            return rf"\({number(words)}\)"
        case doc.Styled(words=words):
            return text(words)
        case doc.Symbol(notation=notation) | doc.FormulaText(notation=notation):
            return rf"\({notation.latex}\)"
        case doc.ArrayNumbers(array=array):
            return rf"\({matrix(array)}\)"
        case doc.WordList(words=names):
            return ", ".join(map(typed, names))
        case doc.EquationCell():
            return rf"\({_right(part)}\)"


def _lines_of_code(words: str) -> str:
    """Lines of the language or of the shell, as they were typed."""
    return "\n\n".join(rf"\noindent{typed(line)}" for line in words.strip().splitlines() if line.strip())


def _tabular(table: doc.Table) -> str:
    """Write a table of words, numbers and matrices, whose last column wraps where it has reasons."""
    rows = list(map(_row, table.body))
    columns = "l" + ("r" if table.is_numeric else "l") * (len(table.headers) - 1)
    last = [row[-1] for row in table.rows if row]
    if any(isinstance(part, doc.Styled) and len(part.words) > LONGEST_CELL for cell in last for part in cell):
        columns = columns[:-1] + REASONS
    shown = [_row(table.headers) + r" \hline", *rows]
    return "\n".join([rf"\noindent\begin{{tabular}}{{{columns}}}", *shown, r"\end{tabular}"])


def _row(cells: Sequence[doc.Line]) -> str:
    return " & ".join(map(_joined, cells)) + r" \\"


def _joined(line: doc.Line) -> str:
    return "".join(map(_inline, line))
