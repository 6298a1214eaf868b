"""Statements broken over lines where they are too long, as a formatter would: at brackets, commas, and operators."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 88
"""Characters of a line of a script."""

MOST_ALONE = 8
"""Numbers of a list that get a line each where they do not fit on one; more are filled into lines."""

_INDENT = 4
_OPENING, _CLOSING = "([{", ")]}"
_NUMBERS = re.compile(r"[-+.\deE, ]+")
_BREAKS = tuple(
    re.compile(pattern)
    for pattern in (
        r" (?=for )",
        r" (?=(?:if|else) )",
        r" (?=(?:and|or) )",
        r" (?=(?:==|!=|<=?|>=?) )",
        r" (?=\| )",
        r" (?=& )",
        r" (?=[-+] )",
        r" (?=(?:\*|/|//|@) )",
    )
)
"""Where a line inside of brackets is broken, what binds least first."""


def laid_out(statement: str) -> str:
    """A statement `name = expression` on as many lines as it needs.

    >>> print(laid_out("y = torch.stack([torch.sin(first_angle), torch.sin(second_angle), torch.sin(third_angle)])"))
    y = torch.stack(
        [torch.sin(first_angle), torch.sin(second_angle), torch.sin(third_angle)]
    )
    """
    if len(statement) <= WIDTH:
        return statement
    name, _, expression = statement.partition(" = ")
    if any(_broken(expression, pattern) for pattern in _BREAKS):
        return "\n".join([f"{name} = (", *_lines(expression, _INDENT), ")"])
    return "\n".join(_at_brackets(statement, 0))


def _lines(text: str, indent: int) -> Iterator[str]:
    """The lines of an expression that stands inside of brackets, at this indent."""
    parts = [] if indent + len(text) <= WIDTH else next(filter(None, (_broken(text, p) for p in _BREAKS)), [])
    if parts:
        for part in parts:
            yield from _lines(part, indent)
    else:
        yield from _at_brackets(text, indent)


def _at_brackets(text: str, indent: int) -> Iterator[str]:
    blank = " " * indent
    split = None if indent + len(text) <= WIDTH else _last_bracket(text)
    if split is None:
        yield blank + text
        return
    head, body, tail = split
    inside = indent + _INDENT
    yield blank + head
    parts = _parts(body)
    if len(parts) == 1 or inside + len(body) <= WIDTH:
        yield from _lines(body, inside)
    elif len(parts) > MOST_ALONE and _NUMBERS.fullmatch(body):
        yield from _filled(parts, inside)
    else:
        for part in parts:
            *before, last = _lines(part, inside)
            yield from before
            yield f"{last},"
    yield blank + tail


def _last_bracket(text: str) -> tuple[str, str, str] | None:
    """Before, inside and from the end of the last bracket that is no index; None if there is none."""
    start, found = 0, None
    for position, depth in _walk(text):
        if depth == 1 and text[position] in _OPENING:
            start = position
        if depth == 0 and text[position] in _CLOSING and position > start + 1:
            is_index = text[start] == "[" and start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]")
            # Breaking inside of an index would split a name from its element.
            found = found if is_index else (start, position)
    return found and (text[: found[0] + 1], text[found[0] + 1 : found[1]], text[found[1] :])


def _walk(text: str) -> Iterator[tuple[int, int]]:
    """Every character outside of strings: where it is, and the depth of brackets after it."""
    depth, quote = 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
            continue
        if character in "\"'":
            quote = character
        depth += (character in _OPENING) - (character in _CLOSING)
        yield position, depth


def _parts(body: str) -> list[str]:
    """The parts of a text between its commas outside of brackets."""
    commas = [position for position, depth in _walk(body) if depth == 0 and body[position] == ","]
    starts = [0, *(comma + 1 for comma in commas)]
    return [body[a:b].strip() for a, b in zip(starts, [*commas, len(body)], strict=True)]


def _broken(text: str, pattern: re.Pattern[str]) -> list[str]:
    """The parts of a text before each place of a pattern outside of brackets; empty if there is none."""
    outside = {position for position, depth in _walk(text) if depth == 0}
    places = [match.start() for match in pattern.finditer(text) if match.start() in outside]
    starts = [0, *(place + 1 for place in places)]
    return [text[a:b] for a, b in zip(starts, [*places, len(text)], strict=True)] if places else []


def _filled(parts: list[str], indent: int) -> Iterator[str]:
    line = " " * indent
    for part in parts:
        if len(line) + len(part) + 1 > WIDTH:
            yield line.rstrip()
            line = " " * indent
        line += f"{part}, "
    yield line.rstrip()
