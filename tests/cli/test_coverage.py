"""What a verdict is of: all entries or a sample, said in every format, and exit codes that depend on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli import Function
from tests.checks import check_of
from tests.conftest import Command

WHOLE = ("x**2", "--at", "1,2")
SAMPLE = ("sum(i0(x))", "--at", "linspace(2,3,5000)")
SIGNS = {"full": "│", "latex": "&", "markdown": "|"}


SAID = [
    *((["jacobian", *WHOLE, "--format", form], f"agree (proven) {sign} 4 of 4 ") for form, sign in SIGNS.items()),
    *((["grad", *SAMPLE, "--format", form], "256 of 5,000 (sampled, seed 0)") for form in SIGNS),
    (["jacobian", *WHOLE], "│ ✓ agree (proven) │ 4 of 4  │"),
    (["grad", *SAMPLE], "│ ✓ agree     │ 256 of 5,000, sampled │"),
    (["explain", *SAMPLE, "--full"], "│ ✓ agree     │ 256 of 5,000 (sampled, seed 0) │"),
]


@pytest.mark.parametrize(("words", "said"), SAID, ids=[" ".join(words) for words, _ in SAID])
def test_a_verdict_says_what_it_is_of(words: list[str], said: str, gradcli: Command) -> None:
    """Of all entries, and of a sample, which is never called proven."""
    out = gradcli(*words).out
    assert said in out
    assert SAMPLE[0] not in words or "proven" not in out


def test_a_kink_among_others_that_a_sample_found_is_not_called_proven() -> None:
    """The finding is proven, what the answer is as a whole is not."""
    check = check_of(Function("sum(abs(x))").grad({"x": [0.0] * 5000}))
    assert (check.verdict, check.proven, check.sampled) == ("kink", False, True)
    assert check.findings[0].proven


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["grad", *SAMPLE], 0, False),
        (["grad", *SAMPLE, "--strict"], 0, True),
        (["grad", *SAMPLE, "--require-all"], 1, True),
        (["jacobian", *WHOLE, "--require-all", "--strict"], 0, False),
        (["check", *SAMPLE], 0, True),
        (["check", *SAMPLE, "--require-all"], 1, True),
        (
            ["check", "sum(i0(x))", "--random", "2", "--in", "x=2*ones(5000)..3*ones(5000)", "--require-all"],
            1,
            True,
        ),
        (["hessian", "sum(x**2)", "--at", "linspace(1,2,80)", "--require-all"], 1, True),
        (["hvp", *SAMPLE, "--u", "e0", "--require-all"], 0, False),
        (["explain", *SAMPLE, "--require-all"], 1, True),
        (["jacobian", "x", "--at", "zeros(0)", "--require-all"], 0, False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_all_can_be_required(gradcli: Command, words: list[str], code: int, says: bool) -> None:
    """A line on stderr says that it was a sample, in `check` and where it was asked to be strict."""
    run = gradcli(*words, "--format", "plain")
    assert run.code == code, run.err
    assert ("note: the verdict is that of a sample, " in run.err) == says
    assert run.err.count("\n") == says


def test_a_check_concludes_that_it_was_a_sample(gradcli: Command) -> None:
    """Whether it passed or not."""
    assert gradcli("check", *SAMPLE).out.endswith("passed on a sample: 256 of 5,000 entries sampled\n")
    failed = gradcli("check", *SAMPLE, "--require-all").out
    assert failed.endswith("did not pass: not all was checked, 256 of 5,000 entries sampled\n")


def test_rows_can_all_be_required(gradcli: Command, tmp_path: Path) -> None:
    """Of a stream too, whose summary says it."""
    for count, code in ((10, 0), (100, 1)):
        path = tmp_path / f"{count}.csv"
        path.write_text("x\n" + "".join(f"{n}\n" for n in range(1, count + 1)))
        run = gradcli("map", "x**2", "--points", str(path), "--check", "--require-all")
        assert run.code == code
        assert ("entries sampled)" in run.err) == bool(code)
    assert "--require-all needs --check" in gradcli("map", "x", "--points", str(path), "--require-all").err
