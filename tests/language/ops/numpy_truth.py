"""The truth of an operation: the same function in NumPy, and its Jacobian by the complex step.

    ∂f/∂x[j]  =  imag(f(x + i*h*e[j]))/h

has no cancellation, so that h may be 1e-200 and the Jacobian is as good as the value.  It asks of `f` that it is
analytic around the point: absolute values and extremes are chosen by the real part.  Neither torch nor gradcli is used.
Source: W. Squire, G. Trapp, "Using Complex Variables to Estimate Derivatives of Real Functions", SIAM Review 40, 1998.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.language import ops
from gradcli.language.ops import Kind
from tests.parsing import parse

Array = Any
"""A NumPy array, real or complex."""
Case = tuple[str, Callable[..., Any]]
"""The text, and the same in NumPy; the names of its parameters are those of `POINT`."""
Cases = Mapping[str, list[Case]]
"""Cases by the name of the row of the op table that they are about."""

STEP = 1e-200

POINT: Mapping[str, Array] = {
    "a": np.array(0.7),
    "b": np.array(-1.3),
    "u": np.array([0.5, -1.5, 2.0]),
    "w": np.array([1.25, 0.75, -0.6]),
    "v": np.array([0.4, -0.9, 1.6, 2.2]),
    "one": np.array([1.7]),
    "x": np.array([[0.3, -1.2, 2.5], [0.7, 1.1, -0.4]]),
    "k": np.array([[0.9, -0.8, 0.6], [-1.7, 1.4, 0.2]]),
    "p": np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.9]]),
    "y": np.array([[2.0, 1.1, -0.3, 3.0], [1.0, -1.4, 2.1, 0.5], [0.1, 4.0, 1.3, -2.0]]),
    "z": np.round(np.sin(1.7 * np.arange(1, 25)).reshape(2, 3, 4), 2),
    "row": np.array([[0.8, -1.1, 1.9]]),
    "column": np.array([[0.6], [-2.2]]),
    "C": np.array([[2.0, 0.5], [-1.0, 1.5]]),
    "M": np.array([[2.0, 0.3, -0.5], [0.4, 1.7, 0.2], [-0.6, 0.1, 2.4]]),
    "G": np.array(
        [
            [[1.5, 0.2, 0.1], [-0.3, 2.0, 0.4], [0.6, -0.1, 1.8]],
            [[2.2, -0.4, 0.3], [0.5, 1.2, -0.6], [0.1, 0.7, 1.6]],
        ]
    ),
}
"""Values with both signs, without ties, and where it can be without equal sizes; C, M and G are invertible."""


def names_of(case: Case) -> tuple[str, ...]:
    """The variables of a case."""
    return tuple(name for name in inspect.signature(case[1]).parameters if name in POINT)


def jacobian(plain: Callable[..., Any], name: str, at: Mapping[str, Array]) -> Array:
    """∂y/∂x of shape y.shape + x.shape.

    >>> jacobian(lambda x: x**2, "x", {"x": np.array([1.0, 3.0])})
    array([[2., 0.],
           [0., 6.]])
    """
    columns = []
    for index in np.ndindex(at[name].shape):
        moved = at[name].astype(complex)
        moved[index] += STEP * 1j
        columns.append(np.asarray(plain(**{**at, name: moved})).imag / STEP)
    shape = np.shape(plain(**at))
    return np.stack(columns, axis=-1).reshape(shape + at[name].shape)


def absolute(x: Array) -> Array:
    """|x| by the real part."""
    return np.where(x.real < 0, -x, x)


def arguments(cases: Cases) -> list[Any]:
    """Each case with its operation, for `parametrize`."""
    return [pytest.param(op, case, id=case[0]) for op, rows in cases.items() for case in rows]


def value_at_point(text: str) -> Array:
    """The value of a text at the point."""
    f = Function(text)
    return f.eval({name: POINT[name] for name in f.variables}).value


def require(op: str, case: Case, omitted: Mapping[str, str]) -> None:
    """Value, Jacobian, verdict and formula of a case.

    Args:
        op: The row that must be in the Program, unless it is written in others.
        case: What to compute.
        omitted: Why there is no formula, for the texts that have none.
    """
    text, plain = case
    at = {name: POINT[name] for name in names_of(case)}
    if ops.TABLE[op].kind is not Kind.INLINED:
        assert op in {line.call.op.name for line in parse(text).lines}
    answer = Function(text).jacobian(at)
    truth = np.asarray(plain(**at))
    assert answer.value.shape == truth.shape
    np.testing.assert_allclose(answer.value, truth, rtol=1e-13, atol=1e-15)
    assert answer.jacobian is not None
    for name in at:
        np.testing.assert_allclose(answer.jacobian[name], jacobian(plain, name, at), rtol=1e-11, atol=1e-14)
    assert answer.check is not None
    assert answer.check.verdict == "agree", answer.check.findings
    if text in omitted:
        assert not answer.symbolic
        assert all(omitted[text] in reason for reason in answer.symbolic_omitted.values())
    else:
        assert set(answer.symbolic) == set(at), answer.symbolic_omitted
