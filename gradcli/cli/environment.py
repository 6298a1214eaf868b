"""Defaults of options from the environment: what each variable is for, and what is said if its value is wrong.

What is given on the command line counts more, and the values of a function never come from here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from typer import _click as click

FORMAT = "GRADCLI_FORMAT"
DTYPE = "GRADCLI_DTYPE"
COLOR = "GRADCLI_COLOR"


def is_typed(ctx: click.Context, parameter: str) -> bool:
    """Whether an option was on the command line."""
    source = ctx.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def message(error: click.exceptions.UsageError) -> str:
    """What is wrong with a command line; a value from the environment is wrong by the name of its variable."""
    said = error.format_message().rstrip(".")
    parameter = getattr(error, "param", None)
    variable = getattr(parameter, "envvar", None)
    if error.ctx is not None and parameter is not None and variable:
        option, both = f"'{parameter.opts[0]}'", f"'{parameter.opts[0]}' (env var: '{variable}')"
        said = said.replace(both, option if is_typed(error.ctx, parameter.name) else f"the environment's {variable}")
    return said[:1].lower() + said[1:]


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether errors are to be JSON too: by the last word on the command line, or else by the environment."""
    pairs = list(zip(arguments, [*arguments[1:], ""], strict=False))
    if any(word in ("--json", "--format=json") or (word, after) == ("--format", "json") for word, after in pairs):
        return True
    is_told = any(word == "--format" or word.startswith("--format=") for word in arguments)
    return not is_told and os.environ.get(FORMAT) == "json"
