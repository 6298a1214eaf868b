"""Definitions of functions, as mathematics and Python have them, and what follows them.

    f(x) = x^2        f(x) := x^2        f = lambda x: x**2        def f(x): return x**2

A text that ends with a definition is that function of its parameters; else calls in what follows are written out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import sympy

from gradcli import collector
from gradcli.errors import Span
from gradcli.language import ops
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Hooks, Operand, Scope
from gradcli.language.parsing import EVALUATION
from gradcli.language.program.wengert import Program, Shape
from gradcli.language.snippets.definitions import Functions, Signatures
from gradcli.language.text import nodes
from gradcli.language.text.python_statements import PythonGrammar
from gradcli.language.text.source import Source, require_sound


def read_defined(text: str, given: frozenset[str], shapes: Mapping[str, Shape], *, shares: bool) -> Program:
    """The Program of a text with definitions.

    Raises:
        GradcliError: As for `parse`, or a function that calls itself.

    >>> read_defined("f(x) = x^2; f(3*t) + 1", frozenset(), {}, shares=True).names
    ('t',)
    """
    with collector.paused():
        source = Source(text, "EXPR")
        grammar = DefinitionGrammar(source)
        return _Reader(source, Scope(given, shapes=dict(shapes)), shares=shares).program(grammar.each(grammar.line))


class DefinitionGrammar(PythonGrammar):
    """The grammar with definitions, in which a line may be `f(x) = x^2`."""

    def line(self) -> nodes.Line:
        """A definition or a statement."""
        if self.at_word("def"):
            return self._definition()
        if self.token.kind == "name" and self.tokens[self.position + 1].text == "(":
            behind = next((n for n, depth in self.source.levels(self.position + 1) if depth == 0), self.position)
            colon = self.tokens[behind + 1].text == ":" if behind + 2 < len(self.tokens) else False
            if behind > self.position and self.tokens[behind + 1 + colon].text == "=":
                return self._equation(behind)
        return self.statement()

    def _equation(self, closing: int) -> nodes.Line:
        """`f(x, y) = x*y`; the position is that of the parenthesis before the sign."""
        start, name = self.position, self.advance()
        self.advance()
        parameters, fault = self.parameters(")")
        if fault is not None or self.position != closing or not parameters:
            self.position = start
            return self.statement()
        self.advance()
        self.accept(":")
        self.advance()
        body = self.position
        value, reached = self.measured(self.expression)
        returned = nodes.Return(value.span, value, self.ending())
        span, first = name.span.to(value.span), self.source.tokens[min(body, len(self.source.tokens) - 1)]
        width = max(self.position - body, 1)
        return nodes.Function(span, start, name.text, parameters, (returned,), first, width, 0, reached, None)

    def _end_of_block(self, column: int) -> int:
        """As in Python, but what follows `return ...;` on the same line is a statement of the text."""
        tokens, position, has_returned = self.tokens, self.position, False
        if tokens[position].text == "\n":
            return super()._end_of_block(column)
        while tokens[position].text not in ("\n", "") and not (has_returned and tokens[position].text == ";"):
            has_returned |= tokens[position].text == "return"
            position += 1
        return position


class _Reader(Hooks):
    """Lowers statements, and writes out the calls of what is defined."""

    def __init__(self, source: Source, scope: Scope, *, shares: bool) -> None:
        self.source, self.scope = source, scope
        self.lowering = Lowering(source, scope, EVALUATION, self, shares=shares)
        self.functions = Functions(self.lowering, Signatures(self.lowering))

    def program(self, lines: tuple[nodes.Line, ...]) -> Program:
        """The Program of the last line."""
        output: Operand | None = None
        for n, line in enumerate(lines):
            function = self._function(line)
            if function is not None:
                self.lowering.require_used()
                self._require_nameable(function)
                self.functions.define(function)
                output = self._whole(function) if n == len(lines) - 1 else None
            elif isinstance(line, nodes.Statement):
                self.lowering.require_used()
                output = self.lowering.statement(line)
                self.lowering.unused_value = None if line.targets else output
                for target in line.targets:
                    self.functions.callees.pop(target.text, None)
                require_sound(line.fault)
        if output is None:
            raise self.source.error("there is no expression", self.source.tokens[-1].span)
        return replace(self.lowering.finish(output), shown=self._body(lines))

    def _body(self, lines: tuple[nodes.Line, ...]) -> str:
        """What is shown of a text that is one definition by an expression; nothing of others, which are shown whole."""
        function = self._function(lines[0])
        is_one = len(lines) == 1 and function is not None and len(function.body) == 1
        return self.source.excerpt(function.body[0].value.span) if is_one and function is not None else ""

    def _function(self, line: nodes.Line) -> nodes.Function | None:
        """The definition that a line is."""
        if isinstance(line, nodes.Function):
            return line
        if isinstance(line, nodes.Statement) and isinstance(line.value, nodes.Function):
            require_sound(line.fault)
            return line.value
        return None

    def _require_nameable(self, function: nodes.Function) -> None:
        """Refuse a name that means something else."""
        require_sound(function.fault)
        span = self.source.tokens[function.position].span
        if ops.find(function.name) is not None:
            message = f"'{function.name}' is a function and cannot be defined"
            raise self.source.error(message, span, hint="choose another name")
        if function.name in self.scope.variables:
            message = f"'{function.name}' is used as a variable before it is defined"
            raise self.source.error(message, span, hint="define it first, or choose another name")

    def _whole(self, function: nodes.Function) -> Operand:
        """A function of its parameters, which are variables unless they have a value."""
        callee = self.functions.callees[function.name]
        free = callee.parameters[: len(callee.parameters) - len(callee.defaults)]
        for name in free:
            self.scope.variables.setdefault(name, sympy.Symbol(name, real=True))
        given: list[Operand] = [(self.scope.variables[name], function.span) for name in free]
        given += [(atom, function.span) for atom in callee.defaults]
        value = callee.value(given, Span(function.span.start, function.span.stop))
        if function.name:
            self.lowering.assign(function.name, value[0], function.body[-1].value)
        return value

    def is_known(self, name: str) -> bool:
        """Whether a name is that of a function."""
        return name in self.functions.callees

    def named(self, name: nodes.Name, trailers: object) -> tuple[Operand, int] | None:
        """A function of the text with its arguments."""
        operand = self.functions.named(name)
        return None if operand is None else (operand, 0)
