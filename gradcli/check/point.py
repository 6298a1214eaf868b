"""What there is to check: a Program at a point, and torch's numbers there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradcli.language.program import Atom, Program
from gradcli.language.shapes import Shape
from gradcli.results import Array


@dataclass(frozen=True)
class Point:
    """The Program of primitives at a point: the shapes of all symbols, and the float64 values of the variables."""

    program: Program
    shapes: Mapping[Atom, Shape]
    inputs: Mapping[str, npt.NDArray[np.float64]]

    @property
    def rows(self) -> int:
        """The number of elements of y."""
        return math.prod(self.shapes.get(self.program.output, ()))


@dataclass(frozen=True)
class Torch:
    """What torch computed.

    Attributes:
        dtype: `float64` or `float32`.
        jacobian: Blocks of shape y.shape + x.shape by variable, if they were computed.
        v: The gradient vector, of y's shape, if there is a vector-Jacobian product.
        vjp: The vector-Jacobian product by variable, of x's shape.
    """

    dtype: str
    jacobian: Mapping[str, Array] | None
    v: Array | None = None
    vjp: Mapping[str, Array] | None = None


def unravel(position: int, shape: Shape) -> tuple[int, ...]:
    """The index of a flat row-major position.

    >>> unravel(5, (2, 3))
    (1, 2)
    """
    return tuple(int(n) for n in np.unravel_index(position, shape)) if shape else ()
