"""Functions at many points that may be meant by a command line that cannot be read."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Iterator

from gradcli.cli.console import is_sent
from gradcli.cli.suggestions.respelled_options import OPTIONS, unknown_options
from gradcli.cli.suggestions.respelled_values import parts_of
from gradcli.cli.suggestions.typed_line import PipedWords, TypedLine, Words
from gradcli.cli.suggestions.typed_values import LABELLED, typed_values
from gradcli.cli.suggestions.written_ranges import NUMBER
from gradcli.errors import GradcliError, NamelessArrayError
from gradcli.language.spellings import SIGNED
from gradcli.trial import SpelledGroup


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate lines that read the table from standard input, or map a function that was asked for at one point."""
    said = error.text.message
    yield SpelledGroup(_points(line, said))
    if said == "missing option '--points'" and is_sent():
        yield SpelledGroup([(*line.words, "--points", "-")], is_sure=True)
    yield SpelledGroup(_tables(line, error))
    yield SpelledGroup(_rows_of_values(line, said))
    if "has blanks between its cells" in said:
        yield SpelledGroup(_with_commas(line))


def _points(line: TypedLine, said: str) -> Iterator[Words]:
    """Pipe several points of one variable, `--at 1 --at 2`, or `map "x^2" 1 2 3`."""
    is_map = line.command == "map" and said.startswith(("missing option '--points'", "unexpected word"))
    if not (is_map or "--at gives the only variable two values" in said):
        return
    places, points = list[int](), [line.words[n] for n in line.others[1:]] if line.command == "map" else []
    for option, typed, _, place, count, _ in typed_values(line):
        if option == "--at" and not LABELLED.match(typed):
            places += range(place, place + count)
            points += parts_of(typed)
    if len(points) > 1 and all(map(NUMBER.fullmatch, points)) and len(line.variables) == 1:
        rest = line.without(*places, *line.others[1:])[line.start :]
        yield PipedWords.with_lines(("map", *rest, "--points", "-"), points)


def _tables(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Map a function over a table that is given as a value, `--at @p.csv`, or as an option, `--data p.csv`."""
    for option, typed, _, place, count, _ in typed_values(line):
        if option == "--at" and isinstance(error, NamelessArrayError) and typed.endswith((".csv", ".tsv")):
            yield ("map", *line.put(place, count, "--points", typed.removeprefix("@"))[line.start :])
    for one in unknown_options(line):
        if "--points" in OPTIONS.get(one.name, ()) and "--points" not in line.kinds and os.path.isfile(one.value):
            yield ("map", *line.put(one.place, one.words, "--points", one.value)[line.start :])


def _with_commas(line: TypedLine) -> Iterator[Words]:
    """Pipe a table with commas for the blanks between its cells, and without the # before its names."""
    for option, typed, _, place, count, _ in typed_values(line):
        if option == "--points" and os.path.isfile(typed):
            sender = f"sed 's/^[# ]*//; s/ *$//; s/  */,/g' {shlex.quote(typed)}"
            yield PipedWords.sent_by(sender, line.put(place, count, "--points", "-"))


_STEPS = re.compile(rf"\s*({SIGNED})\s*:\s*({SIGNED})\s*:\s*({SIGNED})\s*")
_SPACED = re.compile(
    rf"\s*(?:\w+\.)?(?P<name>linspace|arange|range)\(\s*({SIGNED})\s*,\s*({SIGNED})\s*(?:,\s*({SIGNED})\s*)?\)\s*"
)
_DOTTED = re.compile(rf"\s*({SIGNED})\s*(?:\.\.|:)\s*({SIGNED})\s*")
"""Ranges of numbers: `-3:0.5:3` of MATLAB, calls of NumPy, and one without a step."""


def _rows_of_values(line: TypedLine, said: str) -> Iterator[Words]:
    """Pipe numbers in the place of a file, `--points -3:0.5:3` or `--points 1,2,3`, as rows of one variable."""
    is_no_file = "does not say what format the file is in" in said or said.startswith("there is no file")
    if line.command != "map" or not is_no_file or len(line.variables) != 1:
        return
    for option, typed, _, place, count, _ in typed_values(line):
        if option != "--points":
            continue
        rest = line.put(place, count, "--points", "-")
        if (steps := _steps(typed)) is not None:
            yield PipedWords.sent_by(f"seq {' '.join(steps)}", rest)
        elif len(points := parts_of(typed)) > 1 and all(map(NUMBER.fullmatch, points)):
            yield PipedWords.with_lines(rest, points)


def _steps(typed: str) -> tuple[str, str, str] | None:
    """Return the first number of a range, its step and the last one; None of anything else.

    >>> _steps("-3:0.5:3"), _steps("np.linspace(0, 1, 5)"), _steps("0..10"), _steps("x.csv")
    (('-3', '0.5', '3'), ('0', '0.25', '1'), ('0', '1', '10'), None)
    >>> _steps("arange(0, 1, 0.25)")
    ('0', '0.25', '0.75')
    """
    if (found := _STEPS.fullmatch(typed)) is not None:
        first, step, last = found.groups()
    elif (found := _DOTTED.fullmatch(typed)) is not None:
        (first, last), step = found.groups(), "1"
    elif (found := _SPACED.fullmatch(typed)) is not None:
        first, last, third = found.groups()[1:]
        if found["name"] == "linspace":
            count = float(third or 50)
            step = f"{(float(last) - float(first)) / max(1.0, count - 1):.12g}"
        else:
            step = third or "1"
            steps = math.ceil((float(last) - float(first)) / float(step) - 1e-9) - 1 if float(step) else 0
            last = f"{float(first) + steps * float(step):.12g}"  # before the end, which does not belong to it
    else:
        return None
    return (first, step, last) if float(step) != 0 else None
