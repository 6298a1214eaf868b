"""Two functions that are to be equal, `check "x**2" --equals "x*x"`, by the names that other tools have for it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gradcli.cli.suggestions.respelled_options import unknown_options
from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.errors import GradcliError

_NAMES = frozenset(
    "equals equal equal-to is-equal-to equivalent equivalent-to same same-as identical identity versus vs "
    "against compare compare-to compare-with compared-to".split()
)
"""Names of an option that has another function."""

_OF_CODE = ("::", ".py")


def differences_proved(line: TypedLine) -> Iterator[Words]:
    """Prove that the difference of two functions is 0: `check "x**2 - (x*x)" --in x=-1..1 --prove "y == 0"`."""
    for place, _, name, value, _, count, _ in unknown_options(line):
        if name not in _NAMES or not value or not line.others or is_of_code(line.text, value):
            continue
        difference = f"{line.text} - ({value})"
        ranges = [one for one in line.flags if line.flags[one] == "--in"]
        words = [one for n in ranges for one in line.words[n : n + 2 - (n in line.values)]]
        y = "f" if "y" in line.variables else "y"
        yield ("check", difference, *(words or _ranges(difference)), "--prove", f"{y} == 0")
        yield line.put(place, count, "--claim", value)


def _ranges(text: str) -> Iterator[str]:
    """Write a range of each variable, where the text can be read."""
    from gradcli.function import Function

    with contextlib.suppress(GradcliError):
        for name in Function(text).variables:
            yield from ("--in", f"{name}=-1..1")


def on_compared_code(line: TypedLine) -> str | None:
    """Say how two functions of code are compared; None where none are."""
    for _, _, name, value, *_ in unknown_options(line):
        if name in _NAMES and value and is_of_code(line.text, value):
            return (
                "two functions are compared from Python: gradcli.check(f, x, versus=g); "
                "a function that gives the derivative is named by --claim"
            )
    return None


def is_of_code(*words: str) -> bool:
    """Tell whether one of some words names code."""
    return any(part in word for word in words for part in _OF_CODE)
