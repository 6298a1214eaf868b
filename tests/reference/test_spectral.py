"""Enclosures of eigenvalues and exponentials, where eigenvalues are equal, and what is said of them."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from flint import arb

from gradcli import Function
from gradcli.errors import GradcliError
from gradcli.reference.balls import precision
from gradcli.reference.spectral import Exponential, Symmetric

RANDOM = np.random.default_rng(3).standard_normal((5, 5))
MATRICES = {
    "random": RANDOM + RANDOM.T,
    "equal": np.diag([2.0, 2.0, 5.0]),
    "equal and full": np.ones((4, 4)) + np.eye(4),
    "zero": np.zeros((3, 3)),
    "near": np.array([[1.0, 1e-9], [1e-9, 1.0]]),
    "one": np.array([[-3.0]]),
}


def _balls(matrix: np.ndarray, radius: float = 0.0) -> list[arb]:
    return [arb(float(value), radius) for value in matrix.ravel()]


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize("radius", [0.0, 1e-12])
def test_eigenvalues_are_enclosed(matrix: np.ndarray, radius: float) -> None:
    """In order, each as often as it occurs, and no wider than what the elements leave open."""
    with precision(128), mpmath.workdps(60):
        found = Symmetric(_balls(matrix, radius), len(matrix)).eigenvalues
        truth = sorted(mpmath.eigsy(mpmath.matrix(matrix.tolist()), eigvals_only=True))
        for ball, value in zip(found, truth, strict=True):
            assert ball.overlaps(arb(mpmath.nstr(value, 50)))
            assert ball.rad() < max(10 * radius, 1e-30)


def test_slopes_of_an_eigenvalue_beside_equal_ones() -> None:
    """The projection on the one that is alone; the others are not told apart."""
    with precision(128):
        found = Symmetric(_balls(MATRICES["equal and full"]), 4)
        assert [found.is_alone(k) for k in range(4)] == [False, False, False, True]
        assert all(value.contains(arb(1) / 4) and value.rad() < 1e-30 for value in found.projection(3).entries())


def test_slopes_of_an_exponential() -> None:
    """As differences of mpmath have them."""
    with precision(128), mpmath.workdps(60):
        found = Exponential(_balls(RANDOM), 5)
        step = mpmath.mpf(10) ** -25
        for n in (0, 7, 24):
            ends = [mpmath.matrix(RANDOM.tolist()) for _ in range(2)]
            for end, sign in zip(ends, (1, -1), strict=True):
                end[n // 5, n % 5] += sign * step
            difference = (mpmath.expm(ends[0]) - mpmath.expm(ends[1])) / (2 * step)
            for out in range(25):
                truth = arb(mpmath.nstr(difference[out // 5, out % 5], 50))
                assert abs(found.slope(out, n) - truth) < 1e-25


@pytest.mark.parametrize(
    ("text", "matrix", "verdicts"),
    [
        ("eigvalsh(A)[0]", [[1, 0], [0, 1]], {"kink", "unchecked"}),
        ("sum(eigvalsh(A))", [[1, 0], [0, 1]], {"unchecked", "kink"}),
        ("eigvalsh(A)[0]", [[2, 1], [0, 3]], {"unchecked"}),
        ("svdvals(A)[0]", [[1, 2], [2, 4]], {"agree"}),
        ("matrix_norm(A, -2)", [[1, 2], [2, 4]], {"unchecked", "inaccurate"}),
        ("matrix_norm(A, 2)", [[1, 0], [0, 1]], {"unchecked"}),
        ("sum(eigenvectors(A))", [[1, 0], [0, 1]], {"undefined"}),
        ("sum(eigenvectors(A))", [[2, 0], [0, 1]], {"agree"}),
        ("sum(eigenvectors(A))", [[4, 2], [2, 1]], {"agree"}),
        ("sum(eigenvectors(A))", [[2, 1], [0, 3]], {"unchecked"}),
        ("sum(svd(A).U)", [[1, 2], [2, 4]], {"unchecked"}),
        ("sum(svd(A).V)", [[1, 2], [0, 0]], {"unchecked"}),
        ("sum(matrix_exp(A))", [[0, 1], [0, 0]], {"agree"}),
        ("sum(matrix_exp(A))", [[800, 1], [0, 0]], {"inaccurate"}),
    ],
)
def test_verdicts(text: str, matrix: list[list[int]], verdicts: set[str]) -> None:
    """Where eigenvalues are equal there is no slope, and none is called wrong; nor where torch reads one triangle."""
    check = Function(text).grad({"A": matrix}).check
    assert check is not None
    assert {finding.verdict for finding in check.findings if finding.variable is not None} <= verdicts
    assert check.verdict in verdicts


@pytest.mark.parametrize(
    "text", ["matrix_exp(A)[0, 1]", "eigvalsh(A + A.T)[0]", "matrix_norm(A, 'nuc')", "cond(A)", "svd(A).U[0, 1]"]
)
def test_second_derivatives(text: str) -> None:
    """The slopes are lines of the language, and so are differentiated again."""
    check = Function(text).hessian({"A": [[2.0, 1.5], [0.5, 3.0]]}).check
    assert check is not None
    assert check.verdict == "agree"


def test_what_is_not_finite_has_no_singular_values() -> None:
    """An error that says so, as torch's has it."""
    with pytest.raises(GradcliError, match="eigenvalues or singular values of this matrix are not found"):
        Function("svdvals(A)").vjp({"A": [[float("nan"), 1], [1, 2]]}, v="ones")
