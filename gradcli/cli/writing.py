"""The command that writes scripts: code."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.cli.command import Asked, add
from gradcli.cli.options import Vector

if TYPE_CHECKING:
    from gradcli.results import Source


class Target(StrEnum):
    """What a script is written in; each has a module of `gradcli.source`."""

    torch = "torch"
    numpy = "numpy"


To = Annotated[
    Target,
    typer.Option(
        "--to", help="A script of PyTorch with backward(gradient=v), or of NumPy with the formula of the derivative."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add(app, code, without=["no_check", "strict"])


def code(asked: Asked, v: Vector = None, to: To = Target.torch) -> "Source":
    """The same computation as a runnable script on stdout.

    The PyTorch script gives the numbers of vjp to the last digit; the NumPy script fills the Jacobian from its formula.

    \b
    Examples:
      gradcli code "x**2" --at 1,2 --v 1,1
      gradcli code "sum(w*x**2)" --at w=3,5 --at x=-1,2 --wrt x --to numpy
      gradcli code "[x.sum(), (x**2).sum()]" --at "arange(4)" --v "2*y"
    """
    return asked.function.code(asked.at, asked.value(v, "--v"), wrt=asked.wrt, dtype=asked.dtype, to=to.value)
