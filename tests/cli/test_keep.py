"""`map --keep`: what the input holds beside numbers, in every format that can hold it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Command


def test_numbers_that_json_has_not_are_its_strings(gradcli: Command, folder: Path) -> None:
    """Bytes that are no text are marks of it."""
    (folder / "in.csv").write_bytes(b"x,\xff\nnan,\xfe\n-inf,a\n")
    run = gradcli("map", "2*x", "--points", "in.csv", "--keep", "-o", "out.jsonl")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert (run.code, [row["x"] for row in rows]) == (0, ["NaN", "-Infinity"])
    assert [row["\ufffd"] for row in rows] == ["\ufffd", "a"]
