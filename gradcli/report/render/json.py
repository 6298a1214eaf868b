"""Answers and errors as lines of JSON, one object each: names and order of their fields, schema 1.

Floats are the shortest that round-trip; numbers that are not finite are the strings `"NaN"`, `"Infinity"` and
`"-Infinity"`, so that every JSON parser reads the line.

What a record is written as, its class says: `gradcli.results.record`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from gradcli import results
from gradcli.errors import GradcliError
from gradcli.notation import Notation
from gradcli.report.appearance import Appearance
from gradcli.report.numbers import MANY, in_lists, json_number
from gradcli.report.wording import require_few_nodes
from gradcli.results import SCHEMA
from gradcli.results.record import json_keys

LINES = Appearance("json")
"""Default appearance: a line an object."""

LONG_ROW = 2**10
"""Elements from which on a row is turned into Python's numbers by itself: all rows at once take too much memory."""


def pieces(answer: results.Result, shown: Appearance = LINES) -> Iterator[str]:
    """Write the answer, a line an object.

    Args:
        answer: The object.
        shown: How; in a file `.json` there is one value, as there must be: an array, if there are several objects.
    """
    found = list(_objects(answer))
    has_brackets = shown.path.lower().endswith(".json") and len(found) > 1
    yield "[\n" * has_brackets
    for n, one in enumerate(found):
        yield from _WRITTEN(one)
        yield ",\n" if has_brackets and n + 1 < len(found) else "\n"
    yield "]\n" * has_brackets


def _objects(answer: results.Result) -> Iterator[Any]:
    """List an object for each product, function, or group of a brief list; else one."""
    head = {"schema": SCHEMA, "command": answer.command}
    if not isinstance(answer, results.Functions):
        yield from map(value, answer.answers if isinstance(answer, results.Products) else [answer])
        return
    for part in answer.parts:
        if isinstance(part, results.FunctionPage):
            yield head | value(part.entry) | value(part)
        elif part.is_brief:
            yield from (head | {"group": group, "functions": names} for group, names in part.groups)
        else:
            yield from (head | value(entry) for entry in part.entries)


def reply(answer: results.Result, head: Mapping[str, object]) -> Iterator[str]:
    """Write the answer to one request of a stream on one line: as `pieces` does, or several products in a list.

    Args:
        answer: The object.
        head: Fields of the request to repeat, after the schema.
    """
    if isinstance(answer, results.Products):
        found = {"command": answer.command, "answers": value(answer.answers)}
    else:
        found = value(answer)
    return chain(_WRITTEN({"schema": SCHEMA, **head, **found}), "\n")


def render_error(error: GradcliError, head: Mapping[str, object] | None = None, *, line: int | None = None) -> str:
    """Write the error as one line, with its newline.

    Args:
        error: The error.
        head: Fields of a request to repeat, after the schema.
        line: Number of the request's line in the stream.
    """
    found: dict[str, object] = {"kind": error.kind, "message": error.in_shell.message}
    if error.place is not None:
        span = error.place.span
        found["position"] = {"in": error.place.source, "start": span.start, "end": span.stop}
    if error.in_shell.hint:
        found["hint"] = error.in_shell.hint
    if line is not None:
        found["line"] = line
    return json.dumps({"schema": SCHEMA, **(head or {}), "error": found}, allow_nan=False) + "\n"


# -- answers as JSON's types


def value(one: Any) -> Any:
    """Turn an answer or a part of one into JSON's types; a large array stays itself until it is written."""
    match one:
        case None | str() | bool() | int():
            return one
        case np.ndarray():
            return one if one.size > MANY else in_lists(one)
        case float() | np.generic():
            return json_number(one)
        case Notation() | results.Formula():
            return one.text
        case Mapping():
            return {key: value(held) for key, held in one.items()}
        case tuple() | list():
            return [value(held) for held in one]
    if isinstance(one, results.BackwardGraph):
        require_few_nodes(one, "json")
    found = ((member, getattr(one, member.name)) for member in json_keys(one.__class__))
    return {
        member.key: value(member.get(one))
        for member, held in found
        if member.omit is None or not member.omit(one, held)
    }


# -- the text


def _unfolded(array: results.Array) -> object:
    """Split a large array into its rows; where they are short or it has none, into its numbers."""
    return list(array) if array.ndim > 1 and array[0].size >= LONG_ROW else in_lists(array)


_WRITTEN = json.JSONEncoder(allow_nan=False, default=_unfolded).iterencode
"""Text of JSON's types and of large arrays, part by part."""
