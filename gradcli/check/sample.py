"""Which entries are checked: all where there are few, else corners, extremes and a seeded sample."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.check.point import Point, Torch
from gradcli.reference.duals import Direction

ALL_ENTRIES = 1_024
"""Up to this many entries, every one is checked."""

SAMPLE = 256
"""Entries of a sample, if the reference's budget admits them; else a quarter, a sixteenth, and so on."""

SEED = 0
"""Of the sample."""

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Selection:
    """Columns of the Jacobian, and the rows of y to look at in them; None for all rows."""

    chosen: str
    directions: list[Direction]
    rows: Rows | None


def selections(point: Point, torch: Torch, variables: Sequence[sympy.Symbol], entries: int) -> Iterator[Selection]:
    """Ways to choose among this many entries, from all of them to very few."""
    sizes = {symbol: math.prod(point.shapes[symbol]) for symbol in variables}
    if entries <= ALL_ENTRIES:
        yield Selection("all", [(symbol, j) for symbol, size in sizes.items() for j in range(size)], None)
    for most in (SAMPLE, SAMPLE // 4, SAMPLE // 16, 1):
        generator = np.random.default_rng(SEED)
        most_rows = min(most // max(1, min(sum(sizes.values()), math.isqrt(most))), point.rows)
        columns = most if torch.jacobian is None else most // most_rows
        directions = [
            (symbol, j)
            for symbol, size in sizes.items()
            for j in pick(_column_scores(torch, str(symbol), size), columns, generator)
        ]
        is_of_columns = torch.jacobian is None and variables
        rows = None if is_of_columns else _rows(torch, directions, most_rows, generator)
        yield Selection(f"sampled, seed {SEED}", directions, rows)


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
