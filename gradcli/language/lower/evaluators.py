"""How lines are evaluated while others are read, for constants and sizes: handed in, as it expands meanings itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.language.program.wengert import Atom, Call, Program, Shape

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """What NumPy and the rules of shapes say.

    Attributes:
        run: The value of a Program at values of its variables.
        infer: The shapes of all values of a Program, from those of its variables.
        shape_of: The shape of a call's result, from those of its operands.
        count_of: The size of a shape along a dimension.
    """

    run: Callable[[Program, Mapping[Atom, Array]], Array]
    infer: Callable[[Program, Mapping[Atom, Shape]], Mapping[Atom, Shape]]
    shape_of: Callable[[Call, list[Shape]], Shape]
    count_of: Callable[[Shape, Any], int]
