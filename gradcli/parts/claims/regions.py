"""Truth and claim compared region by region: a region for each case of the signs that their branches depend on.

Inside of a region both are one expression each.  Where a condition is on its boundary, x may cross it: the slopes
before and after it then decide whether there is a derivative, and give its value; the value of the derivative's formula
at that very place does not, as kinks may cancel.  The claim has to be one of the slopes, or these have to differ
wherever it is none.  Where x moves along the boundary, the slope is that of the boundary.

Whether signs of some expressions exclude each other, as x > 1 and x < 0 do, is found by linear forms of their
monomials, which are taken for independent numbers; squares and exponentials are known not to be negative.  Inequalities
of linear forms are eliminated one number after the other (Fourier-Motzkin).  That no contradiction is found says
nothing.  Source: A. Schrijver, "Theory of Linear and Integer Programming", 1986, section 12.2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import sympy
from sympy import Expr, Integer, KroneckerDelta, Rational
from sympy.core.relational import Relational

from gradcli.language.ops import SIGNS, TABLE
from gradcli.language.program import sympy_functions
from gradcli.language.program.sympy_functions import Aggregate, Chosen, Largest, Smallest
from gradcli.parts.claims.proof_boxes import ProofBox
from gradcli.reference.deadline import require_time
from gradcli.symbolic.identity import vanishes
from gradcli.symbolic.linear import Ranges, assemble, linear, tidied

MOST = 300
"""Most inequalities while variables are eliminated from them."""

Sign = int
"""1, -1 or 0."""

Assumption = tuple[Expr, Sign]


LinearPart = tuple[Mapping[Expr, Rational], bool]
"""Coefficients of a linear form that is above 0 (True) or not below it."""


def exclude(assumptions: Iterable[Assumption], limits: Iterable[Expr] = ()) -> bool:
    """Tell whether no point has all these signs.

    Args:
        assumptions: Expressions and their signs.
        limits: More expressions, which are nowhere negative.

    >>> x = sympy.Symbol("x", real=True)
    >>> exclude([(x - 1, 1), (x, -1)]), exclude([(x - 1, -1), (x, 1)]), exclude([(x - 1, -1)], [x - 2])
    (True, False, True)
    """
    forms: list[LinearPart] = [(sympy.expand(one).as_coefficients_dict(), False) for one in limits]
    for expression, sign in assumptions:
        coefficients = sympy.expand(expression).as_coefficients_dict()
        turned = {part: -c for part, c in coefficients.items()}
        forms += [(coefficients, sign != 0)] if sign >= 0 else []
        forms += [(turned, sign != 0)] if sign <= 0 else []
    numbers = {part for coefficients, _ in forms for part in coefficients if part != 1}
    forms += [({part: Rational(1)}, bool(part.is_positive)) for part in numbers if part.is_nonnegative]
    for part in sorted(numbers, key=sympy.default_sort_key):
        require_time()
        above, below, rest = ([f for f in forms if sympy.sign(f[0].get(part, 0)) == sign] for sign in (1, -1, 0))
        forms = rest + [_without(part, a, b) for a in above for b in below]
        if len(forms) > MOST:
            return False
    constants = ((coefficients.get(sympy.S.One, 0), is_strict) for coefficients, is_strict in forms)
    return any(number < 0 or (is_strict and number == 0) for number, is_strict in constants)


def _without(part: Expr, a: LinearPart, b: LinearPart) -> LinearPart:
    """Eliminate a part from two inequalities in which its coefficients have opposite signs."""
    p, q = -b[0][part], a[0][part]
    keys = {*a[0], *b[0]} - {part}
    return {k: p * a[0].get(k, Rational(0)) + q * b[0].get(k, Rational(0)) for k in keys}, a[1] or b[1]


MOST_REGIONS = 250
"""Regions of all entries of a claim together, boundaries among them: a few seconds."""


@dataclass(frozen=True)
class Condition:
    """A difference of two sides, and their comparisons, each with the signs of the difference for which it holds."""

    difference: Expr
    holds: Mapping[Expr, tuple[Sign, ...]]

    @property
    def is_of_indices(self) -> bool:
        """Tell whether only indices and sizes stand in it."""
        is_whole = all(symbol.is_integer for symbol in self.difference.free_symbols)
        return is_whole and not self.difference.has(sympy.Indexed, sympy.Function)

    @property
    def is_equality(self) -> bool:
        """Tell whether it does not matter which of the two sides is larger."""
        return bool(self.holds) and all(signs in ((0,), (-1, 1)) for signs in self.holds.values())

    @property
    def equal(self) -> list[dict[Expr, Expr]]:
        """Substitutions that make the difference 0, one for each of its factors."""
        return [solved(sympy.expand(factor.as_base_exp()[0])) for factor in sympy.Mul.make_args(self.difference)]

    def decided(self, expression: Expr, sign: Sign) -> Expr:
        """Return the expression where the difference has this sign."""
        holds = {part: sign in signs for part, signs in self.holds.items()}
        truths = sympy.false, sympy.true
        values = {p: truths[one] if isinstance(p, Relational) else Integer(one) for p, one in holds.items()}
        return expression.xreplace(values)


@dataclass(frozen=True)
class Region:
    """One case of the conditions.

    Attributes:
        truth: The derivative there.
        claim: What is claimed there.
        slopes: The derivative with the conditions still open that are on their boundary here.
        target: The x of the derivative; None for values, which are compared on a boundary as anywhere else.
        signs: What is assumed.
        equal: What to put in, one after the other, for the boundaries that this is on.
        limits: What the box that is looked at leaves nowhere negative.
    """

    truth: Expr
    claim: Expr
    slopes: Expr
    target: Expr | None
    signs: tuple[Assumption, ...] = ()
    equal: tuple[Mapping[Expr, Expr], ...] = ()
    limits: tuple[Expr, ...] = ()

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """Assumed signs, after the substitutions for the boundaries."""
        return tuple((self.with_boundaries(expression), sign) for expression, sign in self.signs)

    def with_sign(self, condition: Condition, sign: Sign) -> Region:
        """Return the region in which left minus right of a condition has this sign."""
        truth, claim, slopes = (condition.decided(e, sign) for e in (self.truth, self.claim, self.slopes))
        assumed = () if condition.is_equality or condition.is_of_indices else ((condition.difference, sign),)
        return replace(self, truth=truth, claim=claim, slopes=slopes, signs=(*self.signs, *assumed))

    def on_boundary(self, condition: Condition) -> Iterator[Region]:
        """Return the regions in which the two sides of a condition are equal."""
        for equal in condition.equal:
            truth, claim = (condition.decided(e, 0).xreplace(equal) for e in (self.truth, self.claim))
            if condition.is_of_indices:
                slopes = condition.decided(self.slopes, 0).xreplace(equal)
                signs = tuple((expression.xreplace(equal), sign) for expression, sign in self.signs)
                target = self.target and self.target.xreplace(equal)
                yield replace(self, truth=truth, claim=claim, slopes=slopes, target=target, signs=signs)
            else:
                signs = (*self.signs, (condition.difference, 0))
                yield replace(self, truth=truth, claim=claim, signs=signs, equal=(*self.equal, equal))

    def with_boundaries(self, expression: Expr) -> Expr:
        """Substitute the equations of the boundaries into an expression."""
        for equal in self.equal:
            expression = expression.xreplace(equal)
        return sympy.expand(expression)


class Regions:
    """The regions of entries, one after the other.

    Args:
        ranges: Of the indices.
        is_open: Whether boundaries are left out.
        box: The box that is looked at, if it is not all points.

    Attributes:
        has_kinks: Whether there are boundaries on which the claim is not the derivative, which does not exist there.
        is_of_box: Whether regions were left out that the box does not meet.
        left_out: The first difference that is 0 on a boundary that was left out.
    """

    left_out: Expr | None = None

    def __init__(self, ranges: Ranges, *, is_open: bool = False, box: ProofBox | None = None) -> None:
        self.ranges, self.is_open, self.box, self.left = ranges, is_open, box, MOST_REGIONS
        self.has_kinks = self.is_of_box = False

    @property
    def found(self) -> tuple[bool, bool, bool, Expr | None]:
        """The attributes with which a proof is made."""
        return self.is_open, self.has_kinks, self.is_of_box, self.left_out

    def agree(self, region: Region) -> bool:
        """Tell whether truth and claim are proved to be the same in all parts of a region."""
        self.left -= 1
        if self.left < 0:
            return False
        if region.signs and self._is_excluded(region):
            return True
        if region.equal and region.claim.has(sympy.nan, sympy.zoo):
            return True  # the claim has no value there
        condition = next(iter(conditions(region.truth, region.claim)), None)
        if condition is None:
            return self._agree_on_boundary(region) if region.equal else vanishes(region.truth - region.claim)
        if condition.difference.is_number:
            sign = self._sign(region, condition.difference)
            return sign is not None and self.agree(region.with_sign(condition, sign))
        return all(map(self.agree, self._cases(region, condition)))

    def _is_excluded(self, region: Region, *more: Assumption) -> bool:
        """Tell whether no point of the box has the signs of a region, and more signs."""
        assumed = (*region.assumed, *more)
        if exclude(assumed):
            return True
        limits = [region.with_boundaries(one) for one in region.limits]
        is_of_box = bool(limits) and exclude(assumed, limits)
        self.is_of_box |= is_of_box
        return is_of_box

    def _cases(self, region: Region, condition: Condition) -> Iterator[Region]:
        """Yield the parts of a region on both sides of a boundary, and on it, which the box meets."""
        signs: Collection[Sign] = (1, -1, 0)
        if self.box is not None and not condition.is_of_indices:
            signs = self.box.signs(condition.difference)
            self.is_of_box |= len(signs) < len((1, -1, 0))
        sides = [sign for sign in (1, -1) if sign in signs]
        yield from (region.with_sign(condition, sign) for sign in (sides[:1] if condition.is_equality else sides))
        is_left_out = 0 not in signs or (self.is_open and not condition.is_of_indices)
        if 0 in signs and is_left_out and self.left_out is None:
            self.left_out = condition.difference
        yield from () if is_left_out else region.on_boundary(condition)

    def _agree_on_boundary(self, region: Region) -> bool:
        """Tell whether, on each boundary, the claim is the derivative or the derivative does not exist."""
        if region.target is None:
            return vanishes(region.with_boundaries(region.truth) - region.with_boundaries(region.claim))
        try:
            before, behind = (self._slope(region, side) for side in (-1, 1))
        except _OpenError as error:
            return error.condition is not None and all(map(self.agree, self._cases(region, error.condition)))
        claim = region.with_boundaries(region.claim)
        is_slope = vanishes(before - claim), vanishes(behind - claim)
        self.has_kinks |= not all(is_slope)
        if any(is_slope) or vanishes(before + behind - 2 * claim):
            return True  # it is the derivative where the slopes are the same
        jump = sympy.expand(behind - before)
        return jump != 0 and self._is_excluded(region, (jump, 0))

    def _slope(self, region: Region, side: Sign) -> Expr:
        """Return the derivative just before or after a boundary, where x crosses it.

        Raises:
            _OpenError: a condition may hold there or not.
        """
        slopes = region.slopes
        while (condition := next(iter(conditions(slopes)), None)) is not None:
            sign = self._sign(region, region.with_boundaries(condition.difference))
            if sign is None:
                raise _OpenError(condition)
            slopes = condition.decided(slopes, sign or side * self._rate(region, condition.difference))
        return region.with_boundaries(slopes)

    def _rate(self, region: Region, difference: Expr) -> Sign:
        """Return the sign of the rate at which a difference grows with x; 0 where it does not move.

        Raises:
            _OpenError: it may be one or another, or is 0 and the difference moves all the same.
        """
        slope = tidied(assemble(linear(difference.diff(region.target), self.ranges)))
        rate = region.with_boundaries(slope)
        if rate.has(KroneckerDelta):
            raise _OpenError(None)
        sign = self._sign(region, rate)
        if sign is None:
            raise _OpenError(Condition(rate, {}))
        if sign == 0 and slope.diff(region.target) != 0:
            raise _OpenError(None)
        return sign

    def _sign(self, region: Region, expression: Expr) -> Sign | None:
        """Return the one sign that an expression can have; None if it can have several."""
        if expression.is_number:
            known = (expression.is_positive, expression.is_negative, expression.is_zero)
            return (1, -1, 0)[known.index(True)] if True in known else None
        signs = [sign for sign in (1, -1, 0) if not self._is_excluded(region, (expression, sign))]
        return signs[0] if len(signs) == 1 else None


class _OpenError(Exception):
    """Derivative on one side of a boundary that is undecided: it depends on a condition, or cannot be told (None)."""

    def __init__(self, condition: Condition | None) -> None:
        self.condition = condition


def conditions(*sides: Expr) -> list[Condition]:
    """List the outermost conditions, those on indices first."""
    found: dict[Expr, dict[Expr, tuple[Sign, ...]]] = {}
    hidden = {k for side in sides for k in bound_in(side)}
    for side in sides:
        for part in sorted(
            side.atoms(KroneckerDelta, sympy_functions.Comparison, Relational), key=sympy.default_sort_key
        ):
            if part.free_symbols & hidden:
                continue
            is_delta = isinstance(part, KroneckerDelta)
            sign = "==" if is_delta else part.rel_op if isinstance(part, Relational) else part.sign
            signs = TABLE[SIGNS[sign]].sense
            difference = sympy.expand(part.args[0] - part.args[1])
            if difference.atoms(sympy_functions.Comparison, Relational, sympy.Piecewise, sympy_functions.where):
                continue
            if difference.could_extract_minus_sign():
                difference, signs = -difference, tuple(-sign for sign in signs)
            _, difference = difference.as_content_primitive()
            found.setdefault(difference, {})[part] = tuple(sorted(signs))
    chosen = [Condition(difference, holds) for difference, holds in found.items()]
    return sorted(chosen, key=lambda c: (not c.is_of_indices, c.difference.has(sympy.Indexed)))


def bound_in(expression: Expr) -> set[Expr]:
    """List the bound indices of all sums, products and extremes."""
    parts = expression.atoms(sympy.Sum, Aggregate)
    return {k for part in parts for k in (part.bound if isinstance(part, Aggregate) else part.variables)}


def hides_kinks(truth: Expr, target: Expr) -> bool:
    """Tell whether there may be boundaries at which the slopes on both sides are not looked at.

    So it is where a condition that x enters runs over a bound index, and where a step, which is what it is at its jump
    from one side only, meets a condition or a step of another kind.
    """
    hidden = bound_in(truth)
    x = target.base if isinstance(target, sympy.Indexed) else target
    parts = [part for part in truth.atoms(sympy_functions.Comparison, Relational, Chosen) if part.has(x)]
    if any(isinstance(part, Chosen) or part.free_symbols & hidden for part in parts):
        return True
    steps = {
        part.func
        for part in truth.atoms(
            sympy_functions.floor, sympy_functions.ceil, sympy_functions.round, sympy_functions.trunc
        )
        if part.has(x)
    }
    return len(steps) + bool(parts) > 1 if steps else False


def with_rivals(sides: Expr, target: Expr) -> Expr:
    """Write each extreme that x enters only at its own place as the choice between that and all others.

    With M the largest of the others, which do not move with x[j], max(x) is x[j] where that is at least M, and else M;
    x[j] is chosen, and equals the largest, where it is at least M.
    """
    for extreme in sorted(sides.atoms(Largest, Smallest), key=sympy.default_sort_key):
        own = _own_index(extreme, target)
        if own:
            rival, value = sympy.Dummy("extreme of the others", real=True), extreme.body.xreplace(own)
            wins = (sympy_functions.ge if isinstance(extreme, Largest) else sympy_functions.le)(value, rival)
            sides = sides.xreplace({Chosen(extreme, *(own[k] for k in extreme.bound)): wins})
            sides = sides.xreplace({extreme: sympy_functions.where(wins, value, rival)})
    return sides


def _own_index(extreme: Largest | Smallest, target: Expr) -> dict[Expr, Expr]:
    """Return the bound indices at which x[j] enters an extreme; none if it enters elsewhere, or several times."""
    if not isinstance(target, sympy.Indexed):
        return {}
    elements = [a for a in extreme.body.atoms(sympy.Indexed) if a.base == target.base]
    own = {k: j for a in elements for k, j in zip(a.indices, target.indices, strict=True) if k in extreme.bound}
    is_own = len(own) == len(extreme.bound) and [a.xreplace(own) for a in elements] == [target]
    return own if is_own else {}


def solved(difference: Expr) -> dict[Expr, Expr]:
    """Solve for one symbol or element where the difference is 0; return the substitution, {} if none is found."""
    for part in sorted(difference.atoms(sympy.Symbol, sympy.Indexed), key=sympy.default_sort_key, reverse=True):
        if part.is_Symbol and any(part in element.free_symbols for element in difference.atoms(sympy.Indexed)):
            continue
        slope = difference.coeff(part, 1)
        rest = sympy.expand(difference - slope * part)
        if slope.is_Rational and slope != 0 and not rest.has(part) and part not in bound_in(rest):
            return {part: sympy.expand(-rest / slope)}
    return {}
