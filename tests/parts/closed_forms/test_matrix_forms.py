"""Gradients as a textbook prints them for whole tensors: each is proved to be the gradient, or is not shown."""

import json

import pytest

from gradcli import Function
from gradcli.language.program.shape_readings import NamedShape
from gradcli.symbolic.matrix_algebra.factoring import FormulaWriter
from gradcli.symbolic.matrix_algebra.spelling import WholeTensors, called

CLASSICS: list[tuple[str, dict[str, NamedShape], dict[str, str]]] = [
    ("a@x", {}, {"a": "x", "x": "a"}),
    ("x@x", {}, {"x": "2*x"}),
    ("x@A@x", {}, {"x": "(A + A.T)@x", "A": "outer(x, x)"}),
    ("sum((A@x-b)**2)", {}, {"A": "2*outer(A@x - b, x)", "x": "2*A.T@(A@x - b)", "b": "2*(b - A@x)"}),
    ("trace(A@X)", {"A": ("m", "n"), "X": ("n", "m")}, {"A": "X.T", "X": "A.T"}),
    ("trace(X.T@A@X)", {}, {"X": "(A + A.T)@X", "A": "X@X.T"}),
    ("log(det(X))", {}, {"X": "inv(X).T"}),
    (
        "a@inv(X)@b",
        {"a": (3,), "X": (3, 3), "b": (3,)},
        {"a": "inv(X)@b", "X": "-outer(inv(X).T@a, inv(X)@b)", "b": "inv(X).T@a"},
    ),
    ("-sum(t*log_softmax(x))", {}, {"t": "logsumexp(x) - x", "x": "sum(t)*softmax(x) - t"}),
    (
        "sum(softplus(X@w) - y*(X@w))",
        {},
        {"X": "outer(sigmoid(X@w) - y, w)", "w": "X.T@(sigmoid(X@w) - y)", "y": "-X@w"},
    ),
    ("mean((X@w-y)**2)", {}, {"X": "2*outer(X@w - y, w)/m", "w": "2*X.T@(X@w - y)/m", "y": "2*(y - X@w)/m"}),
    (
        "sum((X@Y-M)**2)",
        {"X": ("m", "n"), "Y": ("n", "p"), "M": ("m", "p")},
        {"X": "2*(X@Y - M)@Y.T", "Y": "2*X.T@(X@Y - M)", "M": "2*(M - X@Y)"},
    ),
    ("norm(x)", {}, {"x": "x/norm(x)"}),
    ("det(A)", {}, {"A": "det(A)*inv(A).T"}),
    ("sum(sin(x))", {}, {"x": "cos(x)"}),
    ("exp(trace(A@X))", {"A": ("m", "n"), "X": ("n", "m")}, {"A": "exp(trace(A@X))*X.T", "X": "exp(trace(A@X))*A.T"}),
    ("sum(relu(x))", {}, {"x": "(x > 0)"}),
    ("sum(maximum(x, y))", {}, {"x": "(x > y)", "y": "(y > x)"}),
    ("sum(where(x < 0, x**2, 0))", {}, {"x": "2*(x⊙(x < 0))"}),
    (
        "norm(relu(W@x) - y)**2",
        {},
        {
            "W": "2*outer((W@x > 0)⊙(relu(W@x) - y), x)",
            "x": "2*W.T@((W@x > 0)⊙(relu(W@x) - y))",
            "y": "2*(y - relu(W@x))",
        },
    ),
    ("sum(relu(A@x))", {}, {"A": "outer((A@x > 0), x)", "x": "A.T@(A@x > 0)"}),
    ("sum(clamp(x, 0, 1))", {}, {"x": "(x > 0)⊙(1 > relu(x))"}),
    ("sum(abs(A@x - b))", {}, {"A": "outer(sign(A@x - b), x)", "x": "A.T@sign(A@x - b)", "b": "-sign(A@x - b)"}),
    ("x**2", {}, {}),  # the formula for one element says it all
]


