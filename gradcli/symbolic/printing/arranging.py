"""Factors and terms in the order in which a person writes them, and conditions the same in every notation.

A product is a sign, the factors above the fraction bar, the factors below it, and the deltas that select; numbers
come first, then variables, brackets, functions, sums and choices.  Sums begin with a term that has no minus.
Nothing is built that SymPy would evaluate.  Functions that are 1 or 0 are written as the relations they stand for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import sympy
from sympy import Expr, KroneckerDelta
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.printing.printer import Printer

from gradcli.language.program.sympy_functions import Aggregate, Chosen, Comparison, Largest, Multiplied, Smallest, where


@dataclass(frozen=True)
class PrintedProduct:
    """Product in the parts in which it is printed: `sign above/below * deltas`."""

    is_negative: bool
    above: tuple[Expr, ...]
    below: tuple[Expr, ...]
    deltas: tuple[Expr, ...]


def product(expr: Expr) -> PrintedProduct:
    """Split a product, or a power with a negative exponent, into a fraction and its deltas.

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
    """Undo how SymPy writes 1/sqrt(2), sqrt(2)/2, and 1/sqrt(2*pi), sqrt(2)/(2*sqrt(pi))."""
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
    """Return True if a factor printed after an expression would look like part of it (Σ, ∂, -x)."""
    return isinstance(expr, sympy.Sum | Multiplied | Largest | Smallest)


def is_choice(expr: Expr) -> bool:
    """Tell whether an expression is written by cases."""
    return isinstance(expr, sympy.Piecewise)


def _rank(factor: Expr) -> int:
    """Rank factors: numbers, variables and their powers, brackets, functions, sums, choices."""
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
    """List the terms of a sum, the first without a minus if any has none.

    >>> x, y = sympy.symbols("x y")
    >>> terms([-x, y])
    [y, -x]
    """
    first = next((n for n, term in enumerate(ordered) if not is_negative(term)), 0)
    return [ordered[first], *ordered[:first], *ordered[first + 1 :]]


def is_negative(term: Expr) -> bool:
    """Tell whether a term is written with a minus."""
    if term.is_Number:
        return bool(term.is_negative)
    return isinstance(term, sympy.Mul | sympy.Pow) and product(term).is_negative


def joined(shown: Iterable[str]) -> str:
    """Join terms to a text, a minus in the place of a plus.

    >>> joined(["a", "-b", "c"])
    'a - b + c'
    """
    first, *rest = shown
    return first + "".join(f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in rest)


def always(text: str) -> Callable[..., str]:
    """Make a method of a printer that always writes the same text, `π`."""
    return lambda self, expr, exp=None: text


def in_heads_of_sympy(expr: Expr) -> Expr:
    """Replace functions that are 1 or 0 by SymPy's choices and relations; nothing is evaluated.

    >>> from gradcli.language.program.sympy_functions import ge, le
    >>> x = sympy.Symbol("x", real=True)
    >>> in_heads_of_sympy(where(where(ge(x, 0), le(x, 1), 0), x, 0))
    Piecewise((x, (x >= 0) & (x <= 1)), (0, True))
    >>> in_heads_of_sympy(where(ge(x, 0), le(x, 1), x))
    Piecewise((Piecewise((1, x <= 1), (0, True)), x >= 0), (x, True))
    """
    if not expr.has(where, Chosen, Comparison):
        return expr
    if isinstance(expr, Chosen):
        is_it = sympy.Eq(*map(in_heads_of_sympy, (expr.value, expr.extreme)), evaluate=False)
        return sympy.Piecewise((1, is_it), (0, True), evaluate=False)
    if isinstance(expr, Comparison):
        return _cases([(sympy.S.One, _condition(expr)), (sympy.S.Zero, sympy.true)])
    branches = []
    while isinstance(expr, where):
        condition, value, expr = expr.args
        branches.append((in_heads_of_sympy(value), _condition(condition)))
    last = expr.func(*map(in_heads_of_sympy, expr.args)) if expr.args else expr
    return _cases([*branches, (last, sympy.true)]) if branches else last


