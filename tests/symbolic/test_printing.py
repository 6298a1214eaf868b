"""Formulas for people, in Unicode and in LaTeX; each was read and is what one would write by hand."""

from collections.abc import Mapping

import numpy as np
import pytest
import sympy

from gradcli import Function
from gradcli.symbolic.printing.latex import LatexPrinter
from gradcli.symbolic.printing.pretty import PrettyPrinter
from tests import latex

At = Mapping[str, object]

FORMULAS: list[tuple[str, At, list[str]]] = [
    ("x**y", {"x": 2, "y": 3}, ["y·x^(y - 1)"]),
    ("sum(exp(x))*x", {"x": [1, 2]}, ["x[i]·exp(x[j]) + (Σ[k=0..1] exp(x[k]))·δ[i,j]"]),
    ("softmax(x)", {"x": [1, 2, 3]}, [
        "exp(x[i])/(Σ[k=0..2] exp(x[k]))·δ[i,j] - exp(x[i])·exp(x[j])/(Σ[k=0..2] exp(x[k]))²",
        r"\frac{e^{x_{i}} \delta_{i j}}{\sum_{k=0}^{2} e^{x_{k}}} - \frac{e^{x_{i}} e^{x_{j}}}{\left(\sum_{k=0}^{2} "
        r"e^{x_{k}}\right)^{2}}",
    ]),
    ("norm(x)", {"x": [3, 4]}, ["x[j]/√(Σ[k=0..1] x[k]²)"]),
    ("mean((x-t)**2)", {"x": [1, 2], "t": [0, 1]}, ["x[j] - t[j]"]),
    ("where(x>0, sqrt(x), 0)", {"x": [1, 2]}, ["{1/(2·√x[i]) if x[i] > 0; 0 otherwise}·δ[i,j]"]),
    ("clamp(x,0,1)", {"x": [0.5, 2.0]}, ["{1 if 0 ≤ x[i] ≤ 1; 0 otherwise}·δ[i,j]"]),
    ("where(x>0,x,0)*where(x<1,1,0)", {"x": [0.5, 2.0]}, ["{1 if 0 < x[i] < 1; 0 otherwise}·δ[i,j]"]),
    ("relu(1-relu(x))", {"x": [0.5, 2.0]}, ["-{1 if 1 - x[i] ≥ 0 and x[i] ≥ 0; 0 otherwise}·δ[i,j]"]),
    ("A@x", {"A": [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], "x": [1, 2]}, ["x[k]·δ[i,j]"]),
    ("det(A)", {"A": [[1.1, 0.1, 0.1], [0.1, 1.1, 0.1], [0.1, 0.1, 1.1]]}, ["inv(A)[k,j]·det(A)"]),
    ("x[1:]-x[:-1]", {"x": [1.0, 2.0, 4.0, 8.0]}, ["δ[j,i+1] - δ[i,j]"]),
    ("x[1:]*w[0]+x[:-1]*w[1]", {"x": [1.0, 2.0, 4.0, 8.0], "w": [1, 2]}, ["w[1]·δ[i,j] + w[0]·δ[j,i+1]"]),
    ("gelu(x)", {"x": [1, 2]}, ["(erf(x[i]/√2)/2 + 1/2 + x[i]·exp(-x[i]²/2)/√(2·π))·δ[i,j]"]),
    ("lgamma(x)", {"x": [1.5, 2.0]}, ["digamma(x[i])·δ[i,j]"]),
    ("sigmoid(x)", {"x": [1, 2]}, ["exp(-x[i])/(1 + exp(-x[i]))²·δ[i,j]"]),
    ("amax(x)", {"x": [1, 2]}, [
        "{1 if x[j] = max[k=0..1] x[k]; 0 otherwise}",
        r"\begin{cases} 1 & \text{if } x_{j} = \max_{0 \le k \le 1} x_{k} \\ 0 & \text{otherwise} \end{cases}",
    ]),
    ("prod(x)", {"x": [1, 2]}, ["Π[k=0..1, k≠j] x[k]", r"\prod_{k=0,\ k \neq j}^{1} x_{k}"]),
    ("prod(x)", {"x": [[1, 2], [0, 4]]}, ["Π[l=0..1, m=0..1, l≠j or m≠k] x[l,m]"]),
    ("var(x)", {"x": [1, 2, 3]}, ["x[j] - (Σ[k=0..2] x[k])/3"]),
    ("cumprod(x)", {"x": [1, 0, 3]}, ["{(Π[k=0..j-1] x[k])·Π[k=j+1..i] x[k] if i ≥ j; 0 otherwise}"]),
    ("x/norm(x)", {"x": [3, 4]}, ["1/√(Σ[k=0..1] x[k]²)·δ[i,j] - x[i]·x[j]/(Σ[k=0..1] x[k]²)^(3/2)"]),
    ("x@A@x", {"A": [[1.0, 1.0], [1.0, 1.0]], "x": [1, 2]}, ["Σ[k=0..1] A[j,k]·x[k] + Σ[k=0..1] A[k,j]·x[k]"]),
    ("sinc(x)", {"x": [1, 2]}, ["{0 if x[i] = 0; (cos(π·x[i]) - sinc(x[i]))/x[i] otherwise}·δ[i,j]"]),
    ("solve(A,b)", {"A": [[1.0, 0.0], [0.0, 1.0]], "b": [1, 2]}, ["-inv(A)[i,j]·Σ[n=0..1] b[n]·inv(A)[k,n]"]),
    ("exp(x[i])", {"x": [1, 2, 3], "i": [0, -1]}, [
        "exp(x[{i[j] + 3 if i[j] < 0; i[j] otherwise}])·δ[k,{i[j] + 3 if i[j] < 0; i[j] otherwise}]"
    ]),
    ("x.view(2,3).T", {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}, ["δ[k,i+3·j]"]),
    ("1e-8*x**2*3.7", {"x": [1, 2]}, ["7.4e-08·x[i]·δ[i,j]", r"7.4 \cdot 10^{-8} \delta_{i j} x_{i}"]),
    ("sin(x)**2*cos(x)", {"x": [1, 2]}, [
        "(2·sin(x[i])·cos(x[i])² - sin(x[i])³)·δ[i,j]",
        r"\left(2 \sin{\left(x_{i} \right)} \cos^{2}{\left(x_{i} \right)} - \sin^{3}{\left(x_{i} \right)}\right) "
        r"\delta_{i j}",
    ]),
    ("exp(-sum(x**2)/(2*s**2))/s", {"x": [0.1, 0.2], "s": 2}, [
        "-x[j]·exp(-(Σ[k=0..1] x[k]²)/(2·s²))/s³",
        r"- \frac{\left(e^{- \frac{\sum_{k=0}^{1} x_{k}^{2}}{2 s^{2}}}\right) x_{j}}{s^{3}}",
    ]),
    ("where((x>0)&(x<1), x**2, -x)", {"x": [1.5, 2.0]}, ["{2·x[i] if 0 < x[i] < 1; -1 otherwise}·δ[i,j]"]),
    ("inv(A)", {"A": [[1.1, 0.1, 0.1], [0.1, 1.1, 0.1], [0.1, 0.1, 1.1]]}, [
        "-inv(A)[i,k]·inv(A)[l,j]",
        r"- \left(A^{-1}\right)_{i,k} \left(A^{-1}\right)_{l,j}",
    ]),
    ("x**(1/3)", {"x": [1, 2]}, ["1/(3·x[i]^(2/3))·δ[i,j]", r"\frac{\delta_{i j}}{3 x_{i}^{2/3}}"]),
    ("x**y", {"x": [1, 2], "y": [2, 3]}, ["y[i]·x[i]^(y[i] - 1)·δ[i,j]", r"\delta_{i j} x_{i}^{y_{i} - 1} y_{i}"]),
    ("2**x", {"x": [3, 4]}, ["log(2)·2^x[i]·δ[i,j]", r"2^{x_{i}} \log{\left(2 \right)} \delta_{i j}"]),
    ("floor(x)*x", {"x": [1.5, 2.0]}, ["⌊x[i]⌋·δ[i,j]", r"\delta_{i j} \left\lfloor{x_{i}}\right\rfloor"]),
    ("polygamma(2,x)", {"x": [1.5, 2.0]}, ["polygamma(3, x[i])·δ[i,j]", r"\delta_{i j} \psi^{(3)}\left(x_{i}\right)"]),
]  # fmt: skip
"""A function at its point, and its first formula in Unicode, or in Unicode and in LaTeX."""


