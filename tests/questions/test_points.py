"""Rows of a stream are judged as one call for each; and what formulas show of structure."""

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.autodiff import batched
from tests.checks import check_of_rows
from tests.conftest import Command
from tests.work import calls, counted

LIN = "linspace(-2,2,5)"


@pytest.mark.part("tables")
def test_findings_name_their_rows() -> None:
    """A kink at row 1 and one at row 3; the others agree."""
    check = check_of_rows("abs(x)", [1, 0, -2, 0])
    assert [(f.point, f.verdict, f.one_sided) for f in check.findings] == [(1, "kink", (-1, 1)), (3, "kink", (-1, 1))]
    assert (check.entries, check.checked, check.chosen) == (4, 4, "all")


@pytest.mark.part("improve", "tables")
def test_the_worst_row_is_diagnosed_and_rewritten() -> None:
    """Of three rows, the branch not taken spoils the second: the culprit, a rewrite, and no more than one."""
    check = check_of_rows("where(x > 0, sqrt(x), 0)", [4, -1, 9])
    assert (check.verdict, [f.point for f in check.findings]) == ("nan-trap", [1])
    assert "sqrt(x)" in check.findings[0].note
    assert check.rewrite is not None
    assert check.rewrite.verdict == "agree"
    assert Function(check.rewrite.expression).grad({"x": -1}).grad["x"] == 0


@pytest.mark.part("tables")
def test_a_wrong_number_in_any_row_that_is_looked_at_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge judges the numbers that are written: one that is 1e-3 off in one of five rows disagrees."""
    good = batched.block

    def wrong(batch: batched.Batch, into: Any) -> Any:
        found = good(batch, into)
        into[1][3] *= 1.001
        return found

    monkeypatch.setattr(batched, "block", wrong)
    check = check_of_rows("sin(x)", [-2, -1, 0, 1, 2])
    assert (check.verdict, [f.point for f in check.findings]) == ("disagree", [3])


@pytest.mark.part("tables")
def test_a_sample_of_rows_is_said_to_be_one() -> None:
    """Entries are counted over all rows; the one NaN among a thousand and the kink at 0 are looked at."""
    x = np.linspace(-1, 1, 1001)
    check = check_of_rows("relu(x)", x)
    assert (check.entries, check.checked, check.verdict) == (1001, 16, "kink")
    assert check.chosen == "16 of 1,001 points: kinks, first, last, extremes and a random rest, seed 0"
    assert [f.point for f in check.findings] == [500]
    x[700] = -3
    assert [(f.point, f.verdict) for f in check_of_rows("log(x + 2)", x).findings] == [(700, "undefined")]


@pytest.mark.part("tables")
def test_a_hundred_thousand_points_are_no_more_work_than_two() -> None:
    """One backward pass for each row of the Jacobian, whatever the points; the same as NumPy's."""
    x = np.random.default_rng(0).normal(size=(100_000, 3))
    function = Function("[sum(x**2), prod(x)]")
    function.map({"x": x[:2]})
    few = calls(lambda: function.map({"x": x[:2]}))
    with counted() as work:
        found = function.map({"x": x})["dy_dx"]
    assert work.calls < 4 * few
    products = np.stack([x[:, 1] * x[:, 2], x[:, 0] * x[:, 2], x[:, 0] * x[:, 1]], axis=1)
    np.testing.assert_allclose(found, np.stack([2 * x, products], axis=1), rtol=1e-15)


@pytest.mark.part("tables")
def test_sizes_in_the_text_are_those_of_one_point() -> None:
    """And an empty y is an empty answer."""
    assert Function("x.sum()/len(x)").map({"x": np.ones((7, 2))})["y"].tolist() == [1] * 7
    assert Function("x[2:]").map({"x": [[1, 2], [3, 4]]})["dy_dx"].shape == (2, 0, 2)


# -- structure and remarks


STRUCTURES: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("x**2", {"x": "arange(6).view(2,3)"}, {"x": "diagonal"}),
    ("3*a + 2*b*b + log(c)", {"a": "1,2", "b": "3,4", "c": "5,6"}, {"a": "diagonal", "b": "diagonal", "c": "diagonal"}),
    ("where(x > 0, x, a*x**3)", {"x": "1,-2", "a": 2}, {"x": "diagonal"}),
    *((text, {"x": "[[1,2],[3,4]]"}, {}) for text in ("x.T", "x + x.T")),
    *((text, {"x": "1,2,3"}, {}) for text in ("cumsum(x)", "flip(x, 0)", "softmax(x)", "x + x[0]", "sum(x**2)")),
]


@pytest.mark.parametrize(("text", "at", "expected"), STRUCTURES)
def test_the_structure_that_a_formula_shows_is_said(text: str, at: dict[str, Any], expected: dict[str, str]) -> None:
    """And what is said is true of torch's numbers."""
    answer = Function(text).jacobian(at)
    assert {name: f.structure for name, f in answer.symbolic.items() if f.structure} == expected
    assert answer.jacobian is not None
    for name, structure in expected.items():
        block = answer.jacobian[name].reshape(answer.value.size, -1)
        assert not (block - np.diag(np.diag(block))).any()
        assert structure == "diagonal" or not block.any()


def test_a_diagonal_jacobian_is_remarked_on_where_v_is_ones(gradcli: Command) -> None:
    """In the words of each command; of another v, and of one element, there is nothing to say."""
    words = "∂y/∂x is diagonal: of x, only x[i] moves y[i]"
    assert (
        f"{words}, so v = ones gives the derivative at every point\n"
        in gradcli("vjp", "x**2", "--at", LIN, "--v", "ones", "--full").out
    )
    assert f"{words}; vjp with v = ones gives the diagonal\n" in gradcli("jacobian", "x**2", "--at", LIN, "--full").out
    assert "diagonal" not in gradcli("vjp", "x**2", "--at", LIN, "--v", "e0").out
    both = gradcli("vjp", "x*z + a", "--at", "x=1,2", "--at", "z=3,4", "--at", "a=1", "--v", "ones", "--full").out
    assert "∂y/∂x, ∂y/∂z are diagonal: of x, z, only x[i], z[i] move y[i], so v = ones" in both
    large = ("x**2", "--at", "linspace(0,1,50)", "--v", "ones")
    assert words in gradcli("vjp", *large).out  # where the Jacobian itself is not shown
