"""Functions of NumPy, and gradients written in it: what they make and assign to is followed, nothing leaves unseen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli

X = np.array([0.3, 0.7, 1.1])

_MATRIX = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 3.0]])

Function = Callable[[Any], Any]


def squares(x: Any) -> Any:
    """The sum of squares."""
    return np.sum(x**2)


def _by_slices(x: Any) -> Any:
    found = np.empty_like(x)
    found[0] = 2 * x[0]
    found[1:] = 2 * x[1:]
    return found


def _by_zeros_like(x: Any) -> Any:
    found = np.zeros_like(x)
    found[:] = 2 * x
    return found


def _by_loop(x: Any) -> Any:
    found = np.zeros(len(x))
    for n in range(len(x)):
        found[n] = 2 * x[n]
    return found


def _by_sum(x: Any) -> Any:
    found = np.zeros(3)
    found += x
    found += x
    return found


def _by_scipy_s_guide(x: Any) -> Any:
    x = np.asarray(x, dtype=float)
    found = np.zeros_like(x)
    found[1:-1] = 2 * x[1:-1]
    found[0], found[-1] = 2 * x[0], 2 * x[-1]
    return found


def _by_out(x: Any) -> Any:
    found = np.zeros_like(x)
    np.add(x, x, out=found)
    return found


def _by_add_at(x: Any) -> Any:
    found = np.zeros_like(x)
    np.add.at(found, [0, 1, 2, 0, 1, 2], np.concatenate([x, x]))
    return found


def _by_copy(x: Any) -> Any:
    found = x.copy()
    found *= 2
    return found


GRADIENTS: dict[str, Function] = {
    "slices": _by_slices,
    "zeros_like": _by_zeros_like,
    "loop": _by_loop,
    "sum": _by_sum,
    "asarray and zeros_like": _by_scipy_s_guide,
    "out": _by_out,
    "add.at": _by_add_at,
    "copy": _by_copy,
    "full_like": lambda x: np.full_like(x, 2.0) * x,
    "ones": lambda x: np.ones(3) * 2 * x,
    "empty": lambda x: np.empty(3) * 0 + 2 * x,
    "full": lambda x: np.full(3, 2.0) * x,
    "eye": lambda x: np.dot(2 * np.eye(3), x),
    "array of elements": lambda x: np.array([2 * one for one in x]),
    "asarray": lambda x: 2 * np.asarray(x),
    "asanyarray": lambda x: np.asanyarray(x).astype(np.float64) * 2,
    "concatenate": lambda x: np.concatenate(([2 * x[0]], 2 * x[1:])),
    "multiply.outer": lambda x: np.multiply.outer(x, np.array([2.0]))[:, 0],
    "add.reduce": lambda x: np.add.reduce([x, x]),
    "add.reduce of an array": lambda x: np.add.reduce(np.stack([x, x])),
    "add.accumulate": lambda x: np.add.accumulate(x) * 0 + 2 * x,
    "einsum": lambda x: np.einsum("i,j->i", x, np.array([2.0])),
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.one_in(8)
def test_a_gradient_that_makes_arrays_is_proved(name: str) -> None:
    """And one that is off by a thousandth is refuted."""
    gradient = GRADIENTS[name]
    answer = gradcli.check(squares, X, gradient=gradient)
    assert [claim.status for claim in answer.claims] == ["proved"]
    with pytest.raises(gradcli.errors.WrongGradientsError, match=r"off by the factor 1\.001|refuted"):
        gradcli.check(squares, X, gradient=lambda x: 1.001 * gradient(x))


AT_POINTS: dict[str, tuple[Function, Function]] = {
    "a matrix that the function has too": (lambda x: x @ _MATRIX @ x, lambda x: (_MATRIX + _MATRIX.T) @ x),
    "numbers that leave": (squares, lambda x: 2 * np.fromiter((float(one) for one in x), float)),
    "a table by rounded values": (squares, lambda x: 2 * x + 0 * np.ones(3) * float(np.round(x[0]))),
}


@pytest.mark.parametrize("name", AT_POINTS)
@pytest.mark.one_in(3)
def test_what_may_depend_on_the_point_is_compared_at_points(name: str) -> None:
    """And not proved."""
    function, gradient = AT_POINTS[name]
    answer = gradcli.check(function, X, gradient=gradient)
    assert [claim.status for claim in answer.claims] == ["agrees"]


FUNCTIONS: dict[str, Function] = {
    "add.reduce": lambda x: np.add.reduce(x**2),
    "add.reduce along the first dimension": lambda x: np.add.reduce(np.outer(x, x)),
    "add.reduce along the last": lambda x: np.add.reduce(np.outer(x, x), axis=1),
    "multiply.reduce": np.multiply.reduce,
    "maximum.reduce": lambda x: np.maximum.reduce(2 * x),
    "add.accumulate": lambda x: np.add.accumulate(x**2),
    "subtract.outer": lambda x: np.subtract.outer(x, x),
    "asarray": lambda x: np.sum(np.asarray(x, dtype=float) ** 2),
    "array": lambda x: np.sum(np.array([[x[0], 1.0], [x[1] * x[2], 2.0]]) @ np.array([1.0, 3.0])),
    "copy": lambda x: np.sum(x.copy() ** 2),
    "sum in place": lambda x: _by_sum(x).sum(),
    "concatenate": lambda x: np.concatenate(([x[0] ** 2], x[1:])),
    "interp, which torch has not": lambda x: np.interp(0.5, np.array([0.0, 1.0]), np.array([0.0, 1.0])) * x,
    "positions": lambda x: np.sum(x[np.arange(2)] ** 2),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_function_makes_is_followed(name: str) -> None:
    """Its numbers are NumPy's, and its derivatives are proved."""
    answer: Any = gradcli.check(FUNCTIONS[name], X)
    assert (answer.check.verdict, answer.check.proven) == ("agree", True)
    np.testing.assert_allclose(answer.value, FUNCTIONS[name](X), rtol=1e-14)


LEAVING: dict[str, Function] = {
    "tolist": lambda x: np.sum(np.array(x.tolist()) * x),
    "fromiter": lambda x: np.sum(np.fromiter((float(one) for one in x), float) * x),
    "float": lambda x: float(x[0]) * x[1],
}


@pytest.mark.parametrize("name", LEAVING)
def test_numbers_that_leave_are_told(name: str) -> None:
    """The gradient lacks them."""
    answer: Any = gradcli.check(LEAVING[name], X, raise_exception=False)
    assert answer.check.verdict == "cut"


def test_an_array_of_numpy_is_not_written_to_unseen() -> None:
    """It holds numbers alone: what a function of two numbers writes there would be lost."""
    kept = np.zeros(3)

    def function(x: Any) -> Any:
        np.add(x, x, out=kept)
        return kept * x

    with pytest.raises(gradcli.errors.GradcliError):
        gradcli.check(function, X)


def test_numpy_is_as_it_was() -> None:
    """After a function has run with arrays of tensors, and while others make arrays."""
    before = np.zeros, np.asarray
    gradcli.check(lambda x: np.sum(np.zeros(3) + x), X)
    assert (np.zeros, np.asarray) == before
    assert type(np.zeros(3)) is np.ndarray
