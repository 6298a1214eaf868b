"""A script as it is written: bare text, and a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from gradcli.errors import UsageError
from gradcli.report import Appearance, Screen, rendered
from gradcli.report.document import ScriptText
from gradcli.results import Source


def compose_script(answer: Source, digits: int | None, *, is_full: bool) -> Iterator[ScriptText]:
    """Compose a script, which stays as it is."""
    yield ScriptText(answer.source, answer.language)


def pieces(answer: Source, shown: Appearance) -> Iterator[str]:
    """Write the text of a script."""
    yield rendered(answer, "table", shown.screen)


def write(answer: Source, shown: Appearance, file: BinaryIO) -> None:
    """Write a script to a file.

    Raises:
        UsageError: It is a document.
    """
    if answer.language == "latex":
        raise UsageError(f"-o {shown.path} and --to latex exclude each other", hint="write a .tex")
    _ = file.write(rendered(answer, "table", Screen()).encode())
