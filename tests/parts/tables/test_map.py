"""`map`: one function, many points, in every format, with rows at fault, in pipes and under signals."""

import gzip
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradcli import Function
from gradcli.parts.tables.row_formats import ROW_FORMATS
from gradcli.report import numbers
from tests import warm
from tests.conftest import Command, Run
from tests.examples import all_but
from tests.files.test_files import doubled, npy, npz
from tests.terminals import PIPES, Program

Array = npt.NDArray[Any]

MAP = [sys.executable, "-m", "gradcli", "map"]


def _write(path: Path, columns: Mapping[str, Array]) -> None:
    """The columns as a file of the format of its suffix."""
    match path.suffix:
        case ".parquet":
            pl.DataFrame(columns).write_parquet(path, row_group_size=3)
        case ".npz":
            path.write_bytes(npz(**columns))
        case ".npy":
            kinds = [(name, array.dtype, array.shape[1:]) for name, array in columns.items()]
            path.write_bytes(npy(np.array(list(zip(*columns.values(), strict=True)), kinds)))
        case ".jsonl":  # with strings for numbers that JSON has not
            cells = [[numbers.in_lists(cell) for cell in array] for array in columns.values()]
            rows = (dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True))
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case suffix:
            flat = {
                f"{name}[{','.join(map(str, i))}]" if i else name: array[:, *i]
                for name, array in columns.items()
                for i in np.ndindex(array.shape[1:])
            }
            pl.DataFrame(flat).write_csv(path, separator="\t" if suffix == ".tsv" else ",")


def _read(path: Path) -> dict[str, Array]:
    """The columns of an output, by name."""
    match path.suffix:
        case ".npz":
            with np.load(path) as archive:
                return dict(archive)
        case ".npy":
            frame = pd.DataFrame(np.load(path))
        case ".parquet":
            frame = pd.read_parquet(path)
        case ".jsonl":
            frame = pd.DataFrame([json.loads(line) for line in path.read_text().splitlines()]).astype(float)
        case suffix:
            sign = "\t" if suffix == ".tsv" else ","
            frame = pd.read_csv(path, sep=sign, dtype=str, keep_default_na=False).astype(float)
    return {name: column.to_numpy() for name, column in frame.items()}


KEPT = b'x,name\n1.50,"a, ""b""\nc"\n2,d\n3,\xff\n'

TABLE = np.arange(1.0, 13.0).reshape(6, 2)

ANSWERED: list[tuple[str, str, bytes, list[str], str]] = [
    # one unnamed column, and several
    ("x**2", "t.csv", b"\n1\n2\n", ["--columns", "x"], "y,dy_dx\n1.0,2.0\n4.0,4.0\n"),
    ("x[0,0]*x[0,1]", "t.tsv", b"2\t5\n", ["--columns", "x[0,1],x[0,0]"], "y,dy_dx0_0,dy_dx0_1\n10.0,2.0,5.0\n"),
    # texts of many kinds: a mark, carriage returns, blanks, quotes with newlines, semicolons, no last newline
    *(
        ("3*x", "t.csv", text, [], "y,dy_dx\n3.0,3.0\n6.0,3.0\n")
        for text in (
            b"\xef\xbb\xbfx,n\r\n1,a\r\n2,b\r\n", b'"x",n\n"1","a\nb"\n2,b\n\n\n',
            b"\n\nx,n\n1,a\n2,\xff\n", b"x,n\r1,a\r2,b\r",
        )
    ),
    # plain arrays have columns in the order of the variables, in C and in Fortran order; a vector if there is one
    *(
        case
        for array in (TABLE, np.asfortranarray(TABLE), TABLE.astype(np.int32))
        for case in (
            ("a*x - b", "t.npy", npy(array[:2]), ["--at", "x=10"], "y,dy_da,dy_db\n8.0,10.0,-1.0\n26.0,10.0,-1.0\n"),
            ("x[0]*x[1]", "t.npy", npy(array[1:2]), [], "y,dy_dx0,dy_dx1\n12.0,4.0,3.0\n"),
            ("x[0]*x[1]", "t.npz", npz(x=array[1:2]), [], "y,dy_dx0,dy_dx1\n12.0,4.0,3.0\n"),
        )
    ),
    ("out = x - y", "t.npy", npy([[2.0, 5.0, 7.0]]), ["--columns", "y,n,x", "--keep"],
     "y,n,x,out,dout_dx,dout_dy\n2.0,5.0,7.0,5.0,1.0,-1.0\n"),
    # what is no variable may have another number of rows
    ("x", "t.npz", npz(x=[1.0], z=np.ones(4), other=np.ones((9, 9))), [], "y,dy_dx\n1.0,1.0\n"),
    # standard input
    ("x*z", "-", npy(np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])), ["--points-format", "npy", "--wrt", "x"],
     "y,dy_dx\n2.0,2.0\n12.0,4.0\n"),
]  # fmt: skip


