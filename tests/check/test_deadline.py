"""Every check ends: what is over the time limit is unchecked, says so, and the answer is there all the same."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from gradcli import Function
from gradcli.reference import deadline
from gradcli.reference.deadline import OverTimeError, require_time, time_limit
from gradcli.report.json import reply

QUESTIONS: dict[str, dict[str, Any]] = {
    "grad": {"at": {"x": [0.0, 1.0]}},
    "jacobian": {"at": {"x": [1.0, 2.0]}},
    "vjp": {"at": {"x": [1.0, 2.0]}, "v": "ones"},
    "jvp": {"at": {"x": [1.0, 2.0]}, "u": "ones"},
    "hessian": {"at": {"x": [1.0, 2.0]}},
    "hvp": {"at": {"x": [1.0, 2.0]}, "u": "ones"},
    "eval": {"at": {"x": [1.0, 2.0]}},
    "explain": {"at": {"x": [1.0, 2.0]}, "v": "ones"},
    "check": {"at": {"x": [1.0, 2.0]}},
}


@pytest.mark.parametrize("command", QUESTIONS)
@pytest.mark.parametrize("text", ["sum(relu(x)**2)", "sum((1-cos(x))/x**2)"])
def test_a_check_without_time_is_unchecked(command: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says why; the numbers are torch's as ever."""
    monkeypatch.setattr(deadline, "SECONDS", 0.0)
    found = getattr(Function(text), command)(**QUESTIONS[command])
    assert found.check.verdict == "unchecked"
    assert "over the time limit of 0 seconds" in str(found.check.notes)
    assert json.loads("".join(reply(found, {})))["command"] == command


def test_random_points_have_a_limit_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """As each is a check of its own."""
    monkeypatch.setattr(deadline, "SECONDS", 0.0)
    found = Function("sin(x)").check({}, random=3, box={"x": "0..1"}).check
    assert found is not None
    assert found.verdict == "unchecked"


def test_the_time_runs_out_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a Hessian that were looked at before are kept, and counted."""
    spent, passed = iter(range(10**9)), iter(range(0, 10**12, 10**6))
    monkeypatch.setattr(time, "thread_time", lambda: float(next(spent)))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(passed)))
    monkeypatch.setattr(deadline, "SECONDS", 300.0)
    found = Function("sum(x**3)*sum(x**2)").hessian({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}).check
    assert found is not None
    assert found.verdict == "agree"
    assert 0 < found.checked < found.entries == 36
    assert "time limit" in str(found.notes)


def test_a_limit_inside_of_another_shares_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else many small checks would take many limits."""
    spent, passed = iter([0.0, 4.0, 11.0, 100.0]), iter([0.0, 99.0, 199.0])
    monkeypatch.setattr(time, "thread_time", lambda: next(spent))
    monkeypatch.setattr(time, "monotonic", lambda: next(passed))
    with time_limit():
        with time_limit():
            require_time()
        with time_limit(), pytest.raises(OverTimeError):
            require_time()
    require_time()  # without a limit, nothing is asked of the clock
    assert next(spent) == 100.0
