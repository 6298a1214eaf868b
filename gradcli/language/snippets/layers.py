"""The layers of torch.nn that have parameters: what they are made with, what torch draws for them, what they compute.

    nn.Conv2d(1, 6, 5, padding=2)     weight (6, 1, 5, 5), bias (6,); conv2d(x, weight, bias, padding=2)

A layer hands the arguments of its function on as they are written; its parameters and buffers follow by their names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gradcli.errors import GradcliError, Span
from gradcli.language.lower.constants import Constants
from gradcli.language.lower.scope import Array, Listed, Text
from gradcli.language.program.wengert import MAX_ELEMENTS, Shape
from gradcli.language.snippets.generators import Generator
from gradcli.language.text import nodes
from gradcli.language.text.tokens import Token


class Made:
    """What a layer is made with.

    Attributes:
        given: The arguments by the names of torch.
    """

    def __init__(
        self, constants: Constants, kind: str, names: tuple[str, ...], arguments: nodes.Arguments, span: Span
    ) -> None:
        self.constants, self.kind, self.span = constants, kind, span
        self.source, self.scope = constants.source, constants.scope
        self.given: dict[str, nodes.Argument] = {}
        for place, one in enumerate(arguments.items):
            name = one.name.text if one.name is not None else names[place] if place < len(names) else ""
            if name in self.given or (name not in names and name not in _HELD):
                where = one.value.span if one.name is None else one.name.span
                message = f"nn.{kind} has no argument '{name}'" if name else f"too many arguments for nn.{kind}"
                raise self.source.error(message, where, hint=f"it takes {', '.join(names)}")
            self.given[name] = one

    def refused(self, message: str) -> GradcliError:
        """An error at the layer."""
        return self.source.error(message, self.span)

    def _node(self, name: str) -> nodes.Node | None:
        """An argument that is there, and not None."""
        node = self.given[name].value if name in self.given else None
        return None if isinstance(node, nodes.Word) and node.token.text == "None" else node

    def has(self, name: str) -> bool:
        """Whether an argument is given that is not None."""
        return self._node(name) is not None

    def size(self, name: str, default: int | None = None) -> int:
        """A whole number, such as the number of features.

        Raises:
            LanguageError: It is missing, or negative.
        """
        node = self._node(name)
        if node is None and default is None:
            raise self.refused(f"nn.{self.kind} needs the argument '{name}'")
        found = default if node is None else self.constants.integer(node)
        if found is None or found < 0:
            raise self.refused(f"nn.{self.kind} takes a {name} from 0 on")
        return found

    def whole(self, name: str, default: int) -> int:
        """A whole number of any sign."""
        node = self._node(name)
        return default if node is None else self.constants.integer(node)

    def sizes(self, name: str, count: int | None = None) -> Shape:
        """Several whole numbers, or one that stands for as many."""
        node = self._node(name)
        if node is None:
            raise self.refused(f"nn.{self.kind} needs the argument '{name}'")
        held = self.scope.object_of(node)
        if isinstance(held, Listed):
            found = tuple(self.constants.whole(*one) for one in held.items)
        elif isinstance(node, nodes.Items | nodes.Group):
            found = self.constants.integers(node)
        else:
            found = (self.constants.integer(node),) * (count or 1)
        if any(size < 0 for size in found) or (count is not None and len(found) != count):
            raise self.refused(f"nn.{self.kind} takes a {name} of {count or 'some'} numbers")
        return found

    def flag(self, name: str, *, default: bool) -> bool:
        """True or False."""
        node = self._node(name)
        if node is None:
            return default
        found = self.constants.truth(node)
        if found is None:
            raise self.source.error(f"nn.{self.kind} takes True or False for {name}", node.span)
        return found

    def number(self, name: str, default: float) -> float:
        """A number."""
        node = self._node(name)
        return default if node is None else float(self.constants.number(node))

    def word(self, name: str, default: str) -> str:
        """A word in quotes."""
        node = self._node(name)
        held = None if node is None else self.scope.object_of(node)
        if isinstance(held, Text):
            return held.text
        return node.token.text if isinstance(node, nodes.Word) else default

    def shape(self, *sizes: int) -> Shape:
        """The shape of a parameter.

        Raises:
            LanguageError: It has too many elements.
        """
        if math.prod(sizes) > MAX_ELEMENTS:
            raise self.refused(f"a layer of {math.prod(sizes):,} parameters is not read")
        return sizes

    def handed(self, *names: str) -> tuple[nodes.Argument, ...]:
        """Arguments of the layer's function, by their names."""
        chosen = [(name, self.given[name]) for name in names if name in self.given]
        return tuple(replace(one, name=Token("name", name, one.value.span)) for name, one in chosen)

    def without(self, name: str, *values: str) -> None:
        """Refuse what is not read of an argument: all but these words."""
        node = self._node(name)
        if node is not None and self.word(name, self.source.excerpt(node.span)) not in values:
            raise self.source.error(f"nn.{self.kind} with {name} is not read", self.given[name].value.span)


