"""A folder of parts: the whole parts, the notes about them, and the manifest at the end.

A part is written under a temporary name and renamed: a file with the name of a part is whole.  The name follows from
the piece of the input: a part that is computed twice is one file.  After each part its counts and its checksum are
written to a note next to it.  `--resume` reads the notes; at the end the manifest replaces them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors import InputError, OutputError
from gradcli.files.atomic import replacing
from gradcli.results import Check
from gradcli.results.record import Record

if TYPE_CHECKING:
    from gradcli.parts.tables.many_points import Sample
    from gradcli.parts.tables.tally import Tally

MANIFEST = "_gradcli.json"

_TAIL = 2**16
"""Bytes at the end of a file that its checksum is of, unless it has a footer that says its length."""


class FolderPart(Record):
    """A part that is whole, as the manifest describes it.

    Attributes:
        name: Of its file.
        input: The file that its rows are of.
        rows: The first of them, and the last one if it is known.
        read: How many rows went by; with `written` and `faulty` as in a tally.
        first_fault: The first row at fault, in words.
        bytes: The size of its file.
        sha256: Of that.
        sample: The rows to judge, which the manifest has of all parts together.
        valueless: The rows at which the function or a derivative is NaN or infinite.
        first_valueless: The first of them.
    """

    name: str
    input: str
    rows: tuple[int, int | None]
    read: int
    written: int
    faulty: int
    first_fault: str | None
    bytes: int
    sha256: str
    sample: Mapping[str, object] | None = None
    valueless: int = 0
    first_valueless: str | None = None

    @classmethod
    def from_rows(cls, path: str, given: str, rows: tuple[int, int | None], tally: Tally) -> FolderPart:
        """Describe a part that was written, and write that next to it."""
        counts = tally.read, tally.written, tally.faulty, tally.first or None
        sample = tally.sample.facts() if tally.sample else None
        folder, name = os.path.split(path)
        none = tally.valueless, tally.first_valueless or None
        part = cls(name, given, rows, *counts, os.path.getsize(path), checksum(path), sample, *none)
        _write(_note(folder, name), vars(part))
        return part

    @property
    def tally(self) -> Tally:
        """The rows that went by."""
        from gradcli.parts.tables.tally import Tally

        first, none = self.first_fault or "", self.first_valueless or ""
        return Tally(self.read, self.written, self.faulty, first, _sample(self.sample), self.valueless, none)


def input_facts(path: str) -> dict[str, Any]:
    """Describe an input: its path, its size, and the checksum of its end, in Parquet of its footer."""
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 8))
        end = stream.read(8)
        tail = int.from_bytes(end[:4], "little") + 8 if end.endswith(b"PAR1") else _TAIL
        stream.seek(max(0, size - tail))
        facts = {"path": path, "bytes": size, "footer_sha256": hashlib.sha256(stream.read()).hexdigest()}
    # Without a footer, an edit in the middle of the file changes neither its size nor its end.
    return facts if end.endswith(b"PAR1") else facts | {"modified_ns": os.stat(path).st_mtime_ns}


class Folder:
    """The folder that the parts of one run go to.

    Args:
        path: The folder, which is made if it is not there.
        plan: The expression, the options and the inputs; a run is resumed only with an equal plan.
        resume: Whether to go on with the parts that are there.

    Attributes:
        done: The parts that are whole, by name.
        sample: The rows to judge of an earlier run that was complete.

    Raises:
        InputError: The folder is not empty and `resume` is false, or it is of a run with another plan.
        OSError: The folder cannot be made or read.
    """

    def __init__(self, path: str, plan: Mapping[str, object], *, resume: bool) -> None:
        self.path, self._plan = path, json.loads(json.dumps(plan, default=_as_json))
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as error:
            raise OutputError(f"the folder '{path}' cannot be made: {str(error.strerror).lower()}") from None
        self.done: dict[str, FolderPart] = {}
        self.sample: Sample | None = None
        manifest = os.path.join(path, MANIFEST)
        found = sorted(name for name in os.listdir(path) if not name.startswith("."))
        if found and not (resume and MANIFEST in found):
            is_run = MANIFEST in found
            hint = (
                "go on with the run that made it by --resume" if is_run else "name a folder that is empty, or none yet"
            )
            raise InputError(f"the folder '{path}' is not empty: it has {found[0]}", hint=hint)
        if found:
            try:
                self._go_on(json.loads(Path(manifest).read_text(encoding="utf-8")), found)
            except (ValueError, KeyError, TypeError, AttributeError):
                said = f"the manifest {MANIFEST} of '{path}' is not one of a run, or is damaged"
                raise InputError(said, hint="name another folder, or remove this one") from None
        _write(manifest, {"plan": self._plan, "complete": False})

    def _go_on(self, manifest: Mapping[str, Any], found: Iterable[str]) -> None:
        """Take over the parts of the run before."""
        for key, value in self._plan.items():
            if manifest["plan"].get(key) != value:
                whose = (
                    f"the folder '{self.path}' is of a run with another '{key}': {_brief(manifest['plan'].get(key))}"
                )
                raise InputError(whose, hint="give the same words again with --resume, or name another folder")
        known = {facts["name"]: facts for facts in manifest.get("parts", ())}
        self.sample = _sample(manifest.get("sample"))
        for name in found:
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # a part of which nothing is known
                if os.path.isfile(note := _note(self.path, name)):
                    known[name] = json.loads(Path(note).read_text(encoding="utf-8"))
                if checksum(os.path.join(self.path, name)) == known[name]["sha256"]:
                    self.done[name] = FolderPart(**known[name])

    def finish(
        self, parts: Iterable[FolderPart], facts: Mapping[str, object], check: Check | None, sample: Sample | None
    ) -> None:
        """Write the manifest; remove the notes and the temporary files of workers that were killed."""
        kept = ("verdict", "entries", "checked", "chosen")
        verdict = None if check is None else {fact: getattr(check, fact) for fact in kept}
        own = [{key: fact for key, fact in vars(part).items() if key != "sample"} for part in parts]
        whole = {"plan": self._plan, "complete": True, **facts, "check": verdict, "parts": own}
        whole |= {"sample": sample.facts()} if sample else {}
        _write(os.path.join(self.path, MANIFEST), whole)
        for name in os.listdir(self.path):
            if name.startswith((".part-", "..part-")):  # notes, and what is temporary
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(self.path, name))


def checksum(path: str) -> str:
    """Compute the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _note(folder: str, name: str) -> str:
    return os.path.join(folder, f".{name}.json")


def _write(path: str, facts: Mapping[str, object]) -> None:
    with replacing(path) as file:
        file.write((json.dumps(facts) + "\n").encode())


def _brief(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _as_json(value: object) -> Any:
    """Write an array as nested lists, or a large one by its checksum."""
    array = np.asarray(value)
    return array.tolist() if array.size <= 64 else hashlib.sha256(array.tobytes()).hexdigest()


def _sample(facts: Mapping[str, object] | None) -> Sample | None:
    from gradcli.parts.tables.many_points import Sample

    return Sample.from_facts(facts) if facts else None
