"""Passes of torch through a Program, as a Program: a recording of them, for readings that know no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from gradcli.language.program.wengert import Atom, Program

Way = Literal["back", "columns", "twice"]
"""Direction: back from y; back through that pass, to its seed; or back from the gradient of a y of one element."""

OF_Y = ""
"""Name that stands for y among the names of variables."""


@dataclass(frozen=True)
class TorchPasses:
    """Forward pass and the operations of torch on its way back.

    Attributes:
        program: All lines, in primitives and elementwise operations as torch's kernels have them.
        inputs: The value of every variable; those of the seeds are zeros.
        seeds: The variables that a pass begins with, each with the name of the variable, or y, whose shape it has.
        results: The values that a pass ends with, by variable; None where nothing flows to the variable.
        value: The symbol that holds y.
        faults: The known faults of torch's kernels among them.
        wrong: The formulas of torch's among them that are wrong here, which no rounding explains.
        conditions: Values, where they are asked for, by which torch decides what it does: where each is what it is at
            the recorded point, torch runs the same operations.
        is_of_user: Whether code of a user ran on the way back, as in a custom function or a hook.
        decided: Those by which code decides on its way to y, each with what it decides and where, in words.
    """

    program: Program
    inputs: Mapping[str, npt.NDArray[np.float64]]
    seeds: Mapping[str, str]
    results: Mapping[str, Atom | None]
    value: Atom
    faults: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    conditions: tuple[Atom, ...] = ()
    is_of_user: bool = False
    decided: Mapping[Atom, str] = field(default_factory=dict)


RecordPasses = Callable[..., TorchPasses | None]
"""Recorder of passes: of a way, a Program, its inputs, the variables to go back to, a dtype, a flag for kernels that
are known to be wrong, which are then replaced by correct ones, and one for the conditions of decisions; None where a
call cannot be recorded."""
