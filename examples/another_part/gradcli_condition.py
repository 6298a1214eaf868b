"""A part of gradcli from another package: the command `gradcli condition`, and the format `verdict`.

    pip install examples/another_part
    gradcli condition "x - 1" --at 1.001
    gradcli grad "x**2" --at 3 --format verdict

The entry point in `pyproject.toml` names `PART`; all that a part may supply is in `gradcli.parts.part`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from gradcli.report import Appearance
    from gradcli.results import Result


class ConditionPart(Part):
    """Condition numbers, and verdicts alone."""

    COMMANDS = ("condition",)

    def command(self, name: str) -> Command:
        """Return the command; its function is imported when the shell asks for it."""
        return Command(name, "Look closer", "gradcli_condition:condition")

    def renderers(self) -> tuple[Renderer, ...]:
        """Return the format; files whose names end with .verdict are written so too."""
        return (Renderer("verdict", "gradcli_condition:verdict", (".verdict",)),)


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


def verdict(answer: "Result", shown: "Appearance") -> Iterator[str]:
    """Write the verdict on an answer, and nothing else."""
    check = getattr(answer, "check", None)
    yield f"{check.verdict if check else 'unchecked'}\n"


PART = ConditionPart()
