"""Modules of torch.nn as values: layers with parameters, functions and losses without, and classes of such.

    fc1 = nn.Linear(4, 8)       its parameters are the variables fc1.weight and fc1.bias
    net = nn.Sequential(...)    net.0.weight, net.2.weight
    model = Net()               as model.named_parameters() calls them: fc1.weight

Their numbers are those that torch draws, in the order in which the text makes them.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from gradcli.errors import GradcliError, Span
from gradcli.language import ops
from gradcli.language.lower.arguments import Bound
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Array, Dictionary, Listed, Operand
from gradcli.language.program.movement import Slice
from gradcli.language.program.wengert import Atom
from gradcli.language.snippets.cells import CELLS, Cell
from gradcli.language.snippets.drawing import Drawing
from gradcli.language.snippets.layers import LAYERS, Made
from gradcli.language.snippets.python_values import Objects, Opaque
from gradcli.language.text import nodes
from gradcli.language.text.source import require_sound
from gradcli.language.text.tokens import Token

IN_PLACE = "a module with inplace is read as one that gives a new tensor, and leaves what it is given as it is"
"""The remark on what may be another number where the tensor is used again."""

_FUNCTIONS: Mapping[str, str] = {
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CrossEntropyLoss": "cross_entropy",
    "KLDivLoss": "kl_div",
    "SiLU": "silu",
}
"""What modules compute whose functions have other names."""


def _padded(made: Made) -> tuple[Any, ...]:
    return made.sizes("padding", 2 * int(made.kind[-2])), "constant", made.number("value", 0.0)


_MODES = {"Reflection": "reflect", "Replication": "replicate", "Circular": "circular"}
"""What modules that pad with elements of x do."""


def _padded_inside(made: Made) -> tuple[Any, ...]:
    return made.sizes("padding", 2 * int(made.kind[-2])), _MODES[made.kind[:-5]]


_OPERATIONS: Mapping[str, tuple[str, str, Callable[[Made], tuple[Any, ...]]]] = {
    **{f"ZeroPad{n}d": ("padding", "pad", _padded) for n in (1, 2, 3)},
    **{f"ConstantPad{n}d": ("padding value", "pad", _padded) for n in (1, 2, 3)},
    **{f"{word}Pad{n}d": ("padding", "pad_with_elements", _padded_inside) for word in _MODES for n in (1, 2, 3)},
    "Softmax2d": ("", "softmax", lambda _: (-3,)),
}
"""Modules without parameters that are one operation: what they are made with, its name, and its constants."""

_RANDOM = frozenset("Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout".split())
"""Modules that hand on what they are given in evaluation, and are random in training."""

_ITSELF = frozenset("to double float cpu cuda requires_grad_ half".split())
"""Methods that give the module."""


@dataclass(eq=False)
class Module:
    """A module.

    Attributes:
        shown: What it is called in the text.
        run: What it gives for its arguments.
        parameters: The first values of its parameters.
        buffers: Those of what it keeps, by which nothing is differentiated.
        children: The modules that it is made of.
        attributes: What an instance of a class has behind its dot.
        path: What the names of its parameters begin with, once it has a name.
        is_training: Whether it is in training, as modules are that are made.
        has_trained: Whether it has changed its buffers in training.
    """

    shown: str
    run: Callable[[Module, nodes.Arguments, Span], Operand]
    parameters: dict[str, Array] = field(default_factory=dict)
    children: dict[str, Module] = field(default_factory=dict)
    attributes: dict[str, Atom] = field(default_factory=dict)
    path: str | None = None
    buffers: dict[str, Array] = field(default_factory=dict)
    is_training: bool = True
    has_trained: bool = False

    def train(self, *, is_training: bool) -> None:
        """`model.train()` and `model.eval()`, with all that it is made of."""
        self.is_training = is_training
        for child in self.children.values():
            child.train(is_training=is_training)

    def name(self, path: str) -> None:
        """Give it a name, and with it all that it is made of."""
        if self.path is None:
            self.path = path
            for name, child in self.children.items():
                child.name(f"{path}.{name}" if path else name)


class Modules:
    """Makes modules, and reads what is done with them."""

    def __init__(
        self, lowering: Lowering, objects: Objects, drawing: Drawing, define: Callable[[str, Array, bool], None]
    ) -> None:
        self.lowering, self.source, self.scope = lowering, lowering.source, lowering.scope
        self.lines, self.constants = lowering.lines, lowering.constants
        self.objects, self.drawing, self._define = objects, drawing, define
        self._unnamed = Counter[str]()  # modules that no name leads to, by their kinds

    def made(self, name: Token, arguments: nodes.Arguments, span: Span) -> Operand:
        """`nn.Linear(4, 8)`.

        Raises:
            LanguageError: The module is not read.
        """
        span = span.to(arguments.span)
        kind = name.text
        if kind in LAYERS:
            module = self._layer(kind, arguments, span)
        elif kind in CELLS:
            module = self._cell(kind, arguments, span)
        elif kind in ("Sequential", "ModuleList", "ModuleDict"):
            module = self._sequential(kind, arguments)
        elif kind == "Identity":
            module = Module("nn.Identity", lambda _, given, where: self._first(given, where))
        elif kind in _RANDOM:
            module = self._dropout(kind, arguments, span)
        elif kind == "Flatten":
            module = self._flatten(arguments, span)
        elif kind in _OPERATIONS:
            module = self._operation(kind, arguments, span)
        else:
            module = self._function(name, arguments)
        return self.objects.new(module), span

    def _error(self, message: str, span: Span, hint: str | None = None) -> GradcliError:
        return self.source.error(message, span, hint=hint)

    def _layer(self, kind: str, arguments: nodes.Arguments, span: Span) -> Module:
        """A layer with parameters."""
        layer = LAYERS[kind]
        made = Made(self.constants, kind, layer.names, arguments, span)
        drawn = layer.draw(made, self.drawing.generator(span))
        names = self._names()

        def run(module: Module, given: nodes.Arguments, where: Span) -> Operand:
            by_batch = drawn.always or module.is_training
            if drawn.buffers is not None and not self._is_ready(module):
                message = f"{module.shown} has changed its running averages in training, which is not followed here"
                raise self._error(message, where, "set them by --at, and leave the calls in training out")
            held = {name: self.parameter(module, name) for name in (*module.parameters, *module.buffers)}
            if drawn.by_batch:
                held[drawn.by_batch] = self.objects.truth(by_batch, where)[0]
            return self._computed(layer.function, given, where, drawn.handed, held, names)

        return Module(f"nn.{kind}", run, drawn.parameters, buffers=drawn.buffers or {})

    def _is_ready(self, module: Module) -> bool:
        """Whether the buffers are what they were made."""
        module.has_trained |= module.is_training
        return module.is_training or not module.has_trained

    def _names(self) -> dict[str, Atom]:
        """What names stand for where a module is made, for what it is made with."""
        return dict(self.scope.names)

    def _computed(
        self,
        function: str,
        given: nodes.Arguments,
        where: Span,
        made_with: Sequence[nodes.Argument],
        held: Mapping[str, Atom],
        names: dict[str, Atom],
    ) -> Operand:
        """A function of what a module is given, of what it was made with, and of values by name."""
        items: list[nodes.Argument] = []
        values: dict[str, Atom] = {}
        for n, one in enumerate(given.items):
            name = f"{_HELD}.{n}"
            values[name] = self.lowering.lower(one.value)[0]
            items.append(self._argument(name, given, "" if one.name is None else one.name.text))
            require_sound(one.fault)
        require_sound(given.unclosed)
        for name, atom in held.items():
            values[f"{_HELD}.{name}"] = atom
        named = [self._argument(f"{_HELD}.{name}", given, name) for name in held]
        whole = replace(given, items=(*items, *made_with, *named))
        token = Token("name", function, given.opening.span)
        outside, self.scope.names = self.scope.names, ChainMap({**names, **values})
        operand = self.lowering.calls.call(token, where, [], whole, after_dot=True)
        self.scope.names = outside
        return operand

    def _dropout(self, kind: str, arguments: nodes.Arguments, span: Span) -> Module:
        """A module that is random in training."""
        made = Made(self.constants, kind, ("p", "inplace"), arguments, span)
        p = made.number("p", 0.5)

        def run(module: Module, given: nodes.Arguments, where: Span) -> Operand:
            if module.is_training and p > 0:
                hint = "put the model in evaluation, as in model = Net().eval(); y = model(x), or make it with p=0"
                raise self._error(f"nn.{kind} is random in training, and has no derivative to check", where, hint)
            return self._first(given, where)

        return Module(f"nn.{kind}", run)

    def _argument(self, held: str, given: nodes.Arguments, name: str = "") -> nodes.Argument:
        """An argument that stands for a value, which no text of the user's is."""
        word = Token("name", held, given.opening.span)
        keyword = Token("name", name, word.span) if name else None
        position = given.position + 1
        return nodes.Argument(keyword, nodes.Name(word.span, word, None), position, position + 1, None)

    @contextmanager
    def _holding(self, values: Mapping[str, Atom]) -> Iterator[None]:
        """Values under names that no text can have."""
        before = {name: self.scope.names[name] for name in values if name in self.scope.names}
        self.scope.names.update(values)
        yield
        for name in values:
            self.scope.names.pop(name, None)
        self.scope.names.update(before)

    def _function(self, name: Token, made_with: nodes.Arguments) -> Module:
        """A module without parameters: what it computes is a function."""
        known = {one.replace("_", ""): one for one in ops.names()}
        function = _FUNCTIONS.get(name.text) or known.get(name.text.lower())
        if function is None:
            hint = "write its forward pass as a function, def f(x): ..."
            raise self._error(f"the module nn.{name.text} is not read", name.span, hint)
        names = self._names()
        items = [one for one in made_with.items if one.name is None or one.name.text != "inplace"]
        if len(items) < len(made_with.items):
            self.scope.remark(IN_PLACE)

        def run(_: Module, given: nodes.Arguments, where: Span) -> Operand:
            return self._computed(function, given, where, items, {}, names)

        return Module(f"nn.{name.text}", run)

    def _sequential(self, kind: str, arguments: nodes.Arguments) -> Module:
        values: list[Operand] = []
        for one in arguments.items:
            node = one.value.value if isinstance(one.value, nodes.Starred) else one.value
            values.append(self.lowering.lower(node))
        modules: list[Module] = []
        keys: list[str] = []
        for atom, span in values:
            value = self.objects.of(atom)
            if isinstance(value, Dictionary):
                keys += map(str, value.items)
                value = Listed(list(value.items.values()))
            for part, where in value.items if isinstance(value, Listed) else [(atom, span)]:
                module = self.objects.of(part)
                if not isinstance(module, Module):
                    raise self._error("a module must stand here", where, "such as nn.Linear(4, 8)")
                modules.append(module)
        names = keys if len(keys) == len(modules) else [str(n) for n in range(len(modules))]
        return self._in_order(f"nn.{kind}", dict(zip(names, modules, strict=True)))

    def _in_order(self, shown: str, children: dict[str, Module]) -> Module:
        """Modules one after the other."""

        def run(_: Module, given: nodes.Arguments, where: Span) -> Operand:
            operand = self._first(given, where)
            for child in children.values():
                operand = self.applied(child, operand, given, where)
            return operand

        return Module(shown, run, children=children)

    def applied(self, module: Module, operand: Operand, arguments: nodes.Arguments, span: Span) -> Operand:
        """A module of a value, which no argument of the text is."""
        with self._holding({_HELD: operand[0]}):
            return module.run(
                module, replace(arguments, items=(self._argument(_HELD, arguments),), unclosed=None), span
            )

    def _first(self, given: nodes.Arguments, where: Span) -> Operand:
        if not given.items:
            raise self._error("a module takes a tensor", where)
        return self.lowering.lower(given.items[0].value)

    def _flatten(self, arguments: nodes.Arguments, span: Span) -> Module:
        """`nn.Flatten()`, which keeps the first dimension."""
        made = Made(self.constants, "Flatten", ("start_dim", "end_dim"), arguments, span)
        dims = {name: made.whole(name, default) for name, default in (("start_dim", 1), ("end_dim", -1))}

        def run(_: Module, given: nodes.Arguments, where: Span) -> Operand:
            atom = self._first(given, where)[0]
            shape = self.objects.shape(atom)
            if shape is not None and not all(-len(shape) <= dim < len(shape) for dim in dims.values()):
                raise self._error(f"nn.Flatten does not fit the shape {shape}", where, "it keeps dimension 0, a batch")
            return (atom, where) if shape is None else self.lines.emit("flatten", [atom], where, tuple(dims.values()))

        return Module("nn.Flatten", run)

    def _operation(self, kind: str, arguments: nodes.Arguments, span: Span) -> Module:
        """A module that is one operation."""
        names, op, constants = _OPERATIONS[kind]
        statics = constants(Made(self.constants, kind, tuple(names.split()), arguments, span))

        def run(_: Module, given: nodes.Arguments, where: Span) -> Operand:
            operand, row = self._first(given, where), ops.TABLE[op]
            if row.kind is not ops.Kind.WRITTEN:
                return self.lines.emit(op, [operand[0]], where, statics)
            bound = Bound(row, "", False, [], {"x": operand}, dict(zip(row.statics, statics, strict=True)))
            return self.lowering.writing.call(bound, where)

        return Module(f"nn.{kind}", run)

    def _cell(self, kind: str, arguments: nodes.Arguments, span: Span) -> Module:
        """A cell of a recurrent network, or attention: what it gives is written as text."""
        names, make = CELLS[kind]
        cell = make(Made(self.constants, kind, tuple(names.split()), arguments, span), self.drawing.generator(span))

        def run(module: Module, given: nodes.Arguments, where: Span) -> Operand:
            held = Made(self.constants, kind, cell.takes, given, where)
            if held.has("key_padding_mask"):
                raise self._error("key_padding_mask is not read", where, "write it in attn_mask")
            values = {name: self.parameter(module, name) for name in module.parameters}
            values = {name.replace("out_proj.", "out_"): atom for name, atom in values.items()}
            values |= {name: self._taken(name, one) for name, one in held.given.items() if held.has(name)}
            is_short = values.pop("need_weights", None) is not None and not held.flag("need_weights", default=True)
            values = self._with_states(cell, values, where)
            shapes = {name: self.objects.shape(atom) for name, atom in values.items()}
            known = {name: shape for name, shape in shapes.items() if shape is not None}
            first = next(iter(held.given.values()), None)
            if first is None:
                raise self._error("a module takes a tensor", where)
            texts = cell.write(known) if len(known) == len(shapes) else [cell.takes[0]] * cell.gives
            found = [(self.lowering.writing.inlined(text, values, where), where) for text in texts]
            if cell.is_nested:
                found[1:] = [self.objects.new_list(found[1:], where, "tuple")]
            if is_short:
                found[1] = self.objects.nothing(where)
            return found[0] if cell.gives == 1 else self.objects.new_list(found, where, "tuple")

        return Module(f"nn.{kind}", run, cell.parameters)

    def _taken(self, name: str, one: nodes.Argument) -> Atom:
        """What a cell is given; a mask of truth values is minus infinity where it is true."""
        atom, span = self.lowering.lower(one.value)
        require_sound(one.fault)
        if name != "attn_mask" or atom not in self.lines.conditions:
            return atom
        return self.lines.emit("where", [atom, -sympy.oo, sympy.Integer(0)], span)[0]

    def _with_states(self, cell: Cell, values: dict[str, Atom], where: Span) -> dict[str, Atom]:
        """The states of a cell by their names: zeros for those that are not given."""
        if not cell.states:
            return values
        if "hx" in values:
            atom = values.pop("hx")
            given = self.objects.parts(atom, where, len(cell.states)) if len(cell.states) > 1 else [(atom, where)]
            if len(given) != len(cell.states):
                raise self._error(f"this cell takes the states {', '.join(cell.states)} in a tuple", where)
            return values | {name: atom for name, (atom, _) in zip(cell.states, given, strict=True)}
        shape = self.objects.shape(values["input"]) if "input" in values else None
        zeros = self.lines.emit("zeros", [], where, (cell.shape_of(shape or (1,)),))[0]
        return values | dict.fromkeys(cell.states, zeros)

    # -- what is done with them

    def parameter(self, module: Module, name: str) -> Atom:
        """The variable that a parameter is: its own, or another's that it was set to."""
        if name in module.attributes:
            return module.attributes[name]
        if module.path is None:
            self._unnamed[kind := module.shown.rpartition(".")[2].lower()] += 1
            count = self._unnamed[kind]
            module.name(kind if count == 1 else f"{kind}_{count}")
        path = f"{module.path}.{name}" if module.path else name
        is_buffer = name in module.buffers
        self._define(path, (module.buffers if is_buffer else module.parameters)[name], not is_buffer)
        return self.scope.variable(path)

    def member(self, module: Module, member: nodes.Member, span: Span) -> Operand | None:
        """What a module has behind its dot; None where it has no such thing."""
        name = member.name.text
        if name in module.attributes and member.arguments is None:
            return module.attributes[name], span
        if name in (*module.parameters, *module.buffers) and member.arguments is None:
            return self.parameter(module, name), span
        if name in module.children and member.arguments is None:
            return self.objects.new(module.children[name]), span
        if name == "training" and member.arguments is None:
            return self.objects.truth(module.is_training, span)
        if name in ("train", "eval") and member.arguments is not None:
            mode = [self.constants.truth(one.value) for one in member.arguments.items]
            module.train(is_training=name == "train" and mode != [False])
            return self.objects.new(module), span
        if name in _ITSELF and member.arguments is not None:
            return self.objects.new(module), span
        if name == "append" and member.arguments is not None and len(member.arguments.items) == 1:
            self._appended(module, self.lowering.lower(member.arguments.items[0].value))
            return self.objects.nothing(span)
        if name == "zero_grad":
            return self.objects.new(Opaque(f"{module.shown}.{name}()")), span
        return None

    def _appended(self, module: Module, operand: Operand) -> None:
        """One more part of a `ModuleList`."""
        part = self.objects.of(operand[0])
        if not isinstance(part, Module):
            raise self._error("a module must stand here", operand[1], "such as nn.Linear(4, 8)")
        name = str(len(module.children))
        module.children[name] = part
        if module.path is not None:
            part.name(f"{module.path}.{name}" if module.path else name)

    def part(self, module: Module, place: int | Slice, span: Span) -> Operand:
        """`net[0]`, and `net[:-1]` of the same kind."""
        names = list(module.children)
        if isinstance(place, Slice):
            parts = [module.children[name] for name in names[place.start : place.stop : place.step]]
            found = self._in_order(module.shown, {str(n): part for n, part in enumerate(parts)})
            return self.objects.new(found), span
        if not -len(names) <= place < len(names):
            raise self._error(f"this module has {len(names)} parts, counted from 0", span)
        return self.objects.new(module.children[names[place]]), span


_HELD = "the value that a module is given"
"""A name that no text can have."""
