"""Figures in files, by matplotlib: svg, png and pdf.

styled_figure                    colours, sizes and the file; what other parts draw too
matrix_figures                   Jacobians and Hessians as images
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gradcli.parts.part import Part
from gradcli.parts.renderer import Renderer

if TYPE_CHECKING:
    from gradcli.results import Answer, Plotted

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


def figure_file(draw: Callable[[Any, Mapping[str, str]], None], form: str, theme: str) -> bytes:
    """Draw a figure as svg, png or pdf, on light or dark ground.

    Raises:
        InputError: matplotlib is not installed.
    """
    from gradcli.parts.figures import styled_figure

    return styled_figure.figure_file(draw, form, theme)


def plain_title(answer: Answer | Plotted) -> str:
    """Write the function in a line that fits, and is no formula to matplotlib."""
    from gradcli.parts.figures import styled_figure

    return styled_figure.plain_title(answer)


def scale(most: float) -> tuple[float, str]:
    """Choose the factor to divide numbers by that are near the ends of float64, and the words for it; else 1."""
    from gradcli.parts.figures import styled_figure

    return styled_figure.scale(most)


def size() -> tuple[float, float]:
    """Return the inches of a figure with one panel."""
    from gradcli.parts.figures import styled_figure

    return styled_figure.SIZE
