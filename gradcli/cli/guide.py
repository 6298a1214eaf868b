"""The command that shows the pages of the guide: guide."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from gradcli import guide as manual
from gradcli.cli.expression import OnceCommand
from gradcli.cli.output import Stream
from gradcli.errors import UsageError, did_you_mean


def pages(incomplete: str) -> list[tuple[str, str]]:
    """The pages that begin so, each with its title, to complete what is typed."""
    return [(page, manual.title(page)) for page in manual.PAGES if page.startswith(incomplete)]


Page = Annotated[
    str | None,
    typer.Argument(
        metavar="[PAGE]", show_default=False, autocompletion=pages, help="The page to show. By default their list."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("guide", cls=OnceCommand)(guide)


def guide(page: Page = None) -> str | Stream:
    """The pages of the guide: a tour, the language, verdicts, scripts.

    Without a page, lists them. On a terminal, a page comes through the pager: PAGER, or else less. In a pipe, it is the
    Markdown that it is written in.

    \b
    Examples:
      gradcli guide
      gradcli guide tour
    """
    if page is None:
        width = max(map(len, manual.PAGES))
        return "".join(f"{name.ljust(width)}  {title}\n" for name, title in pages(""))
    if page not in manual.PAGES:
        hint = did_you_mean(page, manual.PAGES) or f"the pages are {', '.join(manual.PAGES)}"
        raise UsageError(f"the guide has no page '{page}'", hint=hint)
    return partial(_show, page)


def _show(page: str) -> int:
    from gradcli.cli.paging import show  # rich is not for the help

    return show(manual.text(page))
