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
from gradcli.report.json.answers import SCHEMA, fields
from gradcli.report.json.code import source_fields
from gradcli.report.json.functions import objects
from gradcli.report.numbers import json_pieces
from gradcli.results import Answer, Functions, Products, Source

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


def _objects(answer: Answer | Functions | Source) -> Iterator[Callable[[], dict[str, Any]]]:
    match answer:
        case Functions():
            yield from (partial(dict, one) for one in objects(answer))
        case Products():
            yield from (partial(fields, one) for one in answer.answers)
        case Source():
            yield partial(source_fields, answer)
        case _:
            yield partial(fields, answer)


def reply(answer: Answer | Source, head: Mapping[str, Any]) -> Iterator[str]:
    """The answer to one request of a stream, always one line: that of `pieces`, or several products in a list.

    Args:
        answer: The object.
        head: What to repeat of the request, behind the schema.
    """
    match answer:
        case Products():
            found = {"command": answer.command, "answers": [fields(one) for one in answer.answers]}
        case Source():
            found = source_fields(answer)
        case _:
            found = fields(answer)
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
    return _line({"schema": SCHEMA, **(head or {}), "error": found})


def _line(found: dict[str, Any]) -> str:
    return json.dumps(found, allow_nan=False, ensure_ascii=True) + "\n"


def _written(found: Any) -> Iterator[str]:
    """As `json.dumps` writes it, large arrays a part at a time."""
    match found:
        case np.ndarray():
            yield from json_pieces(found)
        case dict():
            yield from _joined("{", (([json.dumps(key), ": "], value) for key, value in found.items()))
            yield "}"
        case list() if any(isinstance(one, dict | np.ndarray) for one in found):
            yield from _joined("[", (([], value) for value in found))
            yield "]"
        case _:
            yield json.dumps(found, allow_nan=False, ensure_ascii=True)


def _joined(opening: str, members: Iterable[tuple[list[str], Any]]) -> Iterator[str]:
    yield opening
    for n, (head, value) in enumerate(members):
        yield ", " * (n > 0) + "".join(head)
        yield from _written(value)
