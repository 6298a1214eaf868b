"""How many random examples a test tries: the profile of conftest decides, and a test says only what it weighs."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100
"""Examples of a test that says nothing, by hand."""


def examples(many: int) -> int:
    """Of so many by hand, the share that the profile in force has."""
    return max(1, many * settings().max_examples // USUAL)
