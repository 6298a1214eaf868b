"""Verdicts on known traps, honest coverage, and a checker that is proved able to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from gradcli import Function
from gradcli.autodiff import jacobians
from gradcli.autodiff import run as torch_reading
from gradcli.language import ops
from gradcli.language.inputs import read_value
from gradcli.language.ops import Kind
from gradcli.language.program import meaning
from gradcli.language.program.library_calls import is_in_torch
from gradcli.reference import rules, tape
from gradcli.reference.rules import Outcome, Undefined
from gradcli.results import SEVERITY, VJP, Check
from gradcli.symbolic import derivative, linear
from tests.parsing import parse

VERDICTS = [
    ("x**2", [1, 2], "agree"),
    ("(1-cos(x))/x**2", 1e-8, "inaccurate"),
    ("sqrt(x+1)-sqrt(x)", 1e16, "inaccurate"),
    ("log(1+x)", 1e-18, "inaccurate"),
    ("exp(x)/exp(x)", 1000, "nan-trap"),
    ("x**0.5", [0, 4], "undefined"),
    ("x**2", float("inf"), "undefined"),
    ("x**2", float("nan"), "undefined"),
    ("sin(pi*x)", 1, "inaccurate"),
    ("tanh(x)", 200, "inaccurate"),
    ("exp(x)", -1000, "agree"),
    ("(1e300*(1e-200*x))**2", 1e-130, "inaccurate"),
    ("x**3", 1e200, "inaccurate"),
    ("x*1e300*1e300*1e-300*1e-300", 1e-300, "inaccurate"),  # only the way back underflows
]


def _vjp(text: str, x: Any, **options: Any) -> tuple[VJP, Check]:
    answer = Function(text).vjp({"x": x}, "ones", **options)
    assert answer.check is not None
    return answer, answer.check


@pytest.mark.parametrize(("text", "x", "verdict"), VERDICTS, ids=[f"{t} at {x}" for t, x, _ in VERDICTS])
def test_verdicts_on_known_traps(text: str, x: Any, verdict: str) -> None:
    """From the design's table and the traps found by trying."""
    _, check = _vjp(text, x)
    assert check.verdict == verdict, check.findings


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("[x, -inf]", "y is -inf here"),
        ("where(x > 2, x, -inf)", "y is -inf here"),
        ("amax([x, inf])", "y is inf here"),
        ("torch.sum([x, nan])", "y is nan here"),
    ],
)
def test_a_y_that_is_no_number_is_said_to_be(text: str, note: str) -> None:
    """Infinities may pass through functions, but are no value to have a derivative."""
    _, check = _vjp(text, 1)
    assert check.verdict == "undefined"
    assert any(note in finding.note for finding in check.findings)


@pytest.mark.parametrize("text", ["inf", "nan", "(inf).view(-1)", "amax(inf)", "full((2,), inf)", "stack([inf, -inf])"])
def test_a_constant_that_is_no_number_is_undefined(text: str) -> None:
    """However it is moved about, it is no number that overflowed."""
    check = Function(text).eval({}).check
    assert check is not None
    assert check.verdict == "undefined"
    assert check.findings[0].note.startswith(("y is inf here", "y is nan here"))


def test_an_infinity_inside_of_a_function_is_fine() -> None:
    """A mask of -inf is how softmax leaves an element out."""
    _, check = _vjp("softmax(where(arange(3) < 2, x, -inf))", [1, 2, 3])
    assert check.verdict == "agree"


def test_lost_digits_come_with_the_truth() -> None:
    """Torch says 1e8, the truth is -8.3e-10."""
    _, check = _vjp("(1-cos(x))/x**2", 1e-8)
    value, slope = check.findings
    assert (value.variable, value.torch, value.reference) == (None, 0.0, 0.5)
    assert slope.torch == pytest.approx(1e8)
    assert slope.reference == pytest.approx(-1e-8 / 12, rel=1e-15)
    assert check.proven


def test_findings_are_worst_first_and_counted() -> None:
    """Three hundred undefined entries are not listed one by one."""
    _, check = _vjp("log(x)", np.concatenate([-np.ones(300), np.ones(100)]))
    assert check.verdict == "undefined"
    assert len(check.findings) == 10
    assert check.findings_count > 10
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


