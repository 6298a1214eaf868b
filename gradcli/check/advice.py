"""What to do about numbers that cannot be trusted: where they went wrong, and how to write the function instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gradcli.check.diagnosis import Diagnosis, Scene, lost, poisoned
from gradcli.check.entry import Entry, Place
from gradcli.check.judge import Judgement
from gradcli.check.point import Point
from gradcli.check.summary import MAX_FINDINGS, summarize, worth_listing
from gradcli.results import Array

OUT_OF_RANGE = frozenset(["underflow", "overflow"])
"""What rounding does to numbers on the way back, which the balls of a run forward do not cover."""


def diagnosed(
    point: Point, judgement: Judgement, scene: Scene, v: Array | None
) -> tuple[Judgement, tuple[Diagnosis, ...]]:
    """The judgement with the operation at fault in the notes of its findings, and the diagnoses, worst first.

    A number that disagrees because torch's backward pass left the range of the dtype has lost its digits.

    Args:
        point: The Program and its inputs.
        judgement: What was decided.
        scene: The function as torch runs it.
        v: The gradient vector, if there is one.
    """
    found: dict[Place, Entry] = {}
    diagnoses: list[Diagnosis] = []
    for entry in _looked_into(judgement.entries):
        diagnosis = poisoned(scene, entry, v) if entry.verdict == "nan-trap" else lost(scene, entry, v)
        if entry.verdict == "disagree":
            if diagnosis.kind not in OUT_OF_RANGE:
                continue
            entry_now = replace(entry, verdict="inaccurate", note=diagnosis.note)
        else:
            entry_now = replace(entry, note=f"{entry.note}: {diagnosis.note}" if diagnosis.note else entry.note)
        diagnoses.append(diagnosis)
        found[entry.place] = entry_now
    return (_reworded(point, judgement, found) if found else judgement), tuple(diagnoses)


def _looked_into(entries: Sequence[Entry]) -> list[Entry]:
    """What is listed and may have an explanation, and the entries of vᵀJ that come from such an entry of J."""
    listed = [e for e in worth_listing(entries) if e.verdict in ("inaccurate", "nan-trap", "disagree")][:MAX_FINDINGS]
    columns = {(e.variable, e.column) for e in listed if e.verdict == "disagree" and e.row >= 0}
    return listed + [e for e in entries if e.verdict == "disagree" and e.row < 0 and (e.variable, e.column) in columns]


def _reworded(point: Point, judgement: Judgement, found: Mapping[Place, Entry]) -> Judgement:
    def now(entries: Sequence[Entry]) -> tuple[Entry, ...]:
        return tuple(found.get(entry.place, entry) for entry in entries)

    parts = tuple(replace(part, decided=now(part.decided)) for part in judgement.parts)
    check, entries = summarize(point, parts)
    return replace(judgement, check=check, entries=entries, parts=parts)
