"""Functions at many points that may be meant by a command line that cannot be read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gradcli.cli.console import is_sent
from gradcli.cli.respelled_options import OPTIONS, unknown_options
from gradcli.cli.respelled_values import LABELLED, NUMBER, parts_of, typed_values
from gradcli.cli.typed_line import PipedWords, TypedLine, Words
from gradcli.errors import GradcliError
from gradcli.trial import SpelledGroup


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate lines that read the table from standard input, or map a function that was asked for at one point."""
    said = error.text.message
    yield SpelledGroup(_points(line, said))
    if said == "missing option '--points'" and is_sent():
        yield SpelledGroup([(*line.words, "--points", "-")], is_sure=True)
    yield SpelledGroup(_tables(line, said))


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


def _tables(line: TypedLine, said: str) -> Iterator[Words]:
    """Map a function over a table that is given as a value, `--at @p.csv`, or as an option, `--data p.csv`."""
    for option, typed, _, place, count, _ in typed_values(line):
        if option == "--at" and "a value alone names no variable" in said and typed.endswith((".csv", ".tsv")):
            yield ("map", *line.put(place, count, "--points", typed.removeprefix("@"))[line.start :])
    for one in unknown_options(line):
        if "--points" in OPTIONS.get(one.name, ()) and "--points" not in line.kinds and os.path.isfile(one.value):
            yield ("map", *line.put(one.place, one.words, "--points", one.value)[line.start :])
