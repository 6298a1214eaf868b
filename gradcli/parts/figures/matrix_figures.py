"""Jacobians and Hessians as figures: images of their blocks on one scale, with the zeros that the formula proves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from gradcli import results
from gradcli.parts.figures.styled_figure import figure_file, plain_title, scale
from gradcli.report.appearance import Appearance
from gradcli.report.heat_maps import matrices

MOST_DOTS = 4_096
"""Most elements of a block whose proven zeros are dotted."""

Drawing = Any
"""A figure of the library that draws."""


def write_figure(answer: results.Jacobian | results.Hessian, shown: Appearance, file: BinaryIO) -> None:
    """Draw the matrices of a Jacobian or a Hessian as svg, png or pdf, on light or dark ground.

    Raises:
        InputError: matplotlib is not installed.
    """
    _ = file.write(figure_file(lambda figure, colors: _draw_matrices(figure, answer, colors), shown.form, shown.theme))


def _draw_matrices(figure: Drawing, answer: results.Jacobian | results.Hessian, colors: Mapping[str, str]) -> None:
    """Draw the blocks next to each other on one symmetric scale; zeros that the formula proves are dotted."""
    blocks, most = matrices(answer)
    factor, per_scale = scale(most)
    limit = most / factor or 1
    sizes = [row[0].numbers.shape[0] for row in blocks], [one.numbers.shape[1] for one in blocks[0]]
    heights, widths = ([max(size, sum(along) / 12, 1) for size in along] for along in sizes)
    ratios = {"height_ratios": heights, "width_ratios": widths}
    axes = figure.subplots(len(blocks), len(blocks[0]), squeeze=False, **ratios)
    look = {"cmap": "RdBu_r", "aspect": "auto", "interpolation": "nearest"}
    for row, line in zip(blocks, axes, strict=True):
        for one, ax in zip(row, line, strict=True):
            ax.set_facecolor("#d63fd6")  # numbers that are not finite
            numbers = one.numbers if one.numbers.size else np.zeros((1, 1))
            image = ax.imshow(np.ma.masked_invalid(numbers / factor), vmin=-limit, vmax=limit, **look)
            if one.is_open.size <= MOST_DOTS:
                ax.plot(
                    *np.nonzero((one.is_open == 0) & (one.numbers == 0))[::-1], ".", color=colors["faint"], markersize=3
                )
            ax.set_title(one.label.pretty + f": {' x '.join(map(str, one.numbers.shape))}" * (not one.numbers.size))
            ax.locator_params(integer=True, min_n_ticks=1)
    is_finite = all(np.isfinite(one.numbers).all() for row in blocks for one in row)
    remarks = [f"entries{per_scale}"] * bool(per_scale) + ["magenta: not finite"] * (not is_finite)
    figure.colorbar(image, ax=axes, label="; ".join(remarks))
    figure.suptitle(plain_title(answer), family="monospace")
