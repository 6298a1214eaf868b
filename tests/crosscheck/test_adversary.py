"""The truth of random questions is right, and what is wrong with a verdict is seen."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from mpmath import mp

from gradcli import results
from gradcli.results import Check
from gradcli.results.verdicts import Verdict
from tests.crosscheck import adversary, crossings
from tests.crosscheck import one_sided as s
from tests.crosscheck.adversary import Entry
from tests.crosscheck.derived import Truth, derivatives
from tests.crosscheck.drawing import Question
from tests.crosscheck.one_sided import number
from tests.crosscheck.trees import EDGES, KINKS, REDUCTIONS, REMOVABLE, SMOOTH, Tree, call, leaf, reduced, where

X, Y = leaf("x"), leaf("y")


def _truth(tree: Tree, **at: float) -> Truth:
    """The derivative by x."""
    with mp.workdps(60):
        return derivatives(tree, Question("", "grad", tree, at), {("x", 0): 1.0})[0]


@pytest.mark.parametrize("tree", [one(X) for one in SMOOTH], ids=lambda tree: tree.text)
def test_smooth_functions_have_the_derivative_that_mpmath_finds(tree: Tree) -> None:
    """Series by recurrences against mpmath's own differences."""

    def f(x: object) -> object:
        from tests.crosscheck.one_sided import Decisions
        from tests.crosscheck.trees import Point

        return tree.run(Point({"x": number(x)}, Decisions()))[0]

    with mp.workdps(60):
        expected = mp.diff(f, mp.mpf(0.75))
        found = _truth(tree, x=0.75)
        assert found.exists
        assert abs(found.value - expected) < 1e-15 * abs(expected)


@pytest.mark.parametrize(
    ("tree", "x", "expected"),
    [
        (KINKS[0](X), 0.0, None),
        (KINKS[0](X), 5e-324, 1),
        (KINKS[0](call("{}**2", lambda a: s.mul(a, a), X)), 0.0, 0),
        (call("abs({0})*{0}", lambda a: s.mul(s.absolute(a, s.Decisions()), a), X), 0.0, 0),
        (where("==", X, Y, X), 0.0, None),
        (where(">=", X, X, X), 0.0, 1),
        (EDGES[0](X), 0.0, None),
        (EDGES[0](call("{}**4", lambda a: s.natural(a, 4), X)), 0.0, 0),
        (EDGES[2](X), 0.0, None),
        (EDGES[8](X), -1.0, 0),
        (REMOVABLE[0](X), 0.0, None),
        (REMOVABLE[2](X), 1e-50, -1e-50 / 12),
        (where("==", X, call("1", lambda _: number(1), X), REMOVABLE[0](X)), 0.0, 0),
        (SMOOTH[2](X), 400.0, 4 * mp.exp(-800)),
    ],
    ids=lambda value: value.text if isinstance(value, Tree) else str(value),
)
def test_kinks_edges_and_gaps_have_no_derivative_and_joins_have(tree: Tree, x: float, expected: Any) -> None:
    """Hand-derived."""
    truth = _truth(tree, x=x, y=1.0)
    assert truth.exists is (expected is not None)
    if expected is not None:
        assert abs(truth.value - expected) <= 1e-12 * abs(expected)


def test_a_norm_of_equal_numbers_is_a_kink_and_a_softmax_does_not_move() -> None:
    """Zeros by cancellation."""
    tree = reduced("std({})", call("({} + {})", s.add, X, Y))
    question = Question("", "grad", tree, {"x": [1.0, 1.0], "y": 0.1})
    with mp.workdps(60):
        assert derivatives(tree, question, {("x", 0): 1.0})[0].exists is False
        moved = derivatives(tree, question, {("y", 0): 1.0})[0]
        assert (moved.exists, moved.value) == (True, 0)
        soft = Tree("softmax(x)", lambda point: REDUCTIONS["softmax({}, 0)"](point.leaves["x"]))
        rows = derivatives(soft, question, {("x", 0): 1.0, ("x", 1): 1.0})
        assert [(row.exists, row.value) for row in rows] == [(True, 0)] * 2


@pytest.mark.parametrize(
    ("text", "f", "expected"),
    [
        ("x*y", lambda p: crossings.mul(p["x"], p["y"]), 1),
        ("relu(x*y)", lambda p: _relu(crossings.mul(p["x"], p["y"])), None),
        ("x*relu(y)", lambda p: crossings.mul(p["x"], _relu(p["y"])), None),
        ("x*relu(x)*y", lambda p: crossings.mul(crossings.mul(p["x"], _relu(p["x"])), p["y"]), 0),
    ],
)
def test_the_mixed_derivative_at_crossing_kinks(text: str, f: crossings.Piecewise, expected: int | None) -> None:
    """The derivative by y of ∂f/∂x at 0, 0, by hand."""
    assert crossings.second(f, {"x": 0.0, "y": 0.0}, "x", "y")[0] == expected, text


def _relu(a: crossings.Poly) -> crossings.Poly:
    return a if crossings.sign(a) > 0 else {}


def _entry(torch: float, truth: Truth) -> Entry:
    return Entry("x", (), (), torch, truth)


def _said(verdict: Verdict) -> Check:
    finding = results.Entry("x", (), (), verdict, 1.0, 1.0, 0.0, "")
    return Check(verdict, 1, 1, 0.0, () if verdict == "agree" else (finding,), 0 if verdict == "agree" else 1)


QUESTION = Question("", "grad", X, {"x": 0.0})
TWO, NONE, ZERO = Truth(True, mp.mpf(2), mp.mpf(2)), Truth(False), Truth(True, mp.zero, mp.one)


@pytest.mark.parametrize(
    ("entry", "verdict", "expected"),
    [
        (_entry(2.0, TWO), "agree", ""),
        (_entry(2.001, TWO), "agree", "WRONG AGREE"),
        (_entry(math.nan, TWO), "agree", "WRONG AGREE"),
        (_entry(2.0, NONE), "agree", "WRONG AGREE (no derivative)"),
        (_entry(1e-16, ZERO), "agree", ""),
        (_entry(1e-9, ZERO), "agree", "WRONG AGREE"),
        (_entry(2.0, TWO), "kink", "WRONG ALARM (kink)"),
        (_entry(2.5, TWO), "disagree", "FALSE DISAGREE"),
        (_entry(2.5, replace(TWO, is_tie=True)), "disagree", ""),
        (_entry(2.0, NONE), "kink", ""),
        (_entry(1e-16, ZERO), "inaccurate", "WRONG ALARM (inaccurate)"),
    ],
)
def test_each_wrong_verdict_is_seen(entry: Entry, verdict: Verdict, expected: str) -> None:
    """Planted verdicts."""
    found = [fault.kind for fault in adversary.judged(QUESTION, _said(verdict), [entry])]
    assert found == [expected] * bool(expected)
