"""Directional and second derivatives by torch: J times u for every operation, and Hessians that are known."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from gradcli.autodiff import jacobians
from gradcli.autodiff.run import Forward, run
from gradcli.errors import InputError
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.parsing import parse
from tests import recorded

ROUNDED = {"binary_cross_entropy": 1e-10}
"""Relative errors of torch's own backward pass, which adds 1e-12 to a denominator."""


def _forward(text: str, dtype: str = "float64", **inputs: object) -> Forward:
    arrays = {name: np.asarray(value, dtype=float) for name, value in inputs.items()}
    return run(parse(text), arrays, tuple(inputs), dtype)


@pytest.mark.parametrize("op", ops.TABLE.values(), ids=lambda op: op.name)
def test_a_directional_derivative_is_the_jacobian_times_the_direction(op: ops.Op) -> None:
    """For every operation of the table, at the point of its own example."""
    answer = recorded.page(op.name).example
    shapes = {name: array.shape for name, array in answer.inputs.items()}
    forward = run(parse(answer.expression, shapes=shapes), answer.inputs, answer.wrt, "float64", twice=True)
    generator = np.random.default_rng(3)
    u = {name: generator.uniform(-1, 1, answer.inputs[name].shape) for name in answer.wrt}
    blocks = jacobians.jacobian(forward, answer.wrt)
    expected = sum(np.tensordot(blocks[name], u[name], u[name].ndim) for name in answer.wrt)
    np.testing.assert_allclose(jacobians.jvp(forward, u), expected, rtol=ROUNDED.get(op.name, 1e-13), atol=1e-14)


def test_a_hessian_is_the_jacobian_of_the_gradient() -> None:
    """Rosenbrock at (1, 1), whose Hessian is in every textbook."""
    gradient, blocks = jacobians.hessian(_forward("(1 - x[0])**2 + 100*(x[1] - x[0]**2)**2", x=[1, 1]), ("x",))
    np.testing.assert_array_equal(blocks["x"]["x"], [[802, -400], [-400, 200]])
    np.testing.assert_array_equal(gradient["x"], [0, 0])


@pytest.mark.parametrize("op", ops.TABLE.values(), ids=lambda op: op.name)
def test_a_hessian_has_the_rows_of_hu(op: ops.Op) -> None:
    """For every operation of the table, under a square, at the point of its own example."""
    text, at = op.worked_example
    arrays = {name: read_value(value, "--at") for name, value in at.items()}
    square = parse(f"sum(({text})**2)", shapes={name: array.shape for name, array in arrays.items()})
    wrt = square.differentiable
    forward = run(square, arrays, wrt, "float64", twice=True)
    _, blocks = jacobians.hessian(forward, wrt)
    for name in wrt:
        unit = np.zeros(arrays[name].shape)
        unit.reshape(-1)[-1:] = 1
        _, _, row = jacobians.hvp(forward, {name: unit}, wrt)
        for other in wrt:
            found = blocks[name][other].reshape((-1, *arrays[other].shape))[-1]
            np.testing.assert_allclose(row[other], found, rtol=1e-12, atol=1e-12)


def test_what_torch_knows_to_be_zero_has_numbers() -> None:
    """Torch gives the slope of a sign as a tensor that holds no numbers."""
    forward = _forward("sum(abs(x))", x=[-2, 3])
    np.testing.assert_array_equal(jacobians.hessian(forward, ("x",))[1]["x"]["x"], np.zeros((2, 2)))
    np.testing.assert_array_equal(jacobians.hvp(forward, {"x": np.ones(2)}, ("x",))[2]["x"], [0, 0])


KNOWN_SLOPES = ("abs", "sign", "relu", "floor", "leaky_relu", "hardtanh")
PARTS = ("{f}(amax([y, x, 0]))", "{f}([y, x, 0])[1]", "sum({f}(cat([[x], [y, x]])[1:]))", "amin({f}(stack([x, y])), 0)")

ALL_HESSIANS = """
import sys
import numpy as np
from gradcli.autodiff import jacobians
from gradcli.autodiff.run import run
from gradcli.language.parsing import parse
for text in sys.stdin.read().splitlines():
    for x, y in ((0.0, 1.0), (-2.0, 0.5)):
        inputs = {"x": np.array(x), "y": np.array(y)}
        forward = run(parse(text), inputs, ("x", "y"), "float64", twice=True)
        blocks = jacobians.hessian(forward, ("x", "y"))[1]
        assert sum(float(blocks[a][b]) for a in "xy" for b in "xy") == 0, (text, x, y, blocks)
"""


