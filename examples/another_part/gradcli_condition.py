"""A part of gradcli from another package: the command `gradcli condition`.

    pip install examples/another_part
    gradcli condition "x - 1" --at 1.001

The entry point in `pyproject.toml` names `PART`; all that a part may supply is in `gradcli.parts.part`.
"""

from typing import Annotated

from typer import Argument, Option

from gradcli.parts.command import Command
from gradcli.parts.part import Part


class ConditionPart(Part):
    """Condition numbers."""

    COMMANDS = ("condition",)

    def command(self, name: str) -> Command:
        """Return the command; its function is imported when the shell asks for it."""
        return Command(name, "Look closer", "gradcli_condition:condition")


def condition(
    expression: Annotated[str, Argument(metavar="EXPR", help="The function of one variable, such as x**2.")],
    at: Annotated[str, Option("--at", metavar="VALUE", help="The value of its variable, such as 3 or 1,2.")],
) -> str:
    """How much a function amplifies relative errors of its input.

    Prints ‖J‖·‖x‖/‖y‖, the relative condition number in the Euclidean norm, and whether J can be trusted.
    """
    import numpy as np

    from gradcli import Function

    answer = Function(expression).jacobian(at)
    (name,) = answer.wrt
    x, y = answer.inputs[name], answer.value
    rows = answer.jacobian[name].reshape(y.size, x.size)
    number = np.linalg.norm(rows, 2) * np.linalg.norm(x) / np.linalg.norm(y)
    return f"condition number: {number:.6g}   J: {answer.check.verdict}\n"


PART = ConditionPart()
