"""Elements at the positions that tensors of whole numbers name, `x[idx]`, and what is put there.

Constant positions are an index of the language; those of a variable choose by a comparison with every position that
there is, so that every reading follows what it can do anyway.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradcli.errors import ShapeError
from gradcli.language.program.movement import NEW, Slice, broadcast, indexed_axes
from gradcli.language.program.wengert import Shape, show

_Places: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]


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


def checked(numbers: npt.NDArray[Any], size: int) -> _Places:
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
    whole = Slice(None, None)
    basic = [whole if isinstance(item, Positions) else item for item in items]
    sizes = tuple(axis.size for axis in indexed_axes(shape, tuple(basic))[0])
    if any(item not in (whole, "...") for item in basic):
        x = f"{x}[{', '.join(map(str, basic))}]"
    more = len(shape) - sum(item not in ("...", NEW) for item in items)
    full = [one for item in items for one in ([whole] * more if item == "..." else [item])]
    kept = [item for item in full if not isinstance(item, int)]
    found = {axis: item for axis, item in enumerate(kept) if isinstance(item, Positions)}
    numbers = {axis: checked(one.numbers, sizes[axis]) for axis, one in found.items() if one.numbers is not None}
    if len(numbers) < len(found):
        return _chosen(x, sizes, found, numbers)
    (first, places), *others = numbers.items()
    if others:
        key = tuple(numbers.get(axis, slice(None)) for axis in range(len(sizes)))
        places = np.arange(math.prod(sizes)).reshape(sizes)[key]
        x, first, after = f"reshape({x}, -1)", 0, places.shape
    else:
        after = (*sizes[:first], *places.shape, *sizes[first + 1 :])
    text = f"{x}[{':, ' * first}{listed(places.ravel().tolist())}]"
    return text if places.ndim == 1 and not others else f"reshape({text}, {show(after)})"


def _chosen(x: str, sizes: Shape, found: Mapping[int, Positions], numbers: Mapping[int, _Places]) -> str:
    """The elements at positions along some dimensions, which broadcast, where not all are known."""
    axes = [*found]
    others = [n for n in range(len(sizes)) if n not in found]
    taken, kept = [sizes[n] for n in axes], [sizes[n] for n in others]
    whole = broadcast([one.shape for one in found.values()])
    hits = []
    for n, (axis, one) in enumerate(found.items()):
        name = numbers[axis].tolist() if axis in numbers else one.name
        stretched = f"expand({name}, {show(whole)})" if one.shape != whole else name
        ones = [size if m == n else 1 for m, size in enumerate(taken)]
        hit = f"one_hot({stretched}, {sizes[axis]})"
        hits.append(hit if len(sizes) == 1 else f"reshape({hit}, {show([*whole, *ones, *[1] * len(kept)])})")
    x = x if axes + others == sorted(axes + others) else f"permute({x}, {show(axes + others)})"
    rank, first = len(whole), axes[0] if axes == [*range(axes[0], axes[-1] + 1)] else 0
    summed = tuple(range(rank, rank + len(axes)))
    text = f"sum(where({'*'.join(hits)} == 1, {x}, 0), {show(summed)})"
    order = [*range(rank, rank + first), *range(rank), *range(rank + first, rank + len(others))]
    return f"permute({text}, {show(order)})" if first else text
