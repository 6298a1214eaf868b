"""`map --keep`: what the input holds beside numbers, in every format that can hold it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import Command


def _arrays(path: Path) -> dict[str, Any]:
    found = np.load(path)
    return {name: found[name].tolist() for name in (found if path.suffix == ".npz" else found.dtype.names)}


@pytest.mark.parametrize("into", ["npy", "npz"])
def test_vectors_in_json_are_arrays(into: str, gradcli: Command, folder: Path) -> None:
    """And NaN in a row at fault, whose other cells stay."""
    rows = '{"x": [1, 2], "k": 3}\n{"x": [3, "NaN"], "k": null}\n{"x": [3], "k": 4}\n{"k": 5}\n'
    (folder / "in.jsonl").write_text(rows)
    run = gradcli("map", "sum(x)", "--points", "in.jsonl", "--keep", "--on-error", "nan", "-o", f"out.{into}")
    assert run.code == 0, run.err
    found = _arrays(folder / f"out.{into}")
    np.testing.assert_array_equal(found["x"], [[1, 2], [3, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(found["k"], [3, np.nan, 4, 5])
    np.testing.assert_array_equal(found["y"], [3, np.nan, np.nan, np.nan])


def test_vectors_in_json_are_columns(gradcli: Command, folder: Path) -> None:
    """One for each element, as those of arrays are; empty where a row has other things."""
    (folder / "in.jsonl").write_text('{"x": [1, 2], "n": "a"}\n{"x": [3], "n": [1]}\n{"x": 4}\n')
    run = gradcli("map", "sum(x)", "--points", "in.jsonl", "--keep", "--on-error", "nan")
    assert run.out == "x[0],x[1],n,y,dy_dx0,dy_dx1\n1,2,a,3.0,1.0,1.0\n,,[1],nan,nan,nan\n,,,nan,nan,nan\n"


def test_a_list_of_another_length_is_not_dropped(gradcli: Command, folder: Path) -> None:
    """What is no variable may be ragged; then the table has no columns for it, and says so."""
    (folder / "in.jsonl").write_text('{"x": 1, "n": null}\n{"x": 2, "n": [1, 2]}\n{"x": 3, "n": [1, 2, 3]}\n')
    run = gradcli("map", "x", "--points", "in.jsonl", "--keep")
    assert (run.code, run.out) == (2, "")
    assert "--keep keeps the column 'n', and '[1, 2, 3]' in it has not its shape (2,)" in run.err
    assert '"n": [1, 2, 3]' in gradcli("map", "x", "--points", "in.jsonl", "--keep", "--output-format", "jsonl").out


def test_the_shape_of_a_column_is_that_of_its_first_value(gradcli: Command, folder: Path) -> None:
    """Null says nothing of it, nor does an object without it, or one that is nested too deep."""
    deep = '{"x": ' + "[" * 5_000
    (folder / "in.jsonl").write_text(f'{deep}\n{{"x": null}}\n{{}}\n{{"x": [1, 2]}}\n')
    run = gradcli("map", "sum(x)", "--points", "in.jsonl", "--on-error", "skip")
    assert run.out == "y,dy_dx0,dy_dx1\n3.0,1.0,1.0\n"
    assert run.err.startswith("4 rows read, 3 left out, 1 written\n")


def test_numbers_that_json_has_not_are_its_strings(gradcli: Command, folder: Path) -> None:
    """So that the kept column can be a variable again; bytes that are no text are marks of it."""
    (folder / "in.csv").write_bytes(b"x,\xff\nnan,\xfe\n-inf,a\n")
    run = gradcli("map", "2*x", "--points", "in.csv", "--keep", "-o", "out.jsonl")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert (run.code, [row["x"] for row in rows]) == (0, ["NaN", "-Infinity"])
    assert [row["\ufffd"] for row in rows] == ["\ufffd", "a"]
    assert gradcli("map", "x", "--points", "out.jsonl").out == "y,dy_dx\nnan,1.0\n-inf,1.0\n"


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
