"""Requests read from the bytes of a stream: an object of JSON a line, or words as for the shell."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from gradcli.errors import GradcliError, InputError, LanguageError, Place, Span, TooLargeError
from gradcli.files.decoding import kind

LINE_BYTES = 2**25
"""Largest number of bytes of one line, 32 MiB: the same as for a file of text."""

WORDS_CHARACTERS = 2**17
"""Largest number of characters of a line of words: the same as Linux takes in one word of a command line."""

_EXAMPLE = 'write {"command": "vjp", "expression": "x**2", "at": {"x": [1, 2]}, "v": "ones"}'
_FROM_LIST = "jq -c '.[]' FILE | gradcli batch"
_EXAMPLE_IN_WORDS = 'grad "x**2" --at 3'


@dataclass(frozen=True, slots=True)
class Request:
    """One line of a stream, read.

    Attributes:
        head: The members that the answer repeats: the id under `"id"`, if there is one.
        members: The other members of the object.
        error: The error in the line, if it is not a request.
        words: The words of a line that is written as for the shell; the id of such a line is its number.
    """

    head: Mapping[str, object]
    members: Mapping[str, object]
    error: GradcliError | None = None
    words: tuple[str, ...] | None = None


def lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield each line of a stream as soon as it has arrived, and None for one of more than `LINE_BYTES`.

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


def read(line: bytes | None, number: int = 1) -> Request:
    """Read the request on a line; a line that is not a request gives one with an error.

    Args:
        line: The bytes; None for one of more than `LINE_BYTES`.
        number: The number of the line in the stream, the id of a request in words.

    >>> read(b'{"command": "grad", "id": 7}').head
    {'id': 7}
    >>> read(b'grad "x**2" --at 3  # by hand', 4)
    Request(head={'id': 4}, members={}, error=None, words=('grad', 'x**2', '--at', '3'))
    """
    head: dict[str, object] = {}
    try:
        text = _text(line)
        members = _members(text)
        if members is None:
            head = {"id": number}
            return Request(head, {}, words=_words(text))
        own = {"id": members.pop("id")} if "id" in members else {}
        if isinstance(own.get("id"), list | dict) or own.get("id") in (math.inf, -math.inf):
            raise InputError('the key "id" must be a text or a number that float64 has')
        return Request(own, members)
    except GradcliError as error:
        return Request(head, {}, error)


def _words(text: str) -> tuple[str, ...]:
    """Split a line into words, as a shell would; a comment has none.

    Raises:
        GradcliError: A quote is left open, or the line is too long.
    """
    if len(text) > WORDS_CHARACTERS:
        message = f"the line has more than {WORDS_CHARACTERS // 2**10} KiB, the most that is read of words"
        raise TooLargeError(message, hint="write a request with large arrays as a JSON object")
    try:
        return tuple(shlex.split(text.strip(), comments=True))
    except ValueError as error:
        what = "ends with a backslash" if "escape" in str(error) else "has a quote without its end"
        hint = "a request is one line, quoted as for the shell: " + _EXAMPLE_IN_WORDS
        raise LanguageError(f"the request {what}", hint=hint) from error


def _text(line: bytes | None) -> str:
    """Decode a line.

    Raises:
        GradcliError: The line is too long, or is not text in UTF-8.
    """
    if line is None:
        message = f"the line has more than {LINE_BYTES // 2**20} MiB, the most that is read"
        raise TooLargeError(message, hint="give large arrays to a command as files, such as --at x=@x.npy")
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LanguageError(f"the request is not text in UTF-8, from byte {error.start} on") from error


def _members(text: str) -> dict[str, Any] | None:
    """Read the JSON object on a line; None for a line that is written as for the shell.

    Raises:
        GradcliError: It is JSON but not an object, or begins as an object and is not JSON.

    >>> _members('grad "x**2" --at 3'), _members("[x, y]"), _members('{"command": "grad"}')
    (None, None, {'command': 'grad'})
    """
    try:
        # Bare NaN and Infinity, as Python writes them, become the strings that gradcli writes.
        found = json.loads(text, parse_constant=str, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        if text.strip() in ("[", "]"):
            message = "a request is one JSON object on one line, and this is a line of a list"
            raise InputError(message, hint=_FROM_LIST) from error
        if not text.lstrip().startswith("{"):
            return None
        place = Place(text, Span(error.pos, error.pos + 1), "request")
        message = f"the request is not JSON: {error.msg.lower()}"
        raise LanguageError(
            message, place=place, hint=f"a request is one JSON object on one line; of a list: {_FROM_LIST}"
        ) from error
    except RecursionError as error:
        raise TooLargeError("the request is nested too deep", hint="a matrix is a list of lists") from error
    except ValueError as error:  # Python's limit, as reading them takes more than linear time
        raise TooLargeError("the request has a whole number of thousands of digits") from error
    if not isinstance(found, dict):
        hint = _FROM_LIST if isinstance(found, list) and found else _EXAMPLE
        raise InputError(f"a request is one JSON object, and this is {kind(found)}", hint=hint)
    return found


def _without_twins(pairs: Sequence[tuple[str, object]]) -> dict[str, Any]:
    """Build an object, and refuse a key given twice, of which one value would be ignored silently."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f'the request has the key "{key}" twice in one object', hint="give it once")
        found[key] = value
    return found
