"""Choice of the entries to check: all where there are few, else critical ones, corners, extremes and a seeded sample.

Before any entry is enclosed, one look at every element of the function in float64, and at the wiring of its
operations, shows which entries are 0 by structure and which a sample must not leave out; that proves no number.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.arrays import Array
from gradcli.crosscheck.compare import spaced
from gradcli.crosscheck.point import MOST_ELEMENTS, FunctionAtPoint, Numbers
from gradcli.language.program.wengert import Atom
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.dependencies import Flat, OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import MOST_FOLLOWED_PAIRS, Reference
from gradcli.results import Entry, NumberKind

if TYPE_CHECKING:
    from gradcli.reference.near_kinks import Critical

MOST_ODD = 64
"""Most numbers to judge among those that are not 0 in torch although the truth is 0 by structure."""

Pattern = Mapping[sympy.Symbol, tuple[Flat, Flat]]
"""Rows and columns of the entries of a block that may differ from 0, by variable."""


@dataclass(frozen=True)
class Survey:
    """Entries of J, or of vᵀJ where J was not computed."""

    point: FunctionAtPoint
    reference: Reference
    numbers: Numbers
    variables: Sequence[sympy.Symbol]

    @cached_property
    def sizes(self) -> Mapping[sympy.Symbol, int]:
        """Number of elements of each variable."""
        return {symbol: math.prod(self.point.shapes[symbol]) for symbol in self.variables}

    @property
    def entries(self) -> int:
        """Number of entries; without variables, of elements of y."""
        if not self.variables:
            return self.numbers.value.size
        return self.numbers.rows * sum(self.sizes.values())

    @property
    def kind(self) -> NumberKind:
        """Kind of the entries; without variables, that of the elements of y."""
        return "value" if not self.variables else "vjp" if "jacobian" not in self.numbers.derivatives else "jacobian"

    @cached_property
    def pattern(self) -> Pattern | None:
        """Flat rows (-1 for vᵀJ) and columns of the entries that may differ from 0; None where they are not known."""
        found: dict[sympy.Symbol, tuple[Flat, Flat]] = {}
        if "jacobian" not in self.numbers.derivatives:
            if self._moving is None or "vjp" not in self.numbers.derivatives:
                return None
            for symbol in self.variables:
                columns = self._moving.get(symbol, np.empty(0, dtype=np.int64))
                found[symbol] = np.full_like(columns, -1), columns
            return found
        if max(self.sizes.values(), default=0) > MOST_FOLLOWED_PAIRS:
            return None
        ends = np.cumsum([0, *self.sizes.values()]).tolist()
        places = dict(zip(self.sizes, itertools.pairwise(ends), strict=True))
        start = {symbol: (np.arange(first, end), np.arange(end - first)) for symbol, (first, end) in places.items()}
        try:  # all variables at once, as each walk goes over all lines
            columns, rows = self.reference.wide.followed(start)
        except OverBudgetError:
            return None
        for symbol, (first, end) in places.items():
            is_own = (columns >= first) & (columns < end)
            found[symbol] = rows[is_own], columns[is_own] - first
        return found

    @property
    def nonzeros(self) -> float:
        """Number of entries that may differ from 0; infinite where it is not known."""
        return math.inf if self.pattern is None else sum(len(rows) for rows, _ in self.pattern.values())

    @property
    def zeros(self) -> int:
        """Number of entries that are 0 by structure, and in torch's numbers."""
        return 0 if self.pattern is None else self.entries - int(self.nonzeros) - self.odd[1]

    @cached_property
    def odd(self) -> tuple[list[Entry], int]:
        """First `MOST_ODD` entries that are 0 by structure and not in torch's numbers, and the number of all such."""
        is_matrix, found, count = "jacobian" in self.numbers.derivatives, list[Entry](), 0
        for symbol, place in (self.pattern or {}).items():
            block = self.numbers.block(str(symbol))
            is_odd = np.asarray(block != 0)
            is_odd[place] = False
            count += int(np.count_nonzero(is_odd))
            odd = np.argwhere(is_odd)[: MOST_ODD - len(found)].tolist() if count else []
            found += [self.point.entry(str(symbol), i if is_matrix else None, j, block[i, j]) for i, j in odd]
        return found, count

    @cached_property
    def _moving(self) -> Mapping[Atom, Flat] | None:
        """Elements on which the rows of y with a weight in v depend; None where they are too many to follow."""
        output = self.reference.program.output
        size = self.numbers.value.size
        vs = self.numbers.passes or (() if self.numbers.v is None else (self.numbers.v,))
        is_weighted = "jacobian" not in self.numbers.derivatives and bool(vs)
        rows = np.flatnonzero(np.any([v.ravel() for v in vs], axis=0)) if is_weighted else np.arange(size)
        try:
            return self.reference.wide.backward_closure({output: rows})
        except (OverBudgetError, OverTimeError):
            return None

    # -- entries that a sample must not leave out

    def places(self, most: int) -> tuple[list[Direction], list[int], str]:
        """Return the columns of critical elements, the rows that these elements move, and in words those left out.

        Args:
            most: The most columns, and the most rows; every operation has its share.
        """
        found = self.point.critical
        if found is None:
            return [], [], f"kinks were not looked for, as there are more than {MOST_ELEMENTS:,} elements"
        groups = list(self._groups(found))
        share = max(1, most // max(1, len(groups)))
        directions: dict[Direction, None] = {}
        rows: dict[int, None] = {}
        left = Counter[str]()
        for name, atom, elements, count in groups:
            taken, columns = self._columns(atom, elements, share)
            directions |= dict.fromkeys(columns)
            if "jacobian" in self.numbers.derivatives or not self.variables:
                rows |= dict.fromkeys(self._rows(atom, elements[:: 1 + len(elements) // max(1, taken)], share))
            if (columns or not self.variables) and count > taken:
                left[name] += count - taken
        words = []
        if left:
            of = ", ".join(f"{count:,} of {name}" for name, count in left.items())
            words.append(f"more elements at or next to a kink, a jump or an edge of a domain were not looked at: {of}")
        if found.unknown:
            words.append(f"kinks behind {', '.join(found.unknown)} were not looked for")
        return list(directions)[:most], list(rows)[:most], "; ".join(words)

    def _groups(self, found: Critical) -> Iterator[tuple[str, Atom, Flat, int]]:
        """Yield the critical elements of each operation that move y."""
        for spots in found.spots:
            atom = self.reference.renamed.get(spots.atom, spots.atom)
            elements = spots.elements
            if self._moving is not None:
                # A kink in an element that reaches no judged row of y, or none with a weight in v, shows in no entry.
                elements = elements[np.isin(elements, self._moving.get(atom, ()))]
            if len(elements):
                yield spots.name, atom, elements, max(1, spots.count * len(elements) // len(spots.elements))

    def _columns(self, atom: Atom, elements: Flat, most: int) -> tuple[int, list[Direction]]:
        """Choose columns of some elements, and estimate how many of the elements they cover."""
        chosen = spaced(elements.tolist(), most)
        try:
            backward_closure = self.reference.wide.backward_closure({atom: np.array(chosen)})
        except OverBudgetError:
            return 0, []
        columns = [(symbol, int(j)) for symbol in self.variables for j in backward_closure.get(symbol, ())]
        kept = spaced(columns, most)
        return len(chosen) * len(kept) // len(columns) if columns else len(chosen), kept

    def _rows(self, atom: Atom, elements: Flat, most: int) -> list[int]:
        try:
            _, rows = self.reference.wide.followed({atom: (np.zeros_like(elements), elements)})
        except OverBudgetError:
            return []
        return [int(row) for row in np.unique(rows)][:: 1 + len(rows) // most] if len(rows) else []


ALL_ENTRIES = 1_024
"""Most entries that may differ from 0 to check all of; of more entries, a sample."""

SAMPLE = 256
"""Entries of a sample, if the reference's budget admits them; else a quarter, a sixteenth, and so on."""

LEAST_SAMPLE = 8
"""Fewest entries that are a sample of more."""

SPARSE = 4
"""Most entries of a column that may differ from 0, on average, to look at all of them."""

SEED = 0
"""Seed of all samples."""


@dataclass(frozen=True)
class Selection:
    """Columns of the Jacobian, and the rows of y to look at in them; None for all rows.

    Attributes:
        chosen: The way of the choice, in words; `all` if every entry that may differ from 0 is chosen.
        directions: The columns.
        rows: The rows.
        is_sparse: Whether only entries that may differ from 0 are judged, as the others are known to be 0.
        note: The remark on critical elements that were left out.
    """

    chosen: str
    directions: list[Direction]
    rows: Flat | None
    is_sparse: bool = False
    note: str = ""


def selections(survey: Survey) -> Iterator[Selection]:
    """Yield ways to choose among the entries, from all of them to very few."""
    if survey.entries <= ALL_ENTRIES:
        yield Selection("all", [(symbol, j) for symbol, size in survey.sizes.items() for j in range(size)], None)
    elif survey.pattern is not None and survey.nonzeros <= ALL_ENTRIES:
        reached = {symbol: np.unique(columns).tolist() for symbol, (_, columns) in survey.pattern.items()}
        odd, count = survey.odd
        words = "all" if count == len(odd) else f"all but {count - len(odd):,} that are 0 by structure"
        yield Selection(words, [(symbol, j) for symbol, columns in reached.items() for j in columns], None, True)
    for most in (SAMPLE, SAMPLE // 4, SAMPLE // 16, 1):
        yield _sampled(survey, most)


def _sampled(survey: Survey, most: int) -> Selection:
    """Choose critical entries, up to three quarters; then the largest, corners and a random rest."""
    generator = np.random.default_rng(SEED)
    numbers, point = survey.numbers, survey.point
    most_rows = min(most // max(1, min(sum(survey.sizes.values()), math.isqrt(most))), point.rows)
    a_column = survey.nonzeros / max(1, sum(survey.sizes.values()))
    is_narrow = a_column <= SPARSE
    is_matrix = "jacobian" in numbers.derivatives
    most_columns = most // (max(1, math.ceil(a_column)) if is_narrow else most_rows) if is_matrix else most
    critical, rows, note = survey.places(max(1, 3 * most_columns // 4))
    directions = dict.fromkeys(critical)
    for symbol in survey.sizes:
        picked = pick(_column_scores(numbers, str(symbol)), most_columns, generator)
        directions |= dict.fromkeys((symbol, j) for j in picked[: max(most_columns - len(critical), most_columns // 4)])
    found = list(directions) if most > 1 else list(directions)[: len(survey.sizes)]
    is_of_columns = not is_matrix and survey.variables
    chosen_rows = None
    if not is_of_columns and not (is_narrow and survey.variables):
        own = _rows(numbers, found, most_rows, generator)
        chosen_rows = np.unique(np.concatenate([np.array(rows[: max(1, most_rows)], dtype=np.int64), own]))
    return Selection(f"sampled, seed {SEED}", found, chosen_rows, survey.pattern is not None, note)


def _column_scores(numbers: Numbers, name: str) -> npt.NDArray[np.float64]:
    """Score each column by its largest magnitude, infinite where it or a y that it reaches is not finite."""
    block, lost = magnitude(numbers.block(name)), ~np.isfinite(numbers.value).ravel()
    if "jacobian" not in numbers.derivatives:
        return np.where(lost, np.inf, block[0]) if lost.size == block.size else block[0]
    block[lost] = np.where(block[lost] > 0, np.inf, 0.0)
    return np.asarray(block.max(axis=0, initial=0.0))


def _rows(numbers: Numbers, directions: Sequence[Direction], most: int, generator: np.random.Generator) -> Flat:
    """Choose flat rows: those where y is not finite, the largest of each column, corners and a random rest."""
    shown = directions[:most] if numbers.derivatives.get("jacobian") else []
    tops = [int(magnitude(numbers.block(str(s))[:, j]).argmax()) for s, j in shown]
    lost = np.flatnonzero(~np.isfinite(numbers.value.ravel()))[:most].tolist()
    return np.unique([*lost, *tops, *pick(np.zeros(numbers.value.size), most, generator)]).astype(np.int64)


def magnitude(block: Array) -> npt.NDArray[np.float64]:
    """Return the magnitude of each number; infinite for NaN."""
    size = np.abs(block).astype(np.float64)
    return np.where(np.isfinite(size), size, np.inf)


def pick(scores: npt.NDArray[np.float64], most: int, generator: np.random.Generator) -> list[int]:
    """Choose positions: both ends, the largest scores (a quarter of `most`), and a random rest."""
    if len(scores) <= most:
        return list(range(len(scores)))
    largest = max(1, most // 4)
    extremes = np.argpartition(scores, -largest)[-largest:].tolist()
    order = [*extremes, 0, len(scores) - 1, *generator.integers(0, len(scores), 2 * most).tolist()]
    return list(dict.fromkeys(order))[:most]
