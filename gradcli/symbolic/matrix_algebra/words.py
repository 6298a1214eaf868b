"""A product as a word: what stands along the way from one axis to another.

Between 0 and 1, A[0,-1]*x[-1]*B[1,-1] is the word A, diag(x), B.T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradcli.symbolic.matrix_algebra.networks import Atom, Factor


@dataclass(frozen=True)
class Segment:
    """Part of a word: factors between two indices, or, where these are one, factors at an index.

    Attributes:
        factors: More than one if they are multiplied by element.
        start: The index on the left.
        end: The index on the right.
    """

    factors: tuple[Factor, ...]
    start: int
    end: int

    @property
    def is_diagonal(self) -> bool:
        """Tell whether it stands at one index."""
        return self.start == self.end

    @property
    def matrix(self) -> Factor | None:
        """The one matrix that it is; None if it is a product by element, a power by element, or at one index."""
        one = self.factors[0]
        return one if len(self.factors) == 1 and one.power == 1 and not self.is_diagonal else None

    def is_turned(self, one: Factor) -> bool:
        """Tell whether a matrix of it stands transposed."""
        return not one.atom.is_symmetric and one.at == (self.end, self.start)


def word_between(factors: Sequence[Factor], start: int, end: int) -> list[Segment] | None:
    """Read factors as a word from one axis to another; None if they are none, or if some are left over."""
    rest = [one for one in factors if one.at]
    if any(len(set(one.at)) > 2 for one in rest):
        return None
    unit = next((one for one in rest if one.atom.kind == "unit" and set(one.at) == {start, end}), None)
    if unit is not None:
        rest.remove(unit)
        place = min(start, end)
        same = all(set(one.at) == {place} for one in rest)
        return ([Segment(tuple(rest), place, place)] if rest else []) if same else None
    word: list[Segment] = []
    here = start
    while True:
        if own := [one for one in rest if set(one.at) == {here}]:
            word.append(Segment(tuple(own), here, here))
            rest = [one for one in rest if one not in own]
        if here == end:
            return None if rest else word
        ahead = {index for one in rest if here in one.at for index in one.at} - {here}
        if len(ahead) != 1:
            return None
        (next_,) = ahead
        if next_ != end and next_ >= 0:
            return None
        joining = [one for one in rest if set(one.at) == {here, next_}]
        word.append(Segment(tuple(joining), here, next_))
        rest = [one for one in rest if one not in joining]
        here = next_


def match(
    factors: Sequence[Factor], taken: Factor, at: int, pattern: Sequence[tuple[Atom, bool]]
) -> tuple[list[Factor], int] | None:
    """Find a word of matrices that begins at a summed index, next to a factor.

    Args:
        factors: The product, with the factor.
        taken: The factor at whose end the word begins.
        at: That end.
        pattern: The matrices of the word in order, and whether each is transposed.

    Returns:
        The factors of the word, and the index at which it ends; None if it is not there.
    """
    found: list[Factor] = []
    here, before = at, taken
    for atom, is_turned in pattern:
        around = [one for one in factors if here in one.at and one is not before]
        if here >= 0 or len(around) != 1:
            return None
        (one,) = around
        if one.atom != atom or one.power != 1 or len(set(one.at)) != 2 or any(one is other for other in found):
            return None
        place = one.at.index(here)
        if not atom.is_symmetric and place != int(is_turned):
            return None
        found.append(one)
        here, before = one.at[1 - place], one
    return found, here