def test_no_part_of_a_tensor_that_holds_nothing_ends_the_process() -> None:
    """Of what is linear on either side, in a process of its own: a Hessian that is 0."""
    texts = [part.format(f=f) for f, part in product(KNOWN_SLOPES, PARTS)]
    texts += [f"maximum({one}, maximum(x, y))" for one in texts]
    child = subprocess.run(
        [sys.executable, "-c", ALL_HESSIANS], input="\n".join(texts), text=True, capture_output=True, check=False
    )
    assert (child.returncode, child.stderr) == (0, "")


def test_blocks_have_the_shapes_of_both_variables() -> None:
    """A.shape + b.shape, the mixed block and its transpose, zeros where y is linear or does not depend."""
    gradient, blocks = jacobians.hessian(
        _forward("x@A@x + s + 0*w.sum()", A=[[1, 2], [4, 3]], x=[1, -1], s=2.0, w=np.ones((2, 3))), ("s", "x", "A", "w")
    )
    assert blocks["A"]["x"].shape == (2, 2, 2)
    np.testing.assert_array_equal(blocks["x"]["x"], [[2, 6], [6, 6]])
    np.testing.assert_array_equal(blocks["A"]["x"], np.moveaxis(blocks["x"]["A"], 0, -1))
    assert gradient["s"] == 1
    assert blocks["s"]["s"].shape == ()
    assert blocks["w"]["w"].shape == (2, 3, 2, 3)
    assert not blocks["s"]["A"].any()
    assert not blocks["w"]["w"].any()


def test_a_hessian_times_a_direction_is_hu() -> None:
    """Also where only one of two variables moves, and in float32."""
    point: dict[str, Any] = {"x": [0.5, -1.0], "z": [[2.0], [0.25]]}
    text = "sum(exp(x*z)) + sum(x**3)"
    _, blocks = jacobians.hessian(_forward(text, **point), ("x", "z"))
    u = {"z": np.array([[1.0], [-3.0]])}
    gradient, slope, product = jacobians.hvp(_forward(text, **point), u, ("x", "z"))
    np.testing.assert_allclose(product["x"], np.tensordot(blocks["x"]["z"], u["z"], 2), rtol=1e-14)
    np.testing.assert_allclose(product["z"], np.tensordot(blocks["z"]["z"], u["z"], 2), rtol=1e-14)
    np.testing.assert_allclose(slope, (gradient["z"] * u["z"]).sum(), rtol=1e-14)
    single = jacobians.hvp(_forward(text, "float32", **point), u, ("x", "z"))[2]["x"]
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, product["x"], rtol=1e-5)


def test_what_is_constant_has_zeros() -> None:
    """No variable in y at all, a gradient that is constant, a variable of no elements."""
    assert jacobians.jvp(_forward("[1, 2]"), {}).tolist() == [0, 0]
    assert jacobians.jvp(_forward("[1, 2] + 0*floor(x)", x=3.0), {"x": np.array(1.0)}).tolist() == [0, 0]
    gradient, blocks = jacobians.hessian(_forward("2*x", x=3.0), ("x",))
    assert [float(gradient["x"]), float(blocks["x"]["x"])] == [2, 0]
    assert jacobians.hvp(_forward("x.sum() + 7", x=np.ones(0)), {"x": np.ones(0)}, ("x",))[2]["x"].shape == (0,)
    assert jacobians.jvp(_forward("x**2", x=np.ones((0, 3))), {"x": np.ones((0, 3))}).shape == (0, 3)


def test_an_infinite_slope_stays_out_of_directions_that_do_not_move() -> None:
    """The square root of 0 has no derivative, and z moves alone."""
    forward = _forward("sqrt(x) + z**2", x=0.0, z=3.0)
    assert jacobians.jvp(forward, {"z": np.array(1.0)}) == 6


def test_a_large_direction_is_fast() -> None:
    """Ten thousand elements take a few gradients, no matrix."""
    x = np.linspace(0, 1, 10_000)
    _, _, product = jacobians.hvp(_forward("sum(x)**2 + sum(x**3)", x=x), {"x": np.ones(10_000)}, ("x",))
    np.testing.assert_allclose(product["x"], 2e4 + 6 * x, rtol=1e-12)


def test_what_torch_differentiates_once_is_refused_in_its_own_words() -> None:
    """Unless it is run by its meaning, as it is for second derivatives."""
    x = {"x": np.array(0.5)}
    with pytest.raises(InputError, match=r"torch's backward pass fails: .*hardsigmoid"):
        jacobians.jvp(run(parse("hardsigmoid(x)**2"), x, ("x",), "float64"), x)
    _, blocks = jacobians.hessian(run(parse("hardsigmoid(x)**2"), x, ("x",), "float64", twice=True), ("x",))
    np.testing.assert_allclose(blocks["x"]["x"], 1 / 18, rtol=1e-15)
