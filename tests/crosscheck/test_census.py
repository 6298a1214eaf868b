"""Random smooth programs: the verdict is `agree`, but where digits are lost in truth."""

from __future__ import annotations

import numpy as np
import pytest

from tests.crosscheck.census import case, verdict
from tests.examples import examples

PROGRAMS = examples(120)


@pytest.mark.parametrize("seed", [101, 102])
def test_smooth_programs_agree_but_for_lost_digits(seed: int) -> None:
    """Of ten thousand, run by hand, 1.4 % are inaccurate; nothing is ever called a kink, a trap or undefined."""
    generator = np.random.default_rng(seed)
    inaccurate = 0
    for _ in range(PROGRAMS):
        one = case(generator)
        found = verdict(one).verdict
        assert found in ("agree", "inaccurate"), (one, found)
        inaccurate += found == "inaccurate"
    assert inaccurate <= PROGRAMS // 10
