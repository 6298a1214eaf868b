"""Ranges on a command line that cannot be read, and what may be meant: ends that the shell parted, infinite ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.cli.options import OptionKind
from gradcli.cli.suggestions.ranges_in_words import misspelt_range_of
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.cli.suggestions.typed_values import typed_values, words_next_to
from gradcli.cli.suggestions.written_ranges import TOLERANCE, range_of_numbers


def ranges_in_words(line: TypedLine) -> Iterator[Words]:
    """Join the words of ranges that the shell parted, `--in 0 5`, `--in x 0 5`, `--in x=0 to 5` and `--rows 1 10`."""
    words = line.words
    for place, option in reversed([*line.values.items()]):
        if line.kinds[option] not in (OptionKind.RANGES, OptionKind.WORD):
            continue
        attached = f"{option}=" * words[place].startswith(f"{option}=")
        for count in range(len(words_next_to(line, place)), 0, -1):
            typed = " ".join(line.words[place : place + 1 + count]).removeprefix(attached)
            if (spelled := range_of_numbers(typed)) is not None:
                words = (*words[:place], f"{attached}{spelled}", *words[place + 1 + count :])
                break
    if words != line.words:
        yield words


def misspelt_ranges(line: TypedLine) -> Iterator[Words]:
    """Ask on the range that stands in words behind a function, of which some are near to words of ranges."""
    if line.others:
        for words in misspelt_range_of(line.text, line.command):
            yield (*words, *line.without(line.others[0])[line.start :])


QUADRATURE = "a range bounds the worst case; a standard uncertainty is sqrt(Σ (∂y/∂x·σ)²), gradcli guide uncertainty; "
"""Fact on a value with its tolerance, which may be a standard uncertainty."""


def on_tolerance(line: TypedLine) -> str:
    """Return the fact on values with tolerances of a point, where it has some; else nothing."""
    values = (line.words[n].rpartition("--at=")[2] for n, option in line.values.items() if option == "--at")
    return QUADRATURE if any(TOLERANCE.fullmatch(value.strip()) for value in values) else ""


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
