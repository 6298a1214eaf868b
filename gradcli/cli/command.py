"""A command on a function: the options that such commands share, and what they say, in one place.

The body of a command has its own options only; `add` puts the shared ones around them, reads them, and writes the
answer in the format asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import typer

from gradcli.cli.expression import ExpressionCommand
from gradcli.cli.options import (
    At,
    Color,
    ColorOption,
    Digits,
    DtypeOption,
    Expression,
    Format,
    FormatOption,
    Json,
    NoCheck,
    OutputFile,
    RequireAll,
    Strict,
    Wrt,
    function_of,
    inputs,
    names,
    read,
    require_check,
)
from gradcli.cli.output import Output, manner, output

if TYPE_CHECKING:
    from gradcli.files import Files
    from gradcli.function import Function
    from gradcli.results import Answer, Array, Source

_BEFORE: Mapping[str, tuple[Any, Any]] = {"expression": (Expression, inspect.Parameter.empty), "at": (At, None)}

_AFTER: Mapping[str, tuple[Any, Any]] = {
    "wrt": (Wrt, None),
    "dtype": (DtypeOption, None),
    "format": (FormatOption, Format.table),
    "json": (Json, False),
    "color": (ColorOption, Color.auto),
    "digits": (Digits, None),
    "output": (OutputFile, None),
    "no_check": (NoCheck, False),
    "strict": (Strict, False),
    "require_all": (RequireAll, False),
}
"""The shared options behind those of the command, with their defaults."""


@dataclass(frozen=True)
class CommonOptions:
    """What the shared options say.

    Attributes:
        function: The function of EXPR.
        at: The values, text or arrays.
        wrt: The variables to differentiate by, if the command has the option and it was given.
        dtype: Of the computation, if it was given.
        check: Whether to compare with the reference.
        form: The format that the answer will be written in.
        files: Where values of further options may be.
    """

    function: Function
    at: Mapping[str, str | Array]
    wrt: Sequence[str] | None
    dtype: Literal["float64", "float32"] | None
    check: bool
    form: Format
    files: Files

    @property
    def options(self) -> dict[str, Any]:
        """Those that every derivative takes, as keyword arguments."""
        return {"wrt": self.wrt, "dtype": self.dtype, "check": self.check}

    def value(self, word: str | None, option: str) -> str | Array | None:
        """The value of a further option: behind `@` the array of a file, else its text."""
        return None if word is None else read(word, option, self.files)


def add(
    app: typer.Typer, body: Callable[..., Answer | Source | Callable[[], int]], *, without: Sequence[str] = ()
) -> None:
    """Add a command to the application.

    Args:
        app: The application.
        body: The command: from `CommonOptions` and options of its own to an answer, or to what streams it and gives
            the exit code. Its name is the command's, its docstring the help. The annotations of its parameters are
            objects, not text, so that its module need not import what it answers: that takes as long as all the help.
        without: The shared options that it does not have, by their names.
    """
    after = {name: option for name, option in _AFTER.items() if name not in without}

    def command(**given: Any) -> Output | Callable[[], int]:
        shared = {name: given.pop(name) if name in after else default for name, (_, default) in _AFTER.items()}
        expression, at = given.pop("expression"), given.pop("at")
        demands = {name: shared[name] for name in ("strict", "require_all")}
        require_check(**demands, no_check=shared["no_check"])
        shown = manner(*(shared[name] for name in ("format", "json", "color", "digits", "output")))
        function, files = function_of(expression)
        function, values = inputs(function, at, files)
        asked = CommonOptions(
            function,
            values,
            names(shared["wrt"]),
            shared["dtype"] and shared["dtype"].value,
            not shared["no_check"],
            shown.form,
            files,
        )
        answer = body(asked, **given)
        if callable(answer):
            return answer
        return output(answer, shown, **demands)

    own = list(inspect.signature(body).parameters.values())[1:]
    parameters = [
        *(_parameter(name, *option) for name, option in _BEFORE.items()),
        *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own),
        *(_parameter(name, *option) for name, option in after.items()),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__doc__ = body.__doc__
    app.command(body.__name__.rstrip("_"), cls=ExpressionCommand)(command)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
