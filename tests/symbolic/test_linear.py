"""Sums over deltas: what collapses, what keeps its condition, what stays a sum."""

from __future__ import annotations

import pytest
import sympy
from sympy import Integer, KroneckerDelta, Sum, Symbol

from gradcli.language.program.meaning import Total
from gradcli.symbolic.linear import assemble, linear

i, j, k, m = (Symbol(name, integer=True, nonnegative=True) for name in "ijkm")
n = Symbol("n", integer=True, positive=True)
f = sympy.Function("f")
RANGES = {i: n, j: n, k: n, m: Integer(4)}


def _collapsed(expression: sympy.Expr) -> sympy.Expr:
    return assemble(linear(expression, RANGES))


def test_a_full_range_and_a_unit_coefficient_collapse() -> None:
    """The textbook case, with no condition left."""
    assert _collapsed(Sum(f(k) * KroneckerDelta(k, j), (k, 0, n - 1))) == f(j)


@pytest.mark.parametrize(("shift", "length"), [(1, 9), (2, 8), (-1, 9), (3, 3)])
def test_a_shifted_delta_keeps_its_range(shift: int, length: int) -> None:
    """f(j - shift) only where that index is inside the sum; SymPy's deltasummation forgets it."""
    ranges = {j: Integer(10), k: Integer(length)}
    form = assemble(linear(Sum(f(k) * KroneckerDelta(k + shift, j), (k, 0, length - 1)), ranges))
    for value in range(10):
        brute = sum((f(Integer(q)) for q in range(length) if q + shift == value), start=Integer(0))
        assert form.subs(j, value).doit() == brute


@pytest.mark.parametrize("step", [2, 3, -2])
def test_a_strided_delta_stays_an_honest_sum(step: int) -> None:
    """Only unit coefficients collapse."""
    total = Sum(f(k) * KroneckerDelta(step * k, j), (k, 0, 4))
    assert _collapsed(total).has(Sum)


def test_what_does_not_depend_on_the_index_is_multiplied() -> None:
    """A sum of a constant is its length."""
    assert _collapsed(Sum(KroneckerDelta(i, j), (k, 0, n - 1))) == n * KroneckerDelta(i, j)


def test_two_deltas_of_one_index_meet() -> None:
    """The first fixes k, the second then compares i with j."""
    assert _collapsed(Sum(KroneckerDelta(k, i) * KroneckerDelta(k, j), (k, 0, n - 1))) == KroneckerDelta(i, j)


def test_a_constant_index_inside_the_range_needs_no_condition() -> None:
    """A size that is a symbol is larger than 16, so 3 is inside it; 40 may not be."""
    assert _collapsed(Sum(f(k) * KroneckerDelta(k, 3), (k, 0, n - 1))) == f(3)
    assert _collapsed(Sum(f(k) * KroneckerDelta(k, 40), (k, 0, n - 1))).has(sympy.Piecewise)


def test_a_delta_inside_a_choice_is_drawn_out_of_it() -> None:
    """A choice among linear forms is a choice among coefficients."""
    choice = sympy.Piecewise((KroneckerDelta(k, j), f(k) > 0), (0, True))
    assert _collapsed(Sum(choice, (k, 0, n - 1))) == sympy.Piecewise((1, f(j) > 0), (0, True))


def test_nested_sums_collapse_from_the_inside() -> None:
    """The outer delta waits while the inner sum runs."""
    total = Sum(f(k, m) * KroneckerDelta(k, j), (m, 0, 3), (k, 0, n - 1))
    assert _collapsed(total) == Total(f(j, m), (m, 0, 3))


def test_a_choice_inside_an_inner_sum_stays_inside() -> None:
    """SymPy's Sum folds it out, though its condition is on the index of the inner sum."""
    choice = sympy.Piecewise((f(m), f(m) > 0), (0, True))
    total = Total(Total(choice, (m, 0, 3)) / 2, (k, 0, n - 1))
    assert m not in total.free_symbols
    assert total.function.has(Total)


def test_a_total_of_a_plain_number_is_one_of_sympy() -> None:
    """SymPy's own functions take a sum apart and build sums of 1, as `exp(sum(...))` shows."""
    k = sympy.Dummy("k", integer=True)
    assert Total(1, (k, 0, 3)).is_finite
