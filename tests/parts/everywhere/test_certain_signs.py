"""Signs of values and slopes as operations have them: no point refutes one, and a rule that is wrong is found."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from mpmath import mp

from gradcli.language.parsing import parse
from gradcli.language.program.sympy_functions import minimum
from gradcli.parts.everywhere import certain_signs
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.box_sets import BoxSet
from gradcli.parts.everywhere.certain_signs import is_certainly_positive, signs_of_expression
from gradcli.parts.everywhere.intervals import Interval
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.scalars import in_numbers
from tests.parts.everywhere.truths_on_boxes import Case, boxes, composed, derivative, points, primitives

BOXES, POINTS = 12, 3


def _violations(case: Case, draw: random.Random) -> Iterator[str]:
    """Yield the points at which y, or its slope by the first variable, is not positive where that is said."""
    program = in_numbers(parse(case.text), {name: np.array(0.5) for name in case.names}, case.names)
    function = Evaluator(program)
    every = boxes(draw, case, BOXES)
    cells = BoxSet(every.low, every.high, np.zeros(BOXES))
    asked = [(is_slope, sign) for is_slope in (False, True) for sign in (1, -1)]
    with mp.workdps(40):
        for is_slope, sign in asked:
            quantity = BoxQuantity(function, (0,) if is_slope else (), is_negated=sign < 0)
            positive, _ = is_certainly_positive(quantity, cells)
            for n in np.flatnonzero(positive):
                for at in points(draw, every.low[:, n].tolist(), every.high[:, n].tolist(), POINTS):
                    number = _number(case, [mp.mpf(one) for one in at], is_slope=is_slope)
                    if number is not None and sign * number <= 0:
                        yield f"{case.text}: {'slope' if is_slope else 'y'} = {mp.nstr(number)} at {at}"


def _number(case: Case, at: list[Any], *, is_slope: bool) -> Any:
    if is_slope:
        found = derivative(case.truth, at, tuple(int(k == 0) for k in range(len(at))))
        return None if found is None or abs(found) < mp.mpf(10) ** -12 else found  # of differences
    try:
        return case.truth(*at)
    except Exception:
        return None


@pytest.mark.parametrize("name", primitives())
def test_no_point_refutes_the_sign_of_a_primitive(name: str) -> None:
    """Of values and slopes."""
    assert next(_violations(primitives()[name], random.Random(name)), None) is None


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.thorough) for n in range(1, 20))])
def test_no_point_refutes_the_sign_of_a_random_function(seed: int) -> None:
    """Forty of them."""
    draw = random.Random(seed)
    assert next((one for _ in range(40) for one in _violations(composed(draw, draw.randint(1, 4)), draw)), None) is None


FAR = [
    ("exp(x)", -2000, -800),
    ("sigmoid(x)", -2000, -800),
    ("exp(x)*softplus(x)", -2000, -800),
    ("1/cosh(x)", 800, 2000),
    ("2.0**x + exp(x)", -2000, -1100),
    ("erfc(x)", 40, 50),
]
"""Functions that are positive where floats have 0."""


@pytest.mark.parametrize(("text", "low", "high"), FAR)
def test_a_number_below_all_floats_has_a_sign(text: str, low: float, high: float) -> None:
    """In each box."""
    function = Evaluator(in_numbers(parse(text), {"x": np.array(0.5)}, ("x",)))
    cells = BoxSet(np.array([[low]], float), np.array([[high]], float), np.zeros(1))
    assert function.run(Interval(cells.low, cells.high))[0].value.low[0] <= 0
    is_positive, has_value = is_certainly_positive(BoxQuantity(function), cells)
    assert is_positive.all()
    assert has_value


PLANTED = {"add": "add", "multiply": "mul", "divide": "div", "whole_power": "cube"}
"""Rules that are planted, which call everything positive, each with a primitive that shows it."""

_HEADS = {"sinh": sympy.sinh, "asinh": sympy.asinh, "atan": sympy.atan, "erf": sympy.erf, "minimum": minimum}


def _is_caught(name: str) -> bool:
    case = replace(primitives()[name], low=-3.0, high=3.0)
    return next(_violations(case, random.Random(name)), None) is not None


@pytest.mark.parametrize("name", [*PLANTED, *_HEADS])
def test_a_rule_that_calls_everything_positive_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of arithmetic, and of functions."""
    arithmetic: Any = certain_signs._ARITHMETIC
    if name in PLANTED:
        planted = replace(arithmetic, **{name: lambda *_: certain_signs.POSITIVE})
    else:
        planted = replace(arithmetic, heads={**arithmetic.heads, _HEADS[name]: lambda *_: certain_signs.POSITIVE})
    signs_of_expression.cache_clear()
    monkeypatch.setattr(certain_signs, "_ARITHMETIC", planted)
    try:
        assert _is_caught(PLANTED.get(name, name))
    finally:
        signs_of_expression.cache_clear()


@pytest.mark.parametrize("name", ["tanh", "silu", "gelu"])
def test_a_whole_that_is_called_positive_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it is not."""
    wholes: Any = certain_signs._WHOLES
    monkeypatch.setitem(wholes, name, (lambda *_: certain_signs.POSITIVE, wholes[name][1]))
    assert _is_caught(name)
