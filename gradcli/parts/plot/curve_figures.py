"""Plots as figures in files: curves with the formula and the marks of singular places, and maps with arrows."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from gradcli import results
from gradcli.parts import is_listed
from gradcli.parts.plot.characters import Panel, panels
from gradcli.report.appearance import Appearance
from gradcli.report.heat_maps import largest

if is_listed("figures"):  # else nothing asks for a figure
    from gradcli.parts.figures import figure_file, plain_title, scale, size

MOST_INSIDE = 4
"""Most curves whose legend stands among them."""

USUAL = 0.02, 0.98
"""Quantiles of y at the ends of the colours of a map: what is beyond may be on the way to a pole."""

Drawing = Any
"""A figure, or its axes, of the library that draws."""


def write_figure(answer: results.Plotted, shown: Appearance, file: BinaryIO) -> None:
    """Draw curves or a map as svg, png or pdf, on light or dark ground.

    Raises:
        InputError: matplotlib is not installed.
    """

    def draw(figure: Drawing, colors: Mapping[str, str]) -> None:
        match answer:
            case results.Plot():
                _draw_curves(figure, answer, colors)
            case results.PlotMap():
                _draw_map(figure, answer, colors)

    _ = file.write(figure_file(draw, shown.form, shown.theme))


def _draw_curves(figure: Drawing, plot: results.Plot, colors: Mapping[str, str]) -> None:
    shown = panels(plot)
    width, height = size()
    figure.set_size_inches(width, height * (1.0 if len(shown) == 1 else 1.5))
    axes = figure.subplots(len(shown), sharex=True, squeeze=False)[:, 0]
    for ax, panel in zip(axes, shown, strict=True):
        _draw_panel(ax, plot, panel, colors)
    axes[-1].set_xlabel(plot.variable, style="italic")
    _titled(axes[0], plot)


def _titled(ax: Drawing, plot: results.Plotted) -> None:
    from matplotlib.mathtext import MathTextParser

    title = "" if plot.formula is None else f"${plot.output} = {plot.formula.latex}$".replace(r"\frac", r"\dfrac")
    with contextlib.suppress(ValueError):  # mathtext knows no cases
        MathTextParser("path").parse(title)
        ax.set_title(title, va="bottom")
    if not ax.get_title():
        ax.set_title(plain_title(plot), family="monospace")


def _draw_panel(ax: Drawing, plot: results.Plot, panel: Panel, colors: Mapping[str, str]) -> None:
    x = plot.points
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(panel.low, panel.high)
    ax.axhline(0, color=colors["faint"], linewidth=0.6, zorder=0)
    ax.spines[["top", "right"]].set_visible(False)
    has_several = any(curve.element for curve in plot.curves)
    for curve in panel.curves:
        color = f"C{curve.element}" if has_several else colors[str(curve.order)]
        line = {"color": color, "linestyle": ("-", "--", ":")[curve.order]}
        ax.plot(x, curve.values, label=curve.label.pretty, gid=f"curve {curve.column}", **line)
        if curve.error is not None:
            band = (curve.values - curve.error, curve.values + curve.error)
            ax.fill_between(x, *band, color=line["color"], alpha=0.25, linewidth=0, gid="band")
    for n, span in enumerate(plot.spans):
        label = None if span.kind in [one.kind for one in plot.spans[:n]] else span.kind
        shade = {"color": colors["faint"], "alpha": 0.18, "linewidth": 0, "zorder": -1, "label": label}
        ax.axvspan(span.low, span.high, gid=span.kind, **shade)
    for mark in plot.marks:
        heights = sorted({limit for limit in mark.value if math.isfinite(limit)})
        if mark.kind == "pole" or not heights:
            ax.axvline(mark.place, color=colors["faint"], linewidth=0.8, linestyle=(0, (2, 3)), gid=mark.kind)
        elif panel.curves[0].order == 0:
            color = f"C{mark.element}" if has_several else colors["0"]
            inside = colors["back"] if mark.kind in ("jump", "removable", "edge") else color
            places = [mark.place] * len(heights)
            look = {"markersize": 5, "markeredgecolor": color, "markerfacecolor": inside, "zorder": 3}
            ax.plot(places, heights, "o", gid=mark.kind, **look)
    for one in plot.tangents if panel.curves[0].order == 0 else ():
        ax.axline((one.place, one.value), slope=one.slope, color=colors["faint"], linewidth=1, gid="tangent")
        ax.plot(one.place, one.value, "o", markersize=4, color=colors["ink"])
    outside = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} if len(panel.curves) > MOST_INSIDE else {}
    ax.legend(frameon=False, **outside)


def _draw_map(figure: Drawing, plot: results.PlotMap, colors: Mapping[str, str]) -> None:
    ax = figure.subplots()
    (across, x), (up, y) = plot.axes.items()
    factor, per_scale = scale(largest(plot.values))
    values = np.ma.masked_invalid(plot.values / factor)
    low, high = np.quantile(values.compressed(), USUAL) if values.count() else (0, 1)
    levels = np.linspace(low, high if high > low else low + 1, 21)
    found = ax.contourf(x, y, values, levels=levels, cmap="cividis", extend="both")
    ax.contour(x, y, values, levels=levels[::2], colors=colors["ink"], linewidths=0.4, alpha=0.6)
    figure.colorbar(found, ax=ax, label=plot.output + per_scale)
    step = slice(len(x) // 24, None, len(x) // 12)
    most = max(map(largest, plot.gradient.values())) or 1.0
    slopes = [plot.gradient[name][step, step] / most for name in plot.axes]
    length = np.hypot(*slopes)
    arrows = [slope / np.where(length > 0, length, 1) for slope in slopes]
    ax.quiver(x[step], y[step], *arrows, angles="xy", color="white", pivot="mid", scale=28, width=0.003)
    ax.plot(*plot.singular.T, ".", markersize=1.5, color="#ff5a36")
    ax.set_xlabel(across, style="italic")
    ax.set_ylabel(up, style="italic")
    _titled(ax, plot)
