"""What is asked of advisers: a function at a point, and numbers of torch there that cannot be trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from gradcli.crosscheck.judge import Judgement
from gradcli.language.program.torch_passes import RecordPasses
from gradcli.language.program.wengert import Atom, Program, Shape
from gradcli.results import Array, Entry, Verdict


@dataclass(frozen=True)
class AdvisedPoint:
    """A function at a point.

    Attributes:
        program: The function as typed.
        shapes: The shapes of its symbols.
        inputs: The value of every variable, of the dtype.
        wrt: The variables of the derivatives.
        dtype: `float64` or `float32`.
        record: Records torch's own passes.
    """

    program: Program
    shapes: Mapping[Atom, Shape]
    inputs: Mapping[str, Array]
    wrt: tuple[str, ...]
    dtype: str
    record: RecordPasses


@dataclass(frozen=True)
class JudgedForm:
    """Another text of the same function at the same point.

    Attributes:
        verdict: The verdict on torch's numbers for it.
        nans: How many of these are NaN.
        nan_derivatives: How many of those that are NaN are derivatives.
    """

    verdict: Verdict
    nans: int
    nan_derivatives: int


def count_nans(entries: Iterable[Entry]) -> int:
    """Count the numbers of torch that are NaN."""
    return sum(entry.torch is not None and math.isnan(entry.torch) for entry in entries)


JudgeForm = Callable[[str], JudgedForm | None]
"""Judge of another text of the same function at the same point; None where it cannot be run."""


class Adviser(Protocol):
    """Adviser: explains numbers that cannot be trusted."""

    def explained(self, point: AdvisedPoint, judgement: Judgement, v: Array | None) -> Judgement:
        """Name in the findings the operations at fault; `v` is the gradient vector, if the numbers have one."""

    def advised(self, point: AdvisedPoint, judgement: Judgement, v: Array | None, judge_form: JudgeForm) -> Judgement:
        """Name the operations at fault, and add a form of the function with a better verdict, if there is one.

        Raises:
            OverTimeError: The time of the check is over.
        """

    def forms_that_lose_less(self, point: AdvisedPoint) -> Iterator[str]:
        """Yield other forms of the function that lose fewer digits at the point, the best first.

        Raises:
            OverTimeError: The time is over.
        """
