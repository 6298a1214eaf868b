"""Plots that may be meant by a command line that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.cli.suggestions.respelling import with_euler
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.cli.suggestions.typed_ranges import finite_ranges
from gradcli.errors import GradcliError
from gradcli.registry import all_commands
from gradcli.trial import SpelledGroup


def respelled(line: TypedLine, error: GradcliError) -> Iterator[SpelledGroup[Words]]:
    """Generate plots by other names, of several functions, over one of several variables and a part of infinite ranges.

    Where e is one of the variables, it is Euler's number.
    """
    said = error.text.message
    if line.words[:1] and line.words[0] in all_commands()["plot"].near:
        yield SpelledGroup([("plot", *line.words[1:])])
    if line.command == "plot":
        yield SpelledGroup(finite_ranges(line, is_picture=True))
        yield SpelledGroup(_curves(line))
    if said.startswith("a plot is over one variable") and line.others:
        yield SpelledGroup([with_euler(line)] if " e, " in said else [], is_sure=True)
        first, *others = line.variables
        values = [word for name in others for word in ("--at", f"{name}=1")]
        yield SpelledGroup([(*line.words, "--in", f"{first}=-3..3", *values)])


def _curves(line: TypedLine) -> Iterator[Words]:
    """Draw several functions, `plot "x^2" "x^3"`, and a range that stands next to the function."""
    words = [line.words[n] for n in line.others]
    together = re.fullmatch(r"(.+),\s*[({]\s*([^\W\d]\w*)\s*,\s*([^,{}]+?)\s*,\s*([^,{}]+?)\s*[)}]", line.text)
    if len(words) > 1 and words[1] == "from" and "to" in words[2:]:
        yield (*line.without(*line.others[1:]), "--in", "..".join(one for one in words[2:] if one != "to"))
    elif len(words) > 1 and all(re.search("[a-zA-Z]", one) for one in words):
        yield line.put(line.others[0], len(words), f"[{', '.join(words)}]")
    if together is not None:
        function, name, low, high = together.groups()
        yield (*line.put(line.others[0], 1, function), "--in", f"{name}={low}..{high}")
