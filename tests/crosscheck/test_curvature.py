"""Second derivatives and Jacobian-vector products against their judge, which is proved able to fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from gradcli.crosscheck.compare import Truths
from gradcli.crosscheck.judge import Judgement
from gradcli.crosscheck.point import SecondDerivatives
from gradcli.crosscheck.second_derivatives import (
    ALL_ROWS,
    judge_derived,
    truths_of,
)
from gradcli.reference.tangent import direction_name
from gradcli.results import Entry
from tests.crosscheck.curvatures import Second
from tests.examples import examples
from tests.parsing import parse
from tests.programs import Random, programs

Array = np.ndarray[Any, Any]

_X = np.array([0.5, -1.5, 2.0])
_A = np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 4.0], [2.0, 0.0, 1.0]])
_S = np.exp(_X) / np.exp(_X).sum()


def _inverse_rule(matrix: Array) -> Array:
    """∂²det/∂A[p,q]∂A[r,s] = det * (inv[q,p] inv[s,r] - inv[q,r] inv[s,p]), Jacobi's formula once more."""
    inverse = np.linalg.inv(matrix)
    both = np.einsum("qp,sr->pqrs", inverse, inverse) - np.einsum("qr,sp->pqrs", inverse, inverse)
    return np.asarray(np.linalg.det(matrix) * both)


_OF_ORDER_TWO = np.zeros((2, 2, 2, 2))
_OF_ORDER_TWO[0, 0, 1, 1] = _OF_ORDER_TWO[1, 1, 0, 0] = 1
_OF_ORDER_TWO[0, 1, 1, 0] = _OF_ORDER_TWO[1, 0, 0, 1] = -1

HESSIANS: list[tuple[str, dict[str, Any], dict[tuple[str, str], Any]]] = [
    ("x@A@x", {"x": _X, "A": _A}, {("x", "x"): _A + _A.T, ("A", "A"): np.zeros((3, 3, 3, 3))}),
    (
        "(1-x)**2 + 100*(z-x**2)**2",
        {"x": 1.5, "z": 0.5},
        {("x", "x"): 2 - 400 * (0.5 - 3 * 1.5**2), ("x", "z"): -600.0, ("z", "x"): -600.0, ("z", "z"): 200.0},
    ),
    ("logsumexp(x)", {"x": _X}, {("x", "x"): np.diag(_S) - np.outer(_S, _S)}),
    ("x**3*y", {"x": 2.0, "y": 3.0}, {("x", "x"): 36.0, ("x", "y"): 12.0, ("y", "x"): 12.0, ("y", "y"): 0.0}),
    ("det(A)", {"A": _A}, {("A", "A"): _inverse_rule(_A)}),
    ("det(A)", {"A": [[1.0, 2.0], [2.0, 4.0]]}, {("A", "A"): _OF_ORDER_TWO}),
    ("norm(x)", {"x": [3.0, 4.0]}, {("x", "x"): np.array([[16, -12], [-12, 9]]) / 125}),
    ("sum(x**3)", {"x": _X}, {("x", "x"): np.diag(6 * _X)}),
    ("prod(x)", {"x": [2.0, 0.0, 5.0]}, {("x", "x"): [[0, 5, 0], [5, 0, 2], [0, 2, 0]]}),
    ("prod(x)", {"x": [2.0, 3.0, 5.0]}, {("x", "x"): [[0, 5, 3], [5, 0, 2], [3, 2, 0]]}),
    (
        "sum(prod(A, dim=1))",
        {"A": [[2.0, 3.0], [5.0, 7.0], [0.1, 0.3]]},
        {("A", "A"): np.einsum("ik,jl->ijkl", np.eye(3), 1 - np.eye(2))},
    ),
    ("[[7*x]]", {"x": [2.0]}, {("x", "x"): [[0.0]]}),
    (
        "w[0]*w[1]**2 + s",
        {"w": [2.0, 3.0], "s": [[1.0]]},
        {("w", "w"): [[0, 6], [6, 4]], ("s", "w"): np.zeros((1, 1, 2))},
    ),
]


