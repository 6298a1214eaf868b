r"""A document in GitHub's Markdown: titles as headings, formulas and drawings as code.

Whatever was typed is escaped, so that a product is no emphasis and a comparison no tag.

Source: GitHub Flavored Markdown Spec, https://github.github.com/gfm/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from gradcli.report import document as doc, drawings
from gradcli.report.appearance import Appearance
from gradcli.report.compose.answers import compose
from gradcli.report.document import Screen, in_ascii
from gradcli.results import Result

_SPECIAL = re.compile(r"[\\`*<>|~$]|(?<![^\W_])_|_(?![^\W_])|&(?=[#\w])")
_LINK = re.compile(r"\][(\[:]")
_OPENING = re.compile(r"^(?:[-+#](?=\s|#|$)|\d+(?=[.)](?:\s|$))|={2,}|-{2,})")

_FENCES = {"torch": "python", "numpy": "python"}
"""Names of the languages of scripts."""


def pieces(answer: Result, shown: Appearance) -> Iterator[str]:
    """Write an answer."""
    yield render(compose(answer, shown.digits), shown.screen)


def render(document: doc.Document, screen: Screen) -> str:
    """Write the whole document, of any width."""
    page = Screen(ascii=screen.ascii, encoding=screen.encoding)
    return "\n".join(part for node in document for part in _parts(node, page))


def _parts(node: doc.Node, screen: Screen) -> Iterator[str]:
    """Write blocks that end with a newline each."""
    match node:
        case doc.Title(words=words):
            yield _paragraph(words, screen, "### ")
        case doc.Note(words=words):
            yield _paragraph(words, screen)
        case doc.Abreast(lines=parts):
            yield from (_paragraph(part, screen) for part in parts)
        case doc.Graph():
            yield fenced("\n".join(map(screen.in_characters, drawings.tree(node, screen))))
        case doc.ScriptText(source=source, language=language):
            yield fenced(in_ascii(source) if screen.ascii else source, _FENCES.get(language, language))
        case doc.Chart():
            yield fenced("\n".join(line.plain for line in node.drawn(screen)))
        case _:
            yield _table(drawings.table(node), screen)


def _table(found: doc.Table, screen: Screen) -> str:
    """Write a row a line; the header is there even if it is empty, as it must be."""
    headers = [_cell(header, screen) for header in found.headers]
    rules = ["---:" if found.is_numeric and n else "---" for n in range(len(headers))]
    rows = ([_cell(cell, screen) for cell in row] for row in found.body)
    return "".join(f"| {' | '.join(row)} |\n" for row in (headers, rules, *rows))


def _cell(line: doc.Line, screen: Screen) -> str:
    """Separate lines by `<br>`; escape pipes in code too, where nothing else is."""
    return "".join(
        "<br>".join(code(row).replace("|", r"\|") if is_code else escaped(row) for row in words.split("\n"))
        for is_code, words in _runs(line, screen)
    )


def _paragraph(line: doc.Line, screen: Screen, heading: str = "") -> str:
    """Write a heading on one line, else the lines as they are; code alone as a block."""
    runs = list(_runs(line, screen))
    if len(runs) == 1 and runs[0][0] and "\n" in runs[0][1]:
        return fenced(runs[0][1])
    shown = []
    for n, (is_code, words) in enumerate(runs):
        is_first, is_last = n == 0, n == len(runs) - 1
        rows = [row.strip() if is_first and is_last else row for row in words.split("\n")]
        if is_code:
            shown.append(code(" ".join(rows)))
        else:
            shown.append((" " if heading else "\\\n").join(escaped(row) for row in rows if row))
    return f"{heading}{''.join(shown)}\n"


def _runs(line: doc.Line, screen: Screen) -> Iterator[tuple[bool, str]]:
    """Group words and code in turn; words are escaped together, as a sign may span two of them."""
    for is_code, run in groupby(line, key=_is_code):
        yield is_code, "".join(drawings.words(part, screen, is_alone=len(line) == 1) for part in run)


def _is_code(part: doc.Inline) -> bool:
    match part:
        case doc.FormulaText() | doc.Styled(role="code") | doc.EquationCell(right=doc.FormulaText()):
            return True
    return False


def fenced(words: str, language: str = "") -> str:
    """Fence a block of code with more backticks than it has in a row itself."""
    ticks = _ticks(words, 3)
    return f"{ticks}{language}\n{words.rstrip()}\n{ticks}\n"


def code(words: str) -> str:
    """Write code within a line.

    >>> code("x`y"), code("a | b")
    ('``x`y``', '`a | b`')
    """
    ticks = _ticks(words, 1)
    space = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{space}{words}{space}{ticks}" if words.strip() else ""


def _ticks(words: str, least: int) -> str:
    return "`" * max(least, 1 + max(map(len, re.findall("`+", words)), default=0))


def escaped(words: str) -> str:
    r"""Escape words, so that they mean no more than themselves.

    >>> escaped("a*b < x_1"), escaped("x[0]"), escaped("_x_ [a](b)")
    ('a\\*b \\< x_1', 'x[0]', '\\_x\\_ \\[a](b)')
    """
    found = _SPECIAL.sub(r"\\\g<0>", words)
    if _LINK.search(found):
        found = found.replace("[", r"\[")
    return _OPENING.sub(lambda m: m[0] + "\\" if m[0].isdigit() else "\\" + m[0], found)
