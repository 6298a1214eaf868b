"""The chain rule step by step, and the backward graph as torch builds it.

explain          each line with its value, each adjoint with the line of the gradient that makes it
graph            the nodes and the tensors after the backward pass
shell            the commands, their helps and their options
"""

from __future__ import annotations

from gradcli.parts.command import Command
from gradcli.parts.part import Part

_COMMANDS = {
    "explain": Command(
        "explain",
        "Look closer",
        "gradcli.parts.explain.shell:explain",
        "gradcli.parts.explain.explain:explain",
        pictures=("svg",),
    ),
    "graph": Command(
        "graph",
        "Look closer",
        "gradcli.parts.explain.shell:graph",
        "gradcli.parts.explain.graph:graph",
        answer="gradcli.cli.commands:answer_as_drawing",
        lacks=("csv", "tsv", "plain", "npy"),
        pictures=("svg",),
    ),
}


class ExplainPart(Part):
    """The chain rule, and the backward graph."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]


PART = ExplainPart()
