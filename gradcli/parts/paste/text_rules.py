"""Rules of the nodes that mean something else in statements than in an expression, and of those that only these have.

The rules of the language are called for all that is not theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import sympy

from gradcli.language.lower import members
from gradcli.language.lower.arguments import by_name
from gradcli.language.lower.constants import as_whole
from gradcli.language.lower.context import Context, NameRead, Operand, Rules, Several
from gradcli.language.lower.expressions import power
from gradcli.language.lower.programs import RULES
from gradcli.language.text import nodes
from gradcli.parts.paste.imported_names import is_code_path, path_at
from gradcli.parts.paste.tensors import draw, note_types
from gradcli.parts.paste.text_calls import call_function, callee_of
from gradcli.parts.paste.text_passes import backward, grad, require_gradient
from gradcli.parts.paste.text_state import Callee, TextState, Unread, unread

QUIET = frozenset("set_printoptions set_num_threads retain_grad set_detect_anomaly seed".split())
"""Calls without effect on the function."""

_SHOWN = frozenset("requires_grad is_leaf grad_fn dtype device".split())
"""Members that a notebook shows."""


def _function(context: Context, node: nodes.FunctionNode) -> Operand:
    """Lower a lambda among arguments."""
    return context.findings.placeholder(callee_of(context, node), "function"), node.span


def _named(text: TextState, context: Context, node: nodes.NameNode, trailers: Sequence[nodes.Trailer]) -> NameRead:
    """Lower a function of the text, a derivative or a draw; refuse a call that is code."""
    known = context.findings.objects.get(context.names.values.get(node.token.text, sympy.S.Zero))
    if known is not None:
        context.findings.unused.pop(node.token.text, None)
        if node.arguments is None or not isinstance(known, Callee):
            return NameRead((context.names.values[node.token.text], node.span), 0)
        result = call_function(text, context, known, node.arguments)
        nothing = Unread("this function", hint="it returns nothing: end it with return ...")
        return NameRead((unread(context, nothing, node.span) if result is None else (result[0], node.span)), 0)
    path, end = path_at(context, context.source.position(node.span.start))
    used = max(0, end - context.source.position(node.span.start) - 1) // 2
    if not path or used > len(trailers):
        return RULES.name(context, node, trailers)
    last = trailers[used - 1] if used else node
    arguments = last.arguments if isinstance(last, nodes.NameNode | nodes.Member) else None
    span = node.token.span.to(last.span)
    if is_code_path(text, path) and arguments is not None:
        raise context.source.code(
            f"'{context.source.single_line(node.token.span.to(arguments.opening.span))}...)'", span
        )
    if arguments is None or not text.is_torch:
        return RULES.name(context, node, trailers)
    match path:
        case "torch.autograd.grad":
            span, count = grad(text, context, node.token.span, arguments)
            parts = tuple(unread(context, Unread("a derivative"), span) for _ in range(count))
            return NameRead((context.findings.pack(Several("grad", parts)), span), used)
        case "torch.manual_seed" | "torch.random.manual_seed":
            text.draws.seed = as_whole(context, *by_name(context, arguments, ["seed"], "manual_seed")["seed"])
            return NameRead(unread(context, Unread("a generator"), span), used)
        case "torch.rand" | "torch.randn" if not any(one.name and one.name.text == "seed" for one in arguments.items):
            return NameRead(draw(text, context, path, arguments, span), used)
    return RULES.name(context, node, trailers)


def _power(text: TextState, context: Context, node: nodes.Power) -> Operand:
    """Lower a power; `^` is refused, as in Python it is none."""
    if context.source.excerpt(node.sign.span) == "^" and text.is_torch:
        message = "'^' is exclusive or in Python, which torch has not of such numbers"
        raise context.source.error(message, node.sign.span, hint="write ** for a power")
    return power(context, node)


def _member(text: TextState, context: Context, operand: Operand, member: nodes.Member) -> Operand:
    """Lower `.backward(v)`, `.requires_grad_()`, `.grad`, and other members without effect on the function."""
    name, arguments, span = member.name.text, member.arguments, operand[1].to(member.span)
    held = context.findings.object_of(operand[0])
    if isinstance(held, Unread):
        if name == "zero_" and held.variable:
            text.passes.zeroed[held.variable] = None
        elif name.endswith("_") and name != "detach_":
            raise context.source.code(f"'.{name}', which changes {held.shown},", member.span)
        return operand
    if not text.is_torch:
        return members.member(context, operand, member)
    if name == "backward" and arguments is not None:
        return backward(text, context, operand, arguments)
    is_name = context.source.excerpt(operand[1]).isidentifier()  # and no copy of it, such as a.clone()
    if name == "requires_grad_" and is_name and str(operand[0]) in text.tensors.values:
        is_required = not any(token.text == "False" for token in context.source.within(member.span))
        require_gradient(text, context, str(operand[0]), span, is_required=is_required)
        return operand
    if name == "grad" and arguments is None:
        return unread(context, Unread("'.grad'", variable=str(operand[0])), span)
    if arguments is None and name in _SHOWN:
        return unread(context, Unread(f"'.{name}'"), span)
    return operand if name in QUIET else members.member(context, operand, member)


def _indexed(context: Context, operand: Operand, subscript: nodes.Subscript) -> Operand:
    """Take a part of a gradient, which is no longer the `.grad` of a variable."""
    held = context.findings.objects.get(operand[0])
    if isinstance(held, Unread):
        return unread(context, Unread(held.shown), operand[1].to(subscript.span))
    return members.indexed(context, operand, subscript)


def rules_of(text: TextState) -> Rules:
    """Return the rules by which the expressions of a text are lowered."""
    return replace(
        RULES,
        expressions={**RULES.expressions, nodes.FunctionNode: _function, nodes.Power: partial(_power, text)},
        trailers={**RULES.trailers, nodes.Member: partial(_member, text), nodes.Subscript: _indexed},
        name=partial(_named, text),
        note_types=partial(note_types, text.tensors),
    )
