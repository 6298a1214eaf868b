"""Classes of the text: what their instances have behind a dot, and how they are called.

class Net(nn.Module):
def __init__(self): ...
def forward(self, x): ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gradcli.errors import GradcliError, Span
from gradcli.language.lower.scope import Operand
from gradcli.language.snippets.definitions import Callee, Functions
from gradcli.language.snippets.network_modules import Module
from gradcli.language.snippets.python_values import Objects
from gradcli.language.text import nodes
from gradcli.language.text.source import Source, require_sound


@dataclass(eq=False)
class Class:
    """A class.

    Attributes:
        shown: Its name.
        methods: Its functions, those of its bases among them.
        properties: The names of those that are called without parentheses.
        static: The names of those that are not handed the instance.
        bases: What `super()` looks in, the first one first.
    """

    shown: str
    methods: dict[str, Callee] = field(default_factory=dict)
    properties: frozenset[str] = frozenset()
    static: frozenset[str] = frozenset()
    bases: tuple[Class, ...] = ()


@dataclass(frozen=True, eq=False)
class Super:
    """`super()` in a method: what the bases of its class say of the same instance."""

    bases: tuple[Class, ...]
    own: Operand
    shown = "super()"


class Classes:
    """Defines classes, and makes their instances."""

    def __init__(self, source: Source, objects: Objects, functions: Functions) -> None:
        self.source, self.objects, self.functions = source, objects, functions
        self._own: dict[Module, Class] = {}
        self._homes: dict[int, Class] = {}
        self._running: list[Super] = []

    def defined(self, line: nodes.Class, bases: Sequence[Class]) -> Class:
        """A class with its methods.

        Raises:
            LanguageError: Something stands in it that is no function.
        """
        words = {token.text for base in line.bases for token in self.source.within(base.span)}
        if "Function" in words:
            hint = "gradcli vjp FILE.py::NAME runs it"
            raise self.source.error("a function with a backward pass of its own is not read", line.span, hint=hint)
        found = Class(line.name.text, bases=tuple(bases))
        for base in reversed(bases):
            found.methods |= base.methods
            found.properties |= base.properties
            found.static |= base.static
        before: nodes.Line | None = None
        for one in line.body.lines:
            if isinstance(one, nodes.Function):
                require_sound(one.fault)
                found.methods[one.name] = self.functions.callee(one)
                self._homes[one.position] = found
                how = self.source.excerpt(before.span) if isinstance(before, nodes.Keyword) else ""
                only = frozenset([one.name])
                found.properties = found.properties - only | (only if how == "@property" else frozenset())
                found.static = found.static - only | (only if how == "@staticmethod" else frozenset())
            elif isinstance(one, nodes.Statement) and isinstance(one.value, nodes.Broken):
                raise one.value.error
            elif not isinstance(one, nodes.Keyword) and not _is_text(one):
                raise self.source.error("only functions are read in a class", one.span)
            before = one
        return found

    def instance(self, made: Class, arguments: nodes.Arguments, span: Span) -> Operand:
        """`Net(...)`."""
        instance = Module(made.shown, lambda module, given, where: self.method(made, "forward", module, given, where))
        if not self._own:
            instance.path = ""  # as torch names the parameters of a model
        atom = self.objects.new(instance)
        self._own[instance] = made
        if "__init__" in made.methods:
            self._called(made.methods["__init__"], (atom, span), arguments)
        return atom, span

    def method(self, made: Class, name: str, module: Module, given: nodes.Arguments, where: Span) -> Operand:
        """A method with its arguments; of a call, `forward` or `__call__`."""
        callee = made.methods.get(name) or made.methods.get("__call__" if name == "forward" else name)
        if callee is None:
            raise self.missing(made, name, where)
        if name in made.static:
            return self.functions.called(callee, callee.shown, given)
        return self._called(callee, (self.objects.new(module), where), given)

    def missing(self, made: Class, name: str, where: Span) -> GradcliError:
        """The error that a class has no such method."""
        return self.source.error(f"the class {made.shown} has no '{name}'", where)

    def _called(self, callee: Callee, own: Operand, arguments: nodes.Arguments) -> Operand:
        return self.functions.called(self.bound(callee, own), callee.shown, arguments)

    def above(self) -> Super | None:
        """What `super()` is in the method that is run; None outside of methods."""
        return self._running[-1] if self._running else None

    def of_base(self, above: Super, name: str, given: nodes.Arguments, where: Span) -> Operand:
        """`super().forward(x)`; the bases that are not of the text do nothing where an instance is made."""
        callee = next((base.methods[name] for base in above.bases if name in base.methods), None)
        if callee is None and name == "__init__":
            return self.objects.nothing(where)
        if callee is None:
            raise self.source.error(f"no base of the class has a '{name}' that is read", where)
        return self._called(callee, above.own, given)

    def bound(self, callee: Callee, own: Operand) -> Callee:
        """A method of an instance."""
        home = self._homes[callee.node.position] if callee.node is not None else None

        def value(given: Sequence[Operand], where: Span) -> Operand:
            self._running.append(Super(home.bases if home is not None else (), own))
            result = callee.value([own, *given], where)
            self._running.pop()
            return result

        return replace(callee, parameters=callee.parameters[1:], value=value)

    def kinds_of(self, module: Module) -> set[str]:
        """The names of the classes that a module is an instance of."""
        made = self.of(module)
        found, waiting = {"Module"}, [] if made is None else [made]
        while waiting:
            one = waiting.pop()
            found.add(one.shown)
            waiting += one.bases
        return found | ({module.shown.rpartition(".")[2]} if made is None else set())

    def of(self, module: Module) -> Class | None:
        """The class of an instance."""
        return self._own.get(module)


def _is_text(line: nodes.Line) -> bool:
    return isinstance(line, nodes.Statement) and isinstance(line.value, nodes.Word) and not line.targets
