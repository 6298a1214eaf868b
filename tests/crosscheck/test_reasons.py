"""Reasons that a user can read: what is equal, masked or missing, in the words of the function that was typed."""

from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.results import Check
from tests.examples import in_turn

EQUAL = [[1.0, 0.0], [0.0, 1.0]]
INF = float("inf")

# text, values, verdict, words of the reason
REASONS: list[Any] = [
    ("std(x)", {"x": [1.0]}, "undefined", "std needs more elements than the correction, which is 1 by default"),
    ("var(x, correction=2)", {"x": [1.0, 3.0]}, "undefined", "var needs more elements than the correction"),
    ("softmax(x)", {"x": [-INF, -INF]}, "undefined", "softmax needs an element along dim that is not masked by -inf"),
    (
        "softmax(A, 1)",
        {"A": [[1, 2], [-INF, -INF]]},
        "undefined",
        "softmax needs an element along dim that is not masked",
    ),
    (
        "softmax(where(m > 0, x, -inf))",
        {"m": [0.0, 0.0], "x": [1.0, 2.0]},
        "undefined",
        "softmax needs an element along dim that is not masked by -inf",
    ),
    ("log_softmax(x)", {"x": [-INF, -INF]}, "undefined", "log_softmax needs an element along dim that is not masked"),
    ("logsumexp(x)", {"x": [-INF, -INF]}, "undefined", "logsumexp needs an element along dim that is not -inf"),
    ("logaddexp(x, y)", {"x": -INF, "y": -INF}, "undefined", "logaddexp needs a term that is not -inf"),
    (
        "logaddexp(logaddexp(x, y), z)",
        {"x": -INF, "y": -INF, "z": 2.0},
        "unchecked",
        "logaddexp needs a term that is not -inf",
    ),
    ("log2(x)", {"x": -1.0}, "undefined", "log2 needs x > 0"),
    ("x/y", {"x": 1.0, "y": 0.0}, "undefined", "a/b needs b != 0"),
    ("softplus(1/x)", {"x": 0.0}, "undefined", "1/x has no value here: a/b needs b != 0"),
    pytest.param(
        "U, S, V = svd(A); U @ diag(S) @ V",
        {"A": EQUAL},
        "unchecked",
        "needs singular values of which none is 0 and none are equal",
        id="svd",
        marks=pytest.mark.part("paste"),
    ),
    ("sum(x**0.5) + sum(abs(x)**1.5)", {"x": [0.0, 1.0]}, "undefined", "x**0.5 has no finite slope here: it does not"),
    ("sqrt(x) + abs(x)**1.5", {"x": 0.0}, "undefined", "sqrt(x) has no finite slope here: it does not exist on the"),
    ("abs(x)**1.5 + sqrt(x)", {"x": 0.0}, "undefined", "sqrt(x) has no finite slope here: it does not exist on the"),
    ("abs(x) + abs(x)**1.5", {"x": 0.0}, "kink", "abs(x) has a kink here"),
    ("norm(x) + abs(x)**1.5", {"x": [0.0]}, "kink", "norm(x) has no slope here"),
    ("svdvals(A)", {"A": EQUAL}, "kink", "svdvals(A) has singular values here that are equal"),
    ("eigvalsh(A)", {"A": EQUAL}, "kink", "eigvalsh(A) has eigenvalues here that are equal"),
]


@pytest.mark.parametrize(("text", "at", "verdict", "words"), REASONS)
@pytest.mark.one_in(4)
def test_a_reason_names_what_is_equal_masked_or_missing(
    text: str, at: dict[str, Any], verdict: str, words: str
) -> None:
    """It is of the function that was typed, and of no operation that its definition is made of."""
    wrt = ["x"] if "x" in at else [*at]
    check = Function(text).jacobian(at, wrt=wrt).check
    assert check is not None
    assert check.verdict == verdict
    notes = [finding.note for finding in check.findings]
    assert any(words in note for note in notes), notes


EIGEN = [
    # V diag(l²) Vᵀ is A @ A, smooth at every symmetric A
    pytest.param("l, V = eigh(A); V @ diag(l**2) @ V.T", marks=pytest.mark.part("paste")),
    pytest.param("l, V = eigh(A); (V @ diag(exp(l)) @ V.T).sum()", marks=pytest.mark.part("paste")),
    # orthonormal columns: the sum is 2 at every A
    "sum(eigenvectors(A)**2)",
    "V = eigenvectors(A); V @ V.T",
]
"""Functions that are smooth at equal eigenvalues, although no eigenvector is."""


@pytest.mark.parametrize(("text", "A"), in_turn(EIGEN, EQUAL, np.eye(3).tolist(), [[2.0, 0, 0], [0, 1, 0], [0, 0, 2]]))
@pytest.mark.one_in(2)
def test_no_derivative_that_exists_is_called_undefined(text: str, A: list[list[float]]) -> None:
    """Torch gives y its number, so that a definition without a value is no proof that y has none."""
    check: Check | None = Function(text).jacobian({"A": A}).check
    assert check is not None
    assert "undefined" not in {check.verdict, *(finding.verdict for finding in check.findings)}
    assert check.verdict == "unchecked"
    assert any("needs a symmetric matrix without equal eigenvalues" in finding.note for finding in check.findings)


@pytest.mark.parametrize("command", ["grad", "hessian", "hvp", "vjp", "jvp", "eval"])
@pytest.mark.one_in(2)
def test_no_command_calls_it_undefined(command: str) -> None:
    """All of them know that torch gives y a number."""
    options: dict[str, Any] = {"hvp": {"u": "ones"}, "jvp": {"u": "ones"}}.get(command, {})
    check: Check | None = getattr(Function("sum(eigenvectors(A)**2)"), command)({"A": EQUAL}, **options).check
    assert check is not None
    assert "undefined" not in {check.verdict, *(finding.verdict for finding in check.findings)}


@pytest.mark.parametrize(
    ("text", "x"), [("log(x)", -1.0), ("x/abs(x)", 0.0), ("sqrt(x)/x", 0.0), ("sin(1/x)", 0.0), ("1/x", 0.0)]
)
def test_what_torch_gives_no_number_stays_undefined(text: str, x: float) -> None:
    """Or what series prove to have none."""
    check = Function(text).grad({"x": x}).check
    assert check is not None
    assert check.verdict == "undefined"
