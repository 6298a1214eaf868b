"""Panels of a plot: which curves share a vertical axis, so that none is flat and none lies on another; their ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gradcli import results

FAR = 3.0
"""Ratio of the ranges of two curves from which on each has a panel."""

NEAR, TOGETHER, PLACES = 0.01, 0.1, 300
"""Part of the height within which a curve lies on another; part of the line from which on that hides it; places where
that is looked at."""


BROKEN = ("kink", "jump", "removable")
"""Kinds of marks at which the derivative has limits and no value."""


class Panel(NamedTuple):
    """Curves that share a vertical axis, and its ends."""

    curves: tuple[results.Curve, ...]
    low: float
    high: float


def panels(plot: results.Plot) -> list[Panel]:
    """Share the axes: one panel for all curves, or one for each order.

    The orders are apart where y has several elements, where their ranges are far apart, or where a derivative would
    lie on y.
    """
    orders = sorted({curve.order for curve in plot.curves})
    split = [tuple(curve for curve in plot.curves if curve.order == order) for order in orders]
    apart, shared = [_shared(curves) for curves in split], _shared(plot.curves)
    is_far = shared.high - shared.low > FAR * min(one.high - one.low for one in apart)
    has_several = any(curve.element for curve in plot.curves)
    return apart if has_several or is_far or _hides(plot, shared) else [shared]


def _shared(curves: tuple[results.Curve, ...]) -> Panel:
    return Panel(curves, min(curve.window[0] for curve in curves), max(curve.window[1] for curve in curves))


def _hides(plot: results.Plot, panel: Panel) -> bool:
    """Tell whether a curve would lie on another."""
    x = np.linspace(plot.points[0], plot.points[-1], PLACES)
    heights = [np.interp(x, plot.points, curve.values) for curve in panel.curves]
    near = NEAR * (panel.high - panel.low)
    with np.errstate(invalid="ignore", over="ignore"):  # near the largest number such a distance is infinite
        return any(np.mean(abs(a - b) < near) > TOGETHER for a, b in itertools.combinations(heights, 2))


def ends(mark: results.Mark) -> Iterator[tuple[int, float, bool]]:
    """Yield the order, the height and the filling of the points that mark a place on curves.

    Filled is the value that y has, open a limit that it does not have, and each limit of a derivative that jumps.
    """
    limits = _distinct(mark.value)
    is_held = mark.kind in ("kink", "vertical", "nan-trap")
    if mark.kind != "curvature":
        for limit in limits:
            yield 0, limit, is_held or _is_near(limit, mark.here, limits)
    is_elsewhere = math.isfinite(mark.here) and not any(_is_near(limit, mark.here, limits) for limit in limits)
    if mark.kind in ("jump", "removable") and is_elsewhere:
        yield 0, mark.here, True
    broken = mark.curvature if mark.kind == "curvature" else mark.slope if mark.kind in BROKEN else None
    for limit in _distinct(broken or ()):
        yield (2 if mark.kind == "curvature" else 1), limit, False


def _distinct(limits: Sequence[float]) -> list[float]:
    """List the limits that are finite; both sides once where they are the same in a picture."""
    finite = [limit for limit in limits if math.isfinite(limit)]
    return finite[:1] if len(finite) > 1 and _is_near(finite[0], finite[1], finite) else finite


def _is_near(limit: float, value: float, limits: Sequence[float]) -> bool:
    """Tell whether a value is a limit, to the accuracy of a picture."""
    return abs(limit - value) <= 1e-6 * max(map(abs, limits))
