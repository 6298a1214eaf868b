"""The first values that `torch.nn.init` gives to parameters.

Source: K. He, X. Zhang, S. Ren, J. Sun, "Delving deep into rectifiers", 2015; X. Glorot, Y. Bengio, "Understanding the
difficulty of training deep feedforward neural networks", 2010; in the spelling and with the defaults of torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from gradcli.language.lower.scope import Array
from gradcli.language.program.wengert import Shape
from gradcli.language.snippets.generators import Generator
from gradcli.language.snippets.layers import Made

Fill = Callable[[Made, Generator, Shape], Array]

_GAINS = {"relu": math.sqrt(2.0), "tanh": 5.0 / 3.0, "selu": 0.75}
"""By how much each function shrinks what it is given; others not at all."""


def _fans(made: Made, shape: Shape) -> tuple[int, int]:
    """Inputs and outputs of each number."""
    if len(shape) < 2:
        raise made.refused(f"nn.{made.kind} takes a tensor of two dimensions at least")
    return shape[1] * math.prod(shape[2:]), shape[0] * math.prod(shape[2:])


def _glorot(made: Made, shape: Shape) -> float:
    return made.number("gain", 1.0) * math.sqrt(2.0 / sum(_fans(made, shape)))


def _he(made: Made, shape: Shape) -> float:
    kind = made.word("nonlinearity", "leaky_relu")
    leaky = math.sqrt(2.0 / (1 + made.number("a", 0.0) ** 2))
    fan = _fans(made, shape)[made.word("mode", "fan_in") == "fan_out"]
    return (leaky if kind == "leaky_relu" else _GAINS.get(kind, 1.0)) / math.sqrt(fan)


def _constant(made: Made, _: Generator, shape: Shape) -> Array:
    return np.full(shape, made.number("val", 0.0))


def _between(made: Made, generator: Generator, shape: Shape) -> Array:
    return generator.uniform(shape, made.number("b", 1.0), made.number("a", 0.0))


def _around(made: Made, generator: Generator, shape: Shape) -> Array:
    return generator.normal(shape, made.number("mean", 0.0), made.number("std", 1.0))


def _identity(made: Made, _: Generator, shape: Shape) -> Array:
    if len(shape) != 2:
        raise made.refused("nn.init.eye_ takes a matrix")
    return np.eye(*shape)


def _uniform(deviation: Callable[[Made, Shape], float]) -> Fill:
    return lambda made, generator, shape: generator.uniform(shape, math.sqrt(3.0) * deviation(made, shape))


def _normal(deviation: Callable[[Made, Shape], float]) -> Fill:
    return lambda made, generator, shape: generator.normal(shape, 0.0, deviation(made, shape))


FILLS: Mapping[str, tuple[str, Fill]] = {
    "zeros_": ("", lambda _, __, shape: np.zeros(shape)),
    "ones_": ("", lambda _, __, shape: np.ones(shape)),
    "constant_": ("val", _constant),
    "eye_": ("", _identity),
    "uniform_": ("a b", _between),
    "normal_": ("mean std", _around),
    "xavier_uniform_": ("gain", _uniform(_glorot)),
    "xavier_normal_": ("gain", _normal(_glorot)),
    "kaiming_uniform_": ("a mode nonlinearity", _uniform(_he)),
    "kaiming_normal_": ("a mode nonlinearity", _normal(_he)),
}
"""What each function takes behind the tensor, and gives."""
