"""JSON to float64 arrays: a number, nested lists of numbers, or either of them inside objects.

Reads what `gradcli --json` writes, where numbers that are not finite are strings.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from typing import Any

import numpy as np

from gradcli.errors import InputError
from gradcli.files.binary import Array, require_room
from gradcli.files.decoding import choice, shown

NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Numbers that JSON has not, as the strings that gradcli writes."""


_LARGEST = int(sys.float_info.max)


def read_json(text: str, name: str, part: str | None) -> Array:
    """The array of a JSON text, or of the part of it under a key, or under keys joined by dots.

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
        raise InputError(message, hint="it must be one number, list or object") from error
    except RecursionError as error:
        raise InputError(f"{name} is nested too deep", hint="a matrix is a list of lists") from error
    return array_of(_part(value, name, part), name)


def _part(value: Any, name: str, part: str | None) -> Any:
    """What is under the keys; a key with a dot in it goes before two keys."""
    rest = part
    while rest is not None:
        if not isinstance(value, dict):
            message = f"{name} has no part {shown(part or '')}: there is {_kind(value)} where an object must be"
            raise InputError(message, hint="leave out the colon and the key" if rest == part else "name fewer keys")
        key, dot, after = (rest, "", "") if rest in value else rest.partition(".")
        if key not in value:
            raise InputError(f"{name} has no key {shown(key)}", hint=choice("keys", key, value))
        value, rest = value[key], after if dot else None
    if isinstance(value, dict):
        where = f"{part}." if part else ""
        hint = f"write @FILE.json:{where}KEY; {choice('keys', None, value)}"
        raise InputError(f"{name} holds an object {'there ' if part else ''}and not numbers", hint=hint)
    return value


def array_of(value: Any, name: str) -> Array:
    """Nested lists of one shape to an array, a level at a time.

    Raises:
        InputError: They are not numbers in the shape of an array.

    >>> array_of([[1, "NaN"]], "it")
    array([[ 1., nan]])
    """
    shape: list[int] = []
    level = [value]
    while isinstance(level[0], list):
        size = len(level[0])
        for index, item in enumerate(level):
            if not isinstance(item, list) or len(item) != size:
                there = f"a list of {len(item)}" if isinstance(item, list) else _kind(item)
                message = f"{name} has lists of different lengths: {there} at {_at(index, shape)}, and one of {size}"
                raise InputError(f"{message} before it", hint="nested lists need equal lengths")
        shape.append(size)
        require_room(tuple(shape), name)
        level = list(itertools.chain.from_iterable(level))
        if not level:
            return np.zeros(shape)
    numbers = [_number(item, index, shape, name) for index, item in enumerate(level)]
    return np.array(numbers, dtype=np.float64).reshape(shape)


def _number(item: Any, index: int, shape: list[int], name: str) -> float:
    if isinstance(item, int) and not isinstance(item, bool):
        item = float(item) if abs(item) <= _LARGEST else math.inf
    if isinstance(item, float) and not math.isinf(item):
        return item
    if isinstance(item, str) and item in NOT_FINITE:
        return NOT_FINITE[item]
    where = f" at {_at(index, shape)}" if shape else ""
    if isinstance(item, float):
        raise InputError(
            f"{name} has a number beyond the range of float64{where}", hint='write "Infinity" if it is meant'
        )
    if isinstance(item, list):
        raise InputError(
            f"{name} has lists of different lengths: a list{where}, and a number before it",
            hint="nested lists need equal lengths",
        )
    hint = 'numbers are such as 1 or -2.5e3, and "NaN", "Infinity" and "-Infinity"'
    raise InputError(f"{name} has {_kind(item)}{where}, and not a number", hint=hint)


def _at(index: int, shape: list[int]) -> str:
    """The indices of the item at this position of a level, such as `[0][2]`."""
    found = [f"[{position}]" for position in np.unravel_index(index, shape)] if shape else []
    return "".join(found) or "the top"


def _kind(value: Any) -> str:
    match value:
        case str():
            return f"the text {shown(value)}"
        case list():
            return f"a list of {len(value)}"
        case _:
            return kind(value)


def kind(value: Any) -> str:
    """What JSON calls a value, for messages."""
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "a number"
