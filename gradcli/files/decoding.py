"""Bytes to text and JSON to float64 arrays, with bounds; and pieces of the input as messages show them.

JSON is a number, nested lists of numbers, or either of them inside objects: what `gradcli --json` writes, where numbers
that are not finite are strings.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from typing import BinaryIO, NamedTuple

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import InputError, StructuredValueError, TooLargeError, did_you_mean
from gradcli.option_words import option

TEXT_BYTES = 2**25
"""Bytes of text that are read, 32 MiB: two million numbers of full length.

At worst, with a digit a number, parsing takes a quarter of a minute and a gigabyte; .npy has no such limit.
"""

_CELL = 40
"""Characters of a cell or a name that a message shows."""

_MOST_NAMES = 8
"""Columns, keys or arrays that a hint lists."""


NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Numbers that JSON has not, as the strings that gradcli writes."""

_LARGEST = int(sys.float_info.max)


class Start(NamedTuple):
    """Start of a row: the number of rows before it; in a text also its byte, and its line, counted from 1."""

    rows: int
    byte: int = 0
    line: int = 0


def read_text(stream: BinaryIO, name: str, head: bytes = b"") -> str:
    r"""Read the rest of the stream as text, `head` before it, every line ending as `\n`.

    Raises:
        TooLargeError: There is more than `TEXT_BYTES`.
        InputError: It is not UTF-8, with or without a byte order mark.
    """
    data = head + stream.read(TEXT_BYTES + 1 - len(head))
    if len(data) > TEXT_BYTES:
        raise TooLargeError(
            f"{name} has more than {TEXT_BYTES // 2**20} MiB of text, the most that is read",
            hint="save the numbers with numpy.save and give the .npy file",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name} is not text in UTF-8, from byte {error.start} on"
        raise InputError(message, hint="save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def quoted(word: str) -> str:
    """Quote a cell or a name, cut to fit a message.

    >>> quoted("abc")
    "'abc'"
    """
    return f"'{word}'" if len(word) <= _CELL else f"'{word[:_CELL]}...'"


def choice(what: str, word: str | None, names: Iterable[str]) -> str:
    """Write the hint that lists the choices, the closest first.

    >>> choice("columns", "prize", ["price", "day"])
    "did you mean 'price'? the columns are 'price', 'day'"
    """
    known = list(names)
    if not known:
        return f"there are no {what}"
    listed = ", ".join(map(quoted, known[:_MOST_NAMES])) + ", ..." * (len(known) > _MOST_NAMES)
    closest = did_you_mean(word, known[:1_000]) if word and len(word) < 100 else None
    return f"{closest} the {what} are {listed}" if closest else f"the {what} are {listed}"


def named_twice(name: str) -> InputError:
    """Make the error for columns that are named both in the rows and by --columns."""
    return InputError(
        f"{name} names its columns, and {option('columns')} names them too", hint=f"leave out {option('columns')}"
    )


def require_room(shape: tuple[int, ...], name: str) -> None:
    """Refuse a shape before memory is taken for it.

    Raises:
        TooLargeError: More elements or dimensions than a tensor may have.
    """
    # Here, as it brings SymPy, which a missing file needs not.
    from gradcli.language.program.wengert import MAX_DIMENSIONS, MAX_ELEMENTS

    if len(shape) > MAX_DIMENSIONS:
        message = f"{name} has an array of {len(shape)} dimensions; at most {MAX_DIMENSIONS} are held"
        raise TooLargeError(message, hint="reshape it before it is saved")
    elements = max(math.prod(shape), *shape, 0)
    if elements > MAX_ELEMENTS:
        count = f"{elements:,}" if elements < 10**15 else f"{min(elements, 10**300):.3g}"
        message = f"{name} has an array of {count} elements; at most {MAX_ELEMENTS:,} are held"
        raise TooLargeError(message, hint="save a part of it")


def read_json(text: str, name: str, part: str | None) -> Array:
    """Read the array of a JSON text, or the part under a key, or under keys joined by dots.

    Shapes: a number (), a list (n,), lists in a list (n, m), and so on.

    Raises:
        InputError: It is not JSON, has no such key, or not numbers in the shape of an array there.
        TooLargeError: It is nested too deep.

    >>> read_json('{"vjp": {"x": [1, "-Infinity"]}}', "'a.json'", "vjp.x")
    array([  1., -inf])
    """
    try:
        # Bare NaN and Infinity become the strings that gradcli writes.  So a float that is infinite was out of range;
        # and a number of a million digits costs what float takes, not what int does.
        value = json.loads(text, parse_int=float, parse_constant=str)
    except json.JSONDecodeError as error:
        message = f"{name} is not JSON: {error.msg.lower()}, in line {error.lineno}, column {error.colno}"
        raise InputError(message, hint="it must be one number, list or object") from None
    except RecursionError:
        raise InputError(f"{name} is nested too deep", hint="a matrix is a list of lists") from None
    return array_of(_part(value, name, part), name)


def _part(value: object, name: str, part: str | None) -> object:
    rest = part
    while rest is not None:
        if not isinstance(value, dict):
            message = f"{name} has no part {quoted(part or '')}: there is {_kind(value)} where an object must be"
            raise InputError(message, hint="leave out the colon and the key" if rest == part else "name fewer keys")
        key, dot, after = (rest, "", "") if rest in value else rest.partition(".")
        if key not in value:
            raise InputError(f"{name} has no key {quoted(key)}", hint=choice("keys", key, value))
        value, rest = value[key], after if dot else None
    if isinstance(value, dict):
        where = f"{part}." if part else ""
        hint = f"write @FILE.json:{where}KEY; {choice('keys', None, value)}"
        raise StructuredValueError(f"{name} holds an object {'there ' if part else ''}and not numbers", hint=hint)
    return value


def array_of(value: object, name: str) -> Array:
    """Nested lists of one shape to an array.

    Raises:
        InputError: They are not numbers in the shape of an array.

    >>> array_of([[1, "NaN"]], "it")
    array([[ 1., nan]])
    """
    found = np.array(value, dtype=object)  # in which a list is left where another one has another length
    level = [] if found.ndim > 30 else found.reshape(-1).tolist()  # deeper ones NumPy leaves as lists
    is_plain = all(type(item) is float and math.isfinite(item) for item in level)
    numbers = level if is_plain else [_number(item, n, found.shape, name) for n, item in enumerate(level)]
    require_room(found.shape, name)
    return np.array(numbers, dtype=np.float64).reshape(found.shape)


def _number(item: object, index: int, shape: tuple[int, ...], name: str) -> float:
    if isinstance(item, int) and not isinstance(item, bool):
        item = float(item) if abs(item) <= _LARGEST else math.inf
    if isinstance(item, float) and not math.isinf(item):
        return item
    if isinstance(item, str) and item in NOT_FINITE:
        return NOT_FINITE[item]
    place = "".join(f"[{position}]" for position in np.unravel_index(index, shape))
    where = f" at {place}" if shape else ""
    if isinstance(item, float):
        message, hint = f"a number beyond the range of float64{where}", 'write "Infinity" if it is meant'
    elif isinstance(item, list):
        message, hint = f"lists of different lengths: {_kind(item)}{where}", "nested lists need equal lengths"
    else:
        message = f"{_kind(item)}{where}, and not a number"
        hint = 'numbers are such as 1 or -2.5e3, and "NaN", "Infinity" and "-Infinity"'
    raise InputError(f"{name} has {message}", hint=hint)


def _kind(value: object) -> str:
    match value:
        case str():
            return f"the text {quoted(value)}"
        case list():
            return f"a list of {len(value)}"
        case _:
            return kind(value)


_KINDS: Mapping[type, str] = {type(None): "null", str: "a text", list: "a list", dict: "an object"}


def kind(value: object) -> str:
    """Return JSON's name for the type of a value, for messages."""
    return str(value).lower() if isinstance(value, bool) else _KINDS.get(type(value), "a number")
