"""Conditions that values decide: evaluated at the point, each line once, and kept as guards."""

from __future__ import annotations

import numpy as np

from gradcli.arrays import AnyArray, Array
from gradcli.errors import Span, TooLargeError
from gradcli.language.lower.constants import constant_numbers
from gradcli.language.lower.context import Context
from gradcli.language.lower.sizes import evaluation
from gradcli.language.program.wengert import Atom, Guard, Guards, Program, number

MOST_WORK = 2**26
"""Largest number of elements that are computed for decisions."""

MOST_DECIDED = 1_000
"""Largest number of conditions of a text that values decide."""


class UnknownShapeError(Exception):
    """Unknown shape of an operand, or an unknown value that decides."""


def known_value(context: Context, atom: Atom) -> Array | None:
    """Evaluate a value at the point, where there is one; the lines of the text need not depend on it."""
    is_asked = context.findings.needs_values
    try:
        return value_at_point(context, atom) if context.known.values else None
    except UnknownShapeError:
        return None
    finally:
        context.findings.needs_values = is_asked


def given_mask(context: Context, atom: Atom) -> AnyArray | None:
    """Return the value of a variable that is given as true and false; None of any other value."""
    found = (context.known.values or {}).get(str(atom))
    is_mask = found is not None and found.dtype == np.bool_ and context.findings.variables.get(str(atom)) == atom
    return found if is_mask else None


def value_at_point(context: Context, atom: Atom) -> Array:
    """Evaluate a value at the point, for which the text asks.

    Raises:
        UnknownShapeError: There is no point yet.
    """
    known, variables = context.findings.known_values, context.findings.variables
    known |= {
        variables[n]: np.asarray(value) * 1.0 for n, value in (context.known.values or {}).items() if n in variables
    }
    lines, leaves = context.builder.backward_slice(atom, known=known)
    context.findings.needs_values = True
    if not leaves.isdisjoint({*variables.values()} - {*known}):
        raise UnknownShapeError
    for line in lines:
        held = {one: known[one] for one in line.call.operands if one in known}
        alone = Program(context.source.text, (), (line,), line.symbol, context.source.name)
        known[line.symbol] = found = evaluation(context).run(alone, held)
        context.findings.decided += found.size
    return np.asarray(known[atom] if atom in known else number(atom), dtype=np.float64)


def guards_found(context: Context) -> Guards:
    """Return all conditions that values decided, as guards."""
    guards, variables = tuple(context.findings.guards), context.findings.variables.values()
    first, *others = (guard.condition for guard in guards)
    return Guards(context.builder.program(first, variables, *others), guards)


def decided(context: Context, mask: Atom, where: Span, x: str, shown: str) -> Array:
    """Return the numbers of a mask: of a constant, or those that values decide at the point.

    Raises:
        LanguageError: Values decide, and are not known here.
        UnknownShapeError: There is no point yet.
    """
    found = constant_numbers(context, mask)
    if found is not None:
        return found
    if context.known.values is None:
        message = "the values of variables decide how many elements this mask takes"
        hint = f"where({shown}, {x}, 0) keeps the shape, with 0 for the others; a sum of it is the same"
        raise context.source.error(message, where, hint=hint)
    context.findings.warnings.append(f"values decided which elements {shown} takes: the answer is of those")
    found = value_at_point(context, mask)
    context.findings.guards.append(Guard(mask, context.source.single_line(where), "other elements are taken"))
    if len(context.findings.guards) > MOST_DECIDED or context.findings.decided > MOST_WORK:
        message = "values decide too much here: there are too many masks, or too large ones"
        raise context.source.error(message, where, hint="fewer masks, or smaller tensors", kind=TooLargeError)
    return found