def _known(found: Judgement) -> Any:
    """The truths by block."""
    assert isinstance(found.evidence, Truths)
    return found.evidence.blocks


@pytest.mark.parametrize(("text", "at", "truth"), HESSIANS, ids=lambda value: value if isinstance(value, str) else "")
def test_the_known_truths_are_the_hand_derived_ones(
    text: str, at: dict[str, Any], truth: dict[tuple[str, str], Any]
) -> None:
    """With torch's numbers beside them, and without."""
    second = Second(text, at)
    found = second.judged_hessian()
    assert found.check.checked == found.check.entries
    assert found.check.verdict in ("agree", "inaccurate")
    for key, block in truth.items():
        wanted = np.asarray(block, dtype=float)
        known = np.full(wanted.shape, np.nan)
        for (row, column), ball in _known(found)[key].items():
            known[row + column] = float(ball.mid())
        np.testing.assert_allclose(known, wanted, rtol=1e-13, atol=1e-13)
        for (row, column), ball in truths_of("hessian", second.point, {}, second.wrt, 128).blocks[key].items():
            np.testing.assert_allclose(float(ball.mid()), wanted[row + column], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("case", [c for c in HESSIANS if c[2].get(("A", "A")) is not _OF_ORDER_TWO], ids=lambda c: c[0])
def test_a_wrong_hessian_is_caught(case: tuple[str, dict[str, Any], Any]) -> None:
    """Every entry of the first block wrong by a millionth, and the gradient.

    By torch's way to the Hessian of a singular determinant, anything may be rounding.
    """
    second = Second(case[0], case[1])
    found = second.judged_hessian(lambda block: block + 1e-6 * (1 + np.abs(block)))
    assert found.check.verdict == "disagree"
    assert found.check.findings[0].of == "hessian"
    found = second.judged_hessian(of_gradient=lambda gradient: gradient + 1e-6 * (1 + np.abs(gradient)))
    assert found.check.verdict == "disagree"
    assert found.check.findings[0].of == "gradient"
    assert found.check.findings[0].row is None


@pytest.mark.parametrize(
    ("text", "at", "u"),
    [
        ("x**2", {"x": [1.0, 2.0]}, {"x": [1.0, -1.0]}),
        ("A@x", {"A": _A, "x": _X}, {"x": [1.0, 2.0, 3.0]}),
        ("A@x", {"A": _A, "x": _X}, {"x": [1.0, 2.0, 3.0], "A": _A.T}),
        ("softmax(x)", {"x": _X}, {"x": [1.0, 2.0, 3.0]}),
        ("sin(x)", {"x": 1.0}, {"x": 2.0}),
    ],
)
def test_a_jacobian_vector_product_is_judged(text: str, at: dict[str, Any], u: dict[str, Any]) -> None:
    """Torch's agrees, one wrong by a millionth does not, and the truths are J times u."""
    second = Second(text, at)
    found = second.judged_jvp(u)
    assert (found.check.verdict, found.check.proven) == ("agree", True)
    assert found.check.checked == found.check.entries == second.y.numel()
    wrong = second.judged_jvp(u, lambda jvp: jvp * (1 + 1e-6)).check
    assert wrong.verdict == "disagree"
    assert (wrong.findings[0].of, wrong.findings[0].variable) == ("jvp", None)
    product = second.product(second.direction(u))
    for known in (_known(found), truths_of("jvp", second.point, second.direction(u), (), 128).blocks):
        for (row, column), ball in known["", ""].items():
            assert column == ()
            np.testing.assert_allclose(float(ball.mid()), product[row], rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "at", "u", "truth"),
    [
        ("x@A@x", {"x": _X, "A": _A}, {"x": [1.0, 2.0, 3.0]}, {"x": (_A + _A.T) @ [1.0, 2.0, 3.0]}),
        ("x**3*y", {"x": 2.0, "y": 3.0}, {"y": 5.0}, {"x": 60.0, "y": 0.0}),
        ("logsumexp(x)", {"x": _X}, {"x": 1.0}, {"x": np.zeros(3)}),
        ("[[sum(x**3)]]", {"x": _X}, {"x": [1.0, 0.0, 2.0]}, {"x": 6 * _X * [1.0, 0.0, 2.0]}),
    ],
)
def test_a_hessian_vector_product_is_judged(
    text: str, at: dict[str, Any], u: dict[str, Any], truth: dict[str, Any]
) -> None:
    """As the Jacobian-vector product is."""
    second = Second(text, at)
    found = second.judged_hvp(u)
    assert found.check.verdict in ("agree", "inaccurate")
    assert found.check.checked == found.check.entries
    wrong = second.judged_hvp(u, lambda hvp: hvp + 1e-6 * (1 + abs(hvp))).check
    assert wrong.verdict == "disagree"
    assert (wrong.findings[0].of, wrong.findings[0].row) == ("hvp", None)
    for known in (_known(found), truths_of("hvp", second.point, second.direction(u), second.wrt, 128).blocks):
        for name, wanted in truth.items():
            for (row, column), ball in known["", name].items():
                assert row == ()
                np.testing.assert_allclose(float(ball.mid()), np.asarray(wanted)[column], rtol=1e-13, atol=1e-13)


