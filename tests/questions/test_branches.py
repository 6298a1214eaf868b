"""Choices, of which both are computed, and masks, whose elements values decide."""

from typing import Any

import pytest

from gradcli import Function, GradcliError
from tests.checks import check_of

DEFINED = pytest.param("def f(x): return x if x > 0 else x**2", marks=pytest.mark.part("paste"))


@pytest.mark.parametrize("text", [DEFINED, "x if x > 0 else x**2"])
def test_a_choice_computes_both_and_its_boundary_is_a_kink(text: str) -> None:
    """In a definition as in an expression, at one point, at many, and at random ones."""
    f = Function(text)
    assert [f.vjp(at).vjp["x"].item() for at in (2, -3)] == [1, -6]
    assert check_of(f.vjp(0)).verdict == "kink"


KINKS = [
    ("x[x > 0].sum()", [1, 0, -2]),
    ("torch.masked_select(x, x**2 >= 4).sum()", [1, -2]),
    ("y = (x + 1e8) - 1e8; x[y > 1].sum()", [1, 3]),  # what rounding moves further than a comparison
]


@pytest.mark.parametrize(("text", "at"), KINKS)
def test_a_point_where_values_decide_otherwise_beside_it_is_a_kink(text: str, at: Any) -> None:
    """Of first and second derivatives; and none where the variable that decides is held."""
    answer = Function(text).vjp(at)
    assert check_of(answer).verdict == "kink"
    assert any("beside the point" in finding.note for finding in check_of(answer).findings)
    hessian = check_of(Function(text).hessian(at))
    assert hessian.verdict == "kink"
    first, _, last = text.rpartition("; ")
    held = check_of(Function(f"{first}; ({last})*z" if first else f"({last})*z").vjp({"x": at, "z": 1}, wrt=["z"]))
    assert held.verdict == "agree"


NO_POINT = [
    pytest.param({}, "closed_form", marks=pytest.mark.part("closed_forms")),
    pytest.param({"box": {"x": "1..2"}}, "improve", marks=pytest.mark.part("improve")),
]


@pytest.mark.parametrize(("options", "of"), NO_POINT)
def test_without_a_point_there_is_no_such_function(options: dict[str, object], of: str) -> None:
    """Nor with several: the error says what decides."""
    f = Function("sum(x[x > 0])")
    with pytest.raises(GradcliError, match=r"depends on the values of a tensor|values of variables decide"):
        getattr(f, of)(**options)


CLAIMS = [
    ("sum(x[x > 0])", [1, -2], "1.0*(x > 0)", "no counterexample"),
    ("sum(x[x > 0])", [1, -2], "1.0*(x > -3)", "refuted"),
    ("sum(x[x > 0]**2)", [0, 1], "2*relu(x)", "no counterexample"),
]


@pytest.mark.part("claims")
@pytest.mark.parametrize(("text", "at", "claim", "status"), CLAIMS)
def test_a_claim_is_held_to_the_function_of_each_point(text: str, at: Any, claim: str, status: str) -> None:
    """A fact of the elements at one point only is no proof, and no refutation."""
    found = Function(text).check(at, claim={"x": claim}).claims
    assert [one.status for one in found] == [status], found


@pytest.mark.parametrize(("at", "verdict"), [(0.5, "kink"), (0.75, "inaccurate"), (0.25, "agree"), (2.0**40, "agree")])
def test_what_rounding_decides_is_said(at: float, verdict: str) -> None:
    """Floats keep nothing of the first three; in exact numbers the second is decided otherwise."""
    check = check_of(Function("t = x*ones(2)\n(t[(t + 2**60) - 2**60 > 0.5]**2).sum() + x").vjp(at))
    assert check.verdict == verdict, check
    said = {"kink": "beside the point, ", "inaccurate": "without rounding, "}.get(verdict, "")
    assert all(one.note.startswith(said) for one in check.findings), check
