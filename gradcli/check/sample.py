"""Which entries are checked: all where there are few, else critical ones, corners, extremes and a seeded sample."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gradcli.check.point import Torch
from gradcli.check.survey import Survey
from gradcli.reference.running import Direction

ALL_ENTRIES = 1_024
"""Up to this many entries that may differ from 0, every one is checked."""

SAMPLE = 256
"""Entries of a sample, if the reference's budget admits them; else a quarter, a sixteenth, and so on."""

SPARSE = 4
"""Entries of a column that may differ from 0, on average, up to which all of its rows are looked at."""

SEED = 0
"""Of the sample."""

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Selection:
    """Columns of the Jacobian, and the rows of y to look at in them; None for all rows.

    Attributes:
        chosen: How, in words; `all` if every entry that may differ from 0 is among them.
        directions: The columns.
        rows: The rows.
        is_sparse: Whether only entries that may differ from 0 are judged, as the others are known to be 0.
        note: What was left out that a sample should have.
    """

    chosen: str
    directions: list[Direction]
    rows: Rows | None
    is_sparse: bool = False
    note: str = ""


def selections(survey: Survey) -> Iterator[Selection]:
    """Ways to choose among the entries, from all of them to very few."""
    if survey.entries <= ALL_ENTRIES:
        yield Selection("all", [(symbol, j) for symbol, size in survey.sizes.items() for j in range(size)], None)
    elif survey.pattern is not None and survey.nonzeros <= ALL_ENTRIES:
        reached = {symbol: np.unique(columns).tolist() for symbol, (_, columns) in survey.pattern.items()}
        is_all = survey.odd_count == len(survey.odd)
        words = "all" if is_all else f"all but {survey.odd_count - len(survey.odd):,} that are 0 by structure"
        yield Selection(words, [(symbol, j) for symbol, columns in reached.items() for j in columns], None, True)
    for most in (SAMPLE, SAMPLE // 4, SAMPLE // 16, 1):
        yield _sampled(survey, most)


def _sampled(survey: Survey, most: int) -> Selection:
    """Critical entries first, up to three quarters; then what shows most, corners and a random rest."""
    generator = np.random.default_rng(SEED)
    torch, point = survey.torch, survey.wiring.point
    most_rows = min(most // max(1, min(sum(survey.sizes.values()), math.isqrt(most))), point.rows)
    a_column = survey.nonzeros / max(1, sum(survey.sizes.values()))
    is_narrow = a_column <= SPARSE
    most_columns = most if torch.jacobian is None else most // (max(1, math.ceil(a_column)) if is_narrow else most_rows)
    critical, rows, note = survey.places(max(1, 3 * most_columns // 4))
    directions = dict.fromkeys(critical)
    for symbol, size in survey.sizes.items():
        picked = pick(_column_scores(torch, str(symbol), size), most_columns, generator)
        directions |= dict.fromkeys((symbol, j) for j in picked[: max(most_columns - len(critical), most_columns // 4)])
    found = list(directions) if most > 1 else list(directions)[: len(survey.sizes)]
    is_of_columns = torch.jacobian is None and survey.variables
    chosen_rows = None
    if not is_of_columns and not (is_narrow and survey.variables):
        own = _rows(torch, found, most_rows, generator)
        chosen_rows = np.unique(np.concatenate([np.array(rows[: max(1, most_rows)], dtype=np.int64), own]))
    return Selection(f"sampled, seed {SEED}", found, chosen_rows, survey.pattern is not None, note)


def _column_scores(torch: Torch, name: str, size: int) -> npt.NDArray[np.float64]:
    """How much each column shows: its largest magnitude, infinite where it or a y that it reaches is not finite."""
    if torch.jacobian is None:
        scores = magnitude((torch.vjp or {})[name]).reshape(size)
        own = ~np.isfinite(torch.value)
        return np.where(own.ravel(), np.inf, scores) if own.size == size else scores
    block = magnitude(torch.jacobian[name]).reshape(torch.value.size, size)
    lost = ~np.isfinite(torch.value).ravel()
    block[lost] = np.where(block[lost] > 0, np.inf, 0.0)
    return np.asarray(block.max(axis=0, initial=0.0))


def _rows(torch: Torch, directions: Sequence[Direction], most: int, generator: np.random.Generator) -> Rows:
    """Rows where y is not finite, the row that shows most in each column, corners and a random rest."""
    blocks, size = torch.jacobian or {}, torch.value.size
    tops = [int(magnitude(blocks[str(s)]).reshape(size, -1)[:, j].argmax()) for s, j in directions[:most]]
    lost = np.flatnonzero(~np.isfinite(torch.value.ravel()))[:most].tolist()
    return np.unique([*lost, *tops, *pick(np.zeros(size), most, generator)]).astype(np.int64)


def magnitude(block: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """The size of each number; infinite for NaN."""
    size = np.abs(block).astype(np.float64)
    return np.where(np.isfinite(size), size, np.inf)


def pick(scores: npt.NDArray[np.float64], most: int, generator: np.random.Generator) -> list[int]:
    """Positions: both ends, the largest quarter of `most`, and a random rest."""
    if len(scores) <= most:
        return list(range(len(scores)))
    largest = max(1, most // 4)
    extremes = np.argpartition(scores, -largest)[-largest:].tolist()
    order = [*extremes, 0, len(scores) - 1, *generator.integers(0, len(scores), 2 * most).tolist()]
    return list(dict.fromkeys(order))[:most]
