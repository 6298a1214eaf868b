"""Directional and second derivatives by torch: J times u and rows of the Hessian for every operation."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from gradcli import Function
from gradcli.autodiff import jacobians
from gradcli.autodiff.run import run
from gradcli.errors import InputError
from gradcli.language import ops
from tests import warm
from tests.conftest import Run, process
from tests.examples import part
from tests.parsing import parse

ROUNDED = {"binary_cross_entropy": 1e-10, "hardsigmoid": 1e-7}
"""Relative errors of torch's own backward passes: 1e-12 is added to a denominator; 1/6 is held to seven digits."""


OWN = [op for op in ops.TABLE.values() if not op.is_defined_by_torch]
"""Operations that are not made of others as a text is read."""


@pytest.mark.parametrize("op", part(OWN, 2, of=8), ids=lambda op: op.name)
@pytest.mark.one_in(4)
def test_a_directional_derivative_is_the_jacobian_times_the_direction(op: ops.Op) -> None:
    """At the point of the example of an operation."""
    text, at = op.worked_example
    found = Function(text).jacobian(at, check=False)
    generator = np.random.default_rng(3)
    u = {name: generator.uniform(-1, 1, found.inputs[name].shape) for name in found.wrt}
    expected = sum(np.tensordot((found.jacobian or {})[name], u[name], u[name].ndim) for name in found.wrt)
    along = Function(text).jvp(at, u, check=False).jvp
    np.testing.assert_allclose(along, expected, rtol=ROUNDED.get(op.name, 1e-13), atol=1e-14)


@pytest.mark.parametrize("op", part(OWN, 3, of=24), ids=lambda op: op.name)
@pytest.mark.one_in(4)
def test_a_hessian_has_the_rows_of_hu(op: ops.Op) -> None:
    """Under a square, at the point of the example of an operation."""
    text, at = op.worked_example
    square = Function(f"sum(({text})**2)")
    found = square.hessian(at, check=False)
    for name in found.wrt:
        unit = np.zeros(found.inputs[name].shape)
        unit.reshape(-1)[-1:] = 1
        row = square.hvp(at, {name: unit}, check=False).hvp
        for other in found.wrt:
            expected = found.hessian[name][other].reshape((-1, *found.inputs[other].shape))[-1]
            np.testing.assert_allclose(row[other], expected, rtol=1e-12, atol=1e-12)


KNOWN_SLOPES = ("abs", "sign", "relu", "floor", "leaky_relu", "hardtanh")
PARTS = ("{f}(amax([y, x, 0]))", "{f}([y, x, 0])[1]", "sum({f}(cat([[x], [y, x]])[1:]))", "amin({f}(stack([x, y])), 0)")

ALL_HESSIANS = """
import sys
from gradcli import Function
for n, text in enumerate(sys.stdin.read().splitlines()):
    x, y = ((0.0, 1.0), (-2.0, 0.5))[(n + n // 24) % 2]
    blocks = Function(text).hessian({"x": x, "y": y}, check=False).hessian
    assert sum(float(blocks[a][b]) for a in "xy" for b in "xy") == 0, (text, x, y, blocks)
"""


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.thorough)])
def test_no_part_of_a_tensor_that_holds_nothing_ends_the_process(step: int, tmp_path: Path) -> None:
    """Of what is linear on either side, in a process of its own: a Hessian that is 0, which torch holds nowhere."""
    texts = [text.format(f=f) for f, text in product(KNOWN_SLOPES, PARTS)][::step]
    texts += [f"maximum({one}, maximum(x, y))" for one in texts]
    (tmp_path / "hessians.py").write_text(ALL_HESSIANS, encoding="utf-8")
    assert process(warm.runner(), str(tmp_path / "hessians.py"), given="\n".join(texts)) == Run(0, "", "")


def test_an_infinite_slope_stays_out_of_directions_that_do_not_move() -> None:
    """The square root of 0 has no derivative, and z moves alone."""
    assert Function("sqrt(x) + z**2").jvp({"x": 0, "z": 3}, {"z": 1}, check=False).jvp == 6


def test_what_torch_differentiates_once_is_refused_in_its_own_words() -> None:
    """Unless it is run by its meaning, as it is for second derivatives."""
    x = {"x": np.array(0.5)}
    with pytest.raises(InputError, match=r"torch's backward pass fails: .*hardsigmoid"):
        jacobians.jvp(run(parse("hardsigmoid(x)**2"), x, ("x",), "float64"), x)
    blocks = Function("hardsigmoid(x)**2").hessian(0.5).hessian
    np.testing.assert_allclose(blocks["x"]["x"], 1 / 18, rtol=1e-15)
