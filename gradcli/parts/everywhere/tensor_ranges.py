"""Bounds over ranges of tensors: each element by itself where the function maps it so, else forward."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradcli.adjoint.slopes import NoAdjointError
from gradcli.arrays import Array
from gradcli.errors import LanguageError
from gradcli.language.program.wengert import needed
from gradcli.notation import PARTIAL, Element, Named, Notation
from gradcli.option_words import option
from gradcli.parts.everywhere.array_jets import is_elementwise
from gradcli.parts.everywhere.box_kinds import BROKEN
from gradcli.parts.everywhere.held_kinds import words_of
from gradcli.parts.everywhere.moving_box import MOST_MOVING, AskedBox, MovingBox
from gradcli.parts.everywhere.scalars import prepared
from gradcli.parts.everywhere.tensor_bounds import TensorEvaluator, gradients_of, hull, norms_of
from gradcli.reference.bounds import NoRuleError
from gradcli.reference.deadline import OverTimeError
from gradcli.results import BoxBounds, BoxRange

MOST_LISTED = 8
"""Most elements of y that are bounded one by one."""

FORWARD = "bounds of so many numbers are not searched for: these hold, and may be wider than they need be"
"""Remark on bounds of many numbers."""


def of_each_element(asked: AskedBox) -> MovingBox | None:
    """Return the function of one element, where it maps each element of one tensor by itself; else None."""
    bound_function = asked.bound_function
    if len(asked.ends) != 1:
        return None
    ((name, (low, high)),) = asked.ends.items()
    others = {other: array for other, array in bound_function.arrays.items() if other != name}
    if not low.shape or bound_function.shape != low.shape or any(array.shape for array in others.values()):
        return None
    if not all((end == end.ravel()[0]).all() for end in (low, high)):
        return None
    whole = prepared(bound_function.program)
    if not all(is_elementwise(line.call) for line in needed(whole.lines, whole.output)):
        return None
    first = np.asarray(bound_function.arrays[name].ravel()[0])
    one = bound_function.another(bound_function.program, {**others, name: first}, (name,))
    ends = {name: (np.asarray(low.ravel()[0]), np.asarray(high.ravel()[0]))}
    return replace(AskedBox(one, asked.ranges, ends).moving(), is_recorded=bound_function.recording is not None)


def is_small(asked: AskedBox) -> bool:
    """Tell whether few enough numbers move for a search, and y has few elements."""
    return asked.count <= MOST_MOVING and int(np.prod(asked.bound_function.shape)) <= MOST_LISTED


def forward_bounds(asked: AskedBox) -> BoxRange:
    """Bound a function of many numbers, and its derivatives where y is one number.

    Raises:
        LanguageError: An operation has no rule on boxes, or there was no time.
    """
    bound_function, name = asked.bound_function, asked.bound_function.program.output_name
    low, high = ({of: pair[k] for of, pair in asked.ends.items()} for k in (0, 1))
    y, notes, lipschitz = Named(name), [FORWARD], dict[str, float]()
    try:
        jet = TensorEvaluator(bound_function.program, bound_function.arrays, low, high).bounds()
        kinds = int(np.bitwise_or.reduce(jet.kinds.ravel()))
        rows = _listed(name, jet.value.low, jet.value.high, bound_function.shape)
        if not bound_function.shape or bound_function.shape == (1,):
            gradients = gradients_of(bound_function.program, bound_function.arrays, low, high)
            for of, bounds in gradients.items():
                rows.append(_row(PARTIAL(y, Named(of)), *hull(bounds)))
            norms = norms_of(gradients)
            lipschitz = norms if kinds & BROKEN == 0 and np.isfinite(norms["inf"]) else {}
    except (NoRuleError, NoAdjointError, OverTimeError) as error:
        reason, hint = str(error) or "an operation has no bounds", f"move along a line: {option('along', 'ones')}"
        raise LanguageError(f"ranges of so many numbers have no answer: {reason}", hint=hint) from None
    box = MovingBox(bound_function, asked.ranges, np.zeros(0), np.zeros(0), bound_function.recording is not None)
    return box.answered(
        BoxRange,
        command="range",
        boxes=1,
        bounds=tuple(rows),
        lipschitz=lipschitz,
        places=(),
        held=words_of(kinds),
        notes=(*box.remarks, *notes),
    )


def _listed(name: str, low: Array, high: Array, shape: tuple[int, ...]) -> list[BoxBounds]:
    """List the bounds of y: of each element where these are few, else those of all."""
    if not shape or low.size > MOST_LISTED:
        return [_row(Named(name), float(low.min()), float(high.max()))]
    return [_row(Element(name, at), float(low[at][0]), float(high[at][0])) for at in np.ndindex(*shape)]


def _row(label: Notation, low: float, high: float) -> BoxBounds:
    return BoxBounds(label, low + 0.0, high + 0.0, float("inf"), float("-inf"))
