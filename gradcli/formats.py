"""Colours and digits: what answers are written with, besides the formats that `registry` lists."""

from __future__ import annotations

COLORS = ("auto", "always", "never")
"""When tables and messages have colours."""

ON_TERMINALS = 6
"""Significant digits in tables on a terminal."""
