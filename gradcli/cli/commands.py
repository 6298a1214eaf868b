"""The commands of the shell, built by Typer; of those on a function: the options are read, the question is answered."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperOption

from gradcli.cli.expression import EXIT_CODES, ExpressionCommand, OnceCommand
from gradcli.cli.output import (
    Output,
    OutputOptions,
    is_typed,
    output,
    resolved_options,
    with_note_on_archives,
    with_notes_on_tables,
)
from gradcli.cli.parameters import arguments, typed_or_read
from gradcli.cli.signatures import Option, shell_options, shell_signature
from gradcli.cli.typer_internals import click
from gradcli.errors import UsageError
from gradcli.parts import all_parts
from gradcli.parts.command import Command
from gradcli.registry import asked_by_file, has_drawings
from gradcli.showing import Shown

if TYPE_CHECKING:
    from gradcli.files import Files
    from gradcli.parts.part import AskedFunction
    from gradcli.results import Result


WHY_NOT = "an answer is always one JSON object on standard output, with all digits, remarks and the verdict"
"""Hint for an option of the shell's presentation, which a request cannot have."""


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
        is_request: Whether it is a request of a batch, which runs no code of the user.
        typed: The words of the question's options, as typed.
    """

    command: str
    expression: str
    function: AskedFunction
    arguments: Mapping[str, Any]
    presentation: Mapping[str, Any]
    shown: OutputOptions
    files: Files
    is_request: bool = False
    typed: Mapping[str, Any] = field(default_factory=dict)

    def answer(self) -> Result:
        """Answer the question of the command."""
        given = dict(self.arguments)
        if self.command == "vjp" and (several := given.pop("v", [])):
            given |= {"vs": several} if len(several) > 1 else {"v": several[0]}
        return self.function.ask(self.command, given, budget=self.presentation.get("budget"))


def built(command: Command, no_files: type[Files] | None = None) -> OnceCommand:
    """Make a command of the shell: Typer reads the signature of its function.

    Args:
        command: The command.
        no_files: For a request, the class in the place of `Files`; a request has neither a help nor variables of the
            environment.
    """
    function = command.loaded()
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(
        command.name,
        cls=ExpressionCommand if command.is_on_function else OnceCommand,
        help=inspect.getdoc(function),
        epilog=EXIT_CODES,
        hidden=not command.section,
        add_help_option=no_files is None,
    )(_typer_callback(command, function, no_files) if command.is_on_function else function)
    found = typer.main.get_command(app)
    helps = {option.name: option.help for option in shell_options(command)}
    for parameter in found.params:
        if isinstance(parameter, TyperOption) and parameter.name in helps:
            parameter.help = helps[parameter.name]
    return cast(OnceCommand, found)  # the class that it was told


def _typer_callback(
    command: Command, function: Callable[..., Any], no_files: type[Files] | None
) -> Callable[..., Result | Output | Callable[[], int]]:
    """Make the function that Typer calls for a command on a function, with the options that the command declares."""
    table = shell_options(command)
    is_judged = any(option.name == "check" and option.default for option in table)

    def run(expression: str, **given: Any) -> Any:  # an annotation that Typer can read
        presentation = {option.name: given.pop(option.name) for option in table if option.is_presentation}
        demands: Mapping[str, bool] = {}
        if no_files is not None:
            _require_question(table)
            shown, files = OutputOptions("json"), no_files()
        else:
            from gradcli.files import Files

            demands = _demands(presentation, given, is_judged=is_judged)
            shown, files = resolved_options(presentation), Files()
        text, asked_of = _function_of(expression, files, is_request=no_files is not None)
        question = (option for option in table if not option.is_presentation)
        asked = arguments(question, given, files)
        if shown.path and "shape" not in asked and (by_file := asked_by_file(command.name, shown.kind)):
            asked = {**asked, by_file: True}
        line = CommandLine(
            command.name, text, asked_of, asked, presentation, shown, files,
            is_request=no_files is not None, typed=given,
        )  # fmt: skip
        answer = resolve_name(command.answer)(line) if command.answer else line.answer()
        is_stream = callable(answer) and not isinstance(answer, Shown)  # a formula is a function too
        if no_files or is_stream:
            return answer
        found = output(answer, shown, **demands, exit_zero=bool(presentation.get("exit_zero")))
        found = found if not shown.path or asked.keys() & {"sparse", "pattern"} else with_note_on_archives(found)
        return with_notes_on_tables(found, given["at"]) if "@" in "".join(given.get("at") or ()) else found

    run.__signature__ = shell_signature(function, is_request=no_files is not None)  # type: ignore[attr-defined]
    return run


def _require_question(table: Iterable[Option]) -> None:
    """Refuse the options for showing an answer, which a request cannot have.

    Raises:
        UsageError: One is typed.
    """
    ctx = click.globals.get_current_context()
    for option in table:
        if option.is_presentation and is_typed(ctx, option.name):
            raise UsageError(f"{' / '.join(option.flags)} is nothing that a request may have", hint=WHY_NOT)


def _demands(presentation: dict[str, Any], given: dict[str, Any], *, is_judged: bool) -> dict[str, bool]:
    """Resolve --strict and --require-all against --no-check, in the given options too.

    Without a check, demands from settings are dropped; a demand that is typed switches the check on.

    Raises:
        UsageError: One is typed next to --no-check.
    """
    ctx = click.globals.get_current_context()
    demands = {name: bool(presentation.get(name)) for name in ("strict", "require_all")}
    typed = {name: is_given and is_typed(ctx, name) for name, is_given in demands.items()}
    if is_judged and given["check"] and is_typed(ctx, "check"):
        require_none(typed, "and --no-check exclude each other")
    elif is_judged and given["check"] and any(typed.values()):
        given["check"] = False  # the switch is --no-check
    is_checked = "check" not in given or given["check"] is not is_judged
    kept = demands if is_checked else typed
    presentation.update((name, is_kept) for name, is_kept in kept.items() if name in presentation)
    return kept


def require_none(demands: Mapping[str, bool], why: str, hint: str = "") -> None:
    """Refuse `--strict` and `--require-all` where there is no verdict to be strict about.

    Args:
        demands: Whether each is given.
        why: The rest of the message, after the flag.
        hint: A remedy that is none of its own.

    Raises:
        UsageError: One is given.
    """
    for name, is_given in demands.items():
        if is_given:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} {why}", hint=hint or f"{flag} needs the verdict of the check")


def _function_of(expression: str, files: Files, *, is_request: bool) -> tuple[str, AskedFunction]:
    """Read the text of EXPR, and make its function.

    Raises:
        GradcliError: The text is not in the language.
    """
    if not is_request and (named := function_named(expression)) is not None:
        return expression, named
    text = typed_or_read(expression, "EXPR", files.text)
    from gradcli.function import Function

    return text, Function(text)


def function_named(word: str) -> AskedFunction | None:
    """Return the function that a word names which no expression is, such as `FILE.py::f`; None for any other word.

    Raises:
        GradcliError: It looks like one of these names, and there is no such function.
    """
    return next((named for part in all_parts() if (named := part.function_named(word)) is not None), None)


def names_code(word: str) -> bool:
    """Tell whether a word names code of the user that would be run."""
    return any(part.names_code(word) for part in all_parts())


# -- commands that do more than to answer their question


def answer_derivative(line: CommandLine) -> Result:
    """Answer an expression without a command: its formula without values, the product with v, or the Jacobian."""
    if line.function.wants_formula(line.arguments):
        asked = {name: line.arguments[name] for name in ("shape", "wrt") if name in line.arguments}
        return replace(line, command="closed_form", arguments=asked).answer()
    given = {name: line.arguments[name] for name in ("at", "dtype") if name in line.arguments}
    is_matrix = not line.arguments.keys().isdisjoint(("sparse", "pattern"))
    is_product = not is_matrix and (
        line.function.has_v or _has_one_element(line.function.ask("eval", {**given, "check": False}))
    )
    return replace(line, command="vjp" if is_product else "jacobian").answer()


def _has_one_element(value: Result) -> bool:
    from gradcli.results import Evaluation

    return isinstance(value, Evaluation) and value.value.size == 1


def answer_as_drawing(line: CommandLine) -> Result:
    """Answer with the drawing of a graph, or the picture of a matrix, that is asked for."""
    drawing, form = line.presentation.get("drawing"), line.shown.form
    if drawing is not None and not has_drawings(form):
        raise UsageError(f"--to {drawing} and --format {form} exclude each other", hint="leave out one of them")
    found = line.answer()
    asked = {"drawing": drawing, "is_picture": line.presentation.get("picture")}
    return replace(found, **{name: value for name, value in asked.items() if value and hasattr(found, name)})
