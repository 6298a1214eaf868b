"""The requests of a stream answered in order, each on its line.

A request in words is read by the commands of the shell, with the options of the question, and without files.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import lru_cache
from typing import NoReturn

from typer.core import TyperGroup

from gradcli.cli.commands import built
from gradcli.cli.console import remark, require_stdout, send
from gradcli.cli.default_command import DERIVATIVE, with_command
from gradcli.cli.expression import message, where_help_is
from gradcli.cli.output import out_of_memory
from gradcli.cli.typer_internals import click
from gradcli.errors import GradcliError, InputError, InternalError, UsageError
from gradcli.files import Files
from gradcli.parts.batch.asking import answer, require_command, require_formula
from gradcli.parts.batch.caches import empty_caches
from gradcli.parts.batch.request_lines import lines, read
from gradcli.registry import all_commands, questions
from gradcli.results import Result

MOST_REMEMBERED = 256
"""Requests after which nothing that was worked out for them is remembered."""


def answer_all(file: str | None) -> int:
    """Answer the requests of a file, or of standard input, and give the exit code.

    Raises:
        GradcliError: They cannot be read, or there is no standard output.
    """
    require_stdout()
    code = 0
    with ExitStack() as stack:
        is_asked = file == "-" and sys.stdin is not None  # a terminal too, to type requests
        stream = sys.stdin.buffer if is_asked else Files().stream(file or "-", "batch", stack)[0]
        for number, line in enumerate(lines(stream), start=1):
            if line is None or line.strip():
                pieces, its_code = _reply(line, number)
                send(pieces)
                code = max(code, its_code)
            if number % MOST_REMEMBERED == 0:
                empty_caches()
    return code


def _reply(line: bytes | None, number: int) -> tuple[Iterable[str], int]:
    """Answer a request: the pieces of its line, and its exit code if it were alone."""
    from gradcli.report.render.json import render_error, reply

    request = read(line, number)
    try:
        if request.words == ():  # a comment
            return [], 0
        found = answer(request) if request.words is None else answer_words(request.words)
        return reply(found, request.head), 0
    except Exception as error:  # no error may stop the answers after it
        said = _said(error)
        return [render_error(said, request.head, line=number)], said.exit_code


def _said(error: Exception) -> GradcliError:
    """Error for the line of a request that was not answered; a bug becomes an `InternalError`."""
    known = error if isinstance(error, GradcliError) else out_of_memory(error)
    if known is not None:
        return known
    if os.environ.get("GRADCLI_DEBUG"):
        remark("".join(traceback.format_exception(error)))
    message = f"internal error: {''.join(traceback.format_exception_only(error)).strip()}"
    return InternalError(message, hint="this is a bug of gradcli; please report it with the request")


# -- a request in words: the commands of the shell, with the options of the question, and no files


def answer_words(words: Sequence[str]) -> Result:
    """Answer a request in words, as the shell would with `--json`.

    Args:
        words: The command line, with or without `gradcli` in front.

    Raises:
        GradcliError: The words are no command on a function at a point, or ask for files or a way to show the answer.

    >>> answer_words(["gradcli", "grad", "x**2", "--at", "3"]).grad["x"]
    array(6.)
    """
    group = _group()
    given = with_command([*words][1:] if words and words[0] == "gradcli" else words, group.commands)
    if not given:
        raise UsageError("the request has no command", hint=f"the commands are: {', '.join(questions())}")
    if given[0] != DERIVATIVE:
        require_command(given[0])
    for word in given[1:]:
        require_formula(word.rpartition("=")[2])
    try:
        found: Result = group.main(given, prog_name="gradcli", standalone_mode=False)
    except click.exceptions.UsageError as error:
        raise UsageError(message(error), hint=where_help_is(error)) from error
    return found


class _NoFiles(Files):
    """Files of a request: there are none, and reading one is refused."""

    def array(self, reference: str, source: str) -> NoReturn:
        """Refuse to read values."""
        message = f"{source} is to be read from @{reference}, and requests read no files"
        raise InputError(message, hint="write the value itself; @FILE is for the command line")

    text = array


@lru_cache(maxsize=1)
def _group() -> TyperGroup:
    """Group the commands of a request, without helps and variables of the environment, which only the shell has."""
    commands = (all_commands()[name] for name in (*questions(), DERIVATIVE))
    return TyperGroup(commands=[built(command, _NoFiles) for command in commands], rich_markup_mode=None)