_HELD = frozenset(["dtype", "device"])
"""What says how parameters are held."""


@dataclass(frozen=True)
class Drawn:
    """What a layer has.

    Attributes:
        parameters: By their names, in torch's order.
        handed: Arguments of its function that are those of the layer.
        buffers: Numbers that it keeps, by which nothing is differentiated.
        by_batch: What says to its function that a batch is taken by its own mean, as in training.
        always: Whether that is so after training, too.
    """

    parameters: dict[str, Array]
    handed: tuple[nodes.Argument, ...] = ()
    buffers: dict[str, Array] | None = None
    by_batch: str = ""
    always: bool = False


def _uniform(generator: Generator, shape: Shape, inside: int) -> Array:
    """As `kaiming_uniform_` with a = sqrt(5), for a layer of so many inputs to each number."""
    bound = math.sqrt(3.0) * (math.sqrt(2.0 / 6.0) / math.sqrt(inside)) if inside else 0.0
    return generator.uniform(shape, bound)


def _bias(generator: Generator, size: int, inside: int) -> Array:
    return generator.uniform((size,), 1 / math.sqrt(inside) if inside else 0.0)


def _linear(made: Made, generator: Generator) -> Drawn:
    inside, outside = made.size("in_features"), made.size("out_features")
    parameters = {"weight": _uniform(generator, made.shape(outside, inside), inside)}
    if made.flag("bias", default=True):
        parameters["bias"] = _bias(generator, outside, inside)
    return Drawn(parameters)


def _bilinear(made: Made, generator: Generator) -> Drawn:
    first, second, outside = (made.size(name) for name in ("in1_features", "in2_features", "out_features"))
    bound = 1 / math.sqrt(first) if first else 0.0
    parameters = {"weight": generator.uniform(made.shape(outside, first, second), bound)}
    if made.flag("bias", default=True):
        parameters["bias"] = generator.uniform((outside,), bound)
    return Drawn(parameters)


