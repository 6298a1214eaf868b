"""Colours, digits and suffixes: what answers are written with, besides the formats that `registry` lists."""

from __future__ import annotations

SUFFIXES_IN_ORDER = (
    *(".csv", ".tsv", ".json", ".html", ".jsonl", ".md", ".tex", ".htm", ".txt", ".npy", ".npz"),
    *(".py", ".dot", ".gv", ".svg", ".png", ".pdf"),
)
"""Suffixes of files of answers, in the order in which errors list them; any other comes after them."""

COLORS = ("auto", "always", "never")
"""When tables and messages have colours."""

ON_TERMINALS = 6
"""Significant digits in tables on a terminal."""
