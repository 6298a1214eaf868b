"""Factors and terms in the order in which a person writes them, and conditions the same in every notation.

A product is a sign, what is above the fraction bar, what is below it, and the deltas that select; numbers come first,
then variables, brackets, functions, sums and choices.  Sums begin with a term that has no minus.  Nothing is built that
SymPy would evaluate.  Functions that are 1 or 0 are written as the relations they stand for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, KroneckerDelta
from sympy.printing.printer import Printer

from gradcli.language.program.meaning import (
    Aggregate,
    Chosen,
    Comparison,
    Largest,
    Multiplied,
    Smallest,
    ge,
    gt,
    le,
    lt,
    where,
)
from gradcli.symbolic.linear import parted


@dataclass(frozen=True)
class PrintedProduct:
    """`sign above/below * deltas`."""

    is_negative: bool
    above: tuple[Expr, ...]
    below: tuple[Expr, ...]
    deltas: tuple[Expr, ...]


def product(expr: Expr) -> PrintedProduct:
    """A product, or a power with a negative exponent, as a fraction.

    >>> x = sympy.Symbol("x")
    >>> product(-x / (2 * sympy.sqrt(x + 1)))
    PrintedProduct(is_negative=True, above=(x,), below=(2, sqrt(x + 1)), deltas=())
    >>> product(sympy.sqrt(2) * x / 2)
    PrintedProduct(is_negative=False, above=(x,), below=(sqrt(2),), deltas=())
    """
    sign, p, q = 1, 1, 1
    above: list[Expr] = []
    below: list[Expr] = []
    deltas: list[Expr] = []
    for factor in expr.as_ordered_factors():
        if factor.is_Rational:
            sign, p, q = (-sign if factor < 0 else sign), p * abs(int(factor.p)), q * int(factor.q)
        elif factor.is_Float and factor < 0:
            sign = -sign
            above.append(-factor)
        elif isinstance(factor, KroneckerDelta):
            deltas.append(factor)
        elif isinstance(factor, sympy.Pow) and factor.exp.is_number and factor.exp.is_negative:
            below.append(_power(factor.base, -factor.exp))
        elif isinstance(factor, sympy.Add) and (content := int(factor.primitive()[0].p)) > 1:
            p *= content
            above.append(sympy.Add(*(term / content for term in factor.args)))
        else:
            above.append(factor)
    p, q = p // math.gcd(p, q), q // math.gcd(p, q)
    above, below, q = _roots(above, below, q)
    numerator = ([sympy.Integer(p)] if p != 1 else []) + sorted(above, key=_rank)
    denominator = ([sympy.Integer(q)] if q != 1 else []) + sorted(below, key=_rank)
    return PrintedProduct(sign < 0, tuple(numerator), tuple(denominator), tuple(deltas))


def _power(base: Expr, exponent: Expr) -> Expr:
    return base if exponent == 1 else sympy.Pow(base, exponent, evaluate=False)


def _is_root_of_number(factor: Expr) -> bool:
    return isinstance(factor, sympy.Pow) and factor.exp == sympy.S.Half and bool(factor.base.is_number)


def _roots(above: list[Expr], below: list[Expr], q: int) -> tuple[list[Expr], list[Expr], int]:
    """SymPy writes 1/sqrt(2) as sqrt(2)/2, and 1/sqrt(2*pi) as sqrt(2)/(2*sqrt(pi)): back again."""
    for root in [factor for factor in above if _is_root_of_number(factor) and factor.base.is_Integer]:
        if q % int(root.base) == 0:
            above, below, q = [f for f in above if f is not root], [*below, root], q // int(root.base)
    roots = [factor for factor in below if _is_root_of_number(factor)]
    if len(roots) > 1:
        bases = sorted((root.base for root in roots), key=lambda base: not base.is_Rational)
        joined = _power(sympy.Mul(*bases, evaluate=False), sympy.S.Half)
        below = [joined, *(factor for factor in below if factor not in roots)]
    return above, below, q


def is_open(expr: Expr) -> bool:
    """Whether it reaches as far to the right as it can, so that a factor behind it would seem to belong to it."""
    return isinstance(expr, sympy.Sum | Multiplied | Largest | Smallest)


def is_choice(expr: Expr) -> bool:
    """Whether it is written by cases."""
    return isinstance(expr, where | sympy.Piecewise | Chosen)


def _rank(factor: Expr) -> int:
    """Numbers, variables and their powers, brackets, functions, sums, choices."""
    base = factor.base if isinstance(factor, sympy.Pow) else factor
    is_variable = isinstance(base, sympy.Symbol | sympy.Indexed)
    kinds = (
        bool(factor.is_Number),
        bool(factor.is_number),
        is_variable and (base is factor or bool(factor.exp.is_number)),
        is_variable,
        isinstance(base, sympy.Add),
        not (is_open(factor) or is_choice(factor)),
        is_open(factor),
    )
    return next((rank for rank, holds in enumerate(kinds) if holds), len(kinds))


def terms(ordered: Sequence[Expr]) -> list[Expr]:
    """The terms of a sum, the first without a minus if any has none.

    >>> x, y = sympy.symbols("x y")
    >>> terms([-x, y])
    [y, -x]
    """
    first = next((n for n, term in enumerate(ordered) if not is_negative(term)), 0)
    return [ordered[first], *ordered[:first], *ordered[first + 1 :]]


def is_negative(term: Expr) -> bool:
    """Whether it is written with a minus."""
    if term.is_Number:
        return bool(term.is_negative)
    return isinstance(term, sympy.Mul | sympy.Pow) and product(term).is_negative


def joined(shown: Iterable[str]) -> str:
    """Terms as text, a minus in the place of a plus.

    >>> joined(["a", "-b", "c"])
    'a - b + c'
    """
    first, *rest = shown
    return first + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in rest)


Branches = list[tuple[Expr, str]]
"""Values with their conditions as text; that of the last is empty."""


def _missing(self: Any, *parts: Any, **options: Any) -> str:
    """What each notation writes in its own way."""
    raise NotImplementedError


def always(text: str) -> Callable[..., str]:
    """A printer's method for what is written in one way, `π`."""
    return lambda self, expr, exp=None: text


