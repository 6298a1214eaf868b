"""Shapes of lines, each inferred once, while a text is lowered."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from gradcli.errors import GradcliError, LanguageError, Place
from gradcli.language.lower.context import ConstantEvaluation, Context
from gradcli.language.ops import Meaning
from gradcli.language.program.wengert import Atom, Call, Shape


def evaluation(context: Context) -> ConstantEvaluation:
    """Return the evaluation of lines.

    Raises:
        LanguageError: The text is a meaning of the op table, which has none.
    """
    if context.known.evaluation is None:
        raise LanguageError("a constant argument is not of the kind that is read here")
    return context.known.evaluation


def shape_of(context: Context, atom: Atom) -> Shape | None:
    """Infer the shape of a value; None while that of a variable is not known.

    Raises:
        GradcliError: Shapes do not fit.
    """
    for line in context.builder.backward_slice(atom, known=context.findings.line_shapes)[0]:
        shapes = [_known_shape(context, a) for a in line.call.operands]
        known = [shape for shape in shapes if shape is not None]
        is_known = len(known) == len(shapes)
        try:
            context.findings.line_shapes[line.symbol] = (
                evaluation(context).shape_of(line.call, known) if is_known else None
            )
        except GradcliError as error:
            error.place = Place(context.source.text, line.span, context.source.name)
            raise
    return _known_shape(context, atom)


def needed_shape(context: Context, atom: Atom) -> Shape | None:
    """Infer the shape of a value, and have the text read again where it is not known."""
    shape = shape_of(context, atom)
    context.findings.needs_shapes |= shape is None
    return shape


def needed_shapes(context: Context, atoms: Sequence[Atom]) -> tuple[Shape, ...] | None:
    """Infer the shapes of values, and have the text read again where one is not known."""
    found = [needed_shape(context, atom) for atom in atoms]
    return None if None in found else tuple(shape for shape in found if shape is not None)


def fitted(context: Context, call: Call) -> Call:
    """Give a call whose meaning depends on shapes those of its operands, or torch's meaning for them."""
    if not call.op.of_shapes:
        return call
    shapes = None if context.known.is_meaning else needed_shapes(context, call.operands)
    blank = Call(call.op.name, call.operands, (*call.typed, None))
    is_asked = shapes is not None and call.op.defined_by is Meaning.TORCH_CALL and context.known.ask is not None
    last = context.known.ask(blank, shapes, ())[0] if is_asked else shapes  # type: ignore[misc, arg-type]
    return Call(call.op.name, call.operands, (*call.typed, last))


def _known_shape(context: Context, atom: Atom) -> Shape | None:
    if not isinstance(atom := context.findings.first_part(atom), sympy.Symbol):
        return ()
    is_variable = context.findings.variables.get(atom.name) == atom
    return context.findings.shapes.get(atom.name) if is_variable else context.findings.line_shapes.get(atom)
