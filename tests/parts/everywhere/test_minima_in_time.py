"""Published minima by branch and bound: boxes and seconds of each, beside a peer's own run and what peers publish.

Alkahest bounds both ends of the range, by Taylor models; it is left out where it is not installed (`pip install
alkahest`).  PEERS names the interpreter that has it, if it is another one:
`PEERS=/opt/peers/bin/python pytest -m benchmark -s -n 0 FILE`.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from gradcli.language.parsing import parse
from gradcli.parts.everywhere.bounded_quantities import BoxQuantity
from gradcli.parts.everywhere.jets import Evaluator
from gradcli.parts.everywhere.least_values import LeastValueSearch
from gradcli.parts.everywhere.scalars import in_numbers
from tests.parts.everywhere.published_minima import PUBLISHED, Published

pytestmark = pytest.mark.benchmark

PUBLISHED_FIGURES = {"Goldstein-Price": "IntervalOptimisation.jl says 0.76 to 6.65 s, to 1e-3"}
"""Figures of others, as they publish them."""

PEERS_PYTHON = os.environ.get("PEERS", sys.executable)
"""The interpreter that has the peer."""

SECONDS, BOXES = 1.0, 20_000

PEERS_SECONDS = 120
"""Most seconds for a process of the peer."""


def of_alkahest(name: str, least: float) -> str:
    """Say what alkahest finds of the least value of a function, and what it takes; nothing where it is missing."""
    command = [PEERS_PYTHON, "-m", "tests.parts.everywhere.alkahest_bounds", name]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=PEERS_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"alkahest: no answer in {PEERS_SECONDS} s"
    if run.returncode:
        return ""
    found = json.loads(run.stdout)
    if "refused" in found:
        return f"alkahest: {found['refused']}"
    cut = ", ended at its limit" * found["is_cut"]
    gap = least - found["low"]
    return f"alkahest: {found['low']:.9g}, gap {gap:.1e}, {found['boxes']:,} boxes, {found['seconds']:.2f} s{cut}"


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case.name)
def test_a_published_minimum_takes_a_second_at_most(case: Published) -> None:
    """To 1e-6, absolutely or relative to it."""
    names = ("x", "y")
    start, low, high = time.perf_counter(), np.full(2, float(case.low)), np.full(2, float(case.high))
    program = in_numbers(parse(case.text), {name: np.array(0.5) for name in names}, names)
    found = LeastValueSearch(BoxQuantity(Evaluator(program)), low, high).run()
    seconds, gap = time.perf_counter() - start, found.found - found.bound
    print(f"\n{case.name}: {found.bound:.9g}, gap {gap:.1e}, {found.evaluated:,} boxes, {seconds:.2f} s")
    print(*filter(None, (of_alkahest(case.name, case.least), PUBLISHED_FIGURES.get(case.name))), sep="\n")
    assert found.evaluated <= BOXES
    assert seconds <= SECONDS
