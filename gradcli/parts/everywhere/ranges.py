"""Bounds of a function and its derivatives over a box: the method `range`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import InputError
from gradcli.language.parsing import parse
from gradcli.notation import PARTIAL, Named, Notation
from gradcli.option_words import option
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_kinds import BROKEN
from gradcli.parts.everywhere.box_sets import BoxSet
from gradcli.parts.everywhere.held_kinds import held_kinds, words_of
from gradcli.parts.everywhere.intervals import Interval, point, root
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.least_values import LeastValue, LeastValueSearch
from gradcli.parts.everywhere.moving_box import MovingBox, moving_box
from gradcli.parts.everywhere.scalars import in_numbers
from gradcli.parts.everywhere.stopping import interruptible
from gradcli.parts.everywhere.zeros import System, ZeroBox
from gradcli.progress import BUDGET, SECONDS, set_step
from gradcli.questions.parsed_text import Inputs, ParsedText
from gradcli.reference.deadline import part_limit, time_limit
from gradcli.results import BoxBounds, BoxPlace, BoxRange, PlaceKind

TOLERANCE = 1e-6
"""How far a bound may be from the number that was found, absolutely or relative to it."""

NORM_SECONDS = 0.2
"""Seconds for a norm of the gradient, which near kinks no number of boxes makes sharp."""

MOST_PLACES = 64
"""Most boxes in which a least or greatest value is said to be."""


def range_over(
    self: ParsedText,
    at: Inputs | None = None,
    *,
    box: Mapping[str, str] | None = None,
    zeros: bool = False,
    tol: float | None = None,
) -> BoxRange:
    """Bound y, its derivatives and its Lipschitz constants over the `box` of each variable, `"0..1"`.

    Each bound holds at every point of the box, and is within `tol` of a value that is there, unless the time is over:
    then it is as near as it came.  With `zeros`, those of y, or of the gradient where several numbers move.

    Raises:
        GradcliError: There is no range, y has several elements, or an operation has no rule on boxes.

    >>> from gradcli import Function
    >>> y, slope = Function("gelu(x)").range(box={"x": "-100..100"}).bounds
    >>> round(y.low, 6), round(slope.high, 5)
    (-0.169971, 1.1289)
    """
    tolerance = TOLERANCE if tol is None else tol
    if not (np.isfinite(tolerance) and tolerance > 0):
        raise InputError(f"{option('tol', str(tol))} is not a tolerance", hint="a tolerance is a number above 0")
    moving = moving_box(self._asked(self._starting(at, box, None)), box or {})
    with time_limit(), interruptible():
        return _Bounding(moving, tolerance).answer(zeros=zeros)


def _are_bounded(bounds: Sequence[BoxBounds]) -> bool:
    return all(np.isfinite(one.low) and np.isfinite(one.high) for one in bounds)


class _Bounding:
    """Searches for all bounds of a box, each with a share of the time."""

    def __init__(self, moving: MovingBox, tolerance: float) -> None:
        self.moving, self.tolerance = moving, tolerance
        self.count, self.boxes, self.stopped = len(moving.low), 0, list[str]()
        budget = BUDGET.get()
        seconds = SECONDS if budget is None or budget.seconds is None else budget.seconds
        self.share = seconds / (2 * self.count + 5)

    def answer(self, *, zeros: bool) -> BoxRange:
        """Answer with all of them."""
        moving, y = self.moving, self.moving.question.program.output_name
        set_step("bounding the function")
        kinds = held_kinds(moving.quantity(), moving.low, moving.high)
        least, most = self._ends(moving.quantity())
        bounds = [self._bounds(Named(y), least, most)]
        for i, name in enumerate(moving.names):
            set_step("bounding the derivatives")
            bounds.append(self._bounds(PARTIAL(Named(y), name), *self._ends(moving.quantity((i,)))))
        is_continuous = kinds & BROKEN == 0
        places = [*self._places(least, "minimum", is_continuous), *self._places(most, "maximum", is_continuous)]
        places += self._zeros() if zeros else []
        return moving.answered(
            BoxRange,
            command="range",
            boxes=self.boxes,
            bounds=tuple(bounds),
            lipschitz=self._lipschitz(bounds[1:]) if is_continuous and _are_bounded(bounds[1:]) else {},
            places=tuple(places),
            held=words_of(kinds),
            notes=(*moving.remarks, *dict.fromkeys(self.stopped)),
        )

    def _search(self, quantity: BoxQuantity) -> LeastValue:
        with part_limit(self.share):
            found = LeastValueSearch(quantity, self.moving.low, self.moving.high, self.tolerance).run()
        self.boxes += found.evaluated
        if found.stopped:
            self.stopped.append(f"a search was stopped {found.stopped}: its bound holds, and is not as near as asked")
        return found

    def _ends(self, quantity: BoxQuantity) -> tuple[LeastValue, LeastValue]:
        return self._search(quantity), self._search(quantity.opposite())

    def _bounds(self, label: Notation, least: LeastValue, most: LeastValue) -> BoxBounds:
        return BoxBounds(label, least.bound + 0.0, 0.0 - most.bound, least.found + 0.0, 0.0 - most.found)

    def _lipschitz(self, partials: Sequence[BoxBounds]) -> dict[str, float]:
        """Bound the change of y by that of its variables, in each norm by the dual norm of the gradient."""
        largest = max(max(abs(one.low), abs(one.high)) for one in partials)
        if self.count == 1:
            return {"2": largest}
        names = [f"d{n}" for n in range(self.count)]
        self.share = min(self.share, NORM_SECONDS)
        squares = self._greatest(" + ".join(f"{name}**2" for name in names), names)
        sums = self._greatest(" + ".join(f"abs({name})" for name in names), names)
        return {"1": largest, "2": float(root(point(max(squares, 0.0))).high), "inf": sums}

    def _greatest(self, text: str, names: Sequence[str]) -> float:
        """Bound an expression of the partial derivatives from above."""
        program = in_numbers(parse(text), {name: np.zeros(()) for name in names}, names)
        symbols = {name: program.variables[name][()] for name in names}
        named = {symbol: (n,) for n, symbol in enumerate(symbols.values())}
        quantity = BoxQuantity(self.moving.function, (), Evaluator(program), named)
        return -self._search(quantity.opposite()).bound

    def _places(self, found: LeastValue, kind: PlaceKind, is_continuous: bool) -> Iterator[BoxPlace]:
        """List the boxes that may hold the least value; the only one of a continuous function holds it."""
        if not np.isfinite(found.bound):
            return
        clusters = found.left.clusters() if len(found.left) else []
        system = System(self.moving.quantity(), is_gradient=True)
        for box in clusters[:MOST_PLACES]:
            low, high, existence = box.low, box.high, "some" if is_continuous and len(clusters) == 1 else "unknown"
            if (one := self._critical(system, box)) is not None:
                low, high, existence = one.low, one.high, "one" if existence == "some" else "unknown"
            yield self._place(kind, low, high, existence)

    def _critical(self, system: System, box: Interval) -> ZeroBox | None:
        """Return the one point in a box, inside the range, whose gradient is 0, if there certainly is one."""
        if self.count > 6 or (box.low <= self.moving.low).any() or (box.high >= self.moving.high).any():
            return None
        return system.only_zero(BoxSet(box.low[:, None], box.high[:, None], np.zeros(1)))

    def _place(self, kind: PlaceKind, low: Array, high: Array, existence: str) -> BoxPlace:
        name = self.moving.by_name
        known = {"one": "one", "some": "some"}.get(existence, "unknown")
        return BoxPlace(kind, name(low), name(high), known)  # type: ignore[arg-type]

    def _zeros(self) -> Iterator[BoxPlace]:
        """Find the zeros of y, or of the gradient where several numbers move."""
        set_step("looking for zeros")
        is_gradient = self.count > 1
        with part_limit(3 * self.share):
            reach = float(np.max(self.moving.high - self.moving.low))
            system = System(self.moving.quantity(), is_gradient, reach)
            found = system.find(self.moving.low, self.moving.high)
        self.boxes += found.evaluated
        if found.stopped:
            self.stopped.append(f"the search for zeros was stopped {found.stopped}: outside of the boxes there is none")
        kinds: dict[int, PlaceKind] = {
            0: "critical" if is_gradient else "zero",
            1: "least nearby",
            -1: "greatest nearby",
        }
        for one in found.boxes:
            yield self._place(kinds[one.bends], one.low, one.high, one.existence)
