"""Classes of the text: what their instances have behind a dot, and how they are called.

class Net(nn.Module):
def __init__(self): ...
def forward(self, x): ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """

    shown: str
    methods: dict[str, Callee] = field(default_factory=dict)


class Classes:
    """Defines classes, and makes their instances."""

    def __init__(self, source: Source, objects: Objects, functions: Functions) -> None:
        self.source, self.objects, self.functions = source, objects, functions
        self._own: dict[Module, Class] = {}

    def defined(self, line: nodes.Class, bases: Sequence[Class]) -> Class:
        """A class with its methods.

        Raises:
            LanguageError: Something stands in it that is no function.
        """
        words = {token.text for base in line.bases for token in self.source.within(base.span)}
        if "Function" in words:
            hint = "gradcli vjp FILE.py::NAME runs it"
            raise self.source.error("a function with a backward pass of its own is not read", line.span, hint=hint)
        found = Class(line.name.text)
        for base in bases:
            found.methods |= base.methods
        for one in line.body.lines:
            if isinstance(one, nodes.Function):
                require_sound(one.fault)
                found.methods[one.name] = self.functions.callee(one)
            elif isinstance(one, nodes.Statement) and isinstance(one.value, nodes.Broken):
                raise one.value.error
            elif not isinstance(one, nodes.Keyword) and not _is_text(one):
                raise self.source.error("only functions are read in a class", one.span)
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
        return self._called(callee, (self.objects.new(module), where), given)

    def missing(self, made: Class, name: str, where: Span) -> GradcliError:
        """The error that a class has no such method."""
        return self.source.error(f"the class {made.shown} has no '{name}'", where)

    def _called(self, callee: Callee, own: Operand, arguments: nodes.Arguments) -> Operand:
        return self.functions.called(self.bound(callee, own), callee.shown, arguments)

    def bound(self, callee: Callee, own: Operand) -> Callee:
        """A method of an instance."""
        return replace(callee, parameters=callee.parameters[1:], value=_before(callee, own))

    def of(self, module: Module) -> Class | None:
        """The class of an instance."""
        return self._own.get(module)


def _before(callee: Callee, own: Operand) -> Callable[[Sequence[Operand], Span], Operand]:
    def value(given: Sequence[Operand], where: Span) -> Operand:
        return callee.value([own, *given], where)

    return value


def _is_text(line: nodes.Line) -> bool:
    return isinstance(line, nodes.Statement) and isinstance(line.value, nodes.Word) and not line.targets
