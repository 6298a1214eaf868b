"""Answers and errors as lines of JSON, one object each.

Floats are the shortest that round-trip; numbers that are not finite are the strings `"NaN"`, `"Infinity"` and
`"-Infinity"`, so that every JSON parser reads the line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.notation import Notation
from gradcli.report.data.keys import KEYS, SCHEMA, Key, Record
from gradcli.report.numbers import as_json, json_number, json_pieces
from gradcli.results import Answer, Formula, FunctionPage, Functions, Products, Source

__all__ = ["pieces", "render_error", "reply"]


def pieces(answer: Answer | Functions | Source, *, one_document: bool = False) -> Iterator[str]:
    """The answer, a line an object.

    Args:
        answer: The object.
        one_document: Whether to write one value, which a file of JSON has: an array, if there are several objects.
    """
    found = list(_objects(answer))
    has_brackets = one_document and len(found) > 1
    yield "[\n" * has_brackets
    for n, one in enumerate(found):
        yield from _written(one())
        yield ",\n" if has_brackets and n + 1 < len(found) else "\n"
    yield "]\n" * has_brackets


def _objects(answer: Answer | Functions | Source) -> Iterator[Callable[[], Any]]:
    match answer:
        case Functions():
            yield from (partial(dict, one) for one in _functions(answer))
        case Products():
            yield from (partial(value, one) for one in answer.answers)
        case _:
            yield partial(value, answer)


def _functions(answer: Functions) -> Iterator[dict[str, Any]]:
    """An object a function, or a group of a brief list."""
    head = {"schema": SCHEMA, "command": "functions"}
    for part in answer.parts:
        if isinstance(part, FunctionPage):
            yield head | value(part.entry) | value(part)
        elif part.is_brief:
            yield from (head | {"group": group, "functions": names} for group, names in part.groups)
        else:
            yield from (head | value(entry) for entry in part.entries)


def reply(answer: Answer | Source, head: Mapping[str, Any]) -> Iterator[str]:
    """The answer to one request of a stream, always one line: that of `pieces`, or several products in a list.

    Args:
        answer: The object.
        head: What to repeat of the request, behind the schema.
    """
    if isinstance(answer, Products):
        found = {"command": answer.command, "answers": value(answer.answers)}
    else:
        found = value(answer)
    return chain(_written({"schema": SCHEMA, **head, **found}), "\n")


def render_error(error: GradcliError, head: Mapping[str, Any] | None = None, *, line: int | None = None) -> str:
    """The error as one line, with its newline.

    Args:
        error: It.
        head: What to repeat of a request, behind the schema.
        line: Of the stream that the request was on.
    """
    found: dict[str, Any] = {"kind": error.kind, "message": error.message}
    if error.place is not None:
        span = error.place.span
        found["position"] = {"in": error.place.source, "start": span.start, "end": span.stop}
    if error.hint:
        found["hint"] = error.hint
    if line is not None:
        found["line"] = line
    return json.dumps({"schema": SCHEMA, **(head or {}), "error": found}, allow_nan=False) + "\n"


# -- answers as what JSON can hold


def value(one: Any) -> Any:
    """What JSON can hold of an answer or of a part of one; an array that is large stays itself until it is written."""
    match one:
        case None | str() | bool() | int():
            return one
        case np.ndarray():
            return as_json(one)
        case float() | np.generic():
            return json_number(one)
        case Notation() | Formula():
            return one.text
        case Mapping():
            return {key: value(held) for key, held in one.items()}
        case tuple() | list():
            return [value(held) for held in one]
        case Record(of=held, keys=keys):
            return _object(held, keys)
    return _object(one, KEYS[type(one)])


def _object(one: Any, keys: tuple[Key, ...]) -> dict[str, Any]:
    """The keys that apply, each with its value."""
    found = ((key, key.get(one)) for key in keys)
    return {key.name: value(held) for key, held in found if key.applies(one, held)}


# -- the text


def _written(found: Any) -> Iterator[str]:
    """As `json.dumps` writes it, large arrays a part at a time."""
    match found:
        case np.ndarray():
            yield from json_pieces(found)
        case dict():
            yield from _joined("{", (([json.dumps(key), ": "], held) for key, held in found.items()))
            yield "}"
        case list() if any(isinstance(one, dict | np.ndarray) for one in found):
            yield from _joined("[", (([], held) for held in found))
            yield "]"
        case _:
            yield json.dumps(found, allow_nan=False, ensure_ascii=True)


def _joined(opening: str, members: Iterable[tuple[list[str], Any]]) -> Iterator[str]:
    yield opening
    for n, (head, held) in enumerate(members):
        yield ", " * (n > 0) + "".join(head)
        yield from _written(held)
