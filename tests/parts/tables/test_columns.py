"""`map` on Parquet and Arrow: read back by pyarrow, pandas, Polars and DuckDB, with the types that were there."""

import datetime
import decimal
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradcli import Function, __version__
from gradcli.errors import InputError
from tests import warm
from tests.conftest import Command, Run, process

X = [0.5, 1.0, -2.0, 3.0, 0.25, 1e-310, 2.0]
DAY = datetime.date(2024, 2, 29)
RICH = pa.table(
    {
        "name": pa.array(["a", None, "ü", "a", "", "b", "c"]).dictionary_encode(),
        "x": X,
        "day": [DAY, None] * 3 + [DAY],
        "when": pa.array([datetime.datetime(2024, 1, 2, 3)] * 7, pa.timestamp("ms", "UTC")),
        "price": pa.array([decimal.Decimal("1.50")] * 7, pa.decimal128(10, 2)),
        "nested": [{"a": [1, None]}] * 7,
        "raw": [b"\x00\xff"] * 7,
        "none": pa.nulls(7),
    }
)
"""A table of most types that there are; the cells of all but `x` mean nothing to a function."""


def test_columns_that_are_kept_have_their_types(gradcli: Command, folder: Path) -> None:
    """All types, row for row; and the file says what it holds."""
    pq.write_table(RICH, "in.parquet", row_group_size=3)
    run = gradcli("map", "x**2", "--points", "in.parquet", "--keep", "-o", "out.parquet")
    assert run == Run(0, "", "")
    found = pq.read_table(folder / "out.parquet")
    kept = found.select(RICH.column_names)
    assert kept.schema.types == RICH.schema.types
    assert kept.to_pylist() == RICH.to_pylist()
    assert (found["y"].to_pylist(), found["dy_dx"].to_pylist()) == ([x * x for x in X], [2 * x for x in X])
    about = json.loads(found.schema.metadata[b"gradcli"])
    assert about == {"expression": "x**2", "version": __version__}


def test_others_read_what_is_written(gradcli: Command, folder: Path) -> None:
    """pandas, Polars and DuckDB."""
    pq.write_table(RICH.select(["name", "x"]), "in.parquet")
    assert gradcli("map", "x**2", "--points", "in.parquet", "--keep", "-o", "out.parquet").code == 0
    expected = [2 * x for x in X]
    frame = pd.read_parquet("out.parquet")
    assert (list(frame.columns), frame["dy_dx"].tolist()) == (["name", "x", "y", "dy_dx"], expected)
    assert pl.read_parquet("out.parquet")["dy_dx"].to_list() == expected
    rows: Any = duckdb.sql("select dy_dx from 'out.parquet'")
    assert rows.fetchall() == [(x,) for x in expected]


@pytest.mark.usefixtures("folder")
def test_cells_of_columns_as_text(gradcli: Command) -> None:
    """Dates as ISO has them, decimals with their digits, nothing for null, JSON for what is nested."""
    pq.write_table(RICH.slice(0, 2), "in.parquet")
    run = gradcli("map", "2*x", "--points", "in.parquet", "--keep")
    assert run.out.splitlines() == [
        "name,x,day,when,price,nested,raw,none,y,dy_dx",
        'a,0.5,2024-02-29,2024-01-02 03:00:00.000Z,1.50,"{""a"": [1, null]}",\x00\ufffd,,1.0,2.0',
        ',1.0,,2024-01-02 03:00:00.000Z,1.50,"{""a"": [1, null]}",\x00\ufffd,,2.0,2.0',
    ]


@pytest.mark.usefixtures("folder")
def test_what_text_and_arrays_become_in_columns(gradcli: Command) -> None:
    """Variables are numbers, other cells of a text are texts."""
    Path("in.csv").write_text("n,x\n1,2\n,abc\n007,3\n")
    words = ["--keep", "-o", "out.parquet"]
    assert gradcli("map", "x**2", "--points", "in.csv", *words, "--on-error", "skip").code == 0
    found = pq.read_table("out.parquet")
    assert found.to_pydict() == {"n": ["1", "007"], "x": [2.0, 3.0], "y": [4.0, 9.0], "dy_dx": [4.0, 6.0]}


NUMBERS = [
    (pa.array([1, None, 3], pa.int8()), "the cell is null"),
    (pa.array([decimal.Decimal("0.5"), None, decimal.Decimal("2")]), "the cell is null"),
    (pa.array([7.0, None, 7.0]).dictionary_encode(), "the cell is null"),
    (pa.array([[1.0, 2.0], None, [3.0, 4.0]]), "the cell is null"),
    (pa.array([[1.0, 2.0], [3.0], [3.0, 4.0]]), "'[3.0]' has not the shape (2,), with numbers"),
    (pa.array([[1.0, 2.0], [None, 3.0], [3.0, 4.0]]), "'[None, 3.0]' has not the shape (2,), with numbers"),
    (pa.array([[[1, 2]], [[3], [4]], [[3, 4]]]), "'[[3], [4]]' has not the shape (1, 2), with numbers"),
]


