"""From an answer to stdout or to the file of `-o`: in the format asked for, after everything has succeeded.

Beside it what is known of a command line before it is known to be right: options, and where there are colours.  What is
given there counts more than the environment, and the values of a function never come from either.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

from typer import _click as click

from gradcli.errors import GradcliError, InputError, OutputError, TooLargeError, UsageError, displayable
from gradcli.options import COLOR_VARIABLE, COLORS, FORMAT_VARIABLE, FORMATS

if TYPE_CHECKING:
    from typing import BinaryIO

    from gradcli.report.document import Screen
    from gradcli.results import Answer, Check, Functions, Source

PIECE = 2**20
"""Characters that are written at a time."""

NOT_PASSED = 1
"""Exit code of an answer whose check did not pass."""

MOST_WARNINGS = 5
"""Remarks that are written for one answer."""

ON_TERMINALS = 6
"""Digits of the tables of a terminal."""

NARROWEST = 20
"""Columns that an answer has at least."""

USUAL = 80
"""Columns of a terminal that does not say."""

WIDTH = 100
"""Columns of a table in a file."""

TEXT: Mapping[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".md": "markdown",
    ".tex": "latex",
    ".txt": "table",
}
"""Suffixes of the formats."""

OTHER: Mapping[str, str] = {".npy": "npy", ".npz": "npz", ".py": "py", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid"}
"""Suffixes of what is no format: arrays, a script, a picture's source."""

_ONLY: Mapping[str, str] = {"py": "code", "dot": "graph", "mermaid": "graph"}
"""The command that a kind of file is of."""

_NO_ARRAY = ("check", "graph")
_NO_ARRAYS = ("code", "functions")

_STYLES = {"error": "\x1b[1;31merror:\x1b[0m", "warning": "\x1b[1;33mwarning:\x1b[0m", "note": "\x1b[1mnote:\x1b[0m"}
_MARKS = re.compile(r"^(error|warning|note):", re.MULTILINE)
_HINTS = re.compile(r"^hint: .*", re.MULTILINE)

Stream = Callable[[], int]
"""What a command answers that writes as it goes, with stdout its own: run when the command line is read."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A file to write.

    Attributes:
        path: As given.
        kind: A format, or `npy`, `npz`, `py`, `dot`, `mermaid`.
    """

    path: str
    kind: str

    @property
    def form(self) -> str:
        """The format of its text; of what is no text, a table."""
        return self.kind if self.kind in FORMATS else "table"


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """How an answer is written.

    Attributes:
        form: The format; of a file that is no text, `table`.
        color: When tables have colours.
        digits: Significant digits that are shown; None for all.
        to: The file; None for stdout.
        is_quiet: Whether remarks are left out.
    """

    form: str
    color: str = "auto"
    digits: int | None = None
    to: Destination | None = None
    is_quiet: bool = False


def manner(given: Mapping[str, Any]) -> OutputOptions:
    """How the answer of the present command is written.

    Args:
        given: The options of that, of which a command may have some.

    Raises:
        GradcliError: What was asked for excludes itself, or the file cannot be written.
    """
    ctx = click.globals.get_current_context()
    command = ctx.command.name or ""
    chosen, path, digits = (given.get(name) for name in ("format", "output", "digits"))
    is_told = is_typed(ctx, "format")
    switches = [name for name in ("json", "full") if given.get(name)]
    # The environment's format yields to an option that chooses one, and where it cannot be: a script is no table.
    if not is_told and (switches or given.get("drawing") or (command == "code" and chosen in ("csv", "tsv"))):
        chosen = "table"
    if len(switches) > 1:
        raise UsageError("--json and --full exclude each other")
    if switches and chosen not in (*switches, "table"):
        raise UsageError(f"--{switches[0]} and --format {chosen} exclude each other")
    form = switches[0] if switches else chosen or "table"
    to = destination(path, form if switches or is_told else None, command)
    form = form if to is None else to.form
    if digits is not None and to is not None and to.kind in ("npy", "npz"):
        raise UsageError(f"--digits and -o {path} exclude each other", hint="an array has all its digits")
    return OutputOptions(form, given.get("color") or "auto", digits, to, bool(given.get("quiet")))


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

        on = screen(shown.color)
        digits = (
            ON_TERMINALS if shown.digits is None and shown.form == "table" and on.width is not None else shown.digits
        )
        send(report.pieces(result.answer, shown.form, on, digits))
    else:
        from gradcli.report.document import Screen

        save(result.answer, shown.to, Screen(WIDTH, color=shown.color == "always"), shown.digits)
    for warning in () if shown.is_quiet else result.answer.warnings[:MOST_WARNINGS]:
        remark(_own(f"warning: {warning}\n", sys.stderr), shown.color)
    if result.note and not shown.is_quiet:
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
    from gradcli.report.document import in_ascii

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
    from gradcli.report.document import Screen

    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "ascii"
    is_ascii = not encoding.lower().startswith("utf")
    return Screen(columns(sys.stdout), is_ascii, is_colored(color, sys.stdout), encoding)


# -- files