@pytest.mark.parametrize(("text", "shapes", "expected"), CLASSICS, ids=[text for text, _, _ in CLASSICS])
@pytest.mark.one_in(4)
def test_the_classics(text: str, shapes: dict[str, NamedShape], expected: dict[str, str]) -> None:
    found = Function(text).closed_form("grad", shape=shapes).matrices
    assert {name: one.pretty for name, one in found.items()} == expected
    assert all(one.text == one.pretty for one in found.values())


OTHERS: list[tuple[str, str, dict[str, NamedShape], dict[str, str]]] = [
    ("jacobian", "A@x", {"A": ("m", "n"), "x": ("n",)}, {"x": "A"}),
    ("jacobian", "softmax(x)", {"x": ("n",)}, {"x": "diag(softmax(x)) - outer(softmax(x), softmax(x))"}),
    ("jacobian", "x/norm(x)", {"x": ("n",)}, {"x": "(eye(n) - outer(x, x)/norm(x)**2)/norm(x)"}),
    ("jacobian", "relu(A@x)", {"A": ("m", "n"), "x": ("n",)}, {"x": "diag((A@x > 0))@A"}),
    ("jacobian", "exp(A@x)", {"A": ("m", "n"), "x": ("n",)}, {"x": "diag(exp(A@x))@A"}),
    ("hessian", "x.T@A@x", {"A": ("n", "n"), "x": ("n",)}, {"x": "A + A.T"}),
    ("hessian", "norm(A@x - b)**2", {"A": ("m", "n"), "x": ("n",), "b": ("m",)}, {"x": "2*A.T@A", "b": "2*eye(m)"}),
    ("vjp", "A@x", {"A": ("m", "n"), "x": ("n",)}, {"A": "outer(v, x)", "x": "A.T@v"}),
]


@pytest.mark.parametrize(("command", "text", "shapes", "expected"), OTHERS, ids=[f"{c} {t}" for c, t, _, _ in OTHERS])
@pytest.mark.one_in(4)
def test_other_derivatives(command: str, text: str, shapes: dict[str, NamedShape], expected: dict[str, str]) -> None:
    """Jacobians of vectors as matrices, Hessians by one vector, and the products with any v."""
    found = Function(text).closed_form(command, shape=shapes).matrices
    assert {name: one.text for name, one in found.items() if name in expected} == expected


MATHEMATICS = [
    ("norm(A@x - b)**2", "x", "2·Aᵀ(Ax − b)", r"2 A^\top (A x - b)"),
    ("(x - mu)@inv(S)@(x - mu)", "x", "(S⁻¹ + S⁻ᵀ)(x − μ)", r"(S^{-1} + S^{-\top}) (x - \mu)"),
    ("x@A@x/(x@x)", "A", "xxᵀ/(xᵀx)", r"\frac{x x^\top}{x^\top x}"),
    ("det(X)", "X", "det(X)·X⁻ᵀ", r"\det(X) X^{-\top}"),
    ("norm(x - mu)", "x", "(x − μ)/‖x − μ‖", r"\frac{x - \mu}{\lVert x - \mu \rVert}"),
    ("a@X@b", "X", "abᵀ", r"a b^\top"),
]


@pytest.mark.parametrize(("text", "name", "pretty", "latex"), MATHEMATICS, ids=[text for text, *_ in MATHEMATICS])
@pytest.mark.one_in(2)
def test_mathematics(text: str, name: str, pretty: str, latex: str) -> None:
    """The same formula is written as people do who write mathematics."""
    found = Function(text).closed_form("grad", wrt=[name]).matrices[name]
    assert isinstance(found, WholeTensors)
    assert (found.mathematics.pretty, found.latex) == (pretty, latex)