def test_a_single_bad_entry_of_many_is_in_the_sample() -> None:
    """What is not finite, and what is largest, is looked at first."""
    x = np.linspace(1, 2, 50_000)
    x[31_415] = 0.0
    _, check = _vjp("sqrt(x)", x)
    assert check.verdict == "undefined"
    assert check.findings[0].column == (31_415,)


def test_no_check_leaves_it_out_but_confirms_the_formula() -> None:
    """The formula is still compared, on a probe."""
    answer = Function("x**2").vjp({"x": [1, 2]}, [1, 1], check=False)
    assert answer.check is None
    assert answer.symbolic["x"].text == "2*x[i]*KroneckerDelta(i, j)"


def test_infinite_weights_are_reported() -> None:
    """A v that is not finite has no true product."""
    answer = Function("x**2").vjp({"x": [1, 2]}, [np.inf, 1])
    assert answer.check is not None
    assert answer.check.verdict == "undefined"
    assert "v is inf" in answer.check.findings[0].note


# -- the checker is tested to fail


def _planted(monkeypatch: pytest.MonkeyPatch, op: str, factor: float) -> None:
    """Multiply torch's derivative of one operation, leaving its value alone."""
    import torch

    right: Callable[..., Any] = torch_reading.apply

    def wrong(call: Any, values: Any, kind: Any) -> Any:
        result = right(call, values, kind)
        return result * factor - (result * (factor - 1)).detach() if call.op.name == op else result

    assert torch.is_tensor(torch.ones(1))
    monkeypatch.setattr(torch_reading, "apply", wrong)


FLAT = {
    *("sign", "floor", "ceil", "trunc", "round", "zeros_like", "ones_like", "detach", "count", "angle", "one_hot"),
    *("gt", "ge", "lt", "le", "eq", "ne", "logical_and", "logical_or", "logical_not"),
    *("isnan", "isinf", "isfinite"),
    *(op.name for op in ops.TABLE.values() if op.kind is Kind.SOURCE),
}
"""Operations whose derivative is 0, of which a multiple is 0."""


