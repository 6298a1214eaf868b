"""Write an answer to stdout or to the file of `-o`: in the format asked for, after everything has succeeded.

Also read the format and the colours from a command line that may turn out to be wrong.  An option that is
typed counts more than the environment, and the values of a function never come from the environment.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from gradcli import registry
from gradcli.cli import settings
from gradcli.cli.console import in_signs_of, remark, screen, send
from gradcli.cli.options import COLOR_VARIABLE, FORMAT_VARIABLE, Format
from gradcli.cli.signatures import option_of
from gradcli.cli.typer_internals import click
from gradcli.errors import InputError, OutputError, TooLargeError, UnknownSuffixError, UsageError
from gradcli.formats import COLORS, ON_TERMINALS
from gradcli.option_words import in_shell

if TYPE_CHECKING:
    from gradcli.report.document import Screen
    from gradcli.results import Check, Result

NOT_PASSED = 1
"""Exit code of an answer whose check did not pass."""

MOST_WARNINGS = 5
"""Most warnings that are written for one answer."""

WIDTH = 100
"""Columns of a table in a file."""

Stream = Callable[[], int]
"""Answer of a command that writes to stdout itself, as it goes: called after the command line is read."""


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Options for writing an answer.

    Attributes:
        form: The format; `table` for a file of a kind that is no format.
        color: The word of `--color`: when tables have colours.
        digits: Significant digits that are shown; None for all.
        on_terminals: The same on a terminal.
        path: The file, as given; None for stdout.
        theme: The ground of a figure: light or dark; "" for the usual one.
        kind: The kind of file: a format, or `npy`, `npz`, `py`, `dot`.
        is_quiet: Whether remarks are left out.
    """

    form: str
    color: str = "auto"
    digits: int | None = None
    on_terminals: int | None = None
    path: str | None = None
    theme: str = ""
    kind: str = ""
    is_quiet: bool = False


def resolved_options(given: Mapping[str, Any]) -> OutputOptions:
    """Resolve the options for writing the answer of the present command.

    Args:
        given: The options; a command need not have all of them.

    Raises:
        GradcliError: Two options exclude each other, or the file cannot be written.
    """
    ctx = click.globals.get_current_context()
    command = ctx.command.name or ""
    chosen, path, digits = (given.get(name) for name in ("format", "output", "digits"))
    is_told = is_typed(ctx, "format")
    switches = [name for name in ("json", "full") if given.get(name)]
    # The environment's format yields to an option that chooses one, and where the command lacks it, as code lacks csv.
    if not is_told and (switches or given.get("drawing") or chosen in registry.lacks(command)):
        chosen = "table"
    if len(switches) > 1:
        raise UsageError("--json and --full exclude each other")
    if switches and chosen not in (*switches, "table"):
        raise UsageError(f"--{switches[0]} and --format {chosen} exclude each other")
    form = switches[0] if switches else chosen or "table"
    path = None if path == "-" else path
    kind = form if path is None else kind_of(path, form if switches or is_told else None, command)
    form = kind if kind in registry.formats() else "table"
    registry.require_format(command, form)
    has_digits, number = is_typed(ctx, "digits"), None if digits == "all" else digits
    if has_digits and number is not None and kind in ("npy", "npz"):
        raise UsageError(f"--digits and -o {path} exclude each other", hint="an array has all its digits")
    # A default rounds tables, which people read, and no data.
    default = ON_TERMINALS if digits is None else number
    on_terminals = number if has_digits else default if form == "table" else None
    color, is_quiet = given.get("color") or "auto", bool(given.get("quiet"))
    theme = given.get("theme") or ""
    return OutputOptions(form, color, number if has_digits else None, on_terminals, path, theme, kind, is_quiet)


@dataclass(frozen=True, slots=True)
class Output:
    """Answer of a command with the options for writing it; rendered when the command is done.

    Attributes:
        answer: The answer.
        options: The options for writing it.
        passed: Whether the check passed, where that was asked.
        note: A line for stderr.
    """

    answer: Result
    options: OutputOptions
    passed: bool = True
    note: str = ""

    def with_remark(self, told: str) -> Output:
        """Return the same with one more remark: among those of the answer, or where it can have none, next to it."""
        if "warnings" in {field.name for field in fields(self.answer)}:
            return replace(self, answer=replace(self.answer, warnings=(told, *self.answer.warnings)))
        return replace(self, note="; ".join(filter(None, (told, self.note))))


