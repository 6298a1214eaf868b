"""The command `plot`: its help and its options."""

from typing import Annotated

from typer import Option

from gradcli.cli.options import (
    Along,
    At,
    Device,
    Dtype,
    Expression,
    Fact,
    OptionKind,
    Wrt,
    budget_options,
    figure_options,
    output_options,
    remark_options,
)
from gradcli.cli.signatures import shares

Box = Annotated[
    list[str] | None,
    Option(
        "--in",
        metavar="[NAME=]LOW..HIGH",
        help="The range of the variable: -3..3, or -pi..pi; of a second one for a map. By default one that shows the "
        "kinks, poles and zeros in -10..10, or -5..5.",
    ),
    Fact(OptionKind.RANGES),
]
Order = Annotated[int, Option("--order", metavar="N", min=1, max=2, help="The highest derivative that is drawn.")]


@shares(output_options, figure_options, remark_options, budget_options)
def plot(
    expression: Expression,
    at: At = None,
    box: Box = None,
    along: Along = None,
    order: Order = 1,
    wrt: Wrt = None,
    dtype: Dtype = None,
    device: Device = None,
) -> None:
    """A function and its derivative as curves, with kinks and poles.

    Draws y and ∂y/∂x over a range of one variable, as torch computes them, and marks what the check finds: kinks,
    jumps, poles, holes, ranges without a value or without torch's derivative, and lost digits. A strip below shows
    where torch's numbers are proved to be near the truth. With --at x=1 there is the tangent at 1. Over two variables,
    --in x=-2..2 --in y=-1..1, it is a map of y with arrows of the gradient. On a terminal it is drawn with characters;
    -o FILE.svg, .png or .pdf writes a figure (pip install 'gradcli[plot]'). Where the time for the marks is over, the
    curves are drawn without them, and a warning says so.

    \b
    Examples:
      gradcli plot "sin(x)/x" --in x=-10..10
      gradcli plot "a*x**2" --at a=2 --in x=-3..3 --at x=1
      gradcli plot "sum(relu(x))" --at 1,-2 --along 1,1
    """
