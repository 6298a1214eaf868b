"""Branches of Python that values decide: torch runs the one that is taken, as Python does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gradcli import Function
from gradcli.errors import GradcliError, TooLargeError

TEXT = """
def f(x):
    if x.sum() > 0:
        y = torch.sqrt(x)
    else:
        y = x**2
    return y.sum()
"""


def test_the_branch_that_is_not_taken_poisons_nothing() -> None:
    """A square root of what is negative would be NaN in a where; the formula has both branches."""
    answer = Function(TEXT).vjp([-1, -2])
    assert answer.vjp["x"].tolist() == [-2, -4]
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    assert "the branch not (x.sum() > 0) was taken; torch ran that alone" in answer.warnings
    assert Function(TEXT).vjp([1, 4]).vjp["x"].tolist() == [0.5, 0.25]


def test_second_derivatives_are_of_that_branch() -> None:
    """Their Program is run for each of them."""
    assert Function(TEXT).hessian([-1, -2]).hessian["x"]["x"].tolist() == [[2, 0], [0, 2]]


def test_each_point_takes_its_own_branch() -> None:
    """Of many points together, and of random ones."""
    answer = Function(TEXT).vjp({"x": [[1, 4], [-1, -2]]}, points_of=["x"])
    np.testing.assert_array_equal(answer.vjp["x"], [[0.5, 0.25], [-2, -4]])
    assert Function("def f(x): return x**2 if x > 0.5 else -x").check(random=20, box={"x": "0..1"}).passed


@pytest.mark.parametrize(
    "text", ["def f(x): return x if x > 0 else x**2", "def f(x):\n if x > 0:\n  return x\n return x**2"]
)
def test_the_boundary_is_a_kink(text: str) -> None:
    """Both sides are in the function that is judged."""
    answer = Function(text).vjp(0)
    assert answer.check is not None
    assert answer.check.verdict == "kink"


# -- what values decide before there is a Program: how often a loop runs, and which elements a mask takes

DOUBLED = "y = x*2\nwhile y.norm() < 1000:\n    y = y*2\ny"


def test_a_loop_runs_as_often_as_the_values_say() -> None:
    """The example of torch's own tutorial; the formula is of so many steps."""
    answer = Function(DOUBLED).vjp([1, 2, 3], [0.1, 1, 1e-4])
    np.testing.assert_allclose(answer.vjp["x"], [51.2, 512, 0.0512], rtol=1e-15)
    assert answer.check is not None
    assert (answer.check.verdict, answer.check.proven) == ("agree", True)
    assert answer.symbolic["x"].text == "512*KroneckerDelta(i, j)"
    assert "'while y.norm() < 1000' ran 8 times: the answer is of so many steps" in answer.warnings
    assert Function(DOUBLED).vjp([1000, 0, 0], "ones").vjp["x"].tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("y = x\nwhile y < 8:\n    y = y*2\ny", 1),
        ("y = x\nwhile 8 - y > 0 and x > 0:\n    y = y*2\ny", 2),
        ("s = 0\nfor v in x:\n    if v > 2:\n        break\n    s = s + v\ns", [1, 2, 3]),
        ("x[x > 0].sum()", [1, 0, -2]),
        ("torch.masked_select(x, x**2 >= 4).sum()", [1, -2]),
        ("y = (x + 1e8) - 1e8\nwhile y > 0.5:\n    y = y/2\nx*y", 1),  # what rounding moves further than a comparison
    ],
)
def test_a_point_where_values_decide_otherwise_beside_it_is_a_kink(text: str, at: Any) -> None:
    """Of first and second derivatives; and none where the variable that decides is held."""
    answer = Function(text).vjp(at)
    assert answer.check is not None
    assert answer.check.verdict == "kink"
    assert any("beside the point" in finding.note for finding in answer.check.findings)
    hessian = Function(text).hessian(at).check
    assert hessian is not None
    assert hessian.verdict == "kink"
    lines, _, last = text.rpartition("\n")
    held = Function(f"{lines}\n({last})*z").vjp({"x": at, "z": 1}, wrt=["z"]).check
    assert held is not None
    assert held.verdict == "agree"


def test_each_random_point_is_read_anew() -> None:
    """Its own number of steps, its own formula, and a claim about it."""
    checked = Function("y = x\nwhile y < 8:\n    y = y*2\ny").check(random=20, box={"x": "0.1..7"})
    assert checked.passed
    assert checked.sampling is not None
    assert set(checked.sampling.verdicts) == {"agree"}
    assert Function("sum(x[x > 0.5]**2)").check(random=10, box={"x": "0,0,0,0..1,1,1,1"}).passed


