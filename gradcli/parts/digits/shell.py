"""The command `digits`: its help, its options, and its answer."""

import math
from typing import Annotated

from typer import Argument, Option


def digits(
    expression: Annotated[str, Argument(metavar="EXPR", help="The function of one variable, such as x**2.")],
    at: Annotated[str, Option("--at", metavar="VALUE", help="The value of its variable, such as 3 or 1,2.")],
) -> str:
    """How many digits of torch's value are right.

    Compares the value with its enclosure, by the element that lost most.

    \b
    Examples:
      gradcli digits "1 - cos(x)" --at 1e-4
    """
    from gradcli.function import Function

    check = Function(expression).eval(at).check
    error = check.max_relative_error if check is not None else None
    if error is None:
        return "unknown\n"
    return f"{16 if error == 0 else max(0, math.floor(-math.log10(error)))} of 16\n"
