"""Constant tensors, `linspace(0, 1, 5)`: their shapes and their numbers in float64, the same for every reading.

Random numbers come from NumPy's PCG64 with the seed that is written, 0 by default.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.errors import GradcliError, InputError, TooLargeError
from gradcli.language.program.indexing import Shape
from gradcli.language.program.wengert import Call

MOST_CACHED = 8
"""Tensors that are kept for the next reading."""

LARGEST_CACHED = 2**20
"""Elements of one that is kept: 64 MiB in all, as a process that answers many questions keeps them for good."""


def shape_of(call: Call) -> Shape:
    """The shape of a constant tensor.

    Raises:
        InputError: sizes that are not whole numbers from 0 on, a step of 0.
    """
    a = call.statics
    match call.op.name:
        case "linspace":
            _require_finite(call)
            return (_size(call, a[2]),)
        case "arange":
            start, stop, step = bounds(call)
            if step == 0 or (stop - start) / step < 0:
                raise _refused(call, "a step is not 0 and leads from start to end")
            length = math.ceil((stop - start) / step)
            return (_size(call, length),)
        case "eye":
            return _size(call, a[0]), _size(call, a[0] if a[1] is None else a[1])
        case "rand" | "randn" if a[1] < 0:
            raise _refused(call, "a seed is a whole number from 0 on")
        case _:
            sizes = a[0] if isinstance(a[0], tuple) else (a[0],)
            return tuple(_size(call, n) for n in sizes)


def bounds(call: Call) -> tuple[Any, Any, Any]:
    """Start, end and step of an `arange`, whose start may be left out."""
    _require_finite(call)
    start, stop, step = call.statics
    return (0, start, step) if stop is None else (start, stop, step)


def array_of(call: Call) -> npt.NDArray[np.float64]:
    """The numbers of a constant tensor; not to be written to."""
    shape = shape_of(call)
    made = _kept if math.prod(shape) <= LARGEST_CACHED else _made
    return made(call.op.name, call.statics, shape)


@lru_cache(maxsize=MOST_CACHED)
def _kept(name: str, a: tuple[Any, ...], shape: Shape) -> npt.NDArray[np.float64]:
    return _made(name, a, shape)


def _made(name: str, a: tuple[Any, ...], shape: Shape) -> npt.NDArray[np.float64]:
    match name:
        case "linspace":
            with np.errstate(all="ignore"):
                array = np.linspace(a[0], a[1], shape[0])
        case "arange":
            start, step = (0 if a[1] is None else a[0]), a[2]
            array = np.asarray(start + step * np.arange(shape[0]), dtype=np.float64)
        case "eye":
            array = np.eye(shape[0], shape[1])
        case "zeros":
            array = np.zeros(shape)
        case "ones":
            array = np.ones(shape)
        case "full":
            array = np.full(shape, float(a[1]))
        case "rand":
            array = np.random.default_rng(a[1]).random(shape)
        case _:
            array = np.random.default_rng(a[1]).standard_normal(shape)
    array.setflags(write=False)
    return array


def _require_finite(call: Call) -> None:
    if not all(math.isfinite(a) for a in call.statics if isinstance(a, int | float)):
        raise _refused(call, "its numbers are finite")


def _size(call: Call, size: Hashable) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise _refused(call, "sizes are whole numbers from 0 on")
    if size >= 2**40:
        raise TooLargeError(f"{call.op.name} of {size:,} elements along one dimension")
    return size


def _refused(call: Call, hint: str) -> GradcliError:
    signature = ", ".join(call.op.signature)
    return InputError(f"{call.op.name}({signature}) does not take these arguments", hint=hint)
