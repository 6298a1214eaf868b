"""Products of a Hessian with directions, each judged as the gradient of one more Program: Hu, and the rows of H.

Knows torch's numbers and how they are compared; the gradient beside them is judged elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import sympy
from flint import arb

from gradcli.check.compare import FIRST_BITS, Tolerance, compare
from gradcli.check.context import Point, Torch, unravel
from gradcli.check.crossings import Crossings, Second
from gradcli.check.judge import Judgement, judge
from gradcli.check.sample import SEED, pick
from gradcli.check.summary import Part
from gradcli.check.survey import Survey, Wiring
from gradcli.reference.balls import Ball, precision
from gradcli.reference.deadline import OverTimeError, require_time
from gradcli.reference.duals import Reference
from gradcli.reference.program_writer import NoTangentError
from gradcli.reference.tangent import Tangent, tangent
from gradcli.results import Array, Entry, Index, Verdict

ALL_ROWS = 32
"""Up to this many rows of a Hessian, every one is checked."""

SAMPLED_ROWS = 8
"""Rows of a sample."""

MOST_WORK = 240_000
"""Ball operations of all rows together, about a second; the first row is always checked."""

LOOK = 2_000
"""What looking around the point for one missing derivative counts."""

EXISTING: Collection[Verdict] = frozenset(["agree", "inaccurate", "nan-trap", "disagree"])
"""Verdicts on numbers whose truth exists at the point itself."""

_COMPARED: Collection[Verdict] = frozenset(["agree", "inaccurate", "disagree"])
"""Verdicts that need no look around the point."""


@dataclass(frozen=True)
class Slopes:
    """dy(x, u) as a Program, and the same as torch computes it, whose rounding is to explain torch's numbers."""

    dy: Tangent
    typed: Tangent

    @classmethod
    def of(cls, point: Point, moving: Collection[str]) -> Slopes:
        """For the variables that have a direction.

        Raises:
            NoTangentError: There is no such Program.
        """
        dy = tangent(point.program, point.shapes, moving)
        try:
            return cls(dy, tangent(point.typed, point.typed_shapes, moving, as_torch=True))
        except NoTangentError:
            return cls(dy, dy)

    def at(self, point: Point, u: Mapping[str, Array]) -> Point:
        """Them at x and u."""
        inputs = {**point.inputs, **{self.dy.directions[name]: array.astype(np.float64) for name, array in u.items()}}
        dy, typed = self.dy, self.typed
        return Point(typed.program, typed.shapes, dy.program, dy.shapes, inputs, tangent_of=(point, u))


@dataclass(frozen=True)
class Numbers:
    """Torch's numbers for one point, and how they are compared."""

    point: Point
    tolerance: Tolerance

    def torch(self, blocks: Mapping[str, Array]) -> Torch:
        """Blocks of a Jacobian, without y."""
        return Torch(self.tolerance.dtype, np.zeros(self.point.shape), blocks, judges_value=False)

    def crossings(self) -> Crossings:
        """What decides where branches or poles meet."""
        return Crossings(self.point, self.tolerance)

    def row(self, slopes: Slopes, u: Mapping[str, Array], row: Mapping[str, Array], wrt: tuple[str, ...]) -> Judgement:
        """What the judge says of one product of the Hessian with a direction."""
        there = slopes.at(self.point, u)
        blocks = {name: row[name].reshape(there.shape + row[name].shape) for name in wrt}
        return judge(there, replace(self.torch(blocks), value=np.zeros(there.shape)), wrt, self.tolerance)

    def settled(self, found: Judgement, slopes: Sequence[Entry], own: tuple[str, Index] | None) -> Iterator[Entry]:
        """The entries of a row; a limit is the derivative itself where the gradient exists at the point.

        The tangent of sqrt(x**4) is 0/0 at 0, and that function has two derivatives there.  That of relu(x)*y has the
        slope of one side of relu at 0, and torch may have taken another: nobody is wrong.

        Args:
            found: The judgement of the row.
            slopes: The entries of the gradient that the row is the derivative of.
            own: The one element of x that they are the slope by, None for several.
        """
        is_smooth = bool(slopes) and all(e.verdict in EXISTING for e in slopes)
        kink = next((e for e in slopes if e.verdict == "kink"), None)
        for entry in found.parts[0].decided:
            if entry.verdict == "disagree" and kink is not None:
                note = f"the gradient has a kink here, and torch picked {repr(kink.torch).removesuffix('.0')} for it"
                yield replace(entry, verdict="kink", truth=None, relative_error=None, note=note, proven=kink.proven)
                continue
            ball = entry.truth if entry.verdict == "removable" else None
            if own == (entry.variable, entry.column):
                ball = ball or _of_no_jump(entry)
            if not is_smooth or ball is None:
                yield entry
                continue
            blank = Entry(entry.variable, entry.row, entry.column, "unchecked", entry.torch)
            with precision(FIRST_BITS):
                again = compare(blank, ball, self.tolerance, is_last=True)
            if again is None or (again.verdict == "disagree" and not entry.proven):
                yield entry  # a limit that is inferred refutes nothing
                continue
            note = entry.note if entry.verdict == "removable" else ""
            yield replace(again, note=again.note or note, proven=False)


def _of_no_jump(entry: Entry) -> Ball | None:
    """The derivative where a slope only seems to jump, over the number that the tangent Program picks at a kink inside.

    A slope that exists has no jump along its own direction, by the theorem of Darboux: that of maximum(x, 0) +
    minimum(x, 0) is 1 at 0, as on both sides.
    """
    if entry.verdict != "kink" or entry.one_sided is None or entry.one_sided[0] != entry.one_sided[1]:
        return None
    return arb(entry.one_sided[0])


