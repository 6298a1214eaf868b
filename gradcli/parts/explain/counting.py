"""The command `count`: its help, its argument, and its answer."""

from collections import Counter
from typing import Annotated

from typer import Argument


def count(expression: Annotated[str, Argument(metavar="EXPR", help="The function, such as x**2.")]) -> str:
    """How often each operation is run forward.

    A line for each, with its name as gradcli functions has it, the most frequent first.

    \b
    Examples:
      gradcli count "y = sin(x); y*y + x*y"
    """
    from gradcli.questions.question import read

    counts = Counter(line.call.op.name for line in read(expression).program.lines)
    return "".join(f"{number:3} {name}\n" for name, number in counts.most_common())
