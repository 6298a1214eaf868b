"""From the table of options to the parameters of a command, as Typer reads them: off the signature of a function.

This is the one place where a signature is made, as Typer takes parameters from nowhere else.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import typer

from gradcli import options
from gradcli.cli.completion import suggestions
from gradcli.options import Kind, Option

_TYPES: Mapping[Kind, type] = {Kind.SWITCH: bool, Kind.NUMBER: float, Kind.WHOLE: int}
"""What a word is read as; of the other kinds it stays a text."""

_SUGGESTIONS: Mapping[Kind, Callable[..., suggestions.Candidates]] = {
    Kind.INPUTS: suggestions.value,
    Kind.VALUES: suggestions.value,
    Kind.DIRECTIONS: suggestions.direction,
    Kind.VECTOR: suggestions.vector,
    Kind.TEXT: suggestions.expression,
    Kind.TEXTS: suggestions.expression,
    Kind.VARIABLES: suggestions.variable_names,
    Kind.STATEMENTS: suggestions.statement_names,
    Kind.VERDICTS: suggestions.verdicts,
}
"""What completes a value; choices complete themselves."""


def signed(
    body: Callable[..., Any], command: str, argument: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> Callable[..., Any]:
    """A command with the options that the table has for it.

    Args:
        body: Takes all of them by name; its docstring is the help.
        command: By name.
        argument: The name of what stands without a flag.
        annotation: What Typer is to know of that.
        default: What it is where it is not given.
    """

    def run(**given: Any) -> Any:
        return body(**given)

    parameters = [_parameter(argument, annotation, default), *map(_option, options.typed(command))]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = body.__doc__
    return run


def _option(option: Option) -> inspect.Parameter:
    """The parameter of one option."""
    low, high = option.bounds or (None, None)
    facts: dict[str, Any] = {
        "help": option.help,
        "metavar": option.metavar,
        "envvar": option.variable,
        "autocompletion": _SUGGESTIONS.get(option.kind),
        "min": low,
        "max": high,
    }
    one: Any = Literal[option.choices] if option.choices else _TYPES.get(option.kind, str)
    kind: Any = list[one] if option.is_repeated else one
    default: Any = False if option.kind is Kind.SWITCH else option.default
    if option.is_required:
        default = inspect.Parameter.empty
    elif default is None:
        kind |= None
    annotation: Any = Annotated[kind, typer.Option(*option.flags, **facts)]
    return _parameter(option.name, annotation, default)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
