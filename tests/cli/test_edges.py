"""Edges that once crashed, hung, or lost an answer."""

from __future__ import annotations

import json

import pytest

from tests import warm
from tests.conftest import Command, process

ANSWERED = [
    ["vjp", "relu6(x)", "--at", "1"],
    ["vjp", "clamp(x, a, 1)", "--at", "x=0.5", "--at", "a=0"],
    ["vjp", "clamp(x, 0, [1, 2])", "--at", "1,2", "--v", "ones"],
    ["vjp", "polygamma(2, 1)*x", "--at", "1"],
    ["vjp", "maximum(polygamma(2, -1), x)", "--at", "1"],
    ["eval", "x[5:]", "--at", "1,2", "--format", "plain"],
    ["jacobian", "x[5:]", "--at", "1,2", "--format", "plain"],
    ["vjp", "sum(x)", "--at", "arange(0)"],
    ["eval", "x", "--at", "arange(0)", "--format", "plain"],
    ["vjp", "x*y", "--at", "x=1e300", "--at", "y=2", "--dtype", "float32"],
    ["vjp", "x" + "[None]" * 12, "--at", "1,2", "--v", "ones"],
]

REFUSED = [
    (["eval", "x" + "[None]" * 70, "--at", "1"], "dimensions"),
    (["vjp", "x", "--at", "linspace([1,2],3,4)"], "a constant must stand here"),
    (["vjp", "x", "--at", "zeros(0, 2**61)"], "elements"),
    (["eval", "2**1500*x", "--at", "1"], "beyond the range"),
    (["vjp", "polygamma(-1, x)", "--at", "1"], "polygamma"),
    (["vjp", "x", "--at", "1", "--v", "e" + "1" * 5_000], "error"),
    (["vjp", "x", "--at", "ones(2**13,2**13)@ones(2**13,2**13)"], "multiplications"),
    (["vjp", "x", "--at"], "--at needs a value"),
    (["check", "x", "--at", "1", "--v", "1", "--v", "2"], "--v is given twice"),
    (["vjp", "x", "--at", "1", "--json", "--format", "plain"], "exclude each other"),
    (["grad", "x", "--at", "1", "--require-all", "--no-check"], "--require-all and --no-check exclude each other"),
    (["vjp", "transpose(x, 0)", "--at", "[[1,2]]"], "a dimension is a whole number"),
    (["vjp", "x*y", "--at", "\x1b[31m1"], "names no variable"),
    (["eval", "+".join(f"a{n}" for n in range(500))], "no value for the variables"),
]


@pytest.mark.parametrize("arguments", ANSWERED, ids=lambda words: " ".join(words)[:60])
def test_answered(arguments: list[str], gradcli: Command) -> None:
    """In tables and as strict JSON."""
    run = gradcli(*arguments)
    assert (run.code, run.err) == (0, "")
    if "--format" not in arguments:
        json.loads(gradcli(*arguments, "--json").out)
        assert max(map(len, run.out.splitlines())) < 200


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(words)[:60] for words, _ in REFUSED])
def test_refused(arguments: list[str], words: str, gradcli: Command) -> None:
    """With bounded, printable words."""
    run = gradcli(*arguments)
    assert (run.code, run.out) == (2, "")
    assert words in run.err
    assert len(run.err) < 2_000
    assert "\x1b" not in run.err


def test_no_arguments_show_the_help(gradcli: Command) -> None:
    """Of the program; a command without its expression is a mistake, which a script must hear of."""
    run = gradcli()
    assert (run.code, run.err) == (0, "")
    assert "Usage: gradcli" in run.out


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_an_answer_is_not_lost_with_its_remarks(redirection: str) -> None:
    """Stdout first; a stderr that is closed or full undoes nothing."""
    for arguments, code, out in ((["a = x; x**2"], 0, "9\n"), (["y +"], 2, "")):
        words = [warm.gradcli(), "eval", *arguments, "--at", "x=3", "--format", "plain"]
        run = process("sh", "-c", f'"$0" "$@" {redirection}', *words)
        assert (run.code, run.out) == (code, out)
