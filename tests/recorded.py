"""Recorded command lines and their answers, and pages of functions: computed once, however often they are written."""

import functools
import shlex
from pathlib import Path

from gradcli.cli.app import _answer
from gradcli.cli.output import Output
from gradcli.questions import functions

GOLDENS = Path(__file__).parent / "goldens" / "answers"
COMMANDS = sorted({golden.read_text(encoding="utf-8").partition("\n")[0] for golden in GOLDENS.glob("*.txt")})
"""With the prompt, and the exit code if it is not 0."""


def words(command: str) -> list[str]:
    """Words after `gradcli`."""
    return shlex.split(command.removeprefix("$ ").partition("  # exit ")[0])[1:]


@functools.cache
def answer(command: str) -> Output:
    """The answer, and how it is to be written."""
    found = _answer(words(command))
    assert isinstance(found, Output)
    return found


page = functools.cache(functions.page)
"""The page of a function, which nobody changes."""
