"""Where a Program may have no derivative: the elements at or next to a kink, a jump, a pole or an edge of a domain.

An element is critical where an expression of `edges`, which the op table has of its operation, vanishes within what
rounding can do to it, where the largest elements tie, and where a value is lost that its operands have.  Nothing is
proven: what is found is what a sample must not leave out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gradcli.language import ops
from gradcli.language.lower.programs import parse_meaning
from gradcli.language.ops import Kind, Monoid
from gradcli.language.program import numeric
from gradcli.language.program.expansion import in_primitives
from gradcli.language.program.movement import axes_of
from gradcli.language.program.wengert import Atom, Call, Program, Shape
from gradcli.reference.estimates import ULPS, Array, Estimate, Step, changes, steps
from gradcli.reference.footprint import Flat
from gradcli.reference.rules import is_polynomial

Mask = npt.NDArray[np.bool_]

MOST_SPOTS = 4_096
"""Critical elements of one operation whose places are kept; of more, every so many."""


@dataclass(frozen=True)
class Spots:
    """Critical elements of one operation.

    Attributes:
        name: Of the operation.
        atom: The line or the operand that they are elements of.
        points: The number of the point of each.
        elements: Its flat position there.
        count: How many there are in all.
    """

    name: str
    atom: Atom
    points: Flat
    elements: Flat
    count: int


@dataclass(frozen=True)
class Critical:
    """What was found, in the order of the lines, and the operations that could not be looked at."""

    spots: tuple[Spots, ...]
    unknown: tuple[str, ...] = ()


def critical(
    program: Program,
    shapes: Mapping[Atom, Shape],
    inputs: Mapping[str, npt.NDArray[np.floating]],
    mapped: Sequence[str] = (),
) -> Critical:
    """The critical elements of a Program of primitives.

    Args:
        program: The function.
        shapes: Of its symbols at one point.
        inputs: Of its variables.
        mapped: Those of them whose first axis counts points.

    >>> from gradcli.language.parsing import parse
    >>> from gradcli.language.program.expansion import in_primitives
    >>> program = in_primitives(parse("relu(x) + x**2"))
    >>> x = np.array([-1.0, 0.0, 3.0])
    >>> shapes = {symbol: (3,) for symbol in (*program.variables, *(line.symbol for line in program.lines))}
    >>> found = critical(program, shapes, {"x": x})
    >>> [(spots.name, spots.elements.tolist()) for spots in found.spots]
    [('maximum', [1])]
    """
    spots, unknown = [], []
    for step in steps(program, shapes, inputs, mapped):
        if step.result is None:
            unknown.append(step.line.call.op.name)
        with np.errstate(all="ignore"):
            found = _spots(step, shapes)
        if found is not None:
            spots.append(found)
    return Critical(tuple(spots), tuple(dict.fromkeys(unknown)))


def _spots(step: Step, shapes: Mapping[Atom, Shape]) -> Spots | None:
    call, atom = step.line.call, step.line.symbol
    if call.op.kind is Kind.REDUCTION and call.op.is_extreme:
        atom = call.operands[0]
        mask: Mask | None = _tied(call, step.operands[0], shapes[atom])
    else:
        mask = _lost(step)
        for near in _near(call, step.operands) if call.op.kind is Kind.ELEMENTWISE else ():
            mask = near if mask is None else mask | near
        if (
            mask is not None
            and call.op.kind is Kind.MATRIX
            and step.result is not None
            and step.result.error is not None
        ):
            mask = mask | ~(np.abs(step.result.value) > step.result.error)
    if mask is None or not mask.any():
        return None
    shape = shapes[atom]
    whole = np.broadcast_to(mask, np.broadcast_shapes(mask.shape, (1, *shape)))
    places = np.flatnonzero(whole)
    kept = places[:: 1 + len(places) // MOST_SPOTS]
    points, elements = np.divmod(kept, max(1, whole[0].size))
    return Spots(call.op.name, atom, points, elements, len(places))


def _lost(step: Step) -> Mask | None:
    """Where there is no finite value, of operands that are: outside a domain, or beyond the largest float."""
    if step.result is None or step.line.call.op.kind is Kind.SOURCE:
        return None
    is_lost = ~np.isfinite(step.result.value)
    if not is_lost.any() or step.line.call.op.kind in (Kind.MOVEMENT, Kind.LIST):
        return is_lost & False
    if step.line.call.op.kind is Kind.ELEMENTWISE:
        for operand in step.operands:
            is_lost = is_lost & np.isfinite(operand.value)
        return is_lost
    return is_lost & all(np.isfinite(operand.value).all() for operand in step.operands)


def _near(call: Call, operands: Sequence[Estimate]) -> Iterator[Mask]:
    """Where each edge of the operation is, within the rounding of what makes it up."""
    widened = tuple(
        operand if atom.is_number else Estimate(operand.value, _wide(operand))
        for atom, operand in zip(call.operands, operands, strict=True)
    )
    is_finite = np.logical_and.reduce(np.broadcast_arrays(*(np.isfinite(operand.value) for operand in operands)))
    for edge in edges(call):

        def distance(values: list[Array], edge: Program = edge) -> Array:
            return numeric.run(edge, dict(zip(edge.variables, values, strict=True)))

        found = distance([operand.value for operand in widened])
        slack = changes(distance, widened, found)
        yield ~(np.abs(found) > (0 if slack is None else slack)) & is_finite


def _wide(operand: Estimate) -> Array:
    """How far an operand may be off, and a few units in its last place at least."""
    rounding: Array = np.abs(operand.value) * ULPS
    return rounding if operand.error is None else rounding + operand.error


def edges(call: Call) -> tuple[Program, ...]:
    """What vanishes where an elementwise operation may have no derivative; none of what is smooth on its operands."""
    op = call.op
    if is_polynomial(call):
        return ()
    if not (op.critical or op.edges) and len(set(call.operands)) < len(call.operands):  # maximum(x, x) is x
        return ()
    return _edges(op.name)


@lru_cache(maxsize=256)
def _edges(name: str) -> tuple[Program, ...]:
    op = ops.TABLE[name]
    return tuple(in_primitives(parse_meaning(text, op.operands, {})) for text in op.critical or (*op.kinks, *op.edges))


def _tied(call: Call, operand: Estimate, shape: Shape) -> Mask:
    """Elements that may be the extreme one, where several may."""
    axes = tuple(axis + 1 for axis in axes_of(shape, call.statics[0]))
    sign = 1.0 if call.op.monoid is Monoid.LARGEST else -1.0
    value, error = sign * operand.value, _wide(operand)
    most = np.max(value - error, axis=axes, keepdims=True)
    is_possible = value + error >= most
    tied: Mask = is_possible & (np.sum(is_possible, axis=axes, keepdims=True) > 1)
    return tied
