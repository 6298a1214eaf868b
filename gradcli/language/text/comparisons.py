"""Chains of comparisons in a text, parted into their sides: `x^2 + y^2 = 25`, `0 <= y < 1`."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

EQUALS = ("=", "==")
"""Signs between the sides of an equation."""

COMPARED = (*EQUALS, "<", "<=", ">", ">=", "≤", "≥", "!=", "≠")
"""Signs between the sides of any comparison."""

_SIGN = re.compile(r"[(\[{]|[)\]}]|[-+*/@%:<>!]=|=+|[<>≤≥≠]")
"""A bracket, or a sign of a comparison or of an assignment: `+=` and `:=` make no equation."""


class Comparisons(NamedTuple):
    """A text, parted at signs.

    Attributes:
        sides: What stands between the signs, without the blanks around it; all of the text where it has none of them.
        signs: The signs, one fewer.
    """

    sides: list[str]
    signs: list[str]


def compared(text: str, signs: Collection[str] = EQUALS, most: int | None = None) -> Comparisons:
    """Part a text at signs, at most at so many; one in brackets, `dim=0`, is of a side.

    >>> compared("x^2 + y^2 = 25").sides, compared("sum(y, dim=0) == 1")
    (['x^2 + y^2', '25'], Comparisons(sides=['sum(y, dim=0)', '1'], signs=['==']))
    >>> compared("x <= 1").sides, compared("0 <= y < 1", COMPARED), compared("y += 2").sides
    (['x <= 1'], Comparisons(sides=['0', 'y', '1'], signs=['<=', '<']), ['y += 2'])
    """
    found, start, depth = Comparisons([], []), 0, 0
    for sign in _SIGN.finditer(text):
        depth += (sign[0] in "([{") - (sign[0] in ")]}")
        if depth == 0 and sign[0] in signs and len(found.signs) != most:
            found.sides.append(text[start : sign.start()].strip())
            found.signs.append(sign[0])
            start = sign.end()
    found.sides.append(text[start:].strip())
    return found
