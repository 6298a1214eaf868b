"""Answers to requests, from a line or a command line, by a `Function`; every mistake names its key."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gradcli.cli.commands import WHY_NOT
from gradcli.cli.expression import GONE
from gradcli.cli.options import OptionKind
from gradcli.cli.signatures import Option, every_option, request_options
from gradcli.errors import InputError, UsageError, did_you_mean
from gradcli.files.decoding import NOT_FINITE, array_of, kind
from gradcli.registry import questions
from gradcli.results import Result

if TYPE_CHECKING:
    from gradcli.parts.batch.request_lines import Request

Json = Any
"""Value of JSON, whose kind a reader asks for: a number, a word, a list, an object."""


_HINTS: Mapping[str, str] = {
    **{option.name: WHY_NOT for _, option in every_option() if option.is_presentation},
    "no_check": 'write "check": false',
    "box": 'write "in"',
    **GONE,
}
"""Hints for keys of the command line that a request cannot have."""

_CODE = re.compile(r"[^\n]+\.pyw?::[\w.]+|[^\W\d]\w*(?:\.[^\W\d]\w*)+:[^\W\d][\w.]*")
"""Name of a function of Python: `FILE.py::NAME`, `PACKAGE.MODULE:NAME`."""

_OWN = ("command", "expression", "id")
"""Keys of every request, besides the options."""


def answer(request: Request) -> Result:
    """Answer a request.

    Raises:
        GradcliError: The request is malformed, has a wrong key, or the function cannot answer it.

    >>> from gradcli.parts.batch.request_lines import read
    >>> answer(read(b'{"command": "grad", "expression": "x**2", "at": {"x": 3}}')).grad["x"]
    array(6.)
    """
    if request.error is not None:
        raise request.error
    given = _with_own_keys({key: value for key, value in request.members.items() if value is not None})
    require_command(command := _required(given, "command", f"one of {', '.join(questions())}"))
    known = request_options(command)
    for key in given:
        if key not in _OWN and key not in known:
            raise _unknown(key, command, known)
    expression = _required(given, "expression", "the function as text, such as x**2")
    arguments = {known[key].name: argument(known[key], value) for key, value in given.items() if key in known}
    from gradcli.function import Function

    if "vs" in arguments and "v" in arguments:
        raise UsageError('"v" and "vs" exclude each other', hint='write all of them in "vs"')
    return Function(expression).ask(command, arguments)


_OTHER_KEYS = {
    **dict.fromkeys(("cmd", "method", "op"), "command"),
    **dict.fromkeys(("expr", "function", "f", "formula", "func"), "expression"),
    **dict.fromkeys(("point", "values", "inputs"), "at"),
    **dict.fromkeys(("gradient", "grad_output", "grad_outputs", "cotangent"), "v"),
    **dict.fromkeys(("tangent", "direction"), "u"),
}
"""Keys by the names that other tools have for them."""


def _with_own_keys(given: Mapping[str, object]) -> dict[str, object]:
    """Return the members of a request by the keys that they have here, where a key is another name of one."""
    found = dict(given)
    for key, own in _OTHER_KEYS.items():
        command = str(found.get("command", ""))
        is_known = command in questions() and key in request_options(command)
        if key in found and own not in found and not is_known:
            found[own] = found.pop(key)
    return found


def require_command(found: str) -> None:
    """Refuse a command that no request may have.

    Raises:
        UsageError: It is no command on a function at a point.
    """
    if found not in questions():
        hint = did_you_mean(found, questions()) or f"the commands are: {', '.join(questions())}"
        raise UsageError(f"'{found}' is no command that a request may have", hint=hint)


def _required(given: Mapping[str, object], key: str, what: str) -> str:
    if key not in given:
        raise UsageError(f'a request needs the key "{key}"', hint=f"it is {what}")
    return text(given[key], key)


def _unknown(key: str, command: str, known: Iterable[str]) -> UsageError:
    allowed = [*_OWN, *known]
    others = [name for name in questions() if key in request_options(name)]
    elsewhere = f"{' and '.join(others)} {'take' if len(others) > 1 else 'takes'} it; " if others else ""
    hint = _HINTS.get(key) or (None if others else did_you_mean(key, allowed))
    hint = hint or f"{elsewhere}{command} takes {', '.join(allowed)}"
    return UsageError(f"{command} takes no key '{key}'", hint=hint)


# -- a value of JSON to the argument of an option, by the kind of the option


_WHOLE = 2**53
"""Whole numbers up to which every reader of JSON agrees on them."""

_LARGEST = sys.float_info.max


def argument(option: Option, given: object) -> object:
    """Convert a value to the argument of an option.

    Raises:
        InputError: It is of another kind.
    """
    if option.choices:
        wanted = " or ".join(f'"{word}"' for word in option.choices)
        return str(_must(given in option.choices, option.key, wanted, given))
    return _READERS[option.kind](given, option.key)


def text(given: Json, name: str) -> str:
    """Return a text of the language, which must not refer to a file.

    Raises:
        InputError: It is not a text, begins with `@`, or names a function of Python.
    """
    if _must(isinstance(given, str), name, "a text", given).lstrip().startswith("@"):
        message = f"{called(name)} begins with @, and requests read no files"
        raise InputError(message, hint="write the value itself; @FILE is for the command line")
    require_formula(str(given))
    return str(given)


def require_formula(word: str) -> None:
    """Refuse the name of a function of Python, which a request never runs.

    Raises:
        InputError: It is one.

    >>> require_formula("x[1:3]")
    """
    if _CODE.fullmatch(word.strip()):
        message = f"{word.strip()} is a function of Python, and a request has a formula, such as x**2"
        raise InputError(message, hint=f"gradcli check {word.strip()} --at VALUE runs it")


def _value(given: object, name: str) -> object:
    """Return a text as it is, and numbers as an array."""
    if isinstance(given, str) and given not in NOT_FINITE:
        return text(given, name)
    return array_of(given, called(name))


def _by_name(read: Callable[[object, str], object]) -> Callable[[Json, str], dict[str, Json]]:
    """Make a reader of one value for each variable, by name; the empty name stands for the only variable."""

    def found(given: object, name: str) -> dict[str, Json]:
        if not isinstance(given, dict):
            return {"": read(given, name)}
        return {key: read(value, f"{name}.{key}") for key, value in given.items()}

    return found


def _shapes(given: object, name: str) -> dict[str, Json]:
    """Read shapes by name, empty for the only variable; a shape is a text, a number, or a list of both."""
    found = given if isinstance(given, dict) else {"": given}
    for key, shape in found.items():
        sizes = shape if isinstance(shape, list) else [shape]
        is_shape = all(isinstance(size, str | int) and not isinstance(size, bool) for size in sizes)
        _must(is_shape, f"{name}.{key}".rstrip("."), 'a shape, such as 3 or "m,n" or [2, "n"]', shape)
    return found


def _several(given: Json, name: str) -> list[Json]:
    _must(isinstance(given, list) and len(given) > 0, name, "a list of values, one or more", given)
    return [_value(value, f"{name}.{index}") for index, value in enumerate(given)]


def _names(given: Json, name: str) -> list[str]:
    """Read a list of names, or names separated by commas."""
    words = given.split(",") if isinstance(given, str) else given
    is_list = isinstance(words, list) and all(isinstance(word, str) and word.strip() for word in words or [""])
    _must(is_list, name, "a list of names, one or more", given)
    return [word.strip() for word in words]


def _switch(given: object, name: str) -> bool:
    return bool(_must(isinstance(given, bool), name, "true or false", given))


def _number(given: Json, name: str) -> float:
    _must(isinstance(given, int | float) and not isinstance(given, bool), name, "a number", given)
    if abs(given) > _LARGEST:
        raise InputError(f"{called(name)} is beyond the range of float64")
    return float(given)


def _whole(given: object, name: str) -> int:
    number = _number(given, name)
    _must(number.is_integer() and abs(number) <= _WHOLE, name, f"a whole number of at most {_WHOLE}", given)
    return int(number)


def _must(is_right: bool, name: str, wanted: str, given: object) -> Any:
    """Return the value if it is right.

    Raises:
        UsageError: It is not.
    """
    if not is_right:
        raise UsageError(f"{called(name)} must be {wanted}, and is {_shown(given)}")
    return given


def _shown(given: object) -> str:
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
    """Name a key for messages."""
    return f'the key "{name}"'


_READERS: Mapping[OptionKind, Callable[[object, str], object]] = {
    **dict.fromkeys((OptionKind.INPUTS, OptionKind.VALUES, OptionKind.DIRECTIONS), _by_name(_value)),
    OptionKind.VECTOR: _value,
    OptionKind.VECTORS: _several,
    OptionKind.TEXT: text,
    **dict.fromkeys((OptionKind.TEXTS, OptionKind.RANGES), _by_name(text)),
    OptionKind.SHAPES: _shapes,
    **dict.fromkeys((OptionKind.VARIABLES, OptionKind.STATEMENTS, OptionKind.VERDICTS), _names),
    OptionKind.SWITCH: _switch,
    OptionKind.NUMBER: _number,
    OptionKind.WHOLE: _whole,
}
