"""Prove that a scalar expression is 0 wherever it has a value, by steps that are sound and bounded.

Sums are split into terms, with the factors that do not depend on their index before them.  The rest is a rational
function of opaque parts: variables, exponentials (also used to write sines and cosines), roots, sums.  It is 0 if its
numerator is, a polynomial with exact coefficients by FLINT, once the relations between these parts are used:
i**2 = -1  and  root(b, q)**q = b.

If no proof is found, the expression may still be 0.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import sympy
from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx
from sympy import Expr, Integer
from sympy.core.traversal import bottom_up

from gradcli.language.program import sympy_functions
from gradcli.language.program.sympy_functions import InverseElement, MatrixDeterminant, Total
from gradcli.symbolic.linear import summed, tidied

MOST_MONOMIALS = 20_000
"""Terms of one polynomial."""

HIGHEST_POWER = 200

Polynomial = fmpq_mpoly
"""Polynomial in several variables with rational coefficients."""


class TooManyError(Exception):
    """Error of a proof that meets one of its bounds."""


@dataclass(frozen=True)
class Quotient:
    """Rational function as a fraction."""

    above: Polynomial
    below: Polynomial

    def __add__(self, other: Quotient) -> Quotient:
        if self.below == other.below:
            return Quotient(self.above + other.above, self.below)
        common = self.below.gcd(other.below)
        left, right = other.below / common, self.below / common
        above = _product(self.above, left) + _product(other.above, right)
        return Quotient(above, _product(self.below, left))

    def __mul__(self, other: Quotient) -> Quotient:
        return Quotient(_product(self.above, other.above), _product(self.below, other.below))

    def __pow__(self, n: int) -> Quotient:
        above, below = (self.above, self.below) if n >= 0 else (self.below, self.above)
        if below.is_zero():
            raise TooManyError
        return Quotient(_power(above, abs(n)), _power(below, abs(n)))


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    if len(a) * len(b) > MOST_MONOMIALS * 100:
        raise TooManyError
    found = a * b
    if len(found) > MOST_MONOMIALS:
        raise TooManyError
    return found


def _power(polynomial: Polynomial, n: int) -> Polynomial:
    if n > HIGHEST_POWER:
        raise TooManyError
    return reduce(_product, [polynomial] * n, polynomial.context().constant(1))


MOST_NODES = 1_200
"""Most operations of an expression to prove."""

MOST_EXPANDED_TERMS = 1_500
"""Terms that multiplying out may make."""

MOST_PARTS = 40
"""Opaque parts of a rational function."""

MOST_ORDER = 8
"""Highest order of a Bessel function that is written by those of order 0 and 1."""

LONGEST_FRACTION = 150
"""Nodes of a sum over an index whose terms are put over one denominator."""

LARGEST_MATRIX = 4
"""Rows of a matrix whose determinant is written out."""


def _sign_by_cases(u: Expr) -> Expr:
    return sympy_functions.where(sympy_functions.gt(u, 0), 1, sympy_functions.where(sympy_functions.lt(u, 0), -1, 0))


def _bessel(order: Expr, u: Expr) -> Expr:
    """Write a modified Bessel function by those of order 0 and 1; its text grows fast with the order."""
    found = sympy.besseli(order, u)
    return sympy.expand_func(found) if order.is_Integer and abs(order) <= MOST_ORDER else found


_REWRITTEN: Mapping[type[Expr], Callable[..., Expr]] = {
    sympy.sinh: lambda u: (sympy.exp(u) - sympy.exp(-u)) / 2,
    sympy.cosh: lambda u: (sympy.exp(u) + sympy.exp(-u)) / 2,
    sympy.tanh: lambda u: 1 - 2 / (sympy.exp(2 * u) + 1),
    sympy.tan: lambda u: sympy.sin(u) / sympy.cos(u),
    sympy.erfc: lambda u: 1 - sympy.erf(u),
    sympy.besseli: _bessel,
    **dict.fromkeys((sympy.Abs, sympy_functions.abs), lambda u: sympy_functions.where(sympy_functions.ge(u, 0), u, -u)),
    **dict.fromkeys((sympy.sign, sympy_functions.sign), _sign_by_cases),
    sympy_functions.maximum: lambda a, b: sympy_functions.where(sympy_functions.ge(a, b), a, b),
    sympy_functions.minimum: lambda a, b: sympy_functions.where(sympy_functions.le(a, b), a, b),
    sympy_functions.detach: lambda u: u,
}
"""Functions in terms of fewer others, each an equality of real numbers."""


def rewritten(expression: Expr) -> Expr:
    """Rewrite an expression in fewer functions: exponentials for hyperbolic ones, cases for |x|, sign and extremes."""
    for head, rule in _REWRITTEN.items():
        if expression.has(head):
            expression = expression.replace(head, rule)
    return expression


def size(expression: Expr) -> int:
    """Count the nodes of an expression, up to one more than `MOST_NODES`."""
    return sum(1 for _ in itertools.islice(sympy.preorder_traversal(expression), MOST_NODES + 1))


def vanishes(expression: Expr) -> bool:
    """Tell whether an expression is proved to be 0 wherever it has a value.

    >>> x = sympy.Symbol("x", real=True)
    >>> vanishes(2*sympy.sin(x)*sympy.cos(x) - sympy.sin(2*x)), vanishes(x**2 - x)
    (True, False)
    """
    if expression == 0 or size(expression) > MOST_NODES:
        return bool(expression == 0)
    found = (_vanishes(other) for rewrite in _OTHERWISE if (other := rewrite(expression)) != expression)
    return _vanishes(expression) or any(found)


def _without_logarithms(expression: Expr) -> Expr:
    """Raise e to a real sum that has logarithms of positive numbers, less 1; any other expression stays.

        log(a) - log(b) + u   ->   a/b*exp(u) - 1

    Of an operand that may be negative a logarithm has no value, and the power has one: log(x**2) is not 2*log(x).

    >>> x = sympy.Symbol("x", real=True)
    >>> _without_logarithms(sympy.log(x**2 + 1) / 2 + x)
    (x**2 + 1)*exp(2*x) - 1
    >>> _without_logarithms(sympy.log(x**2) - 2 * sympy.log(x))
    -2*log(x) + log(x**2)
    """
    terms = [one.as_coeff_Mul(rational=True) for one in sympy.Add.make_args(sympy.expand_mul(expression))]
    logarithms = [(factor, rest.args[0]) for factor, rest in terms if isinstance(rest, sympy.log)]
    rest = sympy.Add(*(factor * one for factor, one in terms if not isinstance(one, sympy.log)))
    if not logarithms or not rest.is_extended_real or not all(one.is_positive for _, one in logarithms):
        return expression
    whole = math.lcm(*(int(factor.q) for factor, _ in logarithms))
    return sympy.Mul(*(argument ** (factor * whole) for factor, argument in logarithms), sympy.exp(whole * rest)) - 1


def _vanishes(expression: Expr) -> bool:
    expression = tidied(bottom_up(tidied(expression), _split_sum))
    if size(expression) > MOST_NODES:
        return False
    try:
        return _Parts(expression).is_zero(expression)
    except TooManyError:
        return False


def _terms(expression: Expr) -> int:
    """Bound the number of terms after multiplying out."""
    match expression:
        case sympy.Add():
            return sum(map(_terms, expression.args))
        case sympy.Mul():
            return math.prod(map(_terms, expression.args))
        case sympy.Pow(exp=sympy.Integer()) if (n := abs(int(expression.exp))) > 1:
            terms = _terms(expression.base)
            return 1 if terms == 1 else math.comb(terms + min(n, MOST_EXPANDED_TERMS) - 1, terms - 1)
    return 1


def _split_sum(expression: Expr) -> Expr:
    """Split a sum into sums of single terms, each with the factors before it that do not run over its index."""
    if not isinstance(expression, sympy.Sum):
        return expression
    body = expression.function
    for limit in expression.limits:
        if _terms(body) > MOST_EXPANDED_TERMS:
            return expression  # as it was: what was done of it so far is of no use without the rest
        body = sympy.Add(*(summed(term, limit) for term in sympy.Add.make_args(sympy.expand(body))))
    return body


def _cancelled(part: Expr, *, by_terms: bool = False) -> Expr:
    """Cancel in a sum over an index of one fraction, or of one for each term."""
    if not isinstance(part, sympy.Sum) or size(part) > LONGEST_FRACTION:
        return part
    parts = _Parts(part.function)
    terms = sympy.Add.make_args(sympy.expand_mul(part.function)) if by_terms else (part.function,)
    try:
        return Total(sympy.Add(*map(parts.cancelled, terms)), *part.limits)
    except TooManyError:
        return part


class _Parts:
    """Opaque parts of one expression, as variables of polynomials, and the relations between them."""

    def __init__(self, expression: Expr) -> None:
        self.context = fmpq_mpoly_ctx.get([f"s{n}" for n in range(MOST_PARTS)], "degrevlex")
        self.places: dict[Expr, int] = {}
        self.relations: list[tuple[int, int, Quotient]] = []
        self.units: dict[Expr, sympy.Rational] = {}
        self._known: dict[Expr, Quotient] = {}
        # The elements of a matrix that is written out have other exponents, whole multiples of 1 / the denominator.
        first = int(expression.has(MatrixDeterminant, InverseElement))
        for call in expression.atoms(sympy.exp, sympy.sin, sympy.cos, sympy.Pow):
            argument = call.exp if isinstance(call, sympy.Pow) else call.args[0]
            argument *= sympy.I if isinstance(call, sympy.sin | sympy.cos) else 1
            for coefficient, rest in self._multiples(argument):
                # exp(u/2) and exp(u/3) are powers of exp(u/6), and exp(3.404*u) is one of exp(1.702*u).
                p, q = self.units[rest].as_numer_denom() if rest in self.units else (first, 1)
                self.units[rest] = sympy.Rational(math.gcd(p, coefficient.p), math.lcm(q, coefficient.q))

    def rational(self, expression: Expr) -> Quotient:
        """Write an expression as a rational function of its opaque parts.

        Raises:
            TooManyError: It has too many terms or parts.
        """
        if expression not in self._known:
            self._known[expression] = self._of(expression)
        return self._known[expression]

    def cancelled(self, expression: Expr) -> Expr:
        """Write an expression as one fraction of polynomials without a common factor."""
        found = self.rational(expression)
        common = found.above.gcd(found.below)
        above, below = (self._expression(one / common) for one in (found.above, found.below))
        return above / below

    def is_zero(self, expression: Expr) -> bool:
        """Tell whether the numerator is 0 modulo the relations, those of outer roots first."""
        numerator = self.rational(expression).above
        # An outer root is recorded after those inside of it, and its relation brings them in: it goes first.
        for relation in reversed(self.relations):
            numerator = self._with_power(numerator, *relation)
        return numerator.is_zero()

    def _of(self, expression: Expr) -> Quotient:
        match expression:
            case sympy.Rational(p=p, q=q):
                return Quotient(self.context.constant(fmpq(int(p), int(q))), self.context.constant(1))
            case sympy.Add() | sympy.Mul():
                join = operator.add if expression.is_Add else operator.mul
                return reduce(join, map(self.rational, expression.args))
            case sympy.Pow(exp=sympy.Integer()):
                return self.rational(expression.base) ** int(expression.exp)
            case sympy.Pow(exp=sympy.Rational()):
                return self._root(expression.base, int(expression.exp.q)) ** int(expression.exp.p)
            case sympy.Pow():
                return self._powers(expression.exp, lambda e: sympy.Pow(expression.base, e), expression.base)
            case sympy.exp():
                return self._powers(expression.args[0], sympy.exp, sympy.E)
            case sympy.sin() | sympy.cos():
                return self._exponential(expression)
            case MatrixDeterminant() | InverseElement() if (entries := _entries(expression)) is not None:
                return self._of_matrix(expression, entries)
            case sympy.Function():
                return self._part(expression.func(*map(self._normal, expression.args)))
        return self._part(expression)

    def _expression(self, polynomial: Polynomial) -> Expr:
        """Put the parts in the places of the variables of a polynomial."""
        return sympy.Add(
            *(
                sympy.Rational(int(c.p), int(c.q)) * sympy.Mul(*map(sympy.Pow, self.places, map(int, exponents)))
                for exponents, c in polynomial.terms()
            )
        )

    def _with_power(self, numerator: Polynomial, place: int, power: int, value: Quotient) -> Polynomial:
        """Replace a power of a variable in a numerator by a value, as often as it goes, without denominators."""
        by_power: dict[int, dict[tuple[int, ...], Any]] = {}
        for exponents, coefficient in numerator.terms():
            rest = (*exponents[:place], exponents[place] % power, *exponents[place + 1 :])
            by_power.setdefault(int(exponents[place]) // power, {})[rest] = coefficient
        most, total = max(by_power, default=0), self.context.constant(0)
        for n, terms in by_power.items():
            factors = (self.context.from_dict(terms), _power(value.above, n), _power(value.below, most - n))
            total += reduce(_product, factors)
        return total

    def _part(self, expression: Expr) -> Quotient:
        place = self.places.setdefault(expression, len(self.places))
        if place >= MOST_PARTS:
            raise TooManyError
        return Quotient(self.context.gens()[place], self.context.constant(1))

    def _related(self, part: Expr, power: int, value: Callable[[], Quotient]) -> Quotient:
        """Return a part whose power is a rational function of others."""
        if part not in self.places:
            inside = value()  # the parts of which have their relations recorded first
            self._part(part)
            self.relations.append((self.places[part], power, inside))
        return self._part(part)

    def _of_matrix(self, expression: MatrixDeterminant | InverseElement, entries: sympy.Matrix) -> Quotient:
        """Compute a determinant, or an element of an inverse by its minor, from the elements of the matrix.

        The determinant stays a variable until last, so that it cancels.
        """
        whole = MatrixDeterminant(expression.body, expression.limits)
        determinant = self._related(whole, 1, lambda: self.rational(entries.det(method="laplace")))
        if isinstance(expression, MatrixDeterminant):
            return determinant
        row, column = map(int, expression.free)
        minor = entries.minor_submatrix(column, row).det(method="laplace")
        return self.rational((-1) ** (row + column) * minor) * determinant**-1

    def _normal(self, argument: Expr) -> Expr:
        if isinstance(argument, Expr) and _terms(argument) <= MOST_EXPANDED_TERMS:
            return sympy.expand(argument)
        return argument

    def _root(self, base: Expr, q: int) -> Quotient:
        base = self._normal(base)
        key = sympy.Pow(base, sympy.Rational(1, q), evaluate=False)
        return self._related(key, q, lambda: self.rational(base))

    def _powers(self, exponent: Expr, power: Callable[[Expr], Expr], base: Expr) -> Quotient:
        """Write b**(2*u + w) as (b**u)**2 * b**w."""
        factors = [self.rational(sympy.S.One)]
        for coefficient, rest in self._multiples(exponent):
            if rest != 1:
                unit = self.units.get(rest, Integer(1))
                if not (coefficient / unit).is_Integer:
                    raise TooManyError
                factors.append(self._part(power(rest * unit)) ** int(coefficient / unit))
            elif coefficient.q != 1:
                factors.append(self._root(base, int(coefficient.q)) ** int(coefficient.p))
            else:
                factors.append((self._part(base) if base == sympy.E else self.rational(base)) ** int(coefficient))
        return reduce(operator.mul, factors)

    def _exponential(self, expression: Expr) -> Quotient:
        """Write the sine or cosine of an angle by Euler's formula."""
        i = self._related(sympy.I, 2, lambda: self.rational(Integer(-1)))
        e = self._powers(sympy.I * expression.args[0], sympy.exp, sympy.E)
        if isinstance(expression, sympy.cos):
            return (e + e**-1) * self.rational(sympy.S.Half)
        return (e + self.rational(Integer(-1)) * e**-1) * (self.rational(Integer(2)) * i) ** -1

    def _multiples(self, argument: Expr) -> list[tuple[sympy.Rational, Expr]]:
        terms = sympy.Add.make_args(self._normal(argument))
        pairs = [term.as_coeff_Mul(rational=True) for term in terms]
        return [(c, rest) if c.is_Rational else (Integer(1), c * rest) for c, rest in pairs]


