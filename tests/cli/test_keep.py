"""`map --keep`: what the input holds beside numbers, in every format that can hold it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Command


def test_numbers_that_json_has_not_are_its_strings(gradcli: Command, folder: Path) -> None:
    """Bytes that are no text are marks of it."""
    (folder / "in.csv").write_bytes(b"x,\xff\nnan,\xfe\n-inf,a\n")
    run = gradcli("map", "2*x", "--points", "in.csv", "--keep", "-o", "out.jsonl")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert (run.code, [row["x"] for row in rows]) == (0, ["NaN", "-Infinity"])
    assert [row["\ufffd"] for row in rows] == ["\ufffd", "a"]


RECORDS = np.array(
    [([1, 2], 'a,"b', "2026-11-21", b"q\xff", [b"1", b"2"]), ([3, 4], "c", "NaT", b"r", [b"3", b""])],
    dtype=[("x", "f8", (2,)), ("name", "U5"), ("day", "M8[D]"), ("raw", "S3"), ("two", "S1", (2,))],
)


@pytest.mark.parametrize("form", ["npy", "npz"])
def test_texts_and_dates_in_arrays_are_kept(form: str, gradcli: Command, folder: Path) -> None:
    """In every format; as variables they are refused by name."""
    source = f"in.{form}"
    if form == "npy":
        np.save(source, RECORDS)
    else:
        columns: dict[str, Any] = {name: RECORDS[name] for name in RECORDS.dtype.names or ()}
        np.savez(source, **columns)
    words = ["map", "sum(x)", "--points", source, "--wrt", "x", "--keep"]
    text = gradcli(*words).out.splitlines()
    assert text[0] == "x[0],x[1],name,day,raw,two[0],two[1],y,dy_dx0,dy_dx1"
    assert text[1:] == ['1.0,2.0,"a,""b",2026-11-21,q\ufffd,1,2,3.0,1.0,1.0', "3.0,4.0,c,NaT,r,3,,7.0,1.0,1.0"]
    row = json.loads(gradcli(*words, "--output-format", "jsonl").out.splitlines()[0])
    assert row == {
        **{"x": [1, 2], "name": 'a,"b', "day": "2026-11-21", "raw": "q\ufffd", "two": ["1", "2"]},
        **{"y": 3, "dy_dx0": 1, "dy_dx1": 1},
    }
    for into in ("npy", "npz"):
        assert gradcli(*words, "-o", f"out.{into}").code == 0
        found = np.load(f"out.{into}")
        for name in RECORDS.dtype.names or ():
            np.testing.assert_array_equal(found[name], RECORDS[name])
    for name, what in (("name", "text"), ("day", "dates")):
        run = gradcli("map", f"2*{name}", "--points", source, "-o", "none.csv")
        assert (run.code, f"holds {what}" in run.err, (folder / "none.csv").exists()) == (2, True, False)
        assert name in run.err
