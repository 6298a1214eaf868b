"""Rules of the nodes of expressions, a function a node, and of what may stand after an operand.

Chains are lowered step by step, so that only nesting recurses.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from gradcli.language import ops
from gradcli.language.lower import matrix_notation, sizeless
from gradcli.language.lower.constants import position_in
from gradcli.language.lower.context import Context, ExpressionRule, Operand, TrailerRule, lower
from gradcli.language.lower.indices import index_number, kronecker_delta, ranged
from gradcli.language.lower.lines import emit, emit_two
from gradcli.language.lower.loops import elements
from gradcli.language.lower.matrix_ranks import with_span
from gradcli.language.lower.members import indexed, member, sizes_of
from gradcli.language.lower.names import require_variable
from gradcli.language.program.wengert import Atom
from gradcli.language.text import nodes
from gradcli.language.text.mathematics import PREFIXES
from gradcli.language.text.tokens import COMPARISON, LEVELS

_FUNCTIONS: Mapping[str, str] = {**ops.SIGNS, "or": "logical_or", "and": "logical_and"}
"""Names of the functions by their operators."""

_OF_TENSORS = frozenset("+ - * / @".split())
"""Operators whose meaning may be another one in the notation of matrices."""


def _chain(context: Context, node: nodes.Chain) -> Operand:
    """Lower operands joined from the left; comparisons hold all together.

    Chains inside of chains are one level of nesting: the rules are called at once, which saves Python's frames.
    """
    rules = context.rules.expressions
    left = rules[type(node.first)](context, node.first)
    compared: Operand | None = None
    is_of_matrices = context.is_of_matrices
    for step in node.steps:
        right = rules[type(step.operand)](context, step.operand)
        if step.sign not in _FUNCTIONS or (step.sign in _OF_TENSORS and (is_of_matrices or context.findings.objects)):
            left, compared = matrix_notation.combined(context, step.sign, left, right), None
            continue
        op, is_comparison = _FUNCTIONS[step.sign], LEVELS[step.sign] == COMPARISON
        if is_comparison and compared is not None:
            left = emit_two(context, "logical_and", left, emit_two(context, op, compared, right))
        else:
            left = emit_two(context, op, left, right)
        compared = right if is_comparison else None
    return left


def _choice(context: Context, node: nodes.Choice) -> Operand:
    """Lower `a if condition else b`."""
    cases = context.of_cases()
    chosen, condition, other = (lower(cases, n)[0] for n in (node.chosen, node.condition, node.other))
    return emit(context, "where", [condition, chosen, other], node.span)


def _unary(context: Context, node: nodes.Unary) -> Operand:
    inner = lower(context, node.operand)
    operand, span = inner
    span = node.sign.span.to(span)
    match node.sign.text:
        case "+":
            return with_span(inner, span)
        case "~" | "not":
            return emit(context, "logical_not", [operand], span)
    if (isinstance(operand, sympy.Float) and not operand.is_zero) or operand == sympy.oo:
        return -operand, span  # SymPy's 0.0 has no sign
    if (found := sizeless.negative(context, inner, span)) is not None:
        return found
    return emit(context, "neg", [operand], span)


def power(context: Context, node: nodes.Power) -> Operand:
    """Lower a power, which of a matrix may be one of its product with itself."""
    is_plain = node.sign.text == "**" or isinstance(node.exponent, nodes.NumberNode)
    if not is_plain or context.is_of_matrices or context.findings.objects:
        return matrix_notation.power(context, node)
    return emit_two(context, "pow", lower(context, node.base), lower(context, node.exponent))


def _number(context: Context, node: nodes.NumberNode) -> Operand:
    return exact(node.text), node.span


def _name(context: Context, node: nodes.NameNode) -> Operand:
    if node.arguments is None and node.token.text in context.indices:
        return index_number(context, node.token)
    return context.rules.name(context, node, ())[0]


def _word(context: Context, node: nodes.Word) -> Operand:
    """Lower `True` and `False`; no other word is an operand."""
    if not node.is_operand:
        unexpected = context.source.unexpected(context.source.position(node.span.start))
        raise (
            context.source.code(f"{node.token.text!r} as a value", node.span)
            if context.libraries.is_code
            else unexpected
        )
    one = sympy.Integer(1)
    return emit(context, "eq" if node.token.text == "True" else "ne", [one, one], node.span)


def _broken(context: Context, node: nodes.Broken) -> Operand:
    """Raise the error of an unreadable text, or of a function before it that lacks parentheses, as in `sin x`."""
    position = context.source.position(node.error.place.span.start) if node.error.place is not None else 0
    before, token = context.source.tokens[max(position - 1, 0)], context.source.tokens[position]
    is_read = token.text == "(" or token.text in PREFIXES  # which have errors of their own
    if before.kind == "name" and not is_read and before.text not in context.names.values:
        require_variable(context, before, before.span)
    raise node.error


def _loop(context: Context, node: nodes.Loop) -> Operand:
    """Refuse a loop where none may stand."""
    raise context.source.unexpected(context.source.position(node.clauses[0].word.span.start), is_inside=True)


def _group(context: Context, node: nodes.GroupNode) -> Operand:
    """Lower an expression in parentheses."""
    return with_span(lower(context, node.inner), node.span)


def _items(context: Context, node: nodes.Items) -> Operand:
    """Lower a list, or a tuple, which is a list where a tensor is wanted."""
    if not node.items and node.opening.text == "(":
        raise context.source.unexpected(context.source.position(node.opening.span.stop), is_inside=True)
    if not node.items:
        return emit(context, "zeros", [], node.span, ((0,),))
    return emit(context, "stack", [a for a, _ in elements(context, node)], node.span, (0,))


def _postfix(context: Context, node: nodes.Postfix) -> Operand:
    """Lower an operand with its indices and members."""
    trailers, used = node.trailers, 0
    if (delta := kronecker_delta(context, node.operand, trailers[0])) is not None:
        operand, used = delta, 1
    elif isinstance(node.operand, nodes.NameNode):
        operand, used = context.rules.name(context, node.operand, trailers)
    else:
        operand = lower(context, node.operand)
    while used < len(trailers):
        trailer, after = trailers[used], trailers[used + 1 : used + 2]
        used += 1
        if not isinstance(trailer, nodes.Member) or not _is_shape(trailer):
            operand = context.rules.trailers[type(trailer)](context, operand, trailer)
        elif trailer.arguments is None and after and isinstance(after[0], nodes.Subscript):
            axis, used = position_in(context, after[0]), used + 1
            operand = emit(context, "count", [operand[0]], operand[1].to(after[0].span), (axis,))
        else:
            operand = sizes_of(context, operand, trailer)
    return operand


def _is_shape(member: nodes.Member) -> bool:
    """Tell whether a member is `.shape` or `.size()`."""
    arguments = member.arguments
    if arguments is None:
        return member.name.text == "shape"
    return member.name.text == "size" and not arguments.items


def exact(word: str) -> Atom:
    """Return the exact number typed, if an integer; else the float64 nearest to it, as Python reads it."""
    plain = word.replace("_", "")
    return sympy.Integer(plain) if plain.isdecimal() else sympy.Float(float(plain), precision=53)


EXPRESSIONS: Mapping[type[nodes.Node], ExpressionRule] = {
    nodes.Chain: _chain,
    nodes.Unary: _unary,
    nodes.Power: power,
    nodes.Choice: _choice,
    nodes.Postfix: _postfix,
    nodes.NumberNode: _number,
    nodes.NameNode: _name,
    nodes.GroupNode: _group,
    nodes.Items: _items,
    nodes.Word: _word,
    nodes.Broken: _broken,
    nodes.Loop: _loop,
    nodes.Ranged: ranged,
    nodes.BarsNode: matrix_notation.bars,
    nodes.NormNode: matrix_notation.norm,
    nodes.InnerProduct: matrix_notation.inner_product,
}
"""Rule of each node of an expression."""

TRAILERS: Mapping[type[nodes.Trailer], TrailerRule] = {
    nodes.Member: member,
    nodes.Subscript: indexed,
    nodes.TransposeMark: matrix_notation.transposed,
}
"""Rule of each node that may stand after an operand."""
