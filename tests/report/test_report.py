"""Formats: digits that round-trip, corners with counts, and tables that fit or fold."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from gradcli import Function
from gradcli.report import rendered, wording
from gradcli.report.document import Screen
from gradcli.report.numbers import digits, in_lists
from gradcli.report.render import json as json_report, plain
from gradcli.results import Check, Checking, Claim, Entry, Rewrite


def shown_as_table(answer: Any, screen: Screen) -> str:
    """As people read it."""
    return rendered(answer, "full", screen)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_digits_of_float64_round_trip(number: float) -> None:
    """The shortest that read back."""
    assert float(digits(np.float64(number))) == number


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_digits_of_float32_round_trip(number: float) -> None:
    """In their own precision, without the tail of the double."""
    shown = digits(np.float32(number))
    assert np.float32(shown) == np.float32(number)
    assert len(shown) <= 16
    assert np.float32(in_lists(np.array(number, dtype=np.float32))) == np.float32(number)


def test_json_of_arrays_keeps_their_shape() -> None:
    """And says what is not finite in words."""
    array = np.array([[1.0, np.nan], [np.inf, -np.inf]])
    assert in_lists(array) == [[1.0, "NaN"], ["Infinity", "-Infinity"]]
    assert in_lists(array.astype(np.float32)) == in_lists(array)
    assert in_lists(np.zeros((0, 2))) == []


def test_plain_is_rows_of_numbers() -> None:
    """The command's own quantity, variables in the order of wrt, J as one matrix."""
    f = Function("[x*y, x + y]")
    at: dict[str, Any] = {"x": [1, 2], "y": 3}
    assert "".join(plain.pieces(f.vjp(at, "ones", wrt=["y", "x"]))) == "5\n4 4\n"
    assert "".join(plain.pieces(f.jacobian(at, wrt=["y", "x"]))) == "1 3 0\n2 0 3\n1 1 0\n1 0 1\n"
    assert "".join(plain.pieces(f.eval(at))) == "3 6\n4 5\n"


def test_json_is_one_line() -> None:
    """Whatever the expression holds."""
    line = "".join(json_report.pieces(Function("y = x\ny**2").eval({"x": 3})))
    assert line.count("\n") == 1
    assert json.loads(line)["expression"] == "y = x\ny**2"


CURVATURE = [
    (Entry(None, (0,), None, "kink", 0.0, 1.0, None, "", of="jvp"), "(Ju)[0]", "Ju[0]"),
    (Entry(None, (), None, "kink", 0.0, 1.0, None, "", of="jvp"), "Ju", "Ju"),
    (Entry("x", None, (1,), "kink", 0.0, 1.0, None, "", of="hvp"), "Hu x[1]", "Hu_x[1]"),
    (
        Entry("z", (0,), (1, 2), "kink", 0.0, 1.0, None, "", of="hessian", by="x"),
        "∂²y/∂x[0]∂z[1,2]",
        "d2y/dx[0]dz[1,2]",
    ),
    (Entry("x", (), (), "kink", 0.0, 1.0, None, "", of="hessian", by="x"), "∂²y/∂x²", "d2y/dx2"),
    (Entry("x", None, (1,), "kink", 0.0, 1.0, None, "", of="gradient"), "∂y/∂x[1]", "dy/dx[1]"),
]


@pytest.mark.parametrize(
    ("finding", "shown", "plain"), CURVATURE, ids=lambda value: value if isinstance(value, str) else ""
)
def test_entries_of_second_derivatives_have_names(finding: Entry, shown: str, plain: str) -> None:
    """In mathematics, in one ASCII word, and in JSON by what they belong to."""
    assert wording.entry(finding, "y").pretty == shown
    assert wording.plain_entry(finding, "y") == plain
    check = Check("kink", 1, 1, None, (finding,), 1)
    answer = _checking(check=check)
    (written,) = json.loads("".join(json_report.pieces(answer)))["check"]["findings"]
    assert written["of"] == finding.of
    assert written.get("by") == finding.by


