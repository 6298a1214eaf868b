"""Jacobian-vector products, Hessians and Hessian-vector products from the text to the verdict."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

from gradcli import Function
from gradcli.crosscheck import formulas
from gradcli.errors import InputError, TooLargeError
from gradcli.results import HVP, JVP, Check, Hessian
from gradcli.symbolic.derivative import Derivative
from tests.checks import check_of
from tests.cli.test_hostile import ANSWERED, bounded
from tests.conftest import Command
from tests.examples import examples, in_turn, part
from tests.test_random import X, Y, expressions, points
from tests.work import counted

_A = np.array([[2.0, -1.0, 0.5], [3.0, 1.0, -2.0], [0.0, 4.0, 1.5]])
_X = np.array([0.5, -1.0, 2.0])
_EPS = np.array([[0, 1], [-1, 0]])
_S = np.exp(_X) / np.exp(_X).sum()

HESSIANS: list[tuple[str, dict[str, Any], dict[tuple[str, str], Any]]] = [
    ("x**3", {"x": 2.0}, {("x", "x"): 12.0}),
    ("x**2", {"x": [3.0]}, {("x", "x"): [[2.0]]}),
    ("sum(x**3)", {"x": _X}, {("x", "x"): np.diag(6 * _X)}),
    ("x@A@x", {"x": _X, "A": _A}, {("x", "x"): _A + _A.T, ("A", "A"): np.zeros((3, 3, 3, 3))}),
    (
        "(1 - x[0])**2 + 100*(x[1] - x[0]**2)**2",
        {"x": [1.0, 1.0]},
        {("x", "x"): [[802.0, -400.0], [-400.0, 200.0]]},
    ),
    ("logsumexp(x)", {"x": _X}, {("x", "x"): np.diag(_S) - np.outer(_S, _S)}),
    ("x**3*y", {"x": 2.0, "y": 5.0}, {("x", "x"): 60.0, ("x", "y"): 12.0, ("y", "x"): 12.0, ("y", "y"): 0.0}),
    (
        "norm(x)",
        {"x": [3.0, 4.0]},
        {("x", "x"): [[16 / 125, -12 / 125], [-12 / 125, 9 / 125]]},
    ),
    ("prod(x)", {"x": [2.0, 4.0, 8.0]}, {("x", "x"): [[0, 8, 4], [8, 0, 2], [4, 2, 0]]}),
    ("prod(x)", {"x": [2.0, 0.0, 5.0]}, {("x", "x"): [[0, 5, 0], [5, 0, 2], [0, 2, 0]]}),
    ("det(A)", {"A": [[1.0, 2.0], [3.0, 4.0]]}, {("A", "A"): np.einsum("ik,jl->ijkl", _EPS, _EPS)}),
    ("sum(A@x)", {"A": _A, "x": _X}, {("A", "x"): np.broadcast_to(np.eye(3), (3, 3, 3))}),
    ("sum(relu(x)**2)", {"x": [-1.0, 2.0]}, {("x", "x"): [[0, 0], [0, 2]]}),
    ("sum(x) + 0*w", {"x": _X, "w": 1.0}, {("x", "x"): np.zeros((3, 3)), ("w", "x"): np.zeros(3), ("w", "w"): 0.0}),
    ("sum(x)", {"x": np.zeros(0)}, {("x", "x"): np.zeros((0, 0))}),
]  # fmt: skip
"""Hand-derived."""


def _agrees(check: Check | None) -> bool:
    return check is not None and check.verdict == "agree"


@pytest.mark.parametrize(("text", "at", "blocks"), HESSIANS, ids=[text for text, _, _ in HESSIANS])
@pytest.mark.one_in(2)
def test_a_hessian_is_the_hand_derived_one(text: str, at: dict[str, Any], blocks: dict[tuple[str, str], Any]) -> None:
    """Numbers, shapes and symmetry."""
    answer = Function(text).hessian(at)
    for (row, column), expected in blocks.items():
        np.testing.assert_allclose(answer.hessian[row][column], expected, rtol=1e-13, atol=1e-13)
    for (row, a), (column, b) in itertools.product(at.items(), repeat=2):
        block, other = answer.hessian[row][column], answer.hessian[column][row]
        assert block.shape == np.shape(a) + np.shape(b)
        turned = np.moveaxis(other, range(np.ndim(b)), range(-np.ndim(b), 0))
        np.testing.assert_allclose(block, turned, rtol=1e-13, atol=1e-13)


NOT_EMPTY = [(text, at) for text, at, _ in HESSIANS if np.size(at["x" if "x" in at else "A"])]


@pytest.mark.parametrize(("text", "at"), NOT_EMPTY, ids=[text for text, _ in NOT_EMPTY])
@pytest.mark.one_in(2)
def test_a_hessian_agrees_and_hu_is_its_product_with_u(text: str, at: dict[str, Any]) -> None:
    """With a formula for every block."""
    answer = Function(text).hessian(at)
    assert _agrees(answer.check)
    assert {(a, b) for a, found in answer.symbolic.items() for b in found} == {(a, b) for a in at for b in at}
    generator = np.random.default_rng(5)
    u = {name: generator.uniform(-1, 1, np.shape(value)) for name, value in at.items()}
    product = Function(text).hvp(at, u)
    for row in at:
        expected = sum(np.tensordot(answer.hessian[row][b], u[b], np.ndim(u[b])) for b in at)
        np.testing.assert_allclose(product.hvp[row], expected, rtol=1e-12, atol=1e-12)
    assert _agrees(product.check)
    assert set(product.symbolic) == set(at)


def test_a_jacobian_vector_product_is_the_jacobian_times_u() -> None:
    """All variables moving, one held constant, components, and the default of a single element."""
    at = {"A": _A, "x": _X}
    answer = Function("A@x").jvp(at, {"A": "ones", "x": "e1"})
    np.testing.assert_allclose(answer.jvp, _X.sum() + _A[:, 1])
    assert _agrees(answer.check)
    assert answer.symbolic is not None
    assert answer.symbolic.text == "Sum(A[i, k]*u_x[k] + u_A[i, k]*x[k], (k, 0, 2))"
    np.testing.assert_allclose(Function("A@x").jvp(at, {"A": "e0_2"}).jvp, [2.0, 0, 0])
    np.testing.assert_allclose(Function("A@x").jvp(at, "ones", wrt=["x"]).jvp, _A.sum(1))
    assert Function("x**2 + z").jvp({"x": 3, "z": 4}, wrt=["x"]).jvp == 6
    assert Function("x**2").jvp({"x": [3]}).jvp.tolist() == [6]
    assert Function("x**2").jvp({"x": np.zeros((0, 3))}, "ones").jvp.shape == (0, 3)
    assert Function("sum(x**2)").hvp({"x": np.zeros(0)}, "ones").hvp["x"].shape == (0,)
    assert Function("[1, 2] + 0*floor(x)").jvp({"x": 3}).jvp.tolist() == [0, 0]


def test_names_of_directions_are_not_those_of_the_user() -> None:
    """A variable called u keeps its name."""
    answer = Function("u*x").jvp({"u": 2, "x": 3}, {"x": 1})
    assert answer.symbolic is not None
    assert answer.symbolic.text == "u*u_x"
    both = Function("u_x*x*u").hvp({"u": 2, "x": 3, "u_x": 5}, {"x": 1, "u": 1})
    assert both.symbolic["u_x"].text == "u*u_x_ + u_u*x"
    assert _agrees(both.check)


@settings(max_examples=examples(60), deadline=None)
@given(pair=expressions, x=points, y=points)
def test_second_derivatives_meet_sympy(pair: tuple[str, sympy.Expr], x: float, y: float) -> None:
    """Random expressions, whose Hessian SymPy finds in its own way."""
    text, expression = pair
    at = {"x": x, "y": y}
    answer = Function(f"{text} + 0*x + 0*y").hessian(at)
    truth = sympy.hessian(expression, (X, Y)).subs({X: sympy.Float(x, 30), Y: sympy.Float(y, 30)}).evalf(20)
    for i, a in enumerate("xy"):
        for j, b in enumerate("xy"):
            np.testing.assert_allclose(float(answer.hessian[a][b]), float(truth[i, j]), rtol=1e-8, atol=1e-9)
    assert check_of(answer).verdict in ("agree", "inaccurate"), check_of(answer)
    assert not any("formula is wrong" in finding.note for finding in check_of(answer).findings)


def test_float32_is_judged_by_its_own_rounding() -> None:
    """Numbers of that dtype, and the verdict for them."""
    answer = Function("sum(exp(x)*z)").hvp({"x": [0.1, 0.2], "z": 3}, {"x": [1, 2]}, dtype="float32")
    arrays = (*answer.hvp.values(), *answer.grad.values(), *answer.u.values())
    assert {array.dtype for array in arrays} == {np.dtype("float32")}
    assert _agrees(answer.check)
    assert _agrees(Function("sum(exp(x)*z)").hessian({"x": [0.1, 0.2], "z": 3}, dtype="float32").check)
    assert _agrees(Function("exp(x)").jvp({"x": [0.1, 0.2]}, "ones", dtype="float32").check)


def _verdict(answer: JVP | Hessian | HVP) -> str:
    return check_of(answer).verdict


def test_a_formula_has_no_slope_of_a_kink() -> None:
    """The second derivative of sinc has no closed form that holds at 0, and that of |x| is 0 elsewhere."""
    answer = Function("x*sinc(x)").hessian({"x": 0.0})
    assert "at 0" in answer.symbolic_omitted["x"]["x"]
    assert Function("sqrt(x**2)*x").hessian({"x": -2.0}).symbolic["x"]["x"].text == "2*sign(x)"


def test_a_wrong_formula_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A derivation that loses a factor is found at the point, and the check says so."""

    def broken(derive: Any) -> Any:
        def derived(*arguments: Any) -> Derivative:
            found: Derivative = derive(*arguments)
            cases = tuple((chosen, expression * sympy.Rational(1001, 1000)) for chosen, expression in found.cases)
            return replace(found, cases=cases)

        return derived

    for name in ("jvp", "hessian", "hvp"):
        monkeypatch.setattr(formulas, name, broken(getattr(formulas, name)))
    f = Function("sum(x**3)*z")
    at: dict[str, Any] = {"x": [1.0, 2.0], "z": 3.0}
    jvp, hessian, hvp = f.jvp(at, {"z": 1}), f.hessian(at), f.hvp(at, {"x": "ones"})
    assert (jvp.symbolic, dict(hessian.symbolic)) == (None, {"z": {"z": hessian.symbolic["z"]["z"]}})
    assert "the truth is" in jvp.symbolic_omitted
    assert not hvp.symbolic
    for answer in (jvp, hessian, hvp):
        assert _verdict(answer) == "disagree"
        assert all(finding.of == answer.command for finding in check_of(answer).findings)


