"""Questions as data: a line of a stream, or the options of a command line, to the answer of a `Function`.

Knows JSON's types, and neither the shell nor how answers are written.  A request is hostile until it is read: it opens
no files, and nothing of it stays behind for the next.  Every mistake is an error that names the key.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from gradcli.errors import GradcliError, InputError, LanguageError, Place, Span, TooLargeError, UsageError, did_you_mean
from gradcli.files.decoding import NOT_FINITE, array_of, kind
from gradcli.options import QUESTIONS, Kind, Option, keys
from gradcli.results import Answer, Source

if TYPE_CHECKING:
    from gradcli.function import Function

_HINTS: Mapping[str, str] = {
    "format": "an answer is always one JSON object",
    "json": "an answer is always one JSON object",
    "strict": "the verdict is in the answer, under check",
    "require_all": "whether the verdict is that of a sample is in the answer, under check",
    "no_check": 'write "check": false',
    "box": 'write "in"',
}
"""What to do about keys that the command line has and a request has not."""

_OWN = ("command", "expression", "id")
"""Keys of every request, beside the options."""

_ANYWAY = {"at", "wrt", "dtype", "check"}
"""Options beside which a snippet still decides what it asks for."""


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
    known = keys(command)
    for key in given:
        if key not in _OWN and key not in known:
            raise _unknown(key, command, known)
    expression = text(_required(given, "expression", "the function as text, such as x**2"), "expression")
    arguments = {known[key].name: argument(known[key], value) for key, value in given.items() if key in known}
    from gradcli.function import Function

    function = Function(expression)
    _require_one_v(arguments)
    return ask(function, command, arguments)


def ask(function: Function, command: str, given: Mapping[str, Any]) -> Answer | Source:
    """What a command answers on a function; the shell and requests read its options, each in its own way.

    Args:
        function: The function.
        command: One of `gradcli.options.QUESTIONS`.
        given: The options that were given, by the keywords of the methods; `vs` makes several products of `vjp`.

    Raises:
        GradcliError: As for the method.

    >>> from gradcli import Function
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


def _command(given: Mapping[str, Any]) -> str:
    """One of the commands."""
    found = _required(given, "command", f"one of {', '.join(QUESTIONS)}")
    if not isinstance(found, str):
        raise UsageError(f'the key "command" must be a text, and is {kind(found)}')
    if found not in QUESTIONS:
        hint = did_you_mean(found, QUESTIONS) or f"the commands are: {', '.join(QUESTIONS)}"
        raise UsageError(f"'{found}' is no command that a request may have", hint=hint)
    return found


def _required(given: Mapping[str, Any], key: str, what: str) -> Any:
    if key not in given:
        raise UsageError(f'a request needs the key "{key}"', hint=f"it is {what}")
    return given[key]


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


# -- from bytes to requests

LINE_BYTES = 2**25
"""Bytes of one line that are read, 32 MiB: as many as of a file of text."""

ID_DEPTH = 100
"""Lists and objects around each other in an id, which is repeated as it came."""

_EXAMPLE = 'write {"command": "vjp", "expression": "x**2", "at": {"x": [1, 2]}, "v": "ones"}'


@dataclass(frozen=True, slots=True)
class Request:
    """One line of a stream, read.

    Attributes:
        head: What the answer repeats: the id under `"id"`, if there is one.
        members: The other members of the object.
        error: Why there is nothing to ask, if so.
    """

    head: Mapping[str, Any]
    members: Mapping[str, Any]
    error: GradcliError | None = None


def lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a stream as soon as each is there, and None for one of more than `LINE_BYTES`.

    Raises:
        InputError: The stream cannot be read.
    """
    while line := _line(stream, LINE_BYTES + 1):
        if len(line) <= LINE_BYTES or line.endswith(b"\n"):
            yield line
        else:
            while (rest := _line(stream, LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield None


def _line(stream: BinaryIO, most: int) -> bytes:
    try:
        return stream.readline(most)
    except OSError as error:
        raise InputError(f"the requests cannot be read: {error.strerror or error}") from error


def read(line: bytes | None) -> Request:
    """The request on a line, which has an error if it is none.

    >>> read(b'{"command": "grad", "id": 7}').head
    {'id': 7}
    """
    try:
        members = _members(line)
    except GradcliError as error:
        return Request({}, {}, error)
    if "id" not in members:
        return Request({}, members)
    found = members.pop("id")
    try:
        _require_repeatable(found)
    except GradcliError as error:
        return Request({}, members, error)
    return Request({"id": found}, members)


def _members(line: bytes | None) -> dict[str, Any]:
    """The object on a line.

    Raises:
        GradcliError: There is none.
    """
    if line is None:
        message = f"the line has more than {LINE_BYTES // 2**20} MiB, the most that is read"
        raise TooLargeError(message, hint="give large arrays to a command as files, such as --at x=@x.npy")
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LanguageError(f"the request is not text in UTF-8, from byte {error.start} on") from error
    try:
        # Bare NaN and Infinity, as Python writes them, become the strings that gradcli writes.
        found = json.loads(text, parse_constant=str, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        place = Place(text, Span(error.pos, error.pos + 1), "request")
        message = f"the request is not JSON: {error.msg.lower()}"
        raise LanguageError(message, place=place, hint="a request is one JSON object on one line") from error
    except RecursionError as error:
        raise TooLargeError("the request is nested too deep", hint="a matrix is a list of lists") from error
    except ValueError as error:  # Python's limit, as reading them takes more than linear time
        raise TooLargeError("the request has a whole number of thousands of digits") from error
    if not isinstance(found, dict):
        raise InputError(f"a request is one JSON object, and this is {kind(found)}", hint=_EXAMPLE)
    return found


def _without_twins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object, whose keys must be different, or one of them would be passed over silently."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f'the request has the key "{key}" twice in one object', hint="give it once")
        found[key] = value
    return found


def _require_repeatable(found: Any) -> None:
    """Refuse an id that could not be written as it came.

    Raises:
        GradcliError: It holds a number beyond the range of float64, or is nested too deep.
    """
    level = [found]
    for _ in range(ID_DEPTH):
        if any(isinstance(item, float) and math.isinf(item) for item in level):
            raise InputError('the key "id" has a number beyond the range of float64', hint="write it as a text")
        inside = [item for item in level if isinstance(item, list | dict)]
        if not inside:
            return
        level = [item for outer in inside for item in (outer.values() if isinstance(outer, dict) else outer)]
    raise TooLargeError(f'the key "id" is nested deeper than {ID_DEPTH}', hint="a number or a text will do")


# -- from a value of JSON to an argument, by the kind of the option

_WHOLE = 2**53
"""Whole numbers up to which every reader of JSON agrees on them."""

_LARGEST = sys.float_info.max


def argument(option: Option, given: Any) -> Any:
    """The argument that a value stands for.

    Raises:
        InputError: It is of another kind.
    """
    if option.choices:
        return _choice(given, option.key, option.choices)
    return _READERS[option.kind](given, option.key)


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


def _choice(given: Any, name: str, choices: Sequence[str]) -> str:
    if given not in choices:
        choice = " or ".join(f'"{word}"' for word in choices)
        raise InputError(f"{_called(name)} must be {choice}, and is {_shown(given)}")
    return str(given)


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


_READERS: Mapping[Kind, Callable[[Any, str], Any]] = {
    Kind.INPUTS: _values,
    Kind.VALUES: _named_values,
    Kind.DIRECTIONS: _named_values,
    Kind.VECTOR: _value,
    Kind.VECTORS: _several,
    Kind.TEXT: text,
    Kind.TEXTS: _named_texts,
    Kind.RANGES: _texts,
    Kind.VARIABLES: _names,
    Kind.STATEMENTS: _names,
    Kind.VERDICTS: _names,
    Kind.SWITCH: _switch,
    Kind.NUMBER: _number,
    Kind.WHOLE: _whole,
}
