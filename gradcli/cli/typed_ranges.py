"""Ranges that cannot be read, and what may be meant: ends in words, in brackets, as inequalities, without an end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from gradcli.cli.options import OptionKind
from gradcli.cli.ranges_in_words import as_range
from gradcli.cli.typed_line import TypedLine, Words
from gradcli.cli.typed_values import NAME, is_number, typed_values, words_next_to
from gradcli.language.spellings import SIGNED


def ranges_in_words(line: TypedLine) -> Iterator[Words]:
    """Join the words of ranges that the shell parted, `--in 0 5`, `--in x 0 5`, `--in x=0 to 5` and `--rows 1 10`."""
    words = line.words
    for place, option in reversed([*line.values.items()]):
        if line.kinds[option] not in (OptionKind.RANGES, OptionKind.WORD):
            continue
        attached = f"{option}=" * words[place].startswith(f"{option}=")
        for count in range(len(words_next_to(line, place)), 0, -1):
            typed = " ".join(line.words[place : place + 1 + count]).removeprefix(attached)
            if (spelled := _of_two_numbers(typed)) is not None:
                words = (*words[:place], f"{attached}{spelled}", *words[place + 1 + count :])
                break
    if words != line.words:
        yield words


_TWO_ENDS = re.compile(
    rf"(?:(?P<name>{NAME.pattern})\s*[=\s]\s*)?[\[(]?\s*(?P<low>[^\s,;:=]+?)(?:\s*(?:\.\.|…|[,;:]|\b(?:to|and)\b)\s*|\s+)(?P<high>[^\s,;:=]+?)\s*[\])]?"
)
"""A range whose ends are parted by blanks, or by other signs."""


def _of_two_numbers(typed: str) -> str | None:
    """Write two numbers as a range, with the name before them; None of other words.

    >>> _of_two_numbers("0 5"), _of_two_numbers("x 0 to pi"), _of_two_numbers("x=0 .. 5"), _of_two_numbers("x y")
    ('0..5', 'x=0..pi', 'x=0..5', None)
    """
    found = _TWO_ENDS.fullmatch(re.sub(r"^\s*(?:from|between)\b|\s+$", "", typed).strip())
    if found is None or not (is_number(found["low"]) and is_number(found["high"])):
        return None
    return f"{found['name']}={found['low']}..{found['high']}" if found["name"] else f"{found['low']}..{found['high']}"


_BETWEEN = re.compile(
    rf"\s*(?P<low>[^<>≤≥]+?)\s*(?:<=?|≤)\s*(?P<name>{NAME.pattern})\s*(?:<=?|≤)\s*(?P<high>[^<>≤≥]+?)\s*"
)
"""A range as inequalities, `0 <= x <= 5`."""

_INTERVAL = re.compile(
    rf"\s*(?:(?P<name>{NAME.pattern})\s*(?:=|:|∈|\bin\b)\s*)?[\[(]\s*(?P<low>[^\[\](),;]+?)\s*[,;]\s*(?P<high>[^\[\](),;]+?)\s*[\])]\s*"
)
"""A range as an interval, `x in [0, 5]`."""


TOLERANCE = re.compile(
    rf"(?P<name>{NAME.pattern}\s*=\s*)?(?P<middle>{SIGNED})\s*(?:±|\+/?-)\s*(?P<tolerance>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)"
)
"""A value with its tolerance, `m=2.0±0.1`."""


def with_ends(typed: str) -> str:
    """Write a value with its tolerance as a range; any other text stays.

    >>> with_ends("m=2.0±0.1"), with_ends("4 +/- 1"), with_ends("x=1")
    ('m=1.9..2.1', '3..5', 'x=1')
    """
    found = TOLERANCE.fullmatch(typed.strip())
    if found is None:
        return typed
    middle, tolerance = Decimal(found["middle"]), Decimal(found["tolerance"])
    return f"{found['name'] or ''}{middle - tolerance}..{middle + tolerance}"


def dotted_range(typed: str) -> str:
    """Write a range with two dots between its ends.

    >>> dotted_range("0<=x<=5"), dotted_range("[0,pi]"), dotted_range("x=0:5"), dotted_range("0 5")
    ('x=0..5', '0..pi', 'x=0..5', '0..5')
    """
    if (ends := with_ends(typed)) != typed:
        return ends
    if (found := _BETWEEN.fullmatch(typed) or _INTERVAL.fullmatch(typed)) is not None:
        return (
            f"{found['name']}={found['low']}..{found['high']}" if found["name"] else f"{found['low']}..{found['high']}"
        )
    return _of_two_numbers(typed) or as_range(typed) or re.sub(r"\s*(?:,|:|;|\bto\b|…)\s*", "..", typed)


_INFINITE = re.compile(r"(?P<sign>[-+]?)\s*(?:\w+\.)?(?:inf(?:inity)?|oo|∞)", re.IGNORECASE)


def is_infinite(line: TypedLine) -> bool:
    """Tell whether a range goes to infinity."""
    return any(one.kind is OptionKind.RANGES and _INFINITE.search(one.typed) is not None for one in typed_values(line))


def finite_ranges(line: TypedLine, *, is_picture: bool = False) -> Iterator[Words]:
    """Give each range to infinity numbers for ends: a part, or nearly all of it, of which a picture shows nothing."""
    for one in typed_values(line):
        if one.kind is OptionKind.RANGES and _INFINITE.search(one.typed) is not None:
            yield from map(one.put, _finite_ranges(one.typed, is_picture=is_picture))


def _finite_ranges(typed: str, *, is_picture: bool) -> Iterator[str]:
    """Write a range to infinity with numbers: a part of it, and nearly all of it, of which a picture shows nothing.

    >>> [*_finite_ranges("x=1..inf", is_picture=False)], [*_finite_ranges("-oo..oo", is_picture=True)]
    (['x=1..10', 'x=1..1e300'], ['-10..10'])
    """
    numbers = [abs(float(one)) for one in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", typed)]
    for most in [f"{10 * max([1.0, *numbers]):g}"] + ["1e300"] * (not is_picture):
        yield _INFINITE.sub(lambda found, most=most: found["sign"].strip("+") + most, typed)  # type: ignore[misc]
