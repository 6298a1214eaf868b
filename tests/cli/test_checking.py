"""The check command: what passes, what does not, and where claims and values may come from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_edges import ANSWERED
from tests.conftest import Command

CODES = [
    (["check", "x**2", "--at", "1,2"], 0),
    (["check", "abs(x)", "--at", "0"], 1),
    (["check", "abs(x)", "--at", "0", "--allow", "removable"], 1),
    (["check", "abs(x)", "--at", "0", "--allow", "agree,kink"], 0),
    (["check", "(1-cos(x))/x**2", "--at", "1e-8"], 1),
    (["check", "(1-cos(x))/x**2", "--at", "1e-8", "--atol", "1e9"], 0),
    (["check", "x/3", "--at", "1", "--rtol", "0"], 0),  # the nearest number there is
    (["check", "exp(sin(x)**3)*x", "--at", "0.7", "--rtol", "0"], 1),
    (["check", "x**2", "--at", "3", "--expect", "6"], 0),
    (["check", "x**2", "--at", "3", "--expect", "5"], 1),
    (["check", "x**2", "--at", "3", "--claim", "2*x"], 0),
    (["check", "x**2", "--at", "3", "--claim", "x=3*x"], 1),
    (["check", "x*y", "--at", "x=3", "--at", "y=2", "--claim", "y=x", "--claim", "x=y"], 0),
    (["check", "x**2", "--at", "1,2", "--v", "1,10", "--claim", "2*x*v"], 0),
    (["check", "erf(x)*gelu(x)", "--at", "1", "--claim", "x=2*x", "--allow", "no-counterexample"], 1),
    (["check", "x/3", "--at", "1", "--claim", "0.333333333333"], 1),
    (["check", "x/3", "--at", "1", "--claim", "0.333333333333", "--allow", "no-counterexample"], 0),
    (["check", "relu(x)", "--at", "0,1", "--v", "ones", "--expect", "0,1", "--allow", "kink"], 1),
    (["check", "relu(x)", "--at", "0,1", "--v", "ones", "--expect", "0,1", "--allow", "kink,no-counterexample"], 0),
    (["check", "log(x)", "--random", "30", "--in=-1..1"], 1),
    (["check", "log(x)", "--random", "30", "--in", "1..2"], 0),
    (["check", "-x**2", "--at", "-1", "--claim", "-2*x", "--expect", "2"], 0),
    (["check", "0*x", "--random", "5", "--in", "-1.7e308..1.7e308"], 0),
    (["grad", "log(x)", "--at", "-1"], 0),
    (["grad", "log(x)", "--at", "-1", "--strict"], 1),
    (["vjp", "abs(x)", "--at", "0", "--strict"], 1),
    (["jacobian", "abs(x)", "--at", "0", "--strict"], 1),
]


@pytest.mark.parametrize(("words", "code"), CODES, ids=[" ".join(words) for words, _ in CODES])
@pytest.mark.parametrize("shape", ["table", "json", "plain"])
def test_the_exit_code_says_whether_the_check_passed(words: list[str], code: int, shape: str, gradcli: Command) -> None:
    """After the answer, which is whole in every format, with nothing on stderr."""
    run = gradcli(*words, "--format", shape)
    assert (run.code, run.err) == (code, "")
    assert run.out
    if shape == "json" and words[0] == "check":
        assert json.loads(run.out)["passed"] == (code == 0)


def test_claims_and_values_may_be_in_files(tmp_path: Path, gradcli: Command) -> None:
    """As for --at and EXPR."""
    formula, numbers = tmp_path / "claim.txt", tmp_path / "expected.npy"
    formula.write_text("2*x\n", encoding="utf-8")
    np.save(numbers, np.array(6.0))
    for expect in (f"@{numbers}", f"x=@{numbers}"):
        run = gradcli("check", "x**2", "--at", "3", "--claim", f"@{formula}", "--expect", expect, "--format", "plain")
        assert run.code == 0, run.err
    run = gradcli("check", "x**2", "--at", "3", "--claim", "@nowhere.txt")
    assert run.code == 2
    assert "nowhere.txt" in run.err


def test_a_claim_that_was_not_compared_is_said_to_be_so(gradcli: Command) -> None:
    """In words and in plain; nothing else is wrong where the kink is allowed."""
    words = ["check", "abs(x)", "--at", "0", "--expect", "0", "--allow", "kink"]
    assert gradcli(*words).out.endswith("did not pass: 1 claim not compared\n")
    run = gradcli(*words, "--format", "plain")
    assert run.out.endswith("not-compared x 0\n")
    assert run.code == 1


def test_no_counterexample_is_no_proof(gradcli: Command) -> None:
    """A claim that nothing refutes passes only where that is allowed, and is said to be neither."""
    words = ["check", "x/3", "--at", "1", "--claim", "0.333333333333"]
    run = gradcli(*words)
    assert "neither proved nor refuted: no counterexample in 101 points" in run.out
    assert run.out.endswith("did not pass: 1 claim neither proved nor refuted\n")
    assert gradcli(*words, "--format", "plain").out.endswith("no-counterexample x 0.333333333333\n")
    allowed = gradcli(*words, "--allow", "no-counterexample")
    assert allowed.out.endswith("passed (no-counterexample allowed)\n")
    assert "neither proved nor refuted: no counterexample in 101 points" in allowed.out
    agrees = gradcli("check", "x**2", "--at", "3", "--expect", "6", "--format", "plain")
    assert (agrees.code, agrees.out.splitlines()[-1]) == (0, "agrees x 6")


@pytest.mark.parametrize("words", [words for words in ANSWERED if words[0] == "vjp"], ids=" ".join)
def test_what_vjp_answers_check_answers_too(words: list[str], gradcli: Command) -> None:
    """Edges that once crashed, hung, or lost an answer."""
    run = gradcli("check", *words[1:])
    assert run.code in (0, 1)
    assert run.err == ""
    assert json.loads(gradcli("check", *words[1:], "--json").out)["passed"] == (run.code == 0)
