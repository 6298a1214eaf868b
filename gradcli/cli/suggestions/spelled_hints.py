"""Command lines that the hint of an error spells in words: `leave out --order`, `did you mean 'x'?`, `write dim=0`.

They are made from the words of the hint alone, and are read before anybody sees them
(`gradcli.cli.suggestions.tried_hints`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.cli.suggestions.typed_line import TypedLine, Words
from gradcli.errors import GradcliError
from gradcli.language.text.signs import NAME

_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
_FORM = re.compile(r"\b(?:[A-Z]{3,}|NAME|FILE)\b|\.\.\.")
"""Placeholder of something that nobody has typed."""

_ADDED = re.compile(r"(?<![\w-])(--[a-z][a-z-]*)((?: (?!-)[^\s,;:]+)?)")
_MEANT = re.compile(r"did you mean '([^']+)'\?")
_QUOTED = re.compile(r"'([^']+)'")
_WRITTEN = re.compile(r"write (?P<all>[^;]+)")
_WHY = re.compile(r"\s+(?:for|as|in place of|with|at the|where|to)\s.*", re.DOTALL)


def lines_of_hint(line: TypedLine, error: GradcliError) -> Iterator[Words]:
    """Generate the command lines that do what the hint of an error says.

    Args:
        line: The command line.
        error: Its error.
    """
    said, hint = error.in_shell.message, error.in_shell.hint or ""
    if "exclude each other" in said and "in place of" not in hint:
        for flag in _OPTION.findall(said):
            yield from _without(line, flag)
    elif "leave out" in hint:
        for flag in _OPTION.findall(hint.partition("leave out")[2].partition(",")[0].partition(" for ")[0])[:1]:
            yield from _without(line, flag)
    if (meant := _MEANT.search(hint)) is not None:
        for word in dict.fromkeys(_QUOTED.findall(said)):
            spelled = re.compile(rf"(?<![\w.]){re.escape(word)}(?!\w)")
            yield tuple(spelled.sub(meant[1].replace("\\", r"\\"), one) for one in line.words)
    if hint.startswith(("add ", "give --", "give values", "give the sizes")) and not _FORM.search(hint):
        for flag, value in _ADDED.findall(hint):
            if flag in line.kinds and flag not in line.flags.values():
                yield (*line.words, flag, *value.split())
    yield from _replaced(line, error, hint)


def _without(line: TypedLine, flag: str) -> Iterator[Words]:
    """Leave out an option with its value."""
    places = [place for place, known in line.flags.items() if known == flag]
    for place in places:
        has_word = place + 1 in line.values
        yield tuple(line.without(*((place, place + 1) if has_word and place not in line.values else (place,))))


def _replaced(line: TypedLine, error: GradcliError, hint: str) -> Iterator[Words]:
    """Write what a hint says in the place of an error, where it names nothing that the text has not."""
    found, place = _WRITTEN.match(hint), error.place
    if found is None or place is None or place.source != "EXPR" or not line.others or place.text != line.text:
        return
    from gradcli.language.ops import find

    start, stop = place.span
    known = {*re.findall(NAME, line.text), *line.text}  # names, and letters of joined ones
    before = re.findall(r"([^\W\d]\w*)\W*$", line.text[:start])
    for one in re.split(r",? or ", found["all"].replace("(...)", "()")):
        written = _WHY.sub("", one).strip().rstrip(",")
        if before and written.startswith(before[0]):
            continue  # it is a form of all of the text there
        is_known = all(name in known or find(name) is not None for name in re.findall(NAME, written))
        if written and is_known and not _FORM.search(written):
            yield line.put(line.others[0], 1, line.text[:start] + written + line.text[stop:])
