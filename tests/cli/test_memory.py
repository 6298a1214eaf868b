"""Large answers take little more memory than their own numbers, and a process that goes on keeps few of them."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests import warm
from tests.conftest import process

TEXT, BYTES = 724, 2048
"""Rows of a square matrix that holds all parts in flight; one of twice the rows may need more for its numbers alone."""

ARCHIVE = 2**27
"""Bytes of an array that was packed."""

PEAK = """
import os, re, sys
from gradcli.cli import main
sys.stdout = open(os.devnull, "w")
def peak(rows):
    code = main(["jacobian", "x**2", "--at", f"linspace(0,1,{rows})", "--no-check", *sys.argv[3:]])
    assert code == 0
    # Not ru_maxrss, which begins with that of the process that started this one.
    return int(re.search("VmHWM: *\\t* *(\\d+)", open("/proc/self/status").read())[1]) * 1024
few, many = map(peak, map(int, sys.argv[1:3]))
print(many - few, file=sys.stderr)
"""


WRITTEN = [(["--json"], TEXT), (["-o", "{}/j.npz"], BYTES)]


@pytest.mark.skipif(sys.platform != "linux", reason="its /proc says the peak")
@pytest.mark.parametrize(("words", "rows"), WRITTEN, ids=str)
@pytest.mark.one_in(2)
def test_a_large_jacobian_is_written_in_little_more_memory(words: list[str], rows: int, tmp_path: Path) -> None:
    """Its text, its copies and the numbers of Python come a part at a time: 1.6 times what it grows by is enough."""
    filled = [str(rows), str(2 * rows), *(word.format(tmp_path) for word in words)]
    (tmp_path / "peak.py").write_text(PEAK, encoding="utf-8")
    grown = int(process(warm.runner(), str(tmp_path / "peak.py"), *filled).err.split()[-1])
    assert grown < 1.6 * 8 * 3 * rows**2


@pytest.mark.skipif(sys.platform != "linux", reason="its /proc says the peak")
def test_an_archive_is_unpacked_into_the_array_it_becomes(tmp_path: Path) -> None:
    """However small it is on the disk."""
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros(ARCHIVE // 8))
    script = f"""
import re
from gradcli.files import Files
def peak():
    return int(re.search("VmHWM: *\\t* *(\\d+)", open("/proc/self/status").read())[1]) * 1024
before = peak()
array = Files().array({str(path)!r}, "--at")
print(peak() - before)
"""
    assert path.stat().st_size < ARCHIVE / 100
    (tmp_path / "unpack.py").write_text(script, encoding="utf-8")
    assert int(process(warm.runner(), str(tmp_path / "unpack.py")).out) < 1.6 * ARCHIVE
