"""Claims without values: for which shapes they are proved, and that none is refuted by a guess of one."""

from collections.abc import Mapping
from typing import Any

import pytest

from gradcli import Function, GradcliError, results

BATCH_NORM = "s = sqrt(var(x, correction=0) + eps); h = (x - mean(x))/s; (v - mean(v) - h*mean(v*h))/s"

PROVED = [
    ("x.T@x", "", "2*x", "x a vector of n"),
    ("x.T@A@x", "", "(A + A.T)@x", "x a vector of n, A an n × n matrix"),
    ("(x-mu).T@inv(S)@(x-mu)", "x", "(inv(S) + inv(S).T)@(x-mu)", "x a vector of n, mu a vector of n"),
    ("(y-X@w).T@(y-X@w) + lam*w.T@w", "w", "-2*X.T@(y-X@w) + 2*lam*w", "w a vector of p, lam a number"),
    ("norm(A@x-y)**2 + al*x@M@x", "x", "2*A.T@(A@x-y) + al*(M+M.T)@x", "A an m × n matrix, x a vector of n"),
    ("trace(X@X@B)", "X", "(X@B + B@X).T", "X an n × n matrix, B an n × n matrix"),
    ("trace(A@X@B)", "X", "A.T@B.T", "A an m × n matrix, X an n × p matrix, B a p × m matrix"),
    ("trace(inv(X)@A)", "X", "-(inv(X)@A@inv(X)).T", "X an n × n matrix, A an n × n matrix"),
    ("a.T@X.T@X@b", "X", "X@(outer(a,b) + outer(b,a))", "a a vector of n, X an m × n matrix, b a vector of n"),
    ("x.T@A@x/(x.T@x)", "x", "(A+A.T)@x/(x.T@x) - 2*(x.T@A@x)*x/(x.T@x)**2", "x a vector of n, A an n × n"),
    ("log(1+exp(-y*w.T@x))", "w", "-y*x*sigmoid(-y*w.T@x)", "y a number, w a vector of n, x a vector of n"),
    ("logdet(X)", "", "inv(X).T", "X an n × n matrix"),
    ("norm(A-U@V)**2", "U", "-2*(A-U@V)@V.T", "A an m × n matrix, U an m × p matrix, V a p × n matrix"),
    ("s = softmax(x); s", "", "diag(s) - outer(s, s)", "x a vector of n"),
    ("s = softmax(z); -sum(t*log(s))", "z", "s*sum(t) - t", "z a vector of n, t a vector of n"),
    ("(x - mean(x))/sqrt(var(x, correction=0) + eps)", "x", BATCH_NORM, "x a vector of n, eps a number"),
    ("A@x", "x", "A", "A an m × n matrix, x a vector of n"),
    ("A@x", "x", "A.T@v", "A an m × n matrix, x a vector of n"),
    ("a*norm(x)", "x", "a*x/norm(x)", "a a number, x a vector of n"),
    ("dot(x, y)", "", "x", "x a vector of n, y a vector of n"),
    ("x*y", "x", "y", "x a number, y a number"),
    ("sum(w*x**2)", "x", "2*w*x", "w a vector of n, x a vector of n"),
    ("X@w + b", "w", "X", "X an m × n matrix, w a vector of n, b a vector of m"),
    ("A@x", "x", "A.T", "A an m × n matrix, x a vector of n"),
]
"""A function, the variable (none: the shape tells it), the gradient or Jacobian, and the shapes of the proof."""


@pytest.mark.parametrize(("f", "variable", "claim", "words"), PROVED, ids=[f"{f}: {c}"[:60] for f, _, c, _ in PROVED])
@pytest.mark.one_in(8)
def test_a_true_claim_is_proved_without_values(f: str, variable: str, claim: str, words: str) -> None:
    """For the shapes that people mean, which the answer says."""
    answer = Function(f).check(claim={variable: claim})
    assert (answer.claims[0].status, answer.passed) == ("proved", True)
    assert words in answer.warnings[0]


REFUTED = [
    ("x.T@A@x", "x", "2*A@x"),
    ("x.T@A@x", "", "2*A@x"),
    ("(x-mu).T@inv(S)@(x-mu)", "x", "2*inv(S)@(x-mu)"),
    ("trace(X@X@B)", "X", "X@B + B@X"),
    ("trace(A@X)", "X", "A"),
    ("trace(inv(X)@A)", "X", "-inv(X)@A@inv(X)"),
    ("norm(A@x-y)**2", "x", "2*A@(A@x-y)"),
    ("a.T@X.T@X@b", "X", "X@(outer(a,b) + outer(a,b))"),
    ("logdet(X)", "", "inv(X)"),
    ("norm(A-U@V)**2", "U", "2*(A-U@V)@V.T"),
    ("x.T@x", "", "x"),
    ("A@x", "x", "2*A.T"),
]
"""A transpose, a factor, a sign or a symmetric matrix too much."""


