"""Numbers from elsewhere in Python: nested lists, NumPy arrays, torch tensors, and objects with `__array__`.

Recognizes these by their methods: neither torch nor pandas is imported for a value that is not theirs.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gradcli.arrays import AnyArray


class ArrayLike(Protocol):
    """Object with an `__array__` method: a torch tensor, a pandas Series or DataFrame."""

    def __array__(self) -> AnyArray:
        """Return its numbers."""
        ...


_HINTS = {
    "O": "nested lists need equal lengths; of a table, take a column of numbers without gaps",
    "U": 'write numbers without quotes, or all of them as one text, such as "1, 2"',
    "M": "take the time since a date, in a unit of your own, as numbers",
    "m": "divide by a unit of time first",
    "c": "complex numbers are not read; their real and imaginary parts are two values",
}
"""Hint on a value that is not real numbers, by the kind of its dtype."""


class NoNumbersError(Exception):
    """Refusal of a value that is not an array of real numbers, with its reason and a hint."""

    def __init__(self, reason: str, hint: str = _HINTS["O"]) -> None:
        super().__init__(reason)
        self.hint = hint


def numbers(value: object) -> npt.NDArray[np.float64]:
    """Convert a value that is not text to a new float64 array; tensors leave their graph and device.

    Raises:
        NoNumbersError: Some elements are not real numbers, or are masked.

    >>> numbers([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    try:
        array = np.asarray(unwrapped(value))
    except (TypeError, ValueError, RuntimeError) as error:  # torch raises a RuntimeError
        raise NoNumbersError(" ".join(str(error).split())) from None
    kind = array.dtype.kind
    if kind not in "biuf":
        raise NoNumbersError(f"dtype {array.dtype}", _HINTS.get(kind, _HINTS["O"]))
    return array.astype(np.float64)


def unwrapped(value: Any) -> Any:
    """Replace tensors by arrays of NumPy, in lists too."""
    if isinstance(value, list | tuple):
        return value if all(type(item) in (int, float) for item in value) else [unwrapped(item) for item in value]
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise NoNumbersError("elements of it are masked", "fill them first, or leave them out")
    if getattr(value, "is_meta", False):
        raise NoNumbersError(
            "a tensor on the meta device has a shape and no numbers", "give a tensor of another device"
        )
    if hasattr(value, "detach") and hasattr(value, "cpu"):  # float64 holds every number of torch's floating-point types
        found = value.cpu()  # some devices have no float64
        return (found.double() if found.is_floating_point() else found).numpy(force=True)
    return value
