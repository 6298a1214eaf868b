"""Values of options as they were typed, with what writes others in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradcli.cli.options import OptionKind
from gradcli.cli.suggestions.typed_line import TypedLine, Words

OF_VALUES = (OptionKind.INPUTS, OptionKind.VALUES, OptionKind.DIRECTIONS, OptionKind.VECTOR)
OF_TEXTS = (OptionKind.TEXT, OptionKind.TEXTS)
LABELLED = re.compile(r"\s*[^\W\d]\w*\s*=(?!=)")


class TypedValue(NamedTuple):
    """A value of an option, as typed.

    Attributes:
        option: The name of the option.
        typed: The value.
        kind: Of the option.
        place: Of the first word of both.
        words: The number of words of both.
        put: Writes other values of the option in its place.
    """

    option: str
    typed: str
    kind: OptionKind
    place: int
    words: int
    put: Callable[..., Words]


def typed_values(line: TypedLine) -> Iterator[TypedValue]:
    """Generate the values of the options of a line."""
    for place, option in line.values.items():
        attached = line.flags.get(place, "")
        typed = line.words[place].removeprefix(f"{attached}=") if attached else line.words[place]
        back = 0 if attached else 1

        def put(*values: str, option: str = option, first: int = place - back, count: int = 1 + back) -> Words:
            return line.put(first, count, *(word for value in values for word in (option, value)))

        yield TypedValue(option, typed, line.kinds[option], place - back, 1 + back, put)


def words_next_to(line: TypedLine, place: int) -> list[int]:
    """List the places of the words directly after a value, which are neither options nor the expression."""
    found = list[int]()
    while place + 1 + len(found) in line.others:
        found.append(place + 1 + len(found))
    is_last = bool(found) and found[-1] == line.others[-1] and line.others[0] in found
    return found[:-1] if is_last else [n for n in found if n != line.others[0] or len(line.others) > len(found)]
