"""Digits before and after the rewrites that a check offers: Hamming's problems, or those of any FPCore file.

`FPCORE_FILE=path.fpcore pytest -m benchmark tests/benchmarks/test_accuracy.py -s -n 0` measures those of a file, and
`FPCORE_POINTS=100` at so many points of each.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gradcli import Function
from gradcli.errors import GradcliError
from tests.benchmarks.cores import Core, Sample, read, samples

HAMMING = Path(__file__).parent / "hamming.fpcore"
POINTS = 16
TOLERANCE = 2.0**-30
"""That of a check."""

MENDED = 0.8
"""The share of its bad points at which a problem that is mended is mended."""


@dataclass
class Tally:
    """Counts over points: those that are bad, and those that are mended; digits of what is bad, before and after."""

    bad: int = 0
    mended: int = 0
    bad_gradients: int = 0
    mended_gradients: int = 0
    disagree: int = 0
    before: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)

    @property
    def is_mended(self) -> bool:
        """Whether at enough of the points."""
        return self.mended >= MENDED * self.bad

    def add(self, other: Tally) -> None:
        """The points of another problem too."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def __str__(self) -> str:
        digits = " -> ".join(f"{sum(d) / len(d):4.1f}" for d in (self.before, self.after) if d)
        return (
            f"{self.mended:4} of {self.bad:4} points, {self.mended_gradients:4} of {self.bad_gradients:4} gradients, "
            f"digits {digits or 'all'}"
        )


def _digits(text: str, sample: Sample) -> tuple[float, float]:
    """Digits of the value, and of the worst derivative."""
    try:
        answer = Function(text).jacobian(dict(sample.at), check=False)
    except GradcliError:
        return 0.0, 0.0
    jacobian: Mapping[str, object] = answer.jacobian or {}
    slopes = (_right(float(jacobian[name]), truth) for name, truth in sample.slopes.items())  # type: ignore[arg-type]
    return _right(float(answer.value), sample.value), min(slopes)


def _right(number: float, truth: float) -> float:
    if not math.isfinite(number):
        return 0.0
    error = abs(number - truth) / abs(truth)
    return min(16.0, max(0.0, -math.log10(error))) if error else 16.0


def _measured(core: Core, points: int) -> Tally:
    found = Tally()
    enough = -math.log10(TOLERANCE)
    for sample in samples(core, points):
        check = Function(core.text).jacobian(dict(sample.at)).check
        assert check is not None
        found.disagree += check.verdict == "disagree"
        before = _digits(core.text, sample)
        if min(before) >= enough:
            continue
        after = before if check.rewrite is None else _digits(check.rewrite.expression, sample)
        found.bad += 1
        found.mended += min(after) >= enough
        found.bad_gradients += before[1] < enough
        found.mended_gradients += before[1] < enough <= after[1]
        found.before.append(min(before))
        found.after.append(min(after))
    return found


def test_rewrites_mend_what_cancels() -> None:
    """Most of the problems at most of their points; no number is called wrong by a check that is not."""
    path = Path(os.environ.get("FPCORE_FILE", HAMMING))
    cores, total = read(path), Tally()
    if not cores:
        pytest.fail(f"{path} has no problem that the language has words for")
    mended = 0
    print()
    for core in cores:
        found = _measured(core, int(os.environ.get("FPCORE_POINTS", POINTS)))
        mended += found.is_mended
        total.add(found)
        state = "fine" if not found.bad else "mended" if found.is_mended else "open"
        print(f"{core.name:24} {state:7} {found}")
    print(f"{mended} of {len(cores)} problems, {total}; false disagree: {total.disagree}")
    assert total.disagree == 0
    if path == HAMMING:
        assert len(cores) == 28
        assert mended == 28


FILE = """
; a comment
(FPCore name (x) :name "let" :pre (and (< 1 x) (!= x 2)) (let ([y (sqrt (+ (* x x) 1))]) (- y x)))
(FPCore (x) (if (< x 0) (cbrt x) (fma x x (fabs x))))
(FPCore (x) :name "unknown" (frobnicate x))
(FPCore (x) :name "loop" (while (< x 1) ([x x (+ x 1)]) x))
"""


def test_any_file_of_problems_is_read(tmp_path: Path) -> None:
    """What the language has no words for is left out, not a mistake."""
    path = tmp_path / "some.fpcore"
    path.write_text(FILE, encoding="utf-8")
    first, second = read(path)
    assert (first.name, first.text) == ("let", "sqrt((x * x) + 1) - x")
    assert first.holds({"x": 1.5})
    assert not first.holds({"x": 2.0})
    assert (second.name, second.text) == ("some 2", "where(x < 0, x**(1/3), x * x + abs(x))")
    assert all(sample.at["x"] > 1 for sample in samples(first, 3))


def test_points_and_truths_are_those_of_the_problem() -> None:
    """Read, drawn within the precondition, and with the derivative by hand."""
    cores = {core.name: core for core in read(HAMMING)}
    core = cores["problem 3.3.1"]
    assert core.text == "(1 / (x + 1)) - (1 / x)"
    for sample in samples(core, 5):
        x = sample.at["x"]
        if abs(x) > 1e10:
            assert sample.value == pytest.approx(-1 / x / x, rel=1e-9)
            assert sample.slopes["x"] == pytest.approx(2 / x / x / x, rel=1e-9)
    assert all(1 < sample.at["N"] < 1e40 for sample in samples(cores["problem 3.3.6"], 5))