class Conditions(Printer):  # type: ignore[misc]
    """What a printer needs to write conditions.

    It says how it writes a relation, both, either, not, and choices: `_relation`, `_both`, `_either`, `_denied`,
    `_print_where`.
    """

    _relation = _both = _either = _denied = _print_where = _missing

    def _between(self, above: Comparison, below: Comparison) -> str:
        return self._both(self._condition(above), self._condition(below))

    def _print_Chosen(self, expr: Chosen) -> str:
        return self._print_where(expr)

    def _branches(self, expr: Expr) -> Branches:
        """Of `where`, of SymPy's Piecewise, and of the index at which an extreme is taken."""
        branches = []
        if isinstance(expr, Chosen):
            is_it = self._relation("==", self._print(expr.value), self._print(expr.extreme))
            return [(sympy.S.One, is_it), (sympy.S.Zero, "")]
        if isinstance(expr, sympy.Piecewise):
            return [(value, "" if holds == sympy.true else self._print(holds)) for value, holds in expr.args]
        while isinstance(expr, where):
            condition, value, expr = expr.args
            branches.append((value, self._condition(condition)))
        return [*branches, (expr, "")]

    def _condition(self, expr: Expr) -> str:
        """A function that is 1 or 0 as the condition it stands for."""
        match expr:
            case Comparison():
                return self._relation(expr.sign, *map(self._print, expr.args))
            case where(args=(ge() | gt() as above, le() | lt() as below, sympy.S.Zero)) if (
                above.args[0] == below.args[0]
            ):
                return self._between(above, below)
            case where(args=(a, b, sympy.S.Zero)):
                return self._both(self._condition(a), self._condition(b))
            case where(args=(a, sympy.S.One, b)):
                return self._either(self._condition(a), self._condition(b))
            case where(args=(a, sympy.S.Zero, sympy.S.One)):
                return self._denied(self._condition(a))
            case sympy.Integer():
                return str(expr != 0)
        return self._relation("!=", self._print(expr), "0")


