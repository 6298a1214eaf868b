"""Every kind of wrong input: one message, the place under a caret, the fix, exit 2, and nothing on stdout."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.conftest import Command

GOLDENS = Path(__file__).parent.parent / "goldens" / "errors"


@pytest.mark.parametrize("golden", sorted(GOLDENS.glob("*.txt")), ids=lambda path: path.stem)
def test_the_message_is_as_recorded(golden: Path, gradcli: Command, request: pytest.FixtureRequest) -> None:
    """The first line is the command line, the rest is stderr."""
    command, _, expected = golden.read_text(encoding="utf-8").partition("\n")
    words = shlex.split(command.removeprefix("$ "))
    run = gradcli(*words[1:])
    if request.config.getoption("--update-goldens"):
        golden.write_text(f"{command}\n{run.err}", encoding="utf-8")
        return
    assert run.err == expected
    assert run.out == ""
    assert run.code == 2


@pytest.mark.parametrize("golden", sorted(GOLDENS.glob("*.txt")), ids=lambda path: path.stem)
def test_the_same_as_json(golden: Path, gradcli: Command) -> None:
    """One object with the four keys of the schema, and the position in the text as typed."""
    words = shlex.split(golden.read_text(encoding="utf-8").partition("\n")[0].removeprefix("$ "))[1:]
    run = gradcli(*words, "--json")
    fields = json.loads(run.err)
    assert run.out == ""
    assert run.code == 2
    assert fields["schema"] == 1
    assert {"kind", "message"} <= set(fields["error"]) <= {"kind", "message", "position", "hint"}


def test_every_error_kind_has_a_golden() -> None:
    """The kinds of the exception family that a command line can meet."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in GOLDENS.glob("*.txt"))
    for words in (
        "unknown function",
        "no value for",
        "no such variable",
        "do not broadcast",
        "v has shape",
        "a vector v of",
        "no such option",
        "no such command",
        "nested more than",
        "takes 3.0 GiB",
    ):
        assert words in text
