"""Many points with `points_of`: an answer for each, as one call for each; and what formulas show of structure."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from gradcli import Function, GradcliError
from gradcli.autodiff import batched
from gradcli.questions import points as questions
from gradcli.report import Screen, rendered
from tests.checks import check_of
from tests.conftest import Command
from tests.work import calls, counted

LIN = "linspace(-2,2,5)"
MANY: list[tuple[list[str], str, Any]] = [
    (["vjp", "x**2", "--at", LIN, "--v", "ones"], "vjp", [-4, -2, 0, 2, 4]),
    (["grad", "(x*w).sum()", "--at", "x=arange(4).view(2,2)", "--at", "w=-1,1"], "grad", [[-1, 1], [-1, 1]]),
    (["jacobian", "[-x**3, 5*x]", "--at", "0,1,2"], "jacobian", [[0, 5], [-3, 5], [-12, 5]]),
    (["eval", "[x.sum(), (x**2).sum()]", "--at", "arange(4).view(2,2)"], "value", [[1, 1], [5, 13]]),
]


@pytest.mark.parametrize(("arguments", "key", "expected"), MANY)
def test_questions_of_many_points(arguments: list[str], key: str, expected: Any, gradcli: Command) -> None:
    """A function as written for one point, and the numbers of each."""
    run = gradcli(*arguments, "--points-of", "x", "--json")
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    found = answer[key] if key == "value" else answer[key]["x"]
    np.testing.assert_array_equal(found, expected)
    assert (answer["points_of"], answer["points"]) == (["x"], len(expected))
    assert list(answer)[4:6] == ["points_of", "points"]
    assert answer["check"]["verdict"] == "agree"


def test_a_jacobian_a_point_is_the_diagonal_of_that_of_all() -> None:
    """By hand, [[x1, x0], [1, 1]] at three points; the block-diagonal one has three times as many entries."""
    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    answer = Function("[x[0]*x[1], x[0]+x[1]]").jacobian({"x": x}, points_of=["x"])
    assert answer.jacobian is not None
    assert answer.value.tolist() == [[2, 3], [12, 7], [30, 11]]
    assert answer.jacobian["x"].tolist() == [[[2, 1], [1, 1]], [[4, 3], [1, 1]], [[6, 5], [1, 1]]]
    assert "3 times as many" in answer.remarks[0]


def test_v_may_be_of_one_point_or_of_all() -> None:
    """Shape (2,) is the same for each; (3, 2) is one for each; others are refused."""
    f = Function("x**2")
    x = [[1, 2], [3, 4], [5, 6]]
    assert f.vjp({"x": x}, [1, 10], points_of=["x"]).vjp["x"].tolist() == [[2, 40], [6, 80], [10, 120]]
    v = [[1, 0], [0, 1], [1, 1]]
    assert f.vjp({"x": x}, v, points_of=["x"]).vjp["x"].tolist() == [[2, 0], [0, 8], [10, 12]]
    assert f.vjp({"x": x}, "[[1,0],[0,1],[1,1]]", points_of=["x"]).v.tolist() == v
    with pytest.raises(GradcliError, match=r"v has shape \(3,\)") as caught:
        f.vjp({"x": x}, [1, 2, 3], points_of=["x"])
    assert caught.value.hint == "of one point y has shape (2,), and of all points (3, 2)"
    with pytest.raises(GradcliError, match="no components"):
        Function("sum(x)").vjp({"x": x}, "e2", points_of=["x"])
    with pytest.raises(GradcliError, match="v names 'z'"):
        f.vjp({"x": x}, "z", points_of=["x"])


def test_a_snippet_at_many_points() -> None:
    """Its v is of all points together, as backward has it, and so are its values."""
    text = "x = torch.tensor([-1., 0., 2.], requires_grad=True)\ny = x**3\ny.backward({})"
    for v, factor in (("torch.ones(3)", [1, 1, 1]), ("torch.tensor([1., 2., 3.])", [1, 2, 3]), ("2*y.detach()", None)):
        answer = Function(text.format(v)).vjp(points_of=["x"])
        weights = np.array(factor) if factor else 2 * np.array([-1.0, 0, 8])
        assert answer.vjp["x"].tolist() == (3 * np.array([1.0, 0, 4]) * weights).tolist()


def test_findings_name_their_points(gradcli: Command) -> None:
    """A kink at point 1 and one at point 3; the others agree."""
    answer = Function("abs(x)").grad({"x": [1, 0, -2, 0]}, points_of=["x"])
    assert [(f.point, f.verdict, f.one_sided) for f in check_of(answer).findings] == [
        (1, "kink", (-1, 1)),
        (3, "kink", (-1, 1)),
    ]
    assert (check_of(answer).entries, check_of(answer).checked, check_of(answer).chosen) == (4, 4, "all")
    run = gradcli("grad", "abs(x)", "--at", "1,0,-2,0", "--points-of", "x", "--strict")
    assert run.code == 1
    assert "∂y/∂x at point 3" in run.out


def test_the_worst_point_is_diagnosed_and_rewritten() -> None:
    """Of three points, the branch not taken spoils the second: the culprit, a rewrite, and no more than one."""
    answer = Function("where(x > 0, sqrt(x), 0)").grad({"x": [4, -1, 9]}, points_of=["x"])
    assert (check_of(answer).verdict, [f.point for f in check_of(answer).findings]) == ("nan-trap", [1])
    assert "sqrt(x)" in check_of(answer).findings[0].note
    rewrite = check_of(answer).rewrite
    assert rewrite is not None
    assert rewrite.verdict == "agree"
    assert Function(rewrite.expression).grad({"x": -1}).grad["x"] == 0


def test_a_wrong_number_at_any_point_that_is_looked_at_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge judges the numbers of the answer: one that is 1e-3 off at one of five points disagrees."""
    from gradcli.autodiff import batched

    good = batched.at_points

    def wrong(*arguments: Any, **options: Any) -> batched.AtPoints:
        found = good(*arguments, **options)
        assert found.jacobian is not None
        found.jacobian["x"][3] *= 1.001
        return found

    monkeypatch.setattr(batched, "at_points", wrong)
    answer = Function("sin(x)").jacobian({"x": LIN}, points_of=["x"])
    assert (check_of(answer).verdict, [f.point for f in check_of(answer).findings]) == ("disagree", [3])


