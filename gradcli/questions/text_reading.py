"""Texts of functions as the questions read them: with what the parts read, and with torch to be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from gradcli import trial
from gradcli.arrays import AnyArray, Array
from gradcli.errors import GradcliError
from gradcli.language import function_text
from gradcli.language.function_text import TextReader
from gradcli.language.program.wengert import Shape
from gradcli.language.snippet_result import Snippet
from gradcli.parts import all_parts

if TYPE_CHECKING:
    from gradcli.language.program.wengert import AskedMeaning, Call


def read(
    text: str,
    *,
    given: frozenset[str] = frozenset(),
    shapes: Mapping[str, Shape] = MappingProxyType({}),
    shares: bool = True,
    values: Mapping[str, AnyArray] | None = None,
    is_of_matrices: bool = False,
) -> Snippet:
    """Read the function of a text as `function_text.read` does, with what the parts read.

    Raises:
        GradcliError: As for `function_text.read`.
    """
    readers = _text_readers()
    how = {"shares": shares, "values": values, "ask": ask_torch, "is_of_matrices": is_of_matrices}
    return function_text.read(text, readers, given=given, shapes=shapes, **how)  # type: ignore[arg-type]


def read_whole(text: str) -> Snippet:
    """Read the function of a text before any values are known, as `function_text.read_whole` does.

    Raises:
        GradcliError: As for `function_text.read`.
    """
    return function_text.read_whole(text, _text_readers(), ask_torch)


def advise(error: GradcliError) -> None:
    """Give the error of a text the spellings of it that can be read."""
    if error.place is not None:
        function_text.advise(error, error.place.text, _text_readers(), ask_torch)


def _text_readers() -> list[TextReader]:
    return [reader for part in all_parts() if (reader := part.text_reader()) is not None]


def ask_torch(
    call: Call, shapes: tuple[Shape, ...], fixed: Sequence[Array | None] = ()
) -> Sequence[AskedMeaning | None]:
    """Ask torch for the operations that a call of one of its functions consists of."""
    trial.end()
    from gradcli.recording.recorder import Recorder
    from gradcli.recording.torch_meanings import ask

    return ask(Recorder, call, shapes, fixed)
