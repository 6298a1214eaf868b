"""Ranges that may be meant by a command line that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.cli.suggestions.typed_values import typed_values
from gradcli.cli.suggestions.written_ranges import TOLERANCE, with_ends
from gradcli.errors import GradcliError
from gradcli.language.spellings import SIGNED
from gradcli.language.text.signs import NAME, compared
from gradcli.registry import all_commands
from gradcli.trial import SpelledGroup


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate ranges by other names and of values with tolerances, and of an equation the difference of its sides."""
    if line.words[:1] and line.words[0] in all_commands()["range"].near:
        yield SpelledGroup([("range", *line.words[1:])])
    sides = compared(line.text).sides if line.command == "range" and line.others else []
    if len(sides) == 2 and all(sides):
        yield SpelledGroup([line.put(line.others[0], 1, f"{sides[0]} - ({sides[1]})")], is_sure="--zeros" in line.words)
    yield SpelledGroup(_with_tolerances(line))
    yield SpelledGroup(_with_dashes(line))


_DASHED = re.compile(rf"(?P<name>{NAME}\s*=\s*)?(?P<low>{SIGNED})\s*[–—]\s*(?P<high>{SIGNED})")
"""Two numbers with a dash between them, a range in print, `0–1`."""


def _with_dashes(line: TypedLine) -> Iterator[Words]:
    """Ask on the interval that two numbers with a dash are, and at their difference."""
    for one in typed_values(line):
        if one.option == "--at" and line.others and (found := _DASHED.fullmatch(one.typed.strip())) is not None:
            name, low, high = found["name"] or "", found["low"], found["high"]
            places = range(one.place, one.place + one.words)
            yield ("range", *line.without(*places)[line.start :], "--in", f"{name}{low}..{high}")
            yield one.put(f"{name}{low}-{high}")


def _with_tolerances(line: TypedLine) -> Iterator[Words]:
    """Ask on the interval of each value with a tolerance, `m=2.0±0.1`; the tolerance of one is a direction too."""
    typed = [one for one in typed_values(line) if one.option == "--at" and TOLERANCE.search(one.typed)]
    found = [TOLERANCE.fullmatch(one.typed.strip()) for one in typed]
    if not line.others or not found or not all(found):
        return
    places = [n for one in typed for n in range(one.place, one.place + one.words)]
    ranges = [word for one in typed for word in ("--in", with_ends(one.typed))]
    yield ("range", *line.without(*places)[line.start :], *ranges)
    if len(typed) == 1 and found[0] is not None:
        name = found[0]["name"] or ""
        words = typed[0].put(f"{name}{found[0]['middle']}")[line.start :]
        yield ("jvp", *words, "--u", f"{name}{found[0]['tolerance']}")