def test_a_sample_of_points_is_said_to_be_one() -> None:
    """Entries are counted over all points; the one NaN among a thousand and the kink at 0 are looked at."""
    x = np.linspace(-1, 1, 1001)
    answer = Function("relu(x)").grad({"x": x}, points_of=["x"])
    assert (check_of(answer).entries, check_of(answer).checked, check_of(answer).verdict) == (1001, 16, "kink")
    assert check_of(answer).chosen == "16 of 1,001 points: kinks, first, last, extremes and a random rest, seed 0"
    assert [f.point for f in check_of(answer).findings] == [500]
    x[700] = -3
    answer = Function("log(x + 2)").grad({"x": x}, points_of=["x"])
    assert [(f.point, f.verdict) for f in check_of(answer).findings] == [(700, "undefined")]


def test_a_hundred_thousand_points_are_no_more_work_than_two() -> None:
    """One backward pass for each row of the Jacobian, whatever the points; the same as NumPy's."""
    x = np.random.default_rng(0).normal(size=(100_000, 3))
    function = Function("[sum(x**2), prod(x)]")
    function.jacobian({"x": x[:2]}, points_of=["x"])
    few = calls(lambda: function.jacobian({"x": x[:2]}, points_of=["x"]))
    with counted() as work:
        answer = function.jacobian({"x": x}, points_of=["x"])
    assert work.calls < 4 * few
    assert answer.jacobian is not None
    products = np.stack([x[:, 1] * x[:, 2], x[:, 0] * x[:, 2], x[:, 0] * x[:, 1]], axis=1)
    np.testing.assert_allclose(answer.jacobian["x"], np.stack([2 * x, products], axis=1), rtol=1e-15)
    assert (check_of(answer).verdict, check_of(answer).entries) == ("agree", 600_000)


def test_sizes_in_the_text_are_those_of_one_point() -> None:
    """And one point is a point, an empty y is an empty answer."""
    assert Function("x.sum()/len(x)").eval({"x": np.ones((7, 2))}, points_of=["x"]).value.tolist() == [1] * 7
    single = Function("x**2").jacobian({"x": [[1, 2]]}, points_of=["x"])
    assert (single.points, single.value.shape, single.remarks) == (1, (1, 2), ())
    empty = Function("x[2:]").jacobian({"x": [[1, 2], [3, 4]]}, points_of=["x"])
    assert empty.jacobian is not None
    assert empty.jacobian["x"].shape == (2, 0, 2)


def test_what_takes_too_long_is_refused_before_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the elements of all lines, and by the products of matrices."""
    monkeypatch.setattr(questions, "MOST_WORK", 100)
    with pytest.raises(GradcliError, match="50 points are too many for this expression; it is computed at 33 at most"):
        Function("x**2").eval({"x": np.ones(50)}, points_of=["x"])
    monkeypatch.undo()
    monkeypatch.setattr(questions, "MAX_PRODUCTS", 100)
    with pytest.raises(GradcliError, match="it is computed at 16 at most"):
        Function("A@x").eval({"A": np.ones((2, 3)), "x": np.ones((17, 3))}, points_of=["x"])


def test_a_narrow_terminal_has_a_paragraph_a_point() -> None:
    """No number is broken in two; the ends of many points, in ASCII where there is no more."""
    x = np.linspace(0, 1, 40).reshape(20, 2) + 1 / 3
    answer = Function("[x[0]*x[1], x[0]]").jacobian({"x": x}, points_of=["x"], check=False)
    shown = rendered(answer, "full", Screen(width=40, ascii=True))
    assert max(map(len, shown.splitlines())) <= 40
    assert all(repr(number) in shown for number in (*x[:3].ravel().tolist(), *x[-3:].ravel().tolist()))
    assert "\n    1, 0\n...\npoint 17\n" in shown
    assert "│ 17    │" in rendered(answer, "full", Screen())


# -- structure and remarks


STRUCTURES: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("x**2", {"x": "arange(6).view(2,3)"}, {"x": "diagonal"}),
    ("3*a + 2*b*b + log(c)", {"a": "1,2", "b": "3,4", "c": "5,6"}, {"a": "diagonal", "b": "diagonal", "c": "diagonal"}),
    ("where(x > 0, x, a*x**3)", {"x": "1,-2", "a": 2}, {"x": "diagonal"}),
    *((text, {"x": "[[1,2],[3,4]]"}, {}) for text in ("x.T", "x + x.T")),
    *((text, {"x": "1,2,3"}, {}) for text in ("cumsum(x)", "flip(x, 0)", "softmax(x)", "x + x[0]", "sum(x**2)")),
]


@pytest.mark.parametrize(("text", "at", "expected"), STRUCTURES)
def test_the_structure_is_said_where_the_formula_shows_it(
    text: str, at: dict[str, Any], expected: dict[str, str]
) -> None:
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
