"""Commands for many at once: map, rows in and rows out; batch, requests and answers; run, passes of a script."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn

from typer import _click as click
from typer.core import TyperGroup

from gradcli import progress
from gradcli.cli.commands import ANSWERS, CommandLine, command_of, require_none
from gradcli.cli.console import complain, in_signs_of, remark, require_stdout, screen, send, waiting
from gradcli.cli.default_command import DERIVATIVE, with_command
from gradcli.cli.expression import message, where_help_is
from gradcli.cli.output import (
    NOT_PASSED,
    OutputOptions,
    Stream,
    manner,
    out_of_memory,
    output,
    passes,
    require_place,
    write,
)
from gradcli.cli.parameters import argument
from gradcli.errors import GradcliError, InputError, InternalError, UsageError
from gradcli.files import Files
from gradcli.options import QUESTIONS

if TYPE_CHECKING:
    from gradcli.results import Pass, Result

REQUESTS = argument(
    "file",
    metavar="[FILE]",
    help="A file of requests, a line each; - is standard input, which is the default unless it is a terminal.",
)


# -- map


def map_(line: CommandLine) -> Callable[[], int]:
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
    demands = {name: bool(line.presentation[name]) for name in ("strict", "require_all")}
    if "check" not in line.arguments:
        require_none(demands, "needs --check")
        require_none({"check_rows": "check_rows" in line.arguments}, "needs --check")
    return lambda: _streamed(line, demands)


def _streamed(line: CommandLine, demands: Mapping[str, bool]) -> int:
    from gradcli.function import Function
    from gradcli.parts.tables.rows import PointSource, format_of, part_of, require_suffix, rows_of
    from gradcli.parts.tables.schedule import Work, apply, into_folder

    start = time.perf_counter()
    function = line.function
    assert isinstance(function, Function), "texts and functions of Python are"  # noqa: S101
    asked = dict(line.arguments)
    path, output = asked.pop("points"), asked.pop("output", "-")
    given, keep, columns = asked.pop("points_format", None), asked.pop("keep", False), asked.pop("columns", ())
    cuts: dict[str, str] = {name: asked.pop(name) for name in ("rows", "part") if name in asked}
    resume, form, scheduler = asked.pop("resume", False), asked.pop("output_format", None), asked.pop("scheduler", None)
    is_folder = output.endswith(os.sep) or os.path.isdir(output)
    _require_folder({"scheduler": scheduler, "resume": resume}, cuts, is_folder)
    require_suffix("" if is_folder else output, form)
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
            stream = apply(
                work, function, rows, output, cut,
                advance=lambda tally: advance(tally.read, rows.share),
            )  # fmt: skip
    seconds, passage = time.perf_counter() - start, stream.passage()
    if not line.shown.is_quiet:
        from gradcli.report.wording import summary

        remark(summary(passage, seconds, is_terminal=sys.stderr is not None and sys.stderr.isatty()))
    return 0 if passes(passage.check, **demands) else NOT_PASSED


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
        progress.doing(f"{read:,} rows, {rate:,.0f} a second{part}")

    with waiting(["map", *["--quiet"] * (is_quiet or shows_rows)]):
        yield advance


# -- batch


def batch(file: str | None) -> Stream:
    """Requests in, a line each, and their answers out in order.

    A request is a command line, quoted as for the shell and read by gradcli alone, or an object of JSON: "command",
    "expression", and the options of the command as keys, such as "at", "v" or "vs" (several), "u", "wrt", "dtype",
    "check". Its answer is the line that --json prints, written at once, with the number of the line as its "id", or
    that of the object. A wrong request gets a line with an "error", and the stream goes on; the exit code is then 2.
    An error of the kind "internal" is a bug of ours, and makes it 70.
    Commands are vjp, jacobian, grad, jvp, hessian, hvp, eval, check, explain, graph and code.

    \b
    Examples:
      echo 'grad "x**2" --at 3' | gradcli batch
      echo '{"command": "grad", "expression": "x**2", "at": 3, "id": "a"}' | gradcli batch
    """
    return lambda: _answer_all(file)


MOST_REMEMBERED = 256
"""Requests after which nothing that was worked out for them is remembered."""


def _answer_all(file: str | None) -> int:
    from gradcli.parts.batch import empty_caches, lines

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
    from gradcli.parts.batch import answer, read
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
    from gradcli.parts.batch import require_command

    group = _group()
    given = with_command([*words][1:] if words and words[0] == "gradcli" else words, group.commands)
    if not given:
        raise UsageError("the request has no command", hint=f"the commands are: {', '.join(QUESTIONS)}")
    if given[0] != DERIVATIVE:
        require_command(given[0])
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
    return TyperGroup(commands=[command_of(*one, _NoFiles) for one in ANSWERS.items()], rich_markup_mode=None)


# -- run: a script of PyTorch, and each of its backward passes


WORDS = argument(
    "words",
    metavar="[SCRIPT] [-- ARGS...]",
    nargs=-1,
    help="A file of Python, or - for standard input; what follows -- are its arguments.",
)


def run(words: Sequence[str], **given: Any) -> Stream:
    """A script of PyTorch, run, and each of its backward passes.

    The script is run as python runs it; its output is on stderr, its errors are its own. Each y.backward() and
    torch.autograd.grad() is answered as it happens: a line says which v, by which leaves, how large the gradient is,
    and whether it is right, and another one where NaN or infinity begins. The first pass that is not right, or the only
    one, follows with its numbers and formula; --pass shows another, --full all. Of an autograd.Function the numbers are
    those of its backward, and the truth is the derivative of its forward. 100 passes are judged; in later ones NaN,
    infinity and gradients of 0 are looked for. At the end, parameters that were never trained and data and weights
    that hold NaN are named.

    \b
    Examples:
      gradcli run train.py
      gradcli run train.py --strict --json -- --epochs 1
      gradcli run -c "import torch; x = torch.tensor(3., requires_grad=True); (x**2).backward()"
    """
    is_checked = not given["check"]  # the switch is --no-check
    demands = {name: bool(given[name]) for name in ("strict", "require_all")}
    if not is_checked:
        require_none(demands, "and --no-check exclude each other")
    shown = manner(given)
    wrt = [name.strip() for name in (given["wrt"] or "").split(",") if name.strip()]

    def answer() -> int:
        given_script = _script([*words], given["command"])
        from gradcli.parts.running.script_process import UserScript, answer_passes
        from gradcli.parts.running.scripts import MOST_PASSES, ScriptRecorder
        from gradcli.parts.running.targets import away_from_output

        script = UserScript(*given_script)
        with away_from_output() as stdout:
            printer = PassPrinter(shown, demands, given["only"], stdout)
            only = given["only"]
            recorder = ScriptRecorder(printer, check=is_checked, seconds=given["budget"], wrt=wrt, only=only)
            ended = answer_passes(script, recorder)
        printer.end(recorder.watch.summary())
        if ended is not None:
            code = ended or printer.code
        elif not printer.count:
            raise InputError(f"{script.name} makes no backward pass", hint=f"name a function of a file: {_NAMED}")
        elif only is not None and only > printer.count:
            raise InputError(f"there is no pass {only}: {script.name} makes {printer.count}")
        else:
            code = printer.code
        if only is None and printer.count > MOST_PASSES and not shown.is_quiet:
            later = "in the others, NaN, infinity and gradients of 0 are looked for"
            remark(f"note: judged {MOST_PASSES} of {printer.count} passes; {later}, and --pass N judges one\n")
        return code

    return answer


_NAMED = "gradcli vjp FILE.py::NAME --at VALUE"


def _script(words: list[str], text: str | None) -> tuple[str, list[str], str | None]:
    """Find the script to run: its name, its arguments, and its text if it is no file.

    Raises:
        GradcliError: No script is named, or there is no such file.
    """
    if text is None and not words:
        raise UsageError("there is no script", hint="name a file, - for standard input, or give a text by -c")
    name, *arguments = words if text is None else ["-c", *words]
    if name == "-":
        text = sys.stdin.read() if sys.stdin is not None else ""
    elif text is None and not os.path.exists(name):
        raise InputError(f"there is no file {name}")
    return name, arguments, text


class PassPrinter:
    """Printer of passes as they end: in tables a line for each, and at the end one pass in full."""

    def __init__(self, shown: OutputOptions, demands: dict[str, bool], only: int | None, stdout: Any) -> None:
        self.shown, self.demands, self.only, self.stdout = shown, demands, only, stdout
        self.count = self.code = 0
        self._process = os.getpid()  # a child that the script forks shows nothing
        self._first: Pass | None = None
        self._first_wrong: Pass | None = None
        self._failed: OSError | GradcliError | None = None

    def __call__(self, one: Pass) -> None:
        """Count a pass, and print it if it is asked for."""
        self.count += 1
        if self._failed is not None or self.only not in (None, one.number) or not (one.is_judged or one.noticed):
            return
        try:
            with contextlib.redirect_stdout(self.stdout):
                self._show(one)
                if self.stdout is not None:
                    self.stdout.flush()
        except (OSError, GradcliError) as error:  # raised at the end, so that the script goes on
            self._failed = error

    def _show(self, one: Pass) -> None:
        if self.demands["strict"] and any("NaN" in said or "infinit" in said for said in one.noticed):
            self.code = max(self.code, NOT_PASSED)
        if not one.is_judged and self.shown.form != "table":
            self._warn([f"pass {one.number} ({one.where}), not judged: {'; '.join(one.noticed)}"])
            return
        if self.shown.form != "table" or self.only is not None:
            self._show_in_full(one)
            return
        from gradcli.report import pass_line

        send([pass_line(one, screen(self.shown.color))])
        if one.refusal is not None:
            self._count_refusal(one)
        elif one.answers:
            passed = all(output(answer, self.shown, **self.demands).passed for answer in one.answers)
            self.code = max(self.code, int(not passed))
            self._first = self._first or one
            self._first_wrong = self._first_wrong or (one if one.is_wrong else None)

    def _show_in_full(self, one: Pass) -> None:
        for answer in one.answers:
            self.code = max(self.code, write(output(answer, self.shown, **self.demands)))
        if isinstance(one.refusal, GradcliError):
            complain(one.refusal, self.shown.color)
            self._count_refusal(one)

    def _count_refusal(self, one: Pass) -> None:
        if not one.is_excused:
            self.code = max(self.code, getattr(one.refusal, "exit_code", 2))

    def _warn(self, lines: Iterable[str]) -> None:
        for said in () if self.shown.is_quiet else lines:
            remark(in_signs_of(f"warning: {said}\n", sys.stderr), self.shown.color)

    def end(self, summary: Iterable[str]) -> None:
        """Print what is said of all passes, and the first pass that is not right, or the only one, in full.

        Args:
            summary: Lines on the whole script.

        Raises:
            OSError: Writing a pass failed.
            OutputError: There is no standard output.
        """
        if self._failed is not None:
            raise self._failed
        if self._process != os.getpid():
            return
        if self.shown.form == "table" and self.only is None and (lines := [f"{said}\n" for said in summary]):
            send([in_signs_of("".join(lines), sys.stdout)])
        else:
            self._warn(summary)
        one = self._first_wrong or (self._first if self.count == 1 else None)
        if one is not None:
            send(["\n"])
            self._show_in_full(one)
