"""Bounds of a function and its derivatives over a box: the method `range`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gradcli import trial
from gradcli.arrays import Array
from gradcli.errors import InputError, UsageError
from gradcli.language.parsing import parse
from gradcli.language.program.shape_readings import GivenShape
from gradcli.notation import PARTIAL, Element, Named, Notation
from gradcli.option_words import option
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_check import remarks_on_backward
from gradcli.parts.everywhere.box_kinds import BROKEN
from gradcli.parts.everywhere.box_sets import BoxSet
from gradcli.parts.everywhere.code_boxes import known_line, known_ranges
from gradcli.parts.everywhere.held_kinds import held_kinds, words_of
from gradcli.parts.everywhere.intervals import Interval, point, root
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.least_values import LeastValue, LeastValueSearch
from gradcli.parts.everywhere.moving_box import MOST_MOVING, AskedBox, MovingBox
from gradcli.parts.everywhere.other_forms import with_better_form
from gradcli.parts.everywhere.scalars import in_numbers
from gradcli.parts.everywhere.stopping import interruptible
from gradcli.parts.everywhere.tensor_bounds import norms_of_matrix
from gradcli.parts.everywhere.tensor_ranges import forward_bounds, is_small, of_each_element
from gradcli.parts.everywhere.zeros import System, ZeroBox
from gradcli.progress import BUDGET, SECONDS, set_step
from gradcli.questions.bound_function import FunctionWithValues
from gradcli.questions.parsed_text import Directions, Inputs, ParsedText
from gradcli.reference.deadline import OverTimeError, part_limit, time_limit
from gradcli.results import BoxBounds, BoxPlace, BoxRange, PlaceKind

TOLERANCE = 1e-6
"""How far a bound may be from the number that was found, absolutely or relative to it."""

NORM_SECONDS = 0.2
"""Seconds for a norm of the gradient, which near kinks no number of boxes makes sharp."""

MOST_PLACES = 64
"""Most boxes in which a least or greatest value is said to be; the last of more encloses the others."""


def range_over(
    self: ParsedText,
    at: Inputs | None = None,
    *,
    box: Mapping[str, str] | None = None,
    along: Directions = None,
    shape: Mapping[str, GivenShape] | None = None,
    zeros: bool = False,
    tol: float | None = None,
) -> BoxRange:
    """Bound y, its derivatives and its Lipschitz constants over the `box` of each variable, `"0..1"`.

    Each bound holds at every point of the box, and is within `tol` of a value that is there, unless the time is over:
    then it is as near as it came.  `along` is a direction by variable: t moves from the values along it, by default
    in -1..1.  `shape` is that of a tensor each element of which has the range.  Where at most 8 numbers move, or the
    function maps each element by itself, bounds are searched for; those of more hold, and are as wide as sums of bounds
    are.  With `zeros`, those of y, or of the gradient where several numbers move.

    Raises:
        GradcliError: There is no range, or an operation has no rule on boxes.

    >>> from gradcli import Function
    >>> y, slope = Function("gelu(x)").range(box={"x": "-100..100"}).bounds
    >>> round(y.low, 6), round(slope.high, 5)
    (-0.169971, 1.1289)
    """
    tolerance = TOLERANCE if tol is None else tol
    if not (np.isfinite(tolerance) and tolerance > 0):
        raise InputError(f"{option('tol', str(tol))} is not a tolerance", hint="a tolerance is a number above 0")
    unbound, box = self._asked(self._starting(at, box if along is None else None, None)), box or {}
    if along is not None and shape:
        raise UsageError(f"{option('shape')} is for tensors without a value", hint=f"leave out {option('shape')}")
    with time_limit(), interruptible():
        if along is not None:
            line = known_line(unbound, box, along)
            trial.end()
            return _Bounding(line, tolerance).answer(zeros=zeros)
        asked = known_ranges(unbound, box, shape)
        answer = _bounded(asked, tolerance, zeros=zeros)

        def ask(other: FunctionWithValues) -> BoxRange:
            return _bounded(known_ranges(other, box, shape), tolerance, zeros=False)

        return with_better_form(answer, unbound, asked, ask)


def _bounded(asked: AskedBox, tolerance: float, *, zeros: bool) -> BoxRange:
    """Search for bounds: of one element for all, of a few numbers that move, or forward."""
    if (each := of_each_element(asked)) is not None:
        trial.end()
        return _of_all(_Bounding(each, tolerance).answer(zeros=zeros), asked.bound_function.shape)
    _require_zeros(asked, zeros=zeros)
    trial.end()
    return _Bounding(asked.moving(), tolerance).answer(zeros=zeros) if is_small(asked) else forward_bounds(asked)


def _of_all(answer: BoxRange, shape: tuple[int, ...]) -> BoxRange:
    """Say what one element says of all: the constant is that of each norm."""
    norms = dict.fromkeys(("1", "2", "inf"), answer.lipschitz["2"]) if answer.lipschitz else {}
    return replace(answer, shape=shape, lipschitz=norms)


def _require_zeros(asked: AskedBox, *, zeros: bool) -> None:
    """Refuse zeros of many numbers.

    Raises:
        InputError: Too many numbers move, or y has several elements.
    """
    if zeros and (asked.count > MOST_MOVING or asked.bound_function.shape):
        hint = f"leave out {option('zeros')}, or move along a line: {option('along', 'ones')}"
        raise InputError(f"zeros are looked for where y is a number and at most {MOST_MOVING} numbers move", hint=hint)


def _are_bounded(bounds: Sequence[BoxBounds]) -> bool:
    return all(np.isfinite(one.low) and np.isfinite(one.high) for one in bounds)


WIDE = 2.0**-16
"""Part of a range from which on a place is narrowed."""

MOST_NARROWED, MOST_NARROWED_OF_SEVERAL, NARROWING_SECONDS = 8_192, 2_048, 0.3
"""Most boxes that are looked at for that, of one number and of several, and seconds."""

LOOSE, MOST_LOOSE = 1e3, 0.99
"""Gap of a bound to what was found, relative to it, from which on its part is named, and the largest such part."""


class _Bounding:
    """Searches for all bounds of a box, each with a share of the time."""

    def __init__(self, moving: MovingBox, tolerance: float) -> None:
        self.moving, self.tolerance = moving, tolerance
        self.count, self.boxes, self.stopped = len(moving.low), 0, list[str]()
        self.remarks = list[str]()
        budget = BUDGET.get()
        seconds = SECONDS if budget is None or budget.seconds is None else budget.seconds
        self.shape, y = moving.bound_function.shape, moving.bound_function.program.output_name
        self.elements = [Element(y, at) if self.shape else Named(y) for at in np.ndindex(*self.shape)]
        self.share = seconds / ((2 * self.count + 2) * len(self.elements) + 3)

    def answer(self, *, zeros: bool) -> BoxRange:
        """Answer with all of them."""
        moving, kinds, bounds, places = self.moving, 0, list[BoxBounds](), list[BoxPlace]()
        slopes: list[list[BoxBounds]] = []
        if moving.is_of_arrays:  # once is what all searches begin with, however long it takes
            with suppress(OverTimeError):
                _ = moving.function.run(Interval(moving.low[:, None], moving.high[:, None]))
        for n, y in enumerate(self.elements):
            set_step("bounding the function")
            with part_limit(self.share):
                own = held_kinds(moving.quantity((), n), moving.low, moving.high)
            kinds, least, most = kinds | own, *self._ends(moving.quantity((), n))
            bounds.append(self._bounds(y, least, most))
            if len(self.elements) == 1:
                is_continuous = own & BROKEN == 0
                with part_limit(self.share):
                    y_itself = moving.quantity((), n)
                    places += self._places(self._narrowed(least, y_itself), "minimum", is_continuous)
                    places += self._places(self._narrowed(most, y_itself.opposite()), "maximum", is_continuous)
            set_step("bounding the derivatives")
            pairs = ((PARTIAL(y, name), self._ends(moving.quantity((i,), n))) for i, name in enumerate(moving.names))
            slopes.append([self._bounds(label, *ends) for label, ends in pairs])
        places += self._zeros() if zeros else []
        bounds += (one for row in slopes for one in row)
        return moving.answered(
            BoxRange,
            command="range",
            boxes=self.boxes,
            bounds=tuple(bounds),
            lipschitz=self._lipschitz(slopes) if kinds & BROKEN == 0 and _are_bounded(bounds) else {},
            places=tuple(places),
            held=words_of(kinds),
            notes=(*moving.remarks, *remarks_on_backward(moving), *self.remarks, *dict.fromkeys(self.stopped)),
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
        for which, found in (("lower", least), ("upper", most)):
            if part := self._loose_part(found):
                self.stopped.append(f"the {which} bound of {label.text} is that of {part} alone")
        return BoxBounds(label, least.bound + 0.0, 0.0 - most.bound, least.found + 0.0, 0.0 - most.found)

    def _loose_part(self, found: LeastValue) -> str:
        """Name the part of the box on which a bound is far from what was found; "" where it is not, or all is."""
        gap = found.found - found.bound
        if not found.stopped or not gap > LOOSE * max(1.0, abs(found.found)):
            return ""
        worst = found.found - gap / 2 if np.isfinite(gap) else -np.inf
        bad = found.left.take(found.left.bound <= worst)
        if not len(bad):
            return ""
        hull = bad.hull()
        whole = BoxSet(hull.low[:, None], hull.high[:, None], np.zeros(1))
        if whole.parts_of(self.moving.low, self.moving.high).max() > MOST_LOOSE:
            return ""
        low, high = (self.moving.by_name(end) for end in (hull.low, hull.high))
        return ", ".join(f"{name} = {low[name]:.3g}..{high[name]:.3g}" for name in low)

    def _lipschitz(self, slopes: Sequence[Sequence[BoxBounds]]) -> dict[str, float]:
        """Bound the change of y by that of its variables, in each norm by the dual norm of the gradient."""
        sizes = np.array([[max(abs(one.low), abs(one.high)) for one in row] for row in slopes])
        if len(sizes) > 1:
            return norms_of_matrix(sizes)
        largest = float(sizes.max())
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

    def _narrowed(self, found: LeastValue, quantity: BoxQuantity) -> LeastValue:
        """Narrow the boxes that may hold the least value further than its bound asks for, where they are wide.

        Next to a flat minimum, as that of x**4, each value of a wide box is within the tolerance of the least one.
        """
        wide = found.left.parts_of(self.moving.low, self.moving.high) > WIDE
        if not wide.any() or not np.isfinite(found.bound):
            return found
        low, high = self.moving.low, self.moving.high
        most = MOST_NARROWED if self.count == 1 else MOST_NARROWED_OF_SEVERAL
        search = LeastValueSearch(
            quantity, low, high, is_of_places=True, found=found.found, place=found.place, most=most
        )
        with part_limit(min(self.share, NARROWING_SECONDS)):
            narrowed = search.run(found.left)
        self.boxes += narrowed.evaluated
        return replace(found, left=narrowed.left)

    def _places(self, found: LeastValue, kind: PlaceKind, is_continuous: bool) -> Iterator[BoxPlace]:
        """List the boxes that may hold the least value; the only one of a continuous function holds it."""
        if not np.isfinite(found.bound):
            return
        clusters = found.left.clusters(MOST_PLACES)
        system = System(self.moving.quantity(), is_gradient=True)
        for box in clusters:
            low, high, existence = box.low, box.high, "some" if is_continuous and len(clusters) == 1 else "unknown"
            if (one := self._critical(system, box)) is not None:
                low, high, existence = one.low, one.high, "one" if existence == "some" else "unknown"
            yield self._place(kind, low, high, existence)

    def _critical(self, system: System, box: Interval) -> ZeroBox | None:
        """Return the one point in a box, inside the range, whose gradient is 0, if there certainly is one."""
        if self.count > 6 or (box.low <= self.moving.low).any() or (box.high >= self.moving.high).any():
            return None
        with suppress(OverTimeError):
            return system.only_zero(BoxSet(box.low[:, None], box.high[:, None], np.zeros(1)))
        return None

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
        elif not found.boxes:
            what = "the gradient is 0 at no point of the range" if is_gradient else "there are no zeros in the range"
            self.remarks.append(f"{what}: proved")
        kinds: dict[int, PlaceKind] = {
            0: "critical" if is_gradient else "zero",
            1: "least nearby",
            -1: "greatest nearby",
        }
        for one in found.boxes:
            yield self._place(kinds[one.bends], one.low, one.high, one.existence)