@pytest.mark.parametrize("op", ops.TABLE.values(), ids=lambda op: op.name)
def test_a_derivative_of_torch_that_is_wrong_by_a_millionth_is_caught(
    op: ops.Op, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every operation in turn, at its worked example."""
    text, at = op.worked_example
    clean = Function(text).jacobian(at).check
    assert clean is not None
    assert clean.verdict == ("inaccurate" if op.name == "hardsigmoid" else "agree")  # torch holds 1/6 in float32
    shapes = {name: read_value(value, "--at").shape for name, value in at.items()}
    calls = [line.call for line in parse(text, shapes=shapes).lines if line.call.op is op]
    if op.name in FLAT or not calls or not is_in_torch(calls[0]):
        return  # a multiple of 0 is 0; without a function in torch, the meaning runs; some rows are written in others
    _planted(monkeypatch, op.name, 1 + 1e-6)
    check = Function(text).jacobian(at).check
    assert check is not None
    assert check.verdict == "disagree"


@pytest.mark.parametrize("name", ["sin", "mul", "exp", "pow", "maximum", "erf"])
def test_a_wrong_symbolic_meaning_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Formula and reference then agree with each other, and torch with neither."""
    right = meaning.MEANINGS[name]
    monkeypatch.setitem(meaning.MEANINGS, name, lambda *a: right(*a) * (1 + sympy.Rational(1, 10**6)))
    _forget_rules()
    try:
        text = {"mul": "x*x", "pow": "x**2.5", "maximum": "maximum(x, x**2)"}.get(name, f"{name}(x)")
        _, check = _vjp(text, 0.4)
        assert check.verdict == "disagree"
    finally:
        _forget_rules()


def _forget_rules() -> None:
    """Rules keep the meaning that they were made of; a wrong one must not reach another test."""
    for cached in (rules._rule, rules._scalar, rules._spread, tape.formula, tape._in_list):
        cached.cache_clear()


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
def test_a_wrong_formula_is_caught_and_not_shown(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A factor of 1 + 1e-6 in the collapse of the deltas."""
    right = linear.assemble
    wrong = 1 + sympy.Rational(1, 10**6)
    monkeypatch.setattr(derivative, "assemble", lambda form: right(form) * wrong)
    answer, check = _vjp(text, [0.4, 0.7, 0.9])
    assert check.verdict == "disagree"
    assert "x" not in answer.symbolic
    assert check.findings[0].note.startswith("the formula is wrong")
    silent = Function(text).vjp({"x": [0.4, 0.7, 0.9]}, "ones", check=False)
    assert "x" not in silent.symbolic


# -- verdicts that were once wrong

HONEST = [
    ("(0.1*x)**2", 3, "agree"),
    ("(x+0.1+0.2)**2", 3, "agree"),
    ("x*2**0.5", 3, "agree"),
    ("x*sinc(0.5)", 3, "agree"),
    ("x*digamma(3)", 2, "agree"),
    ("1/x**2", 1e200, "agree"),
    ("exp(-x**2)", 27.2, "inaccurate"),
    ("sigmoid(x)", 40, "inaccurate"),
    ("expm1(x)", -40, "inaccurate"),
    ("acosh(x)", 1.00000001, "inaccurate"),
    ("lgamma(x)", -0.504083, "inaccurate"),
    ("digamma(x)", -0.9999999, "inaccurate"),
    ("sin(pi)*x", 1, "inaccurate"),
    ("(x-9007199254740993)**2", 9007199254740992, "inaccurate"),
    ("(sin(x)-sin(0.5))**2", 0.5, "agree"),
    ("digamma(x)", -10000.5, "agree"),
    ("exp(exp(exp(x)))", 5, "inaccurate"),
    ("x*sqrt(-4)", 2, "undefined"),
    ("x*(-1)**0.5", 2, "undefined"),
    ("(-2)**x", 2, "undefined"),
    ("x**0.1", 0, "undefined"),
    ("trunc(x)", 0, "agree"),
    ("trunc(x)", 1, "kink"),
    ("frac(x)", 0, "agree"),
    ("softsign(x)", 0, "agree"),
    ("abs(x)**2", 0, "agree"),
    ("relu(x)*x", 0, "agree"),
    ("abs(relu(x))", -1, "agree"),
    ("maximum(x, -inf)", 1, "agree"),
    ("maximum(x, x)", 3, "agree"),
    ("minimum(x, x)", 0, "agree"),
    ("atan2(x, -1)", 0, "kink"),
    ("atan2(x, 1)", 0, "agree"),
    ("atan2(1, x)", 0, "agree"),
    ("abs(x/3 - 2)", 6, "kink"),
    ("floor(sin(x)**2 + cos(x)**2)", 0.3, "unchecked"),
    ("relu6(x)", 3, "agree"),
    ("x*inf", 0, "undefined"),
    ("x*sin(inf)", 1, "undefined"),
    ("x*exp(-inf)", 1, "agree"),
    ("sinc(x)", 3, "inaccurate"),
    ("clamp(2, x, 3)", 2.5, "agree"),
    ("7", None, "agree"),
]


@pytest.mark.parametrize("text", ["var(x, correction=3)", "std(x, correction=2)", "sum(x/var(2*x, correction=2.5))"])
def test_no_more_elements_than_the_correction_have_no_variance(text: str) -> None:
    """Torch divides by max(0, count - correction), and its backward pass by count - correction."""
    for answer in (Function(text).grad({"x": "1,2"}), Function(text).jvp({"x": "1,2"}, {"x": "1,0"})):
        assert answer.check is not None
        assert answer.check.verdict == "undefined", answer.check.findings
        assert "has no value here" in answer.check.findings[0].note


@pytest.mark.parametrize(("text", "x", "verdict"), HONEST, ids=[f"{text} at {x}" for text, x, _ in HONEST])
def test_verdicts_that_were_once_wrong(text: str, x: Any, verdict: str) -> None:
    """Decimals, constants, saturation, underflow, undone kinks, exact quotients."""
    check = Function(text).vjp({} if x is None else {"x": x}).check
    assert check is not None
    assert check.verdict == verdict, check.findings
    assert check.checked == (0 if verdict == "unchecked" else 1)


@pytest.mark.parametrize("y", [0.0, 1.0, 2.0])
def test_the_slopes_of_a_power_at_zero(y: float) -> None:
    """x**y at x = 0 has slopes that 0 times infinity would hide."""
    check = Function("x**y").vjp({"x": [0.0, 1.0], "y": y}, "ones").check
    assert check is not None
    assert check.verdict == ("undefined" if y == 0 else "agree")


@pytest.mark.parametrize("x", [[2.0, 0.0, 4.0, 0.0, 5.0], [0.0, 0.0, 3.0], [0.0], [2.0, -3.0, 0.5]])
def test_a_running_product_has_its_derivative_at_zeros_too(x: list[float]) -> None:
    """It is the product over the others, to which neither torch nor the formula comes by division alone."""
    expected = np.array([[np.prod(x[:j] + x[j + 1 : i + 1]) * (j <= i) for j in range(len(x))] for i in range(len(x))])
    answer = Function("cumprod(x, 0)").jacobian({"x": np.array(x)})
    assert answer.check is not None
    assert answer.jacobian is not None
    assert (answer.check.verdict, answer.check.checked) == ("agree", len(x) ** 2)
    np.testing.assert_array_equal(answer.jacobian["x"], expected)


def test_a_wrong_product_beside_a_sampled_jacobian_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 10,000 entries J is computed, and where it is sampled, vᵀJ is checked on its own."""
    right = jacobians.vjp
    monkeypatch.setattr(jacobians, "vjp", lambda *a: {name: 2 * g for name, g in right(*a).items()})
    _, check = _vjp("x**2", np.linspace(1, 2, 50))
    assert (check.verdict, check.chosen) == ("disagree", "all")
    _, check = _vjp("cumsum(x**2, 0)", np.linspace(1, 2, 50))
    assert check.verdict == "disagree"
    assert {finding.row for finding in check.findings} == {None}


@pytest.mark.parametrize("size", [60, 2_000])
def test_a_y_that_is_not_finite_is_in_the_sample(size: int) -> None:
    """Though the derivative of the logarithm at -1000 looks harmless."""
    x = np.linspace(1, 2, size)
    x[37] = -1000
    _, check = _vjp("log(x)", x)
    assert check.verdict == "undefined"


@pytest.mark.parametrize(("text", "x"), [("x**3", 0), ("x*x", 0), ("abs(x)", [0.0, 0.0]), ("sum(x**2)", np.zeros(50))])
def test_zeros_confirm_no_formula(text: str, x: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A factor of seven is not seen at 0, but on a probe."""
    right = linear.assemble
    monkeypatch.setattr(derivative, "assemble", lambda form: right(form) * 7)
    assert not _vjp(text, x)[0].symbolic


def test_a_formula_with_positions_from_the_end_holds_at_other_sizes() -> None:
    """x[-1] is x[n - 1]: too long to confirm at the point, it is confirmed on a probe."""
    at = {"a": np.ones(100), "b": np.ones(1_000), "x": np.linspace(1, 2, 100_000)}
    answer = Function("sum(a) + sum(b) + x[-1] + sum(x)**2").vjp(at)
    assert answer.check is not None
    assert answer.check.verdict in ("agree", "unchecked")
    assert set(answer.symbolic) == {"a", "b", "x"}


def test_a_mean_of_nothing_has_no_value() -> None:
    """Torch says NaN; neither the reference nor the formula may say otherwise."""
    answer = Function("sum(a) + mean(x[5:])").vjp({"a": [1, 2], "x": [1, 2]})
    assert answer.check is not None
    assert answer.check.verdict == "undefined"
    assert "mean(x[5:]) has no value here" in answer.check.findings[0].note
    assert "mean of nothing" in answer.symbolic_omitted["x"]


def test_long_sums_in_the_rows_of_a_jacobian_are_checked() -> None:
    """What the rows are made of would be too long a list; the columns alone are short."""
    answer = Function("[sum(x), sum(x**2)]").jacobian({"x": np.linspace(0, 1, 200_000)})
    assert answer.check is not None
    assert answer.check.verdict == "agree"
    assert (answer.check.checked, answer.check.entries) == (400_000, 400_000)
