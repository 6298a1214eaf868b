"""Memory that stays with the process while a large matrix is computed, and one thread for products of elements.

The C library of Linux gives a large array back to the system as soon as it is freed, and the next one comes again page
by page: a third of the time of a million rows.  Threads that wait for each other on a busy machine take more time than
products that read and write each element once.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradcli.language.ops import Kind
from gradcli.language.program.wengert import Program

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt`, see its manual."""

_ALL = 2**31 - 1
"""Bytes below which arrays come from memory that stays, and that stay free in it."""

_ADAPTED = {_MMAP_THRESHOLD: 2**25, _TRIM_THRESHOLD: 2**26}
"""What the library itself goes up to in a process that frees large arrays."""

_PLAIN = {
    Kind.ELEMENTWISE,
    Kind.REDUCTION,
    Kind.SCAN,
    Kind.MOVEMENT,
    Kind.LIST,
    Kind.GATHER,
    Kind.SCATTER,
    Kind.COUNT,
    Kind.SOURCE,
}
"""Operations that read and write each element a few times."""


@contextmanager
def kept_memory() -> Iterator[None]:
    """Run a block whose freed arrays are used again by those that follow; afterwards their memory goes back."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is None or not hasattr(library, "mallopt") or not hasattr(library, "malloc_trim"):
        yield
        return
    for parameter in (_MMAP_THRESHOLD, _TRIM_THRESHOLD):
        library.mallopt(parameter, _ALL)
    try:
        yield
    finally:
        for parameter, size in _ADAPTED.items():
            library.mallopt(parameter, size)
        library.malloc_trim(0)


@contextmanager
def threads_for(program: Program) -> Iterator[None]:
    """Run a block in one thread of torch where a Program has no operation that several threads are faster at."""
    from gradcli.autodiff._torch import torch

    before = torch.get_num_threads()
    is_plain = all(line.call.op.kind in _PLAIN for line in program.lines)
    if is_plain:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if is_plain:
            torch.set_num_threads(before)
