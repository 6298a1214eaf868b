"""Type of the arrays that all rooms hand on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating[Any]]
"""Array of floating-point numbers, of any shape."""

AnyArray = npt.NDArray[Any]
"""Array of any type of elements: numbers, balls, words."""

FloatType = type[np.floating[Any]]
"""Format of floating-point numbers, float32 or float64."""
