"""Real numbers that know whether they are the same, as balls never show it of exp(1) - exp(1).

A `Number` is a polynomial in enclosed numbers, with rational coefficients.  What is rational stays exact.  Anything
else, such as exp(1/3), is an atom: a ball and a name, which says how it was computed.  The same computation has the
same name, so that what cancels is exactly 0.

`Numbering` does the same for all elements of a Program, without balls.  Every element is a linear form with rational
coefficients over numbered values that are not looked into: a number is given to (operation, forms of the operands,
statics), so that the same operation on the same values has the same one.  Inputs go in by value.  A form without
numbers is a rational constant, and known exactly.
Source: J. Cocke, J. T. Schwartz, "Programming Languages and Their Compilers", 1970, for value numbering.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import sympy
from flint import arb, fmpq

from gradcli.language.ops import Kind, Monoid, Op
from gradcli.language.program import numeric
from gradcli.language.program.movement import fill_of
from gradcli.language.program.shapes import count_of
from gradcli.language.program.wengert import Atom, Line
from gradcli.reference.balls import Ball, exists, fraction, integer_power
from gradcli.reference.choices import Extreme
from gradcli.reference.compiling import compile_ball
from gradcli.reference.rules import Undefined

if TYPE_CHECKING:
    from gradcli.reference.running import Run

MOST_TERMS, MOST_FACTORS, MOST_BITS = 8, 6, 8_192
"""A longer polynomial, a longer product, and a rational of more bits become atoms themselves."""

MOST_WORK = 40_000
"""Products of terms that one look may take, about half a second."""

WHOLE = 20
"""Whole powers up to this one are products."""

Exponent = int | Fraction

Monomial = tuple[int, ...]
"""The numbers of its atoms, in their order."""


class UndecidedError(Exception):
    """What the balls, or the terms that are kept of a series, cannot tell; the message says why."""


class Atoms:
    """The names of one computation, and the balls of those that are numbers, all at one precision."""

    def __init__(self, terms: int = 4) -> None:
        """No atoms yet; `terms` are those of a Taylor series beyond its first."""
        self.terms, self.work = terms, 0
        self.balls: dict[int, Ball] = {}
        self.orders: dict[int, Exponent] = {}
        self._named: dict[Hashable, int] = {}

    def spend(self, work: int) -> None:
        """Count some work.

        Raises:
            UndecidedError: it is too much.
        """
        self.work += work
        if self.work > MOST_WORK:
            raise UndecidedError("to follow it around the point would take too long")

    def name(self, key: Hashable) -> int:
        """The number of a name, which is that of everything computed in the same way."""
        return self._named.setdefault(key, len(self._named))

    def rational(self, value: fmpq | int) -> Number:
        """A rational as a `Number` of these atoms."""
        exact = fmpq(value)
        return Number(self, {(): exact} if exact != 0 else {})

    def enclosed(self, key: Hashable, ball: Ball) -> Number:
        """The number in a ball, by its name; a rational where the ball is a point.

        Raises:
            UndecidedError: the ball is not finite.
        """
        if not exists(ball):
            raise UndecidedError("there is no finite enclosure")
        if ball.is_exact():
            mantissa, exponent = ball.man_exp()
            if abs(int(exponent)) < MOST_BITS:
                return self.rational(fmpq(mantissa) * fmpq(2) ** int(exponent))
        atom = self.name(key)
        self.balls[atom] = ball
        return Number(self, {(atom,): fmpq(1)})

    def between(self, low: int, high: int) -> Number:
        """Some number of an interval, which is no other one."""
        middle, radius = fmpq(low + high, 2), fmpq(high - low, 2)
        return self.enclosed(("undecided", len(self._named)), arb(middle) + arb(0, arb(radius)))


class Number:
    """One number: the coefficient of each of its monomials, none of them 0.

    >>> from gradcli.reference.balls import precision
    >>> atoms = Atoms()
    >>> third, e = atoms.rational(1) * atoms.rational(3).inverse(), atoms.enclosed("e", arb.const_e())
    >>> ((e + third) * (e - third) - e * e).rational
    -1/9
    """

    def __init__(self, atoms: Atoms, terms: dict[Monomial, fmpq]) -> None:
        self.atoms, self.terms = atoms, terms

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 exactly; a ball that holds 0 is not enough."""
        return not self.terms

    @property
    def rational(self) -> fmpq | None:
        """Its value if it is known to be rational."""
        if not self.terms:
            return fmpq(0)
        return self.terms.get(()) if len(self.terms) == 1 else None

    @cached_property
    def key(self) -> int:
        """What tells it from others of the same atoms."""
        return self.atoms.name(("number", *sorted((m, int(q.p), int(q.q)) for m, q in self.terms.items())))

    @cached_property
    def ball(self) -> Ball:
        """The ball that encloses the number at the current precision."""
        total = arb(0)
        for monomial, coefficient in self.terms.items():
            product = arb(coefficient)
            for atom in monomial:
                product *= self.atoms.balls[atom]
            total += product
        return total

    @property
    def sign(self) -> int | None:
        """-1, 0 or 1; None where the ball cannot tell."""
        if self.is_zero:
            return 0
        return 1 if self.ball > 0 else -1 if self.ball < 0 else None

    @property
    def leading(self) -> fmpq:
        """The coefficient of its first monomial, 1 of 0."""
        return self.terms[min(self.terms)] if self.terms else fmpq(1)

    def __neg__(self) -> Number:
        return self.scaled(fmpq(-1))

    def __add__(self, other: Number) -> Number:
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            total = terms.get(monomial, fmpq(0)) + coefficient
            if total == 0:
                del terms[monomial]
            else:
                terms[monomial] = total
        return Number(self.atoms, terms)._bounded()

    def __sub__(self, other: Number) -> Number:
        return self + -other

    def __mul__(self, other: Number) -> Number:
        self.atoms.spend(len(self.terms) * len(other.terms))
        terms: dict[Monomial, fmpq] = {}
        for m, p in self.terms.items():
            for n, q in other.terms.items():
                monomial = tuple(sorted(m + n)) if m and n else m or n
                terms[monomial] = terms.get(monomial, fmpq(0)) + p * q
        return Number(self.atoms, {m: q for m, q in terms.items() if q != 0})._bounded()

    def scaled(self, factor: fmpq) -> Number:
        """The number times a rational, exactly."""
        return Number(self.atoms, {m: q * factor for m, q in self.terms.items()} if factor != 0 else {})

    def inverse(self) -> Number:
        """1 over it.

        Raises:
            UndecidedError: it may be 0.
        """
        if not self.sign:
            raise UndecidedError("a divisor may be 0")
        exact = self.rational
        if exact is not None:
            return self.atoms.rational(1 / exact)
        # Named up to a rational factor: 1/(2*a) and 1/a are multiples of one atom, and can cancel.
        whole = self.scaled(1 / self.leading)
        return self.atoms.enclosed(("inverse", whole.key), 1 / whole.ball).scaled(1 / self.leading)

    def power(self, exponent: fmpq) -> Number:
        """A power of a positive number, or a whole one of any but 0.

        Raises:
            UndecidedError: it may be 0.
        """
        exact = self.rational
        if exponent.q == 1 and abs(int(exponent.p)) <= WHOLE:
            base, result = self if exponent > 0 else self.inverse(), self.atoms.rational(1)
            for _ in range(abs(int(exponent.p))):
                result = result * base
            return result
        # The root of a square stays rational, so that sqrt(4) - 2 is 0 and not a ball around it.
        if exact is not None and exponent == fmpq(1, 2):
            p, q = math.isqrt(int(exact.p)), math.isqrt(int(exact.q))
            if p * p == exact.p and q * q == exact.q:
                return self.atoms.rational(fmpq(p, q))
        is_whole = exponent.q == 1
        ball = integer_power(self.ball, int(exponent.p)) if is_whole else self.ball ** arb(exponent)
        return self.atoms.enclosed(("power", exponent, self.key), ball)

    def _bounded(self) -> Number:
        """The same number; one with too many terms, factors or digits becomes a multiple of one new atom."""
        is_small = len(self.terms) <= MOST_TERMS and all(
            len(m) <= MOST_FACTORS and max(q.p.bit_length(), q.q.bit_length()) <= MOST_BITS
            for m, q in self.terms.items()
        )
        if is_small:
            return self
        scale = self.leading
        # Named up to a rational factor, as in `inverse`, so that multiples still cancel.
        whole = self.scaled(1 / scale)
        return self.atoms.enclosed(("whole", whole.key), whole.ball).scaled(scale)


