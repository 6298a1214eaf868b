"""A function and its derivative as curves, with kinks and poles; over two variables, a map.

plot, shell                      the command, its help and its options
"""

from __future__ import annotations

from gradcli.formats import FIGURES
from gradcli.parts.command import Command
from gradcli.parts.part import Part

_COMMANDS = {
    "plot": Command(
        "plot",
        "Look closer",
        "gradcli.parts.plot.shell:plot",
        "gradcli.parts.plot.plot:plot",
        lacks=("latex", "plain", "npy", "npz"),
        pictures=FIGURES,
    ),
}


class PlotPart(Part):
    """Curves and maps."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]


PART = PlotPart()
