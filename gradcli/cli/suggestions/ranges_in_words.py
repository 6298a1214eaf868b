"""Functions with the range of a variable in words, `x^3 - 3x on [-2, 3]`, `tan x for x from -1 to 1`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import product
from typing import NamedTuple

from gradcli.cli.default_command import DERIVATIVE
from gradcli.cli.suggestions.written_ranges import dotted, range_at
from gradcli.language.text.signs import NAME, is_balanced

_SEPARATOR = re.compile(
    r"\s+(?P<word>on|for|over|where|when|if|with|within|in|from|between)\s+(?:all\s+)?|\s*[,;]\s*"
    r"(?:(?:for|on|over|where|when|if|with|from|between)\s+(?:all\s+)?)?"
)
_AND = re.compile(r"\s*(?:,|;|\band\b|[x×](?=\s*[\[(]))\s*")
_NOUN = re.compile(r"\s*(?:the\s+)?(?:range|values?|bounds?|max(?:imum)?|min(?:imum)?|extrem\w+)\s+of\s+(?=\S)")
"""What is asked of a function on its range."""

_GIVEN = re.compile(rf"({NAME})\s*=\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)(?![\w.])(?!\s*\.\.)")
_OF_POINTS = (DERIVATIVE, *"grad jacobian vjp jvp hvp hessian eval explain graph code map".split())
"""Commands that take points, and no range."""


_OF_NAME = ("in", "from", "between", "within")
"""Words before which the name of the variable stands."""

_NAMED = re.compile(rf"(?P<function>.*[\w)\]}}])\s+(?P<name>{NAME})")

_WORD = re.compile(r"(?<![\w.])[a-z]{2,}(?!\w|\s*[(.=])")
"""A word that is no function."""

_WORDS, _CUTOFF, _MOST_MISSPELT = "between from over for where within and".split(), 0.6, 3
"""Words of ranges for which a near one may be meant, how near it is, and how many of a text."""

_COMPARED = re.compile(r"([<>]=?|[≤≥])")


class FunctionOnRanges(NamedTuple):
    """A function with ranges of its variables.

    Attributes:
        function: The function.
        ranges: The ranges, as `--in` takes them.
        given: Values of other variables, as `--at` takes them.
    """

    function: str
    ranges: Sequence[str]
    given: Sequence[str]


def ranged(text: str) -> FunctionOnRanges | None:
    """Part a function from the ranges after it; None where there is none.

    >>> ranged("x^3 - 3x on [-2, 3]")
    FunctionOnRanges(function='x^3 - 3x', ranges=['-2..3'], given=[])
    >>> ranged("a*x*y for x in [0,1], y in [0, 2π] and a=2")
    FunctionOnRanges(function='a*x*y', ranges=['x=0..1', 'y=0..2π'], given=['a=2'])
    >>> ranged("tan x where -1 < x < 1").ranges, ranged("x if 0 < x < 1 else 0"), ranged("x, [0, 1]")
    (['x=-1..1'], None, None)
    >>> ranged("x*exp(-x) x between 0 and 4"), ranged("x y between 0 and 4").function
    (FunctionOnRanges(function='x*exp(-x)', ranges=['x=0..4'], given=[]), 'x y')
    """
    for separator in _SEPARATOR.finditer(text):
        function = text[: separator.start()].strip()
        found = _all_ranges(text, separator) if function and is_balanced(function) else None
        if found is not None:
            ranges, given = found
            function, name = _without_name(function, separator["word"] or "")
            ranges[0] = ranges[0] if "=" in ranges[0] or not name else f"{name}={ranges[0]}"
            return FunctionOnRanges(_NOUN.sub("", function), ranges, given)
    return None


def _without_name(function: str, word: str) -> tuple[str, str]:
    """Part a function from the name of a range behind it, `x between`, which the function has too; "" of none."""
    named = _NAMED.fullmatch(function) if word in _OF_NAME else None
    if named is None or named["name"] not in re.findall(NAME, named["function"]):
        return function, ""
    return named["function"], named["name"]


def misspelt_range_of(text: str, command: str) -> Iterator[list[str]]:
    """Generate the command lines for a function on a range of whose words some are near to what they should be.

    >>> [*misspelt_range_of("x^3 - x betwen 0 and 4", "range")], [*misspelt_range_of("x^3 - x", "range")]
    ([['range', 'x^3 - x', '--in', '0..4']], [])
    """
    words = [(found.span(), near) for found in _WORD.finditer(text) if (near := _near(found[0]))]
    if not 0 < len(words) <= _MOST_MISSPELT:
        return
    for chosen in product(*(near for _, near in words)):
        spelled = text
        for ((start, end), _), word in reversed([*zip(words, chosen, strict=True)]):
            spelled = f"{spelled[:start]}{word}{spelled[end:]}"
        yield from asked_on_range(spelled, command)


def _near(word: str) -> list[str]:
    return [] if word in _WORDS else get_close_matches(word, _WORDS, 2, _CUTOFF)


def _all_ranges(text: str, separator: re.Match[str]) -> tuple[list[str], list[str]] | None:
    """Read ranges and values up to the end of a text; None where something else stands there, such as a list."""
    ranges, given = list[str](), list[str]()
    position, stop = separator.end(), len(text.rstrip())
    while True:
        if (found := range_at(text, position)) is not None:
            is_interval = found[0][-1] in "[])"
            if is_interval and not separator["word"] and (not found["name"] or "=" in found[0]):  # a list, x, [0, 1]
                return None
            ranges.append(dotted(found))
        elif ranges and (found := _GIVEN.match(text, position)) is not None:
            given.append(f"{found[1]}={found[2]}")
        else:
            return None
        if found.end() == stop:
            return ranges, given
        if (sign := _AND.match(text, found.end())) is None:
            return None
        position = sign.end()


def asked_on_range(text: str, command: str) -> list[list[str]]:
    """Return the command lines for a function on a range.

    Args:
        text: The function, with its range in words.
        command: The command that was typed, or the one that a line without a command means.
    """
    found = ranged(text)
    if found is None:
        return []
    given = [word for one in found.given for word in ("--at", one)]
    within = [word for one in found.ranges for word in ("--in", one)]
    sides = [one.strip() for one in _COMPARED.split(found.function)]
    if command == "check" and len(sides) == 3 and all(map(is_balanced, sides[::2])):
        difference = sides[0] if sides[2] == "0" else f"{sides[0]} - ({sides[2]})"
        return [["check", difference, *given, *within, "--prove", f"y {sides[1]} 0"]]
    if command not in _OF_POINTS:
        return [[command, found.function, *given, *within]]
    named = [] if command == DERIVATIVE else [command]
    both = [[one, found.function, *given, *within] for one in ("range", "plot")]
    return [*both, [*named, found.function, *given]]


def with_names(words: Sequence[str], variables: Sequence[str]) -> list[str]:
    """Name the variables of ranges without a name, in their order, where as many are open.

    >>> with_names(["range", "a*x", "--in", "0..1"], ["x"]), with_names(["range", "x", "--in", "x=0..1"], ["x"])
    (['range', 'a*x', '--in', 'x=0..1'], ['range', 'x', '--in', 'x=0..1'])
    """
    places = [n for n, word in enumerate(words) if n and words[n - 1] == "--in" and "=" not in word]
    names = dict(zip(places, variables, strict=False)) if len(places) == len(variables) else {}
    return [f"{names[n]}={word}" if n in names else word for n, word in enumerate(words)]
