"""Products of Hessians with directions, on balls, against torch's; and what is met where it is not smooth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.crosscheck.point import Point
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind
from gradcli.reference.balls import exists
from gradcli.reference.duals import Reference
from gradcli.reference.second_order import HessianProducts, is_met
from tests.parsing import parse

SMOOTH: dict[str, dict[str, tuple[int, ...]]] = {
    "sum(exp(x*y)/x)": {"x": (3,), "y": (3,)},
    "sum(atan2(x, y)*y**x)": {"x": (2,), "y": (2,)},
    "sum(x**3*y[0]) - sinc(x[1])*lgamma(y[1])": {"x": (2,), "y": (2,)},
    "prod(x)*sum(x**3)": {"x": (4,)},
    "sum(cumprod(x)*x)": {"x": (4,)},
    "sum(cumsum(x**2)*stack([x[1], x[0]*x[2], 2, x[3]]))": {"x": (4,)},
    "det(A)**2": {"A": (3, 3)},
    "sum(inv(A)*A.T)": {"A": (3, 3)},
    "sum(eigvalsh(A + A.T)**3*arange(3))": {"A": (3, 3)},
    "sum(matrix_exp(A)**2)": {"A": (2, 2)},
    "logsumexp(A@x)*norm(x)": {"A": (3, 2), "x": (2,)},
    "amax(x)**2*sum(softmax(x)**2)": {"x": (4,)},
    "relu(x[0])*relu(-x[1]) + where(x[2] > 0, x[2]**3, 0)": {"x": (3,)},
    "x[0]*detach(x[1])**2": {"x": (2,)},
}


def _products(text: str, at: Mapping[str, Any]) -> HessianProducts:
    program = parse(text)
    point = Point.of(program, {s: at[str(s)].shape for s in program.variables}, at)
    return HessianProducts(Reference(point.program, point.shapes, point.inputs), 128)


@pytest.mark.parametrize("text", SMOOTH)
def test_products_are_those_of_torch(text: str) -> None:
    """Of each unit direction, and so of all."""
    rng = np.random.default_rng(0)
    at = {name: rng.random(shape) + 0.5 for name, shape in SMOOTH[text].items()}
    hessian = Function(text).hessian(at, check=False).hessian
    products = _products(text, at)
    assert not products.met
    for by in products.reference.program.variables:
        for i in range(at[str(by)].size):
            found = products.along({(by, i): 1.0})
            for x in products.reference.program.variables:
                truth = np.reshape(hessian[str(by)][str(x)], (at[str(by)].size, -1))[i]
                own = [float(found.get((x, j), 0)) for j in range(truth.size)]
                assert own == pytest.approx(truth.tolist(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("op", sorted({op.name for op in ops.TABLE.values() if op.kind is Kind.ELEMENTWISE}))
def test_every_elementwise_operation_bends_as_torch_has_it(op: str) -> None:
    """At its worked example, moved a little off round numbers."""
    text, values = ops.TABLE[op].worked_example
    text = f"sum({text})"
    function = Function(text)
    at = {name: read_value(value, "--at") + 0.01 for name, value in values.items()}
    held = ops.TABLE[op].buffers  # such as what torch has no derivative by
    u = {name: np.full(at[name].shape, 1.5) for name in function.variables if name not in held}
    truth = function.hvp(at, u, check=False).hvp
    products = _products(text, at)
    moving = [s for s in products.reference.program.variables if str(s) in u]
    found = products.along({(s, j): 1.5 for s in moving for j in range(at[str(s)].size)})
    for x in moving:
        own = [float(found.get((x, j), 0)) for j in range(at[str(x)].size)]
        assert own == pytest.approx(np.ravel(truth[str(x)]).tolist(), rel=1e-7, abs=1e-9)


def test_cofactors_of_a_singular_matrix_bend_too() -> None:
    """By hand: the derivative of det([[a, b], [c, d]]) by a and d is 1, by b and c -1."""
    products = _products("det(A)", {"A": np.zeros((2, 2))})
    (a,) = products.reference.program.variables
    assert {j: float(ball) for (_, j), ball in products.along({(a, 0): 1.0}).items() if ball != 0} == {3: 1.0}
    assert {j: float(ball) for (_, j), ball in products.along({(a, 1): 1.0}).items() if ball != 0} == {2: -1.0}


@pytest.mark.parametrize(
    ("text", "at", "met"),
    [
        ("x**2*y", {"x": 0.0, "y": 1.0}, {"xx": None, "xy": None}),
        ("abs(x) + y**3", {"x": 0.0, "y": 1.0}, {"xx": True, "xy": True, "yy": None, "yx": None}),
        ("abs(x)*y", {"x": 0.0, "y": 1.0}, {"xx": True, "xy": True, "yx": True, "yy": False}),
        ("where(x > 0, x, y)", {"x": 0.0, "y": 0.0}, {"xx": True, "xy": True, "yx": True}),
        ("maximum(x, y)", {"x": 1.0, "y": 1.0}, {"xy": True}),
        ("x**1.5*y", {"x": 0.0, "y": 1.0}, {"xx": True}),
        ("eigvalsh([[x, 0*y], [0*y, y]])[0]", {"x": 1.0, "y": 1.0}, {"xy": True}),
        ("where(x > 0, sqrt(x), x**2)*y", {"x": -1.0, "y": 1.0}, {"xx": None, "xy": None}),
        ("amax([abs(x), y])", {"x": 0.0, "y": 1.0}, {"xx": None, "yx": None}),
        ("maximum(x, x)*y", {"x": 0.0, "y": 1.0}, {"xy": None}),
    ],
)
def test_what_is_not_smooth_is_met(text: str, at: dict[str, float], met: dict[str, bool | None]) -> None:
    """By the slope along the first variable, as the second moves; None where the slope meets nothing at all."""
    products = _products(text, {name: np.array(value) for name, value in at.items()})
    by_name = {str(s): (s, 0) for s in products.reference.program.variables}
    found = {pair: is_met(products, by_name[pair[0]], [by_name[pair[1]]]) for pair in met}
    assert found == met


def test_nothing_is_known_where_it_is_met() -> None:
    """The product has no number there."""
    products = _products("abs(x)*x", {"x": np.array(0.0)})
    (x,) = products.reference.program.variables
    assert not any(exists(ball) for ball in products.along({(x, 0): 1.0}).values())


@pytest.mark.parametrize(
    ("text", "second"), [("sinc(x)", -(np.pi**2) / 3), ("x*sinc(x)", 0), ("sinc(2*x)**2", -8 * np.pi**2 / 3)]
)
def test_a_value_of_its_own_is_no_constant(text: str, second: float) -> None:
    """By hand, of 1 - (pi*x)**2/6 + ...: the slope of sinc at 0 is written as a case, which has no slope of its own."""
    products = _products(text, {"x": np.array(0.0)})
    (x,) = products.reference.program.variables
    assert float(products.along({(x, 0): 1.0})[x, 0]) == pytest.approx(second)
    answer = Function(f"sum({text})").hvp({"x": np.zeros(2_000)}, "ones")
    assert answer.check is not None
    assert answer.check.verdict == "nan-trap"
