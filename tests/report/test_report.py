"""Formats: digits that round-trip, corners with counts, and tables that fit or fold."""

import json
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gradcli import Function
from gradcli.report import wording
from gradcli.report.numbers import digits, in_lists
from gradcli.report.render import json as json_report
from gradcli.results import Assessment, Check, Entry, Position


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_digits_of_float32_round_trip(number: float) -> None:
    """In their own precision, without the tail of the double."""
    shown = digits(np.float32(number))
    assert np.float32(shown) == np.float32(number)
    assert len(shown) <= 16
    assert np.float32(in_lists(np.array(number, dtype=np.float32))) == np.float32(number)


def test_json_is_one_line() -> None:
    """Also of an expression with newlines."""
    line = "".join(json_report.pieces(Function("y = x\ny**2").eval({"x": 3})))
    assert line.count("\n") == 1
    assert json.loads(line)["expression"] == "y = x\ny**2"


CURVATURE = [
    ("jvp", (None, (0,), None), None, "(Ju)[0]"),
    ("jvp", (None, (), None), None, "Ju"),
    ("hvp", ("x", None, (1,)), None, "Hu x[1]"),
    ("hessian", ("z", (0,), (1, 2)), "x", "∂²y/∂x[0]∂z[1,2]"),
    ("hessian", ("x", (), ()), "x", "∂²y/∂x²"),
    ("gradient", ("x", None, (1,)), None, "∂y/∂x[1]"),
]
"""The matrix of an entry, its variable, row and column, the other variable, and its name."""


@pytest.mark.parametrize(("of", "place", "by", "shown"), CURVATURE)
def test_entries_of_curvature_have_names(of: Any, place: Any, by: str | None, shown: str) -> None:
    """In mathematics, and in JSON by what they belong to."""
    variable, row, column = place
    finding = Entry(Position(of, variable, row, column, by), 0.0, Assessment("kink", 1.0))
    assert wording.entry(finding, "y").pretty == shown
    check = Check("kink", 1, 1, None, (finding,), findings_count=1)
    answer = replace(Function("x").grad({"x": 1.0}), check=check)
    (written,) = json.loads("".join(json_report.pieces(answer)))["check"]["findings"]
    assert (written["of"], written.get("by")) == (of, by)
