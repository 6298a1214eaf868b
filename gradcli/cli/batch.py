"""The command that answers a stream of requests: batch."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from typing import Annotated, BinaryIO

import typer

from gradcli.cli.output import Stream, out_of_memory, remark, require_stdout, send
from gradcli.errors import GradcliError, InputError, InternalError, UsageError

Requests = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]",
        show_default=False,
        help="A file of requests, a line each; - is standard input, which is the default unless it is a terminal.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("batch")(batch)


def batch(file: Requests = None) -> Stream:
    """JSON requests in, a line each, and their answers out in order.

    A request is one object: "command", "expression", and the options of the command as keys, such as "at", "v" or
    "vs" (several), "u", "wrt", "dtype", "check". Its answer is the line that --json prints, written at once, and
    repeats its "id". A wrong request gets a line with an "error", and the stream goes on; the exit code is then 2.
    An error of the kind "internal" is a bug of ours, and makes it 70.
    Commands are vjp, jacobian, grad, jvp, hessian, hvp, eval, check, explain, graph and code.

    \b
    Examples:
      echo '{"command": "grad", "expression": "x**2", "at": {"x": 3}}' | gradcli batch
    """
    return lambda: _answer_all(file)


def _answer_all(file: str | None) -> int:
    """Answer line after line."""
    from gradcli.requests import lines

    require_stdout()
    code = 0
    with _opened(file) as stream:
        for number, line in enumerate(lines(stream), start=1):
            if line is None or line.strip():
                pieces, its_code = _reply(line, number)
                send(pieces)
                code = max(code, its_code)
    return code


def _reply(line: bytes | None, number: int) -> tuple[Iterable[str], int]:
    """The line for a request, piece by piece, and the exit code that it would have alone."""
    from gradcli.report.data.json import render_error, reply
    from gradcli.requests import answer, read

    request = read(line)
    try:
        return reply(answer(request), request.head), 0
    except Exception as error:  # whatever it is, it must not take along the answers behind it
        said = _said(error)
        return [render_error(said, request.head, line=number)], said.exit_code


def _said(error: Exception) -> GradcliError:
    """What the line of a request says that was not answered."""
    known = error if isinstance(error, GradcliError) else out_of_memory(error)
    if known is not None:
        return known
    if os.environ.get("GRADCLI_DEBUG"):
        remark("".join(traceback.format_exception(error)))
    return InternalError(
        f"internal error: {''.join(traceback.format_exception_only(error)).strip()}",
        hint="this is a bug of gradcli; please report it with the request",
    )


@contextlib.contextmanager
def _opened(file: str | None) -> Iterator[BinaryIO]:
    """The stream of requests.

    Raises:
        UsageError: It would be a terminal, and nobody asked for that.
        InputError: It cannot be opened.
    """
    if file not in (None, "-"):
        try:
            stream = open(file, "rb")  # noqa: SIM115
        except OSError as error:
            raise InputError(f"the requests cannot be read from '{file}': {error.strerror or error}") from error
        with stream:
            yield stream
        return
    if sys.stdin is None:
        raise InputError("there is no standard input to read requests from")
    if file is None and sys.stdin.isatty():
        raise UsageError(
            "standard input is a terminal, where nobody sends requests",
            hint="pipe them in, name a file of them, or write gradcli batch - to type them",
        )
    yield sys.stdin.buffer
