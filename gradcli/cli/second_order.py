"""The commands of directions and of second derivatives: jvp, hessian, hvp."""

from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.cli.command import CommonOptions, add
from gradcli.cli.completion import suggestions
from gradcli.cli.options import named

if TYPE_CHECKING:
    from gradcli.results import HVP, JVP, Array, Hessian

Direction = Annotated[
    list[str] | None,
    typer.Option(
        "--u",
        metavar="[NAME=]VALUE",
        show_default=False,
        autocompletion=suggestions.direction,
        help="The direction in which a variable moves, of its shape: a value, or ones, or e0 (along x[0]), or e0_1 "
        "(along x[0,1]), or @FILE or @- as for --at. The name may be left out where there is one variable. "
        "Repeat for more; a variable without one is held constant. Default: 1, if there is one element in all.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    for command in (jvp, hessian, hvp):
        add(app, command)


def jvp(asked: CommonOptions, u: Direction = None) -> "JVP":
    """The Jacobian-vector product, the slope along u.

    Ju is how y changes as x moves in the direction u. Prints y, u, Ju, its formula and the verdict of the cross-check.
    In --format plain, the numbers of Ju alone, a row of them a line.

    \b
    Examples:
      gradcli jvp "x**2" --at 1,2 --u 1,1
      gradcli jvp "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --u x=e0
    """
    return asked.function.jvp(asked.at, _directions(asked, u), **asked.options)


def hessian(asked: CommonOptions) -> "Hessian":
    """All second derivatives of a function with one output.

    It may take up to 1 GiB of memory; a larger one is refused with its size. In --format plain, one matrix with the
    rows and columns of all variables, a row a line.

    \b
    Examples:
      gradcli hessian "(1 - x[0])**2 + 100*(x[1] - x[0]**2)**2" --at 1,1
      gradcli hessian "x**3*y" --at x=2 --at y=5 --format plain
    """
    return asked.function.hessian(asked.at, **asked.options)


def hvp(asked: CommonOptions, u: Direction = None) -> "HVP":
    """The Hessian times a direction u, without the Hessian.

    Hu is how the gradient changes as x moves in the direction u. In --format plain, the numbers of Hu alone, variable
    after variable, a row of them a line.

    \b
    Examples:
      gradcli hvp "sum(x**3)" --at 1,2 --u e0
      gradcli hvp "log(sum(exp(x)))" --at 1,2,3 --u 1,0,-1 --format plain
    """
    return asked.function.hvp(asked.at, _directions(asked, u), **asked.options)


def _directions(asked: CommonOptions, u: list[str] | None) -> "dict[str, str | Array]":
    """By name, which is empty for that of the only variable."""
    words = named(u, "--u")
    found = {name: asked.value(word, f"--u {name}".rstrip()) for name, word in words.items()}
    return {name: value for name, value in found.items() if value is not None}
