"""The commands about gradcli itself: functions, guide, config, warm, completion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typer import _click as click
from typer._types import TyperChoice

from gradcli import guide as manual
from gradcli.cli.completion import Shell, function_names
from gradcli.cli.in_force import config
from gradcli.cli.output import Output, manner, output
from gradcli.cli.parameters import argument
from gradcli.cli.warming import ACTIONS, warm
from gradcli.errors import UsageError, did_you_mean


def pages(_: Any, incomplete: str) -> list[tuple[str, str]]:
    """The pages that begin so, each with its title, to complete what is typed."""
    return [(page, manual.title(page)) for page in manual.PAGES if page.startswith(incomplete)]


def functions(names: Sequence[str], groups: bool, **presentation: Any) -> Output:
    """The functions of the language, or all about one of them.

    Of one, prints its usage, names, definition, derivative, domain and kinks, and an example with its verdict. A word
    that is no function is searched for in names, groups and descriptions.

    \b
    Examples:
      gradcli functions
      gradcli functions softmax
      gradcli functions torch.nn.functional.gelu ln
      gradcli functions loss --format plain
      gradcli functions --groups
    """
    from gradcli.questions.functions import listed, pages

    shown = manner(presentation)
    is_list = groups or not names or shown.form in ("plain", "csv", "tsv")
    found = listed(*names, brief=groups) if is_list else pages(*names)
    return output(found, shown)


def guide(page: str | None, **_: Any) -> str:
    """The pages of the guide: a tour, the language, verdicts, scripts.

    Without a page, lists them. A page is the Markdown that it is written in. On a terminal, it comes through the pager:
    GRADCLI_PAGER, or else PAGER, or less.

    \b
    Examples:
      gradcli guide
      gradcli guide tour
    """
    if page is None:
        width = max(map(len, manual.PAGES))
        return "".join(f"{name.ljust(width)}  {title}\n" for name, title in pages(None, ""))
    if page not in manual.PAGES:
        hint = did_you_mean(page, manual.PAGES) or f"the pages are {', '.join(manual.PAGES)}"
        raise UsageError(f"the guide has no page '{page}'", hint=hint)
    return manual.text(page)


def completion(shell: str) -> str:
    """The script that completes what is typed in a shell.

    That is commands, options and their words, functions inside of an expression, and its variables.

    For bash, put `eval "$(gradcli completion bash)"` into ~/.bashrc; for zsh, `eval "$(gradcli completion zsh)"` into
    ~/.zshrc behind compinit, which also lets x**2 and [1,2] be typed without quotes, by noglob; for fish, write the
    script to ~/.config/fish/completions/gradcli.fish.

    \b
    Examples:
      gradcli completion bash
      gradcli completion fish
    """
    return Shell(shell).script


COMMANDS: Mapping[Any, click.Parameter | None] = {
    functions: argument(
        "names",
        function_names,
        metavar="[NAME]...",
        nargs=-1,
        help="Functions to show in full, by any of their names; other words are searched for. All by default.",
    ),
    guide: argument("page", pages, metavar="[PAGE]", help="The page to show. By default their list."),
    config: None,
    warm: argument(
        "action",
        metavar="[ACTION]",
        type=TyperChoice([*ACTIONS]),
        default="status",
        show_default=True,
        help="start, stop or status.",
    ),
    completion: argument(
        "shell", metavar="SHELL", type=TyperChoice([*Shell]), required=True, help="bash, zsh or fish."
    ),
}
"""The commands with what each takes without a flag."""
