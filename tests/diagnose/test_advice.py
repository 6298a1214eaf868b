"""Findings name the operation at fault, and an answer says how to write the function so that it can be trusted."""

from __future__ import annotations

from typing import Any

import pytest

from gradcli import Function
from gradcli.progress import budget
from gradcli.questions import judging
from gradcli.questions.question import Question
from gradcli.results import Check
from tests.checks import check_of


def _check(text: str, x: Any, **options: Any) -> Check:
    function = Function(text)
    return check_of(function.vjp(dict.fromkeys(function.variables, x), "ones", **options))


REWRITES = [
    # the classic five
    ("1-cos(x)", 1e-8, "inaccurate", "1-cos(x) cancels", "2*sin(x/2)**2"),
    ("log(1+x)", 1e-18, "inaccurate", "the rounding of 1+x", "log1p(x)"),
    ("exp(x)-1", 1e-12, "inaccurate", "exp(x)-1 cancels", "expm1(x)"),
    ("sqrt(x+1)-sqrt(x)", 1e16, "inaccurate", "sqrt(x+1)-sqrt(x) cancels", "1/(sqrt(x + 1) + sqrt(x))"),
    ("exp(x)/sum(exp(x))", [1000, 0], "nan-trap", "exp(x) is 1.97e+434 here", "softmax(x, dim=0)"),
    ("log(sum(exp(x)))", [1000, 0], "nan-trap", "exp(x) is 1.97e+434 here", "logsumexp(x)"),
    # branches
    (
        "where(x>0, sqrt(x), 0)",
        -1,
        "nan-trap",
        "the branch not taken, sqrt(x), is nan here",
        "where(x > 0, sqrt(where(x > 0, x, 1)), 0)",
    ),
    (
        "where(a<=0, exp(a), 1+a)",
        1000,
        "nan-trap",
        "the branch not taken, exp(a), overflows here",
        "where(a <= 0, exp(where(a <= 0, a, 0)), 1 + a)",
    ),
    (
        "where(x==0, 1, sin(x)/x)",
        0,
        "nan-trap",
        "the branch not taken, sin(x)/x, is nan here",
        "where(x == 0, 1, sin(x)/where(x == 0, 1, x))",
    ),
    # removable singularities
    ("sin(x)/x", 0, "removable", "the limit of the derivative exists", "sinc(x/pi)"),
    ("x**2/x", 0, "removable", "the limit of the derivative exists", "x"),
    (
        "(exp(x)-1)/x",
        0,
        "removable",
        "the limit of the derivative exists",
        "z = where(abs(x) < 1/1024, 1/1024, x); "
        "where(abs(x) < 1/1024, 1 + x/2 + x**2/6 + x**3/24 + x**4/120 + x**5/720, (exp(z) - 1)/z)",
    ),
    (
        "sin(x)/x + sin(2*x)/x",
        0,
        "removable",
        "the limit of the derivative exists",
        "z = where(abs(x) < 1/1024, 1/1024, x); "
        "where(abs(x) < 1/1024, 3 - 3*x**2/2 + 11*x**4/40 - 43*x**6/1680, sin(z)/z + sin(2*z)/z)",
    ),
    ("log(softmax(x))", [0, 1000], "nan-trap", "softmax(x) is 5.08e-435 here", "log_softmax(x)"),
    ("sqrt(x**4)", 0, "nan-trap", "", "x**2"),
]


@pytest.mark.parametrize(
    ("text", "x", "verdict", "reason", "rewrite"), REWRITES, ids=[f"{t} at {x}" for t, x, *_ in REWRITES]
)
def test_a_finding_names_the_operation_and_a_rewrite_that_works(
    text: str, x: Any, verdict: str, reason: str, rewrite: str
) -> None:
    """The rewrite was judged at the same point, and is judged here once more."""
    check = _check(text, x)
    assert check.verdict == verdict
    assert any(reason in finding.note for finding in check.findings), check.findings
    assert check.rewrite is not None
    assert (check.rewrite.expression, check.rewrite.verdict) == (rewrite, "agree")
    assert _check(rewrite, x).verdict == "agree"


@pytest.mark.parametrize(
    ("text", "x"),
    [("tanh(x)", 200), ("abs(x)", 0), ("log(x)", -1), ("t = (x - mean(x))/std(x); tanh(t)/t", [0.75, 0.75])],
)
def test_a_rewrite_that_is_no_better_is_not_offered(text: str, x: Any) -> None:
    """What is searched for and not found is not made up."""
    assert _check(text, x).rewrite is None


def test_a_rewrite_that_mends_the_value_alone_is_not_enough() -> None:
    """2*sin(x/2)**2/x**2 does, and its derivative is as bad as before."""
    rewrite = _check("(1-cos(x))/x**2", 1e-8).rewrite
    assert rewrite is not None
    assert rewrite.verdict == "agree"
    assert "1/2 - x**2/24" in rewrite.expression


def test_a_rewrite_keeps_the_rest_of_the_text() -> None:
    """Statements, names and spaces; what is no longer used goes."""
    check = _check("y = exp(x); z = y/sum(y); z*2", [1000, 1])
    assert check.rewrite is not None
    assert check.rewrite.expression == "z = softmax(x, dim=0); z*2"


def test_float32_has_limits_of_its_own() -> None:
    """exp(90) is a number in float64 alone."""
    text = "exp(x)/(1 + exp(x))**2"
    assert _check(text, 90).verdict == "agree"
    check = _check(text, 90, dtype="float32")
    assert check.verdict == "nan-trap"
    assert "float32 ends at 3.4e+38" in " ".join(finding.note for finding in check.findings)


def test_what_the_way_back_loses_is_no_disagreement() -> None:
    """Torch's value is right, and its derivative 0 where it is 1."""
    check = _check("x*1e300*1e300*1e-300*1e-300", 1e-300)
    assert check.verdict == "inaccurate"
    assert "1e-600" in check.findings[0].note


def test_rewrites_of_long_expressions_are_tried_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial is a whole check, so that twelve of a sum of hundreds of quotients would take a minute."""
    tried: list[str] = []

    def verdict_of(_question: Question, text: str, *_: object) -> None:
        tried.append(text)

    monkeypatch.setattr(judging, "verdict_of_form", verdict_of)
    for terms, most in ((3, 12), (200, 3)):
        tried.clear()
        with budget(3600):  # the limit of time is not what is tested
            _check("+".join(f"(1 - cos({k + 1}*x))/x" for k in range(terms)), 0)
        assert 0 < len(tried) <= most
