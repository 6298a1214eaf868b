"""Snippets of plain Python by construct, one file a group, each behind a line with the values of its variables.

What a snippet gives is its last function where it ends with a definition, else its last expression, else what it
assigns last.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARK = "#: "
"""What the values of a snippet stand behind."""


@dataclass(frozen=True)
class Snippet:
    """A text and the values of its variables."""

    group: str
    text: str
    at: dict[str, Any]


def snippets() -> list[Snippet]:
    """All of them, in order."""
    found = []
    for file in sorted(Path(__file__).parent.glob("*.txt")):
        for block in file.read_text(encoding="utf-8").split(f"\n{MARK}")[1:]:
            values, _, text = block.partition("\n")
            pairs = (pair.partition(" = ") for pair in values.split("; ") if pair)
            found.append(
                Snippet(file.stem, text.strip("\n"), {name: ast.literal_eval(value) for name, _, value in pairs})
            )
    return found
