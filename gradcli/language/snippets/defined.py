"""Texts of plain Python, and definitions of functions as mathematics has them, and what follows them.

    f(x) = x^2        f(x) := x^2        f = lambda x: x**2        def f(x): return x**2

A text that ends with a definition is that function of its parameters; else calls in what follows are written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradcli import collector
from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower.scope import Nothing, Operand, Scope
from gradcli.language.program.wengert import Program
from gradcli.language.snippets.definitions import Callee, definition_of
from gradcli.language.snippets.interpreter import Ending, Interpreter
from gradcli.language.text import nodes
from gradcli.language.text.python_statements import parse_python
from gradcli.language.text.source import Source, require_sound


def read_defined(text: str, scope: Scope, *, shares: bool) -> Program:
    """The Program of a text of plain Python, among names that nothing has used.

    Raises:
        GradcliError: As for `parse`, or a function that calls itself.

    >>> read_defined("f(x) = x^2; f(3*t) + 1", Scope(), shares=True).names
    ('t',)
    """
    with collector.paused():
        source = Source(text, "EXPR", has_braces=True)
        return _Reader(source, scope, shares=shares).program(parse_python(source))


class _Reader(Interpreter):
    """Runs a text that has no sign of PyTorch."""

    def program(self, lines: Sequence[nodes.Line]) -> Program:
        """The Program of the last line, or of the last definition."""
        definitions = [line for line in lines if isinstance(line, nodes.Function)]
        self.is_code = (len(lines) > 1 or bool(definitions)) and all(self._is_python(line) for line in definitions)
        self.run(lines)
        if (last := self.last_definition(lines)) is not None:
            self.lowering.require_used()
            self.output = whole(self, last)
        if self.output is None:
            self.functions.require_value()
            raise self.source.error("there is no expression", self.source.tokens[-1].span)
        if len(lines) > 1 and any(not isinstance(line, nodes.Statement | nodes.Function) for line in lines):
            self.scope.unused.clear()  # a program may compute more than its result
        return replace(self.lowering.finish(self.output), shown=self._shown(lines))

    def _is_python(self, line: nodes.Function) -> bool:
        """Whether Python defines a function so; else mathematics."""
        return self.source.tokens[line.position].text in ("def", "lambda")

    def _shown(self, lines: Sequence[nodes.Line]) -> str:
        """What is shown of a text that is one definition by an expression; nothing of others, which are shown whole."""
        function = definition_of(lines[0]) if len(lines) == 1 else None
        only = function.body[0] if function is not None and len(function.body) == 1 else None
        return self.source.excerpt(only.value.span) if isinstance(only, nodes.Return) and only.value is not None else ""

    def definition(self, line: nodes.Function) -> Ending:
        """A definition; a function of mathematics has no name that means another."""
        require_sound(line.fault)
        first = self.source.tokens[line.position]
        if not self._is_python(line) and ops.find(line.name) is not None:
            message = f"'{line.name}' is a function and cannot be defined"
            raise self.source.error(message, first.span, hint="choose another name")
        if line.name in self.scope.variables and not self.is_inside:
            message = f"'{line.name}' is used as a variable before it is defined"
            raise self.source.error(message, first.span, hint="define it first, or choose another name")
        return super().definition(line)


def whole(interpreter: Interpreter, callee: Callee) -> Operand:
    """A function of its parameters, which are variables unless they have a value."""
    node, scope = callee.node, interpreter.scope
    if node is None:
        raise AssertionError("a function of the text")
    given: list[Operand] = []
    for n, name in enumerate(callee.parameters):
        if callee.rest and n == len(callee.parameters) - 1:
            given.append(interpreter.objects.new_list([], node.span, "tuple"))
        elif name in callee.defaults:
            given.append((callee.defaults[name], node.span))
        else:
            given.append((scope.variable(name), node.span))
    if callee.keywords:
        given.append(interpreter.dicts.new({}, node.span))
    value = callee.value(given, Span(node.span.start, node.span.stop))
    if isinstance(scope.objects.get(value[0]), Nothing):
        interpreter.functions.require_value()
    if node.name:
        scope.names.pop(node.name, None)
        scope.last_name = node.name
        if value[0] not in scope.objects:
            scope.names[node.name] = value[0]
    return value
