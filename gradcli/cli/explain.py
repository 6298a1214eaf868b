"""The command that shows how a derivative comes about: explain."""

from typing import TYPE_CHECKING

import typer

from gradcli.cli.command import CommonOptions, add
from gradcli.cli.options import LossText, Vector, read_expression

if TYPE_CHECKING:
    from gradcli.results import Explanation


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add(app, explain)


def explain(asked: CommonOptions, v: Vector = None, loss: LossText = None) -> "Explanation":
    """The chain rule step by step: forward, v, backward, vᵀJ.

    Each line of the function with its value; then v, which is the adjoint of the output; then each adjoint with the
    local derivative that made it, as formula and as number; and vᵀJ as one product. A loss shows where v comes from.
    In --format plain, a line a step, such as y = x**2 = 1 4, then v, then a line an adjoint, such as adj(x) = 2 4.

    \b
    Examples:
      gradcli explain "y = x**2; z = y**3" --at 1,2 --v 1,1
      gradcli explain "3*a + 2*b*b + log(c)" --at a=1 --at b=3 --at c=6
      gradcli explain "A@x" --at "A=[[1,2],[3,4]]" --at x=5,6 --loss "sum((y - t)**2)" --at t=1,2
    """
    text = None if loss is None else read_expression(loss, asked.files, "--loss")
    return asked.function.explain(asked.at, asked.value(v, "--v"), loss=text, **asked.options)
