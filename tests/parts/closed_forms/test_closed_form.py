"""Formulas without a point: which shapes variables are taken to have, what is printed, what is refused."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
import sympy

from gradcli import Function, GradcliError
from gradcli.language.program.named_shapes import named_shapes
from gradcli.parts.batch.asking import answer
from gradcli.parts.batch.request_lines import read
from gradcli.results import ClosedForm
from gradcli.symbolic.derivative import Derivative, OutputElement
from tests.conftest import Command
from tests.parsing import parse

SHAPES: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "sin(x)*x": {"x": ()},
    "sum(w*x**2)": {"w": ("n",), "x": ("n",)},
    "sum(x) + sum(y)": {"x": ("n",), "y": ("p",)},
    "softmax(x, 1)": {"x": ("m", "n")},
    "(x*x*w).sum(1)": {"x": ("m", "n"), "w": ("m", "n")},
    "A@x + b": {"A": ("m", "n"), "x": ("n",), "b": ("m",)},
    "x@A@x": {"x": ("n",), "A": ("n", "n")},
    "mean((X@w - y)**2)": {"X": ("m", "n"), "w": ("n",), "y": ("m",)},
    "A@B@C": {"A": ("m", "n"), "B": ("n", "p"), "C": ("p", "q")},
    "det(A)": {"A": ("n", "n")},
    "inv(A)@b": {"A": ("n", "n"), "b": ("n",)},
    "einsum('ij,j->i', A, x)": {"A": ("m", "n"), "x": ("n",)},
    "x[0]*x[1]": {"x": (2,)},
    "x[0]*sum(x)": {"x": ("n",)},
    "x[1:] - x[:-1]": {"x": ("n",)},
    "cat([x, x**2])": {"x": ("n",)},
    "[[1,2],[3,4]]@x": {"x": (2,)},
    "x.view(3, 2)": {"x": (6,)},
    "x.T @ tril(y)": {"x": ("m", "n"), "y": ("m", "p")},
    "cumsum(n)*m": {"n": ("p",), "m": ()},
}
"""Shapes of the variables of an expression where nobody says; a size has no name that a variable has."""


@pytest.mark.parametrize("expression", [*SHAPES])
def test_variables_have_the_shapes_that_the_operations_need(expression: str) -> None:
    """The fewest dimensions, and sizes that differ where they can."""
    assert named_shapes(parse(expression), {}).given == SHAPES[expression]


SIZES = [
    ("cat([x, x**2])", ("2*n",)),
    ("x[1:] - x[:-1]", ("n - 1",)),
    ("cat([flatten(A), zeros(3)])", ("m*n + 3",)),
    ("[sum(x), sum(x**2)]", ("2",)),
]


@pytest.mark.parametrize(("expression", "shape"), SIZES)
def test_other_sizes_are_made_of_names(expression: str, shape: tuple[str, ...]) -> None:
    """Lists, slices and views make others of them."""
    found = named_shapes(parse(expression), {})
    assert found.in_names(found.shapes[found.program.output]) == shape


def test_numbers_that_happen_to_be_the_same_are_told_apart() -> None:
    """The number that stands for n is 211; so is the size of the constant, which is no n."""
    found = named_shapes(parse("cat([x, zeros(211)])"), {})
    assert found.in_names(found.shapes[found.program.output]) == ("n + 211",)
    assert Function("sum(cat([x, zeros(211)]))*mean(x)").closed_form("grad").blocks["", "x"].text.count("211") == 0


TRUTHS: list[tuple[str, str, dict[str, str]]] = [
    ("grad", "sin(x)*x", {"x": "x·cos(x) + sin(x)"}),
    ("grad", "sum(w*x**2)", {"w": "x[j]²", "x": "2·w[j]·x[j]"}),
    ("grad", "var(x)", {"x": "2·(x[j] - (Σ[k=0..n-1] x[k])/n)/(n - 1)"}),
    ("jacobian", "x - x.mean()", {"x": "δ[i,j] - 1/n"}),
    ("jacobian", "x[1:] - x[:-1]", {"x": "δ[j,i+1] - δ[i,j]"}),
    ("jvp", "A@x", {"": "Σ[k=0..n-1] (A[i,k]·u_x[k] + u_A[i,k]·x[k])"}),
    ("hvp", "sum(x**3)", {"x": "6·u[j]·x[j]"}),
    ("jacobian", "cat([x, zeros(2)])", {"x": "{1 if i ≤ n - 1; 0 otherwise}·δ[i,j]"}),
    ("jacobian", "flip(x, 0)*x", {"x": "x[n-i-1]·δ[i,j] + x[i]·δ[j,n-i-1]"}),
    ("", "x**2", {"x": "2·x"}),
]


@pytest.mark.parametrize(("of", "expression", "expected"), TRUTHS)
def test_formulas_are_those_of_textbooks(of: str, expression: str, expected: dict[str, str]) -> None:
    """Derived by hand, and confirmed at random points."""
    answer = Function(expression).closed_form(of)
    assert {name: formula.pretty for name, formula in answer.symbolic.items()} == expected
    assert answer.check.verdict == "agree"
    assert answer.check.sampled
    assert not answer.check.proven


def test_a_product_is_weighted_by_v() -> None:
    """Or by another letter, where v is a variable."""
    answer = Function("A@x").closed_form("vjp")
    assert {name: one.pretty for name, one in answer.products.items()} == {
        "A": "v[j]·x[k]",
        "x": "Σ[k=0..m-1] A[k,j]·v[k]",
    }
    assert Function("v**2").closed_form("vjp", shape={"v": "n"}).products["v"].text == "2*v[j]*v_[j]"


def test_a_hessian_has_all_its_blocks() -> None:
    """By the variables of row and column."""
    found = Function("x@A@x").closed_form("hessian").symbolic
    assert found["x"]["x"].pretty == "A[i,j] + A[j,i]"
    assert found["x"]["A"].pretty == "x[k]·δ[i,j] + x[j]·δ[i,k]"


def test_a_wrong_formula_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not shown, and the verdict says so."""
    right = OutputElement.differentiated

    def wrong(output: OutputElement, variable: sympy.Symbol) -> Derivative:
        found = right(output, variable)
        return replace(found, cases=tuple((chosen, 2 * expression) for chosen, expression in found.cases))

    monkeypatch.setattr(OutputElement, "differentiated", wrong)
    answer = Function("sum(x**2)").closed_form("grad")
    assert answer.check.verdict == "disagree"
    assert not answer.blocks
    assert "the truth is" in answer.omitted["", "x"]


