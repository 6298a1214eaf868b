"""The options that commands share, and how the shell spells values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from gradcli.errors import InputError


class Format(StrEnum):
    """How an answer is written."""

    table = "table"
    json = "json"
    plain = "plain"


class Dtype(StrEnum):
    """The floating-point type that torch computes in."""

    float64 = "float64"
    float32 = "float32"


Expression = Annotated[
    str,
    typer.Argument(
        metavar="EXPR", show_default=False, help='The function, such as "x**2"; variables are its free names.'
    ),
]
At = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="[NAME=]VALUE",
        show_default=False,
        help="A variable's value: 1, or 1,2, or [[1,2],[3,4]], or linspace(0,1,5). "
        "The name may be left out where there is one variable. Repeat for more.",
    ),
]
Vector = Annotated[
    str | None,
    typer.Option(
        "--v",
        metavar="VALUE",
        show_default=False,
        help="The gradient vector, of y's shape: a value, or ones, or e0 (ones over y[0]), "
        "or e0_1 (the element y[0,1] alone). "
        "Default: 1, if y has one element.",
    ),
]
Wrt = Annotated[
    str | None,
    typer.Option(
        "--wrt",
        metavar="NAMES",
        show_default=False,
        help="The variables to differentiate by, separated by commas. All by default.",
    ),
]
DtypeOption = Annotated[Dtype, typer.Option("--dtype", help="The floating-point type of the computation.")]
FormatOption = Annotated[Format, typer.Option("--format", help="Tables, one line of JSON, or the bare numbers.")]
Json = Annotated[bool, typer.Option("--json", help="The same as --format json.")]
NoCheck = Annotated[bool, typer.Option("--no-check", help="Do not compare the numbers with the reference.")]

_NAMED = re.compile(r"\s*([^\W\d]\w*)\s*=(?!=)(.*)", re.DOTALL)


def inputs(variables: Sequence[str], at: Sequence[str] | None) -> dict[str, str]:
    """The value of each variable from the words of `--at`, still as text.

    Raises:
        InputError: A bare value where there is not exactly one variable, or two values for one.
    """
    given: dict[str, str] = {}
    for word in at or []:
        match = _NAMED.fullmatch(word)
        name, value = (match[1], match[2]) if match else (_only(variables, word), word)
        if name in given:
            raise InputError(f"--at gives '{name}' two values: {given[name]} and {value}", hint="write a vector as 1,2")
        given[name] = value
    return given


def _only(variables: Sequence[str], word: str) -> str:
    if len(variables) == 1:
        return variables[0]
    known = f"the variables {', '.join(variables)}" if variables else "no variables"
    rest = "".join(f" --at {name}=VALUE" for name in variables[1:4])
    hint = f"write --at {variables[0]}={word}{rest}" if variables else "leave out --at"
    raise InputError(f"--at {word} names no variable, and the expression has {known}", hint=hint)


def names(wrt: str | None) -> list[str] | None:
    """The names of `--wrt`.

    Raises:
        InputError: There is none among them.
    """
    if wrt is None:
        return None
    found = [name.strip() for name in wrt.split(",") if name.strip()]
    if not found:
        raise InputError("--wrt names no variable", hint="leave it out for all of them")
    return found