def _asked(text: str, name: str, content: bytes, words: list[str], gradcli: Command) -> Run:
    """Ask `map` of a file, or of standard input."""
    if name != "-":
        Path(name).write_bytes(content)
    return gradcli("map", text, "--points", name, *words, given=content)


@pytest.mark.parametrize(("text", "name", "content", "words", "out"), ANSWERED)
@pytest.mark.usefixtures("folder")
def test_rows_are_answered(text: str, name: str, content: bytes, words: list[str], out: str, gradcli: Command) -> None:
    """With nothing on stderr."""
    assert _asked(text, name, content, words, gradcli) == Run(0, out, "")


@pytest.mark.usefixtures("folder")
def test_compressed_text_is_read_and_written(gradcli: Command) -> None:
    """The same rows are the same bytes."""
    rows = "x,n\n" + "".join(f"{k / 7!r},a\n" for k in range(20_000))
    Path("in.csv").write_text(rows)
    Path("in.csv.gz").write_bytes(gzip.compress(rows.encode()))
    plain = gradcli("map", "x**2", "--points", "in.csv", "--keep").out
    for name in ("out.csv.gz", "again.csv.gz", "out.jsonl.gz"):
        assert gradcli("map", "x**2", "--points", "in.csv.gz", "--keep", "-o", name) == Run(0, "", "")
    assert gzip.decompress(Path("out.csv.gz").read_bytes()).decode() == plain
    assert Path("out.csv.gz").read_bytes() == Path("again.csv.gz").read_bytes()
    assert gradcli("map", "2*y", "--points", "out.jsonl.gz", "--wrt", "y", "--rows", "8").out == "2.0,2.0\n"


def test_cells_that_are_kept_are_as_they_were(gradcli: Command, tmp_path: Path) -> None:
    """Quotes, commas, newlines, any encoding; numbers keep their digits."""
    path, out = tmp_path / "data.csv", tmp_path / "out.csv"
    path.write_bytes(KEPT)
    assert gradcli("map", "x", "--points", str(path), "--keep", "-o", str(out)).code == 0
    assert out.read_bytes() == b'x,name,y,dy_dx\n1.50,"a, ""b""\nc",1.5,1.0\n2,d,2.0,1.0\n3,\xff,3.0,1.0\n'


