"""Derivatives that somebody claims: proved, not refuted, or refuted.

subject                          the subject of a claim, and the reading of its text by its shape
equations                        claims in index notation: left-hand sides, and the indices of their letters
evaluation                       a claim next to the enclosures of the truth at a point
search                           points where it fails, first those where branches meet
proof                            a proof in index notation, which asks for each region and entry; and of equal functions
regions                          the regions between branches, and the comparison of truth and claim in each
mistakes                         the likeliest mistake in a refuted claim
verdict                          all of these in order, and the verdict on the claim
"""

from gradcli.parts.claims.equations import variable_of
from gradcli.parts.claims.proof import are_same
from gradcli.parts.claims.subject import Subject, read, read_numbers
from gradcli.parts.claims.verdict import claimed, expected

__all__ = ["Subject", "are_same", "claimed", "expected", "read", "read_numbers", "variable_of"]
