"""Derivatives that somebody claims: proved, not refuted, or refuted.

subject                          what a claim is of
evaluation, limits               a claim beside the enclosures of the truth at a point, and what the check infers there
search, breakpoints              points where it fails, also where its branches meet
proof, identity, regions         a proof in index notation, branch by branch,
quotients, inequalities          with rational functions and with what a branch says of its numbers
mistakes, factors                what went wrong with a claim that is refuted
verdict                          all of that, and what is said of it
"""

from gradcli.claims.subject import Subject, read, read_numbers
from gradcli.claims.verdict import claimed, expected

__all__ = ["Subject", "claimed", "expected", "read", "read_numbers"]