REFUSED: list[tuple[str, str, bytes, list[str], str]] = [
    ("x", "t.rows", b"x", [], "hint: name it .csv, .tsv, .jsonl, .ndjson, .npy, .npz, .parquet, .pq, .json, or "),
    ("x", "t.csv", KEPT, ["--keep", "-o", "out.npy"], "the column 'name', and 'a, \"b\"?c' in it is not"),
    ("a*b*c", "t.npy", npy(TABLE), [], "there are 3 variables"),
    ("x", "t.npy", npy(3.0), [], "is an array of shape ()"),
    ("x", "t.npy", npy(np.array([1, "a"], dtype=object)), [], "pickled"),
    ("x*z", "t.npz", npz(x=np.ones(3), z=np.ones(4)), [], "3 rows of 'x' and 4 of 'z'"),
    ("x", "t.npz", npz(x=np.array(["a"])), [], "holds text"),
    ("x", "t.npz", npz(x=np.ones(1, np.complex64)), [], "complex numbers"),
    ("x", "t.npy", npy(np.zeros(0, dtype="U3")), [], "holds text"),
    ("x", "t.npz", doubled("x.npy", "x.npy"), [], "has two arrays 'x'"),
    ("x", "t.csv.gz", gzip.compress(b"x\n1\n" * 99, mtime=0)[:-9], [], "'t.csv.gz' cannot be decompressed: compressed"),
    ("x", "t.csv.gz", b"x\n1\n", [], "'t.csv.gz' cannot be decompressed: not a gzipped file"),
    ("x", "t.npy.gz", npy([1.0]), [], "'t.npy.gz' is compressed, and only text is read and written so"),
    ("x", "t.jsonl", b"1\n", [], "'t.jsonl' begins with no object of JSON: '1'"),
    ("x", "t.jsonl", b'{"x": 1}\n{"x": 2, "k": 1}\n', ["--keep", "-o", "o.csv"], "has a key 'k', which the first row"),
    ("x", "t.jsonl", b'{"x": 1, "k": 1}\n{"x": 1, "k": "a"}\n', ["--keep", "-o", "o.parquet"], "cannot be kept so"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "content", "words", "said"), REFUSED)
@pytest.mark.usefixtures("folder")
def test_wrong_rows_are_refused(
    text: str, name: str, content: bytes, words: list[str], said: str, gradcli: Command
) -> None:
    """One message each, and no output."""
    run = _asked(text, name, content, words, gradcli)
    assert (run.code, run.out, said in run.err) == (2, "", True), run.err
    assert run.err.count("error: ") == 1
    assert os.listdir() == ([name] if name != "-" else [])


CASES: list[tuple[str, dict[str, tuple[int, ...]], dict[str, str], str | None]] = [
    ("a*x**2 + sin(x)", {"x": (), "a": ()}, {}, None),
    ("sum(w*x**2)", {"x": (3,)}, {"w": "1,2,3"}, None),
    ("w*exp(x)", {"x": (2,), "w": (2,)}, {}, "w"),
    ("a*x", {"x": (3,), "a": ()}, {}, None),
    ("softmax(x)", {"x": (3,)}, {}, None),
    ("A@x", {"x": (2,)}, {"A": "[[1,2],[3,4],[5,6]]"}, "A,x"),
    ("[x*y, x+y]", {"x": (), "y": ()}, {}, None),
    ("c*c + 0*x", {"x": ()}, {"c": "3"}, "c,x"),
]


@pytest.mark.parametrize(("text", "shapes", "at", "wrt"), CASES, ids=[f"{case[0]} {case[3]}" for case in CASES])
@pytest.mark.one_in(2)
def test_every_row_is_what_the_jacobian_command_says(
    text: str, shapes: dict[str, tuple[int, ...]], at: dict[str, str], wrt: str | None, gradcli: Command, folder: Path
) -> None:
    """In lists, and in columns for their elements: of functions elementwise and other, of scalars and tensors."""
    generator = np.random.default_rng(7)
    columns = {name: generator.normal(size=(5, *shape)) for name, shape in shapes.items()}
    words = [word for name, value in at.items() for word in ("--at", f"{name}={value}")]
    words += ["--wrt", wrt] if wrt else []
    for form in ("csv", "parquet", "npy", "npz"):
        _write(folder / f"in.{form}", columns)
        assert gradcli("map", text, "--points", f"in.{form}", "-o", f"out.{form}", *words) == Run(0, "", "")
    one, *others = (
        np.hstack([array.reshape(5, -1) for array in _read(folder / f"out.{form}").values()])
        for form in ("csv", "parquet", "npy", "npz")
    )
    for other in others:
        np.testing.assert_array_equal(one, other)
    f = Function(text)
    names = wrt.split(",") if wrt else [name for name in f.variables if name in shapes]
    for row in range(5):
        inputs = {**at, **{name: array[row] for name, array in columns.items()}}
        expected = f.jacobian(inputs, wrt=names, check=False)
        blocks = [(expected.jacobian or {})[name].ravel() for name in names]
        np.testing.assert_array_equal(one[row], np.concatenate([expected.value.ravel(), *blocks]))


