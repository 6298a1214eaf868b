"""What a script is to compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradcli.language.program.wengert import Program
from gradcli.results import Array


@dataclass(frozen=True)
class Task:
    """A function at a point with a gradient vector.

    Attributes:
        program: The function.
        arrays: The value of every variable, in the dtype of the computation.
        wrt: The variables to differentiate by.
        dtype: Of the computation.
        v: The gradient vector, of y's shape; a Program in y and the variables; None for the implicit 1.
        named: Values that only v names.
    """

    program: Program
    arrays: Mapping[str, Array]
    wrt: tuple[str, ...]
    dtype: str
    v: Array | Program | None
    named: Mapping[str, Array]
