"""The statements of a text to a Program: what is assigned, what is shown, and the remarks on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy

from gradcli.errors import LanguageError
from gradcli.language import ops
from gradcli.language.lower.evaluators import Evaluation
from gradcli.language.lower.expressions import Expressions
from gradcli.language.lower.hooks import Hooks, Operand
from gradcli.language.lower.lines import Lines
from gradcli.language.lower.scope import Scope
from gradcli.language.program.wengert import Atom, Line, Program
from gradcli.language.text.nodes import Name, Node, Statement, Value
from gradcli.language.text.source import Source, require_sound
from gradcli.language.text.statements import parse
from gradcli.language.text.tokens import Token


def parse_meaning(text: str, operands: Sequence[str], constants: Mapping[str, Any]) -> Program:
    """The Program of a meaning of the op table, its operands being the variables in this order.

    Args:
        text: Of the table; conditions among the operands are numbers, 1 or 0.
        operands: Names of the variables.
        constants: Values of the other names, for constant arguments and, if numbers, for arithmetic.
    """
    source = Source(text, f"a meaning, {text}")
    scope = Scope(given=frozenset(operands), constants=constants)
    scope.variables = {name: sympy.Symbol(name, real=True) for name in operands}
    for name, value in constants.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            scope.names[name] = sympy.Integer(value) if isinstance(value, int) else sympy.Float(value, precision=53)
    lowering = Lowering(source, scope, None, is_meaning=True)
    return lowering.program(parse(source))


class Lowering:
    """A text on its way to a Program."""

    def __init__(
        self,
        source: Source,
        scope: Scope,
        evaluation: Evaluation | None,
        hooks: Hooks | None = None,
        *,
        is_meaning: bool = False,
        shares: bool = True,
    ) -> None:
        self.source, self.scope = source, scope
        self.hooks = hooks or Hooks()
        self.lines = Lines(source, self.hooks, is_meaning=is_meaning, shares=shares)
        self.expressions = Expressions(self.lines, scope, evaluation, _without_constants)
        self.unused_value: Operand | None = None  # of the last statement, if it was an expression without a name

    # -- statements

    def program(self, statements: Sequence[Statement]) -> Program:
        """The Program of the statements of a text."""
        output: Operand | None = None
        for statement in statements:
            output = self.statement(statement)
            self.hooks.stated(statement, output)
            self.require_used()
            self.unused_value = None if statement.targets else output
            require_sound(statement.fault)
        if output is None:
            message, end = "there is no expression", self.source.tokens[-1].span
            raise self.source.error(LanguageError, message, end, hint='write one, such as "x**2"')
        return self.finish(output)

    def statement(self, statement: Statement) -> Operand:
        """An assignment or an expression."""
        if not statement.targets:
            node, shown = statement.value, self.source.tokens[statement.start].text
            is_name = isinstance(node, Name) and node.arguments is None and shown in self.scope.names
            self.scope.last_name = shown if is_name else ""
            return self.expressions.lower(node)
        (name,) = statement.targets
        self.require_assignable(name)
        self.expressions.calls.is_pair = False
        value, span = self.expressions.lower(statement.value)
        self.assign(name.text, value, statement.value)
        return value, name.span.to(span)

    def require_assignable(self, name: Token) -> None:
        """Refuse a name that means something else.

        Raises:
            LanguageError: a function, or a variable that was used before.
        """
        if ops.find(name.text) is not None:
            message = f"'{name.text}' is a function and cannot be assigned"
            raise self.source.error(LanguageError, message, name.span, hint="choose another name")
        if name.text in self.scope.variables:
            message = f"'{name.text}' is used as a variable before it is assigned"
            hint = "assign it first, or choose another name"
            raise self.source.error(LanguageError, message, name.span, hint=hint)

    def assign(self, name: str, value: Atom, node: Node) -> None:
        """Give a name to a value, which is written as this node."""
        scope = self.scope
        scope.names[name] = value
        scope.unused[name] = None
        scope.last_name = name
        scope.lists.pop(name, None)
        last_list = self.expressions.last_list
        if last_list is not None and last_list[0] is node:
            scope.lists[name] = last_list[1]
        scope.pairs.discard(name)
        if self.expressions.calls.is_pair:
            scope.pairs.add(name)

    def require_used(self) -> None:
        """Refuse an expression behind which other statements follow.

        Raises:
            LanguageError: The last statement was one.
        """
        if self.unused_value is not None:
            hint = "the last statement is the output; write NAME = ... to use a value there, or [a, b] for both"
            message = "this expression is computed and thrown away"
            raise self.source.error(LanguageError, message, self.unused_value[1], hint=hint)

    # -- results

    def value(self, value: Value) -> Program:
        """The Program of one value; a comma at the top makes a vector."""
        operands = [self.expressions.lower(item) for item in value.items]
        require_sound(value.fault)
        if not value.is_vector:
            return self.finish(operands[0])
        span = operands[0][1].to(operands[-1][1])
        return self.finish(self.lines.emit("stack", [a for a, _ in operands], span, (0,)))

    def finish(self, output: Operand) -> Program:
        """The Program of the lines so far; conditions come out as 1 and 0."""
        scope = self.scope
        atom, span = output
        atom = self.lines.as_number(atom, span)
        names = {value: name for name, value in scope.names.items()}
        lines = tuple(
            Line(line.symbol, line.call, line.span, names.get(line.symbol, "")) for line in self.lines.builder.lines
        )
        unused = (f"the name '{name}' is assigned but never used" for name in scope.unused if name != scope.last_name)
        warnings = tuple(dict.fromkeys((*scope.warnings, *unused)))
        assigned = (*(name for name in scope.names if name != scope.last_name), scope.last_name)
        variables = tuple(scope.variables.values())
        named = {name: scope.names[name] for name in assigned if name in scope.names}
        program = Program(self.source.text, variables, lines, atom, self.source.name, assigned, named, warnings)
        return replace(program, needs_shapes=scope.needs_shapes)


def _without_constants(text: str, operands: Sequence[str]) -> Program:
    """The Program of a meaning without constant arguments."""
    return parse_meaning(text, operands, {})