@pytest.mark.parametrize("into", ROW_FORMATS)
@pytest.mark.parametrize("form", ROW_FORMATS)
@pytest.mark.one_in(4)
def test_what_is_kept_reads_back(form: str, into: str, gradcli: Command, tmp_path: Path) -> None:
    """From each format to each; the numbers are the same to the last digit, those that are not finite too."""
    x = np.array([0.1, 1e-310, -1.7976931348623157e308, np.inf, -np.inf, np.nan, 1 / 3])
    source, out = tmp_path / f"in.{form}", tmp_path / f"out.{into}"
    _write(source, {"x": x, "id": np.arange(7.0)})
    run = gradcli("map", "2*x", "--points", str(source), "-o", str(out), "--keep")
    overflow = "1 row has nan or infinity as the value of y or a derivative; the first: row 3"
    assert (run.code, run.err.startswith(overflow), run.err.count("\n")) == (0, True, 2), run.err
    found = _read(out)
    assert list(found) == ["x", "id", "y", "dy_dx"]
    np.testing.assert_array_equal(found["x"], x)
    with np.errstate(over="ignore"):
        double = 2 * x
    np.testing.assert_array_equal(found["y"], double)
    again = gradcli("map", "y/2", "--points", str(out), "-o", str(tmp_path / "again.csv"))
    assert (again.code, again.err) == (0, "")
    np.testing.assert_array_equal(_read(tmp_path / "again.csv")["f"], np.where(np.isinf(double), double, x))


TABLES_AT_FAULT = [
    ("x\n1\nabc\n4\n", ", column 'x': 'abc' is not a number"),
    ("x,z\n1,2\n3\n4,5\n", " has 1 cell, and there are 2 columns"),
    ("x,z\n1,2\n3,4,5\n4,5\n", " has 3 cells, and there are 2 columns"),
    ("x,z\n1,2\n,4\n4,5\n", ", column 'x': the cell is empty"),
    ("x\n1\n\n4\n", " is empty, and rows follow"),
    ("x\n1\n1e400\n4\n", ", column 'x': '1e400' is beyond the range of float64"),
    ("x\n1\n0x1\n4\n", ", column 'x': '0x1' is not a number"),
    ('x,z\n1,2\n"3,4\n4,5\n', " is not a row of cells: unexpected end of data"),
]


LINES_AT_FAULT = [
    ('{"x": "abc"}', ", key 'x', has the text 'abc', and not a number"),
    ('{"z": 1}', " has no key 'x'"),
    ("[1]", " is not an object: '[1]'"),
    ('{"x": 1', " is not JSON: expecting ',' delimiter, at character 8"),
    ('{"x": 1e400}', ", key 'x', has a number beyond the range of float64"),
    ('{"x": 1, "x": 2}', " is not JSON: an object has a key twice"),
    ('{"x": ' + "[" * 5_000, " is not JSON: it is nested too deep"),
    ('{"x": ' + "9" * 5_000 + "}", " is not JSON: exceeds the limit (4300 digits) for integer string conversion"),
    ('{"x": null}', ", key 'x', has null, and not a number"),
    ('{"x": [1]}', ", key 'x', has shape (1,), and in the first row ()"),
]
AT_FAULT = [
    *(("in.csv", text, f"row 2 (line 3) of 'in.csv'{said}") for text, said in TABLES_AT_FAULT),
    *(
        ("in.jsonl", f'{{"x": 1}}\n\n{line}\n{{"x": 4}}\n', f"row 2 (line 3) of 'in.jsonl'{said}")
        for line, said in LINES_AT_FAULT
    ),
]


