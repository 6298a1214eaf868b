"""`map`: one function, many points, in every format, with rows at fault, in pipes and under signals."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gradcli import Function
from gradcli.files.rows import FORMATS as SUFFIXES
from gradcli.options import ROW_FORMATS
from tests import warm
from tests.conftest import Command, Run
from tests.files.test_files import doubled, header

Array = npt.NDArray[Any]

MAP = [sys.executable, "-m", "gradcli", "map"]


def _write(path: Path, columns: Mapping[str, Array]) -> None:
    """The columns as a file of the format of its suffix."""
    count = len(next(iter(columns.values())))
    match path.suffix:
        case ".npz":
            np.savez(path, **columns)  # type: ignore[arg-type]
        case ".npy":
            records = np.empty(count, [(name, array.dtype, array.shape[1:]) for name, array in columns.items()])
            for name, array in columns.items():
                records[name] = array
            np.save(path, records)
        case ".jsonl":
            rows = [{name: _jsonable(array[row].tolist()) for name, array in columns.items()} for row in range(count)]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case suffix:
            flat = {
                f"{name}{_index(i)}": array[:, *i]
                for name, array in columns.items()
                for i in np.ndindex(array.shape[1:])
            }
            with path.open("w", newline="") as file:
                writer = csv.writer(file, delimiter="\t" if suffix == ".tsv" else ",")
                writer.writerow(flat)
                writer.writerows(zip(*(map(repr, column.tolist()) for column in flat.values()), strict=True))


def _index(index: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""


def _jsonable(value: Any) -> Any:
    if isinstance(value, list):
        return [_jsonable(item) for item in value]
    return value if np.isfinite(value) else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]


def _read(path: Path) -> dict[str, Array]:
    """The columns of an output, by name."""
    match path.suffix:
        case ".npz":
            with np.load(path) as archive:
                return dict(archive)
        case ".npy":
            records = np.load(path)
            return {name: records[name] for name in records.dtype.names}
        case ".jsonl":
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
        case suffix:
            with path.open(newline="") as file:
                header, *body = list(csv.reader(file, delimiter="\t" if suffix == ".tsv" else ","))
            return {name: np.array([float(row[place]) for row in body]) for place, name in enumerate(header)}


def _flat(found: Mapping[str, Array], name: str, shape: tuple[int, ...]) -> Array:
    """A quantity from its columns."""
    if name in found:
        return found[name]
    ends = ["_".join(map(str, index)) for index in np.ndindex(*shape)]
    return np.stack([found[name + end] for end in ends], axis=1).reshape(-1, *shape)


def test_every_format_of_rows_has_a_suffix() -> None:
    """The command line and the files know the same."""
    assert tuple(dict.fromkeys(SUFFIXES.values())) == ROW_FORMATS


def test_the_derivatives_of_a_parabola_by_hand(gradcli: Command, tmp_path: Path) -> None:
    """Y = ax² + b, dy/dx = 2ax, dy/da = x²."""
    path = tmp_path / "data.csv"
    path.write_text("x,day,a\n1,mon,2\n-3,tue,0.5\n")
    run = gradcli("map", "a*x**2 + b", "--points", str(path), "--at", "b=1")
    assert run.out == "y,dy_da,dy_dx\n3.0,1.0,4.0\n5.5,9.0,-3.0\n"
    assert (run.code, run.err) == (0, "")


def test_an_expression_may_begin_with_a_minus(gradcli: Command, tmp_path: Path) -> None:
    """-x**2, and the derivative by a variable that is no column, row by row."""
    path = tmp_path / "data.csv"
    path.write_text("x\n1\n2\n")
    run = gradcli("map", "-k*x**2", "--points", str(path), "--at", "k=3", "--wrt", "k,x")
    assert run.out == "y,dy_dk,dy_dx\n-3.0,-1.0,-6.0\n-12.0,-4.0,-12.0\n"


CASES: list[tuple[str, dict[str, tuple[int, ...]], dict[str, str], str | None]] = [
    ("a*x**2 + sin(x)", {"x": (), "a": ()}, {}, None),
    ("where(x > 0, sqrt(x), -x)*b", {"x": ()}, {"b": "2"}, "b,x"),
    ("sum(w*x**2)", {"x": (3,)}, {"w": "1,2,3"}, None),
    ("w*exp(x)", {"x": (2,), "w": (2,)}, {}, "w"),
    ("a*x", {"x": (3,), "a": ()}, {}, None),
    ("a*x", {"x": (2,), "a": ()}, {}, "a,x"),
    ("softmax(x)", {"x": (3,)}, {}, None),
    ("A@x", {"x": (2,)}, {"A": "[[1,2],[3,4],[5,6]]"}, "A,x"),
    ("outer(x, z)", {"x": (2,), "z": (3,)}, {}, None),
    ("[x*y, x+y]", {"x": (), "y": ()}, {}, None),
    ("M@M", {"M": (2, 2)}, {}, None),
    ("x", {"x": ()}, {}, None),
    ("c*c + 0*x", {"x": ()}, {"c": "3"}, "c,x"),
    ("x*0 + w", {"x": ()}, {"w": "1,2"}, None),
]


@pytest.mark.parametrize("form", ROW_FORMATS)
@pytest.mark.parametrize(("text", "shapes", "at", "wrt"), CASES, ids=[f"{case[0]} {case[3]}" for case in CASES])
def test_every_row_is_what_the_jacobian_command_says(
    text: str,
    shapes: dict[str, tuple[int, ...]],
    at: dict[str, str],
    wrt: str | None,
    form: str,
    gradcli: Command,
    tmp_path: Path,
) -> None:
    """In each format, for elementwise functions and others, scalars, vectors and matrices."""
    generator = np.random.default_rng(7)
    columns = {name: generator.normal(size=(5, *shape)) for name, shape in shapes.items()}
    source, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    _write(source, columns)
    words = [word for name, value in at.items() for word in ("--at", f"{name}={value}")]
    words += ["--wrt", wrt] if wrt else []
    run = gradcli("map", text, "--points", str(source), "-o", str(out), *words)
    assert (run.code, run.out, run.err) == (0, "", "")
    found = _read(out)
    f = Function(text)
    names = wrt.split(",") if wrt else [name for name in f.variables if name in shapes]
    for row in range(5):
        inputs = {**at, **{name: array[row] for name, array in columns.items()}}
        expected = f.jacobian(inputs, wrt=names, check=False)
        y = expected.output
        shape = expected.value.shape
        np.testing.assert_array_equal(_flat(found, y, shape)[row], expected.value)
        for name in names:
            assert expected.jacobian is not None
            block = expected.jacobian[name]
            if form == "npz":
                np.testing.assert_array_equal(found[f"d{y}_d{name}"][row], block)
                continue
            inner = block.shape[len(shape) :]
            for i in np.ndindex(*shape):
                for j in np.ndindex(*inner):
                    cell = f"d{y}{'_'.join(map(str, i))}_d{name}{'_'.join(map(str, j))}"
                    np.testing.assert_array_equal(found[cell][row], block[(*i, *j)])


@pytest.mark.parametrize("into", ROW_FORMATS)
@pytest.mark.parametrize("form", ROW_FORMATS)
def test_what_is_kept_reads_back(form: str, into: str, gradcli: Command, tmp_path: Path) -> None:
    """From each format to each; the numbers are the same to the last digit, those that are not finite too."""
    x = np.array([0.1, 1e-310, -1.7976931348623157e308, np.inf, -np.inf, np.nan, 1 / 3])
    source, out = tmp_path / f"in.{form}", tmp_path / f"out.{into}"
    _write(source, {"x": x, "id": np.arange(7.0)})
    run = gradcli("map", "2*x", "--points", str(source), "-o", str(out), "--keep")
    assert (run.code, run.err) == (0, "")
    found = _read(out)
    assert list(found) == ["x", "id", "y", "dy_dx"]
    np.testing.assert_array_equal(found["x"], x)
    with np.errstate(over="ignore"):
        double = 2 * x
    np.testing.assert_array_equal(found["y"], double)
    again = gradcli("map", "y/2", "--points", str(out), "-o", str(tmp_path / "again.npz"))
    assert (again.code, again.err) == (0, "")
    np.testing.assert_array_equal(_read(tmp_path / "again.npz")["f"], np.where(np.isinf(double), double, x))


def test_single_precision_has_its_own_digits(gradcli: Command, tmp_path: Path) -> None:
    """0.1 in float32 is written as 0.1."""
    path = tmp_path / "data.csv"
    path.write_text("x\n0.1\n1e39\n")
    run = gradcli("map", "x", "--points", str(path), "--dtype", "float32")
    assert run.out == "y,dy_dx\n0.1,1.0\ninf,1.0\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\n1\nabc\n2\n", "row 2 (line 3) of 'in.csv', column 'x': 'abc' is not a number"),
        ("x,z\n1,2\n3\n4,5\n", "row 2 (line 3) of 'in.csv' has 1 cell, and there are 2 columns"),
        ("x,z\n1,2\n3,4,5\n4,5\n", "row 2 (line 3) of 'in.csv' has 3 cells, and there are 2 columns"),
        ("x,z\n1,2\n,4\n4,5\n", "row 2 (line 3) of 'in.csv', column 'x': the cell is empty"),
        ("x\n1\n\n2\n", "row 2 (line 3) of 'in.csv' is empty, and rows follow"),
        ("x\n1\n1e400\n2\n", "row 2 (line 3) of 'in.csv', column 'x': '1e400' is beyond the range of float64"),
        ("x\n1\n1_0\n2\n", "row 2 (line 3) of 'in.csv', column 'x': '1_0' is not a number"),
        ("x\n1\n0x1\n2\n", "row 2 (line 3) of 'in.csv', column 'x': '0x1' is not a number"),
        ("x\n1\n٣\n2\n", "row 2 (line 3) of 'in.csv', column 'x': '٣' is not a number"),
        ('x,z\n1,2\n"3,4\n4,5\n', "row 2 (line 3) of 'in.csv' is not a row of cells: unexpected end of data"),
        ('x,z\n1,2\n"3"a,4\n4,5\n', "row 2 (line 3) of 'in.csv' is not a row of cells: ',' expected after '\"'"),
    ],
)
def test_a_row_at_fault_in_a_table(
    text: str, message: str, gradcli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends the run with its line, or is left out, or is nan; nothing has the final name in the first case."""
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text(text, encoding="utf-8")
    run = gradcli("map", "x**2", "--points", "in.csv", "-o", "out.csv")
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines()[0] == f"error: {message}"
    assert os.listdir() == ["in.csv"]
    left = gradcli("map", "x**2", "--points", "in.csv", "--on-error", "skip")
    last = text.rsplit(maxsplit=1)[-1].split(",", maxsplit=1)[0]
    square = float(last) ** 2
    assert left.out == f"y,dy_dx\n1.0,2.0\n{square!r},{2 * float(last)!r}\n"
    assert left.err == f"3 rows read, 1 left out, 2 written\nthe first: {message}\n"
    nan = gradcli("map", "x**2", "--points", "in.csv", "--on-error", "nan", "--keep")
    assert [line.split(",")[-2:] for line in nan.out.splitlines()[1:]][1] == ["nan", "nan"]
    assert nan.out.count("\n") == 4
    assert nan.err.startswith("3 rows read, 1 written as nan, 3 written\n")