def _convolution(count: int, *, is_transposed: bool) -> Callable[[Made, Generator], Drawn]:
    def draw(made: Made, generator: Generator) -> Drawn:
        made.without("padding_mode", "zeros")
        inside, outside = made.size("in_channels"), made.size("out_channels")
        kernel, groups = made.sizes("kernel_size", count), made.size("groups", 1)
        if groups < 1 or inside % groups or outside % groups:
            raise made.refused(f"{inside} and {outside} channels are not parted in {groups} groups")
        first, second = (inside, outside // groups) if is_transposed else (outside, inside // groups)
        shape = made.shape(first, second, *kernel)
        parameters = {"weight": _uniform(generator, shape, math.prod(shape[1:]))}
        if made.flag("bias", default=True):
            parameters["bias"] = _bias(generator, outside, math.prod(shape[1:]))
        more = ("output_padding",) if is_transposed else ()
        return Drawn(parameters, made.handed("stride", "padding", *more, "groups", "dilation"))

    return draw


def _embedding(made: Made, generator: Generator) -> Drawn:
    for name in ("max_norm", "scale_grad_by_freq", "sparse", "_weight"):
        made.without(name, "False")
    rows, size = made.size("num_embeddings"), made.size("embedding_dim")
    weight = generator.normal(made.shape(rows, size))
    if made.has("padding_idx"):
        place = made.constants.integer(made.given["padding_idx"].value)
        if not -rows <= place < rows:
            raise made.refused(f"nn.Embedding takes a padding_idx from {-rows} to {rows - 1}")
        weight[place] = 0
    return Drawn({"weight": weight}, made.handed("padding_idx"))


def _prelu(made: Made, _: Generator) -> Drawn:
    return Drawn({"weight": np.full(made.shape(made.size("num_parameters", 1)), made.number("init", 0.25))})


def _affine(made: Made, shape: Shape, flag: str, *, default: bool = True) -> dict[str, Array]:
    """A weight of ones and a bias of zeros, if there are any."""
    if not made.flag(flag, default=default):
        return {}
    parameters = {"weight": np.ones(made.shape(*shape))}
    return parameters | ({"bias": np.zeros(shape)} if made.flag("bias", default=True) else {})


def _layer_norm(made: Made, _: Generator) -> Drawn:
    shape = made.sizes("normalized_shape")
    return Drawn(_affine(made, shape, "elementwise_affine"), made.handed("normalized_shape", "eps"))


def _rms_norm(made: Made, _: Generator) -> Drawn:
    shape = made.sizes("normalized_shape")
    affine = _affine(made, shape, "elementwise_affine")
    return Drawn({name: affine[name] for name in affine if name == "weight"}, made.handed("normalized_shape", "eps"))


def _group_norm(made: Made, _: Generator) -> Drawn:
    return Drawn(_affine(made, (made.size("num_channels"),), "affine"), made.handed("num_groups", "eps"))


def _tracked(by_batch: str, *, default: bool) -> Callable[[Made, Generator], Drawn]:
    def draw(made: Made, _: Generator) -> Drawn:
        size = made.size("num_features")
        parameters = _affine(made, (size,), "affine", default=default)
        is_tracked = made.flag("track_running_stats", default=default)
        buffers = {"running_mean": np.zeros(size), "running_var": np.ones(size)} if is_tracked else None
        return Drawn(parameters, made.handed("eps"), buffers, by_batch, not is_tracked)

    return draw


@dataclass(frozen=True)
class Layer:
    """A kind of layer.

    Attributes:
        names: Its arguments in torch's order.
        function: What it computes.
        draw: Its parameters.
    """

    names: tuple[str, ...]
    function: str
    draw: Callable[[Made, Generator], Drawn]


def _of(names: str, function: str, draw: Callable[[Made, Generator], Drawn]) -> Layer:
    return Layer(tuple(names.split()), function, draw)


_KERNEL = "in_channels out_channels kernel_size stride padding"
_TRACKS = "num_features eps momentum affine track_running_stats"

LAYERS: Mapping[str, Layer] = {
    "Linear": _of("in_features out_features bias", "linear", _linear),
    "Bilinear": _of("in1_features in2_features out_features bias", "bilinear", _bilinear),
    **{
        f"Conv{n}d": _of(
            f"{_KERNEL} dilation groups bias padding_mode", f"conv{n}d", _convolution(n, is_transposed=False)
        )
        for n in (1, 2, 3)
    },
    **{
        f"ConvTranspose{n}d": _of(
            f"{_KERNEL} output_padding groups bias dilation padding_mode",
            f"conv_transpose{n}d",
            _convolution(n, is_transposed=True),
        )
        for n in (1, 2, 3)
    },
    "Embedding": _of(
        "num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse _weight",
        "embedding",
        _embedding,
    ),
    "PReLU": _of("num_parameters init", "prelu", _prelu),
    "LayerNorm": _of("normalized_shape eps elementwise_affine bias", "layer_norm", _layer_norm),
    "RMSNorm": _of("normalized_shape eps elementwise_affine", "rms_norm", _rms_norm),
    "GroupNorm": _of("num_groups num_channels eps affine", "group_norm", _group_norm),
    **{f"BatchNorm{n}d": _of(_TRACKS, "batch_norm", _tracked("training", default=True)) for n in (1, 2, 3)},
    **{
        f"InstanceNorm{n}d": _of(_TRACKS, "instance_norm", _tracked("use_input_stats", default=False))
        for n in (1, 2, 3)
    },
}
"""The kinds that are read, beside those that are made of others."""
