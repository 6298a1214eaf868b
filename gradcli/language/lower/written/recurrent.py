"""Cells of recurrent networks, one step each, and a layer before its loss, as torch has them.

A gate is a part of what both layers of a cell give, which lie in blocks along the last dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gradcli.errors import GradcliError
from gradcli.language.lower.written.given import Given, Text
from gradcli.language.program.wengert import show

_SUMMED = {"rnn_tanh_cell": "tanh", "rnn_relu_cell": "relu"}
"""What a plain cell takes of the sum of both layers."""


def _layers(g: Given, state: str, blocks: int) -> tuple[str, str]:
    """What the layers of the input and of the state give, whose weights have so many blocks of the state's size."""
    size = (g.shape(state) or (1,))[-1]
    wanted = ((blocks * size, (g.shape("input") or (1,))[-1]), (blocks * size, size))
    for name, shape in zip(("w_ih", "w_hh"), wanted, strict=True):
        if g.shape(name) != shape:
            raise _misfit(g, name, shape)
    first, second = ("input @ transpose(w_ih)", f"{state} @ transpose(w_hh)")
    return first + " + b_ih" * g.has("b_ih"), second + " + b_hh" * g.has("b_hh")


def _misfit(g: Given, name: str, wanted: tuple[int, ...]) -> GradcliError:
    return g.refuse(f"{g.op.name} needs {name} of shape {show(wanted)}, and it has {show(g.shape(name))}", None)


def _plain(g: Given) -> Text:
    first, second = _layers(g, "hx", 1)
    return f"{_SUMMED[g.op.name]}({first} + {second})"


def _block(x: str, n: int, size: int) -> str:
    return f"{x}[..., {n * size}:{(n + 1) * size}]"


def _gru(g: Given) -> Text:
    size = (g.shape("hx") or (1,))[-1]
    first, second = _layers(g, "hx", 3)
    reset, update = (f"sigmoid({_block('i', n, size)} + {_block('h', n, size)})" for n in (0, 1))
    new = f"tanh({_block('i', 2, size)} + {reset}*{_block('h', 2, size)})"
    return f"i = {first}; h = {second}; n = {new}; n + {update}*(hx - n)"


def _lstm(g: Given) -> Text:
    if len([name for name in g.names if name in ("x0", "x1")]) != 2:
        raise g.refuse("lstm_cell takes its state as two tensors", "write lstm_cell(x, [h, c], w_ih, w_hh)")
    size = (g.shape("x0") or (1,))[-1]
    gates = f"g = {' + '.join(_layers(g, 'x0', 4))}"
    taken, kept, shown = (f"sigmoid({_block('g', n, size)})" for n in (0, 1, 3))
    cell = f"c = {kept}*x1 + {taken}*tanh({_block('g', 2, size)})"
    return [f"{gates}; {shown}*tanh({kept}*x1 + {taken}*tanh({_block('g', 2, size)}))", f"{gates}; {cell}; 1*c"]


def _linear_cross_entropy(g: Given) -> Text:
    options = "".join(f", {name}={g[name]!r}" for name in ("ignore_index", "label_smoothing", "reduction"))
    weight = ", weight" if g.has("weight") else ""
    bias = " + linear_bias" if g.has("linear_bias") else ""
    return f"cross_entropy(input @ transpose(linear_weight){bias}, target{weight}{options})"


RULES: Mapping[str, Callable[[Given], Text]] = {
    "rnn_tanh_cell": _plain,
    "rnn_relu_cell": _plain,
    "gru_cell": _gru,
    "lstm_cell": _lstm,
    "linear_cross_entropy": _linear_cross_entropy,
}
