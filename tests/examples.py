"""Counts of the cases that a test tries: the profile of conftest decides, and a test says only what it weighs."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

USUAL = 100
"""Examples of a test that says nothing, in the profile `thorough`."""


def examples(many: int) -> int:
    """Take the share that the profile in force has of so many examples."""
    return max(1, many * settings().max_examples // USUAL)


def quarter(cases: Iterable[Any], turn: int) -> list[Any]:
    """Leave all but each fourth case, from the one at `turn` on, to `pytest -m thorough`.

    Of the rows of the op table, which many tests sweep, so that each row has its turn in some of them.
    """
    return part(cases, turn, of=4)


def part(cases: Iterable[Any], turn: int, of: int) -> list[Any]:
    """Leave all but each case of so many, from the one at `turn` on, to `pytest -m thorough`."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=() if n % of == turn else pytest.mark.thorough
        )
        for n, case in enumerate(cases)
    ]


def in_turn(cases: Iterable[Any], *others: Any) -> list[Any]:
    """Pair each case with one of the others in turn, such as a dtype; its other pairs are for `pytest -m thorough`."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            *(other if isinstance(other, tuple) else (other,)),
            marks=() if (n + m) % len(others) == 0 else pytest.mark.thorough,
        )
        for n, case in enumerate(cases)
        for m, other in enumerate(others)
    ]