def test_every_format_has_the_formulas(gradcli: Command) -> None:
    """For people and for programs."""
    words = ("grad", "sum(w*x**2)")
    assert gradcli(*words, "--format", "plain").out == "x[j]**2\n2*w[j]*x[j]\n"
    assert gradcli(*words, "--format", "csv").out == "derivative,formula\ndy/dw[j],x[j]**2\ndy/dx[j],2*w[j]*x[j]\n"
    found = json.loads(gradcli(*words, "--json").out)
    assert found["symbolic"] == {"w": "x[j]**2", "x": "2*w[j]*x[j]"}
    assert found["shapes"] == {"y": [], "w": ["n"], "x": ["n"]}
    assert found["check"]["verdict"] == "agree"
    assert r"2 w_{j} x_{j}" in gradcli(*words, "--format", "latex").out
    assert "2·w[j]·x[j]" in gradcli(*words, "--format", "markdown").out
    assert "2·w[j]·x[j]" in gradcli(*words, "--full").out
    assert re.search(r"for numbers, add --at w=VALUE --at x=VALUE\n$", gradcli(*words).out)


def test_an_expression_alone_is_differentiated(gradcli: Command) -> None:
    """The gradient of one element, else the Jacobian."""
    assert "∂y/∂x = 2·x   ✓ agree" in gradcli("x^2").out
    assert "2·x[i]·δ[i,j]" in gradcli("x^2", "--shape", "n").out


@pytest.mark.parametrize(("shape", "expected"), [(None, ()), ({"x": [2, "n"]}, ("2", "n")), (3, ("3",))])
def test_a_request_without_values_is_answered_by_a_formula(shape: object, expected: tuple[str, ...]) -> None:
    """As a command is; shapes are texts, numbers or lists of both."""
    found = answer(read(json.dumps({"command": "jacobian", "expression": "x**2", "shape": shape}).encode()))
    assert isinstance(found, ClosedForm)
    assert found.shapes["x"] == expected


def test_a_shape_of_a_request_is_checked() -> None:
    """A size is no number with a fraction."""
    with pytest.raises(GradcliError, match="must be a shape"):
        answer(read(b'{"command": "jacobian", "expression": "x**2", "shape": {"x": [1.5]}}'))
