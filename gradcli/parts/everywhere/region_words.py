"""Verdicts on regions in words."""

from __future__ import annotations

from collections.abc import Mapping

from gradcli import results
from gradcli.report import document as doc

REGIONS: Mapping[str, tuple[str, doc.Role]] = {
    "proved": ("✓ proved", "good"),
    "near-zero": ("✓ near a zero", "good"),
    "kink": ("kink", "open"),
    "jump": ("jump", "open"),
    "pole": ("pole", "open"),
    "edge": ("edge of the domain", "open"),
    "outside": ("outside of the domain", "open"),
    "nan-trap": ("✗ nan-trap", "bad"),
    "overflow": ("overflow", "lost"),
    "underflow": ("underflow", "lost"),
    "inaccurate": ("✗ inaccurate", "lost"),
    "cut": ("✗ cut", "bad"),
    "disagree": ("✗ disagree", "bad"),
    "open": ("not proved", "open"),
}
"""Verdicts on regions in words."""


CERTAIN = ("open", "underflow")
"""Verdicts that hold whatever the point is."""


BY_WITNESS = ("nan-trap", "inaccurate", "cut", "disagree")
"""Verdicts that a region has by its witness alone."""


def named(region: results.BoxRegion) -> str:
    """Write a verdict on a region, which is doubtful where the point that was judged has a derivative."""
    words = REGIONS[region.verdict][0]
    return f"{words}, perhaps" if region.found == "agree" and region.verdict not in CERTAIN else words