_WITHOUT_VERDICT = ("plain", "csv", "npy", "npz")
"""Kinds of answers that are numbers alone."""

_WRONG = ("inaccurate", "nan-trap", "disagree")
"""Verdicts on numbers that are not to be used unseen; at a kink, there are several right ones."""


def output(
    answer: Result,
    shown: OutputOptions,
    *,
    strict: bool = False,
    require_all: bool = False,
    exit_zero: bool = False,
) -> Output:
    """Join an answer, the options for writing it, and the outcome of its check.

    Args:
        answer: The answer.
        shown: The options for writing it.
        strict: Whether the verdict of the check must be `agree`.
        require_all: Whether the check must have judged all entries.
        exit_zero: Whether it passes whatever the check found.
    """
    from gradcli.report.wording import of_sample
    from gradcli.results import BoxChecking, Checking, Improvement

    check = getattr(answer, "check", None)
    note = of_sample(check) if strict or require_all or isinstance(answer, Checking) else ""
    if isinstance(answer, BoxChecking | Checking | Improvement):
        return Output(answer, shown, answer.passed or exit_zero, note)
    found = Output(answer, shown, exit_zero or passes(check, strict=strict, require_all=require_all), note)
    is_unsaid = strict or shown.kind not in _SCREENS
    return _with_verdict(found, check, strict=strict, exit_zero=exit_zero) if is_unsaid else found


_SCREENS = ("table", "full")
"""Kinds of answers that say all there is to say of them."""


def _with_verdict(found: Output, check: Check | None, *, strict: bool, exit_zero: bool) -> Output:
    """Say what an answer leaves unsaid: that its numbers are wrong, or that it has none, which does not pass."""
    from gradcli.report.wording import judged, no_variable
    from gradcli.results import Differentiation

    if isinstance(found.answer, Differentiation) and not found.answer.wrt:
        told = in_shell(no_variable(found.answer.expression))
        return replace(found, passed=found.passed and (exit_zero or not strict)).with_remark(told)
    if check is None or check.verdict == "agree" or found.options.kind not in _WITHOUT_VERDICT:
        return found
    if strict:
        return replace(found, note="; ".join(filter(None, (f"did not pass: {check.verdict}", found.note))))
    is_wrong = check.verdict in _WRONG and not check.is_minor
    return found.with_remark(f"cross-check: {judged(check.verdict, proven=check.proven)}") if is_wrong else found


def with_notes_on_tables(found: Output, words: Iterable[str]) -> Output:
    """Add notes on values that are all columns of a table, of which one has the name of the variable.

    Args:
        found: The answer.
        words: Of `--at`, as typed.
    """
    told = _notes_on_tables(words, getattr(found.answer, "inputs", ()))
    return replace(found, note="; ".join(filter(None, (found.note, *told))))


def with_note_on_archives(found: Output) -> Output:
    """Note that an .npz holds a sparse matrix, as SciPy's does, where nobody asked for a sparse one."""
    from gradcli.results import SparseHessian, SparseJacobian

    if found.options.kind != "npz" or not isinstance(found.answer, SparseJacobian | SparseHessian):
        return found
    told = f"{found.options.path} is a sparse matrix, as it is large: scipy.sparse.load_npz reads it"
    return replace(found, note="; ".join(filter(None, (found.note, told))))


_LONGEST_HEADER = 10_000
"""Characters of the first row of a table that are looked at."""


