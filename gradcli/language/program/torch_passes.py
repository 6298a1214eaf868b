"""Torch's passes through a Program, as a Program: what a recording of them gives, for readings that know no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gradcli.language.program.wengert import Atom, Program

Way = Literal["back", "columns", "twice"]
"""Back from y; back through that pass, to its seed; or back from the gradient of a y of one element."""

OF_Y = ""
"""What stands for y among the names of variables."""


@dataclass(frozen=True)
class TorchPasses:
    """A forward pass and what torch does on its way back.

    Attributes:
        program: All lines, in primitives and elementwise operations as torch's kernels have them.
        inputs: The value of every variable; those of the seeds are zeros.
        seeds: The variables that hold what a pass begins with, by the name of what that has the shape of.
        results: The values that hold what it ends with, by variable; None of what nothing flows to.
        value: What holds y.
        faults: What torch's kernels among them are known to do.
    """

    program: Program
    inputs: Mapping[str, npt.NDArray[np.float64]]
    seeds: Mapping[str, str]
    results: Mapping[str, Atom | None]
    value: Atom
    faults: tuple[str, ...] = ()


RecordPasses = Callable[..., TorchPasses | None]
"""Records them: of a way, a Program, its inputs, the variables to go back to, a dtype, and whether kernels that are
known to be wrong are taken as they should be; None where a call cannot be recorded."""