def destination(path: str | None, told: str | None, command: str) -> Destination | None:
    """What to write, as the suffix says, or as the format says where the suffix leaves it open; None without a path.

    Raises:
        InputError: The suffix says nothing, or is not for this command.
        UsageError: The format says something else.
        OutputError: There is no such folder.
    """
    if path is None:
        return None
    suffix = os.path.splitext(path)[1].lower()
    known = TEXT.get(suffix) or OTHER.get(suffix)
    if told is not None and (known is None or suffix == ".txt"):
        known = told
    if known is None:
        named = f"the suffix '{suffix}'" if suffix else "no suffix"
        shown = path or "''"
        message = f"-o {shown} has {named}, and the suffix says what to write"
        raise InputError(message, hint=f"known are {', '.join([*TEXT, *OTHER])}; any other name needs --format")
    if told is not None and known != told:
        raise UsageError(f"-o {path} and --format {told} exclude each other", hint="leave out --format")
    _require_fit(path, known, command)
    _require_place(path)
    return Destination(path, known)


def _require_fit(path: str, kind: str, command: str) -> None:
    """Refuse early what the command has not."""
    only = _ONLY.get(kind, command)
    if only != command:
        raise InputError(f"-o {path} is for gradcli {only}, and not for {command}")
    if kind == "npy" and command in _NO_ARRAY:
        raise InputError(f"what {command} answers is not one array", hint="write an .npz")
    if kind in ("npy", "npz") and command in _NO_ARRAYS:
        raise InputError(f"{command} answers with no arrays", hint="write a .txt or a .json")


def _require_place(path: str) -> None:
    """Refuse, before anything is computed, what cannot be written."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise OutputError(f"'{path}' could not be written: there is no such folder")
    if os.path.isdir(path):
        raise OutputError(f"'{path}' could not be written: it is a folder")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise OutputError(f"'{path}' could not be written: it is read-only")


def save(answer: Answer | Functions | Source, to: Destination, screen: Screen, digits: int | None) -> None:
    """Write the file, whole or not at all.

    Raises:
        GradcliError: The answer has not what the file is for.
        OutputError: The file could not be written.
    """
    from gradcli.files.atomic import replacing

    try:
        with replacing(to.path) as output:
            _write(answer, to, output.file, screen, digits)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"'{to.path}' could not be written: {error.strerror or error}") from error


def _write(
    answer: Answer | Functions | Source, to: Destination, file: BinaryIO, screen: Screen, digits: int | None
) -> None:
    from gradcli import report
    from gradcli.files.binary import write_npy, write_npz
    from gradcli.report.data.plain import named, primary_array
    from gradcli.results import Answer, BackwardGraph, Source

    match to.kind, answer:
        case "npy", Answer():
            write_npy(primary_array(answer), file)
            return
        case "npz", Answer():
            write_npz(named(answer), file)
            return
        case "py", Source(language="latex"):
            raise UsageError(f"-o {to.path} and --to latex exclude each other", hint="write a .tex")
        case "dot" | "mermaid", BackwardGraph(drawing=drawing):
            if drawing not in ("", to.kind):
                raise UsageError(f"-o {to.path} and --to {drawing} exclude each other", hint="leave out --to")
            answer = replace(answer, drawing="dot" if to.kind == "dot" else "mermaid")
    is_one = to.path.lower().endswith(".json")
    for piece in report.pieces(answer, to.form, screen, digits, one_document=is_one):
        file.write(piece.encode("utf-8"))


# -- a command line that is not yet known to be right


def is_typed(ctx: click.Context, parameter: str) -> bool:
    """Whether an option was on the command line."""
    source = ctx.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def given(arguments: Sequence[str], option: str) -> list[str]:
    """The values of an option on a command line that is not yet known to be right.

    >>> given(["vjp", "x", "--color", "always", "--color=never"], "--color")
    ['always', 'never']
    """
    pairs = zip(arguments, [*arguments[1:], ""], strict=False)
    parts = ((*word.partition("="), after) for word, after in pairs)
    return [value if equals else after for name, equals, value, after in parts if name == option]


_JSON = frozenset(["json", "jsonl"])


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether errors are to be JSON too: by any word on the command line, or else by the environment."""
    formats = given(arguments, "--format")
    if "--json" in arguments or not _JSON.isdisjoint(formats):
        return True
    return not formats and os.environ.get(FORMAT_VARIABLE) in _JSON


def is_colored(color: str, stream: TextIO | None) -> bool:
    """Whether a stream gets colours: `--color`, then FORCE_COLOR (0 is off), then NO_COLOR, then the terminal."""
    if color != "auto":
        return color == "always"
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def marked(text: str) -> str:
    """A message with its first word in colour, and the hint dim."""
    found = _MARKS.sub(lambda match: _STYLES[match[1]], text, count=1)
    return _HINTS.sub("\x1b[2m\\g<0>\x1b[0m", found)


def typed_color(arguments: Sequence[str]) -> str:
    """The colours that a command line asks for, before it is known to be right; else those of the environment."""
    words = given(arguments, "--color") or [os.environ.get(COLOR_VARIABLE, "")]
    return words[-1] if words[-1] in COLORS else "auto"
