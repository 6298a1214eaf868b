"""Operations that take one of their operands, and those of whole lists and matrices.

An operand that `where`, `maximum`, `minimum`, `amax` or `amin` does not take adds nothing, whatever it is; where two
meet there is no slope, and series decide.  A product, a determinant or an inverse has one partial derivative for each
pair of a result and an element that it is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from flint import arb

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.wengert import Line
from gradcli.reference import balls
from gradcli.reference.balls import Ball, exists
from gradcli.reference.deadline import require_time
from gradcli.reference.dependencies import Flat
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.spectral import Exponential, Symmetric

if TYPE_CHECKING:
    from gradcli.reference.enclosure_pass import Run
    from gradcli.reference.exact_forms import Form


def is_choice(op: Op) -> bool:
    """Tell whether an elementwise operation takes one of its operands."""
    return op.kind is Kind.ELEMENTWISE and (op.is_branch or op.is_extreme)


def plus(a: Outcome, b: Outcome) -> Outcome:
    """Add two tangents; a kink, which a slope of 0 undoes, does not hide a jump, which it does not undo."""
    if isinstance(a, Undefined):
        return b if isinstance(b, Undefined) and b.kind != "kink" else a
    return b if isinstance(b, Undefined) else a + b


def times(a: Outcome, b: Outcome) -> Outcome:
    """Multiply a tangent by a slope.

    An exact zero undoes a kink on either side: |x|**2 is smooth at 0, and |g| is where g and its derivative are 0, as
    the slopes of a kink are bounded.  A jump or an infinite slope is not undone.
    """
    if isinstance(a, Undefined):
        if isinstance(b, Undefined):
            return b if a.kind == "kink" else a
        return arb(0) if a.kind == "kink" and b == 0 else a
    if isinstance(b, Undefined):
        return arb(0) if b.kind == "kink" and a == 0 else b
    return a if b == 1 else a * b


def jump_of(tangent: Outcome) -> Undefined | None:
    """Keep of a tangent only that its value jumps or has no finite slope; None of a kink, or where there is one."""
    is_jump = isinstance(tangent, Undefined) and tangent.kind != "kink" and not tangent.is_nan
    return tangent if is_jump else None


def changed(condition: Outcome, slope: Outcome) -> Outcome | None:
    """Pass on `slope`, which says that the branch changes, where the condition does; None where it stays."""
    if not isinstance(condition, Undefined) or not isinstance(slope, Undefined):
        return None
    if condition.kind not in ("jump", "kink"):
        return condition
    return replace(slope, decided=slope.decided and condition.decided)


def branch(condition: Outcome, first: Outcome, second: Outcome) -> Outcome:
    """Return the value of the branch that is taken, whatever the other one is."""
    if isinstance(condition, Undefined):
        return condition
    if condition in (0, 1):
        return first if condition == 1 else second
    if isinstance(first, Undefined):
        return Undefined(first.kind, first.reason, False)
    if isinstance(second, Undefined):
        return Undefined(second.kind, second.reason, False)
    return first.union(second)


def slope_of_choice(op: Op, k: int, operands: Sequence[Outcome], shown: str) -> Outcome:
    """Give 1 for the operand that is taken, 0 for the other; for a condition, why there is no slope if it changes."""
    if op.is_extreme:
        missing = next((operand for operand in operands if isinstance(operand, Undefined)), None)
        reason = f"{shown} has a kink here: its left and right derivatives differ"
        return missing or Extreme(list(operands), largest=op.monoid is Monoid.LARGEST).slope(k, reason)
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
    """Extreme of some values: the places of values that may be the largest (or smallest), and that certainly are."""

    def __init__(self, values: Sequence[Ball], *, largest: bool, forms: Sequence[Hashable] | None = None) -> None:
        self.largest = largest
        own = [value if largest else -value for value in values]
        best = own[0]
        for value in own[1:]:
            best = best.max(value)
        self.possible = [n for n, value in enumerate(own) if not value < best]
        same = range(len(own)) if forms is None else forms  # values of the same form are certainly the same number
        self.certain = {n for n in self.possible if all(own[n] >= own[k] or same[n] == same[k] for k in self.possible)}

    def slope(self, n: int, reason: str) -> Outcome:
        """Return 1 if value n is the extreme, else 0; at a tie there is no slope, for this reason."""
        if n not in self.possible:
            return arb(0)
        is_certain = len(self.certain) == len(self.possible)
        return arb(1) if len(self.possible) == 1 else Undefined("kink", reason, is_certain)


def spectral_value(of: Symmetric | Exponential, out: int, shown: str) -> Outcome:
    """Return an eigenvalue, or an element of the exponential, at a flat position of the result."""
    if isinstance(of, Exponential):
        ball = of.values[out % (of.order * of.order)]
        return ball if exists(ball) else Undefined("domain", f"{shown} is too large here", False)
    if not of.is_symmetric:
        reason = "the matrix is not symmetric, of which torch reads the lower triangle alone, and derives by both"
        return Undefined("domain", f"{shown} has no value here: {reason}", False)
    ball = of.eigenvalues[out % of.order]
    return ball if exists(ball) else Undefined("domain", f"the eigenvalues in {shown} are not found", False)


def slope_in_spectrum(of: Symmetric | Exponential, out: int, n: int, shown: str) -> Outcome:
    """Compute the derivative of a `spectral_value` by the element of the matrix at place n."""
    value = spectral_value(of, out, shown)
    if isinstance(value, Undefined):
        return value
    if isinstance(of, Exponential):
        ball = of.slope(out % (of.order * of.order), n)
    elif of.is_alone(out % of.order):
        ball = of.projection(out % of.order)[divmod(n, of.order)]
    else:
        reason = f"{shown} has eigenvalues here that are equal, or too close to be told apart"
        return Undefined("kink", reason, False)
    return ball if exists(ball) else Undefined("slope", f"the slope of {shown} is not found", False)


MOST_MINORS = 12
"""Rows of a singular matrix whose cofactors are still taken one by one."""


def is_aggregate(op: Op) -> bool:
    """Tell whether `Groups` computes an operation: products, extremes, matrices and spectra."""
    return op.is_nonlinear_fold or op.kind in (Kind.MATRIX, Kind.SPECTRAL)


class Groups:
    """Results of one line at some elements, each with the elements of its operand that it is made of."""

    def __init__(self, run: Run, line: Line, elements: Flat) -> None:
        self.op, self.shown = line.call.op, run.reference.program.excerpt(line)
        self.order = (run.reference.shapes.get(line.call.operands[0], ()) or (1,))[-1]
        position, source = run.reference.footprint.down(line, 0, elements)
        members: dict[int, list[int]] = {e: [] for e in elements.tolist()}
        out = elements.tolist()
        for p, s in zip(position.tolist(), source.tolist(), strict=True):
            members[out[p]].append(s)
        values = dict(zip(source.tolist(), run.at(line, 0, source), strict=True))
        known: dict[tuple[int, ...], Group] = {}
        self.groups: dict[int, Group] = {}
        for e, inside in members.items():
            # Results that share all of their elements, as the n² of an inverse do, share one group.
            key = tuple(inside)
            if key not in known:
                entering = [values[s] for s in inside]
                if run.rounding is not None:
                    entering = run.rounding.entering(self.op, entering, self.order)
                known[key] = Group(self.op, self.shown, self.order, inside, entering)
                if run.rounding is None:
                    known[key].form = partial(run.numbering.form, line.call.operands[0])
            self.groups[e] = known[key]

    def value(self, out: int) -> Outcome:
        """Return the value of the aggregate at one flat position of the result."""
        group = self.groups[out]
        if group.undefined is not None:
            return group.undefined
        if self.op.kind is Kind.SPECTRAL:
            return spectral_value(group.spectral, out, self.shown)
        return group.inverse_at(out) if self.op.keeps_shape else group.total

    def slope(self, out: int, element: int) -> Outcome:
        """Compute the partial derivative of a result by an element of the operand."""
        require_time()
        group = self.groups[out]
        if group.undefined is not None:
            return group.undefined
        n = group.place[element]
        if self.op.kind is Kind.SPECTRAL:
            return group.spectral_slope(out, n)
        if self.op.monoid is Monoid.PRODUCT:
            return group.others[n]
        if self.op.is_extreme:
            which = "largest" if self.op.monoid is Monoid.LARGEST else "smallest"
            return group.extreme.slope(n, f"{self.shown} has a kink here: its {which} elements tie")
        return group.inverse_slope(out, n) if self.op.keeps_shape else group.cofactor(n)


class Group:
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
            return balls.determinant(self.values, self.order)
        if self.op.monoid is Monoid.PRODUCT:
            return balls.product(self.values)
        return balls.extreme(self.values, largest=self.op.monoid is Monoid.LARGEST)

    @cached_property
    def spectral(self) -> Symmetric | Exponential:
        """The matrix of which eigenvalues or the exponential are taken."""
        return (Exponential if self.op.keeps_shape else Symmetric)(self.values, self.order)

    def spectral_slope(self, out: int, n: int) -> Outcome:
        """Compute the derivative of a spectral result by an element of the matrix."""
        return slope_in_spectrum(self.spectral, out, n, self.shown)

    @cached_property
    def others(self) -> list[Ball]:
        """Product of the other elements, for each element."""
        return balls.products_of_others(self.values)

    @cached_property
    def inverse(self) -> list[Ball]:
        """The inverse matrix, row by row."""
        return balls.inverse(self.values, self.order)

    def inverse_at(self, out: int) -> Outcome:
        """Return the element of the inverse at a flat position; undefined where the matrix is singular."""
        ball = self.inverse[out % (self.order * self.order)]
        if exists(ball):
            return ball
        is_singular = bool(self.total == 0)
        return Undefined("domain", f"{self.shown} has no slope here: the matrix is singular", is_singular)

    def inverse_slope(self, out: int, n: int) -> Outcome:
        """Compute -inv[i, p]*inv[q, j], the slope of the element (i, j) by the element (p, q)."""
        value = self.inverse_at(out)
        if isinstance(value, Undefined):
            return value
        (i, j), (p, q) = divmod(out % (self.order * self.order), self.order), divmod(n, self.order)
        return -self.inverse[i * self.order + p] * self.inverse[q * self.order + j]

    def cofactor(self, n: int) -> Outcome:
        """Compute the derivative of a determinant: by the inverse, or for a singular matrix by its minors."""
        row, column = divmod(n, self.order)
        # Jacobi: d det/dA[p, q] = det * inv[q, p].
        ball = self.total * self.inverse[column * self.order + row]
        if exists(ball):
            return ball
        if self.order > MOST_MINORS:
            return Undefined("slope", f"{self.shown} is of a matrix too close to a singular one", False)
        return balls.cofactor(self.values, self.order, row, column)

    @cached_property
    def extreme(self) -> Extreme:
        """Extreme of the elements, with their forms where balls alone do not tell which tie."""
        extreme = Extreme(self.values, largest=self.op.monoid is Monoid.LARGEST)
        if self.form is None or len(extreme.certain) == len(extreme.possible):
            return extreme
        return Extreme(self.values, largest=extreme.largest, forms=[self.form(e) for e in self.place])
