"""Enclosures of eigenvalues and exponentials, where eigenvalues are equal, and what is said of them."""

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from tests.checks import check_of


@pytest.mark.parametrize(
    ("text", "matrix", "verdicts"),
    [
        ("eigvalsh(A)[0]", [[1, 0], [0, 1]], {"kink"}),
        ("sum(eigvalsh(A))", [[1, 0], [0, 1]], {"agree"}),  # the trace
        ("sum(svdvals(A)**2)", [[1, 0], [0, 1]], {"agree"}),
        ("sum(svdvals(A))", [[1, 0], [0, 0]], {"kink"}),
        ("amax(eigvalsh(sin(A)))", [[1, 0], [0, 1]], {"unchecked"}),  # exact numbers alone tell that they are one
        ("svdvals(A)[0]", [[2, 1e8], [0.75, 0]], {"inaccurate"}),  # vectors with an error of the largest element
        ("eigvalsh(A)[0]", [[2, 1], [0, 3]], {"unchecked"}),
        ("svdvals(A)[0]", [[1, 2], [2, 4]], {"agree"}),
        ("matrix_norm(A, -2)", [[1, 2], [2, 4]], {"kink", "inaccurate"}),
        ("sum(eigenvectors(A))", [[1, 0], [0, 1]], {"unchecked"}),
        ("sum(eigenvectors(A))", [[2, 0], [0, 1]], {"agree"}),
        ("sum(eigenvectors(A))", [[2, 1], [0, 3]], {"unchecked"}),
        ("sum(svd(A).U)", [[1, 2], [2, 4]], {"unchecked"}),
        ("sum(matrix_exp(A))", [[0, 1], [0, 0]], {"agree"}),
        ("sum(matrix_exp(A))", [[800, 1], [0, 0]], {"inaccurate"}),
    ],
)
@pytest.mark.one_in(8)
def test_verdicts(text: str, matrix: list[list[int]], verdicts: set[str]) -> None:
    """Equal eigenvalues have no slope, and none is called wrong; nor is one where torch reads one triangle."""
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


@pytest.mark.parametrize(
    ("text", "A", "sides"),
    [
        ("eigvalsh(A)[0]", [[2, 0], [0, 2]], [(1, 0), (0.5, -0.5), (0.5, -0.5), (1, 0)]),
        ("eigvalsh(A)[2]", np.diag([1, 2, 2]), [None] * 4 + [(0, 1), (-0.5, 0.5), None, (-0.5, 0.5), (0, 1)]),
        ("svdvals(A)[1]", [[1, 0], [0, 0]], [None] * 3 + [(-1, 1)]),
    ],
)
def test_eigenvalues_that_meet_have_the_slopes_of_perturbation_theory(
    text: str, A: Any, sides: list[tuple[float, float] | None]
) -> None:
    """By hand: along E, of a double eigenvalue those are the eigenvalues of E on its two eigenvectors."""
    check = check_of(Function(text).grad({"A": A}))
    found = {f.column: f.one_sided for f in check.findings}
    expected = {index: pair for index, pair in zip(np.ndindex(np.shape(A)), sides, strict=True) if pair}
    assert found.keys() == expected.keys()
    assert all(found[index] == pytest.approx(pair, abs=1e-12) for index, pair in expected.items())


@pytest.mark.parametrize(
    ("text", "v", "mark"),
    [
        ("eigvalsh(A)", [1, 1], ""),
        ("eigvalsh(A)", [1, 2], "∧"),
        ("stack([relu(A[0, 0] - 2), relu(2 - A[0, 0])])", [1, -1], "✗"),  # torch gives 0 for the slope of x - 2
    ],
)
def test_a_product_is_marked_as_the_function_that_it_is_the_derivative_of(text: str, v: Any, mark: str) -> None:
    """Also where the entries that it is made of are kinks, as those of the trace."""
    lines = str(Function(text).vjp({"A": [[2, 0], [0, 2]]}, v=v)).splitlines()
    product = "".join(line for line in lines if "A.grad" in line)
    assert {sign for sign in "∧✗?" if sign in product} == set(mark)
