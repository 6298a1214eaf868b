"""The options that commands share, and how the shell spells values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from gradcli.cli import environment
from gradcli.cli.completion import suggestions
from gradcli.errors import InputError, UsageError, constants_meant

if TYPE_CHECKING:
    from gradcli.files import Files
    from gradcli.function import Function
    from gradcli.results import Allowed, Array


class Format(StrEnum):
    """How an answer is written."""

    table = "table"
    json = "json"
    csv = "csv"
    plain = "plain"
    latex = "latex"
    markdown = "markdown"


class Color(StrEnum):
    """When a table has colours."""

    auto = "auto"
    always = "always"
    never = "never"


class Dtype(StrEnum):
    """The floating-point type that torch computes in."""

    float64 = "float64"
    float32 = "float32"


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
At = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="[NAME=]VALUE",
        show_default=False,
        autocompletion=suggestions.value,
        help="A variable's value: 1, or 1,2, or [[1,2],[3,4]], or linspace(0,1,5). "
        "The name may be left out where there is one variable. Repeat for more. "
        "@FILE reads .npy, .npz:NAME, .csv:COLUMN, .tsv, .txt, .dat or .json:KEY; "
        "@- reads standard input, once, unless it is a terminal. @@ is an @ that reads nothing.",
    ),
]
_GRADIENT_VECTOR = (
    "The gradient vector, of y's shape: a value, or ones, or e0 (ones over y[0]), "
    "or e0_1 (the element y[0,1] alone), or @FILE or @- as for --at."
)
_IMPLICIT = "Default: 1, if y has one element."

Vector = Annotated[
    str | None,
    typer.Option(
        "--v",
        metavar="VALUE",
        show_default=False,
        autocompletion=suggestions.vector,
        help=f"{_GRADIENT_VECTOR} {_IMPLICIT}",
    ),
]
Vectors = Annotated[
    list[str] | None,
    typer.Option(
        "--v",
        metavar="VALUE",
        show_default=False,
        autocompletion=suggestions.vector,
        help=f"{_GRADIENT_VECTOR} Repeat for more, a product each. {_IMPLICIT}",
    ),
]
Accumulate = Annotated[
    bool,
    typer.Option(
        "--accumulate",
        help="Show what .grad holds after each pass, where every --v is a backward pass and nothing is set to zero.",
    ),
]
Show = Annotated[
    str | None,
    typer.Option(
        "--show",
        metavar="NAMES",
        show_default=False,
        autocompletion=suggestions.statement_names,
        help="Names of statements, separated by commas: their values and adjoints, as retain_grad() keeps them.",
    ),
]
LossText = Annotated[
    str | None,
    typer.Option(
        "--loss",
        metavar="TEXT",
        show_default=False,
        autocompletion=suggestions.expression,
        help="In place of --v, a loss of one element in y by the output's name, such as "
        '"sum((y - t)**2)": v is its derivative by y. Names such as t take values from --at. '
        "@FILE reads it.",
    ),
]
Wrt = Annotated[
    str | None,
    typer.Option(
        "--wrt",
        metavar="NAMES",
        show_default=False,
        autocompletion=suggestions.variable_names,
        help="The variables to differentiate by, separated by commas. All by default.",
    ),
]
PointsOf = Annotated[
    str | None,
    typer.Option(
        "--points-of",
        metavar="NAMES",
        show_default=False,
        autocompletion=suggestions.variable_names,
        help="Variables that hold many points, one after the other along their first axis, separated by commas. "
        "EXPR is of one point, and there is an answer for each.",
    ),
]
DtypeOption = Annotated[
    Dtype | None,
    typer.Option(
        "--dtype",
        envvar=environment.DTYPE,
        show_default=False,
        help="The floating-point type of the computation. Default: that of a snippet's tensors, or float64.",
    ),
]


def _unless_told(ctx: typer.Context, value: Format) -> Format:
    """The format, which yields to another option that chooses one, and where it cannot be, if nobody typed it."""
    is_told = any(environment.is_typed(ctx, name) for name in ("json", "drawing"))
    has_not = ctx.command.name == "code" and value is Format.csv
    return Format.table if (is_told or has_not) and not environment.is_typed(ctx, "format") else value


def format_option(text: str) -> Any:
    """The option `--format` with its help."""
    return typer.Option("--format", envvar=environment.FORMAT, callback=_unless_told, help=text)


FormatOption = Annotated[
    Format,
    format_option(
        "Tables, one line of JSON, a row of CSV an entry, the bare numbers, LaTeX for amsmath, or GitHub's Markdown."
    ),
]
Digits = Annotated[
    int | None,
    typer.Option(
        "--digits",
        metavar="N",
        min=1,
        max=17,
        show_default=False,
        help="Significant digits of every number shown. By default as many as it takes to read it back.",
    ),
]
OutputFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        show_default=False,
        help="Write to a file, whole or not at all, as its suffix says: .csv, .json, .md, .tex, .txt (a table), .npy "
        "(one array), .npz (all arrays); .py of code; .dot and .mmd of graph. With --format any other suffix.",
    ),
]
ColorOption = Annotated[
    Color,
    typer.Option(
        "--color",
        envvar=environment.COLOR,
        help="Whether tables and messages have colours; auto: as FORCE_COLOR, NO_COLOR or the terminal says.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
NoCheck = Annotated[bool, typer.Option("--no-check", help="Do not compare the numbers with the reference.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 unless the verdict of the check is agree.")]
RequireAll = Annotated[
    bool, typer.Option("--require-all", help="Exit with 1 unless every entry was checked, and not a sample of them.")
]

_NAMED = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)(.*)", re.DOTALL)


def inputs(function: Function, at: Sequence[str] | None, files: Files) -> tuple[Function, dict[str, str | Array]]:
    """The value of each variable from the words of `--at`: an array where it is in a file, else still as text.

    Returns:
        The function, which remarks on the name of a variable that took a value without naming it, and the values.

    Raises:
        InputError: A bare value where there is not exactly one variable, or two values for one; or a file that
            cannot be read.
        LanguageError: A bare value for a name that is several words written together.
    """
    values = named(at, "--at", function.variables)
    function = named_by_none(function, at)
    return function, {name: read(value, f"--at {name}", files) for name, value in values.items()}


def named_by_none(function: Function, words: Sequence[str] | None) -> Function:
    """The function, told so where one of the words is for its only variable and does not name it.

    Raises:
        LanguageError: The name of that variable is several words written together.
    """
    return function if all(_NAMED.fullmatch(word) for word in words or []) else function.unnamed()


def named(words: Sequence[str] | None, option: str, variables: Sequence[str] | None = None) -> dict[str, str]:
    """The texts of `NAME=TEXT` words by their names.

    Args:
        words: As given.
        option: That they were given to.
        variables: Of which a word without a name is for the only one; by default its name is empty.

    Raises:
        InputError: A word without a name where there is not exactly one variable, or two of one name.
    """
    given: dict[str, str] = {}
    for word in words or []:
        match = _NAMED.fullmatch(word)
        bare = "" if match or variables is None else _only(variables, word, option)
        name, value = (match[1], match[2]) if match else (bare, word)
        if name in given:
            whose = f"'{name}'" if name else "the only variable"
            hint = "write a vector as 1,2" if option in ("--at", "--u", "--expect") else "give it once"
            raise InputError(f"{option} gives {whose} two values: {given[name]} and {value}", hint=hint)
        given[name] = value
    return given


def read(word: str, source: str, files: Files) -> str | Array:
    """The array behind `@`, or the text: behind `@@` what follows with one `@`, else the word as it is.

    Raises:
        GradcliError: What is behind `@` cannot be read.
    """
    text = word.lstrip()
    if text.startswith("@@"):
        return text[1:]
    return files.array(text[1:], source) if text.startswith("@") else word


def read_expression(word: str, files: Files, source: str = "EXPR") -> str:
    """The text of an expression, which is read from a file behind `@`; `@@` as in values.

    Raises:
        GradcliError: What is behind `@` cannot be read.
    """
    text = word.lstrip()
    if text.startswith("@@"):
        return text[1:]
    return files.text(text[1:], source) if text.startswith("@") else word


def function_of(expression: str) -> tuple[Function, Files]:
    """The function of a command line, and the files that its values may be in.

    Raises:
        GradcliError: The text is not in the language.
    """
    from gradcli.files import Files

    files = Files()
    text = read_expression(expression, files)
    from gradcli.function import Function

    return Function(text), files


def _only(variables: Sequence[str], word: str, option: str) -> str:
    if len(variables) == 1:
        return variables[0]
    known = f"the variables {', '.join(variables)}" if variables else "no variables"
    shown = word.strip() or "''"
    rest = "".join(f" --at {name}=VALUE" for name in variables[1:4]) if option == "--at" else ""
    example = "VALUE" if "e" in variables else word.strip() or "VALUE"
    hint = f"write {option} {variables[0]}={example}{rest}" if variables else f"leave out {option}"
    message = f"{option} {shown} names no variable, and the expression has {known}"
    raise InputError(message, hint=constants_meant(variables) + hint)


def names(words: str | None, option: str = "--wrt") -> list[str] | None:
    """The names of `--wrt`, or of another option that names variables.

    Raises:
        InputError: There is none among them.
    """
    if words is None:
        return None
    found = _words(words)
    if not found:
        hint = "leave it out for all of them" if option == "--wrt" else f"write {option} NAME"
        raise InputError(f"{option} names no variable", hint=hint)
    return found


def shown(show: str | None) -> list[str]:
    """The names of `--show`.

    Raises:
        InputError: It is given, and there is none among them.
    """
    found = _words(show or "")
    if show is not None and not found:
        raise InputError("--show names no value", hint="write --show NAME,NAME, names of statements")
    return found


def verdicts(allow: str | None) -> list[Allowed]:
    """The words of `--allow`; whether they are verdicts is for the check to say."""
    return cast("list[Allowed]", list(dict.fromkeys(_words(allow or ""))))


def require_check(*, strict: bool, require_all: bool, no_check: bool) -> None:
    """Refuse `--strict` and `--require-all` where there is no verdict to be strict about.

    Raises:
        UsageError: So it is.
    """
    option = "--strict" if strict else "--require-all"
    if no_check and (strict or require_all):
        raise UsageError(f"{option} and --no-check exclude each other", hint=f"{option} needs the verdict of the check")


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
