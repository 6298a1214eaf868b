"""The guide: pages of Markdown next to this file, which ship in the package and are read on the web as they are.

Knows the names, titles, texts and sections of the pages, and not how a terminal shows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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


_LITTLE = frozenset(
    "a an and are at be by can did do does for from get gets give has have how i if in into is it its make makes me my "
    "of on or our should so that the there they this to use was we what when where which why will with you your".split()
)
"""Words of a question that say nothing of its subject."""


def search(words: str, pages: tuple[str, ...] = PAGES) -> list[Section]:
    """List the sections that words lead to: one of that heading; else those that have all words.

    The words of a heading count most: sections that have them in their text alone are listed where no heading has them.
    Little words of a question are passed over, a word that names a page leads to it, and where no section has all
    words, those with most of them count.

    >>> [(section.page, section.heading) for section in search("exit codes")]
    [('scripting', 'Exit codes')]
    >>> search("why is my gradient nan?")[0].heading
    'My training gave NaN'
    """
    known = [section for page in pages for section in sections(page)]
    all_words = re.findall(r"[^\s?!]+", words.lower())
    same = [section for section in known if section.heading.lower().split() == all_words]
    wanted = [word for word in all_words if word.strip(".,'") not in _LITTLE] or all_words
    named = [section for section in known if _count(wanted, section.heading) == len(wanted)]
    if same or named:
        return same or named
    of_pages = [next(sections(page)) for page in pages if page in wanted and len(wanted) > 1]
    counts = [_count(wanted, section.own, ends=True) for section in known]
    most = max(counts, default=0)
    least = most if 2 * most > len(wanted) else len(wanted)
    in_text = (one for one, count in zip(known, counts, strict=True) if count >= least)
    return list(dict.fromkeys([*of_pages, *in_text]))


def _count(words: Sequence[str], text: str, *, ends: bool = False) -> int:
    """Count the words that a text has; those that begin a word of it do too, unless they are to end there."""
    end = r"(?![^\W_])" if ends else ""
    return sum(_is_in(f"{re.escape(word)}{end}", text) for word in words)


def _is_in(pattern: str, text: str) -> bool:
    """Tell whether a pattern in small letters is found in a text where a word begins."""
    return re.search(rf"(?<![^\W_]){pattern}", text.lower()) is not None
