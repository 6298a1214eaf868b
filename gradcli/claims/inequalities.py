"""Whether signs of some expressions exclude each other, as x > 1 and x < 0 do.

The expressions are linear forms of their monomials, which are taken for independent numbers; squares and exponentials
are known not to be negative.  Inequalities of linear forms are eliminated one number after the other (Fourier-Motzkin).
That no contradiction is found says nothing.  Source: A. Schrijver, "Theory of Linear and Integer Programming", 1986,
section 12.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sympy
from sympy import Expr, Rational

MOST = 300
"""Inequalities on the way."""

Sign = int
"""1, -1 or 0."""

Assumption = tuple[Expr, Sign]


@dataclass(frozen=True)
class _Form:
    """A linear form that is above 0, or is not below it."""

    coefficients: Mapping[Expr, Rational]
    is_strict: bool


def exclude(assumptions: Iterable[Assumption]) -> bool:
    """Whether no point has all these signs.

    >>> x = sympy.Symbol("x", real=True)
    >>> exclude([(x - 1, 1), (x, -1)]), exclude([(x - 1, -1), (x, 1)])
    (True, False)
    """
    forms = [form for expression, sign in assumptions for form in _forms(sympy.expand(expression), sign)]
    numbers = {part for form in forms for part in form.coefficients if part != 1}
    forms += [fact for part in numbers for fact in _known(part)]
    for part in sorted(numbers, key=sympy.default_sort_key):
        forms = _without(part, forms)
        if len(forms) > MOST:
            return False
        if any(_is_false(form) for form in forms):
            return True
    return any(_is_false(form) for form in forms)


def _forms(expression: Expr, sign: Sign) -> list[_Form]:
    parts: dict[Expr, Rational] = {}
    for term in sympy.Add.make_args(expression):
        coefficient, part = term.as_coeff_Mul(rational=True)
        parts[part] = parts.get(part, Rational(0)) + coefficient
    turned = {part: -c for part, c in parts.items()}
    if sign:
        return [_Form(parts if sign > 0 else turned, is_strict=True)]
    return [_Form(parts, is_strict=False), _Form(turned, is_strict=False)]


def _known(part: Expr) -> list[_Form]:
    """What is known of a monomial by itself."""
    if part.is_positive:
        return [_Form({part: Rational(1)}, is_strict=True)]
    return [_Form({part: Rational(1)}, is_strict=False)] if part.is_nonnegative else []


def _without(part: Expr, forms: Sequence[_Form]) -> list[_Form]:
    """What follows for the rest."""
    above = [form for form in forms if form.coefficients.get(part, 0) > 0]
    below = [form for form in forms if form.coefficients.get(part, 0) < 0]
    found = [form for form in forms if form.coefficients.get(part, 0) == 0]
    for a in above:
        for b in below:
            p, q = -b.coefficients[part], a.coefficients[part]
            keys = {*a.coefficients, *b.coefficients} - {part}
            total = {k: p * a.coefficients.get(k, Rational(0)) + q * b.coefficients.get(k, Rational(0)) for k in keys}
            found.append(_Form({k: c for k, c in total.items() if c != 0}, a.is_strict or b.is_strict))
            if len(found) > MOST:
                return found
    return found


def _is_false(form: _Form) -> bool:
    rest = {part: c for part, c in form.coefficients.items() if c != 0}
    if set(rest) - {sympy.S.One}:
        return False
    number = rest.get(sympy.S.One, Rational(0))
    return bool(number < 0 or (form.is_strict and number == 0))
