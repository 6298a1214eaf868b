"""Plots as figures in files, by matplotlib: labels with the formula, the marks of singular places, light or dark."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli import results
from gradcli.errors import InputError
from gradcli.report import wording
from gradcli.report.pictures.characters import Panel, panels
from gradcli.report.pictures.heat_maps import largest, matrices

THEMES: Mapping[str, Mapping[str, str]] = {
    "light": {"back": "white", "ink": "#1b1f24", "faint": "#8a929c", "0": "#0b62b8", "1": "#c2410c", "2": "#6d28d9"},
    "dark": {"back": "#14181d", "ink": "#e6e9ed", "faint": "#7d8792", "0": "#63b3ff", "1": "#ff9d5c", "2": "#c4a5ff"},
}
"""Colours of a figure: the ground, the frame and the words, and the curves by order."""

SIZE = 6.4, 4.0
"""Inches of a figure with one panel."""

STYLE: Mapping[str, object] = {
    "font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans", "font.size": 10, "axes.titlesize": 11,
    "lines.linewidth": 1.6, "svg.hashsalt": "gradcli", "pdf.fonttype": 42,
}  # fmt: skip

WIDEST, MOST_INSIDE = 58, 4
"""Most letters of a title; most curves whose legend stands among them."""

USUAL = 0.02, 0.98
"""Quantiles of y at the ends of the colours of a map: what is beyond may be on the way to a pole."""

FARTHEST = 1e100
"""The size from which on numbers are divided by a power of ten, as matplotlib computes with their differences."""

MOST_DOTS = 4_096
"""Most elements of a block whose proven zeros are dotted."""


Drawing = Any
"""A figure, or its axes, of the library that draws."""


def require_matplotlib() -> None:
    """Refuse a figure where matplotlib is not installed.

    Raises:
        InputError: It is not.
    """
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        hint = "pip install 'gradcli[plot]'; without -o the plot is drawn on the terminal"
        raise InputError("a figure is drawn by matplotlib, which is not installed", hint=hint) from None


def figure(answer: Drawing, form: str, theme: str) -> bytes:
    """Draw curves, a map, or the matrices of a Jacobian or a Hessian as svg, png or pdf, on light or dark ground.

    Raises:
        InputError: matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    colors = THEMES[theme]
    inks = ("axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "text.color", "xtick.color", "ytick.color")
    grounds = ("axes.facecolor", "figure.facecolor", "savefig.facecolor")
    style: Any = {**STYLE, **dict.fromkeys(inks, colors["ink"]), **dict.fromkeys(grounds, colors["back"])}
    file = io.BytesIO()
    with mpl.rc_context(style), np.errstate(all="ignore"):
        drawn = Figure(SIZE, layout="constrained")
        match answer:
            case results.Plot():
                _draw_curves(drawn, answer, colors)
            case results.PlotMap():
                _draw_map(drawn, answer, colors)
            case results.Jacobian() | results.Hessian():
                _draw_matrices(drawn, answer, colors)
        date = {"svg": "Date", "pdf": "CreationDate"}.get(form)  # the same picture is the same file
        drawn.savefig(file, format=form, dpi=200, metadata={date: None} if date else None)
    return file.getvalue()


def _draw_curves(figure: Drawing, plot: results.Plot, colors: Mapping[str, str]) -> None:
    shown = panels(plot)
    figure.set_size_inches(SIZE[0], SIZE[1] * (1.0 if len(shown) == 1 else 1.5))
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
        ax.set_title(_shortened(plot), family="monospace")


def _shortened(answer: Drawing) -> str:
    """Write the function in a line that fits, and is no formula to matplotlib."""
    words = wording.statement(answer)
    return (f"{words[: WIDEST - 1]}…" if len(words) > WIDEST else words).replace("$", r"\$")


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
    scale, per_scale = _scale(largest(plot.values))
    values = np.ma.masked_invalid(plot.values / scale)
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


def _scale(most: float) -> tuple[float, str]:
    """Choose the factor to divide numbers by that are near the ends of float64, and the words for it; else 1."""
    if 1 / FARTHEST < most < FARTHEST or not most:
        return 1.0, ""
    power = max(-300, math.floor(math.log10(most)))
    return 10.0**power, f" / 1e{power}"


def _draw_matrices(figure: Drawing, answer: results.Jacobian | results.Hessian, colors: Mapping[str, str]) -> None:
    """Draw the blocks next to each other on one symmetric scale; zeros that the formula proves are dotted."""
    blocks, most = matrices(answer)
    scale, per_scale = _scale(most)
    limit = most / scale or 1
    sizes = [row[0].numbers.shape[0] for row in blocks], [one.numbers.shape[1] for one in blocks[0]]
    heights, widths = ([max(size, sum(along) / 12, 1) for size in along] for along in sizes)
    ratios = {"height_ratios": heights, "width_ratios": widths}
    axes = figure.subplots(len(blocks), len(blocks[0]), squeeze=False, **ratios)
    look = {"cmap": "RdBu_r", "aspect": "auto", "interpolation": "nearest"}
    for row, line in zip(blocks, axes, strict=True):
        for one, ax in zip(row, line, strict=True):
            ax.set_facecolor("#d63fd6")  # numbers that are not finite
            numbers = one.numbers if one.numbers.size else np.zeros((1, 1))
            image = ax.imshow(np.ma.masked_invalid(numbers / scale), vmin=-limit, vmax=limit, **look)
            if one.is_open.size <= MOST_DOTS:
                ax.plot(
                    *np.nonzero((one.is_open == 0) & (one.numbers == 0))[::-1], ".", color=colors["faint"], markersize=3
                )
            ax.set_title(one.label.pretty + f": {' x '.join(map(str, one.numbers.shape))}" * (not one.numbers.size))
            ax.locator_params(integer=True, min_n_ticks=1)
    is_finite = all(np.isfinite(one.numbers).all() for row in blocks for one in row)
    remarks = [f"entries{per_scale}"] * bool(per_scale) + ["magenta: not finite"] * (not is_finite)
    figure.colorbar(image, ax=axes, label="; ".join(remarks))
    figure.suptitle(_shortened(answer), family="monospace")
