"""The command `map`: its help, its options, and the rows streamed through a function.

Annotations of options are objects here, and no texts, as they are read at run time.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, cast

from typer import Option

from gradcli import progress
from gradcli.cli.commands import CommandLine, require_none
from gradcli.cli.console import remark, waiting
from gradcli.cli.options import (
    At,
    Device,
    Dtype,
    ExitZero,
    Expression,
    Fact,
    OptionKind,
    Quiet,
    RequireAll,
    Strict,
    Wrt,
)
from gradcli.cli.output import NOT_PASSED, format_of_environment, passes, require_place
from gradcli.cli.typer_internals import one_of
from gradcli.errors import MissingValueError, UsageError
from gradcli.parts.tables.row_formats import ROW_FORMATS, ROWS_OF_TEXT

if TYPE_CHECKING:
    from gradcli.parts.tables.streaming import Stream
    from gradcli.parts.typed_function import TypedFunction

Points = Annotated[
    str,
    Option(
        "--points",
        metavar="FILE",
        help="The rows, one a point, with columns named as variables are: .csv, .tsv, .jsonl, .json, .npy, .npz or "
        ".parquet, text by gzip too, .csv.gz; a folder, or a pattern in quotes, 'data/*.csv'; - is standard input. A "
        "vector x has columns x[0], x[1], or x0, x1, or x_0, x_1, or one of lists.",
    ),
    Fact(OptionKind.FILE),
]
PointsFormat = Annotated[
    str | None,
    Option(
        "--points-format",
        click_type=one_of(ROW_FORMATS),
        help="The format of the rows. By suffix; csv of a pipe.",
    ),
]
Columns = Annotated[
    str | None,
    Option(
        "--columns",
        metavar="NAMES",
        help="Names for the columns, in order, separated by commas: x,y, or x[0],x[1], in place of a row of names if "
        "there is one. One column of numbers is the only variable without them.",
    ),
    Fact(OptionKind.VARIABLES),
]
OutputRows = Annotated[
    str | None,
    Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write y and dy_dx. The file has its name when it is whole. A folder, out/, gets a part for each "
        "row group or block. Default: -, standard output.",
    ),
    Fact(OptionKind.FILE),
]
OutputFormat = Annotated[
    str | None,
    Option(
        "--output-format",
        "--format",
        click_type=one_of(ROW_FORMATS),
        help="The format written. By suffix; on standard output csv, or tsv or jsonl where GRADCLI_FORMAT says so.",
    ),
]
Keep = Annotated[bool, Option("--keep", show_default=False, help="Write the columns of the input first.")]
OnError = Annotated[
    Literal["fail", "skip", "nan"],
    Option("--on-error", help="What to do about a row that is at fault: fail, leave it out, or write nan."),
    Fact(is_setting=True),
]
Check = Annotated[
    bool,
    Option(
        "--check/--no-check",
        show_default=False,
        help="Judge a sample of 16 rows, or of N by --check N, and say the verdict on stderr. Without it, none is.",
    ),
    Fact(is_setting=True),
]
CheckRows = Annotated[
    int | None, Option("--check-rows", metavar="N", min=1, max=100_000, help="How many rows --check judges.")
]
Rows = Annotated[
    str | None,
    Option("--rows", metavar="A..B", help="Only these rows, from 1, both ends: 1..1000, or 1001.."),
    Fact(OptionKind.WORD),
]
Part = Annotated[
    str | None,
    Option("--part", metavar="K/N", help="Only the Kth of N parts of the rows; joined, they are all."),
    Fact(OptionKind.WORD),
]
Scheduler = Annotated[
    str | None,
    Option("--scheduler", metavar="ADDRESS", help="Compute on Dask, tcp://host:8786, into -o FOLDER/."),
    Fact(OptionKind.WORD),
]
Resume = Annotated[
    bool,
    Option("--resume", show_default=False, help="Go on with a run that was ended: its parts that are whole stay."),
]


def map_(
    expression: Expression,
    *,
    at: At = None,
    points: Points,
    points_format: PointsFormat = None,
    columns: Columns = None,
    output: OutputRows = None,
    output_format: OutputFormat = None,
    keep: Keep = False,
    on_error: OnError = "fail",
    check: Check = False,
    check_rows: CheckRows = None,
    rows: Rows = None,
    part: Part = None,
    scheduler: Scheduler = None,
    resume: Resume = False,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
    quiet: Quiet = False,
    strict: Strict = False,
    require_all: RequireAll = False,
    exit_zero: ExitZero = False,
) -> None:
    """One function at many points: rows in, y and its derivatives out.

    Columns that are called as variables are their values, a row a point; --at gives the others one value for all. The
    rows stream through in blocks, so that a file may be larger than the memory.

    \b
    Examples:
      gradcli map "a*x**2 + b" --points data.csv --at a=2 --at b=1 -o out.csv
      gradcli map "x[0]*exp(x[1])" --points points.parquet -o out.parquet --check
      cut -d, -f1,3 data.csv | gradcli map "sin(x)*y" --points - --keep --on-error skip
      gradcli map "sin(x)*y" --points 'data/*.parquet' --keep -o out/
    """


def answer_map(line: CommandLine) -> Callable[[], int]:
    """Return the function that streams the rows, and gives the exit code.

    Raises:
        UsageError: A demand on the check is typed, and no check.
    """
    demands = {name: bool(line.presentation[name]) for name in ("strict", "require_all")}
    if "check" not in line.arguments:
        require_none({**demands, "check_rows": "check_rows" in line.arguments}, "needs --check", "add --check")
    return lambda: _streamed(line, demands)


def _streamed(line: CommandLine, demands: Mapping[str, bool]) -> int:
    """Stream the rows; an error on columns without names is advised by names that the function can have."""
    from gradcli.parts.tables.column_hints import UnnamedColumnsError, advise_on_columns

    try:
        return _stream_rows(line, demands)
    except UnnamedColumnsError as error:
        function, given = cast("TypedFunction", line.function), line.arguments
        at, options = given.get("at", {}), {name: given[name] for name in ("wrt", "dtype") if name in given}
        advise_on_columns(
            error,
            [name for name in function.variables if name not in at],
            lambda source, more: function.stream(source, {**at, **more}, **options).plan,
        )
        raise


def _stream_rows(line: CommandLine, demands: Mapping[str, bool]) -> int:
    from gradcli.parts.tables.rows import PointSource, format_of, part_of, require_suffix, rows_of
    from gradcli.parts.tables.schedule import Work, into_folder, write_derivatives

    start, remarks = time.perf_counter(), tuple[str, ...]()
    function = cast("TypedFunction", line.function)
    asked = dict(line.arguments)
    path, output = asked.pop("points"), asked.pop("output", "-")
    given, keep, columns = asked.pop("points_format", None), asked.pop("keep", False), asked.pop("columns", ())
    cuts: dict[str, str] = {name: asked.pop(name) for name in ("rows", "part") if name in asked}
    resume, form, scheduler = asked.pop("resume", False), asked.pop("output_format", None), asked.pop("scheduler", None)
    is_folder = output.endswith(os.sep) or os.path.isdir(output)
    _require_folder({"scheduler": scheduler, "resume": resume}, cuts, is_folder)
    require_suffix("" if is_folder else output, form)
    if output == "-" and form is None and (set_form := format_of_environment()) in ROWS_OF_TEXT:
        form = set_form
    names = [name for name in function.variables if name not in asked.get("at", {})]
    points = PointSource.from_path(path, given, names, columns)
    form = form or (points.form if is_folder else format_of(output, None, "--output-format"))
    work = Work.from_question(line.expression, asked, keep=keep, form=form)
    if is_folder:
        with _progress(output, is_quiet=line.shown.is_quiet) as advance:
            stream = into_folder(
                work, points, path, function, output, scheduler=scheduler, resume=resume, remark=remark,
                advance=lambda tally, share: advance(tally.read, share),
            )  # fmt: skip
    else:
        format_of(output, form, "--output-format")
        if output != "-":
            require_place(output)
            _require_kept(path, output, is_kept=keep)
        cut = part_of(cuts["part"], points) if "part" in cuts else rows_of(cuts.get("rows", "1.."))
        with points.rows(path, line.files) as rows, _progress(output, is_quiet=line.shown.is_quiet) as advance:

            def write(work: Work, function: "TypedFunction") -> "Stream":
                return write_derivatives(
                    work, function, rows, output, cut, advance=lambda tally: advance(tally.read, rows.share)
                )

            try:
                stream = write(work, function)
            except MissingValueError as error:  # before any row is read
                if (read_as := _with_euler(line, path, error)) is None:
                    raise
                stream = write(replace(work, expression=read_as.expression), read_as)
                remarks += (f"read as {read_as.expression}",)
    seconds, passage = time.perf_counter() - start, stream.passage()
    passage = replace(passage, remarks=(*remarks, *passage.remarks))
    if not line.shown.is_quiet:
        from gradcli.parts.tables.stream_summary import summary

        remark(summary(passage, seconds, is_terminal=sys.stderr is not None and sys.stderr.isatty()))
    is_zero = line.presentation["exit_zero"] or passes(passage.check, **demands)
    return 0 if is_zero else NOT_PASSED


def _with_euler(line: CommandLine, path: str, error: MissingValueError) -> "TypedFunction | None":
    """Return the function with E for an e that lacks a value, where rows come through a pipe, which is read once."""
    from gradcli.cli.suggestions.respelling import euler_in, lacks_euler
    from gradcli.files.reader import FileReference
    from gradcli.function import Function

    if not (lacks_euler(error) and FileReference.whole(path).is_stream and isinstance(line.function, Function)):
        return None
    found = Function(euler_in(line.expression))
    return cast("TypedFunction", found) if "e" not in found.variables else None


def _require_folder(of_folders: Mapping[str, object], cuts: Mapping[str, str], is_folder: bool) -> None:
    """Refuse options of folders without a folder, cuts (--rows, --part) with one, and two cuts.

    Raises:
        UsageError: Such options are given.
    """
    given = [f"--{name}" for name, value in of_folders.items() if value]
    cutting = [f"--{name}" for name in cuts]
    if given and not is_folder:
        raise UsageError(f"{given[0]} writes parts into a folder, and there is none", hint="write -o FOLDER/")
    if cutting and (is_folder or len(cutting) > 1):
        other = "a folder of parts" if is_folder else cutting[1]
        raise UsageError(f"{cutting[0]} and {other} exclude each other", hint="leave out one of them")


def _require_kept(points: str, output: str, *, is_kept: bool) -> None:
    """Refuse to replace a file of points by results without its columns.

    Raises:
        UsageError: The results go there, and --keep is missing.
    """
    if not is_kept and os.path.isfile(points) and os.path.isfile(output) and os.path.samefile(points, output):
        message = f"-o {output} would replace the points by their results"
        raise UsageError(message, hint="name another file, or write the points before the results by --keep")


@contextmanager
def _progress(output: str, *, is_quiet: bool) -> Iterator[Callable[[int, float | None], None]]:
    """Show the number of rows read, their rate and their share on the terminal; yield the function to update these.

    Nothing is shown where the rows themselves go to a terminal, as it would stand among their lines.
    """
    shows_rows = output == "-" and sys.stdout is not None and sys.stdout.isatty()
    start = time.perf_counter()

    def advance(read: int, share: float | None) -> None:
        rate = read / max(1e-9, time.perf_counter() - start)
        part = f", {100 * share:.0f} %" if share is not None else ""
        progress.set_step(f"{read:,} rows, {rate:,.0f} a second{part}")

    with waiting(["map", *["--quiet"] * (is_quiet or shows_rows)]):
        yield advance
