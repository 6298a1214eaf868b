"""What is wrong with a command line, in plain words, and what may have been meant."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Sequence

from typer import _click as click

from gradcli.cli.environment import is_typed
from gradcli.errors import UsageError

_PLAIN = (
    (re.compile(r"^Got unexpected extra argument(?:\(s\)|s)? \((.*)\)$"), r"unexpected words beside the argument: \1"),
    (re.compile(r"is not a valid int(eger)?( range)?$"), "is not a whole number"),
    (re.compile(r"is not a valid float( range)?$"), "is not a number"),
    (re.compile(r"is not in the range (\S+)<=x<=(\S+)$"), r"is not between \1 and \2"),
)
"""What click says in words of its own."""

_DASHES = "-\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}\N{HYPHEN}\N{NON-BREAKING HYPHEN}"
_VALUE = re.compile(r"[^\W\d]\w*=[^=].*", re.DOTALL)
_NUMBER = re.compile(r"[-+\[]*[.\d][-+\d.,eE\[\]]*")
_LETTER = re.compile(r"-[A-Za-z]")
_MOST_WORDS = 8
_MOST_SHOWN = 60
"""Words, and characters, of a command line that a message repeats."""


def message(error: click.exceptions.UsageError) -> str:
    """What is wrong with a command line; a value from the environment is wrong by the name of its variable."""
    said = " ".join(error.format_message().split()).rstrip(".")
    parameter = getattr(error, "param", None)
    variable = getattr(parameter, "envvar", None)
    if error.ctx is not None and parameter is not None and variable:
        option, both = f"'{parameter.opts[0]}'", f"'{parameter.opts[0]}' (env var: '{variable}')"
        said = said.replace(both, option if is_typed(error.ctx, parameter.name) else f"the environment's {variable}")
    for words, plain in _PLAIN:
        said = words.sub(plain, said)
    return said[:1].lower() + said[1:]


def where_help_is(error: click.exceptions.UsageError) -> str:
    """The hint of a mistake that has none of its own."""
    if error.ctx is None or error.ctx.parent is not None:
        return f"{error.ctx.command_path if error.ctx else 'gradcli'} --help shows the options"
    is_misspelt = "Did you mean" in error.format_message()
    return "gradcli --help lists the commands" + ", one of which comes first" * (not is_misspelt)


def beside(first: str, others: Sequence[str], known: Container[str], typed: Sequence[str]) -> UsageError:
    """The error for words beside the one expression.

    Args:
        first: The expression.
        others: The words.
        known: The options of the command.
        typed: All words of the command line.
    """
    words = f"word{'s' * (len(others) > 1)} beside the expression {first}"
    shown = " ".join(word or "''" for word in others[:_MOST_WORDS]) + " ..." * (len(others) > _MOST_WORDS)
    return UsageError(f"unexpected {words}: {shown}", hint=_hint(first, others, known, typed))


def _hint(first: str, others: Sequence[str], known: Container[str], typed: Sequence[str]) -> str:
    """What may be meant by words beside the expression: options in disguise, values, or the rest of it."""
    for word in others:
        option = word.lstrip(_DASHES)
        if option != word and f"--{option}" in known:
            return f"write --{option}, with two ASCII minus signs"
    if "--at" in known and all(_VALUE.fullmatch(word) for word in others):
        return "write " + " ".join(f"--at {word}" for word in others)
    if len(others) == 1 and _NUMBER.fullmatch(others[0]) and "--at" in known and "--at" not in typed:
        return f"write --at {others[0]}"
    if len(others) == 1 and "--points" in known and os.path.splitext(others[0])[1]:
        return f"write --points {others[0]}"
    if _LETTER.fullmatch(others[0]):
        return f"{others[0]} is no option; an expression with spaces stands in quotes"
    whole = " ".join((first, *others))
    is_one = whole in " ".join(typed) and all(others) and not _NUMBER.fullmatch(others[0])
    if is_one and len(whole) <= _MOST_SHOWN and not {"'", '"'} & set(whole):
        return f'put the expression in quotes: "{whole}"'
    return 'put what has spaces in quotes, such as "x + 1" or --at "1, 2"; the shell parts the words and expands *'