@pytest.mark.parametrize(("cells", "said"), NUMBERS, ids=[str(cells.type) for cells, _ in NUMBERS])
def test_types_of_numbers_are_read_and_null_is_at_fault(cells: Any, said: str, gradcli: Command, folder: Path) -> None:
    """With its file, its row group and its row."""
    pq.write_table(pa.table({"x": cells}), "in.parquet", row_group_size=1)
    words = ["map", "sum(2*x)", "--points", "in.parquet"]
    message = f"row 2 (row group 1) of 'in.parquet', column 'x': {said}"
    run = gradcli(*words, "-o", "out.csv")
    assert (run.code, run.out, run.err.splitlines()[0]) == (2, "", f"error: {message}")
    assert not (folder / "out.csv").exists()
    run = gradcli(*words, "--on-error", "skip")
    first, last = cells[0].as_py(), cells[2].as_py()
    sums = [float(np.sum(2 * np.array(cell, float))) for cell in (first, last)]
    assert [float(line.split(",")[0]) for line in run.out.splitlines()[1:]] == sums
    assert run.err == f"3 rows read, 1 left out, 2 written\nthe first: {message}\n"


REFUSED = [
    (lambda path: Path(path).write_text("x\n1\n"), [], "'in.parquet' cannot be read as a Parquet file: "),
    (lambda path: Path(path).write_bytes(Path(path).read_bytes()[:-40]), [], "'in.parquet' cannot be read as "),
    (None, ["--wrt", "name"], "--wrt names 'name', and the expression has no such variable"),
    (None, ["--columns", "x"], "names its columns, and --columns names them too"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "words", "said"), REFUSED)
def test_a_table_of_columns_is_refused(spoil: Any, words: list[str], said: str, gradcli: Command, folder: Path) -> None:
    """One message, and no file."""
    pq.write_table(RICH.select(["name", "x"]), "in.parquet", row_group_size=3)
    if spoil is not None:
        spoil("in.parquet")
    run = gradcli("map", "x**2", "--points", "in.parquet", *(["-o", "out.csv"] if "-o" not in words else []), *words)
    assert (run.code, run.out, said in run.err, run.err.count("error: ")) == (2, "", True, 1), run.err
    assert os.listdir() == ["in.parquet"]


def test_a_column_of_texts_is_no_variable(gradcli: Command, folder: Path) -> None:
    """Rows at fault do not matter here; and a column that is not needed is not read."""
    pq.write_table(RICH.select(["name", "x"]), "in.parquet")
    run = gradcli("map", "name*x", "--points", "in.parquet", "--on-error", "skip")
    assert (run.code, "the column 'name' of 'in.parquet' holds dictionary<" in run.err) == (2, True)
    place = pq.read_metadata("in.parquet").row_group(0).column(0).dictionary_page_offset
    data = bytearray((folder / "in.parquet").read_bytes())
    data[place : place + 8] = b"\xff" * 8
    (folder / "in.parquet").write_bytes(data)
    assert gradcli("map", "x**2", "--points", "in.parquet").code == 0
    assert "cannot be read as a Parquet file" in gradcli("map", "x**2", "--points", "in.parquet", "--keep").err


@pytest.mark.thorough
def test_parquet_goes_into_pipes_and_does_not_come_through_them(folder: Path) -> None:
    """A file needs its end, and can be written to a pipe."""
    words = [warm.gradcli(), "map", "x**2", "--points", "-"]
    done = subprocess.run([*words, "--format", "parquet"], input=b"x\n3\n", capture_output=True, check=True, timeout=60)
    assert pq.read_table(pa.BufferReader(done.stdout))["dy_dx"].to_pylist() == [6.0]
    words += ["--points-format", "parquet"]
    done = subprocess.run(words, input=b"PAR1", capture_output=True, check=False, timeout=60)
    assert (done.returncode, b"a Parquet file is not read from one" in done.stderr) == (2, True)


@pytest.mark.parametrize("kind", [pa.table, pa.RecordBatch.from_pydict, pd.DataFrame, pl.DataFrame])
def test_tables_of_python_give_tables_of_the_same_kind(kind: Any) -> None:
    """Vectors as lists or as columns, null as NaN, and an index that stays."""
    frame = kind({"x": [1.0, None, 3.0], "v": [[1, 2], [3, 4], [5, 6]], "name": ["a", "b", None]})
    if kind is pd.DataFrame:
        frame.index = [7, 8, 9]
    found = Function("x*sum(v)").map(frame)
    assert type(found) is type(frame)
    assert list(getattr(found, "column_names", None) or found.columns) == ["y", "dy_dx", "dy_dv0", "dy_dv1"]
    np.testing.assert_array_equal(np.asarray(found["y"]), [3, np.nan, 33])
    np.testing.assert_array_equal(np.asarray(found["dy_dx"]), [3, 7, 11])
    if kind is pd.DataFrame:
        assert found.index.tolist() == [7, 8, 9]
    w = Function("w*x").map(kind({"x": [1.0, 2.0]}), {"w": 3}, dtype="float32")
    assert np.asarray(w["dy_dx"]).dtype == np.float32


