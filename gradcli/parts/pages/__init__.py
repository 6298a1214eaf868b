"""Answers as documents of other programs: LaTeX, Markdown, HTML.

latex, markdown, html            a document in each, a module a format
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from gradcli.notation import Notation
    from gradcli.report.document import Document

_LATEX, _MARKDOWN, _HTML = (f"gradcli.parts.pages.{name}" for name in ("latex", "markdown", "html"))


class PagesPart(Part):
    """Formats of documents."""

    def renderers(self) -> tuple[Renderer, ...]:
        """Return the formats, in the order of the help."""
        return (
            Renderer("latex", f"{_LATEX}:pieces", (".tex",), notebook=f"{_LATEX}:body", help="LaTeX for amsmath"),
            Renderer("markdown", f"{_MARKDOWN}:pieces", (".md",), help="GitHub's Markdown", has_drawings=True),
            Renderer(
                "html",
                f"{_HTML}:pieces",
                (".html", ".htm"),
                notebook=f"{_HTML}:fragment",
                help="a page of HTML",
                has_drawings=True,
            ),
        )


PART = PagesPart()


def html_page(title: str, body: str) -> str:
    """Write a page of HTML."""
    from gradcli.parts.pages import html

    return html.PAGE.format(title=title, body=body)


def html_fragment(document: Document, math: Callable[[Notation], str]) -> str:
    """Write a document as a part of a page, with a writer of mathematics."""
    from gradcli.parts.pages import html

    return html.fragment(document, math)


def html_mathematics(notation: Notation) -> str:
    """Write mathematics in Unicode, as a part of a page."""
    from gradcli.parts.pages import html

    return html.unicode_math(notation)
