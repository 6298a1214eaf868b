"""Names that take values: a tensor of numbers is a variable, everything else a value of the text."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import sympy

from gradcli.errors import GradcliError, Span
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.lower.lines import emit, require_tensor
from gradcli.language.lower.matrix_ranks import RowVector
from gradcli.language.lower.sizes import needed_shape
from gradcli.language.lower.statements import assign, require_used
from gradcli.language.ops import Kind
from gradcli.language.program.numeric import run
from gradcli.language.program.wengert import Atom
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token
from gradcli.parts.paste.tensors import CONSTRUCTORS, define_type, note_casts
from gradcli.parts.paste.text_passes import function_of, require_gradient
from gradcli.parts.paste.text_state import TextState

MAX_PARTS = 10_000
"""Largest number of elements of a tensor that names on the left of one `=` may take."""


def bind_names(text: TextState, context: Context, line: nodes.Statement) -> None:
    """Bind names to a value, which is the output where it is the last."""
    require_used(context)
    mark, values = len(context.builder.lines), _taken(context, line)
    for token, (node, operand) in zip(line.targets, values, strict=True):
        first = line.targets[0].text
        if token.text != first and not line.is_tuple and first in text.tensors.values:  # a = b = tensor: one tensor
            context.names.values[token.text] = context.findings.variables[first]
        else:
            _name_is(text, context, token, operand, node, line, mark)


def _taken(context: Context, line: nodes.Statement) -> list[tuple[nodes.Node, Operand]]:
    """Lower the value of each of the names on the left."""
    value, count = line.value, len(line.targets)
    if line.is_tuple and isinstance(value, nodes.Items) and not any(isinstance(i, nodes.Loop) for i in value.items):
        found = [(item, lower(context, item)) for item in value.items]
    else:
        operand = lower(context, value)
        if not line.is_tuple:
            return [(value, operand)] * count
        found = [(value, part) for part in _parts(context, operand, count)]
    if len(found) != count:
        span = line.targets[0].span.to(line.targets[-1].span)
        raise context.source.error(f"{count} names for {len(found)} values", span)
    return found


def _parts(context: Context, operand: Operand, count: int) -> list[Operand]:
    """Take a value apart, into as many parts as there are names where the number is not known yet."""
    atom, span = operand
    if (several := context.findings.several.get(atom)) is not None:
        return [several.parts[0]] * count if several.is_provisional else list(several.parts)
    line = context.builder.line_of(atom)
    if line is not None and (line.call.op.name, line.call.statics) == ("stack", (0,)):
        return [(part, span) for part in line.call.operands]
    shape = needed_shape(context, require_tensor(context, atom, span))
    if shape == ():
        raise context.source.error("a number has no parts", span)
    length = count if shape is None else shape[0]
    if length > MAX_PARTS:
        raise context.source.error(f"{count} names for {length} values", span)
    return [emit(context, "index", [atom], span, ((n,),)) for n in range(length)]


def _name_is(
    text: TextState, context: Context, name: Token, operand: Operand, node: nodes.Node, line: nodes.Statement, mark: int
) -> None:
    """Bind a name to a value: a tensor of numbers is a variable, outside of functions."""
    value, span = operand
    is_required, is_inside = _is_required(context, node, line), bool(text.running)
    if context.findings.object_of(value) is not None:
        context.names.values[name.text] = value
        return
    is_tensor = text.is_torch and not is_inside and _is_tensor(text, context, value, node, mark, is_required)
    if is_required and (is_inside or not is_tensor):
        hint = "write requires_grad_() at the end of the line"
        raise context.source.error(f"'{name.text}' is no leaf: torch leaves its .grad empty", node.span, hint=hint)
    if is_tensor and (is_required or name.text not in text.changed):
        _define(text, context, name, value, line, mark, is_required=is_required)
        return
    assign(context, name.text, value, node, is_row=isinstance(operand, RowVector))
    if is_inside:
        context.findings.unused.pop(name.text, None)
        return
    note_casts(text.tensors, context, line.span)
    value = context.findings.first_part(value)
    text.statements.append((line.span, value))
    if not (text.is_torch and name.text in text.changed and not function_of(context, value).variables):
        text.output, context.findings.unused_value = (value, name.span.to(span)), None


def _define(
    text: TextState, context: Context, name: Token, value: Atom, line: nodes.Statement, mark: int, *, is_required: bool
) -> None:
    """Make a name a variable with the numbers of a tensor as its values."""
    before = context.findings.variables.get(name.text)
    used = {atom for earlier in context.builder.lines[:mark] for atom in earlier.call.operands}
    if before is not None and before in used | {*context.names.values.values()}:
        message = f"'{name.text}' is given another tensor behind lines that use the first"
        raise context.source.error(message, name.span, hint="give the second another name")
    program = function_of(context, value)
    text.tensors.values[name.text] = run(
        program, {symbol: text.tensors.values[symbol.name] for symbol in program.variables}
    )
    context.findings.shapes.setdefault(name.text, text.tensors.values[name.text].shape)
    define_type(text.tensors, context, name.text, value)
    if not line.is_tuple:  # else other names stand for lines that were written since
        context.builder.forget(mark)
    context.names.values.pop(name.text, None)
    context.findings.variables[name.text] = sympy.Symbol(name.text, real=True)
    if is_required:
        require_gradient(text, context, name.text, name.span.to(line.value.span), is_required=True)


def _is_tensor(text: TextState, context: Context, value: Atom, node: nodes.Node, mark: int, is_required: bool) -> bool:
    """Tell whether a value is a tensor made of numbers alone, in this statement."""
    if value in context.findings.several or value in context.findings.conditions:
        return False
    words = {token.text for token in context.source.within(node.span)}
    new = {line.symbol for line in context.builder.lines[mark:] if line.call.op.kind is Kind.SOURCE}
    is_made = bool(words & CONSTRUCTORS) or any(word.endswith("Tensor") for word in words)
    if not (is_made or new or is_required):  # most lines, whose leaves need no search
        return False
    is_made |= any(line.symbol in new for line in context.builder.backward_slice(value)[0])
    names = function_of(context, value).names
    _, followed = context.builder.backward_slice(value, stop=lambda call: call.op.is_detached)
    is_leaf = not any(str(leaf) in text.passes.requires for leaf in followed)
    is_copy = is_leaf and is_required and all(name in text.tensors.values for name in names)
    return is_copy or (is_made and not names)


def _is_required(context: Context, node: nodes.Node, line: nodes.Statement) -> bool:
    """Tell whether the last call of an expression makes a tensor that requires a gradient."""
    last = node.trailers[-1] if isinstance(node, nodes.Postfix) else node
    arguments = nodes.call_arguments(node)
    if isinstance(last, nodes.Member) and last.name.text == "requires_grad_":
        return not any(token.text == "False" for token in context.source.within(last.span))
    words = [token.text for token in context.source.within(node.span)]
    given = [words[n + 2] for n in range(len(words) - 2) if words[n : n + 2] == ["requires_grad", "="]]
    if not {*given} <= {"True", "False"}:
        raise context.source.error("requires_grad takes True or False here", node.span)
    is_said = "requires_grad_" in words or "True" in given
    is_parameter = (
        arguments is not None
        and context.source.tokens[context.source.position(arguments.span.start) - 1].text == "Parameter"
    )
    keywords = [one.name.text for one in (arguments.items if arguments else ()) if one.name is not None]
    if is_parameter or not is_said or "requires_grad" in keywords:
        return is_parameter or is_said
    raise _unnamed(context, line)


LONGEST_LINE = 300
"""Characters of a line that is written out with a name for its tensor."""


def _unnamed(context: Context, line: nodes.Statement) -> GradcliError:
    """Make the error that a tensor which requires a gradient has no name, with the lines that give it one."""
    source, span = context.source, line.span
    message, hint = "the tensor that requires a gradient has no name", "give it a name, on a line before this one"
    words = [token.text for token in source.tokens]
    marks = [n for n in source.positions(span) if words[n : n + 3] == ["requires_grad", "=", "True"]]
    calls = [_call_around(words, n) for n in marks]
    if not calls or span.stop - span.start > LONGEST_LINE:
        return source.error(message, span, hint=hint)
    free = (name for name in itertools.chain("xwab", map("x{}".format, itertools.count(1))) if name not in words)
    named, rest, end = list[str](), "", span.start
    for (first, last), name in zip(calls, free, strict=False):
        start, stop = source.tokens[first].span.start, source.tokens[last].span.stop
        named.append(f"{name} = {source.single_line(Span(start, stop))}")
        rest, end = f"{rest}{source.text[end:start]}{name}", stop
    rest = " ".join((rest + source.text[end : span.stop]).split())
    return source.error(message, span, hint=f"write {'; '.join([*named, rest])}")


def _call_around(words: Sequence[str], place: int) -> tuple[int, int]:
    """Find the first and the last token of the call that has a word among its arguments."""
    first, last = (
        next(
            n
            for n, depth in zip(path, itertools.accumulate(_depth(words[n]) * sign for n in path), strict=True)
            if depth == 1
        )
        for path, sign in ((range(place, -1, -1), 1), (range(place, len(words)), -1))
    )
    while first > 0 and (words[first - 1] == "." or words[first - 1].isidentifier()):
        first -= 1
    return first, last


def _depth(word: str) -> int:
    return (word in _OPENING) - (word in _CLOSING)


_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
