"""Second derivatives and Jacobian-vector products against their judge, which is proved able to fail."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from gradcli import Function
from gradcli.crosscheck import second_derivatives
from gradcli.crosscheck.second_derivatives import judge_derived
from tests.checks import check_of
from tests.crosscheck.asking import asked
from tests.examples import examples, in_turn
from tests.programs import Random, programs

_X = np.array([0.5, -1.5, 2.0])
_A = np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 4.0], [2.0, 0.0, 1.0]])


def _spoil(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any]) -> None:
    """Have torch's numbers changed before they are judged."""

    def judge(point: Any, torch: Any, *others: Any) -> Any:
        return judge_derived(point, change(torch), *others)

    monkeypatch.setattr(second_derivatives, "judge_derived", judge)


def _off(numbers: Any, share: float) -> Any:
    """An array wrong by a share of each number, or the first array of a block."""
    if isinstance(numbers, dict):
        name = next(iter(numbers))
        return {**numbers, name: _off(numbers[name], share)}
    return np.asarray(numbers + share * (1 + np.abs(numbers)), numbers.dtype)


WRONG: list[tuple[str, str, str, Any, dict[str, Any]]] = [
    ("hessian", "hessian", "x@A@x", {"x": _X, "A": _A}, {}),
    ("hessian", "gradient", "x@A@x", {"x": _X, "A": _A}, {}),
    ("hessian", "hessian", "logsumexp(x)", {"x": _X}, {}),
    ("hessian", "hessian", "sum(sin(x)*x)", {"x": [1.0, 2.0]}, {}),
    ("hessian", "gradient", "prod(x)", {"x": [2.0, 0.0, 5.0]}, {}),
    ("hessian", "hessian", "[[7*x]]", {"x": [2.0]}, {}),
    ("hessian", "hessian", "relu(x)*y**2", {"x": 1.0, "y": 2.0}, {}),
    ("jvp", "jvp", "x**2", {"x": [1.0, 2.0]}, {"u": {"x": [1.0, -1.0]}}),
    ("jvp", "jvp", "A@x", {"A": _A, "x": _X}, {"u": {"x": [1.0, 2.0, 3.0], "A": _A.T}}),
    ("jvp", "jvp", "softmax(x)", {"x": _X}, {"u": {"x": [1.0, 2.0, 3.0]}}),
    ("jvp", "jvp", "sin(x)", {"x": 1.0}, {"u": {"x": 2.0}}),
    ("hvp", "hvp", "x@A@x", {"x": _X, "A": _A}, {"u": {"x": [1.0, 2.0, 3.0]}}),
    ("hvp", "hvp", "x**3*y", {"x": 2.0, "y": 3.0}, {"u": {"y": 5.0}}),
    ("hvp", "hvp", "[[sum(x**3)]]", {"x": _X}, {"u": {"x": [1.0, 0.0, 2.0]}}),
]


