"""What modules are made of: parameters by name, modules inside of modules, and their kinds.

for name, p in net.named_parameters(): ...
for m in net.modules(): if isinstance(m, nn.Linear): ...
target.load_state_dict(net.state_dict())
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.errors import Span
from gradcli.language.lower.scope import Dictionary, Key, Listed, Operand, Text
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.network_modules import Module, Modules
from gradcli.language.text import nodes

WALKED = frozenset(
    "parameters named_parameters buffers named_buffers modules named_modules children named_children state_dict".split()
)
"""Methods of a module that give what it is made of."""


class ModuleParts:
    """Walks through modules, in torch's order."""

    def __init__(self, modules: Modules) -> None:
        self.modules, self.objects, self.lines = modules, modules.objects, modules.lines
        self.source, self.scope = modules.source, modules.scope

    def walked(self, module: Module, name: str, span: Span) -> Operand:
        """What one of these methods gives."""
        match name:
            case "parameters" | "buffers":
                return self._list([atom for _, atom in self._tensors(module, name)], span)
            case "named_parameters" | "named_buffers":
                return self._pairs(list(self._tensors(module, name.removeprefix("named_"))), span)
            case "modules":
                return self._list([self.objects.new(one) for _, one in self.inside(module)], span)
            case "named_modules":
                return self._pairs([(path, self.objects.new(one)) for path, one in self.inside(module)], span)
            case "children":
                return self._list([self.objects.new(one) for one in module.children.values()], span)
            case "named_children":
                return self._pairs([(path, self.objects.new(one)) for path, one in module.children.items()], span)
        if any(one.has_trained and one.buffers for _, one in self.inside(module)):
            message = f"{module.shown} has changed its running averages in training, which is not followed here"
            raise self.source.error(message, span)
        found = [*self._tensors(module, "parameters", is_once=False), *self._tensors(module, "buffers", is_once=False)]
        held: dict[Key, Operand] = {path: self.lines.emit("detach", [atom], span) for path, atom in found}
        return self.objects.new(Dictionary(held)), span

    def _list(self, atoms: list[Atom], span: Span) -> Operand:
        return self.objects.new_list([(atom, span) for atom in atoms], span)

    def _pairs(self, found: list[tuple[str, Atom]], span: Span) -> Operand:
        pairs = [[(self.objects.new(Text(name)), span), (atom, span)] for name, atom in found]
        return self.objects.new_list([self.objects.new_list(pair, span, "tuple") for pair in pairs], span)

    def inside(self, module: Module, path: str = "") -> Iterator[tuple[str, Module]]:
        """A module and all that it is made of, each once, with the path to it."""
        waiting, seen = [(path, module)], list[Module]()
        while waiting:
            path, one = waiting.pop(0)
            if any(one is other for other in seen):
                continue
            seen.append(one)
            yield path, one
            parts = [(f"{path}.{name}" if path else name, child) for name, child in one.children.items()]
            waiting = parts + waiting

    def _tensors(self, module: Module, kind: str, *, is_once: bool = True) -> Iterator[tuple[str, Atom]]:
        """The variables of all parameters or buffers; what two modules share is there once."""
        seen = set[Atom]()
        for path, one in self.inside(module):
            before = f"{path}." if path else ""
            for name, atom in self._own(one, kind):
                if atom not in seen or not is_once:
                    yield before + name, atom
                seen.add(atom)

    def _own(self, module: Module, kind: str) -> Iterator[tuple[str, Atom]]:
        """Those that are no other module's."""
        held = module.buffers if kind == "buffers" else module.parameters
        for name in held:
            yield name, self.modules.parameter(module, name)
        for name, atom in module.attributes.items() if kind == "parameters" else ():
            if name not in module.children and name not in held and atom in self.scope.variables.values():
                yield name, atom

    def kinds_in(self, node: nodes.Node) -> list[str]:
        """The names of the classes that `isinstance` is given."""
        match node:
            case nodes.Group(inner=inner):
                return self.kinds_in(inner)
            case nodes.Items(items=items):
                return [kind for item in items for kind in self.kinds_in(item)]
            case nodes.Name(token=token, arguments=None):
                if not isinstance(self.scope.object_of(node), Listed):
                    return [token.text]
            case nodes.Postfix(trailers=[*_, nodes.Member(name=token, arguments=None)]):
                return [token.text]
        raise self.source.error("a class must stand here", node.span, hint="such as nn.Linear, or a tuple of them")
