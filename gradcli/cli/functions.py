"""The command that lists the functions of the language: functions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gradcli.cli.completion import suggestions
from gradcli.cli.expression import OnceCommand
from gradcli.cli.output import Output, manner, output
from gradcli.cli.parameters import signed

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...",
        show_default=False,
        autocompletion=suggestions.functions,
        help="Functions to show in full, by any of their names; other words are searched for. All by default.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("functions", cls=OnceCommand)(signed(functions, "functions", "names", Names, None))


def functions(names: list[str] | None, groups: bool, **presentation: Any) -> Output:
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
    is_list = groups or not names or shown.form in ("plain", "csv")
    found = listed(*names or (), brief=groups) if is_list else pages(*names or ())
    return output(found, shown)
