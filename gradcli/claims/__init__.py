"""Derivatives that somebody claims: proved, not refuted, or refuted.

subject                          what a claim is of
evaluation, limits               a claim beside the enclosures of the truth at a point, and what the check infers there
search, breakpoints              points where it fails, also where its branches meet
proof                            a proof in index notation, which asks for each region and entry
regions, inequalities            the regions between branches, and what each says of the numbers in it
identity, quotients              whether an expression is 0: roots, angles, determinants; rational functions
mistakes, factors                what went wrong with a claim that is refuted
verdict                          all of that, and what is said of it
"""

from gradcli.claims.subject import Subject, read, read_numbers
from gradcli.claims.verdict import claimed, expected

__all__ = ["Subject", "claimed", "expected", "read", "read_numbers"]
