"""The commands on a function at a point: their options are read, they answer, and the answer is written.

Their helps and their options are those of `gradcli.options`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from typer import _click as click

from gradcli import options
from gradcli.cli.default_command import DERIVATIVE
from gradcli.cli.expression import ExpressionCommand
from gradcli.cli.output import Output, OutputOptions, is_typed, manner, output
from gradcli.cli.parameters import argument, arguments, typed_or_read
from gradcli.errors import UsageError
from gradcli.options import Option
from gradcli.parts import all_parts, own_parts

if TYPE_CHECKING:
    from gradcli.files import Files
    from gradcli.parts.part import AskedFunction
    from gradcli.results import Result

_EXPRESSION = argument(
    "expression",
    metavar="EXPR",
    required=True,
    help='The function, such as "x**2"; variables are its free names. '
    "@FILE reads it from a file, @- from standard input. FILE.py::NAME and MODULE:NAME are functions of Python, "
    "which are run and recorded.",
)


@dataclass(frozen=True)
class CommandLine:
    """A command line on a function, as read.

    Attributes:
        command: The name of the command.
        expression: The text of EXPR; with `@`, the text that was read from the file.
        function: The function of EXPR.
        arguments: The arguments of the question that were given, by the keywords of `Function`.
        presentation: The options for showing the answer.
        shown: Their outcome: the format, the colours, the file.
        files: Reader of the files that hold values; it reads standard input once.
    """

    command: str
    expression: str
    function: AskedFunction
    arguments: Mapping[str, Any]
    presentation: Mapping[str, Any]
    shown: OutputOptions
    files: Files

    def answer(self) -> Result:
        """Answer the question of the command."""
        given = dict(self.arguments)
        if self.command == "vjp" and (several := given.pop("v", [])):
            given |= {"vs": several} if len(several) > 1 else {"v": several[0]}
        return self.function.ask(self.command, given, budget=self.presentation.get("budget"))


def command_of(
    name: str, body: Callable[[CommandLine], Result | Callable[[], int]], no_files: type[Files] | None = None
) -> ExpressionCommand:
    """Make a command of the shell.

    Args:
        name: The name of the command.
        body: The command: takes a command line and gives the answer, or a function that streams it and gives the exit
            code.  Its docstring is the help of a command that no module is of.
        no_files: For a request, the class in the place of `Files`; a request has neither a help nor variables of the
            environment.
    """
    is_hidden = name == DERIVATIVE
    command = "jacobian" if is_hidden else name
    table = [
        replace(option, variable=None, is_setting=False) if no_files else option for option in options.typed(command)
    ]

    def run(expression: str, **given: Any) -> Result | Output | Callable[[], int]:
        presentation = {option.name: given.pop(option.name) for option in table if option.is_presentation}
        demands: Mapping[str, bool] = {}
        if no_files is not None:
            _require_question(table)
            shown, files = OutputOptions("json"), no_files()
        else:
            from gradcli.files import Files

            demands = _demands(presentation, given, command)
            shown, files = manner(presentation), Files()
        text, function = _function_of(expression, files, is_request=no_files is not None)
        question = (option for option in table if not option.is_presentation)
        asked = arguments(question, given, files)
        answer = body(CommandLine(command, text, function, asked, presentation, shown, files))
        return answer if no_files or callable(answer) else output(answer, shown, **demands)

    run.__doc__ = options.COMMANDS[name].help if name in options.COMMANDS else body.__doc__
    return ExpressionCommand.from_options(
        name, run, table, _EXPRESSION, hidden=is_hidden, add_help_option=no_files is None
    )


def _require_question(table: Iterable[Option]) -> None:
    """Refuse the options for showing an answer, which a request cannot have.

    Raises:
        UsageError: One is typed.
    """
    ctx = click.globals.get_current_context()
    for option in table:
        if option.is_presentation and is_typed(ctx, option.name):
            from gradcli.parts.batch import WHY_NOT

            raise UsageError(f"{' / '.join(option.flags)} is nothing that a request may have", hint=WHY_NOT)


def _demands(presentation: dict[str, Any], given: dict[str, Any], command: str) -> dict[str, bool]:
    """Resolve --strict and --require-all against --no-check, in the given options too.

    Without a check, demands from settings are dropped; a demand that is typed switches the check on.

    Raises:
        UsageError: One is typed next to --no-check.
    """
    ctx = click.globals.get_current_context()
    demands = {name: bool(presentation.get(name)) for name in ("strict", "require_all")}
    typed = {name: is_given and is_typed(ctx, name) for name, is_given in demands.items()}
    if command in options.JUDGED and given["check"] and is_typed(ctx, "check"):
        require_none(typed, "and --no-check exclude each other")
    elif command in options.JUDGED and given["check"] and any(typed.values()):
        given["check"] = False  # the switch is --no-check
    is_checked = "check" not in given or given["check"] is (command not in options.JUDGED)
    kept = demands if is_checked else typed
    presentation.update((name, is_kept) for name, is_kept in kept.items() if name in presentation)
    return kept


def require_none(demands: Mapping[str, bool], why: str) -> None:
    """Refuse `--strict` and `--require-all` where there is no verdict to be strict about.

    Args:
        demands: Whether each is given.
        why: The rest of the message, after the flag.

    Raises:
        UsageError: One is given.
    """
    for name, is_given in demands.items():
        if is_given:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} {why}", hint=f"{flag} needs the verdict of the check")


def _function_of(expression: str, files: Files, *, is_request: bool) -> tuple[str, AskedFunction]:
    """Read the text of EXPR, and make its function.

    Raises:
        GradcliError: The text is not in the language.
    """
    if not is_request:
        for part in all_parts() if ":" in expression else own_parts():
            if (named := part.function_named(expression)) is not None:
                return expression, named
    text = typed_or_read(expression, "EXPR", files.text)
    from gradcli.function import Function

    return text, Function(text)


# -- commands that do more than to answer their question


def derivative(line: CommandLine) -> Result:
    """Answer an expression without a command by its derivative.

    That is vjp of a function with one output, and of a text with a backward(v); else jacobian, whose options it has; a
    formula where no value is given.

    \b
    Examples:
      gradcli "x**2" --at 3
      gradcli "[x*y, x+y]" --at x=3 --at y=5
    """
    if line.function.wants_formula(line.arguments):
        asked = {name: line.arguments[name] for name in ("shape", "wrt") if name in line.arguments}
        return replace(line, command="closed_form", arguments=asked).answer()
    given = {name: line.arguments[name] for name in ("at", "dtype") if name in line.arguments}
    is_product = line.function.has_v or _has_one_element(line.function.ask("eval", {**given, "check": False}))
    return replace(line, command="vjp" if is_product else "jacobian").answer()


def _has_one_element(value: Result) -> bool:
    from gradcli.results import Evaluation

    return isinstance(value, Evaluation) and value.value.size == 1


def check(line: CommandLine) -> Result:
    """Answer with finite differences if all is to be shown."""
    differences = {"differences": True} if line.shown.form == "full" else {}
    return replace(line, arguments={**line.arguments, **differences}).answer()


def drawn(line: CommandLine) -> Result:
    """Answer with the drawing of a graph, or the picture of a matrix, that is asked for."""
    drawing, form = line.presentation.get("drawing"), line.shown.form
    if drawing is not None and form not in ("table", "markdown", "html"):
        raise UsageError(f"--to {drawing} and --format {form} exclude each other", hint="leave out one of them")
    found = line.answer()
    asked = {"drawing": drawing, "is_picture": line.presentation.get("picture")}
    return replace(found, **{name: value for name, value in asked.items() if value and hasattr(found, name)})


_BODIES = {"check": check, "graph": drawn, "jacobian": drawn, "hessian": drawn, DERIVATIVE: derivative}
ANSWERS = {name: _BODIES.get(name, CommandLine.answer) for name in (*options.QUESTIONS, DERIVATIVE)}
"""Commands that a request may have too; no list shows `derivative`, which stands for one of the others."""
