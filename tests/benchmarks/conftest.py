"""Benchmarks print ratios and hold them to their stated limits; `pytest -m benchmark -s -n 0` runs them by hand."""

import resource
import statistics
import subprocess
import time
from collections.abc import Callable

import pytest

from tests import of_parts

collect_ignore = ["test_measuring.py"] if of_parts.missing(("running",)) else []
"""What imports a part."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "benchmarks" in item.path.parts:
            item.add_marker(pytest.mark.benchmark)


def process(*words: str) -> Callable[[], object]:
    """A program, to be started again and again."""
    return lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def processor_time(*words: str, count: int = 1) -> float:
    """Seconds of the processor that a program takes, on the average of some runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(count):
        process(*words)()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / count


def ratio(one: Callable[[], object], other: Callable[[], object], repeats: int = 5) -> float:
    """The median time of `one` over that of `other`, measured in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, taken in zip((one, other), times, strict=True):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return statistics.median(times[0]) / statistics.median(times[1])
