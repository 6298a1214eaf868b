"""What can be known of a Jacobian from the wiring of the Program alone: which entries are 0 whatever the numbers are.

Elements are followed through the Program as `Footprint` has them, without a number being looked at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from gradcli.language.program.wengert import Atom
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import Flat, Footprint, TooManyError

MOST = 2**18
"""Elements, or pairs of them, that are followed through one line, some milliseconds."""

Pattern = Mapping[sympy.Symbol, tuple[Flat, Flat]]
"""By variable, rows and columns of the entries of a block that may differ from 0."""


@dataclass(frozen=True)
class Structure:
    """The wiring of the Program of a reference."""

    reference: Reference

    @property
    def _footprint(self) -> Footprint:
        return Footprint(self.reference.shapes, MOST)

    def pattern(self, variables: Sequence[sympy.Symbol]) -> Pattern | None:
        """The entries of the Jacobian that may differ from 0; None where they are too many to follow.

        >>> from gradcli.language.parsing import parse
        >>> from gradcli.language.program.expansion import in_primitives
        >>> program = in_primitives(parse("cumsum(x**2, 0)"))
        >>> x = program.variables[0]
        >>> shapes = {symbol: (3,) for symbol in (x, *(line.symbol for line in program.lines))}
        >>> found = Structure(Reference(program, shapes, {"x": np.ones(3)})).pattern([x])
        >>> [array.tolist() for array in found[x]]
        [[0, 1, 2, 1, 2, 2], [0, 0, 0, 1, 1, 2]]
        """
        start, first = {}, 0
        for symbol in variables:
            size = math.prod(self.reference.shapes[symbol])
            if size > MOST:
                return None
            start[symbol] = np.arange(first, first + size), np.arange(size)
            first += size
        try:
            columns, rows = self._followed(start)
        except TooManyError:
            return None
        found = {}
        for symbol, (numbers, _) in start.items():
            own = np.isin(columns, numbers)
            found[symbol] = rows[own], columns[own] - (numbers[0] if len(numbers) else 0)
        return found

    def rows_of(self, atom: Atom, elements: Flat) -> Flat:
        """The flat rows of y that some elements move.

        Raises:
            TooManyError: There are too many to follow.
        """
        return self._followed({atom: (np.zeros_like(elements), elements)})[1]

    def made_of(self, atom: Atom, elements: Flat) -> Mapping[Atom, Flat]:
        """All elements that some elements are made of.

        Raises:
            TooManyError: There are too many to follow.
        """
        footprint = self._footprint
        known: dict[Atom, Flat] = {}
        lists: dict[Atom, list[Flat]] = {atom: [elements]}
        for line in reversed(self.reference.program.lines):
            if line.symbol in lists:
                known[line.symbol] = own = _distinct(lists.pop(line.symbol))
                for k, operand in enumerate(line.call.operands):
                    if isinstance(operand, sympy.Symbol):
                        lists.setdefault(operand, []).append(footprint.down(line, k, own)[1])
        return known | {symbol: _distinct(parts) for symbol, parts in lists.items()}

    def _followed(self, start: Mapping[Atom, tuple[Flat, Flat]]) -> tuple[Flat, Flat]:
        """Pairs of (number, element) forward through the lines: those of y."""
        footprint, pairs = self._footprint, dict(start)
        for line in self.reference.program.lines:
            size = max(1, math.prod(self.reference.shapes[line.symbol]))
            keys = []
            for k, operand in enumerate(line.call.operands):
                if operand in pairs:
                    number, element = pairs[operand]
                    source, out = footprint.up(line, k, element)
                    keys.append(number[source] * size + out)
            if keys:
                distinct = _distinct(keys)
                if len(distinct) > MOST:
                    raise TooManyError
                pairs[line.symbol] = distinct // size, distinct % size
        nothing = np.empty(0, dtype=np.int64)
        found: tuple[Flat, Flat] = pairs.get(self.reference.program.output, (nothing, nothing))
        return found


def _distinct(parts: Sequence[Flat]) -> Flat:
    """All of them once, in order; NumPy's own `unique` hashes, which takes ten times as long."""
    joined = np.concatenate(parts)
    if len(joined) < 2:
        return joined
    if joined.max() < 4 * MOST:
        is_among = np.zeros(int(joined.max()) + 1, dtype=bool)
        is_among[joined] = True
        return np.flatnonzero(is_among)
    ordered: Flat = np.sort(joined)
    distinct: Flat = ordered[np.concatenate([np.ones(1, dtype=bool), ordered[1:] != ordered[:-1]])]
    return distinct
