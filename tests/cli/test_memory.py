"""Large answers take little more memory than their own numbers, and a process that goes on keeps few of them."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

LIMIT = 2**27
"""What the answers of these tests fill: the limit, scaled down so that they take seconds."""

PEAK = """
import os, resource, sys
from gradcli.cli import main
main(["eval", "x", "--at", "1", "--no-check", "--json"])  # what is there before
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sys.stdout = open(os.devnull, "w")
code = main(sys.argv[1:])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(code, (after - before) * 1024, file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB there")
@pytest.mark.parametrize(
    "words",
    [
        ["--json"],
        ["--json", "--digits", "3"],
        ["--format", "csv"],
        ["--format", "plain"],
        ["-o", "{}/j.npy"],
        ["-o", "{}/j.npz"],
        ["-o", "{}/j.json"],
    ],
    ids=" ".join,
)
def test_a_large_jacobian_is_written_in_little_more_than_its_own_memory(words: list[str], tmp_path: Path) -> None:
    """Its text, its copies and the numbers of Python come a part at a time: 1.6 times the matrix is enough."""
    rows = math.isqrt(LIMIT // 8)
    question = ["jacobian", "x**2", "--at", f"linspace(0,1,{rows})", "--no-check"]
    filled = [word.format(tmp_path) for word in words]
    done = subprocess.run([sys.executable, "-c", PEAK, *question, *filled], capture_output=True, text=True, check=True)
    code, peak = map(int, done.stderr.split()[-2:])
    copies = 2 if "--digits" in words else 1  # rounded numbers are numbers of their own
    assert code == 0
    assert peak < copies * 1.6 * LIMIT


def test_an_archive_is_unpacked_into_the_array_it_becomes(tmp_path: Path) -> None:
    """However small it is on the disk."""
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros(LIMIT // 8))
    script = f"""
import resource
from gradcli.files import Files
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
array = Files().array({str(path)!r}, "--at")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert path.stat().st_size < LIMIT / 100
    assert int(done.stdout) < 1.6 * LIMIT


def test_constants_of_many_questions_are_not_kept() -> None:
    """A process that answers requests holds a few small ones."""
    from gradcli.language.parsing import parse
    from gradcli.language.program import constant_tensors

    for size in range(2, 12):
        call = parse(f"ones({size} * {constant_tensors.LARGEST_CACHED})").lines[0].call
        assert constant_tensors.array_of(call) is not constant_tensors.array_of(call)
    small = parse("ones(5)").lines[0].call
    assert constant_tensors.array_of(small) is constant_tensors.array_of(small)
