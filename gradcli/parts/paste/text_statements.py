"""Statements of a text: definitions, imports, values, displays, and lines without effect on the function."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gradcli.language import ops
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.lower.statements import lower_statement, require_used
from gradcli.language.text import nodes
from gradcli.parts.paste.assigned_names import bind_names
from gradcli.parts.paste.imported_names import acts, add_import
from gradcli.parts.paste.tensors import note_casts, set_default
from gradcli.parts.paste.text_calls import callee_of, of_parameters
from gradcli.parts.paste.text_passes import require_gradient
from gradcli.parts.paste.text_rules import QUIET
from gradcli.parts.paste.text_state import LineRule, TextState, lower_line

_GRADIENT = re.compile(r"\.\s*grad\b(?!\s*\()")
"""Pattern of the attribute `.grad`, which is no call."""

_HIDDEN = re.compile(r"\{[^{}]*\b(?:grad|rand\w*|backward|\w+_)\s*\(")
"""Pattern of a call in an f-string that has an effect: a derivative, a draw, a change in place."""


def last_value(text: TextState, context: Context, lines: Sequence[nodes.LineNode]) -> Operand | None:
    """Lower all statements and return the value of the last one that has any, or of a definition at the end."""
    for line in lines:
        text.tensors.said.clear()
        lower_line(text, context, line)
    is_last = bool(lines) and nodes.definition_of(lines[-1]) is not None
    if text.defined is not None and not text.passes.noted and (is_last or text.output is None):
        require_used(context)
        text.output = of_parameters(text, context, text.defined)
        if text.output is None:
            span, hint = text.defined.node.span, "end it with return ..."
            raise context.source.error("this function returns nothing", span, hint=hint)
    return text.output


def _define(text: TextState, context: Context, node: nodes.FunctionNode) -> None:
    """Give a function its name, if it has one."""
    require_used(context)
    first, is_outside = context.source.tokens[node.position], not text.running
    if first.text not in ("def", "lambda") and ops.find(node.name) is not None:
        message = f"'{node.name}' is a function and cannot be defined"
        raise context.source.error(message, first.span, hint="choose another name")
    if first.text != "lambda" and node.name in context.findings.variables and is_outside:
        message = f"'{node.name}' is used as a variable before it is defined"
        raise context.source.error(message, first.span, hint="define it first, or choose another name")
    callee = callee_of(context, node)
    if node.name:
        context.names.values[node.name] = context.findings.placeholder(callee, node.name)
    text.defined = callee if is_outside else text.defined


def _value_alone(text: TextState, context: Context, line: nodes.Statement) -> None:
    """Lower a value without a name: a pass, a display, or the output where it is the last."""
    names = context.source.dotted(context.source.position(line.value.span.start))
    arguments = nodes.call_arguments(line.value)
    if isinstance(line.value, nodes.Word) and not line.value.is_operand:
        return
    if (text.is_torch and names[-1] in QUIET) or names == ["print"]:
        _print(context, line, arguments)
        return
    if text.is_torch and names[-1] in ("set_default_dtype", "set_default_tensor_type"):
        set_default(text.tensors, context, line.value.span)
        return
    is_display = text.passes.noted and _GRADIENT.search(context.source.excerpt(line.span)) is not None
    if is_display and not acts(context, line.span):  # as x.grad == 2*x
        return
    require_used(context)
    mark, count = len(context.builder.lines), len(text.passes.noted)
    operand = lower(context, line.value) if text.running else lower_statement(context, line)
    note_casts(text.tensors, context, line.value.span)
    if operand[0] in context.findings.objects or len(text.passes.noted) > count or text.running:
        return
    is_computed = not text.is_torch or any(one.call.op.name != "detach" for one in context.builder.lines[mark:])
    text.statements.append((line.span, context.findings.first_part(operand[0])))
    text.output = operand
    context.findings.unused_value = operand if is_computed and not text.is_session else None


def _print(context: Context, line: nodes.Statement, arguments: nodes.Arguments | None) -> None:
    """Pass over a print, except for arguments with an effect on later lines."""
    tokens = context.source.within(line.value.span)
    if any(token.kind == "string" and _HIDDEN.search(token.text) for token in tokens):
        raise context.source.code("a derivative, a draw or a change inside a text", line.value.span)
    if isinstance(line.value, nodes.Broken) and (tokens[-1].text != ")" or acts(context, line.span)):
        lower(context, line.value)
    for argument in arguments.items if arguments is not None else ():
        if acts(context, argument.value.span):
            lower(context, argument.value)


def _member_is(text: TextState, context: Context, line: nodes.Assignment) -> None:
    """Set `x.requires_grad = True` and `x.grad = None`; refuse other members, which belong to code."""
    member = line.member
    word = line.value.token.text if isinstance(line.value, nodes.Word) else ""
    is_read = (member.name.text, word) in (("requires_grad", "True"), ("requires_grad", "False"), ("grad", "None"))
    if not (text.is_torch and is_read):
        raise context.source.code(f"'.{member.name.text}' that is assigned", member.span)
    name = str(lower(context, line.owner)[0])
    if member.name.text == "grad":
        text.passes.zeroed[name] = None
    else:
        require_gradient(text, context, name, line.span, is_required=word == "True")


def _statement(text: TextState, context: Context, line: nodes.Statement) -> None:
    """Lower a definition by a formula or a lambda, a value alone, or names with a value."""
    if isinstance(line.value, nodes.FunctionNode) and not line.is_tuple:
        _define(text, context, line.value)
    elif not line.targets:
        _value_alone(text, context, line)
    else:
        bind_names(text, context, line)


LINES: Mapping[type[nodes.LineNode], LineRule] = {
    nodes.FunctionNode: _define,
    nodes.Import: add_import,
    nodes.Assignment: _member_is,
    nodes.Statement: _statement,
}
"""Rule of each kind of statement."""
