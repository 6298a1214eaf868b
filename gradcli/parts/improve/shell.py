"""The command `improve`: its help and its options."""

from typing import Annotated

from typer import Option

from gradcli.cli.options import (
    At,
    Dtype,
    Expression,
    Fact,
    OptionKind,
    Wrt,
    budget_options,
    exit_options,
    output_options,
    remark_options,
)
from gradcli.cli.signatures import shares

Box = Annotated[
    list[str] | None,
    Option(
        "--in",
        metavar="[NAME=]LOW..HIGH",
        help="In place of --at, the range of a variable, looked at magnitude by magnitude: 1e-300..1e300. Repeat for "
        "more.",
    ),
    Fact(OptionKind.RANGES),
]


@shares(output_options, remark_options, budget_options, exit_options)
def improve(expression: Expression, at: At = None, box: Box = None, wrt: Wrt = None, dtype: Dtype = None) -> None:
    """The form of a function that loses the fewest digits.

    Other forms of the function are searched and measured, at a point and around it, at each element of the values of
    an elementwise function, or with --in over a range, magnitude by magnitude. Prints the bits that value and
    derivatives lose before and after, where one form takes over from another, and whether the two are proved to be
    the same function or only enclosed; over a range also whether that holds at every point, how many bits the form
    loses at most, and from where on digits stay lost. Exits with 1 if digits are lost and no better form was found,
    or if the better form still loses more than a check lets pass at a point or in a part of the range. In --format
    plain, the form alone, and what was typed where there is no better one.

    \b
    Examples:
      gradcli improve "(1 - cos(x))/x" --at 1e-8
      gradcli improve "sqrt(x**2 + 1) - x" --in x=-1e300..1e300
      gradcli improve "(-b + sqrt(b*b - 4*a*c))/(2*a)" --at a=1 --at c=1 --in b=-1e9..-10 --format plain
    """
