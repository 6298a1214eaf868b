"""Torch's libraries, loaded while Python imports other packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli import preloading

SCRIPT = """
import sys
from gradcli import preloading
preloading.begin()
assert preloading._thread is not None
preloading._thread.join()
assert "torch" not in sys.modules
assert "libtorch_cpu" in open("/proc/self/maps").read()
import torch
print((torch.ones(2, 2) @ torch.ones(2, 2)).sum().item())
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists() or (os.cpu_count() or 1) < 2, reason="another system")
def test_they_are_loaded_without_an_import() -> None:
    """And torch's import takes them as they are."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("8.0\n", "")


def test_where_they_are_not_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on other systems, and in builds of another shape."""
    monkeypatch.setattr(preloading, "LIBRARY", "nowhere.so")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    preloading.begin()
    assert not preloading.is_going_on()
