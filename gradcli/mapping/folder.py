"""A folder of parts: which of them are whole, what is known of them, and the manifest when all are there.

A part is written under another name and renamed, so that what has its name is whole, and its name follows from its
piece, so that a part that is made twice is there once.  What is known of the parts goes line by line to a journal,
from which a run that was ended goes on; the manifest replaces it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors import InputError
from gradcli.files.atomic import replacing
from gradcli.results import Check

if TYPE_CHECKING:
    from gradcli.files.several import PointsFile
    from gradcli.questions.streaming import Tally

MANIFEST, JOURNAL = "_gradcli.json", "_gradcli.journal"

_TAIL = 2**16
"""Bytes at the end of a file that its checksum is of, unless it has a footer that says its length."""


@dataclass(frozen=True)
class Part:
    """A part that is whole.

    Attributes:
        name: Of its file.
        input: The file that its rows are of.
        rows: The first of them, and the last one if it is known.
        tally: The rows that went by.
        size: Bytes of its file.
        sha256: Of those.
    """

    name: str
    input: str
    rows: tuple[int, int | None]
    tally: Tally
    size: int
    sha256: str

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest says of it."""
        one = self.tally
        counts = {"read": one.read, "written": one.written, "faulty": one.faulty, "first_fault": one.first or None}
        return {"name": self.name, "input": self.input, "rows": list(self.rows), **counts,
                "bytes": self.size, "sha256": self.sha256}  # fmt: skip


def input_facts(file: PointsFile) -> dict[str, Any]:
    """The path, the size, and the checksum of the end of a file, which is that of its footer in Parquet."""
    with open(file.path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 8))
        end = stream.read(8)
        tail = int.from_bytes(end[:4], "little") + 8 if end.endswith(b"PAR1") else _TAIL
        stream.seek(max(0, size - tail))
        return {"path": file.path, "bytes": size, "footer_sha256": hashlib.sha256(stream.read()).hexdigest()}


class Folder:
    """The folder that the parts of one run go to.

    Args:
        path: The folder, which is made if it is not there.
        plan: What the run does, by which another run knows it again.
        resume: Whether to go on with the parts that are there.

    Attributes:
        done: The parts that are whole, by name.

    Raises:
        InputError: There are parts, and nobody said to go on with them; or they are of another run.
        OSError: The folder cannot be made or read.
    """

    def __init__(self, path: str, plan: Mapping[str, Any], *, resume: bool) -> None:
        self.path, self._plan = path, json.loads(json.dumps(plan, default=_as_json))
        os.makedirs(path, exist_ok=True)
        self.done: dict[str, Part] = {}
        found = sorted(name for name in os.listdir(path) if not name.startswith("."))
        known = next((name for name in (MANIFEST, JOURNAL) if name in found), None)
        if found and not resume:
            what = f"the folder '{path}' is not empty: it has {found[0]}"
            hint = (
                "go on with the run that made it by --resume" if known else "name a folder that is empty, or none yet"
            )
            raise InputError(what, hint=hint)
        if resume and known:
            self._go_on(known)
        elif resume and found:
            raise InputError(f"the folder '{path}' has no run to go on with: it has no {JOURNAL}")
        self._journal = open(os.path.join(path, JOURNAL), "a", encoding="utf-8")  # noqa: SIM115 (closed in finish)
        if not (resume and known == JOURNAL):
            self._write({"plan": self._plan})
            for part in self.done.values():
                self.add(part)

    def _go_on(self, known: str) -> None:
        """Take over the parts of the run before."""
        lines = Path(self.path, known).read_text(encoding="utf-8").splitlines(keepends=True)
        # The last line may have been cut short, when the run was.
        whole = [json.loads(line) for line in lines if line.endswith("\n")]
        plan = whole[0]["plan"] if whole else self._plan
        for key in self._plan:
            if plan.get(key) != self._plan[key]:
                message = f"the folder '{self.path}' is of a run with another {key}: {_brief(plan.get(key))}"
                raise InputError(message, hint="give the same words again with --resume, or name another folder")
        records = whole[0]["parts"] if known == MANIFEST and whole else [line["part"] for line in whole[1:]]
        for facts in records:
            path = os.path.join(self.path, facts["name"])
            if os.path.isfile(path) and os.path.getsize(path) == facts["bytes"]:
                self.done[facts["name"]] = _part(facts)
        if known == JOURNAL and lines and not lines[-1].endswith("\n"):
            os.truncate(os.path.join(self.path, JOURNAL), sum(len(line.encode()) for line in lines[:-1]))

    def add(self, part: Part) -> None:
        """Note a part that is whole."""
        self.done[part.name] = part
        sample = part.tally.sample
        self._write({"part": part.facts | ({"sample": sample.facts()} if sample else {})})

    def finish(self, parts: Iterable[Part], facts: Mapping[str, Any], check: Check | None) -> None:
        """Write the manifest, in the place of the journal, and remove what ended runs left half written."""
        verdict = None if check is None else {
            "verdict": check.verdict, "entries": check.entries, "checked": check.checked, "chosen": check.chosen,
        }  # fmt: skip
        whole = {"plan": self._plan, **facts, "check": verdict, "parts": [part.facts for part in parts]}
        with replacing(os.path.join(self.path, MANIFEST)) as target:
            target.file.write((json.dumps(whole, default=_as_json) + "\n").encode())
        self.close()
        for name in [JOURNAL, *(one for one in os.listdir(self.path) if one.startswith(".part-"))]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.path, name))

    def close(self) -> None:
        """Close the journal, which stays."""
        self._journal.close()

    def _write(self, record: Mapping[str, Any]) -> None:
        self._journal.write(json.dumps(record, default=_as_json) + "\n")
        self._journal.flush()


def _brief(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _as_json(value: Any) -> Any:
    """An array as nested lists, or a large one by its checksum."""
    array = np.asarray(value)
    return array.tolist() if array.size <= 64 else hashlib.sha256(array.tobytes()).hexdigest()


def _part(facts: Mapping[str, Any]) -> Part:
    from gradcli.crosscheck.many_points import Sample
    from gradcli.questions.streaming import Tally

    first, last = facts["rows"]
    sample = Sample.of(facts["sample"]) if "sample" in facts else None
    tally = Tally(facts["read"], facts["written"], facts["faulty"], facts["first_fault"] or "", sample)
    return Part(facts["name"], facts["input"], (first, last), tally, facts["bytes"], facts["sha256"])
