"""Every kind of answer in every format: what the command is asked for is there, and no format has a hole."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gradcli import Function, report, results
from gradcli.questions import functions
from gradcli.report.document import Screen

CASES: dict[type, tuple[Callable[[], results.Answer | results.Functions | results.Source], list[str]]] = {
    results.Evaluation: (lambda: Function("7.25*x").eval({"x": 1.5}), ["10.875"]),
    results.VJP: (lambda: Function("x**2").vjp({"x": 1.5}, 7.25), ["21.75"]),
    results.Products: (lambda: Function("x**2").vjps({"x": 1.5}, [7.25, 6.25]), ["21.75", "18.75"]),
    results.Gradient: (lambda: Function("x**2").grad({"x": 1.625}), ["3.25"]),
    results.Jacobian: (lambda: Function("x**2").jacobian({"x": [1.625, 0.375]}), ["3.25", "0.75"]),
    results.JVP: (lambda: Function("x**2").jvp({"x": 1.5}, 7.25), ["21.75"]),
    results.Hessian: (lambda: Function("x**3").hessian({"x": 1.625}), ["9.75"]),
    results.HVP: (lambda: Function("x**3").hvp({"x": 1.625}, 2.5), ["24.375"]),
    results.Checking: (lambda: Function("x**2").check({"x": 1.625}), ["3.25", "agree"]),
    results.Explanation: (lambda: Function("y = x**2; z = y**2").explain({"x": 1.5}), ["2.25", "4.5", "13.5"]),
    results.BackwardGraph: (lambda: Function("x*y").graph({"x": 1, "y": 2}), ["MulBackward0", "AccumulateGrad"]),
    results.Source: (lambda: Function("x**2").code({"x": 1.625}), ["1.625", "backward"]),
    results.Functions: (lambda: functions.listed("logsumexp"), ["logsumexp"]),
}
"""An answer of each kind, and what no format may leave out."""

AT_POINTS: dict[type, tuple[Callable[[], results.Answer], list[str]]] = {
    results.Evaluation: (lambda: Function("7.25*x").eval({"x": [1.5, 2.5]}, points_of=["x"]), ["10.875", "18.125"]),
    results.VJP: (lambda: Function("x**2").vjp({"x": [1.5, 2.5]}, 7.25, points_of=["x"]), ["21.75", "36.25"]),
    results.Gradient: (lambda: Function("x**2").grad({"x": [1.625, 0.375]}, points_of=["x"]), ["3.25", "0.75"]),
    results.Jacobian: (lambda: Function("x**2").jacobian({"x": [1.625, 0.375]}, points_of=["x"]), ["3.25", "0.75"]),
}
"""The same at many points."""

BASES = {results.Answer, results.Judged, results.Differentiation}
"""What answers share, and what is no answer by itself."""


def test_every_kind_of_answer_is_here() -> None:
    """One that is added needs a case, and with it a rendering in each format."""
    exported = [getattr(results, name) for name in results.__all__]
    kinds = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, results.Answer)}
    assert {*CASES} == kinds - BASES | {results.Source, results.Functions}


@pytest.mark.parametrize("form", ["table", "json", "plain", "latex", "markdown", "html"])
@pytest.mark.parametrize(
    ("kind", "asked", "telling"),
    [(kind, *case) for cases in (CASES, AT_POINTS) for kind, case in cases.items()],
    ids=[f"{kind.__name__}{suffix}" for cases, suffix in ((CASES, ""), (AT_POINTS, "-points")) for kind in cases],
)
def test_every_format_has_what_was_asked_for(
    kind: type, asked: Callable[[], results.Answer], telling: list[str], form: str
) -> None:
    """None falls through to a rendering of something else."""
    answer = asked()
    assert type(answer) is kind
    shown = report.rendered(answer, form, Screen())
    for words in telling:
        assert words in shown
