"""Functions that a text defines, whose calls are written out, and the whole names of what it imports.

    f(x) = x^2        f(x) := x^2        f = lambda x: x**2        def f(x, n=2): return x**n

A function is lowered again wherever it is called.  Its parameters stand for its arguments, its other names for
the values that they have where it is defined, as in Python.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

from gradcli.errors import Span
from gradcli.language.lower.scope import Operand
from gradcli.language.parsing import Reader
from gradcli.language.program.wengert import Atom
from gradcli.language.text.nodes import Arguments, FunctionNode, Import

_KNOWN = "torch torch, np numpy, nn torch.nn, optim torch.optim, autograd torch.autograd, grad torch.autograd.grad"
_KNOWN += ", rand torch.rand, randn torch.randn, manual_seed torch.manual_seed"
KNOWN = dict(pair.split() for pair in _KNOWN.split(", "))
"""Whole names of words that no import explains."""

_READ = frozenset("torch numpy math scipy sympy autograd functorch".split())
"""Libraries of which the language has some functions; names imported from others are code where they are called."""

_CODE = re.compile(
    r"torch\.(?:nn\.(?:modules\.|utils\.|init\.|parallel\.)?(?!Parameter\b)[A-Z]\w*|nn\.(?:utils|init)\.\w+"
    r"|optim\.|func\.|distributions\.|utils\.|jit\.|compile\b|vmap\b|Generator\b|multiprocessing"
    r"|(?:rand|randn|randint)_like\b|randint\b|randperm\b|normal\b|bernoulli\b|multinomial\b|empty\w*\b"
    r"|autograd\.(?!grad\b|set_detect|Variable\b)\w+|no_grad\b|enable_grad\b|inference_mode\b)"
    r"|numpy\.random\.|random\.|functorch\.|autograd\.(?!grad\b|Variable\b)"
)
"""Pattern of whole names whose calls are run, not read: layers, optimizers, transforms, other random numbers."""


_ACTS = frozenset(f"torch.{name}" for name in ("autograd.grad", "rand", "randn", "manual_seed"))
"""Functions that note a question, or advance the random numbers."""


@dataclass(frozen=True)
class Callee:
    """Function of the text.

    Attributes:
        node: Its definition.
        shown: Its name in messages.
        names: The values of the names around its definition.
        defaults: The values of the parameters that are not given.
    """

    node: FunctionNode
    shown: str
    names: MutableMapping[str, Atom]
    defaults: Mapping[str, Atom] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters."""
        return tuple(one.name for one in self.node.parameters)


class FunctionCalls(Reader):
    """Lowering that defines functions, and calls them.

    Attributes:
        running: The positions of the functions that are being lowered.
        statements: The ranges of the statements of the text that have a value, with their values.
        imported: The whole name of each name that an import gave.
        foreign: The libraries that are not read.
    """

    running: list[int]
    statements: list[tuple[Span, Atom]]
    imported: dict[str, str]
    foreign: set[str]

    def _body(self, node: FunctionNode) -> Operand | None:
        """Lower the body of a function to the value that it returns."""
        raise NotImplementedError

    def callee(self, node: FunctionNode) -> Callee:
        """Make the function of a definition or a lambda, with the names around it."""
        defaults = {one.name: self.lower(one.default)[0] for one in node.parameters if one.default is not None}
        return Callee(node, node.name or f"({self.source.excerpt(node.span)})", self.scope.names, defaults)

    def call_function(self, callee: Callee, arguments: Arguments) -> Operand | None:
        """Lower the call of a function; None if it returns nothing."""
        span, defaults = arguments.span, callee.defaults
        given = self.by_name(arguments, callee.parameters, callee.shown, optional=defaults)
        held = {name: (default, span) for name, default in defaults.items()} | given
        return self.function_value(callee, [held[name] for name in callee.parameters], span)

    def function_value(self, callee: Callee, given: Sequence[Operand], where: Span) -> Operand | None:
        """Lower the body with these operands as its parameters, among the names where it is defined."""
        scope, node = self.scope, callee.node
        if node.position in self.running:
            raise self.source.error("a function that calls itself is not read", where)
        self.require_few(len(self.source.positions(node.span)), self.source.tokens[node.position])
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
        """Lower a function at its parameters, which are variables unless they have a default."""
        node, scope = callee.node, self.scope
        atoms = (callee.defaults[n] if n in callee.defaults else scope.variable(n) for n in callee.parameters)
        result = self.function_value(callee, [(atom, node.span) for atom in atoms], node.span)
        if node.name and result is not None:
            scope.names.pop(node.name, None)
            scope.last_name = node.name
            scope.names[node.name] = result[0]
        return result

    # -- imports

    def add_import(self, line: Import) -> None:
        """Remember the names of an import."""
        self.imported |= line.names
        self.foreign |= {path.partition(".")[0] for _, path in line.names} - _READ
        for name, _ in line.names:
            self.scope.names.pop(name, None)

    def path_at(self, position: int) -> tuple[str, int]:
        """Return the whole name at a position, as `torch.autograd.grad`, and the position after it."""
        first = self.source.tokens[position]
        if first.kind != "name" or self.scope.is_taken(first.text) or first.text not in self.imported:
            return "", position
        _, *members = self.source.dotted(position)
        return ".".join([self.imported[first.text], *members]), position + 1 + 2 * len(members)

    def is_code_path(self, path: str) -> bool:
        """Tell whether a call by a whole name is code: `torch.nn.Linear` is, and `torch.nn.functional.relu` is not."""
        return path.partition(".")[0] in self.foreign or _CODE.match(path) is not None

    def acts(self, span: Span) -> bool:
        """Tell whether a call there affects later lines: a derivative, a draw, a change in place."""
        for n in self.source.positions(span):
            token, (path, end) = self.source.tokens[n], self.path_at(n)
            is_own = self.scope.names.get(token.text) in self.scope.objects  # a function of the text
            is_act = is_own or token.text == "backward" or token.text.endswith("_") or path in _ACTS
            if is_act and self.source.tokens[max(end, n + 1)].text == "(":
                return True
        return False
