"""Workers: one torch thread each, whatever torch had before, and as many as there are cores."""

import threading
import warnings

import torch

from gradcli.autodiff.batched import workers


def test_each_worker_computes_on_one_core() -> None:
    """And torch has its threads again afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        meeting = threading.Barrier(3, timeout=30)

        def look(_: int) -> tuple[int, int]:
            meeting.wait()  # all workers at once, or one of them could do the work of three
            return threading.get_ident(), torch.get_num_threads()

        with warnings.catch_warnings(), workers(3) as pool:
            found = list(pool.map(look, range(3)))
        assert len({thread for thread, _ in found}) == 3
        assert {threads for _, threads in found} == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
