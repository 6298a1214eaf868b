"""The signs that an expression may have in a box."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from sympy import Expr, Symbol

from gradcli.parts.everywhere.box_sets import first_grid, halves, is_narrow
from gradcli.parts.everywhere.interval_functions import compile_interval
from gradcli.reference.bounds import NoRuleError
from gradcli.reference.deadline import require_time

MOST_MOVING = 3
"""Most numbers that an expression may have for its box to be cut."""

LEVELS, MOST_AT_ONCE = 20, 2048
"""Halvings of a box, and boxes from which on none is halved any more."""

EVERY_SIGN = frozenset({1, -1, 0})


def signs_in_box(expression: Expr, ends: Mapping[Symbol, tuple[float, float]]) -> frozenset[int]:
    """Return the signs, 1, -1 and 0, that an expression may have where each symbol is between two ends.

    >>> x = Symbol("x", real=True)
    >>> sorted(signs_in_box(x**2 - x, {x: (2.0, 3.0)})), sorted(signs_in_box(x**2, {x: (0.0, 3.0)}))
    ([1], [0, 1])
    """
    try:
        function = compile_interval(expression)
    except NoRuleError:
        return EVERY_SIGN
    low, high = (np.array([pair[k] for pair in ends.values()]) for k in (0, 1))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return EVERY_SIGN
    boxes, found = first_grid(low, high, None if len(low) <= MOST_MOVING else 1), set[int]()
    for level in range(LEVELS + 1):
        require_time()
        with np.errstate(all="ignore"):
            rows = {symbol: boxes.sides.row(n) for n, symbol in enumerate(ends)}
            bounds = function(rows).spread((len(boxes),))
        is_last = level == LEVELS or 2 * len(boxes) > MOST_AT_ONCE
        certain = (bounds.low > 0, 1), (bounds.high < 0, -1), ((bounds.low == 0) & (bounds.high == 0), 0)
        found |= {sign for mask, sign in certain if mask.any()}
        rest = ~np.any([mask for mask, _ in certain], axis=0)
        parts, narrow = boxes.take(rest), is_narrow(boxes)[rest]
        bounds = bounds.select(rest)
        possible = ((bounds.high > 0, 1), (bounds.low < 0, -1), ((bounds.low <= 0) & (bounds.high >= 0), 0))
        if is_last or narrow.any():
            left = narrow | is_last
            found |= {sign for mask, sign in possible if (mask & left).any()}
        parts = parts.take(~narrow)
        if is_last or not len(parts) or found == EVERY_SIGN:
            break
        boxes = halves(parts, np.argmax(parts.parts_of(low, high), axis=0))
    return frozenset(found)
