"""The guide: pages of Markdown next to this file, which ship in the package and are read on the web as they are.

Knows the names, titles, texts and sections of the pages, and not how a terminal shows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

PAGES = (
    *(
        "tour",
        "python",
        "nan",
        "verdicts",
        "words",
        "language",
        "pictures",
        "everywhere",
        "code",
        "gradcheck",
        "coming-from",
    ),
    *("scripting", "json", "large-tables", "sparse", "warm", "settings", "limits", "messages", "reference", "changes"),
)
"""The pages in the order in which a newcomer reads them."""

_HEADING = re.compile(r"(#+) (.*)")


class Section(NamedTuple):
    """A section of a page.

    Attributes:
        page: The name of the page.
        heading: The heading without its signs.
        own: The text down to the next heading.
        text: The whole, with the heading and all sections inside.
    """

    page: str
    heading: str
    own: str
    text: str


def text(page: str) -> str:
    """Return the Markdown of a page."""
    from importlib.resources import files  # here, as it takes longer to import than the shell has for its help

    return (files(__name__) / f"{page}.md").read_text(encoding="utf-8")


def title(page: str) -> str:
    """Return the heading of a page, its subject in one line."""
    return text(page).partition("\n")[0].removeprefix("# ")


def sections(page: str) -> Iterator[Section]:
    """Yield the sections of a page; the first is the whole page, under its title."""
    lines = text(page).splitlines(keepends=True)
    found: list[tuple[int, int, str]] = []
    is_code = False
    for place, line in enumerate(lines):
        is_code ^= line.startswith("```")
        if not is_code and (match := _HEADING.match(line)):
            found.append((place, len(match[1]), match[2].rstrip()))
    for index, (place, level, heading) in enumerate(found):
        behind = found[index + 1 :]
        own = next((start for start, *_ in behind), len(lines))
        stop = next((start for start, other, _ in behind if other <= level), len(lines))
        yield Section(page, heading, "".join(lines[place:own]), "".join(lines[place:stop]))


def search(words: str, pages: tuple[str, ...] = PAGES) -> list[Section]:
    """List the sections that words lead to: one of that heading; else those that have all words.

    The words of a heading count most: sections that have them in their text alone are listed where no heading has them.

    >>> [(section.page, section.heading) for section in search("exit codes")]
    [('scripting', 'Exit codes')]
    """
    known = [section for page in pages for section in sections(page)]
    wanted = words.lower().split()
    same = [section for section in known if section.heading.lower().split() == wanted]
    named = [section for section in known if all(_is_in(rf"{re.escape(word)}", section.heading) for word in wanted)]
    return (
        same
        or named
        or [
            section for section in known if all(_is_in(rf"{re.escape(word)}(?![^\W_])", section.own) for word in wanted)
        ]
    )


def _is_in(pattern: str, text: str) -> bool:
    """Tell whether a pattern in small letters is found in a text where a word begins."""
    return re.search(rf"(?<![^\W_]){pattern}", text.lower()) is not None