@pytest.mark.parametrize(("name", "text", "message"), AT_FAULT)
def test_a_row_at_fault(name: str, text: str, message: str, gradcli: Command, folder: Path) -> None:
    """It ends the run with its line, or is left out, or is nan; nothing has the final name in the first case."""
    (folder / name).write_text(text, encoding="utf-8")
    run = gradcli("map", "x**2", "--points", name, "-o", "out.csv")
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines()[0] == f"error: {message}"
    assert os.listdir() == [name]
    left = gradcli("map", "x**2", "--points", name, "--on-error", "skip")
    assert left.out == "y,dy_dx\n1.0,2.0\n16.0,8.0\n"
    assert left.err == f"3 rows read, 1 left out, 2 written\nthe first: {message}\n"
    nan = gradcli("map", "x**2", "--points", name, "--on-error", "nan")
    assert nan.out == "y,dy_dx\n1.0,2.0\nnan,nan\n16.0,8.0\n"
    assert nan.err.startswith("3 rows read, 1 written as nan, 3 written\n")


@pytest.mark.parametrize("blanks", all_but([2, 70_000], 1))
def test_every_blank_row_before_a_row_is_a_row(blanks: int, gradcli: Command, tmp_path: Path) -> None:
    """So that rows of the output line up with those of the input; blank rows at the end are none."""
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("x\n1\n" + "\n" * blanks + "2\n\n\n", encoding="utf-8")
    run = gradcli("map", "x**2", "--points", str(path), "--on-error", "nan", "-o", str(out))
    assert run.err.startswith(f"{blanks + 2:,} rows read, {blanks:,} written as nan, {blanks + 2:,} written\n")
    assert out.read_text(encoding="utf-8") == "y,dy_dx\n1.0,2.0\n" + "nan,nan\n" * blanks + "4.0,4.0\n"
    skipped = gradcli("map", "x**2", "--points", str(path), "--on-error", "skip")
    assert skipped.out == "y,dy_dx\n1.0,2.0\n4.0,4.0\n"


@pytest.mark.parametrize("form", ROW_FORMATS)
@pytest.mark.one_in(2)
def test_a_row_that_torch_refuses_is_at_fault_too(form: str, gradcli: Command, tmp_path: Path) -> None:
    """A matrix without an inverse, among others."""
    matrices = np.stack([np.eye(2) * k for k in range(4)] * 20)
    path = tmp_path / f"in.{form}"
    _write(path, {"A": matrices})
    first = {"csv": " (line 2)", "tsv": " (line 2)", "jsonl": " (line 1)", "parquet": " (row group 0)"}.get(form, "")
    run = gradcli("map", "sum(inv(A))", "--points", str(path))
    assert run.code == 2
    assert f"row 1{first} of '{path}': this matrix has no inverse" in run.err
    nan = gradcli("map", "sum(inv(A))", "--points", str(path), "--on-error", "nan")
    values = [float(line.split(",")[0]) for line in nan.out.splitlines()[1:]]
    np.testing.assert_array_equal(values, [np.nan, 2, 1, 2 / 3] * 20)
    assert nan.err.startswith("80 rows read, 20 written as nan, 80 written\n")


