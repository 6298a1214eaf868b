"""Ranges `LOW..HIGH` of values, from which points are drawn: `0..1`, `-pi..pi`, `[0,0]..[1,2]`.

A bound is a value of the language.  Knows nothing of the function, and draws nothing.
"""

from __future__ import annotations

import math
import re

import numpy as np

from gradcli.errors import GradcliError, InputError, Place, Span
from gradcli.language.inputs.values import Array, read_value
from gradcli.language.program.numeric import require_room
from gradcli.language.program.shapes import broadcast
from gradcli.language.program.wengert import Shape, show

_MARKS = re.compile(r"[\[(]|[\])]|\.{2,}")


def read_range(text: str, source: str) -> tuple[Array, Array]:
    """The bounds of a range, broadcast to one shape.

    Raises:
        InputError: It is not of the form `LOW..HIGH`, or a bound is not finite or above the other.
        GradcliError: A bound is not a value.

    >>> [float(bound) for bound in read_range("-1..1e3", "--in x")]
    [-1.0, 1000.0]
    >>> read_range("[0,0]..[1,2]", "--in x")[1]
    array([1., 2.])
    """
    first, last = _split(text, source)
    bounds = [read_value(bound, source) for bound in (first, last)]
    for bound in bounds:
        if not np.isfinite(bound).all():
            raise InputError("the bounds of a range are finite", place=_whole(text, source))
    try:
        shape = broadcast([bound.shape for bound in bounds])
        require_room(math.prod(shape))
    except GradcliError as error:
        error.place = _whole(text, source)
        raise
    low, high = (np.broadcast_to(bound, shape) for bound in bounds)
    if not (low <= high).all():
        hint = f"write {last.strip()}..{first.strip()}" if (low >= high).all() else None
        raise InputError("the lower bound is above the upper one", place=_whole(text, source), hint=hint)
    return low, high


def fitted(bound: Array, shape: Shape, source: str) -> Array:
    """A bound in the shape of its variable.

    Raises:
        InputError: It does not broadcast to it.
    """
    try:
        return np.broadcast_to(bound, shape)
    except ValueError:
        raise InputError(
            f"{source} has bounds of shape {show(bound.shape)}, and the variable has shape {show(shape)}",
            hint="the bounds must broadcast to the shape of the variable",
        ) from None


def _split(text: str, source: str) -> tuple[str, str]:
    """The text before and after the two dots that are not inside of brackets."""
    depth, found = 0, []
    for mark in _MARKS.finditer(text):
        depth += (mark.group() in "[(") - (mark.group() in "])")
        if depth == 0 and mark.group().startswith("."):
            found.append(mark)
    if len(found) != 1:
        what = "has no '..'" if not found else "has more than one '..'"
        raise InputError(f"the range {what}", place=_whole(text, source), hint="a range is LOW..HIGH, such as -1..1")
    (dots,) = found
    place = Place(text, Span(*dots.span()), source)
    if len(dots.group()) > 2:
        raise InputError(
            f"'{dots.group()}' may belong to the range or to a number",
            place=place,
            hint="write decimals in full, as in 1.0..2 or 1..0.2",
        )
    first, last = text[: dots.start()], text[dots.end() :]
    if not first.strip() or not last.strip():
        raise InputError("the range lacks a bound", place=place, hint="a range is LOW..HIGH, such as -1..1")
    return first, last


def _whole(text: str, source: str) -> Place:
    return Place(text, Span(0, len(text)), source)
