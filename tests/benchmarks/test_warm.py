"""Warm calls against a bare import of torch, and what the process and a child hold."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from tests.benchmarks.conftest import process, processor_time
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


def test_a_warm_call_takes_a_fraction_of_importing_torch(warm: Warm) -> None:
    """A hundred calls, and an eighth as many imports, in turns."""
    called = imported = 0.0
    for _ in range(10):
        called += _seconds(process(warm.program("gradcli"), *WORDS), CALLS // 10)
        imported += _seconds(process(sys.executable, "-c", "import torch"), 1)
    print(f"\na warm call over a bare import of torch: 1/{imported / called:.0f}")
    assert called <= imported / 12


def test_the_client_takes_little_beside_the_child(warm: Warm) -> None:
    """Of the processor's time, beside a bare Python."""
    client = processor_time(warm.program("gradcli"), *WORDS, count=20)
    python, torch = (processor_time(sys.executable, "-c", text, count=20) for text in ("pass", "import torch"))
    print(f"\nof the import of torch: client {client / torch:.3f}, Python alone {python / torch:.3f}")
    assert client <= torch / 40


def test_eight_calls_at_once(warm: Warm) -> None:
    """Over one after the other, which two cores should halve."""

    def at_once() -> None:
        processes = [subprocess.Popen([warm.program("gradcli"), *WORDS], stdout=subprocess.DEVNULL) for _ in range(8)]
        assert [process.wait() for process in processes] == [0] * 8

    burst = statistics.median(_seconds(at_once, 1) for _ in range(9))  # in some, a call comes too late and runs cold
    ratio = burst / _seconds(process(warm.program("gradcli"), *WORDS), 40) / 8
    print(f"\neight calls at once over one after the other: {ratio:.2f}")
    assert ratio <= 1.2
