"""Sparse matrices of a thousand to a million rows, whole processes: against dense torch, asdex with JAX, and CasADi.

A process of gradcli is a command in the shell, with its verdict on every entry; the peers prove nothing.  Those that
are not installed are left out (`pip install asdex jax casadi`); PEERS names the interpreter that has them, if it is
another one: `PEERS=/opt/peers/bin/python pytest -m benchmark -s -n 0 tests/benchmarks/test_sparse.py`.  Processor time
is compared, which a busy machine leaves nearly as it is; a process is ended after a minute of it.

What start-up leaves out of reach: of the 1.95 s that a thousand rows take, importing torch, SymPy and SciPy takes 1.65.
CasADi, compiled and without them, has ended after 0.3 to 0.9 s at 100,000 rows (a graph takes it 5 s); it is ahead up
to four million entries, and behind from five million on.  asdex takes 1.5 to 4 times as long as gradcli at 100,000
rows, and 2 to 6 times at a million.  On an arrow of 100,000 rows and a graph of a million nodes neither ends within a
minute.
"""

import functools
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.benchmarks.sparse_peers import HESSIANS, TEXTS, at, edges

SIZES = 1_000, 10_000, 100_000, 1_000_000

PEERS = {"asdex": SIZES, "casadi": SIZES, "torch": SIZES[:2]}
"""The sizes that each is asked for; a dense matrix of 100,000 rows would take 75 GiB."""

PEERS_PYTHON = os.environ.get("PEERS", sys.executable)
"""The interpreter of the peers, but of torch."""

SECONDS = 60
"""Most of the processor for a process."""

TIMES = 3
"""How much faster than a peer gradcli is to be from 100,000 rows on; the table marks where it is not."""


class Taken(NamedTuple):
    """What a process printed, and what it took: seconds of the processor, and bytes at most."""

    out: str
    seconds: float
    memory: int

    @property
    def is_whole(self) -> bool:
        """It came to an answer."""
        return bool(self.out)


def _taken(*words: str, python: str = sys.executable) -> Taken:
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "GRADCLI_WARM": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled modules are read, as those of an installed package are
    command = [python, *words]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdout=pipe, stderr=nothing, text=True, env=environment) as process:
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (SECONDS, SECONDS))
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Taken(out.strip() if not status else "", used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def _ours(name: str, n: int, folder: Path) -> Taken:
    values = {"x": at(n)} | (edges(n)._asdict() if name == "laplacian" else {})
    words = ["hessian" if name in HESSIANS else "jacobian", TEXTS[name], "--sparse", "--wrt", "x"]
    for variable, array in values.items():
        np.save(folder / f"{variable}.npy", array)
        words += ["--at", f"{variable}=@{folder / variable}.npy"]
    found = _taken("-P", "-m", "gradcli", *words)
    assert found.is_whole
    return found


def _proved(screen: str) -> int:
    """The entries that the screen calls proven, which are all of them."""
    line = next(one for one in screen.splitlines() if "agree (proven)" in one)
    count, total = line.replace("│", " ").split()[-3::2]
    assert count == total
    return int(total.replace(",", ""))


@functools.cache
def _peers() -> dict[str, str]:
    """The peers that are installed, each with its interpreter."""
    pythons = {library: sys.executable if library == "torch" else PEERS_PYTHON for library in PEERS}
    return {one: by for one, by in pythons.items() if _taken("-c", f"import {one}; print(1)", python=by).is_whole}


def _start() -> float:
    """What a process takes for its libraries alone."""
    imports = "import os, gradcli.cli, torch, sympy, flint, scipy.sparse"
    return _taken("-c", f"{imports}; os._exit(0)").seconds


@pytest.mark.parametrize("name", TEXTS)
def test_every_entry_is_proved_and_faster_than_by_peers(name: str, tmp_path: Path) -> None:
    """A line for each size: seconds, memory, and how many times as long each peer takes."""
    _start()  # which compiles what has changed
    ours = {n: _ours(name, n, tmp_path) for n in SIZES}
    for n, one in ours.items():
        line = f"{name:10} n={n:9,} {one.seconds:6.1f} s {one.memory / 2**30:5.2f} GiB {_proved(one.out):10,} entries"
        for library, python in _peers().items():
            if n not in PEERS[library]:
                continue
            peer = _taken("-m", "tests.benchmarks.sparse_peers", library, name, str(n), python=python)
            ratio = peer.seconds / one.seconds
            mark = "" if ratio >= TIMES or n < 100_000 else " *"
            line += (
                f"  {library} {ratio:5.2f}{mark}" if peer.is_whole else f"  {library} fails after {peer.seconds:.0f} s"
            )
            if peer.is_whole and n <= 100_000 and library == "casadi":
                assert abs(json.loads(peer.out)[0] - _proved(one.out)) <= n // 20  # nodes without an edge have a zero
        print(line)
    start = _start()
    small, large = (max(ours[n].seconds - start, 0.2) for n in SIZES[-2:])
    assert large < 15 * small
    assert ours[1_000_000].memory < 1.5 * 2**30
