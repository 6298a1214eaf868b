"""What a request may ask: one table, a row a key, from JSON's types to the keyword arguments of `Function`.

The keys are the options of the commands in JSON's spelling.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from gradcli.errors import InputError, UsageError
from gradcli.files.nested import NOT_FINITE, array_of, kind
from gradcli.results import Language

COMMANDS = ("vjp", "jacobian", "grad", "jvp", "hessian", "hvp", "eval", "check", "explain", "graph", "code")
"""The commands that answer on a function."""

_WHOLE = 2**53
"""Whole numbers up to which every reader of JSON agrees on them."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a request.

    Attributes:
        name: In JSON.
        parameter: The keyword argument of the methods of `Function`.
        commands: That have it.
        takes: What its value is, in words.
        read: From a value of JSON and its name to the argument.
    """

    name: str
    parameter: str
    commands: tuple[str, ...]
    takes: str
    read: Callable[[Any, str], Any]


def text(given: Any, name: str) -> str:
    """A text of the language, which must not ask for a file.

    Raises:
        InputError: It is no text, or begins with `@`.
    """
    if not isinstance(given, str):
        raise _mistaken(name, "a text", given)
    if given.lstrip().startswith("@"):
        message = f"{_called(name)} begins with @, and requests read no files"
        raise InputError(message, hint="write the value itself; @FILE is for the command line")
    return given


def _value(given: Any, name: str) -> Any:
    """A text as it is, numbers as an array."""
    if isinstance(given, str) and given not in NOT_FINITE:
        return text(given, name)
    return array_of(given, _called(name))


def _values(given: Any, name: str) -> dict[str, Any]:
    return {key: _value(value, f"{name}.{key}") for key, value in _object(given, name).items()}


def _named_values(given: Any, name: str) -> dict[str, Any]:
    """By name, which is empty for that of the only variable."""
    return _values(given, name) if isinstance(given, dict) else {"": _value(given, name)}


def _texts(given: Any, name: str) -> dict[str, str]:
    return {key: text(value, f"{name}.{key}") for key, value in _object(given, name).items()}


def _named_texts(given: Any, name: str) -> dict[str, str]:
    """By name, which is empty for that of the only variable."""
    return _texts(given, name) if isinstance(given, dict) else {"": text(given, name)}


def _several(given: Any, name: str) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise _mistaken(name, "a list of values, one or more", given)
    return [_value(value, f"{name}.{index}") for index, value in enumerate(given)]


def _names(given: Any, name: str) -> list[str]:
    """A list of names, or names separated by commas."""
    words = given.split(",") if isinstance(given, str) else given
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise _mistaken(name, "a list of names", given)
    found = list(filter(None, (word.strip() for word in words)))
    if not found:
        raise InputError(f"{_called(name)} names nothing", hint="leave it out, or give a list of names")
    return found


def _switch(given: Any, name: str) -> bool:
    if not isinstance(given, bool):
        raise _mistaken(name, "true or false", given)
    return given


def _number(given: Any, name: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise _mistaken(name, "a number", given)
    if abs(given) > _LARGEST:
        raise InputError(f"{_called(name)} is beyond the range of float64")
    return float(given)


def _whole(given: Any, name: str) -> int:
    number = _number(given, name)
    if not number.is_integer() or abs(number) > _WHOLE:
        raise _mistaken(name, f"a whole number of at most {_WHOLE}", given)
    return int(number)


def _one_of(*words: str) -> Callable[[Any, str], str]:
    choice = " or ".join(f'"{word}"' for word in words)

    def read(given: Any, name: str) -> str:
        if given not in words:
            raise InputError(f"{_called(name)} must be {choice}, and is {_shown(given)}")
        return str(given)

    return read


_LARGEST = sys.float_info.max
_ALL_BUT_EVAL = tuple(command for command in COMMANDS if command != "eval")
_JUDGED = tuple(command for command in COMMANDS if command not in ("check", "graph", "code"))
_VALUE = "a number, nested lists, or a text of the language"

KEYS: Mapping[str, Key] = {
    key.name: key
    for key in (
        Key("at", "at", COMMANDS, f"an object, by variable: {_VALUE}", _values),
        Key("v", "v", ("vjp", "check", "explain", "graph", "code"), _VALUE, _value),
        Key("vs", "vs", ("vjp",), "a list of several v", _several),
        Key("accumulate", "accumulate", ("vjp",), "true or false", _switch),
        Key("u", "u", ("jvp", "hvp"), "an object, by variable, or the direction of the only one", _named_values),
        Key("loss", "loss", ("vjp", "explain"), "a text", text),
        Key("show", "show", ("vjp", "grad", "graph"), "a list of names", _names),
        Key("wrt", "wrt", _ALL_BUT_EVAL, "a list of names", _names),
        Key("points_of", "points_of", ("vjp", "jacobian", "grad", "eval"), "a list of names", _names),
        Key("dtype", "dtype", COMMANDS, "a text", _one_of("float64", "float32")),
        Key("check", "check", _JUDGED, "true or false", _switch),
        Key("claim", "claim", ("check",), "an object, by variable, or the text for the only one", _named_texts),
        Key("expect", "expect", ("check",), "an object, by variable, or the value for the only one", _named_values),
        Key("random", "random", ("check",), "a whole number", _whole),
        Key("in", "box", ("check",), 'an object, by variable: "LOW..HIGH"', _texts),
        Key("seed", "seed", ("check",), "a whole number", _whole),
        Key("allow", "allow", ("check",), "a list of verdicts", _names),
        Key("require_all", "require_all", ("check",), "true or false", _switch),
        Key("rtol", "rtol", ("check",), "a number", _number),
        Key("atol", "atol", ("check",), "a number", _number),
        Key("to", "to", ("code",), "a text", _one_of(*get_args(Language))),
    )
}
"""The keys beside `command`, `expression` and `id`."""

HINTS: Mapping[str, str] = {
    "format": "an answer is always one JSON object",
    "json": "an answer is always one JSON object",
    "strict": "the verdict is in the answer, under check",
    "require_all": "whether the verdict is that of a sample is in the answer, under check",
    "no_check": 'write "check": false',
    "box": 'write "in"',
}
"""What to do about keys that the command line has and a request has not."""


def known(command: str) -> Sequence[str]:
    """The keys that a request for this command may have."""
    return ["command", "expression", "id", *(key.name for key in KEYS.values() if command in key.commands)]


def _object(given: Any, name: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _mistaken(name, 'an object by name, such as {"x": 1}', given)
    return given


def _mistaken(name: str, wanted: str, given: Any) -> UsageError:
    return UsageError(f"{_called(name)} must be {wanted}, and is {_shown(given)}")


def _shown(given: Any) -> str:
    match given:
        case str():
            return f'"{given}"'
        case list() if not given:
            return "an empty list"
        case int() | float() if not isinstance(given, bool):
            return f"the number {given:.17g}" if abs(given) <= _LARGEST else "a number beyond the range of float64"
        case _:
            return kind(given)


def _called(name: str) -> str:
    return f'the key "{name}"'
