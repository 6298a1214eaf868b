"""`map` on several files, on some rows, and into a folder: the parts joined are the whole."""

import errno
import hashlib
import itertools
import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from gradcli.files import Files
from gradcli.parts.tables import folder as folder_of_parts, schedule, text_rows
from gradcli.parts.tables.rows import PointSource
from gradcli.parts.tables.schedule import Work, function_of, into_folder
from tests.conftest import Command, Run
from tests.examples import examples
from tests.parts.tables.test_map import MAP, _read, _write

CELLS = st.sampled_from(["1", "2.5", "-3", "abc", "", '"4"', '"5\n"', '"a\n\n6"', "nan"])
ROWS = st.tuples(CELLS, CELLS).map(",".join)
LINES = st.lists(ROWS | st.sampled_from(["", "  ", "1,2,3", ","]), max_size=30)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES, parts=st.integers(1, 5), on_error=st.sampled_from(["skip", "nan"]), chunk=st.integers(1, 40))
def test_the_parts_of_a_text_joined_are_the_whole(
    lines: list[str], parts: int, on_error: str, chunk: int, gradcli: Command, folder: Path
) -> None:
    """Byte for byte, whatever is quoted, blank or at fault, and wherever a text is cut; no row is lost or twice."""
    Path("in.csv").write_text("x,n\n" + "\n".join(lines))
    words = ["map", "x**2", "--points", "in.csv", "--keep", "--on-error", on_error]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rows, "CHUNK", chunk)
        whole = gradcli(*words)
        cut = [gradcli(*words, "--part", f"{part}/{parts}") for part in range(1, parts + 1)]
        cut_at_rows = [gradcli(*words, "--rows", rows) for rows in ("1..3", "4..4", "5..")]
        patch.setattr(text_rows, "PIECE", 2 * chunk)
        points = PointSource.from_path("in.csv", None, ["x"])
        with points.rows("in.csv", Files()) as rows:
            found = list(schedule.pieces_of(points, rows.source))
    assert {run.code for run in (whole, *cut, *cut_at_rows)} == {0}
    assert "".join(run.out for run in cut) == whole.out
    assert "".join(run.out for run in cut_at_rows) == whole.out
    ends = [piece.last or 0 for piece in found]
    assert [piece.first for piece in found] == [1, *(end + 1 for end in ends[:-1])]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_of_every_format_are_cut(form: str, gradcli: Command, folder: Path) -> None:
    """In numbers; what is counted from is the same in messages."""
    _write(folder / f"in.{form}", {"x": np.arange(1.0, 11.0)})
    words = ["map", "x**2", "--points", f"in.{form}", "-o", "out.parquet"]
    for cut, expected in (
        ("--rows 4..6", [4, 5, 6]),
        ("--rows 9..", [9, 10]),
        ("--part 2/3", [4, 5, 6]),
        ("--rows 2", [2]),
    ):
        assert gradcli(*words, *cut.split()) == Run(0, "", "")
        np.testing.assert_array_equal(_read(folder / "out.parquet")["y"], np.square(expected))
    assert gradcli(*words, "--rows", "99..") == Run(0, "", "")
    assert _read(folder / "out.parquet")["y"].shape == (0,)


def _table(folder: Path, form: str) -> None:
    """Two years of rows, a file each, and what is none of the table."""
    for year in (2023, 2024):
        (folder / f"data/{year}").mkdir(parents=True)
        x = np.arange(3.0) + year
        _write(folder / f"data/{year}/rows.{form}", {"x": x, "id": np.arange(3.0)})
    (folder / "data/_SUCCESS").touch()
    (folder / "data/.crc").touch()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_folder_and_a_pattern_are_one_table(form: str, gradcli: Command, folder: Path) -> None:
    """Their files in order."""
    _table(folder, form)
    for points in ("data/", f"data/*/*.{form}", f"data/**/*.{form}"):
        run = gradcli("map", "x - 2000", "--points", points, "--keep")
        assert run.out.splitlines()[0] == "x,id,y,dy_dx"
        rows = [list(map(float, line.split(","))) for line in run.out.splitlines()[1:]]
        assert rows == [[year + k, k, year + k - 2000, 1] for year in (2023, 2024) for k in range(3)]
    run = gradcli("map", "x - 2000", "--points", "data/", "--keep", "--rows", "3..5")
    assert [line.split(",")[0] for line in run.out.splitlines()] == ["2025.0", "2024.0", "2025.0"]


def test_a_row_at_fault_has_its_file(gradcli: Command, folder: Path) -> None:
    """And its place in that, in messages of the reader, of torch and of the check."""
    Path("a.csv").write_text("x\n1\n")
    Path("b.csv").write_text("x\n2\nabc\n0\n")
    words = ["map", "abs(x)", "--points", "*.csv"]
    run = gradcli(*words, "--on-error", "skip", "--check")
    assert "4 rows read, 1 left out, 3 written\nthe first: row 2 (line 3) of 'b.csv', column 'x'" in run.err
    assert "row 3 (line 4) of 'b.csv', ∂y/∂x, kink" in run.err
    Path("b.csv").write_text("z\n2\n")
    run = gradcli(*words)
    assert (run.code, "'b.csv' has no column 'x' of the shape that the first file has" in run.err) == (2, True)