@pytest.mark.parametrize("into", ROW_FORMATS)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_all_rows_may_be_left_out(form: str, into: str, gradcli: Command, folder: Path) -> None:
    """The output has its columns, and no rows."""
    if form == "csv":
        (folder / "in.csv").write_text("x,n\nabc,1\n")
    else:
        pq.write_table(pa.table({"x": pa.array([None], pa.float64()), "n": [1.0]}), "in.parquet")
    run = gradcli("map", "x**2", "--points", f"in.{form}", "--keep", "--on-error", "skip", "-o", f"out.{into}")
    assert (run.code, run.err.partition("\n")[0]) == (0, "1 row read, 1 left out, 0 written")
    written = folder / f"out.{into}"
    found = {} if into == "jsonl" else {name: len(column) for name, column in _read(written).items()}
    assert found == dict.fromkeys(() if into == "jsonl" else ("x", "n", "y", "dy_dx"), 0)
    assert (written.stat().st_size == 0) == (into == "jsonl")


def test_a_text_without_a_line_is_refused(gradcli: Command, tmp_path: Path) -> None:
    """It names no column; nothing is written."""
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    _write(path, {"x": np.empty(0)})
    run = gradcli("map", "x**2", "--points", str(path), "-o", str(out), "--check")
    assert (run.code, out.exists(), "is empty" in run.err) == (2, False, True)


@pytest.mark.parametrize("form", [form for form in ROW_FORMATS if form != "jsonl"])
def test_no_rows_give_no_rows(form: str, gradcli: Command, tmp_path: Path) -> None:
    """A row of names alone, an array of length 0."""
    path, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    _write(path, {"x": np.empty(0)})
    run = gradcli("map", "x**2", "--points", str(path), "-o", str(out), "--check")
    unchecked = "check: unchecked; entries 0 of 0; largest relative error none\n  there are no rows to check\n"
    assert (run.code, run.err) == (0, unchecked)
    again = gradcli("map", "x**2", "--points", str(path), "--check", "--strict")
    assert (again.code, again.err) == (1, unchecked)
    assert {name: len(column) for name, column in _read(out).items()} == {"y": 0, "dy_dx": 0}


def test_an_array_of_one_column_has_no_euler_in_it(gradcli: Command, tmp_path: Path) -> None:
    """An e beside the one variable is Euler's number, and of two columns it is the first."""
    one, two = tmp_path / "one.npy", tmp_path / "two.npy"
    np.save(one, np.array([1.0, 2.0]))
    np.save(two, np.array([[3.0, 2.0]]))
    run = gradcli("map", "e*x", "--points", str(one))
    assert (run.code, run.out.splitlines()[1]) == (0, f"{math.e},{math.e}")
    assert gradcli("map", "e*x", "--points", str(two)).out == "y,dy_de,dy_dx\n6.0,2.0,3.0\n"


def test_a_huge_field_is_refused_in_few_words(gradcli: Command, tmp_path: Path) -> None:
    """A cell of 200,000 characters, and a line that never ends."""
    path = tmp_path / "data.csv"
    path.write_text("x,n\n1,a\n" + "9" * 200_000 + ",b\n2,c\n")
    run = gradcli("map", "x", "--points", str(path), "--on-error", "skip")
    assert run.out == "y,dy_dx\n1.0,1.0\n2.0,1.0\n"
    assert len(run.err) < 300
    path.write_text("x\n" + "1" * (2**24 + 2**21))
    assert "line 2" in (run := gradcli("map", "x", "--points", str(path))).err
    assert (run.code, "is longer than 16 MiB" in run.err) == (2, True)


def test_a_sample_is_judged(gradcli: Command, tmp_path: Path) -> None:
    """The verdict with its coverage, the kink in the middle found, and an exit code under --strict."""
    path = tmp_path / "data.csv"
    path.write_text("x\n" + "".join(f"{k}\n" for k in range(-500, 500)))
    words = ("--points", str(path), "-o", str(tmp_path / "out.csv"))
    run = gradcli("map", "x**2", *words, "--check", "--strict")
    assert run.code == 0
    said = "check: agree (16 of 1,000 entries sampled); entries 16 of 1,000 (16 of 1,000 points: kinks, first, last"
    assert run.err.startswith(said)
    run = gradcli("map", "abs(x)", *words, "--check")
    assert run.code == 0
    assert "check: kink" in run.err
    assert "row 501 (line 502), ∂y/∂x, kink" in run.err
    assert gradcli("map", "abs(x)", *words, "--check", "--strict").code == 1
    assert "--strict needs --check" in gradcli("map", "abs(x)", *words, "--strict").err


