"""The command `range`: its help and its options."""

from typing import Annotated

from typer import Option

from gradcli.cli.options import (
    Along,
    At,
    Expression,
    Fact,
    OptionKind,
    budget_options,
    output_options,
    remark_options,
)
from gradcli.cli.signatures import shares

Box = Annotated[
    list[str] | None,
    Option(
        "--in",
        metavar="[NAME=]LOW..HIGH",
        help="The range of a variable: -3..3, or -pi..pi, or [0,0]..[1,2]. The other variables stay at their --at. "
        "Repeat for more.",
    ),
    Fact(OptionKind.RANGES),
]
Shape = Annotated[
    list[str] | None,
    Option(
        "--shape",
        metavar="[NAME=]SIZES",
        help="The shape of a tensor each element of which has the range of --in: 1000, or 1000,1000. Without it, and "
        "without --at, a number.",
    ),
    Fact(OptionKind.SHAPES),
]
Zeros = Annotated[
    bool,
    Option(
        "--zeros",
        show_default=False,
        help="Find the zeros too: those of y, or of its gradient where several numbers move.",
    ),
]
Tol = Annotated[
    float | None,
    Option(
        "--tol",
        metavar="NUMBER",
        help="How near each bound is to be to a value that is there, absolutely or relative to it. Default: 1e-6.",
    ),
]


@shares(output_options, remark_options, budget_options)
def range_over(
    expression: Expression,
    at: At = None,
    box: Box = None,
    along: Along = None,
    shape: Shape = None,
    zeros: Zeros = False,
    tol: Tol = None,
) -> None:
    """Guaranteed bounds of a function and its derivatives over ranges.

    Prints numbers that y and each ∂y/∂x certainly do not pass anywhere in the box of --in, the Lipschitz constants, and
    the small boxes in which the minimum and the maximum are. Each bound is rounded outward, and within --tol of a value
    that is there; where the time of --budget does not do, the bounds hold all the same and the gap is shown. A
    derivative is bounded wherever there is one. Of more than 8 numbers that move, unless each element is mapped by
    itself, the bounds are those of sums and products of ranges, and may be wider.

    \b
    Examples:
      gradcli range "gelu(x)" --in x=-100..100
      gradcli range "100*(y - x**2)**2 + (1 - x)**2" --in x=-2..2 --in y=-1..3
      gradcli range "a*x - sin(x)" --at a=0.5 --in x=0..10 --zeros
      gradcli range "gelu(x)" --in x=-100..100 --shape x=1000,1000
      gradcli range "sum(x**4 - x**2)" --at x=1,2,3 --along ones --in t=-4..0
    """
