"""From an answer to stdout: the format asked for, in one piece, after everything has succeeded."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from gradcli.cli.options import Format
from gradcli.errors import OutputError, UsageError

if TYPE_CHECKING:
    from gradcli.report.table import Screen
    from gradcli.results import Answer

MOST_WARNINGS = 5
"""Remarks that are written for one answer."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command has to say: text for stdout, remarks for stderr."""

    text: str
    warnings: tuple[str, ...] = ()


def output(answer: Answer, chosen: Format, *, json: bool) -> Output:
    """The answer in the format asked for.

    Raises:
        UsageError: `--json` beside another format.
    """
    if json and chosen is Format.plain:
        raise UsageError("--json and --format plain exclude each other")
    from gradcli import report

    match Format.json if json else chosen:
        case Format.json:
            text = report.json.render(answer)
        case Format.plain:
            text = report.plain.render(answer)
        case _:
            text = report.table.render(answer, screen())
    return Output(text, answer.warnings)


def write(result: Output) -> int:
    """Write the text to stdout in one piece, the remarks to stderr; the exit code 0.

    Raises:
        OutputError: There is no stdout; other failures of writing are the `OSError` that they are.
    """
    if sys.stdout is None:
        raise OutputError("the output could not be written: stdout is closed")
    sys.stdout.write(_writable(result.text, sys.stdout))
    sys.stdout.flush()
    for warning in result.warnings[:MOST_WARNINGS]:
        remark(f"warning: {warning}\n")
    return 0


def remark(text: str) -> None:
    """Write to stderr, if there is one: a message that nobody can read must not undo the answer."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(_writable(text, sys.stderr))
            sys.stderr.flush()


def _writable(text: str, stream: TextIO) -> str:
    """The text in what the stream can encode, the rest as escapes."""
    encoding = stream.encoding or "ascii"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def screen() -> Screen:
    """What stdout is: the terminal's width and colours, or a pipe."""
    from gradcli.report.table import Screen

    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "ascii"
    color = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = max(20, shutil.get_terminal_size().columns) if is_terminal else None
    return Screen(width, not encoding.lower().startswith("utf"), color)
