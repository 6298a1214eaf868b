"""The command that lists the functions of the language: functions."""

from __future__ import annotations

from typing import Annotated

import typer

from gradcli.cli.completion import suggestions
from gradcli.cli.expression import OnceCommand
from gradcli.cli.options import Color, ColorOption, Digits, Format, Json, OutputFile, format_option
from gradcli.cli.output import Output, manner, output

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...",
        show_default=False,
        autocompletion=suggestions.functions,
        help="Functions to show in full, by any of their names; other words are searched for. All by default.",
    ),
]
FunctionFormat = Annotated[
    Format, format_option("Tables, a line of JSON each, a row of CSV each, the names, one a line, LaTeX, or Markdown.")
]
Groups = Annotated[bool, typer.Option("--groups", help="Only the names, group by group.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("functions", cls=OnceCommand)(functions)


def functions(
    names: Names = None,
    format: FunctionFormat = Format.table,  # noqa: A002
    json: Json = False,
    color: ColorOption = Color.auto,
    digits: Digits = None,
    output_file: OutputFile = None,
    groups: Groups = False,
) -> Output:
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
    from gradcli import catalog

    shown = manner(format, json, color, digits, output_file)
    is_list = groups or not names or shown.form in (Format.plain, Format.csv)
    found = catalog.functions(*names or (), brief=groups) if is_list else catalog.pages(*names or ())
    return output(found, shown)
