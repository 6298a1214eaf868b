"""Colours of figures, on light and on dark ground; knows no library that draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Drawing = Any
"""A figure, its axes, or something drawn, of the library that draws."""


class Theme(NamedTuple):
    """The colours of a figure.

    Attributes:
        back: The ground.
        ink: The frame and the words.
        faint: What is less than a curve.
        trap: What torch gets wrong.
        orders: y and its derivatives.
        elements: The elements of y.
        signs: Numbers below 0, 0, and numbers above, of a matrix.
    """

    back: str
    ink: str
    faint: str
    trap: str
    orders: tuple[str, ...]
    elements: tuple[str, ...]
    signs: tuple[str, ...]


THEMES: Mapping[str, Theme] = {
    "light": Theme(
        "white",
        "#1b1f24",
        "#7d8792",
        "#c2185b",
        ("#0b62b8", "#c2410c", "#6d28d9"),
        ("#0b62b8", "#c2410c", "#0a7d55", "#6d28d9", "#8a6d00", "#be185d", "#0e7490", "#57534e"),
        ("#053061", "#4393c3", "#f4f5f7", "#d6604d", "#67001f"),
    ),
    "dark": Theme(
        "#14181d",
        "#e6e9ed",
        "#8a94a0",
        "#ff6fa3",
        ("#63b3ff", "#ff9d5c", "#c4a5ff"),
        ("#63b3ff", "#ff9d5c", "#4fd1a1", "#c4a5ff", "#e8c547", "#ff8fc0", "#5fd3e6", "#c3bdb6"),
        ("#9fd0ff", "#2f7fc4", "#232a32", "#c45a45", "#ffb09e"),
    ),
}
"""Colours that are told apart on light and on dark ground, by colour-blind readers too."""
