"""Operations that take one of their operands, and those of whole lists and matrices.

An operand that `where`, `maximum`, `minimum`, `amax` or `amin` does not take adds nothing, whatever it is; where two
meet there is no slope, and series decide.  A product, a determinant, an inverse, an eigenvalue or an exponential has
one partial derivative for each pair of a result and an element that it is made of; along E that of exp(A) is the upper
right block of exp([[A, E], [0, A]]) (N. Higham, "Functions of Matrices", 2008, (3.16)).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np
from flint import arb, arb_mat

from gradcli.language.ops import ROWS, Kind, Monoid, Op
from gradcli.language.program.wengert import Line
from gradcli.reference import balls
from gradcli.reference.balls import Ball, exists
from gradcli.reference.deadline import require_time
from gradcli.reference.dependencies import Flat
from gradcli.reference.pass_views import PassValues, ValueForm
from gradcli.reference.rules import Outcome, Undefined, known_balls
from gradcli.reference.spectral import Symmetric, block_triangular, unit


def jump_of(tangent: Outcome) -> Undefined | None:
    """Return the jump or infinite slope of a tangent, else None."""
    if not isinstance(tangent, Undefined) or tangent.kind == "kink" or tangent.is_nan:
        return None
    return tangent


def changed(condition: Outcome, slope: Outcome) -> Outcome | None:
    """Return `slope`, the reason for no slope, where the condition changes; None where it stays."""
    if not isinstance(condition, Undefined) or not isinstance(slope, Undefined):
        return None
    if condition.kind not in ("jump", "kink"):
        return condition
    return replace(slope, decided=slope.decided and condition.decided)


def branch(condition: Outcome, first: Outcome, second: Outcome) -> Outcome:
    """Return the value of `where`; the union of both branches if the condition is undecided."""
    if isinstance(condition, Undefined):
        return condition
    if condition in (0, 1):
        return first if condition == 1 else second
    if isinstance(first, Undefined):
        return Undefined(first.kind, first.reason, False)
    if isinstance(second, Undefined):
        return Undefined(second.kind, second.reason, False)
    if first.is_nan() or second.is_nan():  # the value may be either
        return Undefined("domain", "a branch that may be taken has no value here", False)
    return first.union(second)


def slope_of_choice(op: Op, k: int, operands: Sequence[Outcome], shown: str) -> Outcome:
    """Return 1 for the operand taken, 0 for the other; for a condition that changes, the reason for no slope."""
    if op.is_extreme:
        missing = next((operand for operand in operands if isinstance(operand, Undefined)), None)
        reason = f"{shown} has a kink here: its left and right derivatives differ"
        return missing or Extreme(known_balls(operands), largest=op.monoid is Monoid.LARGEST).slope(k, reason)
    condition, first, second = operands
    if isinstance(condition, Undefined):
        return condition
    if k > 0 and condition in (0, 1):
        return arb(int(condition == (1 if k == 1 else 0)))
    if isinstance(first, Undefined) or isinstance(second, Undefined) or not first.overlaps(second):
        return Undefined("jump", f"{shown} changes its branch here", k == 0)
    is_certain = k == 0 and bool(first == second)
    return Undefined("kink", f"{shown} has a kink here: it changes its branch", is_certain)


class Extreme:
    """Extreme of some values: the places of those that may be the largest (or smallest), and that certainly are."""

    def __init__(self, values: Sequence[Ball], *, largest: bool, forms: Sequence[Hashable] | None = None) -> None:
        self.largest = largest
        own = [value if largest else -value for value in values]
        best = balls.extreme(own, largest=True)
        self.possible = [n for n, value in enumerate(own) if not value < best]
        same = range(len(own)) if forms is None else forms  # values of the same form are certainly the same number
        self.certain = {n for n in self.possible if all(own[n] >= own[k] or same[n] == same[k] for k in self.possible)}

    def slope(self, n: int, reason: str) -> Outcome:
        """Return 1 if value n is the extreme, else 0; at a tie there is no slope, for this reason."""
        if n not in self.possible:
            return arb(0)
        is_certain = len(self.certain) == len(self.possible)
        return arb(1) if len(self.possible) == 1 else Undefined("kink", reason, is_certain)


MOST_MINORS = 12
"""Rows of a singular matrix whose cofactors are still taken one by one."""


def grouped(run: PassValues, line: Line, elements: Flat) -> dict[int, Group]:
    """Group the operand elements of an aggregate by result: product, extreme or matrix."""
    op, shown = line.call.op, run.reference.program.excerpt(line)
    order = (run.reference.shapes.get(line.call.operands[0], ()) or (1,))[-1]
    form = None if run.rounding else partial(run.numbering.form, line.call.operands[0])
    known: dict[tuple[int, ...], Group] = {}
    members = {
        e: tuple(s for _, s in own) for e, own in run.reference.dependencies.sources_by_element(line, elements).items()
    }
    for inside in members.values():
        # Results that share all of their elements, as the n² of an inverse do, share one group.
        if inside not in known:
            entering: Sequence[Outcome] = run.values_at(line, 0, np.array(inside, dtype=np.int64))
            entering = run.rounding.entering(op, entering, order) if run.rounding else entering
            missing = next((v for v in entering if isinstance(v, Undefined)), None)
            kind = Group if missing is not None else _class_of(op)
            known[inside] = kind(op, shown, order, inside, known_balls(entering), form, line.part_of, missing)
    return {e: known[inside] for e, inside in members.items()}


def _class_of(op: Op) -> type[Group]:
    match op.kind:
        case Kind.SPECTRAL:
            return _Exponential if op.keeps_shape else _Eigenvalues
        case Kind.MATRIX:
            return _Inverse if op.keeps_shape else _Determinant
    return _ExtremeElement if op.is_extreme else _ProductOfElements


@dataclass(eq=False)
class Group:
    """Operand elements of one product, extreme or matrix; without a value for one of them there is no result.

    Attributes:
        op: The operation.
        shown: The sub-expression, for messages.
        order: The rows of a matrix.
        elements: Flat positions in the operand.
        values: Their values.
        form: Gives the form of an element, where it may tell which are the same.
        part_of: The defined operation that it is part of, if any.
        missing: The reason why one of the elements has no value, if one has none.
    """

    op: Op
    shown: str
    order: int
    elements: Sequence[int]
    values: list[Ball]
    form: Callable[[int], ValueForm] | None
    part_of: str = ""
    missing: Undefined | None = None

    @cached_property
    def place(self) -> Mapping[int, int]:
        """Places of the elements."""
        return {e: n for n, e in enumerate(self.elements)}

    @cached_property
    def total(self) -> Outcome:
        """The product, extreme or determinant of the elements; the reason why there is none, if one lacks a value."""
        if self.missing is None:
            raise NotImplementedError
        return self.missing

    def value(self, out: int) -> Outcome:
        """Return the result at a flat position."""
        return self.total

    def slope(self, out: int, element: int) -> Outcome:
        """Compute the partial derivative of a result by an element of the operand."""
        require_time()
        value = self.value(out)
        return value if isinstance(value, Undefined) else self._slope(out, self.place[element])

    def _slope(self, out: int, n: int) -> Outcome:
        raise NotImplementedError

    def _row_and_column(self, out: int) -> tuple[int, int]:
        return divmod(out % (self.order * self.order), self.order)


class _ProductOfElements(Group):
    @cached_property
    def total(self) -> Ball:
        return balls.product(self.values)

    @cached_property
    def _others(self) -> list[Ball]:
        return balls.products_of_others(self.values, arb(1))

    def _slope(self, out: int, n: int) -> Outcome:
        return self._others[n]


class _ExtremeElement(Group):
    @cached_property
    def total(self) -> Ball:
        return balls.extreme(self.values, largest=self.op.monoid is Monoid.LARGEST)

    @cached_property
    def _places(self) -> Extreme:
        """Places of the extreme, by the forms of the elements where balls alone do not tell which tie."""
        found = Extreme(self.values, largest=self.op.monoid is Monoid.LARGEST)
        if self.form is None or len(found.certain) == len(found.possible):
            return found
        return Extreme(self.values, largest=found.largest, forms=list(map(self.form, self.elements)))

    def _slope(self, out: int, n: int) -> Outcome:
        which = "largest" if self.op.monoid is Monoid.LARGEST else "smallest"
        return self._places.slope(n, f"{self.shown} has a kink here: its {which} elements tie")


class _Determinant(Group):
    @cached_property
    def total(self) -> Ball:
        return balls.determinant(self.values, self.order)

    @cached_property
    def _inverse(self) -> arb_mat:
        return balls.inverse(self.values, self.order)

    def _slope(self, out: int, n: int) -> Outcome:
        """Compute a cofactor: by the inverse, or for a singular matrix by its minors."""
        row, column = divmod(n, self.order)
        # Jacobi: d det/dA[p, q] = det * inv[q, p].
        ball = self.total * self._inverse[column, row]
        if exists(ball):
            return ball
        if self.order > MOST_MINORS:
            return Undefined("slope", f"{self.shown} is of a matrix too close to a singular one", False)
        return balls.cofactor(self.values, self.order, row, column)


class _Inverse(_Determinant):
    def value(self, out: int) -> Outcome:
        ball = self._inverse[self._row_and_column(out)]
        if exists(ball):
            return ball
        is_singular = bool(self.total == 0)
        return Undefined("domain", f"{self.shown} has no slope here: the matrix is singular", is_singular)

    def _slope(self, out: int, n: int) -> Outcome:
        """Compute -inv[i, p]*inv[q, j], the slope of the element (i, j) by the element (p, q)."""
        (i, j), (p, q) = self._row_and_column(out), divmod(n, self.order)
        return -self._inverse[i, p] * self._inverse[q, j]


class _Eigenvalues(Group):
    @cached_property
    def _matrix(self) -> Symmetric:
        return Symmetric(self.values, self.order)

    @property
    def values_called(self) -> str:
        """The word for the eigenvalues: those of the matrix that singular values are defined by are these."""
        doc = ROWS[self.part_of].doc if self.part_of else ""
        return "singular values" if "singular" in doc else "eigenvalues"

    def value(self, out: int) -> Outcome:
        if not self._matrix.is_symmetric:
            reason = "the matrix is not symmetric, of which torch reads the lower triangle alone, and derives by both"
            return Undefined("domain", f"{self.shown} has no value here: {reason}", False)
        ball = self._matrix.eigenvalues[out % self.order]
        return ball if exists(ball) else Undefined("domain", f"the eigenvalues in {self.shown} are not found", False)

    def _slope(self, out: int, n: int) -> Outcome:
        if not self._matrix.is_alone(out % self.order):
            reason = f"{self.shown} has {self.values_called} here that are equal, or too close to be told apart"
            return Undefined("kink", reason, False)
        ball = self._matrix.projections[out % self.order][divmod(n, self.order)]
        return ball if exists(ball) else Undefined("slope", f"the slope of {self.shown} is not found", False)


class _Exponential(Group):
    """An exponential, whose derivative along E is the upper right block of the exponential of [[A, E], [0, A]]."""

    @cached_property
    def _matrix(self) -> arb_mat:
        return arb_mat(self.order, self.order, self.values)

    @cached_property
    def _exponential(self) -> arb_mat:
        return self._matrix.exp()

    @cached_property
    def _along(self) -> Callable[[int], arb_mat]:
        return cache(lambda n: block_triangular(self._matrix, unit(self.order, n)).exp())

    def value(self, out: int) -> Outcome:
        ball = self._exponential[self._row_and_column(out)]
        return ball if exists(ball) else Undefined("domain", f"{self.shown} is too large here", False)

    def _slope(self, out: int, n: int) -> Outcome:
        i, j = self._row_and_column(out)
        ball = self._along(n)[i, self.order + j]
        return ball if exists(ball) else Undefined("slope", f"the slope of {self.shown} is not found", False)
