"""Rows and columns give the same Jacobian, and what y does not depend on has zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gradcli.autodiff import jacobians
from gradcli.autodiff.run import Forward, run
from gradcli.language.parsing import parse


def _forward(text: str, **inputs: object) -> Forward:
    return run(
        parse(text), {name: np.asarray(value, dtype=float) for name, value in inputs.items()}, tuple(inputs), "float64"
    )


@pytest.mark.parametrize("text", ["sin(a*x) + b", "a*x", "[a*x, b - x]", "exp(a)*x[::2].view(-1, 1) + [b, b]", "x + b"])
def test_columns_equal_rows(text: str) -> None:
    """Few inputs and many outputs go column by column."""
    inputs = {"x": np.linspace(0, 1, 90), "a": 2.0, "b": 3.0}
    given = {name: inputs[name] for name in inputs if name in text.replace("exp", "")}
    forward = _forward(text, **given)
    scalars = tuple(name for name in ("a", "b") if name in given)
    leaves = [forward.leaves[name] for name in scalars]
    rows, columns = ({name: np.empty(forward.output.shape) for name in scalars} for _ in range(2))
    jacobians.by_rows(list(rows.values()), forward.output, leaves)
    for name, leaf in zip(scalars, leaves, strict=True):
        jacobians._by_columns(columns[name], forward.output, leaf, 1)
        np.testing.assert_allclose(columns[name], rows[name], rtol=1e-14)
        np.testing.assert_allclose(jacobians.jacobian(forward, scalars)[name], rows[name], rtol=1e-14)


def test_a_long_list_is_differentiated_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its columns take a step for each operand, and threads that share each step take twenty times as long."""
    before, seen = torch.get_num_threads(), []
    plain = jacobians.gradients

    def watched(*arguments: Any, **named: Any) -> Any:
        seen.append(torch.get_num_threads())
        return plain(*arguments, **named)

    monkeypatch.setattr(jacobians, "gradients", watched)
    torch.set_num_threads(2)
    try:
        for n in (100, 5_000):
            jacobians.jacobian(run(parse(f"[{','.join('x' * n)}]*1"), {"x": np.array(3.0)}, ("x",), "float64"), ("x",))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == [2, 1]


def test_shapes_are_those_of_y_then_x() -> None:
    """Also for a y and an x of one element."""
    blocks = jacobians.jacobian(_forward("A@x", A=np.ones((2, 3)), x=np.ones(3)), ("A", "x"))
    assert (blocks["A"].shape, blocks["x"].shape) == ((2, 2, 3), (2, 3))
    assert jacobians.jacobian(_forward("x**2", x=3.0), ("x",))["x"].shape == ()
    assert jacobians.jacobian(_forward("x**2", x=[3.0]), ("x",))["x"].shape == (1, 1)


def test_independent_variables_have_zeros() -> None:
    """As many as there are entries, by rows and by columns."""
    forward = _forward("0*a + x", a=1.0, x=np.ones(3))
    assert not jacobians.jacobian(forward, ("a",))["a"].any()
    constant = _forward("[1, 2]")
    assert jacobians.jacobian(constant, ()) == {}
    unused = run(parse("x[0] + 0*w[1:]"), {"x": np.ones(2), "w": np.ones(80)}, ("x", "w"), "float64")
    assert not jacobians.jacobian(unused, ("w",))["w"].any()


def test_the_graph_survives_several_answers() -> None:
    """vᵀJ and J come from one evaluation."""
    forward = _forward("x**2", x=[1.0, 2.0])
    first = jacobians.vjp(forward, np.ones(2), ("x",))["x"]
    jacobians.jacobian(forward, ("x",))
    np.testing.assert_array_equal(first, jacobians.vjp(forward, np.ones(2), ("x",))["x"])
