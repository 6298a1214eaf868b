"""Products, extremes, determinants and inverses as lines of a Program: the elements that each result is made of.

An operation of this kind has one partial derivative for each pair of a result and an element it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from flint import arb

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.wengert import Line
from gradcli.reference import whole_lists
from gradcli.reference.balls import Ball, exists
from gradcli.reference.choices import Extreme, Tangent, jump_of
from gradcli.reference.float_formats import Rounding
from gradcli.reference.footprint import Flat
from gradcli.reference.numbering import Form
from gradcli.reference.rules import Outcome, Undefined

if TYPE_CHECKING:
    from gradcli.reference.running import Run

MOST_MINORS = 12
"""Rows of a singular matrix whose cofactors are still taken one by one."""


def is_aggregate(op: Op) -> bool:
    """Whether an operation is read here."""
    return op.is_nonlinear_fold or op.kind is Kind.MATRIX


class Groups:
    """The results of one line at some elements, each with the elements of its operand that it is made of."""

    def __init__(self, run: Run, line: Line, elements: Flat) -> None:
        self.op, self.shown = line.call.op, run.reference.program.excerpt(line)
        self.is_one_sided, self.rounding = run.side != 0, run.rounding
        self.order = (run.reference.shapes.get(line.call.operands[0], ()) or (1,))[-1]
        position, source = run.reference.footprint.down(line, 0, elements)
        members: dict[int, list[int]] = {e: [] for e in elements.tolist()}
        out = elements.tolist()
        for p, s in zip(position.tolist(), source.tolist(), strict=True):
            members[out[p]].append(s)
        values = dict(zip(source.tolist(), run.at(line, 0, source), strict=True))
        known: dict[tuple[int, ...], _Group] = {}
        self.groups: dict[int, _Group] = {}
        for e, inside in members.items():
            # Results that share all of their elements, as the n² of an inverse do, share one group.
            key = tuple(inside)
            if key not in known:
                known[key] = _Group(self.op, self.shown, self.order, inside, [values[s] for s in inside])
                if run.rounding is None:
                    known[key].form = partial(run.numbering.form, line.call.operands[0])
            self.groups[e] = known[key]

    def value(self, out: int) -> Outcome:
        """The value of the aggregate at one flat position of the result."""
        group = self.groups[out]
        if group.undefined is not None:
            return group.undefined
        if self.op.keeps_shape:
            return group.inverse_at(out)
        if self.op.kind is Kind.MATRIX and self.rounding is not None:
            return group.eliminated(self.rounding)
        return group.total

    def slope(self, out: int, element: int) -> Outcome:
        """The partial derivative of a result by an element of the operand."""
        group = self.groups[out]
        if group.undefined is not None:
            return group.undefined
        n = group.place[element]
        if self.op.monoid is Monoid.PRODUCT:
            return group.others[n] if self.rounding is None else group.quotient(n, self.rounding)
        if self.op.is_extreme:
            return group.extreme.slope(n)
        return group.inverse_slope(out, n) if self.op.keeps_shape else group.cofactor(n)

    def chosen(self, out: int, direction: int, tangents: Mapping[tuple[int, int], Tangent]) -> Tangent:
        """The tangent of an extreme, from those of the elements it is made of by (direction, element)."""
        group = self.groups[out]
        if group.undefined is not None:
            return group.undefined
        reason = f"{self.shown} has a kink here: its {_noun(self.op)} elements tie"
        elements = list(group.place)
        jump = jump_of(tangents.get((direction, element)) for element in elements)
        if jump is not None:
            return jump
        possible = [tangents.get((direction, elements[n])) for n in group.extreme.possible]
        return group.extreme.tangent(possible, reason, is_one_sided=self.is_one_sided)

    def size(self, out: int) -> int:
        """How many elements a result is made of."""
        return len(self.groups[out].values)


class _Group:
    """The elements that one product, extreme or matrix is made of, with what is computed of them once."""

    def __init__(self, op: Op, shown: str, order: int, elements: list[int], values: Sequence[Outcome]) -> None:
        self.op, self.shown, self.order = op, shown, order
        self.place = {e: n for n, e in enumerate(elements)}
        self.values: list[Ball] = list(values)
        self.undefined = next((v for v in values if isinstance(v, Undefined)), None)
        self.form: Callable[[int], Form] | None = None

    @cached_property
    def total(self) -> Ball:
        """The product, extreme or determinant of the elements; an inverse has its determinant here."""
        if self.op.kind is Kind.MATRIX:
            return whole_lists.determinant(self.values, self.order)
        if self.op.monoid is Monoid.PRODUCT:
            return whole_lists.product(self.values)
        return whole_lists.extreme(self.values, largest=self.op.monoid is Monoid.LARGEST)

    def eliminated(self, rounding: Rounding) -> Ball:
        """The determinant as elimination in a float format gives it: that of a matrix about as near as its rounding.

        Source: N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 9.3.
        """
        largest = max((abs(value).upper() for value in self.values), default=arb(0))
        near = arb(0, largest * self.order * arb(2) ** (1 - rounding.bits))
        return whole_lists.determinant([value + near for value in self.values], self.order)

    @cached_property
    def others(self) -> list[Ball]:
        """For each element the product of the others."""
        return whole_lists.products_of_others(self.values)

    def quotient(self, n: int, rounding: Rounding) -> Ball:
        """The same as torch computes it: the product, which may underflow, over the element, if none of them is 0."""
        if any(value.contains(0) for value in self.values):
            return self.others[n]
        return rounding.underflown(self.total) / self.values[n]

    @cached_property
    def inverse(self) -> list[Ball]:
        """The inverse matrix, row by row."""
        return whole_lists.inverse(self.values, self.order)

    def inverse_at(self, out: int) -> Outcome:
        """The element of the inverse at a flat position; undefined where the matrix is singular."""
        ball = self.inverse[out % (self.order * self.order)]
        if exists(ball):
            return ball
        is_singular = bool(self.total == 0)
        return Undefined("domain", f"{self.shown} has no value here: the matrix has no inverse", is_singular)

    def inverse_slope(self, out: int, n: int) -> Outcome:
        """-inv[i, p]*inv[q, j] for the element (i, j) by the element (p, q)."""
        value = self.inverse_at(out)
        if isinstance(value, Undefined):
            return value
        (i, j), (p, q) = divmod(out % (self.order * self.order), self.order), divmod(n, self.order)
        return -self.inverse[i * self.order + p] * self.inverse[q * self.order + j]

    def cofactor(self, n: int) -> Outcome:
        """The derivative of a determinant: by the inverse, or for a singular matrix by its minors."""
        row, column = divmod(n, self.order)
        # Jacobi: d det/dA[p, q] = det * inv[q, p].
        ball = self.total * self.inverse[column * self.order + row]
        if exists(ball):
            return ball
        if self.order > MOST_MINORS:
            return Undefined("slope", f"{self.shown} is of a matrix too close to a singular one", False)
        return whole_lists.cofactor(self.values, self.order, row, column)

    @cached_property
    def extreme(self) -> Extreme:
        """Which elements may be the extreme."""
        extreme = Extreme(self.values, largest=self.op.monoid is Monoid.LARGEST)
        if self.form is None or len(extreme.certain) == len(extreme.possible):
            return extreme
        return Extreme(self.values, largest=extreme.largest, forms=[self.form(e) for e in self.place])


def _noun(op: Op) -> str:
    return "largest" if op.monoid is Monoid.LARGEST else "smallest"
