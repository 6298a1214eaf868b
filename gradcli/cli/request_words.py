"""A request of `batch` in words: the commands of the shell, with the options of the question, and no files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

import typer
from typer import _click as click
from typer.core import TyperGroup

from gradcli import options
from gradcli.cli.commands import ANSWERS, add
from gradcli.cli.expression import message, where_help_is
from gradcli.cli.first_word import DERIVATIVE, with_command
from gradcli.errors import InputError, UsageError
from gradcli.files import Files
from gradcli.requests import require_command

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
        add(app, body, _NoFiles)
    return typer.main.get_group(app)
