"""A request, of a line or of a command line, to the answer of a `Function`; every mistake names its key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gradcli import progress
from gradcli.errors import UsageError, did_you_mean
from gradcli.options import DERIVATIVES, OPTIONS, QUESTIONS, keys
from gradcli.requests.json_values import argument, text
from gradcli.results import Result

if TYPE_CHECKING:
    from gradcli.function import Function
    from gradcli.requests.request_lines import Request

WHY_NOT = "an answer is always one JSON object on standard output, with all digits, remarks and the verdict"
"""What to say of an option about how the shell shows an answer, which a request has not."""

_HINTS: Mapping[str, str] = {
    **{option.name: WHY_NOT for option in OPTIONS if option.is_presentation},
    "no_check": 'write "check": false',
    "box": 'write "in"',
}
"""What to do about keys that the command line has and a request has not."""

_OWN = ("command", "expression", "id")
"""Keys of every request, beside the options."""


def answer(request: Request) -> Result:
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
    require_command(command := _required(given, "command", f"one of {', '.join(QUESTIONS)}"))
    known = keys(command)
    for key in given:
        if key not in _OWN and key not in known:
            raise _unknown(key, command, known)
    expression = _required(given, "expression", "the function as text, such as x**2")
    arguments = {known[key].name: argument(known[key], value) for key, value in given.items() if key in known}
    from gradcli.function import Function

    _require_one_v(arguments)
    return ask(Function(expression), command, arguments)


def ask(function: Function, command: str, given: Mapping[str, Any], *, budget: float | None = None) -> Result:
    """What a command answers on a function; the shell and requests read its options, each in its own way.

    Args:
        function: The function.
        command: One of `gradcli.options.QUESTIONS`.
        given: The options that were given, by the keywords of the methods; `vs` makes several products of `vjp`.
        budget: Seconds that a check may take; None for as many as usual.

    Raises:
        GradcliError: As for the method.

    >>> from gradcli import Function
    >>> ask(Function("x**2"), "grad", {"at": {"x": 3}}).grad["x"]
    array(6.)
    """
    method, options = command, {name: value for name, value in given.items() if name != "accumulate" or value}
    if command in ("", *DERIVATIVES) and function.wants_formula(options):
        method = "closed_form"
        options = {"of": command} | {name: options[name] for name in ("shape", "wrt") if name in options}
    elif command == "vjp" and ("vs" in options or "accumulate" in options):
        method = "vjps"
        options |= {"vs": [options.pop("v")]} if "v" in options else {}
    elif command == "vjp":
        has_own = not options.keys().isdisjoint(("v", "loss", "points_of"))
        method = "vjp" if has_own or not function.has_passes else "vjps"
    with progress.budget(budget):
        found: Result = getattr(function, method)(**options)
    return found


def require_command(found: str) -> None:
    """Refuse what no request asks.

    Raises:
        UsageError: It is no command on a function at a point.
    """
    if found not in QUESTIONS:
        hint = did_you_mean(found, QUESTIONS) or f"the commands are: {', '.join(QUESTIONS)}"
        raise UsageError(f"'{found}' is no command that a request may have", hint=hint)


def _required(given: Mapping[str, Any], key: str, what: str) -> str:
    if key not in given:
        raise UsageError(f'a request needs the key "{key}"', hint=f"it is {what}")
    return text(given[key], key)


def _unknown(key: str, command: str, known: Iterable[str]) -> UsageError:
    allowed = [*_OWN, *known]
    others = [name for name in QUESTIONS if key in keys(name)]
    elsewhere = f"{' and '.join(others)} {'take' if len(others) > 1 else 'takes'} it; " if others else ""
    hint = _HINTS.get(key) or (None if others else did_you_mean(key, allowed))
    return UsageError(
        f"{command} takes no key '{key}'", hint=hint or f"{elsewhere}{command} takes {', '.join(allowed)}"
    )


def _require_one_v(arguments: Mapping[str, Any]) -> None:
    """Refuse several gradient vectors where there is one.

    Raises:
        UsageError: Keys exclude each other.
    """
    if "vs" in arguments and "v" in arguments:
        raise UsageError('"v" and "vs" exclude each other', hint='write all of them in "vs"')
    several = "vs" if "vs" in arguments else "accumulate" if arguments.get("accumulate") else ""
    if several and "points_of" in arguments:
        raise UsageError(f'"{several}" and "points_of" exclude each other', hint="each point takes one v")
