"""Which entries are checked: all where there are few, else critical ones, corners, extremes and a seeded sample.

What is known of all entries before any is enclosed, which are 0 by structure and which a sample must not leave out, is
seen by looking at every element of the function once in float64, and at the wiring of its operations; that proves no
number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy

from gradcli.crosscheck.compare import spaced
from gradcli.crosscheck.point import MOST_ELEMENTS, Point, Torch
from gradcli.crosscheck.summary import SEED, Family
from gradcli.language.program.wengert import Atom
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.dependencies import Flat, OverBudgetError
from gradcli.reference.enclosure_pass import Direction
from gradcli.reference.enclosure_plan import MOST, Reference
from gradcli.reference.near_kinks import critical
from gradcli.results import Array

if TYPE_CHECKING:
    from gradcli.reference.near_kinks import Spots

MOST_ODD = 64
"""Numbers of torch that are not 0 where the truth is 0 by structure, which are judged."""

Pattern = Mapping[sympy.Symbol, tuple[Flat, Flat]]
"""By variable, rows and columns of the entries of a block that may differ from 0."""

Odd = tuple[str, int, int]
"""Variable, column and row of an entry; the row is -1 of vᵀJ."""


@dataclass(frozen=True)
class Survey:
    """The entries of J, or of vᵀJ where J was not computed."""

    point: Point
    reference: Reference
    torch: Torch
    variables: Sequence[sympy.Symbol]

    @cached_property
    def sizes(self) -> Mapping[sympy.Symbol, int]:
        """The elements of each variable."""
        return {symbol: math.prod(self.point.shapes[symbol]) for symbol in self.variables}

    @property
    def entries(self) -> int:
        """How many there are; without variables, elements of y."""
        if not self.variables:
            return self.torch.value.size
        return (1 if self.torch.jacobian is None else self.torch.value.size) * sum(self.sizes.values())

    @property
    def family(self) -> Family:
        """What they are; without variables, elements of y."""
        return "y" if not self.variables else "vjp" if self.torch.jacobian is None else "J"

    @cached_property
    def pattern(self) -> Pattern | None:
        """Flat (-1 of vᵀJ) and columns of the entries that may differ from 0; None where that is not known."""
        if self.torch.jacobian is not None:
            return self._of_matrix()
        moving = self._moving
        if moving is None or self.torch.vjp is None:
            return None
        nothing = np.empty(0, dtype=np.int64)
        found = {symbol: moving.get(symbol, nothing) for symbol in self.variables}
        return {symbol: (np.full_like(columns, -1), columns) for symbol, columns in found.items()}

    def _of_matrix(self) -> Pattern | None:
        if max(self.sizes.values(), default=0) > MOST:
            return None
        ends = np.cumsum([0, *self.sizes.values()]).tolist()
        ranges = dict(zip(self.sizes, itertools.pairwise(ends), strict=True))
        try:
            start = {symbol: (np.arange(*ends), np.arange(ends[1] - ends[0])) for symbol, ends in ranges.items()}
            columns, rows = self.reference.wide.followed(start)
        except OverBudgetError:
            return None
        own = {symbol: (columns >= first) & (columns < end) for symbol, (first, end) in ranges.items()}
        return {symbol: (rows[own[symbol]], columns[own[symbol]] - first) for symbol, (first, _) in ranges.items()}

    @property
    def nonzeros(self) -> float:
        """How many entries may differ from 0, as far as that is known."""
        return math.inf if self.pattern is None else sum(len(rows) for rows, _ in self.pattern.values())

    @property
    def zeros(self) -> int:
        """How many are 0 by structure, and in torch's numbers."""
        return 0 if self.pattern is None else self.entries - int(self.nonzeros) - self.odd_count

    @cached_property
    def odd_count(self) -> int:
        """How many are 0 by structure and not in torch's numbers."""
        return sum(int(np.count_nonzero(self._is_odd(symbol))) for symbol in self.pattern or ())

    @cached_property
    def odd(self) -> list[Odd]:
        """The first `MOST_ODD` entries that are 0 by structure and not in torch's numbers."""
        is_matrix = self.torch.jacobian is not None
        found = [
            (str(symbol), j, row if is_matrix else -1)
            for symbol in (self.pattern or {} if self.odd_count else {})
            for row, j in np.argwhere(self._is_odd(symbol))[:MOST_ODD].tolist()
        ]
        return found[:MOST_ODD]

    def _is_odd(self, symbol: sympy.Symbol) -> npt.NDArray[np.bool_]:
        is_odd = np.asarray(self.block(symbol) != 0)
        is_odd[(self.pattern or {})[symbol]] = False
        return is_odd

    def block(self, symbol: sympy.Symbol) -> Array:
        """Torch's numbers with the columns on the second axis."""
        is_matrix = self.torch.jacobian is not None
        blocks = self.torch.jacobian if self.torch.jacobian is not None else self.torch.vjp or {}
        return blocks[str(symbol)].reshape(self.torch.value.size if is_matrix else 1, self.sizes[symbol])

    @cached_property
    def _moving(self) -> Mapping[Atom, Flat] | None:
        """The elements that y is made of, as far as v has weights for it; None where they are too many to follow."""
        output = self.reference.program.output
        size = self.torch.value.size
        vs = self.torch.passes or (() if self.torch.v is None else (self.torch.v,))
        is_weighted = self.torch.jacobian is None and bool(vs)
        rows = np.flatnonzero(np.any([v.ravel() for v in vs], axis=0)) if is_weighted else np.arange(size)
        try:
            return self.reference.wide.made_of({output: rows})
        except (OverBudgetError, OverTimeError):
            return None

    # -- what a sample must not leave out

    def places(self, most: int) -> tuple[list[Direction], list[int], str]:
        """The columns of critical elements and the rows that they move, and what is left out, in words.

        Args:
            most: How many columns, and rows, about; every operation has its share.
        """
        found = self.point.critical
        if found is None:
            return [], [], f"kinks were not looked for, as there are more than {MOST_ELEMENTS:,} elements"
        groups = [(spots, *self._moved(spots)) for spots in found.spots]
        share = max(1, most // max(1, sum(len(elements) > 0 for _, _, elements in groups)))
        columns, rows, left = dict[Direction, None](), dict[int, None](), dict[str, None]()
        for spots, atom, elements in groups:
            chosen = np.array(spaced(elements.tolist(), share), dtype=np.int64)
            own: list[Direction] = []
            with suppress(OverBudgetError):
                made_of = self.reference.wide.made_of({atom: chosen})
                own = [(symbol, int(j)) for symbol in self.variables for j in made_of.get(symbol, ())]
            if self.torch.jacobian is not None or not self.variables:
                with suppress(OverBudgetError):
                    _, reached = self.reference.wide.followed({atom: (np.zeros_like(chosen), chosen)})
                    rows |= dict.fromkeys(spaced(np.unique(reached).tolist(), share))
            columns |= dict.fromkeys(spaced(own, share))
            if len(elements) and (len(chosen) < spots.count or len(own) > share):
                left[spots.name] = None
        names, unknown, words = ", ".join(left), ", ".join(found.unknown), []
        if names:
            words.append(
                f"more elements at or next to a kink, a jump or an edge of a domain were not looked at: {names}"
            )
        if unknown:
            words.append(f"kinks behind {unknown} were not looked for")
        return list(columns)[:most], list(rows)[:most], "; ".join(words)

    def _moved(self, spots: Spots) -> tuple[Atom, Flat]:
        """The critical elements that move y: in what reaches no row, or none with a weight, no kink can show."""
        atom = self.reference.renamed.get(spots.atom, spots.atom)
        known = self._moving
        return atom, spots.elements if known is None else np.intersect1d(spots.elements, known.get(atom, ()))


ALL_ENTRIES = 1_024
"""Up to this many entries that may differ from 0, every one is checked."""

SAMPLE = 256
"""Entries of a sample, if the reference's budget admits them; else a quarter, a sixteenth, and so on."""

SPARSE = 4
"""Entries of a column that may differ from 0, on average, up to which all of its rows are looked at."""


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
    rows: Flat | None
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
    torch, point = survey.torch, survey.point
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


def _rows(torch: Torch, directions: Sequence[Direction], most: int, generator: np.random.Generator) -> Flat:
    """Flat where y is not finite, the row that shows most in each column, corners and a random rest."""
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


MOST_POINTS = 16
"""Points whose numbers are judged; of more, a sample."""

MOST_CRITICAL = 12
"""Of them, points at or next to a kink."""


def critical_points(point: Point, arrays: Mapping[str, Array], names: Sequence[str], count: int) -> list[int]:
    """The points at or next to a kink, a jump, or an edge of a domain: a few of each operation, in turn.

    Args:
        point: The first of them.
        arrays: The value of every variable.
        names: Those that differ between points.
        count: How many there are.
    """
    largest = max((math.prod(shape) for shape in point.shapes.values()), default=0)
    rows = max(1, MOST_ELEMENTS // max(1, largest))
    found: dict[Atom, list[int]] = {}
    for first in range(0, count, rows):
        part = {name: array[first : first + rows] if name in names else array for name, array in arrays.items()}
        for spots in critical(point.program, point.shapes, part, names).spots:
            own = found.setdefault(spots.atom, [])
            fresh = np.unique(spots.points)[: MOST_CRITICAL - len(own)]
            own += (first + fresh).tolist()
    turns = itertools.zip_longest(*found.values())
    return list(dict.fromkeys(place for turn in turns for place in turn if place is not None))


_LOST = 4
"""Rows with a number that is not finite that are held."""


@dataclass
class Held:
    """A row, with the numbers that were found there, and what messages call it."""

    number: int
    inputs: Mapping[str, Array]
    values: tuple[Array, ...]
    called: str = ""


@dataclass
class Sample:
    """The rows that are held, by why they are: those with the smallest scores, of each kind.

    A score follows from the row and its number alone, so that the samples of the parts of a table, joined in any
    order, are that of the whole.

    Attributes:
        most: Rows that are judged.

    >>> x, sample = np.arange(-500.0, 500.0), Sample()
    >>> for part in (slice(600, 1000), slice(0, 600)):
    ...     one = Sample()
    ...     one.see(np.arange(2, 1002)[part], {"x": x[part]}, (x[part] ** 2,))
    ...     sample.join(one)
    >>> found = [held.number for held in sample.rows()]
    >>> len(found), found[0], 502 in found, found[-1]
    (16, 2, True, 1001)
    """

    most: int = MOST_POINTS
    kept: dict[str, list[tuple[float, Held]]] = field(default_factory=dict)

    @property
    def wants_critical(self) -> bool:
        """Whether more rows at kinks can be held."""
        return len(self.kept.get("critical", ())) < MOST_CRITICAL

    def see(
        self,
        numbers: npt.NDArray[Any],
        inputs: Mapping[str, Array],
        values: tuple[Array, ...],
        critical: Sequence[int] = (),
        called: Callable[[int], str] = lambda row: "",
    ) -> None:
        """Look at some rows.

        Args:
            numbers: The place of each in their source, ascending.
            inputs: The variables, of shape (N, *x.shape).
            values: The quantities, of shape (N, *shape).
            critical: Places of rows at or next to a kink, or another place where there may be no derivative.
            called: What messages call the row at a place.
        """
        count = len(numbers)
        if not count:
            return

        def keep(why: str, scores: Array) -> None:
            kept, most = self.kept.setdefault(why, []), self._room(why)
            # Most rows of a long stream fail this, so that a block costs one comparison.
            fresh = np.flatnonzero(scores < (kept[-1][0] if len(kept) == most else np.inf))
            for row in fresh[np.argsort(scores[fresh], kind="stable")[:most]].tolist():
                # Copies, as a view would keep the whole block in memory.
                own = {name: array[row].copy() for name, array in inputs.items()}
                held = Held(int(numbers[row]), own, tuple(array[row].copy() for array in values), called(row))
                kept.append((float(scores[row]), held))
            self._cut(why)

        order = numbers.astype(np.float64)
        at_kinks = np.full(count, np.inf)
        at_kinks[list(critical)] = order[: len(critical)]
        sizes = {f"{place} {name}": _sizes(array) for place, (name, array) in enumerate(inputs.items())}
        sizes |= {f"{place} out": _sizes(array) for place, array in enumerate(values)}
        lost = np.any([np.isinf(size) for size in sizes.values()], axis=0)
        keep("critical", at_kinks)
        keep("first", order)
        keep("last", -order)
        keep("lost", np.where(lost, order, np.inf))
        keep("random", _random(numbers))
        for name, size in sizes.items():
            keep(f"least {name}", size)
            # Infinite sizes have their own list; here they would hide the largest finite row.
            keep(f"most {name}", np.where(np.isinf(size), 1.0, -size))

    def join(self, other: Sample) -> None:
        """Add the rows of a sample of other rows."""
        for why, kept in other.kept.items():
            self.kept.setdefault(why, []).extend(kept)
            self._cut(why)

    def facts(self) -> dict[str, Any]:
        """Describe the sample for JSON: each row once, and its scores."""
        rows = {held.number: held for kept in self.kept.values() for _, held in kept}
        listed = [
            [one.number, one.called, {name: array.tolist() for name, array in one.inputs.items()},
             [array.tolist() for array in one.values], one.values[0].dtype.name]
            for one in rows.values()
        ]  # fmt: skip
        scores = {why: [[score, held.number] for score, held in kept] for why, kept in self.kept.items()}
        return {"most": self.most, "rows": listed, "kept": scores}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Sample:
        """Rebuild a sample from its `facts`."""
        rows = {}
        for number, called, inputs, values, dtype in facts["rows"]:
            arrays = {name: np.array(one, np.float64) for name, one in inputs.items()}
            rows[number] = Held(number, arrays, tuple(np.array(one, dtype) for one in values), called)
        kept = {why: [(score, rows[number]) for score, number in pairs] for why, pairs in facts["kept"].items()}
        return cls(facts["most"], kept)

    def rows(self) -> list[Held]:
        """The sample: at most `most` rows by their numbers, those at kinks first where it is too small."""
        if not self.kept:
            return []
        critical, first, last, lost, rest, *others = ([row for _, row in kept] for kept in self.kept.values())
        extremes = list(itertools.chain(*others))
        order: dict[int, Held] = {}
        for row in [*critical, *first, *last, *lost, *extremes[: self.most // 2], *rest, *extremes]:
            order.setdefault(row.number, row)
        chosen = list(order.values())[: self.most]
        return sorted(chosen, key=lambda row: row.number)

    def _room(self, why: str) -> int:
        """How many rows are held for a reason."""
        return {"critical": MOST_CRITICAL, "lost": _LOST, "random": self.most}.get(why, 1)

    def _cut(self, why: str) -> None:
        once = {pair[1].number: pair for pair in self.kept[why]}.values()
        self.kept[why] = sorted(once, key=lambda pair: (pair[0], pair[1].number))[: self._room(why)]


def _random(numbers: npt.NDArray[Any]) -> Array:
    """Hash the numbers of the rows to scores from 0 to 1.

    Source: SplitMix64 of G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    mixed = (numbers.astype(np.uint64) + np.uint64(SEED + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Array = ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return found


def _sizes(array: Array) -> Array:
    """The largest magnitude in each row; infinite where one is not finite."""
    sizes: Array = magnitude(array.reshape(len(array), math.prod(array.shape[1:]))).max(axis=1, initial=0.0)
    return sizes
