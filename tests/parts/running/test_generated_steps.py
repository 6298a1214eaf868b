"""Random functions with masks, casts and positions that autograd does not follow, whose verdict is known.

Two smooth pieces meet at a threshold, where the value jumps, the slope does, or neither; which of them an element
takes is decided by a mask that is made in one of many ways.  Each is asked at the threshold and away from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
import torch

from gradcli import record
from tests.checks import check_of
from tests.examples import in_turn, part, seeds

Tensor = torch.Tensor

Meeting = Literal["jump", "kink", "smooth"]


def without_grad(x: Tensor, t: float) -> Tensor:
    """A mask that is made where nothing is recorded."""
    with torch.no_grad():
        return (x > t).to(x.dtype)


def counted(x: Tensor, t: float) -> Tensor:
    """A mask by whole numbers."""
    return ((x - t).detach().floor() >= 0).to(x.dtype)


def written(x: Tensor, t: float) -> Tensor:
    """A mask that is written into a tensor."""
    mask = torch.zeros_like(x)
    mask.copy_(x.detach() > t)
    return mask


MASKS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "to": lambda x, t: (x > t).to(x.dtype),
    "at least": lambda x, t: (x >= t).to(x.dtype),
    "double": lambda x, t: (x > t).double().to(x.dtype),
    "float": lambda x, t: (x > t).float().to(x.dtype),
    "type_as": lambda x, t: (x.detach() > t).type_as(x),
    "no_grad": without_grad,
    "bool": lambda x, t: (x.detach() - t).clamp(min=0).bool().to(x.dtype),
    "negated": lambda x, t: 1 - (x <= t).to(x.dtype),
    "not": lambda x, t: (~(x <= t)).to(x.dtype),
    "sign": lambda x, t: (1 + (x - t).sign().detach()) / 2,
    "sign of a held value": lambda x, t: (1 + (x.detach() - t).sign()) / 2,
    "heaviside": lambda x, t: torch.heaviside(x.detach() - t, torch.ones_like(x)),
    "floor": counted,
    "written": written,
    "int": lambda x, t: (x > t).int().to(x.dtype),
    "both": lambda x, t: ((x > t) & (x > t - 10)).to(x.dtype),
}

JOINS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "products": lambda mask, above, below: above * mask + below * (1 - mask),
    "where": lambda mask, above, below: torch.where(mask > 0.25, above, below),
    "a difference": lambda mask, above, below: below + mask * (above - below),
    "lerp": lambda mask, above, below: torch.lerp(below, above, mask),
    "in place": lambda mask, above, below: (above - below).mul_(mask) + below,
    "masked_fill": lambda mask, above, below: above.masked_fill(mask < 0.25, 0.0) + below * (mask < 0.25),
}

ENDS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "each": lambda y, w: y,
    "sum": lambda y, w: y.sum(),
    "matmul": lambda y, w: y @ w,
    "einsum": lambda y, w: torch.einsum("i,i->", y, w),
    "a function": lambda y, w: torch.tanh(y / 8) + w,
}


@dataclass(frozen=True)
class Case:
    """Function with its point, and the verdicts that are right there."""

    function: Callable[[Tensor], Tensor]
    x: Tensor
    verdicts: frozenset[str]
    words: str


def pieces(meeting: Meeting, u: Tensor, size: float) -> tuple[Tensor, Tensor]:
    """Two smooth pieces in the distance u from the threshold."""
    common = torch.cos(u) + 0.5 * u
    if meeting == "jump":
        return common + size, common
    return common + size * (u if meeting == "kink" else u**2), common


def drawn(seed: int, dtype: torch.dtype) -> Case:
    """Draw a function, a point, and what is right there."""
    generator = np.random.default_rng(seed)
    mask, join, end = (str(generator.choice([*one])) for one in (MASKS, JOINS, ENDS))
    meeting: Meeting = ("jump", "kink", "smooth")[int(generator.integers(3))]
    t, size = int(generator.integers(-8, 9)) / 8, float(generator.choice([-1.5, 0.75, 2.0]))
    is_at, is_cut = bool(generator.integers(2)), bool(generator.integers(5) == 0)
    count = int(generator.integers(2, 6))
    distances = generator.choice([-1.0, 1.0], count) * generator.integers(1, 9, count) / 8
    if is_at:
        distances[generator.integers(count)] = 0.0
    w = torch.tensor(generator.choice([1.0, 2.0, 3.0], count), dtype=dtype)

    def function(x: Tensor) -> Tensor:
        above, below = pieces(meeting, x - t, size)
        y = JOINS[join](MASKS[mask](x, t), above, below)
        return ENDS[end](y * (3 + x.detach()) if is_cut else y, w)

    is_kink = is_at and meeting != "smooth"
    right = {"cut", "kink"} if is_cut and is_kink else {"cut"} if is_cut else {"kink"} if is_kink else {"agree"}
    words = f"seed {seed}: {mask}, {join}, {end}: {meeting}, at={is_at}, cut={is_cut}"
    return Case(function, torch.tensor(t + distances, dtype=dtype), frozenset(right), words)


def positions(seed: int, dtype: torch.dtype) -> Case:
    """Draw an interpolation of a table by hand, of degree 1: smooth at a knot where the table is a line there."""
    generator = np.random.default_rng(seed)
    is_at, is_line, is_held = (bool(generator.integers(2)) for _ in range(3))
    knot = int(generator.integers(1, 4))
    table = torch.arange(6, dtype=dtype) * 2 if is_line else torch.arange(6, dtype=dtype) ** 2
    w = torch.tensor([1.5, 2.0], dtype=dtype)

    def function(x: Tensor) -> Tensor:
        left = (x.detach() if is_held else x).floor()
        place = left.long()
        weight = x - left.detach()
        return (table[place] * (1 - weight) + table[place + 1] * weight) * w

    x = torch.tensor([knot + (0.0 if is_at else 0.375), 0.625], dtype=dtype)
    right = "kink" if is_at and not is_line else "agree"
    return Case(function, x, frozenset([right]), f"a table: line={is_line}, at={is_at}, held={is_held}")


KEPT: tuple[int, ...] = ()
"""Seeds of steps that were judged wrong once."""


@pytest.mark.parametrize(("block", "dtype"), in_turn(part(range(6), 0, of=3), torch.float64, torch.float32))
@pytest.mark.one_in(2)
def test_random_steps_are_judged_right(block: int, dtype: torch.dtype) -> None:
    """None is called wrong or right that is not; hardly one is left open."""
    own = seeds(10 * block, 10, KEPT if block == 0 else ())
    cases = [*(drawn(seed, dtype) for seed in own), positions(block, dtype)]
    found = [(case, check_of(record(case.function, case.x).check())) for case in cases]
    wrong = [(case.words, check.verdict) for case, check in found if check.verdict not in (*case.verdicts, "unchecked")]
    assert not wrong
    unchecked = [case.words for case, check in found if check.verdict == "unchecked"]
    assert not unchecked, unchecked
