"""Map an index of a reshaped tensor to the index in its old shape, in index notation.

Dimensions that are split or joined among themselves keep their own indices apart from the others: of (n, g*c) seen as
(n, g, c) the index of n is unchanged, and only g and c are read off the position in g*c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sympy import Expr, Integer

from gradcli.language.program.meaning import quotient
from gradcli.language.program.wengert import Shape

Index = tuple[Expr, ...]
SizeOf = Callable[[int], Expr]


def reshaped(index: Index, new: Shape, old: Shape, sizes: SizeOf) -> Index:
    """The index in the old shape of the element at `index` in the new one: by row-major positions, part by part.

    Args:
        index: In the new shape.
        new: The shape that elements are seen in.
        old: The shape that they come from, of as many elements.
        sizes: The expression for a size: a number or a symbol.
    """
    return tuple(at for part in _parts(new, old) for at in _of_part(index[part[0]], new[part[0]], old[part[1]], sizes))


def _parts(new: Shape, old: Shape) -> Iterator[tuple[slice, slice]]:
    """The dimensions of both that are made of each other, from the first on: as few as hold the same elements.

    >>> list(_parts((2, 3, 4), (2, 12)))
    [(slice(0, 1, None), slice(0, 1, None)), (slice(1, 3, None), slice(1, 2, None))]
    """
    if 0 in new:
        yield slice(None), slice(None)
        return
    i = j = 0
    while i < len(new) or j < len(old):
        first, second, above, below = i, j, 1, 1
        if i < len(new):
            above, i = new[i], i + 1
        else:
            below, j = old[j], j + 1
        while above != below:
            if above < below:
                above, i = above * new[i], i + 1
            else:
                below, j = below * old[j], j + 1
        yield slice(first, i), slice(second, j)


def _of_part(index: Index, new: Shape, old: Shape, sizes: SizeOf) -> Index:
    """The old index of an element by its row-major position; dimensions of size 1 come and go freely."""
    kept = [i for i, size in zip(index, new, strict=True) if size != 1]
    # Only sizes of 1 differ: the indices stay what they are, and formulas stay free of quotients.
    if [size for size in new if size != 1] == [size for size in old if size != 1]:
        rest = iter(kept)
        return tuple(Integer(0) if size == 1 else next(rest) for size in old)
    place: Expr = Integer(0)
    for i, size in zip(index, new, strict=True):
        place = place * sizes(size) + i
    if sum(size != 1 for size in old) == 1:
        return tuple(Integer(0) if size == 1 else place for size in old)
    return _unravelled(place, old, sizes)


def _unravelled(place: Expr, shape: Shape, sizes: SizeOf) -> Index:
    """The index of the element at a row-major position: quotients by the sizes from the last on, and their rests."""
    index: list[Expr] = []
    first = next((d for d, size in enumerate(shape) if size != 1), 0)
    for d in reversed(range(len(shape))):
        # The first dimension needs no quotient by its size: what is left of the position is its index.
        if shape[d] == 1 or d == first:
            index.append(place if d == first else Integer(0))
            continue
        n = sizes(shape[d])
        row = quotient(place, n)
        index.append(place - n * row)
        place = row
    return tuple(reversed(index))
