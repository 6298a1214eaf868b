"""Facts of an operation that are more than a text or a number: what it folds by, runs along, and chooses between."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum


class Monoid(Enum):
    """An associative operation of two with its identity: what a reduction or a scan folds its elements by."""

    SUM = "add", 0.0
    PRODUCT = "mul", 1.0
    LARGEST = "maximum", -math.inf
    SMALLEST = "minimum", math.inf

    def __init__(self, operation: str, identity: float) -> None:
        self.operation = operation
        self.identity = identity

    @property
    def is_extreme(self) -> bool:
        """Whether it takes one of the two and leaves the other."""
        return self in (Monoid.LARGEST, Monoid.SMALLEST)


class Along(Enum):
    """What an operation runs along."""

    ONE = "one dimension, which may be left out where there is only one"
    SEVERAL = "one dimension, several, or all of them"


@dataclass(frozen=True)
class Branches:
    """The operands of a choice by a condition, by their names.

    Attributes:
        condition: What decides.
        first: What is taken where it holds.
        second: What is taken elsewhere.
    """

    condition: str
    first: str
    second: str
