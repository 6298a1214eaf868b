"""The command that answers a stream of requests: batch."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from gradcli.cli.output import Stream, out_of_memory, require_stdout, send
from gradcli.errors import GradcliError, InputError, UsageError

if TYPE_CHECKING:
    from gradcli.requests import Request

FAILED = 2
"""Exit code where a request was wrong."""

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
    Commands are vjp, jacobian, grad, jvp, hessian, hvp, eval, check, explain, graph and code.

    \b
    Examples:
      echo '{"command": "grad", "expression": "x**2", "at": {"x": 3}}' | gradcli batch
    """
    return lambda: _answer_all(file)


def _answer_all(file: str | None) -> int:
    """Answer line after line."""
    from gradcli.requests import lines, read

    require_stdout()
    is_right = True
    with _opened(file) as stream:
        for number, line in enumerate(lines(stream), start=1):
            if line is None or line.strip():
                reply, is_answered = _reply(read(line), number)
                send(reply)
                is_right &= is_answered
    return 0 if is_right else FAILED


def _reply(request: Request, number: int) -> tuple[str, bool]:
    """The line for a request, and whether it is an answer."""
    from gradcli.report.json import render_error, render_reply
    from gradcli.requests import answer

    try:
        return render_reply(answer(request), request.head), True
    except GradcliError as error:
        return render_error(error, request.head, line=number), False
    except (MemoryError, RuntimeError) as error:
        return render_error(out_of_memory(error), request.head, line=number), False


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
