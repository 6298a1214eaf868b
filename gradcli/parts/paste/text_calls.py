"""Functions that the text defines, and their calls.

    f(x) = x^2        f(x) := x^2        f = lambda x: x**2        def f(x, n=2): return x**n

A function is lowered again wherever it is called.  Its parameters stand for its arguments, its other names for
the values that they have where it is defined, as in Python.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.errors import Span
from gradcli.language.lower.arguments import by_name
from gradcli.language.lower.context import Context, Operand, Several, lower
from gradcli.language.lower.loops import require_few
from gradcli.language.text import nodes
from gradcli.parts.paste.text_state import Callee, TextState, lower_line


def callee_of(context: Context, node: nodes.FunctionNode) -> Callee:
    """Make the function of a definition or a lambda, with the names around it."""
    defaults = {one.name: lower(context, one.default)[0] for one in node.parameters if one.default is not None}
    return Callee(node, node.name or f"({context.source.excerpt(node.span)})", context.names.values, defaults)


def call_function(text: TextState, context: Context, callee: Callee, arguments: nodes.Arguments) -> Operand | None:
    """Lower the call of a function; None if it returns nothing."""
    span, defaults = arguments.span, callee.defaults
    given = by_name(context, arguments, callee.parameters, callee.shown, optional=defaults)
    held = {name: (default, span) for name, default in defaults.items()} | given
    return function_value(text, context, callee, [held[name] for name in callee.parameters], span)


def function_value(
    text: TextState, context: Context, callee: Callee, given: Sequence[Operand], where: Span
) -> Operand | None:
    """Lower the body with these operands as its parameters, among the names where it is defined."""
    node = callee.node
    if node.position in text.running:
        raise context.source.error("a function that calls itself is not read", where)
    require_few(context, len(context.source.positions(node.span)), context.source.tokens[node.position])
    own = dict(zip(callee.parameters, (atom for atom, _ in given), strict=True))
    text.running.append(node.position)
    result = _body(text, context.in_function(own, callee.names), node)
    text.running.pop()
    if result is not None and node.name:
        text.statements.append((node.span, context.findings.first_part(result[0])))
    return result


def of_parameters(text: TextState, context: Context, callee: Callee) -> Operand | None:
    """Lower a function at its parameters, which are variables unless they have a default."""
    node, names = callee.node, context.names
    atoms = (callee.defaults[n] if n in callee.defaults else context.findings.variable(n) for n in callee.parameters)
    result = function_value(text, context, callee, [(atom, node.span) for atom in atoms], node.span)
    if node.name and result is not None:
        names.values.pop(node.name, None)
        names.last = node.name
        names.values[node.name] = result[0]
    return result


def _body(text: TextState, context: Context, node: nodes.FunctionNode) -> Operand | None:
    """Lower the body of a function to the value that it returns."""
    for line in node.body:
        if isinstance(line, nodes.Return):
            return _tuple(context, line.value, node.name) or lower(context, line.value)
        lower_line(text, context, line)
    return None


def _tuple(context: Context, value: nodes.Node, shown: str) -> Operand | None:
    """Lower several values in parentheses, or with commas; None of anything else."""
    if not isinstance(value, nodes.Items) or value.opening.text != "(" or len(value.items) < 2:
        return None
    parts = tuple(lower(context, item) for item in value.items)
    return context.findings.pack(Several(shown or "this function", parts)), value.span
