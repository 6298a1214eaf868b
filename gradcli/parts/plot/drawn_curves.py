"""Curves as data: which ranges are drawn, y and its derivative over one, their names, and y as a formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradcli.crosscheck import curves
from gradcli.notation import PARTIAL, Element, Named, Notation, second
from gradcli.parts.plot.moving_function import MovingFunction
from gradcli.questions.bound_function import BoundFunction
from gradcli.results import Array, Curve, Plot
from gradcli.symbolic.printing import formula

MOST_LETTERS = 80
"""Most letters of a function that is the title of a plot as a formula."""

FARTHEST, NARROWEST = 1e100, 2.0**-36
"""The longest range; the narrowest, in parts of its ends."""


def is_drawn(low: float, high: float) -> bool:
    """Tell whether a range is wide enough to be drawn, and not too wide."""
    return max(1 / FARTHEST, NARROWEST * max(abs(low), abs(high))) <= high - low <= FARTHEST


@np.errstate(all="ignore")
def curves_over(bound: BoundFunction, low: float, high: float) -> Plot | None:
    """Compute y and its derivative over a range of its one variable, without places; None of a range that is not drawn.

    Args:
        bound: A function of one element, by a variable of one.
        low: The lower end.
        high: The upper end.
    """
    if not is_drawn(low, high):
        return None
    (name,) = bound.wrt
    start, direction = np.zeros_like(bound.arrays[name], np.float64), np.ones_like(bound.arrays[name], np.float64)
    line = MovingFunction(bound, {name: start}, [{name: direction}], name)
    points, numbers = curves.sample(line.subject, [], [], low, high)
    shown = curves.windows(points, numbers, [], [])
    return Plot(
        command="plot",
        variable=name,
        points=points,
        curves=tuple(named_curves(line, numbers, shown, None)),
        marks=(),
        spans=(),
        formula=short_formula(bound),
        **bound.common,
    )


def named_curves(line: MovingFunction, numbers: Array, shown: Array, lost: curves.LostDigits | None) -> Iterator[Curve]:
    """Name the rows of numbers."""
    shape, name = line.bound.shape, line.bound.program.output_name
    for element in range(numbers.shape[-1]):
        index = tuple(int(i) for i in np.unravel_index(element, shape))
        y, x = Element(name, index) if shape else Named(name), Named(line.name)
        labels: Sequence[Notation] = (y, PARTIAL(y, x), second(y, x, x))
        for order, values in enumerate(numbers[..., element]):
            both = (None, None) if lost is None or order > 1 else (part[order, :, element] for part in lost)
            low, high = shown[order, element].tolist()
            yield Curve(labels[order], order, element, values, (low, high), *both)


def short_formula(bound: BoundFunction) -> Notation | None:
    """Return y as a formula, where it is a number and the formula is short."""
    block = next(iter(bound.derived.blocks.values()), "")
    if bound.shape or isinstance(block, str) or bound.recording is not None:
        return None
    found = formula(block, bound.program).function
    return None if found is None or len(found[1].text) > MOST_LETTERS else found[1]
