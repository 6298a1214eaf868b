"""Lines of the user's code in findings about a value that has no name there, or a long one."""

from __future__ import annotations

import re

from gradcli.crosscheck.judge import Judgement
from gradcli.parts.running.recorded_function import RecordedFunction
from gradcli.results import Entry

LONG = 40
"""Characters of a value's text above which its line in the code is said too."""

_MADE_UP = re.compile(r"\bt_\d+\b")
"""Name that a recording gives to a value which is used twice and has none in the code."""


def with_lines_of_code(judgement: Judgement, recorded: RecordedFunction) -> Judgement:
    """Say after a value in the notes of findings where it stands in the code, unless its text is short and the user's.

    Args:
        judgement: Of a function of code.
        recorded: The function.
    """
    if not any(entry.note for entry in (*judgement.entries, *judgement.findings)):
        return judgement
    program = recorded.program
    places = {
        program.text[span.start : span.stop]: place
        for span, place in recorded.recorder.places_of(program).items()
        if place.where
    }
    texts = sorted((text for text in places if len(text) > LONG or _MADE_UP.search(text)), key=len, reverse=True)

    def told(entry: Entry) -> Entry:
        text = next((text for text in texts if text in entry.note), "")
        if not text or places[text].where in entry.note:
            return entry
        return entry.judged(note=entry.note.replace(text, f"{text}{places[text]}", 1))

    return judgement.changed(told) if texts else judgement