class Sentences(Conditions):
    """Formulas as people write them, in the signs, words and brackets of a notation.

    A notation has the signs of relations, of sums, products and extremes over indices by their classes, what stands
    around the arguments of functions that have signs of their own, with `%s` for these, and what other functions are
    called: `_SIGNS`, `_OVER`, `_AROUND`, `_HEADS`.  Choices are written with `_CASES`: what is around all, between
    them, before a condition, and in the place of the last one.  A notation says how it writes factors side by side, the
    parts of a product, a root, a power, and a body with its limits: `_times`, `_arranged`, `_root`, `_raised`,
    `_ranging`.
    """

    _times = _root = _raised = _ranging = _missing

    def _bracketed(self, inside: str) -> str:
        return f"({inside})"

    def _is_loose(self, expr: Expr) -> bool:
        """Whether it needs brackets in any product and in any power."""
        return isinstance(expr, sympy.Add | sympy.Mul) or is_negative(expr)

    # -- sums, products, powers

    def _print_Add(self, expr: Expr, order: str | None = None) -> str:
        return joined(map(self._term, terms(self._as_ordered_terms(expr))))

    def _term(self, term: Expr) -> str:
        shown = str(self._print(term))
        return self._bracketed(shown) if isinstance(term, sympy.Add) else shown

    def _print_Mul(self, expr: Expr) -> str:
        parts = product(expr)
        shown = self._times(list(filter(None, self._arranged(parts))))
        return f"-{shown}" if parts.is_negative else shown

    def _product(self, factors: Sequence[Expr], *, is_end: bool) -> str:
        return self._times([self._factor(f, is_last=is_end and f is factors[-1]) for f in factors])

    def _factor(self, expr: Expr, *, is_last: bool) -> str:
        """In brackets where it would fall apart, or take hold of what comes behind it."""
        shown = str(self._print(expr))
        return self._bracketed(shown) if self._is_loose(expr) or (is_open(expr) and not is_last) else shown

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.args
        if exponent.is_number and exponent.is_negative:
            return self._print_Mul(expr)
        return self._root(base) if exponent == sympy.S.Half else self._raised(base, exponent)

    def _tight(self, expr: Expr) -> str:
        """What a power is made of: in brackets unless it is one thing."""
        shown = str(self._print(expr))
        is_fraction = expr.is_Rational and not expr.is_Integer
        is_one = not (self._is_loose(expr) or isinstance(expr, sympy.Pow) or is_open(expr) or is_fraction)
        return shown if is_one else self._bracketed(shown)

    # -- functions

    def _print_Function(self, expr: Expr, exp: str | None = None) -> str:
        name, inside = type(expr).__name__, ", ".join(map(self._print, expr.args))
        return str(self._AROUND[name] % inside if name in self._AROUND else self._head(name) + self._bracketed(inside))

    def _head(self, name: str) -> str:
        return str(self._HEADS.get(name, name))

    def _print_where(self, expr: Expr) -> str:
        whole, between, holds, otherwise = self._CASES
        branches = ((self._print(value), condition) for value, condition in self._branches(expr))
        return str(whole % between.join(value + (holds + one if one else otherwise) for value, one in branches))

    # -- over bound indices

    def _print_Sum(self, expr: Expr) -> str:
        return self._ranging(self._OVER["Sum"], expr.function, expr.limits)

    def _print_Multiplied(self, expr: Multiplied) -> str:
        body, conditions = parted(expr)
        kept = (
            self._OR.join(self._UNEQUAL.join(map(self._print, one.args)) for one in all_of) for all_of in conditions
        )
        return self._ranging(self._OVER["Multiplied"], body, expr.limits, tuple(kept))

    def _print_Largest(self, expr: Aggregate) -> str:
        return self._ranging(self._OVER[type(expr).__name__], expr.body, expr.limits)

    _print_Smallest = _print_Largest

    def _body(self, body: Expr) -> str:
        shown = str(self._print(body))
        return self._bracketed(shown) if isinstance(body, sympy.Add) or is_negative(body) else shown

    # -- conditions

    def _relation(self, sign: str, left: str, right: str) -> str:
        return f"{left} {self._SIGNS.get(sign, sign)} {right}"

    def _both(self, *conditions: str) -> str:
        return str(self._AND.join(conditions))

    def _between(self, above: Comparison, below: Comparison) -> str:
        x, first = above.args
        begins = self._relation("<=" if isinstance(above, ge) else "<", self._print(first), self._print(x))
        return self._relation(below.sign, begins, self._print(below.args[1]))

    def _either(self, *conditions: str) -> str:
        return self._bracketed(self._OR.join(conditions))

    def _denied(self, condition: str) -> str:
        return f"{self._NOT}{self._bracketed(condition)}"

    def _print_Piecewise(self, expr: Expr) -> str:
        return self._print_where(expr)

    def _print_Relational(self, expr: Expr) -> str:
        return self._relation(expr.rel_op, self._print(expr.lhs), self._print(expr.rhs))

    def _print_And(self, expr: Expr) -> str:
        return self._both(*(self._print(a) for a in sorted(expr.args, key=sympy.default_sort_key)))

    def _print_Or(self, expr: Expr) -> str:
        return self._either(*(self._print(a) for a in sorted(expr.args, key=sympy.default_sort_key)))
