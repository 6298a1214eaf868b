"""Warm calls against a bare import of torch, and what the process and a child hold."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

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
