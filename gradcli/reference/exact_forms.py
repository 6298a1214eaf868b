"""Forms that tell which values are certainly the same number, as balls never show it of exp(1) - exp(1).

Every element is a linear form with rational coefficients over numbered values that are not looked into: a number is
given to (operation, forms of the operands, statics), so that the same operation on the same values has the same one.
Inputs go in by value.  A form without numbers is a rational constant, and known exactly.  A square root is a number
whose square is known, and two whose radicands differ by the factor of a square are one: norm(a)*norm(a) is dot(a, a).
Source: J. Cocke, J. T. Schwartz, "Programming Languages and Their Compilers", 1970, for value numbering.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from functools import reduce
from itertools import islice

import sympy
from flint import arb

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.movement import fill_of
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import fraction
from gradcli.reference.compiling import compile_ball
from gradcli.reference.pass_views import PassValues, ValueForm
from gradcli.reference.piecewise import Extreme
from gradcli.reference.rules import Outcome, Undefined

MOST_BITS = 8_192
"""Most bits of a rational number; a longer one becomes an opaque value with a number."""

LONGEST_FORM = 64
"""Most terms of a form; a longer sum becomes an opaque value with a number."""

MOST_RADICANDS = 64
"""Square roots that a new one is compared with."""

MOST_FACTORS = 8
"""Factors of a whole power that is multiplied out."""


def constant_of(form: ValueForm) -> Fraction | None:
    """Return the rational number of a form without numbered values; None of another."""
    if not form:
        return Fraction(0)
    return form[0][1] if len(form) == 1 and form[0][0] == 0 else None


def _root_of(number: Fraction) -> Fraction | None:
    """Return the square root of a rational number that is a square; None of any other."""
    root = Fraction(math.isqrt(number.numerator), math.isqrt(number.denominator)) if number >= 0 else None
    return root if root is not None and root * root == number else None


class Numbering:
    """Value numbering: the forms of the elements of a pass, line by line as they are asked for.

    Args:
        run: The pass whose values they are.
        by_value: Whether inputs go in by value. Without it each that moves is a number of its own, so that elements
            of the same form are the same function around the point.
    """

    def __init__(self, run: PassValues, *, by_value: bool = True) -> None:
        self.run, self.reference, self.by_value = run, run.reference, by_value
        self._opaque_inputs = frozenset(() if by_value else run.plan.directions)
        self._forms: dict[Atom, dict[int, ValueForm]] = {}
        self._numbers: dict[Hashable, int] = {}
        self._squares: dict[int, ValueForm] = {}
        self._lines = iter(self.reference.program.lines)
        for variable in self.reference.program.variables:
            of_variable = self.run.values.get(variable, {})
            self._forms[variable] = {e: self._of_input(variable, e, v) for e, v in of_variable.items()}

    def form(self, operand: Atom, element: int) -> ValueForm:
        """Return the form of an element; one without a value has an opaque form."""
        if not isinstance(operand, sympy.Symbol):
            return self._of_atom(operand)
        # Line by line, and no recursion: a Program may be deeper than the stack.
        while operand not in self._forms:
            line = next(self._lines)
            if line.symbol in self.run.plan.needed:
                self._forms[line.symbol] = self._of_line(line)
        return self._forms[operand][element]

    def constant(self, symbol: Atom, element: int) -> Fraction | None:
        """Return the exact rational value of an element, if it is known to have one."""
        return constant_of(self.form(symbol, element))

    def total(self, terms: Iterable[tuple[ValueForm, Fraction]]) -> ValueForm:
        """Add up forms, each times a rational number."""
        return self._sum((n, c * factor) for form, factor in terms for n, c in form)

    def product(self, first: ValueForm, second: ValueForm) -> ValueForm:
        """Multiply two forms: term by term where one is rational, or both are made of square roots."""
        for form, other in ((first, second), (second, first)):
            constant = constant_of(form)
            if constant is not None:
                return self._scaled(other, constant)
        is_known = all(n == 0 or n in self._squares for n, _ in (*first, *second))
        if is_known and len(first) * len(second) <= LONGEST_FORM:
            return self.total((self._pair(n, m), c * d) for n, c in first for m, d in second)
        return self._opaque(("mul", tuple(sorted((first, second))), ()))

    def quotient(self, first: ValueForm, second: ValueForm) -> ValueForm:
        """Divide a form by another, which is 0 only where the quotient has no value."""
        constant = constant_of(second)
        if constant:
            return self._scaled(first, 1 / constant)
        if second and [n for n, _ in first] == [n for n, _ in second]:
            ratios = {c / d for (_, c), (_, d) in zip(first, second, strict=True)}
            if len(ratios) == 1:
                return self._number(ratios.pop())
        square = self._squares.get(second[0][0]) if len(second) == 1 else None
        if square is not None and constant_of(square):  # b/sqrt(a) is b*sqrt(a)/a
            return self.quotient(self.product(first, second), self.product(second, second))
        return self._opaque(("div", (first, second), ()))

    def root(self, form: ValueForm) -> ValueForm:
        """Return the square root of a form, which is below 0 only where the root has no value."""
        number = constant_of(form)
        if number is None:
            return self._radical(form)
        exact = _root_of(number)
        if exact is not None:
            return self._number(exact)
        for known, square in islice(self._squares.items(), MOST_RADICANDS):
            radicand = constant_of(square)
            factor = _root_of(number / radicand) if radicand else None
            if factor is not None:
                return ((known, factor),)
        return self._radical(form)

    def power(self, form: ValueForm, exponent: Fraction) -> ValueForm | None:
        """Raise a form to a power that is a small multiple of 1/2; None for any other."""
        if exponent.denominator > 2 or abs(exponent.numerator) > MOST_FACTORS:
            return None
        base = form if exponent.denominator == 1 else self.root(form)
        found = reduce(self.product, [base] * abs(exponent.numerator), self._number(1))
        return found if exponent >= 0 else self.quotient(self._number(1), found)

    def _radical(self, form: ValueForm) -> ValueForm:
        found = self._opaque(("sqrt", (form,), ()))
        self._squares[found[0][0]] = form
        return found

    def _pair(self, n: int, m: int) -> ValueForm:
        """Multiply two numbers, of which each is 1 or a square root."""
        if n == m and n:
            return self._squares[n]
        if not n or not m:
            return ((n or m, Fraction(1)),)
        radicands = [constant_of(self._squares[number]) for number in (n, m)]
        if radicands[0] is None or radicands[1] is None:
            pair = ((min(n, m), Fraction(1)),), ((max(n, m), Fraction(1)),)
            return self._opaque(("mul", pair, ()))
        return self.root(self._number(radicands[0] * radicands[1]))

    def _of_input(self, variable: Atom, element: int, value: Outcome) -> ValueForm:
        is_opaque = (variable, element) in self._opaque_inputs or isinstance(value, Undefined)
        exact = None if is_opaque or isinstance(value, Undefined) else fraction(value)
        return self._opaque(("input", variable, element)) if exact is None else self._number(exact)

    def _of_atom(self, atom: Atom) -> ValueForm:
        if atom.is_Float:
            return self._number(float(atom))
        return self._number(Fraction(atom)) if atom.is_Rational else self._opaque(("number", atom))

    def _number(self, number: Fraction | float) -> ValueForm:
        """Return the form of an exact number, or of an infinite one."""
        if isinstance(number, float) and not math.isfinite(number):
            return self._opaque(("number", str(number)))
        return self._sum([(0, Fraction(number))])

    def _opaque(self, key: Hashable) -> ValueForm:
        return ((self._numbers.setdefault(key, len(self._numbers) + 1), Fraction(1)),)

    def _sum(self, terms: Iterable[tuple[int, Fraction]]) -> ValueForm:
        total: dict[int, Fraction] = {}
        for number, coefficient in terms:
            total[number] = total.get(number, Fraction(0)) + coefficient
        form = tuple(sorted((n, c) for n, c in total.items() if c != 0))
        is_long = any(c.numerator.bit_length() + c.denominator.bit_length() > MOST_BITS for _, c in form)
        return self._opaque(("sum", form)) if len(form) > LONGEST_FORM or is_long else form

    def _scaled(self, form: ValueForm, factor: Fraction) -> ValueForm:
        return self._sum((n, c * factor) for n, c in form)

    def _of_line(self, line: Line) -> dict[int, ValueForm]:
        """Compute the forms of the elements of a line that are needed, from the lines before."""
        elements, call = self.run.plan.needed[line.symbol], line.call
        if call.op.kind in (Kind.COUNT, Kind.SOURCE):
            values = self.run.values[line.symbol]
            return {e: self._of_input(line.symbol, e, values[e]) for e in elements.tolist()}
        found: dict[int, ValueForm] = {}
        for e, those in self.reference.dependencies.sources_by_element(line, elements).items():
            possible = self._possible(call.op, those) if call.op.is_extreme and self.by_value else those
            forms = [self.form(*member) for member in possible]
            is_one = call.op.is_extreme and len(set(forms)) == 1
            found[e] = forms[0] if is_one else self._of_members(line, e, forms)
        return found

    def _possible(self, op: Op, members: list[tuple[Atom, int]]) -> list[tuple[Atom, int]]:
        """Select the members that may be the extreme at the point: clamp(x, 0, 1) is x at 0.5.

        This holds at the point alone: next to it they may jump.
        """
        values = [self.run.values[a].get(n) if isinstance(a, sympy.Symbol) else compile_ball(a)({}) for a, n in members]
        balls = [value for value in values if isinstance(value, arb)]
        if len(balls) < len(values) or not balls:
            return members
        return [members[n] for n in Extreme(balls, largest=op.monoid is Monoid.LARGEST).possible]

    def _of_members(self, line: Line, element: int, forms: list[ValueForm]) -> ValueForm:
        op = line.call.op
        if op.kind is Kind.ELEMENTWISE:
            return self._elementwise(line, forms)
        if op.is_nonlinear_fold:
            return forms[0] if len(forms) == 1 else self._opaque((op.monoid, tuple(sorted(forms))))
        if op.kind in (Kind.MATRIX, Kind.SPECTRAL):
            order = (self.reference.shapes.get(line.call.operands[0], ()) or (1,))[-1]
            place = element % (order * order) if op.keeps_shape else element % order * (op.kind is Kind.SPECTRAL)
            return self._opaque((op.name, tuple(forms), place))
        if op.kind is Kind.MOVEMENT and not forms:
            return self._number(fill_of(line.call))
        return forms[0] if len(forms) == 1 else self._sum(term for form in forms for term in form)

    def _is_of_pi(self, form: ValueForm, parts: int) -> bool:
        """Tell whether a form is a whole number of times pi/parts."""
        ((pi, _),) = self._opaque(("number", sympy.pi))
        return all(n == pi and (c * parts).denominator == 1 for n, c in form)

    def _elementwise(self, line: Line, forms: list[ValueForm]) -> ValueForm:
        op, first, last = line.call.op, forms[0], forms[-1]
        constants = [constant_of(form) for form in forms]
        if op.coefficients:
            return self.total(zip(forms, map(Fraction, op.coefficients), strict=True))
        if op.is_branch and constants[0] is not None:
            return forms[1] if constants[0] == 1 else forms[2]
        if op.sense:
            difference = constant_of(self._sum([*first, *self._scaled(last, Fraction(-1))]))
            if difference is not None:
                sign = (difference > 0) - (difference < 0)
                return self._number(int(sign in op.sense))
        match op.name:
            case "mul":
                return self.product(first, last)
            case "div":
                return self.quotient(first, last)
            case "sqrt":
                return self.root(first)
            # The ball of sin(pi) holds 0 at every precision and never shows that it is 0.
            case "sin" | "tan" if self._is_of_pi(first, 1):
                return self._number(0)
            case "cos" if self._is_of_pi(first, 2) and not self._is_of_pi(first, 1):
                return self._number(0)
            case "detach" if self.by_value:
                return first
            case "zeros_like" | "ones_like":
                return self._number(int(op.name == "ones_like"))
            case "pow" if constants[1] is not None:
                power = self.power(first, constants[1])
                if power is not None:
                    return power
        operands = tuple(forms if op.monoid is None else sorted(forms))
        return self._opaque((op.name, operands, line.call.statics))