@pytest.mark.parametrize(("text", "at", "shown"), FORMULAS, ids=[text for text, _, _ in FORMULAS])
@pytest.mark.one_in(2)
def test_formulas_for_people(text: str, at: At, shown: list[str]) -> None:
    """Unicode mathematics, never SymPy's markup, and LaTeX that compiles: as one would write them."""
    answer = Function(text).jacobian(at)  # type: ignore[arg-type]
    cell = answer.symbolic[answer.wrt[0]].cells[0]
    assert [cell.pretty, cell.latex][: len(shown)] == shown
    latex.check(cell.latex, is_math=True)


def test_labels_in_latex() -> None:
    """Partial derivatives of elements, the indices that are written out among them."""
    cells = Function("[x**2, 5*x]").jacobian({"x": [1, 2]}).symbolic["x"].cells
    assert [cell.label.latex for cell in cells] == [
        r"\frac{\partial y_{0,i}}{\partial x_{j}}",
        r"\frac{\partial y_{1,i}}{\partial x_{j}}",
    ]
    assert [(cell.row, cell.column) for cell in cells] == [("y[0,i]", "x[j]"), ("y[1,i]", "x[j]")]


ARRANGEMENTS = [
    ("(x + y)**2", "(x + y)²", r"\left(x + y\right)^{2}"),
    ("-(x - y)*z", "z·(y - x)", r"z \left(y - x\right)"),
    ("(x*y)**z", "(x·y)^z", r"\left(x y\right)^{z}"),
    ("x/(y/z + 1)", "x/(y/z + 1)", r"\frac{x}{\frac{y}{z} + 1}"),
    ("Abs(x)**3", "|x|³", r"\left|{x}\right|^{3}"),
    ("Abs(Abs(x) - 1)", "abs(|x| - 1)", r"\left|{\left|{x}\right| - 1}\right|"),
    ("sqrt(x)**3", "x^(3/2)", "x^{3/2}"),
    ("oo*x", "∞·x", r"\infty x"),
    ("Sum(k + x, (k, 0, 3))**2", "(Σ[k=0..3] (k + x))²", r"\left(\sum_{k=0}^{3} \left(k + x\right)\right)^{2}"),
    ("y/Sum(x*k, (k, 0, 3))", "y/Σ[k=0..3] k·x", r"\frac{y}{\sum_{k=0}^{3} k x}"),
    ("Rational(-1, 3)*x", "-x/3", r"- \frac{x}{3}"),
    ("(x - 1)*(y + 1)/2", "(x - 1)·(y + 1)/2", r"\frac{\left(x - 1\right) \left(y + 1\right)}{2}"),
    ("-x*(-y - 1)", "-x·(-y - 1)", r"- x \left(- y - 1\right)"),
]