def _first(text: str, at: dict[str, Any]) -> tuple[str, Entry]:
    check = Second(text, at).judged_hessian().check
    return check.verdict, next(f for f in check.findings if f.of == "hessian")


@pytest.mark.parametrize(
    ("text", "at", "verdict", "sides"),
    [
        ("relu(x)**2", 0.0, "kink", (0.0, 2.0)),
        ("x*abs(x)", 0.0, "kink", (-2.0, 2.0)),
        ("abs(x)", 0.0, "kink", (0.0, 0.0)),
        ("where(x > 1, x**2, 2*x - 1)", 1.0, "kink", (0.0, 2.0)),
        ("huber_loss(x, 0)", 1.0, "kink", (1.0, 0.0)),
        ("where(x > 0, sqrt(x), 0)", -1.0, "nan-trap", None),
        ("sqrt(x**4)", 0.0, "nan-trap", None),
        ("sinc(x)", 0.0, "nan-trap", None),
        ("exp(x)/exp(x)", 1000.0, "nan-trap", None),
        ("sin(x)/x", 0.0, "removable", None),
        ("x**2/x", 0.0, "removable", None),
        ("sqrt(x)", 0.0, "undefined", None),
        ("x**1.5", 0.0, "undefined", None),
        ("x**2.5", 0.0, "undefined", None),
        ("log(x)", -1.0, "undefined", None),
        ("abs(x)**2", 0.0, "disagree", None),
        ("softplus(x)", 21.0, "inaccurate", None),
        ("(1-cos(x))/x**2", 1e-8, "inaccurate", None),
        ("sigmoid(x)", 25.0, "inaccurate", None),
        ("expm1(-x**4)", 2.13, "inaccurate", None),
        ("logsigmoid(x)", 25.0, "inaccurate", None),
        ("silu(x)", 28.0, "inaccurate", None),
    ],
)
def test_second_derivatives_have_the_verdicts_of_first_ones(
    text: str, at: float, verdict: str, sides: tuple[float, float] | None
) -> None:
    """Kinks of the gradient, traps, limits, and where there is nothing."""
    worst, finding = _first(text, {"x": at})
    assert (worst, finding.verdict) == (verdict, verdict)
    assert (finding.by, finding.variable, finding.row, finding.column) == ("x", "x", (), ())
    if sides is not None:
        assert finding.one_sided == pytest.approx(sides, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("where(x > 0, x**3, 0)", 0.0),
        ("abs(x)**3", 0.0),
        ("i1(x)", 0.0),
        ("where(x > 0, x**2.5, 0)", 0.0),
        ("maximum(x, x)**2", 1.0),
        ("floor(x)*x**2", 1.5),
        ("x*detach(x)", 2.0),
    ],
)
def test_what_is_smooth_twice_agrees(text: str, at: float) -> None:
    """A cut without a jump of the first two derivatives."""
    assert Second(text, {"x": at}).judged_hessian().check.verdict == "agree"


