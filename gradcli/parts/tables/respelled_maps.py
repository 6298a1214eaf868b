"""A table that is sent, where a command line lacks it."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.cli.console import is_sent
from gradcli.cli.typed_line import TypedLine, Words
from gradcli.errors import GradcliError
from gradcli.trial import SpelledGroup


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate a line that reads the table from standard input, `gradcli map "a*x" < data.csv`."""
    if error.text.message == "missing option '--points'" and is_sent():
        yield SpelledGroup([(*line.words, "--points", "-")], is_sure=True)