MATRIXCALCULUS = [
    ("0.5*x'*A*x", "x", "(A + Aᵀ)x/2", "0.5·(Ax + Aᵀx)"),
    ("(y.*v)'*x", "x", "v ⊙ y", "y ⊙ v"),
    ("norm1(A*x-y)", "x", "Aᵀ·sign(Ax − y)", "Aᵀ·sign(Ax − y)"),
    ("norm2(A*x-y)^2", "x", "2·Aᵀ(Ax − y)", "2·Aᵀ(Ax − y)"),
    (
        "sum(log(exp(-y.*(X*w)) + vector(1)))",
        "w",
        "−Xᵀ(y ⊙ sigmoid(−y ⊙ (Xw)))",
        "−Xᵀ(exp(−y ⊙ (Xw)) ⊙ y ⊘ (exp(−y ⊙ (Xw)) + 1))",
    ),
    ("tr(A*X'*B*X*C)", "X", "BXCA + BᵀXAᵀCᵀ", "BᵀXAᵀCᵀ + BXCA"),
    ("x'*A*x + c*sin(y)'*x", "x", "(A + Aᵀ)x + c·sin(y)", "Ax + Aᵀx + c·sin(y)"),
]
"""Examples of the documentation of matrixcalculus.org, and what the differential of each term gives for them."""


@pytest.mark.parametrize(("text", "name", "pretty", "term_by_term"), MATRIXCALCULUS, ids=[x[0] for x in MATRIXCALCULUS])
def test_a_formula_is_hardly_longer_than_its_differential(text: str, name: str, pretty: str, term_by_term: str) -> None:
    """A factor in common is one character more where its operand has one letter."""
    found = Function(text).closed_form("grad", wrt=[name]).matrices[name]
    assert isinstance(found, WholeTensors)
    assert found.mathematics.pretty == pretty
    assert len(pretty) <= len(term_by_term) + 1


@pytest.mark.parametrize(
    ("command", "text", "compared"),
    [
        ("grad", "x@inv(S)@x", (36, "n = 3")),
        ("hessian", "x@inv(S)@x/2", (27, "n = 3")),
        ("grad", "x@x", (18, "points")),
    ],
)
def test_what_is_proved_is_compared_with_numbers_too(command: str, text: str, compared: tuple[int, str]) -> None:
    """At small sizes, where the formula of one element cannot be compared."""
    check = Function(text).closed_form(command, wrt=["x", "S"] if command == "grad" and "S" in text else ["x"]).check
    assert (check.verdict, check.checked, check.entries) == ("agree", compared[0], compared[0])
    assert check.chosen.endswith(compared[1])


def test_a_wrong_formula_of_whole_tensors_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even one that is said to be proved."""
    monkeypatch.setattr("gradcli.parts.claims.is_proved_derivative", lambda *_: True)
    right = FormulaWriter.write
    monkeypatch.setattr(FormulaWriter, "write", lambda self, form: called("exp", right(self, form)))
    answer = Function("x@inv(S)@x").closed_form("grad", wrt=["x"])
    assert (answer.matrices, answer.check.verdict) == ({}, "unchecked")


@pytest.mark.parametrize(
    ("text", "words"),
    [("trace(A*X*inv(B))", "multiplies element by element"), ("norm(A*x - b)**2", "A is a number here")],
)
def test_a_product_that_was_likely_meant_of_matrices_is_remarked_on(text: str, words: str) -> None:
    """Without values, too."""
    assert any(words in one for one in Function(text).closed_form("grad", wrt=["x" if "x" in text else "X"]).warnings)


@pytest.mark.parametrize(("text", "rows", "matrix"), [("logdet(X)", "n", "X"), ("logdet(X.T@X)", "m", "X.T@X")])
@pytest.mark.one_in(2)
def test_conditions_are_said(text: str, rows: str, matrix: str) -> None:
    """An inverse needs a matrix that has one."""
    answer = Function(text).closed_form("grad", shape={"X": (rows, "n")})
    assert answer.remarks == (f"formulas of whole tensors hold where {matrix} is invertible",)


def test_json_and_latex_have_them() -> None:
    answer = Function("a@inv(X)@b").closed_form("grad", shape={"a": (3,), "X": (3, 3), "b": (3,)})
    assert json.loads(answer.to_json())["matrix"]["X"] == "-outer(inv(X).T@a, inv(X)@b)"
    assert answer.matrices["X"].latex == r"-X^{-\top} a (X^{-1} b)^\top"


def test_what_is_not_proved_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula is read back and proved, whatever the algebra says."""
    right = FormulaWriter.write
    monkeypatch.setattr(FormulaWriter, "write", lambda self, form: called("exp", right(self, form)))
    assert Function("x@A@x").closed_form("grad").matrices == {}
