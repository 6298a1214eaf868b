"""Cells of recurrent networks, and attention of several heads: what they draw, and what they compute as text.

They take several tensors and give several, so that no row of the op table is what they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradcli.language.lower.scope import Array
from gradcli.language.program.wengert import Shape
from gradcli.language.snippets.layers import Generator, Made

_SUMS = {
    "RNNCell": 1,
    "GRUCell": 3,
    "LSTMCell": 4,
}
"""How many sums of the inputs each cell has for each of its numbers."""


@dataclass(frozen=True)
class Cell:
    """What a cell is.

    Attributes:
        parameters: By their names, in torch's order.
        takes: What it takes, in order; what is not given is left out.
        gives: How many tensors it gives.
        write: A text for each of them, by the names that are given and their shapes.
        states: What it is handed back, in a tuple if there are several: zeros of this size where it is not given.
        size: Of each state.
    """

    parameters: dict[str, Array]
    takes: tuple[str, ...]
    gives: int
    write: Callable[[Mapping[str, Shape]], Sequence[str]]
    states: tuple[str, ...] = ()
    size: int = 0


def recurrent(made: Made, generator: Generator) -> Cell:
    """`nn.GRUCell(10, 20)`; its gates are in the order of torch."""
    inside, size, sums = made.size("input_size"), made.size("hidden_size"), _SUMS[made.kind]
    bound = 1 / math.sqrt(size) if size else 0.0
    shapes: dict[str, Shape] = {"weight_ih": (sums * size, inside), "weight_hh": (sums * size, size)}
    if made.flag("bias", default=True):
        shapes |= {"bias_ih": (sums * size,), "bias_hh": (sums * size,)}
    parameters = {name: generator.uniform(made.shape(*shape), bound) for name, shape in shapes.items()}
    function = made.word("nonlinearity", "tanh")
    made.without("nonlinearity", "tanh", "relu")

    def write(given: Mapping[str, Shape]) -> Sequence[str]:
        biases = (", bias_ih", ", bias_hh") if "bias_ih" in given else ("", "")
        head = f"a = linear(input, weight_ih{biases[0]}); b = linear(hx, weight_hh{biases[1]}); "
        gates = [f"[..., {n * size}:{(n + 1) * size}]" for n in range(sums)]
        if made.kind == "RNNCell":
            return [f"{head}{function}(a + b)"]
        if made.kind == "GRUCell":
            r, z, n = gates
            head += f"r = sigmoid(a{r} + b{r}); z = sigmoid(a{z} + b{z}); n = tanh(a{n} + r*b{n}); "
            return [f"{head}n + z*(hx - n)"]
        i, f, g, o = (f"(a + b){gate}" for gate in gates)
        c = f"sigmoid({f})*cx + sigmoid({i})*tanh({g})"
        return [f"{head}sigmoid({o})*tanh({c})", f"{head}{c}"]

    states = ("hx", "cx") if made.kind == "LSTMCell" else ("hx",)
    return Cell(parameters, ("input", "hx"), len(states), write, states, size)


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


CELLS: Mapping[str, tuple[str, Callable[[Made, Generator], Cell]]] = {
    "RNNCell": ("input_size hidden_size bias nonlinearity", recurrent),
    "GRUCell": ("input_size hidden_size bias", recurrent),
    "LSTMCell": ("input_size hidden_size bias", recurrent),
    "MultiheadAttention": (
        "embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim batch_first",
        attention,
    ),
}
"""The arguments of each, and what it is."""
