"""Torch's shared libraries, loaded in a thread while Python imports other packages: a third of torch's own import.

The loader of the system works without Python's lock.  Where the libraries are not where they are expected nothing
happens, and `import torch` finds them as it always does.
"""

from __future__ import annotations

import os
import sys
import threading

LIBRARY = os.path.join("lib", "libtorch_python.so")
"""It needs all others."""

_thread: threading.Thread | None = None


def begin() -> None:
    """Load the libraries, if there is a second core to do it."""
    global _thread  # noqa: PLW0603 -- there is one process
    if _thread is not None or "torch" in sys.modules or (os.cpu_count() or 1) < 2:
        return
    from importlib.util import find_spec

    spec = find_spec("torch")
    path = os.path.join(os.path.dirname(spec.origin), LIBRARY) if spec is not None and spec.origin else ""
    if not os.path.exists(path):
        return
    import flint  # noqa: F401 -- what SymPy imports first has a library too, which would wait for these

    _thread = threading.Thread(target=_load, args=(path,), daemon=True)
    _thread.start()


def _load(path: str) -> None:
    import contextlib
    import ctypes

    with contextlib.suppress(OSError):  # `import torch` says what is wrong
        ctypes.CDLL(path)


def is_going_on() -> bool:
    """Whether they are being loaded: a process that ends by itself would wait for that."""
    return _thread is not None and _thread.is_alive()
