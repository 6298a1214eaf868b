"""Functions with the range of a variable in words, `x^3 - 3x on [-2, 3]`, `tan x for x from -1 to 1`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gradcli.cli.default_command import DERIVATIVE
from gradcli.language.text.signs import NAME, is_balanced

_END = (
    r"(?=[-+\d.πp∞oi])[-+−]?\s*(?:\d[\d.]*(?:[eE][-+]?\d+)?|\.\d+)?\s*\*?\s*(?:(?:pi|π|inf(?:inity)?|∞|oo)(?![^\W\d]))?"
    r"(?:\s*/\s*\d+)?(?<=[\dπ∞iyfo.])"
)
"""An end of a range, `-2`, `2π` or `pi/2`."""

_OF_NAME = rf"(?P<name>{NAME})\s*(?:\bin\b|∈|:|=|\bfrom\b|\bbetween\b|\bon\b|\bover\b|\bruns\s+from\b)\s*"
_RANGE = re.compile(
    rf"(?:{_OF_NAME})?(?:the\s+)?(?:(?:closed\s+|open\s+)?(?:interval|range|domain)\s+)?(?:"
    rf"(?P<open>[\[(\]])\s*(?P<low>{_END})\s*[,;]\s*(?P<high>{_END})\s*[\])\[]"
    rf"|(?P<first>{_END})\s*(?:\.\.\.?|…|:|\bto\b|\band\b)\s*(?P<last>{_END}))"
    rf"|(?P<least>{_END})\s*(?:<=?|≤)\s*(?P<between>{NAME})\s*(?:<=?|≤)\s*(?P<most>{_END})"
)
"""A range: an interval, two ends with a word or dots between them, or inequalities."""

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
    """
    for separator in _SEPARATOR.finditer(text):
        function = text[: separator.start()].strip()
        found = _all_ranges(text, separator) if function and is_balanced(function) else None
        if found is not None:
            return FunctionOnRanges(_NOUN.sub("", function), *found)
    return None


def as_range(text: str) -> str | None:
    """Write a range in words with two dots between its ends; None of anything else.

    >>> as_range("from 0 to 1"), as_range("x between 0 and pi"), as_range("x > 2"), as_range("a b")
    ('0..1', 'x=0..pi', 'x=2..inf', None)
    """
    text = re.sub(r"^\s*(?:from|between|on|in|over)\s+", "", text)
    if (found := _RANGE.fullmatch(text.strip())) is not None:
        return _dotted(found)
    if (found := _HALF.fullmatch(text)) is not None:
        is_least = found["sign"][0] in ">≥"
        return f"{found['name']}={found['end']}..inf" if is_least else f"{found['name']}=-inf..{found['end']}"
    return None


def _dotted(found: re.Match[str]) -> str:
    name = found["name"] or found["between"] or ""
    low, high = (_plain(next(filter(None, map(found.__getitem__, ends)))) for ends in (_LOW, _HIGH))
    return f"{name}{'=' * bool(name)}{low}..{high}"


_HALF = re.compile(rf"\s*(?P<name>{NAME})\s*(?P<sign>[<>]=?|[≤≥])\s*(?P<end>{_END})\s*")
"""A range with one end, `x > 0`."""


def _all_ranges(text: str, separator: re.Match[str]) -> tuple[list[str], list[str]] | None:
    """Read ranges and values up to the end of a text; None where something else stands there, such as a list."""
    ranges, given = list[str](), list[str]()
    position, stop = separator.end(), len(text.rstrip())
    while True:
        if (found := _RANGE.match(text, position)) is not None:
            name = found["name"] or found["between"] or ""
            is_list = found["open"] and not separator["word"] and (not name or "=" in found[0])  # x, [0, 1]
            if is_list:
                return None
            ranges.append(_dotted(found))
        elif ranges and (found := _GIVEN.match(text, position)) is not None:
            given.append(f"{found[1]}={found[2]}")
        else:
            return None
        if found.end() == stop:
            return ranges, given
        if (sign := _AND.match(text, found.end())) is None:
            return None
        position = sign.end()


_LOW, _HIGH = ("low", "first", "least"), ("high", "last", "most")


def _plain(end: str) -> str:
    return re.sub(r"\s", "", end).replace("−", "-")


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
