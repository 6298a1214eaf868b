"""Backward passes of a script, each with its answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field

from gradcli.results.answers import VJP
from gradcli.results.record import Record
from gradcli.results.verdicts import SEVERITY, Check
from gradcli.showing import ShownInALine


class Pass(Record, ShownInALine):
    """A backward pass of a script.

    Attributes:
        number: Its number, from 1 on.
        where: The line of the script, `train.py, line 7`.
        seconds: How long its answer took.
        norms: The Euclidean norm of the gradients by the parameters of each module, and by tensors of none as "".
        answers: The product, its check and its formulas, for each v; by each tensor that is no leaf there is one more.
        nonfinite: The places where infinity and NaN begin.
        refusal: The error that there is in place of an answer.
        is_excused: Whether the refusal is torch's own, or there is nothing to answer: no error for the exit code.
        is_judged: Whether the pass was to be answered; others are only looked at.
        noticed: What is new in a pass that is only looked at.
    """

    number: int
    where: str
    seconds: float
    norms: Mapping[str, float] = field(default_factory=dict)
    answers: tuple[VJP, ...] = ()
    nonfinite: tuple[str, ...] = ()
    refusal: Exception | None = None
    is_excused: bool = False
    is_judged: bool = True
    noticed: tuple[str, ...] = ()

    @property
    def norm(self) -> float:
        """The Euclidean norm of all gradients together."""
        return math.hypot(*self.norms.values())

    @property
    def worst(self) -> Check | None:
        """The check with the worst verdict of all v; None where nothing was compared."""
        checks = [one.check for one in self.answers if one.check is not None]
        return max(checks, key=lambda one: (SEVERITY.index(one.verdict), not one.is_minor), default=None)

    @property
    def is_wrong(self) -> bool:
        """Tell whether the pass has an answer whose check finds more than minor lost digits."""
        return self.worst is not None and self.worst.verdict != "agree" and not self.worst.is_minor
