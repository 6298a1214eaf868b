"""Recorded command lines and their answers, and pages of functions: computed once, however often they are written."""

import functools

from gradcli.cli.app import answer_words
from gradcli.cli.output import Output
from gradcli.questions import functions
from tests import command_lines

COMMANDS = sorted({one.line for one in command_lines.recorded("answers")})
"""With the exit code if it is not 0."""


@functools.cache
def answer(command: str) -> Output:
    """The answer, and how it is to be written."""
    found = answer_words(command_lines.words(command))
    assert isinstance(found, Output)
    return found


page = functools.cache(functions.page)
"""The page of a function, which nobody changes."""
