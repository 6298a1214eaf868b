"""Series on a ray with exact coefficients, which tell that one is 0 where its ball is only around 0.

The cosine of the angle between a and a itself has a slope of 0 by each element, as a difference of quotients of square
roots.  Each element that is made by sums, products, quotients and roots is followed as a power series whose
coefficients are exact forms; other elements that move have no such series.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce

import sympy
from flint import arb

from gradcli.language.ops import Kind, Monoid
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import Ball, exists, is_chosen
from gradcli.reference.compiling import compile_ball
from gradcli.reference.deadline import require_time
from gradcli.reference.dependencies import Flat
from gradcli.reference.enclosure_pass import Direction, EnclosurePass
from gradcli.reference.exact_forms import constant_of
from gradcli.reference.pass_views import ValueForm
from gradcli.reference.series import MOST_SERIES_TERMS

MOST_PRODUCTS = 20_000
"""Products of coefficients on a ray, which take some twenty microseconds each."""

Coefficients = tuple[ValueForm, ...]
"""Coefficients of t**0, t**1, ... up to `MOST_SERIES_TERMS` of them; what comes after is not known."""

_ONE = Fraction(1)


class ExactSeries:
    """The exact series of the elements that some directions move, line by line as they are asked for.

    Args:
        run: The values at the point.
        moving: The weights of the directions.
        reached: The elements of each line that these move.
    """

    def __init__(self, run: EnclosurePass, moving: Mapping[Direction, float], reached: Mapping[Atom, Flat]) -> None:
        self.run, self.numbering, self.reached = run, run.numbering, reached
        self.work = 0
        self._known: dict[Atom, dict[int, Coefficients | None]] = {}
        self._lines = iter(run.reference.program.lines)
        for (variable, element), weight in moving.items():
            if variable in run.values and element in run.values[variable]:
                start = self._still(variable, element)
                slope = self.numbering.total([(self._number(_ONE), Fraction(weight))])
                series = None if start is None else (start[0], slope, *start[2:])
                self._known.setdefault(variable, {})[element] = series

    def is_zero(self, symbol: Atom, element: int, order: int) -> bool:
        """Tell whether a coefficient of an element is certainly 0."""
        while symbol not in self._known:
            line = next(self._lines)
            if line.symbol in self.reached and line.symbol in self.run.plan.needed:
                self._known[line.symbol] = self._of_line(line)
        series = self._known[symbol].get(element)
        return series is not None and order < MOST_SERIES_TERMS and not series[order]

    def _of_line(self, line: Line) -> dict[int, Coefficients | None]:
        members = self.run.reference.dependencies.sources_by_element(line, self.reached[line.symbol])
        return {e: self._of_members(line, e, those) for e, those in members.items()}

    def _value(self, operand: Atom, element: int) -> Ball | None:
        """Return the value at the point; None where it is not finite."""
        if not isinstance(operand, sympy.Symbol):
            constant = compile_ball(operand)({})
            return constant if exists(constant) else None
        value = self.run.values[operand].get(element)
        return value if isinstance(value, arb) and exists(value) else None

    def _still(self, operand: Atom, element: int) -> Coefficients | None:
        """Return the series of an element that is constant along the ray."""
        if self._value(operand, element) is None:
            return None
        return (self.numbering.form(operand, element), *[()] * (MOST_SERIES_TERMS - 1))

    def _number(self, number: Fraction) -> ValueForm:
        return self.numbering.total([(((0, _ONE),), number)])

    def _of_members(self, line: Line, element: int, members: list[tuple[Atom, int]]) -> Coefficients | None:
        require_time()
        if self.work > MOST_PRODUCTS or self._value(line.symbol, element) is None:
            return None
        self.work += len(members)
        if line.call.op.name == "detach":
            return self._still(line.symbol, element)
        known = [
            self._known[atom][n] if n in self._known.get(atom, {}) else self._still(atom, n) for atom, n in members
        ]
        values = [value for member in members if (value := self._value(*member)) is not None]
        series = [one for one in known if one is not None]
        if len(series) < len(known) or len(values) < len(members):
            return None
        return self._combined(line, series, values)

    def _combined(self, line: Line, series: list[Coefficients], values: list[Ball]) -> Coefficients | None:
        op = line.call.op
        if op.is_extreme:  # certainly one of them, around the point too
            chosen = (n for n in range(len(values)) if is_chosen(values, n, largest=op.monoid is Monoid.LARGEST) == 1)
            return next((series[n] for n in chosen), None)
        if op.is_nonlinear_fold:
            return reduce(self._product, series)
        if op.kind is not Kind.ELEMENTWISE:
            return self._sum(series, [1] * len(series)) if op.is_linear else None
        if op.coefficients:
            return self._sum(series, op.coefficients)
        match op.name:
            case "mul":
                return self._product(*series)
            case "div" if not values[1].contains(0):
                return self._quotient(*series)
            case "sqrt" if values[0] > 0:
                return self._root(series[0])
            case "abs" if not values[0].contains(0):
                return self._sum(series, [1 if values[0] > 0 else -1])
            case "pow" if not any(series[1][1:]):
                return self._power(series[0], constant_of(series[1][0]), values[0])
        return None

    def _sum(self, series: list[Coefficients], factors: Sequence[int]) -> Coefficients:
        weights = [Fraction(factor) for factor in factors]
        columns = zip(*series, strict=True)
        return tuple(self.numbering.total(zip(forms, weights, strict=True)) for forms in columns)

    def _mixed(self, first: Coefficients, second: Coefficients, order: int, begin: int = 0) -> ValueForm:
        """Add up the products of two coefficients whose orders have this sum, those of the first from `begin` on."""
        pairs = [(first[n], second[order - n]) for n in range(begin, order + 1 - begin)]
        pairs = [(a, b) for a, b in pairs if a and b]
        self.work += len(pairs)
        return self.numbering.total((self.numbering.product(a, b), _ONE) for a, b in pairs)

    def _product(self, first: Coefficients, second: Coefficients) -> Coefficients:
        return tuple(self._mixed(first, second, order) for order in range(MOST_SERIES_TERMS))

    def _quotient(self, first: Coefficients, second: Coefficients) -> Coefficients:
        found: list[ValueForm] = []
        for order in range(MOST_SERIES_TERMS):
            known = self._mixed((*found, ()), second, order)
            rest = self.numbering.total([(first[order], _ONE), (known, -_ONE)])
            found.append(self.numbering.quotient(rest, second[0]) if rest else ())
        return tuple(found)

    def _root(self, square: Coefficients) -> Coefficients:
        """Compute the root of a series that is not 0 at the point, coefficient by coefficient of its square."""
        found = [self.numbering.root(square[0])]
        double = self.numbering.total([(found[0], Fraction(2))])
        for order in range(1, MOST_SERIES_TERMS):
            known = self._mixed((*found, ()), (*found, ()), order, 1)
            rest = self.numbering.total([(square[order], _ONE), (known, -_ONE)])
            found.append(self.numbering.quotient(rest, double) if rest else ())
        return tuple(found)

    def _power(self, base: Coefficients, exponent: Fraction | None, value: Ball) -> Coefficients | None:
        is_small = exponent is not None and exponent.denominator <= 2 and abs(exponent.numerator) <= MOST_SERIES_TERMS
        if exponent is None or not is_small or not (value > 0 or (exponent.denominator == 1 and exponent >= 0)):
            return None
        root = base if exponent.denominator == 1 else self._root(base)
        one: Coefficients = (self._number(_ONE), *[()] * (MOST_SERIES_TERMS - 1))
        found = reduce(self._product, [root] * abs(exponent.numerator), one)
        return found if exponent >= 0 else self._quotient(one, found)
