"""Torch's numbers are within what is bounded of a recording, also where torch takes another way than at its point."""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from gradcli import Function
from gradcli.parts.everywhere.intervals import Interval
from gradcli.parts.everywhere.moving_box import moving_box
from gradcli.parts.everywhere.recordings import with_recordings
from gradcli.parts.everywhere.rounded_passes import RoundedPasses

ELEMENTWISE = (
    "logsigmoid(u)",
    "logsigmoid(u)*softplus(u)",
    "elu(u)",
    "celu(u, 0.7)",
    "selu(u)",
    "hardswish(u)",
    "hardsigmoid(u)",
    "hardtanh(u)",
    "leaky_relu(u)",
    "prelu(u, 0.3)",
    "threshold(u, 0, 1)",
    "huber_loss(u, 0, reduction='none')",
    "smooth_l1_loss(u, 0, reduction='none')",
    "logaddexp(u, 0)",
    "hypot(u, 0.01)",
    "clamp(u, -0.001, 1)",
    "maximum(u, 0.1*u)",
    "softshrink(u, 0.001)",
    "hardshrink(u, 0.001)",
    "xlogy(u + 1, u + 1)",
    "sinc(u)",
    "abs(u)",
    "sign(u)*u",
    "(u + 1)**u",
    "where(u > 0, exp(u), u)",
    "heaviside(u, 0.5)*u",
    "rrelu(u)",
    "mish(u)",
    "binary_cross_entropy_with_logits(u, 1, reduction='none')",
)
"""Functions of a number u whose kernels take another way by its sign."""

OF_SEVERAL = (
    "max([u, 0])",
    "max([u, 0], 0)[0]",
    "median([u, 0, 0.3])",
    "median([u, 0, 0.3], 0)[0]",
    "sort([u, 0, 0.3])[0] @ [1, 2, 3]",
    "norm([u, 0.001], inf)",
    "std([u, 0, 1])",
    "prod([u, 2])",
    "sum(cumprod([u, 2], 0))",
    "logsumexp([u, 0], 0)",
    "log_softmax([u, 0], 0)[0]",
)
"""The same of several numbers."""

TAKES_LONG = ("median([u, 0, 0.3])", "median([u, 0, 0.3], 0)[0]")
"""Those of them that are recorded at many points."""


def _escaped(text: str, draw: random.Random, boxes: int, points: int) -> Iterator[str | None]:
    """Yield None for each number of torch that is within its bounds, else what it is.

    The way changes in a short stretch of the box that no even grid of points finds, and there are boxes across it.
    """
    low, wide = draw.uniform(-1, 1), 10 ** draw.uniform(-3, 1)
    there, width = low + wide * draw.random(), wide * 10 ** draw.uniform(-4, -2)
    size = 10 ** draw.uniform(-2, 0.5)
    text = f"u = ((x - {there:.17g})/{width:.17g})**2*{size:.3g} - {size:.3g}; {text} + 3*x"
    box = moving_box(Function(text)._asked(None), {"x": f"{low!r}..{low + wide!r}"})
    for part, passes in with_recordings(box):
        near = np.array([there + width * draw.uniform(-2, 2) for _ in range(boxes)])
        lows = np.clip(near, part.low, part.high)
        highs = np.clip(near + width * np.array([10 ** draw.uniform(-3, 0.5) for _ in near]), lows, part.high)
        numbers = passes.run(Interval(lows[None], highs[None]))
        for n in range(boxes):
            for x in np.linspace(lows[n], highs[n], points):
                found = Function(text).grad({"x": min(x, highs[n])}, check=False)
                for number, own in zip((found.value, found.grad["x"]), numbers, strict=True):
                    is_within = own.is_bad[n] or own.wide.low[n] <= float(number) <= own.wide.high[n]
                    yield None if is_within else f"{text} at {x!r}: {number} is not in {own.wide.select(np.array([n]))}"


EVERY = [
    pytest.param(text, marks=pytest.mark.thorough if text in TAKES_LONG else ()) for text in (*ELEMENTWISE, *OF_SEVERAL)
]


@pytest.mark.parametrize("text", EVERY)
@pytest.mark.one_in(8)
def test_numbers_of_torch_are_within_what_is_bounded_of_a_recording(text: str) -> None:
    """Where its way changes between the points at which it was recorded."""
    found = list(_escaped(text, random.Random(text), 4, 4))
    assert found
    assert set(found) == {None}


def test_a_recording_that_is_taken_to_hold_everywhere_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the order of two numbers."""
    monkeypatch.setattr(RoundedPasses, "_is_recorded", lambda *_: np.asarray(True))
    draw = random.Random(1)
    assert any(one for _ in range(3) for one in _escaped("max([u, 0], 0)[0]", draw, 4, 4))
