"""What is joined is the same number, wherever what it was had a value."""

from __future__ import annotations

import pytest
import sympy

from gradcli.language.program.meaning import ge, gt, le, maximum, minimum, where
from gradcli.reference.compiling import compile_ball
from gradcli.symbolic.condensing import joined

x, a, b = (sympy.Symbol(name, real=True) for name in "xab")

JOINED = [
    where(ge(x, 0), 1, 0) * where(le(maximum(x, 0), 1), 1, 0),
    where(le(minimum(x, 1), a), 1, 0) * where(le(x, 1), x, 0),
    where(gt(x, 0), 1, 0) * where(le(maximum(x, 0), 1), 1, 0) * x,
    where(ge(x, a), x, 0) * where(le(maximum(a, x), b), x, 0),
    x / (1 - x) ** 2 + 1 / (1 - x),
    (1 - x) * (x / (1 - x) ** 2 + 1 / (1 - x)) / x,
    1 / x + 1 / (3 - x),
    (a / (x - b) - a * x / (x - b) ** 2) * where(ge(x, a), 1, 0),
]


@pytest.mark.parametrize("expression", JOINED, ids=str)
def test_it_is_the_same_number(expression: sympy.Expr) -> None:
    found = joined(expression)
    assert found != expression
    compared = 0
    for at in ((-2, 0, 1), (0, 0, 1), (1, 0, 1), (1, 1, 1), (2, -3, 5), (sympy.Rational(1, 2), 1, -1), (4, 4, 3)):
        values = {s: compile_ball(sympy.sympify(n))({}) for s, n in zip((x, a, b), at, strict=True)}
        before, after = compile_ball(expression)(values), compile_ball(found)(values)
        if before.is_finite():
            compared += 1
            assert after.overlaps(before)
    assert compared > 3


@pytest.mark.parametrize(
    "expression",
    [
        1 / x + 1 / x**2,
        1 / (1 + x) - x / (1 + x) ** 3 + x**2,
        where(ge(x, 0), 1, 2) * where(le(x, 1), 1, 0),
        where(ge(x, 0), 1, 0),
        1 / sympy.sqrt(x) + 1 / sympy.sqrt(1 - x),
    ],
    ids=str,
)
def test_what_would_not_be_shorter_stays(expression: sympy.Expr) -> None:
    assert joined(expression) == expression
