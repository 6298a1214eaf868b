"""The strip below curves: where torch's numbers are proved along a line, on a terminal and in files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from gradcli.report.document import Screen
from gradcli.results import Plot, RegionVerdict, Stretch

if TYPE_CHECKING:
    from gradcli.parts.figures import Drawing, Theme

PROVED = ("proved", "near-zero")

MARKED = ("kink", "jump", "pole", "edge")
"""Verdicts on boxes that hold what is marked on the curves."""

NARROW = 2.0**-20
"""Part of the line up to which such a stretch is its mark alone."""

SEEN = 1 / 400
"""Part of the line that a stretch without a proof is drawn as wide as, at least."""

WORDS: Mapping[RegionVerdict, str] = {
    "proved": "torch proved right",
    "open": "not proved",
    "inaccurate": "digits lost, not proved",
    "nan-trap": "torch NaN, not proved",
    "overflow": "overflow, not proved",
    "underflow": "underflow, not proved",
}
"""Verdicts in a legend; others are not proved either, and what is outside of the domain is blank."""

SIGNS: Mapping[RegionVerdict, str] = {
    "proved": "█", "open": "▒", "inaccurate": "░", "nan-trap": "×", "overflow": "↑", "underflow": "↓"
}  # fmt: skip
"""Their signs on a terminal."""

ASCII_SIGNS: Mapping[RegionVerdict, str] = {
    "proved": "=", "open": "?", "inaccurate": "~", "nan-trap": "x", "overflow": "^", "underflow": "v"
}  # fmt: skip


def shown_stretches(plot: Plot) -> list[Stretch]:
    """List what is drawn, in order: what is proved as one, and what is not proved wide enough to be seen."""
    low, length = float(plot.points[0]), float(plot.points[-1] - plot.points[0])
    found: list[Stretch] = []
    for one in plot.stretches:
        if one.verdict == "outside" or (one.verdict in MARKED and one.high - one.low <= NARROW * length):
            continue
        verdict: RegionVerdict = "proved" if one.verdict in PROVED else one.verdict if one.verdict in WORDS else "open"
        if found and found[-1].verdict == verdict and one.low - found[-1].high <= NARROW * length:
            found[-1] = Stretch(verdict, found[-1].low, one.high)
        else:
            found.append(Stretch(verdict, one.low, one.high))
    wide = [one if one.verdict == "proved" else _widened(one, low, length) for one in found]
    return sorted(wide, key=lambda one: one.verdict != "proved")  # what is not proved is drawn over what is


def _widened(one: Stretch, low: float, length: float) -> Stretch:
    reach = max(0.0, SEEN * length - (one.high - one.low)) / 2
    return Stretch(one.verdict, max(low, one.low - reach), min(low + length, one.high + reach))


def legend_of(stretches: Sequence[Stretch]) -> dict[RegionVerdict, str]:
    """List the verdicts that are drawn with their words."""
    drawn = {one.verdict for one in stretches}
    return {verdict: words for verdict, words in WORDS.items() if verdict in drawn}


def strip_text(plot: Plot, columns: int, screen: Screen) -> Text:
    """Draw the strip with so many characters."""
    cells = np.full(columns, " ")
    signs = ASCII_SIGNS if screen.ascii else SIGNS
    low, length = float(plot.points[0]), float(plot.points[-1] - plot.points[0])
    for one in shown_stretches(plot):
        first, last = ((end - low) / length * columns for end in (one.low, one.high + NARROW * length))
        start = min(max(0, math.ceil(first - 0.5)), columns - 1)
        cells[start : max(math.ceil(last - 0.5), start + (one.verdict != "proved"))] = signs[one.verdict]
    found, styles = Text(), {signs[verdict]: _style(verdict, screen) for verdict in WORDS}
    for cell in cells.tolist():
        found.append(cell, styles.get(cell, ""))
    return found


def _style(verdict: RegionVerdict, screen: Screen) -> str:
    return screen.style("good" if verdict == "proved" else "bad" if verdict == "nan-trap" else "open")


def strip_legend(plot: Plot, screen: Screen) -> Iterator[tuple[str, str]]:
    """Yield what the legend says of the strip, with its style."""
    signs = ASCII_SIGNS if screen.ascii else SIGNS
    for verdict, words in legend_of(shown_stretches(plot)).items():
        yield f"{signs[verdict]} {words}", _style(verdict, screen)


def draw_strip(plot: Plot, ax: Drawing, theme: Theme) -> list[tuple[str, Drawing]]:
    """Draw the strip on axes of its own, and return what the legend lists."""
    ax.set_yticks([])
    ax.set_ylim(0, 1)
    ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
    hatched = {"facecolor": theme.back, "linewidth": 0}
    looks: Mapping[RegionVerdict, Mapping[str, object]] = {
        "proved": {"facecolor": theme.elements[2], "alpha": 0.6, "linewidth": 0},
        "open": {**hatched, "edgecolor": theme.faint, "hatch": "////"},
        "inaccurate": {**hatched, "edgecolor": theme.elements[3], "hatch": "////"},
        "nan-trap": {**hatched, "edgecolor": theme.trap, "hatch": "xxxx"},
        "overflow": {**hatched, "edgecolor": theme.elements[1], "hatch": "||||"},
        "underflow": {**hatched, "edgecolor": theme.elements[1], "hatch": "...."},
    }
    stretches = shown_stretches(plot)
    handles: dict[RegionVerdict, Drawing] = {}
    for one in stretches:
        drawn = ax.axvspan(one.low, one.high, gid=f"stretch {one.verdict}", **looks[one.verdict])
        _ = handles.setdefault(one.verdict, drawn)
    return [(words, handles[verdict]) for verdict, words in legend_of(stretches).items()]