def _cases(branches: Sequence[tuple[Expr, Expr]]) -> Expr:
    """Make a choice without SymPy's own constructors, which fold choices within a condition, and fail on some."""
    pairs = [sympy.Tuple.__new__(ExprCondPair, *branch) for branch in branches]
    return sympy.Basic.__new__(sympy.Piecewise, *pairs)


def _condition(expr: Expr) -> Expr:
    """Return the condition of a function that is 1 or 0."""
    match expr:
        case Comparison():
            return sympy.Rel(*map(in_heads_of_sympy, expr.args), expr.sign, evaluate=False)
        case where(args=(a, b, sympy.S.Zero)):
            return sympy.And(_condition(a), _condition(b), evaluate=False)
        case where(args=(a, sympy.S.One, b)):
            return sympy.Or(_condition(a), _condition(b), evaluate=False)
        case where(args=(a, sympy.S.Zero, sympy.S.One)):
            return sympy.Not(_condition(a), evaluate=False)
        case sympy.Integer():
            return sympy.true if expr else sympy.false
    return sympy.Ne(in_heads_of_sympy(expr), 0, evaluate=False)


def _parted(product: Multiplied) -> tuple[Expr, list[list[Expr]]]:
    """Split a product into its body and the conditions on its indices: of each list, one inequality holds."""
    body, conditions = product.body, list[list[Expr]]()
    while isinstance(body, sympy.Piecewise) and len(body.args) == 2 and body.args[1][0] == 1:
        either = sorted(sympy.Or.make_args(body.args[0][1]), key=sympy.default_sort_key)
        if not all(isinstance(one, sympy.Ne) and one.lhs in product.bound for one in either):
            break
        conditions.append(either)
        body = body.args[0][0]
    return body, conditions


class Sentences(Printer):  # type: ignore[misc]
    """Printer of sums, products and extremes over indices, choices and conditions, in the signs of a notation.

    A notation has the signs of relations, and of what runs over indices by its class: `_SIGNS`, `_OVER`.  Choices are
    written with `_CASES`: what is around all, between them, before a condition, and in the place of the last one.  A
    notation says how it writes brackets, and a body with its limits: `_bracketed`, `_ranging`.
    """

    _bracketed: Callable[[str], str]
    _ranging: Callable[..., str]

    def _print_Piecewise(self, expr: Expr, exp: str | None = None) -> str:
        whole, between, holds, otherwise = self._CASES
        branches = ((self._print(value), condition) for value, condition in expr.args)
        return str(whole % between.join(v + (otherwise if c == True else holds + self._print(c)) for v, c in branches))  # noqa: E712

    # -- over bound indices

    def _print_Sum(self, expr: Expr) -> str:
        return self._ranging(self._OVER["Sum"], expr.function, expr.limits)

    def _print_Multiplied(self, expr: Multiplied) -> str:
        body, conditions = _parted(expr)
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

    def _print_Relational(self, expr: Expr) -> str:
        return f"{self._print(expr.lhs)} {self._SIGNS.get(expr.rel_op, expr.rel_op)} {self._print(expr.rhs)}"

    def _print_And(self, expr: Expr) -> str:
        parts = sorted(expr.args, key=sympy.default_sort_key)
        if len(parts) == 2 and {one.rel_op[0] for one in parts if isinstance(one, sympy.Rel)} == {"<", ">"}:
            below, above = sorted(parts, key=lambda one: one.rel_op[0])
            if below.lhs == above.lhs:
                return f"{self._print(above.reversed)}{self._print(below).removeprefix(self._print(below.lhs))}"
        return str(self._AND.join(map(self._print, parts)))

    def _print_Or(self, expr: Expr) -> str:
        return self._bracketed(self._OR.join(self._print(a) for a in sorted(expr.args, key=sympy.default_sort_key)))

    def _print_Not(self, expr: Expr) -> str:
        return f"{self._NOT}{self._bracketed(self._print(expr.args[0]))}"
