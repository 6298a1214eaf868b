"""What code draws at random: torch's numbers and NumPy's, one after the other, as the seeds of the text say.

    torch.manual_seed(3); x = torch.randn(2); y = torch.rand(2)      of one generator, with the parameters of layers
    np.random.seed(3); a = np.random.rand(2)                         of another
    rng = np.random.default_rng(3); b = rng.normal(size=2)           of one of its own

What is drawn is a constant tensor; a name for it makes a variable, as for other tensors of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from gradcli.errors import GradcliError, Span, TooLargeError
from gradcli.language import ops
from gradcli.language.lower.programs import Lowering
from gradcli.language.lower.scope import Array, Listed, Nothing, Operand
from gradcli.language.ops import Kind
from gradcli.language.program.numeric import Numbers
from gradcli.language.program.wengert import MAX_ELEMENTS, Atom, Shape
from gradcli.language.snippets.dtypes import Dtypes
from gradcli.language.snippets.generators import OWN_SEED, Generator
from gradcli.language.snippets.python_branches import Branches
from gradcli.language.snippets.python_values import Objects, Sizes
from gradcli.language.text import nodes
from gradcli.language.text.source import require_sound

UNSEEDED = "no seed is set: random numbers are those that torch draws behind torch.manual_seed(0)"
"""The remark on numbers that are another time others."""

_UNSEEDED = "no seed is set: random numbers are those that NumPy draws with the seed 0"

LARGEST_RANGE = 2**24
"""So many whole numbers all versions of torch choose from in one way, and in each type."""

MOST_PERMUTED = 2**20

_TORCH: Mapping[str, str] = {
    "rand": "*size",
    "randn": "*size",
    "rand_like": "input",
    "randn_like": "input",
    "randint": "low high size",
    "randint_like": "input low high",
    "randperm": "n",
    "normal": "mean std size",
    "bernoulli": "input",
}
"""What torch's functions take, in order; all that follow behind a star."""

FILLS: Mapping[str, str] = {"uniform_": "from to", "normal_": "mean std", "random_": "from to"}
"""Methods that draw the numbers of a tensor."""

_NUMPY: Mapping[str, str] = {
    **dict.fromkeys(("rand", "randn"), "*size"),
    **dict.fromkeys(("random", "random_sample", "ranf", "sample", "standard_normal"), "size"),
    "normal": "loc scale size",
    "uniform": "low high size",
    **dict.fromkeys(("randint", "integers"), "low high size"),
    "permutation": "x",
}
"""What NumPy's functions and methods take, with their names there."""

_EMPTY = frozenset("torch.Tensor torch.FloatTensor torch.DoubleTensor".split())
"""What makes a tensor of sizes, which holds no numbers yet."""

_SEEDS = frozenset("manual_seed manual_seed_all seed".split())


@dataclass(eq=False)
class OfNumpy:
    """A generator of NumPy's.

    Attributes:
        bits: Draws its numbers.
        is_seeded: Whether the text says its seed.
    """

    bits: np.random.RandomState | np.random.Generator
    is_seeded: bool
    shown = "a generator"


