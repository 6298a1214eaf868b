"""A document in HTML: a page of its own that needs nothing from elsewhere, or a part of a notebook.

Formulas are Unicode mathematics, drawings and scripts keep their lines, and typed words are escaped.  Wide
parts scroll by themselves.  Colours can be read on light and on dark ground, and words say everything that they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from gradcli.errors import InputError
from gradcli.formats import TINTS
from gradcli.notation import Notation
from gradcli.report import document as doc, drawings, picture
from gradcli.report.appearance import Appearance
from gradcli.report.compose.answers import compose
from gradcli.report.document import TINT_NAMES, Screen
from gradcli.results import Result

_SCREEN = Screen(encoding="utf-8")

_COLORS = {role: TINTS[name].rgb for role, name in TINT_NAMES.items()}

_STYLE = """
.gradcli { font: 14px/1.5 system-ui, sans-serif; }
.gradcli h3 { font-size: 1em; font-weight: 600; margin: 1.2em 0 .3em; }
.gradcli p { margin: .4em 0; max-width: 60em; overflow-wrap: anywhere; }
.gradcli .wide { overflow-x: auto; margin: .5em 0; }
.gradcli.gradcli table { border-collapse: collapse; margin: 0; font-size: 1em; }
.gradcli.gradcli table :is(th, td) { border: 0; padding: .2em .8em; text-align: left; vertical-align: top; }
.gradcli.gradcli table th { font-weight: normal; }
.gradcli.gradcli thead tr th { border-bottom: 1px solid #8889; }
.gradcli.gradcli tfoot tr :is(th, td) { border-top: 1px solid #8889; }
.gradcli.gradcli tr + tr > * { border-top: 1px solid #8884; }
.gradcli.gradcli table .number { text-align: right; white-space: pre; }
.gradcli .numbers { white-space: nowrap; }
.gradcli :is(code, pre, .math, .number, .numbers) { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
.gradcli :is(code, .math, .numbers) { font-size: .95em; }
.gradcli pre { margin: .5em 0; padding: 0; overflow-x: auto; font-size: .95em; line-height: 1.35; }
.gradcli .aside { opacity: .7; }
.gradcli .good, .gradcli .open, .gradcli .lost, .gradcli .bad { font-weight: 600; }
""" + "".join(f".gradcli .{role} {{ color: {color}; }}\n" for role, color in _COLORS.items())
"""Style of our parts of a page, which may stand next to others; rules for tables outdo those of notebooks."""

Math = Callable[[Notation], str]
"""Writer of mathematics in HTML."""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1.5em; }}
</style>
</head>
<body>
{body}</body>
</html>
"""


def unicode_math(notation: Notation) -> str:
    """Write mathematics in Unicode, on lines where it has several."""
    return f'<span class="math">{escape(notation.pretty).replace(chr(10), "<br>")}</span>'


def pieces(answer: Result, shown: Appearance) -> Iterator[str]:
    """Write an answer."""
    yield render(compose(answer, shown.digits))


def render(document: doc.Document) -> str:
    """Write a page, titled by the words at the top of the document."""
    title = next((_plain(node.words) for node in document if isinstance(node, doc.Title | doc.Note)), "")
    return PAGE.format(title=escape(title or "gradcli"), body=fragment(document))


def fragment(document: doc.Document, math: Math = unicode_math) -> str:
    """Write the document with its style, to stand within another page.

    >>> "<td>a &lt; b</td>" in fragment((doc.Table(doc.lines("", ""), (doc.lines("x", "a < b"),)),))
    True
    """
    body = "".join(part for node in document for part in _parts(node, math))
    return f'<div class="gradcli">\n<style>{_STYLE}</style>\n{body}</div>\n'


def _parts(node: doc.Node, math: Math) -> Iterator[str]:
    """Write elements that end with a newline each."""
    match node:
        case doc.Title(words=words):
            yield f"<h3>{_line(words, math)}</h3>\n"
        case doc.Note(words=words):
            yield f"<p>{_line(words, math)}</p>\n"
        case doc.Abreast(lines=parts):
            yield f"<p>{' &emsp;'.join(_line(part, math) for part in parts)}</p>\n" if parts else ""
        case doc.Graph():
            yield _drawn("\n".join(drawings.tree(node, _SCREEN)))
        case doc.ScriptText(source=source):
            yield _drawn(source)
        case doc.Chart():
            try:
                yield "<svg" + picture(node.answer, "svg").decode().partition("<svg")[2]
            except InputError:  # without a library that draws
                yield _drawn("\n".join(line.plain for line in node.drawn(_SCREEN)))
        case _:
            yield _table(drawings.table(node), math)


def _drawn(words: str) -> str:
    return f"<pre>{escape(words.rstrip())}</pre>\n"


# -- tables


def _table(table: doc.Table, math: Math) -> str:
    tails = [max((_tail(row[n]) for row in table.body), default=0) for n in range(len(table.headers))]
    head = f"<thead>\n{_row(table, table.headers, [], math, is_head=True)}</thead>\n" if any(table.headers) else ""
    body = "".join(_row(table, row, tails, math) for row in table.body[: len(table.rows)])
    foot = f"<tfoot>\n{_row(table, table.footer, tails, math)}</tfoot>\n" if table.footer else ""
    return f'<div class="wide">\n<table>\n{head}<tbody>\n{body}</tbody>\n{foot}</table>\n</div>\n'


def _row(table: doc.Table, row: tuple[doc.Line, ...], tails: list[int], math: Math, *, is_head: bool = False) -> str:
    cells = []
    for n, cell in enumerate(row):
        is_label = n < table.labels
        tag = f'th scope="{"col" if is_head else "row"}"' if is_head or is_label else "td"
        kind = ' class="number"' * (table.is_numeric and not is_label)
        behind = "&nbsp;" * (tails[n] - _tail(cell)) if kind and table.is_pointed and not is_head else ""
        cells.append(f"<{tag}{kind}>{_line(cell, math, is_cell=not is_head)}{behind}</{tag[:2]}>")
    return f"<tr>{''.join(cells)}</tr>\n"


def _tail(cell: doc.Line) -> int:
    """Count the characters from the point of a number on."""
    words = _plain(cell)
    return len(words) - drawings.point(words)


# -- lines


def _plain(line: doc.Line) -> str:
    """Write the words alone, on one line."""
    return " ".join("".join(drawings.words(part, _SCREEN, is_alone=True) for part in line).split())


def _line(line: doc.Line, math: Math, *, is_cell: bool = False) -> str:
    return "".join(_inline(part, math, is_alone=is_cell and len(line) == 1) for part in line)


def _inline(part: doc.Inline, math: Math, *, is_alone: bool) -> str:
    """Write words with their role; arrays in a line stand on one, one that is a cell on a line a row."""
    words = drawings.words(part, _SCREEN, is_alone=is_alone)
    shown = escape(words).replace("\n", "<br>")
    match part:
        case doc.Styled(role="plain") | doc.EquationCell(right=doc.Styled()):
            return shown
        case doc.Styled(role="code") | doc.WordList():
            return f"<code>{shown}</code>"
        case doc.Styled(role="strong"):
            return f"<b>{shown}</b>"
        case doc.Styled(role=role):
            return f'<span class="{role}">{shown}</span>'
        case doc.ArrayNumbers() | doc.EquationCell(right=doc.ArrayNumbers()):
            return f'<span class="numbers">{shown}</span>'
        case doc.Symbol(notation=one) | doc.FormulaText(notation=one):
            return math(one)
        case doc.EquationCell(right=doc.FormulaText(notation=one)):
            return math(one)
    return f'<span class="math">{shown}</span>'