NO_NUMBERS = [
    ({"x": ["1"]}, "the column 'x' holds string_view, and no numbers"),
    ({"x": [b"1"]}, "the column 'x' holds binary_view, and no numbers"),
    ({"z": [1]}, "the table has no column that is a variable"),
    ({"x": [[1.0, 2.0], [1.0]]}, r"row 1 of the column 'x' is no vector of shape \(2,\)"),
]


@pytest.mark.parametrize(("columns", "said"), NO_NUMBERS)
def test_a_table_of_python_that_has_no_numbers_is_refused(columns: dict[str, Any], said: str) -> None:
    """As other input is."""
    with pytest.raises(InputError, match=said):
        Function("sum(x)").map(pl.DataFrame(columns))


def test_what_is_no_table_is_refused_and_names_that_begin_alike_are_others() -> None:
    """And a table without rows is one."""
    f = Function("x**2")
    with pytest.raises(InputError, match="and no LazyFrame"):
        f.map(pl.LazyFrame({"x": [1.0]}))
    with pytest.raises(InputError, match="the table has two columns 'x'"):
        f.map(pd.DataFrame([[1.0, 2.0]], columns=["x", "x"]))
    found = f.map(pd.DataFrame({"x": [3.0], "x_note": ["a"], "xs": ["b"]}))
    assert found["dy_dx"].tolist() == [6.0]
    assert f.map(pd.DataFrame({"x": [], "n": []})).shape == (0, 2)


def test_what_cannot_be_kept_is_refused(gradcli: Command, folder: Path) -> None:
    """A text in no encoding that Parquet has, before anything is written."""
    Path("in.csv").write_bytes(b"x,t\n1,\xff\n")
    run = gradcli("map", "x**2", "--points", "in.csv", "--keep", "-o", "out.parquet")
    assert (run.code, "a column cannot be kept so" in run.err, os.listdir()) == (2, True, ["in.csv"]), run.err


@pytest.mark.usefixtures("folder")
def test_odd_columns_are_kept(gradcli: Command) -> None:
    """Views where rows are left out, identifiers as text, matrices as lists of lists."""
    pl.DataFrame({"x": [1.0, None], "s": ["a", "b"]}).write_parquet("in.parquet")
    run = gradcli("map", "x**2", "--points", "in.parquet", "--keep", "--on-error", "skip")
    assert run.out == "x,s,y,dy_dx\n1.0,a,1.0,2.0\n"
    unique = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"1" * 16], pa.binary(16)))
    pq.write_table(pa.table({"x": [1.0], "u": unique, "s": [{"a": math.inf}]}), "in.parquet")
    assert "u" in gradcli("map", "x**2", "--points", "in.parquet", "--keep").out
    A = [[[0.0, 1.0], [2.0, 3.0]]]
    pq.write_table(pa.table({"A": A, "x": [[1.0, 1.0]]}), "in.parquet")
    assert gradcli("map", "f = A@x", "--points", "in.parquet", "--keep", "-o", "out.parquet").code == 0
    run = gradcli("map", "g = A@x", "--points", "out.parquet", "--keep", "--wrt", "x")
    assert run.out.splitlines()[0].startswith('"A[0,0]","A[0,1]","A[1,0]","A[1,1]",x[0],x[1],f0,f1,')
    assert run.out.splitlines()[1].startswith("0.0,1.0,2.0,3.0,1.0,1.0,1.0,5.0,")


def test_a_frame_of_dask_is_mapped_where_its_partitions_are() -> None:
    """Lazily, with the columns and types that come."""
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame({"x": np.arange(6.0), "name": list("abcdef")}), npartitions=2)
    found = Function("a*x**2").map_partitions(frame, {"a": 3})
    assert list(found.columns) == ["y", "dy_dx"]
    computed = found.compute()
    assert (computed["dy_dx"].tolist(), computed.index.tolist()) == ([6.0 * k for k in range(6)], list(range(6)))


@pytest.mark.thorough
def test_without_pyarrow_text_is_as_before(folder: Path) -> None:
    """And what needs it says how to get it."""
    (folder / "in.csv").write_text("x\n3\n")
    script = "import sys; sys.modules['pyarrow'] = sys.modules['distributed'] = None; from gradcli.cli import main\n"
    script += "for more in '', '-o o.parquet', '-o o/ --scheduler tcp://127.0.0.1:1':\n"
    script += "    main(['map', 'x**2', '--points', 'in.csv', *more.split()])"
    run = process(sys.executable, "-c", script)
    assert (run.code, run.out) == (0, "y,dy_dx\n9.0,6.0\n")
    assert re.findall("hint: (.*)", run.err) == ["pip install 'gradcli[parquet]'", "pip install 'gradcli[dask]'"]
