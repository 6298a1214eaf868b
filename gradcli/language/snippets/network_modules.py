"""Modules of torch.nn as values: layers with parameters, functions and losses without, and classes of such.

    fc1 = nn.Linear(4, 8)       its parameters are the variables fc1.weight and fc1.bias
    net = nn.Sequential(...)    net.0.weight, net.2.weight
    model = Net()               as model.named_parameters() calls them: fc1.weight

Their numbers are those that torch draws, in the order in which the text makes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from gradcli.errors import GradcliError, Span
from gradcli.language import ops
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Array, Listed, Operand
from gradcli.language.program.shapes import MAX_ELEMENTS
from gradcli.language.program.wengert import Atom, Shape
from gradcli.language.snippets.python_values import Objects, Opaque
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token

UNSEEDED = "no seed is set: the layers have the parameters that torch draws behind torch.manual_seed(0)"
"""The remark on parameters that are another time others."""

_FUNCTIONS: Mapping[str, str] = {
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "KLDivLoss": "kl_div",
    "SiLU": "silu",
}
"""What modules compute whose functions have other names."""

_THROUGH = frozenset(["Identity", "Dropout", "Dropout1d", "Dropout2d", "AlphaDropout"])
"""Modules that hand on what they are given, in evaluation."""

_ITSELF = frozenset("train eval to double float cpu cuda requires_grad_ half apply".split())
"""Methods that give the module."""


class Generator:
    """Torch's generator of random numbers on the CPU."""

    def __init__(self) -> None:
        self.is_seeded = False
        self.seed(0)
        self.is_seeded = False

    def seed(self, number: int) -> None:
        """`torch.manual_seed(number)`."""
        self._bits = np.random.RandomState(number % 2**32)
        self.is_seeded = True

    def uniform(self, shape: Shape, bound: float) -> Array:
        """Numbers between -bound and bound, as `uniform_` draws them in float32."""
        words = self._bits.randint(0, 2**32, size=math.prod(shape), dtype=np.uint32)
        drawn = (words & (2**24 - 1)).astype(np.float64) * 2.0**-24
        low, high = np.float32(-bound), np.float32(bound)
        found = drawn * np.float64(high - low) + np.float64(low)  # torch multiplies and adds in one step
        return found.astype(np.float32).astype(np.float64).reshape(shape)


@dataclass(eq=False)
class Module:
    """A module.

    Attributes:
        shown: What it is called in the text.
        run: What it gives for its arguments.
        parameters: The first values of its parameters.
        children: The modules that it is made of.
        attributes: What an instance of a class has behind its dot.
        path: What the names of its parameters begin with, once it has a name.
    """

    shown: str
    run: Callable[[Module, nodes.Arguments, Span], Operand]
    parameters: dict[str, Array] = field(default_factory=dict)
    children: dict[str, Module] = field(default_factory=dict)
    attributes: dict[str, Atom] = field(default_factory=dict)
    path: str | None = None

    def name(self, path: str) -> None:
        """Give it a name, and with it all that it is made of."""
        if self.path is None:
            self.path = path
            for name, child in self.children.items():
                child.name(f"{path}.{name}" if path else name)


