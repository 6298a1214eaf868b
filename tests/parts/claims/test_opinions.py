"""Opinions of each reading on an entry, side by side, and their order."""

import math

import numpy as np
import pytest

from gradcli import Function
from gradcli.crosscheck import formulas as module
from gradcli.parts.claims.check_document import plain_entry
from gradcli.results import SEVERITY, Assessment, Entry, Position


def _opinions(text: str, **at: object) -> list[Entry]:
    return list(Function(text).check(at, differences=True).opinions)  # type: ignore[arg-type]


def test_all_readings_say_the_same_of_a_smooth_function() -> None:
    """d/dx x**3 at 2 is 12, by torch, formula, enclosure and difference quotient."""
    (opinion,) = (o for o in _opinions("x**3", x=2.0) if o.variable == "x")
    assert (opinion.torch, opinion.formula, opinion.reference, opinion.radius) == (12, 12, 12, 0)
    assert opinion.difference is not None
    assert opinion.difference_error is not None
    assert abs(opinion.difference - 12) <= opinion.difference_error < 1e-8
    assert (opinion.relative_error, opinion.ulps, opinion.verdict) == (0, 0, "agree")
    assert (opinion.row, opinion.column) == ((), ())


def test_lost_digits_are_counted_in_units_in_the_last_place() -> None:
    """Torch says 1e60, and the truth is -x/12, which 75 decimal digits miss; the spacing of floats there is 2**-255."""
    (opinion,) = (o for o in _opinions("(1-cos(x))/x**2", x=1e-60) if o.variable == "x")
    assert opinion.formula == opinion.reference == pytest.approx(-1e-60 / 12, rel=1e-15)
    assert opinion.ulps == pytest.approx(1e60 / 2.0**-255, rel=1e-12)
    assert opinion.verdict == "inaccurate"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_units_are_those_of_the_dtype(dtype: str) -> None:
    """A result rounded to the nearest is at most half a unit off, and exp in torch at most one."""
    answer = Function("exp(x)").check({"x": np.linspace(0, 1, 20)}, "ones", dtype=dtype)  # type: ignore[arg-type]
    found = [o.ulps for o in answer.opinions if o.variable == "x"]
    assert len(found) == 20
    assert all(ulps is not None and 0 <= ulps <= 1 for ulps in found)
    assert max(ulps or 0 for ulps in found) > 0.1


def test_entries_of_a_product_sum_the_formula_over_the_rows() -> None:
    """VᵀJ of [x*y, x + y] at 3, 5 for v = 1, 10 is 15 by x and 13 by y."""
    answer = Function("[x*y, x + y]").check({"x": 3, "y": 5}, [1, 10], differences=True)
    found = {
        o.variable: (o.row, o.torch, o.formula, round(o.difference or 0, 6)) for o in answer.opinions if o.variable
    }
    assert found == {"x": (None, 15, 15, 15), "y": (None, 13, 13, 13)}
    assert answer.jacobian is None
    assert answer.vjp is not None
    assert len(answer.opinions) == answer.opinions_count >= 2


def test_a_formula_without_a_value_here_has_no_opinion() -> None:
    """Nor has a function without values around the point a difference quotient."""
    (opinion,) = (o for o in _opinions("log(x)/x", x=-1.0) if o.variable == "x")
    assert opinion.formula is None
    assert opinion.difference is None
    assert opinion.reference is None
    assert opinion.verdict == "undefined"


def test_the_worst_come_first() -> None:
    """By verdict; without units where a number is not finite."""
    found = _opinions("where(x > 0, sqrt(x), 0)*log(x + 1) + (1 - cos(x))/x", x=[-2.0, 1e-8, 1.0, -0.5])
    severities = [SEVERITY.index(one.verdict) for one in found]
    assert severities == sorted(severities, reverse=True)
    assert len({*severities}) > 2
    assert {one.ulps for one in found if not math.isfinite(one.torch or 0)} == {None}


def test_opinions_are_bounded_in_number() -> None:
    """A thousand and twenty-four, of as many as there are."""
    answer = Function("x**2").check({"x": np.linspace(1, 2, 32)})
    assert answer.opinions_count == 1_024 + 32
    assert len(answer.opinions) == module.MAX_OPINIONS
    assert all(o.variable for o in answer.opinions)


@pytest.mark.parametrize(
    ("place", "plain"),
    [
        (Position("jvp", None, (0,), None), "Ju[0]"),
        (Position("jvp", None, (), None), "Ju"),
        (Position("hvp", "x", None, (1,)), "Hu_x[1]"),
        (Position("hessian", "z", (0,), (1, 2), "x"), "d2y/dx[0]dz[1,2]"),
        (Position("hessian", "x", (), (), "x"), "d2y/dx2"),
        (Position("gradient", "x", None, (1,)), "dy/dx[1]"),
    ],
)
def test_an_entry_of_a_row_is_one_word_of_ascii(place: Position, plain: str) -> None:
    """As its name in mathematics."""
    assert plain_entry(Entry(place, 0.0, Assessment("kink", 1.0)), "y") == plain
