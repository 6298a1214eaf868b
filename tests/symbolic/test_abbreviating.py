"""Abbreviations: a part that formulas repeat is named once, as in a textbook, and means what it meant."""

import json
import pickle
from pathlib import Path

import pytest
import sympy

from gradcli import Function
from gradcli.language.program.sympy_functions import Total
from gradcli.symbolic.identity import vanishes
from gradcli.symbolic.linear import tidied
from gradcli.symbolic.printing.abbreviating import Definition, put_back
from tests import warm
from tests.checks import check_of
from tests.conftest import process

SOFTMAX = "s[i] = exp(x[i])/Σ[k=0..n-1] exp(x[k])"

BRIEF: list[tuple[str, str, list[str], list[str]]] = [
    ("vjp", "softmax(x)", ["s[j]·(v[j] - Σ[k=0..n-1] s[k]·v[k])", "s[i]·(δ[i,j] - s[j])"], [SOFTMAX]),
    ("grad", "softmax(x)[0]", ["s[0]·(δ[0,j] - s[j])"], [SOFTMAX]),
    (
        "jacobian",
        "softmax(A@x)",
        ["s[i]·(x[k]·δ[i,j] - s[j]·x[k])", "s[i]·(A[i,j] - Σ[l=0..m-1] A[l,j]·s[l])"],
        ["s[i] = g[i]/Σ[k=0..m-1] g[k]", "g[i] = exp(Σ[k=0..n-1] A[i,k]·x[k])"],
    ),
    ("grad", "trace(softmax(A, 1))", ["s[j,j]·(δ[j,k] - s[j,k])"], ["s[i,j] = exp(A[i,j])/Σ[k=0..n-1] exp(A[i,k])"]),
    ("grad", "sigmoid(x)", ["s·(1 - s)"], ["s = 1/(1 + exp(-x))"]),
    ("grad", "sigmoid(x - y)", ["s·(1 - s)", "-s·(1 - s)"], ["s = 1/(exp(y - x) + 1)"]),
    ("grad", "std(x)", ["(x[j] - m)/(√(n - 1)·√(Σ[l=0..n-1] (x[l] - m)²))"], ["m = (Σ[k=0..n-1] x[k])/n"]),
    ("hessian", "norm(x)", ["1/r·δ[i,j] - x[i]·x[j]/r³"], ["r = √(Σ[k=0..n-1] x[k]²)"]),
    ("grad", "log(sum(softmax(x)**2))", ["2·(s[j]² - c·s[j])/c"], [SOFTMAX, "c = Σ[k=0..n-1] s[k]²"]),
    (
        "grad",
        "sum((A@x-b)**2)",
        ["2·r[j]·x[k]", "2·Σ[l=0..m-1] A[l,j]·r[l]", "-2·r[j]"],
        ["r[i] = Σ[k=0..n-1] A[i,k]·x[k] - b[i]"],
    ),
    # nothing is repeated, or what is repeated is short
    ("grad", "norm(x)", ["x[j]/√(Σ[k=0..n-1] x[k]²)"], []),
    ("grad", "x*tanh(x/c)", ["tanh(x/c) + x·(1 - tanh(x/c)²)/c", "-x²·(1 - tanh(x/c)²)/c²"], []),
    # a condition is read where it stands
    (
        "grad",
        "where(sin(2*x)*exp(2*x) > 1, x, y)",
        ["{1 if exp(2·x)·sin(2·x) > 1; 0 otherwise}", "{0 if exp(2·x)·sin(2·x) > 1; 1 otherwise}"],
        [],
    ),
    # a name is a letter that stands for nothing else
    ("grad", "sigmoid(s)", ["p·(1 - p)"], ["p = 1/(1 + exp(-s))"]),
    ("jvp", "sigmoid(s)*p", ["q·(p·u_s·(1 - q) + u_p)"], ["q = 1/(1 + exp(-s))"]),
]


