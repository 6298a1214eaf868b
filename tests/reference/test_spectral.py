"""Enclosures of eigenvalues and exponentials, where eigenvalues are equal, and what is said of them."""

from __future__ import annotations

import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from tests.checks import check_of


@pytest.mark.parametrize(
    ("text", "matrix", "verdicts"),
    [
        ("eigvalsh(A)[0]", [[1, 0], [0, 1]], {"kink", "unchecked"}),
        ("sum(eigvalsh(A))", [[1, 0], [0, 1]], {"unchecked", "kink"}),
        ("eigvalsh(A)[0]", [[2, 1], [0, 3]], {"unchecked"}),
        ("svdvals(A)[0]", [[1, 2], [2, 4]], {"agree"}),
        ("matrix_norm(A, -2)", [[1, 2], [2, 4]], {"unchecked", "inaccurate"}),
        ("sum(eigenvectors(A))", [[1, 0], [0, 1]], {"undefined"}),
        ("sum(eigenvectors(A))", [[2, 0], [0, 1]], {"agree"}),
        ("sum(eigenvectors(A))", [[2, 1], [0, 3]], {"unchecked"}),
        ("sum(svd(A).U)", [[1, 2], [2, 4]], {"unchecked"}),
        ("sum(matrix_exp(A))", [[0, 1], [0, 0]], {"agree"}),
        ("sum(matrix_exp(A))", [[800, 1], [0, 0]], {"inaccurate"}),
    ],
)
def test_verdicts(text: str, matrix: list[list[int]], verdicts: set[str]) -> None:
    """Where eigenvalues are equal there is no slope, and none is called wrong; nor where torch reads one triangle."""
    check = check_of(Function(text).grad({"A": matrix}))
    assert {finding.verdict for finding in check.findings if finding.variable is not None} <= verdicts
    assert check.verdict in verdicts


@pytest.mark.parametrize(
    "text", ["matrix_exp(A)[0, 1]", "eigvalsh(A + A.T)[0]", "matrix_norm(A, 'nuc')", "cond(A)", "svd(A).U[0, 1]"]
)
def test_second_derivatives(text: str) -> None:
    """The slopes are lines of the language, and so are differentiated again."""
    check = check_of(Function(text).hessian({"A": [[2.0, 1.5], [0.5, 3.0]]}))
    assert check.verdict == "agree"


def test_what_is_not_finite_has_no_singular_values() -> None:
    """An error that says so, as torch's has it."""
    with pytest.raises(GradcliError, match="eigenvalues or singular values of this matrix are not found"):
        Function("svdvals(A)").vjp({"A": [[float("nan"), 1], [1, 2]]}, v="ones")
