"""The guide: pages of Markdown next to this file, which ship in the package and are read on the web as they are.

Knows the names, titles and texts of the pages, and not how a terminal shows them.
"""

from __future__ import annotations

PAGES = (
    *("tour", "pictures", "language", "verdicts", "limits", "code", "gradcheck", "scripting", "json", "large-tables"),
    *("warm", "settings", "reference", "changes"),
)
"""The pages in the order in which a newcomer reads them."""


def text(page: str) -> str:
    """Return the Markdown of a page."""
    from importlib.resources import files  # here, as it takes longer to import than the shell has for its help

    return (files(__name__) / f"{page}.md").read_text(encoding="utf-8")


def title(page: str) -> str:
    """Return the heading of a page, its subject in one line."""
    return text(page).partition("\n")[0].removeprefix("# ")
