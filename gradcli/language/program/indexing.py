"""Constant indices, `x[0, 1:, None]`: how they are held, and which elements they name."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradcli.errors import ShapeError

Shape = tuple[int, ...]

NEW = "None"
"""The index `None`: a new dimension of size 1."""


def show(shape: Shape) -> str:
    """A shape as Python writes it: `()`, `(2,)`, `(2, 3)`."""
    return str(tuple(shape))


@dataclass(frozen=True, slots=True)
class Slice:
    """`start:stop:step` with a positive step; None as in Python."""

    start: int | None
    stop: int | None
    step: int = 1

    def range(self, size: int) -> range:
        """The positions it takes of a dimension of this size."""
        return range(*slice(self.start, self.stop, self.step).indices(size))

    def __str__(self) -> str:
        bounds = f"{'' if self.start is None else self.start}:{'' if self.stop is None else self.stop}"
        return bounds if self.step == 1 else f"{bounds}:{self.step}"


class Axis(NamedTuple):
    """Where an indexed dimension comes from: `source` of the operand, at start + step*i; source -1 is new."""

    source: int
    start: int
    step: int
    size: int


def as_key(key: Hashable) -> tuple[Any, ...]:
    """A parsed index as the tuple that NumPy and torch take."""
    words: dict[Hashable, Any] = {"...": Ellipsis, NEW: None}
    items = key if isinstance(key, tuple) else (key,)
    return tuple(slice(k.start, k.stop, k.step) if isinstance(k, Slice) else words.get(k, k) for k in items)


def indexed_axes(shape: Shape, key: Hashable) -> tuple[list[Axis], dict[int, int]]:
    """How `x[key]` maps back: one `Axis` per dimension of the result, and the positions of the dropped dimensions.

    Raises:
        ShapeError: an index outside of its dimension, or more of them than dimensions.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    taken = sum(item not in ("...", NEW) for item in items)
    if items.count("...") > 1:
        raise ShapeError("only one ... may stand in an index", hint="it stands for all the dimensions left")
    if taken > len(shape):
        plural = "index" if taken == 1 else "indices"
        hint = f"it takes at most {len(shape)}" if shape else "it is one number"
        raise ShapeError(f"{taken} {plural} for the shape {show(shape)}", hint=hint)
    rest: list[Hashable] = [Slice(None, None)] * (len(shape) - taken)
    at = items.index("...") if "..." in items else len(items)
    items[at : at + 1] = rest
    axes: list[Axis] = []
    dropped: dict[int, int] = {}
    source = 0
    for item in items:
        if item == NEW:
            axes.append(Axis(-1, 0, 0, 1))
            continue
        size = shape[source]
        if isinstance(item, Slice):
            chosen = item.range(size)
            axes.append(Axis(source, chosen.start, chosen.step, len(chosen)))
        elif isinstance(item, int):
            if not -size <= item < size:
                raise ShapeError(
                    f"the index {item} is outside dimension {source} of the shape {show(shape)}",
                    hint=f"it has {size} elements, counted from 0",
                )
            dropped[source] = item % size
        source += 1
    return axes, dropped
