"""Curves as data: which ranges are drawn, y and its derivative over one, their names, and y as a formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gradcli.crosscheck import curves
from gradcli.notation import PARTIAL, Element, Named, Notation, second
from gradcli.parts.plot.moving_question import MovingQuestion
from gradcli.questions.question import Question
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
def curves_over(question: Question, low: float, high: float) -> Plot | None:
    """Compute y and its derivative over a range of its one variable, without places; None of a range that is not drawn.

    Args:
        question: A function of one element, by a variable of one.
        low: The lower end.
        high: The upper end.
    """
    if not is_drawn(low, high):
        return None
    (name,) = question.wrt
    start, direction = np.zeros_like(question.arrays[name], np.float64), np.ones_like(question.arrays[name], np.float64)
    line = MovingQuestion(question, {name: start}, [{name: direction}], name)
    points, numbers = curves.sample(line.subject, [], [], low, high)
    shown = curves.windows(points, numbers, [], [])
    return Plot(
        command="plot",
        variable=name,
        points=points,
        curves=tuple(named_curves(line, numbers, shown, None)),
        marks=(),
        spans=(),
        formula=short_formula(question),
        **question.common,
    )


def named_curves(line: MovingQuestion, numbers: Array, shown: Array, lost: curves.LostDigits | None) -> Iterator[Curve]:
    """Name the rows of numbers."""
    shape, name = line.question.shape, line.question.program.output_name
    for element in range(numbers.shape[-1]):
        index = tuple(int(i) for i in np.unravel_index(element, shape))
        y, x = Element(name, index) if shape else Named(name), Named(line.name)
        labels: Sequence[Notation] = (y, PARTIAL(y, x), second(y, x, x))
        for order, values in enumerate(numbers[..., element]):
            both = (None, None) if lost is None or order > 1 else (part[order, :, element] for part in lost)
            low, high = shown[order, element].tolist()
            yield Curve(labels[order], order, element, values, (low, high), *both)


def short_formula(question: Question) -> Notation | None:
    """Return y as a formula, where it is a number and the formula is short."""
    block = next(iter(question.derived.blocks.values()), "")
    if question.shape or isinstance(block, str) or question.recording is not None:
        return None
    found = formula(block, question.program).function
    return None if found is None or len(found[1].text) > MOST_LETTERS else found[1]
