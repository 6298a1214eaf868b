"""From the line in the environment to the candidates at its end."""

from __future__ import annotations

import os
import shlex
import textwrap
from typing import Any

import typer
from typer import _click as click
from typer._click.shell_completion import CompletionItem, ShellComplete

from gradcli.cli.completion.scripts import ASKED, LINE, WORD, Shell
from gradcli.errors import GradcliError

EXPLAINED = 60
"""Characters of an explanation, which stands beside its candidate."""


def is_asked() -> bool:
    """Whether a shell wants candidates, and not the command to run."""
    return ASKED in os.environ


def candidates(command: click.Command) -> str:
    """What may stand at the cursor, a line each; nothing where that is not known."""
    try:
        return _Line(command, {}, "gradcli", ASKED).complete()
    except (GradcliError, click.exceptions.ClickException, typer.Exit):
        return ""


class _Line(ShellComplete):
    """A command line that ends at the cursor, as click completes it."""

    name = "gradcli"
    source_template = ""

    def source_vars(self) -> dict[str, Any]:
        """None: the scripts are ready."""
        return {}

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one at the cursor, and what there is of that."""
        words, incomplete = split(os.environ.get(LINE, ""))
        return words[1:], incomplete

    def complete(self) -> str:
        """The candidates, each in the place of what the shell replaces."""
        args, incomplete = self.get_completion_args()
        option, equals, value = incomplete.partition("=")
        is_joined = option.startswith("--") and bool(equals)
        found = self.get_completions([*args, option], value) if is_joined else self.get_completions(args, incomplete)
        word = os.environ.get(WORD, incomplete)
        cut = len(incomplete) - len("" if word == "=" else word)
        head = f"{option}=" if is_joined else ""
        lines = (self.format_completion(item, head, cut if incomplete.endswith(word) else 0) for item in found)
        return "".join(dict.fromkeys(lines))

    def format_completion(self, item: CompletionItem, head: str = "", cut: int = 0) -> str:
        """A line: the candidate, and for the shells that show it, what it is."""
        text = f"{head}{item.value}"[cut:]
        if not item.help or os.environ[ASKED] == Shell.bash:
            return f"{text}\n"
        return f"{text}\t{textwrap.shorten(item.help, EXPLAINED, placeholder='...')}\n"


def split(line: str) -> tuple[list[str], str]:
    """The words of a line that may end inside of quotes, and the one at its end, which may be empty.

    >>> split('gradcli vjp "x + si')
    (['gradcli', 'vjp'], 'x + si')
    >>> split("gradcli vjp ")
    (['gradcli', 'vjp'], '')
    """
    lexer = shlex.shlex(line, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # a quote that is still open
        return words, lexer.token
    if not words or line[-1:].isspace():
        return words, ""
    return words[:-1], words[-1]
