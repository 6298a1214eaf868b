"""Published minima by branch and bound: boxes and seconds of each, and what a peer says of itself."""

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

PEERS = {"Goldstein-Price": "IntervalOptimisation.jl says 0.76 to 6.65 s, to 1e-3"}
"""Figures of others, as they publish them."""

SECONDS, BOXES = 1.0, 20_000


@pytest.mark.parametrize("case", PUBLISHED, ids=lambda case: case.name)
def test_a_published_minimum_takes_a_second_at_most(case: Published) -> None:
    """To 1e-6, absolutely or relative to it."""
    names = ("x", "y")
    start, low, high = time.perf_counter(), np.full(2, float(case.low)), np.full(2, float(case.high))
    program = in_numbers(parse(case.text), {name: np.array(0.5) for name in names}, names)
    found = LeastValueSearch(BoxQuantity(Evaluator(program)), low, high).run()
    seconds, gap = time.perf_counter() - start, found.found - found.bound
    print(f"\n{case.name}: {found.bound:.9g}, gap {gap:.1e}, {found.evaluated:,} boxes, {seconds:.2f} s")
    print(PEERS.get(case.name, ""))
    assert found.evaluated <= BOXES
    assert seconds <= SECONDS