REFUSED = [
    ("x**2", "jvp", ({"x": [1, 2]}, [1, 2, 3]), InputError, "u has shape"),
    ("x*z", "jvp", ({"x": 1, "z": 2}, 1.0), InputError, "u names no variable"),
    ("x**2", "jvp", ({"x": [1, 2]}, {"": "e0", "x": "e1"}), InputError, "two directions"),
    ("x**2", "hvp", ({"x": [1, 2]}, "e0"), InputError, "needs a y of one element"),
    ("sum(x)**2", "hessian", ({"x": np.zeros(20_000)},), TooLargeError, r"3\.0 GiB"),
]


@pytest.mark.parametrize(("text", "method", "given", "error", "message"), REFUSED)
def test_python_says_what_is_wrong(text: str, method: str, given: Any, error: type[Exception], message: str) -> None:
    """The errors of the shell, without torch."""
    with pytest.raises(error, match=message):
        getattr(Function(text), method)(*given)


TOWERS = bounded(500, 150, 12)


@pytest.mark.parametrize(("number", "command"), in_turn(part(range(len(TOWERS)), 0, of=2), "hessian", "hvp"))
@pytest.mark.one_in(4)
def test_text_that_is_large_is_answered_or_refused(command: str, number: int, gradcli: Command) -> None:
    """Second derivatives of towers and doublings: bounded work, and an exit code that is one of ours."""
    with counted() as work:
        run = gradcli(command, TOWERS[number], "--at", "x=0.5", "--json")
    assert run.code in (0, 2), run.err
    assert work.calls < ANSWERED / 2


@pytest.mark.parametrize("count", [30, pytest.param(200, marks=pytest.mark.thorough)])
def test_a_product_of_many_factors_has_no_formula_that_grows(count: int) -> None:
    """Of n factors, a second derivative has n*n terms of n factors: what is too long is not built."""
    with counted() as work:
        answer = Function("*".join(f"sin({n + 1}*x)" for n in range(count))).hessian({"x": 0.3})
    assert "terms" in answer.symbolic_omitted["x"]["x"]
    assert work.calls < ANSWERED
