"""Options before the command line is known to be right, and where a value came from: it, or the environment.

What is given on the command line counts more, and the values of a function never come from here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from typer import _click as click

from gradcli.options import FORMAT_VARIABLE


def is_typed(ctx: click.Context, parameter: str) -> bool:
    """Whether an option was on the command line."""
    source = ctx.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


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
    return not formats and os.environ.get(FORMAT_VARIABLE) == "json"