class Modules:
    """Makes modules, and reads what is done with them."""

    def __init__(self, lowering: Lowering, objects: Objects, define: Callable[[str, Array], None]) -> None:
        self.lowering, self.source, self.scope = lowering, lowering.source, lowering.scope
        self.lines, self.constants = lowering.lines, lowering.constants
        self.objects, self._define = objects, define
        self.generator = Generator()

    def made(self, name: Token, arguments: nodes.Arguments, span: Span) -> Operand:
        """`nn.Linear(4, 8)`.

        Raises:
            LanguageError: The module is not read.
        """
        span = span.to(arguments.span)
        kind = name.text
        if kind == "Linear":
            module = self._linear(arguments, span)
        elif kind == "LayerNorm":
            module = self._layer_norm(arguments, span)
        elif kind in ("Sequential", "ModuleList"):
            module = self._sequential(arguments)
        elif kind in _THROUGH:
            module = Module(f"nn.{kind}", lambda _, given, where: self._first(given, where))
        elif kind == "Flatten":
            module = Module("nn.Flatten", self._flattened)
        else:
            module = self._function(name, arguments)
        return self.objects.new(module), span

    def _error(self, message: str, span: Span, hint: str | None = None) -> GradcliError:
        return self.source.error(message, span, hint=hint)

    def _option(self, arguments: nodes.Arguments, place: int, name: str) -> nodes.Node | None:
        """An argument by its place or name."""
        plain = [one.value for one in arguments.items if one.name is None]
        named = next((one.value for one in arguments.items if one.name is not None and one.name.text == name), None)
        return plain[place] if named is None and place < len(plain) else named

    def _is_off(self, arguments: nodes.Arguments, place: int, name: str) -> bool:
        node = self._option(arguments, place, name)
        return isinstance(node, nodes.Word) and node.token.text == "False"

    def _drawn(self) -> Generator:
        if not self.generator.is_seeded and UNSEEDED not in self.scope.warnings:
            self.scope.warnings.append(UNSEEDED)
        return self.generator

    def _linear(self, arguments: nodes.Arguments, span: Span) -> Module:
        sizes = [self._option(arguments, n, name) for n, name in enumerate(("in_features", "out_features"))]
        if None in sizes:
            raise self._error("nn.Linear takes the numbers of features: nn.Linear(4, 8)", span)
        inside, outside = (self.constants.integer(node) for node in sizes if node is not None)
        if min(inside, outside) < 0 or inside * outside > MAX_ELEMENTS:
            raise self._error(f"a layer of {inside:,} by {outside:,} parameters is not read", span)
        generator = self._drawn()
        bound = math.sqrt(3.0) * (math.sqrt(2.0 / 6.0) / math.sqrt(inside)) if inside else 0.0
        parameters = {"weight": generator.uniform((outside, inside), bound)}
        if not self._is_off(arguments, 2, "bias"):
            parameters["bias"] = generator.uniform((outside,), 1 / math.sqrt(inside) if inside else 0.0)
        return Module("nn.Linear", self._apply("linear", parameters), parameters)

    def _layer_norm(self, arguments: nodes.Arguments, span: Span) -> Module:
        node = self._option(arguments, 0, "normalized_shape")
        if node is None:
            raise self._error("nn.LayerNorm takes a shape: nn.LayerNorm(8)", span)
        is_list = isinstance(node, nodes.Items | nodes.Group)
        shape = self.constants.integers(node) if is_list else (self.constants.integer(node),)  # type: ignore[arg-type]
        if any(size < 0 for size in shape) or math.prod(shape) > MAX_ELEMENTS:
            raise self._error("a layer of so many parameters is not read", span)
        stated = [replace(one, name=None) for one in arguments.items if one.name is None or one.name.text != "eps"]
        others = [one for one in arguments.items if one.name is not None and one.name.text == "eps"]
        parameters = {"weight": np.ones(shape), "bias": np.zeros(shape)}
        return Module("nn.LayerNorm", self._apply("layer_norm", parameters, (*stated[:1], *others)), parameters)

    def _apply(
        self, function: str, names: Iterable[str], others: Sequence[nodes.Argument] = ()
    ) -> Callable[[Module, nodes.Arguments, Span], Operand]:
        """A function of what a module is given, of what it was made with, and of its parameters by name."""
        listed = tuple(names)

        def run(module: Module, given: nodes.Arguments, where: Span) -> Operand:
            held = {name: self.parameter(module, name) for name in listed}
            token = Token("name", function, given.opening.span)
            with self._holding({f"{_HELD}.{name}": atom for name, atom in held.items()}):
                named = [self._argument(f"{_HELD}.{name}", given, name) for name in listed]
                whole = replace(given, items=(*given.items[:1], *others, *named), unclosed=None)
                return self.lowering.calls.call(token, where, [], whole, after_dot=True)

        return run

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
        token = replace(name, text=function)

        def run(_: Module, given: nodes.Arguments, where: Span) -> Operand:
            whole = replace(given, items=(*given.items, *made_with.items))
            return self.lowering.calls.call(token, where, [], whole, after_dot=True)

        return Module(f"nn.{name.text}", run)

    def _sequential(self, arguments: nodes.Arguments) -> Module:
        values: list[Operand] = []
        for one in arguments.items:
            node = one.value.value if isinstance(one.value, nodes.Starred) else one.value
            values.append(self.lowering.lower(node))
        modules: list[Module] = []
        for atom, span in values:
            value = self.objects.of(atom)
            for part, where in value.items if isinstance(value, Listed) else [(atom, span)]:
                module = self.objects.of(part)
                if not isinstance(module, Module):
                    raise self._error("a module must stand here", where, "such as nn.Linear(4, 8)")
                modules.append(module)
        children = {str(n): module for n, module in enumerate(modules)}

        def run(_: Module, given: nodes.Arguments, where: Span) -> Operand:
            operand = self._first(given, where)
            for child in children.values():
                operand = self.applied(child, operand, given, where)
            return operand

        return Module("nn.Sequential", run, children=children)

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

    def _flattened(self, _: Module, given: nodes.Arguments, where: Span) -> Operand:
        shape = self.objects.shape(self._first(given, where)[0])
        if shape is not None and len(shape) < 2:
            raise self._error("nn.Flatten takes a batch, of two dimensions at least", where)
        size = math.prod((shape or (1, 1))[1:])
        return self.lines.emit("reshape", [self._first(given, where)[0]], where, ((-1, size),))

    # -- what is done with them

    def parameter(self, module: Module, name: str) -> Atom:
        """The variable that a parameter is."""
        if module.path is None:
            module.name(module.shown.rpartition(".")[2].lower())
        path = f"{module.path}.{name}" if module.path else name
        self._define(path, module.parameters[name])
        return self.scope.variable(path)

    def member(self, module: Module, member: nodes.Member, span: Span) -> Operand | None:
        """What a module has behind its dot; None where it has no such thing."""
        name = member.name.text
        if name in module.attributes and member.arguments is None:
            return module.attributes[name], span
        if name in module.parameters and member.arguments is None:
            return self.parameter(module, name), span
        if name in module.children and member.arguments is None:
            return self.objects.new(module.children[name]), span
        if name in _ITSELF and member.arguments is not None:
            return self.objects.new(module), span
        if name in ("parameters", "named_parameters", "state_dict", "modules", "children", "zero_grad"):
            return self.objects.new(Opaque(f"{module.shown}.{name}()")), span
        return None

    def part(self, module: Module, place: int, span: Span) -> Operand:
        """`net[0]`."""
        names = list(module.children)
        if not -len(names) <= place < len(names):
            raise self._error(f"this module has {len(names)} parts, counted from 0", span)
        return self.objects.new(module.children[names[place]]), span


_HELD = "the value that a module is given"
"""A name that no text can have."""
