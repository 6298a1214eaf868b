"""Elements at the positions that tensors of whole numbers name, `x[idx]`, and what is put there.

Constant positions are an index of the language; those of a variable choose by a comparison with every position that
there is, so that every reading follows what it can do anyway.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import ShapeError
from gradcli.language.program.movement import NEW, Slice, broadcast, indexed_axes
from gradcli.language.program.wengert import Shape, show


@dataclass(frozen=True)
class Positions:
    """A tensor of whole numbers in an index.

    Attributes:
        name: What it is called in the text.
        shape: Of the tensor.
        numbers: Those of a constant one.
    """

    name: str
    shape: Shape
    numbers: npt.NDArray[Any] | None = None


def listed(places: Sequence[int]) -> str:
    """Positions as an item of an index: a slice where they are evenly spaced.

    >>> listed([1, 3, 5]), listed([2, 1, 0]), listed([0, 0, 2])
    ('1:6:2', '2::-1', '[0, 0, 2]')
    """
    if not places:
        return ":0"
    step = places[1] - places[0] if len(places) > 1 else 1
    if step == 0 or any(b - a != step for a, b in itertools.pairwise(places)):
        return str([*places])
    stop = places[-1] + (1 if step > 0 else -1)
    return f"{places[0]}:{stop if stop >= 0 else ''}" + (f":{step}" if step != 1 else "")


def checked(numbers: npt.NDArray[Any], size: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Positions in a dimension of this size, counted from the front.

    Raises:
        ShapeError: One is no whole number, or outside of the dimension.
    """
    found = np.asarray(numbers, dtype=np.float64)
    for at in found.ravel().tolist():
        if not at.is_integer():
            raise ShapeError(f"an index is a whole number, not {at:g}")
        if not -size <= at < size:
            raise ShapeError(f"the index {at:.0f} is outside a dimension of size {size}", hint="it counts from 0")
    return found.astype(np.intp) % max(size, 1)


def indexed(x: str, shape: Shape, items: Sequence[Any]) -> str:
    """The text of an index with tensors of positions among its items, by torch's rules.

    Args:
        x: The operand.
        shape: Of the operand.
        items: Whole numbers, slices, `...`, None as the language has it, and `Positions`.

    Raises:
        ShapeError: The index does not fit.

    >>> indexed("x", (4,), [Positions("i", (2,), np.array([3, 1]))])
    'x[3:0:-2]'
    """
    taken = sum(item not in ("...", NEW) for item in items)
    if taken > len(shape):
        raise ShapeError(f"{taken} indices for the shape {show(shape)}", hint=f"it takes at most {len(shape)}")
    rest = [Slice(None, None)] * (len(shape) - taken)
    at = next((n for n, item in enumerate(items) if item == "..."), len(items))
    full = [*items[:at], *rest, *items[at + 1 :]]
    basic = [Slice(None, None) if isinstance(item, Positions) else item for item in full]
    if any(item != Slice(None, None) for item in basic):
        x = f"{x}[{', '.join(map(str, basic))}]"
    axes = iter(range(len(full)))
    places = [(next(axes), item) for item in full if not isinstance(item, int)]
    found = {n: item for n, item in places if isinstance(item, Positions)}
    after = tuple(axis.size for axis in indexed_axes(shape, tuple(basic))[0])
    return _picked(x, after, found)


def _picked(x: str, shape: Shape, found: Mapping[int, Positions]) -> str:
    """Along some dimensions the elements at positions, which broadcast; all other dimensions in full."""
    if len(found) == 1:
        ((axis, one),) = found.items()
        if one.numbers is not None:
            places = checked(one.numbers, shape[axis]).ravel().tolist()
            text = f"{x}[{':, ' * axis}{listed(places)}]"
            whole = (*shape[:axis], *one.shape, *shape[axis + 1 :])
            return text if len(one.shape) == 1 else f"reshape({text}, {show(whole)})"
    axes = [*found]
    others = [n for n in range(len(shape)) if n not in found]
    taken, kept = [shape[n] for n in axes], [shape[n] for n in others]
    whole = broadcast([one.shape for one in found.values()])
    if [*axes, *others] != sorted(range(len(shape))):
        x = f"permute({x}, {show([*axes, *others])})"
    text = _chosen(x, taken, kept, [*found.values()], whole)
    is_adjacent = axes == [*range(axes[0], axes[0] + len(axes))]
    if not is_adjacent or not axes[0]:
        return text
    rank, first = len(whole), axes[0]
    order = [*range(rank, rank + first), *range(rank), *range(rank + first, rank + len(others))]
    return f"permute({text}, {show(order)})"


def _chosen(x: str, taken: Sequence[int], kept: Sequence[int], found: Sequence[Positions], whole: Shape) -> str:
    """The elements at positions in the first dimensions, in the shape of the positions and of the rest."""
    count = math.prod(taken)
    arrays = [one.numbers for one in found]
    if all(array is not None for array in arrays):
        stretched = [
            np.broadcast_to(checked(np.asarray(a), n), whole).ravel() for a, n in zip(arrays, taken, strict=True)
        ]
        flat = np.ravel_multi_index(tuple(stretched), tuple(taken)) if count else np.zeros(0, dtype=np.intp)
        text = f"reshape({x}, {show([count, *kept])})[{listed(flat.tolist())}]"
        return f"reshape({text}, {show([*whole, *kept])})"
    hits = []
    for n, one in enumerate(found):
        ones = [taken[n] if m == n else 1 for m in range(len(taken))]
        name = one.name if one.numbers is None else checked(one.numbers, taken[n]).tolist()
        stretched_name = f"expand({name}, {show(whole)})" if whole and one.shape != whole else name
        hit = f"one_hot({stretched_name}, {taken[n]})"
        hits.append(hit if len(taken) == 1 else f"reshape({hit}, {show([*whole, *ones])})")
    hit = "*".join(hits)
    if len(taken) > 1 or kept:
        hit = f"reshape({hit}, {show([*whole, count, *[1] * len(kept)])})"
    holds = f"{hit} == 1"
    values = f"reshape({x}, {show([*[1] * len(whole), count, *kept])})"
    return f"sum(where({holds}, {values}, 0), {len(whole)})"
