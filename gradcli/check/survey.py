"""What is known of all entries before any is enclosed: which are 0 by structure, and which a sample must not leave out.

Looks at every element of the function once in float64, and at the wiring of its operations; proves no number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import sympy

from gradcli.check.point import Point, Torch
from gradcli.language.program.wengert import Atom
from gradcli.reference.critical import Critical, critical
from gradcli.reference.duals import Reference
from gradcli.reference.footprint import Flat, TooManyError
from gradcli.reference.running import Direction
from gradcli.reference.structural_zeros import Pattern, Structure
from gradcli.results import Array

MOST_ELEMENTS = 2**21
"""Elements of the largest line in which kinks are looked for: a tenth of a second a line, and 16 MiB an array."""

MOST_ODD = 64
"""Numbers of torch that are not 0 where the truth is 0 by structure, which are judged."""

Odd = tuple[str, int, int]
"""Variable, column and row of an entry; the row is -1 of vᵀJ."""


@dataclass(frozen=True)
class Wiring:
    """A function at a point, for every part of a check: how its elements hang together, and which are critical."""

    point: Point
    reference: Reference

    @cached_property
    def structure(self) -> Structure:
        """Which elements depend on which, in the lowered Program."""
        return Structure(self.reference)

    @cached_property
    def critical(self) -> Critical | None:
        """The critical elements; None where there are too many elements to look at."""
        shapes = self.point.shapes
        largest = max((math.prod(shape) for shape in shapes.values()), default=0)
        return critical(self.point.program, shapes, self.point.inputs) if largest <= MOST_ELEMENTS else None


@dataclass(frozen=True)
class Survey:
    """The entries of J, or of vᵀJ where J was not computed."""

    wiring: Wiring
    torch: Torch
    variables: Sequence[sympy.Symbol]
    sizes: Mapping[sympy.Symbol, int] = field(init=False)

    def __post_init__(self) -> None:
        shapes = self.wiring.point.shapes
        object.__setattr__(self, "sizes", {symbol: math.prod(shapes[symbol]) for symbol in self.variables})

    @property
    def entries(self) -> int:
        """How many there are; without variables, elements of y."""
        if not self.variables:
            return self.torch.value.size
        return (1 if self.torch.jacobian is None else self.torch.value.size) * sum(self.sizes.values())

    @cached_property
    def pattern(self) -> Pattern | None:
        """Rows (-1 of vᵀJ) and columns of the entries that may differ from 0; None where that is not known."""
        if self.torch.jacobian is not None:
            return self.wiring.structure.pattern(self.variables)
        moving = self._moving
        if moving is None or self.torch.vjp is None:
            return None
        nothing = np.empty(0, dtype=np.int64)
        found = {symbol: moving.get(symbol, nothing) for symbol in self.variables}
        return {symbol: (np.full_like(columns, -1), columns) for symbol, columns in found.items()}

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
        return sum(self._odd_of(symbol) for symbol in self.pattern or ())

    @cached_property
    def odd(self) -> list[Odd]:
        """The first `MOST_ODD` entries that are 0 by structure and not in torch's numbers."""
        found: list[Odd] = []
        for symbol, (rows, columns) in (self.pattern or {}).items():
            if len(found) < MOST_ODD and self._odd_of(symbol):
                is_odd = self._block(symbol) != 0
                is_odd[rows, columns] = False
                places = np.argwhere(is_odd)[: MOST_ODD - len(found)].tolist()
                found += [(str(symbol), j, row if self.torch.jacobian is not None else -1) for row, j in places]
        return found

    def _odd_of(self, symbol: sympy.Symbol) -> int:
        block = self._block(symbol)
        return int(np.count_nonzero(block) - np.count_nonzero(block[(self.pattern or {})[symbol]]))

    def _block(self, symbol: sympy.Symbol) -> Array:
        """Torch's numbers with the columns on the second axis."""
        is_matrix = self.torch.jacobian is not None
        blocks = self.torch.jacobian if self.torch.jacobian is not None else self.torch.vjp or {}
        return blocks[str(symbol)].reshape(self.torch.value.size if is_matrix else 1, self.sizes[symbol])

    @cached_property
    def _moving(self) -> Mapping[Atom, Flat] | None:
        """The elements that y is made of, as far as v has weights for it; None where they are too many to follow."""
        output = self.wiring.reference.program.output
        size = self.torch.value.size
        vs = self.torch.passes or (() if self.torch.v is None else (self.torch.v,))
        is_weighted = self.torch.jacobian is None and bool(vs)
        rows = np.flatnonzero(np.any([v.ravel() for v in vs], axis=0)) if is_weighted else np.arange(size)
        try:
            return self.wiring.structure.made_of(output, rows)
        except TooManyError:
            return None

    # -- what a sample must not leave out

    def places(self, most: int) -> tuple[list[Direction], list[int], str]:
        """The columns of critical elements and the rows that they move, and what is left out, in words.

        Args:
            most: How many columns, and rows, about; every operation has its share.
        """
        found = self.wiring.critical
        if found is None:
            return [], [], f"kinks were not looked for, as there are more than {MOST_ELEMENTS:,} elements"
        groups = list(self._groups(found))
        share = max(1, most // max(1, len(groups)))
        directions: dict[Direction, None] = {}
        rows: dict[int, None] = {}
        left: dict[str, int] = {}
        for name, atom, elements, count in groups:
            taken, columns = self._columns(atom, elements, share)
            directions |= dict.fromkeys(columns)
            if self.torch.jacobian is not None or not self.variables:
                rows |= dict.fromkeys(self._rows(atom, elements[:: 1 + len(elements) // max(1, taken)], share))
            if (columns or not self.variables) and count > taken:
                left[name] = left.get(name, 0) + count - taken
        return list(directions)[:most], list(rows)[:most], _left(left, found.unknown)

    def _groups(self, found: Critical) -> Iterator[tuple[str, Atom, Flat, int]]:
        """The critical elements of each operation that move y."""
        for spots in found.spots:
            atom = self.wiring.reference.renamed.get(spots.atom, spots.atom)
            elements = spots.elements
            if self._moving is not None:
                # A kink in what reaches no judged row of y, or none with a weight in v, cannot show in an entry.
                elements = elements[np.isin(elements, self._moving.get(atom, ()))]
            if len(elements):
                yield spots.name, atom, elements, max(1, spots.count * len(elements) // len(spots.elements))

    def _columns(self, atom: Atom, elements: Flat, most: int) -> tuple[int, list[Direction]]:
        """How many of some elements have all their columns among these, and these."""
        taken = min(len(elements), most)
        while True:
            chosen = elements[:: -(-len(elements) // taken)]
            try:
                made_of = self.wiring.structure.made_of(atom, chosen)
            except TooManyError:
                return 0, []
            own = {symbol: made_of[symbol] for symbol in self.variables if len(made_of.get(symbol, ()))}
            if taken == 1 or sum(map(len, own.values())) <= most:
                break
            taken = taken // 2
        each = max(1, most // max(1, len(own)))
        return len(chosen), [
            (symbol, int(j)) for symbol, columns in own.items() for j in columns[:: -(-len(columns) // each)]
        ]

    def _rows(self, atom: Atom, elements: Flat, most: int) -> list[int]:
        try:
            rows = self.wiring.structure.rows_of(atom, elements)
        except TooManyError:
            return []
        return [int(row) for row in np.unique(rows)][:: 1 + len(rows) // most] if len(rows) else []


def _left(left: Mapping[str, int], unknown: Sequence[str]) -> str:
    """The remark on critical elements that a sample leaves out; empty if there are none."""
    words = []
    if left:
        of = ", ".join(f"{count:,} of {name}" for name, count in left.items())
        words.append(f"more elements at or next to a kink, a jump or an edge of a domain were not looked at: {of}")
    if unknown:
        words.append(f"kinks behind {', '.join(unknown)} were not looked for")
    return "; ".join(words)
