"""The file of `-o`: what its name says of the format, and what goes into it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gradcli.errors import InputError, OutputError, UsageError
from gradcli.options import FORMATS

if TYPE_CHECKING:
    from typing import BinaryIO

    from gradcli.report.screen import Screen
    from gradcli.results import Answer, Functions, Source

WIDTH = 100
"""Columns of a table in a file."""

TEXT: Mapping[str, str] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".md": "markdown",
    ".tex": "latex",
    ".txt": "table",
}
"""Suffixes of the formats."""

OTHER: Mapping[str, str] = {".npy": "npy", ".npz": "npz", ".py": "py", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid"}
"""Suffixes of what is no format: arrays, a script, a picture's source."""

_ONLY: Mapping[str, str] = {"py": "code", "dot": "graph", "mermaid": "graph"}
"""The command that a kind of file is of."""

_NO_ARRAY = ("check", "graph")
_NO_ARRAYS = ("code", "functions")


@dataclass(frozen=True, slots=True)
class Destination:
    """A file to write.

    Attributes:
        path: As given.
        kind: A format, or `npy`, `npz`, `py`, `dot`, `mermaid`.
    """

    path: str
    kind: str

    @property
    def form(self) -> str:
        """The format of its text; of what is no text, a table."""
        return self.kind if self.kind in FORMATS else "table"


def destination(path: str | None, told: str | None, command: str) -> Destination | None:
    """What to write, as the suffix says, or as the format says where the suffix leaves it open; None without a path.

    Raises:
        InputError: The suffix says nothing, or is not for this command.
        UsageError: The format says something else.
        OutputError: There is no such folder.
    """
    if path is None:
        return None
    suffix = os.path.splitext(path)[1].lower()
    known = TEXT.get(suffix) or OTHER.get(suffix)
    if told is not None and (known is None or suffix == ".txt"):
        known = told
    if known is None:
        named = f"the suffix '{suffix}'" if suffix else "no suffix"
        shown = path or "''"
        message = f"-o {shown} has {named}, and the suffix says what to write"
        raise InputError(message, hint=f"known are {', '.join([*TEXT, *OTHER])}; any other name needs --format")
    if told is not None and known != told:
        raise UsageError(f"-o {path} and --format {told} exclude each other", hint="leave out --format")
    _require_fit(path, known, command)
    _require_place(path)
    return Destination(path, known)


def _require_fit(path: str, kind: str, command: str) -> None:
    """Refuse early what the command has not."""
    only = _ONLY.get(kind, command)
    if only != command:
        raise InputError(f"-o {path} is for gradcli {only}, and not for {command}")
    if kind == "npy" and command in _NO_ARRAY:
        raise InputError(f"what {command} answers is not one array", hint="write an .npz")
    if kind in ("npy", "npz") and command in _NO_ARRAYS:
        raise InputError(f"{command} answers with no arrays", hint="write a .txt or a .json")


def _require_place(path: str) -> None:
    """Refuse, before anything is computed, what cannot be written."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise OutputError(f"'{path}' could not be written: there is no such folder")
    if os.path.isdir(path):
        raise OutputError(f"'{path}' could not be written: it is a folder")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise OutputError(f"'{path}' could not be written: it is read-only")


def save(answer: Answer | Functions | Source, to: Destination, screen: Screen, digits: int | None) -> None:
    """Write the file, whole or not at all.

    Raises:
        GradcliError: The answer has not what the file is for.
        OutputError: The file could not be written.
    """
    from gradcli.files.atomic import replacing

    try:
        with replacing(to.path) as output:
            _write(answer, to, output.file, screen, digits)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"'{to.path}' could not be written: {error.strerror or error}") from error


def _write(
    answer: Answer | Functions | Source, to: Destination, file: BinaryIO, screen: Screen, digits: int | None
) -> None:
    from gradcli import report
    from gradcli.files import saving
    from gradcli.results import Answer, BackwardGraph, Source

    match to.kind, answer:
        case "npy", Answer():
            saving.write_npy(report.primary_array(answer), file)
            return
        case "npz", Answer():
            saving.write_npz(report.named(answer), file)
            return
        case "py", Source(language="latex"):
            raise UsageError(f"-o {to.path} and --to latex exclude each other", hint="write a .tex")
        case "dot" | "mermaid", BackwardGraph(drawing=drawing):
            if drawing not in ("", to.kind):
                raise UsageError(f"-o {to.path} and --to {drawing} exclude each other", hint="leave out --to")
            answer = replace(answer, drawing="dot" if to.kind == "dot" else "mermaid")
    is_one = to.path.lower().endswith(".json")
    for piece in report.pieces(answer, to.form, screen, digits, one_document=is_one):
        file.write(piece.encode("utf-8"))
