"""A command on a function: the options that the table has for it are read, it answers, and the answer is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradcli import options
from gradcli.cli.completion import suggestions
from gradcli.cli.expression import ExpressionCommand
from gradcli.cli.output import Output, OutputOptions, manner, output
from gradcli.cli.parameters import signed
from gradcli.cli.words import arguments, read_expression
from gradcli.errors import UsageError

if TYPE_CHECKING:
    from gradcli.files import Files
    from gradcli.function import Function
    from gradcli.results import Answer, Source

Expression = Annotated[
    str,
    typer.Argument(
        metavar="EXPR",
        show_default=False,
        autocompletion=suggestions.expression,
        help='The function, such as "x**2"; variables are its free names. '
        "@FILE reads it from a file, @- from standard input.",
    ),
]


@dataclass(frozen=True)
class CommandLine:
    """What a command line says.

    Attributes:
        command: Its name.
        function: The function of EXPR.
        arguments: Those of the question that were given, by the keywords of `Function`.
        presentation: The options of how the answer is shown.
        shown: What they come to: the format, the colours, the file.
        files: Where values may be, of which standard input is read once.
    """

    command: str
    function: Function
    arguments: Mapping[str, Any]
    presentation: Mapping[str, Any]
    shown: OutputOptions
    files: Files

    def answer(self) -> Answer | Source:
        """What the command answers."""
        from gradcli.requests import ask

        return ask(self.function, self.command, self.arguments)


def add(app: typer.Typer, body: Callable[[CommandLine], Answer | Source | Callable[[], int]]) -> None:
    """Add a command to the application.

    Args:
        app: The application.
        body: The command: from a command line to an answer, or to what streams it and gives the exit code.  Its name
            is the command's, its docstring the help.
    """
    command = body.__name__.rstrip("_")
    table = tuple(options.typed(command))

    def run(expression: str, **given: Any) -> Output | Callable[[], int]:
        presentation = {option.name: given.pop(option.name) for option in table if option.is_presentation}
        demands = {name: bool(presentation.get(name)) for name in ("strict", "require_all")}
        if command in options.JUDGED and given["check"]:
            require_none(demands, "and --no-check exclude each other")
        shown = manner(presentation)
        function, files = _function_of(expression)
        question = (option for option in table if not option.is_presentation)
        function, asked = arguments(question, given, function, files)
        answer = body(CommandLine(command, function, asked, presentation, shown, files))
        return answer if callable(answer) else output(answer, shown, **demands)

    run.__doc__ = body.__doc__
    app.command(command, cls=ExpressionCommand)(signed(run, command, "expression", Expression))


def require_none(demands: Mapping[str, bool], why: str) -> None:
    """Refuse `--strict` and `--require-all` where there is no verdict to be strict about.

    Args:
        demands: Whether each is given.
        why: What is wrong with that.

    Raises:
        UsageError: One is given.
    """
    for name, is_given in demands.items():
        if is_given:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} {why}", hint=f"{flag} needs the verdict of the check")


def _function_of(expression: str) -> tuple[Function, Files]:
    """The function of a command line, and the files that its values may be in.

    Raises:
        GradcliError: The text is not in the language.
    """
    from gradcli.files import Files

    files = Files()
    text = read_expression(expression, files)
    from gradcli.function import Function

    return Function(text), files
