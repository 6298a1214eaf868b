"""The Typer application: its commands, its errors, its exit codes.

Imports neither torch nor SymPy, so that the help answers at once.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from types import TracebackType

import typer
from typer.core import TyperOption

import gradcli
from gradcli.cli import console, settings
from gradcli.cli.commands import built
from gradcli.cli.console import complain, remark, send, waiting
from gradcli.cli.default_command import with_command
from gradcli.cli.expression import GroupedCommands, message, where_help_is
from gradcli.cli.info_commands import COMPLETE
from gradcli.cli.narrow_help import in_columns_of_terminal
from gradcli.cli.output import Output, Page, Stream, out_of_memory, typed_color, wants_json, write
from gradcli.cli.typer_internals import click, completion_init, shell_complete
from gradcli.errors import GradcliError, OutputError, UsageError, displayable
from gradcli.registry import all_commands

BUG = 70
"""Exit code for a bug of ours (EX_SOFTWARE)."""

NO_PAGER = "--no-pager"
"""Option that may stand before a command as well, as in git."""


def run(arguments: list[str], read_as: str = "") -> int:
    """Run a command line; every error becomes a message on stderr and an exit code here.

    Args:
        arguments: Its words.
        read_as: What it is, where it is answered in the place of another one, which cannot be read.
    """
    if not all(map(str.isascii, arguments)):
        from gradcli.cli.suggestions.unicode_words import narrowed  # which a line in ASCII does not need

        arguments = [*map(narrowed, arguments)]
    sys.excepthook = _report_bug
    try:
        if COMPLETE in os.environ:
            return _complete()
        with waiting(arguments):
            answer = answer_words(arguments)
        return _finished(answer, arguments, read_as)
    except GradcliError as error:
        return _report(error, arguments, read_as)
    except click.exceptions.UsageError as error:
        return _report(UsageError(message(error), hint=where_help_is(error)), arguments, read_as)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        raise
    except (MemoryError, RuntimeError) as error:
        too_large = out_of_memory(error)
        if too_large is None:
            raise
        return _report(too_large, arguments, read_as)
    except OSError as error:
        refused = OutputError(f"the output could not be written: {error.strerror or error}")
        return _report(refused, arguments, read_as)


def _complete() -> int:
    """Print the completions at the cursor of a shell, as Typer asks for them; nothing where the line is wrong."""
    completion_init()
    with contextlib.suppress(GradcliError, click.exceptions.ClickException, typer.Exit):
        shell_complete(application(), {}, "gradcli", COMPLETE, os.environ[COMPLETE])
    return 0


def _program(**_: object) -> None:
    """A gradient calculator: the vector-Jacobian product, the Jacobian, the formula, and whether to trust them.

    \b
    Examples:
      gradcli vjp "x**2" --at 1,2 --v 1,1
      gradcli jacobian "[x*y, x+y]" --at x=3 --at y=5
      gradcli grad "sum(exp(x))" --at 0,1 --json
      gradcli hessian "x[0]**2*x[1]" --at 1,2
      gradcli eval "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6
      gradcli check "x**3" --at 2 --claim "3*x**2"
      gradcli explain "y = x**2; z = x*y" --at 1,2 --v 1,1
      gradcli graph "y = x**2; z = y**3" --at 1,2 --v 1,1
      gradcli code "x**2" --at 1,2 --v 1,1
      gradcli map "a*x**2" --points data.csv --at a=2
      gradcli functions softmax
      gradcli guide tour

    \b
    Environment, where the option is not given:
      GRADCLI_FORMAT for --format, GRADCLI_DTYPE for --dtype,
      GRADCLI_DIGITS for --digits in the tables of a terminal,
      GRADCLI_WARM=1 for a warm process, 0 for none (gradcli guide warm),
      GRADCLI_COLOR for --color; NO_COLOR and FORCE_COLOR are heeded.
      GRADCLI_PAGER, or else PAGER, shows what is longer than the screen.
      GRADCLI_CONFIG, or else ~/.config/gradcli/config.toml, has settings,
      which gradcli config shows. GRADCLI_DEBUG=1 shows the traceback of a bug.

    \b
    Exit codes:
      0 answered; 1 answered, but the check did not pass (check, --strict),
      or code of your own raised an error in its backward pass;
      2 the input is wrong; 70 a bug of gradcli; 74 the output could not
      be written; 130 interrupted; 141 broken pipe.
    """


@lru_cache(maxsize=1)
def application() -> GroupedCommands:
    """Build the application; its commands are built when they are asked for."""
    version = TyperOption(  # for the help: `answer_words` answers it
        param_decls=["version", "--version", "-V"], is_flag=True, default=False, show_default=True,
        help="Print the version.",
    )  # fmt: skip
    no_pager = TyperOption(
        param_decls=["no_pager", NO_PAGER], is_flag=True, default=False, show_default=True,
        help="The same as behind a command, for its help too.",
    )  # fmt: skip
    opening, paragraph, rest = (inspect.getdoc(_program) or "").partition("\b")
    return GroupedCommands(
        lru_cache(maxsize=64)(built),
        name="gradcli",
        params=[version, no_pager],
        help=opening,
        epilog=paragraph + rest,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def answer_words(arguments: Sequence[str]) -> Output | Page | Stream | str | int:
    """Run the command; give its answer, the text of its help or version (shown like an answer), or an exit code."""
    arguments = [*arguments]
    while arguments[:1] == [NO_PAGER]:  # it counts anywhere on the line: `_shower` looks for it
        arguments = arguments[1:]
    arguments = with_command(arguments, all_commands())
    if arguments[:1] == ["--version"]:
        return f"gradcli {gradcli.__version__}\n"
    help_text = io.StringIO()
    try:
        with contextlib.redirect_stdout(help_text):
            result = application().main(arguments, prog_name="gradcli", standalone_mode=False, obj=settings.defaults)
    except click.exceptions.NoArgsIsHelpError as error:
        return in_columns_of_terminal(error.format_message()) + "\n"
    return result or in_columns_of_terminal(help_text.getvalue())  # an interrupt is an exit code here, 130


def _shower(arguments: Sequence[str]) -> Callable[[Iterable[str]], None]:
    """Choose the writer of the answer: the pager on a terminal, if there is one and it is wanted; else `send`."""
    if sys.stdout is None or not sys.stdout.isatty():
        return send
    typed = [word for word in arguments if word in (NO_PAGER, "--pager")][-1:]
    configured = settings.peek("pager")
    if typed == [NO_PAGER] or (configured is False and not typed):
        return send
    program = console.pager_program(configured if isinstance(configured, str) else None)
    return partial(console.show_paged, pager=program) if program else send


def _finished(answer: Output | Page | Stream | str | int, arguments: Sequence[str], read_as: str) -> int:
    """Write an answer, if it has not been written, with a remark on what it is the answer of; return the exit code."""
    if isinstance(answer, Output) and read_as:
        answer = answer.with_remark(read_as)
    code = answer() if callable(answer) else answer if isinstance(answer, int) else write(answer, _shower(arguments))
    if read_as and not isinstance(answer, Output) and "--quiet" not in arguments:
        remark(f"note: {read_as}\n", typed_color(arguments))
    return code


def _report(error: GradcliError, arguments: list[str], read_as: str) -> int:
    """Answer the command line that is meant beyond doubt; where there is none, report the error."""
    from gradcli.cli.suggestions.tried_hints import (  # what a command line without mistakes does not need
        advise,
        command_line,
    )

    meant = None if read_as else advise(error, arguments, answer_words)
    if meant is not None:
        return run([*meant], f"read as {command_line(meant)}")
    if wants_json(arguments):
        from gradcli.report.render.json import render_error

        remark(render_error(error))  # and no other line, as it is parsed
    else:
        if read_as:
            remark(f"note: {read_as}\n", typed_color(arguments))
        complain(error, typed_color(arguments))
    return error.exit_code


def _report_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Report an exception that nothing caught, and end the process with `BUG`."""
    lines = traceback.format_exception(kind, error, trace)
    sys.stderr.write(
        "".join(lines) if os.environ.get("GRADCLI_DEBUG") else displayable(f"gradcli: internal error: {lines[-1]}")
    )
    sys.stderr.write("This is a bug of gradcli; please report it with the command line. GRADCLI_DEBUG=1 shows more.\n")
    sys.stderr.flush()
    os._exit(BUG)
