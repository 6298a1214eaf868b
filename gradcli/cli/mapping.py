"""The command for many points: map, rows in and rows out."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradcli.cli.command import CommonOptions, add
from gradcli.cli.options import RequireAll, Strict
from gradcli.cli.output import NOT_PASSED, passes, remark
from gradcli.errors import UsageError
from gradcli.signals import undone

if TYPE_CHECKING:
    from gradcli.files.rows import Rows
    from gradcli.results import StreamSummary


class RowFormat(StrEnum):
    """How rows are written; `gradcli.files.rows` has them by suffix, and brings NumPy."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    npy = "npy"
    npz = "npz"


class OnError(StrEnum):
    """What becomes of a row that is at fault."""

    fail = "fail"
    skip = "skip"
    nan = "nan"


PointsFile = Annotated[
    str,
    typer.Option(
        "--points",
        metavar="FILE",
        show_default=False,
        help="The rows, one a point, with columns named as variables are: .csv, .tsv, .jsonl, .npy or .npz; "
        "- is standard input. A vector x has columns x[0], x[1], or x0, x1.",
    ),
]
PointsFormat = Annotated[
    RowFormat | None,
    typer.Option("--points-format", show_default=False, help="The format of the rows. By suffix; csv of a pipe."),
]
OutputFile = Annotated[
    str,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        show_default=False,
        help="Where to write y and dy_dx. The file has its name when it is whole. Default: -, standard output.",
    ),
]
OutputFormat = Annotated[
    RowFormat | None,
    typer.Option("--output-format", show_default=False, help="The format written. By suffix; csv on standard output."),
]
Keep = Annotated[bool, typer.Option("--keep", help="Write the columns of the input first.")]
Errors = Annotated[
    OnError,
    typer.Option("--on-error", help="What to do about a row that is at fault: fail, leave it out, or write nan."),
]
CheckOption = Annotated[
    bool, typer.Option("--check", help="Judge a sample of the rows, and say the verdict on stderr.")
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add(app, map_, without=["format", "json", "color", "digits", "output", "no_check", "strict", "require_all"])


def map_(
    asked: CommonOptions,
    points: PointsFile,
    points_format: PointsFormat = None,
    output: OutputFile = "-",
    output_format: OutputFormat = None,
    keep: Keep = False,
    on_error: Errors = OnError.fail,
    check: CheckOption = False,
    strict: Strict = False,
    require_all: RequireAll = False,
) -> Callable[[], int]:
    """One function at many points: rows in, y and its derivatives out.

    Columns that are called as variables are their values, a row a point; --at gives the others one value for all. The
    rows stream through in blocks, so that a file may be larger than the memory.

    \b
    Examples:
      gradcli map "a*x**2 + b" --points data.csv --at a=2 --at b=1 -o out.csv
      gradcli map "x[0]*exp(x[1])" --points points.npz -o out.npz --check
      cut -d, -f1,3 data.csv | gradcli map "sin(x)*y" --points - --keep --on-error skip
    """
    if not check and (strict or require_all):
        option = "--strict" if strict else "--require-all"
        raise UsageError(f"{option} needs --check", hint=f"{option} needs the verdict of the check")
    words = Words(points, points_format, output, output_format)
    demands = {"strict": strict, "require_all": require_all}
    return lambda: _streamed(asked, words, keep=keep, on_error=on_error, check=check, demands=demands)


@dataclass(frozen=True)
class Words:
    """Where the rows come from and go to, and in which formats if the suffixes do not decide."""

    points: str
    points_format: RowFormat | None
    output: str
    output_format: RowFormat | None


def _streamed(
    asked: CommonOptions, words: Words, *, keep: bool, on_error: OnError, check: bool, demands: Mapping[str, bool]
) -> int:
    from gradcli.files.rows import format_of, open_rows
    from gradcli.files.sinks import open_sink

    start = time.perf_counter()
    form = format_of(words.output, words.output_format and words.output_format.value, "--output-format")
    names = [name for name in asked.function.variables if name not in asked.at]
    given = words.points_format and words.points_format.value
    with ExitStack() as stack:
        rows = stack.enter_context(open_rows(asked.files, words.points, given, names))
        stream = asked.function.stream(
            rows.source, asked.at, wrt=asked.wrt, dtype=asked.dtype, on_error=on_error.value, check=check
        )
        plan = stream.plan
        kept = rows.source.columns if keep else {}
        plan.require_free(list(kept))
        from_text = format_of(words.points, given, "--points-format") in ("csv", "tsv")
        sink = stack.enter_context(
            open_sink(words.output, form, kept, plan.quantities, plan.question.dtype, from_text=from_text)
        )
        advance = stack.enter_context(_progress(rows, words.output))
        blocks = rows.blocks(plan.columns, keep=keep, most=stream.rows)
        for part in stack.enter_context(contextlib.closing(stream.over(blocks))):
            sink.write(part)
            advance(stream.read)
    return _ended(stream.passage(), time.perf_counter() - start, demands)


def _ended(passage: "StreamSummary", seconds: float, demands: Mapping[str, bool]) -> int:
    from gradcli.report.map_summary import summary

    remark(summary(passage, seconds, is_terminal=_is_terminal()))
    return 0 if passes(passage.check, **demands) else NOT_PASSED


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def _progress(rows: "Rows", output: str) -> Iterator[Any]:
    """A bar with the rate and the remaining time on stderr, if that is a terminal; what advances it.

    There is none where the rows themselves come to a terminal, in whose lines it would stand.
    """
    shows_rows = output == "-" and sys.stdout is not None and sys.stdout.isatty()
    if shows_rows or not _is_terminal() or os.environ.get("TERM") == "dumb":
        yield lambda read: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[read]:,} rows, {task.fields[rate]:,.0f} a second"),
        TimeRemainingColumn(),
    )
    start = time.perf_counter()
    bar = Progress(
        *columns,
        console=Console(stderr=True, emoji=False),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with undone(_clear), bar:
        task = bar.add_task("", total=rows.progress[1], read=0, rate=0.0)

        def advance(read: int) -> None:
            done, total = rows.progress
            rate = read / max(1e-9, time.perf_counter() - start)
            bar.update(task, completed=done, total=total, read=read, rate=rate)

        yield advance


def _clear() -> None:
    """Take the bar from the terminal, and show the cursor again; what a thread still draws goes nowhere."""
    terminal = os.dup(sys.stderr.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    os.write(terminal, b"\r\x1b[2K\x1b[?25h")
