"""What a page is shown on: the width of a terminal, colours, and the characters that it has."""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.notation import Notation

WIDEST = 10_000
"""Columns of a table in a pipe."""

_ASCII = str.maketrans(
    {"∂": "d", "²": "2", "ᵀ": "T", "…": "...", "±": "+-", "∇": "grad ", "ℓ": "l", "δ": "delta", "Σ": "sum", "√": "sqrt"}
    | {"≥": ">=", "≤": "<=", "≠": "!=", "·": "*", "×": "x", "→": "->", "←": "<-", "∞": "inf", "∘": " o ", "–": "-"}
    | {"│": "|", "├": "|", "└": "`", "─": "-", "⌊": "floor(", "⌋": ")", "⌈": "ceil(", "⌉": ")", "Π": "prod", "π": "pi"}
    | {"—": "-", "−": "-"}
    | dict.fromkeys("╭╮╰╯┤┬┴┼", "+")
)
"""What our own words and signs become where a screen has no others; formulas are in SymPy's notation there."""


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a page goes: the width of the terminal (None in a pipe), and what it can show.

    Where there are only the characters of ASCII for our own words, those of the user are in the encoding, or escapes.
    """

    width: int | None = None
    ascii: bool = False
    color: bool = False
    encoding: str = "ascii"

    def shown(self, words: str) -> str:
        """Words as they will be written, so that a column is as wide as the escapes in it."""
        if not self.ascii:
            return words
        return in_ascii(words).encode(self.encoding, "backslashreplace").decode(self.encoding)

    def written(self, notation: Notation) -> str:
        """Unicode mathematics, or SymPy's notation where there are no such characters."""
        return self.shown(notation.text if self.ascii else notation.pretty)


def in_ascii(words: str) -> str:
    """Our own words where there are no other characters."""
    return words.translate(_ASCII)
