"""Elements of lists and loops, which are written out: a term is lowered again for each value of its name.

`[x**i for i in range(6)]` is the list of six terms, so the cost of a loop is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import sympy

from gradcli.errors import TooLargeError
from gradcli.language import ops
from gradcli.language.lower.constants import constant, integer
from gradcli.language.lower.context import Context, Operand, lower
from gradcli.language.program.wengert import Atom
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token

MAX_UNROLLED = 10_000
"""Largest number of terms of all loops of a text together."""

MAX_REPEATED = 1_000_000
"""Largest number of tokens that loops may read again."""


def elements(context: Context, node: nodes.Items | nodes.GroupNode) -> list[Operand]:
    """Lower the elements of a list or of a loop."""
    if isinstance(node, nodes.GroupNode):
        return [lower(context, node.inner)]
    if not node.items:
        raise context.source.error("an empty list has no value", node.span, hint="write [a, b]")
    if isinstance(loop := node.items[0], nodes.Loop):
        return terms(context, loop)
    return [lower(context, item) for item in node.items]


def terms(context: Context, loop: nodes.Loop) -> list[Operand]:
    """Lower the terms of a loop."""
    found = list(_unrolled(context, loop, 0))
    if not found and context.findings.needs_shapes:
        return [(sympy.Integer(0), loop.span)]
    if not found:
        raise context.source.error("this loop has no terms", loop.span)
    return found


def parts_in(context: Context, node: nodes.Node) -> list[Operand] | None:
    """List the tensors of a call that gives several, or of a name that stands for them; None of anything else."""
    if (known := context.list_of(node)) is not None:
        return known
    last = node.trailers[-1] if isinstance(node, nodes.Postfix) else node
    if not isinstance(last, nodes.NameNode | nodes.Member) or last.arguments is None:
        return None
    op = ops.find((last.token if isinstance(last, nodes.NameNode) else last.name).text, after_dot=True)
    return context.findings.parts_of(lower(context, node)[0]) if op is not None and op.parts else None


def _unrolled(context: Context, loop: nodes.Loop, level: int) -> Iterator[Operand]:
    """Lower the body for every value of the loops from a level on."""
    clause = loop.clauses[level]
    for value in _values(context, clause):
        inner = context.in_loop(clause.name.text, value)
        require_few(context, len(context.source.positions(loop.body.span)), clause.word)
        message = "the condition of a loop must be constant"
        if clause.condition is not None and not constant(inner, clause.condition, message)[0]:
            continue
        if level + 1 < len(loop.clauses):
            yield from _unrolled(inner, loop, level + 1)
        else:
            yield lower(inner, loop.body)


def _values(context: Context, clause: nodes.Clause) -> Iterable[Atom]:
    """List the values of a loop: a range of whole numbers, a list of constants, or several tensors."""
    node = clause.values
    if isinstance(node, nodes.NameNode) and node.token.text == "range" and node.arguments is not None:
        bounds = [_bound(context, argument.value) for argument in node.arguments.items[:4]]
        if len(bounds) in (1, 2, 3) and bounds[2:] != [0]:
            if len(steps := range(*bounds)) > MAX_UNROLLED:
                context.findings.terms = MAX_UNROLLED  # before the first of too many is read
            return map(sympy.Integer, steps)
        hint = "write range(start, stop, step), with a step that is not 0"
        raise context.source.error("this is no range", node.arguments.span, hint=hint)
    if (known := parts_in(context, node)) is not None:
        return [a for a, _ in known]
    values = [a for a, _ in elements(context, node)] if isinstance(node, nodes.Items | nodes.GroupNode) else []
    if not values or not all(a.is_number for a in values):
        span = clause.word.span.to(node.span)
        raise context.source.error("a loop runs over range(...) or a list of numbers", span)
    return values


def _bound(context: Context, node: nodes.Node) -> int:
    """Read a bound of a range; in a text of Python, one that is not known before it runs is code."""
    if context.libraries.is_code and isinstance(node, nodes.NameNode) and node.token.text == "_":
        raise context.source.code("a range up to '_'", node.span)
    return integer(context, node)


def require_few(context: Context, tokens: int, word: Token) -> None:
    """Refuse loops that take too long.

    Raises:
        TooLargeError: They repeat too many tokens, or have too many terms.
    """
    context.findings.terms += 1
    context.findings.repeated += tokens
    if context.findings.terms > MAX_UNROLLED or context.findings.repeated > MAX_REPEATED:
        message = f"loops make more than {MAX_UNROLLED:,} terms, or repeat too long a text"
        hint = "use arange(n) and an operation on tensors"
        raise context.source.error(message, word.span, hint=hint, kind=TooLargeError)
