"""Values that torch defines where the formula has none: 0*log(0), numbers in the place of nan, the sign of a 0."""

import math
from typing import Any

import pytest

from gradcli import Function
from gradcli.results.verdicts import Verdict
from tests.checks import check_of
from tests.crosscheck.asking import checked

NAN = math.nan

Findings = dict[str, tuple[Verdict, float | None]]
"""The verdict and the truth by variable and column; all other entries, and y, agree."""

ZERO_TIMES_LOG: list[tuple[str, Any, Findings]] = [
    # by b the function is 0 everywhere; by a it has no value beside 0
    ("xlogy(a, b)", {"a": 0, "b": 2}, {}),
    ("xlogy(a, b)", {"a": 0, "b": 0}, {"a": ("undefined", None), "b": ("nan-trap", 0)}),
    ("xlogy(a, b)", {"a": 0, "b": -1}, {"a": ("undefined", None)}),
    ("xlogy(x, x)", {"x": 0}, {"x": ("undefined", None)}),
    ("sum(xlogy(a, b))", {"a": [0, 1], "b": [0, 3]}, {"a0": ("undefined", None), "b0": ("nan-trap", 0)}),
    ("xlog1py(a, b)", {"a": 0, "b": -1}, {"a": ("undefined", None), "b": ("nan-trap", 0)}),
    ("sum(entr(x))", {"x": [0, 0.5]}, {"x0": ("undefined", None)}),
    ("kl_div(x, [0, 1])", {"x": [-1, -2]}, {}),
    ("kl_div(x, t)", {"x": [-1, -2], "t": [0, 1]}, {"t0": ("undefined", None)}),
    # logarithms are taken no lower than -100, and torch divides by no less than 1e-12, which is wrong here
    ("binary_cross_entropy(x, [0, 1])", {"x": [0, 0.5]}, {"x0": ("disagree", 0.5)}),
    ("binary_cross_entropy(0, t)", {"t": 0}, {"t": ("nan-trap", 100)}),
    ("binary_cross_entropy(x, 1)", {"x": 1e-50}, {"x": ("disagree", 0)}),
    ("binary_cross_entropy(sigmoid(x), 1)", {"x": -1000}, {}),
    ("cosine_similarity(x, y, 0)", {"x": [0, 0], "y": [0, 0]}, {}),  # no norm is less than 1e-8
]

NAN_THAT_IS_HANDLED: list[tuple[str, Any, Findings]] = [
    ("nansum(x)", [1, NAN], {}),
    ("nansum(x**2)", [1, NAN], {"x1": ("nan-trap", 0)}),
    ("nansum(a*x)", {"a": [1, 2], "x": [1, NAN]}, {"a1": ("nan-trap", 0)}),
    ("nansum(log(x))", [1, -1], {}),  # torch's slope of log is 1/x there too
    ("nansum(acos(x) + 1)", [0, 2], {"x1": ("nan-trap", 0)}),
    ("nan_to_num(sum(sqrt(x)))", [0, -1], {"x0": ("nan-trap", 0), "x1": ("nan-trap", 0)}),
    ("nan_to_num(sqrt(x))*x", 0, {"x": ("nan-trap", 0)}),  # 0 on the left, x**1.5 on the right
    (
        "c = cosine_similarity(x, y, 0); where(isnan(c), 0.5, c)",
        {"x": [1], "y": [NAN]},
        dict.fromkeys(("x0", "y0"), ("nan-trap", 0)),
    ),
    ("sum(nan_to_num(x**2))", [1, NAN], {"x1": ("nan-trap", 0)}),
    ("sum(where(isnan(x), 0, x))", [1, NAN], {}),
    ("sum(where(x == x, x**2, 0))", [1, NAN], {"x1": ("nan-trap", 0)}),
    ("fmax(x, nan)", 1, {}),
    ("fmax(x**2, log(y))", {"x": 1, "y": -1}, {}),
    ("sum(x[~isnan(x)]**2)", [1, NAN], {}),
]


SIGN_OF_ZERO: list[tuple[str, Any, Findings]] = [
    # torch takes that of -0, which exact numbers do not have: a side of a jump
    ("copysign(a, b)", {"a": 2, "b": 0}, {"b": ("kink", None)}),
    ("copysign(a, b)", {"a": 2, "b": "-0.0"}, dict.fromkeys(("None", "a", "b"), ("kink", None))),
    ("copysign(2, -0.0)*x", {"x": 1}, dict.fromkeys(("None", "x"), ("kink", None))),
    ("copysign(a, b)", {"a": -2, "b": 3}, {}),
]


@pytest.mark.parametrize(("text", "x", "findings"), [*ZERO_TIMES_LOG, *NAN_THAT_IS_HANDLED, *SIGN_OF_ZERO])
@pytest.mark.one_in(4)
def test_only_the_entries_that_it_has_to_do_with_are_flagged(text: str, x: Any, findings: Findings) -> None:
    """A derivative that is missing is `undefined`, one that torch makes nan of a `nan-trap`, and all else agrees."""
    found = checked(text, x).findings
    told = {f"{f.variable}{''.join(map(str, f.column or ()))}": (f.verdict, f.reference) for f in found}
    assert {
        name: (verdict, None if verdict == "kink" else truth) for name, (verdict, truth) in told.items()
    } == findings


@pytest.mark.parametrize("text", ["sum(cholesky_inverse(L))", "sum(cholesky_solve([[1], [1]], L))"])
def test_a_matrix_of_which_torch_reads_a_triangle_is_triangular(text: str) -> None:
    """Torch derives by all of its elements: with u the sum of the inverse's rows, -2*u[0]*(L.T @ u)[1] by L[0, 1]."""
    answer = Function(text).vjp([[2, 0], [1, 3]])
    assert answer.vjp["L"][0, 1] == pytest.approx(-2 * (8 / 36) * (3 * 2 / 36), rel=1e-15)
    assert check_of(answer).verdict == "agree"
    assert checked(text, [[2, 5], [1, 3]]).verdict == "undefined"


@pytest.mark.parametrize(
    ("text", "by", "formula"),
    [
        ("xlogy(a, b)", "a", "log(b)"),
        ("fmax(a, b)", "a", "{1 if a ≥ b; 0 otherwise}"),
        ("entr(a)*b", "a", "-b·log(a) - b"),
        ("binary_cross_entropy(a, b)", "b", "log(1 - a) - log(a)"),
    ],
)
def test_a_formula_is_without_these_cases(text: str, by: str, formula: str) -> None:
    """It is what a textbook has, and is refuted by no point at which torch defines another value."""
    answer = Function(text).vjp({"a": 0.25, "b": 0.5})
    assert str(answer.symbolic[by].pretty) == formula
