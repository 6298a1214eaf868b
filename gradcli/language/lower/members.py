"""Members and indices after an operand: methods, `.T`, `.shape`, `x[0, 1:]`, `x[i]`."""

from __future__ import annotations

import sympy

from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower import libraries
from gradcli.language.lower.argument_kinds import CONVERSIONS
from gradcli.language.lower.calls import call
from gradcli.language.lower.constants import NEW_AXES, index_item, position_in, whole_numbers
from gradcli.language.lower.context import Context, Operand, Several, lower
from gradcli.language.lower.conversions import converted, detached
from gradcli.language.lower.indices import element, mentions
from gradcli.language.lower.inlining import index_with_tensors
from gradcli.language.lower.lines import emit, require_tensor
from gradcli.language.lower.matrix_ranks import ArrayRow, RowVector
from gradcli.language.lower.sizes import needed_shape, shape_of
from gradcli.language.ops import Default, Kind
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Arguments, Items, Member, SliceNode, Subscript, Word, name_alone
from gradcli.language.text.tokens import Token


def member(context: Context, operand: Operand, member: Member) -> Operand:
    """Lower a member of an operand."""
    name = member.name
    span = operand[1].to(name.span)
    if member.arguments is not None:
        return _method(context, name, span, operand, member.arguments)
    place = Span(member.span.start, name.span.stop)
    if (several := context.findings.several.get(operand[0])) is not None and name.text in several.names:
        return several.parts[several.names.index(name.text)][0], span
    is_row = isinstance(operand, RowVector)
    operand = require_tensor(context, *operand), operand[1]
    match name.text:
        case "T" | "H":  # of real numbers they are one
            return _transposed(context, operand[0], span, is_row=is_row)
        case "I" if not context.known.is_meaning:
            return emit(context, "inv", [operand[0]], span)
        case "mT" | "mH":
            return emit(context, "transpose", [operand[0]], span, (-2, -1))
        case "values" | "real":
            return operand[0], span
        case "size":  # of an array
            return emit(context, "count", [operand[0]], span, (None,))
        case "data":
            return detached(context, operand[0], span)
        case "imag" | "conj":
            raise context.source.error("complex numbers are not read", place)
        case "grad":
            hint = "gradcli prints the gradient; leave it out"
            raise context.source.error("'.grad' is not part of the language", place, hint=hint)
    if ops.find(name.text, after_dot=True) is not None:
        raise context.source.error(f"'.{name.text}' is a method", place, hint=f"write .{name.text}(...)")
    hint = "only .T, .mT, .shape[0] and methods such as .sum()"
    raise context.source.error(f"'.{name.text}' is not part of the language", place, hint=hint)


def _transposed(context: Context, atom: Atom, span: Span, *, is_row: bool) -> Operand:
    """Lower `x.T`, which of a vector is x."""
    shape = needed_shape(context, atom)
    if shape is None or len(shape) != 1:
        return emit(context, "transpose", [atom], span, (None, None))
    if not (context.findings.needs_shapes or context.libraries.has_numpy):  # else sizes may be others yet
        remark = f"{context.source.excerpt(span)} of a vector is the vector, as NumPy has it; torch will refuse it"
        context.findings.warnings.append(remark)
    return (atom, span) if is_row else ArrayRow(atom, span)


def _method(context: Context, name: Token, span: Span, operand: Operand, arguments: Arguments) -> Operand:
    """Lower a method with its arguments."""
    if name.text in CONVERSIONS:
        return converted(context, name, span, require_tensor(context, *operand), arguments)
    if name.text.endswith("_"):
        instead = f"write y = x.{name.text.rstrip('_')}(...)"
        raise context.source.code(f"'.{name.text}', which changes its tensor,", name.span, instead)
    if name.text in ("T", "mT"):
        message, hint = f"'.{name.text}' takes no parentheses", f"write .{name.text} alone"
        raise context.source.error(message, arguments.opening.span, hint=hint)
    library = context.libraries.of_method(name)
    if library and name.text in libraries.IN_PLACE:
        raise context.source.code(f"'.{name.text}', which changes its array,", name.span, f"write np.{name.text}(x)")
    return call(context, name, span, [operand], arguments, after_dot=True, library=library)


def sizes_of(context: Context, operand: Operand, member: Member) -> Operand:
    """Lower all sizes of a tensor: `x.shape`."""
    span = operand[1].to(member.span)
    shape = needed_shape(context, require_tensor(context, *operand))
    axes = range(1 if shape is None else len(shape))
    counts = tuple(emit(context, "count", [operand[0]], span, (axis,)) for axis in axes)
    shown = context.source.single_line(span)
    return context.findings.pack(Several(shown, counts, is_provisional=shape is None)), span


def indexed(context: Context, operand: Operand, subscript: Subscript) -> Operand:
    """Lower `x[key]`; `[0]` takes the values of torch's pair of values and positions."""
    if (several := context.findings.several.get(operand[0])) is not None:
        return _part(context, several, operand[1].to(subscript.span), subscript)
    if mentions(context, subscript.span):
        return element(context, operand, subscript)
    items = [_positions(context, bound) or index_item(context, bound) for bound in subscript.items]
    span = operand[1].to(subscript.span)
    if any(isinstance(item, tuple) and isinstance(item[0], sympy.Expr) for item in items):
        return index_with_tensors(context, operand, items, span)
    return emit(context, "index", [operand[0]], span, (tuple(items),))


def _positions(context: Context, bound: SliceNode) -> Operand | Default:
    """Lower a tensor or a list in an index; None for any other item."""
    node = bound.only
    if node is None or isinstance(node, Word) or context.source.single_line(node.span) in NEW_AXES:
        return None
    if context.known.is_meaning:
        if isinstance(node, Items):
            return whole_numbers(context, node)
        return context.known.constants.get(name_alone(node))
    mark = len(context.builder.lines)
    atom, span = lower(context, node)
    operand = require_tensor(context, atom, span), span
    shape = shape_of(context, operand[0])
    _, leaves = context.builder.backward_slice(operand[0], stop=lambda call: call.op.kind is Kind.COUNT)
    is_unknown = shape is None and not leaves.isdisjoint(context.findings.variables.values())
    if shape or is_unknown or operand[0] in context.findings.conditions:
        return operand
    context.builder.forget(mark)  # one number, which is read again as a constant
    return None


def _part(context: Context, several: Several, span: Span, subscript: Subscript) -> Operand:
    """Take one of several tensors, `x.chunk(3)[1]`."""
    place, count = position_in(context, subscript), len(several.parts)
    if several.is_provisional:
        return several.parts[0][0], span
    if not -count <= place < count:
        gives = f"{several.call} gives {count} tensor{'s' * (count > 1)}"
        raise context.source.error(f"{gives}, counted from 0", subscript.span)
    return several.parts[place][0], span
