"""Defaults of options from the environment: what each variable is for, and what is said if its value is wrong.

What is given on the command line counts more, and the values of a function never come from here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from typer import _click as click

FORMAT = "GRADCLI_FORMAT"
DTYPE = "GRADCLI_DTYPE"
COLOR = "GRADCLI_COLOR"


_PLAIN = (
    (re.compile(r"^Got unexpected extra argument(?:\(s\)|s)? \((.*)\)$"), r"unexpected words beside the argument: \1"),
    (re.compile(r"is not a valid int(eger)?( range)?$"), "is not a whole number"),
    (re.compile(r"is not a valid float( range)?$"), "is not a number"),
    (re.compile(r"is not in the range (\S+)<=x<=(\S+)$"), r"is not between \1 and \2"),
)
"""What click says in words of its own."""


def is_typed(ctx: click.Context, parameter: str) -> bool:
    """Whether an option was on the command line."""
    source = ctx.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


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


def given(arguments: Sequence[str], option: str) -> list[str]:
    """The values of an option on a command line that is not yet known to be right.

    >>> given(["vjp", "x", "--color", "always", "--color=never"], "--color")
    ['always', 'never']
    """
    pairs = zip(arguments, [*arguments[1:], ""], strict=False)
    parts = ((*word.partition("="), after) for word, after in pairs)
    return [value if equals else after for name, equals, value, after in parts if name == option]


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether errors are to be JSON too: by any word on the command line, or else by the environment."""
    formats = given(arguments, "--format")
    if "--json" in arguments or "json" in formats:
        return True
    return not formats and os.environ.get(FORMAT) == "json"
