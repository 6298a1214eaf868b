"""Forms that tell which values are certainly the same number, as balls never show it of exp(1) - exp(1).

Every element is a linear form with rational coefficients over numbered values that are not looked into: a number is
given to (operation, forms of the operands, statics), so that the same operation on the same values has the same one.
Inputs go in by value.  A form without numbers is a rational constant, and known exactly.
Source: J. Cocke, J. T. Schwartz, "Programming Languages and Their Compilers", 1970, for value numbering.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

import sympy
from flint import arb

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program.movement import fill_of
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import fraction
from gradcli.reference.compiling import compile_ball
from gradcli.reference.piecewise import Extreme
from gradcli.reference.rules import Undefined

if TYPE_CHECKING:
    from gradcli.reference.enclosure_pass import Run

MOST_BITS = 8_192
"""Most bits of a rational number; a longer one becomes a numbered value that is not looked into."""

Form = tuple[tuple[int, Fraction], ...]
"""Numbers of values with their coefficients; the number 0 stands for the value 1."""

LONGEST_FORM = 64
"""Terms of a form; a longer sum is one value that is not looked into."""


def constant_of(form: Form) -> Fraction | None:
    """Return the rational number that a form is; None if it is not one."""
    if not form:
        return Fraction(0)
    return form[0][1] if len(form) == 1 and form[0][0] == 0 else None


class Numbering:
    """The forms of all elements that the values of a run are made of, line by line as they are asked for.

    Args:
        run: The run whose values they are.
        by_value: Whether inputs go in by value. Without it each that moves is a number of its own, so that elements
            of the same form are the same function around the point.
    """

    def __init__(self, run: Run, *, by_value: bool = True) -> None:
        self.run, self.reference, self.by_value = run, run.reference, by_value
        self._forms: dict[Atom, dict[int, Form]] = {}
        self._numbers: dict[Hashable, int] = {}
        self._lines = iter(self.reference.program.lines)
        for variable in self.reference.program.variables:
            of_variable = self.run.values.get(variable, {})
            self._forms[variable] = {e: self._of_input(variable, e, v) for e, v in of_variable.items()}

    def form(self, operand: Atom, element: int) -> Form:
        """Return the form of an element; one whose value is missing has a form too, which says nothing."""
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

    def _of_input(self, variable: Atom, element: int, value: object) -> Form:
        is_known = self.by_value or (variable, element) not in self.run.plan.directions
        exact = fraction(value) if is_known and not isinstance(value, Undefined) else None
        return self._opaque(("input", variable, element)) if exact is None else self._number(exact)

    def _of_atom(self, atom: Atom) -> Form:
        if atom.is_Float:
            return self._number(float(atom))
        return self._number(Fraction(atom)) if atom.is_Rational else self._opaque(("number", atom))

    def _number(self, number: Fraction | float) -> Form:
        """Return the form of an exact number, or of an infinite one."""
        if isinstance(number, float) and not math.isfinite(number):
            return self._opaque(("number", str(number)))
        return self._sum([(0, Fraction(number))])

    def _opaque(self, key: Hashable) -> Form:
        return ((self._numbers.setdefault(key, len(self._numbers) + 1), Fraction(1)),)

    def _sum(self, terms: Iterable[tuple[int, Fraction]]) -> Form:
        total: dict[int, Fraction] = {}
        for number, coefficient in terms:
            total[number] = total.get(number, Fraction(0)) + coefficient
        form = tuple(sorted((n, c) for n, c in total.items() if c != 0))
        is_long = any(c.numerator.bit_length() + c.denominator.bit_length() > MOST_BITS for _, c in form)
        return self._opaque(("sum", form)) if len(form) > LONGEST_FORM or is_long else form

    def _scaled(self, form: Form, factor: Fraction) -> Form:
        return self._sum((n, c * factor) for n, c in form)

    def _of_line(self, line: Line) -> dict[int, Form]:
        """Compute the forms of the elements of a line that are needed, from the lines before."""
        elements, call = self.run.plan.needed[line.symbol], line.call
        if call.op.kind in (Kind.COUNT, Kind.SOURCE):
            values = self.run.values[line.symbol]
            return {e: self._of_input(line.symbol, e, values[e]) for e in elements.tolist()}
        found: dict[int, Form] = {}
        for e, those in self.reference.footprint.members(line, elements).items():
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

    def _of_members(self, line: Line, element: int, forms: list[Form]) -> Form:
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

    def _is_of_pi(self, form: Form, parts: int) -> bool:
        """Tell whether a form is a whole number of times pi/parts."""
        ((pi, _),) = self._opaque(("number", sympy.pi))
        return all(n == pi and (c * parts).denominator == 1 for n, c in form)

    def _elementwise(self, line: Line, forms: list[Form]) -> Form:
        op, first, last = line.call.op, forms[0], forms[-1]
        constants = [constant_of(form) for form in forms]
        if op.coefficients:
            terms = zip(op.coefficients, forms, strict=True)
            return self._sum((n, c * factor) for factor, form in terms for n, c in form)
        if op.is_branch and constants[0] is not None:
            return forms[1] if constants[0] == 1 else forms[2]
        if op.sense:
            difference = constant_of(self._sum([*first, *self._scaled(last, Fraction(-1))]))
            if difference is not None:
                sign = (difference > 0) - (difference < 0)
                return self._number(int(sign in op.sense))
        match op.name:
            case "mul" if constants[0] is not None or constants[1] is not None:
                form, factor = (last, constants[0]) if constants[0] is not None else (first, constants[1])
                return self._scaled(form, factor or Fraction(0))
            case "div" if constants[1]:
                return self._scaled(first, 1 / constants[1])
            # The ball of sin(pi) holds 0 at every precision and never shows that it is 0.
            case "sin" | "tan" if self._is_of_pi(first, 1):
                return self._number(0)
            case "cos" if self._is_of_pi(first, 2) and not self._is_of_pi(first, 1):
                return self._number(0)
            case "detach" if self.by_value:
                return first
            case "zeros_like" | "ones_like":
                return self._number(int(op.name == "ones_like"))
            case "pow" if constants[1] == 2:
                return self._opaque(("mul", (first, first), ()))
        operands = tuple(forms if op.monoid is None else sorted(forms))
        return self._opaque((op.name, operands, line.call.statics))