def _entries(matrix: MatrixDeterminant | InverseElement) -> sympy.Matrix | None:
    """List the elements of a small matrix; None of a larger one, or where the element depends on an index."""
    (rows, _, last), (columns, _, _) = matrix.limits
    if not last.is_Integer or last >= LARGEST_MATRIX or not all(index.is_Integer for index in matrix.free):
        return None
    n = int(last) + 1
    return sympy.Matrix(n, n, lambda p, q: matrix.body.xreplace({rows: Integer(p), columns: Integer(q)}))


def _joined_roots(expression: Expr) -> Expr:
    """Join a product of roots: sqrt(a)*sqrt(b) = sqrt(a*b) where the left side is a real number.

    It is one over the root of the inverse where that is a polynomial.
    """
    under: dict[int, list[Expr]] = {}
    rest = []
    for factor in expression.args if isinstance(expression, sympy.Mul) else ():
        if isinstance(factor, sympy.Pow) and factor.exp.is_Rational and not factor.exp.is_Integer:
            under.setdefault(int(factor.exp.q), []).append(factor.base**factor.exp.p)
        else:
            rest.append(factor)
    if all(len(bases) == 1 for bases in under.values()):
        return expression
    for q, bases in under.items():
        above, below = sympy.fraction(sympy.cancel(sympy.Mul(*bases)))
        sign = -1 if above == 1 else 1
        rest.append(sympy.Pow(below if above == 1 else above / below, sympy.Rational(sign, q)))
    return sympy.Mul(*rest)


_OTHERWISE: Sequence[Callable[[Expr], Expr]] = (
    partial(bottom_up, F=_joined_roots),
    partial(bottom_up, F=_cancelled),
    partial(bottom_up, F=partial(_cancelled, by_terms=True)),
    _without_logarithms,
)
"""Other ways to write an expression, each of which is 0 only where that is."""
