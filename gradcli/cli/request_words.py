"""A request of `batch` in words: the commands of the shell, with the options of the question, and no files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from typer import _click as click
from typer.core import TyperGroup

from gradcli import options
from gradcli.cli.commands import ANSWERS, CommandLine, Expression, derivative
from gradcli.cli.expression import ExpressionCommand, message, where_help_is
from gradcli.cli.first_word import DERIVATIVE, with_command
from gradcli.cli.output import OutputOptions, is_typed
from gradcli.cli.parameters import arguments, read_expression, signed
from gradcli.errors import InputError, UsageError
from gradcli.files import Files
from gradcli.requests import require_command, why_not

if TYPE_CHECKING:
    from gradcli.results import Result


def answer(words: Sequence[str]) -> Result:
    """What a line of words answers: what the shell would print with `--json`.

    Args:
        words: With or without `gradcli` in front.

    Raises:
        GradcliError: They are no command on a function at a point, or ask for files or for a way to show the answer.

    >>> answer(["gradcli", "grad", "x**2", "--at", "3"]).grad["x"]
    array(6.)
    """
    group = _group()
    given = with_command([*words][1:] if words and words[0] == "gradcli" else words, group.commands)
    if not given:
        raise UsageError("the request has no command", hint=f"the commands are: {', '.join(options.QUESTIONS)}")
    if given[0] != DERIVATIVE:
        require_command(given[0])
    try:
        found: Result = group.main(given, prog_name="gradcli", standalone_mode=False)
    except click.exceptions.UsageError as error:
        raise UsageError(message(error), hint=where_help_is(error)) from error
    return found


class _NoFiles(Files):
    """What stands for the files of a command line, where there are none."""

    def array(self, reference: str, source: str) -> NoReturn:
        """Refuse to read values."""
        raise InputError(
            f"{source} is to be read from @{reference}, and requests read no files",
            hint="write the value itself; @FILE is for the command line",
        )

    text = array


@lru_cache(maxsize=1)
def _group() -> TyperGroup:
    """The commands, without what is about the shell alone: helps and variables of the environment."""
    app = typer.Typer(add_completion=False)
    for body in ANSWERS:
        _add(app, body, body.__name__.rstrip("_"))
    _add(app, derivative, "jacobian")
    return typer.main.get_group(app)


def _add(app: typer.Typer, body: Callable[[CommandLine], Result], alike: str) -> None:
    table = tuple(replace(option, variable=None) for option in options.typed(alike))
    name = body.__name__.rstrip("_")

    def run(expression: str, **given: Any) -> Result:
        ctx = click.globals.get_current_context()
        for option in table:
            if option.is_presentation and is_typed(ctx, option.name):
                raise UsageError(f"{' / '.join(option.flags)} is nothing that a request may have", hint=why_not(option))
        presentation = {option.name: given.pop(option.name) for option in table if option.is_presentation}
        files = _NoFiles()
        text = read_expression(expression, files)
        from gradcli.function import Function

        question = (option for option in table if not option.is_presentation)
        function, asked = arguments(question, given, Function(text), files)
        return body(CommandLine(name, text, function, asked, presentation, OutputOptions("json"), files))

    app.command(name, cls=ExpressionCommand, add_help_option=False)(signed(run, table, "expression", Expression))