def test_where_the_gradient_has_a_kink_nobody_is_wrong_about_its_slope() -> None:
    """Of relu(x)*y, the slope by x at 0 has the slope of either side by y; torch takes 0 for both."""
    second = Second("relu(x)*y**2", {"x": 0.0, "y": 2.0})
    check = second.judged_hessian().check
    assert check.verdict == "kink"
    (mixed,) = [f for f in check.findings if f.variable == "y" and f.of == "hessian"]
    assert (mixed.verdict, mixed.reference, mixed.one_sided) == ("kink", None, None)
    assert mixed.note == "the gradient has a kink here, and torch picked 0 for it"
    smooth = Second("relu(x)*y**2", {"x": 1.0, "y": 2.0})
    assert smooth.judged_hessian(lambda block: block + 1e-6).check.verdict == "disagree"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_product_that_underflows_loses_its_slopes_to_rounding(dtype: Any) -> None:
    """Torch divides what is left of it, nothing, by each element."""
    tiny = 1e-200 if dtype == "float64" else 1e-30
    second = Second("prod(x)", {"x": [tiny, tiny]}, dtype)
    check = second.judged_hessian().check
    assert check.verdict == "inaccurate"
    assert {f.note for f in check.findings} == {
        f"0 of {16 if dtype == 'float64' else 7} digits survive the rounding of {dtype}"
    }
    assert {f.of for f in check.findings} == {"gradient", "hessian"}