@pytest.mark.parametrize(("command", "part", "text", "at", "along", "dtype"), in_turn(WRONG, "float64", "float32"))
@pytest.mark.one_in(4)
def test_wrong_numbers_are_caught_and_right_ones_are_not(
    command: str, part: str, text: str, at: Any, along: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number of a block wrong by a millionth, in float32 by a thousandth."""
    check = asked(command, text, at, dtype, **along)
    assert check.verdict in ("agree", "inaccurate")
    assert check.checked == check.entries
    share = 1e-6 if dtype == "float64" else 1e-3
    _spoil(
        monkeypatch,
        lambda torch: replace(torch, derivatives={**torch.derivatives, part: _off(torch.derivatives[part], share)}),
    )
    check = asked(command, text, at, dtype, **along)
    assert (check.verdict, check.findings[0].of) == ("disagree", part)


@pytest.mark.parametrize(
    ("text", "at", "verdict", "known"),
    [
        ("relu(x)**2", 0.0, "kink", (0.0, 2.0)),
        ("abs(x)", 0.0, "kink", (0.0, 0.0)),
        ("where(x > 1, x**2, 2*x - 1)", 1.0, "kink", (0.0, 2.0)),
        ("huber_loss(x, 0)", 1.0, "kink", (1.0, 0.0)),
        ("where(x > 0, sqrt(x), 0)", -1.0, "nan-trap", None),
        ("sqrt(x**4)", 0.0, "nan-trap", 2.0),
        ("sinc(x)", 0.0, "nan-trap", None),
        ("exp(x)/exp(x)", 1000.0, "nan-trap", None),
        ("sin(x)/x", 0.0, "removable", -1 / 3),
        ("x**2/x", 0.0, "removable", None),
        ("sqrt(x)", 0.0, "undefined", None),
        ("x**2.5", 0.0, "undefined", None),
        ("log(x)", -1.0, "undefined", None),
        ("abs(x)**2", 0.0, "disagree", None),
        ("softplus(x)", 21.0, "inaccurate", None),
        ("(1-cos(x))/x**2", 1e-8, "inaccurate", None),
        ("expm1(-x**4)", 2.13, "inaccurate", None),
        ("logsigmoid(x)", 25.0, "inaccurate", None),
        ("where(x > 0, x**3, 0)", 0.0, "agree", None),
        ("i1(x)", 0.0, "agree", None),
        ("where(x > 0, x**2.5, 0)", 0.0, "agree", None),
        ("floor(x)*x**2", 1.5, "agree", None),
        ("x**2*sign(detach(x))", 2.0, "agree", None),
        ("maximum(x, 0) + minimum(x, 0)", 0.0, "agree", None),
        ("sum(relu([x, 0]/(x*x)))", 1.0, "agree", None),
        ("sum(x*relu([x, 0]/norm([x, 0])))", 1.0, "agree", None),
    ],
)
@pytest.mark.one_in(8)
def test_second_derivatives_have_the_verdicts_of_first_ones(text: str, at: float, verdict: str, known: Any) -> None:
    """Kinks with both sides, traps and limits with the truth, where there is nothing, and cuts without a jump."""
    check = asked("hessian", text, {"x": at})
    finding = next((f for f in check.findings if f.of == "hessian"), None)
    assert (check.verdict, finding.verdict if finding else "agree") == (verdict, verdict)
    assert verdict == "agree" or finding is not None
    if finding is not None:
        assert (finding.by, finding.variable, finding.row, finding.column) == ("x", "x", (), ())
        found = finding.one_sided if isinstance(known, tuple) else finding.reference
        assert known is None or found == pytest.approx(known, abs=1e-12)


def test_where_the_gradient_has_a_kink_nobody_is_wrong_about_its_slope() -> None:
    """Of relu(x)*y, the slope by x at 0 has the slope of either side by y; torch takes 0 for both."""
    check = asked("hessian", "relu(x)*y**2", {"x": 0.0, "y": 2.0})
    assert check.verdict == "kink"
    (mixed,) = [f for f in check.findings if f.variable == "y" and f.of == "hessian"]
    assert (mixed.verdict, mixed.reference, mixed.one_sided) == ("kink", None, None)
    assert mixed.note == "the gradient has a kink here, and torch picked 0 for it; the formula has 4"


def test_many_lost_digits_leave_time_for_a_kink() -> None:
    """Of 400 slopes along u all are lost, and of 400 others one has a kink, which is proved."""
    x = np.linspace(1e-8, 3e-8, 400)
    check = check_of(Function("[(1 - cos(x))/x**2, abs(x - c)]").jvp({"x": x, "c": x[7]}, {"x": np.ones(400)}))
    assert (check.verdict, check.checked, check.findings[0].proven) == ("kink", 800, True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_product_that_underflows_loses_its_slopes_to_rounding(dtype: Any) -> None:
    """Torch divides what is left of it, nothing, by each element."""
    tiny = 1e-200 if dtype == "float64" else 1e-30
    check = asked("hessian", "prod(x)", {"x": [tiny, tiny]}, dtype)
    assert check.verdict == "inaccurate"
    assert {f.note for f in check.findings} == {
        f"0 of {16 if dtype == 'float64' else 7} digits survive the rounding of {dtype}"
    }
    assert {f.of for f in check.findings} == {"gradient", "hessian"}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_at_a_kink_the_product_has_the_derivatives_along_u_and_against_it(sign: float) -> None:
    """|x| at 0, and the maximum of two that tie."""
    check = asked("jvp", "abs(x)", {"x": 0.0}, u={"x": sign})
    assert (check.verdict, check.findings[0].one_sided, check.proven) == ("kink", (-1.0, 1.0), True)
    tied = ("jvp", "maximum(x, z)", {"x": 1.0, "z": 1.0})
    assert asked(*tied, u={"x": sign, "z": sign}).verdict == "agree"
    check = asked(*tied, u={"x": 2 * sign, "z": -3 * sign})
    assert check.findings[0].one_sided == ((-3.0, 2.0) if sign > 0 else (-2.0, 3.0))


def test_a_function_without_a_value_has_no_product() -> None:
    """And one with a limit has one in the limit."""
    check = asked("jvp", "log(x)", {"x": -1.0}, u={"x": 1.0})
    assert [(f.of, f.verdict) for f in check.findings] == [("jvp", "undefined")]
    check = asked("jvp", "sin(x)/x", {"x": 0.0}, u={"x": 1.0})
    assert {(f.of, f.verdict) for f in check.findings} == {("", "removable"), ("jvp", "removable")}


def _with_wrong(torch: Any, wrong: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Torch's numbers with errors in the Hessian by x."""
    hessian = {("x", "x"): torch.derivatives["hessian"]["x", "x"] + wrong}
    return replace(torch, derivatives={**torch.derivatives, "hessian": hessian})


def test_each_entry_of_a_large_hessian_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ninety thousand, of which one is wrong."""
    x = np.linspace(0.5, 1, 300)
    check = asked("hessian", "sum(x**3)*mean(x)", {"x": x})
    assert (check.verdict, check.entries, check.checked) == ("agree", 90_000, 90_000)
    for row, column in ((0, 0), (150, 77), (299, 298)):
        wrong = np.zeros((300, 300))
        wrong[row, column] = 1e-3
        _spoil(monkeypatch, lambda torch: _with_wrong(torch, wrong))  # noqa: B023
        check = asked("hessian", "sum(x**3)*mean(x)", {"x": x})
        assert (check.verdict, check.findings[0].row, check.findings[0].column) == ("disagree", (row,), (column,))


def test_up_to_sixty_four_rows_are_all_looked_at() -> None:
    """Of two variables together."""
    check = asked("hessian", "sum(x)**2*sum(z**2)", {"x": np.ones(40), "z": np.arange(24.0)})
    assert (check.checked, check.chosen) == (64**2, "all")


def test_the_rows_of_a_function_without_a_value_are_all_told() -> None:
    """The logarithm of the norm of nothing."""
    check = asked("hessian", "log(norm(x))", {"x": np.zeros(32)})
    assert (check.verdict, check.checked, check.chosen) == ("undefined", 32 * 32, "all")


@pytest.mark.parametrize(("command", "text"), [("hvp", "sum(x**3)"), ("jvp", "x**3")])
@pytest.mark.one_in(2)
def test_products_of_100_000_elements_are_proved(command: str, text: str) -> None:
    """H itself would take 80 GB; the step along u is one number that all elements share."""
    check = asked(command, text, {"x": np.linspace(-1, 1, 100_000)}, u="ones")
    assert (check.verdict, check.entries, check.checked) == ("agree", 100_000, 100_000)


def test_what_is_over_the_budget_is_unchecked_and_says_so() -> None:
    """One row needs the sum of all; the gradient too."""
    check = asked("hvp", "logsumexp(x)", {"x": np.linspace(0, 1, 50_000)}, u="ones")
    assert (check.verdict, check.checked) == ("unchecked", 0)
    assert check.notes


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs(most=4))
def test_torchs_hessian_of_random_programs_is_not_called_wrong(program: Random) -> None:
    """By autograd twice; where it is at a kink, anything may be."""
    assume(not program.is_at_kink)
    y = program.nodes[-1]
    text = program.text if y.value.numel() == 1 else "; ".join([*program.statements, f"sum({y.name}*cos({y.name}))"])
    at = {name: program.leaves[name].numpy(force=True) for name in Function(text).variables}
    u = {name: np.linspace(0.5, 1.5, value.size).reshape(value.shape) for name, value in at.items()}
    assume(at)
    for command in ("hessian", "hvp", "jvp"):
        verdict = asked(command, text, at, **({} if command == "hessian" else {"u": u})).verdict
        assert verdict in ("agree", "inaccurate", *["cut"] * (".detach()" in text))