def test_what_a_folder_holds_is_read_or_told(gradcli: Command, folder: Path) -> None:
    """Links are followed, a circle of them once; a link to nothing is an error, an empty file has no rows."""
    for name in ("data/sub", "real"):
        Path(name).mkdir(parents=True)
    Path("real/c.csv").write_text("x\n7\n")
    Path("data/a.csv").write_text("x\n1\n")
    Path("data/b.csv").touch()
    Path("data/link").symlink_to("../real")
    Path("data/sub/circle").symlink_to("..")
    assert gradcli("map", "x**2", "--points", "data/").out == "y,dy_dx\n1.0,2.0\n49.0,14.0\n"
    Path("data/z.csv").symlink_to("gone.csv")
    run = gradcli("map", "x**2", "--points", "data/", "-o", "out.csv")
    assert (run.code, "there is no file 'data/z.csv'" in run.err) == (2, True)


def test_a_file_without_rows_is_no_hindrance(gradcli: Command, folder: Path) -> None:
    """Lists of no rows have no shape."""
    for name, x in (("a", []), ("b", [[3.0]])):
        pq.write_table(pa.table({"x": pa.array(x, pa.list_(pa.float64()))}), f"{name}.parquet")
    assert gradcli("map", "sum(x)", "--points", "*.parquet", "--wrt", "x").out == "y,dy_dx0\n3.0,1.0\n"


@pytest.mark.parametrize("spoil", ["{", "[]", "{}", ""])
@pytest.mark.one_in(2)
def test_a_damaged_manifest_is_told(spoil: str, gradcli: Command, folder: Path) -> None:
    """And a note of a part that is damaged is none."""
    _three(folder)
    with pytest.raises(RuntimeError, match="stop"):
        _into("out/", advance=_stop_after(2))
    Path("out/.part-00000.parquet.json").write_text(spoil)
    words = ["map", "abs(x)", "--points", "data/*.parquet", "--keep", "--check", "--on-error", "skip", "-o", "out/"]
    assert gradcli(*words, "--resume").code == 0
    Path("out/_gradcli.json").write_text(spoil)
    run = gradcli(*words, "--resume")
    assert (run.code, "is not one of a run, or is damaged" in run.err) == (2, True), run.err


# -- a folder of parts


def _into(folder: str, points: str = "data/*.parquet", **options: Any) -> Any:
    """The stream of a run, and its manifest."""
    found = PointSource.from_path(points, None, ["x"])
    work = Work.from_question("abs(x)", {"on_error": "skip", "check": True}, keep=True, form="parquet")
    function = function_of(work.expression, work.code)
    return into_folder(work, found, points, function, folder, **options)


def _three(folder: Path) -> None:
    (folder / "data").mkdir()
    x = np.random.default_rng(1).normal(size=(3, 1000))
    x[1, 500] = 0  # a kink
    for place, column in enumerate(x):
        pq.write_table(pa.table({"x": column, "n": [str(place)] * 1000}), folder / f"data/{place}.parquet")


def _manifest(folder: str) -> Any:
    return json.loads(Path(folder, "_gradcli.json").read_text())


