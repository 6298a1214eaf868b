"""The statements of a text, and the Program that they make, with the remarks on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import sympy

from gradcli.errors import Span
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.lower.indices import chosen, declared, whole_tensor
from gradcli.language.lower.lines import as_number, emit, require_tensor
from gradcli.language.lower.matrix_ranks import RowVector
from gradcli.language.lower.sizes import shape_of
from gradcli.language.lower.values_at_point import guards_found
from gradcli.language.program.wengert import Atom, Line, Program, Shape
from gradcli.language.text import nodes
from gradcli.language.text.doubtful import doubtful
from gradcli.option_words import option


@dataclass(frozen=True)
class EntryFormulas:
    """Formula of some entries of a tensor.

    Attributes:
        letters: The name of the index of each dimension; empty where the formula has none.
        fixed: The position in each dimension that the formula is for; None where it is for all.
        value: The formula.
    """

    letters: tuple[str, ...]
    fixed: tuple[int | None, ...]
    value: nodes.Node


def lower_program(context: Context, statements: Sequence[nodes.Statement]) -> Program:
    """Lower the statements of a text to a Program."""
    output: Operand | None = None
    for statement in statements:
        output = lower_statement(context, statement)
        require_used(context)
        context.findings.unused_value = None if statement.targets else output
    if output is None:
        message, end = "there is no expression", context.source.tokens[-1].span
        raise context.source.error(message, end, hint='write one, such as "x**2"')
    return finish(context, output)


def lower_statement(context: Context, statement: nodes.Statement) -> Operand:
    """Lower an assignment or an expression."""
    if not statement.targets:
        name = nodes.name_alone(statement.value) if context.names.values else ""
        context.names.last = name if name in context.names.values else ""
        return lower(context, statement.value)
    (target,) = statement.targets
    operand = lower(context, statement.value)
    value, span = operand
    assign(context, target.text, value, statement.value, is_row=isinstance(operand, RowVector))
    return value, target.span.to(span)


def assign(context: Context, name: str, value: Atom, node: nodes.Node, *, is_row: bool = False) -> None:
    """Give a name to a value, which is written as this node, and may be a vector that was transposed."""
    names = context.names
    (names.rows.add if is_row else names.rows.discard)(name)
    names.values[name] = value
    context.findings.unused[name] = None
    names.last = name
    found, line = context.findings.parts_of(value) or context.list_of(node), context.builder.line_of(value)
    is_list = isinstance(node, nodes.Items) and not any(isinstance(one, nodes.Items) for one in node.items[:1])
    if is_list and line is not None and line.call.op.name == "stack":
        found = [(atom, line.span) for atom in line.call.operands]
    names.lists.pop(name, None)
    if found is not None:
        names.lists[name] = found


def require_used(context: Context) -> None:
    """Refuse an expression that other statements follow.

    Raises:
        LanguageError: The last statement was one.
    """
    if (unused := context.findings.unused_value) is not None:
        hint = "the last statement is the output; write NAME = ... to use a value there, or [a, b] for both"
        raise context.source.error("this expression is computed and thrown away", unused[1], hint=hint)


def lower_value(context: Context, value: nodes.Value) -> Program:
    """Lower one value to a Program; a comma at the top makes a vector."""
    operands = [lower(context, item) for item in value.items]
    if not value.is_vector:
        return finish(context, operands[0])
    span = operands[0][1].to(operands[-1][1])
    return finish(context, emit(context, "stack", [a for a, _ in operands], span, (0,)))


def lower_entries(context: Context, cases: Sequence[EntryFormulas], shape: Shape) -> Program:
    """Make the Program of the tensor of this shape whose entries the cases give; of several, the first fit."""
    result: Atom | None = None
    for case in reversed(cases):
        context = declared(context, case.letters, shape)
        value, span = lower(context, case.value)
        atom = whole_tensor(context, value, shape, span)
        result = atom if result is None else chosen(context, case.fixed, atom, result, shape, span)
    span = Span(0, len(context.source.text))
    return finish(context, (sympy.Integer(0) if result is None else result, span))


def finish(context: Context, output: Operand) -> Program:
    """Make the Program of the lines so far; conditions come out as 1 and 0."""
    found, last = context.findings, context.names.last
    atom, span = _one_output(context, output)
    name = last
    is_typed = context.source.name == "EXPR" and not context.known.is_formula
    if is_typed and isinstance(output, RowVector):
        _remark_on_mark(context, output[1])
    if name in found.variables and context.builder.backward_slice(atom)[1].isdisjoint(found.variables.values()):
        value = context.source.single_line(span).partition("=")[2].strip()
        hint = f"give the value by {option('at', f'{name}={value}')}, or in a statement before"
        raise context.source.error(f"'{name}' is given a value after it is used", span, hint=hint)
    atom = as_number(context, atom, span)
    kept = {n: value for n, value in context.names.values.items() if n not in found.variables}
    values = {n: found.first_part(value) for n, value in kept.items() if value not in found.objects}
    names = {value: name for name, value in values.items()}
    written = _lines(context, atom)
    lines = tuple(replace(line, name=names[line.symbol]) if line.symbol in names else line for line in written)
    unused = _remarks_on_unused(found.unused, last) if found.unused else ()
    taken = {*kept, *found.variables}
    doubts = doubtful(context.source.tokens, context.source.text, taken) if is_typed else ()
    warnings = tuple(dict.fromkeys((*found.warnings, *unused, *doubts)))
    assigned = (*(name for name in values if name != last), last)
    assigned = tuple(name for name in assigned if name not in found.variables)
    variables = tuple(found.variables.values())
    named = {name: values[name] for name in assigned if name in values}
    origin = context.source.typed, variables, lines, atom, context.source.name, assigned, named, warnings
    needs_shapes, needs_values = found.needs_shapes, found.needs_values
    guards = guards_found(context) if found.guards else None
    whole = Program(*origin, needs_shapes=needs_shapes, needs_values=needs_values, guards=guards)
    joined, turned = tuple(found.joined.items()), found.doubtful_numbers
    return replace(whole, joined=joined, doubtful_numbers=turned, is_of_matrices=context.is_of_matrices)


def _remarks_on_unused(unused: Iterable[str], last: str) -> list[str]:
    """Remark on names that nothing uses; where the last statement gives one too, all of them may be meant.

    >>> _remarks_on_unused(["dx"], "")
    ["the name 'dx' is assigned but never used"]
    >>> _remarks_on_unused(["dx"], "dy")
    ["y is dy alone, and 'dx' is never used; for both, end with [dx, dy]"]
    """
    names = [name for name in unused if name != last]
    if not (names and last):
        return [f"the name '{name}' is assigned but never used" for name in names]
    shown, every = ", ".join(f"'{name}'" for name in names), ", ".join((*names, last))
    said = f"y is {last} alone, and {shown} {'are' if len(names) > 1 else 'is'} never used"
    return [f"{said}; for {'all' if len(names) > 1 else 'both'}, end with [{every}]"]


def _remark_on_mark(context: Context, span: Span) -> None:
    """Say of a vector that is transposed at last, `(x^2)'`, that this is no derivative."""
    shown = context.source.single_line(span)
    if shown.endswith("'") and not context.findings.needs_shapes:
        said = f"{shown} is a vector transposed; gradcli differentiates without a mark"
        context.findings.warnings.append(said)


def _one_output(context: Context, output: Operand) -> Operand:
    """Return the output as one tensor: several of one shape are put in a list."""
    atom, span = output
    parts = context.findings.parts_of(atom)
    if parts is None or context.findings.several[atom].names or len({shape_of(context, a) for a, _ in parts}) != 1:
        return require_tensor(context, atom, span), span
    return emit(context, "stack", [a for a, _ in parts], span, (0,))


def _lines(context: Context, output: Atom) -> list[Line]:
    """Return the lines so far, less those that served a constant or a part that nothing took."""
    written, spent = context.builder.lines, context.findings.spent
    if not spent:
        return written
    wanted, kept = {output, *context.names.values.values()}, list[Line]()
    for line in reversed(written):
        if line.symbol not in spent or line.symbol in wanted:
            wanted.update(line.call.operands)
            kept.append(line)
    return kept[::-1]
