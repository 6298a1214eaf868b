"""Maps of the regions of a box: a strip under the curves of one number that moves, a plane of two.

On a terminal a verdict has a sign and the colour of its kind; in files it has a colour, and the legend says it in
words.  A region is as wide as a cell at least, and of several in a cell the worst one is seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, get_args

import numpy as np
import numpy.typing as npt
from rich.text import Text

from gradcli.errors import InputError
from gradcli.notation import Named
from gradcli.option_words import option
from gradcli.parts import is_listed
from gradcli.parts.everywhere.region_words import REGIONS, named
from gradcli.report.appearance import Appearance
from gradcli.report.document import Screen
from gradcli.results import BoxChecking, RegionMap, RegionVerdict

if is_listed("plot"):  # else no answer has a map
    from gradcli.parts.plot import columns_of, draw_curves, text_curves, text_plane
if is_listed("figures"):  # else nothing asks for a figure
    from gradcli.parts.figures import figure_file, mathematics, set_title
if TYPE_CHECKING:
    from gradcli.parts.figures import Drawing, Theme

Cells = npt.NDArray[np.intp]
"""Places of verdicts in `PAINTED`."""

SIGNS: Mapping[RegionVerdict, str] = {
    "proved": "█",
    "near-zero": "▓",
    "outside": " ",
    "open": "▒",
    "overflow": "↑",
    "underflow": "↓",
    "edge": "┼",
    "kink": "◇",
    "jump": "•",
    "pole": "│",
    "inaccurate": "░",
    "nan-trap": "×",
    "cut": "%",
    "disagree": "≠",
}
"""Signs of verdicts on a terminal, those first that others are painted over."""

PAINTED = tuple(SIGNS)

CELLS = 400, 240
"""Cells along the sides of a figure."""

assert set(PAINTED) == set(get_args(RegionVerdict)), "each verdict has a sign"  # noqa: S101


def cells_of(shown: RegionMap, size: tuple[int, ...]) -> Cells:
    """Paint the boxes on so many cells along each number that moves."""
    cells = np.zeros(size, np.intp)
    low, high = shown.low.min(axis=1, keepdims=True), shown.high.max(axis=1, keepdims=True)
    count = np.array(size)[:, None]
    with np.errstate(all="ignore"):
        width = np.where(high > low, high - low, 1.0)
        first = np.clip(np.floor((shown.low - low) / width * count + 1e-9), 0, count - 1).astype(int)
        last = np.clip(np.ceil((shown.high - low) / width * count - 1e-9) - 1, first, count - 1).astype(int)
    ranks = np.array([PAINTED.index(one) for one in shown.verdicts])
    for n in np.argsort(ranks, kind="stable"):
        cells[tuple(slice(a, b + 1) for a, b in zip(first[:, n], last[:, n], strict=True))] = ranks[n]
    return cells


def require_map(answer: BoxChecking) -> RegionMap:
    """Return what is drawn.

    Raises:
        InputError: There are statements, or more numbers move than a picture has sides.
    """
    if answer.map is None:
        message = "a picture is of the regions of a box, in one or two numbers that move"
        hint = (
            f"leave out {option('prove')}" if answer.proofs else f"give the others values: {option('at', 'NAME=VALUE')}"
        )
        raise InputError(message, hint=hint)
    return answer.map


# -- on a terminal


def chart(answer: BoxChecking, screen: Screen) -> Iterator[Text]:
    """Draw the map with characters, and below it what the signs mean."""
    shown = require_map(answer)
    styles = {one: screen.style(REGIONS[one][1]) for one in PAINTED}

    def strip(columns: int) -> Text:
        found = Text()
        for rank in cells_of(shown, (columns,)):
            found.append(screen.in_characters(SIGNS[PAINTED[rank]]), styles[PAINTED[rank]])
        return found

    def plane(size: tuple[int, int]) -> tuple[object, object]:
        cells = cells_of(shown, size[::-1]).T[::-1]
        signs, looks = np.array(list(SIGNS.values())), np.array([styles[one] for one in PAINTED])
        return signs[cells], looks[cells]

    if len(shown.names) == 1:
        if shown.curves is not None:
            yield from text_curves(shown.curves, screen, strip)
        else:
            yield strip(screen.width or 80)
    else:
        low, high = shown.low.min(axis=1).tolist(), shown.high.max(axis=1).tolist()
        yield from text_plane((low[0], high[0]), (low[1], high[1]), plane, screen)
        across, up = shown.names
        yield Text(f"   {across} to the right, {up} upward")
    legend = Text("   ")
    for one in answer.regions:
        words = screen.in_characters(f"{SIGNS[one.verdict]} {named(one)}   ")
        if len(legend) + len(words) > (screen.width or 80):
            yield legend
            legend = Text("   ")
        legend.append(words, styles[one.verdict])
    yield legend


# -- in files


def write_figure(answer: BoxChecking, shown: Appearance, file: BinaryIO) -> None:
    """Write the map as svg, png or pdf.

    Raises:
        InputError: There is none, or matplotlib is not installed.
    """
    found = require_map(answer)
    draw = partial(_draw_line if len(found.names) == 1 else _draw_plane, answer, found)
    _ = file.write(figure_file(draw, shown.form, shown.theme))


def _draw_line(answer: BoxChecking, shown: RegionMap, figure: Drawing, theme: Theme) -> None:
    def strip(axes: Drawing, theme: Theme) -> list[tuple[str, Drawing]]:
        low, high = float(shown.low.min()), float(shown.high.max())
        _paint(axes, cells_of(shown, CELLS[:1])[None], (low, high, 0.0, 1.0), theme)
        axes.set_yticks([])
        axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
        return _legend(answer, theme)

    if shown.curves is not None:
        draw_curves(figure, shown.curves, theme, strip)
        return
    axes = figure.subplots()
    handles = strip(axes, theme)
    axes.set_xlabel(mathematics(Named(shown.names[0])))
    set_title(axes, answer)
    _list(figure, handles)


def _draw_plane(answer: BoxChecking, shown: RegionMap, figure: Drawing, theme: Theme) -> None:
    axes = figure.subplots()
    low, high = shown.low.min(axis=1).tolist(), shown.high.max(axis=1).tolist()
    _paint(axes, cells_of(shown, CELLS).T, (low[0], high[0], low[1], high[1]), theme)
    for set_label, name in zip((axes.set_xlabel, axes.set_ylabel), shown.names, strict=True):
        set_label(mathematics(Named(name)))
    set_title(axes, answer)
    _list(figure, _legend(answer, theme))


def _paint(axes: Drawing, cells: Cells, extent: tuple[float, float, float, float], theme: Theme) -> None:
    from matplotlib.colors import to_rgb

    colors = np.array([to_rgb(one) for one in _colors(theme).values()])
    axes.imshow(colors[cells], extent=extent, origin="lower", aspect="auto", interpolation="nearest", zorder=0)


def _colors(theme: Theme) -> dict[RegionVerdict, str]:
    """Choose a colour for each verdict: calm ones for what is proved, and others that stand out of them."""
    blue, orange, green, purple, yellow, _, teal, brown = theme.elements
    return {
        "proved": _mixed(green, theme.back, 0.55),
        "near-zero": _mixed(teal, theme.back, 0.25),
        "outside": _mixed(theme.faint, theme.back, 0.15),
        "open": theme.faint,
        "overflow": orange,
        "underflow": _mixed(orange, theme.back, 0.5),
        "edge": brown,
        "kink": yellow,
        "jump": blue,
        "pole": theme.ink,
        "inaccurate": purple,
        "nan-trap": theme.trap,
    }


def _mixed(color: str, ground: str, part: float) -> str:
    """Mix a colour with the ground."""
    from matplotlib.colors import to_hex, to_rgb

    pairs = zip(to_rgb(color), to_rgb(ground), strict=True)
    red, green, blue = (part * own + (1 - part) * other for own, other in pairs)
    return to_hex((red, green, blue))


def _legend(answer: BoxChecking, theme: Theme) -> list[tuple[str, Drawing]]:
    """List the regions: their verdicts in words, and how much of the box they are."""
    from matplotlib.patches import Patch

    colors = _colors(theme)
    return [
        (
            f"{named(one).strip('✓✗ ')}, {_percent(one.share)}",
            Patch(facecolor=colors[one.verdict], edgecolor=theme.faint),
        )
        for one in answer.regions
    ]


def _percent(share: float) -> str:
    """Write a share with one decimal; what is less than all is less than 100%.

    >>> _percent(0.99999), _percent(0.25), _percent(1e-9)
    ('99.9%', '25%', '< 0.1%')
    """
    rounded = round(100 * share, 1) if share == 1 else min(99.9, round(100 * share, 1))
    return f"{rounded:g}%" if rounded else "< 0.1%"


def _list(figure: Drawing, handles: list[tuple[str, Drawing]]) -> None:
    figure.legend(
        [one for _, one in handles],
        [words for words, _ in handles],
        loc="outside lower center",
        ncols=columns_of([words for words, _ in handles]),
        frameon=False,
        borderaxespad=0.2,
    )
