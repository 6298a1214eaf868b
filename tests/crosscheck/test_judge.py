"""Verdicts on known traps, honest coverage, and a checker that is proved able to fail."""

from typing import Any

import numpy as np
import pytest
import sympy

from gradcli import Function
from gradcli.adjoint import slopes
from gradcli.autodiff import jacobians
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind
from gradcli.language.program import sympy_functions
from gradcli.language.program.library_calls import is_in_torch
from gradcli.reference import rules
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import SEVERITY, VJP, Check
from tests.checks import check_of
from tests.crosscheck.asking import asked, plant, wrong_formulas
from tests.examples import own_rules
from tests.parsing import parse


def _vjp(text: str, x: Any, **options: Any) -> tuple[VJP, Check]:
    answer = Function(text).vjp({"x": x}, "ones", **options)
    return answer, check_of(answer)


def test_findings_are_worst_first_and_counted() -> None:
    """Three hundred undefined entries are not listed one by one."""
    _, check = _vjp("log(x)", np.concatenate([-np.ones(300), np.ones(100)]))
    assert check.verdict == "undefined"
    assert len(check.findings) == 10
    assert check.findings_count == len(check.findings) + len(check.unlisted) == 300
    severities = [SEVERITY.index(f.verdict) for f in check.findings]
    assert severities == sorted(severities, reverse=True)


@pytest.mark.parametrize(
    ("text", "size", "entries", "checked", "zeros"),
    [
        ("x**3", 3, 9, 9, 0),
        ("x**3", 32, 1024, 1024, 0),
        ("x**3", 100, 10_000, 10_000, 9_900),
        ("cumsum(x**3, 0)", 100, 10_000, 10_000, 4_950),
        ("x**3", 20_000, 20_000, 20_000, 0),
        ("i0(x)", 20_000, 20_000, 256, 0),
    ],
)
def test_coverage_is_stated(text: str, size: int, entries: int, checked: int, zeros: int) -> None:
    """All that bounds prove, or else a sample of more than 1,024; of the Jacobian where there is one, else of vᵀJ."""
    _, check = _vjp(text, np.linspace(0.5, 1, size))
    assert (check.entries, check.zeros) == (entries, zeros)
    assert check.checked == checked
    assert (check.chosen == "all") == (check.checked == entries) == (not check.sampled)


def test_no_check_leaves_it_out_but_confirms_the_formula() -> None:
    """The formula is still compared, on a probe."""
    answer = Function("x**2").vjp({"x": [1, 2]}, [1, 1], check=False)
    assert answer.check is None
    assert answer.symbolic["x"].text == "2*x[i]*KroneckerDelta(i, j)"


# -- the checker is tested to fail


FLAT = {
    *("sign", "floor", "ceil", "trunc", "round", "zeros_like", "ones_like", "detach", "count", "angle", "one_hot"),
    *("gt", "ge", "lt", "le", "eq", "ne", "logical_and", "logical_or", "logical_not"),
    *("isnan", "isinf", "isfinite"),
    *(op.name for op in ops.TABLE.values() if op.kind is Kind.SOURCE),
}
"""Operations whose derivative is 0, of which a multiple is 0."""


def _is_run_by_torch(op: ops.Op) -> bool:
    """Tell whether torch has a function for a row's worked example, which may be written in others."""
    if op.kind is Kind.INLINED or not (op.is_primitive or op.torch):
        return False
    text, at = op.worked_example
    shapes = {name: read_value(value, "--at").shape for name, value in at.items()}
    calls = [line.call for line in parse(text, shapes=shapes).lines if line.call.op is op]
    return bool(calls) and is_in_torch(calls[0])


BENT = [op for op in ops.TABLE.values() if op.name not in FLAT and _is_run_by_torch(op)]
"""Operations with a derivative of torch's other than 0."""


def test_most_operations_have_a_derivative_of_torch() -> None:
    """Others are flat, or run by their meaning."""
    assert len(BENT) >= 230


