"""The pattern of a sparse matrix as a figure: a cell for a part of it, the darker the more of its entries there are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from gradcli.parts import is_listed
from gradcli.parts.sparse.sparse_document import SparseAnswer, density, starts
from gradcli.report.appearance import Appearance

if is_listed("figures"):  # else nothing asks for a figure
    from gradcli.parts.figures import figure_file, set_title
if TYPE_CHECKING:
    from gradcli.parts.figures import Drawing, Theme

CELLS = 200
"""Most cells along each side."""


def write_figure(answer: SparseAnswer, shown: Appearance, file: BinaryIO) -> None:
    """Write the figure as svg, png or pdf.

    Raises:
        InputError: matplotlib is not installed.
    """
    _ = file.write(figure_file(partial(_draw, answer), shown.form, shown.theme))


def _draw(answer: SparseAnswer, figure: Drawing, theme: Theme) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    counts, area = density(answer, CELLS, CELLS)
    height, width = answer.sparsity.shape
    part = counts / np.maximum(area, 1)
    shades = np.where(part > 0, 0.35 + 0.65 * part / max(float(part.max(initial=0.0)), 1e-300), np.nan)
    axes = figure.subplots()
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    colours = LinearSegmentedColormap.from_list("pattern", [theme.back, theme.ink])
    axes.imshow(shades, cmap=colours, vmin=0.0, vmax=1.0, extent=extent, interpolation="nearest", aspect="auto")
    set_title(axes, answer)
    tops, lefts = starts(answer)
    axes.set_xlabel(", ".join(lefts))
    axes.set_ylabel(", ".join(tops))
