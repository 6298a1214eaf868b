"""Parts that workers write: those of one process, whatever befalls the workers, or an error that says so."""

import json
import os
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gradcli import guide
from gradcli.errors import OutputError
from gradcli.parts.tables import schedule
from gradcli.parts.tables.rows import PointSource
from gradcli.parts.tables.schedule import Work, function_of, into_folder
from tests import warm
from tests.conftest import Command

FILES, ROWS = 8, 12

SLOW = "import time\n\n\ndef f(x):\n    time.sleep(0.01)\n    return x**2\n"
"""A function that takes its time at every row, so that something can happen meanwhile."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up a scheduler after some seconds."""
    monkeypatch.setattr(schedule, "_PATIENCE", 4)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files, and a file of Python."""
    folder = tmp_path_factory.mktemp("inputs")
    x = np.random.default_rng(0).normal(size=(FILES, ROWS))
    for place, column in enumerate(x):
        pq.write_table(pa.table({"x": column}), folder / f"in-{place}.parquet")
    (folder / "slow.py").write_text(SLOW)
    return folder


@pytest.fixture
def table(inputs: Path) -> str:
    """The pattern of the files."""
    return f"{inputs}/in-*.parquet"


@pytest.fixture(scope="module")
def slow(inputs: Path) -> str:
    """The name of the function."""
    return f"{inputs}/slow.py::f"


@pytest.fixture(scope="module")
def alone(inputs: Path, slow: str) -> list[str]:
    """The parts of the function that this process writes."""
    return _run(slow, f"{inputs}/in-*.parquet", inputs / "alone")


@pytest.fixture(scope="module")
def cluster() -> Iterator[distributed.LocalCluster]:
    """Two workers, forked from a process that has imported what they need."""
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        distributed.utils.get_mp_context().set_forkserver_preload(["distributed", "gradcli.autodiff.run"])
        options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
        with distributed.LocalCluster(n_workers=2, **options) as started:
            yield started


def _run(expression: str, table: str, folder: Path, scheduler: str | None = None, **options: Any) -> list[str]:
    """The parts of a run, by name and checksum."""
    points = PointSource.from_path(table, None, ["x"])
    work = Work.from_question(expression, {"on_error": "fail"}, keep=False, form="parquet")
    function = function_of(work.expression, work.code)
    into_folder(work, points, table, function, f"{folder}/", scheduler=scheduler, **options)
    return _parts(folder)


def _parts(folder: Path) -> list[str]:
    manifest = json.loads((folder / "_gradcli.json").read_text())
    assert manifest["rows"] == {"read": FILES * ROWS, "written": FILES * ROWS, "faulty": 0}
    names = [part["name"] for part in manifest["parts"]]
    assert sorted(os.listdir(folder)) == sorted([*names, "_gradcli.json"])
    return [f"{part['name']} {part['sha256']}" for part in manifest["parts"]]


@contextmanager
def _when_a_part_is_there(folder: Path, act: Callable[[], object]) -> Iterator[None]:
    """Do something once, beside what goes on."""

    def wait() -> None:
        until = time.monotonic() + 60
        while not list(folder.glob("part-*")) and time.monotonic() < until:
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    yield
    thread.join()


def test_workers_write_what_one_process_writes(
    table: str, slow: str, alone: list[str], cluster: distributed.LocalCluster, tmp_path: Path, gradcli: Command
) -> None:
    """From the shell, of a file of Python that is sent to them."""
    assert len(alone) == FILES
    words = ["-o", f"{tmp_path}/many/", "--scheduler", cluster.scheduler_address, "--check", "--strict"]
    run = gradcli("map", slow, "--points", table, *words)
    assert run.code == 0, run.err
    assert run.err.startswith("check: agree")
    assert _parts(tmp_path / "many") == alone


@pytest.mark.thorough
def test_a_worker_that_is_killed_is_replaced(
    table: str, slow: str, alone: list[str], cluster: distributed.LocalCluster, tmp_path: Path
) -> None:
    """And what it has not written is computed anew."""
    with distributed.Client(cluster) as client:
        pid = next(iter(client.run(os.getpid).values()))
        with _when_a_part_is_there(tmp_path / "killed", lambda: os.kill(pid, signal.SIGKILL)):
            assert _run(slow, table, tmp_path / "killed", cluster.scheduler_address) == alone


def test_the_command_of_the_guide_finds_a_scheduler(
    table: str, cluster: distributed.LocalCluster, tmp_path: Path, gradcli: Command
) -> None:
    """With its own address and paths."""
    (line,) = re.findall(r"^\$ (gradcli .* --scheduler .*)$", guide.text("large-tables"), re.MULTILINE)
    for theirs, ours in (("'/shared/*.parquet'", table), ("/shared/out/", f"{tmp_path}/out/"), ("*z", "*1")):
        line = line.replace(theirs, ours)
    run = gradcli(*shlex.split(line.replace("tcp://host:8786", cluster.scheduler_address))[1:])
    assert (run.code, run.out) == (0, "")
    assert len(_parts(tmp_path / "out")) == FILES


def test_the_guide_says_whom_a_scheduler_is_trusted_with() -> None:
    """Where it says how one is named: what Dask unpacks from there may run anything."""
    section = guide.text("large-tables").partition("## Many machines")[2].partition("\n## ")[0]
    assert "trusted with code" in section


def _fill(size: int) -> None:
    """Let no file of a worker be larger."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_a_full_disk_of_a_worker_is_told_and_the_rest_resumed(
    table: str, cluster: distributed.LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The missing parts are counted; with room, they are written, and versions that differ are said."""
    out, address = tmp_path / "out", cluster.scheduler_address
    with distributed.Client(cluster) as client:
        client.run(_fill, 100)
        with pytest.raises(
            OutputError,
            match=rf"{FILES} of {FILES} parts are missing in '.*': part-0000\d.parquet could not be written",
        ):
            _run("x**2", table, out, address)
        assert not list(out.glob("part-*"))
        client.run(_fill, resource.RLIM_INFINITY)
    monkeypatch.setattr(schedule, "_PACKAGES", ("gradcli", "numpy", "rich"))  # of which workers name no rich
    said: list[str] = []
    assert _run("x**2", table, out, address, resume=True, remark=said.append) == _run("x**2", table, tmp_path / "one")
    assert [re.sub(r"tcp://\S+|[\d.]+", "…", line) for line in said] == ["the worker … has rich none, here …\n"] * 2


@contextmanager
def _processes() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address and the process of a scheduler that has a worker."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    started = [
        subprocess.Popen(
            [sys.executable, "-m", *f"distributed.cli.dask_{words} {address} --no-dashboard".split()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for words in ("scheduler --host", "worker --nworkers 1 --nthreads 2 --no-nanny")
    ]
    try:
        yield address, started[0]
    finally:
        for one in reversed(started):
            one.kill()
            one.wait()


@pytest.mark.thorough
def test_a_scheduler_that_goes_away_is_told_and_the_rest_resumed(
    table: str, slow: str, alone: list[str], tmp_path: Path
) -> None:
    """Whole parts stay."""
    out = tmp_path / "out"
    is_told = pytest.raises(OutputError, match=r"parts are missing in '.*': part-0000\d.parquet could not be written")
    with _processes() as (address, scheduler), _when_a_part_is_there(out, scheduler.kill), is_told:
        _run(slow, table, out, address)
    left = {path.name: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert 0 < len(left) < FILES
    assert _run(slow, table, out, resume=True) == alone
    assert {name: (out / name).stat().st_mtime_ns for name in left} == left


@pytest.mark.thorough
def test_an_interrupt_leaves_what_is_whole(
    table: str, slow: str, alone: list[str], cluster: distributed.LocalCluster, tmp_path: Path
) -> None:
    """And the tasks end with the command."""
    out = tmp_path / "out"
    words = [warm.gradcli(), "map", slow, "--points", table, "-o", f"{out}/", "--scheduler", cluster.scheduler_address]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        with _when_a_part_is_there(out, lambda: process.send_signal(signal.SIGINT)):
            assert process.wait(60) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""
    time.sleep(0.5)
    left = sorted(path.name for path in out.glob("part-*"))
    time.sleep(0.5)
    assert sorted(path.name for path in out.glob("part-*")) == left
    assert 0 < len(left) < FILES
    assert _run(slow, table, out, resume=True) == alone


def test_the_first_row_at_fault_is_the_error_of_all(
    cluster: distributed.LocalCluster, tmp_path: Path, gradcli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any worker may be first; and no scheduler is an error too."""
    for place in range(4):
        (tmp_path / f"{place}.csv").write_text("x\n1\n" + "abc\n" * (place > 1))
    words = ["map", "x**2", "--points", f"{tmp_path}/*.csv", "-o", f"{tmp_path}/out/"]
    run = gradcli(*words, "--scheduler", cluster.scheduler_address)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error: row 2 (line 3) of '{tmp_path}/2.csv', column 'x': 'abc' is not a number")
    monkeypatch.setattr(schedule, "_PATIENCE", 0.2)
    run = gradcli(*words, "--scheduler", "tcp://127.0.0.1:1", "--resume")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: the scheduler tcp://127.0.0.1:1 does not serve: ")
    skipped = gradcli(*words, "--resume", "--on-error", "skip")
    assert "is of a run with another 'on_error': fail" in skipped.err
