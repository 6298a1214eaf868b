"""Torch's activations on -100..100, as the commands of the page on boxes see them.

`python -m tests.activations_table` renews the table of the guide.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from gradcli import Function
from gradcli.parts.everywhere.intervals import point
from gradcli.parts.everywhere.moving_box import moving_box
from gradcli.questions.bound_function import Dtype
from gradcli.report.numbers import outward
from gradcli.results import BoxRange
from tests import generated

PAGE = generated.GUIDE / "everywhere.md"

BOX = {"x": "-100..100"}

ACTIVATIONS = (
    "relu leaky_relu elu selu gelu silu mish softplus sigmoid logsigmoid tanh softsign hardsigmoid hardswish".split()
)

KEPT: tuple[tuple[Dtype, float], ...] = (
    ("float64", 1e-12),
    ("float64", 1e-8),
    ("float64", 1e-4),
    ("float32", 1e-4),
)
"""Formats and tolerances of the last columns: twelve, eight and four digits, of which float32 has seven."""

GRID = 0.01
"""Distance of the numbers that stretches end at."""

DIGITS = 5
"""Digits of the bounds, which are rounded outward."""

HEADER = """| function | least | slopes | rises | convex | float64: 12 digits | 8 | 4 | float32: 4 digits |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def table() -> str:
    """Return all rows."""
    return HEADER + "".join(row(name) for name in ACTIVATIONS)


def row(name: str) -> str:
    """Make the row of a function: what `range` bounds, where `check --prove` proves, and where digits are kept."""
    function = Function(f"{name}(x)")
    bounds = function.range(box=BOX)
    assert isinstance(bounds, BoxRange)
    y, slope = bounds.bounds
    cells = [
        f"`{name}(x)`",
        outward(y.low, DIGITS, is_upper=False),
        f"{outward(slope.low, DIGITS, is_upper=False)}..{outward(slope.high, DIGITS, is_upper=True)}",
        *(", ".join(proved_on(function, statement)) or "nowhere" for statement in ("dy/dx >= 0", "convex")),
        *(", ".join(kept(function, dtype, rtol)) or "nowhere" for dtype, rtol in KEPT),
    ]
    return f"| {' | '.join(cells)} |\n"


def proved_on(function: Function, statement: str) -> Iterator[str]:
    """Name the stretches on which a statement is proved by `check --prove`, as wide as the grid tells them."""
    if _is_proved(function, statement, -100.0, 100.0):
        yield "everywhere"
        return
    x = np.round(np.arange(-100 / GRID, 100 / GRID + 1) * GRID, 2)
    jet = moving_box(function._asked(None), BOX).function.run(point(x[None]))[0]
    number = (jet.second_slope(0, 0) if statement == "convex" else jet.slope(0)).spread(x.shape)
    edges = np.diff(np.r_[False, np.broadcast_to(jet.is_smooth, x.shape) & (number.low >= 0), False].astype(int))
    found: list[tuple[float, float]] = []
    firsts, lasts = np.flatnonzero(edges > 0).tolist(), (np.flatnonzero(edges < 0) - 1).tolist()
    for first, last in zip(firsts, lasts, strict=True):
        lows, highs = x[[max(first - 1, 0), first]].tolist(), x[[min(last + 1, len(x) - 1), last]].tolist()
        tried = itertools.product(lows, highs)
        ends = next((one for one in tried if _is_proved(function, statement, *one)), None)
        if ends is not None and found and _is_proved(function, statement, found[-1][0], ends[1]):
            found[-1] = found[-1][0], ends[1]
        elif ends is not None:
            found.append(ends)
    yield from (f"{low:.6g}..{high:.6g}" for low, high in found)


def _is_proved(function: Function, statement: str, low: float, high: float) -> bool:
    return low < high and function.check(box={"x": f"{low}..{high}"}, prove=statement).passed


def kept(function: Function, dtype: Dtype, rtol: float) -> Iterator[str]:
    """Name the stretches of the range in which torch's numbers are proved, but for slivers."""
    from gradcli.parts.everywhere.box_check import searched_regions

    regions = searched_regions(function._asked(None, dtype=dtype), BOX, rtol)
    good = [one in ("proved", "near-zero") for one in regions.verdicts.tolist()]
    order = regions.boxes.low[0].argsort(kind="stable")
    stretches: list[list[float]] = []
    for n in order.tolist():
        low, high = float(regions.boxes.low[0, n]), float(regions.boxes.high[0, n])
        if good[n] and stretches and low - stretches[-1][1] < 1e-6:
            stretches[-1][1] = high
        elif good[n]:
            stretches.append([low, high])
    yield from (f"{low:.3g}..{high:.3g}" for low, high in stretches if high - low > 1e-3)


if __name__ == "__main__":
    generated.renew(PAGE, "activations_table", table())
