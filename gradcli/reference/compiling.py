"""SymPy expressions as functions of balls.

An expression compiles once to closures and runs at any precision.  A choice that the balls cannot make is the union of
the branches; more precision then decides.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

import sympy
from flint import arb
from sympy import Expr
from sympy.core.relational import Relational

from gradcli.language.program import sympy_functions
from gradcli.language.program.sympy_functions import (
    Aggregate,
    Chosen,
    InverseElement,
    Largest,
    MatrixDeterminant,
    Multiplied,
    quotient,
)
from gradcli.reference import balls
from gradcli.reference.balls import COMPARISONS, HEADS, Ball, integer_power

_T = TypeVar("_T")

Environment = Mapping[sympy.Symbol, Any]
"""Values of the symbols of an expression: a ball, an integer (indices, sizes), or a function of indices."""

Closure = Callable[[Environment], _T]
"""Expression that evaluates to a value of some kind."""

Compiled = Closure[Ball]

MATRIX_IS_CHEAPER = 10
"""Factor by which an operation inside of Arb's matrices is faster."""


class OverWorkError(Exception):
    """Error of an environment that admits no more ball operations."""


_CONSTANTS: Mapping[Expr, Callable[[], Ball]] = {
    sympy.pi: arb.pi,
    sympy.E: arb.const_e,
    sympy.oo: arb.pos_inf,
    -sympy.oo: arb.neg_inf,
    sympy.nan: arb.nan,
    sympy.zoo: arb.nan,
    sympy.true: lambda: arb(1),
    sympy.false: lambda: arb(0),
}

EXACT_LENGTH, ROUNDED_PLACES = 500, 30
"""Bits of a decimal that is exact, and last bits that SymPy may have rounded of a longer one, such as 2.5/3."""


@lru_cache(maxsize=4096)
def compile_ball(expression: Expr) -> Compiled:
    """Compile `expression` to a closure that evaluates it on balls.

    Raises:
        NotImplementedError: the expression has a function without a rule.
    """
    if expression in _CONSTANTS:
        constant = _CONSTANTS[expression]
        return lambda env: constant()
    match expression:
        case sympy.Integer():
            whole = int(expression)
            return lambda env: arb(whole)
        case sympy.Rational():
            p, q = int(expression.p), int(expression.q)
            return lambda env: arb(p) / q
        case sympy.Float():
            # The float that SymPy holds, bit by bit: its decimal text would be another number.
            sign, mantissa, exponent, length = expression._mpf_
            whole = -int(mantissa) if sign else int(mantissa)
            radius = 2**ROUNDED_PLACES if length > EXACT_LENGTH else 0
            return lambda env: arb(whole, radius) * arb(2) ** int(exponent)
        case sympy.Symbol():
            return lambda env: arb(env[expression])
        case Relational():
            return _compile_comparison(expression)
        case sympy.Sum():
            return _compile_sum(expression)
        case Aggregate() | Chosen():
            return _compile_aggregate(expression)
        case sympy.Indexed():
            label, indices = expression.base.label, [compile_integer(i) for i in expression.indices]
            if len(indices) == 1:
                (index,) = indices
                return lambda env: arb(env[label](index(env)))
            return lambda env: arb(env[label](*[i(env) for i in indices]))
        case sympy.KroneckerDelta():
            a, b = map(compile_integer, without_fractions(*expression.args))
            return lambda env: arb(int(a(env) == b(env)))
    return _ARITHMETIC.compile(expression, compile_ball)


@lru_cache(maxsize=4096)
def compile_integer(expression: Expr) -> Closure[int]:
    """Compile an index to a closure that evaluates it: integers under +, * and whole quotients, and other positions.

    Raises:
        NotImplementedError: the expression has a function without a rule.
    """
    match expression:
        case sympy.Integer():
            whole = int(expression)
            return lambda env: whole
        case sympy.Symbol():
            return lambda env: env[expression]
        case sympy.Add() | sympy.Mul() if (parted := over_denominator(expression))[1] > 1:
            numerator, denominator = compile_integer(parted[0]), parted[1]
            return lambda env: whole_quotient(numerator(env), denominator)
        case sympy.Add() | sympy.Mul():
            parts = [compile_integer(a) for a in expression.args]
            combine: Callable[[Iterable[int]], int] = sum if isinstance(expression, sympy.Add) else math.prod
            return lambda env: combine([part(env) for part in parts])
        case quotient():
            above, below = (compile_integer(a) for a in expression.args)
            return lambda env: above(env) // below(env)
    position = compile_ball(expression)
    return lambda env: whole_number(position(env))


