"""Claims of derivatives by stacked matrices are read as matrix calculus writes them, or by rows where that holds."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import InputError

_A, _X, _B = [[1, 2, 3], [4, 5, 6]], [[1, 2], [3, 4], [5, 7]], [[2, 1], [0, 3]]
_S, _I = [[2, 1], [1, 3]], "eye(2)"
_AT = {"A": _A, "X": _X, "B": _B}
_COLUMNS, _ROWS = "columns first", "rows first"

# f, the point, the variable, the claim, the status, and how it was read
CLAIMS: list[tuple[str, Mapping[str, Any], str, str, str, str]] = [
    ("vec(A*X*B)", _AT, "X", "kron(B', A)", "proved", f"d y/d vec(X)', {_COLUMNS}"),
    ("A*X*B", _AT, "X", "kron(B', A)", "proved", f"d vec(y)/d vec(X)', {_COLUMNS}"),
    ("A*X*B", _AT, "X", "kron(A, B')", "proved", f"d vec(y)/d vec(X)', {_ROWS}"),
    ("A*X*B", _AT, "X", "kron(B, A')", "proved", f"d vec(y)'/d vec(X), {_COLUMNS}"),
    ("A*x", {"A": _A, "x": [1, 2, 3]}, "A", "kron(x', eye(2))", "proved", f"d y/d vec(A)', {_COLUMNS}"),
    ("inv(X)", {"X": _S}, "X", "-kron(inv(X)', inv(X))", "proved", _COLUMNS),
    ("X*X", {"X": _S}, "X", "kron(X', eye(2)) + kron(eye(2), X)", "proved", _COLUMNS),
    ("X'", {"X": _S}, "X", "[[1,0,0,0],[0,0,1,0],[0,1,0,0],[0,0,0,1]]", "proved", _COLUMNS),
    ("tr(A'*X)", {"A": _A, "X": _A}, "X", "vec(A)", "proved", f"read as the derivative by vec(X), {_COLUMNS}"),
    ("tr(A'*X)", {"A": _A, "X": _A}, "X", "vec(A)'", "proved", f"read as the derivative by vec(X), {_COLUMNS}"),
    ("tr(A'*X)", {"A": _A, "X": _A}, "X", "A.flatten()", "proved", f"read as the derivative by vec(X), {_ROWS}"),
    ("A*X*B", _AT, "X", "vec(A'*v*B')", "proved", f"read as the derivative by vec(X), {_COLUMNS}"),
    # wrong ones, which are read by columns
    ("A*X*B", _AT, "X", "2*kron(B', A)", "refuted", _COLUMNS),
    ("vec(A@X@B)", _AT, "X", "kron(B, A)", "refuted", _COLUMNS),
    ("inv(X)", {"X": [[2, 1], [0, 3]]}, "X", "-kron(inv(X), inv(X))", "refuted", _COLUMNS),
    ("tr(A'*X)", {"A": _A, "X": _A}, "X", "2*vec(A)", "refuted", _COLUMNS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("f", "at", "wrt", "claim", "status", "read"), CLAIMS, ids=[f"{f}: {c}" for f, _, _, c, *_ in CLAIMS]
)
def test_a_claim_by_stacked_elements_is_read(
    f: str, at: Mapping[str, Any], wrt: str, claim: str, status: str, read: str
) -> None:
    """The answer says how, and another order of the elements is another matrix."""
    [found] = Function(f).check(at, wrt=[wrt], claim={wrt: claim}).claims
    assert (found.status, read in found.note) == (status, True), found


@pytest.mark.parametrize("is_by_columns", [True, False])
@pytest.mark.parametrize("factor", [1, 2])
def test_numbers_by_stacked_elements_are_read(is_by_columns: bool, factor: int) -> None:
    """Those of numpy.kron, in either order."""
    numbers = factor * (np.kron(np.eye(2), _A) if is_by_columns else np.kron(_A, np.eye(2)))
    [found] = Function("A@X").check({"A": _A, "X": _X}, wrt=["X"], expect={"X": numbers}).claims
    assert found.status == ("agrees" if factor == 1 else "refuted")
    assert (_COLUMNS if is_by_columns or factor == 2 else _ROWS) in found.note


def test_without_values_the_shapes_are_found() -> None:
    """Those with which the product of Kronecker has the Jacobian's size."""
    [found] = Function("vec(A*X*B)").check(claim={"X": "kron(B', A)"}, wrt=["X"]).claims
    assert found.status in ("proved", "no counterexample")
    assert _COLUMNS in found.note


@pytest.mark.parametrize("claim", ["eye(5)", "ones((4, 5))", "ones((2, 12))"])
def test_another_shape_is_refused_without_a_spelling(claim: str) -> None:
    """As none of it was tried."""
    with pytest.raises(InputError, match="has shape") as refused:
        Function("A@X").check({"A": _A, "X": _X}, wrt=["X"], claim={"X": claim})
    assert "reshape" not in str(refused.value.hint)
