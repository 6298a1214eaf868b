"""Derivatives that somebody claims: proved, not refuted, or refuted.

`reading` says what a claim is of, `evaluation` compares it with the enclosures of the truth at a point (`limits` adds
what the check infers at the one that is given), `search` looks for points where it fails, also at the `breakpoints` of
its branches, `proof` for a proof, and `mistakes` for what went wrong.
"""

from gradcli.check.claims.reading import Subject, read, read_numbers
from gradcli.check.claims.verdict import claimed, expected

__all__ = ["Subject", "claimed", "expected", "read", "read_numbers"]
