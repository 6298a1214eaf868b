"""Expressions on columns give the very balls that they give one by one."""

import itertools
from collections.abc import Mapping

import pytest
import sympy
from flint import arb
from sympy import Expr, IndexedBase, KroneckerDelta, Piecewise, Sum, cos, exp, log, sin, sqrt

from gradcli.language.program.sympy_functions import Largest, gt, where
from gradcli.reference.balls import Ball, precision
from gradcli.reference.columns import evaluate_column
from gradcli.reference.compiling import OverWorkError, environment, evaluate, kept_in

ROW, COLUMN, K, M = sympy.symbols("i j k m", integer=True, nonnegative=True)
N = sympy.Symbol("n", integer=True, positive=True)
A, X = IndexedBase("A", real=True), IndexedBase("x", real=True)
S, T = sympy.symbols("s t", real=True)
SIZE = 3

ENTRIES: Mapping[str, Expr] = {
    "an element": X[ROW],
    "a number": sympy.Rational(1, 3) * sympy.pi,
    "a product": -2 * A[ROW, COLUMN] * sin(X[COLUMN]) / sqrt(X[ROW]),
    "a delta": KroneckerDelta(ROW, COLUMN) * exp(X[ROW]) - X[COLUMN],
    "a size and an index": X[ROW] / N + COLUMN,
    "a sum": Sum(A[ROW, K] * X[K], (K, 0, N - 1)) * X[COLUMN],
    "a sum of all": X[ROW] / Sum(exp(X[K]), (K, 0, N - 1)) ** 2,
    "a sum of other lengths": Sum(X[K] ** 2, (K, 0, ROW)) + Sum(X[K], (K, COLUMN + 1, N - 1)),
    "a sum in a sum": Sum(log(1 + Sum(A[M, K] * X[M], (M, 0, N - 1))) * A[K, COLUMN], (K, 0, N - 1)),
    "a sum over two": Sum(A[K, M] * X[ROW], (M, 0, K), (K, 0, N - 1)),
    "cases of indices": Piecewise((X[ROW], ROW < COLUMN), (cos(X[COLUMN]), sympy.Eq(ROW, COLUMN)), (X[0], True)),
    "cases of numbers": Piecewise((sqrt(X[ROW] - 1), X[ROW] > 1), (A[ROW, COLUMN], True)),
    "a choice that balls cannot make": where(gt(X[ROW] * 3, 1), X[COLUMN], A[ROW, COLUMN]),
    "cases of fractions of indices": Piecewise((X[COLUMN], sympy.Ge(ROW, sympy.S.Half)), (A[ROW, COLUMN], True)),
    "a delta of fractions": KroneckerDelta(ROW / 2, COLUMN) * X[ROW],
    "outside": X[ROW + COLUMN],
    "an extreme": Largest(X[K], [(K, 0, N - 1)]) * X[ROW],
}
"""Entries of a formula, as functions of i and j."""


def _numbers(name: str) -> object:
    balls = {(i, j): arb(1 + 7 * i - 2 * j) / 3 for i, j in itertools.product(range(SIZE), repeat=2)}
    row: dict[tuple[int, ...], Ball] = {(i,): arb(1 + i) / 3 for i in range(SIZE)}
    return lambda *index: (row if name == "x" else balls).get(index, arb.nan())


VALUES = {A.label: _numbers("A"), X.label: _numbers("x"), N: SIZE}


def _same(one: Ball, other: Ball) -> bool:
    """Tell whether two balls are equal to the last bit, radius and all."""
    return (one.is_nan() and other.is_nan()) or bool((one.mid() == other.mid()) and (one.rad() == other.rad()))


@pytest.mark.parametrize("what", ENTRIES)
def test_entries_are_those_of_one_by_one(what: str) -> None:
    """With the same operations in the same order, and as many of them."""
    places, alone, together = list(itertools.product(range(SIZE), repeat=2)), environment(VALUES, 1e6), None
    with precision(64):
        one_by_one = [evaluate(ENTRIES[what], {**alone, ROW: i, COLUMN: j}) for i, j in places]
        together = environment(VALUES, 1e6)
        columns = {
            symbol: list(numbers) for symbol, numbers in zip((ROW, COLUMN), zip(*places, strict=True), strict=True)
        }
        found = evaluate_column(ENTRIES[what], columns, len(places), together)
    assert all(map(_same, found, one_by_one))
    assert kept_in(together).left == kept_in(alone).left


HALVES: Mapping[str, tuple[Expr, list[int]]] = {
    "above a half": (Piecewise((1, sympy.Ge(ROW, sympy.S.Half)), (0, True)), [0, 1, 1, 1]),
    "up to five halves": (Piecewise((1, sympy.Le(ROW, sympy.Rational(5, 2))), (0, True)), [1, 1, 1, 0]),
    "up to half of a size": (Piecewise((1, sympy.Le(ROW, N / 2 - sympy.S.Half)), (0, True)), [1, 1, 0, 0]),
    "a delta of a half": (KroneckerDelta(ROW / 2, 1), [0, 0, 1, 0]),
    "a delta of thirds": (KroneckerDelta(ROW / 2 - sympy.Rational(1, 3), sympy.Rational(2, 3)), [0, 0, 1, 0]),
    "terms up to a half": (Sum(N + K, (K, 0, ROW / 2 - sympy.S.Half)), [0, 3, 0, 7]),
}
"""Formulas with fractions of i, as of what is taken at a stride, and their values at the first four i."""


@pytest.mark.parametrize("what", HALVES)
def test_fractions_of_indices_are_exact(what: str) -> None:
    """A half is no integer: neither is it rounded, nor is it a place that no dimension has."""
    expression, truth = HALVES[what]
    assert [evaluate(expression, {**VALUES, ROW: i}) for i in range(4)] == truth
    assert evaluate_column(expression, {ROW: [0, 1, 2, 3]}, 4, VALUES) == truth


def test_elements_are_those_of_one_by_one() -> None:
    """Symbols that are columns of balls, with a division by a ball around 0."""
    columns = {S: [arb(1, 2.0**-60), arb(2), arb(0, 0.5)], T: [arb(3), arb(-2) / 3, arb(1)]}
    expression = S * T**3 / S + sin(S) ** -2
    with precision(64):
        alone = [evaluate(expression, {S: s, T: t}) for s, t in zip(*columns.values(), strict=True)]
        assert all(map(_same, evaluate_column(expression, columns, 3), alone))


def test_work_that_does_not_suffice_is_not_spent() -> None:
    """Entries one by one may still be within it."""
    shared = environment(VALUES, 12)
    with pytest.raises(OverWorkError):
        evaluate_column(ENTRIES["a sum"], {ROW: [0, 1], COLUMN: [0, 1]}, 2, shared)
    assert kept_in(shared).left == 12
