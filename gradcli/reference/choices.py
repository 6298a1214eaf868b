"""Operations that take the tangent of one of their operands, and those of whole lists and matrices.

Of what `where`, `maximum`, `minimum`, `amax` and `amin` do not take nothing is added, whatever it is.  Where two meet,
the function is smooth if their tangents are the same: for f = g at a point, max(f, g) has a derivative there exactly if
f' = g'.  A product, a determinant or an inverse has one partial derivative for each pair of a result and an element
that it is made of.

A tangent of None is that of a value that does not move at all near the point, as behind a `floor` between its jumps:
no kink, jump or infinite slope matters to it.  A tangent of 0 says less, as x**2 has at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from flint import arb

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.wengert import Line
from gradcli.reference import balls
from gradcli.reference.balls import Ball, exists
from gradcli.reference.deadline import require_time
from gradcli.reference.footprint import Flat
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.spectral import Exponential, Symmetric

if TYPE_CHECKING:
    from gradcli.reference.exact_numbers import Form
    from gradcli.reference.running import Run

Tangent = Outcome | None


def is_choice(op: Op) -> bool:
    """Whether an elementwise operation takes one of its operands."""
    return op.kind is Kind.ELEMENTWISE and (op.is_branch or op.is_extreme)


def plus(a: Tangent, b: Tangent) -> Tangent:
    """The sum of two tangents; a kink, which a slope of 0 undoes, hides nothing that it does not undo."""
    if isinstance(a, Undefined) and isinstance(b, Undefined):
        return a if b.kind == "kink" else b
    if a is None or isinstance(b, Undefined):
        return b
    return a if b is None or isinstance(a, Undefined) else a + b


def times(a: Tangent, b: Outcome | None) -> Tangent:
    """The product of a tangent and a slope, None for 1.

    An exact zero undoes a kink on either side: |x|**2 is smooth at 0, and |g| is where g and its derivative are 0, as
    the slopes of a kink are bounded.  A jump or an infinite slope is not undone.
    """
    if b is None:
        return a
    if a is None:
        return b if isinstance(b, Undefined) and b.kind == "domain" else None
    if isinstance(a, Undefined) and isinstance(b, Undefined):
        return b if a.kind == "kink" else a
    if isinstance(a, Undefined):
        return arb(0) if a.kind == "kink" and not isinstance(b, Undefined) and b == 0 else a
    if isinstance(b, Undefined):
        return arb(0) if b.kind == "kink" and a == 0 else b
    return a * b


def flat(a: Tangent, b: Outcome) -> Tangent:
    """The product with the slope of a step: behind it nothing moves, but where it or its operand jumps."""
    if isinstance(a, Undefined) and a.kind != "kink" and not a.is_nan:
        return a
    return times(a, b) if isinstance(b, Undefined) else None


def branch(condition: Outcome, first: Outcome, second: Outcome) -> Outcome:
    """The value of the branch that is taken, whatever the other one is."""
    if isinstance(condition, Undefined):
        return condition
    if condition in (0, 1):
        return first if condition == 1 else second
    if isinstance(first, Undefined):
        return Undefined(first.kind, first.reason, False)
    if isinstance(second, Undefined):
        return Undefined(second.kind, second.reason, False)
    return first.union(second)


def branch_tangent(operands: tuple[Outcome, ...], entering: Sequence[Tangent], shown: str) -> Tangent:
    """The tangent of the branch that is taken; where the condition changes, that of both if it is exactly the same."""
    condition, *values = operands
    change, *of = entering
    if isinstance(condition, Undefined):
        return condition
    if not isinstance(change, Undefined) and condition in (0, 1):
        return of[0 if condition == 1 else 1]
    if isinstance(change, Undefined) and change.kind not in ("jump", "kink"):
        return change
    is_decided = isinstance(change, Undefined) and change.decided
    first, second = values
    is_missing = any(isinstance(tangent, Undefined) for tangent in of)
    if is_missing or isinstance(first, Undefined) or isinstance(second, Undefined) or not first.overlaps(second):
        return Undefined("jump", f"{shown} changes its branch here", is_decided)
    of_first, of_second = (arb(0) if tangent is None else tangent for tangent in of)
    if first == second and of_first == of_second:
        return of_first
    return Undefined("kink", f"{shown} has a kink here: it changes its branch", is_decided and bool(first == second))


def jump_of(tangents: Iterable[Tangent]) -> Undefined | None:
    """A jump of an operand of an extreme, or an edge of its domain, where all slopes are infinite or on one side.

    Also what is not taken at the point may be taken behind it, or have no value there, and then the extreme has none.
    """
    found = [t for t in tangents if isinstance(t, Undefined) and t.kind in ("jump", "slope")]
    return Undefined(found[0].kind, found[0].reason, False) if found else None


def slope_of_choice(op: Op, k: int, operands: Sequence[Outcome]) -> Outcome:
    """1 for the operand that is taken, 0 for the other and for a condition."""
    if op.is_branch:
        condition = operands[0]
        if k == 0 or isinstance(condition, Undefined):
            return arb(0) if k == 0 else condition
        if condition in (0, 1):
            return arb(int(condition == (1 if k == 1 else 0)))
        return Undefined("jump", "it cannot be told which branch is taken", False)
    missing = next((operand for operand in operands if isinstance(operand, Undefined)), None)
    return missing or Extreme(list(operands), largest=op.monoid is Monoid.LARGEST).slope(k)


class Extreme:
    """Which of some values may be the largest (or smallest), and which certainly are."""

    def __init__(self, values: Sequence[Ball], *, largest: bool, forms: Sequence[Hashable] | None = None) -> None:
        self.largest = largest
        own = [value if largest else -value for value in values]
        best = own[0]
        for value in own[1:]:
            best = best.max(value)
        self.possible = [n for n, value in enumerate(own) if not value < best]
        same = range(len(own)) if forms is None else forms  # what has the same form is certainly the same number
        self.certain = {n for n in self.possible if all(own[n] >= own[k] or same[n] == same[k] for k in self.possible)}

    def slope(self, n: int) -> Outcome:
        """Whether value n is the extreme; of a tie there is no slope."""
        if n not in self.possible:
            return arb(0)
        return arb(1) if len(self.possible) == 1 else Undefined("kink", "they tie", False)

    def tangent(self, of: Sequence[Tangent], reason: str) -> Tangent:
        """The tangent of the extreme from those of its possible places, in their order; a kink where they differ."""
        known = dict(zip(self.possible, of, strict=True))
        if len(known) == 1 or all(tangent is None for tangent in known.values()):
            return of[0]
        undefined = [tangent for tangent in known.values() if isinstance(tangent, Undefined)]
        if undefined:
            missing = next((one for one in undefined if one.kind != "kink"), undefined[0])
            return Undefined(missing.kind, f"{reason}, and there {missing.reason}", False)
        first, *others = (arb(0) if tangent is None else tangent for tangent in known.values())
        if all(ball == first for ball in others):
            return first
        return Undefined("kink", reason, len(self.certain) == len(self.possible))


def spectral_value(of: Symmetric | Exponential, out: int, shown: str) -> Outcome:
    """An eigenvalue, or an element of the exponential, at a flat position of the result."""
    if isinstance(of, Exponential):
        ball = of.values[out % (of.order * of.order)]
        return ball if exists(ball) else Undefined("domain", f"{shown} is too large here", False)
    if not of.is_symmetric:
        reason = "the matrix is not symmetric, of which torch reads the lower triangle alone, and derives by both"
        return Undefined("domain", f"{shown} has no value here: {reason}", False)
    ball = of.eigenvalues[out % of.order]
    return ball if exists(ball) else Undefined("domain", f"the eigenvalues in {shown} are not found", False)


def slope_in_spectrum(of: Symmetric | Exponential, out: int, n: int, shown: str) -> Outcome:
    """The derivative of such a value by the element of the matrix at place n."""
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
    """Whether an operation is read here."""
    return op.is_nonlinear_fold or op.kind in (Kind.MATRIX, Kind.SPECTRAL)


class Groups:
    """The results of one line at some elements, each with the elements of its operand that it is made of."""

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
        """The value of the aggregate at one flat position of the result."""
        group = self.groups[out]
        if group.undefined is not None:
            return group.undefined
        if self.op.kind is Kind.SPECTRAL:
            return spectral_value(group.spectral, out, self.shown)
        return group.inverse_at(out) if self.op.keeps_shape else group.total

    def slope(self, out: int, element: int) -> Outcome:
        """The partial derivative of a result by an element of the operand."""
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
            return group.extreme.slope(n)
        return group.inverse_slope(out, n) if self.op.keeps_shape else group.cofactor(n)

    def chosen(self, out: int, direction: int, tangents: Mapping[tuple[int, int], Tangent]) -> Tangent:
        """The tangent of an extreme, from those of the elements it is made of by (direction, element)."""
        group = self.groups[out]
        if group.undefined is not None:
            return group.undefined
        which = "largest" if self.op.monoid is Monoid.LARGEST else "smallest"
        reason = f"{self.shown} has a kink here: its {which} elements tie"
        elements = list(group.place)
        jump = jump_of(tangents.get((direction, element)) for element in elements)
        if jump is not None:
            return jump
        possible = [tangents.get((direction, elements[n])) for n in group.extreme.possible]
        return group.extreme.tangent(possible, reason)


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
        """Its derivative by an element of the matrix."""
        return slope_in_spectrum(self.spectral, out, n, self.shown)

    @cached_property
    def others(self) -> list[Ball]:
        """For each element the product of the others."""
        return balls.products_of_others(self.values)

    @cached_property
    def inverse(self) -> list[Ball]:
        """The inverse matrix, row by row."""
        return balls.inverse(self.values, self.order)

    def inverse_at(self, out: int) -> Outcome:
        """The element of the inverse at a flat position; undefined where the matrix is singular."""
        ball = self.inverse[out % (self.order * self.order)]
        if exists(ball):
            return ball
        is_singular = bool(self.total == 0)
        return Undefined("domain", f"{self.shown} has no slope here: the matrix is singular", is_singular)

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
        return balls.cofactor(self.values, self.order, row, column)

    @cached_property
    def extreme(self) -> Extreme:
        """Which elements may be the extreme."""
        extreme = Extreme(self.values, largest=self.op.monoid is Monoid.LARGEST)
        if self.form is None or len(extreme.certain) == len(extreme.possible):
            return extreme
        return Extreme(self.values, largest=extreme.largest, forms=[self.form(e) for e in self.place])