Form = tuple[tuple[int, Fraction], ...]
"""Numbers with their coefficients; the number 0 stands for 1."""

LONGEST_FORM = 64
"""Terms of a form; a longer sum is one value that is not looked into."""


def constant_of(form: Form) -> Fraction | None:
    """The rational number that a form is."""
    if not form:
        return Fraction(0)
    return form[0][1] if len(form) == 1 and form[0][0] == 0 else None


class Numbering:
    """The forms of all elements that the values of a run are made of, line by line as they are asked for.

    Args:
        run: Whose values they are.
        by_value: Whether inputs go in by value. Without it each is a number of its own, so that what has the same form
            is the same function around the point.
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
        """What an element is; one whose value is missing has a form too, that says nothing."""
        if not isinstance(operand, sympy.Symbol):
            return self._of_atom(operand)
        # Line by line, and no recursion: a Program may be deeper than the stack.
        while operand not in self._forms:
            line = next(self._lines)
            if line.symbol in self.run.plan.needed:
                self._forms[line.symbol] = self._of_line(line)
        return self._forms[operand][element]

    def constant(self, symbol: Atom, element: int) -> Fraction | None:
        """The exact rational value of an element, if it is known to have one."""
        return constant_of(self.form(symbol, element))

    def _of_input(self, variable: sympy.Symbol, element: int, value: object) -> Form:
        exact = fraction(value) if self.by_value and not isinstance(value, Undefined) else None
        return self._opaque(("input", variable, element)) if exact is None else self._rational(exact)

    def _of_atom(self, atom: Atom) -> Form:
        if atom.is_Rational:
            return self._rational(Fraction(int(atom.p), int(atom.q)))
        if atom.is_Float:
            return self._of_float(float(atom))
        return self._opaque(("number", atom))

    def _of_float(self, number: float) -> Form:
        if math.isfinite(number):
            return self._rational(Fraction(*number.as_integer_ratio()))
        return self._opaque(("number", str(number)))

    def _rational(self, number: Fraction) -> Form:
        return self._sum([(0, number)])

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
        """The forms of the elements of a line that are needed, from the lines before."""
        elements, call = self.run.plan.needed[line.symbol], line.call
        match call.op.kind:
            case Kind.COUNT:
                size = count_of(self.reference.shapes.get(call.operands[0], ()), call.statics[0])
                return dict.fromkeys(elements.tolist(), self._rational(Fraction(size)))
            case Kind.SOURCE:
                data = numeric.array_of(call).ravel()
                return {e: self._of_float(float(data[e])) for e in elements.tolist()}
        members: dict[int, list[tuple[Atom, int]]] = {e: [] for e in elements.tolist()}
        for k, position, source in self.reference.footprint.parts(line, elements):
            for e, s in zip(elements[position].tolist(), source.tolist(), strict=True):
                members[e].append((call.operands[k], s))
        found: dict[int, Form] = {}
        for e, those in members.items():
            possible = self._possible(call.op, those) if call.op.is_extreme else those
            forms = [self.form(*member) for member in possible]
            is_one = call.op.is_extreme and len(set(forms)) == 1
            found[e] = forms[0] if is_one else self._of_members(line, e, forms)
        return found

    def _possible(self, op: Op, members: list[tuple[Atom, int]]) -> list[tuple[Atom, int]]:
        """Those that may be the extreme: clamp(x, 0, 1) is x wherever that is certainly between."""
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
            return self._of_float(fill_of(line.call))
        return forms[0] if len(forms) == 1 else self._sum(term for form in forms for term in form)

    def _is_of_pi(self, form: Form, parts: int) -> bool:
        """Whether it is a whole number of times pi/parts."""
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
                return self._rational(Fraction(int(sign in op.sense)))
        match op.name:
            case "mul" if constants[0] is not None or constants[1] is not None:
                form, factor = (last, constants[0]) if constants[0] is not None else (first, constants[1])
                return self._scaled(form, factor or Fraction(0))
            case "div" if constants[1]:
                return self._scaled(first, 1 / constants[1])
            # The ball of sin(pi) holds 0 at every precision and never shows that it is 0.
            case "sin" | "tan" if self._is_of_pi(first, 1):
                return self._rational(Fraction(0))
            case "cos" if self._is_of_pi(first, 2) and not self._is_of_pi(first, 1):
                return self._rational(Fraction(0))
            case "detach" if self.by_value:
                return first
            case "zeros_like" | "ones_like":
                return self._rational(Fraction(int(op.name == "ones_like")))
            case "pow" if constants[1] == 2:
                return self._opaque(("mul", (first, first), ()))
        operands = tuple(forms if op.monoid is None else sorted(forms))
        return self._opaque((op.name, operands, line.call.statics))
