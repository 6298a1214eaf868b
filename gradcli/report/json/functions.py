"""The functions of the language as JSON: one object a line, a function each, or a group of a brief list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradcli.report.json.answers import SCHEMA, fields
from gradcli.results import FunctionEntry, FunctionPage, Functions


def objects(answer: Functions) -> Iterator[dict[str, Any]]:
    """What JSON can hold of each function, or of each group of a brief list."""
    head = {"schema": SCHEMA, "command": "functions"}
    for part in answer.parts:
        if isinstance(part, FunctionPage):
            yield head | _entry_fields(part.entry) | _page_fields(part)
        elif part.is_brief:
            yield from (head | {"group": group, "functions": names} for group, names in part.groups)
        else:
            yield from (head | _entry_fields(entry) for entry in part.entries)


def _entry_fields(entry: FunctionEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "group": entry.group,
        "usage": entry.usage,
        "parameters": [
            {"name": p.name, "constant": p.is_constant, "required": p.is_required}
            | ({} if p.is_required else {"default": p.default})
            for p in entry.parameters
        ],
        "aliases": list(entry.aliases),
        "spellings": list(entry.spellings),
        "doc": entry.doc,
        "domain": entry.domain,
        "kinks": list(entry.kinks),
        "step": entry.is_step,
        "caveat": entry.caveat,
    }


def _page_fields(page: FunctionPage) -> dict[str, Any]:
    return {
        "meaning": [({"case": m.case} if m.case else {}) | {"text": m.text} for m in page.meanings],
        "meaning_note": page.meaning_note,
        "inner_kinks": list(page.inner_kinks),
        "derivative": {
            "expression": page.derivative.expression,
            "symbolic": {name: found.text for name, found in page.derivative.symbolic.items()},
            "symbolic_omitted": dict(page.derivative.symbolic_omitted),
            "note": page.derivative_note,
        },
        "example": {"command": page.example_command, "answer": fields(page.example)},
    }