def test_a_limit_is_the_second_derivative_where_the_gradient_exists() -> None:
    """Of sqrt(x**4) = x**2, at 0."""
    _, finding = _first("sqrt(x**4)", {"x": 0.0})
    assert finding.reference == pytest.approx(2.0)
    _, finding = _first("sin(x)/x", {"x": 0.0})
    assert finding.reference == pytest.approx(-1 / 3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_at_a_kink_the_product_has_the_derivatives_along_u_and_against_it(sign: float) -> None:
    """|x| at 0, and the maximum of two that tie."""
    check = Second("abs(x)", {"x": 0.0}).judged_jvp({"x": sign}).check
    assert (check.verdict, check.findings[0].one_sided, check.proven) == ("kink", (-1.0, 1.0), True)
    tied = Second("maximum(x, z)", {"x": 1.0, "z": 1.0})
    assert tied.judged_jvp({"x": sign, "z": sign}).check.verdict == "agree"
    check = tied.judged_jvp({"x": 2 * sign, "z": -3 * sign}).check
    assert check.findings[0].one_sided == ((-3.0, 2.0) if sign > 0 else (-2.0, 3.0))


def test_a_function_without_a_value_has_no_product() -> None:
    """And one with a limit has one in the limit."""
    check = Second("log(x)", {"x": -1.0}).judged_jvp({"x": 1.0}).check
    assert [(f.of, f.verdict) for f in check.findings] == [("jvp", "undefined")]
    check = Second("sin(x)/x", {"x": 0.0}).judged_jvp({"x": 1.0}).check
    assert {(f.of, f.verdict) for f in check.findings} == {("", "removable"), ("jvp", "removable")}


def test_variables_without_a_direction_stay() -> None:
    """Though others than u have the names that the check gives to directions, it seems."""
    second = Second("x*t + u", {"x": 2.0, "t": 3.0, "u": 4.0})
    assert second.judged_jvp({"t": 5.0}).check.verdict == "agree"
    assert not direction_name("x").isidentifier()


def test_a_large_hessian_is_sampled_and_says_so() -> None:
    """Eight rows of a thousand; corners and the largest among them."""
    x = np.linspace(-1, 1, 1_000)
    x[500] = 9.0
    second = Second("sum(x**3)", {"x": x})
    hessian = {"x": {"x": np.diag(6 * x)}}
    gradient = {"x": 3 * x**2}
    check = judge_derived(second.point, SecondDerivatives("float64", gradient, hessian), ("x",)).check
    assert (check.verdict, check.entries, check.checked) == ("agree", 1_000_000, 8_000)
    assert check.chosen == "8 of 1,000 rows: corners, extremes and a sample, seed 0"
    for row in (0, 500, 999):
        hessian["x"]["x"][row, row] += 1e-6
        check = judge_derived(second.point, SecondDerivatives("float64", gradient, hessian), ("x",)).check
        assert (check.verdict, check.findings[0].row) == ("disagree", (row,))
        hessian["x"]["x"][row, row] -= 1e-6


def test_up_to_thirty_two_rows_are_all_looked_at() -> None:
    """Of two variables together."""
    second = Second("sum(x)**2*sum(z**2)", {"x": np.ones(20), "z": np.arange(12.0)})
    check = second.judged_hessian().check
    assert (check.checked, check.chosen) == (ALL_ROWS**2, "all")


def test_rows_are_left_out_where_looking_around_takes_too_long() -> None:
    """The logarithm of the norm of nothing has no value; each row is looked at from all sides."""
    check = Second("log(norm(x))", {"x": np.zeros(32)}).judged_hessian().check
    assert check.verdict == "undefined"
    assert "of 32 rows: as many as the budget allows" in check.chosen
    assert check.checked < check.entries


def test_a_sparse_hessian_of_100_000_has_products() -> None:
    """H itself would take 80 GB."""
    check = Second("sum(x**3)", {"x": np.linspace(-1, 1, 100_000)}).judged_hvp({"x": 1.0}).check
    assert (check.verdict, check.entries, check.checked) == ("agree", 100_000, 100_000)


def test_products_of_100_000_elements_are_proved() -> None:
    """The step along u is one number that they all share."""
    check = Second("x**3", {"x": np.linspace(-1, 1, 100_000)}).judged_jvp({"x": 1.0}).check
    assert (check.verdict, check.entries, check.checked) == ("agree", 100_000, 100_000)


def test_what_is_over_the_budget_is_unchecked_and_says_so() -> None:
    """One row needs the sum of all; the gradient too."""
    second = Second("logsumexp(x)", {"x": np.linspace(0, 1, 50_000)})
    u = {"x": np.ones(50_000)}
    check = second.judged_hvp(u).check
    assert (check.verdict, check.checked) == ("unchecked", 0)
    assert check.notes


def test_numbers_in_float32_are_judged_as_such() -> None:
    """To five digits."""
    second = Second("sum(sin(x)*x)", {"x": [1.0, 2.0]}, "float32")
    assert second.judged_hessian().check.verdict == "agree"
    assert second.judged_hessian(lambda block: block * (1 + np.float32(1e-3))).check.verdict == "disagree"
    assert second.judged_hvp({"x": [1.0, 0.5]}).check.verdict == "agree"


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(most=4))
def test_torchs_hessian_of_random_programs_is_not_called_wrong(program: Random) -> None:
    """By autograd twice; where it is at a kink, anything may be."""
    assume(not program.is_at_kink)
    y = program.nodes[-1]
    text = program.text if y.value.numel() == 1 else "; ".join([*program.statements, f"sum({y.name}*cos({y.name}))"])
    second = Second(text, {n: leaf.numpy(force=True) for n, leaf in program.leaves.items() if n in parse(text).names})
    assert second.judged_hessian().check.verdict in ("agree", "inaccurate")
    u = {name: np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape) for name, shape in second.shapes.items()}
    if u:
        assert second.judged_hvp(u).check.verdict in ("agree", "inaccurate")
        assert second.judged_jvp(u).check.verdict in ("agree", "inaccurate")


def test_a_slope_that_exists_does_not_jump_along_its_own_direction() -> None:
    """The sum of maximum(x, 0) and minimum(x, 0) is x, though their tangents at 0 add up to 2; abs(x)*x has a kink."""
    straight = Second("maximum(x, 0) + minimum(x, 0)", {"x": 0.0})
    assert straight.judged_hessian().check.verdict == "agree"
    assert straight.judged_hvp({"x": np.array(2.0)}).check.verdict == "agree"
    assert Second("abs(x)*x", {"x": 0.0}).judged_hessian().check.verdict == "kink"
