"""Enclosures contain the truth, at every precision, and say so when there is none."""

from __future__ import annotations

import pytest
import sympy
from flint import arb, ctx

from gradcli.language.program import meaning
from gradcli.reference.balls import precision
from gradcli.reference.compiling import compile_ball, environment

x, y = sympy.symbols("x y", real=True)
i, j, k = sympy.symbols("i j k", integer=True, nonnegative=True)


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
