"""Warm calls against a bare import of torch, and what the process and a child hold."""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.warm import Warm

CALLS = 100
WORDS = ["vjp", "x**2", "--at", "1,2", "--v", "1,1"]


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    """A process of its own."""
    started = Warm("gradcli")
    yield started
    started.end()


def _seconds(call: Callable[[], object], count: int) -> float:
    """Of one call, on the clock."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def _run(*words: str) -> Callable[[], object]:
    return lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def test_a_warm_call_takes_a_fraction_of_importing_torch(warm: Warm) -> None:
    """A hundred calls, and an eighth as many imports, in turns."""
    called = imported = 0.0
    for _ in range(10):
        called += _seconds(_run(warm.program("gradcli"), *WORDS), CALLS // 10)
        imported += _seconds(_run(sys.executable, "-c", "import torch"), 1)
    print(f"\na warm call over a bare import of torch: 1/{imported / called:.0f}")
    assert called <= imported / 12


def test_the_client_takes_little_beside_the_child(warm: Warm) -> None:
    """Of the processor's time, beside a bare Python."""

    def spent(*words: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(20):
            subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 20

    found = (
        spent(warm.program("gradcli"), *WORDS),
        spent(sys.executable, "-c", "pass"),
        spent(sys.executable, "-c", "import torch"),
    )
    print(f"\nof the import of torch: client {found[0] / found[2]:.3f}, Python alone {found[1] / found[2]:.3f}")
    assert found[0] <= found[2] / 40


def test_eight_calls_at_once(warm: Warm) -> None:
    """Over one after the other, which two cores should halve."""

    def at_once() -> None:
        processes = [subprocess.Popen([warm.program("gradcli"), *WORDS], stdout=subprocess.DEVNULL) for _ in range(8)]
        assert [process.wait() for process in processes] == [0] * 8

    burst = statistics.median(
        _seconds(at_once, 1) for _ in range(9)
    )  # in some, a call is not taken in time and runs cold
    ratio = burst / _seconds(_run(warm.program("gradcli"), *WORDS), 40) / 8
    print(f"\neight calls at once over one after the other: {ratio:.2f}")
    assert ratio <= 1.2


@pytest.mark.skipif(shutil.which("qalc") is None, reason="there is no qalc")
def test_beside_qalc(warm: Warm) -> None:
    """A calculator that has nothing to import."""
    ours = _seconds(_run(warm.program("gradcli"), "eval", "2+3*4", "--format", "plain"), 40)
    theirs = _seconds(_run("qalc", "-t", "2+3*4"), 40)
    print(f"\na warm call over qalc: {ours / theirs:.1f}")


def test_what_is_in_memory(warm: Warm) -> None:
    """Of the process, and of a child what it does not share."""
    process = warm.servers[0].pid
    fields = dict(
        line.split(":") for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    )
    with subprocess.Popen(
        [warm.program("gradcli"), "batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write('{"command": "grad", "expression": "x**2", "at": {"x": 3}}\n')
        client.stdin.flush()
        client.stdout.readline()
        found = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=True).stdout.split()
        child = dict(
            line.split(":")
            for line in Path(f"/proc/{found[0]}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
        )
        client.stdin.close()
    private = sum(int(child[name].split()[0]) for name in ("Private_Clean", "Private_Dirty"))
    print(f"\nprocess {int(fields['Rss'].split()[0]) // 1024} MB, child {private // 1024} MB of its own")
    assert private < int(fields["Rss"].split()[0])
