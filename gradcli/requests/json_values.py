"""From a value of JSON to the argument of an option, by the kind of the option."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from gradcli.errors import InputError, UsageError
from gradcli.files.decoding import NOT_FINITE, array_of, kind
from gradcli.options import Kind, Option

_WHOLE = 2**53
"""Whole numbers up to which every reader of JSON agrees on them."""

_LARGEST = sys.float_info.max


def argument(option: Option, given: Any) -> Any:
    """The argument that a value stands for.

    Raises:
        InputError: It is of another kind.
    """
    if option.choices:
        wanted = " or ".join(f'"{word}"' for word in option.choices)
        return str(_must(given in option.choices, option.key, wanted, given))
    return _READERS[option.kind](given, option.key)


def text(given: Any, name: str) -> str:
    """A text of the language, which must not ask for a file.

    Raises:
        InputError: It is no text, or begins with `@`.
    """
    if _must(isinstance(given, str), name, "a text", given).lstrip().startswith("@"):
        message = f"{called(name)} begins with @, and requests read no files"
        raise InputError(message, hint="write the value itself; @FILE is for the command line")
    return str(given)


def _value(given: Any, name: str) -> Any:
    """A text as it is, numbers as an array."""
    if isinstance(given, str) and given not in NOT_FINITE:
        return text(given, name)
    return array_of(given, called(name))


def _by_name(read: Callable[[Any, str], Any]) -> Callable[[Any, str], dict[str, Any]]:
    """A reader of what there is one of for each variable, by name, which is empty for that of the only variable."""

    def found(given: Any, name: str) -> dict[str, Any]:
        if not isinstance(given, dict):
            return {"": read(given, name)}
        return {key: read(value, f"{name}.{key}") for key, value in given.items()}

    return found


def _shapes(given: Any, name: str) -> dict[str, Any]:
    """By name, which is empty for that of the only variable; a shape is a text, a number, or a list of both."""
    found = given if isinstance(given, dict) else {"": given}
    for key, shape in found.items():
        sizes = shape if isinstance(shape, list) else [shape]
        is_shape = all(isinstance(size, str | int) and not isinstance(size, bool) for size in sizes)
        _must(is_shape, f"{name}.{key}".rstrip("."), 'a shape, such as 3 or "m,n" or [2, "n"]', shape)
    return found


def _several(given: Any, name: str) -> list[Any]:
    _must(isinstance(given, list) and len(given) > 0, name, "a list of values, one or more", given)
    return [_value(value, f"{name}.{index}") for index, value in enumerate(given)]


def _names(given: Any, name: str) -> list[str]:
    """A list of names, or names separated by commas."""
    words = given.split(",") if isinstance(given, str) else given
    is_list = isinstance(words, list) and all(isinstance(word, str) for word in words)
    _must(is_list, name, "a list of names", given)
    found = list(filter(None, (word.strip() for word in words)))
    if not found:
        raise InputError(f"{called(name)} names nothing", hint="leave it out, or give a list of names")
    return found


def _switch(given: Any, name: str) -> bool:
    return bool(_must(isinstance(given, bool), name, "true or false", given))


def _number(given: Any, name: str) -> float:
    _must(isinstance(given, int | float) and not isinstance(given, bool), name, "a number", given)
    if abs(given) > _LARGEST:
        raise InputError(f"{called(name)} is beyond the range of float64")
    return float(given)


def _whole(given: Any, name: str) -> int:
    number = _number(given, name)
    _must(number.is_integer() and abs(number) <= _WHOLE, name, f"a whole number of at most {_WHOLE}", given)
    return int(number)


def _must(is_right: bool, name: str, wanted: str, given: Any) -> Any:
    """The value, if it is what is wanted.

    Raises:
        UsageError: It is something else.
    """
    if not is_right:
        raise UsageError(f"{called(name)} must be {wanted}, and is {_shown(given)}")
    return given


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


def called(name: str) -> str:
    """What messages call a key."""
    return f'the key "{name}"'


_READERS: Mapping[Kind, Callable[[Any, str], Any]] = {
    **dict.fromkeys((Kind.INPUTS, Kind.VALUES, Kind.DIRECTIONS), _by_name(_value)),
    Kind.VECTOR: _value,
    Kind.VECTORS: _several,
    Kind.TEXT: text,
    **dict.fromkeys((Kind.TEXTS, Kind.RANGES), _by_name(text)),
    Kind.SHAPES: _shapes,
    **dict.fromkeys((Kind.VARIABLES, Kind.STATEMENTS, Kind.VERDICTS), _names),
    Kind.SWITCH: _switch,
    Kind.NUMBER: _number,
    Kind.WHOLE: _whole,
}
