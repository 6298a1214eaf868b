"""The neighbourhood of a point: the function nearer and nearer to it, and what its values and slopes tend to.

Where a function has no value or no derivative, or no rule finds one, balls at three points on the way to it show what
it tends to: h, h² and h⁴ away.  The numbers at these points are proved, that they tend to a limit is inferred: a power
of the distance shrinks or grows from one to the next by far more than the thresholds here, and a logarithm grows
by ever larger steps.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import sympy
from flint import arb

from gradcli.language.program import number
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import Direction, Found, Plan, Shift
from gradcli.reference.rules import Outcome, Trouble

EXPONENTS = (80, 160, 320)
"""The points are 2**-80, 2**-160 and 2**-320 away, relative to the scale of the input."""

LARGEST_SIZE = 1.0
"""Of that scale: the steps of floor(x) are as narrow at 1e300 as anywhere."""

NEARBY = 2.0**100
"""Factors up to here are still nothing beside the distance of the two nearer points."""

BITS = (1_024, 4_096)
"""Precision at these points: three times the largest exponent, for what cancels to the third order, and much more."""

WAYS = 4
"""Random ways to a point of more than `FEW` inputs, each with its opposite; of fewer, all combinations of signs."""

FEW = 3

SEED = 0
"""Of the random ways."""

CONVERGED, SHRUNK, GROWN = 2.0**-40, 2.0**-20, 64.0
"""Steps that are relatively smaller have a limit, values that shrink by more tend to 0, larger ones may grow on."""

Way = Mapping[Direction, float]
"""How far each input moves, in units of the distance."""

Seen = TypeVar("Seen")

Path = tuple[Found, ...]
"""What is found at the points of a way, nearer and nearer."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a sequence tends to: a finite ball, infinity, nothing; `absent` has no values, `unknown` needs more bits."""

    kind: Literal["finite", "infinite", "none", "absent", "unknown"]
    ball: Ball | None = None

    def meets(self, other: Limit) -> bool:
        """Whether both are finite and may be the same number."""
        return self.ball is not None and other.ball is not None and bool(self.ball.overlaps(other.ball))


class Neighborhood:
    """The surroundings of a point, for the directions and rows of a plan, at some precision."""

    def __init__(self, plan: Plan, bits: int) -> None:
        self.plan, self.bits = plan, bits
        self.scale = _scale(plan)
        self.largest = _largest(plan)

    def around(self) -> Iterator[Path]:
        """Ways on which every input moves."""
        inputs = [(s, j) for s in self.plan.reference.program.variables for j in self.plan.needed.get(s, ())]
        generator = np.random.default_rng(SEED)
        weights = 1 + generator.integers(1, 64, len(inputs)) / 64
        if len(inputs) <= FEW:
            combinations = [np.array(s, dtype=float) for s in itertools.product((-1, 1), repeat=len(inputs))]
            sizes = (1.0, weights[::-1] / weights) if len(inputs) > 1 else (1.0,)
            signs = [s * size for s in combinations for size in sizes]
        else:
            drawn = [generator.choice([-1.0, 1.0], len(inputs)) for _ in range(WAYS)]
            signs = [s for one in drawn for s in (one, -one)]
        for sign in signs:
            yield self.path({(s, int(j)): w for (s, j), w in zip(inputs, (sign * weights).tolist(), strict=True)})

    def along(self, directions: Sequence[Direction]) -> tuple[Path, Path]:
        """From the left and from the right in these inputs, while all others stay."""
        return self.path(dict.fromkeys(directions, -1.0)), self.path(dict.fromkeys(directions, 1.0))

    def path(self, way: Way) -> Path:
        """What is found at each point of a way."""
        return tuple(self.plan.run(self.bits, shift=self._shift(way, exponent)) for exponent in EXPONENTS)

    def distances(self, direction: Direction) -> list[Ball]:
        """How far the points from the left and from the right are away."""
        with precision(self.bits):
            return [arb(2) ** -exponent * arb(self._size(*direction)) for exponent in EXPONENTS]

    def _shift(self, way: Way, exponent: int) -> Shift:
        with precision(self.bits):
            distance = arb(2) ** -exponent
            return {(s, j): distance * arb(w * self._size(s, j)) for (s, j), w in way.items()}

    def _size(self, symbol: sympy.Symbol, element: int) -> float:
        return min(abs(float(self.plan.reference.inputs[symbol][element])) or self.scale, self.largest)

    def limit(self, way: Sequence[Seen], pick: Callable[[Seen], Outcome]) -> Limit:
        """What a number tends to on a way, from what is seen at each of its points."""
        with precision(self.bits):
            return limit([pick(seen) for seen in way], self.bits)


def _largest(plan: Plan) -> float:
    """For all inputs: `LARGEST_SIZE`, or less where a factor of the text brings steps closer together."""
    constants = [abs(number(a)) for line in plan.reference.program.lines for a in line.call.operands if not a.is_Symbol]
    most = max((max(c, 1 / c) for c in constants if c > 1 / sys.float_info.max and math.isfinite(c)), default=1.0)
    return LARGEST_SIZE / max(1.0, most / NEARBY)


def _scale(plan: Plan) -> float:
    """For inputs that are 0: the smallest number in sight, at most 1."""
    program, needed = plan.reference.program, plan.needed
    inputs = [np.abs(plan.reference.inputs[s][needed[s]]) for s in program.variables if s in needed]
    constants = [abs(number(a)) for line in program.lines for a in line.call.operands if not a.is_Symbol]
    sizes = np.concatenate([*inputs, constants, [1.0]])
    return float(sizes[np.isfinite(sizes) & (sizes > 0)].min())


def limit(sequence: Sequence[Outcome], bits: int) -> Limit:
    """What three outcomes, nearer and nearer to a point, tend to.

    >>> from flint import arb
    >>> limit([arb(2) ** -80, arb(2) ** -160, arb(2) ** -320], 1024).ball
    0
    >>> limit([arb(2) ** 80, arb(2) ** 160, arb(2) ** 320], 1024).kind
    'infinite'
    """
    balls = [outcome for outcome in sequence if not isinstance(outcome, Trouble)]
    if len(balls) < len(sequence):
        near = [outcome for outcome in sequence[1:] if isinstance(outcome, Trouble) and outcome.decided]
        if len(near) < len(sequence) - 1:
            return Limit("unknown")
        return Limit("absent" if all(trouble.kind == "domain" for trouble in near) else "none")
    if not all(_is_known(ball, bits) for ball in balls):
        return Limit("unknown")
    far, near, nearest = balls
    step, step_before = abs(nearest - near), abs(near - far)
    size = abs(nearest)
    if step == 0 or step <= CONVERGED * size:
        return Limit("finite", nearest + arb(0, 2 * step.upper()))
    if all(_is_nothing(ball, bits) for ball in (near, nearest)):
        return Limit("finite", arb(0))
    if size <= SHRUNK * abs(near) and abs(near) <= SHRUNK * abs(far):
        return Limit("finite", arb(0))
    if size > abs(near) > abs(far) and step >= step_before and size > GROWN:
        return Limit("infinite", None)
    return Limit("none")


def _is_known(ball: Ball, bits: int) -> bool:
    """To 64 bits, or as 0 to half of the precision."""
    return bool(ball.is_exact() or ball.rel_accuracy_bits() >= 64 or _is_nothing(ball, bits))


def _is_nothing(ball: Ball, bits: int) -> bool:
    return bool(abs(ball).upper() < arb(2) ** (-bits // 2))