def _checking(**changes: Any) -> Checking:
    """An answer whose parts are made up, so that each is there."""
    kink = Entry("x", (0,), (1,), "kink", 0.0, note="why", one_sided=(-1.0, 1.0), proven=True)
    wide = Entry("x", None, (0,), "inaccurate", 1.5, 1.25, 0.25, "lost")
    wide = replace(wide, formula=2.0, radius=0.5, difference=1.0, difference_error=1e-9, ulps=3e15)
    own = Entry(None, (0,), None, "agree", 1.0, 1.0, 0.0, proven=True, radius=0.0, ulps=0.0)
    finding = Entry("x", (0,), (1,), "kink", 0.0, None, None, "why", (-1.0, 1.0), True)
    check = Check(
        "kink", 2, 2, 0.25, (finding,), 1, proven=True, rewrite=Rewrite("2*sin(x/2)**2", "keeps the digits", "agree")
    )
    made: dict[str, Any] = {
        "command": "check",
        "expression": "f(x)",
        "dtype": "float64",
        "inputs": {"x": np.array([1.0, 2.0])},
        "wrt": ("x",),
        "output": "y",
        "value": np.array([1.0]),
        "symbolic": {},
        "symbolic_omitted": {"x": "none is known"},
        "check": check,
        "opinions": (kink, wide, own),
        "opinions_count": 50,
        "allowed": ("kink",),
        "failing": ("inaccurate",),
        "passed": False,
        "claims": (
            Claim("x", "2*x", "gradient", "proved", 0),
            Claim("x", "3*x", "Jacobian", "no counterexample", 1),
            Claim("x", "4, 5", "gradient", "agrees", 1),
            Claim(
                *("x", "-x", "vector-Jacobian product", "refuted", 7, (1,), -2.0, 2.0, {"x": np.array([1.0, 2.0])}),
                v=np.array([1.0, 0.0]),
                mistake="the sign is wrong",
                note="more to say",
            ),
        ),
    }
    return Checking(**made | changes)


def test_a_check_shows_all_that_there_is() -> None:
    """One-sided derivatives, radii, rewrites, claims with their counterexample, and why it failed."""
    shown = shown_as_table(_checking(), Screen())
    for words in (
        "and 47 more",
        "kink (proven)",
        "left -1, right 1",
        "1.25 ± 0.5",
        "1 ± 1e-09",
        "3e+15",
        "∂y[0]/∂x[1] kink (proven): torch 0 ∧ left -1, right 1: why",
        "claim 2*x: proved\n",
        "neither proved nor refuted: no counterexample in 1 point\n",
        "agrees at this point\n",
        "claim -x: refuted: at x = [1, 2], v = [1, 0] entry [1] is 2, and the claim says -2; the sign is wrong",
        "better: 2*sin(x/2)**2   ✓ agree: keeps the digits\n",
    ):
        assert words in shown, words
    assert shown.endswith("did not pass: inaccurate, 1 claim refuted, 1 claim neither proved nor refuted\n")
    assert shown_as_table(_checking(passed=True), Screen()).endswith("passed (kink allowed)\n")
    assert shown_as_table(_checking(passed=True, allowed=()), Screen()).endswith("passed\n")


def test_a_check_as_json_has_the_keys_that_apply() -> None:
    """And plain has a line an opinion and a line a claim."""
    fields = json.loads("".join(json_report.pieces(_checking())))
    kink, wide, own = fields["opinions"]
    assert kink == {
        **{"variable": "x", "row": [0], "column": [1], "verdict": "kink", "proven": True, "torch": 0.0},
        **{"one_sided": [-1.0, 1.0], "note": "why"},
    }
    assert "row" not in wide
    assert wide["radius"] == 0.5
    assert "variable" not in own
    assert fields["opinions_count"] == 50
    assert fields["claims"][0] == {"variable": "x", "claim": "2*x", "of": "gradient", "status": "proved", "points": 0}
    assert fields["claims"][3]["at"] == {"x": [1.0, 2.0]}
    assert fields["claims"][3]["mistake"] == "the sign is wrong"
    assert (fields["allowed"], fields["passed"]) == (["kink"], False)
    rewrite = {"expression": "2*sin(x/2)**2", "reason": "keeps the digits", "verdict": "agree"}
    assert fields["check"]["rewrite"] == rewrite
    bare = json.loads("".join(json_report.pieces(_checking(claims=()))))
    assert not {"claims", "v", "vjp", "jacobian"} & set(bare)
    assert "".join(plain.pieces(_checking())) == (
        "kink dy[0]/dx[1] 0 none\ninaccurate x[0] 1.5 1.25\nagree y[0] 1 1\n"
        "proved x 2*x\nno-counterexample x 3*x\nagrees x 4, 5\nrefuted x -x\n"
    )
