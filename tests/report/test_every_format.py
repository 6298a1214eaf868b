"""Every answer in every format: CSV and JSON read back as the numbers."""

import csv
import io
import re
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradcli import Function, results
from gradcli.errors import UsageError
from gradcli.questions import functions
from gradcli.registry import formats
from gradcli.report import Screen, rendered
from gradcli.report.numbers import digits, rounded
from gradcli.showing import Display
from tests import of_parts
from tests.examples import in_turn

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
X = {"x": [1.0, 2.0]}
F = Function("sin(x)/3")
G = Function("sum(sin(x)/3)")
ANSWERS: dict[str, Any] = {
    "VJP": lambda: F.vjp(X, "ones"),
    "Products": lambda: F.vjps(X, ["ones", "e1"], accumulate=True),
    "Gradient": lambda: G.grad(X),
    "Jacobian": lambda: F.jacobian(X),
    "JVP": lambda: F.jvp(X, {"x": "ones"}),
    "Hessian": lambda: G.hessian(X),
    "HVP": lambda: G.hvp(X, {"x": "e0"}),
    "Evaluation": lambda: F.eval(X),
    "Functions": lambda: functions.pages("sin"),
    **of_parts.rows("ANSWERS"),
}
"""An answer of each kind."""


def _all(kind: type[Any]) -> set[type[Any]]:
    children: list[type[Any]] = kind.__subclasses__()
    return {kind, *(one for child in children for one in _all(child))}


@pytest.mark.part("claims", "code", "explain", "sparse")
def test_every_answer_is_here() -> None:
    """Also the next one."""
    answers = {kind.__name__ for kind in _all(results.Answer)} - {"Answer", "Differentiation", "Judged"}
    assert answers | {"Source", "Functions"} <= set(ANSWERS)


def _forms(name: str) -> list[str]:
    """The formats that an answer has: one that is no table of numbers has none of bare numbers."""
    without = {"Source": ("csv", "tsv"), "Functions": ("csv", "tsv"), "BackwardGraph": ("csv", "tsv", "plain")}
    return [form for form in formats() if form not in without.get(name, ())]


@pytest.mark.parametrize("name", sorted(set(ANSWERS) - {"Source", "Functions"}))
@pytest.mark.one_in(2)
def test_every_format_has_the_numbers(name: str) -> None:
    """With all digits: those of the command's own quantity; of a graph, the gradients."""
    answer = ANSWERS[name]()
    if name == "BackwardGraph":
        numbers = [digits(abs(number)) for number in answer.tensors[0].grad]
    else:
        numbers = re.findall(r"\d\.\d{6,}", rendered(answer, "plain", Screen()))
    assert len(numbers) >= 1
    for form in _forms(name):
        shown = rendered(answer, form, Screen())
        assert all(number in shown for number in numbers), form


NO_NUMBERS = [
    pytest.param("Source", "torch", marks=pytest.mark.part("code")),
    ("Functions", "sin"),
    pytest.param("BackwardGraph", "Backward", marks=pytest.mark.part("explain")),
]


@pytest.mark.parametrize(("name", "word"), NO_NUMBERS)
def test_what_is_no_table_of_numbers_has_every_other_format(name: str, word: str) -> None:
    """CSV and bare numbers are refused."""
    for form in formats():
        if form in _forms(name):
            assert word in rendered(ANSWERS[name](), form, Screen())
        else:
            with pytest.raises(UsageError, match="no table of numbers"):
                Display.write(ANSWERS[name](), form)


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@SLOW
@given(st.lists(st.floats(), min_size=1, max_size=5))
def test_csv_reads_back_as_the_same_floats(numbers: list[float]) -> None:
    """Numbers that are not finite too."""
    answer = replace(Function("x").eval({"x": 1.0}), value=np.array(numbers))
    rows = _rows(rendered(answer, "csv", Screen()))
    np.testing.assert_array_equal([float(row["value"]) for row in rows], numbers)
    assert [row["index"] for row in rows] == [str(n) for n in range(len(numbers))]


def test_csv_of_a_matrix_reads_back_by_its_indices() -> None:
    """Rows and columns of any dimension, and of many points."""
    answer = Function("A@x").jacobian({"A": [[1, 2, 3], [4, 5, 6]], "x": [1, 2, 3]})
    found = {name: np.full(block.shape, np.nan) for name, block in (answer.jacobian or {}).items()}
    for row in _rows(rendered(answer, "csv", Screen())):
        place = tuple(map(int, f"{row['row']} {row['column']}".split()))
        found[row["variable"]][place] = float(row["value"])
    for name, block in (answer.jacobian or {}).items():
        np.testing.assert_array_equal(found[name], block)


@pytest.mark.part("claims")
def test_cells_of_csv_are_quoted_where_they_must_be() -> None:
    """A comma, a quote and a line break in what was typed."""
    claim = Function("x**2").check({"x": 1.0}, claim={"x": "2*maximum(x,\n  x)"})
    rows = _rows(rendered(claim, "csv", Screen()))
    assert rows[-1]["entry"] == "claim x = 2*maximum(x, x)"
    assert '"claim x = 2*maximum(x, x)"' in rendered(claim, "csv", Screen())


@pytest.mark.part("claims")
def test_csv_of_a_check_says_why() -> None:
    """The one-sided derivatives of a kink, the reason, and what refutes a claim."""
    answer = Function("abs(x)").check({"x": [0.0, 2.0]}, claim={"x": "-sign(x)"})
    text = rendered(answer, "csv", Screen())
    kink, smooth, *_, claim = _rows(text)
    assert text.isascii()
    assert (kink["verdict"], kink["left"], kink["right"], kink["torch"]) == ("kink", "-1", "1", "0")
    assert "has a kink here" in kink["note"]
    assert (smooth["left"], smooth["right"], smooth["note"]) == ("", "", "")
    assert (claim["verdict"], claim["reference"]) == ("refuted", "1")
    assert "the claim says -1" in claim["note"]
    assert "sign" in claim["note"]  # the likeliest mistake


@pytest.mark.parametrize(
    ("name", "form"),
    in_turn(sorted(set(ANSWERS) - {"Source", "Functions"}), *sorted({*formats()} - {"full", "jsonl", "tsv", "html"})),
)
def test_digits_are_as_many_as_asked(name: str, form: str) -> None:
    """No number of the answer is longer; what the formula says is not touched."""
    answer = ANSWERS[name]()
    shown = rendered(answer, form, Screen(), 3) if form in _forms(name) else ""
    assert not re.search(r"\d\.\d{5,}(?!\d*e)", shown)


@SLOW
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 17))
def test_rounding_is_the_nearest_decimal(number: float, count: int) -> None:
    """In arrays of either precision, and 17 digits change nothing."""
    nearest = float(f"%.{count - 1}e" % number)
    assert rounded(number, count) == (nearest if np.isfinite(nearest) else number)
    assert rounded(np.array([number]), 17)[0] == number
    assert rounded(True, 3) is True


def test_rounding_does_not_reach_infinity() -> None:
    """The largest floats of either precision stay what they are."""
    for kind in (np.float64, np.float32):
        largest = np.finfo(kind).max
        for count in range(1, 9):
            for number in (largest, np.array([-largest])):
                assert np.isfinite(rounded(number, count)).all()
                assert rounded(number, count).dtype == kind
    assert rounded(1.7e308, 1) == 1.7e308
    assert rounded(np.float64("inf"), 3) == np.inf
