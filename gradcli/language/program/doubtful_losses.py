"""Remarks on losses that may be meant otherwise: of tensors of two shapes, and of probabilities for logits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gradcli.language.program.wengert import Atom, Line, Program, Shape

_PAIRED = frozenset(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
"""Losses of two tensors, which torch stretches over each other with a warning."""

_OF_LOGITS: Mapping[str, tuple[str, str, str]] = {
    "cross_entropy": ("softmax", "logits and applies softmax itself", "cross_entropy({0}, ...)"),
    "binary_cross_entropy_with_logits": (
        "sigmoid",
        "logits and applies sigmoid itself",
        "binary_cross_entropy_with_logits({0}, ...)",
    ),
    "nll_loss": ("softmax", "log-probabilities", "cross_entropy({0}, ...)"),
}
"""The function whose values a loss does not take, what it takes, and the loss of these values."""

LOSSES = _PAIRED | {*_OF_LOGITS}
"""Losses that there are remarks on."""


def remarks(program: Program, line: Line, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Generate the remarks on a loss.

    Args:
        program: The function.
        line: The line of the loss.
        shapes: Of every symbol.
    """
    if line.call.op.name in _PAIRED:
        yield from _stretched(line, shapes)
    else:
        yield from _of_probabilities(program, line)


def _stretched(line: Line, shapes: Mapping[Atom, Shape]) -> Iterator[str]:
    """Remark on a loss of an input and a target of other shapes, of which torch warns."""
    one, other = (shapes.get(operand, ()) for operand in line.call.operands[:2])
    if one != other and one and other:
        said = f"{line.call.op.name} stretches its input of shape {one} and its target of shape {other}"
        yield f"{said} over each other, of which torch warns"


def _of_probabilities(program: Program, line: Line) -> Iterator[str]:
    """Remark on a loss that takes logits, or log-probabilities, and is given probabilities."""
    name = line.call.op.name
    function, taken, meant = _OF_LOGITS[name]
    for one in program.lines:
        if one.symbol == line.call.operands[0] and one.call.op.name == function:
            shown = program.excerpt(one)
            argument = re.fullmatch(r"[\w.]+\(\s*([^(),]+?)\s*(?:,.*)?\)", shown)
            loss = meant.format(argument[1] if argument else "z")
            yield f"{name} takes {taken}; that of the probabilities {shown} is {loss}"
