"""From a request to the answer of a `Function`; every mistake is an error that names the key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradcli.errors import UsageError, did_you_mean
from gradcli.files.nested import kind
from gradcli.requests.json_lines import Request
from gradcli.requests.keys import COMMANDS, HINTS, KEYS, known, text
from gradcli.results import Answer, Source

if TYPE_CHECKING:
    from gradcli.function import Function

_SHARED = {"at", "wrt", "dtype", "check"}
"""The parameters of every derivative."""


def answer(request: Request) -> Answer | Source:
    """What a command answers on a function.

    Raises:
        GradcliError: The request is none, has a wrong key, or the function cannot answer it.

    >>> from gradcli.requests import read
    >>> answer(read(b'{"command": "grad", "expression": "x**2", "at": {"x": 3}}')).grad["x"]
    array(6.)
    """
    if request.error is not None:
        raise request.error
    given = {key: value for key, value in request.members.items() if value is not None}
    command = _command(given)
    for key in given:
        _require_known(key, command)
    expression = text(_required(given, "expression", "the function as text, such as x**2"), "expression")
    arguments = {KEYS[name].parameter: KEYS[name].read(value, name) for name, value in given.items() if name in KEYS}
    from gradcli.function import Function

    function = Function(expression)
    method = _products(arguments, function) if command == "vjp" else command
    if function.asks and method in ("vjp", "vjps", "grad") and arguments.keys() <= _SHARED:
        method = "answer"
    found: Answer | Source = getattr(function, method)(**arguments)
    return found


def _command(given: Mapping[str, Any]) -> str:
    """One of the commands."""
    found = _required(given, "command", f"one of {', '.join(COMMANDS)}")
    if not isinstance(found, str):
        raise UsageError(f'the key "command" must be a text, and is {kind(found)}')
    if found not in COMMANDS:
        hint = did_you_mean(found, COMMANDS) or f"the commands are: {', '.join(COMMANDS)}"
        raise UsageError(f"'{found}' is no command that a request may have", hint=hint)
    return found


def _required(given: Mapping[str, Any], key: str, what: str) -> Any:
    if key not in given:
        raise UsageError(f'a request needs the key "{key}"', hint=f"it is {what}")
    return given[key]


def _require_known(key: str, command: str) -> None:
    allowed = known(command)
    if key in allowed:
        return
    others = KEYS[key].commands if key in KEYS else ()
    elsewhere = f"{' and '.join(others)} {'take' if len(others) > 1 else 'takes'} it; " if others else ""
    hint = HINTS.get(key) or (None if others else did_you_mean(key, allowed))
    message = f"{command} takes no key '{key}'"
    raise UsageError(message, hint=hint or f"{elsewhere}{command} takes {', '.join(allowed)}")


def _products(arguments: dict[str, Any], function: Function) -> str:
    """The method for one product or for several, which takes its arguments as a list of v.

    Raises:
        UsageError: Keys that exclude each other.
    """
    if "v" in arguments and "vs" in arguments:
        raise UsageError('"v" and "vs" exclude each other', hint='write all of them in "vs"')
    if "vs" not in arguments and not arguments.get("accumulate"):
        arguments.pop("accumulate", None)
        return "vjps" if function.has_passes and arguments.keys().isdisjoint(("v", "loss", "points_of")) else "vjp"
    if "points_of" in arguments:
        several = "vs" if "vs" in arguments else "accumulate"
        raise UsageError(f'"{several}" and "points_of" exclude each other', hint="each point takes one v")
    if "v" in arguments:
        arguments["vs"] = [arguments.pop("v")]
    return "vjps"
