"""Colours and digits: what answers are written with, besides the formats that `registry` lists."""

from __future__ import annotations

from dataclasses import dataclass

COLORS = ("auto", "always", "never")
"""When tables and messages have colours."""

ON_TERMINALS = 6
"""Significant digits in tables on a terminal."""


@dataclass(frozen=True)
class Tint:
    """A colour that is read on white ground and on black.

    The sixteen colours of a terminal are no such: its yellow is lost on white, its blue on black, and which ground a
    terminal has is not known.

    Attributes:
        rgb: The colour; its contrast to white and to black is at least 4.5, as the guidelines for web pages ask.
        nearest: The number of the nearest of the 256 colours of `xterm`, for terminals without more.

    Source: WCAG 2.2, success criterion 1.4.3, https://www.w3.org/TR/WCAG22/#contrast-minimum
    """

    rgb: str
    nearest: int

    def escape(self, *, is_deep: bool) -> str:
        """Write the parameters of the escape sequence for bold words of this colour.

        >>> TINTS["red"].escape(is_deep=False), TINTS["red"].escape(is_deep=True)
        ('1;38;5;160', '1;38;2;224;42;42')
        """
        if not is_deep:
            return f"1;38;5;{self.nearest}"
        return ";".join(["1;38;2", *(str(int(self.rgb[n : n + 2], 16)) for n in (1, 3, 5))])


TINTS = {
    "green": Tint("#008a00", 28),
    "amber": Tint("#a06a00", 130),
    "purple": Tint("#a050d8", 98),
    "red": Tint("#e02a2a", 160),
    "blue": Tint("#5f5fff", 63),
    "pink": Tint("#d700af", 163),
    "teal": Tint("#00875f", 29),
    "grey": Tint("#767676", 243),
}
"""Colours of verdicts, messages and curves."""
