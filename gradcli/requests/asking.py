"""What a command answers on a function: the one way to ask, whoever read the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.function import Function
from gradcli.results import Answer, Source

_ANYWAY = {"at", "wrt", "dtype", "check"}
"""Options beside which a snippet still decides what it asks for."""


def ask(function: Function, command: str, given: Mapping[str, Any]) -> Answer | Source:
    """What a command answers on a function; the shell and requests read its options, each in its own way.

    Args:
        function: The function.
        command: One of `gradcli.options.QUESTIONS`.
        given: The options that were given, by the keywords of the methods; `vs` makes several products of `vjp`.

    Raises:
        GradcliError: As for the method.

    >>> ask(Function("x**2"), "grad", {"at": {"x": 3}}).grad["x"]
    array(6.)
    """
    method, options = command, {name: value for name, value in given.items() if name != "accumulate" or value}
    if function.asks and command in ("vjp", "grad") and options.keys() <= _ANYWAY:
        method = "answer"
    elif command == "vjp" and ("vs" in options or "accumulate" in options):
        method = "vjps"
        options |= {"vs": [options.pop("v")]} if "v" in options else {}
    elif command == "vjp":
        has_own = not options.keys().isdisjoint(("v", "loss", "points_of"))
        method = "vjp" if has_own or not function.has_passes else "vjps"
    found: Answer | Source = getattr(function, method)(**options)
    return found
