"""Gradients as a textbook prints them for whole tensors: each is proved to be the gradient, or is not shown."""

import json

import pytest

from gradcli import Function
from gradcli.language.program.named_shapes import NamedShape
from gradcli.symbolic.matrix_algebra.factoring import FormulaWriter
from gradcli.symbolic.matrix_algebra.spelling import called

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
    # no product of matrices, and no sum
    ("x**2", {}, {}),
    ("sum(sin(x))", {}, {}),
]


@pytest.mark.parametrize(("text", "shapes", "expected"), CLASSICS, ids=[text for text, _, _ in CLASSICS])
def test_the_classics(text: str, shapes: dict[str, NamedShape], expected: dict[str, str]) -> None:
    found = Function(text).closed_form("grad", shape=shapes).matrices
    assert {name: one.pretty for name, one in found.items()} == expected
    assert all(one.text == one.pretty for one in found.values())


def test_json_and_latex_have_them() -> None:
    answer = Function("a@inv(X)@b").closed_form("grad", shape={"a": (3,), "X": (3, 3), "b": (3,)})
    assert json.loads(answer.to_json())["matrix"]["X"] == "-outer(inv(X).T@a, inv(X)@b)"
    assert answer.matrices["X"].latex == r"-X^{-\top} a (X^{-1} b)^\top"


def test_what_is_not_proved_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula is read back and proved, whatever the algebra says."""
    right = FormulaWriter.write
    monkeypatch.setattr(FormulaWriter, "write", lambda self, form: called("exp", right(self, form)))
    assert Function("x@A@x").closed_form("grad").matrices == {}
