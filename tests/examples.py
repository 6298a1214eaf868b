"""Counts of the cases that a test tries: the profile of conftest decides, and a test says only what it weighs.

What many similar cases show, a few show in each run, chosen by what they go through; all do in `pytest -m thorough`.
The mark `one_in(n)` leaves to each run one in n of the cases that it has, and conftest the others to the thorough one.

Random tests draw the same in each run, and anew with `GRADCLI_SEED=anew` or the profile `thorough`; the end of the run
then prints the number that draws the same again.  A draw that fails is kept: its seed, which the failure shows, in the
table `KEPT` of the module, or the arguments that hypothesis prints as an `@example` of the test.
"""

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import settings

from gradcli.language.ops import Op

USUAL = 100
"""Examples of a test that says nothing, in the profile `thorough`."""


SEED = "SEED_OF_TESTS"
"""Variable of the number that is added to each seed, which conftest sets for all processes of a run."""


def seeds(first: int, many: int, kept: Sequence[int] = ()) -> list[int]:
    """List the seeds of so many draws from the first one on, or of others where draws are made anew; and those kept."""
    first += int(os.environ.get(SEED, "0"))
    return [*kept, *range(first, first + many)]


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
    return [_param(case, is_plain=n % of == turn) for n, case in enumerate(cases)]


def one_in(cases: Sequence[Any], many: int) -> list[Any]:
    """Leave all but the first of so many cases, of those that are in each run, to `pytest -m thorough`."""
    usual = [n for n, case in enumerate(cases) if not is_thorough(case)]
    return [_param(case, is_plain=n in usual[::many]) for n, case in enumerate(cases)]


def one_by_one(cases: Iterable[Any]) -> list[Any]:
    """Wrap cases of one argument, so that one which is a tuple stays one."""
    return [case if hasattr(case, "marks") else (case,) for case in cases]


def all_but(cases: Iterable[Any], *left: int) -> list[Any]:
    """Leave the cases at these places, whose like is among the others, to `pytest -m thorough`."""
    return [_param(case, is_plain=n not in left) for n, case in enumerate(cases)]


def own_rules(rows: Iterable[Op], turn: int, of: int = 4) -> list[Any]:
    """Leave half of the rows of the op table that have a rule, and most of the others, to `pytest -m thorough`.

    A primitive has a rule in each reading, and some others have an adjoint; the rest runs by the rules of these.  Tests
    whose turns differ by one try different halves.

    Args:
        rows: The rows.
        turn: Which half, and which of the others, are tried in each run.
        of: Of how many others one is.
    """
    params, ruled, others = [], 0, 0
    for row in rows:
        has_rule = row.is_primitive or bool(row.adjoints)
        params.append(_param(row, is_plain=ruled % 2 == turn % 2 if has_rule else others % of == turn))
        ruled, others = ruled + has_rule, others + (not has_rule)
    return params


def first_of_each(cases: Iterable[Any], kind: Callable[..., Hashable], few: int = 1) -> list[Any]:
    """Leave all but the first few cases of each kind, which a function of a case tells, to `pytest -m thorough`."""
    seen, params = Counter[Hashable](), []
    for case in cases:
        seen[one := kind(*_values(case))] += 1
        params.append(_param(case, is_plain=seen[one] <= few))
    return params


def in_turn(cases: Iterable[Any], *others: Any) -> list[Any]:
    """Pair each case with one of the others in turn, such as a dtype; its other pairs are for `pytest -m thorough`."""
    params, turn = [], 0
    for case in cases:
        params += [
            _param(case, *_values(other), is_plain=(turn + m) % len(others) == 0) for m, other in enumerate(others)
        ]
        turn += not is_thorough(case)
    return params


def _values(case: Any) -> tuple[Any, ...]:
    """The values of a case: what `pytest.param` has been given, a tuple, or one value."""
    return getattr(case, "values", case) if isinstance(case, tuple) else (case,)


def is_thorough(case: Any) -> bool:
    """Tell whether a case is left to the thorough run already."""
    return "thorough" in {mark.name for mark in getattr(case, "marks", ())}


def _param(case: Any, *more: Any, is_plain: bool) -> Any:
    """Make a case of a test, for the thorough run alone if it is not plain, or was not before."""
    marks = tuple(getattr(case, "marks", ()))
    if not is_plain and not is_thorough(case):
        marks = (*marks, pytest.mark.thorough)
    return pytest.param(*_values(case), *more, marks=marks)
