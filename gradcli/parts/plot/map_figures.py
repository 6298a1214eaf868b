"""Maps as figures in files: levels of y, arrows of the gradient as long as it is, and the places where it breaks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradcli import results
from gradcli.notation import Named
from gradcli.parts import is_listed
from gradcli.report.heat_maps import largest
from gradcli.results import Array

if is_listed("figures"):  # else nothing asks for a figure
    from gradcli.parts.figures import draw_scale, mathematics, scale, set_title
if TYPE_CHECKING:
    from gradcli.parts.figures import Drawing, Theme

USUAL = 0.02, 0.98
"""Quantiles of y at the ends of the colours: what is beyond may be on the way to a pole."""

LEVELS = 14
"""Most levels of y."""

SKEWED = 8
"""Ratio of a high number of y to the middle one, from which on levels are 1, 2, 5, 10 ..."""

ARROWS, LONGEST = 12, 0.95
"""Arrows along each axis; the quantile of their lengths from which on they are cut."""

KINKS, PLACES = "#ff5a36", "#ff4fd8"
"""Colours of kinks, and of other places, which are seen on all colours of y."""


def draw_map(figure: Drawing, plot: results.PlotMap, theme: Theme) -> None:
    """Draw a map, and below it the legend."""
    ax = figure.subplots()
    _draw_levels(figure, ax, plot, theme)
    handles = [*_draw_arrows(ax, plot, theme), *_draw_places(ax, plot), *_draw_absent(ax, plot, theme)]
    across, up = plot.axes
    ax.set_xlabel(mathematics(Named(across)))
    ax.set_ylabel(mathematics(Named(up)))
    set_title(ax, plot, plot.formula)
    if handles:
        words, place = [one.get_label() for one in handles], "outside lower center"
        figure.legend(handles, words, loc=place, ncols=len(handles), frameon=False, borderaxespad=0.2)


def _draw_levels(figure: Drawing, ax: Drawing, plot: results.PlotMap, theme: Theme) -> None:
    """Fill between levels with few digits, and draw a line at some."""
    from matplotlib.colors import LogNorm

    factor, per_scale = scale(largest(plot.values))
    values = np.ma.masked_invalid(plot.values / factor)
    levels, is_logarithmic = _levels(values.compressed())
    if is_logarithmic:
        values = np.ma.maximum(values, levels[0] / 2)
    known = values.compressed()
    below, above = (known < levels[0]).any(), (known > levels[-1]).any()
    beyond = "both" if below and above else "min" if below else "max" if above else "neither"
    norm = LogNorm() if is_logarithmic else None
    found = ax.contourf(*plot.axes.values(), values, levels=levels, cmap="cividis", norm=norm, extend=beyond)
    ticks = levels if is_logarithmic else levels[np.rint(levels / (levels[1] - levels[0])) % 2 == 0]
    ax.contour(*plot.axes.values(), values, levels=ticks, colors=theme.back, linewidths=0.4, alpha=0.7)
    draw_scale(figure, found, ax, mathematics(Named(plot.output)) + per_scale, ticks=ticks)


def _levels(values: Array) -> tuple[Array, bool]:
    """Choose levels with few digits, and tell whether they are 1, 2, 5, 10 ...: of positive y, most of them small.

    >>> _levels(np.linspace(0, 1, 99))[0]
    array([0. , 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1. ])
    >>> _levels(np.geomspace(1, 100, 99))[0]
    array([  1.,   2.,   5.,  10.,  20.,  50., 100.])
    """
    from matplotlib.ticker import MaxNLocator

    low, middle, high = np.quantile(values, (USUAL[0], 0.5, USUAL[1])) if values.size else (0.0, 0.5, 1.0)
    if low > 0 and values.min() >= 0 and high > SKEWED * middle:
        powers = np.arange(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        levels = np.outer(10.0**powers, [1, 2, 5]).ravel()
        inside = levels[(levels >= low / 2) & (levels <= high * 2)]
        return inside[:: math.ceil(len(inside) / LEVELS)], True
    return np.array(
        MaxNLocator(LEVELS, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high if high > low else low + 1)
    ), False


def _draw_arrows(ax: Drawing, plot: results.PlotMap, theme: Theme) -> list[Drawing]:
    """Draw the gradient, whose size is the length of an arrow, up to a longest one; one below the map is a scale."""
    from matplotlib.lines import Line2D

    x, y = plot.axes.values()
    step = slice(len(x) // (2 * ARROWS), None, len(x) // ARROWS)
    slopes = np.stack([plot.gradient[name][step, step] for name in plot.axes])
    factor, per_scale = scale(largest(slopes))
    slopes = slopes / factor
    lengths = np.hypot(*slopes)
    known = lengths[np.isfinite(lengths) & (lengths > 0)]
    if not len(known):
        return []
    longest = float(np.quantile(known, LONGEST))
    slopes = slopes * np.where(lengths > longest, longest / lengths, 1)
    look: dict[str, object] = {
        "color": "white",
        "edgecolor": "#1b1f24",
        "linewidth": 0.4,
        "width": 0.005,
        "minlength": 0.3,
    }
    most = (ARROWS + 1) * longest
    arrows = ax.quiver(x[step], y[step], *slopes, angles="xy", pivot="mid", scale=most, gid="arrows", **look)
    size = rf"|\nabla {mathematics(Named(plot.output)).strip('$ ')}|"
    words = rf"${size} = {_power(_round(longest))}${per_scale}"
    place = {"labelpos": "W", "coordinates": "axes", "color": theme.ink, "labelcolor": theme.ink}
    ax.quiverkey(arrows, 0.97, -0.14, _round(longest), words, **place)
    if known.max() <= longest * 1.001:
        return []
    return [Line2D([], [], linestyle="", label=rf"longest arrows: ${size} \geq {_power(longest)}${per_scale}")]


def _power(number: float) -> str:
    """Write a number with two digits as mathtext.

    >>> _power(0.25), _power(23456.0)
    ('0.25', '2.3 \\\\cdot 10^{4}')
    """
    digits, _, power = f"{number:.2g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


def _round(size: float) -> float:
    """Choose the largest number with one digit, 1, 2 or 5, that is no larger.

    >>> _round(0.37), _round(1.0), _round(70)
    (0.2, 1.0, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(size) + 1e-12)
    return max(one for one in (power, 2 * power, 5 * power) if one <= size * (1 + 1e-9))


def _draw_places(ax: Drawing, plot: results.PlotMap) -> list[Drawing]:
    """Draw the places where the gradient breaks: those that are kinks for sure, and others."""
    kinds: list[tuple[Array, str, str]] = [
        (plot.kinks, KINKS, "kink"),
        (plot.breaks, PLACES, "jump, pole or end"),
    ]
    found = []
    for places, color, words in kinds:
        if len(places):
            ax.plot(*places.T, ".", markersize=2, color=color, gid=words)
            (key,) = ax.plot([], [], ".", markersize=7, color=color, label=words)
            found.append(key)
    return found


def _draw_absent(ax: Drawing, plot: results.PlotMap, theme: Theme) -> list[Drawing]:
    """Hatch where y has no value."""
    if np.isfinite(plot.values).all():
        return []
    from matplotlib.patches import Patch

    ax.patch.set(hatch="///", edgecolor=theme.faint, facecolor=theme.back, linewidth=0)
    return [Patch(hatch="///", edgecolor=theme.faint, facecolor=theme.back, linewidth=0, label="no value")]
