"""A figure of matplotlib, light or dark, as the bytes of a file."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import InputError
from gradcli.parts.figures.themes import THEMES, Drawing, Theme

SIZE = 6.4, 4.0
"""Inches of a figure with one panel."""

FONT_SIZE = 11.0
"""Size of letters, in points."""

STYLE: Mapping[str, object] = {
    "font.family": ["STIXGeneral", "DejaVu Sans"], "mathtext.fontset": "stix", "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE + 2, "axes.labelsize": FONT_SIZE + 1, "axes.formatter.use_mathtext": True,
    "lines.linewidth": 1.6, "svg.hashsalt": "gradcli", "pdf.fonttype": 42,
}  # fmt: skip
"""One font for words, numbers and formulas."""

MARGIN = 0.1
"""Inches around a figure."""

UNSCALED = 1e-3, 1e5
"""Sizes of the largest number between which a bar of colours has the numbers themselves."""

FARTHEST = 1e100
"""The size from which on numbers are divided by a power of ten, as matplotlib computes with their differences."""


def require_matplotlib() -> None:
    """Refuse a figure where matplotlib is not installed.

    Raises:
        InputError: It is not.
    """
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        hint = "pip install 'gradcli[plot]'"
        raise InputError("a figure is drawn by matplotlib, which is not installed", hint=hint) from None


def figure_file(draw: Callable[[Drawing, Theme], None], form: str, theme: str) -> bytes:
    """Draw a figure as svg, png or pdf, on light or dark ground.

    Raises:
        InputError: matplotlib is not installed.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    colors = THEMES[theme or "light"]
    inks = ("axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "text.color", "xtick.color", "ytick.color")
    grounds = ("axes.facecolor", "figure.facecolor", "savefig.facecolor")
    style: Any = {**STYLE, **dict.fromkeys(inks, colors.ink), **dict.fromkeys(grounds, colors.back)}
    file = io.BytesIO()
    with mpl.rc_context(style), np.errstate(all="ignore"):
        drawn = Figure(SIZE, layout=ConstrainedLayoutEngine(w_pad=MARGIN, h_pad=MARGIN))
        draw(drawn, colors)
        date = {"svg": "Date", "pdf": "CreationDate"}.get(form)  # the same picture is the same file
        drawn.savefig(file, format=form, dpi=200, metadata={date: None} if date else None)
    return file.getvalue()


def scale(most: float) -> tuple[float, str]:
    """Choose the factor to divide numbers by that are near the ends of float64, and the words for it; else 1."""
    if 1 / FARTHEST < most < FARTHEST or not most:
        return 1.0, ""
    power = max(-300, math.floor(math.log10(most)))
    return 10.0**power, f" / 1e{power}"


def draw_scale(
    figure: Drawing, drawn: Drawing, axes: Drawing, label: str, ticks: Array | None = None, shrink: float = 1.0
) -> None:
    """Draw the bar of colours beside the axes; of very small or large numbers the label has the power of ten."""
    from matplotlib.ticker import FuncFormatter

    bar = figure.colorbar(drawn, ax=axes, label=label, ticks=ticks, shrink=shrink)
    most = max(map(abs, drawn.get_clim()))
    if most and not UNSCALED[0] <= most < UNSCALED[1]:
        power = math.floor(math.log10(most))
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number / 10.0**power:g}".replace("-", "−")))
        bar.set_label(f"{label}, in $10^{{{power}}}$")