@pytest.mark.parametrize("op", own_rules(BENT, 1, of=8), ids=lambda op: op.name)
@pytest.mark.one_in(2)
def test_a_derivative_of_torch_that_is_wrong_by_a_millionth_is_caught(
    op: ops.Op, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every operation in turn, at its worked example, which agrees as its page says."""
    text, at = op.worked_example
    plant(monkeypatch, op.name, 1 + 1e-6)
    assert asked("jacobian", text, at).verdict == "disagree"


@pytest.mark.parametrize("name", ["sin", "mul", "exp", "pow", "maximum", "erf"])
def test_a_wrong_symbolic_meaning_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Formula and reference then agree with each other, and torch with neither."""
    right = sympy_functions.MEANINGS[name]
    monkeypatch.setitem(sympy_functions.MEANINGS, name, lambda *a: right(*a) * (1 + sympy.Rational(1, 10**6)))
    _forget_rules()
    try:
        text = {"mul": "x*x", "pow": "x**2.5", "maximum": "maximum(x, x**2)"}.get(name, f"{name}(x)")
        _, check = _vjp(text, 0.4)
        assert check.verdict == "disagree"
    finally:
        _forget_rules()


def _forget_rules() -> None:
    """Rules keep the meaning that they were made of; a wrong one must not reach another test."""
    rules._rule.cache_clear()
    slopes.partials.cache_clear()


def test_a_wrong_rule_of_the_reference_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch and the formula then agree with each other, and the reference with neither; the formula is not shown."""
    right = rules.Rule.slope

    def wrong(self: rules.Rule, k: int, operands: list[Outcome], shown: str) -> Outcome:
        outcome = right(self, k, operands, shown)
        return outcome if isinstance(outcome, Undefined) else outcome * (1 + 2.0**-19)

    monkeypatch.setattr(rules.Rule, "slope", wrong)
    answer, check = _vjp("sin(x)", 0.4)
    assert check.verdict == "disagree"
    assert "disagrees with the reference" in answer.symbolic_omitted["x"]


@pytest.mark.parametrize("text", ["sin(x)", "sum(x**2)", "x[1:]*x[:-1]"])
def test_a_wrong_formula_is_caught_and_not_shown(text: str) -> None:
    """A factor of 1 + 1e-6 in the collapse of the deltas."""
    with wrong_formulas(1 + sympy.Rational(1, 10**6)):
        answer, check = _vjp(text, [0.4, 0.7, 0.9])
        silent = Function(text).vjp({"x": [0.4, 0.7, 0.9]}, "ones", check=False)
    assert check.verdict == "disagree"
    assert "x" not in answer.symbolic
    assert check.findings[0].note.startswith("the formula is wrong")
    assert "x" not in silent.symbolic


# -- verdicts that were once wrong


@pytest.mark.parametrize("x", [[2.0, 0.0, 4.0, 0.0, 5.0], [0.0, 0.0, 3.0], [0.0], [2.0, -3.0, 0.5]])
def test_a_running_product_has_its_derivative_at_zeros_too(x: list[float]) -> None:
    """It is the product over the others, to which neither torch nor the formula comes by division alone."""
    expected = np.array([[np.prod(x[:j] + x[j + 1 : i + 1]) * (j <= i) for j in range(len(x))] for i in range(len(x))])
    answer = Function("cumprod(x, 0)").jacobian({"x": np.array(x)})
    assert answer.jacobian is not None
    assert (check_of(answer).verdict, check_of(answer).checked) == ("agree", len(x) ** 2)
    np.testing.assert_array_equal(answer.jacobian["x"], expected)


def test_the_range_of_a_product_may_be_a_rest_of_a_place() -> None:
    """Of elements that are arranged anew, where it is a number at each of them."""
    text = "t = cumprod(A, dim=0); stack([t, sin(t)], dim=0).flatten()"
    answer = Function(text).jacobian({"A": [[0.44, -0.74], [-1.47, -1.55], [1.0, 1.32]]})
    assert (check_of(answer).verdict, check_of(answer).checked, check_of(answer).proven) == ("agree", 72, True)


def test_a_wrong_product_beside_a_sampled_jacobian_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 10,000 entries J is computed, and where it is sampled, vᵀJ is checked on its own."""
    right = jacobians.vjp
    monkeypatch.setattr(jacobians, "vjp", lambda *a: {name: 2 * g for name, g in right(*a).items()})
    _, check = _vjp("x**2", np.linspace(1, 2, 50))
    assert (check.verdict, check.chosen) == ("disagree", "all")
    _, check = _vjp("cumsum(x**2, 0)", np.linspace(1, 2, 50))
    assert check.verdict == "disagree"
    assert {finding.row for finding in check.findings} == {None}


def test_infinite_weights_are_reported() -> None:
    """A v that is not finite has no true product."""
    check = asked("vjp", "x**2", {"x": [1, 2]}, v=[np.inf, 1])
    assert (check.verdict, "v is inf" in check.findings[0].note) == ("undefined", True)


@pytest.mark.parametrize(
    ("text", "x"), [("x**3", 0), ("x*x", 0), ("abs(x)", [0.0, 0.0]), ("relu(x)", 0), ("sum(x**2)", np.zeros(50))]
)
def test_zeros_confirm_no_formula(text: str, x: Any) -> None:
    """A factor of seven is not seen at 0, but on a probe."""
    with wrong_formulas(7):
        assert not _vjp(text, x)[0].symbolic


def test_a_formula_with_positions_from_the_end_holds_at_other_sizes() -> None:
    """x[-1] is x[n - 1]: too long to confirm at the point, it is confirmed on a probe."""
    at = {"a": np.ones(100), "b": np.ones(1_000), "x": np.linspace(1, 2, 100_000)}
    answer = Function("sum(a) + sum(b) + x[-1] + sum(x)**2").vjp(at)
    assert check_of(answer).verdict in ("agree", "unchecked")
    assert set(answer.symbolic) == {"a", "b", "x"}


def test_a_mean_of_nothing_has_no_value() -> None:
    """Torch says NaN; neither the reference nor the formula may say otherwise."""
    answer = Function("sum(a) + mean(x[5:])").vjp({"a": [1, 2], "x": [1, 2]})
    assert check_of(answer).verdict == "undefined"
    assert "mean(x[5:]) has no value here" in check_of(answer).findings[0].note
    assert "mean of nothing" in answer.symbolic_omitted["x"]


def test_long_sums_in_the_rows_of_a_jacobian_are_checked() -> None:
    """The elements that the rows are made of would be too long a list; the columns alone are short."""
    check = asked("jacobian", "[sum(x), sum(x**2)]", {"x": np.linspace(0, 1, 200_000)})
    assert check.verdict == "agree"
    assert (check.checked, check.entries) == (400_000, 400_000)