def _notes_on_tables(words: Iterable[str], variables: Iterable[str]) -> Iterator[str]:
    """Note values that are all columns of a table, of which one has the name of the variable.

    Args:
        words: Of `--at`, as typed.
        variables: The variables that have values.
    """
    for word in words:
        name, _, path = word.rpartition("@")
        if path.endswith((".csv", ".tsv")) and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                columns = [cell.strip(' "') for cell in re.split(r"[,;\t]", file.readline(_LONGEST_HEADER).strip())]
            whose = {name.rstrip("= ")} if name else {*variables}
            for column in [one for one in columns if one in whose][: len(columns) - 1]:
                yield f"@{path} is all {len(columns)} columns; @{path}:{column} is the column {column}"


def passes(check: Check | None, *, strict: bool, require_all: bool) -> bool:
    """Tell whether a check meets the demands of `--strict` and `--require-all`."""
    agrees = check is not None and check.verdict == "agree"
    return (agrees or not strict) and (not require_all or (check is not None and check.is_whole))


@dataclass(frozen=True, slots=True)
class Page:
    """A text that depends on the screen, which is known once the command is done.

    Attributes:
        draw: Writer of the text for a screen.
    """

    draw: Callable[[Screen], str]


def write(result: Output | Page | str, show: Callable[[Iterable[str]], None] = send) -> int:
    """Write an answer to stdout or its file, and remarks to stderr; give the exit code, 1 if a check failed.

    Args:
        result: The answer, a page, or a text.
        show: Writer to stdout; on a terminal it may use the pager.

    Raises:
        OutputError: There is no stdout, or the file could not be written.
        OSError: Writing to stdout failed.
    """
    if not isinstance(result, Output):
        text = result.draw(screen()) if isinstance(result, Page) else result
        show([in_signs_of(text, sys.stdout)])
        return 0
    shown = result.options
    if shown.path is None:
        from gradcli import report

        on = screen(shown.color)
        digits = shown.digits if on.width is None else shown.on_terminals
        show(report.pieces(result.answer, report.Appearance(shown.form, on, digits)))
    else:
        save(result.answer, shown.path, shown)
    remarks = [f"warning: {warning}\n" for warning in result.answer.warnings[:MOST_WARNINGS]]
    for said in () if shown.is_quiet else [*remarks, *([f"note: {result.note}\n"] if result.note else [])]:
        remark(in_signs_of(said, sys.stderr), shown.color)
    return 0 if result.passed else NOT_PASSED


def out_of_memory(error: Exception) -> TooLargeError | None:
    """Error to report for a failed allocation, which torch raises as a RuntimeError; None for any other error."""
    if not isinstance(error, MemoryError) and not (isinstance(error, RuntimeError) and "allocate memory" in str(error)):
        return None
    return TooLargeError("there is not enough memory for this", hint="use smaller inputs")


# -- files


def kind_of(path: str, told: str | None, command: str) -> str:
    """Kind of a file, by its suffix, or by the format where the suffix is .txt or unknown.

    Raises:
        InputError: The suffix is unknown and no format given, or the kind is not for this command.
        UsageError: The suffix and the format differ.
        OutputError: The file cannot be written there.
    """
    require_place(path)
    suffix = os.path.splitext(path)[1].lower()
    suffixes = registry.suffixes()
    known = suffixes.get(suffix)
    if told is not None and (known is None or suffix == ".txt"):
        known = told
    if known is None:
        named = f"the suffix '{suffix}'" if suffix else "no suffix"
        shown = path or "''"
        message = f"-o {shown} has {named}, and the suffix says what to write"
        if suffix in OTHER_PICTURES:
            raise UnknownSuffixError(message, hint=_pictures(command, OTHER_PICTURES[suffix][0]))
        own = ", ".join(registry.suffixes_of(command))
        raise UnknownSuffixError(message, hint=f"{command} writes {own}; any other name needs --format")
    if told is not None and known != told:
        raise UsageError(f"-o {path} and --format {told} exclude each other", hint="leave out --format")
    _require_fit(path, known, command)
    return known


OTHER_PICTURES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(".jpg .jpeg .jpe .gif .bmp .webp .tif .tiff .avif .heic .ico".split(), ("png", "svg")),
    **dict.fromkeys(".eps .ps .emf .wmf .ai .pgf .tikz".split(), ("pdf", "svg")),
}
"""Suffixes of pictures that are not written, with the nearest kinds that are."""


