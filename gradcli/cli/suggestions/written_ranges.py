"""Ranges as people write them, with two dots between the ends: `x between 0 and 5`, `[0, 5]`, `0 <= x <= 5`, `2.0±0.1`.

A range within a text ends at numbers, which say where it ends; one that is all of a text may end at anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from difflib import get_close_matches

from gradcli.language.spellings import SIGNED
from gradcli.language.text.signs import NAME

NUMBER = re.compile(r"[-+\[(]*(?:[.\d]|pi\b|inf\b|nan\b)[-+\d.,eE\[\]()/*piπ]*")
"""Pattern of a number, or of several."""

_CONSTANT = r"(?:pi|π|inf(?:inity)?|∞|oo)(?![^\W\d])"
_NUMBER = rf"[-+−]?\s*(?:(?:\d[\d.]*(?:[eE][-+]?\d+)?|\.\d+)(?:\s*\*?\s*{_CONSTANT})?|{_CONSTANT})(?:\s*/\s*\d+)?"
"""An end within a text, `-2`, `2π` or `pi/2`."""

_OF_NAME = rf"(?:(?P<name>{NAME})\s*(?:\bin\b|∈|:|=|\bfrom\b|\bbetween\b|\bon\b|\bover\b|\bruns\s+from\b)\s*)?"
_NOUN = r"(?:the\s+)?(?:(?:closed\s+|open\s+)?(?:interval|range|domain)\s+)?"
_PARTING = r"…|:|\bto\b|\band\b"
"""What parts two ends, next to dots."""

_WORDS = "between from over runs and the closed open interval range domain".split()
"""Words of ranges for which a near one may be meant."""

_BEFORE = re.compile(r"^\s*(?:from|between|on|in|over)\b(?!\s*[=:])\s*")
"""Word before a range without a name."""


def _interval(end: str) -> str:
    return rf"[\[(\]]\s*(?P<low>{end})\s*[,;]\s*(?P<high>{end})\s*[\])\[]"


def _two_ends(end: str, parting: str) -> str:
    return rf"(?P<low>{end})(?:{parting})(?P<high>{end})"


def _inequalities(end: str) -> str:
    return rf"(?P<low>{end})\s*(?:<=?|≤)\s*(?P<name>{NAME})\s*(?:<=?|≤)\s*(?P<high>{end})"


_WITHIN = tuple(
    map(
        re.compile,
        (
            _OF_NAME + _NOUN + _interval(_NUMBER),
            _OF_NAME + _NOUN + _two_ends(_NUMBER, rf"\s*(?:\.\.\.?|{_PARTING})\s*"),
            _inequalities(_NUMBER),
        ),
    )
)
"""Patterns of a range within a text."""

_OF_ANYTHING = tuple(map(re.compile, (_inequalities(r"[^<>≤≥]+?"), _OF_NAME + _interval(r"[^\[\](),;]+?"))))
"""Patterns of a range that is all of a text."""

_OF_NUMBERS = re.compile(
    rf"(?:(?P<name>{NAME})\s*[=\s]\s*)?[\[(]?\s*"
    + _two_ends(r"[^\s,;:=]+?", rf"\s*(?:\.\.|[,;]|{_PARTING})\s*|\s+")
    + r"\s*[\])]?"
)
"""Pattern of two ends that blanks may part, so that numbers alone are meant."""

_ONE_END = re.compile(rf"(?P<name>{NAME})\s*(?P<sign>[<>]=?|[≤≥])\s*(?P<end>{_NUMBER})")
"""Pattern of a range with one end, `x > 0`."""

TOLERANCE = re.compile(
    rf"(?P<name>{NAME}\s*=\s*)?(?P<middle>{SIGNED})\s*(?:±|\+/?-)\s*(?P<tolerance>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)"
)
"""A value with its tolerance, `m=2.0±0.1`."""


def is_number(part: str) -> bool:
    """Tell whether a part of a value is a number, or made of numbers alone: `sqrt(2)/2`."""
    signs = re.sub(r"(?<![a-zA-Z])(?:sqrt|exp|log|ln|sin|cos|tan|pi|inf|nan)(?![a-zA-Z])|[π√°\d]", "1", part)
    return NUMBER.fullmatch(part) is not None or re.fullmatch(r"[-+1.eE()*/^\s]*1[-+1.eE()*/^\s]*", signs) is not None


def range_at(text: str, position: int) -> re.Match[str] | None:
    """Match a range that begins at a position of a text; None where none does."""
    return next(filter(None, (pattern.match(text, position) for pattern in _WITHIN)), None)


def dotted(found: re.Match[str]) -> str:
    """Write a range that was found within a text with two dots between its ends."""
    return _dotted(found["name"], *(re.sub(r"\s", "", found[end]).replace("−", "-") for end in ("low", "high")))


def _dotted(name: str | None, low: str, high: str) -> str:
    return f"{name}={low}..{high}" if name else f"{low}..{high}"


def range_of_numbers(typed: str) -> str | None:
    """Write two numbers as a range, with the name before them; None of other words.

    >>> range_of_numbers("0 5"), range_of_numbers("x 0 to pi"), range_of_numbers("x=0 .. 5"), range_of_numbers("x y")
    ('0..5', 'x=0..pi', 'x=0..5', None)
    """
    found = _OF_NUMBERS.fullmatch(_BEFORE.sub("", typed).strip())
    is_range = found is not None and is_number(found["low"]) and is_number(found["high"])
    return _dotted(*found.group("name", "low", "high")) if found is not None and is_range else None


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
    """Write a range with two dots between its ends; of a text that is none, the signs between its parts.

    >>> dotted_range("0<=x<=5"), dotted_range("[0,pi]"), dotted_range("x=0:5"), dotted_range("0 5")
    ('x=0..5', '0..pi', 'x=0..5', '0..5')
    >>> dotted_range("from 0 to 1"), dotted_range("x between 0 and pi"), dotted_range("x > 2"), dotted_range("4±1")
    ('0..1', 'x=0..pi', 'x=2..inf', '3..5')
    """
    if (ends := with_ends(typed)) != typed:
        return ends
    return _read(typed) or re.sub(r"\s*(?:,|:|;|\bto\b|…)\s*", "..", typed)


def misspelt_range(typed: str) -> str | None:
    """Write a range with two dots between its ends where words of ranges are near to those that it has; else None.

    >>> misspelt_range("x betwen 0 and 2"), misspelt_range("x between 0 and 2"), misspelt_range("a, b")
    ('x=0..2', None, None)
    """
    spelled = re.sub(r"[a-z]{3,}", lambda found: [*get_close_matches(found[0], _WORDS, 1, 0.75), found[0]][0], typed)
    return _read(spelled) if spelled != typed else None


def _read(typed: str) -> str | None:
    """Write a text that is a range with two dots between its ends; None of any other."""
    text = _BEFORE.sub("", typed).strip()
    if (found := _whole(_OF_ANYTHING, text)) is not None:
        return _dotted(*found.group("name", "low", "high"))
    if (numbers := range_of_numbers(typed)) is not None:
        return numbers
    if (found := _whole(_WITHIN, text)) is not None:
        return dotted(found)
    if (found := _ONE_END.fullmatch(text)) is not None:
        low, high = (found["end"], "inf") if found["sign"][0] in ">≥" else ("-inf", found["end"])
        return _dotted(found["name"], low, high)
    return None


def _whole(patterns: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next(filter(None, (pattern.fullmatch(text) for pattern in patterns)), None)
