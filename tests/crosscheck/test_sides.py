"""Random functions of kinks and jumps against exact one-sided derivatives in rational numbers.

A program is written twice: as text, and as a function of fractions.  All kinks and jumps meet at whole numbers, where
the points are, so that they coincide, cancel and hide each other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gradcli import Function
from gradcli.results import Entry
from tests.examples import examples

Exact = Callable[[Fraction, Fraction], Fraction]
Pair = tuple[str, Exact]

STEP = Fraction(1, 10**12)
"""Of the difference quotients, which are exact but for the curvature."""

NEAR = 1e-6

PROGRAMS = examples(400)

ONE: dict[str, Callable[[Fraction], Any]] = {
    "abs({0})": abs,
    "relu({0})": lambda a: max(a, Fraction(0)),
    "({0})**2": lambda a: a**2,
    "(-{0})": operator.neg,
    "(3*{0})": lambda a: 3 * a,
    "(-2*{0})": lambda a: -2 * a,
    "clamp({0}, -1, 1)": lambda a: min(max(a, Fraction(-1)), Fraction(1)),
    "sign({0})": lambda a: (a > 0) - (a < 0),
    "floor({0})": lambda a: a.__floor__(),
}
TWO: dict[str, Callable[[Fraction, Fraction], Any]] = {
    "maximum({0}, {1})": max,
    "minimum({0}, {1})": min,
    "amax([{0}, {1}])": max,
    "({0} + {1})": operator.add,
    "({0} - {1})": operator.sub,
    "({0}*{1})": operator.mul,
    "where({0} > {1}, {0}, 2*{1})": lambda a, b: a if a > b else 2 * b,
    "where({0} <= {1}, {0}*{1}, {1})": lambda a, b: a * b if a <= b else b,
    "where({0} == {1}, 1, {0} - {1})": lambda a, b: Fraction(1) if a == b else a - b,
    "where({0} != {1}, {1}, {0}**2)": lambda a, b: b if a != b else a**2,
}
LEAVES: list[Pair] = [("x", lambda x, y: x), ("y", lambda x, y: y), ("2", lambda x, y: Fraction(2))]
LEAVES += [("x", LEAVES[0][1]), ("(x - y)", lambda x, y: x - y)]


def _program(generator: np.random.Generator, depth: int) -> Pair:
    if depth == 0:
        return LEAVES[generator.integers(len(LEAVES))]
    text, a = _program(generator, depth - 1)
    template = str(generator.choice([*ONE, *TWO]))
    if template in ONE:
        one = ONE[template]
        return template.format(text), lambda x, y: Fraction(one(a(x, y)))
    other, b = _program(generator, depth - 1)
    two = TWO[template]
    return template.format(text, other), lambda x, y: Fraction(two(a(x, y), b(x, y)))


def _is_right(finding: Entry | None, torch: float, values: tuple[Fraction, Fraction, Fraction]) -> bool:
    """Whether a verdict is that of the exact values on the left, at the point and on the right."""
    left, here, right = values
    verdict = "agree" if finding is None else finding.verdict
    if max(abs(left - here), abs(right - here)) > NEAR:
        return finding is not None and (verdict == "unchecked" or "a discontinuity" in finding.note)
    below, above = float((here - left) / STEP), float((right - here) / STEP)
    if finding is None:
        return abs(below - above) < NEAR and abs(torch - below) < NEAR
    if abs(below - above) < NEAR:
        truth = finding.reference
        return verdict == "unchecked" or (verdict == "disagree" and truth is not None and abs(truth - below) < NEAR)
    sides = finding.one_sided
    return verdict == "unchecked" or (verdict == "kink" and sides == pytest.approx((below, above), abs=NEAR))


@pytest.mark.parametrize("seed", range(4))
def test_kinks_and_jumps_that_meet_have_their_exact_sides(seed: int) -> None:
    """A smooth point is not called a kink, no kink is missed, and the derivatives on both sides are right."""
    generator = np.random.default_rng(seed)
    unchecked = 0
    for _ in range(PROGRAMS // 4):
        text, exact = _program(generator, int(generator.integers(1, 5)))
        function = Function(text)
        at = {name: int(generator.choice([0, 0, 0, 1, -1])) for name in ("x", "y")}
        x, y = Fraction(at["x"]), Fraction(at["y"])
        answer = function.jacobian({name: at[name] for name in function.variables})
        assert answer.check is not None
        assert answer.jacobian is not None
        for name in function.variables:
            dx, dy = (STEP, Fraction(0)) if name == "x" else (Fraction(0), STEP)
            values = exact(x - dx, y - dy), exact(x, y), exact(x + dx, y + dy)
            finding = next((f for f in answer.check.findings if f.variable == name), None)
            assert _is_right(finding, float(answer.jacobian[name]), values), (text, at, name, finding)
            unchecked += finding is not None and finding.verdict == "unchecked"
    assert unchecked <= 2
