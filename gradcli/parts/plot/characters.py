"""Curves drawn with characters: Braille dots in a frame with ticks, marks of singular places, a legend.

A cell of Braille has two columns of four dots.  A screen that has only ASCII gets one star in place of the dots of a
cell, and of a derivative a point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from rich.text import Text

from gradcli import results
from gradcli.parts.plot.panels import Panel, ends, panels
from gradcli.parts.plot.proved_stretches import strip_legend, strip_text
from gradcli.report.document import Screen
from gradcli.report.heat_maps import largest
from gradcli.report.numbers import digits
from gradcli.results import Array

TINT_NAMES = ("blue", "red", "amber", "green", "purple", "teal", "pink", "grey")
"""Colours of y, its derivatives and its tangent, or of the elements of y."""

Painted = tuple[Any, Any]
"""The signs and the styles of lines of cells."""

HEIGHTS = (8, 20)
"""Fewest and most lines of a panel."""

_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_SIGNS = dict(zip("kink jump pole removable edge vertical undefined nan-trap".split(), "◆●┊●◆◆┊×", strict=True))
_OPEN = {"edge": "◇"}
_SHADED, _STARS = "░", "*.,+"
_DASHED = 3


def ticks(low: float, high: float, most: int) -> list[float]:
    """Choose at most so many numbers with few digits in a range, at equal distances.

    >>> ticks(-1.3, 1.3, 5), ticks(0, 7, 8)
    ([-1.0, -0.5, 0.0, 0.5, 1.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    """
    power = 10.0 ** math.floor(math.log10((high - low) / max(1, most)))
    for step in (power * factor for factor in (1, 2, 5, 10, 20, 50)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [round(n * step, 1 - math.floor(math.log10(step))) + 0.0 for n in range(first, last + 1)]


def chart(plot: results.Plotted, screen: Screen, strip: Callable[[int], Text] | None = None) -> Iterator[Text]:
    """Draw curves or a map with characters; `strip` makes so many of them, which stand below curves."""
    match plot:
        case results.Plot():
            yield from _curves(plot, screen, strip)
        case results.PlotMap():
            yield from _map(plot, screen)


def _curves(plot: results.Plot, screen: Screen, strip: Callable[[int], Text] | None) -> Iterator[Text]:
    """Draw the panels from top to bottom, below them the axis of the variable and the legend."""
    width = min(screen.width or 80, 160)
    shown = panels(plot)
    height = max(HEIGHTS[0], min(HEIGHTS[1], width // 4) // (1 if len(shown) == 1 else 2) + 2)
    labels = [_upward(panel.low, panel.high, height) for panel in shown]
    margin = max(len(label) for panel in labels for label in panel.values()) + 1
    columns = max(8, width - margin - 2)
    for panel, own in zip(shown, labels, strict=True):
        yield from _lines(*_panel(plot, panel, (height, columns), screen), own, margin, screen)
    if strip is None and plot.stretches:
        strip = partial(strip_text, plot, screen=screen)
    if strip is not None:
        yield Text(" " * margin + screen.in_characters("│")) + strip(columns)
    yield from _axis(float(plot.points[0]), float(plot.points[-1]), margin, columns, screen)
    yield _legend(plot, screen)


def _panel(plot: results.Plot, panel: Panel, size: tuple[int, int], screen: Screen) -> Painted:
    """Draw the curves of a panel, and what is marked: a sign and a style for each cell."""
    height, columns = size
    cells, styles, dots = np.full(size, " "), np.full(size, "", dtype="<U16"), np.zeros(size, int)
    zero = _cell(0.0, panel.high, panel.low, height)
    if 0 <= zero < height:
        cells[zero], styles[zero] = "╌", "dim"
    for span in plot.spans:
        if span.kind in ("undefined", "overflow", "nan-trap", "crowded"):
            first, last = (_cell(end, plot.points[0], plot.points[-1], columns) for end in (span.low, span.high))
            cells[:, first : last + 1], styles[:, first : last + 1] = _SHADED, "dim"
    for curve in sorted([*panel.curves, *_tangents(plot, panel), *_truths(panel)], key=lambda one: -one.order):
        own = _dots(plot.points, curve, panel, size)
        dots |= own
        drawn = np.array(_STARS[curve.order]) if screen.ascii else np.vectorize(chr)(0x2800 + dots)
        cells, styles = np.where(own, drawn, cells), np.where(own, _color(curve, plot, screen), styles)
    for mark in plot.marks:
        place = _cell(mark.place, plot.points[0], plot.points[-1], columns)
        if mark.kind == "pole" or not any(map(math.isfinite, mark.value)):
            cells[:, place] = np.where(cells[:, place] == " ", _SIGNS["pole"], cells[:, place])
            continue
        orders = {curve.order for curve in panel.curves}
        for order, end, is_filled in ends(mark):
            row = _cell(end, panel.high, panel.low, height)
            if order != 1 and order in orders and 0 <= row < height:
                cells[row, place] = _SIGNS[mark.kind] if is_filled else _OPEN.get(mark.kind, "○")
                styles[row, place] = "bold"
    return cells, styles


def _lines(cells: Any, styles: Any, labels: Mapping[int, str], margin: int, screen: Screen) -> Iterator[Text]:
    """Write rows of cells next to the vertical axis, which has labels at some of them."""
    for n, (row, own) in enumerate(zip(cells, styles, strict=True)):
        line = Text(labels.get(n, "").rjust(margin) + screen.in_characters("┤" if n in labels else "│"))
        for cell, style in zip(row, own, strict=True):
            line.append(screen.in_characters(str(cell)), str(style))
        yield line


def _cell(value: float, first: float, last: float, count: int) -> int:
    """Find the cell of a value among so many, of which the first and the last have values too; it may be outside."""
    return round(max(-1e6, min(1e6, (value - first) / (last - first) * (count - 1))))


def _dots(points: Array, curve: results.Curve, panel: Panel, size: tuple[int, int]) -> Any:
    """Rasterize a curve in Braille: the dots of each cell, of a derivative dashed; a piece needs two finite ends."""
    height, width = size[0] * 4, size[1] * 2
    x = (points - points[0]) / (points[-1] - points[0]) * (width - 1)
    with np.errstate(invalid="ignore", over="ignore"):
        y = (panel.high - curve.values) / (panel.high - panel.low) * (height - 1)
    dots = np.zeros((height, width), bool)
    for n in range(len(x) - 1):
        if not np.isfinite([y[n], y[n + 1]]).all() or x[n + 1] - x[n] < 1e-6:
            continue
        a, b = np.clip(y[n : n + 2], -height, 2 * height)
        steps = math.ceil(max(abs(b - a), x[n + 1] - x[n])) + 1
        columns = np.rint(np.linspace(x[n], x[n + 1], steps)).astype(int)
        rows = np.rint(np.linspace(a, b, steps)).astype(int)
        kept = (rows >= 0) & (rows < height) & ((columns // 2 + rows // 2) % (1 + curve.order) == 0)
        dots[rows[kept], columns[kept]] = True
    return np.sum(dots.reshape(size[0], 4, -1, 2) * _DOTS[:, None], axis=(1, 3))


def _upward(low: float, high: float, height: int) -> dict[int, str]:
    """Label some rows of so many, the first of which is the highest."""
    return {_cell(place, high, low, height): digits(place) for place in ticks(low, high, height // 3)}


def _axis(low: float, high: float, margin: int, columns: int, screen: Screen) -> Iterator[Text]:
    line, names = list("─" * columns), [" "] * columns
    for most in range(max(3, columns // 9), 0, -1):
        labels = {place: digits(place) for place in ticks(low, high, most)}
        if len(labels) * (1 + max(map(len, labels.values()), default=0)) <= columns:
            break
    for place, label in labels.items():
        column = _cell(place, low, high, columns)
        line[column] = "┬"
        start = max(0, min(columns - len(label), column - len(label) // 2))
        names[start : start + len(label)] = label
    yield Text(screen.in_characters(" " * margin + "└" + "".join(line)))
    yield Text(" " * (margin + 1) + "".join(names).rstrip())


def _legend(plot: results.Plot, screen: Screen) -> Text:
    found = Text("   ")
    signs = [star * 2 for star in _STARS] if screen.ascii else ("⠤⠤", "⠄⠠", "⠁⠠", "⠂ ")
    for curve in plot.curves:
        found.append(signs[curve.order], _color(curve, plot, screen))
        found.append(f" {screen.in_characters(curve.label.pretty)}   ")
    dashed = {"tangent": bool(plot.tangents), "truth": any(curve.truth is not None for curve in plot.curves)}
    for words in (words for words, is_drawn in dashed.items() if is_drawn):
        found.append(signs[_DASHED], screen.tint(TINT_NAMES[_DASHED]))
        found.append(f" {words}   ")
    for words, style in strip_legend(plot, screen):
        found.append(f"{words}   ", style)
    return found


def _color(curve: results.Curve, plot: results.Plot, screen: Screen) -> str:
    """Choose a colour by the element of y where there are several, else by the order of the derivative."""
    has_several = any(one.element for one in plot.curves) and curve.order < _DASHED
    return screen.tint(TINT_NAMES[(curve.element if has_several else curve.order) % len(TINT_NAMES)])


def _tangents(plot: results.Plot, panel: Panel) -> Iterator[results.Curve]:
    """Yield the tangents as dashed curves, in the panel of y."""
    for one in plot.tangents if panel.curves[0].order == 0 else ():
        values = one.value + one.slope * (plot.points - one.place)
        yield replace(panel.curves[0], order=_DASHED, element=one.element, values=values)


def _truths(panel: Panel) -> Iterator[results.Curve]:
    """Yield the true numbers as dashed curves, where digits are lost."""
    for curve in panel.curves:
        if curve.truth is not None:
            yield replace(curve, order=_DASHED, values=curve.truth)


def _on_screen(plot: results.PlotMap, sizes: tuple[int, int]) -> list[Array]:
    """Measure the gradient in cells of a screen, up to a factor that keeps it within float64."""
    most = max(map(largest, plot.gradient.values())) or 1.0
    pairs = zip(plot.axes.items(), sizes, strict=True)
    return [plot.gradient[name] / most * (size / (axis[-1] - axis[0])) for (name, axis), size in pairs]


_SHADES = "░▒▓█"
_ARROWS, _ASCII_ARROWS = "→↗↑↖←↙↓↘", "-/|\\-/|\\"


def framed(
    x: tuple[float, float],
    y: tuple[float, float],
    painted: Callable[[tuple[int, int]], Painted],
    screen: Screen,
) -> Iterator[Text]:
    """Draw a plane in a frame with the two axes; `painted` has the signs and styles of so many lines and columns."""
    width = min(screen.width or 80, 120)
    height = max(HEIGHTS[0], min(24, width * 2 // 7))
    labels = _upward(*y, height)
    margin = max(map(len, labels.values())) + 1
    columns = width - margin - 2
    yield from _lines(*painted((height, columns)), labels, margin, screen)
    yield from _axis(*x, margin, columns, screen)


def _map(plot: results.PlotMap, screen: Screen) -> Iterator[Text]:
    """Draw a map: y as shades, from the least to the largest, arrows of the gradient, and dots where it breaks."""
    (across, x), (up, y) = plot.axes.items()
    ends = [(float(axis[0]), float(axis[-1])) for axis in (x, y)]
    yield from framed(ends[0], ends[1], partial(_map_cells, plot, screen), screen)
    known = plot.values[np.isfinite(plot.values)]
    least, most = (f"{one:.6g}" for one in (known.min(), known.max())) if len(known) else ("nan", "nan")
    levels_named = f"{plot.output} from {least} ({_SHADES[0]}) to {most} ({_SHADES[-1]})"
    kinds = [words for words, found in (("kink", plot.kinks), ("jump, pole or end", plot.breaks)) if len(found)]
    broken = f"; • {', '.join(kinds)}" * bool(kinds)
    yield Text(screen.in_characters(f"   {across} to the right, {up} upward; {levels_named}{broken}"))


def _map_cells(plot: results.PlotMap, screen: Screen, size: tuple[int, int]) -> Painted:
    """Paint y, arrows and places: a sign and a style for each cell."""
    (x, y), (height, columns) = plot.axes.values(), size
    places = np.linspace(len(y) - 1, 0, height), np.linspace(0, len(x) - 1, columns)
    chosen = np.ix_(*(np.rint(one).astype(int) for one in places))
    values, known = plot.values[chosen], plot.values[np.isfinite(plot.values)]
    levels = np.quantile(known, np.arange(1, len(_SHADES)) / len(_SHADES)) if len(known) else known
    cells = np.array(list(_SHADES))[np.searchsorted(levels, np.nan_to_num(values), "right")]
    cells[~np.isfinite(values)] = " "
    arrows = _ASCII_ARROWS if screen.ascii else _ARROWS
    styles = np.full(cells.shape, "cyan", dtype="<U8")
    slopes = _on_screen(plot, (columns, height * 2))
    for row in range(1, height, 4):
        for column in range(4, columns, 9):
            a, b = (slope[chosen][row, column] for slope in slopes)
            if np.isfinite([a, b]).all() and (a or b):
                cells[row, column] = arrows[round(math.atan2(b, a) / math.pi * 4) % 8]
                styles[row, column] = "bold"
    for place in plot.singular:
        there = _cell(place[1], y[-1], y[0], height), _cell(place[0], x[0], x[-1], columns)
        cells[there], styles[there] = "•", "yellow"
    return cells, styles
