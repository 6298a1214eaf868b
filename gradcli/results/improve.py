"""What improve answers: the best form of a function, what it loses beside what is typed, and how it is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gradcli.results.answers import Reply
from gradcli.results.comparing import Comparable
from gradcli.results.verdicts import Array

Outcome = Literal["better", "fine", "none"]
"""A better form was found; what is typed needs none; or no better form was found."""

Bits = tuple[int | None, ...]
"""Bits that are lost; None where the truth is not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Strip(Comparable):
    """Bits that are lost at some magnitudes of a variable: the most of all points around each.

    Attributes:
        variable: Its name; empty where the places are points.
        places: The magnitudes as numbers of the variable; or what the points are called.
        before: By the function as it is typed.
        after: By the better form; empty where there is none.
    """

    variable: str
    places: tuple[float | str, ...]
    before: Bits
    after: Bits = ()


@dataclass(frozen=True, slots=True, eq=False)
class BitsLost(Comparable):
    """The bits that are lost over all points.

    Attributes:
        worst: The most at one point.
        mean: Over the points.
    """

    worst: int
    mean: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Improvement(Reply):
    """The form of a function that loses the fewest digits at points, or over a range.

    Attributes:
        output: What y is called.
        dtype: `float64` or `float32`, which the digits are lost in.
        inputs: The values that were given, by variable.
        ranges: The ranges that were given, by variable, as typed.
        outcome: Whether there is a better form.
        form: Its text; what is typed, where there is none.
        reasons: What it avoids.
        same: How it is known to be the same function: `proved`, or `enclosed` at points alone; empty where it is what
            is typed.
        domain: Where it is the same.
        switches: Where one form takes over from another in it, such as `x < 0.5`.
        bits: Of a number of the dtype.
        points: How many points were measured.
        before: What is lost by the function as it is typed; None where that is not known.
        after: What is lost by the better form.
        strips: The same by magnitude, a strip a variable.
        notes: What else there is to say.

    >>> from gradcli import Function
    >>> answer = Function("1 - cos(x)").improve({"x": 1e-8})
    >>> answer.form, answer.same, answer.before.worst, answer.passed
    ('2*sin(x/2)**2', 'proved', 53, True)
    """

    output: str
    dtype: str
    inputs: Mapping[str, Array]
    ranges: Mapping[str, str]
    outcome: Outcome
    form: str
    reasons: tuple[str, ...] = ()
    same: Literal["", "proved", "enclosed"] = ""
    domain: str = ""
    switches: tuple[str, ...] = ()
    bits: int
    points: int
    before: BitsLost | None = None
    after: BitsLost | None = None
    strips: tuple[Strip, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether a better form was found, or nothing needs one."""
        return self.outcome != "none"
