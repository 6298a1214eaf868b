"""Statements of texts with modules of torch.nn, and with classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import sympy

from gradcli.errors import CodeError, Place, Span
from gradcli.language.lower.scope import Array, Dictionary, Operand, Scope, Text
from gradcli.language.program.movement import Slice
from gradcli.language.program.wengert import Atom, Shape, show
from gradcli.language.snippets.changing import Change
from gradcli.language.snippets.definitions import Callee
from gradcli.language.snippets.drawing import FILLS, Drawing, OfNumpy
from gradcli.language.snippets.dtypes import TYPES, Dtypes
from gradcli.language.snippets.generators import Generator
from gradcli.language.snippets.initializing import FILLS as INITIAL
from gradcli.language.snippets.interpreter import Ending, Interpreter
from gradcli.language.snippets.layers import Made
from gradcli.language.snippets.module_parts import WALKED, ModuleParts
from gradcli.language.snippets.network_modules import Module, Modules
from gradcli.language.snippets.python_classes import Class, Classes, Super
from gradcli.language.snippets.python_values import Opaque
from gradcli.language.text import nodes
from gradcli.language.text.source import Source, require_sound
from gradcli.language.text.tokens import Token

STEPPED = "{} changes the parameters: the answer is of the gradient before it, and what follows is passed over"
"""The remark on a step of an optimizer."""

_ACCELERATORS = frozenset(["torch.cuda.is_available", "torch.backends.mps.is_available"])
"""Whether there is another device than the CPU, on which nothing is computed here."""

HANDLED = WALKED | frozenset(["apply", "load_state_dict"])
"""Methods of a module that a class of the text may have for itself."""

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
        self.inside = ModuleParts(self.modules)
        self.classes = Classes(source, self.objects, self.functions)
        self.changes.set_numbers = self.set_numbers

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
    def set_numbers(self, variable: Atom, value: Atom, span: Span) -> None:
        """A variable that has numbers takes those of a value."""

    @abstractmethod
    def set_array(self, variable: Atom, found: Array, span: Span) -> None:
        """A variable that has numbers takes others."""

    @abstractmethod
    def numbers_of(self, atom: Atom, span: Span, what: str) -> Array:
        """The numbers of a value that is made of variables with numbers."""

    @abstractmethod
    def path_of(self, position: int) -> str:
        """The whole name of what stands at a position, as imports say."""

    def is_module(self, name: str) -> bool:
        """Whether a name stands for a module."""
        return name in self.scope.names and isinstance(self.scope.objects.get(self.scope.names[name]), Module)

    def steps(self, names: Sequence[str], line: nodes.Statement) -> bool:
        """Whether an optimizer changes the parameters, behind which the function is another."""
        known = self.scope.objects.get(self.scope.names[names[0]]) if names[0] in self.scope.names else None
        for name in names[1:-1]:
            known = self.scope.objects.get(known.attributes.get(name)) if isinstance(known, Module) else None
        return not line.targets and names[-1] == "step" and isinstance(known, Opaque)

    def named(self, name: nodes.Name, trailers: Sequence[nodes.Trailer]) -> tuple[Operand, int] | None:
        """A module that is made, or what Python has by that name."""
        above = self.classes.above() if name.token.text == "super" and name.arguments is not None else None
        if above is not None:
            return (self.objects.new(above), name.span), 0
        return self._of_kind(name) or self._module(name, trailers) or super().named(name, trailers)

    def _of_kind(self, name: nodes.Name) -> tuple[Operand, int] | None:
        """`isinstance(m, nn.Linear)` of a module."""
        given = name.arguments
        if name.token.text != "isinstance" or given is None or len(given.items) != 2:
            return None
        module = self.objects.of(self.lowering.lower(given.items[0].value)[0])
        if not isinstance(module, Module):
            return None
        kinds = self.inside.kinds_in(given.items[1].value)
        require_sound(given.items[1].fault)
        require_sound(given.unclosed)
        return self.objects.truth(not self.classes.kinds_of(module).isdisjoint(kinds), name.span), 0

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
            is_torch = room in ("torch", "F", "nn.functional", "torch.nn.functional")
            called = behind.name if isinstance(behind, nodes.Member) else name.token
            changed = self.changes.function(called, arguments, span) if is_torch else None
            if changed is not None:
                return changed, used
            if room.startswith("torch.distributions"):
                raise CodeError(path, Place(self.source.text, span, self.source.name))
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
            is_slice = len(subscript.items) == 1 and len(subscript.items[0].parts) > 1
            place = self.lowering.constants.item(subscript.items[0]) if is_slice else None
            if not isinstance(place, Slice):
                place = self.lowering.constants.place(subscript)
            return self.modules.part(module, place, operand[1].to(subscript.span))
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
        made = self.classes.of(module)
        if given is not None and name in HANDLED and (made is None or name not in made.methods):
            return self._handled(module, member.name, given, span)
        found = self.modules.member(module, member, span)
        if found is not None:
            return found
        held = module.attributes.get(name)
        if held is not None and given is not None:
            called = self.called((held, span), given)
            if called is not None:
                return called
        if made is not None and given is None and name in made.properties:
            return self.classes.method(made, name, module, self._nothing(member.span), span)
        if made is not None and given is not None and name in made.methods:
            return self.classes.method(made, name, module, given, span)
        raise self.source.error(f"{module.shown} has no '.{name}'", member.span)

    def _handled(self, module: Module, name: Token, given: nodes.Arguments, span: Span) -> Operand:
        """`net.named_parameters()`, `net.apply(f)`, `net.load_state_dict(...)`."""
        if name.text in WALKED:
            if given.items:
                raise self.source.error(f"'.{name.text}' with arguments is not read", given.span)
            return self.inside.walked(module, name.text, span)
        if len(given.items) != 1:
            raise self.source.error(f"'.{name.text}' takes one argument here", given.span)
        operand = self.lowering.lower(given.items[0].value)
        require_sound(given.items[0].fault)
        require_sound(given.unclosed)
        if name.text == "apply":
            callee = self.scope.objects.get(operand[0])
            if not isinstance(callee, Callee):
                raise self.source.error("a function of the text must stand here", operand[1])
            for one in self._from_inside(module):
                callee.value([(self.objects.new(one), span)], span)
            return self.objects.new(module), span
        self.load(module, operand, span)
        return self.objects.nothing(span)

    def _from_inside(self, module: Module) -> Iterator[Module]:
        """A module behind all that it is made of."""
        for child in module.children.values():
            yield from self._from_inside(child)
        yield module

    def load(self, module: Module, held: Operand, span: Span) -> None:
        """Give all parameters and buffers of a module the numbers of a dict."""
        values = self.scope.objects.get(held[0])
        own = self.scope.objects[self.inside.walked(module, "state_dict", span)[0]].items
        if not isinstance(values, Dictionary):
            raise self.source.error("a dict of tensors must stand here", held[1], hint="such as net.state_dict()")
        if set(values.items) != set(own):
            missing = ", ".join(map(str, set(own) ^ set(values.items)))
            message = f"the dict and {module.shown} have not the same names: {missing}"
            raise self.source.error(message, span)
        found: list[tuple[Atom, Array]] = []
        for name, (atom, _) in own.items():
            line = self.builder.line_of(atom)
            variable = atom if line is None else line.call.operands[0]
            numbers = self.numbers_of(self.objects.tensor(values.items[name][0], span), span, "a dict of parameters")
            if numbers.shape != self.values[str(variable)].shape:
                message = f"'{name}' has shape {show(numbers.shape)}, not {show(self.values[str(variable)].shape)}"
                raise self.source.error(message, span)
            found.append((variable, numbers))
        for variable, numbers in found:
            self.set_array(variable, numbers, span)

    def set_member(self, owner: Operand, member: nodes.Member, change: Callable[[Atom], Atom], span: Span) -> None:
        """`self.fc1 = nn.Linear(4, 8)`, and a parameter of a module's own."""
        module, name = self.scope.objects.get(owner[0]), member.name.text
        if not isinstance(module, Module):
            super().set_member(owner, member, change, span)
            return
        before = module.attributes.get(name, owner[0])
        is_own = before == owner[0] and (name in module.parameters or name in module.buffers)
        if isinstance(change, Change) and change.sign:
            before = self.modules.parameter(module, name) if is_own else before
            after = change(before)
            if self.changes.sets(before, after, span):
                return
            if before in self.scope.variables.values():
                message = f"'{change.sign}=' changes the parameter '{name}' in place, which torch refuses here"
                raise self.source.error(message, span, hint="write with torch.no_grad(): around it")
            self._added(module, name, (after, span))
            return
        self._added(module, name, (change(before), span))

    def require_kind(self, target: nodes.Node, before: Atom, change: Change) -> None:
        """Refuse fractions in a tensor of whole numbers, of which NumPy and torch drop them, or refuse.

        Raises:
            LanguageError: They may be some.
        """
        name = target.token.text if isinstance(target, nodes.Name) else ""
        value, span = change.operand
        is_tensor = isinstance(before, sympy.Symbol) and name in self.dtypes.whole
        if is_tensor and (change.sign == "/" or not self.dtypes.is_whole(self.lowering.lines.as_number(value, span))):
            message = f"'{name}' holds whole numbers, and this may be none"
            raise self.source.error(message, span, hint="write 1. in place of 1 where it is made")

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
