"""Calls whose lines are other operations: of functions that torch is asked for, and of indices with positions in them.

While a shape is not known the first operand stands for the result, and the text is read again when it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gradcli.arrays import Array
from gradcli.errors import Span
from gradcli.language.lower.arguments import Bindings
from gradcli.language.lower.constants import UNKNOWN_SIZE, constant_numbers, inline_text
from gradcli.language.lower.context import Context, Operand, Several
from gradcli.language.lower.lines import as_number, require_tensor, with_place
from gradcli.language.lower.sizes import fitted, needed_shapes, shape_of
from gradcli.language.lower.values_at_point import UnknownShapeError, decided, given_mask, known_value
from gradcli.language.program.constant_tensors import constant_tensor
from gradcli.language.program.positions import Positions, indexed, is_listed
from gradcli.language.program.wengert import Atom, Call


def inlined_call(context: Context, bound: Bindings, span: Span) -> Operand:
    """Lower a call that torch is asked for; its value stands for several tensors where it gives several.

    Args:
        context: Place of the call.
        bound: Its arguments.
        span: Of the call.

    Raises:
        GradcliError: Torch refuses it, or is not there to be asked.
    """
    op, found, ask = bound.op, context.findings, context.known.ask
    given = [(name, *bound.operands[name]) for name in op.operands if name in bound.operands]
    given += [("", *one) for one in bound.extra]
    atoms = [require_tensor(context, atom, span) for _, atom, _ in given]
    mark, names = len(context.builder.lines), () if op.parts == ("...",) else op.parts
    try:
        fixed = tuple(
            _fixed(context, bound, name, atom, where) for (name, _, where), atom in zip(given, atoms, strict=True)
        )
        if (shapes := needed_shapes(context, atoms)) is None:
            raise UnknownShapeError
    except UnknownShapeError:
        found.needs_shapes = True
        placeholders = ((atoms[0], span),) * (len(names) or UNKNOWN_SIZE)
        whole = found.pack(Several(op.name, placeholders, names, is_provisional=True)) if op.parts else atoms[0]
        return whole, span
    if ask is None:
        raise context.source.error(f"what {op.name} computes is asked of torch, which is not done here", span)
    atoms = [as_number(context, atom, span) for atom in atoms]
    asked = Call(op.name, tuple(atoms), bound.constants)
    parts = with_place(context, span, lambda: ask(asked, shapes, fixed))
    programs = (None if one is None else one.record() for one in parts)
    fit = partial(fitted, context)
    results = tuple(
        (found.placeholder(None) if one is None else context.builder.inline(one, atoms, span, fit), span)
        for one in programs
    )
    if len(parts) == 1 and len(names) != 1 and op.parts != ("...",):  # as a median of all elements
        return results[0]
    if bound.library and sum(one is not None for one in parts) == 1:  # as in np.sort
        return results[0]
    found.spent.update(line.symbol for line in context.builder.lines[mark:])
    return found.pack(Several(op.name, results, names)), span


def _fixed(context: Context, bound: Bindings, name: str, atom: Atom, where: Span) -> Array | None:
    """Return the numbers of an operand that the call depends on: positions, a mask, a share."""
    op = bound.op
    if name in op.conditions:
        return decided(context, as_number(context, atom, where), where, "x", context.source.single_line(where))
    if name not in (*op.whole, *op.numbers):
        return None
    found = constant_numbers(context, atom)
    if found is None and name in op.numbers:
        message = f"{op.name} needs numbers that are constant for {name}"
        raise context.source.error(message, where, hint="write them as numbers")
    return found


def index_with_tensors(context: Context, operand: Operand, items: Sequence[object], span: Span) -> Operand:
    """Lower `x[key]` with tensors of positions among the items, each an operand; conditions are masks."""
    tensors = [item for item in items if isinstance(item, tuple)]
    read: list[Any] = []
    try:
        for item in items:
            read += _places_in(context, item, operand, tensors) if isinstance(item, tuple) else [item]
        if (shapes := needed_shapes(context, [a for a, _ in (operand, *tensors)])) is None:
            raise UnknownShapeError
    except UnknownShapeError:
        context.findings.needs_shapes = True
        return operand[0], span
    text = with_place(context, span, lambda: indexed("x", shapes[0], read))
    constants = {one.name: one.numbers for one in read if isinstance(one, Positions) and one.numbers is not None}
    atoms = {"x": as_number(context, operand[0], span)}
    for name, atom, where in ((f"i{n}", *one) for n, one in enumerate(tensors)):
        numbers = constants.get(name)
        if numbers is None or is_listed(numbers):
            atoms[name] = as_number(context, atom, span)
        else:
            atoms[name] = context.builder.emit("drawn", (), where, (np.shape(numbers), constant_tensor(numbers)))
    return inline_text(context, text, atoms, span), span


def _places_in(context: Context, item: Operand, operand: Operand, tensors: Sequence[Operand]) -> list[Positions]:
    """Return the positions of a tensor in an index; of a mask, one tensor for each of its dimensions."""
    atom, where = item
    shape = shape_of(context, atom)
    number = as_number(context, atom, where)
    if (mask := given_mask(context, atom)) is not None:
        return [Positions("", axis.shape, axis) for axis in np.nonzero(mask)]
    if atom not in context.findings.conditions:
        numbers = constant_numbers(context, number)
        known = known_value(context, number) if numbers is None else numbers
        is_negative = known is not None and bool((known < 0).any())
        return [Positions(f"i{tensors.index(item)}", shape or (), numbers, is_negative)]
    found = decided(context, number, where, context.source.excerpt(operand[1]), context.source.excerpt(where))
    if not found.ndim:
        raise context.source.error("a condition of one number is no mask here", where, hint="write where(c, x, 0)")
    return [Positions("", axis.shape, axis) for axis in np.nonzero(found)]