def over_denominator(expression: Expr) -> tuple[Expr, int]:
    """Write what is made of indices over one integer, so that its numerator is made of integers too.

    >>> n = sympy.Symbol("n", integer=True)
    >>> over_denominator(n / 2 - sympy.S.Half), over_denominator(n - 1)
    ((n - 1, 2), (n - 1, 1))
    """
    if all(number.is_Integer for number in expression.atoms(sympy.Rational)):
        return expression, 1
    numerator, denominator = sympy.fraction(sympy.together(expression))
    return (numerator, int(denominator)) if denominator.is_Integer else (expression, 1)


def without_fractions(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Multiply both sides of a comparison of indices by their denominators.

    >>> i = sympy.Symbol("i", integer=True)
    >>> without_fractions(i, sympy.Rational(5, 2)), without_fractions(i, i + 1)
    ((2*i, 5), (i, i + 1))
    """
    (above, p), (over, q) = over_denominator(left), over_denominator(right)
    common = math.lcm(p, q)
    return above * (common // p), over * (common // q)


def whole_quotient(numerator: int, denominator: int) -> int:
    """Return a quotient that is an integer; -1, which no dimension has, of another.

    >>> whole_quotient(6, 2), whole_quotient(5, 2)
    (3, -1)
    """
    return -1 if numerator % denominator else numerator // denominator


def whole_number(ball: Ball) -> int:
    """Return the number of a position, which is exact; -1, which no dimension has, if it has none.

    >>> whole_number(arb(2)), whole_number(arb.nan())
    (2, -1)
    """
    found = ball.unique_fmpz() if ball.is_exact() else None
    return -1 if found is None else int(found)


def folded(parts: Sequence[Closure[_T]], combine: Callable[[_T, _T], _T]) -> Closure[_T]:
    """Fold the values of several closures by an operation, from the first to the last, in one closure."""
    first, *rest = parts
    if not rest:
        return first
    if len(rest) == 1:  # as most have: without a loop
        (second,) = rest
        return lambda env: combine(first(env), second(env))

    def run(env: Environment) -> _T:
        total = first(env)
        for part in rest:
            total = combine(total, part(env))
        return total

    return run


def fraction(expression: sympy.Mul) -> tuple[list[Expr], list[Expr]]:
    """Split a product into the factors above and below the line.

    Divided once, 6/3 is exactly 2, and 6 times the ball of 1/3 is not.
    """
    above, below = [], []
    for factor in expression.args:
        if isinstance(factor, sympy.Pow) and isinstance(factor.exp, sympy.Integer) and factor.exp < 0:
            below.append(factor.base ** (-factor.exp))
        elif isinstance(factor, sympy.Rational) and not isinstance(factor, sympy.Integer):
            above.append(sympy.Integer(factor.p))
            below.append(sympy.Integer(factor.q))
        else:
            above.append(factor)
    return above or [sympy.S.One], below


@dataclass(frozen=True)
class Arithmetic(Generic[_T]):
    """Rules of one kind of numbers, by which expressions of them are compiled.

    Attributes:
        heads: The functions, by their heads in expressions.
        negate: A change of sign without rounding; without it, a product with -1 is one like any other.
        branch: A branch from closures: its condition, and its values where that holds and where not.
        neither: The value of cases of which none holds.
        error: The error for a function without a rule.
    """

    heads: Mapping[type, Callable[..., _T]]
    add: Callable[[_T, _T], _T]
    multiply: Callable[[_T, _T], _T]
    divide: Callable[[_T, _T], _T]
    negate: Callable[[_T], _T] | None
    root: Callable[[_T], _T]
    whole_power: Callable[[_T, int], _T]
    power: Callable[[_T, _T], _T]
    branch: Callable[[Closure[_T], Closure[_T], Closure[_T]], Closure[_T]]
    neither: Closure[_T]
    error: type[Exception]

    def compile(self, expression: Expr, compiled: Callable[[Expr], Closure[_T]]) -> Closure[_T]:
        """Compile a sum, product, power, cases or a function, whose operands are compiled by another."""
        match expression:
            case sympy.Add():
                return folded([compiled(a) for a in expression.args], self.add)
            case sympy.Mul() if self.negate is not None and expression.args[0] == -1:
                negate, positive = self.negate, compiled(sympy.Mul(*expression.args[1:], evaluate=False))
                return lambda env: negate(positive(env))
            case sympy.Mul():
                above, below = fraction(expression)
                numerator = folded([compiled(a) for a in above], self.multiply)
                if not below:
                    return numerator
                denominator, divide = folded([compiled(b) for b in below], self.multiply), self.divide
                return lambda env: divide(numerator(env), denominator(env))
            case sympy.Pow():
                base, root, whole_power, power = compiled(expression.base), self.root, self.whole_power, self.power
                if expression.exp == sympy.S.Half:
                    return lambda env: root(base(env))
                if expression.exp.is_Integer:
                    whole = int(expression.exp)
                    return lambda env: whole_power(base(env), whole)
                exponent = compiled(expression.exp)
                return lambda env: power(base(env), exponent(env))
            case sympy_functions.where():
                return self.branch(*map(compiled, expression.args))
            case sympy.Piecewise():
                run = self.neither
                for value, condition in reversed(expression.args):
                    run = self.branch(compiled(condition), compiled(value), run)
                return run
        if expression.func not in self.heads:
            raise self.error(f"no rule for {expression.func}")
        head, operands = self.heads[expression.func], [compiled(a) for a in expression.args]
        if len(operands) == 1:
            (only,) = operands
            return lambda env: head(only(env))
        return lambda env: head(*[operand(env) for operand in operands])


def _branch(condition: Compiled, first: Compiled, second: Compiled) -> Compiled:
    """Compile a branch: evaluate only the one that is taken, or both where the condition cannot be decided."""

    def run(env: Environment) -> Ball:
        truth = condition(env)
        if truth == 1:
            return first(env)
        return second(env) if truth == 0 else first(env).union(second(env))

    return run


_ARITHMETIC = Arithmetic[Ball](
    heads=HEADS,
    add=operator.add,
    multiply=operator.mul,
    divide=operator.truediv,
    negate=None,
    root=arb.sqrt,
    whole_power=integer_power,
    power=operator.pow,
    branch=_branch,
    neither=lambda env: arb.nan(),
    error=NotImplementedError,
)


def _compile_comparison(condition: Relational) -> Compiled:
    """Compile a comparison: 1 where it holds, 0 where it does not, or the ball around both."""
    is_index, sides = is_of_indices(condition), (condition.lhs, condition.rhs)
    compiled: Callable[[Expr], Closure[Ball | int]] = compile_integer if is_index else compile_ball
    left, right = map(compiled, without_fractions(*sides) if is_index else sides)
    compare = COMPARISONS[condition.rel_op]
    return lambda env: compare(left(env), right(env))


def is_of_indices(condition: Relational) -> bool:
    """Tell whether a condition is on indices alone, such as i == j: as integers these are exact, and far faster."""
    return all(symbol.is_integer for symbol in condition.free_symbols) and not condition.atoms(sympy.Indexed)


def _compile_sum(expression: sympy.Sum) -> Compiled:
    """Compile a sum to a loop.

    A sum that does not depend on the indices of an entry is taken once for all entries of an environment.
    """
    body, work = compile_ball(expression.function), work_of(expression.function)
    limits = [(k, compile_integer(a), compile_integer(b)) for k, a, b in reversed(expression.limits)]
    free = sorted((s for s in expression.free_symbols if s.is_integer), key=str)

    def add(env: dict[sympy.Symbol, object], depth: int) -> Ball:
        k, first, last = limits[depth]
        total, terms, is_last = arb(0), range(first(env), last(env) + 1), depth == len(limits) - 1
        spend(env, len(terms) * work)
        for n in terms:
            env[k] = n
            total += body(env) if is_last else add(env, depth + 1)
        return total

    def run(env: Environment) -> Ball:
        key = (expression, *[env[s] for s in free if s in env])
        known = kept_in(env).sums
        found = known.get(key)
        if found is None:
            found = known[key] = add(dict(env), 0)
        return found

    return run


def _compile_aggregate(expression: Aggregate | Chosen) -> Compiled:
    """Compile an aggregate, whose values are taken once for all entries of an environment, as sums are."""
    whole = expression.extreme if isinstance(expression, Chosen) else expression
    index = [compile_integer(i) for i in (expression.index if isinstance(expression, Chosen) else whole.free)]
    body, work = compile_ball(whole.body), work_of(whole.body)
    limits = [(k, compile_integer(a), compile_integer(b)) for k, a, b in whole.limits]
    free = sorted((s for s in whole.ranged_symbols if s.is_integer), key=str)
    is_inverse, is_largest = isinstance(whole, InverseElement), isinstance(whole, Largest)
    is_matrix = is_inverse or isinstance(whole, MatrixDeterminant)

    def values(env: Environment) -> tuple[list[int], list[Ball]]:
        ranges = [range(first(env), last(env) + 1) for _, first, last in limits]
        sizes = [len(r) for r in ranges]
        spend(env, math.prod(sizes) * (work + (sizes[-1] // MATRIX_IS_CHEAPER if is_matrix else 0)))
        found = [body({**env, **dict(zip(whole.bound, at, strict=True))}) for at in itertools.product(*ranges)]
        return sizes, balls.inverse(found, sizes[-1]).entries() if is_inverse else found

    def run(env: Environment) -> Ball:
        known = kept_in(env).values
        # The same values serve a largest, a smallest and a choice among them; an inverse keeps its matrix instead.
        key = (whole.body, whole.limits, is_inverse, *(env[s] for s in free if s in env))
        if key not in known:
            known[key] = values(env)
        sizes, found = known[key]
        at = 0
        for i, size in zip(index, sizes, strict=False):
            at = at * size + i(env)
        match expression:
            case InverseElement():
                return found[at]
            case MatrixDeterminant():
                return balls.determinant(found, sizes[-1])
            case Multiplied():
                return balls.product(found)
            case Chosen():
                return balls.is_chosen(found, at, largest=is_largest)
        return balls.extreme(found, largest=is_largest)

    return run


@dataclass
class Kept:
    """Cache of an environment.

    Attributes:
        left: How many ball operations are left.
        sums: Sums, each by its expression and the indices that it depends on.
        values: Values of aggregates, each with the sizes of its ranges.
    """

    left: float = math.inf
    sums: dict[Hashable, Ball] = field(default_factory=dict)
    values: dict[Hashable, tuple[list[int], list[Ball]]] = field(default_factory=dict)


_KEPT = sympy.Dummy("kept")
"""Key of an environment for its cache."""


def kept_in(environment: Environment) -> Kept:
    """Return the cache of an environment; a plain one, as for one number, has none for later."""
    kept = environment.get(_KEPT)
    return kept if isinstance(kept, Kept) else Kept()


def environment(values: Mapping[sympy.Symbol, object], most: float = math.inf) -> dict[sympy.Symbol, object]:
    """Build an environment that remembers its sums, for many entries at one precision.

    Args:
        values: The values of the symbols.
        most: The ball operations that it admits.
    """
    return {**values, _KEPT: Kept(most)}


def evaluate(expression: Expr, env: Environment) -> Ball:
    """Evaluate an expression to a ball, counted among the operations of its environment.

    Raises:
        OverWorkError: There are too many.
    """
    spend(env, work_of(expression))
    return compile_ball(expression)(env)


@lru_cache(maxsize=4096)
def work_of(expression: Expr) -> int:
    """Count the operations of an expression; those of a sum or an aggregate are counted where its range is known."""
    is_loop = isinstance(expression, sympy.Sum | Aggregate | Chosen)
    return 1 if is_loop else 1 + sum(map(work_of, expression.args))


def spend(env: Environment, operations: float) -> None:
    """Count some operations among those of an environment.

    Raises:
        OverWorkError: There are too many.
    """
    kept = env.get(_KEPT)
    if kept is not None:
        kept.left -= operations
        if kept.left < 0:
            raise OverWorkError
