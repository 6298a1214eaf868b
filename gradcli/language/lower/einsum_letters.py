"""Equations of letters, as einsum takes them."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase


def spelled_out(equation: str, ranks: Sequence[int]) -> str:
    """An equation of letters with letters of their own for the dimensions that `...` stands for, counted from the last.

    Args:
        equation: As einsum takes it.
        ranks: How many dimensions each operand has.

    >>> spelled_out("...ij,...jk->...ik", [3, 2]), spelled_out("...i,i", [2, 1])
    ('Aij,jk->Aik', 'Ai,i->A')
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    words = left.split(",")
    counts = [max(0, rank - len(word) + 3) if "..." in word else 0 for word, rank in zip(words, ranks, strict=False)]
    own = [c for c in ascii_uppercase if c not in equation][: max(counts, default=0)]
    spelled = [word.replace("...", "".join(own[len(own) - n :])) for word, n in zip(words, counts, strict=False)]
    letters = "".join(words).replace(".", "")
    result = right if arrow else "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{','.join([*spelled, *words[len(spelled) :]])}->{result.replace('...', ''.join(own))}"