def test_an_archive_and_an_array_that_are_not_known_are_refused(gradcli: Command, tmp_path: Path) -> None:
    """Two arrays of one name, and a version that nobody has written yet, as for values."""
    twice, unknown = tmp_path / "twice.npz", tmp_path / "unknown.npy"
    twice.write_bytes(doubled("x.npy", "x.npy"))
    unknown.write_bytes(header("(1,)", version=9) + bytes(8))
    for path, words in ((twice, "has two arrays 'x'"), (unknown, "not (9, 0)")):
        run = gradcli("map", "x**2", "--points", str(path))
        assert (run.code, run.out) == (2, "")
        assert words in run.err


@pytest.mark.parametrize("blanks", [1, 2, 5, 150_000])
def test_every_blank_row_before_a_row_is_a_row(blanks: int, gradcli: Command, tmp_path: Path) -> None:
    """So that rows of the output line up with those of the input; blank rows at the end are none."""
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("x\n1\n" + "\n" * blanks + "2\n\n\n", encoding="utf-8")
    run = gradcli("map", "x**2", "--points", str(path), "--on-error", "nan", "-o", str(out))
    assert run.err.startswith(f"{blanks + 2:,} rows read, {blanks:,} written as nan, {blanks + 2:,} written\n")
    assert out.read_text(encoding="utf-8") == "y,dy_dx\n1.0,2.0\n" + "nan,nan\n" * blanks + "4.0,4.0\n"
    skipped = gradcli("map", "x**2", "--points", str(path), "--on-error", "skip")
    assert skipped.out == "y,dy_dx\n1.0,2.0\n4.0,4.0\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"x": "abc"}', "row 2 (line 2) of 'in.jsonl', key 'x', has the text 'abc', and not a number"),
        ('{"x": true}', "row 2 (line 2) of 'in.jsonl', key 'x', has true, and not a number"),
        ('{"x": [1, 2]}', "row 2 (line 2) of 'in.jsonl', key 'x', has shape (2,), and in the first row ()"),
        ('{"z": 1}', "row 2 (line 2) of 'in.jsonl' has no key 'x'"),
        ("[1]", "row 2 (line 2) of 'in.jsonl' is not an object: '[1]'"),
        ('{"x": 1', "row 2 (line 2) of 'in.jsonl' is not JSON: expecting ',' delimiter, at character 8"),
        ('{"x": 1}, {"x": 2}', "row 2 (line 2) of 'in.jsonl' is not JSON: extra data, at character 9"),
        ('{"x": 1e400}', "row 2 (line 2) of 'in.jsonl', key 'x', has a number beyond the range of float64"),
        ('{"x": 1, "x": 2}', "row 2 (line 2) of 'in.jsonl' has the key 'x' twice"),
        ('{"x": ' + "[" * 5_000, "row 2 (line 2) of 'in.jsonl' is nested too deep"),
        ('{"x": ' + "9" * 5_000 + "}", "row 2 (line 2) of 'in.jsonl' has a whole number of thousands of digits"),
        ('{"x": null}', "row 2 (line 2) of 'in.jsonl', key 'x', has null, and not a number"),
    ],
)
def test_a_row_at_fault_in_json_lines(
    line: str, message: str, gradcli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same, with what JSON makes possible."""
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text(f'{{"x": 1}}\n{line}\n{{"x": "Infinity"}}\n')
    run = gradcli("map", "2*x", "--points", "in.jsonl")
    assert (run.code, run.err.splitlines()[0]) == (2, f"error: {message}")
    left = gradcli("map", "2*x", "--points", "in.jsonl", "--on-error", "skip", "--output-format", "jsonl")
    assert left.out == '{"y": 2.0, "dy_dx": 2.0}\n{"y": "Infinity", "dy_dx": 2.0}\n'
    assert left.err == f"3 rows read, 1 left out, 2 written\nthe first: {message}\n"
    nan = gradcli("map", "2*x", "--points", "in.jsonl", "--on-error", "nan", "--output-format", "jsonl")
    assert nan.out.splitlines()[1] == '{"y": "NaN", "dy_dx": "NaN"}'


@pytest.mark.parametrize("form", ROW_FORMATS)
def test_a_row_that_torch_refuses_is_at_fault_too(form: str, gradcli: Command, tmp_path: Path) -> None:
    """A matrix without an inverse, among others."""
    matrices = np.stack([np.eye(2) * k for k in range(4)] * 20)
    path = tmp_path / f"in.{form}"
    _write(path, {"A": matrices})
    first = {"csv": " (line 2)", "tsv": " (line 2)", "jsonl": " (line 1)"}.get(form, "")
    run = gradcli("map", "sum(inv(A))", "--points", str(path))
    assert run.code == 2
    assert f"row 1{first} of '{path}': this matrix has no inverse" in run.err
    nan = gradcli("map", "sum(inv(A))", "--points", str(path), "--on-error", "nan")
    values = [float(line.split(",")[0]) for line in nan.out.splitlines()[1:]]
    np.testing.assert_array_equal(values, [np.nan, 2, 1, 2 / 3] * 20)
    assert nan.err.startswith("80 rows read, 20 written as nan, 80 written\n")


@pytest.mark.parametrize("form", ["records.npy", "plain.npy", "x.npz"])
def test_a_row_that_float64_cannot_hold_is_at_fault(form: str, gradcli: Command, tmp_path: Path) -> None:
    """A number of more than eight bytes; the first column of several is told of, and an infinity is a number."""
    x = np.array([1, np.finfo(np.longdouble).max, 3, np.inf, 5], dtype=np.longdouble)
    if x[1] <= np.finfo(np.float64).max:
        pytest.skip("longdouble is float64 here")
    k = x[[0, 1, 2, 0, 1]]
    path = tmp_path / form
    if form == "x.npz":
        np.savez(path, x=x, k=k)
    elif form == "plain.npy":
        np.save(path, np.stack([k, x], axis=1))
    else:
        records = np.empty(5, [("x", x.dtype), ("k", x.dtype)])
        records["x"], records["k"] = x, k
        np.save(path, records)
    words = ["map", "k*x", "--points", str(path), "--wrt", "x"]
    run = gradcli(*words)
    first = f"row 2 of '{path}', 'k', holds a number beyond the range of float64"
    assert (run.code, run.out) == (2, "")
    assert run.err == f"error: {first}\nhint: scale the numbers before they are saved\n"
    left = gradcli(*words, "--on-error", "skip")
    assert left.out == "y,dy_dx\n1.0,1.0\n9.0,3.0\ninf,1.0\n"
    assert left.err == f"5 rows read, 2 left out, 3 written\nthe first: {first}\n"


@pytest.mark.parametrize(
    ("text", "words", "out"),
    [
        ("1\n2\n", [], "y,dy_dx\n1.0,2.0\n4.0,4.0\n"),
        ("\n1\n2\n", ["--columns", "x"], "y,dy_dx\n1.0,2.0\n4.0,4.0\n"),
        ("1,2\n3,4\n", ["--columns", "n,x"], "y,dy_dx\n4.0,4.0\n16.0,8.0\n"),
        ("5;1.5\n", ["--columns", "x, n"], "y,dy_dx\n25.0,10.0\n"),
    ],
)
def test_a_table_needs_no_row_of_names(text: str, words: list[str], out: str, gradcli: Command, tmp_path: Path) -> None:
    """The one unnamed column is the only variable; of several, the names are given beside it."""
    path = tmp_path / "data.csv"
    path.write_text(text)
    assert gradcli("map", "x**2", "--points", str(path), *words) == Run(0, out, "")


def test_names_beside_a_table_are_those_of_elements_and_of_plain_arrays(gradcli: Command, tmp_path: Path) -> None:
    """With commas inside of brackets, and in the place of the order of the variables."""
    path, array = tmp_path / "data.tsv", tmp_path / "data.npy"
    path.write_text("2\t5\n3\n")
    run = gradcli("map", "x[0,0]*x[0,1]", "--points", str(path), "--columns", "x[0,1],x[0,0]", "--on-error", "skip")
    assert run.out == "y,dy_dx0_0,dy_dx0_1\n10.0,2.0,5.0\n"
    assert run.err.endswith(f"the first: row 2 (line 2) of '{path}' has 1 cell, and there are 2 columns\n")
    np.save(array, [[2.0, 5.0, 7.0]])
    plain = gradcli("map", "out = x - y", "--points", str(array), "--columns", "y,n,x", "--keep")
    assert plain.out == "y,n,x,out,dout_dx,dout_dy\n2.0,5.0,7.0,5.0,1.0,-1.0\n"


@pytest.mark.parametrize(
    ("name", "text", "words", "said"),
    [
        ("a.csv", "1,2\n", [], "hint: name the columns by --columns x,y, or in the first row"),
        ("a.csv", "x,y\n1,2\n", ["--columns", "x,y"], "names its columns, and --columns names them too"),
        ("a.jsonl", '{"x": 1, "y": 2}\n', ["--columns", "x,y"], "names its columns, and --columns names them too"),
        ("a.csv", "1,2\n", ["--columns", "x"], "no value for the variable 'y'"),
        ("a.csv", "1,2\n", ["--columns", ","], "--columns names no column"),
        ("a.csv", "1,2\n", ["--columns", "x,y,z"], "row 1 (line 1) of 'a.csv' has 2 cells, and there are 3 columns"),
    ],
)
def test_names_that_do_not_fit_are_refused(
    name: str, text: str, words: list[str], said: str, gradcli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to write."""
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    run = gradcli("map", "x*y", "--points", name, *words)
    assert (run.code, run.out) == (2, "")
    assert said in run.err


def test_formats_and_quiet_are_those_of_other_commands(gradcli: Command, tmp_path: Path) -> None:
    """`--format` says how the rows are written; `--quiet` leaves out all but errors."""
    path = tmp_path / "data.csv"
    path.write_text("x\n3\nabc\n")
    words = ["map", "x**2", "--points", str(path), "--on-error", "skip", "--check"]
    assert gradcli(*words, "--format", "jsonl").out == '{"y": 9.0, "dy_dx": 6.0}\n'
    assert gradcli(*words, "--format", "tsv", "--quiet") == Run(0, "y\tdy_dx\n9.0\t6.0\n", "")
    failed = gradcli("map", "x**2", "--points", str(path), "-q")
    assert (failed.code, failed.err.startswith("error: row 2 (line 3) of ")) == (2, True)


def test_elements_of_vectors_are_columns(gradcli: Command, tmp_path: Path) -> None:
    """In brackets, in any order; or with digits, where no variable is called so."""
    path = tmp_path / "data.csv"
    path.write_text("x[1],x[0]\n5,2\n")
    assert gradcli("map", "x[0]**2*x[1]", "--points", str(path)).out == "y,dy_dx0,dy_dx1\n20.0,20.0,4.0\n"
    path.write_text("x1,x0,n\n5,2,x\n")
    assert gradcli("map", "x[0]**2*x[1]", "--points", str(path)).out == "y,dy_dx0,dy_dx1\n20.0,20.0,4.0\n"
    path.write_text('"A[0,0]","A[0,1]"\n5,2\n')
    assert gradcli("map", "sum(A)", "--points", str(path)).out == "y,dy_dA0_0,dy_dA0_1\n7.0,1.0,1.0\n"
    path.write_text("x0,x1\n5,2\n")
    assert gradcli("map", "x0*x1", "--points", str(path)).out == "y,dy_dx0,dy_dx1\n10.0,2.0,5.0\n"


def test_names_that_would_be_the_same_get_brackets(gradcli: Command, tmp_path: Path) -> None:
    """The derivative by x[1] and that by x1."""
    path = tmp_path / "data.npz"
    np.savez(path, x=np.array([[1.0, 2.0]]), x1=np.array([3.0]))
    run = gradcli("map", "sum(x)*x1", "--points", str(path))
    assert run.out == "y,dy_dx[0],dy_dx[1],dy_dx1\n9.0,3.0,3.0,3.0\n"


@pytest.mark.parametrize(
    ("header", "words", "message"),
    [
        ("x,x", [], "'t.csv' has two columns 'x'"),
        ("x[0],x[0]", [], "'t.csv' has two columns for x[0]"),
        ("x[0],x[2]", [], "'t.csv' has 2 columns for elements of 'x', and none for x[1]"),
        ("x,z", ["--at", "x=1"], "'x' is a column of 't.csv', and --at gives it a value"),
        ("z,w", [], "no value for the variable 'x': 't.csv' has no such column, and --at does not give it"),
        ("z,w", ["--at", "x=1"], "no variable of the expression is a column of 't.csv'"),
        ("x,z", ["--wrt", "z"], "--wrt names 'z', and the expression has no such variable"),
        ("x,y", ["--keep"], "--keep keeps the column 'y', and a column of the output has that name"),
        ("1,2", [], "'t.csv' has no row of names: its first row is '1,2'"),
    ],
)
def test_what_is_wrong_with_columns(
    header: str, words: list[str], message: str, gradcli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message each, and no output."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(f"{header}\n1,2\n")
    run = gradcli("map", "x**2", "--points", "t.csv", *words)
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines()[0] == f"error: {message}"


@pytest.mark.parametrize("form", ROW_FORMATS)
def test_no_rows_give_no_rows(form: str, gradcli: Command, tmp_path: Path) -> None:
    """A row of names alone, an array of length 0; an empty text is an error."""
    path, out = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
    _write(path, {"x": np.empty(0)})
    run = gradcli("map", "x**2", "--points", str(path), "-o", str(out), "--check")
    if form == "jsonl":
        assert (run.code, out.exists()) == (2, False)
        assert "is empty" in run.err
        return
    unchecked = "check: unchecked; entries 0 of 0; largest relative error none\n  there are no rows to check\n"
    assert (run.code, run.err) == (0, unchecked)
    again = gradcli("map", "x**2", "--points", str(path), "--check", "--strict")
    assert (again.code, again.err) == (1, unchecked)
    assert {name: len(column) for name, column in _read(out).items()} == {"y": 0, "dy_dx": 0}


def test_texts_of_many_kinds_are_read(gradcli: Command, tmp_path: Path) -> None:
    """A mark at the beginning, carriage returns, blanks, quotes with newlines in them, semicolons, no last newline."""
    path = tmp_path / "data.csv"
    for text in (
        b"\xef\xbb\xbfx,n\r\n1,a\r\n2,b\r\n",
        b"x,n\n 1 , a\n2,b",
        b'"x",n\n"1","a\nb"\n2,b\n\n\n',
        b"x;n\n1;a\n2;b\n",
        b"\n\nx,n\n1,a\n2,\xff\n",
        b"x,n\r1,a\r2,b\r",
    ):
        path.write_bytes(text)
        run = gradcli("map", "3*x", "--points", str(path))
        assert (run.code, run.out) == (0, "y,dy_dx\n3.0,3.0\n6.0,3.0\n"), text


def test_cells_that_are_kept_are_as_they_were(gradcli: Command, tmp_path: Path) -> None:
    """Quotes, commas, newlines, any encoding; numbers keep their digits."""
    path, out = tmp_path / "data.csv", tmp_path / "out.csv"
    path.write_bytes(b'x,name\n1.50,"a, ""b""\nc"\n2,d\n' + b"3,\xff\n")
    assert gradcli("map", "x", "--points", str(path), "--keep", "-o", str(out)).code == 0
    assert out.read_bytes() == b'x,name,y,dy_dx\n1.50,"a, ""b""\nc",1.5,1.0\n2,d,2.0,1.0\n3,\xff,3.0,1.0\n'
    arrays = gradcli("map", "x", "--points", str(path), "--keep", "-o", str(tmp_path / "out.npy"))
    assert (arrays.code, "is not a number" in arrays.err) == (2, True)


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


def test_plain_arrays_have_columns_in_the_order_of_the_variables(gradcli: Command, tmp_path: Path) -> None:
    """Those without --at; in C and in Fortran order; a vector if there is one variable."""
    table = np.arange(1.0, 13.0).reshape(6, 2)
    path = tmp_path / "t.npy"
    for array in (table, np.asfortranarray(table), table.astype(np.int32)):
        np.save(path, array)
        run = gradcli("map", "a*x - b", "--points", str(path), "--at", "x=10")
        assert run.out.splitlines()[:3] == ["y,dy_da,dy_db", "8.0,10.0,-1.0", "26.0,10.0,-1.0"]
        run = gradcli("map", "x[0]*x[1]", "--points", str(path))
        assert run.out.splitlines()[:2] == ["y,dy_dx0,dy_dx1", "2.0,2.0,1.0"]
    run = gradcli("map", "a*b*c", "--points", str(path))
    assert (run.code, "there are 3 variables" in run.err) == (2, True)
    fortran = tmp_path / "t.npz"
    np.savez(fortran, x=np.asfortranarray(table))
    assert gradcli("map", "x[0]*x[1]", "--points", str(fortran)).out.splitlines()[2] == "12.0,4.0,3.0"


def test_arrays_that_are_no_rows_are_refused(gradcli: Command, tmp_path: Path) -> None:
    """Different lengths, text, objects, cut short."""
    path = tmp_path / "t.npz"
    np.savez(path, x=np.ones(3), z=np.ones(4), other=np.ones((9, 9)))
    assert "3 rows of 'x' and 4 of 'z'" in gradcli("map", "x*z", "--points", str(path)).err
    assert gradcli("map", "x", "--points", str(path)).code == 0
    np.savez(path, x=np.array(["a"]))
    assert "holds text" in gradcli("map", "x", "--points", str(path)).err
    plain = tmp_path / "t.npy"
    np.save(plain, np.array([1, "a"], dtype=object))
    assert "pickled" in gradcli("map", "x", "--points", str(plain)).err
    np.save(plain, np.ones(1000))
    plain.write_bytes(plain.read_bytes()[:-3])
    run = gradcli("map", "x", "--points", str(plain), "-o", str(tmp_path / "out.csv"))
    assert (run.code, "cut short" in run.err) == (2, True)
    assert not (tmp_path / "out.csv").exists()


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


def test_what_is_no_file_is_refused(gradcli: Command) -> None:
    """What is no file of rows; a device may flow for ever."""
    assert gradcli("map", "x", "--points", "/dev/null").code == 2
    assert gradcli("map", "x", "--points", "nowhere.csv").code == 2
    assert "does not say what format" in gradcli("map", "x", "--points", "data.dat").err


# -- processes


def _piped(data: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([warm.gradcli(), "map", *words], input=data, capture_output=True, timeout=120, check=False)


def test_rows_go_through_a_pipe() -> None:
    """CSV in and CSV out, and other formats when asked for."""
    done = _piped(b"x\n1\n2\n", "x**2", "--points", "-")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"y,dy_dx\n1.0,2.0\n4.0,4.0\n", b"")
    done = _piped(b'{"x": 3}\n', "x**2", "--points", "-", "--points-format", "jsonl", "--output-format", "npy")
    assert np.load(io.BytesIO(done.stdout)).tolist() == [(9.0, 6.0)]
    buffer = io.BytesIO()
    np.save(buffer, np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]))
    done = _piped(buffer.getvalue(), "x*z", "--points", "-", "--points-format", "npy", "--output-format", "npz")
    with np.load(io.BytesIO(done.stdout)) as found:
        assert found["y"].tolist() == [2.0, 12.0]


