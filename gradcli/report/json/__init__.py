"""Answers and errors as lines of JSON, one object each.

Floats are the shortest that round-trip; numbers that are not finite are the strings `"NaN"`, `"Infinity"` and
`"-Infinity"`, so that every JSON parser reads the line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gradcli.errors import GradcliError
from gradcli.report.json.answers import SCHEMA, fields
from gradcli.report.json.functions import objects
from gradcli.report.json.source import source_fields
from gradcli.results import Answer, Functions, Products, Source

__all__ = ["one_document", "render", "render_error", "render_reply"]


def render(answer: Answer | Functions | Source) -> str:
    """The answer, a line an object."""
    match answer:
        case Functions():
            return "".join(map(_line, objects(answer)))
        case Products():
            return "".join(_line(fields(one)) for one in answer.answers)
        case Source():
            return _line(source_fields(answer))
        case _:
            return _line(fields(answer))


def one_document(lines: str) -> str:
    """Objects on a line each as one value, which a file of JSON has: an array, if there are several.

    >>> one_document('{"a": 1}\\n{"a": 2}\\n')
    '[\\n{"a": 1},\\n{"a": 2}\\n]\\n'
    """
    objects = lines.splitlines()
    return lines if len(objects) == 1 else "[\n" + ",\n".join(objects) + "\n]\n"


def render_reply(answer: Answer | Source, head: Mapping[str, Any]) -> str:
    """The answer to one request of a stream, always one line: that of `render`, or several products in a list.

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
    return _line({"schema": SCHEMA, **head, **found})


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
