"""Enclosures contain the truth, at every precision, and say so when there is none."""

from __future__ import annotations

import mpmath
import pytest
import sympy
from flint import arb, ctx

from gradcli.language.program import meaning
from gradcli.reference.balls import exists, precision
from gradcli.reference.compiling import compile_ball, compile_integer, environment

x, y = sympy.symbols("x y", real=True)
i, j, k = sympy.symbols("i j k", integer=True, nonnegative=True)

EXPRESSIONS = [
    sympy.exp(x) / (1 + x**2),
    sympy.sqrt(x) * sympy.log(x),
    x ** sympy.Rational(1, 3) - x**-2,
    sympy.atan2(y, x) + sympy.pi * x,
    sympy.besseli(0, x) - sympy.besseli(1, x),
    sympy.erf(x) + sympy.erfc(y) + sympy.erfinv(x / 9),
    sympy.sinh(x) * sympy.tanh(y) - sympy.asinh(x),
    x**y + sympy.Float(0.1) + sympy.E,
    sympy.Piecewise((x, x >= y), (y, True)),
]


@pytest.mark.parametrize("bits", [53, 200])
@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_a_ball_contains_the_value(expression: sympy.Expr, bits: int) -> None:
    """Against SymPy's own evaluation with 100 digits."""
    at = {x: sympy.Rational(7, 4), y: sympy.Rational(-3, 8)}
    exact = expression.subs(at).evalf(100)
    with precision(bits):
        ball = compile_ball(expression)({s: arb(int(v.p)) / int(v.q) for s, v in at.items()})
    with precision(400):
        truth = arb(mpmath.nstr(mpmath.mpf(str(exact)), 15)) if bits < 60 else arb(str(exact)[:90])
        assert abs(ball - truth) < abs(truth) * arb(2) ** -40


@pytest.mark.parametrize(
    ("head", "argument", "value"),
    [
        (meaning.round, 2.5, 2),
        (meaning.round, 3.5, 4),
        (meaning.round, -2.5, -2),
        (meaning.round, 2.6, 3),
        (meaning.trunc, -2.7, -2),
        (meaning.trunc, 2.7, 2),
        (meaning.floor, -2.5, -3),
        (meaning.ceil, -2.5, -2),
        (meaning.sign, -2.5, -1),
        (meaning.abs, -2.5, 2.5),
        (meaning.sinc, 0.0, 1),
    ],
)
def test_steps_on_exact_arguments(head: type[sympy.Function], argument: float, value: float) -> None:
    """Halves go to even, as in torch."""
    assert compile_ball(head(x))({x: arb(argument)}) == arb(value)


def test_a_choice_that_the_ball_cannot_make_is_the_union() -> None:
    """Wide until more precision decides."""
    ball = compile_ball(meaning.maximum(x, y))({x: arb(0, 1), y: arb(0)})
    assert ball.contains(0)
    assert ball.contains(arb(0.9))
    step = compile_ball(sympy.Piecewise((1, x > 0), (5, True)))({x: arb(0, 1)})
    assert step.contains(1)
    assert step.contains(5)


@pytest.mark.parametrize(
    "expression", [sympy.log(x), sympy.sqrt(x), x ** sympy.Rational(1, 3), sympy.asin(x - 5), 1 / (x + 2)], ids=str
)
def test_what_does_not_exist_is_no_enclosure(expression: sympy.Expr) -> None:
    """Outside the real domain and at poles."""
    assert not exists(compile_ball(expression)({x: arb(-2)}))


def test_towers_of_exponentials_neither_overflow_nor_hang() -> None:
    """Arb's exponents are integers of any size."""
    with precision(1_000):
        assert exists(compile_ball(sympy.exp(sympy.exp(x)) / sympy.exp(sympy.exp(x) - 1))({x: arb(200)}))


def test_sums_and_deltas_run_over_their_indices() -> None:
    """Sum over k of a[k]*delta(k, j), with a[k] looked up."""
    a = sympy.IndexedBase("a", real=True)
    total = sympy.Sum(a[k] * sympy.KroneckerDelta(k + 1, j), (k, 0, i))
    looked_up = environment({sympy.Symbol("a", real=True): lambda n: arb(10 * n)})
    assert compile_ball(total)({**looked_up, j: 3, i: 5}) == 20
    assert compile_ball(total)({**looked_up, j: 0, i: 5}) == 0


def test_a_sum_is_taken_once_for_all_entries() -> None:
    """It does not depend on the index of the entry."""
    calls: list[int] = []

    def look_up(n: int) -> arb:
        calls.append(n)
        return arb(n)

    a = sympy.IndexedBase("a", real=True)
    total = compile_ball(sympy.Sum(a[k], (k, 0, 9)) + i)
    env = environment({sympy.Symbol("a", real=True): look_up})
    assert [int(total({**env, i: n}).unique_fmpz()) for n in range(3)] == [45, 46, 47]
    assert len(calls) == 10


def test_precision_is_restored_after_an_error() -> None:
    """It is global to the process."""
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), precision(999):
        raise ZeroDivisionError(f"at {ctx.prec} bits")
    assert ctx.prec == before


def test_a_function_without_a_rule_is_refused() -> None:
    """Never guessed."""
    with pytest.raises(NotImplementedError, match="zeta"):
        compile_ball(sympy.zeta(x))
    with pytest.raises(NotImplementedError, match="index"):
        compile_integer(sympy.floor(i / 2))
