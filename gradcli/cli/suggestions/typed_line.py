"""The words of a command line that may be wrong: its command, options with their values, and what is left."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from gradcli import trial
from gradcli.cli.default_command import other_names, with_command
from gradcli.cli.expression import parted
from gradcli.cli.options import OptionKind
from gradcli.cli.signatures import shell_options
from gradcli.errors import GradcliError
from gradcli.registry import all_commands

Words = tuple[str, ...]
"""The words of a command line after `gradcli`."""


class PipedWords(Words):
    """The words of a command line, and the command whose lines are piped to it.

    Attributes:
        sender: That command.
    """

    sender: str

    @classmethod
    def sent_by(cls, sender: str, words: Iterable[str]) -> PipedWords:
        """Pipe the lines of a command to a command line."""
        found = cls(words)
        found.sender = sender
        return found

    @classmethod
    def with_lines(cls, words: Iterable[str], sent: Iterable[str]) -> PipedWords:
        """Pipe lines to a command line."""
        return cls.sent_by(f"printf '%s\\n' {' '.join(sent)}", words)


@dataclass(frozen=True)
class TypedLine:
    """A command line in its parts.

    Attributes:
        words: The words as typed.
        command: The command that they mean.
        start: The number of words that name the command.
        flags: The options, by the places of their words.
        values: The places of the words that hold a value, with the option; the option may be in the same word.
        unknown: The places of options that the command has not.
        others: The places of the words that are neither options nor values: the expression, and what is too much.
    """

    words: Words
    command: str
    start: int
    flags: Mapping[int, str]
    values: Mapping[int, str]
    unknown: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def text(self) -> str:
        """The expression; empty where there is none."""
        return self.words[self.others[0]] if self.others else ""

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the expression, as far as it can be read."""
        from gradcli.function import Function
        from gradcli.language.ops import find

        with contextlib.suppress(GradcliError, trial.ReadError), trial.trying():
            return tuple(name for name in Function(self.text).variables if find(name) is None)
        return ()

    @property
    def kinds(self) -> Mapping[str, OptionKind]:
        """The kinds of the options of the command, by their names."""
        return kinds_of(self.command)

    def put(self, place: int, count: int, *words: str) -> Words:
        """Return the words with others in the place of some."""
        return (*self.words[:place], *words, *self.words[place + count :])

    def without(self, *places: int) -> list[str]:
        """Return the words without those at some places."""
        return [word for n, word in enumerate(self.words) if n not in places]

    def named(self, command: str) -> Words:
        """Return the words with another command."""
        return (*command.split(), *self.words[self.start :])


def kinds_of(command: str) -> Mapping[str, OptionKind]:
    """Return the kinds of the options of a command, by their names; nothing of no command."""
    found = all_commands().get(command)
    options = shell_options(found) if found is not None else ()
    return {flag: option.kind for option in options for flag in option.flags}


def typed_line(words: Words) -> TypedLine:
    """Tell apart the words of a command line."""
    try:
        command, *_ = with_command(words, all_commands()) or [""]
    except GradcliError:
        command = words[0] if words else ""
    is_named = bool(words) and (words[0] == command or words[0] in other_names())
    kinds, start = kinds_of(command), int(is_named)
    flags, values, unknown, others = dict[int, str](), dict[int, str](), list[int](), list[int]()
    n = start
    while n < len(words):
        name, value = parted(words[n], kinds)
        if name in kinds:
            flags[n] = name
            takes = kinds[name] is not OptionKind.SWITCH
            if takes and value is None and n + 1 < len(words):
                n += 1
            if takes:
                values[n] = name
        else:
            (unknown if words[n].startswith("--") and len(words[n]) > 2 else others).append(n)
        n += 1
    return TypedLine(words, command, start, flags, values, tuple(unknown), tuple(others))
