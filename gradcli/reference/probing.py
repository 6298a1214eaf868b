"""The neighbourhood of a point: the function nearer and nearer to it, and what its values and slopes tend to.

Where a function has no value or no derivative, or no rule finds one, balls at three points on the way to it show what
it tends to: about h, h² and h⁴ away, in ratios that no oscillation follows.  The numbers at these points are proved,
that they tend to a limit is inferred: a power of the distance shrinks or grows from one to the next by far more than
the thresholds here, a logarithm grows by ever larger steps, and a power of it shrinks by the same factor each time.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
import sympy
from flint import arb

from gradcli.language.program.wengert import number
from gradcli.reference.balls import Ball, precision
from gradcli.reference.duals import Plan
from gradcli.reference.rules import Outcome, Undefined
from gradcli.reference.running import Direction, Found, Shift

EXPONENTS = ((80, 160, 320), (70, 140, 280))
"""The points are about 2**-80, 2**-160 and 2**-320 away, relative to the scale of the input; on the axes others too."""

FACTORS = (tuple(math.sqrt(n) for n in (2, 5, 11)), tuple(math.sqrt(n) for n in (3, 7, 13)))
"""And these times as far: sin(pi/x) is 0 at all powers of 2."""

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

SLOWER = 0.8
"""Steps in one direction, each smaller than this much of the one before, go to a limit that they may not show."""

SHRINKING = 0.05
"""Steps that are all smaller than this much of the ones before do not come from an oscillation either."""

POWERS = (0.1, 8.0)
"""Of the logarithm of the distance, that are told from other ways to go slowly."""

ALIKE = 0.3
"""How much the power of a logarithm may differ, relatively, from one step to the next."""

Way = Mapping[Direction, float]
"""How far each input moves, in units of the distance."""

Seen = TypeVar("Seen")

Path = tuple[tuple[Found, ...], ...]
"""What is found at the points of a way, nearer and nearer, in one sequence or several."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What a sequence tends to: a finite ball, infinity, nothing.

    Without values it is `absent`, `slow` if it goes to what it does not show, and `unknown` if more bits may tell.
    """

    kind: Literal["finite", "infinite", "none", "absent", "slow", "unknown"]
    ball: Ball | None = None

    def meets(self, other: Limit) -> bool:
        """Whether both are finite and may be the same number."""
        return self.ball is not None and other.ball is not None and bool(self.ball.overlaps(other.ball))


class Neighborhood:
    """The surroundings of a point, for the directions and rows of a plan, at some precision."""

    def __init__(self, plan: Plan, bits: int) -> None:
        self.plan, self.bits = plan, bits
        program, needed = plan.reference.program, plan.needed
        constants = [abs(number(a)) for line in program.lines for a in line.call.operands if not a.is_Symbol]
        inputs = [plan.reference.inputs[s][needed[s]] for s in program.variables if s in needed]
        self.scale, self.largest = _sizes(constants, inputs)

    def around(self) -> Iterator[Path]:
        """Ways on which every input moves that is more than true or false."""
        program = self.plan.reference.program
        inputs = [(s, j) for s in program.variables if s not in program.masks for j in self.plan.needed.get(s, ())]
        generator = np.random.default_rng(SEED)
        weights = 1 + generator.integers(1, 64, len(inputs)) / 64
        if len(inputs) <= FEW:
            combinations = [np.array(s, dtype=float) for s in itertools.product((-1, 1), repeat=len(inputs))]
            # Also with other ratios between the inputs: x*y/(x**2 + y**2) tends to a number on every straight line.
            sizes = (1.0, weights[::-1] / weights) if len(inputs) > 1 else (1.0,)
            signs = [s * size for s in combinations for size in sizes]
        else:
            drawn = [generator.choice([-1.0, 1.0], len(inputs)) for _ in range(WAYS)]
            # With each way its opposite, so that a kink shows whichever way it lies.
            signs = [s for one in drawn for s in (one, -one)]
        for n, sign in enumerate(signs):
            way = {(s, int(j)): w for (s, j), w in zip(inputs, (sign * weights).tolist(), strict=True)}
            yield (self._sequence(way, n % len(EXPONENTS)),)

    def along(self, directions: Sequence[Direction]) -> tuple[Path, Path]:
        """From the left and from the right in these inputs, while all others stay."""
        left, right = (dict.fromkeys(directions, sign) for sign in (-1.0, 1.0))
        numbers = range(len(EXPONENTS))
        return tuple(self._sequence(left, n) for n in numbers), tuple(self._sequence(right, n) for n in numbers)

    def _sequence(self, way: Way, n: int) -> tuple[Found, ...]:
        """What is found at each point of a way."""
        return tuple(self.plan.run(self.bits, shift=self._shift(way, distance)) for distance in self._distances(n))

    def distances(self, direction: Direction) -> list[list[Ball]]:
        """How far the points of each sequence from the left and from the right are away."""
        with precision(self.bits):
            size = arb(self._size(*direction))
            return [[distance * size for distance in self._distances(n)] for n in range(len(EXPONENTS))]

    def _distances(self, n: int) -> list[Ball]:
        with precision(self.bits):
            return [arb(2) ** -e * arb(factor) for e, factor in zip(EXPONENTS[n], FACTORS[n], strict=True)]

    def _shift(self, way: Way, distance: Ball) -> Shift:
        with precision(self.bits):
            return {(s, j): distance * arb(w * self._size(s, j)) for (s, j), w in way.items()}

    def _size(self, symbol: sympy.Symbol, element: int) -> float:
        return min(abs(float(self.plan.reference.inputs[symbol][element])) or self.scale, self.largest)

    def limit(self, way: Sequence[Sequence[Seen]], pick: Callable[[Seen], Outcome]) -> Limit:
        """What a number tends to on a way, from what is seen at the points of its sequences."""
        with precision(self.bits):
            return common([[pick(seen) for seen in sequence] for sequence in way], self.bits)


def _sizes(constants: Sequence[float], inputs: Sequence[npt.NDArray[np.float64]]) -> tuple[float, float]:
    """The scale of inputs that are 0, and the largest one of any input, from the constants of the text and the inputs.

    The scale is the smallest number in sight, at most 1, the largest one `LARGEST_SIZE`, or less where a factor of the
    text brings steps closer together.
    """
    most = max((max(c, 1 / c) for c in constants if c > 1 / sys.float_info.max and math.isfinite(c)), default=1.0)
    sizes = np.concatenate([*map(np.abs, inputs), constants, [1.0]])
    return float(sizes[np.isfinite(sizes) & (sizes > 0)].min()), LARGEST_SIZE / max(1.0, most / NEARBY)


def common(sequences: Sequence[Sequence[Outcome]], bits: int) -> Limit:
    """What several sequences on one way tend to, if that is the same.

    >>> with precision(128):
    ...     common([[arb(n) ** -0.5 for n in exponents] for exponents in EXPONENTS], 128).ball
    0
    """
    first, *others = limits = [limit(sequence, bits) for sequence in sequences]
    kinds = {one.kind for one in limits}
    if kinds == {"slow"}:
        balls = [[ball for ball in sequence if not isinstance(ball, Undefined)] for sequence in sequences]
        ratios = [float((nearest - near) / (near - far)) for far, near, nearest in balls]
        is_regular = max(ratios) - min(ratios) < ALIKE * min(ratios) or max(ratios) < SHRINKING
        return Limit("finite", arb(0)) if _vanishes_slowly(balls) else Limit("unknown" if is_regular else "none")
    if "unknown" in kinds:
        return Limit("unknown")
    is_one = len(kinds) == 1 and (first.ball is None or all(one.meets(first) for one in others))
    return first if is_one else Limit("none")


def _vanishes_slowly(sequences: Sequence[Sequence[Ball]]) -> bool:
    """Whether numbers go to 0 as a power of the logarithm of the distance, which doubles from each to the next."""
    powers = []
    for far, near, nearest in sequences:
        if not (0 < nearest / near < 1 and 0 < near / far < 1):
            return False
        before, power = (float((a / b).log() / arb(2).log()) for a, b in ((far, near), (near, nearest)))
        if not POWERS[0] <= power <= POWERS[1] or abs(power - before) > ALIKE * power:
            return False
        powers.append(power)
    (_, one, _), (_, other, _) = sequences[0], sequences[-1]
    # The two sequences start at other distances: only a power of the logarithm has this ratio between them.
    expected = arb(EXPONENTS[len(sequences) - 1][1]) / EXPONENTS[0][1]
    ratio = float((one / other).log()) - powers[0] * float(expected.log())
    return max(powers) - min(powers) < ALIKE * powers[0] and abs(ratio) < ALIKE


def limit(sequence: Sequence[Outcome], bits: int) -> Limit:
    """What three outcomes, nearer and nearer to a point, tend to.

    >>> from flint import arb
    >>> limit([arb(2) ** -80, arb(2) ** -160, arb(2) ** -320], 1024).ball
    0
    >>> limit([arb(2) ** 80, arb(2) ** 160, arb(2) ** 320], 1024).kind
    'infinite'
    """
    balls = [outcome for outcome in sequence if not isinstance(outcome, Undefined)]
    if len(balls) < len(sequence):
        near = [outcome for outcome in sequence[1:] if isinstance(outcome, Undefined) and outcome.decided]
        if len(near) < len(sequence) - 1:
            return Limit("unknown")
        return Limit("absent" if all(outcome.kind == "domain" for outcome in near) else "none")
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
    if step <= SLOWER * step_before and (nearest > near) == (near > far):
        return Limit("slow")
    return Limit("none")


def _is_known(ball: Ball, bits: int) -> bool:
    """To 64 bits, or as 0 to half of the precision."""
    return bool(ball.is_exact() or ball.rel_accuracy_bits() >= 64 or _is_nothing(ball, bits))


def _is_nothing(ball: Ball, bits: int) -> bool:
    return bool(abs(ball).upper() < arb(2) ** (-bits // 2))