@dataclass
class Rows:
    """The rows of one Hessian, as many as the work allows."""

    numbers: Numbers
    gradient: Mapping[str, Array]
    hessian: Mapping[str, Mapping[str, Array]]
    wrt: tuple[str, ...]
    of_gradient: list[Entry]
    slopes: dict[str, Slopes] = field(default_factory=dict)

    @cached_property
    def crossings(self) -> Crossings:
        """For the rows and columns that meet at a kink, a pole or the end of a domain."""
        return self.numbers.crossings()

    def judged(self, beside: Part) -> Part:
        """The rows that were looked at, with the gradient."""
        sizes = {name: self.gradient[name].size for name in self.wrt}
        total = sum(sizes.values())
        entries: list[Entry] = []
        notes: dict[str, None] = {f"of the gradient: {note}": None for note in beside.notes}
        chosen, done, work = self._chosen(sizes, total), 0, 0
        for name, i in chosen:
            if done and work + work // done > MOST_WORK:
                break
            before, is_judged = self.crossings.work, True
            on_sides = self.crossings.all_settled(map(self._asked, self._unchecked(name, i)))
            if on_sides is None:
                try:
                    require_time()
                    found = self._row(name, i)
                except (NoTangentError, OverTimeError) as error:
                    notes[str(error)] = None
                    break
                index = unravel(i, self.gradient[name].shape)
                decided = self.numbers.settled(found, self._gradient_at(name, index), (name, index))
                own = [replace(e, row=index, by=name, of="hessian") for e in decided]
                on_sides = [self.crossings.settled(self._asked(e)) or e for e in own]
                is_judged = found.parts[0].chosen != "none"
                notes |= dict.fromkeys(found.parts[0].notes)
                work += found.evidence.work if found.evidence else 0
                work += LOOK * sum(e.verdict not in _COMPARED for e in found.entries)
            entries += on_sides
            work += self.crossings.work - before
            done += is_judged
        if beside.chosen != "all" and beside.entries:
            notes[f"of the gradient, {beside.checked:,} of {beside.entries:,} elements were checked"] = None
        words = _words(done, len(chosen), total, entries)
        is_whole = words == "all" and beside.is_whole
        return Part(total * total, [*entries, *self.of_gradient], words, tuple(notes), "hessian", is_whole)

    def _unchecked(self, name: str, i: int) -> Iterator[Entry]:
        """The entries of a row."""
        index, shape = unravel(i, self.gradient[name].shape), self.gradient[name].shape
        for other, block in self.hessian[name].items():
            row = block.reshape(math.prod(shape), -1)[i].tolist()
            columns = block.shape[len(shape) :]
            yield from (
                Entry(other, index, unravel(j, columns), "unchecked", number, of="hessian", by=name)
                for j, number in enumerate(row)
            )

    def _asked(self, entry: Entry) -> Second:
        return self.crossings.of_hessian(entry, float(self.gradient[entry.by or ""][entry.row or ()]))

    def _chosen(self, sizes: Mapping[str, int], total: int) -> list[tuple[str, int]]:
        """All rows of few, else those of critical elements, corners, those that show most, and a random rest."""
        places = [(name, i) for name in self.wrt for i in range(sizes[name])]
        if total <= ALL_ROWS:
            return places
        point = self.numbers.point
        wiring = Wiring(point, Reference(point.program, point.shapes, point.inputs))
        symbols = [sympy.Symbol(name, real=True) for name in self.wrt]
        critical, _, _ = Survey(wiring, self.numbers.torch({}), symbols).places(SAMPLED_ROWS // 2)
        scores = np.concatenate([self._scores(name) for name in self.wrt])
        picked = pick(scores, SAMPLED_ROWS, np.random.default_rng(SEED))
        rows = [*((str(symbol), i) for symbol, i in critical), *(places[n] for n in picked)]
        return list(dict.fromkeys(rows))[:SAMPLED_ROWS]

    def _scores(self, name: str) -> Array:
        """The largest magnitude in each row; what is not finite shows most."""
        scores = np.zeros(self.gradient[name].size)
        for block in self.hessian[name].values():
            rows = block.reshape(len(scores), block.size // max(1, len(scores)))  # not -1: there may be no rows
            largest = np.abs(rows).max(axis=1, initial=0.0)
            scores = np.maximum(scores, np.where(np.isfinite(largest), largest, np.inf))
        return scores

    def _row(self, name: str, i: int) -> Judgement:
        point, shape = self.numbers.point, self.gradient[name].shape
        if name not in self.slopes:
            self.slopes[name] = Slopes.of(point, (name,))
        unit = np.zeros(shape)
        unit.reshape(-1)[i] = 1.0
        row = {
            b: block.reshape(unit.size, -1)[i].reshape(block.shape[len(shape) :])
            for b, block in self.hessian[name].items()
        }
        return self.numbers.row(self.slopes[name], {name: unit}, row, self.wrt)

    def _gradient_at(self, name: str, index: Index) -> list[Entry]:
        """What was decided of this element of the gradient."""
        return [e for e in self.of_gradient if e.variable == name and e.column == index]


def _words(done: int, chosen: int, total: int, entries: Sequence[Entry]) -> str:
    """How the rows were chosen."""
    if not entries:
        return "none"
    if done == total:
        return "all" if len(entries) == total * total else f"all rows, columns sampled, seed {SEED}"
    shown = f"{done:,} of {total:,} rows"
    if chosen == total:
        return f"{shown}: as many as the budget allows"
    return f"{shown}: corners, extremes and a sample, seed {SEED}"
