"""The one test of a hint: a command line that it spells is read before it is shown.

What is read is its command, its options and its values, without torch; nothing is computed, and no code is run.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Callable, Sequence

import typer

from gradcli import trial
from gradcli.cli.commands import names_code
from gradcli.cli.suggestions.compared_functions import on_compared_code
from gradcli.cli.suggestions.derivatives_on_ranges import (
    IN_BOUNDS,
    derivatives_on_ranges,
    on_bounds_of_derivative,
)
from gradcli.cli.suggestions.kept_words import drops_from_equation, on_equation
from gradcli.cli.suggestions.other_tools import is_of_sympy
from gradcli.cli.suggestions.respelled_mathematics import on_factors, on_matrix_inside, on_paper
from gradcli.cli.suggestions.respelled_options import option_meant
from gradcli.cli.suggestions.respelled_values import choice_meant, on_decimal_comma
from gradcli.cli.suggestions.respelling import respelled_lines
from gradcli.cli.suggestions.typed_line import PipedWords, Words, typed_line
from gradcli.cli.suggestions.typed_ranges import is_infinite, on_tolerance
from gradcli.cli.typer_internals import click
from gradcli.errors import CodeError, GradcliError, InfiniteRangeError, MissingVectorError, UsageError
from gradcli.language.spelled_texts import fact_of, is_form, is_script, page_for

LONGEST_TRIED = 2_000
"""Characters of a command line up to which others are tried."""

LONGEST = 240
"""Characters of a command line that a hint shows."""


def error_of(words: Words, run: Callable[[Sequence[str]], object]) -> GradcliError | None:
    """Read a command line, and compute nothing; return its error, if it has one.

    Args:
        words: The words after `gradcli`.
        run: Runs a command line.
    """
    try:
        with trial.trying(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run([*words])
    except trial.ReadError:
        return None
    except GradcliError as error:
        return error
    except (click.exceptions.ClickException, typer.Exit, typer.Abort, OSError) as error:
        return UsageError(str(error) or type(error).__name__)
    return None


def advise(error: GradcliError, words: Sequence[str], run: Callable[[Sequence[str]], object]) -> Words | None:
    """Give an error the command lines that may be meant and can be read as its hint.

    Args:
        error: The error of the command line.
        words: Its words after `gradcli`.
        run: Runs a command line.

    Returns:
        The command line that is meant beyond doubt, which may be answered; None where there is none.
    """
    typed = tuple(words)
    if error.exit_code != 2 or not error.is_of_spelling or not _may_be_respelled(typed, error):
        return None
    line = typed_line(typed)
    fact = on_decimal_comma(line, error) or on_tolerance(line) or on_equation(line, error) or fact_of(error)
    if isinstance(error, MissingVectorError):
        products = [one for one in on_paper(line, error) if error_of(one, run) is None]
        written = f"write {command_line(products[0])}; " if products else ""
        error.advise(f"{fact}{written}{error.in_shell.hint}")
        return None

    def read(words: Words) -> GradcliError | None:
        return error if drops_from_equation(line, words) else error_of(words, run)

    found = trial.spellings(typed, error, respelled_lines, read)
    lines = [command_line(words) for words in found.spelled]
    fact = (on_matrix_inside(line, error) + on_factors(line, error) if lines else "") + fact
    fact = (on_bounds_of_derivative(line, found.spelled[0]) if lines else "") + fact
    if lines and max(map(len, lines)) <= LONGEST:
        is_said = isinstance(error, InfiniteRangeError)
        if not is_said and is_infinite(line) and not any(is_infinite(typed_line(one)) for one in found.spelled):
            fact += "a range ends at finite numbers, not at inf; "
        error.advise(f"{fact}write {', or '.join(lines)}")
        is_read = "-" in typed and not isinstance(error, UsageError)  # standard input, which cannot be read again
        return None if is_read or is_script(error, " ".join(typed)) else found.meant
    if said := on_compared_code(line):
        error.advise(said)
    elif any(derivatives_on_ranges(line)):
        error.advise(f"give the function itself: {IN_BOUNDS}")
    elif meant := option_meant(line) or choice_meant(line):
        rest = error.in_shell.hint
        error.advise(meant if meant.startswith("write ") or not rest else f"{meant}; {rest}")
    elif is_form(error.text.hint) and not isinstance(error, CodeError):
        error.advise(page_for(error))
    return None


def _may_be_respelled(words: Words, error: GradcliError) -> bool:
    """Tell whether other words may be meant: of one line, without what was sent, and of no code that was run."""
    is_usage, whole = isinstance(error, UsageError), " ".join(words)
    is_sent = any(word.endswith(("@-", "=-")) for word in words)
    try:
        is_code = any(map(names_code, words)) or (isinstance(error, CodeError) and ";" in whole)
    except GradcliError:  # a part of another package that cannot be loaded
        return False
    return (
        not ((is_sent or is_code) and not is_usage)
        and ("\n" not in whole or is_of_sympy(whole))
        and len(whole) <= LONGEST_TRIED
    )


_SAFE = re.compile(r"[\w@%+=:,./-]+", re.ASCII)


def command_line(words: Sequence[str]) -> str:
    """Write a command line for a shell, with double quotes where they do.

    >>> command_line(["grad", "x^2", "--at", "x=1"]), command_line(["$x"])
    ('gradcli grad "x^2" --at x=1', "gradcli '$x'")
    """
    piped = f"{words.sender} | " if isinstance(words, PipedWords) else ""
    return piped + " ".join(("gradcli", *map(_quoted, words)))


def _quoted(word: str) -> str:
    if _SAFE.fullmatch(word):
        return word
    return shlex.quote(word) if set('"$`\\!') & set(word) else f'"{word}"'
