"""Plots that may be meant by a command line that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.cli.respelled_values import finite_ranges
from gradcli.cli.respelling import with_euler
from gradcli.cli.typed_line import TypedLine, Words
from gradcli.errors import GradcliError
from gradcli.trial import SpelledGroup


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate plots over one of several variables, and over a part of an infinite range.

    Where e is one of the variables, it is Euler's number.
    """
    said = error.text.message
    if line.command == "plot":
        yield SpelledGroup(finite_ranges(line, is_picture=True))
    if said.startswith("a plot is over one variable") and line.others:
        yield SpelledGroup([with_euler(line)] if " e, " in said else [], is_sure=True)
        first, *others = line.variables
        values = [word for name in others for word in ("--at", f"{name}=1")]
        yield SpelledGroup([(*line.words, "--in", f"{first}=-3..3", *values)])
