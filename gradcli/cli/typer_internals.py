"""What gradcli needs of Typer that Typer does not promise: the click that it brings, and its completion.

Typer has its own click since 0.26, without a public name.  A test names each thing here, so that a new Typer that
moves one fails there, and not in a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from typer import _click as click
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script
from typer._types import TyperChoice
from typer.completion import shell_complete

__all__ = ["NumberOrWord", "TyperChoice", "click", "completion_init", "get_completion_script", "shell_complete"]


class NumberOrWord(click.types.IntRange):
    """A whole number between bounds, or a word in its place."""

    def __init__(self, low: int, high: int, *words: str) -> None:
        super().__init__(low, high)
        self.words = words

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Keep a word of the option; read any other as a number."""
        return value if value in self.words else super().convert(value, param, ctx)


class LaterChoice(TyperChoice[str]):
    """A choice whose words are computed when the option is read, so that declaring it imports no part."""

    def __init__(self, words: Callable[[], Iterable[str]]) -> None:
        self._words, self.case_sensitive = words, True

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The words."""
        return tuple(self._words())


def one_of(words: Iterable[str]) -> TyperChoice[str]:
    """Return the type of an option that takes one of some words."""
    return TyperChoice([*words])
