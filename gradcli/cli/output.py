"""From an answer to stdout: the format asked for, in one piece, after everything has succeeded."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from gradcli.cli.options import Color, Format
from gradcli.errors import OutputError, TooLargeError, UsageError

if TYPE_CHECKING:
    from gradcli.report.drawing import Screen
    from gradcli.results import Answer, Functions, Source

NOT_PASSED = 1
"""Exit code of an answer whose check did not pass."""

MOST_WARNINGS = 5
"""Remarks that are written for one answer."""


Stream = Callable[[], int]
"""What a command answers that writes as it goes, with stdout its own: run when the command line is read."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command answers, and the format asked for; rendered when the command is done.

    Attributes:
        answer: The object.
        format: The format.
        passed: Whether the check passed, where that was asked.
        color: When tables have colours.
    """

    answer: Answer | Functions | Source
    format: Format
    passed: bool = True
    color: Color = Color.auto


def output(
    answer: Answer | Functions | Source,
    chosen: Format,
    *,
    json: bool,
    strict: bool = False,
    color: Color = Color.auto,
) -> Output:
    """The answer in the format asked for.

    Args:
        answer: The object.
        chosen: The format asked for.
        json: Whether it was asked for as `--json`.
        strict: Whether the verdict of the check must be `agree`.
        color: When tables have colours.

    Raises:
        UsageError: `--json` beside another format.
    """
    if json and chosen not in (Format.json, Format.table):
        raise UsageError(f"--json and --format {chosen} exclude each other")
    return Output(answer, Format.json if json else chosen, _passed(answer, strict=strict), color)


def _passed(answer: Answer | Functions | Source, *, strict: bool) -> bool:
    from gradcli.results import Checking, Judged

    if isinstance(answer, Checking):
        return answer.passed
    if strict and isinstance(answer, Judged):
        return answer.check is not None and answer.check.verdict == "agree"
    return True


def write(result: Output | str) -> int:
    """Write an answer or a text to stdout in one piece, remarks to stderr; the exit code, 1 if a check did not pass.

    Raises:
        OutputError: There is no stdout; other failures of writing are the `OSError` that they are.
    """
    require_stdout()
    if isinstance(result, str):
        send(_own(result, sys.stdout))
        return 0
    from gradcli import report

    send(report.render(result.answer, result.format, screen(result.color)))
    for warning in result.answer.warnings[:MOST_WARNINGS]:
        remark(_own(f"warning: {warning}\n", sys.stderr))
    return 0 if result.passed else NOT_PASSED


def require_stdout() -> None:
    """Refuse to work for nobody.

    Raises:
        OutputError: There is no stdout.
    """
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")


def send(text: str) -> None:
    """Write a text to stdout at once.

    Raises:
        OutputError: There is no stdout; other failures of writing are the `OSError` that they are.
    """
    require_stdout()
    _send(text, sys.stdout)


def out_of_memory(error: MemoryError | RuntimeError) -> TooLargeError:
    """What to say where an allocation failed, which torch raises as a RuntimeError; any other is raised again."""
    if isinstance(error, RuntimeError) and "allocate memory" not in str(error):
        raise error
    return TooLargeError("there is not enough memory for this", hint="use smaller inputs")


def remark(text: str) -> None:
    """Write to stderr, if there is one: a message that nobody can read must not undo the answer."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            _send(text, sys.stderr)


def _own(words: str, stream: TextIO | None) -> str:
    """Our own words in signs that the stream has."""
    if words.isascii() or stream is None or (stream.encoding or "ascii").lower().startswith("utf"):
        return words
    from gradcli.report.drawing import in_ascii

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


def screen(color: Color = Color.auto) -> Screen:
    """What stdout is: the terminal's width and colours, or a pipe."""
    from gradcli.report.drawing import Screen

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "ascii"
    width = max(20, shutil.get_terminal_size().columns) if is_terminal else None
    is_colored = color is Color.always or (color is Color.auto and _has_color(is_terminal))
    return Screen(width, not encoding.lower().startswith("utf"), is_colored)


def _has_color(is_terminal: bool) -> bool:
    """As the environment says, else on a terminal that can; the order is Python's own."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and os.environ.get("TERM") != "dumb"