@pytest.mark.parametrize(("expression", "pretty", "written"), ARRANGEMENTS)
def test_arrangement(expression: str, pretty: str, written: str) -> None:
    """Of sums, products, powers and roots inside one another."""
    read = sympy.parse_expr(expression, local_dict={name: sympy.Symbol(name, positive=name == "n") for name in "xyzk"})
    assert PrettyPrinter().doprint(read) == pretty
    assert LatexPrinter().doprint(read) == written
    latex.check(written, is_math=True)


NAMES = [
    ("alpha", r"\alpha"),
    ("weight", r"\mathit{weight}"),
    ("_", r"\_"),
    ("größe", r"\mathit{gr\mathrm{U{+}00F6}\mathrm{U{+}00DF}e}"),
    ("変数", r"\mathit{\mathrm{U{+}5909}\mathrm{U{+}6570}}"),
]


@pytest.mark.parametrize(("name", "expected"), NAMES)
def test_names_in_latex(name: str, expected: str) -> None:
    """Whatever a user calls a variable compiles."""
    cell = Function(f"{name}**2").jacobian({name: [1.0, 2.0]}).symbolic[name].cells[0]
    assert cell.latex == rf"2 \delta_{{i j}} {expected}_{{i}}"
    assert cell.label.latex == rf"\frac{{\partial y_{{i}}}}{{\partial {expected}_{{j}}}}"
    latex.check(cell.latex + cell.label.latex, is_math=True)


WRONG = [
    "{",
    r"\frac{1}",
    r"\unknown",
    "x^2",
    "&",
    "é",
    r"\begin{cases} a & b & c \end{cases}",
    r"\begin{cases} {a & b} \end{cases}",
    r"\text{x_1}",
    "^{2}",
    r"\begin{bmatrix} 1 \end{cases}",
    r"\begin{cases} a & b \\ [c] & d \end{cases}",
]


@pytest.mark.parametrize("wrong", WRONG)
def test_the_validator_finds_what_would_not_compile(wrong: str) -> None:
    """Or the tests above would say nothing."""
    with pytest.raises(latex.LatexError):
        latex.check(wrong, is_math=True)


def test_indices_take_letters_that_no_variable_has() -> None:
    """With variables i and k, the indices are j and l."""
    answer = Function("i*k").jacobian({"i": np.ones(3), "k": 2.0})
    assert answer.symbolic["i"].cells[0].pretty == "k·δ[j,l]"
    assert answer.symbolic["i"].cells[0].row == "y[j]"


def test_the_output_is_not_called_like_a_variable() -> None:
    """With a variable y, the output is f."""
    answer = Function("x*y").jacobian({"x": 2, "y": 3})
    assert (answer.symbolic["y"].cells[0].row, answer.symbolic["y"].cells[0].column) == ("f", "y")


def test_a_choice_within_a_condition_is_written() -> None:
    """Which SymPy folds into one choice, or fails on."""
    text = "t0 = maximum(u, A); t1 = smooth_l1_loss(u, u, reduction='sum', beta=0.5); huber_loss(t1*t0, tanh(A))"
    answer = Function(text).jacobian({"A": [[1.13], [1.28]], "u": [-0.69]})
    assert "Piecewise" in answer.symbolic["A"].text
