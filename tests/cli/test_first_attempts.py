"""What people type first: it works, or a hint says what does."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path

import pytest

from tests.conftest import Command

ATTEMPTS = [
    line.rpartition(" => ")
    for line in Path(__file__).with_name("first_attempts.txt").read_text(encoding="utf-8").splitlines()
    if " => " in line and not line.startswith("#")
]


@pytest.mark.parametrize(("line", "expected"), [(line, expected) for line, _, expected in ATTEMPTS])
def test_a_first_attempt(
    line: str, expected: str, gradcli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The exit code and some words of what is said; `<<` gives lines to standard input."""
    monkeypatch.chdir(tmp_path)
    words, _, sent = line.partition(" << ")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent.replace("\\n", "\n").encode())))
    code, _, said = expected.partition(" | ")
    run = gradcli(*(word.replace("\\n", "\n") for word in shlex.split(words)))
    assert str(run.code) == code, run.err
    assert said.strip() in run.out + run.err


def test_there_are_many() -> None:
    """At least as many as were tried before."""
    assert len(ATTEMPTS) >= 150
