"""Threads that compute blocks side by side, each with torch on one core: torch's own threads would share one block."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

from gradcli.autodiff._torch import torch

MOST_WORKERS = 8
"""Threads at most: what reads and writes the rows is one thread, and each block in flight takes memory."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def workers(count: int) -> Iterator[Executor]:
    """An executor whose threads compute without further threads; what it has not begun is dropped at the end."""
    before = torch.get_num_threads()
    pool = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,))
    # Every run of a Program holds warnings back, and threads that do so at once would leave them held back.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield pool
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            torch.set_num_threads(before)