# -- processes


@pytest.mark.thorough
def test_a_slow_pipe_is_answered_as_it_comes() -> None:
    """The answer to a row does not wait for the next."""
    with Program([warm.gradcli(), "map", "x**2", "--points", "-"], **PIPES) as process:
        process.send(b"x\n3\n")
        assert [process.stdout.readline() for _ in range(2)] == [b"y,dy_dx\n", b"9.0,6.0\n"]
        process.stdin.write(b"4\n")
        process.stdin.close()
        assert process.stdout.read() == b"16.0,8.0\n"
        assert process.wait(60) == 0


@pytest.mark.thorough
def test_a_reader_that_goes_away_is_no_news(tmp_path: Path) -> None:
    """`| head -1`: exit 141, and not a word."""
    path = tmp_path / "data.csv"
    path.write_text("x\n" + "1.5\n" * 300_000)
    with Program([warm.gradcli(), "map", "x**2", "--points", str(path)], **PIPES) as process:
        assert process.stdout.readline() == b"y,dy_dx\n"
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 141)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "words",
    all_but([[], *(["-o", "/dev/full", "--output-format", form] for form in ("csv", "npy", "parquet"))], 1, 2, 3),
)
def test_a_full_disk_is_reported(words: list[str]) -> None:
    """Exit 74 with a message, on standard output and on a file."""
    with open("/dev/full", "wb") as full:
        words = [warm.gradcli(), "map", "x", "--points", "-", *words]
        done = subprocess.run(words, input=b"x\n1\n", stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 74
    assert done.stderr.startswith(b"error: the output could not be written")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.thorough
def test_what_is_killed_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    """A part of the new one stays, as the process cannot know of its end; other signals leave none."""
    out = tmp_path / "out.parquet"
    out.write_text("before")
    with Program([*MAP, "sin(x)", "--points", "-", "-o", str(out)], stdin=subprocess.PIPE) as process:
        process.send(b"x\n" + b"1\n" * 1_500_000)
        until = time.monotonic() + 60
        while not any(path.stat().st_size for path in tmp_path.glob(".out.*.part")):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.kill()
    assert out.read_text() == "before"


WIDE = [
    ("out.csv", ["sin(x)", "--keep"], 4_000, 1_000),  # a megabyte of text is a block
    ("out.npz", ["sin(x)*w", "--at", "w=ones(20)", "--wrt", "x"], 10_000, 300),  # 40 numbers from each
]
"""Rows that are soon read and soon answered, and large: their count and the width of a column of text."""


@pytest.mark.skipif(sys.platform != "linux", reason="its /proc says the peak")
@pytest.mark.parametrize(("out", "words", "rows", "width"), WIDE, ids=["csv", "npz"])
@pytest.mark.thorough
def test_more_rows_need_no_more_memory(out: str, words: list[str], rows: int, width: int, tmp_path: Path) -> None:
    """A stream: its first quarter fills what one core has in flight."""
    block = "".join(f"{k}.25,{'n' * width}\n" for k in range(rows)).encode()
    command = [*MAP, *words, "--points", "-", "-o", str(tmp_path / out)]
    with Program(command, stdin=subprocess.PIPE) as process:
        os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
        process.stdin.write(b"x,note\n")
        peaks = []
        for _ in range(4):
            process.stdin.write(5 * block)
            # A pipe holds little: by now the process has read all but the end of what was written.
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            peaks.append(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
        process.stdin.close()
        assert process.wait(60) == 0
    assert peaks[-1] < peaks[0] + 12, peaks
