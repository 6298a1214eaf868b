"""`map --keep`: what the input holds beside numbers, in every format that can hold it."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tests.conftest import Command


def test_vectors_in_json_are_columns(gradcli: Command, folder: Path) -> None:
    """One for each element of a variable, empty or null where a row has other things."""
    rows = '{"x": [1, 2], "n": "a"}\n{"x": [3], "n": "b"}\n{"x": [4, "NaN"]}\n'
    (folder / "in.jsonl").write_text(rows)
    words = ["map", "sum(x)", "--points", "in.jsonl", "--keep", "--on-error", "nan"]
    expected = "x[0],x[1],n,y,dy_dx0,dy_dx1\n1,2,a,3.0,1.0,1.0\n,,b,nan,nan,nan\n4,NaN,,nan,1.0,1.0\n"
    assert gradcli(*words).out == expected
    assert gradcli(*words, "-o", "out.parquet").code == 0
    found = pq.read_table("out.parquet")
    assert repr(found["x"].to_pylist()) == "[[1.0, 2.0], [nan, nan], [4.0, nan]]"
    assert found["n"].to_pylist() == ["a", "b", None]
    (folder / "in.jsonl").write_text(rows.replace('"a"', "1").replace('"b"', "null"))
    assert gradcli(*words, "-o", "out.npz").code == 0
    with np.load("out.npz") as arrays:
        np.testing.assert_array_equal(arrays["x"], [[1, 2], [np.nan, np.nan], [4, np.nan]])
        np.testing.assert_array_equal(arrays["n"], [1, np.nan, np.nan])


def test_what_is_no_variable_may_be_ragged(gradcli: Command, folder: Path) -> None:
    """And is kept as JSON, in a table too."""
    rows = ['{"x": 1, "n": null}', '{"x": 2, "n": [1, 2]}', '{"x": 3, "n": {"a": [1, "é"]}}']
    (folder / "in.jsonl").write_text("\n".join(rows), encoding="utf-8")
    words = ["map", "x", "--points", "in.jsonl", "--keep", "--format"]
    found = [json.loads(line) for line in gradcli(*words, "jsonl").out.splitlines()]
    assert found == [{**json.loads(row), "y": place, "dy_dx": 1} for place, row in enumerate(rows, 1)]
    assert gradcli(*words, "tsv").out.splitlines()[2] == '2\t"[1, 2]"\t2.0\t1.0'.replace('"', "")


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
    [([1, 2], 'a,"b', "2026-11-21", b"q\xff", 0.1), ([3, 4], "c", "NaT", b"r", 2)],
    dtype=[("x", "f8", (2,)), ("name", "U5"), ("day", "M8[D]"), ("raw", "S3"), ("single", "f4")],
)


def test_texts_and_dates_in_arrays_are_kept(gradcli: Command, folder: Path) -> None:
    """As text; as variables they are refused by name."""
    np.save("in.npy", RECORDS)
    columns = {name: RECORDS[name] for name in RECORDS.dtype.names or ()}
    np.savez("in.npz", **columns)  # type: ignore[arg-type]
    for source in ("in.npy", "in.npz"):
        words = ["map", "sum(x)", "--points", source, "--wrt", "x", "--keep"]
        assert gradcli(*words).out == (
            'x[0],x[1],name,day,raw,single,y,dy_dx0,dy_dx1\n1.0,2.0,"a,""b",2026-11-21,q\ufffd,0.1,3.0,1.0,1.0\n'
            "3.0,4.0,c,NaT,r,2.0,7.0,1.0,1.0\n"
        )
        for name, what in (("name", "text"), ("day", "dates")):
            run = gradcli("map", f"2*{name}", "--points", source, "-o", "none.csv")
            assert (run.code, f"holds {what}" in run.err, (folder / "none.csv").exists()) == (2, True, False)
            assert name in run.err
