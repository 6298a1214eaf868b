"""Matrices without a part that computes sparse ones."""

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import TooLargeError, UsageError
from gradcli.questions import matrices
from gradcli.results import Hessian, Jacobian


@pytest.fixture(autouse=True)
def _no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "all_parts", lambda: ())


def test_a_large_matrix_is_dense() -> None:
    """As it was before there was one."""
    x = np.linspace(0, 1, 1100)
    found = Function("x**2").jacobian({"x": x}, check=False)
    assert type(found) is Jacobian
    assert found.jacobian is not None
    np.testing.assert_array_equal(np.diagonal(found.jacobian["x"]), 2 * x)
    assert type(Function("sum(x**2)").hessian({"x": x}, check=False)) is Hessian


def test_one_that_has_no_room_is_refused() -> None:
    """With its size, and nothing of SciPy."""
    with pytest.raises(TooLargeError, match=r"3\.0 GiB") as found:
        Function("x**2").jacobian({"x": np.zeros(20_000)})
    assert "scipy" not in str(found.value)


def test_a_sparse_one_cannot_be_asked_for() -> None:
    """The part has to be there."""
    for option in ({"sparse": True}, {"pattern": True}):
        with pytest.raises(UsageError, match="which is not here"):
            Function("x**2").jacobian({"x": [1, 2]}, **option)  # type: ignore[call-overload]
