"""A figure of matplotlib, light or dark, as the bytes of a file."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcli.errors import InputError
from gradcli.report import wording
from gradcli.results import Answer, Plotted

Draw = Callable[[Any, Mapping[str, str]], None]
"""Draws into a figure of matplotlib, with the colours of a theme."""

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

WIDEST = 58
"""Most letters of a title."""

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


def figure_file(draw: Draw, form: str, theme: str) -> bytes:
    """Draw a figure as svg, png or pdf, on light or dark ground.

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
        draw(drawn, colors)
        date = {"svg": "Date", "pdf": "CreationDate"}.get(form)  # the same picture is the same file
        drawn.savefig(file, format=form, dpi=200, metadata={date: None} if date else None)
    return file.getvalue()


def plain_title(answer: Answer | Plotted) -> str:
    """Write the function in a line that fits, and is no formula to matplotlib."""
    words = wording.statement(answer)
    return (f"{words[: WIDEST - 1]}…" if len(words) > WIDEST else words).replace("$", r"\$")


def scale(most: float) -> tuple[float, str]:
    """Choose the factor to divide numbers by that are near the ends of float64, and the words for it; else 1."""
    if 1 / FARTHEST < most < FARTHEST or not most:
        return 1.0, ""
    power = max(-300, math.floor(math.log10(most)))
    return 10.0**power, f" / 1e{power}"
