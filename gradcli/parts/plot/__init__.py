"""A function and its derivative as curves, with kinks and poles; over two variables, a map.

plot, shell                      the command, its help and its options
moving_question                  a question whose values move along a line or in a plane
plot_document                    the plot, and the places that are listed below it
panels                           which curves share a vertical axis
characters                       curves and maps on a terminal, in Braille
curve_figures, map_figures       the same in files, by matplotlib
"""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.parts import is_listed
from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

_COMMANDS = {
    "plot": Command(
        "plot",
        "Look closer",
        "gradcli.parts.plot.shell:plot",
        "gradcli.parts.plot.plot:plot",
        lacks=("latex", "plain", "npy", "npz"),
    ),
}


class PlotPart(Part):
    """Curves and maps."""

    COMMANDS = tuple(_COMMANDS)

    def command(self, name: str) -> Command:
        """Return one of its commands."""
        return _COMMANDS[name]

    def composers(self) -> Mapping[str, str]:
        """Return what composes curves and maps."""
        return {"Plotted": "gradcli.parts.plot.plot_document:compose_plot"}

    def renderers(self) -> tuple[Renderer, ...]:
        """Return curves and maps as rows, and as files of figures."""
        function = "gradcli.parts.plot.plot_document:csv_rows"
        rows = tuple(Renderer(form, function, answers=("Plotted",)) for form in ("csv", "tsv"))
        if is_listed("figures"):
            from gradcli.parts.figures import figure_kinds

            return (*rows, *figure_kinds("gradcli.parts.plot.curve_figures:write_figure", ("Plotted",), ("plot",)))
        return rows


PART = PlotPart()
