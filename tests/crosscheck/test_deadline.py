"""Every check ends: what is over the time limit is unchecked, says so, and the answer is there all the same."""

import json
import time
from typing import Any

import pytest

from gradcli import Function
from gradcli.reference import deadline
from gradcli.report.render.json import reply
from tests.crosscheck.asking import asked

COMMANDS = [
    *"grad jacobian vjp jvp hessian hvp eval".split(),
    pytest.param("explain", marks=pytest.mark.part("explain")),
    pytest.param("check", marks=pytest.mark.part("claims")),
]
ALONG = {"vjp": {"v": "ones"}, "explain": {"v": "ones"}, "jvp": {"u": "ones"}, "hvp": {"u": "ones"}}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text", ["sum(relu(x)**2)", "sum((1-cos(x))/x**2)"])
def test_a_check_without_time_is_unchecked(command: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says why; the numbers are torch's as ever."""
    monkeypatch.setattr(deadline, "SECONDS", 0.0)
    found = getattr(Function(text), command)([0.0 if command == "grad" else 1.0, 2.0], **ALONG.get(command, {}))
    assert found.check.verdict == "unchecked"
    assert "over the time limit of 0 seconds" in str(found.check.notes)
    assert json.loads("".join(reply(found, {})))["command"] == command


def test_the_time_runs_out_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient that was judged before is kept; of the Hessian nothing is claimed."""
    spent, passed = iter(range(10**9)), iter(range(0, 10**12, 10**6))
    monkeypatch.setattr(time, "thread_time", lambda: float(next(spent)))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(passed)))
    monkeypatch.setattr(deadline, "SECONDS", 80.0)
    found = asked("hessian", "sum(x**3)*sum(x**2)", {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    assert (found.verdict, found.checked, found.entries) == ("unchecked", 0, 36)
    assert found.max_relative_error is not None
    assert "time limit" in str(found.notes)


def test_looks_around_the_point_have_a_limit_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts from before stay, and all that was not looked at is unchecked, with the reason."""
    monkeypatch.setattr(deadline, "EXTRA", 0.0)
    found = asked("jacobian", "stack([abs(x), relu(x), x**2])", {"x": 0.0})
    assert found.verdict == "unchecked"
    assert (found.checked, found.entries) == (1, 3)
    assert "over the time limit of 0 seconds" in str(found.findings)


@pytest.mark.part("claims")
def test_the_search_for_counterexamples_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons from before count, and a claim that only fails elsewhere is left open."""
    monkeypatch.setattr(deadline, "SECONDS", 0.0)
    (claim,) = Function("x**3").check({"x": 1.0}, claim={"x": "3*x"}).claims
    assert (claim.status, claim.points) == ("no counterexample", 1)
    (claim,) = Function("x**3").check({"x": 2.0}, claim={"x": "x**2"}).claims
    assert claim.status == "refuted"


@pytest.mark.part("explain")
def test_the_confirmation_of_formulas_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula that there is no time to confirm is not shown."""
    monkeypatch.setattr(deadline, "SECONDS", 0.0)
    found = Function("sum(sin(x))").grad({"x": [1.0, 2.0]}, check=False)
    assert (found.symbolic, "could not be confirmed" in str(found.symbolic_omitted)) == ({}, True)
    Function("asinh(x)").explain({"x": 2.0})
    monkeypatch.undo()  # and that there was none is not kept for the next question
    assert Function("asinh(x)").explain({"x": 2.0}).symbolic["x"].text == "1/sqrt(x**2 + 1)"


class _Clock:
    """A clock on the wall that moves on by `step` whenever it is read."""

    def __init__(self, step: float) -> None:
        self.step, self.now = step, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    """The clock that seconds of a budget are of."""
    clock = _Clock(0.0)
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


@pytest.mark.parametrize("step", [0.002, 0.02, 1.0])
@pytest.mark.parametrize(
    ("command", "text", "options"),
    [
        pytest.param(
            "improve",
            "(-b + sqrt(b*b - 4*a*c))/(2*a)",
            {"box": dict.fromkeys("abc", "1e-300..1e300")},
            marks=pytest.mark.part("improve"),
        ),
        pytest.param("improve", "(1 - cos(x))/x", {"at": {"x": 1e-8}}, marks=pytest.mark.part("improve")),
        pytest.param("check", "(1 - cos(x))/x**2", {"at": {"x": 1e-8}}, marks=pytest.mark.part("claims")),
        pytest.param(
            "check",
            "x**3",
            {"at": {"x": 2.0}, "claim": {"x": "3*x**2 + 1e-9*sin(x)**2"}},
            marks=pytest.mark.part("claims"),
        ),
        pytest.param(
            "check",
            "det(A)",
            {"at": {"A": "randn(6,6)"}, "claim": {"A": "det(A)*inv(A).T"}},
            marks=pytest.mark.part("claims"),
        ),
        ("hessian", "logsumexp(relu(A@x))", {"at": {"A": "randn(9,9)", "x": "zeros(9)"}, "wrt": ["x"]}),
        ("hvp", "sum(relu(x)**2)", {"at": {"x": [0.0, 1.0]}, "u": "ones"}),
        pytest.param(
            "explain",
            "softmax(A@tanh(x))",
            {"at": {"A": "randn(9,9)", "x": "randn(9)"}, "v": "ones"},
            marks=pytest.mark.part("explain"),
        ),
        ("vjp", "cumsum(exp(x))/norm(x)", {"at": {"x": "randn(2000)"}, "v": "ones"}),
        pytest.param("plot", "zeta(10**18, x) + abs(x)", {"box": {"x": "-1..3"}}, marks=pytest.mark.part("plot")),
        pytest.param("plot", "abs(sin(x)/x) + lgamma(x)", {}, marks=pytest.mark.part("plot")),
        pytest.param("plot", "abs(x)*lgamma(y)", {"box": {"x": "-1..3", "y": "-2..3"}}, marks=pytest.mark.part("plot")),
    ],
)
@pytest.mark.one_in(4)
def test_every_search_ends_with_the_budget(
    command: str, text: str, options: dict[str, Any], step: float, wall: _Clock
) -> None:
    """An answer is there wherever the time runs out, and nobody goes on to read the clock."""
    wall.step = step
    answer = Function(text).ask(command, options, budget=1.0)
    assert json.loads("".join(reply(answer, {})))["command"] == command
    assert wall.now <= 1.0 + 150 * step


@pytest.mark.part("plot")
@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("abs(x)", {"box": {"x": "-1..1"}}),
        ("abs(x)", {}),
        ("abs(x)*y", {"box": {"x": "-1..1", "y": "-1..1"}}),
    ],
)
def test_a_plot_without_time_is_drawn_and_says_what_it_lacks(
    text: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The curves are torch's as ever; the marks are missing, which is a warning."""
    whole: Any = Function(text).ask("plot", options)
    assert whole.warnings == ()
    monkeypatch.setattr(deadline, "SECONDS", 0.0)
    drawn: Any = Function(text).ask("plot", options)
    (warning,) = drawn.warnings
    assert warning.startswith("kinks, poles and other places are not marked: ")
    assert "over the time limit of 0 seconds" in warning


@pytest.mark.part("claims", "improve")
def test_points_that_there_was_no_time_for_are_counted(wall: _Clock) -> None:
    """Random ones, of which the others agree, and those of a range."""
    wall.step = 0.02
    found: Any = Function("sin(x)").ask("check", {"random": 50, "box": {"x": "1..2"}}, budget=1.0)
    assert 0 < found.sampling.points < 50
    assert (found.check.verdict, found.passed, found.check.sampled) == ("agree", True, True)
    left = f"{50 - found.sampling.points} of 50 points were not looked at within the budget"
    assert left in found.check.notes
    for wall.step in (0.002, 1.0):
        answer: Any = Function("(1 - cos(x))/x").ask("improve", {"box": {"x": "1e-300..1e300"}}, budget=1.0)
        assert any("points were not looked at within the budget" in note for note in answer.notes)
