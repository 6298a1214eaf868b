"""Functions that torch is asked for, at random numbers, and what is special to some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError, InputError, ShapeError
from tests.checks import check_of
from tests.language.ops.agreement import require_same
from tests.language.ops.cases.torch_functions import AT_RANDOM


@pytest.mark.parametrize(("text", "given"), AT_RANDOM, ids=[text for text, _ in AT_RANDOM])
def test_functions_at_random_numbers_are_those_of_torch(text: str, given: Mapping[str, Any]) -> None:
    """Value, Jacobian and verdict."""
    draw = np.random.default_rng(len(text))
    at = {
        name: draw.uniform(0.2, 1.8, shape) * draw.choice([-1, 1], shape)
        if isinstance(shape, tuple)
        else np.array(shape)
        for name, shape in given.items()
    }
    require_same(text, at, [name for name, shape in given.items() if isinstance(shape, tuple)])


def test_the_derivative_of_a_convolution_is_that_of_the_textbook() -> None:
    """Each weight meets the elements that it was multiplied with, and each element the weights."""
    answer = Function("conv1d(x, w)").jacobian({"x": np.ones((1, 1, 5)), "w": [[[1.0, 2.0, 3.0]]]})
    assert answer.symbolic["w"].text == "[[x[0, 0, k + l]]]"


def test_running_averages_are_not_differentiated_by() -> None:
    """Unless that is asked for; torch's own function has no derivative by them."""
    at = {"x": np.array([[1.0, 2.0], [3.0, 5.0]]), "m": np.array([1.0, 2.0]), "v": np.array([0.5, 2.0])}
    assert set(Function("sum(batch_norm(x, m, v))").grad(at).grad) == {"x"}
    answer = Function("sum(batch_norm(x, m, v))").grad(at, wrt=["m"])
    np.testing.assert_allclose(answer.grad["m"], -2 / np.sqrt(at["v"] + 1e-5))


@pytest.mark.parametrize("text", ["dropout(x)", "rrelu(x, training=True)", "alpha_dropout(x, 0.3, True)"])
def test_what_is_random_in_training_is_refused(text: str) -> None:
    """With what to write."""
    with pytest.raises(InputError, match="random"):
        Function(text).eval({"x": np.ones(2)}, check=False)


def test_class_indices_have_no_derivative() -> None:
    """They are not differentiated by, unless that is asked for: there they jump."""
    at = {"x": np.array([[1.0, 2.0, 4.0]]), "t": np.array([2.0])}
    assert set(Function("cross_entropy(x, t)").grad(at).grad) == {"x"}
    asked = Function("cross_entropy(x, t)").grad(at, wrt=["t"])
    assert check_of(asked).verdict == "kink"
    likelihoods = Function("cross_entropy(x, p)").grad({"x": [[1.0, 2.0]], "p": [[0.5, 0.5]]})
    assert set(likelihoods.grad) == {"x", "p"}


def test_class_indices_are_whole_and_inside() -> None:
    """Torch would take the whole part of a fraction."""
    with pytest.raises(InputError, match="whole numbers"):
        Function("cross_entropy(x, t)").grad({"x": [[1.0, 2.0]], "t": [0.5]})
    with pytest.raises(GradcliError, match="and there is"):
        Function("nll_loss(x, t)").grad({"x": [[1.0, 2.0]], "t": [2]})
    with pytest.raises(ShapeError, match=r"class indices of the shape \(1,\)"):
        Function("cross_entropy(x, t)").grad({"x": [[1.0, 2.0]], "t": [0, 1]})


def test_a_weight_that_is_differentiated_by_is_computed_by_the_definition() -> None:
    """Torch's own function refuses a weight that requires a gradient."""
    answer = Function("cross_entropy(x, t, w)").grad({"x": [[1.0, 2.0], [0.5, 0.1]], "t": [0, 1], "w": [1.0, 3.0]})
    assert check_of(answer).verdict == "agree"
    logits = np.array([[1.0, 2.0], [0.5, 0.1]])
    losses = np.log(np.exp(logits).sum(1)) - logits[[0, 1], [0, 1]]
    np.testing.assert_allclose(answer.grad["w"], [(losses[0] - losses[1]) * 3 / 16, (losses[1] - losses[0]) / 16])
