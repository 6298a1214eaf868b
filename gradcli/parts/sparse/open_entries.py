"""Why entries are open: each comes through a kink, or through a pole or the edge of a domain, as far as bounds tell.

Bounds say at which elements of a line there may be no derivative (`near_kinks`).  Index sets say which entries depend
on such an element: a row of y that depends on it, with a column of x that it depends on.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from gradcli.language.program.expansion import moving_lines
from gradcli.language.program.wengert import Atom, Line
from gradcli.parts.sparse.pattern import FollowedProgram
from gradcli.parts.sparse.pattern_bounds import Mask, SparseSubject
from gradcli.reference.array_values import Values
from gradcli.reference.deadline import OverTimeError
from gradcli.reference.dependencies import OverBudgetError
from gradcli.reference.near_kinks import kinks_and_others

POLE, KINK, OTHER = "at a pole or an edge of the domain", "at a kink", "elsewhere"
"""Kinds of open entries: those through a pole and a kink are of the first."""


def kinds_of(subject: SparseSubject, is_open: Mask) -> Mapping[str, Mask]:
    """Part the open entries by kind; {} where index sets or time do not reach."""
    with suppress(OverBudgetError, OverTimeError):
        return _OpenEntries(subject).kinds(is_open)
    return {}


class _OpenEntries:
    """The critical elements of a function, and the entries that come through them."""

    def __init__(self, subject: SparseSubject) -> None:
        self.pattern = subject.plan.pattern
        self.symbols = subject.symbols
        point = subject.point
        self.followed = FollowedProgram.from_inputs(point.program, point.shapes, point.inputs)
        program = self.followed.program
        self.moves = moving_lines(program, self.symbols)
        self.found = dict.fromkeys((KINK, POLE), np.zeros(self.pattern.count, dtype=bool))
        self.keys = self.pattern.rows.astype(np.int64) * self.pattern.shape[1] + self.pattern.columns
        self.conditions: dict[Atom, Mask] = {}
        # Evaluating the values calls `_see` with each line.
        _ = Values(program, self.followed.shapes, point.inputs, self.symbols, seen=self._see)

    def kinds(self, is_open: Mask) -> Mapping[str, Mask]:
        """Part the open entries."""
        pole = is_open & self.found[POLE]
        kink = is_open & self.found[KINK] & ~pole
        return {KINK: kink, POLE: pole, OTHER: is_open & ~kink & ~pole}

    def _see(self, values: Values, line: Line) -> None:
        """Mark the entries that come through critical elements of a line."""
        atom, kinks, others = kinks_and_others(values, line)
        shape = (1, *values.shapes.get(atom, ()))
        for kind, mask in ((KINK, kinks), (POLE, others)):
            if mask.any():
                self._mark(kind, atom, np.flatnonzero(np.broadcast_to(mask, shape)))

    def _mark(self, kind: str, atom: Atom, elements: np.ndarray) -> None:
        most = 4 * self.pattern.count + max(self.pattern.shape)
        rows, columns = self.followed.through(atom, elements, self.symbols, most)
        keys = rows.astype(np.int64) * self.pattern.shape[1] + columns
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        marked = self.found[kind].copy()
        marked[at[self.keys[at] == keys]] = True
        self.found[kind] = marked