class Drawing:
    """Draws the numbers of a text."""

    def __init__(self, lowering: Lowering, objects: Objects, branches: Branches, dtypes: Dtypes) -> None:
        self.lowering, self.source, self.scope = lowering, lowering.source, lowering.scope
        self.lines, self.constants, self.objects, self.dtypes = lowering.lines, lowering.constants, objects, dtypes
        self.branches = branches
        self._torch = Generator()
        self._numpy = OfNumpy(np.random.RandomState(0), is_seeded=False)
        self._count = self._elements = 0

    def generator(self, span: Span, *atoms: Atom, own: Generator | None = None) -> Generator:
        """What the numbers of a tensor or of a layer are drawn by, with a remark if no seed is set.

        Args:
            span: Where the tensor is made, and its type may be written.
            atoms: Tensors that have the type if nothing is written.
            own: Another generator than that of the text.

        Raises:
            LanguageError: It is not known whether it is drawn.
        """
        self._require_decided(span)
        found = self._torch if own is None else own
        found.is_double = self.dtypes.is_double(span, *atoms)
        if not found.is_seeded:
            self.scope.remark(UNSEEDED)
        return found

    def _require_decided(self, span: Span) -> None:
        if self.branches.forks:
            message = "whether this is drawn depends on the values of a tensor, and with it what is drawn behind it"
            raise self.source.error(message, span, hint="draw it before the branch")

    # -- what is called

    def named(self, path: str, arguments: nodes.Arguments, span: Span, behind: nodes.Trailer | None) -> Operand | None:
        """A call by its whole name; None of what neither draws nor seeds."""
        first, _, rest = path.partition(".")
        room, _, last = rest.rpartition(".")
        if any(one.name is not None and one.name.text == "seed" for one in arguments.items):
            return None  # a function of the language
        if first == "torch" and room in ("", "random", "cuda", "mps") and last in _SEEDS:
            return self._seeded(self._torch, arguments, span) if room in ("", "random") else self.objects.nothing(span)
        if path == "torch.Generator":
            return self.objects.new(Generator(OWN_SEED, is_seeded=True)), span
        if (first == "torch" and not room and last in _TORCH) or path in ("rand", "randn"):
            return self._by_torch(last or path, arguments, span)
        is_of_sizes = path in _EMPTY and not any(isinstance(one.value, nodes.Items) for one in arguments.items)
        if is_of_sizes and isinstance(behind, nodes.Member) and behind.name.text in FILLS:
            given = self._given(path, "*size", arguments)
            statics = (self._shape(given, "size", span),)
            return self.lowering.calls.made(ops.TABLE["zeros"], [], statics, span)
        if first in ("np", "numpy") and room == "random":
            return self._of_numpy(last, arguments, span)
        if first == "random" and path != first:
            return self._of_python(last, span)
        return None

    def _of_python(self, name: str, span: Span) -> Operand:
        """The module `random` of Python, whose seed alone is passed over."""
        if name == "seed":
            return self.objects.nothing(span)
        raise self.source.error("the numbers of Python's random are not drawn", span, hint="write torch.rand(1)")

    def member(self, value: Generator | OfNumpy, member: nodes.Member, span: Span) -> Operand:
        """A method of a generator.

        Raises:
            LanguageError: It is not read.
        """
        name, arguments = member.name.text, member.arguments
        if arguments is not None and isinstance(value, Generator) and name == "manual_seed":
            return self._seeded(value, arguments, span)
        if arguments is not None and isinstance(value, OfNumpy) and name == "seed":
            return self._seeded_numpy(value, arguments, span)
        if arguments is not None and isinstance(value, OfNumpy) and name in _NUMPY:
            return self._by_numpy(value, name, arguments, span)
        raise self.source.error(f"{value.shown} has no '.{name}' that is read", member.span)

    # -- seeds

    def _seeded(self, generator: Generator, arguments: nodes.Arguments, span: Span) -> Operand:
        """`torch.manual_seed(3)`, which gives the generator."""
        given = self._given("manual_seed", "seed", arguments)
        generator.seed(self.constants.integer(given["seed"][0].value) if "seed" in given else 0)
        generator.is_seeded = bool(given)
        return self.objects.new(generator), span

    def _seeded_numpy(self, found: OfNumpy, arguments: nodes.Arguments, span: Span) -> Operand:
        """`np.random.seed(3)`."""
        seed = self._seed(arguments, span)
        found.bits, found.is_seeded = np.random.RandomState(seed or 0), seed is not None
        return self.objects.nothing(span)

    def _seed(self, arguments: nodes.Arguments, span: Span) -> int | None:
        """A seed that NumPy takes; None where there is none."""
        given = self._given("the seed", "seed", arguments)
        node = given["seed"][0].value if "seed" in given else None
        if node is None or (isinstance(node, nodes.Word) and node.token.text == "None"):
            return None
        found = self.constants.integer(node)
        if not 0 <= found < 2**32:
            raise self.source.error(f"a seed of NumPy's is from 0 to {2**32 - 1:,}", span)
        return found

    # -- arguments

    def _given(self, shown: str, takes: str, arguments: nodes.Arguments) -> dict[str, list[nodes.Argument]]:
        """The arguments by their names, but for those that say how a tensor is held."""
        names, found = takes.split(), dict[str, list[nodes.Argument]]()
        for one in arguments.items:
            if not self.lowering.binder.ignored(one):
                waiting = [name for name in names if name not in found or name.startswith("*")]
                name = one.name.text if one.name is not None else next(iter(waiting), "").strip("*")
                if one.name is None and f"*{name}" in names:
                    found.setdefault(name, []).append(one)
                elif name in (*(known.strip("*") for known in names), "generator") and name not in found:
                    found[name] = [one]
                else:
                    where = one.value.span if one.name is None else one.name.span
                    message = f"{shown} has no argument '{name}'" if name else f"too many arguments for {shown}"
                    raise self.source.error(message, where, hint=f"it takes {', '.join(names)}")
            require_sound(one.fault)
        require_sound(arguments.unclosed)
        return found

    def _operands(self, given: Mapping[str, Sequence[nodes.Argument]], name: str) -> list[Operand] | None:
        """The values of an argument, those of a list each; None where there is none."""
        if name not in given:
            return None
        found: list[Operand] = []
        for one in given[name]:
            node = one.value.value if isinstance(one.value, nodes.Starred) else one.value
            atom, span = self.lowering.lower(node)
            value = self.objects.of(atom)
            if isinstance(value, Nothing):
                return None
            is_several = isinstance(value, Listed | Sizes)
            found += self.objects.parts(atom, span) if is_several else [(atom, span)]
        return found

    def _shape(self, given: Mapping[str, Sequence[nodes.Argument]], name: str, span: Span) -> Shape:
        """A shape; that of a number where there is none."""
        sizes = tuple(self.constants.whole(*one) for one in self._operands(given, name) or [])
        return self._fitting(sizes, span)

    def _fitting(self, shape: Shape, span: Span) -> Shape:
        """A shape whose numbers may be drawn.

        Raises:
            LanguageError: Sizes are negative, or too many numbers are drawn in all.
        """
        if any(size < 0 for size in shape):
            raise self.source.error("a size is a whole number from 0 on", span)
        self._elements += math.prod(shape)
        if self._elements > MAX_ELEMENTS:
            message = f"more than {MAX_ELEMENTS:,} random numbers are drawn in this text"
            raise self.source.error(message, span, kind=TooLargeError)
        return shape

    def _number(self, given: Mapping[str, Sequence[nodes.Argument]], name: str, default: float) -> float:
        return float(self.constants.number(given[name][0].value)) if name in given else default

    def _shape_of(self, atom: Atom, span: Span) -> Shape:
        """The shape of a tensor, which is one number until it is known."""
        return self._fitting(self.objects.shape(self.objects.tensor(atom, span)) or (), span)

    def _bounds(self, given: Mapping[str, Sequence[nodes.Argument]], names: str, span: Span) -> tuple[int, int]:
        """The lowest whole number that is drawn, and what all are below; one number alone is the latter."""
        numbers = [self.constants.integer(given[name][0].value) for name in names.split() if name in given]
        low, high = (0, *numbers) if len(numbers) == 1 else numbers or (0, 0)
        if not 0 < high - low <= LARGEST_RANGE:
            message = f"whole numbers are drawn below a bound, from at most {LARGEST_RANGE:,} of them"
            raise self.source.error(message, span)
        return low, high

    # -- torch

    def _by_torch(self, name: str, arguments: nodes.Arguments, span: Span) -> Operand:
        """`torch.randn(3)`."""
        given = self._given(f"torch.{name}", _TORCH[name], arguments)
        own = self._own(given)
        if "input" in given or (name == "normal" and "size" not in given):
            return self._by_tensors(name, given, span, own)
        if name == "randint" and "size" not in given and "high" in given:  # randint(high, size)
            given["size"] = given.pop("high")
        if name == "randperm":
            count = self.constants.integer(given["n"][0].value) if "n" in given else -1
            self._fitting((count,), span)
            if count > MOST_PERMUTED:
                message = f"a permutation of more than {MOST_PERMUTED:,} numbers is not drawn"
                raise self.source.error(message, span, kind=TooLargeError)
            return self._held(name, self.generator(span, own=own).permutation(count), span, is_whole=True)
        shape, generator = self._shape(given, "size", span), self.generator(span, own=own)
        match name:
            case "rand":
                found = generator.uniform(shape, 1.0, 0.0)
            case "randint":
                found = generator.whole(shape, *self._bounds(given, "low high", span))
            case "normal":
                found = generator.normal(shape, self._number(given, "mean", 0.0), self._deviation(given, span))
            case _:
                found = generator.normal(shape)
        return self._held(name, found, span, is_whole=name == "randint")

    def _own(self, given: Mapping[str, Sequence[nodes.Argument]]) -> Generator | None:
        """The generator that a call is given."""
        if "generator" not in given:
            return None
        atom, where = self.lowering.lower(given["generator"][0].value)
        found = self.objects.of(atom)
        if isinstance(found, Nothing):
            return None
        if not isinstance(found, Generator):
            raise self.source.error("a generator must stand here", where, hint="such as torch.Generator()")
        return found

    def _deviation(self, given: Mapping[str, Sequence[nodes.Argument]], span: Span) -> float:
        found = self._number(given, "std", 1.0)
        if not found >= 0:
            raise self.source.error("a standard deviation is a number from 0 on", span)
        return found

    def _by_tensors(
        self, name: str, given: Mapping[str, Sequence[nodes.Argument]], span: Span, own: Generator | None
    ) -> Operand:
        """As many numbers as a tensor has: `torch.randn_like(x)`, `torch.normal(mean, 1.0)`, `torch.bernoulli(p)`."""
        wanted = ("input",) if "input" in given else ("mean", "std")
        held = [
            self.lowering.lower(given[key][0].value) if key in given else (sympy.Integer(1), span) for key in wanted
        ]
        atoms = [self.lines.as_number(*operand) for operand in held]
        if all(isinstance(atom, sympy.Number) for atom in atoms):
            raise self.source.error(f"torch.{name} takes a tensor, or a size", span)
        self._require_in_order(atoms, span)
        shape = self._shape_of(atoms[0] if len(atoms) == 1 else self._joined("add", atoms, span), span)
        generator = self.generator(span, *atoms, own=own)
        if name == "randint_like":
            found = generator.whole(shape, *self._bounds(given, "low high", span))
            return self._held(name, found, span)
        if name in ("rand_like", "bernoulli"):
            drawn = self._held(name, generator.uniform(shape, 1.0, 0.0), span)
        else:
            drawn = self._held(name, generator.normal(shape), span)
        match name, atoms:
            case "bernoulli", [p]:
                return self.lines.as_number(self._joined("lt", [drawn[0], p], span), span), span
            case "normal", [mean, std]:
                mean, std = (self._joined("detach", [atom], span) for atom in (mean, std))
                return self._joined("add", [self._joined("mul", [drawn[0], std], span), mean], span), span
        return drawn

    def _joined(self, op: str, atoms: list[Atom], span: Span) -> Atom:
        return self.lines.emit(op, atoms, span)[0]

    def _require_in_order(self, atoms: list[Atom], span: Span) -> None:
        """Refuse a transposed tensor, whose numbers torch draws in the order of its memory.

        Raises:
            LanguageError: It may be one.
        """
        waiting = [*atoms]
        while waiting:
            line = self.lines.builder.line_of(waiting.pop())
            if line is None or line.call.op.kind not in (Kind.ELEMENTWISE, Kind.MOVEMENT):
                continue
            if line.call.op.name in ("transpose", "permute", "expand"):
                message = "the numbers of a transposed tensor are drawn in another order"
                raise self.source.error(message, span, hint="write torch.randn(x.shape)")
            waiting += line.call.operands

    def filled(self, operand: Operand, member: nodes.Member) -> Callable[[Shape], Array]:
        """What `.uniform_(a, b)` draws for a tensor of some shape."""
        name, span = member.name.text, operand[1].to(member.span)
        given = self._given(name, FILLS[name], member.arguments) if member.arguments is not None else {}
        own = self._own(given)

        def fill(shape: Shape) -> Array:
            self._fitting(shape, span)
            generator = self.generator(span, operand[0], own=own)
            match name:
                case "uniform_":
                    return generator.uniform(shape, self._number(given, "to", 1.0), self._number(given, "from", 0.0))
                case "normal_":
                    return generator.normal(shape, self._number(given, "mean", 0.0), self._deviation(given, span))
            return generator.whole(shape, *self._bounds(given, "from to", span))

        return fill

    def fresh(self, operand: Operand, member: nodes.Member) -> Operand | None:
        """`torch.empty(3).uniform_()`, of a constant tensor that has no name; None of others."""
        line = self.lines.builder.line_of(operand[0])
        before = self.source.tokens[self.source.position(member.dot.span.start) - 1]
        if line is None or line.call.op.kind is not Kind.SOURCE or before.text != ")":
            return None
        fill = self.filled(operand, member)
        return self._held(member.name.text, fill(self._shape_of(*operand)), operand[1].to(member.span))

    def _held(self, shown: str, found: Array, span: Span, *, is_whole: bool = False) -> Operand:
        """What was drawn, as a constant tensor."""
        self._count += 1
        numbers = Numbers(found.tobytes(), f"{shown} {self._count}", is_whole)
        operand = self.lines.builder.emit("drawn", (), span, (found.shape, numbers)), span
        self.lines.hooks.made(ops.ROWS["drawn"], [], operand)
        return operand

    # -- NumPy

    def _of_numpy(self, name: str, arguments: nodes.Arguments, span: Span) -> Operand | None:
        """What stands behind `np.random`."""
        if name == "seed":
            return self._seeded_numpy(self._numpy, arguments, span)
        if name in ("RandomState", "default_rng"):
            seed = self._seed(arguments, span)
            make = np.random.RandomState if name == "RandomState" else np.random.default_rng
            return self.objects.new(OfNumpy(make(seed or 0), is_seeded=seed is not None)), span
        if name not in _NUMPY:
            raise self._unread(name, span)
        return self._by_numpy(self._numpy, name, arguments, span)

    def _unread(self, name: str, span: Span) -> GradcliError:
        return self.source.error(f"np.random's {name} is not drawn", span, hint=f"read are {', '.join(_NUMPY)}")

    def _by_numpy(self, generator: OfNumpy, name: str, arguments: nodes.Arguments, span: Span) -> Operand:
        """A method of NumPy's, which draws it itself."""
        given = self._given(name, _NUMPY[name], arguments)
        draw = getattr(generator.bits, name, None)
        if draw is None:
            raise self._unread(name, span)
        self._require_decided(span)
        if not generator.is_seeded:
            self.scope.remark(_UNSEEDED)
        values: dict[str, Any] = {key: self._plain(given[key][0].value) for key in given if key != "size"}
        if name == "permutation":
            self._fitting((int(values.get("x", -1)),), span)
        size = self._shape(given, "size", span) if "size" in given else None
        sizes = size or () if name in ("rand", "randn") else ()
        if size is not None and name not in ("rand", "randn"):
            values["size"] = size
        try:
            found = np.asarray(draw(*sizes, **values))
        except (ValueError, TypeError) as error:
            raise self.source.error(f"NumPy does not draw this: {error}", span) from None
        operand = self._held(name, found.astype(np.float64), span, is_whole=found.dtype.kind in "iu")
        self.dtypes.named("numpy")
        return operand

    def _plain(self, node: nodes.Node) -> int | float:
        """A number, as an integer where it is one."""
        found = self.constants.number(node)
        return int(found) if math.isfinite(found) and found == int(found) else found
