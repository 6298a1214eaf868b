"""The command that writes scripts: code."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.cli.command import CommonOptions, add
from gradcli.cli.options import Format, Vector
from gradcli.errors import UsageError

if TYPE_CHECKING:
    from gradcli.results import Source


class Target(StrEnum):
    """What a script is written in; each has a module of `gradcli.codegen`."""

    torch = "torch"
    numpy = "numpy"
    latex = "latex"


To = Annotated[
    Target,
    typer.Option(
        "--to",
        help="A script of PyTorch with backward(gradient=v), one of NumPy with the formula of the derivative, or a "
        "LaTeX document with all of it.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add(app, code, without=["digits", "no_check", "strict", "require_all"])


def code(asked: CommonOptions, v: Vector = None, to: To = Target.torch) -> "Source":
    """The same computation as a runnable script, or as a document.

    The PyTorch script gives the numbers of vjp to the last digit; the NumPy script fills the Jacobian from its formula;
    the LaTeX document, which needs amsmath, shows the numbers and the formulas of vjp. --format plain writes the same.

    \b
    Examples:
      gradcli code "x**2" --at 1,2 --v 1,1
      gradcli code "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x --to numpy
      gradcli code "softmax(x)" --at 1,2,3 --v e0 --to latex
      gradcli code "[x.sum(), (x**2).sum()]" --at "arange(4)" --v "2*y"
    """
    if asked.form is Format.csv:
        raise UsageError("a script is no table of numbers", hint="leave out --format csv, or take --json")
    return asked.function.code(asked.at, asked.value(v, "--v"), wrt=asked.wrt, dtype=asked.dtype, to=to.value)
