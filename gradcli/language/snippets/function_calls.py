"""Functions that a text defines, and their calls, which are written out.

    f(x) = x^2        f(x) := x^2        f = lambda x: x**2        def f(x, n=2): return x**n

A function is lowered again wherever it is called.  Its parameters stand for what it is called with, its other names for
what the text has under them where it is defined, as in Python.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy

from gradcli.errors import Span
from gradcli.language.lower.scope import Operand
from gradcli.language.parsing import Reader
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Argument, Arguments, FunctionNode

ReadArgument = Callable[[str, Argument], Any]
"""Reads an argument, by the name of its parameter."""


@dataclass(frozen=True)
class Callee:
    """A function of the text.

    Attributes:
        node: Its definition.
        shown: What it is called in messages.
        names: What the names around its definition stand for.
        defaults: What stands for the parameters that are not given.
    """

    node: FunctionNode
    shown: str
    names: MutableMapping[str, Atom]
    defaults: Mapping[str, Atom] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(one.name for one in self.node.parameters)


class FunctionCalls(Reader):
    """Defines functions, and calls them.

    Attributes:
        running: Those that are being lowered.
        statements: The ranges of the statements of the text that have a value, with their values.
    """

    running: list[int]
    statements: list[tuple[Span, Atom]]

    def _body(self, node: FunctionNode) -> Operand | None:
        """What the body of a function returns."""
        raise NotImplementedError

    def by_name(self, arguments: Arguments, names: Sequence[str], called: str, read: ReadArgument) -> dict[str, Any]:
        """Read what is between the parentheses of a call, by the names of the parameters.

        Raises:
            LanguageError: There is no such parameter, or it is given twice.
        """
        found: dict[str, Any] = {}
        for argument in arguments.items:
            word, waiting = argument.name, [name for name in names if name not in found]
            if word is None and self.source.tokens[argument.start].kind == "end":
                break
            name = word.text if word is not None else next(iter(waiting), "")
            if name not in waiting:
                said = f"has no argument '{name}'" if word is not None else f"takes {', '.join(names) or 'nothing'}"
                raise self.source.error(f"{called} {said}", arguments.span if word is None else word.span)
            found[name] = read(name, argument)
        return found

    def callee(self, node: FunctionNode) -> Callee:
        """The function of a definition or a lambda, in the names around it."""
        defaults = {one.name: self.lower(one.default)[0] for one in node.parameters if one.default is not None}
        return Callee(node, node.name or f"({self.source.excerpt(node.span)})", self.scope.names, defaults)

    def call_function(self, callee: Callee, arguments: Arguments) -> Operand | None:
        """The value of a function with its arguments; None of one that returns nothing."""
        span, names = arguments.span, callee.parameters
        given = self.by_name(arguments, names, callee.shown, lambda _, argument: self.lower(argument.value))
        held = {name: (default, span) for name, default in callee.defaults.items()} | given
        if {*names} - {*held}:
            raise self.source.error(f"{callee.shown} takes {', '.join(names)}", span)
        return self.function_value(callee, [held[name] for name in names], span)

    def function_value(self, callee: Callee, given: Sequence[Operand], where: Span) -> Operand | None:
        """The body with its parameters standing for these operands, among the names where it is defined."""
        scope, node = self.scope, callee.node
        if node.position in self.running:
            raise self.source.error("a function that calls itself is not read", where)
        self.require_few(node.width, self.source.tokens[node.position])
        held, lists, last_name = scope.names, dict(scope.lists), scope.last_name
        own = dict(zip(callee.parameters, (atom for atom, _ in given), strict=True))
        scope.names = ChainMap(own, *(callee.names.maps if isinstance(callee.names, ChainMap) else [callee.names]))
        self.running.append(node.position)
        result = self._body(node)
        self.running.pop()
        scope.names, scope.lists, scope.last_name = held, lists, last_name
        if result is not None and node.name:
            self.statements.append((node.span, self.scope.first(result[0])))
        return result

    def of_parameters(self, callee: Callee) -> Operand | None:
        """The value of a function at its parameters, which are variables unless they have a default."""
        node, scope = callee.node, self.scope
        atoms = (callee.defaults[n] if n in callee.defaults else scope.variable(n) for n in callee.parameters)
        result = self.function_value(callee, [(atom, node.span) for atom in atoms], node.span)
        if node.name and result is not None:
            scope.names.pop(node.name, None)
            scope.last_name = node.name
            scope.names[node.name] = result[0]
        return result

    def bind_function(self, name: str, callee: Callee) -> None:
        """Give a function a name."""
        self.scope.names[name] = atom = sympy.Dummy(name, real=True)
        self.scope.objects[atom] = callee
