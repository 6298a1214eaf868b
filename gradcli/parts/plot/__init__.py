"""A function and its derivative as curves, with kinks and poles; over two variables, a map.

plot, shell                      the command, its help and its options
respelled_plots                  plots that may be meant by a line that cannot be read
moving_function                  a question whose values move along a line or in a plane
plot_document                    the plot, and the places that are listed below it
drawn_curves                     curves as data, without places
proved_places, proved_stretches  where torch's numbers are proved, and places of that check; a strip below the curves
panels                           which curves share a vertical axis
characters                       curves and maps on a terminal, in Braille
curve_figures, map_figures       the same in files, by matplotlib
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gradcli.parts import is_listed
from gradcli.parts.command import Command
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from rich.text import Text

    from gradcli.parts.figures import Drawing, Theme
    from gradcli.parts.plot.characters import Painted
    from gradcli.parts.plot.curve_figures import DrawnStrip
    from gradcli.questions.bound_function import BoundFunction
    from gradcli.report.document import Screen
    from gradcli.results import Plot

_STATIONARY = ("critical", "critical-points", "stationary")
"""Commands that solve for where a derivative is 0."""

_COMMANDS = {
    "plot": Command(
        "plot",
        "Look closer",
        "gradcli.parts.plot.shell:plot",
        "gradcli.parts.plot.plot:plot",
        lacks=("latex", "plain", "npy", "npz"),
        other_names=("draw",),
        near=(*_STATIONARY, "visualize", "contour"),
        elsewhere=tuple(
            (name, "gradcli solves no equation, and a plot shows where dy/dx is 0") for name in _STATIONARY
        ),
        respelled="gradcli.parts.plot.respelled_plots:respelled",
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


def curves_over(bound: BoundFunction, low: float, high: float) -> Plot | None:
    """Compute y and its derivative over a range of its one variable, without places; None of a range that is not drawn.

    Args:
        bound: A function of one element, by a variable of one.
        low: The lower end.
        high: The upper end.
    """
    from gradcli.parts.plot import drawn_curves

    return drawn_curves.curves_over(bound, low, high)


def text_curves(plot: Plot, screen: Screen, strip: Callable[[int], Text]) -> Iterator[Text]:
    """Draw curves with characters, and below them so many as `strip` makes."""
    from gradcli.parts.plot import characters

    return characters.chart(plot, screen, strip)


def text_plane(
    x: tuple[float, float], y: tuple[float, float], painted: Callable[[tuple[int, int]], Painted], screen: Screen
) -> Iterator[Text]:
    """Draw a plane in a frame with the two axes; `painted` has the signs and styles of so many lines and columns."""
    from gradcli.parts.plot import characters

    return characters.framed(x, y, painted, screen)


def columns_of(words: Sequence[str]) -> int:
    """Choose the columns of a legend, so that its entries fit next to each other."""
    from gradcli.parts.plot import curve_figures

    return curve_figures.columns_of(words)


def draw_curves(figure: Drawing, plot: Plot, theme: Theme, strip: DrawnStrip) -> None:
    """Draw curves in a figure, and below them a strip, which returns what the legend lists."""
    from gradcli.parts.plot import curve_figures

    curve_figures.draw_curves(figure, plot, theme, strip)
