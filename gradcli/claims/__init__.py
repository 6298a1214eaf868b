"""Derivatives that somebody claims: proved, not refuted, or refuted.

subject                          what a claim is of
equations                        claims in index notation: left-hand sides, and the indices of their letters
evaluation                       a claim beside the enclosures of the truth at a point
search                           points where it fails, first those where branches meet
proof                            a proof in index notation, which asks for each region and entry
regions                          the regions between branches, and whether both are the same in each
sameness                         whether two texts are one function
mistakes                         what went wrong with a claim that is refuted
verdict                          all of that, and what is said of it
"""

from gradcli.claims.equations import variable_of
from gradcli.claims.sameness import are_same
from gradcli.claims.subject import Subject, read, read_numbers
from gradcli.claims.verdict import claimed, expected

__all__ = ["Subject", "are_same", "claimed", "expected", "read", "read_numbers", "variable_of"]
