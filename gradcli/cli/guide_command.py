"""The command `guide`: a page, a section, or the list of those that a word leads to; a terminal has them drawn.

Annotations of options are objects here, and no texts, as they are read at run time.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from gradcli import guide as manual
from gradcli.cli.options import NoPager
from gradcli.cli.output import Page
from gradcli.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from gradcli.report.document import Screen

MOST_SECTIONS = 30
"""Sections that are listed for a word."""

Words = Annotated[
    list[str] | None,
    Argument(
        metavar="[PAGE | WORD]...",
        show_default=False,
        help="The page to show, or words to search for in headings, else in texts. By default the list of pages.",
    ),
]


def guide(page_and_words: Words = None, pager: NoPager = False) -> str | Page:
    """The pages of the guide: a tour, the language, verdicts, scripts.

    Without a word, lists the pages. A word that is no page is searched for: one section is shown, several are listed.
    After the name of a page, words are searched for in that page. A page is Markdown: a pipe gets it as it is written,
    a terminal has it drawn at its width, through the pager: GRADCLI_PAGER, or else PAGER, or less.

    \b
    Examples:
      gradcli guide
      gradcli guide tour
      gradcli guide exit codes
      gradcli guide verdicts tolerance
    """
    words = page_and_words or []  # no word of a user's is taken for this name
    if not words:
        width = max(map(len, manual.PAGES))
        return "".join(f"{name.ljust(width)}  {manual.title(name)}\n" for name in manual.PAGES)
    page = words[0] if words[0] in manual.PAGES else None
    sought = " ".join(words[1:] if page else words)
    if page and not sought:
        return Page(partial(_drawn, manual.text(page)))
    found = manual.search(sought, (page,) if page else manual.PAGES)
    if not found:
        hint = did_you_mean(sought, _headings()) or "gradcli guide lists the pages"
        raise UsageError(f"the guide has no page '{sought}', and no section with it", hint=hint)
    return Page(partial(_drawn, found[0].text)) if len(found) == 1 else _listed(found)


def _headings() -> list[str]:
    """Return the names of pages and the headings of sections."""
    return [*manual.PAGES, *(section.heading.lower() for page in manual.PAGES for section in manual.sections(page))]


def _listed(found: Sequence[manual.Section]) -> str:
    """List sections as the words that show them."""
    shown = found[:MOST_SECTIONS]
    width = max(len(section.page) for section in shown)
    lines = [f"{section.page.ljust(width)}  {section.heading}" for section in shown]
    more = [f"and {len(found) - len(shown):,} more"] * (len(found) > len(shown))
    return "\n".join([*lines, *more, "gradcli guide PAGE HEADING shows one\n"])


_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([\w-]*)(?:\.md)?(?:#[\w-]*)?\)")


def _drawn(text: str, on: "Screen") -> str:
    """Draw Markdown at the width of a terminal; leave it as it is for anything else, and where signs are ASCII."""
    if on.width is None or on.ascii:
        return text
    from gradcli.report.render.markdown_pages import drawn

    return drawn(_LINK.sub(_name_of_page, text), on)


def _name_of_page(link: re.Match[str]) -> str:
    """Write a link to another page as the command that shows that page."""
    _, words, page = link.groups()
    return f"{words} (`gradcli guide {page}`)" if page in manual.PAGES else words
