"""A document in Emacs's Org: paragraphs, lists, fixed-width lines, and tables, in which a pipe is written by its name.

Source: "Org Syntax", https://orgmode.org/worg/org-syntax.html
"""

from __future__ import annotations

from gradcli.report import document as doc, drawings
from gradcli.report.document import Screen


def render(document: doc.Document, screen: Screen) -> str:
    """Write the whole document, of any width."""
    return "\n".join(_part(node, Screen(ascii=screen.ascii, encoding=screen.encoding)) for node in document)


def _part(node: doc.Node, screen: Screen) -> str:
    match node:
        case doc.Title(words=words) | doc.Note(words=words):
            return f"{_line(words, screen)}\n"
        case doc.Abreast(lines=parts):
            return "".join(f"- {_line(part, screen)}\n" for part in parts)
        case doc.Graph():
            return "".join(f": {screen.shown(line)}\n" for line in drawings.tree(node, screen))
        case doc.ScriptText(source=source):
            return "".join(f": {screen.shown(line)}\n" for line in source.splitlines())
    found = drawings.table(node)
    rows = [[_line(cell, screen).replace("|", r"\vert{}") for cell in row] for row in (found.headers, *found.body)]
    first, *rest = (f"| {' | '.join(row)} |\n" for row in rows)
    return "".join([first, "|-\n", *rest])


def _line(line: doc.Line, screen: Screen) -> str:
    """Write a line, with its own lines joined."""
    return " ".join("".join(drawings.words(one, screen, is_alone=len(line) == 1) for one in line).split())
