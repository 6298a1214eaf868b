"""Jacobians and Hessians as figures: one image of square cells on a symmetric scale, with the zeros that are proven."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np

from gradcli import results
from gradcli.notation import Element, Named
from gradcli.parts.figures import Drawing, Theme, set_title
from gradcli.parts.figures.mathtext import mathematics
from gradcli.parts.figures.styled_figure import draw_scale, figure_file, scale
from gradcli.report.appearance import Appearance
from gradcli.report.heat_maps import BlockAxis, Matrix, matrices
from gradcli.results import Array

MOST_NUMBERS = 12
"""Most rows and columns of a matrix whose numbers are written into its cells, and whose rows and columns have names."""

DIGITS = 3
"""Significant digits of a number in a cell."""

MOST_DOTS = 4_096
"""Most elements of a matrix whose proven zeros are dotted."""

LONGEST = 16
"""How many times as long as the other a side may be for cells that are squares: of longer ones they would be lines."""

CELL, WIDEST, HIGHEST = 0.52, 5.2, 5.6
"""Inches of a cell, and of all cells side by side and one above the other, at most."""

ROUND = 1.9, 1.5
"""Inches beside and above the cells, for names and the scale."""

BAR = 2.4
"""Most inches of the bar of colours."""

NARROWEST = 4.2
"""Least inches of a figure, which has a title."""


class _Image(NamedTuple):
    """All blocks as one matrix.

    Attributes:
        numbers: The numbers, divided by a factor near the ends of float64.
        is_proven: Which are 0 for all values.
        rows: The axis of each row of blocks.
        columns: That of each column.
    """

    numbers: Array
    is_proven: Array
    rows: Sequence[BlockAxis]
    columns: Sequence[BlockAxis]

    @property
    def is_small(self) -> bool:
        """Tell whether its cells have room for numbers."""
        return bool(max(self.numbers.shape) <= MOST_NUMBERS)

    @property
    def is_square(self) -> bool:
        """Tell whether the cells can be squares."""
        return bool(max(self.numbers.shape) <= LONGEST * max(1, min(self.numbers.shape)))

    @property
    def inches(self) -> tuple[float, float]:
        """The width and the height of the cells."""
        height, width = (max(1, count) for count in self.numbers.shape)
        if not self.is_square:
            return min(WIDEST, CELL * width), min(HIGHEST, CELL * height)
        cell = min(CELL, WIDEST / width, HIGHEST / height)
        return cell * width, cell * height


def write_figure(answer: results.Jacobian | results.Hessian, shown: Appearance, file: BinaryIO) -> None:
    """Draw the matrices of a Jacobian or a Hessian as svg, png or pdf, on light or dark ground.

    Raises:
        InputError: matplotlib is not installed.
    """

    def draw(figure: Drawing, theme: Theme) -> None:
        _draw_matrix(figure, answer, theme, shown.digits or DIGITS)

    _ = file.write(figure_file(draw, shown.form, shown.theme))


def _draw_matrix(figure: Drawing, answer: results.Jacobian | results.Hessian, theme: Theme, digits: int) -> None:
    """Draw the blocks as one matrix, with lines between them, and a scale beside it."""
    from matplotlib.colors import LinearSegmentedColormap

    blocks, most = matrices(answer)
    factor, per_scale = scale(most)
    image, limit = _joined(blocks, factor), most / factor or 1
    width, height = image.inches
    figure.set_size_inches(max(NARROWEST, width + ROUND[0]), height + ROUND[1])
    ax = figure.subplots()
    ax.set_facecolor(theme.trap)  # numbers that are not finite
    colors = LinearSegmentedColormap.from_list("signs", theme.signs)
    drawn = ax.imshow(
        np.ma.masked_invalid(image.numbers) if image.numbers.size else np.zeros((1, 1)),
        cmap=colors,
        vmin=-limit,
        vmax=limit,
        aspect="equal" if image.is_square else "auto",
        interpolation="nearest",
    )
    _name_axes(ax, image)
    _draw_lines(ax, image, theme)
    _write_numbers(ax, image, theme, limit, digits)
    _explain(figure, ax, image, theme)
    several = "second derivative" if isinstance(answer, results.Hessian) else "derivative"
    label = mathematics(blocks[0][0].label) if len(blocks) == len(blocks[0]) == 1 else several
    draw_scale(figure, drawn, ax, label + per_scale, shrink=min(1.0, BAR / height))
    set_title(ax, answer)


def _joined(blocks: Sequence[Sequence[Matrix]], factor: float) -> _Image:
    """Join the blocks to one matrix."""
    numbers = np.block([[one.numbers for one in row] for row in blocks]) / factor
    is_open = np.block([[one.is_open for one in row] for row in blocks])
    rows, columns = [row[0].rows for row in blocks], [one.columns for one in blocks[0]]
    return _Image(numbers, (is_open == 0) & (numbers == 0), rows, columns)


def _name_axes(ax: Drawing, image: _Image) -> None:
    """Name each row and each column, or where they are many, the blocks, or the elements by their numbers."""
    for axis, parts in ((ax.yaxis, image.rows), (ax.xaxis, image.columns)):
        count = sum(math.prod(part.shape) for part in parts)
        of = f" of {mathematics(Named(parts[0].name))}" if len(parts) == 1 else ""
        axis.set_label_text(f"element{of}" if any(part.shape for part in parts) else "" if of else "variable")
        if count <= MOST_NUMBERS:
            axis.set_ticks(range(count), list(itertools.chain(*map(_element_names, parts))))
        elif len(parts) > 1:
            ends = np.cumsum([0, *(math.prod(part.shape) for part in parts)])
            names = [mathematics(Named(part.name)) for part in parts]
            axis.set_ticks([(a + b - 1) / 2 for a, b in itertools.pairwise(ends)], names)
        else:
            axis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        if count <= MOST_NUMBERS or len(parts) > 1:
            axis.set_tick_params(length=0)


def _element_names(axis: BlockAxis) -> Iterator[str]:
    """Name the elements in order."""
    for index in np.ndindex(*axis.shape):
        yield mathematics(Element(axis.name, index) if index else Named(axis.name))


def _draw_lines(ax: Drawing, image: _Image, theme: Theme) -> None:
    """Draw a line between two blocks, and a thin one between two cells that have numbers."""
    for parts, draw in ((image.rows, ax.axhline), (image.columns, ax.axvline)):
        ends = np.cumsum([math.prod(part.shape) for part in parts])
        for end in range(1, int(ends[-1])) if image.is_small else ():
            draw(end - 0.5, color=theme.back, linewidth=1.0)
        for end in ends[:-1]:
            draw(end - 0.5, color=theme.ink, linewidth=0.8, gid="block")


def _write_numbers(ax: Drawing, image: _Image, theme: Theme, limit: float, digits: int) -> None:
    """Write the numbers into the cells of a small matrix; a zero that is proven is a dot in any."""
    if image.is_proven.size <= MOST_DOTS:
        size = min(4.0, image.inches[0] * 72 / max(1, image.numbers.shape[1]) / 4)
        rows, columns = np.nonzero(image.is_proven)
        ax.plot(columns, rows, "o", color=theme.faint, markersize=size, markeredgewidth=0, gid="proven zeros")
    if not image.is_small:
        return
    words = {at: _number(float(x), digits) for at, x in np.ndenumerate(image.numbers) if not image.is_proven[at]}
    longest = max(map(len, words.values()), default=1)
    room = min(inches / max(1, count) for inches, count in zip(image.inches, image.numbers.shape[::-1], strict=True))
    for (row, column), number in words.items():
        is_strong = not abs(image.numbers[row, column]) < 0.55 * limit
        color = ("white" if theme.back == "white" else theme.back) if is_strong else theme.ink
        ax.text(column, row, number, ha="center", va="center", color=color, fontsize=min(10.0, room * 130 / longest))


def _number(number: float, digits: int) -> str:
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else ("−∞" if number < 0 else "∞")
    return re.sub(r"e([-+])0*", lambda found: f"e{found[1].strip('+')}", f"{number:.{digits}g}").replace("-", "−")


def _explain(figure: Drawing, ax: Drawing, image: _Image, theme: Theme) -> None:
    """Say in a legend what dots are, and cells without a number."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    keys: list[Drawing] = []
    if image.is_proven.any() and image.is_proven.size <= MOST_DOTS:
        keys.append(Line2D([], [], marker="o", linestyle="", markersize=4, color=theme.faint, label="0 for all values"))
    if not np.isfinite(image.numbers).all():
        keys.append(Patch(color=theme.trap, label="not finite"))
    if keys:
        figure.legend(handles=keys, loc="outside lower center", ncols=2, frameon=False, borderaxespad=0.2)
