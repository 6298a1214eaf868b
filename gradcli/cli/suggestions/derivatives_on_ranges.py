"""Derivatives in words on a range, `range "diff(x^3 - x, x)" --in x=-2..2`, as questions for which it is in the answer.

The bounds of a function include those of its derivatives, and a statement to prove may name them, `dy/dx <= 11`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.cli.default_command import DERIVATIVE
from gradcli.cli.suggestions.derivatives_in_words import derivative, in_parentheses, method
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.registry import all_commands

_OF_RANGES = "range"

IN_BOUNDS = "the bounds of a function include those of its derivatives"
"""Sentence for who asks for the range of a derivative."""

_NOT_OF_THIS = ("--zeros", "--full", "--claim")
"""Options that ask something of y, which nobody asked of the derivative."""


def derivatives_on_ranges(line: TypedLine) -> Iterator[Words]:
    """Write the function for its derivative: of `range`, and of `check` with what is to be proved of dy/dx."""
    options = line.flags.values()
    is_on_range = line.command in ("check", _OF_RANGES) and "--in" in options and "--claim" not in options
    if not (line.others and is_on_range) or _OF_RANGES not in all_commands():
        return
    for function, by in _derivatives(line.text):
        proved = [n for n, option in line.values.items() if option == "--prove" and n not in line.flags]
        if not proved:
            dropped = {n for n, option in line.flags.items() if option in _NOT_OF_THIS} | {*line.others}
            yield (_OF_RANGES, function, *line.without(*dropped)[line.start :])
        elif by:
            words = list(line.words)
            for n in proved:
                words[n] = re.sub(r"(?<!\w)y(?!\w)", f"dy/d{by}", words[n])
            words[line.others[0]] = function
            yield tuple(words)


def _derivatives(text: str) -> Iterator[tuple[str, str]]:
    """Generate what a text asks the first derivative of, and by what, if it says so."""
    found = derivative(in_parentheses(text), DERIVATIVE) or method(text)
    if found is not None and found[0] == "grad" and found[2:3] in ([], ["--wrt"]):
        yield found[1], "".join(found[3:])


def on_bounds_of_derivative(line: TypedLine, words: Words) -> str:
    """Say that the bounds of a function include those of the derivative that was asked for; else nothing."""
    is_of_derivative = words[:2] in {one[:2] for one in derivatives_on_ranges(line) if one[0] == _OF_RANGES}
    return f"{IN_BOUNDS}; " if is_of_derivative else ""
