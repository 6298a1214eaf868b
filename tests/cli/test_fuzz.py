"""Random command lines are answered or refused; `python -m tests.fuzz 20` tries them for twenty minutes."""

import pytest

from gradcli.language import ops
from tests.examples import examples, part, seeds
from tests.fuzz import Fuzz, complaint, drawn

SEEDS = examples(1_200)

KEPT: tuple[int, ...] = ()
"""Seeds of command lines that were at fault once."""


@pytest.mark.parametrize("block", part(range(12), 0, of=2))
@pytest.mark.one_in(2)
def test_random_command_lines_are_answered_or_refused(block: int) -> None:
    """With a clear message and an empty stdout if refused; strict JSON if asked for; never a warning of a library."""
    each = SEEDS // 12
    for seed in seeds(block * each, each, KEPT if block == 0 else ()):
        assert not (reason := complaint(drawn(seed))), f"seed {seed}: {drawn(seed)}\n{reason}"


def test_the_fuzzer_sees_what_it_is_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash, another exit code, and output beside an error."""
    words = ["eval", "sin(x)", "--at", "1"]
    assert complaint(words) == ""
    monkeypatch.setattr("tests.fuzz.main", lambda words: 1)
    assert complaint(words).startswith("exit 1")
    monkeypatch.setattr("tests.fuzz.main", lambda words: print("half") or 2)
    assert complaint(words).startswith("unclear")
    monkeypatch.setattr("tests.fuzz.main", lambda words: 1 // 0)
    assert "ZeroDivisionError" in complaint(words)


def test_it_reaches_every_operation() -> None:
    """By its name, within a few thousand seeds."""
    text = " ".join(Fuzz(seed).words()[1] for seed in range(6_400))
    assert {op.name for op in ops.TABLE.values() if f"{op.name}(" not in text} <= {"index"}
