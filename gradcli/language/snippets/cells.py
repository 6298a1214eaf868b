"""Cells of recurrent networks, layers of them, and attention of several heads: what they draw and compute, as text.

They take several tensors and give several, so that no row of the op table is what they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradcli.language.lower.scope import Array
from gradcli.language.program.wengert import Shape, show
from gradcli.language.snippets.generators import Generator
from gradcli.language.snippets.layers import Made

_SUMS = {"RNN": 1, "GRU": 3, "LSTM": 4}
"""How many sums of the inputs each cell has for each of its numbers."""

_STATES = {"RNN": ("hx",), "GRU": ("hx",), "LSTM": ("hx", "cx")}
"""What each cell hands to its next step."""


@dataclass(frozen=True)
class Cell:
    """What a cell is.

    Attributes:
        parameters: By their names, in torch's order.
        takes: What it takes, in order; what is not given is left out.
        gives: How many tensors it gives.
        write: A text for each of them, by the names that are given and their shapes.
        states: What it is handed back, in a tuple if there are several: zeros where it is not given.
        shape_of: The shape of each state, by that of the input.
        is_nested: Whether all that it gives but the first are a tuple.
    """

    parameters: dict[str, Array]
    takes: tuple[str, ...]
    gives: int
    write: Callable[[Mapping[str, Shape]], Sequence[str]]
    states: tuple[str, ...] = ()
    shape_of: Callable[[Shape], Shape] = lambda shape: shape
    is_nested: bool = False


def _step(kind: str, names: Sequence[str], biases: Sequence[str], size: int, nonlinearity: str) -> Sequence[str]:
    """The next states of a cell as text.

    Args:
        kind: Of the cell.
        names: Of the input, the weights of the input and of the state, and the states.
        biases: Those of the input and of the state, if there are any.
        size: Of a state.
        nonlinearity: Of a cell that has one of several.
    """
    x, weight, own, h = names[:4]
    a = f"linear({', '.join((x, weight, *biases[:1]))})"
    b = f"linear({', '.join((h, own, *biases[1:]))})"
    gates = [f"[..., {n * size}:{(n + 1) * size}]" for n in range(_SUMS[kind])]
    if kind == "RNN":
        return [f"{nonlinearity}({a} + {b})"]
    if kind == "GRU":
        r, z, n = gates
        new, kept = f"tanh({a}{n} + sigmoid({a}{r} + {b}{r})*{b}{n})", f"sigmoid({a}{z} + {b}{z})"
        return [f"{new} + {kept}*({h} - {new})"]
    i, f, g, o = (f"({a} + {b}){gate}" for gate in gates)
    c = f"(sigmoid({f})*{names[4]} + sigmoid({i})*tanh({g}))"
    return [f"sigmoid({o})*tanh{c}", c]


def _weights(made: Made, inside: int, size: int, sums: int) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {"weight_ih": (sums * size, inside), "weight_hh": (sums * size, size)}
    if made.flag("bias", default=True):
        shapes |= {"bias_ih": (sums * size,), "bias_hh": (sums * size,)}
    return shapes


def recurrent(made: Made, generator: Generator) -> Cell:
    """`nn.GRUCell(10, 20)`; its gates are in the order of torch."""
    kind = made.kind.removesuffix("Cell")
    inside, size = made.size("input_size"), made.size("hidden_size")
    bound = 1 / math.sqrt(size) if size else 0.0
    shapes = _weights(made, inside, size, _SUMS[kind])
    parameters = {name: generator.uniform(made.shape(*shape), bound) for name, shape in shapes.items()}
    function = made.word("nonlinearity", "tanh")
    made.without("nonlinearity", "tanh", "relu")

    def write(given: Mapping[str, Shape]) -> Sequence[str]:
        biases = ("bias_ih", "bias_hh") if "bias_ih" in given else ()
        return _step(kind, ("input", "weight_ih", "weight_hh", *_STATES[kind]), biases, size, function)

    states = _STATES[kind]
    return Cell(parameters, ("input", "hx"), len(states), write, states, lambda shape: (*shape[:-1], size))


def layers(made: Made, generator: Generator) -> Cell:
    """`nn.LSTM(10, 20, num_layers=2)`: the steps of its cells are written out, one layer after the other."""
    if made.number("dropout", 0.0):
        raise made.refused("dropout is random in training, and is not read here")
    made.without("proj_size", "0")
    made.without("nonlinearity", "tanh", "relu")
    kind, size, count = made.kind, made.size("hidden_size"), made.size("num_layers", 1)
    function, is_first = made.word("nonlinearity", "tanh"), made.flag("batch_first", default=False)
    ways = ("", "_reverse") if made.flag("bidirectional", default=False) else ("",)
    bound = 1 / math.sqrt(size) if size else 0.0
    places = [f"_l{n}{way}" for n in range(count) for way in ways]
    parameters: dict[str, Array] = {}
    for n, place in enumerate(places):
        inside = made.size("input_size") if n < len(ways) else size * len(ways)
        shapes = _weights(made, inside, size, _SUMS[kind])
        parameters |= {f"{name}{place}": generator.uniform(made.shape(*s), bound) for name, s in shapes.items()}
    states = _STATES[kind]

    def write(given: Mapping[str, Shape]) -> Sequence[str]:
        rank = len(given["input"])
        if rank not in (2, 3) or 0 in given["input"]:
            raise made.refused(
                f"nn.{kind} takes a sequence of two or three dimensions, and this is {show(given['input'])}"
            )
        along = 1 if is_first and rank == 3 else 0
        inputs = [f"input[{':, ' * along}{t}]" for t in range(given["input"][along])]
        written: list[str] = []
        last: dict[str, list[str]] = {state: [] for state in states}
        for layer in range(count):
            found: list[list[str]] = []
            for way, place in enumerate(places[layer * len(ways) : (layer + 1) * len(ways)]):
                weights = f"weight_ih{place}", f"weight_hh{place}"
                biases = (f"bias_ih{place}", f"bias_hh{place}") if f"bias_ih{place}" in given else ()
                held = [f"{state}[{layer * len(ways) + way}]" for state in states]
                steps: list[str] = []
                for t, x in enumerate(inputs[::-1] if way else inputs):
                    texts = _step(kind, (x, *weights, *held), biases, size, function)
                    held = [f"{state}{place}_{t}" for state in states]
                    written += [f"{name} = {text}; " for name, text in zip(held, texts, strict=True)]
                    steps.append(held[0])
                found.append(steps[::-1] if way else steps)
                for state, name in zip(states, held, strict=True):
                    last[state].append(name)
            inputs = [
                f"cat([{', '.join(both)}], -1)" if len(both) > 1 else both[0] for both in zip(*found, strict=True)
            ]
        head = "".join(written)
        ends = [f"{head}stack([{', '.join(last[state])}], 0)" for state in states]
        return [f"{head}stack([{', '.join(inputs)}], {along})", *ends]

    def shape_of(shape: Shape) -> Shape:
        batch = shape[0 if is_first else 1 : 1 if is_first else 2] if len(shape) == 3 else ()
        return (len(places), *batch, size)

    is_nested = len(states) > 1
    return Cell(parameters, ("input", "hx"), 1 + len(states), write, states, shape_of, is_nested)


def attention(made: Made, generator: Generator) -> Cell:
    """`nn.MultiheadAttention(8, 2)`; what it gives are the output, and the weights in the mean of the heads."""
    for name in ("add_bias_kv", "add_zero_attn"):
        made.without(name, "False")
    for name in ("kdim", "vdim"):
        made.without(name)
    size, heads = made.size("embed_dim"), made.size("num_heads")
    if heads < 1 or size % heads:
        raise made.refused(f"{size} features are not parted among {heads} heads")
    if made.number("dropout", 0.0):
        raise made.refused("dropout is random in training, and is not read here")
    weight = generator.uniform(made.shape(size, size), math.sqrt(3.0) * (math.sqrt(2.0 / 6.0) / math.sqrt(size)))
    has_bias, is_first = made.flag("bias", default=True), made.flag("batch_first", default=False)
    if has_bias:
        generator.uniform((size,), 1 / math.sqrt(size))  # drawn, and put to 0 after that
    bound = math.sqrt(3.0) * math.sqrt(2.0 / (size + 3 * size))
    parameters = {"in_proj_weight": generator.uniform(made.shape(3 * size, size), bound)}
    parameters |= {"in_proj_bias": np.zeros(3 * size)} if has_bias else {}
    parameters |= {"out_proj.weight": weight} | ({"out_proj.bias": np.zeros(size)} if has_bias else {})

    def write(given: Mapping[str, Shape]) -> Sequence[str]:
        turned = len(given["query"]) == 3 and not is_first
        texts = []
        for n, name in enumerate(("query", "key", "value")):
            part = f"[{n * size}:{(n + 1) * size}]"
            text = f"linear({name}, in_proj_weight{part}" + (f", in_proj_bias{part})" if has_bias else ")")
            text = f"transpose({text}, 0, 1)" if turned else text
            *lead, length, _ = _turned(given[name], turned=turned)
            parted = f"reshape({text}, {(*lead, length, heads, size // heads)})"
            texts.append(f"{name[0]} = transpose({parted}, -3, -2); ")
        scores = f"q @ transpose(k, -2, -1)/sqrt({size // heads})" + (" + attn_mask" if "attn_mask" in given else "")
        head = "".join(texts) + f"w = softmax({scores}, -1); "
        text = f"reshape(transpose(w @ v, -3, -2), {_turned(given['query'], turned=turned)})"
        text = f"transpose({text}, 0, 1)" if turned else text
        text = f"linear({text}, out_weight" + (", out_bias)" if has_bias else ")")
        return [head + text, f"{head}mean(w, -3)"]

    return Cell(parameters, ("query", "key", "value", "key_padding_mask", "need_weights", "attn_mask"), 2, write)


def _turned(shape: Shape, *, turned: bool) -> Shape:
    """A shape with the samples first."""
    return (shape[1], shape[0], *shape[2:]) if turned else shape


_OF_LAYERS = "bias batch_first dropout bidirectional"

CELLS: Mapping[str, tuple[str, Callable[[Made, Generator], Cell]]] = {
    "RNNCell": ("input_size hidden_size bias nonlinearity", recurrent),
    "GRUCell": ("input_size hidden_size bias", recurrent),
    "LSTMCell": ("input_size hidden_size bias", recurrent),
    "RNN": (f"input_size hidden_size num_layers nonlinearity {_OF_LAYERS}", layers),
    "GRU": (f"input_size hidden_size num_layers {_OF_LAYERS}", layers),
    "LSTM": (f"input_size hidden_size num_layers {_OF_LAYERS} proj_size", layers),
    "MultiheadAttention": (
        "embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim batch_first",
        attention,
    ),
}
"""The arguments of each, and what it is."""