@pytest.mark.part("closed_forms")
def test_a_formula_does_not_hang_on_what_was_asked_before(tmp_path: Path) -> None:
    """Indices are shared by all functions of a process; their order is that of their numbers."""
    code = "from gradcli import Function\n" + "".join(
        f"print(Function({text!r}).closed_form('grad').symbolic['A'].text)\n"
        for text in ("sum(A@B)", "trace(softmax(A, 1))", "sum(A)*x[0]", "trace(softmax(A, 1))")
    )
    alone = Function("trace(softmax(A, 1))").closed_form("grad").symbolic["A"].text
    (tmp_path / "asked.py").write_text(code, encoding="utf-8")
    shown = process(warm.runner(), str(tmp_path / "asked.py")).out.splitlines()
    assert shown[1] == shown[3] == alone


@pytest.mark.part("closed_forms")
@pytest.mark.parametrize(("command", "text", "formulas", "where"), BRIEF, ids=[f"{c} {t}" for c, t, _, _ in BRIEF])
@pytest.mark.one_in(4)
def test_what_is_repeated_is_named_once(command: str, text: str, formulas: list[str], where: list[str]) -> None:
    answer = Function(text).closed_form(command)
    found = [*answer.products.values(), *answer.blocks.values()]
    assert [cell.pretty for formula in found for cell in formula.brief] == formulas
    assert [f"{name.pretty} = {one.pretty}" for name, one in found[0].definitions] == where


def test_a_softmax_of_elements_that_only_an_index_in_another_names_keeps_its_formula() -> None:
    """It has no name: x[2*k + j] is of no index that a name could have."""
    answer = Function("log_softmax(x.view(3, 2), 0)[0, 0]").grad([0.5, 1.5, -0.7, 2.2, 0.3, 3.1])
    assert answer.symbolic["x"].text
    assert check_of(answer).verdict == "agree"


def _is_of(formula: sympy.Expr, brief: sympy.Expr, one: Definition) -> bool:
    return vanishes(tidied(formula) - tidied(*put_back(((brief,), (one,)))))


def test_a_wrong_abbreviation_is_not_the_formula() -> None:
    i, k = (sympy.Symbol(name, integer=True, nonnegative=True) for name in "ik")
    x, s = (sympy.IndexedBase(name, real=True) for name in "xs")
    total = Total(sympy.exp(x[k]), (k, 0, 2))
    right = Definition(s[i], sympy.exp(x[i]) / total)
    wrong = Definition(s[i], sympy.exp(x[i]) / total**2)
    formula = Total(x[k] * sympy.exp(x[k]), (k, 0, 2)) / total
    brief = Total(x[k] * s[k], (k, 0, 2))
    assert _is_of(formula, brief, right)
    assert not _is_of(formula, brief, wrong)
    assert not _is_of(formula, brief + 1, right)
    by_cases, brief_by_cases = (sympy.Piecewise((one, i >= 1), (0, True)) for one in (formula, brief))
    assert _is_of(by_cases, brief_by_cases, right)


@pytest.mark.part("closed_forms")
def test_a_copy_keeps_its_names() -> None:
    (formula,) = Function("softmax(x)").closed_form("jacobian").blocks.values()
    copy = pickle.loads(pickle.dumps(formula))
    assert copy.brief[0].pretty == formula.brief[0].pretty
    latex = [one.latex for pair in copy.definitions for one in pair]
    assert latex == ["s_{i}", r"\frac{e^{x_{i}}}{\sum_{k=0}^{n - 1} e^{x_{k}}}"]


@pytest.mark.part("closed_forms")
def test_json_has_names_beside_the_formula_that_is_read_back() -> None:
    found = json.loads(Function("norm(x)").closed_form("hessian").to_json())
    assert found["brief"] == {"x": {"x": "1/r*KroneckerDelta(i, j) - x[i]*x[j]/r**3"}}
    assert found["where"] == {"r": "sqrt(Sum(x[k]**2, (k, 0, n - 1)))"}
    assert "Sum" in found["symbolic"]["x"]["x"]
    assert "brief" not in json.loads(Function("norm(x)").closed_form("grad").to_json())