def test_standard_input_is_read_once() -> None:
    """EXPR and the rows cannot both come from it."""
    done = _piped(b"x**2", "@-", "--points", "-")
    assert done.returncode == 2
    assert b"standard input can be read once, and EXPR has read it" in done.stderr


def test_a_slow_pipe_is_answered_as_it_comes() -> None:
    """The answer to a row does not wait for the next."""
    words = [warm.gradcli(), "map", "x**2", "--points", "-"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"x\n3\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == [b"y,dy_dx\n", b"9.0,6.0\n"]
        process.stdin.write(b"4\n")
        process.stdin.close()
        assert process.stdout.read() == b"16.0,8.0\n"
        assert process.wait(60) == 0


def test_a_reader_that_goes_away_is_no_news(tmp_path: Path) -> None:
    """`| head -1`: exit 141, and not a word."""
    path = tmp_path / "data.csv"
    path.write_text("x\n" + "1.5\n" * 300_000)
    with subprocess.Popen(
        [warm.gradcli(), "map", "x**2", "--points", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        header = process.stdout.readline()
        assert header == b"y,dy_dx\n", process.stderr.read()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [[], ["-o", "/dev/full", "--output-format", "csv"]])
def test_a_full_disk_is_reported(words: list[str]) -> None:
    """Exit 74 with a message, on standard output and on a file."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [warm.gradcli(), "map", "x", "--points", "-", *words],
            input=b"x\n1\n",
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 74
    assert done.stderr.startswith(b"error: the output could not be written")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_what_is_interrupted_leaves_nothing_half_written(number: int, code: int, tmp_path: Path) -> None:
    """The file that was there stays; the temporary one goes, unless the process cannot know of its end."""
    out = tmp_path / "out.csv"
    out.write_text("before")
    with subprocess.Popen(
        [*MAP, "sin(x)", "--points", "-", "-o", str(out)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"x\n" + b"1\n" * 100_000)
        process.stdin.flush()
        until = time.monotonic() + 60
        while not any(path.stat().st_size > 1_000 for path in tmp_path.glob(".out.csv.*.part")):
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(number)
        assert process.wait(60) == code
        assert process.stderr.read() == b""
        assert out.read_text() == "before"
        if number != signal.SIGKILL:
            assert os.listdir(tmp_path) == ["out.csv"]


WIDE = [
    ("out.csv", ["sin(x)", "--keep"], 4_000, 1_000),  # a megabyte of text is a block
    ("out.npz", ["sin(x)*w", "--at", "w=ones(20)", "--wrt", "x"], 10_000, 300),  # 40 numbers from each
]
"""Rows that are soon read and soon answered, and large: their count and the width of a column of text."""


@pytest.mark.skipif(sys.platform != "linux", reason="its /proc says the peak")
@pytest.mark.parametrize(("out", "words", "rows", "width"), WIDE, ids=["csv", "npz"])
def test_four_times_the_rows_need_no_more_memory(
    out: str, words: list[str], rows: int, width: int, tmp_path: Path
) -> None:
    """A stream, to text and to an archive: its first quarter fills what one core has in flight."""
    block = "".join(f"{k}.25,{'n' * width}\n" for k in range(rows)).encode()
    command = [*MAP, *words, "--points", "-", "-o", str(tmp_path / out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
        assert process.stdin is not None
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


def test_a_run_stays_below_a_limit(tmp_path: Path) -> None:
    """A file of 160 MB, in 1.5 GB of address space of which torch takes most."""
    path = tmp_path / "x.npy"
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(20_000_000,))
    array.flush()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))

    done = subprocess.run(
        [*MAP, "x*exp(x)", "--points", str(path), "-o", str(tmp_path / "out.npy")],
        preexec_fn=limit,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    found = np.load(tmp_path / "out.npy", mmap_mode="r")
    assert (len(found), found["dy_dx"][-1]) == (20_000_000, 1.0)
