"""Statements broken over lines where they are too long, at their brackets, as a formatter would."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 88
"""Characters of a line of a script."""

_INDENT = 4
_OPENING, _CLOSING = "([{", ")]}"
_NUMBERS = re.compile(r"[-+.\deE, ]+")

MOST_ALONE = 8
"""Numbers of a list that get a line each where they do not fit on one; more are filled into lines."""


def laid_out(statement: str) -> str:
    """A statement on as many lines as it needs.

    >>> print(laid_out("y = torch.stack([" + ", ".join(["x**2"] * 14) + "])").partition("x**2")[0])
    y = torch.stack(
        [
    <BLANKLINE>
    """
    return "\n".join(_lines(statement, 0))


def _lines(text: str, indent: int) -> Iterator[str]:
    blank = " " * indent
    split = None if len(blank + text) <= WIDTH else _last_bracket(text)
    if split is None:
        yield blank + text
        return
    head, body, tail = split
    inside = indent + _INDENT
    yield blank + head
    parts = _parts(body)
    if body.startswith("*") or (len(parts) == 1 and " for " not in body) or inside + len(body) <= WIDTH:
        yield from _lines(body, inside)
    elif len(parts) > MOST_ALONE and _NUMBERS.fullmatch(body):
        yield from _filled(parts, inside)
    elif len(parts) == 1:
        first, loops = _loop(body)
        yield from _lines(first, inside)
        yield from (" " * inside + loop for loop in loops)
    else:
        for part in parts:
            *before, last = _lines(part, inside)
            yield from before
            yield f"{last},"
    yield blank + tail


def _last_bracket(text: str) -> tuple[str, str, str] | None:
    """Before, inside and from the end of the bracket that closes last; None if nothing can be broken there."""
    ends = [position for position, depth, _ in _walk(text) if depth == 0 and text[position] in _CLOSING]
    if not ends:
        return None
    starts = [p for p, depth, _ in _walk(text) if depth == 1 and text[p] in _OPENING and p < ends[-1]]
    start, end = starts[-1], ends[-1]
    return (text[: start + 1], text[start + 1 : end], text[end:]) if end > start + 1 else None


def _walk(text: str) -> Iterator[tuple[int, int, bool]]:
    """Every character outside of strings: where it is, and the depth of brackets behind it."""
    depth, quote = 0, ""
    for position, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
            continue
        if character in "\"'":
            quote = character
        depth += (character in _OPENING) - (character in _CLOSING)
        yield position, depth, character in _OPENING


def _parts(body: str) -> list[str]:
    """What commas outside of brackets separate."""
    commas = [position for position, depth, _ in _walk(body) if depth == 0 and body[position] == ","]
    starts = [0, *(comma + 1 for comma in commas)]
    return [body[a:b].strip() for a, b in zip(starts, [*commas, len(body)], strict=True)]


def _loop(body: str) -> tuple[str, list[str]]:
    """The term of a comprehension, and its loops."""
    places = [p for p, depth, _ in _walk(body) if depth == 0 and body.startswith(" for ", p)]
    if not places:
        return body, []
    return body[: places[0]], [body[a:b].strip() for a, b in zip(places, [*places[1:], len(body)], strict=True)]


def _filled(parts: list[str], indent: int) -> Iterator[str]:
    line = " " * indent
    for part in parts:
        if len(line) + len(part) + 1 > WIDTH:
            yield line.rstrip()
            line = " " * indent
        line += f"{part}, "
    yield line.rstrip()
