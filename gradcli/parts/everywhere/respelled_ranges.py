"""Ranges that may be meant by a command line that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.cli.questions_in_words import EQUALS
from gradcli.cli.typed_line import TypedLine, Words
from gradcli.errors import GradcliError
from gradcli.registry import all_commands
from gradcli.trial import SpelledGroup


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate ranges by other names, and the difference of the sides of an equation, which has its roots as zeros."""
    if line.words[:1] and line.words[0] in all_commands()["range"].near:
        yield SpelledGroup([("range", *line.words[1:])])
    sides = [one.strip() for one in EQUALS.split(line.text)] if line.command == "range" and line.others else []
    if len(sides) == 2 and all(sides):
        yield SpelledGroup([line.put(line.others[0], 1, f"{sides[0]} - ({sides[1]})")], is_sure="--zeros" in line.words)
