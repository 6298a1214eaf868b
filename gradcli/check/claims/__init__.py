"""Derivatives that somebody claims: proved, not refuted, or refuted.

`reading` says what a claim is of, `evaluation` compares it with the enclosures of the truth at a point, `search` looks
for points where it fails, `proof` for a proof, and `mistakes` for what went wrong.
"""

from gradcli.check.claims.verdict import claimed, expected, require_claim, require_numbers

__all__ = ["claimed", "expected", "require_claim", "require_numbers"]