@pytest.mark.parametrize(("f", "variable", "claim"), REFUTED, ids=[f"{f}: {c}"[:60] for f, _, c in REFUTED])
@pytest.mark.one_in(4)
def test_a_false_claim_is_refuted_without_values(f: str, variable: str, claim: str) -> None:
    """In each reading with which it makes sense, and by the numbers of one."""
    found = Function(f).check(claim={variable: claim}).claims[0]
    assert found.status == "refuted"
    assert found.truth != found.claimed or "transposed" in found.mistake


def test_a_claim_that_holds_in_one_reading_says_in_which_it_does_not() -> None:
    """The adjugate's rule needs square factors, which a determinant of their product does not."""
    answer = Function("det(A@X@B)").check(claim={"X": "det(A@X@B)*inv(X).T"})
    assert answer.claims[0].status != "refuted"
    assert any("for A an n × n matrix" in one and "it is refuted" in one for one in answer.remarks)
    shapes = {"A": "m,n", "X": "n,n", "B": "n,m"}
    assert Function("det(A@X@B)").check(claim={"X": "det(A@X@B)*inv(X).T"}, shape=shapes).claims[0].status == "refuted"


def test_shapes_may_be_given() -> None:
    """In sizes or in names of them, and not beside values."""
    f = Function("A@x")
    answer = f.check(claim={"x": "A"}, shape={"A": "3,n"})
    assert isinstance(answer, results.Checking)
    assert (answer.claims[0].status, answer.inputs["A"].shape[0]) == ("proved", 3)
    with pytest.raises(GradcliError, match="without values"):
        f.check({"x": [1.0], "A": [[1.0]]}, claim={"x": "A"}, shape={"x": "1"})


DIFFERENTIALS = [
    ("trace(A@X)", "df = trace(A@dX)", {"X": "proved"}),
    ("norm(A@x-b)**2", "df = 2*(A@x-b).T@A@dx", {"x": "proved"}),
    ("norm(A@x-b)**2", "df = (A@x-b).T@A@dx", {"x": "refuted"}),
    ("x.T@A@x", "df = dx.T@A@x + x.T@A@dx + x.T@dA@x", {"x": "proved", "A": "proved"}),
    ("A@x", "dy = A@dx", {"x": "proved"}),
    ("logdet(X)", "∂y = trace(inv(X)@dX)", {"X": "proved"}),
]


@pytest.mark.parametrize(("f", "claim", "found"), DIFFERENTIALS)
@pytest.mark.one_in(3)
def test_a_claim_may_be_a_differential(f: str, claim: str, found: dict[str, str]) -> None:
    """Of each variable that it names the differential of."""
    assert {one.variable: one.status for one in Function(f).check(claim={"": claim}).claims} == found


@pytest.mark.parametrize(
    ("claim", "said"), [("df = 2*x@dx + 1", "no dx"), ("df = dx@dx", "linear in dx"), ("df = x*dx", "has shape")]
)
def test_a_differential_is_linear_and_of_ys_shape(claim: str, said: str) -> None:
    """Anything else is no claim."""
    with pytest.raises(GradcliError, match=said):
        Function("x@x").check({"x": [1.0, 2.0]}, claim={"": claim})


@pytest.mark.parametrize(
    ("f", "claim", "names"), [("x.T@A@x", "x=2*A@x", "A"), ("trace(A@A)", "A=2*A", "A"), ("x.T@A@x", "x=3*A@x", "")]
)
def test_a_claim_that_needs_a_symmetric_matrix_says_so(f: str, claim: str, names: str) -> None:
    """It is refuted in general, and proved for these; another one is of none."""
    variable, _, text = claim.partition("=")
    found = Function(f).check(claim={variable: text}).claims[0]
    assert found.status == "refuted"
    assert ("it holds for symmetric" in found.note) == bool(names)


@pytest.mark.parametrize("shape", ["(1, -1)", "(-1, 1)"])
def test_a_gradient_may_be_a_row_or_a_column(shape: str) -> None:
    """It is told apart from a wrong one, and the answer says how it was read."""
    at: Mapping[str, Any] = {"x": [1.0, 2.0], "A": [[1.0, 2.0], [3.0, 4.0]]}
    for text, status in (("A + A.T", "proved"), ("2*A", "refuted")):
        (found,) = Function("x.T@A@x").check(at, claim={"x": f"(({text})@x).reshape{shape}"}).claims
        assert found.status == status
        assert "read as a " in found.note


def test_the_shape_tells_the_variable() -> None:
    """Where values are given, too; where it does not, the variable has to be named."""
    at: Mapping[str, Any] = {"x": [1.0, 2.0, 3.0], "A": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]}
    (found,) = Function("x.T@A@x").check(at, claim={"": "outer(x, x)"}).claims
    assert (found.variable, found.status) == ("A", "proved")
    with pytest.raises(GradcliError, match="names no variable"):
        Function("sum(x*y)").check({"x": [1.0, 2.0], "y": [3.0, 4.0]}, claim={"": "x"})


def test_a_claim_of_no_derivatives_shape_is_an_error() -> None:
    """Whatever the shapes are."""
    with pytest.raises(GradcliError, match="has shape"):
        Function("x.T@A@x").check(claim={"x": "outer(x, outer(x, x)@x)"})
