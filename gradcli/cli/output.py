"""From an answer to stdout: the format asked for, in one piece, after everything has succeeded."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from typer import _click as click

from gradcli.cli.coloring import is_colored, marked
from gradcli.cli.destination import WIDTH, Destination, destination, save
from gradcli.cli.environment import is_typed
from gradcli.errors import GradcliError, OutputError, TooLargeError, UsageError, displayable

if TYPE_CHECKING:
    from gradcli.report.screen import Screen
    from gradcli.results import Answer, Check, Functions, Source

PIECE = 2**20
"""Characters that are written at a time."""

NOT_PASSED = 1
"""Exit code of an answer whose check did not pass."""

MOST_WARNINGS = 5
"""Remarks that are written for one answer."""

NARROWEST = 20
"""Columns that an answer has at least."""

USUAL = 80
"""Columns of a terminal that does not say."""

Stream = Callable[[], int]
"""What a command answers that writes as it goes, with stdout its own: run when the command line is read."""


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """How an answer is written.

    Attributes:
        form: The format; of a file that is no text, `table`.
        color: When tables have colours.
        digits: Significant digits that are shown; None for all.
        to: The file; None for stdout.
    """

    form: str
    color: str = "auto"
    digits: int | None = None
    to: Destination | None = None


def manner(given: Mapping[str, Any]) -> OutputOptions:
    """How the answer of the present command is written.

    Args:
        given: The options of that, of which a command may have some.

    Raises:
        GradcliError: What was asked for excludes itself, or the file cannot be written.
    """
    ctx = click.globals.get_current_context()
    command = ctx.command.name or ""
    is_json, chosen, path, digits = (given.get(name) for name in ("json", "format", "output", "digits"))
    is_told = is_typed(ctx, "format")
    # The environment's format yields to an option that chooses one, and where it cannot be: a script is no table.
    if not is_told and (is_json or given.get("drawing") or (command == "code" and chosen == "csv")):
        chosen = "table"
    if is_json and chosen not in ("json", "table"):
        raise UsageError(f"--json and --format {chosen} exclude each other")
    form = "json" if is_json else chosen or "table"
    to = destination(path, form if is_json or is_told else None, command)
    form = form if to is None else to.form
    if digits is not None and to is not None and to.kind in ("npy", "npz"):
        raise UsageError(f"--digits and -o {path} exclude each other", hint="an array has all its digits")
    return OutputOptions(form, given.get("color") or "auto", digits, to)


@dataclass(frozen=True, slots=True)
class Output:
    """What a command answers, and how to write it; rendered when the command is done.

    Attributes:
        answer: The object.
        manner: How to write it.
        passed: Whether the check passed, where that was asked.
        note: A line for stderr.
    """

    answer: Answer | Functions | Source
    manner: OutputOptions
    passed: bool = True
    note: str = ""


def output(
    answer: Answer | Functions | Source, shown: OutputOptions, *, strict: bool = False, require_all: bool = False
) -> Output:
    """The answer in the manner asked for.

    Args:
        answer: The object.
        shown: How to write it.
        strict: Whether the verdict of the check must be `agree`.
        require_all: Whether it must be that of all entries.
    """
    from gradcli.report.wording import of_sample
    from gradcli.results import Checking, Judged

    if not isinstance(answer, Judged):
        return Output(answer, shown)
    is_asked = strict or require_all or isinstance(answer, Checking)
    return Output(
        answer,
        shown,
        answer.passed if isinstance(answer, Checking) else passes(answer.check, strict=strict, require_all=require_all),
        of_sample(answer.check) if is_asked else "",
    )


def passes(check: Check | None, *, strict: bool, require_all: bool) -> bool:
    """Whether a check is as good as was asked."""
    agrees = check is not None and check.verdict == "agree"
    is_whole = check is not None and check.is_whole
    return (agrees or not strict) and (is_whole or not require_all)


def write(result: Output | str) -> int:
    """Write an answer to stdout in one piece or to its file, remarks to stderr; the exit code, 1 if a check failed.

    Raises:
        OutputError: There is no stdout; other failures of writing are the `OSError` that they are.
    """
    if isinstance(result, str):
        require_stdout()
        send([_own(result, sys.stdout)])
        return 0
    shown = result.manner
    if shown.to is None:
        require_stdout()
        from gradcli import report

        send(report.pieces(result.answer, shown.form, screen(shown.color), shown.digits))
    else:
        from gradcli.report.screen import Screen

        save(result.answer, shown.to, Screen(WIDTH, color=shown.color == "always"), shown.digits)
    for warning in result.answer.warnings[:MOST_WARNINGS]:
        remark(_own(f"warning: {warning}\n", sys.stderr), shown.color)
    if result.note:
        remark(_own(f"note: {result.note}\n", sys.stderr), shown.color)
    return 0 if result.passed else NOT_PASSED


def require_stdout() -> None:
    """Refuse to work for nobody.

    Raises:
        OutputError: There is no stdout.
    """
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")


def send(pieces: Iterable[str]) -> None:
    """Write a text to stdout and flush it: what is small in one piece, what is large as it comes.

    Raises:
        OutputError: There is no stdout; other failures of writing are the `OSError` that they are.
    """
    require_stdout()
    waiting, size = [], 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= PIECE:
            _send("".join(waiting), sys.stdout)
            waiting, size = [], 0
    _send("".join(waiting), sys.stdout)


def out_of_memory(error: Exception) -> TooLargeError | None:
    """What to say where an allocation failed, which torch raises as a RuntimeError; None of any other error."""
    if not isinstance(error, MemoryError) and not (isinstance(error, RuntimeError) and "allocate memory" in str(error)):
        return None
    return TooLargeError("there is not enough memory for this", hint="use smaller inputs")


def complain(error: GradcliError, color: str) -> None:
    """Write an error to stderr, its excerpt no wider than the terminal."""
    encoding = (sys.stderr.encoding if sys.stderr is not None else None) or "ascii"
    remark(error.render(columns(sys.stderr), encoding) + "\n", color)


def remark(text: str, color: str = "never") -> None:
    """Write to stderr, if there is one: a message that nobody can read must not undo the answer."""
    if sys.stderr is not None:
        text = displayable(text)
        with contextlib.suppress(OSError):
            _send(marked(text) if is_colored(color, sys.stderr) else text, sys.stderr)


def _own(words: str, stream: TextIO | None) -> str:
    """Our own words in signs that the stream has."""
    if words.isascii() or stream is None or (stream.encoding or "ascii").lower().startswith("utf"):
        return words
    from gradcli.report.screen import in_ascii

    return in_ascii(words)


def _send(text: str, stream: TextIO) -> None:
    """Write and flush; what could not be written is dropped, or Python would try again at exit and complain."""
    try:
        stream.write(_writable(text, stream))
        stream.flush()
    except OSError:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        raise


def _writable(text: str, stream: TextIO) -> str:
    """The text in what the stream can encode, the rest as escapes."""
    encoding = stream.encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def columns(stream: TextIO | None) -> int | None:
    """The width of a terminal; None for what is none. COLUMNS counts more, as it does elsewhere."""
    if stream is None or not stream.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    width = int(told) if told.isdecimal() else 0
    if not width:
        with contextlib.suppress(OSError):
            width = os.get_terminal_size(stream.fileno()).columns
    return max(NARROWEST, width or USUAL)


def screen(color: str = "auto") -> Screen:
    """What stdout is: the terminal's width and colours, or a pipe."""
    from gradcli.report.screen import Screen

    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "ascii"
    is_ascii = not encoding.lower().startswith("utf")
    return Screen(columns(sys.stdout), is_ascii, is_colored(color, sys.stdout), encoding)
