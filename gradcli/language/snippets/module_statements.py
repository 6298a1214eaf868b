"""Statements of texts with modules of torch.nn, and with classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gradcli.errors import Span
from gradcli.language.lower.scope import Array, Operand, Scope, Text
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.snippets.definitions import Callee
from gradcli.language.snippets.drawing import FILLS, Drawing, OfNumpy
from gradcli.language.snippets.dtypes import TYPES, Dtypes
from gradcli.language.snippets.generators import Generator
from gradcli.language.snippets.initializing import FILLS as INITIAL
from gradcli.language.snippets.interpreter import Ending, Interpreter
from gradcli.language.snippets.layers import Made
from gradcli.language.snippets.network_modules import Module, Modules
from gradcli.language.snippets.python_classes import Class, Classes, Super
from gradcli.language.snippets.python_values import Opaque
from gradcli.language.text import nodes
from gradcli.language.text.source import Source

STEPPED = "{} changes the parameters: the answer is of the gradient before it, and what follows is passed over"
"""The remark on a step of an optimizer."""

_ACCELERATORS = frozenset(["torch.cuda.is_available", "torch.backends.mps.is_available"])
"""Whether there is another device than the CPU, on which nothing is computed here."""

_ADDED = frozenset("add_module register_module register_buffer register_parameter".split())
"""Methods of a module that give it a member by its name."""


class ModuleStatements(Interpreter):
    """Runs statements in which layers, models, classes and generators are values.

    Attributes:
        values: The numbers of the variables that the snippet defines.
    """

    def __init__(self, source: Source, scope: Scope, *, shares: bool) -> None:
        super().__init__(source, scope, shares=shares)
        self.values: dict[str, Array] = {}
        self.dtypes = Dtypes(self.lowering, self.values)
        self.drawing = Drawing(self.lowering, self.objects, self.branches, self.dtypes)
        self.modules = Modules(self.lowering, self.objects, self.drawing, self.add_parameter)
        self.classes = Classes(source, self.objects, self.functions)

    @abstractmethod
    def add_parameter(self, name: str, value: Array, is_required: bool = True) -> None:
        """A parameter of a module is a variable with numbers, by which is differentiated unless it is a buffer."""

    @abstractmethod
    def taken_parameter(self, name: str, operand: Operand) -> Operand:
        """`nn.Parameter(...)` as a variable of this name; anything else as it is."""

    @abstractmethod
    def set_parameter(self, operand: Operand, fill: Callable[[Shape], Array]) -> None:
        """Other numbers for a parameter that has some, of its shape."""

    @abstractmethod
    def path_of(self, position: int) -> str:
        """The whole name of what stands at a position, as imports say."""

    def is_module(self, name: str) -> bool:
        """Whether a name stands for a module."""
        return name in self.scope.names and isinstance(self.scope.objects.get(self.scope.names[name]), Module)

    def steps(self, names: Sequence[str], line: nodes.Statement) -> bool:
        """Whether an optimizer changes the parameters, behind which the function is another."""
        known = self.scope.objects.get(self.scope.names[names[0]]) if names[0] in self.scope.names else None
        is_step = not line.targets and names[-1] == "step" and isinstance(known, Opaque)
        if is_step:
            self.scope.warnings.append(STEPPED.format(f"{'.'.join(names)}()"))
        return is_step

    def named(self, name: nodes.Name, trailers: Sequence[nodes.Trailer]) -> tuple[Operand, int] | None:
        """A module that is made, or what Python has by that name."""
        above = self.classes.above() if name.token.text == "super" and name.arguments is not None else None
        if above is not None:
            return (self.objects.new(above), name.span), 0
        return self._module(name, trailers) or super().named(name, trailers)

    def _module(self, name: nodes.Name, trailers: Sequence[nodes.Trailer]) -> tuple[Operand, int] | None:
        """`nn.Linear(4, 8)`, or an optimizer, which says nothing about the function."""
        if name.token.text in self.scope.names or name.token.text in self.scope.variables:
            return None
        path = self.path_of(self.source.position(name.span.start))
        room, _, last = path.rpartition(".")
        members = [name, *trailers[: path.count(".")]]
        used = next((n for n, one in enumerate(members) if getattr(one, "arguments", None) is not None), 0)
        behind = members[used]
        arguments = behind.arguments if isinstance(behind, nodes.Name | nodes.Member) else None
        if arguments is not None:
            span = name.span.to(arguments.span)
            drawn = self.drawing.named(path, arguments, span, next(iter(trailers[used:]), None))
            if drawn is not None:
                return drawn, used
        if arguments is not None and path == "torch.device":
            return (self.objects.new(Opaque("torch.device(...)")), name.span.to(arguments.span)), used
        if arguments is not None and path in _ACCELERATORS:
            return self.objects.truth(False, name.span.to(arguments.span)), used
        if arguments is None and room == "torch" and last in TYPES:
            return (self.objects.new(Opaque(path)), name.span.to(members[-1].span)), len(members) - 1
        is_fill = room in ("nn.init", "torch.nn.init")
        if arguments is None or not (last[:1].isupper() or is_fill):
            return None
        if room in ("nn.init", "torch.nn.init"):
            return self._initialized(last, arguments, name.span), used
        if "optim" in room.split("."):
            return (self.objects.new(Opaque(f"{last}(...)")), name.span.to(arguments.span)), used
        is_module = room in ("nn", "torch.nn") and last not in ("Parameter", "Module")
        token = behind.name if isinstance(behind, nodes.Member) else replace(name.token, text=last)
        return (self.modules.made(token, arguments, name.span), used) if is_module else None

    def _initialized(self, name: str, arguments: nodes.Arguments, span: Span) -> Operand:
        """`nn.init.zeros_(fc.bias)`."""
        span = span.to(arguments.span)
        if name not in INITIAL:
            hint = f"read are {', '.join(INITIAL)}; --at gives parameters other numbers"
            raise self.source.error(f"nn.init.{name} is not read", span, hint=hint)
        takes, fill = INITIAL[name]
        made = Made(self.lowering.constants, f"init.{name}", ("tensor", *takes.split()), arguments, span)
        if "tensor" not in made.given:
            raise made.refused(f"nn.init.{name} takes a parameter")
        node = made.given["tensor"].value
        filled = partial(fill, made, self.drawing.generator(span))
        owner, last = self._owner(node)
        if owner is not None and last in owner.parameters:
            owner.parameters[last] = filled(owner.parameters[last].shape)
        else:
            self.set_parameter(self.lowering.lower(node), filled)
        return self.objects.nothing(span)

    def _owner(self, node: nodes.Node) -> tuple[Module | None, str]:
        """The module that stands before the last dot, and the name behind that."""
        match node:
            case nodes.Postfix(operand=first, trailers=(*others, nodes.Member(name=name, arguments=None))):
                before = replace(node, trailers=tuple(others)) if others else first
                found = self.scope.objects.get(self.lowering.lower(before)[0])
                return found if isinstance(found, Module) else None, name.text
        return None, ""

    def called_with(self, value: Any, span: Span, arguments: nodes.Arguments) -> Operand:
        """A module or a class with its arguments."""
        if isinstance(value, Class):
            return self.classes.instance(value, arguments, span)
        if isinstance(value, Module):
            return value.run(value, arguments, span.to(arguments.span))
        return super().called_with(value, span, arguments)

    def model(self) -> Callee | None:
        """What an instance of the class that was defined last gives for its arguments, if there is a class."""
        known = [one for one in self.scope.objects.values() if isinstance(one, Class)]
        forward = known[-1].methods.get("forward") if known else None
        if forward is None or forward.node is None:
            return None
        span = forward.node.span
        return self.classes.bound(forward, self.classes.instance(known[-1], self._nothing(span), span))

    def _nothing(self, span: Span) -> nodes.Arguments:
        """No arguments, where the text has no parentheses."""
        opening = self.source.tokens[self.source.position(span.start)]
        return nodes.Arguments(span, opening, 0, 0, (), None, "")

    def class_(self, line: nodes.Class) -> Ending:
        """A class, whose functions are read where they are called."""
        bases = [self.scope.object_of(base) for base in line.bases]
        made = self.classes.defined(line, [base for base in bases if isinstance(base, Class)])
        self.scope.names[line.name.text] = self.objects.new(made)
        return ""

    def name_object(self, name: str, atom: Atom) -> None:
        """A name takes a value that is no tensor; a module has its parameters by that name."""
        if isinstance(module := self.scope.objects.get(atom), Module):
            module.name(name)
        super().name_object(name, atom)

    def indexed(self, operand: Operand, subscript: nodes.Subscript) -> Operand | None:
        """A part of a module, or of a list."""
        if isinstance(module := self.scope.objects.get(operand[0]), Module):
            node = subscript.items[0].parts[0] if subscript.items and subscript.items[0].parts else None
            word = self.lowering.lower(node)[0] if isinstance(node, nodes.Word | nodes.Name) else None
            name = self.scope.objects.get(word) if word is not None else None
            if isinstance(name, Text) and name.text in module.children:
                return self.objects.new(module.children[name.text]), operand[1].to(subscript.span)
            return self.modules.part(module, self.lowering.constants.place(subscript), operand[1].to(subscript.span))
        return super().indexed(operand, subscript)

    def parts(self, operand: Operand, count: int | None = None) -> list[Operand]:
        """The parts of a module, or of another value."""
        if isinstance(module := self.scope.objects.get(operand[0]), Module):
            return [(self.objects.new(child), operand[1]) for child in module.children.values()]
        return super().parts(operand, count)

    def member(self, operand: Operand, member: nodes.Member) -> Operand | None:
        """What a module has behind its dot, or another value."""
        if isinstance(module := self.scope.objects.get(operand[0]), Module):
            return self._of_module(module, member, operand[1].to(member.span))
        if isinstance(module, Generator | OfNumpy):
            return self.drawing.member(module, member, operand[1].to(member.span))
        if member.name.text in FILLS and member.arguments is not None:
            return self._filled(operand, member)
        if isinstance(module, Super) and member.arguments is not None:
            return self.classes.of_base(module, member.name.text, member.arguments, operand[1].to(member.span))
        return super().member(operand, member)

    def _filled(self, operand: Operand, member: nodes.Member) -> Operand | None:
        """`.uniform_()` of a tensor that nothing else is made of; None of others."""
        line = self.builder.line_of(operand[0])
        atom = line.call.operands[0] if line is not None and line.call.op.name == "detach" else operand[0]
        if str(atom) not in self.values:
            return self.drawing.fresh(operand, member)
        if any(atom in one.call.operands and one is not line for one in self.builder.lines):
            message = f"'{atom}' is drawn behind lines that use it"
            raise self.source.error(message, member.span, hint="draw it before")
        self.set_parameter((atom, operand[1]), self.drawing.filled((atom, operand[1]), member))
        return operand

    def _of_module(self, module: Module, member: nodes.Member, span: Span) -> Operand:
        """A parameter, a part or a method of a module."""
        name, given = member.name.text, member.arguments
        if name in _ADDED and given is not None and len(given.items) >= 2:
            key = self.scope.objects.get(self.lowering.lower(given.items[0].value)[0])
            if isinstance(key, Text):
                self._added(module, key.text, self.lowering.lower(given.items[1].value))
                return self.objects.nothing(span)
        found = self.modules.member(module, member, span)
        if found is not None:
            return found
        held = module.attributes.get(name)
        if held is not None and given is not None:
            called = self.called((held, span), given)
            if called is not None:
                return called
        made = self.classes.of(module)
        if made is not None and given is None and name in made.properties:
            return self.classes.method(made, name, module, self._nothing(member.span), span)
        if made is not None and given is not None and name in made.methods:
            return self.classes.method(made, name, module, given, span)
        raise self.source.error(f"{module.shown} has no '.{name}'", member.span)

    def set_member(self, owner: Operand, member: nodes.Member, change: Callable[[Atom], Atom], span: Span) -> None:
        """`self.fc1 = nn.Linear(4, 8)`, and a parameter of a module's own."""
        module, name = self.scope.objects.get(owner[0]), member.name.text
        if not isinstance(module, Module):
            super().set_member(owner, member, change, span)
            return
        self._added(module, name, (change(module.attributes.get(name, owner[0])), span))

    def _added(self, module: Module, name: str, operand: Operand) -> None:
        """A part, a parameter or another value of a module by its name."""
        path = f"{module.path}.{name}" if module.path else name
        atom, _ = self.taken_parameter(path, operand)
        value = self.scope.objects.get(atom)
        if name in module.parameters and atom not in self.scope.variables.values():
            hint = "write nn.Parameter(...), or the parameter of another module"
            raise self.source.error(f"torch takes a parameter for {name} here", operand[1], hint=hint)
        if isinstance(value, Module):
            module.children[name] = value
            if module.path is not None:
                value.name(path)
        module.attributes[name] = atom