@pytest.mark.parametrize(
    ("options", "of"),
    [({}, "closed_form"), ({"points_of": ["x"]}, "vjp"), ({"box": {"x": "1..2"}}, "improve")],
)
@pytest.mark.parametrize("text", ["y = x\nwhile y.sum() < 8:\n    y = y*2\nsum(y)", "sum(x[x > 0])"])
def test_without_a_point_there_is_no_such_function(text: str, options: dict[str, object], of: str) -> None:
    """Nor with several: the error says what decides."""
    f = Function(text)
    with pytest.raises(GradcliError, match=r"depends on the values of a tensor|values of variables decide"):
        getattr(f, of)(*([[1.0, 3.0], [2.0, 4.0]],) * ("points_of" in options), **options)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("while x > 0:\n    x = x + 1\nx", 1),
        ("y = x\nwhile y.sum() > 0:\n    y = y*1.001\nsum(y)", np.ones(1_000_000)),
        ("y = x\nwhile y > 0:\n    while y < 5:\n        y = y + 1\n    y = y - 1\ny", 1),
    ],
)
def test_a_loop_that_values_never_end_is_refused(text: str, at: Any) -> None:
    """By a count of what decides, and of what is computed for that."""
    with pytest.raises(TooLargeError, match="values decide too much"):
        Function(text).vjp(at)


def test_random_loops_give_what_torch_gives() -> None:
    """Products, quotients and shifts, until a sum is large enough or a step is the last."""
    generator = np.random.default_rng(0)
    steps = ("y = y*1.5 + x", "y = y + x**2 + 0.1", "y = y*y.abs() + 1", "y = torch.exp(y/9)*2 + y")
    for _ in range(60):
        body = generator.choice(steps, size=2)
        most, least = generator.integers(1, 9), round(float(generator.uniform(2, 60)), 3)
        text = f"y = x\nk = 0\nwhile y.sum() < {least} and k < {most}:\n    {body[0]}\n    if y.max() > {least}:\n"
        text += f"        break\n    {body[1]}\n    k += 1\ny[y > x].sum() + k*x.prod()"
        at = generator.uniform(0, 1, 3).round(3)
        x = torch.tensor(at, requires_grad=True)
        space = {"x": x, "torch": torch}
        lines, _, last = text.rpartition("\n")
        exec(lines, space)
        eval(last, space).backward()
        assert x.grad is not None
        answer = Function(text).vjp(at)
        np.testing.assert_allclose(answer.vjp["x"], x.grad.numpy(), rtol=1e-12, err_msg=text)
        assert answer.check is not None
        assert answer.check.verdict in ("agree", "unchecked"), text


@pytest.mark.parametrize(
    ("text", "at", "claim", "status"),
    [
        ("sum(x[x > 0])", [1, -2], "1.0*(x > 0)", "no counterexample"),
        ("sum(x[x > 0])", [1, -2], "1.0*(x > -3)", "refuted"),
        ("sum(x[x > 0]**2)", [0, 1], "2*relu(x)", "no counterexample"),
        ("y = x\nwhile y < 8:\n    y = y*2\ny", 3, "4", "refuted"),
    ],
)
def test_a_claim_is_held_to_the_function_of_each_point(text: str, at: Any, claim: str, status: str) -> None:
    """What is true of the steps and elements at one point only is no proof, and no refutation."""
    found = Function(text).check(at, claim={"x": claim}).claims
    assert [one.status for one in found] == [status], found


@pytest.mark.parametrize(("at", "verdict"), [(0.5, "kink"), (0.75, "inaccurate"), (0.25, "agree"), (2.0**40, "agree")])
@pytest.mark.parametrize(
    "text",
    [
        "y = x\nwhile (y + 2**60) - 2**60 > 0.5:\n    y = y/2**50\ny",
        "t = x*ones(2)\n(t[(t + 2**60) - 2**60 > 0.5]**2).sum() + x",
    ],
)
def test_what_rounding_decides_is_said(text: str, at: float, verdict: str) -> None:
    """Floats keep nothing of the first three; in exact numbers the second is decided otherwise."""
    check = Function(text).vjp(at).check
    assert check is not None
    assert check.verdict == verdict, check
    said = {"kink": "beside the point, ", "inaccurate": "without rounding, "}.get(verdict, "")
    assert all(one.note.startswith(said) for one in check.findings), check
