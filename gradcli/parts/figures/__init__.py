"""Figures in files, by matplotlib: svg, png and pdf.

styled_figure                    the font, sizes and the file; what other parts draw too
themes                           colours on light and on dark ground
mathtext                         formulas and code in the font of a figure
matrix_figures                   Jacobians and Hessians as images
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradcli.parts.figures.themes import Drawing, Theme
from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from gradcli.arrays import Array
    from gradcli.notation import Notation
    from gradcli.results import Answer, OnBox, Plotted

__all__ = ["Drawing", "Theme", "draw_scale", "figure_file", "figure_kinds", "mathematics", "scale", "set_title", "size"]

KINDS = ("svg", "png", "pdf")
"""Kinds of files of figures."""


def figure_kinds(function: str, answers: tuple[str, ...], commands: tuple[str, ...]) -> tuple[Renderer, ...]:
    """Return a `Renderer` for each of svg, png and pdf, all written by one function."""
    return tuple(
        Renderer(
            kind,
            function,
            (f".{kind}",),
            is_format=False,
            answers=answers,
            commands=commands,
            is_picture=True,
            require="gradcli.parts.figures.styled_figure:require_matplotlib",
        )
        for kind in KINDS
    )


class FiguresPart(Part):
    """Matrices as figures, and what other parts need to draw their own."""

    def renderers(self) -> tuple[Renderer, ...]:
        """Return the kinds of files."""
        function = "gradcli.parts.figures.matrix_figures:write_figure"
        return figure_kinds(function, ("Jacobian", "Hessian"), ("jacobian", "hessian"))


PART = FiguresPart()


def figure_file(draw: Callable[[Drawing, Theme], None], form: str, theme: str) -> bytes:
    """Draw a figure as svg, png or pdf, on light or dark ground.

    Raises:
        InputError: matplotlib is not installed.
    """
    from gradcli.parts.figures import styled_figure

    return styled_figure.figure_file(draw, form, theme)


def mathematics(notation: Notation) -> str:
    """Set mathematics, or write it as text where matplotlib cannot set it."""
    from gradcli.parts.figures import mathtext

    return mathtext.mathematics(notation)


def set_title(axes: Drawing, answer: Answer | OnBox | Plotted, formula: Notation | None = None) -> None:
    """Write the function above the axes: its formula, or its text, in letters that fit."""
    from gradcli.parts.figures import mathtext

    words = mathtext.title(answer, formula)
    axes.set_title(words, va="bottom", fontsize=mathtext.title_size(words))


def scale(most: float) -> tuple[float, str]:
    """Choose the factor to divide numbers by that are near the ends of float64, and the words for it; else 1."""
    from gradcli.parts.figures import styled_figure

    return styled_figure.scale(most)


def draw_scale(
    figure: Drawing, drawn: Drawing, axes: Drawing, label: str, ticks: Array | None = None, shrink: float = 1.0
) -> None:
    """Draw the bar of colours beside the axes; of very small or large numbers the label has the power of ten."""
    from gradcli.parts.figures import styled_figure

    styled_figure.draw_scale(figure, drawn, axes, label, ticks, shrink)


def size() -> tuple[float, float]:
    """Return the inches of a figure with one panel."""
    from gradcli.parts.figures import styled_figure

    return styled_figure.SIZE
