"""Functions that a text defines, and their calls, which are written out.

    f(x) = x^2        f(x) := x^2        f = lambda x: x**2        def f(x, n=2): return x**n

A function is lowered again wherever it is called.  Its parameters stand for what it is called with, its other names for
what the text has under them where it is defined, as in Python.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

import sympy

from gradcli.errors import Span
from gradcli.language.lower.scope import Operand
from gradcli.language.parsing import Reader
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Arguments, FunctionNode


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

    def callee(self, node: FunctionNode) -> Callee:
        """The function of a definition or a lambda, in the names around it."""
        defaults = {one.name: self.lower(one.default)[0] for one in node.parameters if one.default is not None}
        return Callee(node, node.name or f"({self.source.excerpt(node.span)})", self.scope.names, defaults)

    def call_function(self, callee: Callee, arguments: Arguments) -> Operand | None:
        """The value of a function with its arguments; None of one that returns nothing."""
        span, defaults = arguments.span, callee.defaults
        given = self.by_name(arguments, callee.parameters, callee.shown, optional=defaults)
        held = {name: (default, span) for name, default in defaults.items()} | given
        return self.function_value(callee, [held[name] for name in callee.parameters], span)

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