def test_a_folder_has_parts_and_a_manifest(gradcli: Command, folder: Path) -> None:
    """The rows are those of one file, the sample is that of all parts, and each checksum is that of its file."""
    _three(folder)
    words = ["map", "abs(x)", "--points", "data/*.parquet", "--keep", "--check"]
    one = gradcli(*words, "-o", "one.parquet")
    many = gradcli(*words, "-o", "many/")
    assert (one.code, many.code) == (0, 0)
    assert "row 501 (row group 0) of 'data/1.parquet', ∂y/∂x, kink" in many.err
    assert pq.read_table("many").to_pydict() == pq.read_table("one.parquet").to_pydict()
    found = _manifest("many")
    assert found["complete"]
    assert found["rows"] == {"read": 3000, "written": 3000, "faulty": 0}
    assert (found["check"]["verdict"], found["plan"]["expression"]) == ("kink", "abs(x)")
    for part in found["parts"]:
        data = Path("many", part["name"]).read_bytes()
        assert (part["bytes"], part["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    for file in found["plan"]["inputs"]:
        data = Path(file["path"]).read_bytes()
        footer = data[-8 - int.from_bytes(data[-8:-4], "little") :]
        assert (file["bytes"], file["footer_sha256"]) == (len(data), hashlib.sha256(footer).hexdigest())


def test_a_run_goes_on_from_the_parts_that_are_whole(gradcli: Command, folder: Path) -> None:
    """With their counts and their sample; a part that is cut short is written again, another run's never is."""
    _three(folder)
    _into("whole/")
    expected = _manifest("whole")
    with pytest.raises(RuntimeError, match="stop"):
        _into("out/", advance=_stop_after(2))
    parts = ["part-00000.parquet", "part-00001.parquet"]
    assert sorted(os.listdir("out")) == [*(f".{name}.json" for name in parts), "_gradcli.json", *parts]
    damaged = Path("out/part-00001.parquet")
    damaged.write_bytes(bytes(damaged.stat().st_size))
    before = Path("out/part-00000.parquet").stat().st_mtime_ns
    words = ["map", "abs(x)", "--points", "data/*.parquet", "--keep", "--check", "--on-error", "skip", "-o", "out/"]
    again = gradcli(*words)
    assert (again.code, "--resume" in again.err) == (2, True)
    other = gradcli(*words, "--dtype", "float32", "--resume")
    assert (other.code, "is of a run with another 'dtype': " in other.err) == (2, True)
    stream = _into("out/", resume=True)
    assert "row 501 (row group 0) of 'data/1.parquet'" in stream.passage().called.values()
    assert _manifest("out") == expected
    assert Path("out/part-00000.parquet").stat().st_mtime_ns == before
    assert sorted(os.listdir("out")) == sorted(os.listdir("whole"))
    _into("out/", resume=True)
    assert _manifest("out") == expected
    pq.write_table(pa.table({"x": [1.0], "n": ["a"]}), "data/0.parquet")
    assert "is of a run with another 'inputs': " in gradcli(*words, "--resume").err


def _stop_after(parts: int) -> Any:
    def advance(tally: object, share: float) -> None:
        if share == parts / 3:
            raise RuntimeError("stop")

    return advance


@pytest.mark.thorough
def test_what_is_killed_is_resumed(folder: Path, gradcli: Command) -> None:
    """At any moment: every part with its name is whole, and the rest is written."""
    (folder / "data").mkdir()
    for place in range(12):
        x = np.random.default_rng(place).normal(size=40_000)
        pq.write_table(pa.table({"x": x}), f"data/{place:02}.parquet")
    words = ["sin(x)*exp(-x**2)", "--points", "data/*.parquet", "-o", "out/"]
    with subprocess.Popen([*MAP, *words]) as process:
        until = time.monotonic() + 60
        while len(list(folder.glob("out/part-*"))) < 3 and time.monotonic() < until:
            time.sleep(0.005)
        process.kill()
    for path in folder.glob("out/part-*"):
        assert pq.read_metadata(path).num_rows == 40_000
    run = gradcli("map", *words, "--resume")
    assert (run.code, run.err) == (0, "")
    assert _manifest("out")["rows"]["written"] == 480_000
    assert len(os.listdir("out")) == 13


def _fill(folder: Path) -> None:
    """Three files, the second of which makes a part too large for the limit."""
    for place, count in enumerate((3, 3_000, 3)):
        _write(folder / f"in-{place}.csv", {"x": np.arange(float(count))})


def _limited(kilobytes: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `map` as on a disk that has no room for a file beyond some size."""
    script = ["bash", "-c", f'ulimit -f {kilobytes}; exec "$@"', "bash", *MAP, "x**2", "--points", "in-*.csv", *words]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # else Python leaves compiled files that are cut off
    return subprocess.run(script, capture_output=True, text=True, timeout=120, check=False, env=environment)


@pytest.mark.thorough
def test_a_full_disk_says_how_many_parts_are_missing(gradcli: Command, folder: Path) -> None:
    """The parts before it are whole, none after it is begun, and with room --resume writes those that are missing."""
    _fill(folder)
    run = _limited(16, "-o", "out/")
    assert (run.returncode, run.stdout) == (74, "")
    assert run.stderr == (
        "error: 2 of 3 parts are missing in 'out/': part-00001.csv could not be written: File too large\n"
        "hint: the same command with --resume writes them, once there is room\n"
    )
    assert sorted(path.name for path in folder.glob("out/part-*")) == ["part-00000.csv"]
    again = gradcli("map", "x**2", "--points", "in-*.csv", "-o", "out/", "--resume")
    assert (again.code, again.out) == (0, "")
    assert gradcli("map", "x**2", "--points", "in-*.csv", "-o", "whole/").code == 0
    for name in (f"part-0000{n}.csv" for n in range(3)):
        assert (folder / "out" / name).read_bytes() == (folder / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("full_at", "message"),
    [
        (1, "all parts of 'out/' are missing: _gradcli.json could not be written: No space left on device"),
        (2, "_gradcli.json of 'out/' could not be written, and all parts are whole: No space left on device"),
    ],
)
def test_a_disk_without_room_for_the_manifest_says_so(
    full_at: int, message: str, gradcli: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the beginning nothing is there, at the end only the manifest lacks; --resume goes on from either."""
    _fill(folder)
    count, write = itertools.count(1), folder_of_parts._write

    def fail(path: str, facts: Mapping[str, Any]) -> None:
        if path.endswith("_gradcli.json") and next(count) == full_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, facts)

    monkeypatch.setattr(folder_of_parts, "_write", fail)
    words = ["map", "x**2", "--points", "in-*.csv", "-o", "out/"]
    run = gradcli(*words)
    assert (run.code, run.out) == (74, "")
    assert run.err.startswith(f"error: {message}\nhint: the same command with --resume writes ")
    assert len(list(folder.glob("out/part-*"))) == 3 * (full_at - 1)
    assert gradcli(*words, "--resume").code == 0
    assert _manifest("out")["complete"]
