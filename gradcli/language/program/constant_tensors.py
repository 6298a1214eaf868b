"""Constant tensors that a text has by their numbers: those that code draws, and long tensors of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradcli.arrays import AnyArray

MOST_WRITTEN = 16
"""Most numbers of a constant tensor that are written out."""

LARGEST_WHOLE = 2**53
"""Bound of whole numbers that floats hold without gaps."""

FIRST = 3
"""First numbers of a longer one that are written."""


@dataclass(frozen=True, repr=False)
class DrawnNumbers:
    """Numbers that code draws.

    Attributes:
        data: In row-major order.
        shown: The function that draws them, and its place among all draws of the text.
        is_whole: Whether they are of a type of whole numbers.
    """

    data: bytes
    shown: str
    is_whole: bool = False

    def __repr__(self) -> str:
        return self.shown


def constant_tensor(numbers: AnyArray) -> DrawnNumbers:
    """Wrap the numbers of a constant tensor, of which the first ones are shown where there are many.

    >>> constant_tensor(np.array([2, 0, 1])), constant_tensor(np.arange(20) % 7)
    ([2, 0, 1], [0, 1, 2, ..., 5])
    >>> constant_tensor(np.array([0, 0.25]))
    [0.0, 0.25]
    """
    array = np.asarray(numbers, dtype=np.float64)
    is_whole = (np.abs(array) < LARGEST_WHOLE) & (array == np.round(array))
    written = array.astype(np.int64) if is_whole.all() else array
    first, last = (written.ravel()[part].tolist() for part in (slice(0, FIRST), slice(-1, None)))
    shown = f"[{', '.join(map(str, first))}, ..., {last[0]}]" if array.size > MOST_WRITTEN else ""
    return DrawnNumbers(array.tobytes(), shown or str(written.tolist()), is_whole=True)