def _pictures(command: str, kind: str) -> str:
    """Name the kinds of pictures that a command writes, for a hint; else the commands that draw one of a kind."""
    drawn = [f".{one}" for one in registry.pictures(command)]
    return f"write an {' or '.join(drawn)}" if drawn else f"{registry.commands_with_pictures(kind)} draw"


def _require_fit(path: str, kind: str, command: str) -> None:
    """Refuse early a kind of file that the command cannot write."""
    written = [one for one in registry.all_renderers() if one.form == kind]
    own = next((one for one in written if command in one.commands), None)
    if own is not None and own.require:
        resolve_name(own.require)()
    if own is None and all(one.commands for one in written):
        if not written[0].is_picture:
            message = f"-o {path} is for gradcli {written[0].commands[0]}, and not for {command}"
            raise InputError(message, hint=f"{command} writes {', '.join(registry.suffixes_of(command))}")
        raise InputError(f"{command} answers with no picture as {kind}", hint=_pictures(command, kind))
    if kind in ("npy", "npz") and kind in registry.lacks(command):
        if "npz" not in registry.lacks(command):
            raise InputError(f"what {command} answers is not one array", hint="write an .npz")
        raise InputError(f"{command} answers with no arrays", hint="write a .txt or a .json")


def require_place(path: str) -> None:
    """Refuse, before anything is computed, a file that cannot be written."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise OutputError(f"'{path}' could not be written: there is no such folder")
    if os.path.isdir(path):
        raise OutputError(f"'{path}' could not be written: it is a folder")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise OutputError(f"'{path}' could not be written: it is read-only")


def save(answer: Result, path: str, shown: OutputOptions) -> None:
    """Write the file, whole or not at all.

    Raises:
        GradcliError: The answer has nothing to write into a file of this kind.
        OutputError: The file could not be written.
    """
    from gradcli.files.atomic import replacing
    from gradcli.report import Appearance, write_file
    from gradcli.report.document import Screen

    screen = Screen(WIDTH, color=shown.color == "always")
    try:
        with replacing(path) as file:
            write_file(answer, Appearance(shown.kind, screen, shown.digits, shown.theme, path), file)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"'{path}' could not be written: {error.strerror or error}") from error


# -- a command line that is not yet known to be right


def is_typed(ctx: click.Context, parameter: str) -> bool:
    """Tell whether an option was on the command line."""
    source = ctx.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def _typed_values(arguments: Sequence[str], option: str, variable: str) -> Sequence[object]:
    """Find the values of an option on a command line that is not yet known to be right; else its default.

    >>> _typed_values(["vjp", "x", "--color", "always", "--color=never"], "--color", COLOR_VARIABLE)
    ['always', 'never']
    """
    pairs = zip(arguments, [*arguments[1:], ""], strict=False)
    parts = ((*word.partition("="), after) for word, after in pairs)
    typed = [value if equals else after for name, equals, value, after in parts if name == option]
    return typed or [os.environ.get(variable) or settings.peek(option.removeprefix("--"))]


def format_of_environment() -> str:
    """Return the format that the environment or the file of settings has, for a command whose own formats differ.

    Raises:
        UsageError: It is a format of no command.
    """
    word = os.environ.get(FORMAT_VARIABLE)
    if word and (wrong := settings.fault(option_of("format", Format), word)):
        raise UsageError(f"the environment's {FORMAT_VARIABLE}={word} {wrong}", hint=f"unset {FORMAT_VARIABLE}")
    return word or str(settings.peek("format") or "")


def wants_json(arguments: Sequence[str]) -> bool:
    """Tell whether errors are to be JSON too: by any word on the command line, else the environment or the file."""
    return "--json" in arguments or not {"json", "jsonl"}.isdisjoint(
        _typed_values(arguments, "--format", FORMAT_VARIABLE)
    )


def typed_color(arguments: Sequence[str]) -> str:
    """Find the `--color` of a command line that is not yet known to be right; else the default of the command."""
    found = _typed_values(arguments, "--color", COLOR_VARIABLE)[-1]
    return str(found) if found in COLORS else "auto"
