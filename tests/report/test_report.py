"""Formats: digits that round-trip, corners with counts, and tables that fit or fold."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gradcli import Function
from gradcli.report import json as json_report
from gradcli.report import plain, table
from gradcli.report.drawing import Screen
from gradcli.report.numbers import as_json, digits


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_digits_of_float64_round_trip(number: float) -> None:
    """The shortest that read back."""
    assert float(digits(np.float64(number))) == number


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_digits_of_float32_round_trip(number: float) -> None:
    """In their own precision, without the tail of the double."""
    shown = digits(np.float32(number))
    assert np.float32(shown) == np.float32(number)
    assert len(shown) <= 16
    assert np.float32(as_json(np.array(number, dtype=np.float32))) == np.float32(number)


def test_json_of_arrays_keeps_their_shape() -> None:
    """And says what is not finite in words."""
    array = np.array([[1.0, np.nan], [np.inf, -np.inf]])
    assert as_json(array) == [[1.0, "NaN"], ["Infinity", "-Infinity"]]
    assert as_json(array.astype(np.float32)) == as_json(array)
    assert as_json(np.zeros((0, 2))) == []


def test_markup_is_text() -> None:
    """Rich would eat x[0] and fail on [/b]."""
    answer = Function("[x[0], x[1]]").vjp({"x": [1, 2]}, "e0")
    shown = table.render(answer, Screen())
    assert "y = [x[0], x[1]]" in shown
    assert "x[1]" in shown


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_tables_fit_the_width(width: int) -> None:
    """Of a terminal; in a pipe they are as wide as they need."""
    answer = Function("exp(x)*sum(x)").jacobian({"x": np.linspace(0, 1, 9)})
    lines = table.render(answer, Screen(width)).splitlines()
    assert max(map(len, lines)) <= width
    assert max(map(len, table.render(answer, Screen()).splitlines())) > 200 - 40


def test_a_wide_jacobian_keeps_every_number_in_blocks_of_columns() -> None:
    """Nothing is cut off with an ellipsis."""
    answer = Function("exp(x)*sum(x)").jacobian({"x": np.linspace(0, 1, 9)})
    shown = table.render(answer, Screen(80))
    assert answer.jacobian is not None
    assert all(digits(number) in shown for number in answer.jacobian["x"].ravel())


def test_long_axes_show_their_corners_with_the_count() -> None:
    """Rows and columns of a matrix alike."""
    answer = Function("A*2").eval({"A": np.arange(400.0).reshape(20, 20)})
    shown = table.render(answer, Screen())
    assert "0, 1, 2, …, 17, 18, 19" in shown
    assert "(400 elements)" in shown
    assert "150" not in shown


def test_ascii_screens_get_ascii_only() -> None:
    """Frames, names and formulas."""
    answer = Function("sum(exp(x))*x").vjp({"x": np.linspace(0, 1, 14)}, "ones")
    assert table.render(answer, Screen(ascii=True)).isascii()


def test_colours_are_on_request() -> None:
    """Only the verdict and the titles have any."""
    answer = Function("x**2").vjp({"x": 1})
    assert "\x1b[" in table.render(answer, Screen(80, color=True))
    assert "\x1b[" not in table.render(answer, Screen(80))


def test_plain_is_rows_of_numbers() -> None:
    """The command's own quantity, variables in the order of wrt, J as one matrix."""
    f = Function("[x*y, x + y]")
    at: dict[str, Any] = {"x": [1, 2], "y": 3}
    assert plain.render(f.vjp(at, "ones", wrt=["y", "x"])) == "5\n4 4\n"
    assert plain.render(f.jacobian(at, wrt=["y", "x"])) == "1 3 0\n2 0 3\n1 1 0\n1 0 1\n"
    assert plain.render(f.eval(at)) == "3 6\n4 5\n"


def test_json_is_one_line() -> None:
    """Whatever the expression holds."""
    line = json_report.render(Function("y = x\ny**2").eval({"x": 3}))
    assert line.count("\n") == 1
    assert json.loads(line)["expression"] == "y = x\ny**2"


@pytest.mark.parametrize("width", [44, 80, None])
def test_findings_keep_their_digits_on_a_narrow_terminal(width: int | None) -> None:
    """As paragraphs where the table would fold numbers."""
    answer = Function("sum((1-cos(x))/x**2)").grad({"x": [1e-8, 2e-8]})
    shown = table.render(answer, Screen(width))
    assert "-8.333333333333334e-10" in shown
    assert "99999999.99999999" in shown
    assert "0 of 16 digits survive" in " ".join(shown.split())
