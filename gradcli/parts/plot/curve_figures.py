"""Curves as figures in files: y and its derivatives, the marks of singular places, a legend for each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from gradcli import results
from gradcli.notation import PARTIAL, Named, Notation, second
from gradcli.parts import is_listed
from gradcli.parts.plot.map_figures import draw_map
from gradcli.parts.plot.panels import Panel, ends, panels
from gradcli.parts.plot.proved_stretches import draw_strip
from gradcli.report.appearance import Appearance

if is_listed("figures"):  # else nothing asks for a figure
    from gradcli.parts.figures import figure_file, mathematics, set_title, size
if TYPE_CHECKING:
    from gradcli.parts.figures import Drawing, Theme

    DrawnStrip = Callable[[Drawing, Theme], Iterable[tuple[str, Drawing]]]

COLUMNS, LETTERS = 4, 78
"""Most entries of a legend next to each other, and most letters of these, each with a sign as wide as eight."""

STRIP_HEIGHT = 0.09
"""Height of a strip below the panels, as a part of theirs."""

LINES = ("-", "--", ":", "-.")
"""Kinds of lines of y and its derivatives in one panel, or of elements of y."""

MARKERS = {"edge": "s", "vertical": "D", "nan-trap": "X"}
"""Shapes of marks that are no circles."""

WORDS = {
    "kink": "kink",
    "jump": "jump",
    "pole": "pole",
    "removable": "hole",
    "edge": "end of the domain",
    "vertical": "slope without bound",
    "undefined": "no limit",
    "nan-trap": "torch: NaN at a point",
    "curvature": "jump",
}
"""Kinds of marks in a legend."""

RANGE_WORDS = {
    "undefined": "no value",
    "overflow": "beyond torch's numbers",
    "nan-trap": "torch: NaN",
    "inaccurate": "digits are lost",
    "crowded": "too many places to tell apart",
}
"""Kinds of ranges in a legend."""


HATCHES = {"undefined": "///", "overflow": "|||", "crowded": "xxx"}
"""Hatches of ranges without numbers."""


def write_figure(answer: results.Plotted, shown: Appearance, file: BinaryIO) -> None:
    """Draw curves or a map as svg, png or pdf, on light or dark ground.

    Raises:
        InputError: matplotlib is not installed.
    """

    def draw(figure: Drawing, theme: Theme) -> None:
        match answer:
            case results.Plot():
                _CurveFigure(answer, theme).draw(figure)
            case results.PlotMap():
                draw_map(figure, answer, theme)

    _ = file.write(figure_file(draw, shown.form, shown.theme))


def columns_of(words: Sequence[str]) -> int:
    """Choose the columns of a legend, so that its entries fit next to each other."""
    widest = max((len(one) - one.count("\\partial") * 7 for one in words), default=1)
    return max(1, min(COLUMNS, len(words), LETTERS // (widest + 8)))


def draw_curves(figure: Drawing, plot: results.Plot, theme: Theme, strip: DrawnStrip) -> None:
    """Draw curves, and below them a strip, which returns what the legend lists."""
    _CurveFigure(plot, theme).draw(figure, strip)


@dataclass
class _CurveFigure:
    """A figure of curves as it is drawn.

    Attributes:
        plot: The curves.
        theme: The colours.
        legend: What is drawn, by its words; of several together, each that looks different.
    """

    plot: results.Plot
    theme: Theme
    legend: dict[str, dict[str, Drawing]] = field(default_factory=dict)

    @property
    def has_several(self) -> bool:
        """Tell whether y has several elements, which have a colour each; else each derivative has one."""
        return any(curve.element for curve in self.plot.curves)

    def color(self, order: int, element: int) -> str:
        """Choose the colour of a curve, the same in all panels and in the legend."""
        return self.theme.elements[element] if self.has_several else self.theme.orders[order]

    def listed(self, words: str, drawn: Drawing, look: str = "") -> None:
        """List something in the legend, which has curves, then marks, then ranges."""
        self.legend.setdefault(words, {}).setdefault(look, drawn)

    def draw(self, figure: Drawing, strip: DrawnStrip | None = None) -> None:
        """Draw the panels, below them a strip if there is one, and the legend; by default that of proved stretches."""
        if strip is None and self.plot.stretches:
            strip = partial(draw_strip, self.plot)
        shown = panels(self.plot)
        width, height = size()
        figure.set_size_inches(width, height * (0.5 + 0.5 * len(shown)))
        heights = [1.0] * len(shown) + [STRIP_HEIGHT] * (strip is not None)
        axes = figure.subplots(len(heights), sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for draw in (self.draw_frame, self.draw_curves, self.draw_marks, self.draw_ranges):
            for ax, panel in zip(axes[: len(shown)], shown, strict=True):
                draw(ax, panel, len(shown) == 1)
        for words, drawn in strip(axes[-1], self.theme) if strip else ():
            self.listed(words, drawn)
        figure.align_ylabels(axes)
        axes[-1].set_xlabel(mathematics(Named(self.plot.variable)))
        set_title(axes[0], self.plot, self.plot.formula)
        self.draw_legend(figure)

    def draw_legend(self, figure: Drawing) -> None:
        """Write the legend below the axes, where it hides no curve."""
        from matplotlib.legend_handler import HandlerTuple

        handles = [tuple(looks.values()) for looks in self.legend.values()]
        figure.legend(
            [one if len(one) > 1 else one[0] for one in handles],
            list(self.legend),
            loc="outside lower center",
            ncols=columns_of(list(self.legend)),
            frameon=False,
            borderaxespad=0.2,
            handler_map={tuple: HandlerTuple(ndivide=None)},
        )

    def draw_frame(self, ax: Drawing, panel: Panel, is_alone: bool) -> None:
        """Draw the axes; each of several panels has a name."""
        ax.set_xlim(self.plot.points[0], self.plot.points[-1])
        ax.set_ylim(panel.low, panel.high)
        ax.axhline(0, color=self.theme.faint, linewidth=0.6, zorder=0)
        ax.spines[["top", "right"]].set_visible(False)
        if not is_alone:
            ax.set_ylabel(mathematics(_derivative(self.plot, panel.curves[0].order)))

    def draw_curves(self, ax: Drawing, panel: Panel, is_alone: bool) -> None:
        """Draw torch's numbers, and the truth where they lose digits."""
        for curve in panel.curves:
            self.draw_curve(ax, curve, is_alone=is_alone)

    def draw_curve(self, ax: Drawing, curve: results.Curve, *, is_alone: bool) -> None:
        """Draw torch's numbers, and the truth where they lose digits."""
        color, words = self.color(curve.order, curve.element), mathematics(curve.label)
        kind = LINES[curve.element % len(LINES)] if self.has_several else LINES[curve.order if is_alone else 0]
        has_truth = curve.truth is not None
        name = f"curve {curve.column}"
        (line,) = ax.plot(
            self.plot.points, curve.values, kind, color=color, linewidth=0.9 if has_truth else None, gid=name
        )
        if curve.order == 0 or not self.has_several:
            self.listed(f"{words}, torch" if has_truth else words, line)
        if has_truth:
            look = {"color": self.theme.ink, "linewidth": 1.3, "gid": f"truth {curve.column}"}
            (line,) = ax.plot(self.plot.points, curve.truth, "-", **look)
            self.listed("truth", line)

    def draw_marks(self, ax: Drawing, panel: Panel, is_alone: bool) -> None:
        """Draw the tangents, and what is marked on the curves of a panel."""
        orders = {curve.order for curve in panel.curves}
        for one in self.plot.tangents if 0 in orders else ():
            ink = self.theme.ink
            line = ax.axline((one.place, one.value), slope=one.slope, color=ink, linewidth=0.9, zorder=1, gid="tangent")
            ax.plot(one.place, one.value, "o", markersize=4, color=ink, gid="touched")
            self.listed("tangent", line)
        for mark in self.plot.marks:
            self.draw_mark(ax, panel, mark, orders)

    def draw_ranges(self, ax: Drawing, panel: Panel, is_alone: bool) -> None:
        """Shade the ranges, in each panel."""
        for span in self.plot.spans:
            self.draw_range(ax, span)

    def draw_range(self, ax: Drawing, span: results.MarkedRange) -> None:
        """Shade a range; hatched is one without values."""
        theme = self.theme
        look: dict[str, object] = {"color": theme.trap if span.kind == "nan-trap" else theme.faint, "alpha": 0.14}
        if span.kind in HATCHES:
            hatch = HATCHES[span.kind]
            look = {"facecolor": "none", "edgecolor": theme.faint, "hatch": hatch, "alpha": 0.35}
        drawn = ax.axvspan(span.low, span.high, linewidth=0, zorder=-1, gid=span.kind, **look)
        self.listed(RANGE_WORDS[span.kind], drawn)

    def draw_mark(self, ax: Drawing, panel: Panel, mark: results.Mark, orders: set[int]) -> None:
        """Mark a place on the curves that have limits there, else by a line across the panel."""
        words = WORDS[mark.kind]
        if mark.kind == "curvature":
            words = f"{words} of {mathematics(_derivative(self.plot, 2))}"
        if mark.kind in ("pole", "undefined") or not any(map(math.isfinite, mark.value)):
            line = {"linewidth": 1.0, "linestyle": (0, (6, 4) if mark.kind == "pole" else (1, 2))}
            self.listed(words, ax.axvline(mark.place, color=self.theme.faint, gid=mark.kind, zorder=0.5, **line))
            return
        for order, height, is_filled in ends(mark):
            if order not in orders or not panel.low <= height <= panel.high:
                continue
            color = self.theme.trap if mark.kind == "nan-trap" else self.color(order, mark.element)
            (drawn,) = ax.plot(
                [mark.place],
                [height],
                MARKERS.get(mark.kind, "o"),
                gid=f"{mark.kind} {'filled' if is_filled else 'open'}",
                color=color,
                markerfacecolor=color if is_filled else self.theme.back,
                markersize=5,
                zorder=3 + is_filled,
                clip_on=False,
            )
            self.listed(words, drawn, f"{order} {is_filled}")


def _derivative(plot: results.Plot, order: int) -> Notation:
    """Name y or a derivative, without the number of an element."""
    y, x = Named(plot.output), Named(plot.variable)
    return (y, PARTIAL(y, x), second(y, x, x))[order]
