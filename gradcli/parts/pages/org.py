"""A document for Org mode of Emacs: headings, tables, and blocks of what is drawn or code.

Source: Org Manual, "Tables" and "Literal examples", https://orgmode.org/manual/
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.report import document as doc, drawings
from gradcli.report.appearance import Appearance
from gradcli.report.compose.answers import compose
from gradcli.report.document import Screen
from gradcli.results import Result

_SCREEN = Screen(encoding="utf-8")


def pieces(answer: Result, shown: Appearance) -> Iterator[str]:
    """Write an answer."""
    yield "\n".join(part for node in compose(answer, shown.digits) for part in _parts(node))


def _parts(node: doc.Node) -> Iterator[str]:
    """Write blocks that end with a newline each."""
    match node:
        case doc.Title(words=words):
            yield f"* {_words(words)}\n"
        case doc.Note(words=words):
            yield f"{_words(words)}\n"
        case doc.Abreast(lines=parts):
            yield from (f"{_words(part)}\n" for part in parts)
        case doc.Graph():
            yield _example(drawings.tree(node, _SCREEN))
        case doc.ScriptText(source=source):
            yield _example(source.splitlines())
        case doc.Chart():
            yield _example([line.plain for line in node.drawn(_SCREEN)])
        case _:
            yield _table(drawings.table(node))


def _words(line: doc.Line) -> str:
    """Write a line; a bar would end a cell."""
    return " ".join("".join(drawings.words(part, _SCREEN, is_alone=False) for part in line).split()).replace("|", "∣")


def _table(found: doc.Table) -> str:
    rows = [f"| {' | '.join(map(_words, row))} |\n" for row in (found.headers, *found.body)]
    return "".join([rows[0], f"|{'+'.join('---' for _ in found.headers)}|\n", *rows[1:]])


def _example(lines: list[str]) -> str:
    body = "".join(f"{',' * line.startswith(('*', '#+'))}{line}\n" for line in lines)
    return f"#+begin_example\n{body}#+end_example\n"
