"""Series just beside a point: their terms, their signs, and what is exactly 0."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

import pytest
import sympy
from flint import fmpq

from gradcli.language import ops
from gradcli.language.ops import Kind
from gradcli.language.program.meaning import meaning
from gradcli.language.program.wengert import Call
from gradcli.reference.balls import precision
from gradcli.reference.exact_numbers import Atoms, Number, UndecidedError
from gradcli.reference.germs import evaluated
from gradcli.reference.jets import Jet, coefficient, inverse, is_zero, minus, plus, power, sign_of, step, times
from gradcli.reference.rules import Undefined

X = sympy.Symbol("x", real=True)

SMOOTH = sorted(
    name
    for name, op in ops.TABLE.items()
    if op.is_primitive and op.kind is Kind.ELEMENTWISE and len(op.signature) == 1 and not op.kinks
    if name not in ("detach", "zeros_like", "ones_like", "sinc")  # SymPy has another sinc
)


def _moved(atoms: Atoms, at: Fraction, level: int = 1, weight: int = 1) -> Jet:
    return step(level, atoms, atoms.rational(fmpq(at.numerator, at.denominator)), fmpq(weight))


def _of(name: str, *operands: Jet) -> Jet:
    found = evaluated(Call(name, (X,) * len(operands)), operands, name)
    assert not isinstance(found, Undefined), found
    return found


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("weight", [1, -2])
def test_the_terms_of_a_smooth_operation_are_its_derivatives(name: str, weight: int) -> None:
    """At 2/5, or at 7/5 where that is outside of the domain, by SymPy and by mpmath."""
    at = Fraction(7, 5) if name == "acosh" else Fraction(2, 5)
    expression = meaning(Call(name, (X,)), (X,))
    with precision(128):
        jet = _of(name, _moved(Atoms(), at, weight=weight))
        for n in range(4):
            wanted = expression.diff(X, n).subs(X, sympy.Rational(at.numerator, at.denominator)).doit()
            found: Any = coefficient(jet, n)
            if not wanted.has(sympy.Function) or wanted.is_number:
                try:
                    exact = float(wanted.evalf(20)) * weight**n / factorial(n)
                except TypeError:  # a function of our own that has no number in SymPy
                    continue
                assert float(found.ball.mid()) == pytest.approx(exact, rel=1e-12, abs=1e-14)


def test_the_sign_is_that_of_the_first_term_and_the_smaller_step_counts_last() -> None:
    """t**3 - s is positive, s - s**2 too, t - t is exactly 0, and sin(t) - t is negative, though of order 3."""
    with precision(64):
        atoms = Atoms()
        s, t = (_moved(atoms, Fraction(0), level) for level in (2, 1))
        assert sign_of(minus(power(t, Fraction(3)), s)) == 1
        assert sign_of(minus(s, times(s, s))) == 1
        assert is_zero(minus(t, t))
        assert sign_of(minus(_of("sin", t), t)) == -1
        assert sign_of(minus(times(s, t), s)) == -1


def test_what_is_computed_alike_cancels_exactly() -> None:
    """Though no ball and no finite series can show it: exp(1/3 + t) - exp(1/3 + t), also with factors."""
    with precision(64):
        atoms = Atoms()
        t = _moved(atoms, Fraction(1, 3))
        first, again = _of("exp", t), _of("exp", t)
        assert is_zero(minus(first, again))
        assert is_zero(minus(times(first, plus(t, t)), plus(times(t, again), times(again, t))))
        assert not is_zero(minus(first, _of("cosh", t)))
        assert sign_of(minus(_of("exp", times(t, t)), _of("exp", times(t, plus(t, atoms.rational(0)))))) == 0


def test_poles_and_roots_have_powers_that_are_negative_or_fractions() -> None:
    """1/t, sqrt(t) and |t| as sqrt(t**2)."""
    with precision(64):
        atoms = Atoms()
        t = _moved(atoms, Fraction(0))
        assert is_zero(minus(times(inverse(t), t), atoms.rational(1)))
        root = power(t, Fraction(1, 2))
        assert is_zero(minus(times(root, root), t))
        assert is_zero(minus(_of("sqrt", times(t, t)), t))
        assert isinstance(evaluated(Call("log", (X,)), [t], "log"), Undefined)


@pytest.mark.parametrize(
    ("name", "at", "weight", "wanted"),
    [
        ("floor", 1, 1, 1),
        ("floor", 1, -1, 0),
        ("ceil", 1, 1, 2),
        ("trunc", -1, 1, 0),
        ("trunc", -1, -1, -1),
        ("round", Fraction(1, 2), 1, 1),
        ("round", Fraction(1, 2), -1, 0),
        ("round", Fraction(5, 2), 0, 2),
        ("round", Fraction(7, 2), 0, 4),
        ("sign", 0, -1, -1),
    ],
)
def test_steps_are_constant_on_each_side(name: str, at: Fraction, weight: int, wanted: int) -> None:
    """Halves go to the even neighbour where nothing moves."""
    with precision(64):
        atoms = Atoms()
        here = _moved(atoms, Fraction(at), weight=weight)
        found = _of(name, here)
        assert isinstance(found, Number)
        assert found.rational == wanted


def test_what_is_outside_of_a_domain_on_one_side_has_no_value_there() -> None:
    """Sqrt and log beside 0, asin beside 1; decided, and not where they go on."""
    with precision(64):
        for name, at, weight in (("sqrt", 0, -1), ("log", 0, -1), ("asin", 1, 1), ("acosh", 1, -1), ("log", -1, 1)):
            outside = evaluated(Call(name, (X,)), [_moved(Atoms(), Fraction(at), weight=weight)], name)
            assert isinstance(outside, Undefined)
            assert outside.decided, name
        inside = evaluated(Call("asin", (X,)), [_moved(Atoms(), Fraction(1), weight=-1)], "asin")
        assert isinstance(inside, Undefined)
        assert not inside.decided


def test_a_number_that_may_be_zero_has_no_inverse() -> None:
    """Neither has what is 0 to all the terms that are kept."""
    with precision(64):
        atoms = Atoms()
        with pytest.raises(UndecidedError):
            atoms.between(-1, 1).inverse()
        t = _moved(atoms, Fraction(0))
        tiny = minus(_of("sin", t), _of("sin", plus(t, power(t, Fraction(20)))))
        assert sign_of(tiny) is None
        with pytest.raises(UndecidedError):
            inverse(tiny)


def test_long_polynomials_become_atoms_and_still_cancel() -> None:
    """A product of many sums of atoms."""
    with precision(128):
        atoms = Atoms()
        values = [atoms.enclosed(n, atoms.rational(n + 2).ball.log()) for n in range(6)]
        total = values[0]
        for value in values[1:]:
            total = total * (total + value)
        again = values[0]
        for value in values[1:]:
            again = again * (again + value)
        assert (total - again).is_zero
        assert (total * total - again * total).sign in (0, None)
